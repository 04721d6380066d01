"""Measures that are no weighted sums of gains: bounds contain the truth, which all assignments of grades show."""

from __future__ import annotations

from itertools import product
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qrowd
from qrowd.errors import ArgumentError, MeasureError
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


def random_case(seed, n_topics=2, n_assessors=2):
    """Runs of two systems and judgments of parts of the documents, on the scale 0-2."""
    rng = np.random.default_rng(seed)
    topics, assessors = [f"t{t}" for t in range(n_topics)], [f"a{a}" for a in range(n_assessors)]
    runs = {s: {t: {d: 9.0 - r for r, d in enumerate(rng.permutation(DOCUMENTS)[:4])} for t in topics} for s in "xy"}
    rows = [
        (t, str(d), a, int(rng.integers(3)))
        for t in topics
        for a in assessors
        for d in rng.permutation(DOCUMENTS)[: rng.integers(1, 6)]
    ]
    return runs, rows


def reachable(runs, rows, topic, assessor, measure, change):
    """{number of changes: differences of x and y that they can make of one topic of one assessor}, by scoring each."""
    own = [row for row in rows if row[0] == topic and row[2] == assessor]
    if change == "panel":
        choices = [sorted({row[3] for row in rows if row[:2] == one[:2]}) for one in own]
    else:
        choices = [(0, 1, 2)] * len(own)
    assignments = list(product(*choices))
    variants = [
        (topic, one[1], f"v{n}", grade)
        for n, grades in enumerate(assignments)
        for one, grade in zip(own, grades, strict=True)
    ]
    scores = qrowd.evaluate(runs, made(variants), measure, conventions=qrowd.Conventions(min_coverage=0))
    differences = scores.values[0, :, 0, scores.systems.index("x")] - scores.values[0, :, 0, scores.systems.index("y")]
    numbers = {name: int(name[1:]) for name in scores.assessors}
    out = {}
    for name, difference in zip(scores.assessors, differences, strict=True):
        sizes = [abs(g - one[3]) for g, one in zip(assignments[numbers[name]], own, strict=True)]
        cost = sum(sizes) if change == "grade" else sum(size > 0 for size in sizes)
        out.setdefault(cost, []).append(difference)
    return out


def made(rows):
    return Judgments.from_rows(rows, scales={"*": "0-2"})


def least_number(runs, rows, measure, change):
    """The difference, and the least number of changes that reverse it: every assignment of every topic, combined."""
    scores = qrowd.evaluate(runs, made(rows), measure)
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
            options = reachable(runs, rows, topic, assessor, measure, change)
            before, best = best, {}
            for cost, differences in options.items():
                lowest = min(share * one for one in differences)
                for k, total in before.items():
                    best[k + cost] = min(best.get(k + cost, inf), total + lowest)
    return difference, min((k for k, total in best.items() if total < -1e-12), default=inf)


@settings(deadline=None, max_examples=120)
@given(st.integers(0, 100_000), st.sampled_from(MEASURES), st.sampled_from(["grade", "judgment", "panel"]))
def test_bounds_contain_the_least_number_that_all_assignments_show(seed, measure, change):
    runs, rows = random_case(seed)
    difference, least = least_number(runs, rows, measure, change)
    result = qrowd.fragility(runs, made(rows), measure, change=change)
    assert result.difference[0] == pytest.approx(difference, abs=1e-12)
    assert np.isnan(result.n_changes[0])
    if abs(difference) < 1e-12:
        assert np.isnan(result.n_changes_low[0])
        return
    assert result.n_changes_low[0] <= least <= result.n_changes_high[0]


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 100_000), st.sampled_from(MEASURES), st.sampled_from(["grade", "judgment", "panel"]))
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


