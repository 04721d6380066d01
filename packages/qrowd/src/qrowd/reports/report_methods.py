"""The report on rankings: by other methods of putting the assessors together, and by other measures."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import nan

import numpy as np

from qrowd.aware import NAMES, similarity_to_random
from qrowd.aware.estimators import DEFAULT, ESTIMATORS
from qrowd.comparison.system_ranking import rank_systems, ranks
from qrowd.errors import QrowdError, ScaleError
from qrowd.evaluation import measure
from qrowd.kernels.arrays import Floats
from qrowd.methods import Task, parse_method, scores_by_method
from qrowd.model.chance import Seed
from qrowd.model.conventions import Conventions
from qrowd.model.inferred_scales import alike
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.model.scores import Scores
from qrowd.reports.document import Note, Section, Table
from qrowd.reports.notes import scoring_notes
from qrowd.reports.phrases import count, listed, number
from qrowd.reports.system_tables import system_order
from qrowd.threads import Progress

RANDOM_ASSESSORS = 64  # of each level: other ones move a weight by .1 % at most; `qrowd aware` draws 1,000
PANEL = "mean of assessors"
NEEDED = ESTIMATORS[NAMES.index(DEFAULT)]  # whose similarities are the only ones computed
MAGNITUDES = {"median": "median", "geometric mean": "geometric-mean"}


# ---------------------------------------------------------------------- other measures


def measures_section(scores: Scores, others: Scores, first: str) -> Section:
    """Means and ranks by further measures. scores : by the measure of the headline."""
    of_headline = {str(note) for note in scoring_notes(scores)}
    each = (scores, *(others.sel(measure=name) for name in others.measures))
    means = {one.measures[0]: _means(one) for one in each}
    notes = tuple(note for note in scoring_notes(others) if str(note) not in of_headline)
    return _rankings("measures", "By other measures", "measure", scores.systems, means, first, notes)


def _rankings(
    name: str,
    title: str,
    noun: str,
    systems: Sequence[str],
    means: Mapping[str, Floats],
    first: str,
    notes: Collection[Note | str],
) -> Section:
    """Means and ranks of the systems by each measure or method, the one of the headline first."""
    order = system_order(next(iter(means.values())))
    names = [systems[s] for s in order]
    by_name = {key: (values[order].tolist(), ranks(values)[order].tolist()) for key, values in means.items()}
    cells = {
        key: [f"{number(mean)} ({rank or '-'})" for mean, rank in zip(*columns, strict=True)]
        for key, columns in by_name.items()
    }
    table = replace(
        Table.of(f"Means and ranks by each {noun}", {"system": names, **cells}),
        keys={key: columns[0] for key, columns in by_name.items()},
        records=[
            {"system": system, noun: key, "mean": mean, "rank": rank}
            for key, columns in by_name.items()
            for system, mean, rank in zip(names, *columns, strict=True)
        ],
    )
    ranks_by = {key: dict(zip(names, columns[1], strict=True)) for key, columns in by_name.items()}
    return Section(name, title, _on_rankings(ranks_by, first, noun), {name: table}, tuple(notes))


def _on_rankings(ranks_by: Mapping[str, Mapping[str, int]], first: str, noun: str) -> str:
    """The rank of the leader by each of them."""
    by_rank: dict[int, list[str]] = {}
    for name, rank_of in ranks_by.items():
        by_rank.setdefault(rank_of[first], []).append(name)
    if list(by_rank) == [1]:
        return f"{first} has rank 1 by each of the {count(len(ranks_by), noun)}."
    parts = (
        f"rank {rank} by {listed(names)}" if rank else f"no score by {listed(names)}"
        for rank, names in sorted(by_rank.items())
    )
    return f"{first} has {'; '.join(parts)}."


# ---------------------------------------------------------------------- other methods


def methods_section(
    runs: Runs,
    judgments: Judgments,
    scores: Scores,
    measures: Sequence[str],
    first: str,
    reference: Scores | None,
    *,
    conventions: Conventions,
    random_assessors: int,
    seed: Seed,
    progress: Progress | None,
) -> tuple[Section, dict[str, Floats]]:
    """The ranking of the systems by each method, and the methods' scores for the page.

    reference : scores by all measures of the assessor who is left out of the panel.
    """
    means = {PANEL: _means(scores)}
    of_page = {}
    labels, rel, note = _labels(judgments, conventions)
    notes = [note] if note else []
    task = Task(runs, labels, tuple(map(measure, measures)), replace(conventions, grades="as-is"), seed)
    methods = {
        **(MAGNITUDES if all(scale.kind == "magnitude" for scale in labels.scales) else {}),
        "majority": "majority",
        "Dawid-Skene": "dawid-skene",
        "AWARE": "",
        "predicted relevance": f"predicted-relevance(rel={rel:g})",
    }
    for name, method in methods.items():
        try:
            if method:
                merged, warnings = _scored(method, task)
            else:
                merged = _aware(runs, judgments, measures, conventions, random_assessors, seed, progress)
                warnings = [f"AWARE: {DEFAULT}, {random_assessors:,} random assessors of each level"]
            means[name] = _checked(merged.sel(measure=scores.measures[0]))
        except QrowdError as error:
            notes.append(f"{name} is left out: {error}")
            continue
        of_page[name] = aligned(merged, scores, len(measures))
        notes += warnings
    if reference is not None:
        (name,) = reference.assessors
        means[name], of_page[name] = (
            _means(reference.sel(measure=scores.measures[0])),
            aligned(reference, scores, len(measures)),
        )
    title = "Other methods to combine the assessors"
    notes = list(dict.fromkeys(notes))
    return _rankings("methods", title, "method", scores.systems, means, first, notes), of_page


def _aware(
    runs: Runs,
    judgments: Judgments,
    measures: Sequence[str],
    conventions: Conventions,
    random_assessors: int,
    seed: Seed,
    progress: Progress | None,
) -> Scores:
    """Scores weighted by the distance of each assessor from random ones."""
    similarities = similarity_to_random(
        runs,
        judgments.single(repeats=conventions.repeats),
        list(measures),
        n_resamples=random_assessors,
        gaps=[NEEDED.gap],
        by_topic=NEEDED.granularity == "tpc",
        rng=seed,
        conventions=replace(conventions, empty="nan"),
        progress=progress,
    )
    return similarities.average(DEFAULT)


def _scored(method: str, task: Task) -> tuple[Scores, list[str]]:
    """Scores by all measures, or by the first one where others do not suit the merged labels."""
    try:
        return scores_by_method(parse_method(method), task)
    except QrowdError:
        return scores_by_method(parse_method(method), replace(task, measures=task.measures[:1]))


def _labels(judgments: Judgments, conventions: Conventions) -> tuple[Judgments, float, str]:
    """Judgments whose labels can be counted, the lowest grade that is relevant, and a note on what was changed."""
    if alike(judgments.scales) and conventions.grades == "as-is":
        scale = judgments.shared_scale()
        if scale.kind in ("binary", "graded"):
            return judgments, scale.rel or 1.0, ""
    if any(scale.rel is None for scale in judgments.scales):
        return judgments, 1.0, ""
    note = (
        "majority, Dawid-Skene and predicted relevance need labels on one scale: here each judgment counts as relevant "
        "or not, by its assessor's own scale (whole grades from 1 on, fractions from half the maximum on)"
    )
    return judgments.relevant_or_not(), 1.0, note


def _means(scores: Scores) -> Floats:
    """(systems,) means over topics of the means over assessors."""
    return rank_systems(scores).mean


def _checked(scores: Scores) -> Floats:
    means = _means(scores)
    if np.isnan(means).all() or np.nanmax(means) == np.nanmin(means):
        raise ScaleError(f"by {scores.measures[0]}, all {len(scores.systems)} systems are equal")
    return means


def aligned(merged: Scores, scores: Scores, n_measures: int) -> Floats:
    """(measures, topics, systems) scores by one assessor, in the order of the topics of the page.

    nan by measures that do not suit them.
    """
    place = {topic: t for t, topic in enumerate(merged.topics)}
    values = np.full((n_measures, len(scores.topics), len(scores.systems)), nan)
    for t, topic in enumerate(scores.topics):
        if topic in place:
            values[: len(merged.measures), t] = merged.values[:, 0, place[topic]]
    return values
