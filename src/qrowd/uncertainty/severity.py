"""What a judge would be expected to score systems, had they known of a document only what other people say of it.

A lenient or severe judge changes the scores of good systems by more, or less, than those of bad ones. To tell this from
liking a group of systems, every judge is compared with themselves: their judgments are shuffled among documents that
other people judged alike, and scored again. The shuffled judge is exactly as lenient, uses the grades as often, and
knows nothing of who retrieved a document beyond what the others' judgments say.
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
from qrowd.model.chance import Chance, Rng
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.labels import Selection, closest, matching
from qrowd.model.panel import Panel
from qrowd.model.runs import Runs
from qrowd.model.scores import Scores, known_mean
from qrowd.uncertainty.label_samples import whole

Floats = NDArray[np.float64]
CONVENTIONS = Conventions()
LEAST = 10  # documents that are shuffled together, roughly the fewest
SHUFFLES = 60  # over the people: each judge is shuffled SHUFFLES / people times, at least FEWEST
FEWEST = 6
EXTRAPOLATED_FROM = 1.5  # others per document from which on the number of others is extrapolated
LEAST_CORRELATION = 0.25  # taken where people agree less, since the extrapolation would be mostly noise


def expected_scores(
    runs: Runs,
    judgments: Judgments,
    measure: object,
    model: str,
    humans: Selection | None = None,
    *,
    conventions: Conventions = CONVENTIONS,
    n_resamples: int | None = None,
    rng: Rng = None,
) -> Scores:
    """Scores of each judge's shuffled judgments, (assessor, topic, system): the `expected` of `assessor_bias`.

    The documents are put in groups by the mean judgment of the other people, all but one of whom count for the model,
    so that person and model are treated alike; those nobody else judged are a group of their own. Few others say little
    of a document, and a good system's documents are better than they say: with m others the expected difference falls
    short by a share of 1 / (m + c), c = (1 - r) / r and r the mean correlation of two people's judgments (the error of
    a mean of m, as in Spearman and Brown's formula). The same is therefore done with one other per document, drawn at
    random, and extrapolated to infinitely many: ((m + c) E_m - (1 + c) E_1) / (m - 1), m being the harmonic mean of the
    numbers of others. Where m is below 1.5, E_m stands.

    humans : assessors, by name, shell pattern or list of those; None is everyone but the model.
    conventions : those of the scores that this is compared with.
    n_resamples : shuffles of each judge and kind; None takes 60 / people, at least 6.

    Raises
    ------
    ArgumentError
        An unknown model, no people.
    NoOverlapError
        Runs and judgments share no topic.
    """
    assessors = judgments.assessors
    if model not in assessors:
        raise ArgumentError(f"model {model!r} has no judgments; {closest(model, assessors, 'assessor')}")
    wanted = np.ones(len(assessors), bool) if humans is None else matching(assessors, humans, "assessor")
    people = [name for name, taken in zip(assessors, wanted, strict=True) if taken and name != model]
    if not people:
        raise ArgumentError("humans: nobody but the model was chosen; people to compare it with are needed")
    values, topics = expected_values(runs, judgments, [measure], people, [model], conventions, n_resamples, rng)
    return Scores.from_array(
        values[0], measure=str(measure), assessors=(*people, model), topics=topics, systems=runs.systems
    )


def expected_values(
    runs: Runs,
    judgments: Judgments,
    measures: Sequence[object],
    people: Sequence[str],
    models: Sequence[str],
    conventions: Conventions,
    n: int | None,
    rng: Rng,
) -> tuple[Floats, tuple[str, ...]]:
    """(measures, people and models, topics, systems) expected scores, and the topics."""
    panel = conventions.graded(judgments).panel(conventions.repeats)
    count = max(FEWEST, -(-SHUFFLES // len(people))) if n is None else whole("n_resamples", n)
    said = panel.values / np.where(np.isfinite(panel.maximum), panel.maximum, 1.0)
    columns = {name: panel.assessors.index(name) for name in (*people, *models)}
    chance = Chance.of(rng)
    blocks = [
        _shuffled(panel, column, said[:, [columns[p] for p in people if p != name]], name in models, count, chance)
        for name, column in columns.items()
    ]
    scores = evaluate(runs, blocks, measures, conventions=replace(conventions, grades="as-is"))
    shape = (len(scores.measures), len(blocks), 2, count, *scores.values.shape[2:])
    by_one, by_all = np.moveaxis(scores.values.reshape(shape).mean(axis=3), 2, 0)
    of_people = said[:, [columns[p] for p in people]]
    others = _typical_others(~np.isnan(of_people))
    if others >= EXTRAPOLATED_FROM:
        r = max(_correlation(of_people), LEAST_CORRELATION)
        c = (1 - r) / r
        by_all = ((others + c) * by_all - (1 + c) * by_one) / (others - 1)
    return np.asarray(by_all), scores.topics


def _typical_others(known: NDArray[np.bool_]) -> float:
    """How many others a person has on a document, of (documents, people) who judged; harmonic mean, at least 1."""
    count = known.sum(axis=1)
    count = count[count > 1]  # each of `count` people has count - 1 others
    return float(count.sum() / (count / (count - 1)).sum()) if count.size else 1.0


def _correlation(said: Floats) -> float:
    """Mean correlation of two people's judgments of the documents both judged; 0 where there is none."""
    found = []
    for first, second in combinations(said.T, 2):
        both = ~np.isnan(first) & ~np.isnan(second)
        x, y = first[both], second[both]
        if x.size and x.std() > 0 and y.std() > 0:
            found.append(float(np.corrcoef(x, y)[0, 1]))
    return float(np.mean(found)) if found else 0.0