@settings(deadline=None, max_examples=150)
@given(st.integers(0, 100_000), st.sampled_from(["AP", "AP@3", "AP(recall_base=4)"]), st.sampled_from(["0-1", "0-2"]))
def test_no_changes_of_a_topic_take_more_from_average_precision_than_is_proved(seed, measure, scale):
    from qrowd.evaluation import measure as parsed
    from qrowd.influence.average_precision import reductions_of_ap
    from qrowd.influence.scored import scored_cells

    rng = np.random.default_rng(seed)
    names, maximum = [f"d{n}" for n in range(6)], int(scale[-1])
    runs = {s: {"t": {d: 9.0 - r for r, d in enumerate(rng.permutation(names)[:5])}} for s in "xy"}
    today = rng.integers(maximum + 1, size=6)
    assignments = np.array(list(product(range(maximum + 1), repeat=6)))
    rows = [
        ("t", d, f"v{n}", int(g)) for n, grades in enumerate(assignments) for d, g in zip(names, grades, strict=True)
    ]
    scores = qrowd.evaluate(runs, Judgments.from_rows(rows, scales={"*": scale}), measure)
    differences = scores.values[0, :, 0, scores.systems.index("x")] - scores.values[0, :, 0, scores.systems.index("y")]
    differences = differences[[scores.assessors.index(f"v{n}") for n in range(len(assignments))]]
    costs = np.abs(assignments - today).sum(axis=1)
    own = Judgments.from_rows([("t", d, "ann", int(g)) for d, g in zip(names, today, strict=True)], scales={"*": scale})
    options = {"systems": None, "change": "grade", "conventions": qrowd.Conventions()}
    cells = scored_cells(qrowd.Runs.from_dict(runs), own, parsed(measure), **options)
    before = differences[costs == 0][0]
    for sign in (1.0, -1.0):
        proved = reductions_of_ap(cells, "grade", (0, 1), sign, 8)[0]
        for k in range(9):
            assert proved[k] >= (sign * (before - differences[costs <= k])).max() - 1e-12


@pytest.mark.parametrize("measure", ["P(rel=2)@3", "nDCG@3", "DCG@4"])
@pytest.mark.parametrize("seed", range(6))
def test_of_a_weighted_sum_the_bounds_by_scoring_contain_those_by_its_weights(measure, seed):
    from qrowd.evaluation import measure as parsed
    from qrowd.influence.demonstrations import demonstration, single_changes
    from qrowd.influence.scored import scored_cells

    runs, rows = random_case(seed)
    result = qrowd.fragility(runs, made(rows), measure)
    options = {"systems": None, "change": "grade", "conventions": qrowd.Conventions()}
    cells = scored_cells(qrowd.Runs.from_dict(runs), made(rows), parsed(measure), **options)
    shown = demonstration(cells, single_changes(cells, "grade"), "grade", 0, 1)
    assert shown.sign * shown.difference == pytest.approx(result.difference[0], abs=1e-12)
    if np.isnan(result.n_changes[0]):
        return
    assert shown.low <= result.n_changes_high[0]
    by_scoring = shown.differences < -1e-12
    if by_scoring.any():
        assert int(np.argmax(by_scoring)) + 1 >= result.n_changes_low[0]


def test_the_proof_for_average_precision_is_sharper_than_the_general_one(monkeypatch):
    sharp = qrowd.fragility(TWO, PANEL, "AP(rel=2)")
    monkeypatch.setattr("qrowd.influence.demonstrations.reductions_of_ap", lambda *arguments: None)
    general = qrowd.fragility(TWO, PANEL, "AP(rel=2)")
    assert general.n_changes_low[0] < sharp.n_changes_low[0] <= sharp.n_changes_high[0] == general.n_changes_high[0]


def test_two_systems_alone_have_the_numbers_that_they_have_among_several():
    names = ["rerank-llm", "bm25", "dense-large"]
    whole = qrowd.fragility(RUNS, PANEL, "AP(rel=2)", systems=names)
    for row, pair in enumerate(zip(whole.first, whole.second, strict=True)):
        alone = qrowd.fragility(RUNS, PANEL, "AP(rel=2)", systems=pair[::-1], baseline=pair[0])
        assert alone.difference[0] == pytest.approx(-whole.difference[row], abs=1e-12)
        for name in ("n_changes_low", "n_changes_high", "n_changes_interval"):
            assert getattr(alone, name)[0] == getattr(whole, name)[row]
        assert alone.changes(*pair).documents == whole.changes(*pair).documents


def test_further_orders_of_the_changes_take_fewer_of_them(monkeypatch):
    several = qrowd.fragility(TWO, PANEL, "AP").n_changes_high[0]
    monkeypatch.setattr("qrowd.influence.demonstrations._beside", lambda cells, singles, *rest: singles.cost * np.nan)
    assert several < qrowd.fragility(TWO, PANEL, "AP").n_changes_high[0]


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


def test_preferences_and_unions_are_refused_and_so_is_a_fixed_normaliser():
    with pytest.raises(MeasureError, match=r"^ppref@3: is a measure of preferences"):
        qrowd.fragility(TWO, PANEL, "ppref@3")
    with pytest.raises(MeasureError, match="joins the assessors"):
        qrowd.fragility(TWO, PANEL, "AP(recall_base=union)")
    with pytest.raises(ArgumentError, match=r"^normaliser='fixed': RR is not a weighted sum of gains"):
        qrowd.fragility(TWO, PANEL, "RR").changes("rerank-llm", "dense-large", normaliser="fixed")
