"""How many judgments would have to change to reverse a difference: all assignments of grades tried one by one."""

from __future__ import annotations

from itertools import pairwise, product
from math import inf, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qrowd
from qrowd.comparison import all_differences
from qrowd.errors import ArgumentError, MeasureError
from qrowd.influence.change_bounds import normaliser_limits
from qrowd.influence.score_cells import cells_of
from qrowd.influence.weighted_sums import Steps, concave_hulls, least_number, weighted_sums
from qrowd.model.judgments import Judgments
from qrowd.simulation import simulate_demo
from real_runs import runs_of

DOCUMENTS = ("d1", "d2", "d3", "d4")
MEASURES = {  # with today's normaliser: gains, discount and cut-off
    "nDCG@2": (lambda g: g, lambda r: 1 / log2(r + 1), 2),
    "nDCG(dcg='exp-log2')@3": (lambda g: 2**g - 1, lambda r: 1 / log2(r + 1), 3),
    "nDCG(gains={1:1,2:1.5,3:6})@2": (lambda g: (0, 1, 1.5, 6)[int(g)], lambda r: 1 / log2(r + 1), 2),
    "DCG@3": (lambda g: g, lambda r: 1 / log2(r + 1), 3),
    "P(rel=2)@2": (lambda g: float(g >= 2), lambda r: 1 / 2, 2),
    "R(rel=1)@2": (lambda g: float(g >= 1), lambda r: 1.0, 2),
}


def oracle_normaliser(measure: str, grades: list[float]) -> float:
    """From the definition, document by document."""
    gain, discount, cutoff = MEASURES[measure]
    if measure.startswith("nDCG"):
        best = sorted((gain(g) for g in grades), reverse=True)[:cutoff]
        return sum(g * discount(r) for r, g in enumerate(best, 1))
    return sum(gain(g) for g in grades) if measure.startswith("R") else 1.0


def oracle_difference(measure, rankings, table, normalisers=None):
    """Mean over topics of the means over assessors. table : {(topic, assessor): {document: grade}}."""
    gain, discount, cutoff = MEASURES[measure]
    by_topic = {}
    for (topic, assessor), grades in table.items():
        sums = [
            sum(gain(grades.get(d, 0)) * discount(r) for r, d in enumerate(rankings[s][topic][:cutoff], 1))
            for s in ("a", "b")
        ]
        today = normalisers[topic, assessor] if normalisers else oracle_normaliser(measure, list(grades.values()))
        by_topic.setdefault(topic, []).append((sums[0] - sums[1]) / today if today > 0 else 0.0)
    return float(np.mean([np.mean(values) for values in by_topic.values()]))


def random_case(seed, n_topics, assessors, highest, n_judged):
    """Two rankings of four documents in each topic; (topic, assessor) judge some of them."""
    rng = np.random.default_rng(seed)
    topics = [f"t{i}" for i in range(n_topics)]
    rankings = {s: {t: list(rng.permutation(DOCUMENTS)[:3]) for t in topics} for s in ("a", "b")}
    table = {
        (t, a): {d: int(rng.integers(highest + 1)) for d in sorted(rng.permutation(DOCUMENTS)[:n_judged])}
        for t in topics
        for a in assessors
    }
    return rankings, table


def objects(rankings, table, highest):
    runs = {s: {t: {d: 9.0 - i for i, d in enumerate(ds)} for t, ds in by.items()} for s, by in rankings.items()}
    rows = [(t, d, a, g) for (t, a), grades in table.items() for d, g in grades.items()]
    names = sorted({a for _, a in table})
    return runs, Judgments.from_rows(rows, scales=dict.fromkeys(names, f"0-{highest}" if highest > 1 else "binary"))


def brute_force(measure, rankings, table, highest, change):
    """(fixed, moving) least numbers of changes, over all assignments of values that the change allows."""
    cells = [(cell, d) for cell, grades in table.items() for d in grades]
    choices = []
    for (topic, assessor), d in cells:
        own = table[topic, assessor][d]
        if change == "panel":
            allowed = {grades[d] for (t, _), grades in table.items() if t == topic and d in grades}
        else:
            allowed = range(highest + 1)
        choices.append([(g, abs(g - own) if change == "grade" else int(g != own)) for g in sorted(allowed)])
    normalisers = {cell: oracle_normaliser(measure, list(grades.values())) for cell, grades in table.items()}
    today = oracle_difference(measure, rankings, table)
    sign = np.sign(today)
    fixed = moving = inf
    for assignment in product(*choices):
        cost = sum(c for _, c in assignment)
        if cost >= fixed and cost >= moving:
            continue
        changed = {cell: {} for cell in table}
        for ((topic, assessor), d), (g, _) in zip(cells, assignment, strict=True):
            changed[topic, assessor][d] = g
        if sign * oracle_difference(measure, rankings, changed, normalisers) < -1e-9:
            fixed = min(fixed, cost)
        if sign * oracle_difference(measure, rankings, changed) < -1e-9:
            moving = min(moving, cost)
    return today, fixed, moving


