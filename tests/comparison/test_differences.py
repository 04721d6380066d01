"""A difference of two systems, over topics and assessors."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import qrowd
from numbered_scores import numbered
from oracles import certainty as oracle
from qrowd.comparison.differences import all_differences, difference
from qrowd.comparison.interval_widths import recommended
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.kernels.two_way import two_way, two_way_with_holes
from real_runs import runs_of

NAN = float("nan")


def panel(topics=20, assessors=4, systems=3, seed=1, v_a=0.05):
    """(assessor, topic, system) scores in which assessors favour systems."""
    random = np.random.default_rng(seed)
    return (
        random.normal(0.5, 0.2, (1, topics, systems))
        + random.normal(0, v_a, (assessors, 1, systems))
        + random.normal(0, 0.1, (assessors, topics, systems))
        + np.linspace(0.1, 0, systems)
    )


def table_of(scores, first=0, second=1):
    return (scores[:, :, first] - scores[:, :, second]).T.tolist()


@pytest.mark.parametrize(("topics", "assessors", "v_a"), [(20, 4, 0.05), (5, 2, 0.3), (12, 7, 0.0), (3, 3, 0.1)])
def test_satterthwaite_and_banerjee_are_the_formula_in_loops(topics, assessors, v_a):
    for seed in range(5):
        scores = panel(topics, assessors, seed=seed, v_a=v_a)
        variance, df = oracle.satterthwaite(table_of(scores))
        found = difference(numbered(scores), "0", "1", method="satterthwaite", confidence=0.9)
        half = scipy.stats.t.ppf(0.95, df) * variance**0.5
        assert found.difference == pytest.approx(oracle.mean([x for row in table_of(scores) for x in row]))
        assert (found.standard_error, found.df) == (pytest.approx(variance**0.5), pytest.approx(df))
        assert (found.low, found.high) == (
            pytest.approx(found.difference - half),
            pytest.approx(found.difference + half),
        )
        assert found.p == pytest.approx(2 * scipy.stats.t.sf(abs(found.difference) / variance**0.5, df))
        wide = oracle.banerjee(table_of(scores), lambda d: scipy.stats.t.ppf(0.95, d))
        other = difference(numbered(scores), "0", "1", method="banerjee", confidence=0.9)
        assert (other.high - other.low) / 2 == pytest.approx(wide)


@pytest.mark.parametrize("method", ["satterthwaite", "banerjee", "topics"])
def test_p_is_the_level_whose_interval_ends_at_nought(method):
    scores = panel()
    p = difference(numbered(scores), "0", "1", method=method).p
    ends = difference(numbered(scores), "0", "1", method=method, confidence=1 - p)
    assert min(abs(ends.low), abs(ends.high)) == pytest.approx(0, abs=1e-9)


def test_components_are_those_of_the_mean_squares_and_negative_ones_are_named():
    scores = panel(15, 5)
    t, a, e = oracle.mean_squares(table_of(scores))
    found = difference(numbered(scores), "0", "1")
    assert found.v_topic == pytest.approx((t - e) / 5)
    assert found.v_assessor == pytest.approx(max(a - e, 0) / 15)
    assert found.v_error == pytest.approx(e)
    exact = np.tile([[[1.0, 0.0], [0.0, 0.0]]], (3, 2, 1)) + np.array([[[0, 0.1]], [[0, 0.1]], [[0, 0.1]]])
    exact[0, 0, 0] += 0.2
    exact[0, 1, 0] -= 0.2
    assert difference(numbered(exact), "0", "1").negative == ("v_assessor",)


@pytest.mark.parametrize("shape", ["holes", "pairs"])
def test_a_table_with_holes_has_the_squares_of_fitted_constants(shape):
    random = np.random.default_rng(5)
    known = random.random((9, 5)) < 0.7
    known[:, 0] = True
    if shape == "pairs":  # two pairs of assessors, each with topics of its own
        known = np.zeros((9, 4), bool)
        known[:5, :2] = known[5:, 2:] = True
    values = random.normal(size=(*known.shape, 2))
    for turned in (False, True):
        table, there = (values.transpose(1, 0, 2), known.T) if turned else (values, known)
        if turned and shape == "pairs":
            continue
        found = two_way_with_holes(table, there)
        for column in range(2):
            cells = np.where(there, table[:, :, column], None).tolist()
            expected = oracle.adjusted_squares(cells)
            assert found.ms[:, column] == pytest.approx([ms for ms, _ in expected])
        assert found.df.tolist() == [df for _, df in expected]
    full = two_way_with_holes(values, np.ones(known.shape, bool))
    same = two_way(values)
    assert full.ms == pytest.approx(same.ms)
    assert full.weights == pytest.approx(same.weights)
    assert full.per == pytest.approx(same.per)


def test_with_holes_components_are_right_on_average():
    random = np.random.default_rng(6)
    known = random.random((30, 6)) < 0.6
    known[:, 0] |= ~known.any(axis=1)
    n = 3000
    values = random.normal(0, 1, (30, 1, n)) + random.normal(0, 0.7, (1, 6, n)) + random.normal(0, 1.2, (30, 6, n))
    found = two_way_with_holes(values, known)
    t, a, e = found.ms
    assert ((t - e) / found.per[0]).mean() == pytest.approx(1.0, abs=0.03)
    assert ((a - e) / found.per[1]).mean() == pytest.approx(0.49, abs=0.03)
    assert e.mean() == pytest.approx(1.44, abs=0.02)
    assert found.variance()[0].mean() == pytest.approx(found.mean.var(), rel=0.08)


def test_one_assessor_leaves_topics_alone_and_scipys_t_test():
    scores = panel(assessors=1)
    for method in ("recommended", "satterthwaite", "topics"):
        found = difference(numbered(scores), "0", "1", method=method)
        expected = scipy.stats.ttest_rel(scores[0, :, 0], scores[0, :, 1])
        interval = expected.confidence_interval(0.95)
        assert found.method == "topics"
        assert (found.p, found.df) == (pytest.approx(expected.pvalue), expected.df)
        assert (found.low, found.high) == (pytest.approx(interval.low), pytest.approx(interval.high))
        assert np.isnan(found.p_panel_agrees())
    assert "one assessor" in difference(numbered(scores), "0", "1").reason


def test_assessors_nested_in_topics_leave_topics_alone_and_it_is_said():
    scores = np.full((6, 3, 2), NAN)
    random = np.random.default_rng(1)
    for a in range(6):
        scores[a, a // 2] = random.random(2)
    found = difference(numbered(scores), "0", "1")
    by_topic = [np.nanmean(scores[:, t, 0] - scores[:, t, 1]) for t in range(3)]
    assert (found.method, found.design) == ("topics", "nested")
    assert "assessors of its own" in found.reason
    assert found.p == pytest.approx(scipy.stats.ttest_1samp(by_topic, 0).pvalue)
    scores[0, 1] = 0.5  # one of them judges a second topic
    assert difference(numbered(scores), "0", "1").design == "mostly nested"


@given(st.integers(0, 50), st.sampled_from(["satterthwaite", "banerjee", "topics"]))
def test_systems_the_other_way_round_change_every_sign(seed, method):
    scores = panel(6, 3, 2, seed)
    one = difference(numbered(scores), "0", "1", method=method)
    other = difference(numbered(scores), "1", "0", method=method)
    assert (one.difference, one.low, one.high) == pytest.approx((-other.difference, -other.high, -other.low))
    assert (one.standard_error, one.p) == pytest.approx((other.standard_error, other.p))
    assert one.p_better + other.p_better == pytest.approx(1)
    assert one.p_panel_agrees(2) == pytest.approx(other.p_panel_agrees(2))


@given(st.integers(0, 50), st.sampled_from(["satterthwaite", "banerjee", "topics"]))
def test_what_all_systems_gain_alike_changes_nothing(seed, method):
    scores = panel(6, 3, 2, seed)
    shift = np.random.default_rng(seed).normal(size=(3, 6, 1))
    one = difference(numbered(scores), "0", "1", method=method)
    other = difference(numbered(scores + shift), "0", "1", method=method)
    assert (other.difference, other.low, other.high) == pytest.approx((one.difference, one.low, one.high))
    assert (other.p, other.p_better) == pytest.approx((one.p, one.p_better), abs=1e-9)


@pytest.mark.parametrize("method", ["satterthwaite", "banerjee", "topics"])
def test_a_difference_that_never_varies_is_sure_and_has_no_test(method):
    for apart, again in ((0.25, 1.0), (-0.25, 0.0), (0.0, 0.5)):
        scores = np.random.default_rng(2).random((3, 8, 2)).round(2)
        scores[:, :, 0] = scores[:, :, 1] + apart
        found = difference(numbered(scores), "0", "1", method=method)
        assert (found.low, found.high) == pytest.approx((apart, apart))
        assert np.isnan(found.p)
        assert found.p_better == again
        assert found.p_panel_agrees() == (0.5 if apart == 0 else 1.0)


def lasting(scores, first, second, error):
    """The share of a difference that is expected to last, in loops: all systems' spread against the error of a mean."""
    means = scores.mean(axis=(0, 1))
    median, m = np.median(means), len(means)
    above = (means[first] + means[second]) / 2 > median
    side = [2 * (x - median) ** 2 / (m - 1) for x in means if (x > median if above else x < median)]
    return max(0.0, 1 - error / min(means.var(ddof=1), sum(side)))


