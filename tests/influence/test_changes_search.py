"""Measures that are no weighted sums of gains: bounds contain the truth, which all assignments of grades show."""

from __future__ import annotations

from itertools import product
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qrowd
from qrowd.errors import MeasureError
from qrowd.influence.change_bounds import least_by_cells, reductions_by_scoring, search, single_changes
from qrowd.influence.score_cells import cells_of
from qrowd.model.judgments import Judgments
from qrowd.simulation import simulate_demo

MEASURES = (
    "AP",
    "AP(rel=2)@3",
    "AP(recall_base=3)",
    "RR",
    "RR(rel=2)@2",
    "ERR@3",
    "Rprec",
    "Bpref",
    "GAP",
    "nDCG(judged_only=True)@3",
)
DOCUMENTS = ("d1", "d2", "d3", "d4", "d5")
RUNS, DEMO, _ = simulate_demo()
PANEL = DEMO.select(assessors=["ann", "bob", "sven"])
TWO = RUNS.select(systems=["rerank-llm", "dense-large"])


SCALE = {"*": "0-2"}
MIXED = {"a0": "0-2", "a1": "binary"}


def random_case(seed, n_topics=2, n_assessors=2, highest=(2, 2)):
    """Runs of two systems and judgments of parts of the documents, from 0 to the highest grade of each assessor."""
    rng = np.random.default_rng(seed)
    topics, assessors = [f"t{t}" for t in range(n_topics)], [f"a{a}" for a in range(n_assessors)]
    runs = {s: {t: {d: 9.0 - r for r, d in enumerate(rng.permutation(DOCUMENTS)[:4])} for t in topics} for s in "xy"}
    rows = [
        (t, str(d), a, int(rng.integers(highest[int(a[1:])] + 1)))
        for t in topics
        for a in assessors
        for d in rng.permutation(DOCUMENTS)[: rng.integers(1, 6)]
    ]
    return runs, rows


def reachable(runs, rows, topic, assessor, measure, change, scales):
    """{number of changes: differences of x and y that they can make of one topic of one assessor}, by scoring each."""
    own = [row for row in rows if row[0] == topic and row[2] == assessor]
    if change == "panel":
        choices = [sorted({row[3] for row in rows if row[:2] == one[:2]}) for one in own]
    else:
        choices = [(0, 1) if scales.get(assessor) == "binary" else (0, 1, 2)] * len(own)
    assignments = list(product(*choices))
    variants = [
        (topic, one[1], f"v{n}", grade)
        for n, grades in enumerate(assignments)
        for one, grade in zip(own, grades, strict=True)
    ]
    of_assessor = {"*": scales.get(assessor, scales.get("*"))}
    scores = qrowd.evaluate(runs, made(variants, of_assessor), measure, conventions=qrowd.Conventions(min_coverage=0))
    differences = scores.values[0, :, 0, scores.systems.index("x")] - scores.values[0, :, 0, scores.systems.index("y")]
    numbers = {name: int(name[1:]) for name in scores.assessors}
    out = {}
    for name, difference in zip(scores.assessors, differences, strict=True):
        sizes = [abs(g - one[3]) for g, one in zip(assignments[numbers[name]], own, strict=True)]
        cost = sum(sizes) if change == "grade" else sum(size > 0 for size in sizes)
        out.setdefault(cost, []).append(difference)
    return out


def made(rows, scales=SCALE):
    return Judgments.from_rows(rows, scales=scales)


