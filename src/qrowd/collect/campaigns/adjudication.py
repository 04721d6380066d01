"""Final answers of reviewers for documents and pairs on which assessors disagree.

An adjudication is an event of the campaign and belongs to no assignment, so it counts in no agreement, progress or
quality, and no pair is chosen by it; exports have all of a campaign as one more assessor of its own kind, where that is
asked for. Who gave each is in the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from sqlalchemy import Connection

from qrowd.collect.campaigns.lookup import find_arms, only_arm
from qrowd.collect.campaigns.state import read_settings
from qrowd.collect.protocols.asking import storable
from qrowd.collect.protocols.events import MAX_REASON, Event, Refusal
from qrowd.collect.protocols.grades import parse_grade
from qrowd.collect.protocols.numbers import parse_magnitude
from qrowd.collect.protocols.registry import PREFERENCE
from qrowd.collect.protocols.settings import GradesSettings, PreferenceSettings, Settings
from qrowd.collect.store import events, materials, state
from qrowd.collect.store.accounts import COMMAND_LINE
from qrowd.collect.store.events import LogEntry
from qrowd.collect.store.review import owner_entries
from qrowd.errors import ArgumentError

ADJUDICATED, ADJUDICATOR = "adjudicated", "adjudicator"  # name and kind of the assessor in exports
Adjudicated = Literal["without", "add", "replace"]
CHOICES: tuple[Adjudicated, ...] = get_args(Adjudicated)
DOCUMENTS = ("document",), ("preferred", "other"), ("one", "same_as")  # columns of the tables that are exported

#: Final answers for a pair, and what they stand for: above 0 for the first document.
PAIR_ANSWERS = {"definitely first": 2.0, "first": 1.0, "same": 0.0, "second": -1.0, "definitely second": -2.0}

Place = tuple[str, tuple[str, ...], str]  # topic; the document, or both of a pair in alphabetical order; arm


@dataclass(frozen=True)
class Adjudication:
    """The final answer for a document or a pair.

    documents : the document, or both of a pair in alphabetical order. text : as typed; of a pair a key of PAIR_ANSWERS.
    value : what it stands for. account : who gave it. time : seconds since 1970. n : how often an answer was given,
    this one included.
    """

    topic: str
    documents: tuple[str, ...]
    arm: str
    text: str
    value: float
    reason: str
    account: str
    time: float
    n: int = 1

    @property
    def preferred(self) -> str:
        """The better document of a pair; "" where they are the same."""
        return self.documents[self.value < 0] if self.value else ""

    def text_from(self, document: str) -> str:
        """The answer for a pair as it is typed where this document is the first."""
        value = self.value if self.documents[0] == document else 0.0 - self.value
        return next(text for text, stands_for in PAIR_ANSWERS.items() if stands_for == value)


def adjudications(connection: Connection, campaign_id: int) -> dict[Place, Adjudication]:
    """The final answers of a campaign as they stand, by topic, document or pair, and arm."""
    last: dict[Place, Adjudication] = {}
    for time, account, data in owner_entries(connection, campaign_id, "adjudicated"):
        topic, *documents = data["item"]
        place = topic, tuple(documents), data["arm"]
        if data["value"] is None:
            last.pop(place, None)
            continue
        n = last[place].n + 1 if place in last else 1
        last[place] = Adjudication(*place, data["text"], data["value"], data["reason"], account, time, n)
    return last


def place_of(topic: str, documents: Iterable[str], arm: str) -> Place:
    """Where the final answer for a document or a pair stands."""
    return topic, tuple(sorted(documents)), arm


def adjudicate(
    connection: Connection,
    campaign: str,
    topic: str,
    document: str,
    text: str,
    reason: str,
    at: float,
    *,
    other: str = "",
    account: str = COMMAND_LINE,
) -> Adjudication | None:
    """Give the final answer for a document or a pair; a later one replaces it, and "" takes it back.

    Parameters
    ----------
    campaign : its name, or CAMPAIGN/ARM for one of several arms that could be meant.
    topic, document, other : labels; the other one of a pair. text : a grade of the scale, or a magnitude; of a pair
        "first" (the document is better), "second" (the other one is), each also as "definitely first", or "same", where
        the campaign lets assessors say so. reason : needed for a document. at : now, in seconds since 1970.
    account : who gives it, for the log.

    Raises
    ------
    ArgumentError
        There is no such campaign, topic or document, no arm collects such answers, the text is no answer, or no reason
        is given.
    """
    row, arms = find_arms(connection, campaign)
    judged = {arm: protocol for arm, protocol in arms.items() if (protocol == PREFERENCE) == bool(other)}
    if not judged:
        one, wanted = ("pairs", "judgments") if other else ("documents", "preferences")
        raise ArgumentError(f"{campaign}: it collects {wanted}; final answers for {one} are not possible")
    arm = only_arm(row.name, judged)
    if document == other:
        raise ArgumentError(f"document {document[:80]!r}: a pair is of two documents")
    labels = (document, other) if other else (document,)
    has_topic = materials.topic_of(connection, row.id, topic) is not None
    for label in labels:
        if not has_topic or materials.document_of(connection, row.id, label) is None:
            raise ArgumentError(f"the campaign {row.name} has no document {label[:80]!r} of a topic {topic[:80]!r}")
    place = place_of(topic, labels, arm)
    text, reason, value = text.strip(), reason.strip(), None
    if text:
        settings = read_settings(row).arms[arm].settings
        try:
            value = _value(settings, text)
        except Refusal as error:
            raise ArgumentError(f"answer: {error}") from None
        if (not reason and not other) or len(reason) > MAX_REASON or not storable(reason):
            raise ArgumentError(f"reason: say why in at most {MAX_REASON:,} characters; it is exported as the comment")
        if other and place[1][0] != document:
            value = 0.0 - value
            text = next(one for one, stands_for in PAIR_ANSWERS.items() if stands_for == value)
    elif place not in adjudications(connection, row.id):
        return None
    data = {"item": [topic, *place[1]], "arm": arm, "text": text, "value": value, "reason": reason if text else ""}
    _record(connection, row.id, Event("adjudicated", data), at, account)
    return adjudications(connection, row.id).get(place)


def pair_answers(settings: PreferenceSettings) -> list[str]:
    """The final answers for a pair that a campaign allows, as its assessors have them, first to second."""
    return [
        one
        for one, value in PAIR_ANSWERS.items()
        if (abs(value) < 2 or settings.definitely) and (value or settings.duplicates)
    ]


def _value(settings: Settings, text: str) -> float:
    if isinstance(settings, GradesSettings):
        return parse_grade(text, settings.labels)
    if not isinstance(settings, PreferenceSettings):
        return parse_magnitude(text)
    if text not in (choices := pair_answers(settings)):
        raise Refusal("choice", f"choose one of {', '.join(choices)}")
    return PAIR_ANSWERS[text]


def _record(connection: Connection, campaign_id: int, event: Event, at: float, account: str) -> None:
    entry = LogEntry(at, campaign_id, None, None, None, "owner", event.kind, event.data, account=account)
    events.append(connection, [entry])


# ---- exports


def adjudicator_name(connection: Connection, campaign_id: int) -> str:
    """The name of the adjudicated answers in exports, which no assessor of the campaign has."""
    name, n = ADJUDICATED, 1
    while state.find_named(connection, campaign_id, name) is not None:
        n += 1
        name = f"{ADJUDICATED}-{n}"
    return name


def with_adjudications(
    connection: Connection,
    campaign_id: int,
    rows: Iterator[tuple[Any, ...]],
    columns: tuple[str, ...],
    *,
    adjudicated: Adjudicated,
    arms: Iterable[str],
) -> Iterator[tuple[Any, ...]]:
    """Rows of judgments, preferences or pairs that say the same, with the final answers after them, topic by topic.

    columns : of the rows. adjudicated : "add", or "replace" to leave out what assessors said of these documents or
    pairs. Bad marks stay. arms : those whose final answers follow.
    """
    wanted, of_documents = set(arms), next(names for names in DOCUMENTS if names[0] in columns)
    final = {
        place: one
        for place, one in adjudications(connection, campaign_id).items()
        if place[2] in wanted and len(place[1]) == len(of_documents)
    }
    of_topic, of_labels = columns.index("topic"), [columns.index(name) for name in of_documents]
    of_arm = columns.index("arm") if "arm" in columns else None
    for cells in rows:
        labels = [cells[i] for i in of_labels]
        arm = "" if of_arm is None else cells[of_arm]
        if adjudicated == "add" or None in labels or place_of(cells[of_topic], labels, arm) not in final:
            yield cells
    name = adjudicator_name(connection, campaign_id)
    for (topic, _, arm), one in sorted(final.items()):
        if (said := _said(one, of_documents)) is not None:
            known = said | {
                "topic": topic, "assessor": name, "time": one.time, "comment": one.reason, "raw": one.text,
                "revisions": one.n - 1, "kind": ADJUDICATOR, "arm": arm, "counted": True, "status": ADJUDICATED,
            }  # fmt: skip
            yield tuple(known.get(column) for column in columns)


def _said(one: Adjudication, of_documents: Sequence[str]) -> dict[str, Any] | None:
    """The columns that hold what a final answer says; None where another table has it."""
    if len(of_documents) == 1:
        return {"document": one.documents[0], "value": one.value}
    is_same = not one.preferred
    if is_same != (of_documents[0] == "one"):
        return None
    if is_same:
        return dict(zip(of_documents, one.documents, strict=True))
    other = one.documents[one.value > 0]
    return {"preferred": one.preferred, "other": other, "strength": int(abs(one.value))}
