"""A small typed client of the API, for tests and for load: what a program would write for itself in an hour."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import httpx

PREFIX = "/api/v1"
Json = dict[str, Any]


class ApiError(Exception):
    """A request that got no for an answer; the fields are the Problem's."""

    def __init__(self, status: int, code: str, message: str, field: str = "", reference: str = "") -> None:
        self.status, self.code, self.message, self.field, self.reference = status, code, message, field, reference
        super().__init__(f"{status} {code}: {message}")


@dataclass(frozen=True)
class Receipt:
    """An action is safe on disk; `page` comes next."""

    event: int
    time: float
    replayed: bool
    late: bool
    page: Json


@dataclass
class Client:
    """One key at one server. app : an ASGI application to ask in place of the network."""

    key: str = field(repr=False)
    base: str
    app: Any = None
    timeout: float = 30.0

    def __post_init__(self) -> None:
        transport = None if self.app is None else httpx.ASGITransport(self.app)
        headers = {"authorization": f"Bearer {self.key}"} if self.key else {}
        self.http = httpx.AsyncClient(
            transport=transport, base_url=self.base, headers=headers, timeout=self.timeout, trust_env=False
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.http.aclose()

    async def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        """The response; an ApiError where it is none that one wants."""
        response = await self.http.request(method, PREFIX + path, **more)
        if response.status_code < 400:
            return response
        try:
            raise ApiError(response.status_code, **response.json())
        except ValueError:
            raise ApiError(response.status_code, "", response.text) from None

    # ---- campaigns

    async def campaigns(self) -> list[Json]:
        """Those that the key opens."""
        return list((await self.ask("GET", "/campaigns")).json()["campaigns"])

    async def campaign(self, name: str) -> Json:
        """How far one of them has come."""
        return dict((await self.ask("GET", f"/campaigns/{quote(name)}")).json())

    async def export(self, name: str, what: str, **query: str) -> bytes:
        """judgments, preferences, duplicates or archive, as a file's bytes."""
        return (await self.ask("GET", f"/campaigns/{quote(name)}/{what}", params=query)).content

    # ---- judging

    async def arrive(self, campaign: str, name: str, about: Mapping[str, Any] | None = None) -> Assessor:
        """An assessor of this name; the same as before where there was one."""
        body = {"name": name, **({} if about is None else {"about": dict(about)})}
        found = (await self.ask("POST", f"/campaigns/{quote(campaign)}/assessors", json=body)).json()
        return Assessor(self, campaign, found["assessor"], found["name"])

    async def assessors(self, campaign: str) -> list[Json]:
        """Those that programs speak for."""
        return list((await self.ask("GET", f"/campaigns/{quote(campaign)}/assessors")).json()["assessors"])


@dataclass
class Assessor:
    """Somebody whom the client speaks for."""

    client: Client
    campaign: str
    id: str
    name: str

    @property
    def path(self) -> str:
        return f"/campaigns/{quote(self.campaign)}/assessors/{self.id}"

    async def page(self) -> Json:
        """What is to be seen now."""
        return dict((await self.client.ask("GET", f"{self.path}/page")).json())

    async def act(self, page: Json | None, do: str, *, key: str | None = None, **fields: Any) -> Receipt:
        """An action on a page; its own key makes it happen once."""
        shown = "" if page is None else page["shown"]
        own = key if key is not None else page["key"] if page is not None else secrets.token_urlsafe(9)
        body = {"do": do, **fields, "shown": shown, "key": own}
        return Receipt(**(await self.client.ask("POST", f"{self.path}/act", json=body)).json())
