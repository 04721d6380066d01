"""Items to be coded, as a coder sees them: the list with what was coded, and one item with all that is known of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Row

from qrowd.collect.campaigns.cache import Cache
from qrowd.collect.campaigns.coding import ITEM_OF, VERDICTS, Coding, Item, ListName, codings, history, items, listed
from qrowd.collect.campaigns.pages import DocumentText
from qrowd.collect.store import coding as rows
from qrowd.collect.store.materials import TopicRow

OFFERED = 24  # codes that can be ticked


@dataclass(frozen=True)
class ItemRow:
    """An item in a list.

    topic, document, assessor : labels, "" where there is none. text : the comment. about : what the list says of a
    document. coding : what the coder said of it. n_others : other coders of it.
    """

    item: Item
    topic: str
    document: str
    assessor: str
    text: str
    about: Mapping[str, float]
    coding: Coding | None
    n_others: int


def item_rows(
    connection: Connection, campaign_id: int, name: ListName, part: Sequence[Item], coder: str
) -> list[ItemRow]:
    """Some items of a list for a table."""
    last = codings(connection, campaign_id)
    coders = Counter(item for item, who in last if who != coder)
    texts: dict[Item, Any] = {}
    about: dict[Item, Mapping[str, float]] = {}
    match name:
        case "reasons":
            answers = rows.answers_in(connection, campaign_id, {int(item[1]) for item in part})
            texts = {("reason", str(row.assignment), str(row.position)): row for row in answers}
        case "comments":
            texts = {("comment", str(row.assignment)): row for row in rows.comments(connection, campaign_id)}
        case _:
            lists = listed(connection, campaign_id)[name].rows
            about = {(ITEM_OF[name], label, document): known for label, document, known in lists}
    table = []
    for item in part:
        row = texts.get(item)
        label, document = item[1:] if row is None else (row.topic, getattr(row, "document", ""))
        table.append(
            ItemRow(
                item,
                label,
                document,
                getattr(row, "assessor", ""),
                getattr(row, "comment", ""),
                about.get(item, {}),
                last.get((item, coder)),
                coders[item],
            )
        )
    return table


@dataclass(frozen=True)
class ItemDetails:
    """All that is known of an item.

    topic : its row. document : its text, and label; None for the comment on a unit. answers : judgments of the
    document, or of the unit. comment, assessor : of a reason or comment. about : what the list says of a document.
    coding : the coder's. history : (all codings of it, oldest first), of others only once the coder has coded it.
    """

    item: Item
    topic: TopicRow
    label: str
    document: DocumentText | None
    answers: Sequence[Row[Any]]
    comment: str
    assessor: str
    about: Mapping[str, float]
    coding: Coding | None
    history: tuple[Coding, ...]


def item_details(connection: Connection, campaign_id: int, item: Item, coder: str) -> ItemDetails | None:
    """An item with its texts and judgments; None if there is none."""
    answers: Sequence[Row[Any]] = ()
    comment = assessor = name = ""
    about: Mapping[str, float] = {}
    match item:
        case "reason", id, position:
            own = rows.answers_in(connection, campaign_id, [int(id)])
            answers = [row for row in own if row.position == int(position)]
            if not answers:
                return None
            label, name, comment, assessor = (
                getattr(answers[0], key) for key in ("topic", "document", "comment", "assessor")
            )
        case "comment", id:
            unit = next((row for row in rows.comments(connection, campaign_id) if str(row.assignment) == id), None)
            if unit is None:
                return None
            label, comment, assessor = unit.topic, unit.comment, unit.assessor
            answers = rows.answers_in(connection, campaign_id, [int(id)])
        case kind, label, name:
            answers = rows.answers_about(connection, campaign_id, label, name)
            lists = listed(connection, campaign_id)["conflicts" if kind == "conflict" else "ratios"].rows
            about = next((known for topic, document, known in lists if (topic, document) == (label, name)), {})
        case _:
            return None
    topic = rows.topic_of(connection, campaign_id, label)
    document = rows.document_of(connection, campaign_id, name) if name else None
    if topic is None or (name and document is None):
        return None
    text = None if document is None else Cache().documents(connection, [document.id])[document.id]
    all_codings = tuple(one for one in history(connection, campaign_id) if one.item == item)
    mine = codings(connection, campaign_id).get((item, coder))
    shown = all_codings if mine is not None else tuple(one for one in all_codings if one.coder == coder)
    return ItemDetails(item, topic, name, text, answers, comment, assessor, about, mine, shown)


@dataclass(frozen=True)
class Vocabulary:
    """Words that are offered to a coder, those used most often first."""

    codes: tuple[str, ...] = ()
    verdicts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    causes: tuple[str, ...] = ()


def vocabulary(connection: Connection, campaign_id: int) -> Vocabulary:
    """Codes, verdicts and causes of a campaign so far, and the verdicts that are offered at first."""
    last = codings(connection, campaign_id).values()
    codes = Counter(code for one in last for code in one.codes)
    causes = Counter(one.cause for one in last if one.cause)
    verdicts = {
        kind: tuple(dict.fromkeys((*first, *(one.verdict for one in last if one.item[0] == kind and one.verdict))))
        for kind, first in VERDICTS.items()
    }
    return Vocabulary(
        tuple(code for code, _ in codes.most_common()), verdicts, tuple(c for c, _ in causes.most_common())
    )


def next_item(connection: Connection, campaign_id: int, name: ListName, coder: str, after: Item | None) -> Item | None:
    """The first item of a list that the coder has not coded, from one item on and then from the beginning."""
    all_items = items(connection, campaign_id, name)
    coded = {item for item, who in codings(connection, campaign_id) if who == coder}
    start = all_items.index(after) + 1 if after in all_items else 0
    return next((item for item in (*all_items[start:], *all_items[:start]) if item not in coded), None)
