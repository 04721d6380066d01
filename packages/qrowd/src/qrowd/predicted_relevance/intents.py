"""Topics with several intents: each (topic, intent) becomes a topic (Table 4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from qrowd.errors import InputError, check_choice
from qrowd.model.judgments import Judgments
from qrowd.model.scales import Scale

Which = Literal["all", "top"]


def judgments_by_intent(
    rows: Iterable[tuple[str, str, str, str, float]],
    probabilities: Mapping[tuple[str, str], float],
    *,
    which: Which = "all",
    none: str = "0",
    scales: Mapping[str, Scale | str] | None = None,
) -> Judgments:
    """Judgments of topics called "topic/intent", from (topic, intent, document, assessor, grade).

    probabilities : {(topic, intent): probability}, of every intent.
    which : "all" intents, or only the most probable of each topic ("top"; of equal ones, the one named first).
    none : the intent of a row of a document that serves no intent: it becomes a 0 for each intent of the topic.

    Section 5.2.3 of Demeester et al. (2016), Inf. Retr. J. 19.

    >>> rows = [("q", "1", "d", "ann", 2), ("q", "2", "d", "ann", 0), ("q", "0", "e", "ann", 0)]
    >>> judgments = judgments_by_intent(rows, {("q", "1"): 0.7, ("q", "2"): 0.3})
    >>> judgments.topics, len(judgments)
    (('q/1', 'q/2'), 4)
    """
    check_choice("which", which, Which)
    intents: dict[str, list[str]] = {}
    for topic, intent in probabilities:
        intents.setdefault(topic, []).append(intent)
    if which == "top":
        intents = {
            topic: [max(candidates, key=lambda i: probabilities[topic, i])] for topic, candidates in intents.items()
        }
    by_intent = []
    for topic, intent, document, assessor, grade in rows:
        if topic not in intents or (intent != none and (topic, intent) not in probabilities):
            raise InputError(
                f"topic {topic}, intent {intent}, document {document}: probabilities name no such intent; add it"
            )
        served = intents[topic] if intent == none else [i for i in intents[topic] if i == intent]
        by_intent += [(f"{topic}/{i}", document, assessor, 0.0 if intent == none else grade) for i in served]
    return Judgments.from_rows(by_intent, scales=scales)