def error_of_means(scores, unit):
    """Variance of a system's mean among the others, by assessors (unit 0) or by topics (unit 1) that are drawn."""
    own = scores.mean(axis=1 - unit)  # (units, systems)
    centred = own - own.mean(axis=1, keepdims=True)
    centred = centred - centred.mean(axis=0)
    units, systems = own.shape
    return (centred**2).sum() / (units - 1) / (systems - 1) / units


def test_another_panel_is_a_t_over_the_assessors_own_differences_of_what_is_expected_to_last():
    scores = panel(10, 5, 7) + 0.1 * np.arange(7)
    own = (scores[:, :, 6] - scores[:, :, 3]).mean(axis=1)
    found = difference(numbered(scores), "6", "3")
    share = lasting(scores, 6, 3, error_of_means(scores, 0))
    assert 0 < share < 1
    assert (found.shrinkage_factor, found.n_systems) == (pytest.approx(share), 7)
    t = share * abs(own.mean()) / (own.std(ddof=1) * (share / 5 + 1 / 3) ** 0.5)
    assert found.p_panel_agrees(3) == pytest.approx(scipy.stats.t.cdf(t, 4))
    assert 0.5 <= found.p_panel_agrees(1) <= found.p_panel_agrees(3) <= found.p_panel_agrees(100)
    with pytest.raises(ArgumentError, match="n_assessors=0"):
        found.p_panel_agrees(0)


