"""How far a question is: what the last look said, how the interval closed, and what is expected to go.

All of it is read from the log, so that the page of an owner and the command need no look of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from qrowd.collect.store import draws
from qrowd.collect.store.materials import CampaignRow

MOST = 400  # looks that are kept of many, evenly


@dataclass(frozen=True)
class Difference:
    """The difference of two systems. estimate, low, high : None while there is no interval yet."""

    first: str
    second: str
    estimate: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class EarlierLook:
    """What could be said after so many judged documents: the difference that is the nearest to stay open."""

    n_judged: int
    difference: Difference


@dataclass(frozen=True)
class QuestionProgress:
    """A question as it stands.

    text, measure, confidence, tolerance, target, stop : its settings. sentence, answer : of the last look; answer is
    empty while the question is open. n_judged, n_drawn, n_documents : documents that people judged, that were drawn,
    and that can change the answer. n_counting : draws before the first that is not judged, which the interval is of.
    to_go : judgments that are expected to be needed, low, median and high. differences : of the last look.
    looks : all looks, or some of many. decision : the sentence by which the campaign stopped, after n_at_decision
    documents. models : assessors whose judgments are labels; n_topics_without : topics that none of them judged yet.
    """

    text: str
    measure: str
    confidence: float
    tolerance: float
    target: str
    stop: bool
    sentence: str
    answer: str
    n_judged: int
    n_drawn: int
    n_documents: int
    n_counting: int
    to_go: tuple[int, int, int] | None
    differences: tuple[Difference, ...]
    looks: tuple[EarlierLook, ...]
    decision: str = ""
    n_at_decision: int = 0
    models: tuple[str, ...] = ()
    n_topics_without: int = 0

    @property
    def share(self) -> float:
        """Of the judgments that are expected in all, how many there are."""
        if self.answer:
            return 1.0
        left = self.n_documents - self.n_judged if self.to_go is None else self.to_go[1]
        return self.n_judged / max(self.n_judged + left, 1)


def question_progress(connection: Connection, row: CampaignRow) -> QuestionProgress | None:
    """How far the question of a campaign is; None where it has none."""
    asked = row.settings.get("question")
    if asked is None:
        return None
    looks = draws.events_of_kind(connection, row.id, "looked")
    decided = draws.last_of_kind(connection, row.id, "decided")
    last: dict[str, Any] = looks[-1].data["looked"] if looks else {}
    settings = {key: asked[key] for key in ("text", "measure", "confidence", "tolerance", "target", "stop")}
    step = -(-len(looks) // MOST) or 1
    kept = looks[::-1][::step][::-1]  # the last one among them
    shown = [(one.data["n_judged"], _nearest(one.data["looked"])) for one in kept]
    return QuestionProgress(
        **settings,
        sentence=last.get("sentence", "Nobody has judged yet."),
        answer=last.get("answer", ""),
        n_judged=looks[-1].data["n_judged"] if looks else 0,
        n_drawn=draws.n_drawn(connection, row.id),
        n_documents=asked["n_documents"],
        n_counting=last.get("n_counting", 0),
        to_go=tuple(last["to_go"]) if last.get("to_go") else None,
        differences=tuple(Difference(*one) for one in last.get("intervals", ())),
        looks=tuple(EarlierLook(n, one) for n, one in shown if one is not None),
        decision="" if decided is None else decided.data["sentence"],
        n_at_decision=0 if decided is None else decided.data["n_judged"],
        models=tuple(last.get("models", ())),
        n_topics_without=last.get("n_topics_without", 0),
    )


def _nearest(look: dict[str, Any]) -> Difference | None:
    """The difference of a look that will be the last to be decided: the one whose interval reaches lowest."""
    differences = [Difference(*one) for one in look["intervals"]]
    bounded = [one for one in differences if one.low is not None]
    return min(bounded, key=lambda one: one.low or 0.0, default=None)
