"""PDF files as images of their pages with their text. Each is rendered in a process of its own, with limits.

A file of a stranger can then neither stop nor harm whoever reads it: the process has no environment, which holds
secrets, and its memory and processor time are limited.
"""

from __future__ import annotations

import os
import re
from base64 import b64encode
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO
from multiprocessing import get_context
from typing import Any

from qrowd.errors import ArgumentError
from qrowd.threads import in_threads

MAX_PDF = 64 << 20  # bytes
MAX_PAGES = 50
MAX_IMAGES = 24 << 20  # bytes of all pages of one PDF
MAX_MEMORY = 2 << 30  # bytes
SECONDS = 60  # of processor time for one PDF
WIDTH = 1240  # pixels: 150 for each inch of A4
MAX_PIXELS = 4_000_000  # of one page
MAX_TEXT = 1_000_000  # characters
QUALITY = 80  # of WebP
AT_ONCE = 4  # processes
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True)
class Pdf:
    """A PDF. pages : an image of each page, WebP as base64. text : what all pages say."""

    pages: tuple[str, ...] = field(repr=False)
    text: str


def read_pdfs(contents: Sequence[bytes]) -> list[Pdf | ArgumentError]:
    """PDF files, each rendered, or the reason why it could not be."""

    def read(content: bytes) -> Pdf | ArgumentError:
        try:
            return read_pdf(content)
        except ArgumentError as error:
            return error

    return list(in_threads(read, contents, min(AT_ONCE, os.cpu_count() or 1)))


def read_pdf(content: bytes, *, seconds: int = SECONDS) -> Pdf:
    """The pages and the text of a PDF, rendered in a process that may take so many seconds."""
    if len(content) > MAX_PDF:
        raise ArgumentError(f"has {len(content):,} bytes, more than {MAX_PDF:,}; give fewer pages")
    if b"%PDF-" not in content[:1024]:
        raise ArgumentError("is no PDF; name another file")
    options: dict[str, Any] = {"initializer": limit, "initargs": (seconds,), "max_tasks_per_child": 1}
    with ProcessPoolExecutor(1, get_context("spawn"), **options) as pool:
        try:
            return pool.submit(render, content).result()
        except MemoryError:
            raise ArgumentError("needs too much memory; print it into a new PDF") from None
        except BrokenProcessPool:
            raise ArgumentError(
                f"cannot be rendered within {seconds} seconds and {MAX_MEMORY >> 20:,} MB; print it into a new PDF"
            ) from None


# ---- in the process


def limit(seconds: int) -> None:
    """Take the environment away; limit memory and processor time, where the system can."""
    os.environ.clear()
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def render(content: bytes) -> Pdf:
    """The pages of a PDF as images, and its text."""
    from pypdfium2 import PdfDocument, PdfiumError

    try:
        document = PdfDocument(content)
        n_pages = len(document)
    except PdfiumError as error:
        if "password" in str(error).lower():
            raise ArgumentError("is encrypted; save it without a password") from None
        raise ArgumentError("is no PDF that can be read; print it into a new one") from None
    if not 0 < n_pages <= MAX_PAGES:
        raise ArgumentError(f"has {n_pages} pages; give 1 to {MAX_PAGES}")
    pages, parts, size = [], [], 0
    for number in range(n_pages):
        try:
            page = document[number]
            image = _image(page)
            parts.append(_text(page))
            page.close()
        except PdfiumError:
            raise ArgumentError(f"has a page {number + 1} that cannot be read; print the PDF into a new one") from None
        size += len(image)
        if size > MAX_IMAGES:
            raise ArgumentError(
                f"has more than {MAX_IMAGES:,} bytes as images up to page {number + 1}; give fewer pages"
            )
        pages.append(b64encode(image).decode())
    return Pdf(tuple(pages), "\n\n".join(part for part in parts if part)[:MAX_TEXT])


def _image(page: Any) -> bytes:
    width, height = page.get_size()
    if not (width > 0 and height > 0):
        raise ArgumentError("has a page without a size; print it into a new one")
    scale = min(WIDTH / width, (MAX_PIXELS / (width * height)) ** 0.5)
    buffer = BytesIO()
    page.render(scale=scale).to_pil().convert("RGB").save(buffer, "WEBP", quality=QUALITY)
    return buffer.getvalue()


def _text(page: Any) -> str:
    text = page.get_textpage().get_text_range().replace("\r\n", "\n").replace("\r", "\n")
    return CONTROL.sub("", text).strip()