def test_of_equal_systems_no_lead_is_expected_to_last():
    scores = np.random.default_rng(8).normal(0, 0.1, (5, 40, 20))
    leader, second = np.argsort(-scores.mean(axis=(0, 1)))[:2]
    found = difference(numbered(scores), str(leader), str(second))
    assert found.p_panel_agrees() < 0.6
    assert found.p_better < 0.6


def test_systems_that_lack_a_cell_of_the_two_do_not_say_how_far_systems_lie_apart():
    scores = panel(10, 5, 7) + 0.1 * np.arange(7)
    holed = scores.copy()
    holed[0, 0, 5] = NAN
    found = difference(numbered(holed), "6", "3")
    assert (found.n_systems, found.n_left_out) == (6, 0)
    assert found.shrinkage_factor == difference(numbered(np.delete(scores, 5, axis=2)), "5", "3").shrinkage_factor


def test_p_better_allows_for_the_error_of_both_times_and_for_what_is_not_expected_to_last():
    scores = panel(15, 6, 7) + 0.1 * np.arange(7)
    topics = difference(numbered(scores), "6", "3", method="topics")
    share = lasting(scores, 6, 3, error_of_means(scores, 1))
    assert 0 < share < 1
    t = share * topics.difference / (topics.standard_error * (1 + share) ** 0.5)
    assert topics.p_better == pytest.approx(scipy.stats.t.cdf(t, 14))
    found = difference(numbered(scores), "6", "3", method="satterthwaite")
    assert 0.5 < found.p_better < scipy.stats.t.cdf(found.difference / (found.standard_error * 2**0.5), found.df)


@pytest.mark.parametrize("method", ["recommended", "topics"])
def test_all_pairs_are_each_pair_by_itself(method):
    scores = panel(8, 6, 14)  # 91 pairs; with a hole
    scores[2, 3] = NAN
    found = all_differences(numbered(scores), method=method)
    for i, j in ((0, 1), (3, 9), (12, 13)):
        one = difference(numbered(scores), str(i), str(j), method=method)
        row = int(np.flatnonzero((found.first == i) & (found.second == j))[0])
        for name in ("difference", "standard_error", "low", "high", "p", "p_better"):
            assert getattr(found, name)[row] == pytest.approx(getattr(one, name)), name
    frame = found.to_frame()
    assert len(frame) == 91
    assert (frame["p_holm"] >= frame["p_benjamini_hochberg"]).all()
    assert found.adjusted("none").tolist() == found.p.tolist()


