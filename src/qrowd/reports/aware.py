"""AWARE as a document: the systems by weighted assessors, what each assessor is worth, and what was assumed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.aware import Gaps
from qrowd.aware.averages import averaged
from qrowd.aware.estimators import UNIFORM
from qrowd.comparison.correlation import kendall_tau_b
from qrowd.comparison.standings import Standings, standings
from qrowd.model.scores import Floats, Scores, known_mean
from qrowd.reports.document import Document, Table, number, span
from qrowd.reports.notes import notes

if TYPE_CHECKING:
    import pandas

MANY = 3.0  # times the mean share that an assessor's accuracy must be for a note


def aware_document(gaps: Gaps, name: str, polarity: str, across: str) -> Document:
    """The systems by AWARE and by equal weights, and the assessors' accuracies."""
    accuracy = gaps.accuracy(name, polarity, across)  # type: ignore[arg-type]
    weighted = averaged(gaps.scores, accuracy, name, {})
    uniform = gaps.average(UNIFORM)
    both = [
        (standings(weighted.of(m)), standings(uniform.of(m)), standings(gaps.scores.of(m)))
        for m in gaps.scores.measures
    ]
    tables = [_systems(gaps.scores, m, *three) for m, three in zip(gaps.scores.measures, both, strict=True)]
    shares = _shares(accuracy)
    tables.append(_assessors(gaps.scores, shares, [three[0] for three in both], name))
    return Document(
        _sentence(gaps.scores, both, name),
        tuple(tables),
        tuple(_notes(gaps, name, polarity, across, shares)),
        frame=lambda: _frame(weighted, uniform, name),
        content=lambda: _content(weighted, uniform, accuracy, gaps),
    )


def _shares(accuracy: Floats) -> Floats:
    """(measures, assessors) mean over topics of each assessor's part of the weight; nan without a score."""
    total = np.nansum(accuracy, axis=1, keepdims=True)
    known = ~np.isnan(accuracy)
    count = known.sum(axis=1, keepdims=True)
    share = np.where(total > 0, accuracy / np.where(total > 0, total, 1), 1 / np.maximum(count, 1))
    return known_mean(np.where(known, share, np.nan), axis=2)


def _sentence(scores: Scores, both: list[tuple[Standings, Standings, Standings]], name: str) -> str:
    told = []
    for measure, (weighted, uniform, _) in zip(scores.measures, both, strict=True):
        first = scores.systems[int(np.flatnonzero(weighted.rank == 1)[0])]
        other = scores.systems[int(np.flatnonzero(uniform.rank == 1)[0])]
        moved = int((weighted.rank != uniform.rank).sum())
        told.append(
            f"{first} is best by {measure}"
            + ("" if first == other else f" (with equal weights {other})")
            + f"; {moved} of {len(scores.systems)} systems stand elsewhere than with equal weights"
        )
    return f"Assessors weighted by {name}: " + ". ".join(told) + "."


def _systems(scores: Scores, measure: str, weighted: Standings, uniform: Standings, all_: Standings) -> Table:
    order = np.argsort(np.where(weighted.rank == 0, len(scores.systems) + 1, weighted.rank), kind="stable")
    lowest, highest = np.fmin.reduce(all_.by_assessor), np.fmax.reduce(all_.by_assessor)
    rows = [
        [
            scores.systems[s],
            number(weighted.mean[s]),
            number(weighted.standard_error[s]),
            str(weighted.rank[s] or "-"),
            number(uniform.mean[s]),
            str(uniform.rank[s] or "-"),
            span(lowest[s], highest[s], digits=4),
        ]
        for s in order
    ]
    return Table(measure, ["system", "AWARE", "s.e.", "rank", "uniform", "rank ", "range over assessors"], rows)


def _assessors(scores: Scores, shares: Floats, weighted: list[Standings], name: str) -> Table:
    header = ["assessor"]
    for measure in scores.measures:
        header += [f"weight {measure}", "tau-b"]
    order = np.argsort(-np.nan_to_num(shares[0], nan=-1.0), kind="stable")
    rows = []
    for a in order:
        row = [scores.assessors[a]]
        for m, measure in enumerate(scores.measures):
            own = standings(scores.of(measure)).by_assessor[a]
            row += [number(shares[m, a], 3), number(kendall_tau_b(own, weighted[m].mean), 3)]
        rows.append(row)
    title = f"what each assessor is worth ({name}; mean share over topics), and tau-b of the ranking with AWARE's"
    return Table(title, header, rows)


def _notes(gaps: Gaps, name: str, polarity: str, across: str, shares: Floats) -> list[str]:
    about = gaps.attributes
    if gaps.toward == "gold":
        told = [f"estimator: {name}, by similarity to {about['gold']} on {len(about['topics'])} topics"]
    else:
        levels = ", ".join(f"{level} {p:g}" for level, p in gaps.levels.items())
        told = [
            f"estimator: {name}; polarity: {polarity}; random assessors: {about['n']:,} of each level "
            f"({levels}); seed: {about['seed']}"
        ]
    told.append(f"kernel density: bandwidth {about['bandwidth']:g}, {about['points']} points; beta {about['beta']:g}")
    if across == "all":
        told.append("accuracies: one for all measures, from their mean similarity")
    flat = [
        assessor
        for a, assessor in enumerate(gaps.scores.assessors)
        if gaps.scores.known[:, a].any() and _constant(gaps.scores, a)
    ]
    if flat:
        told.append(f"no ranking: to {', '.join(flat)} all systems are equal by some measure")
    for m, measure in enumerate(gaps.scores.measures):
        heavy = [gaps.scores.assessors[a] for a in np.flatnonzero(shares[m] > MANY * np.nanmean(shares[m]))]
        if heavy:
            told.append(
                f"{', '.join(heavy)}: more than {MANY:g} times the mean weight by {measure}; look at whom you trust"
            )
    return [*told, *notes(gaps.scores)]


def _constant(scores: Scores, a: int) -> bool:
    means = known_mean(scores.values[:, a], axis=1)
    return bool((np.ptp(np.nan_to_num(means), axis=1) == 0).any())


def _frame(weighted: Scores, uniform: Scores, name: str) -> pandas.DataFrame:
    from qrowd.reports.evaluation import long_frame

    frame = long_frame(weighted).drop(columns="assessor").rename(columns={"score": name})
    return frame.assign(uniform=long_frame(uniform)["score"])


def _content(weighted: Scores, uniform: Scores, accuracy: Floats, gaps: Gaps) -> dict[str, Any]:
    return {
        "measure": weighted.measures,
        "topic": weighted.topics,
        "system": weighted.systems,
        "assessor": gaps.scores.assessors,
        "aware": weighted.values[:, 0],
        "uniform": uniform.values[:, 0],
        "accuracy": accuracy,
        "options": dict(gaps.attributes),
    }