def least_number(runs, rows, measure, change, scales=SCALE):
    """The difference, and the least number of changes that reverse it: every assignment of every topic, combined."""
    scores = qrowd.evaluate(runs, made(rows, scales), measure)
    values = scores.values[0, :, :, scores.systems.index("x")] - scores.values[0, :, :, scores.systems.index("y")]
    has_score = ~np.isnan(values)
    n_topics = has_score.any(axis=0).sum()
    difference = float(np.nansum(values / has_score.sum(axis=0)) / n_topics)
    sign = -1 if difference < 0 else 1
    best = {0: 0.0}  # {number of changes: lowest sum over the topics so far}
    for a, assessor in enumerate(scores.assessors):
        for t, topic in enumerate(scores.topics):
            if not has_score[a, t]:
                continue
            share = sign / has_score[:, t].sum() / n_topics
            options = reachable(runs, rows, topic, assessor, measure, change, scales)
            before, best = best, {}
            for cost, differences in options.items():
                lowest = min(share * one for one in differences)
                for k, total in before.items():
                    best[k + cost] = min(best.get(k + cost, inf), total + lowest)
    return difference, min((k for k, total in best.items() if total < -1e-12), default=inf)


@settings(deadline=None, max_examples=settings.default.max_examples * 2 // 5)
@given(st.integers(0, 100_000), st.sampled_from(MEASURES), st.sampled_from(["grade", "panel"]))
def test_bounds_contain_the_least_number_that_all_assignments_show(seed, measure, change):
    runs, rows = random_case(seed)
    difference, least = least_number(runs, rows, measure, change)
    result = qrowd.fragility(runs, made(rows), measure, change=change)
    assert result.difference[0] == pytest.approx(difference, abs=1e-12)
    assert np.isnan(result.n_changes_fixed[0])
    if abs(difference) < 1e-12:
        assert np.isnan(result.n_changes_low[0])
        return
    assert result.n_changes_low[0] <= least <= result.n_changes_high[0]


SUMS = ("nDCG@3", "nDCG(dcg='exp-log2')@2", "P@2", "DCG@3", "R@2", "AP", "RR", "Bpref")


@settings(deadline=None, max_examples=settings.default.max_examples * 3 // 5)
@given(st.integers(0, 100_000), st.sampled_from(SUMS), st.sampled_from(["mixed", "ties", "equal", "unjudged"]))
def test_bounds_contain_the_least_number_on_mixed_scales_with_ties_equal_grades_and_unjudged_documents(
    seed, measure, how
):
    runs, rows = random_case(seed, highest=(2, 1))
    if how == "ties":
        runs = {
            s: {t: {d: float(round(x)) // 3 for d, x in ds.items()} for t, ds in of.items()} for s, of in runs.items()
        }
    if how == "equal":  # of the documents that a system has, nobody judged one otherwise
        rows = [(t, d, a, int(d == "d5")) for t, d, a, _ in rows]
    if how == "unjudged":  # what is judged stands in no run
        rows = [(t, d if d == "d1" else f"other-{d}", a, grade) for t, d, a, grade in rows]
    difference, least = least_number(runs, rows, measure, "grade", MIXED)
    result = qrowd.fragility(runs, made(rows, MIXED), measure)
    assert result.difference[0] == pytest.approx(difference, abs=1e-12)
    low, high = result.n_changes_low[0], result.n_changes_high[0]
    if abs(difference) < 1e-12:
        assert np.isnan(low)
        return
    assert low <= least <= high
    assert least == inf or low < inf  # "none" is proved
    if measure in ("P@2", "DCG@3"):
        assert low == high == result.n_changes_fixed[0]


@settings(deadline=None, max_examples=settings.default.max_examples * 2 // 5)
@given(st.integers(0, 100_000), st.sampled_from(MEASURES), st.sampled_from(["grade", "panel"]))
def test_after_each_listed_change_scoring_again_gives_the_difference_that_is_listed(seed, measure, change):
    runs, rows = random_case(seed, n_topics=3)
    result = qrowd.fragility(runs, made(rows), measure, change=change)
    changes = result.changes("x", "y")
    grades = {row[:3]: row[3] for row in rows}
    n = len(changes.topics)
    if np.isfinite(result.n_changes_high[0]):
        assert n == result.n_changes_high[0]
    for k in range(n):
        place = (changes.topics[k], changes.documents[k], changes.assessors[k])
        assert grades[place] == changes.before[k]
        assert change != "grade" or abs(changes.after[k] - changes.before[k]) == 1
        grades[place] = int(changes.after[k])
        scores = qrowd.evaluate(runs, made([(*one, grade) for one, grade in grades.items()]), measure)
        means = np.nanmean(np.nanmean(scores.values[0], axis=0), axis=0)
        after = means[scores.systems.index("x")] - means[scores.systems.index("y")]
        assert changes.difference[k] == pytest.approx(after, abs=1e-12)
        reversed_now = after * result.difference[0] < 0 and abs(after) > 1e-12
        assert reversed_now == (k == n - 1 and np.isfinite(result.n_changes_high[0]))
    other = result.changes("y", "x")
    np.testing.assert_array_equal(other.difference, -changes.difference)


@pytest.mark.parametrize("measure", ["P(rel=2)@3", "nDCG@3", "DCG@4"])
@pytest.mark.parametrize("seed", range(6))
def test_the_bounds_by_scoring_contain_the_exact_number_of_a_weighted_sum(measure, seed):
    runs, rows = random_case(seed)
    result = qrowd.fragility(runs, made(rows), measure)
    if np.isnan(result.n_changes_fixed[0]):
        return
    options = {"systems": None, "change": "grade", "conventions": qrowd.Conventions()}
    cells = cells_of(qrowd.Runs.from_dict(runs), made(rows), qrowd.measure(measure), **options)
    singles = single_changes(cells, "grade")
    by_cell = cells.by_cell(0, 1)
    sign = 1.0 if by_cell.sum() > 0 else -1.0
    taken = -sign * (singles.moved[0] - singles.moved[1]) * cells.share[singles.cell]
    low = least_by_cells(reductions_by_scoring(cells, singles, taken, sign * by_cell), abs(by_cell.sum()))
    lost = np.cumsum(search(cells, singles, "grade", (0, 1), sign, taken).lost)
    assert low <= result.n_changes_high[0]
    assert (lost[: int(min(result.n_changes_low[0] - 1, lost.size))] <= abs(by_cell.sum()) + 1e-12).all()


def test_two_systems_alone_have_the_numbers_that_they_have_among_several():
    names = ["rerank-llm", "bm25", "dense-large"]
    whole = qrowd.fragility(RUNS, PANEL, "AP(rel=2)", systems=names)
    for row, pair in enumerate(zip(whole.first, whole.second, strict=True)):
        alone = qrowd.fragility(RUNS, PANEL, "AP(rel=2)", systems=pair[::-1])
        assert alone.difference[0] == pytest.approx(whole.difference[row], abs=1e-12)
        for name in ("n_changes_low", "n_changes_high", "n_changes_interval"):
            assert getattr(alone, name)[0] == getattr(whole, name)[row]
        assert alone.changes(*pair).documents == whole.changes(*pair).documents


def test_the_interval_includes_0_after_so_many_changes():
    result = qrowd.fragility(TWO, PANEL, "AP")
    changes = result.changes("rerank-llm", "dense-large")
    assert 0 < result.n_changes_interval[0] < result.n_changes_high[0]
    grades = {}
    frame = PANEL.to_frame()
    for *place, value in zip(*(frame[name] for name in ("topic", "document", "assessor", "value")), strict=True):
        grades[tuple(place)] = value
    for k in range(int(result.n_changes_interval[0])):
        grades[changes.topics[k], changes.documents[k], changes.assessors[k]] = changes.after[k]
        if k >= result.n_changes_interval[0] - 2:
            judgments = Judgments.from_rows([(*one, grade) for one, grade in grades.items()], scales={"*": "0-3"})
            scores = qrowd.evaluate(TWO, judgments, "AP")
            one = qrowd.comparison.difference(scores, "rerank-llm", "dense-large", method="topics")
            assert (one.low <= 0 <= one.high) == (k == result.n_changes_interval[0] - 1)


def test_preferences_and_unions_are_refused():
    with pytest.raises(MeasureError, match=r"^ppref@3: is a measure of preferences"):
        qrowd.fragility(TWO, PANEL, "ppref@3")
    with pytest.raises(MeasureError, match="joins the assessors"):
        qrowd.fragility(TWO, PANEL, "AP(recall_base=union)")
