"""Documents that are shown as the web pages they are: an image of the page, or its address in a frame."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from urllib.parse import urlsplit

from qrowd.errors import ArgumentError

MAX_IMAGE = 4 << 20  # bytes of one image
MAX_IMAGES = 256 << 20  # of all images of a campaign
HTML = "text/html"  # the media type of a document that is stored beside images
MAX_ADDRESS = 2000  # characters
MAX_SITES = 100  # whose pages a campaign shows in frames: each of them is named in a header of every page
ENDINGS = (".png", ".jpg", ".jpeg", ".webp")
STARTS = {"image/png": re.compile(rb"\x89PNG\r\n\x1a\n"), "image/jpeg": re.compile(rb"\xff\xd8\xff"),
          "image/webp": re.compile(rb"RIFF....WEBP", re.DOTALL)}  # fmt: skip
HOST = re.compile(r"[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]")
PRINTABLE = re.compile(r"[!-~]+")


@dataclass(frozen=True)
class Image:
    """An image of a page. media_type : as its first bytes say. digest : names the content in addresses."""

    media_type: str
    content: bytes = field(repr=False)

    @property
    def digest(self) -> str:
        return sha256(self.content).hexdigest()[:32]


def image_of(content: bytes) -> Image:
    """The image that a file holds.

    Raises
    ------
    ArgumentError
        It is no PNG, JPEG or WebP, or too large.
    """
    if len(content) > MAX_IMAGE:
        raise ArgumentError(f"the image has {len(content):,} bytes, more than {MAX_IMAGE:,}; save it smaller")
    for media_type, start in STARTS.items():
        if start.match(content):
            return Image(media_type, content)
    raise ArgumentError("the image is no PNG, JPEG or WebP; save it as one of these")


def image_to_text(content: bytes) -> str:
    """An image as a plan holds it: base64."""
    return b64encode(content).decode()


def image_from_text(text: str) -> Image:
    """The image of a plan.

    Raises
    ------
    ArgumentError
        It is not base64, or as for `image_of`.
    """
    try:
        content = b64decode(text, validate=True)
    except (Error, ValueError):
        raise ArgumentError("the image is not base64; encode the bytes of the file") from None
    return image_of(content)


def site_of(address: str) -> str | None:
    """Scheme, host and port of a page, as a content policy names them; None for what is no address of a page."""
    if len(address) > MAX_ADDRESS or not PRINTABLE.fullmatch(address):
        return None
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return None
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    if parts.scheme not in ("http", "https") or not HOST.fullmatch(host) or "@" in parts.netloc:
        return None
    return f"{parts.scheme}://{host}{'' if port is None else f':{port}'}"


OWN = "'self'"  # in a content policy: our own server


def sites_of(addresses: Iterable[str]) -> tuple[str, ...]:
    """The sites of pages that are shown in frames, each once."""
    return tuple(sorted({site for address in addresses if (site := site_of(address)) is not None}))
