"""The scores of systems that are expected from an assessor's severity alone, without preferences for systems.

A lenient or severe assessor changes the scores of good systems by more, or less, than those of bad ones. To separate
this from a preference for a group of systems, each assessor is compared with a shuffled version: the judgments are
permuted among documents that the other assessors judged alike, and scored again. The shuffled assessor is as lenient
and uses the grades as often, but knows nothing of the systems beyond the others' judgments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.evaluation import evaluate
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Chance, Rng
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.labels import Selection
from qrowd.model.panel import Panel
from qrowd.model.runs import Runs
from qrowd.model.scores import Scores, known_mean
from qrowd.replacement.assessor_bias import selected_assessors

CONVENTIONS = Conventions()
LEAST = 10  # documents that are shuffled together, roughly the fewest
SHUFFLES = 60  # each assessor is shuffled SHUFFLES / assessors times, at least FEWEST
FEWEST = 6
EXTRAPOLATED_FROM = 1.5  # others per document from which on the number of others is extrapolated
LEAST_CORRELATION = 0.25  # used where assessors agree less, since the extrapolation would be mostly noise


def expected_scores(
    runs: Runs,
    judgments: Judgments,
    measure: object,
    model: str,
    *,
    assessors: Selection | None = None,
    conventions: Conventions = CONVENTIONS,
    n_resamples: int | None = None,
    rng: Rng = None,
) -> Scores:
    """Scores of each assessor's shuffled judgments, (assessor, topic, system): the `expected` of `assessor_bias`.

    Documents are grouped by the mean judgment of the other assessors, all but one of whom count for the model, so that
    assessor and model are treated alike; documents that no other assessor judged are a group of their own. A few
    judgments describe a document imprecisely, and a good system's documents are better than they indicate: with m
    others, the expected difference is too small by a share of 1 / (m + c), with c = (1 - r) / r and the mean
    correlation r of two assessors' judgments (the error of a mean of m, as in the Spearman-Brown formula). The same is
    therefore computed with one random other per document, and extrapolated to infinitely many: ((m + c) E_m - (1 + c)
    E_1) / (m - 1), where m is the harmonic mean of the numbers of others. Where m is below 1.5, E_m is used.

    assessors : the human assessors, by name, shell pattern or list of those; default: all but the model.
    conventions : those of the scores that are compared.
    n_resamples : shuffles of each assessor and kind; default: 60 / assessors, at least 6.

    Raises
    ------
    ArgumentError
        An unknown model, no assessors.
    NoOverlapError
        Runs and judgments share no topic.
    """
    selected = selected_assessors(judgments.assessors, model, assessors, "judgments")
    values, topics = expected_values(runs, judgments, [measure], selected, [model], conventions, n_resamples, rng)
    return Scores.from_array(
        values[0], measure=str(measure), assessors=(*selected, model), topics=topics, systems=runs.systems
    )


def expected_values(
    runs: Runs,
    judgments: Judgments,
    measures: Sequence[object],
    assessors: Sequence[str],
    models: Sequence[str],
    conventions: Conventions,
    n: int | None,
    rng: Rng,
) -> tuple[Floats, tuple[str, ...]]:
    """(measures, assessors and models, topics, systems) expected scores, and the topics."""
    panel = conventions.graded(judgments).panel(repeats=conventions.repeats)
    if n is not None and n < 1:
        raise ArgumentError("1 or more were expected", "n_resamples", n)
    count = max(FEWEST, -(-SHUFFLES // len(assessors))) if n is None else n
    scaled = panel.values / np.where(np.isfinite(panel.maximum), panel.maximum, 1.0)
    columns = {name: panel.assessors.index(name) for name in (*assessors, *models)}
    chance = Chance.of(rng)
    blocks = [
        _shuffled(panel, column, scaled[:, [columns[a] for a in assessors if a != name]], name in models, count, chance)
        for name, column in columns.items()
    ]
    scores = evaluate(runs, blocks, measures, conventions=replace(conventions, grades="as-is"))
    shape = (len(scores.measures), len(blocks), 2, count, *scores.values.shape[2:])
    by_one, by_all = np.moveaxis(scores.values.reshape(shape).mean(axis=3), 2, 0)
    of_assessors = scaled[:, [columns[name] for name in assessors]]
    others = _typical_others(~np.isnan(of_assessors))
    if others >= EXTRAPOLATED_FROM:
        r = max(_correlation(of_assessors), LEAST_CORRELATION)
        c = (1 - r) / r
        by_all = ((others + c) * by_all - (1 + c) * by_one) / (others - 1)
    return np.asarray(by_all), scores.topics


def _typical_others(known: NDArray[np.bool_]) -> float:
    """Number of other assessors on a document, of (documents, assessors) who judged; harmonic mean, at least 1."""
    count = known.sum(axis=1)
    count = count[count > 1]  # each of `count` assessors has count - 1 others
    return float(count.sum() / (count / (count - 1)).sum()) if count.size else 1.0


def _correlation(judgments: Floats) -> float:
    """Mean correlation of two assessors' judgments of the documents both judged; 0 where there is none."""
    coefficients = []
    for first, second in combinations(judgments.T, 2):
        both = ~np.isnan(first) & ~np.isnan(second)
        x, y = first[both], second[both]
        if x.size and x.std() > 0 and y.std() > 0:
            coefficients.append(float(np.corrcoef(x, y)[0, 1]))
    return float(np.mean(coefficients)) if coefficients else 0.0


