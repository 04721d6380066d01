"""Preferences as documents: consistency and agreement of assessors, worth of documents, judgments that orders need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.errors import ArgumentError
from qrowd.evaluation import measure as measure_of
from qrowd.measures.linear import linear_parts
from qrowd.model.chance import Rng, seed_of
from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences
from qrowd.model.runs import Runs
from qrowd.model.scales import parse_scale
from qrowd.preferences import (
    BradleyTerry,
)
from qrowd.preferences.scheduling import (
    FIGURE_2,
    Condition,
    Curves,
    GradedTopic,
    StopRule,
    graded_topics,
    grades_needed,
    judgments_needed,
    real_topics,
    simulate_topic,
)
from qrowd.preferences.scheduling.bounds import Goal
from qrowd.preferences.scheduling.utility import Estimate
from qrowd.reports.document import Document, Note, Table
from qrowd.reports.phrases import cells, count, interval, number, percent

if TYPE_CHECKING:
    from pandas import DataFrame

    from qrowd.preferences.scheduling import Topic

SHOWN = 30  # rows of a table that could be as long as there are topics or assessors


def worth_document(worths: BradleyTerry) -> Document:
    """The documents with the highest worth of each topic, with intervals, and the weights of the assessors."""
    highest = list(_highest_worths(worths))
    first = f" (the first {SHOWN})" if len(highest) > SHOWN else ""
    header = ["topic", "documents", "first", "log-worth", "interval", "second", "P(first over second)"]
    tables = [Table(f"the document with the highest worth of each topic{first}", header, highest[:SHOWN])]
    if len(worths.assessors) > 1:
        order = np.argsort(-worths.assessor_weight, kind="stable")[:SHOWN]
        low, high = worths.assessor_weight_low[order], worths.assessor_weight_high[order]
        columns = {
            "assessor": [worths.assessors[a] for a in order],
            "weight": cells(number, worths.assessor_weight[order], digits=3),
            "interval": cells(interval, low, high),
            "preference for the first shown": cells(number, worths.intercept[order], digits=3),
        }
        tables.append(Table.of("assessors", columns))

    ended = "converged" if worths.converged else "DID NOT CONVERGE"
    adversaries = [name for name, r in zip(worths.assessors, worths.assessor_weight, strict=True) if r < 0]
    sentence = (
        f"Bradley-Terry log-worths of {count((~np.isnan(worths.log_worth)).sum(), 'document')} on "
        f"{count(len(worths.pool.topics), 'topic')} from {count(worths.n_comparisons, 'preference')}, {ended} in "
        f"{count(worths.iterations, 'iteration')}"
        + (f"; {', '.join(adversaries)} tend to prefer the worse document." if adversaries else ".")
    )
    notes = [Note("method", worths.method), Note("log-likelihood", f"{worths.log_likelihood:.1f}")]
    if worths.n_resamples:
        n = count(worths.n_resamples, "resample")
        notes.append(Note("intervals", f"{percent(worths.confidence)}, {n} of {worths.resample}; seed: {worths.seed}"))
    parts = int(sum(worths.component[worths.pool.rows(t)].max(initial=-1) for t in range(len(worths.pool.topics))))
    if parts:
        text = f"{parts:,} groups of documents are linked to the rest of their topic by the ridge alone"
        notes.append(Note("components", text))
    return Document(sentence, tuple(tables), tuple(notes), worths.to_frame)


def _highest_worths(worths: BradleyTerry) -> Iterator[list[str]]:
    for t, topic in enumerate(worths.pool.topics):
        rows = worths.pool.rows(t)
        log_worth = worths.log_worth[rows]
        judged = np.flatnonzero(~np.isnan(log_worth))
        if judged.size < 2:
            continue
        names = worths.documents_of(topic)
        first, second = judged[np.argsort(-log_worth[judged], kind="stable")[:2]]
        yield [
            topic,
            str(judged.size),
            names[first],
            number(log_worth[first], 2),
            interval(worths.low[rows][first], worths.high[rows][first], 2),
            names[second],
            number(worths.probability(topic, names[first], names[second]), 3),
        ]


# ---------------------------------------------------------------------- orders of asking


SHARES = (0.20, 0.28, 0.25, 0.25, 0.02)  # of documents with each of five grades: section 3.2 of Carterette et al.


def simulated_preferences(
    *,
    n_topics: int = 100,
    n_systems: int = 3,
    bad_share: float = 0.2,
    depth: int = 5,
    weight: Any = "none",
    measure: str = "DCG@10",
    order: Sequence[str] | None = None,
    stop: bool = True,
    goal: Goal = "ranking",
    n_best: int = 1,
    stop_probability: float = 1.0,
    probability: Estimate = "odds",
    rng: Rng = None,
) -> Document:
    """How many judgments each order needs on simulated topics, of pairs and of grades; see `simulate_topic`.

    order : orders of asking; None: those of Figure 2 of Carterette et al. stop, goal, n_best, stop_probability : as in
    `StopRule`. probability : as in `make_order`. measure : of grades, by which the systems are compared.
    """
    seed: Any = seed_of(rng)
    topics = [
        simulate_topic(n_systems=n_systems, depth=depth, bad_share=bad_share, weight=weight, rng=[seed, number])
        for number in range(n_topics)
    ]
    about = f"{n_topics:,} simulated, {n_systems} systems' first {depth}, {100 * bad_share:g} % Bad"
    rule = StopRule(goal=goal, n_best=n_best, stop_probability=stop_probability) if stop else None
    document = _curves_document(topics, order, rule, probability, seed, about)
    if not stop:
        return document
    discounts, gains = linear_parts(measure_of(measure), parse_scale(f"0-{len(SHARES) - 1}"), depth)
    good = np.array(SHARES[1:]) * (1 - bad_share) / (1 - SHARES[0])
    shares = [1 - good.sum(), *good.tolist()]
    graded = (GradedTopic.of(topic, shares=shares, gains=gains, discounts=discounts) for topic in topics)
    curves = grades_needed(graded, goal=goal, n_best=n_best, stop_probability=stop_probability, rng=seed)
    about = f"the same topics, {len(SHARES)} grades along the same order, compared by {measure}"
    return replace(
        document,
        tables=(*document.tables, _grades_needed_table(curves)),
        notes=(*document.notes, Note("grades", about)),
        frame=lambda: _with_rows_of(curves, document.frame()),
    )


def replayed_preferences(
    preferences: Preferences,
    runs: Runs,
    *,
    order: Sequence[str] | None = None,
    stop: bool = True,
    goal: Goal = "ranking",
    n_best: int = 1,
    stop_probability: float = 1.0,
    probability: Estimate = "odds",
    depth: int = 5,
    rng: Rng = None,
    **options: Any,
) -> Document:
    """How many judgments each order needs on the topics of these preferences; depth, rng, options of `real_topics`."""
    topics = list(real_topics(preferences, runs, depth=depth, rng=rng, **options))
    covered = sum(topic.answers.coverage for topic in topics) / len(topics)
    about = (
        f"{len(topics):,}, first {depth} of {topics[0].systems.n} systems; {100 * covered:.0f} % of pairs were "
        "judged, the others are filled in by the share of pairs that each document won"
    )
    rule = StopRule(goal=goal, n_best=n_best, stop_probability=stop_probability) if stop else None
    return _curves_document(topics, order, rule, probability, rng, about)


def replayed_grades(
    judgments: Judgments,
    runs: Runs,
    *,
    measure: str = "DCG@10",
    goal: Goal = "ranking",
    n_best: int = 1,
    stop_probability: float = 1.0,
    systems: Sequence[str] | None = None,
    depth: int = 5,
    rng: Rng = None,
) -> Document:
    """How many of these grades were needed, had each assessor judged by utility and stopped.

    measure : one that is linear in gains. goal, n_best, stop_probability : as in `grades_may_stop`. systems, depth : as
    in `graded_topics`.
    """
    seed: Any = seed_of(rng)
    topics: list[GradedTopic] = []
    for assessor, scale in zip(judgments.assessors, judgments.scales, strict=True):
        if scale.kind not in ("binary", "graded"):
            raise ArgumentError(f"judgments: the scale of {assessor} is {scale}; a replay needs grades, recode them")
        discounts, gains = linear_parts(measure_of(measure), scale, depth)
        own = judgments.select(assessors=[assessor])
        topics += graded_topics(own, runs, gains=gains, discounts=discounts, systems=systems, depth=depth)
    curves = grades_needed(topics, goal=goal, n_best=n_best, stop_probability=stop_probability, rng=seed)
    names = list(dict.fromkeys(curves.condition.tolist()))
    judged = [_overall(curves, curves.condition == name)[1] for name in names]
    n = count(len(topics), "topic")
    sentence = (
        f"Graded by utility and stopped, {n} of {count(len(judgments.assessors), 'assessor')} need {judged[2]:.1f} of "
        f"{judged[0]:.1f} judgments on average: {judged[0] - judged[2]:.1f} fewer."
    )
    notes = (
        Note(
            "topics",
            f"first {depth} of {topics[0].coefficients.shape[0]} systems; documents without a grade are left out",
        ),
        Note("measure", measure),
        Note("error", ERROR),
        Note("seed", f"{curves.seed}"),
    )
    return Document(sentence, (_grades_needed_table(curves),), notes, curves.to_frame)


def _grades_needed_table(curves: Curves) -> Table:
    names = list(dict.fromkeys(curves.condition.tolist()))
    overall = [_overall(curves, curves.condition == name) for name in names]
    rows = [
        [name, number(one[0], 2), number(one[1], 2), number(overall[0][1] - one[1], 2), number(one[2], 3)]
        for name, one in zip(names, overall, strict=True)
    ]
    header = ["grades", "judgments / documents", "judgments", "fewer than all", "error"]
    return Table("grades, one document after another", header, rows)


def _with_rows_of(curves: Curves, frame: DataFrame) -> DataFrame:
    """The frame and the curves below it; conditions tell them apart."""
    import pandas as pd

    both: DataFrame = pd.concat([frame, curves.to_frame()], ignore_index=True)
    return both


ERROR = "share of pairs of systems whose order differs from that by all judgments"


def _curves_document(
    topics: Sequence[Topic],
    order: Sequence[str] | None,
    rule: StopRule | None,
    probability: Estimate,
    rng: Rng,
    about: str,
) -> Document:
    """Judgments that each order needs, over all numbers of documents and for each number. about : the topics."""
    if order is None:
        conditions = [one if one.stop is None else replace(one, stop=rule) for one in FIGURE_2]
        if rule is None:
            conditions[-1] = replace(conditions[-1], name="utility, Bad")
    else:
        conditions = [Condition(name, name, stop=rule) for name in order]
    curves = judgments_needed(topics, conditions, probability=probability, rng=rng)
    names = list(dict.fromkeys(curves.condition.tolist()))
    overall = {name: _overall(curves, curves.condition == name) for name in names}
    fewest = min(overall, key=lambda name: overall[name][0])
    rows = [[name, *(number(v, d) for v, d in zip(overall[name], (2, 2, 3, 3), strict=True))] for name in names]
    sizes = sorted(set(curves.documents.tolist()))
    by_size = {name: [_cell(curves, name, n) for n in sizes] for name in names}
    n_topics = int(curves.topics[curves.condition == names[0]].sum())
    sentence = (
        f"Of {len(names)} orders of asking, {fewest} needs the fewest judgments: {overall[fewest][0]:.2f} times the "
        f"number of documents over {count(n_topics, 'topic')}, and leaves {percent(overall[fewest][2], 1)} of pairs of "
        "systems in another order than all judgments would."
    )
    tables = (
        Table("all topics", ["order", "judgments / documents", "judgments", "error", "regret"], rows),
        Table.of("judgments by number of documents", {"documents": cells(str, sizes), **by_size}),
    )
    notes = (
        Note("topics", about),
        Note("stop", _stop_text(rule)),
        Note("P(A over B)", f"{probability}, in orders by utility"),
        Note("error", ERROR),
        Note("regret", "score of the best system minus that of the system chosen"),
        Note("seed", f"{curves.seed}"),
    )
    return Document(sentence, tables, notes, curves.to_frame)


def _stop_text(rule: StopRule | None) -> str:
    """When judging stops."""
    if rule is None:
        return "none; every open pair is asked"
    best = "which system is the best" if rule.n_best == 1 else f"which {rule.n_best} systems are the best"
    goal = "the order of each pair of systems" if rule.goal == "ranking" else best
    how = "proven" if rule.stop_probability == 1 else f"the same in {percent(rule.stop_probability)} of completions"
    return f"once it is {how}: {goal}"


def _overall(curves: Curves, here: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> tuple[float, float, float, float]:
    """Mean judgments per document, judgments, error and regret over topics."""
    weights = curves.topics[here]
    columns = (curves.per_document, curves.judgments, curves.error, curves.regret)
    first, second, third, fourth = (float(np.average(column[here], weights=weights)) for column in columns)
    return first, second, third, fourth


def _cell(curves: Curves, name: str, n: int) -> str:
    rows = np.flatnonzero((curves.condition == name) & (curves.documents == n))
    return number(float(curves.judgments[rows[0]]), 1) if rows.size else "-"