def test_recommended_is_said_with_its_reason():
    assert [recommended(a) for a in (1, 2, 4, 5, 18)] == [
        "topics", "banerjee", "banerjee", "satterthwaite", "satterthwaite"
    ]  # fmt: skip
    reason = difference(numbered(panel(assessors=3)), "0", "1").reason
    assert reason.startswith(
        "3 assessors: recommended below 5; in simulations of 3 to 8 assessors of unlike kinds, 64 to 95 % of"
    )
    assert difference(numbered(panel(assessors=10)), "0", "1").reason == "10 assessors: recommended from 5 on"
    assert "below the nominal level" in difference(numbered(panel(assessors=2)), "0", "1").reason


def test_the_sentence_names_the_winner_first():
    scores = panel(30, 5)
    for pair in (("0", "2"), ("2", "0")):
        text = difference(numbered(scores), *pair).sentence(3)
        assert text.startswith("0 beats 2 by 0.")
        assert "another panel of 3 assessors of this kind would agree, by about 0." in text
    wide = difference(numbered(scores), "0", "2", confidence=0.9)
    assert wide.sentence().startswith(
        f"0 beats 2 by {wide.difference:.3f} [{wide.low:.3f}, {wide.high:.3f}] (90 % interval); "
    )
    scores[:, :, 2] = scores[:, :, 1] + np.linspace(-1, 1.1, 30)
    assert difference(numbered(scores), "2", "1").sentence().startswith("2 is ahead of 1 by 0.050 [-0.")
    assert (
        difference(numbered(scores[:, :, [0, 0]]), "0", "1")
        .sentence()
        .startswith("0 is level with 1 by 0.000 [0.000, 0.000]")
    )
    assert difference(numbered(scores), "0", "2").sentence(1).count("another assessor of this kind would agree") == 1
    assert "agree" not in difference(numbered(scores[:1]), "0", "2").sentence()


@pytest.mark.parametrize(("scores", "pair", "options", "error", "message"), [
    (np.ones((2, 1, 2)), ("0", "1"), {}, NoOverlapError, "share 1 topic"),
    (np.ones((2, 5, 2)), ("1", "1"), {}, ArgumentError, "are the same; name two"),
    (np.ones((2, 5, 2)), ("0", "z"), {}, ArgumentError, "system 'z'"),
    (np.ones((2, 5, 2)), ("0", "1"), {"method": "t"}, ArgumentError, "method='t'"),
    (np.ones((2, 5, 2)), ("0", "1"), {"confidence": 95}, ArgumentError, "confidence=95"),
    (np.array([[[1, NAN]] * 4, [[NAN, 1]] * 4]), ("0", "1"), {}, NoOverlapError, "share 0 topic"),
    (np.array([[[1, NAN]] * 4]), ("0", "1"), {}, NoOverlapError, "system '1' has no score"),
])  # fmt: skip
def test_what_cannot_be_compared_is_refused(scores, pair, options, error, message):
    with pytest.raises(error, match=message):
        difference(numbered(scores), *pair, **options)


def test_one_system_has_no_pairs_and_pairs_keep_the_order_of_the_panel():
    with pytest.raises(ArgumentError, match="1 system"):
        all_differences(numbered(np.ones((2, 4, 1))))
    found = all_differences(numbered(panel()))
    with pytest.raises(ArgumentError, match="correction='x'"):
        found.adjusted("x")


def test_on_dl21_the_judges_widen_intervals_and_topics_alone_claim_more(dl21):
    scores = qrowd.evaluate(runs_of(dl21), qrowd.read_judgments([str(dl21 / "judges")]), ["AP"]).sel(measure="AP")
    both, topics = all_differences(scores), all_differences(scores, method="topics")
    assert (both.method, both.n_assessors, both.n_topics) == ("satterthwaite", 18, 53)
    assert np.median((both.high - both.low) / (topics.high - topics.low)) > 1.05
    assert (both.adjusted() < 0.05).sum() < (topics.adjusted() < 0.05).sum()


@pytest.mark.nightly
def test_on_dl19_pairs_of_people_with_topics_of_their_own_still_show_what_assessors_add(dl19):
    scores = (
        qrowd.evaluate(
            qrowd.read_runs(str(dl19 / "runs" / "neural_*.gz")),
            qrowd.read_judgments([str(dl19 / "humans" / "main.tsv")]),
            ["nDCG@10"],
        )
        .to_xarray()
        .sel(measure="nDCG@10")
    )
    best, other = (str(name) for name in scores.mean(("assessor", "topic")).to_series().nlargest(20).index[[0, 19]])
    found = difference(scores, best, other)
    assert (found.design, found.n_topics, found.n_assessors) == ("partly crossed", 43, 8)
    assert found.reason.startswith("assessors equivalent to 5 crossed ones: recommended from 5 on; in simulations")
    assert found.sentence().startswith(f"{best} beats {other} by 0.")
