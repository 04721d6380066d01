"""The documents of a plan with their images, and what of them could not be shown."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from io import BytesIO
from typing import Any, Literal

from qrowd.errors import ArgumentError
from qrowd_server.campaigns.plan.sanitise import MAX_CHARACTERS
from qrowd_server.protocols.setting_fields import Where

Problems = Iterator[tuple[Where, str]]

LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
ADDRESS = re.compile(r"https?://[!-~]{1,2000}")
UNFIT = re.compile("[\x00\ud800-\udfff]")  # no database can hold these
MAX_IMAGE = 4 << 20  # bytes of one image
MAX_IMAGES = 256 << 20  # of all images of a campaign
ENDINGS = (".png", ".jpg", ".jpeg", ".webp")
FORMATS = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp"}
MAX_PIXELS = 50_000_000  # of one image


@dataclass(frozen=True)
class DocumentPlan:
    """A document.

    html : whether `text` is HTML, which is cleaned. language : a tag such as "en" or "pt-BR", or "". url : its address,
    shown above it. image : an image of the page as base64 (PNG, JPEG or WebP), shown instead of the text; the text, or
    else the title, is what is read to those who cannot see it. layout : "pre" keeps lines and
    blanks of a plain text as they are. pages : images of the pages of a PDF, as `image`; the text can be read beside
    them.
    """

    label: str
    text: str = ""
    title: str = ""
    html: bool = False
    language: str = ""
    url: str = ""
    image: str = field(default="", repr=False)
    layout: Literal["", "pre"] = ""
    pages: tuple[str, ...] = field(default=(), repr=False)

    @property
    def images(self) -> tuple[str, ...]:
        """All of its images."""
        return (self.image, *self.pages) if self.image else self.pages


def document_problems(document: DocumentPlan, where: Where) -> Problems:
    """What could not be shown."""
    name = f"document {document.label!r}"
    if not document.text.strip():
        if document.images and not document.title.strip():
            kind = "an image" if document.image else "a PDF"
            yield (*where, "text"), f"{name} is {kind} without words; add a title, or say in `text` what it shows"
        if not document.images:
            yield (*where, "text"), f"{name} has no text; add it, or leave the document out"
    yield from text_problems(where, title=document.title, text=document.text)
    if document.language and not LANGUAGE.fullmatch(document.language):
        problem = f"{in_short(document.language)} is no tag of a language; write one such as en or pt-BR"
        yield (*where, "language"), problem
    if document.url and not ADDRESS.fullmatch(document.url):
        problem = f"{in_short(document.url)} is no address of a page; write it in ASCII, with http:// or https:// first"
        yield (*where, "url"), problem
    ways = [key for key in ("image", "pages", "html", "layout") if getattr(document, key)]
    if len(ways) > 1:
        yield (*where, ways[0]), f"{name} is shown in one way, by {ways[0]} or by {ways[1]}; leave one out"
    for key, images in (("image", (document.image,) if document.image else ()), ("pages", document.pages)):
        for image in images:
            try:
                image_from_text(image)
            except ArgumentError as error:
                yield (*where, key), f"{name}: {error}"


def text_problems(where: Where, **texts: str) -> Problems:
    """Texts that are too long, or that no database can hold."""
    for key, text in texts.items():
        if len(text) > MAX_CHARACTERS:
            yield (*where, key), f"{len(text)} characters are more than {MAX_CHARACTERS}; shorten it"
        if character := UNFIT.search(text):
            yield (*where, key), f"holds {character[0]!r}, which no database can keep; remove it"


def in_short(value: Any) -> str:
    """A value as a message can hold it."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


# ---- images


@dataclass(frozen=True)
class Image:
    """An image. media_type : as its first bytes say. digest : names the content in addresses."""

    media_type: str
    content: bytes = field(repr=False)

    @property
    def digest(self) -> str:
        return sha256(self.content).hexdigest()[:32]


def image_of(content: bytes) -> Image:
    """The image that a file holds, whose head is read."""
    from PIL import Image as Picture  # slow to import

    if len(content) > MAX_IMAGE:
        raise ArgumentError(f"the image has {len(content):,} bytes, more than {MAX_IMAGE:,}; save it smaller")
    with suppress(OSError, ValueError, SyntaxError, Picture.DecompressionBombError):
        picture = Picture.open(BytesIO(content), formats=tuple(FORMATS))
        if picture.width * picture.height <= MAX_PIXELS:
            return Image(FORMATS[str(picture.format)], content)
    raise ArgumentError(f"the image is no PNG, JPEG or WebP of at most {MAX_PIXELS:,} pixels; save it as one of these")


def image_to_text(content: bytes) -> str:
    """An image as a plan holds it: base64."""
    return b64encode(content).decode()


def image_from_text(text: str) -> Image:
    """The image of a plan."""
    try:
        content = b64decode(text, validate=True)
    except (Error, ValueError):
        raise ArgumentError("the image is not base64; encode the bytes of the file") from None
    return image_of(content)
