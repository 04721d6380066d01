"""A process that renders one PDF, so that a file of a stranger can neither stop nor harm whoever reads it.

`python -m qrowd_server.campaigns.plan.pdf_process` reads a PDF from its standard input and writes one JSON object:
{"pages": [WebP as base64, ...], "text": ...}, or {"problem": ...}. It limits its own memory and processor time.
"""

from __future__ import annotations

import json
import re
import sys
from base64 import b64encode
from contextlib import suppress
from io import BytesIO
from typing import Any

MAX_PAGES = 50
MAX_IMAGES = 24 << 20  # bytes of all pages of one PDF
MAX_MEMORY = 2 << 30  # bytes
SECONDS = 60  # for one PDF
WIDTH = 1240  # pixels: 150 for each inch of A4
MAX_PIXELS = 4_000_000  # of one page
MAX_TEXT = 1_000_000  # characters
QUALITY = 80  # of WebP
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


class Unfit(Exception):
    """The PDF cannot be shown; the reason, and what to do."""


def render(content: bytes) -> dict[str, Any]:
    """The pages of a PDF as images, and its text.

    Raises
    ------
    Unfit
        It is no PDF, is encrypted, or is too large in some way.
    """
    from pypdfium2 import PdfDocument, PdfiumError

    try:
        document = PdfDocument(content)
        n_pages = len(document)
    except PdfiumError as error:
        if "password" in str(error).lower():
            raise Unfit("is encrypted; save it without a password") from None
        raise Unfit("is no PDF that can be read; print it into a new one") from None
    if not 0 < n_pages <= MAX_PAGES:
        raise Unfit(f"has {n_pages} pages; give 1 to {MAX_PAGES}")
    pages, parts, size = [], [], 0
    for number in range(n_pages):
        try:
            page = document[number]
            image = _image(page)
            parts.append(_text(page))
            page.close()
        except PdfiumError:
            raise Unfit(f"has a page {number + 1} that cannot be read; print the PDF into a new one") from None
        size += len(image)
        if size > MAX_IMAGES:
            raise Unfit(f"has more than {MAX_IMAGES:,} bytes as images up to page {number + 1}; give fewer pages")
        pages.append(b64encode(image).decode())
    return {"pages": pages, "text": "\n\n".join(part for part in parts if part)[:MAX_TEXT]}


def _image(page: Any) -> bytes:
    width, height = page.get_size()
    if not (width > 0 and height > 0):
        raise Unfit("has a page without a size; print it into a new one")
    scale = min(WIDTH / width, (MAX_PIXELS / (width * height)) ** 0.5)
    buffer = BytesIO()
    page.render(scale=scale).to_pil().convert("RGB").save(buffer, "WEBP", quality=QUALITY)
    return buffer.getvalue()


def _text(page: Any) -> str:
    text = page.get_textpage().get_text_range().replace("\r\n", "\n").replace("\r", "\n")
    return CONTROL.sub("", text).strip()


def limit() -> None:
    """Limit memory and processor time, where the system can."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main() -> None:
    """Render what standard input holds."""
    limit()
    content = sys.stdin.buffer.read()
    try:
        answer = render(content)
    except Unfit as error:
        answer = {"problem": str(error)}
    except MemoryError:
        answer = {"problem": "needs too much memory; print it into a new PDF"}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