def check(measure, seed, change, n_topics, assessors, highest, n_judged):
    rankings, table = random_case(seed, n_topics, assessors, highest, n_judged)
    runs, judgments = objects(rankings, table, highest)
    result = qrowd.fragility(runs, judgments, measure, change=change)
    today, fixed, moving = brute_force(measure, rankings, table, highest, change)
    assert result.difference[0] == pytest.approx(today, abs=1e-12)
    if abs(today) < 1e-12:
        assert np.isnan(result.n_changes_fixed[0])
        return
    assert result.n_changes_fixed[0] == fixed
    assert result.n_changes_low[0] <= moving <= result.n_changes_high[0]
    if not measure.startswith(("nDCG", "R")):
        assert result.n_changes_low[0] == result.n_changes_high[0] == fixed


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.nightly)])
def test_fragility_by_grades_equals_brute_force_over_all_assignments(measure, seed):
    check(measure, seed, "grade", n_topics=2, assessors=("ann",), highest=3, n_judged=3)


@pytest.mark.parametrize("change", ["panel", "grade"])
@pytest.mark.parametrize("measure", MEASURES)
def test_fragility_of_two_assessors_equals_brute_force(measure, change):
    check(measure, 11, change, n_topics=1, assessors=("ann", "bob"), highest=2, n_judged=3)


