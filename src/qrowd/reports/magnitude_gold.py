"""Magnitudes beside gold grades: levels, gains, conflicts, and the ranking of systems by either.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), sections 5 to 8.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.agreement import order_agreement, scale_conflicts
from qrowd.agreement.conflicts import Merge
from qrowd.agreement.correlation import PearsonTest, pearson_test
from qrowd.comparison import TwoRankings
from qrowd.errors import NoOverlapError
from qrowd.evaluation import evaluate
from qrowd.kernels.arrays import Floats
from qrowd.magnitude import distribution as distribution_of
from qrowd.magnitude.gains import Ratios
from qrowd.magnitude.levels import Values, Variances
from qrowd.reports.document import Note, Table
from qrowd.reports.magnitude_data import MEASURES, MagnitudeData, Section, notes_of, rows_of, without_checks
from qrowd.reports.phrases import cells, count, number, percent, probability

CONFLICTS_SHOWN = 20
EXCEPTIONS_SHOWN = 20


def levels(data: MagnitudeData, *, values: Values = "logs", variances: Variances = "unequal") -> Section:
    """Whether higher gold levels have higher magnitudes: t-tests, exceptions, order of pairs (sections 5 and 6.1.2).

    values, variances : of `level_tests`.
    """
    from qrowd.magnitude import level_tests

    tests = data.tests
    if (values, variances) != (tests.values, tests.variances):
        tests = level_tests(data.judgments, data.grades, values=values, variances=variances)
    exceptions = tests.exceptions()
    frame = tests.to_frame()
    names = cells("{:g}".format, tests.levels)
    adjacent = {
        "level": [f"{low} and {high}" for low, high in pairwise(names)],
        "documents": cells("{:,} and {:,}".format, frame["n_lower"], frame["n_upper"]),
        "median": cells("{:.4g} and {:.4g}".format, frame["median_lower"], frame["median_upper"]),
        "t": cells(number, frame["t"], digits=2),
        "df": cells(number, frame["df"], digits=1),
        "p": cells(probability, frame["p"]),
    }
    reverse = {
        "topic": exceptions["topic"].tolist()[:EXCEPTIONS_SHOWN],
        "level": cells("{:g} and {:g}".format, exceptions["lower"], exceptions["upper"])[:EXCEPTIONS_SHOWN],
        "median": cells("{:.4g} and {:.4g}".format, exceptions["median_lower"], exceptions["median_upper"])[
            :EXCEPTIONS_SHOWN
        ],
    }
    n_cases, n_exceptions = tests.comparable(), len(exceptions)
    significant = int((tests.p < 0.05).sum())
    sentence = (
        f"{significant} of {count(tests.p.size, 'pair')} of adjacent gold levels differ in their magnitudes (p < .05, "
        f"not corrected); in {n_exceptions} of {n_cases} cases of a topic and two levels the higher level has the "
        "lower median."
    )
    order, order_rows, ties = _order(data)
    tables = [Table.of("adjacent gold levels", adjacent)]
    if n_exceptions:
        tables.append(Table.of("topics in which the higher level has the lower median magnitude", reverse))
    options = f"{tests.values}, {tests.variances} variances, two-sided"
    return Section(
        "levels",
        sentence,
        (*tables, order),
        (*notes_of(data), Note("t-test", options), ties),
        {"tests": rows_of(tests), "exceptions": lambda: dict(exceptions), "order": order_rows},
    )


def _order(data: MagnitudeData) -> tuple[Table, Callable[[], dict[str, Any]], Note]:
    """How often merged magnitudes order two documents as gold does, by the pair of levels (Figure 7)."""
    by_levels = data.by_levels
    merged = data.merged
    plain, strict = (order_agreement(merged, data.grades, by="levels", strict=one) for one in (False, True))
    both = [order_agreement(merged, data.grades, by=None, strict=one) for one in (False, True)]
    columns = {
        "level": list(by_levels),
        "pairs": cells("{:,}".format, [*plain.n_pairs, int(plain.n_pairs.sum())]),
        "agreement": cells(percent, [*plain.value, both[0].overall], digits=1),
        "equal values as disagreement": cells(percent, [*strict.value, both[1].overall], digits=1),
        "mean over topics": [percent(float(np.nanmean(one)), 1) for one in by_levels.values()],
    }
    note = Note(
        "equal values",
        "of two documents count as agreement, as in the paper; between two binary scales this counts many pairs, so "
        "the share with equal values as disagreement stands beside it",
    )
    return Table.of("pairs of documents in the order of gold, by their levels", columns), rows_of(plain), note


def gains(data: MagnitudeData) -> Section:
    """What each gold level is worth: gain profile, ratios between levels (section 8, Figures 14 and 15)."""
    profile, ratios = data.gains, data.ratios
    names = cells("{:g}".format, profile.levels)
    columns = {
        "level": names,
        **_ratio_columns(profile.gains),
        "linear": cells("{:g}".format, profile.linear),
        "exponential": cells("{:g}".format, profile.exponential),
    }
    pairs = {"level": list(ratios.pairs), **_ratio_columns(ratios.ratios)}
    linear, exponential = profile.linear_error, profile.exponential_error
    closer = "linear" if linear <= exponential else "exponential"
    values = ", ".join(f"{name}: {gain:.2f}" for name, gain in zip(names, profile.gains.median, strict=True))
    sentence = (
        f"In multiples of the magnitude of N in the same unit, the median gains of the gold levels are {values}; "
        f"{closer} gains are closer to them (root mean square difference of logarithms: linear {linear:.2f}, "
        f"exponential {exponential:.2f})."
    )
    notes = [*notes_of(data)]
    if profile.n_without_gold:
        notes.append(
            Note("gold", f"{count(profile.n_without_gold, 'judgment')} of documents without gold are left out")
        )
    notes.append(Note("ratios", "within units, of the magnitudes as written; normalisation does not change them"))
    tables = [
        Table.of("magnitude of each gold level, divided by that of N in the unit", columns),
        Table.of("ratios of the magnitudes of two gold levels within a unit", pairs),
    ]
    rows = {"gains": rows_of(profile), "ratios": rows_of(ratios)}
    return Section("gains", sentence, tuple(tables), tuple(notes), rows)


def _ratio_columns(ratios: Ratios) -> dict[str, list[str]]:
    return {
        "judgments": cells("{:,}".format, ratios.n),
        "lower quartile": cells(number, ratios.lower_quartile, digits=2),
        "median": cells(number, ratios.median, digits=2),
        "upper quartile": cells(number, ratios.upper_quartile, digits=2),
        "mean": cells(number, ratios.mean, digits=2),
        "geometric mean": cells(number, ratios.geometric_mean, digits=2),
    }


def conflicts(data: MagnitudeData, *, merge: Merge = "median", min_distance: int = 2) -> Section:
    """Documents whose merged magnitude is nearest to another gold level than their own, with comments (section 6.2).

    merge, min_distance : of `scale_conflicts`.
    """
    conflicting = scale_conflicts(data.judgments, data.grades, merge=merge, min_distance=min_distance)
    shown = slice(CONFLICTS_SHOWN)
    columns = {
        "topic": conflicting.topic[shown].tolist(),
        "document": conflicting.document[shown].tolist(),
        "level": cells("{:g}".format, conflicting.level[shown]),
        "nearest level": cells("{:g}".format, conflicting.nearest[shown]),
        "magnitude": cells("{:.4g}".format, conflicting.value[shown]),
        "judgments": cells("{:,}".format, conflicting.n[shown]),
        "centre of its level": cells("{:.4g}".format, conflicting.own_centre[shown]),
        "of the nearest": cells("{:.4g}".format, conflicting.nearest_centre[shown]),
    }
    n = len(conflicting)
    sentence = (
        f"{count(n, 'document')} of {conflicting.n_documents:,} {'has' if n == 1 else 'have'} a merged magnitude that "
        f"is nearest to a gold level {min_distance} or more levels from their own."
    )
    title = f"conflicts with gold, the largest {min(n, CONFLICTS_SHOWN)} of {n:,}"
    notes = [
        *notes_of(data),
        Note("merged", f"{merge.replace('_', ' ')} of the normalised magnitudes; centres by topic, in logarithms"),
    ]
    if conflicting.n_alone:
        alone = f"{count(conflicting.n_alone, 'document')} are the only ones of their level in their topic"
        notes.append(Note("not compared", alone))
    rows = {"documents": rows_of(conflicting), "judgments": rows_of(conflicting, "judgments")}
    return Section("conflicts", sentence, (Table.of(title, columns),) if n else (), tuple(notes), rows)


# ---------------------------------------------------------------------- rankings of systems


def rankings(data: MagnitudeData) -> Section:
    """The ranking of systems with magnitudes and with gold grades as gains (section 7); the difficulty of topics."""
    runs = data.systems
    preferred: dict[str, NDArray[np.bool_] | None] = {"all units": None}
    if data.lack_of_checks is None:
        preferred |= {"narrow units": ~data.widths.wide, "wide units": data.widths.wide}
    rows = [
        (name, measure, both)
        for name, units in preferred.items()
        for measure, both in data.rankings(runs, preferred=units).items()
    ]
    notes = [*notes_of(data), *_measure_notes(), *without_checks(data)]
    try:
        rows += [("complete lists", *pair) for pair in data.rankings(data.complete_runs).items()]
    except NoOverlapError as error:
        notes.append(Note("complete lists", f"none: {error}"))
    draws = data.draws
    quantiles = draws.quantiles((0.05, 0.5, 0.95))
    drawn = {
        "measure": list(MEASURES),
        "tau, median": cells(number, quantiles[:, 1], digits=3),
        "5 %": cells(number, quantiles[:, 0], digits=3),
        "95 %": cells(number, quantiles[:, 2], digits=3),
    }
    difficulty, ease, tests = _difficulty(data)
    first = rows[0][2]
    taus = f"{rows[0][2].tau:.3f} with {rows[0][1]} and {rows[1][2].tau:.3f} with {rows[1][1]}"
    sentence = (
        f"Kendall's tau between the rankings of {count(len(first.systems), 'system')} by magnitudes and by gold grades "
        f"is {taus}; with one magnitude drawn for each document it is {quantiles[0, 1]:.3f} and {quantiles[1, 1]:.3f} "
        "in the median."
    )
    columns = {
        "magnitudes of": [name for name, _, _ in rows],
        "measure": [measure for _, measure, _ in rows],
        "tau": [number(both.tau, 3) for _, _, both in rows],
        "top set by magnitudes": [f"{int(both.top_x.sum())}" for _, _, both in rows],
        "by gold": [f"{int(both.top_y.sum())}" for _, _, both in rows],
        "overlap": [percent(both.overlap, 0) for _, _, both in rows],
    }
    correlations = {
        "statistic of a topic's magnitudes": list(tests),
        "r": [number(test.r, 3) for test in tests.values()],
        "p": [probability(test.p) for test in tests.values()],
        "topics": [f"{test.n}" for test in tests.values()],
    }
    notes.append(Note("draws", f"{draws.n_resamples:,}; seed: {data.rng!r}"))
    return Section(
        "rankings",
        sentence,
        (
            Table.of("systems by magnitudes and by gold grades as gains", columns),
            Table.of("one magnitude drawn for each document, rankings compared with gold's", drawn),
            Table.of(
                "Pearson's correlation with the ease of topics (mean nDCG@10 of all systems by gold)", correlations
            ),
        ),
        tuple(notes),
        {
            "systems": lambda: _system_rows(rows),
            "draws": rows_of(draws),
            "topics": lambda: {**difficulty, "ease": ease},
        },
    )


def _system_rows(rows: list[tuple[str, str, TwoRankings]]) -> dict[str, Any]:
    sizes = [len(both.systems) for _, _, both in rows]
    columns: dict[str, Any] = {
        "magnitudes": np.repeat([name for name, _, _ in rows], sizes).astype(object),
        "measure": np.repeat([measure for _, measure, _ in rows], sizes).astype(object),
        "system": [system for _, _, both in rows for system in both.systems],
    }
    for name in ("x", "y", "top_x", "top_y"):
        columns[name] = np.concatenate([getattr(both, name) for _, _, both in rows])
    return columns


def _measure_notes() -> list[Note]:
    return [
        Note(
            "measures",
            "nDCG@10 with the original discount (none at rank 1, log2(r) below); ERR@10 with R = (2^g - 1) / 2^max, "
            "where max is that of the scale, and for magnitudes the highest of the topic",
        ),
        Note("magnitudes", "of a document: the median over the three units that order documents most as gold does"),
        Note("top set", "the best and those not significantly below it (paired Wilcoxon test, p >= .05)"),
        Note("overlap", "share of the top set by gold that is in the other"),
    ]


def _difficulty(data: MagnitudeData) -> tuple[dict[str, Any], Floats, dict[str, PearsonTest]]:
    """Statistics of each topic's magnitudes, its ease, and their correlations (section 9.2, at the level of topics)."""
    scores = evaluate(data.systems, data.grades, MEASURES["nDCG@10"])
    by_topic = distribution_of(data.written, by="topic")
    ease_of = dict(zip(scores.topics, np.nanmean(scores.values[0, 0], axis=1).tolist(), strict=True))
    ease = np.array([ease_of.get(topic, np.nan) for topic in by_topic.groups])
    statistics = {
        "geometric mean": by_topic.geometric_mean,
        "median": by_topic.median,
        "geometric standard deviation": by_topic.geometric_sd,
    }
    tests = {name: pearson_test(np.log(values), ease) for name, values in statistics.items()}
    columns = {"topic": list(by_topic.groups)} | {
        name.replace(" ", "_").replace("standard_deviation", "sd"): values for name, values in statistics.items()
    }
    return columns, ease, tests