def _shuffled(panel: Panel, assessor: int, others: Floats, is_model: bool, n: int, chance: Chance) -> Panel:
    """2 n assessors: the judgments of one, shuffled n times by one other's judgments, and n times by all others'."""
    name = panel.assessors[assessor]
    random = chance.stream(f"shuffle {name}")
    own = panel.values[:, assessor]
    judged = np.flatnonzero(~np.isnan(own))
    values = np.full((own.size, 2 * n), np.nan)
    judgments, by_all = others[judged], None
    for column in range(2 * n):
        if is_model:  # it has as many others as an assessor has: one less than judged the document
            judgments, by_all = _one_left_out(others[judged], random), None
        if column < n:
            group = _groups(_one_left_in(judgments, random))
        else:
            by_all = _groups(judgments) if by_all is None else by_all
            group = by_all
        order = random.permutation(judged.size)
        there = order[np.argsort(group[order], kind="stable")]
        values[judged[np.argsort(group, kind="stable")], column] = own[judged[there]]
    names = tuple(f"{name} {i}" for i in range(1, 2 * n + 1))
    return Panel(panel.pool, names, (panel.scales[assessor],) * (2 * n), values)


def _drawn(judgments: Floats, random: np.random.Generator) -> NDArray[np.bool_]:
    """(documents, others) a random one of those who judged, for each document."""
    lots = np.where(np.isnan(judgments), 0.0, 1.0 - random.random(judgments.shape))
    return np.asarray((lots > 0) & (lots == lots.max(axis=1, keepdims=True, initial=0.0)))


def _one_left_in(judgments: Floats, random: np.random.Generator) -> Floats:
    return np.where(_drawn(judgments, random), judgments, np.nan)


def _one_left_out(judgments: Floats, random: np.random.Generator) -> Floats:
    return np.where(_drawn(judgments, random), np.nan, judgments)


def _groups(judgments: Floats) -> NDArray[np.integer[Any]]:
    """(documents,) number of the group: documents of equal mean over (documents, others), joined where they are few.

    Documents that no other assessor judged are a group of their own.
    """
    levels, level, counts = np.unique(
        np.round(known_mean(judgments, axis=1), 9), return_inverse=True, return_counts=True
    )
    groups = (np.cumsum(counts) - counts) // LEAST
    groups[np.isnan(levels)] = groups[-1:] + 1
    return np.asarray(groups[level].astype(np.min_scalar_type(int(groups[-1:].sum()))))  # small numbers sort faster
