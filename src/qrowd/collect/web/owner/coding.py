"""Coding: comments, and documents on which crowd and gold disagree, one after another.

GET  /owner/c/{campaign}/coding           a list of items: ?list=reasons, comments, conflicts, ratios; ?page=2
GET  /owner/c/{campaign}/coding/item      one item: ?list=...&item=...; without an item, the first that is not coded
POST /owner/c/{campaign}/coding/item      what a coder says of it
GET  /owner/c/{campaign}/coding/tables    how often each verdict, cause and code was given
POST /owner/lists/{campaign}              make the list of conflicts from a file of gold, or that of ratios
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote, unquote, urlencode

from sqlalchemy import Connection
from starlette.datastructures import UploadFile
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute

from qrowd import files
from qrowd.collect.campaigns.code_tables import code_tables
from qrowd.collect.campaigns.coding import (
    ITEM_OF,
    LISTS,
    MIN_RATIO,
    Coding,
    Item,
    ListName,
    code,
    codings,
    is_item,
    items,
    list_conflicts,
    list_ratios,
    listed,
)
from qrowd.collect.campaigns.coding_items import OFFERED, item_details, item_rows, next_item, vocabulary
from qrowd.collect.campaigns.state import protocols_of
from qrowd.collect.protocols.messages import Message
from qrowd.collect.protocols.registry import PREFERENCE
from qrowd.collect.web.documents import render_document
from qrowd.collect.web.forms import Form, query_of
from qrowd.collect.web.owner.context import REVIEWER, OwnerContext, choose_one, form, page, upload
from qrowd.collect.web.problems import not_found
from qrowd.errors import ArgumentError
from qrowd.model.judgments import Judgments

PER_PAGE = 50
LISTS_PATH = "/owner/lists/"
MAX_GOLD = 16 << 20  # bytes


def key_of(item: Item) -> str:
    """An item in an address.

    >>> key_of(("conflict", "t1", "a/b"))
    'conflict/t1/a%2Fb'
    """
    return "/".join(quote(part, safe="") for part in item)


def item_of(key: str) -> Item | None:
    """The item of an address; None if it names none."""
    item = tuple(unquote(part) for part in key.split("/"))
    return item if is_item(item) else None


def _list_of(context: OwnerContext, fields: Form) -> ListName:
    only_preferences = set(protocols_of(context.campaign).values()) == {PREFERENCE}
    name = fields.get("list") or ("comments" if only_preferences else "reasons")
    if name not in LISTS:
        raise not_found()
    return name


def _address(context: OwnerContext, path: str = "", **query: str) -> str:
    return f"{context.base}/coding{path}?{urlencode(query)}"


# ---- a list


async def index(context: OwnerContext) -> Response:
    """A list of items, and how much of it this coder has coded."""
    fields = query_of(context.request)
    name, coder, row = _list_of(context, {**fields, **context.typed}), context.owner.name, context.campaign
    number = fields.get("page", "1")
    current = int(number[:9]) if number.isascii() and number.isdigit() else 1

    def work(connection: Connection) -> dict[str, Any]:
        by_list = {one: items(connection, row.id, one) for one in LISTS}
        coded = {item for item, who in codings(connection, row.id) if who == coder}
        n_pages = max(-(-len(by_list[name]) // PER_PAGE), 1)
        part = by_list[name][(min(current, n_pages) - 1) * PER_PAGE :][:PER_PAGE]
        return {
            "counts": {one: (len(all_items), len(coded & set(all_items))) for one, all_items in by_list.items()},
            "rows": item_rows(connection, row.id, name, part, coder),
            "n_pages": n_pages,
            "current": max(min(current, n_pages), 1),
            "listed": listed(connection, row.id).get(name),
        }

    values = await context.read(work)
    values |= {"chosen": name, "key_of": key_of, "min_ratio": MIN_RATIO}
    judged = [arm for arm, protocol in protocols_of(row).items() if protocol != PREFERENCE]
    return context.render("coding", tab="coding", judged=judged, **values)


# ---- one item


async def item(context: OwnerContext) -> Response:
    """One item with its texts, and the form."""
    fields: Mapping[str, str] = {**query_of(context.request), **context.typed}
    name, coder, row = _list_of(context, fields), context.owner.name, context.campaign
    asked = fields.get("item", "")

    def work(connection: Connection) -> dict[str, Any]:
        all_items = items(connection, row.id, name)
        chosen = item_of(asked) if asked else next_item(connection, row.id, name, coder, None)
        if chosen is None and not asked and all_items:
            chosen = all_items[0]
        details = None if chosen is None else item_details(connection, row.id, chosen, coder)
        place = all_items.index(chosen) if chosen in all_items else None
        around = (None, None) if place is None else ([None, *all_items][place], [*all_items, None][place + 1])
        return {
            "details": details,
            "n": len(all_items),
            "place": place,
            "before": around[0],
            "after": around[1],
            "words": vocabulary(connection, row.id),
        }

    values = await context.read(work)
    details = values["details"]
    if details is None and asked:
        raise not_found()
    document = None
    if details is not None and details.document is not None:
        document = await asyncio.to_thread(render_document, details.topic.title, details.document)
    kind = ITEM_OF[name]
    return context.render(
        "item", tab="coding", chosen=name, kind=kind, document=document, key_of=key_of, offered=OFFERED, **values
    )


async def save(context: OwnerContext, fields: Form) -> Response:
    """Keep a coding; then the next item that is not coded, or the list where there is none."""
    name, chosen, coder = _list_of(context, fields), item_of(fields.get("item", "")), context.owner.name
    if chosen is None:
        raise ArgumentError(Message("item: there is none of that name"))
    ticked = [value for key, value in fields.items() if key.startswith("code-")]
    written = [part.strip() for part in fields.get("codes", "").replace(";", ",").split(",")]
    coding = Coding(
        chosen,
        coder,
        tuple(dict.fromkeys(one for one in (*ticked, *written) if one)),
        fields.get("other", "").strip() or fields.get("verdict", ""),
        fields.get("cause", "").strip(),
        fields.get("note", "").strip(),
        context.server.clock(),
    )

    await context.server.store.write_async(lambda connection: code(connection, context.campaign.name, coding))
    following = await context.read(
        lambda connection: next_item(connection, context.campaign.id, name, coder, chosen)  # long: not while writing
    )
    path = ("", {}) if following is None else ("/item", {"item": key_of(following)})
    return RedirectResponse(_address(context, path[0], list=name, **path[1]), 303)


# ---- tables and lists


async def tables(context: OwnerContext) -> Response:
    """How often each verdict, cause and code was given, and how far coders agree."""
    result = await context.read(lambda connection: code_tables(connection, context.campaign.name))
    return context.render("codes", tab="coding", tables=result)


async def make_list(context: OwnerContext, fields: Form, sent: list[UploadFile]) -> Response:
    """The list of conflicts with the gold of a file, or that of ratios."""
    arm, at = fields.get("arm", ""), context.server.clock()
    name = f"{context.campaign.name}/{arm}" if arm else context.campaign.name
    write, account = context.server.store.write_async, context.owner.name
    match fields.get("list", ""):
        case "conflicts" if len(sent) == 1:
            gold = await asyncio.to_thread(read_gold, str(sent[0].filename), await sent[0].read())
            distance = _number(fields, "min_distance", 2)
            await write(lambda c: list_conflicts(c, name, gold, at, min_distance=int(distance), account=account))
        case "conflicts":
            raise ArgumentError(Message("gold: choose one file with the true judgments of one assessor"))
        case "ratios":
            least = _number(fields, "min_ratio", MIN_RATIO)
            await write(lambda c: list_ratios(c, name, at, min_ratio=least, account=account))
        case _:
            raise choose_one("list", fields.get("list", ""), "conflicts", "ratios")
    return RedirectResponse(_address(context, list=fields["list"]), 303)


def read_gold(name: str, content: bytes) -> Judgments:
    """The judgments of a file that was sent; its name says the format, and stands in messages."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / (PurePosixPath(name.replace("\\", "/")).name or "gold")
        path.write_bytes(content)
        return files.read_judgments([str(path)])


def _number(fields: Form, name: str, default: float) -> float:
    try:
        return float(fields.get(name, "") or default)
    except ValueError:
        raise ArgumentError(Message("%(name)s: expected a number", name=name)) from None


async def _list_page(context: OwnerContext) -> Response:
    return await index(replace(context, typed={"list": context.typed.get("list", "conflicts")}))


LARGE = {LISTS_PATH: MAX_GOLD}  # bytes that a form may have
ROUTES: list[BaseRoute] = [
    page("/owner/c/{campaign}/coding", index, needs=REVIEWER),
    page("/owner/c/{campaign}/coding/item", item, needs=REVIEWER),
    form("/owner/c/{campaign}/coding/item", save, item, needs=REVIEWER),
    page("/owner/c/{campaign}/coding/tables", tables, needs=REVIEWER),
    upload(LISTS_PATH + "{campaign}", make_list, _list_page, needs=REVIEWER),
]
