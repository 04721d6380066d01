"""Coding: what the owners of a campaign say of comments, and of documents on which crowd and gold disagree.

A coder gives an item codes, or a verdict with its cause, and a note. Items are

    reasons      judgments with a reason               ("reason", assignment, position)
    comments     units with a comment                  ("comment", assignment)
    conflicts    documents in conflict with gold       ("conflict", topic, document)
    ratios       documents of a huge ratio             ("ratio", topic, document)

The first two follow from the answers; the others are listed by an owner. Lists and codings are events of the campaign:
the last list, and the last coding of an item by a coder, count, and all earlier ones are kept.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), sections 6.1.1, 6.2 and 9.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from sqlalchemy import Connection

from qrowd.agreement.conflicts import Conflicts, Merge, scale_conflicts
from qrowd.agreement.geometric_sd import geometric_sd
from qrowd.collect.campaigns import collected
from qrowd.collect.campaigns.lookup import find, find_arms
from qrowd.collect.protocols.asking import storable
from qrowd.collect.protocols.events import MAX_REASON, MAX_TEXT
from qrowd.collect.store import coding as rows
from qrowd.collect.store import events
from qrowd.collect.store.accounts import COMMAND_LINE
from qrowd.collect.store.events import LogEntry
from qrowd.errors import ArgumentError, NoOverlapError, ScaleError
from qrowd.magnitude.normalisation import normalise
from qrowd.model.gold import Gold
from qrowd.model.judgments import Judgments

ListName = Literal["reasons", "comments", "conflicts", "ratios"]
LISTS: tuple[ListName, ...] = get_args(ListName)
ITEM_OF: dict[ListName, str] = {
    "reasons": "reason", "comments": "comment", "conflicts": "conflict", "ratios": "ratio",
}  # fmt: skip
VERDICTS: dict[str, tuple[str, ...]] = {
    "conflict": ("expert wrong", "crowd wrong", "ambiguous"),
    "ratio": ("wide scale", "careless"),
}
"""Verdicts that are offered at first; an owner may write others."""
MAX_CODES = 20
MAX_NUMBER = 2**63  # of assignments
MIN_RATIO = 10_000.0
CODES = (
    "item", "topic", "document", "assessor", "assignment", "position", "code", "verdict", "cause", "note", "coder",
    "time", "comment",
)  # fmt: skip
"""The columns of the export."""

Item = tuple[str, ...]


@dataclass(frozen=True)
class Coding:
    """What a coder said of an item. time : seconds since 1970."""

    item: Item
    coder: str
    codes: tuple[str, ...] = ()
    verdict: str = ""
    cause: str = ""
    note: str = ""
    time: float = 0.0

    @property
    def empty(self) -> bool:
        """Whether it takes an earlier coding back."""
        return not (self.codes or self.verdict or self.cause or self.note)


@dataclass(frozen=True)
class Listed:
    """The documents of a list, as (topic, document, {what is known of it}), and the options that it was made with."""

    rows: tuple[tuple[str, str, Mapping[str, float]], ...] = ()
    options: Mapping[str, Any] | None = None
    time: float | None = None


# ---- what the log says


def codings(connection: Connection, campaign_id: int) -> dict[tuple[Item, str], Coding]:
    """{(item, coder): the last coding}, in the order in which items were first coded; those taken back are left out."""
    last = {(coding.item, coding.coder): coding for coding in history(connection, campaign_id)}
    return {key: coding for key, coding in last.items() if not coding.empty}


def history(connection: Connection, campaign_id: int) -> list[Coding]:
    """All codings, oldest first; without those of an archive that name no item."""
    entries = rows.owner_events(connection, campaign_id, "coded")
    all_codings = [
        Coding(
            tuple(data["item"]),
            data["coder"],
            tuple(data["codes"]),
            data["verdict"],
            data["cause"],
            data["note"],
            time,
        )
        for time, data in entries
    ]
    return [coding for coding in all_codings if is_item(coding.item)]


def is_item(item: Item) -> bool:
    """Whether these are words that name an item."""
    match item:
        case ("reason", *numbers) if len(numbers) == 2:
            return all(map(_is_number, numbers))
        case ("comment", number):
            return _is_number(number)
        case (("conflict" | "ratio"), _, _):
            return True
    return False


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and int(text) < MAX_NUMBER


def listed(connection: Connection, campaign_id: int) -> dict[str, Listed]:
    """{"conflicts", "ratios": the list that was made last}."""
    lists = {"conflicts": Listed(), "ratios": Listed()}
    for time, data in rows.owner_events(connection, campaign_id, "listed"):
        lists[data["list"]] = Listed(
            tuple((label, document, about) for label, document, about in data["rows"]), data["options"], time
        )
    return lists


def items(connection: Connection, campaign_id: int, name: ListName) -> list[Item]:
    """The items of a list, in its order."""
    match name:
        case "reasons":
            return [("reason", str(id), str(position)) for id, position in rows.reasons(connection, campaign_id)]
        case "comments":
            return [("comment", str(row.assignment)) for row in rows.comments(connection, campaign_id)]
    return [(ITEM_OF[name], label, document) for label, document, _ in listed(connection, campaign_id)[name].rows]


# ---- what an owner does


def code(connection: Connection, campaign: str, coding: Coding) -> None:
    """Keep a coding in the log; a coding without any content takes an earlier one back.

    Raises
    ------
    ArgumentError
        There is no such campaign or item, or a text is too long.
    """
    row = find(connection, campaign)
    for field, texts, longest in (
        ("codes", coding.codes, MAX_TEXT),
        ("verdict", (coding.verdict,), MAX_TEXT),
        ("cause", (coding.cause,), MAX_TEXT),
        ("note", (coding.note,), MAX_REASON),
    ):
        if any(len(text) > longest or not storable(text) for text in texts):
            raise ArgumentError(f"{field}: use at most {longest:,} characters, and none that cannot be stored")
    if len(coding.codes) > MAX_CODES:
        raise ArgumentError(f"codes: {len(coding.codes)} are more than {MAX_CODES}; leave some out")
    if not is_item(coding.item) or not _exists(connection, row.id, coding.item):
        raise ArgumentError(f"item: the campaign {campaign} has no item {'/'.join(coding.item)[:80]!r} to code")
    data = {key: list(value) if isinstance(value, tuple) else value for key, value in vars(coding).items()}
    del data["time"]
    events.append(
        connection, [LogEntry(coding.time, row.id, None, None, None, "owner", "coded", data, account=coding.coder)]
    )


def _exists(connection: Connection, campaign_id: int, item: Item) -> bool:
    match item:
        case "reason", id, position:
            answers = rows.answers_in(connection, campaign_id, [int(id)])
            return any(row.position == int(position) and row.comment for row in answers)
        case "comment", id:
            return any(str(row.assignment) == id for row in rows.comments(connection, campaign_id))
        case (("conflict" | "ratio"), label, name):
            there = rows.topic_of(connection, campaign_id, label), rows.document_of(connection, campaign_id, name)
            return None not in there
    return False


def list_conflicts(
    connection: Connection,
    campaign: str,
    gold: Gold,
    at: float,
    *,
    merge: Merge = "median",
    min_distance: int = 2,
    account: str = COMMAND_LINE,
) -> Conflicts:
    """List the documents whose merged value is nearest to another level than gold's; see `scale_conflicts`.

    Magnitudes are normalised first.

    Parameters
    ----------
    campaign : its name, or CAMPAIGN/ARM for one of several arms.
    gold : as for `scale_conflicts`. at : now, in seconds since 1970. account : who lists them, for the log.

    Raises
    ------
    ArgumentError
        There is no such campaign, or it collects preferences.
    NoOverlapError
        Nobody judged a document that gold has.
    """
    row, _ = find_arms(connection, campaign)
    judgments, normalised = _judgments(connection, campaign)
    conflicts = scale_conflicts(judgments, gold, merge=merge, min_distance=min_distance)
    options = {"merge": merge, "min_distance": min_distance, "normalised": normalised, "n": conflicts.n_documents}
    _list(connection, row.id, "conflicts", options, conflicts.to_frame().to_dict("records"), at, account)
    return conflicts


def list_ratios(
    connection: Connection, campaign: str, at: float, *, min_ratio: float = MIN_RATIO, account: str = COMMAND_LINE
) -> int:
    """List the documents whose highest normalised magnitude is at least so many times the lowest; how many those are.

    campaign, at, account : as for `list_conflicts`.

    Raises
    ------
    ArgumentError
        There is no such campaign, it does not collect magnitudes, or a ratio that is not above 1.
    """
    if not min_ratio > 1:
        raise ArgumentError(f"min_ratio={min_ratio:g}: expected a number above 1")
    row, arms = find_arms(connection, campaign)
    judgments, normalised = _judgments(connection, campaign)
    if not normalised:
        raise ScaleError(f"{campaign}: a ratio needs magnitudes, and this campaign collects {', '.join(arms.values())}")
    try:
        table = geometric_sd(judgments).to_frame()
    except NoOverlapError:
        table = None
    records = (
        []
        if table is None
        else table[table["ratio"] >= min_ratio].sort_values("ratio", ascending=False, kind="stable").to_dict("records")
    )
    _list(connection, row.id, "ratios", {"min_ratio": min_ratio, "normalised": True}, records, at, account)
    return len(records)


def _judgments(connection: Connection, campaign: str) -> tuple[Judgments, bool]:
    """What a campaign has collected, and whether these are magnitudes, which are normalised."""
    judgments = collected.judgments(connection, campaign)
    if not len(judgments):
        raise NoOverlapError(f"{campaign}: no judgment counts yet")
    magnitudes = all(scale.kind == "magnitude" for scale in judgments.scales)
    return (normalise(judgments) if magnitudes else judgments), magnitudes


def _list(
    connection: Connection,
    campaign_id: int,
    name: str,
    options: Mapping[str, Any],
    records: Iterable[Any],
    at: float,
    account: str,
) -> None:
    listed_rows = [(one.pop("topic"), one.pop("document"), one) for one in records]
    data = {"list": name, "options": dict(options), "rows": listed_rows}
    events.append(connection, [LogEntry(at, campaign_id, None, None, None, "owner", "listed", data, account=account)])


# ---- the export


def code_rows(connection: Connection, campaign_id: int) -> Iterator[tuple[Any, ...]]:
    """Tuples of the columns CODES: one per item, coder and code, one with the code "" where there is none."""
    last = codings(connection, campaign_id)
    numbers = {int(item[1]) for item, _ in last if item[0] in ("reason", "comment")}
    answers = {(row.assignment, row.position): row for row in rows.answers_in(connection, campaign_id, numbers)}
    comments = {row.assignment: row for row in rows.comments(connection, campaign_id, everything=True)}
    for (item, coder), coding in last.items():
        place: tuple[Any, ...]
        comment = ""
        match item:
            case "reason", id, position:
                answer = answers.get((int(id), int(position)))
                place = (
                    getattr(answer, "topic", None), getattr(answer, "document", None),
                    getattr(answer, "assessor", None), int(id), int(position),
                )  # fmt: skip
                comment = getattr(answer, "comment", "")
            case "comment", id:
                unit = comments.get(int(id))
                place = getattr(unit, "topic", None), None, getattr(unit, "assessor", None), int(id), None
                comment = getattr(unit, "comment", "")
            case _, label, name:
                place = label, name, None, None, None
        for one in coding.codes or ("",):
            yield item[0], *place, one, coding.verdict, coding.cause, coding.note, coder, coding.time, comment