@settings(deadline=None, max_examples=settings.default.max_examples // 2)
@given(st.sampled_from(sorted(MEASURES)), st.integers(0, 10_000))
def test_fragility_by_the_judgments_of_others_equals_brute_force(measure, seed):
    check(measure, seed, "panel", n_topics=2, assessors=("ann", "bob"), highest=3, n_judged=2)


@settings(deadline=None, max_examples=settings.default.max_examples * 6 // 5)
@given(st.lists(st.lists(st.integers(-1, 6), min_size=3, max_size=3), min_size=1, max_size=5), st.integers(1, 40))
def test_the_least_number_of_steps_on_curves_of_any_shape_equals_all_choices(increments, difference):
    curves = np.cumsum(np.insert(np.array(increments, float), 0, 0.0, axis=1), axis=1)
    hulls = concave_hulls(curves)
    bounds = np.minimum.accumulate(np.diff(hulls, axis=1), axis=1)
    assert (np.diff(hulls, axis=1) >= 0).all()
    assert (np.diff(hulls, n=2, axis=1) <= 1e-12).all()
    assert (hulls >= curves - 1e-12).all()
    judgment, step = np.nonzero(bounds > 0)
    order = np.argsort(-bounds[judgment, step], kind="stable")
    judgment, step = judgment[order], step[order]
    zeros = np.zeros(order.size, np.int64)
    effects = np.diff(curves, axis=1)[judgment, step]
    steps = Steps(zeros, zeros, zeros, zeros, zeros, effects, bounds[judgment, step], curves, hulls)
    totals = [
        (sum(choice), sum(curve[s] for curve, s in zip(curves, choice, strict=True)))
        for choice in product(range(4), repeat=len(curves))
    ]
    assert least_number(steps, float(difference)) == min((n for n, e in totals if e > difference), default=inf)


@settings(deadline=None, max_examples=settings.default.max_examples * 4 // 5)
@given(st.integers(0, 10_000), st.sampled_from(["grade", "panel"]), st.integers(1, 3))
def test_no_changes_leave_the_limits_of_a_normaliser(seed, change, n):
    measure = ("nDCG@2", "nDCG(dcg='exp-log2')@3", "nDCG(gains={1:1,2:1.5,3:6})@2")[seed % 3]
    rankings, table = random_case(seed, 1, ("ann", "bob"), 3, 3)
    runs, judgments = objects(rankings, table, 3)
    options = {"systems": None, "change": change, "conventions": qrowd.Conventions()}
    cells = cells_of(qrowd.Runs.from_dict(runs), judgments, qrowd.measure(measure), **options)
    smallest, largest = normaliser_limits(weighted_sums(cells), change)
    for cell, (own, other) in enumerate([("ann", "bob"), ("bob", "ann")]):
        grades, others = table["t0", own], table["t0", other]
        choices = [range(4) if change == "grade" else {g, others.get(d, g)} for d, g in grades.items()]
        for after in product(*choices):
            moves = [abs(x - y) for x, y in zip(after, grades.values(), strict=True)]
            if (sum(moves) if change == "grade" else sum(m > 0 for m in moves)) <= n:
                value = oracle_normaliser(measure, list(after))
                assert smallest[cell, n] - 1e-9 <= value <= largest[cell, n] + 1e-9


def applied(judgments, changes, n):
    """The judgments after the first n changes."""
    frame = judgments.to_frame()
    for t, d, a, before, after in zip(
        changes.topics[:n], changes.documents[:n], changes.assessors[:n], changes.before, changes.after, strict=False
    ):
        row = (frame["topic"] == t) & (frame["document"] == d) & (frame["assessor"] == a)
        assert frame.loc[row, "value"].tolist() == [before]
        frame.loc[row, "value"] = after
    rows = list(zip(frame["topic"], frame["document"], frame["assessor"], frame["value"], strict=True))
    return Judgments.from_rows(rows, scales=dict(zip(judgments.assessors, judgments.scales, strict=True)))


RUNS, DEMO, _ = simulate_demo()
RUNS = RUNS.select(systems=RUNS.systems[:5], topics=RUNS.topics[:12])
PANEL = DEMO.select(assessors=["ann", "bob"], topics=RUNS.topics)


@pytest.mark.parametrize(
    ("measure", "change"),
    [
        ("nDCG@10", "grade"),
        ("nDCG@10", "panel"),
        ("P@5", "grade"),
        *(
            pytest.param(*case, marks=pytest.mark.nightly)
            for case in [("nDCG(dcg='exp-log2')@10", "panel"), ("R@10", "grade")]
        ),
    ],
)
def test_after_the_changes_evaluate_has_the_other_system_ahead(change, measure):
    result = qrowd.fragility(RUNS, PANEL, measure, change=change)
    assert (result.n_changes_low <= result.n_changes_high)[~np.isnan(result.n_changes_fixed)].all()
    for row in (0, 5, 9):
        first, second = result.first[row], result.second[row]
        changes = result.changes(first, second)
        reversed_by = np.flatnonzero(changes.difference * result.difference[row] < -1e-12)
        if not reversed_by.size:
            assert result.n_changes_high[row] == inf
            continue
        n = int(reversed_by[0]) + 1
        assert n >= result.n_changes_high[row]
        assert n == result.n_changes_high[row] or measure[0] == "P"  # where the dynamic programme may need fewer
        for k in (n - 1, n):
            scores = qrowd.evaluate(RUNS, applied(PANEL, changes, k), measure)
            panel = scores.values[0].mean(axis=0).mean(axis=0)
            after = panel[scores.systems.index(first)] - panel[scores.systems.index(second)]
            if k:
                assert after == pytest.approx(changes.difference[k - 1], abs=1e-12)
            assert (after * result.difference[row] < -1e-12) == (k == n)


def test_after_so_many_changes_the_interval_of_compare_includes_0():
    result = qrowd.fragility(RUNS, PANEL, "nDCG@10")
    today = all_differences(qrowd.evaluate(RUNS, PANEL, "nDCG@10"), method="topics")
    assert [today.systems[i] for i in today.first] == list(result.first)
    np.testing.assert_allclose(result.low, today.low)
    np.testing.assert_allclose(result.high, today.high)
    outside = (today.low > 0) | (today.high < 0)
    assert ((result.n_changes_interval > 0) == outside).all()
    assert (result.n_changes_interval <= result.n_changes_high).all()
    row = int(np.flatnonzero(outside)[0])
    changes = result.changes(result.first[row], result.second[row])
    n = int(result.n_changes_interval[row])
    for k in (n - 1, n):
        scores = qrowd.evaluate(RUNS, applied(PANEL, changes, k), "nDCG@10")
        after = all_differences(scores, method="topics")
        assert (after.low[row] <= 0 <= after.high[row]) == (k == n)


def test_two_systems_alone_have_the_number_that_they_have_among_all():
    whole = qrowd.fragility(RUNS, PANEL)
    alone = qrowd.fragility(RUNS, PANEL, systems=[whole.second[3], whole.first[3]])
    assert len(alone.first) == 1
    assert alone.n_changes_fixed[0] == whole.n_changes_fixed[3]
    assert abs(alone.difference[0]) == pytest.approx(abs(whole.difference[3]))


def test_equal_systems_have_no_sign_to_reverse():
    runs = {"a": {"t": {"d": 1.0}}, "b": {"t": {"d": 1.0}}}
    result = qrowd.fragility(runs, {"t": {"d": 1}}, "P@1")
    assert np.isnan([result.n_changes_fixed[0], result.n_changes_low[0], result.n_changes_high[0]]).all()
    assert result.changes("a", "b").topics == ()


def test_a_difference_that_no_change_reverses_takes_infinitely_many():
    runs = {"a": {"t": {"d": 1.0}}, "b": {"t": {"unjudged": 1.0}}}
    result = qrowd.fragility(runs, {"t": {"d": 1, "e": 0}}, "DCG@1")
    assert result.n_changes_fixed.tolist() == [inf]
    assert len(result.changes("a", "b").topics) == 1


@pytest.mark.parametrize("measure", ["P@1", "nDCG@1", "AP"])
def test_where_no_judgment_can_change_no_number_suffices(measure):
    runs = {"a": {"t": {"d": 2.0, "e": 1.0}}, "b": {"t": {"e": 2.0, "d": 1.0}}}
    judgments = {"ann": {"t": {"d": 1, "e": 0}}, "bob": {"t": {"d": 1, "e": 0}}}
    result = qrowd.fragility(runs, judgments, measure, change="panel")
    assert result.n_changes_low.tolist() == result.n_changes_high.tolist() == [inf]
    assert result.changes("a", "b").topics == ()


@pytest.mark.parametrize("measure", ["RR", "AP", "P@1"])
def test_a_reversal_may_need_a_lowest_grade_to_rise(measure):
    runs = {"a": {"t": {"d": 2.0, "e": 1.0}}, "b": {"t": {"e": 2.0, "d": 1.0}}}
    result = qrowd.fragility(runs, {"t": {"d": 1, "e": 0}}, measure)
    assert result.n_changes_high.tolist() == [2]


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (21, 40))])
def test_a_reversal_that_the_fixed_normaliser_hides_is_found(seed):
    rankings, table = random_case(seed, 2, ("ann",), 3, 3)
    runs, judgments = objects(rankings, table, 3)
    result = qrowd.fragility(runs, judgments, "nDCG@2")
    assert result.n_changes_low[0] < result.n_changes_fixed[0] == inf
    _, _, moving = brute_force("nDCG@2", rankings, table, 3, "grade")
    assert result.n_changes_low[0] <= moving <= result.n_changes_high[0]


