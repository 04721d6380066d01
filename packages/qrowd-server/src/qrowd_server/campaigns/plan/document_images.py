"""Images that documents are shown as, and pictures of guidelines: PNG, JPEG or WebP."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from binascii import Error
from dataclasses import dataclass, field
from hashlib import sha256

from qrowd.errors import ArgumentError

MAX_IMAGE = 4 << 20  # bytes of one image
MAX_IMAGES = 256 << 20  # of all images of a campaign
ENDINGS = (".png", ".jpg", ".jpeg", ".webp")
STARTS = {"image/png": re.compile(rb"\x89PNG\r\n\x1a\n"), "image/jpeg": re.compile(rb"\xff\xd8\xff"),
          "image/webp": re.compile(rb"RIFF....WEBP", re.DOTALL)}  # fmt: skip


@dataclass(frozen=True)
class Image:
    """An image. media_type : as its first bytes say. digest : names the content in addresses."""

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
