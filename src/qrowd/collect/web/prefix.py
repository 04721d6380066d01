"""A server below a path of a host: https://example.org/judge.

The application knows nothing of it: its addresses begin with /. What comes in loses the path, and what goes out gets
it: the redirects, and in pages the attributes that hold an address. No text can be taken for one: < in a text is always
written as &lt;, and " in an attribute as &#34;. Proxies that take the path away before they ask work as well.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

TAG = re.compile(rb"<[a-zA-Z][^<>]*>")
ATTRIBUTES = ("href", "src", "action", "formaction", "data-base", "data-live")
ADDRESS = re.compile(rf' ({"|".join(ATTRIBUTES)})="/(?!/)'.encode())


def with_prefix(page: bytes, prefix: str) -> bytes:
    """A page of ours, with the path in front of every address on this server.

    >>> with_prefix(b'<a href="/owner">href="/owner"</a>', "/judge")
    b'<a href="/judge/owner">href="/owner"</a>'
    """
    replacement = rb' \1="' + prefix.encode() + b"/"
    return TAG.sub(lambda tag: ADDRESS.sub(replacement, tag[0]), page)


def without_prefix(path: str, prefix: str) -> str:
    """The path of a request as the application knows it.

    >>> [without_prefix(path, "/judge") for path in ("/judge/owner", "/judge", "/judges", "/owner")]
    ['/owner', '/', '/judges', '/owner']
    """
    if path == prefix:
        return "/"
    return path.removeprefix(prefix) if path.startswith(prefix + "/") else path


class Prefix:
    """Stands before the application where its address has a path; see the module."""

    def __init__(self, app: ASGIApp, *, prefix: str) -> None:
        self.app, self.prefix = app, prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start: MutableMapping[str, Any] = {}
        parts: list[bytes] = []

        async def sending(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                headers = dict(message.get("headers", ()))
                message["headers"] = [self._header(*pair) for pair in message.get("headers", ())]
                if headers.get(b"content-type", b"").startswith(b"text/html"):
                    start.update(message)
                else:
                    await send(message)
                return
            if not start:
                await send(message)
                return
            parts.append(message.get("body", b""))
            if not message.get("more_body", False):
                whole = with_prefix(b"".join(parts), self.prefix)
                kept = [pair for pair in start["headers"] if pair[0] != b"content-length"]
                await send({**start, "headers": [*kept, (b"content-length", str(len(whole)).encode())]})
                await send({"type": "http.response.body", "body": whole, "more_body": False})

        path = without_prefix(scope["path"], self.prefix)
        inner = {**scope, "path": path}
        if "raw_path" in scope:
            inner["raw_path"] = without_prefix(scope["raw_path"].decode("latin-1"), self.prefix).encode("latin-1")
        await self.app(inner, receive, sending)

    def _header(self, name: bytes, value: bytes) -> tuple[bytes, bytes]:
        here = name == b"location" and value.startswith(b"/") and not value.startswith(b"//")
        return (name, self.prefix.encode() + value) if here else (name, value)
