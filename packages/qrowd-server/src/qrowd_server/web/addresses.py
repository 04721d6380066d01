"""Signed addresses of what documents and guidelines show: images, pages of PDF files.

An address needs no session. It stays the same for a day, so that browsers may keep what is there, and is good for one
to two days.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from qrowd_server.campaigns.running.pages import DocumentText, Page

Sign = Callable[[str, str], str]  # a token from its purpose and a digest


def with_addresses(page: Page, sign: Sign) -> Page:
    """The page with an address in place of each digest."""
    if not (page.pictures or page.guidelines or any(one.image or one.pages for one in page.documents.values())):
        return page
    return replace(
        page,
        documents={number: _document(document, sign) for number, document in page.documents.items()},
        pictures=tuple((name, f"/image/{sign('image', digest)}") for name, digest in page.pictures),
        guidelines_at=f"/guidelines/{sign('guidelines', '')}" if page.guidelines else "",
    )


def _document(document: DocumentText, sign: Sign) -> DocumentText:
    if not (document.image or document.pages):
        return document
    image = f"/image/{sign('image', document.image)}" if document.image else ""
    return replace(document, image=image, pages=tuple(f"/image/{sign('image', digest)}" for digest in document.pages))
