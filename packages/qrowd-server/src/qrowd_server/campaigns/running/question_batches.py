"""A campaign with a question: batches of documents that people judge until the question is decided.

The documents of a batch become units as any others. When half of them are judged, the server looks at the question
again, and then draws the next batch or stops the campaign because the question is decided. Looks, batches and the
decision are events: the log holds the design, as `qrowd next` reads it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from qrowd.errors import ArgumentError
from qrowd.model.chance import Chance
from qrowd_server.campaigns.plan.question_settings import QuestionSettings
from qrowd_server.campaigns.running.collected import judgments
from qrowd_server.protocols.settings import GradesSettings, settings_of
from qrowd_server.store import event_log as events
from qrowd_server.store import materials
from qrowd_server.store import progress_counts as counts
from qrowd_server.store.base import Store, StoreError, to_json
from qrowd_server.store.materials import CampaignRow

if TYPE_CHECKING:
    from qrowd.sequential.design import Design
    from qrowd.sequential.next_judgments import NextJudgments

DRAWN, LOOKED, DECIDED, UNDECIDED = "drawn", "looked", "decided", "undecided"
CORRECTIONS = ("excluded", "reinstated", "adjudicated")  # by owners: other judgments count than at the last look
EVERY = 5.0  # seconds between two rounds over all campaigns with a question

logger = logging.getLogger("qrowd_server.questions")


# ---- what a campaign says of its question


def question_of(connection: Connection, row: CampaignRow) -> QuestionSettings | None:
    """The question of a campaign with its content; None where it has none."""
    if (table := row.settings.get("question")) is None:
        return None
    gone = ("n_documents", "disagreement")  # a count beside the settings; a setting of earlier versions
    settings = {key: value for key, value in table.items() if key not in gone}
    return QuestionSettings(**settings, content=materials.find_question(connection, row.id) or {})


def design_table(connection: Connection, row: CampaignRow) -> dict[str, Any]:
    """The design so far, as the file of `qrowd next` has it."""
    content = materials.find_question(connection, row.id)
    if content is None:
        raise ArgumentError(f"the campaign {row.name} has no question, and so no design")
    batches = [one.data for one in events.of_kind(connection, row.id, DRAWN)]
    drawn = [{"sizes": list(data["sizes"]), "drawn": list(data["documents"])} for data in batches]
    return {**content["design"], "batches": drawn}


def design_content(connection: Connection, row: CampaignRow) -> bytes:
    """The design so far, as the file of `qrowd next`."""
    return to_json(design_table(connection, row)).encode() + b"\n"


def design_of(connection: Connection, row: CampaignRow) -> Design:
    """The design so far, which `qrowd next` continues."""
    from qrowd.sequential.design import design_from_table

    return design_from_table(design_table(connection, row))


@dataclass(frozen=True)
class Difference:
    """The difference of two systems. low, high : None while there is no interval yet."""

    first: str
    second: str
    estimate: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class QuestionProgress:
    """A question as the last look left it.

    text, measure, confidence, target : its settings. sentence, answer : of the last look; answer is empty while the
    question is open. n_judged, n_drawn, n_documents : documents that were judged at that look, that were drawn, and
    that can change the answer. to_go : documents that are expected to be needed, low, median and high. models :
    assessors whose judgments help to predict grades.
    """

    text: str
    measure: str
    confidence: float
    target: str
    sentence: str
    answer: str
    n_judged: int
    n_drawn: int
    n_documents: int
    to_go: tuple[int, int, int] | None
    differences: tuple[Difference, ...]
    models: tuple[str, ...]

    @property
    def share(self) -> float:
        """Of the documents that are expected in all, how many there are."""
        if self.answer:
            return 1.0
        left = self.n_documents - self.n_judged if self.to_go is None else self.to_go[1]
        return self.n_judged / max(self.n_judged + left, 1)


def question_progress(connection: Connection, row: CampaignRow) -> QuestionProgress | None:
    """How far the question of a campaign is, from its log; None where it has none."""
    asked = row.settings.get("question")
    if asked is None:
        return None
    looks = events.of_kind(connection, row.id, LOOKED)
    last: Mapping[str, Any] = looks[-1].data["looked"] if looks else {}
    return QuestionProgress(
        **{key: asked[key] for key in ("text", "measure", "confidence", "target")},
        sentence=last.get("sentence", "No answers have been looked at yet."),
        answer=last.get("answer", ""),
        n_judged=looks[-1].data["n_judged"] if looks else 0,
        n_drawn=sum(len(one.data["documents"]) for one in events.of_kind(connection, row.id, DRAWN)),
        n_documents=asked["n_documents"],
        to_go=tuple(last["to_go"]) if last else None,
        differences=tuple(Difference(*one) for one in last.get("differences", ())),
        models=tuple(last.get("models", ())),
    )


# ---- batches


def add_first_batch(connection: Connection, row: CampaignRow, question: QuestionSettings, at: float) -> None:
    """Draw the batch that the folder brought."""
    batch = question.content["design"]["batches"][0]
    _add_batch(connection, row, question.pairs, batch["drawn"], batch["sizes"], at)


def _add_batch(
    connection: Connection,
    row: CampaignRow,
    pairs: Sequence[tuple[str, str]],
    drawn: Sequence[int],
    sizes: Sequence[float],
    at: float,
) -> None:
    """Make units of the documents of a batch, at most k of a topic in each, and write the batch into the log.

    pairs : of the design. drawn : numbers of the documents in it.
    """
    _log(connection, row.id, at, DRAWN, {"documents": list(drawn), "sizes": list(sizes)})
    by_topic: dict[str, list[str]] = {}
    for number in drawn:
        topic, document = pairs[number]
        by_topic.setdefault(topic, []).append(document)
    _add_units(connection, row, by_topic)


def _add_units(connection: Connection, row: CampaignRow, by_topic: Mapping[str, Sequence[str]]) -> None:
    """Make units of these documents, at most k in each, and their slots, which come after all there are."""
    arm = row.settings["arms"][0]
    settings = settings_of(arm["protocol"], arm["settings"])
    assert isinstance(settings, GradesSettings)
    topics = materials.ids_by_label(connection, "topic", row.id)
    documents = materials.ids_by_label(connection, "document", row.id)
    n_earlier = len(list(materials.units_of(connection, row.id)))
    units = [
        (topics[label], arm["name"], [documents[one] for one in labels[start : start + settings.k]], 0)
        for label, labels in by_topic.items()
        for start in range(0, len(labels), settings.k)
    ]
    slots = materials.add_units(connection, row.id, units, {arm["name"]: settings.redundancy})
    rng = Chance.of(row.seed).stream("batches", n_earlier)
    materials.add_slots(connection, row.id, slots, rng, after=n_earlier)  # earlier batches are judged first


# ---- looks


@dataclass(frozen=True, eq=False)
class Look:
    """What `next_judgments` said.

    n_judged : documents that people had judged; n_batches : that had been drawn; correction : the last, by number.
    """

    campaign_id: int
    n_judged: int
    n_batches: int
    correction: int
    result: NextJudgments


def is_due(connection: Connection, row: CampaignRow, at: float) -> bool:
    """Whether half of the last batch is judged, and something since the last look; or other judgments count since.

    If it does not run, it is looked at if somebody answered since; once decided, when no unit is in hand.
    """
    if (asked := row.settings.get("question")) is None:
        return False
    looks = events.of_kind(connection, row.id, LOOKED)
    id, time, before = (looks[-1].id, looks[-1].time, looks[-1].data["n_judged"]) if looks else (0, 0.0, 0)
    if looks and events.last_of_owners(connection, row.id, CORRECTIONS) > id:
        return True
    n_judged = counts.judged_documents(connection, row.id)
    if row.status != "running":
        in_hand = counts.leases(connection, row.id).values() if row.status == "decided" else ()
        is_new = n_judged != before or (counts.last_answer(connection, row.id) or 0.0) > time
        return is_new and at > max(in_hand, default=0.0)
    if n_judged == before and events.last_of_owners(connection, row.id, ("resumed",)) <= id:
        return False
    n_drawn = sum(len(one.data["documents"]) for one in events.of_kind(connection, row.id, DRAWN))
    return bool(2 * (n_drawn - n_judged) <= asked["batch"])


def look(store: Store, row: CampaignRow) -> Look:
    """What can be said of the question of a campaign now, and what is to be judged next; nothing is written."""
    with store.reading() as connection:
        design, question = design_of(connection, row), question_of(connection, row)
        assert question is not None  # or there would be no design
        given, n_judged = judgments(connection, row.name), counts.judged_documents(connection, row.id)
        correction = events.last_of_owners(connection, row.id, CORRECTIONS)
    result = question.next_judgments(given if len(given) else None, design=design)
    return Look(row.id, n_judged, len(design.draws.sizes), correction, result)


def write_look(connection: Connection, seen: Look, at: float) -> bool:
    """Write a look into the log with the batch that it drew, or the decision; False where another server was faster.

    A decision that no longer holds, since other judgments count, is taken back.
    """
    row = materials.find_campaign(connection, seen.campaign_id)
    if row is None or not is_due(connection, row, at):
        return False
    if len(events.of_kind(connection, row.id, DRAWN)) != seen.n_batches:
        return False
    if events.last_of_owners(connection, row.id, CORRECTIONS) != seen.correction:
        return False
    result, draws = seen.result, seen.result.design.draws
    _log(connection, row.id, at, LOOKED, {"n_judged": seen.n_judged, "looked": _table_of(result)})
    if row.status not in ("running", "decided"):
        return True
    now = "decided" if result.statement.decided else "running"
    if now != row.status:
        kind = DECIDED if result.statement.decided else UNDECIDED
        _log(connection, row.id, at, kind, {"n_judged": seen.n_judged, "sentence": result.sentence})
        materials.set_campaign_status(connection, row.id, now, before=row.status)
    if not result.statement.decided and len(draws.sizes) > seen.n_batches:
        pairs = list(zip(result.design.topics, result.design.documents, strict=True))
        drawn = draws.document[draws.batch == seen.n_batches].tolist()
        _add_batch(connection, row, pairs, drawn, draws.sizes[seen.n_batches].tolist(), at)
    return True


def look_again(store: Store, at: float) -> None:
    """Look at each campaign whose last batch is nearly judged, or whose last units are done."""
    due = store.read(lambda connection: [one for one in materials.campaigns(connection) if is_due(connection, one, at)])
    for row in due:
        try:
            _look_and_write(store, row, at)
        except StoreError as error:
            logger.warning("question of campaign %s: %s", row.name, error)
        except Exception:
            logger.exception("question of campaign %s", row.name)


def _look_and_write(store: Store, row: CampaignRow, at: float) -> None:
    seen = look(store, row)
    store.write(lambda connection: write_look(connection, seen, at))


def _table_of(result: NextJudgments) -> dict[str, Any]:
    """A look as the log keeps it."""
    statement = result.statement
    ends = (statement.estimate, statement.low, statement.high)
    differences = [
        [first, second, *(float(values[i]) if isfinite(values[i]) else None for values in ends)]
        for i, (first, second) in enumerate(zip(statement.first, statement.second, strict=True))
    ]
    return {
        "sentence": result.sentence,
        "answer": statement.answer,
        "differences": differences,
        "to_go": [int(result.n_low), int(result.n_expected), int(result.n_high)],
        "models": list(result.models),
    }


def _log(connection: Connection, campaign_id: int, at: float, kind: str, data: dict[str, Any]) -> None:
    events.note(connection, campaign_id, kind, data, at, actor="server")