@pytest.mark.parametrize(
    ("measure", "options", "error", "message"),
    [
        ("ppref", {}, MeasureError, r"^ppref: is a measure of preferences"),
        ("Judged@5", {}, MeasureError, "the same gain"),
        ("R(recall_base='union')@5", {}, MeasureError, "joins the assessors"),
        ("nDCG(gains={1:2,2:1})@5", {}, MeasureError, "must not gain less"),
        ("P@5", {"change": "everything"}, ArgumentError, "change"),
        ("P@5", {"systems": ["bm25"]}, ArgumentError, "at least 2 are needed"),
        ("P@5", {"systems": ["bm25", "nobody"]}, ArgumentError, "nobody"),
        ("P@5", {"confidence": 1.5}, ArgumentError, "confidence"),
        ("P@5", {"conventions": qrowd.Conventions(ties="expected")}, ArgumentError, "ties='expected' is not supported"),
    ],
)
def test_what_cannot_be_computed_is_refused_in_one_line(measure, options, error, message):
    with pytest.raises(error, match=message) as caught:
        qrowd.fragility(RUNS, PANEL, measure, **options)
    assert "\n" not in str(caught.value)


def test_one_assessor_or_other_scales_are_no_panel():
    with pytest.raises(ArgumentError, match="of one assessor"):
        qrowd.fragility(RUNS, DEMO.select(assessors=["ann"]), change="panel")
    rows = [("q01", "d1", "ann", 1), ("q01", "d1", "bob", 1)]
    mixed = Judgments.from_rows(rows, scales={"ann": "binary", "bob": "0-3"})
    runs = {"a": {"q01": {"d1": 1.0}}, "b": {"q01": {"d2": 1.0}}}
    with pytest.raises(ArgumentError, match="different scales"):
        qrowd.fragility(runs, mixed, change="panel")
    fractions = Judgments.from_rows([("q01", "d1", "ann", 0.5)], scales={"ann": "0..1"})
    with pytest.raises(ArgumentError, match="whole grades are needed"):
        qrowd.fragility(runs, fractions)


@pytest.mark.nightly
def test_dl21_differences_of_the_best_24_systems_rest_on_few_judgments(dl21):
    runs = runs_of(dl21)
    nist = qrowd.read_judgments(str(dl21 / "qrels.nist.txt"))
    scores = qrowd.evaluate(runs, nist, "nDCG@10")
    order = np.argsort(-scores.values[0, 0].mean(axis=0))[:24]
    result = qrowd.fragility(runs, nist, systems=[runs.systems[s] for s in order])
    size = np.abs(result.difference)
    limits = [0, 0.005, 0.01, 0.02, 0.05, 1]
    inside = [(low <= size) & (size < high) for low, high in pairwise(limits)]
    assert [one.sum() for one in inside] == [25, 17, 39, 82, 113]
    assert [np.nanmedian(result.n_changes_fixed[one]) for one in inside] == [2, 4, 7, 18, 47]
    known = ~np.isnan(result.n_changes_fixed)
    assert (result.n_changes_low <= result.n_changes_high)[known].all()
