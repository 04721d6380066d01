"""PDF files as images of their pages with their text. Each is rendered in a process of its own, with a time limit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec

from qrowd.errors import ArgumentError
from qrowd.threads import in_threads
from qrowd_server.campaigns.plan.pdf_process import SECONDS

MAX_PDF = 64 << 20  # bytes
NEEDED = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "TMPDIR", "TEMP")  # of the environment; it holds secrets, too
AT_ONCE = 4  # processes


@dataclass(frozen=True)
class Pdf:
    """A PDF. pages : an image of each page, WebP as base64. text : what all pages say."""

    pages: tuple[str, ...] = field(repr=False)
    text: str


def read_pdfs(contents: Sequence[bytes]) -> list[Pdf | ArgumentError]:
    """PDF files, each rendered, or the reason why it could not be.

    Raises
    ------
    ArgumentError
        The package that reads them is missing.
    """
    if contents and not (find_spec("pypdfium2") and find_spec("PIL")):
        raise ArgumentError("PDF files need pypdfium2 and Pillow; pip install qrowd-server")

    def read(content: bytes) -> Pdf | ArgumentError:
        try:
            return read_pdf(content)
        except ArgumentError as error:
            return error

    return list(in_threads(read, contents, min(AT_ONCE, os.cpu_count() or 1)))


def read_pdf(content: bytes, *, seconds: float = SECONDS) -> Pdf:
    """The pages and the text of a PDF, rendered in a process that may take so many seconds.

    Raises
    ------
    ArgumentError
        It is no PDF, is encrypted, has too many pages, or needs too much time or memory.
    """
    if len(content) > MAX_PDF:
        raise ArgumentError(f"has {len(content):,} bytes, more than {MAX_PDF:,}; give fewer pages")
    if b"%PDF-" not in content[:1024]:
        raise ArgumentError("is no PDF; name another file")
    command = [sys.executable, "-P", "-m", "qrowd_server.campaigns.plan.pdf_process"]
    environment = {name: os.environ[name] for name in NEEDED if name in os.environ}
    try:
        done = subprocess.run(command, input=content, capture_output=True, timeout=seconds, env=environment)
    except subprocess.TimeoutExpired:
        raise ArgumentError(f"takes longer than {seconds:g} seconds to render; print it into a new PDF") from None
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        raise ArgumentError("cannot be rendered: the process that read it ended; print it into a new PDF") from None
    if "problem" in answer:
        raise ArgumentError(answer["problem"])
    return Pdf(tuple(answer["pages"]), answer["text"])
