"""Real topics to replay: the first documents of some systems, and the preferences or grades that they got."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Chance, Rng
from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences
from qrowd.model.runs import Runs
from qrowd.preferences.scheduling.answers import Answers, Topic
from qrowd.preferences.scheduling.grades import GradedTopic, rank_coefficients
from qrowd.preferences.scheduling.systems import Systems, Weight


def real_topics(
    preferences: Preferences,
    runs: Runs,
    *,
    systems: Sequence[str] | None = None,
    depth: int = 5,
    least: int = 3,
    weight: Weight = "none",
    rng: Rng = None,
) -> Iterator[Topic]:
    """Every topic with at least `least` documents that were compared and that a system ranks among its first `depth`.

    preferences : all assessors are taken as one; what nobody was asked is filled in (see `Answers.of_preferences`).
    systems : which to compare; all by default. weight : as in `Systems`.

    Raises
    ------
    ArgumentError
        A system that the runs do not have, or fewer than two.
    NoOverlapError
        No topic has as many such documents.
    """
    names = _names(runs, systems, depth, least)
    chance, n_topics = Chance.of(rng), 0
    for number, topic in enumerate(preferences.topics):
        lists = _first_documents(runs, names, topic, depth)
        pooled = dict.fromkeys(document for documents in lists for document in documents)
        own = preferences.select(topics=[topic], documents=[d for d in preferences.documents if d in pooled])
        if not len(own):
            continue
        view = own.pooled().topic_view(0)
        if view.n_documents < least:
            continue
        place = {own.documents[d]: i for i, d in enumerate(own.pool.document.tolist())}
        rankings = [[place[d] for d in documents if d in place] for documents in lists]
        answers = Answers.of_preferences(view, rng=chance.stream("answers", number))
        n_topics += 1
        yield Topic(answers, Systems.of(rankings, view.n_documents, names=names, weight=weight))
    if not n_topics:
        raise NoOverlapError(
            f"preferences: no topic has {least} documents that were compared and stand among the first {depth} of a "
            "run; raise depth or lower least"
        )


def graded_topics(
    judgments: Judgments,
    runs: Runs,
    *,
    gains: Floats,
    discounts: Floats,
    systems: Sequence[str] | None = None,
    depth: int = 5,
    least: int = 3,
) -> Iterator[GradedTopic]:
    """Every topic with at least `least` documents that the assessor graded and a system ranks among its first `depth`.

    judgments : of one assessor, whole grades. gains : by grade, from 0. discounts : by rank, from 1; a document without
    a grade is left out of the rankings. systems : as in `real_topics`.

    Raises
    ------
    ArgumentError
        Judgments of several assessors, or values that are no grades; a system that the runs do not have.
    NoOverlapError
        No topic has as many such documents.
    """
    names = _names(runs, systems, depth, least)
    if len(judgments.assessors) != 1:
        raise ArgumentError(f"judgments: of {len(judgments.assessors)} assessors; each judges a topic alone, give one")
    single = judgments.single()
    graded = single.value >= 0
    values = single.value[graded]
    if (values != np.floor(values)).any() or (values >= len(gains)).any():
        raise ArgumentError(f"judgments: {values.max():g} is no grade from 0 to {len(gains) - 1}; recode the judgments")
    grade_of: dict[str, dict[str, int]] = {}
    for t, d, value in zip(single.topic[graded], single.document[graded], values, strict=True):
        grade_of.setdefault(single.topics[t], {})[single.documents[d]] = int(value)
    n_topics = 0
    for topic, grades in grade_of.items():
        lists = _first_documents(runs, names, topic, depth)
        place = {d: i for i, d in enumerate(dict.fromkeys(d for one in lists for d in one if d in grades))}
        if len(place) < least:
            continue
        ranked = Systems.of([[place[d] for d in one if d in place] for one in lists], len(place), names=names)
        n_topics += 1
        yield GradedTopic(gains[[grades[d] for d in place]], rank_coefficients(ranked, discounts), gains)
    if not n_topics:
        raise NoOverlapError(
            f"judgments: no topic has {least} documents that were graded and stand among the first {depth} of a run; "
            "raise depth or lower least"
        )


def _names(runs: Runs, systems: Sequence[str] | None, depth: int, least: int) -> list[str]:
    names = list(runs.systems if systems is None else systems)
    if unknown := [name for name in names if name not in runs.systems]:
        raise ArgumentError(f"systems: {unknown[0]!r} is not among the runs ({', '.join(runs.systems[:3])} ...)")
    if len(names) < 2 or depth < 1 or least < 2:
        raise ArgumentError(f"systems={len(names)}, depth={depth}, least={least}: 2, 1 and 2 or more were expected")
    return names


def _first_documents(runs: Runs, names: Sequence[str], topic: str, depth: int) -> list[list[str]]:
    """For each system its first documents; none of them has any where the runs do not have the topic."""
    if topic not in runs.topics:
        return [[] for _ in names]
    ranked, t = runs.ranked(), runs.topics.index(topic)
    lists = []
    for name in names:
        s = runs.systems.index(name)
        start, length = int(ranked.starts[s, t]), min(int(ranked.lengths[s, t]), depth)
        lists.append([runs.documents[d] for d in ranked.document[start : start + length]])
    return lists