def _shuffled(panel: Panel, judge: int, others: Floats, is_model: bool, n: int, chance: Chance) -> Panel:
    """2 n assessors: a judge's judgments shuffled n times by what one of the others says, and n times by all."""
    name = panel.assessors[judge]
    random = chance.stream(f"shuffle {name}")
    own = panel.values[:, judge]
    judged = np.flatnonzero(~np.isnan(own))
    values = np.full((own.size, 2 * n), np.nan)
    said, by_all = others[judged], None
    for column in range(2 * n):
        if is_model:  # who has as many others as a person has: one less than judged the document
            said, by_all = _one_left_out(others[judged], random), None
        if column < n:
            group = _groups(_one_left_in(said, random))
        else:
            by_all = _groups(said) if by_all is None else by_all
            group = by_all
        order = random.permutation(judged.size)
        there = order[np.argsort(group[order], kind="stable")]
        values[judged[np.argsort(group, kind="stable")], column] = own[judged[there]]
    names = tuple(f"{name} {i}" for i in range(1, 2 * n + 1))
    return Panel(panel.pool, names, (panel.scales[judge],) * (2 * n), values)


def _drawn(said: Floats, random: np.random.Generator) -> NDArray[np.bool_]:
    """(documents, others) one of those who say something, at random, for each document."""
    lots = np.where(np.isnan(said), 0.0, 1.0 - random.random(said.shape))
    return np.asarray((lots > 0) & (lots == lots.max(axis=1, keepdims=True, initial=0.0)))


def _one_left_in(said: Floats, random: np.random.Generator) -> Floats:
    return np.where(_drawn(said, random), said, np.nan)


def _one_left_out(said: Floats, random: np.random.Generator) -> Floats:
    return np.where(_drawn(said, random), np.nan, said)


def _groups(said: Floats) -> NDArray[np.integer[Any]]:
    """(documents,) number of the group of each of (documents, others): those of equal mean, and neighbours of few.

    Documents of which nobody says anything are a group of their own.
    """
    levels, level, counts = np.unique(np.round(known_mean(said, axis=1), 9), return_inverse=True, return_counts=True)
    groups = (np.cumsum(counts) - counts) // LEAST
    groups[np.isnan(levels)] = groups[-1:] + 1
    return np.asarray(groups[level].astype(np.min_scalar_type(int(groups[-1:].sum()))))  # small numbers sort faster
