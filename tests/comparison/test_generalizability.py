"""Variance components, and what designs would give."""

import numpy as np
import pytest
import xarray
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from numbered_scores import brennan_3, numbered, panels
from oracles import generalizability as oracle
from qrowd.comparison import d_study, variance_components
from qrowd.comparison.generalizability import CROSSED, NESTED
from qrowd.errors import ArgumentError, NoOverlapError

NAN = float("nan")

# Brennan (2001), Generalizability Theory, synthetic data sets no. 3 (persons x items x occasions), no. 4 (persons x
# (raters : tasks), Table 3.2) and the unbalanced persons x (items : categories) of chapter 7, with the sums of squares
# and components printed for them: read in the tests of the Python package GeneralizIT (Smith, Kline 2025), not in the
# book. Persons are systems here; items, tasks and categories topics; occasions, raters and nested items assessors.
NESTED_DATA = """
    5937937594 6345243894 5735937584 5733757783
    5753737763 3531735565 4534365566 5553737455
    6765245355 7753755287 3513515111 3265324111"""
UNBALANCED_DATA = """
    42213130 51433251
    32456561 33747682 51655460 44557474
    54848577 76759688"""


def brennan_4():
    return np.array(panels(NESTED_DATA)).transpose(1, 0, 2)  # (rater, task, person)


def brennan_unbalanced():
    topics = panels(UNBALANCED_DATA)
    scores = np.full((4, 3, 8), NAN)
    for t, cells in enumerate(topics):
        scores[: len(cells), t] = cells
    return scores


def test_a_crossed_example_of_brennan_comes_out_as_printed():
    found = variance_components(numbered(brennan_3()))
    assert (found.design, found.sources, found.negative) == ("crossed", CROSSED, ())
    assert (found.n_systems, found.n_topics, found.n_assessors) == (10, 4, 2)
    assert found.df.tolist() == [9, 3, 1, 27, 9, 3, 27]
    assert found.ss == pytest.approx([62.20, 37.45, 3.20, 56.30, 12.05, 7.50, 25.25], abs=1e-9)
    assert found.ms[:4] == pytest.approx([6.9111, 12.4833, 3.2, 2.0852], abs=5e-5)
    printed = [0.5528, 0.4417, 0.0074, 0.5750, 0.1009, 0.1565, 0.9352]
    assert found.component == pytest.approx(printed, abs=5.1e-5)
    assert round(found.generalizability(), 2) == 0.64
    assert round(found.dependability(), 2) == 0.55


def test_a_nested_example_of_brennan_comes_out_as_printed():
    found = variance_components(numbered(brennan_4()), design="nested")
    assert (found.sources, found.negative) == (NESTED, ())
    assert (found.n_systems, found.n_topics, found.n_assessors) == (10, 3, 4)
    assert found.df.tolist() == [9, 2, 9, 18, 81]
    assert found.ss == pytest.approx([92.6667, 48.2000, 79.7000, 83.1333, 192.8000], abs=5e-5)
    assert found.component == pytest.approx([0.4731, 0.3252, 0.6475, 0.5596, 2.3802], abs=5.1e-5)
    assert round(found.generalizability(), 2) == 0.55
    assert round(found.dependability(), 2) == 0.46


def test_an_unbalanced_example_of_brennan_comes_out_as_printed():
    found = variance_components(numbered(brennan_unbalanced()), design="nested")
    # From the printed T terms 1390, 1424, 1440, 1564.5 and 1610, less 1296 for the mean.
    assert found.ss == pytest.approx([94, 128, 16, 46.5, 29.5])
    # The fourth stands as .9913 there, but (46.5 / 14 - 29.5 / 35) / 2.5 is .9914.
    assert found.component == pytest.approx([1.2014, 2.9161, 0.2946, 0.9914, 0.8429], abs=5.1e-5)
    # Printed for means in which a topic weighs as its assessors: 8 / 3 topics and 3 assessors are worth as much.
    assert round(found.generalizability(8 / 3, 3), 3) == 0.716
    assert round(found.dependability(8 / 3, 3), 4) == 0.4277
    assert found.n_assessors == pytest.approx(3 / (1 / 2 + 1 / 4 + 1 / 2))
    assert "topics have 2 to 4 assessors of their own, harmonic mean 2.4" in found.handling


# ---- the oracle

GRADE = st.sampled_from([0.0, 0.25, 0.5, 0.7, 1.0])


@st.composite
def complete(draw, most=4):
    """(assessor, topic, system) scores without a gap."""
    shape = tuple(draw(st.integers(2, most)) for _ in range(3))
    size = int(np.prod(shape))
    return np.array(draw(st.lists(GRADE, min_size=size, max_size=size))).reshape(shape)


@st.composite
def unequal(draw):
    """Scores of panels of unequal size, one topic with two assessors at least."""
    scores = draw(complete())
    for t in range(1, scores.shape[1]):
        gone = draw(st.sets(st.integers(0, scores.shape[0] - 1), max_size=scores.shape[0] - 1))
        scores[list(gone), t] = NAN
    return scores


def keyed(scores):
    return {(s, t, a): scores[a, t, s] for a, t, s in np.ndindex(scores.shape) if not np.isnan(scores[a, t, s])}


def check(found, expected):
    for i, (ss, df, component) in enumerate(expected.values()):
        assert found.ss[i] == pytest.approx(ss, abs=1e-10)
        assert found.df[i] == df
        assert found.estimate[i] == pytest.approx(component, abs=1e-10)
        assert found.component[i] == max(0.0, found.estimate[i])
        assert (found.sources[i] in found.negative) == (found.estimate[i] < 0)


@settings(max_examples=settings.default.max_examples // 2)
@given(complete())
def test_crossed_components_are_what_sums_of_squares_in_loops_give(scores):
    check(variance_components(numbered(scores), design="crossed"), oracle.crossed(keyed(scores)))


@settings(max_examples=settings.default.max_examples // 2)
@given(unequal())
def test_nested_components_solve_the_expectations_that_are_counted_out(scores):
    check(variance_components(numbered(scores), design="nested"), oracle.nested(keyed(scores)))


def standard_errors(found, n_topics, n_assessors, design=None):
    """Of the mean of a system, and of a difference of two systems."""
    study = d_study(found, [n_topics], [n_assessors], design=design)
    return study.standard_error[0], study.standard_error_of_difference[0]


@settings(max_examples=settings.default.max_examples // 2)
@given(complete(), st.integers(1, 60), st.integers(1, 9), st.sampled_from(["crossed", "nested"]))
def test_coefficients_and_errors_are_what_their_formulas_say(scores, n_t, n_a, design):
    found = variance_components(numbered(scores), design=design)
    letters = ("s", "t", "a", "st", "sa", "ta", "sta") if design == "crossed" else ("s", "t", "a:t", "st", "sa:t")
    v = dict(zip(letters, found.component.tolist(), strict=True))
    assume(v["s"] > 0)
    got = found.generalizability(n_t, n_a), found.dependability(n_t, n_a), *standard_errors(found, n_t, n_a)
    assert got == pytest.approx(oracle.coefficients(v, n_t, n_a, design))


# ---- laws


@settings(max_examples=settings.default.max_examples // 2)
@given(complete(), st.sampled_from(["crossed", "nested"]), st.randoms())
def test_nobody_s_place_matters(scores, design, random):
    orders = [random.sample(range(n), n) for n in scores.shape]
    before = variance_components(numbered(scores), design=design)
    after = variance_components(numbered(scores[np.ix_(*orders)]), design=design)
    assert after.estimate == pytest.approx(before.estimate, abs=1e-12)


@settings(max_examples=settings.default.max_examples // 2)
@given(unequal(), st.sampled_from([-3.0, 0.1, 2.0, 100.0]), st.sampled_from([-1.0, 0.0, 5.0]))
def test_scores_in_other_units_change_components_by_the_square_of_the_unit_and_shares_not_at_all(scores, unit, shift):
    before = variance_components(numbered(scores), design="nested")
    after = variance_components(numbered(unit * scores + shift), design="nested")
    assert after.estimate == pytest.approx(unit**2 * before.estimate, abs=1e-11 * unit**2)
    assert after.share == pytest.approx(before.share, abs=1e-9, nan_ok=True)
    assert after.generalizability() == pytest.approx(before.generalizability(), abs=1e-7, nan_ok=True)


@settings(max_examples=settings.default.max_examples // 2)
@given(complete(), st.integers(0, 2), st.sampled_from(["crossed", "nested"]))
def test_a_constant_for_every_level_of_a_facet_changes_the_component_of_that_facet_alone(scores, facet, design):
    """Facet 0 is assessors, 1 topics, 2 systems."""
    assume(design == "crossed" or facet > 0)
    n = scores.shape[facet]
    constants = np.arange(n).reshape([n if axis == facet else 1 for axis in range(3)])
    before = variance_components(numbered(scores), design=design)
    after = variance_components(numbered(scores + constants), design=design)
    own = before.sources.index(("assessor", "topic", "system")[facet])
    others = [i for i in range(len(before.sources)) if i != own]
    assert after.estimate[others] == pytest.approx(before.estimate[others], abs=1e-12)


@settings(max_examples=settings.default.max_examples // 2)
@given(complete(), st.sampled_from(["crossed", "nested"]), st.integers(1, 30), st.integers(1, 9))
def test_reliability_lies_between_0_and_1_and_never_falls_with_more_topics_or_assessors(scores, design, n_t, n_a):
    found = variance_components(numbered(scores), design=design)
    assume(found.component.sum() > 0 and not np.isnan(found.generalizability(n_t, n_a)))
    here, phi = found.generalizability(n_t, n_a), found.dependability(n_t, n_a)
    assert 0 <= phi <= here <= 1
    assert found.generalizability(n_t + 1, n_a) >= here
    assert found.generalizability(n_t, n_a + 1) >= here
    assert found.dependability(n_t + 1, n_a) >= phi
    assert found.dependability(n_t, n_a + 1) >= phi
    assert standard_errors(found, n_t, n_a + 1)[1] <= standard_errors(found, n_t, n_a)[1]


@settings(max_examples=settings.default.max_examples // 2)
@given(complete(), st.integers(1, 9), st.integers(1, 9))
def test_other_assessors_in_every_topic_never_do_worse_than_the_same_ones(scores, n_t, n_a):
    found = variance_components(numbered(scores), design="crossed")
    same, others = (standard_errors(found, n_t, n_a, design)[0] for design in ("crossed", "nested"))
    assert others <= same + 1e-12
    assert n_t > 1 or others == pytest.approx(same)


@settings(max_examples=settings.default.max_examples // 2)
@given(complete())
def test_equal_panels_give_the_balanced_estimates(scores):
    """Decisions: v_s = (MS_s - MS_st) / (T A), v_t = (MS_t - MS_st - MS_a:t + MS_sa:t) / (S A)."""
    found = variance_components(numbered(scores), design="nested")
    n_a, n_t, n_s = scores.shape
    m_s, m_t, m_a, m_st, m_e = found.ms
    expected = [
        (m_s - m_st) / (n_t * n_a),
        (m_t - m_st - m_a + m_e) / (n_s * n_a),
        (m_a - m_e) / n_s,
        (m_st - m_e) / n_a,
        m_e,
    ]
    assert found.estimate == pytest.approx(expected, abs=1e-12)


@settings(max_examples=settings.default.max_examples // 2)
@given(complete())
def test_nested_sums_of_squares_are_the_crossed_ones_put_together(scores):
    nested, crossed = (variance_components(numbered(scores), design=design) for design in ("nested", "crossed"))
    s, t, a, st_, sa, ta, e = crossed.ss
    assert nested.ss == pytest.approx([s, t, a + ta, st_, sa + e], abs=1e-10)


TRUTH = {
    "system": 0.02, "topic": 0.03, "assessor": 0.01, "system*topic": 0.02, "system*assessor": 0.002,
    "topic*assessor": 0.015, "error": 0.01,
}  # fmt: skip


def simulated(rng, n_a, n_t, n_s):
    def drawn(source, *shape):
        return rng.normal(0, np.sqrt(TRUTH[source]), shape)

    return (
        0.5
        + drawn("system", 1, 1, n_s)
        + drawn("topic", 1, n_t, 1)
        + drawn("assessor", n_a, 1, 1)
        + drawn("system*topic", 1, n_t, n_s)
        + drawn("system*assessor", n_a, 1, n_s)
        + drawn("topic*assessor", n_a, n_t, 1)
        + drawn("error", n_a, n_t, n_s)
    )


@pytest.mark.parametrize("n", [300, pytest.param(1500, marks=pytest.mark.nightly)])
def test_crossed_estimates_are_right_on_average(n):
    rng = np.random.default_rng(7)
    estimates = np.array([variance_components(numbered(simulated(rng, 5, 20, 12))).estimate for _ in range(n)])
    error = estimates.std(axis=0) / np.sqrt(n)
    assert (np.abs(estimates.mean(axis=0) - list(TRUTH.values())) < 4 * error).all()


@pytest.mark.parametrize("n", [400, pytest.param(1500, marks=pytest.mark.nightly)])
def test_nested_estimates_are_right_on_average_with_panels_of_unequal_size(n):
    rng = np.random.default_rng(7)
    sizes = np.array([1, 2, 2, 3, 6, 1, 4, 2, 2, 5])
    # Assessors of their own in each topic: v_a + v_ta, and v_sa + v_e, cannot be told apart.
    truth = [0.02, 0.03, 0.025, 0.02, 0.012]
    estimates = []
    for _ in range(n):
        scores = np.full((6, 10, 12), NAN)
        everyone = simulated(rng, int(sizes.sum()), 10, 12)
        first = 0
        for t, size in enumerate(sizes):
            scores[:size, t] = everyone[first : first + size, t]
            first += size
        estimates.append(variance_components(numbered(scores), design="nested").estimate)
    mean, error = np.mean(estimates, axis=0), np.std(estimates, axis=0) / np.sqrt(n)
    assert (np.abs(mean - truth) < 4 * error).all()


def test_standard_errors_are_what_a_new_panel_and_new_topics_make_of_means():
    rng = np.random.default_rng(3)
    found = variance_components(numbered(simulated(rng, 60, 300, 40)))
    # The same system's mean, again and again, with all else drawn anew.
    means = np.array([simulated(rng, 3, 10, 2).mean(axis=(0, 1)) for _ in range(4000)])
    of_mean = np.sqrt(means.var() - TRUTH["system"])
    of_difference = np.sqrt((means[:, 0] - means[:, 1]).var() - 2 * TRUTH["system"])
    assert standard_errors(found, 10, 3) == pytest.approx((of_mean, of_difference), rel=0.12)


# ---- missing scores, and what cannot be


def test_an_estimate_below_0_becomes_0_and_is_named():
    # Both assessors see the systems in opposite order on both topics: v_s cannot be above 0.
    scores = np.array([[[0.0, 1], [0, 1]], [[1.0, 0], [1, 0.2]]])
    found = variance_components(numbered(scores))
    assert "system" in found.negative
    assert found.estimate[0] < 0
    assert found.of("system") == found.share[0] == 0
    assert found.generalizability() == found.dependability() == 0


def test_where_nothing_varies_no_share_is_known():
    found = variance_components(numbered(np.full((2, 3, 4), 0.1)))
    assert found.component.tolist() == [0.0] * 7
    assert np.isnan(found.share).all()
    assert np.isnan(found.generalizability())
    assert found.negative == ()


def test_what_only_adds_up_leaves_no_error_whatever_rounding_does():
    scores = 0.1 * np.arange(3)[:, None, None] + 0.3 * np.arange(4)[:, None] + 0.7 * np.arange(5)
    found = variance_components(numbered(scores))
    assert found.component[3:].tolist() == [0.0] * 4
    assert found.negative == ()
    assert found.of("system") == pytest.approx(0.49 * 2.5)
    assert found.generalizability() == 1


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(unequal())
def test_crossed_keeps_the_largest_block_in_which_everybody_scores_everything(scores):
    known = ~np.isnan(scores).any(axis=2)
    n_a = known.shape[0]
    best = (0, 0)
    for subset in range(1, 2**n_a):
        rows = [a for a in range(n_a) if subset >> a & 1]
        columns = known[rows].all(axis=0).sum()
        if len(rows) >= 2 and columns >= 2:
            best = max(best, (len(rows) * int(columns), int(columns)))
    if best == (0, 0):
        with pytest.raises(NoOverlapError, match="no 2 assessors share 2 topics"):
            variance_components(numbered(scores), design="crossed")
        return
    found = variance_components(numbered(scores), design="crossed")
    assert (found.n_scores, found.n_topics) == best
    assert found.n_left_out == known.sum() - best[0]
    rows, columns = ([int(name) for name in names] for names in (found.assessors, found.topics))
    check(found, oracle.crossed(keyed(scores[np.ix_(rows, columns)])))


def test_where_there_are_too_many_blocks_a_good_one_is_found_and_said_to_be_found():
    rng = np.random.default_rng(2)
    known = rng.random((60, 120)) < 0.9
    known[:25, :50] = True
    scores = np.where(known[:, :, None], rng.random((60, 120, 2)), NAN)
    found = variance_components(numbered(scores), design="crossed")
    assert found.handling.startswith("the largest complete block found: ")
    assert found.n_scores >= 0.9 * 25 * 50
    block = scores[np.ix_([int(a) for a in found.assessors], [int(t) for t in found.topics])]
    assert not np.isnan(block).any()
    assert block.shape[0] * block.shape[1] == found.n_scores


def test_auto_takes_a_panel_that_misses_little_as_crossed_and_one_that_misses_much_as_nested():
    rng = np.random.default_rng(1)
    scores = rng.random((4, 10, 3))
    assert variance_components(numbered(scores)).handling == "every assessor has a score in every topic"
    scores[1, 3] = NAN
    found = variance_components(numbered(scores))
    assert found.design == "crossed"
    assert (
        found.handling == "the largest complete block: 4 of 4 assessors and 9 of 10 topics, 36 of 39 cells with scores"
    )
    assert "3" not in found.topics
    for t in range(10):
        scores[[t % 4, (t + 1) % 4], t] = NAN
    scores[:, 9] = NAN
    found = variance_components(numbered(scores))
    assert found.design == "nested"
    assert found.handling.endswith("; 1 of 10 topics have no score and are left out")
    assert found.n_left_out == 0


def test_a_cell_in_which_some_system_has_no_score_does_not_count():
    scores = np.random.default_rng(1).random((3, 6, 4))
    without = scores.copy()
    without[2, 5] = NAN
    scores[2, 5, 0] = NAN
    a, b = (variance_components(numbered(x), design="nested").estimate.tolist() for x in (scores, without))
    assert a == b


def test_names_come_from_the_labels_and_dimensions_may_stand_in_any_order():
    array = xarray.DataArray(
        brennan_3(),
        dims=("assessor", "topic", "system"),
        coords={"assessor": ["x", "y"], "topic": list("abcd"), "system": [f"s{i}" for i in range(10)]},
    )
    found = variance_components(array.transpose("system", "topic", "assessor"))
    assert (found.assessors, found.topics, found.systems[9]) == (("x", "y"), ("a", "b", "c", "d"), "s9")
    assert found.estimate == pytest.approx(variance_components(numbered(brennan_3())).estimate)
    frame = found.to_frame()
    assert list(frame["source"]) == list(CROSSED)
    assert frame["share"].sum() == pytest.approx(1)
    assert found.to_frame("polars")["df"].to_list() == found.df.tolist()


FULL = np.random.default_rng(0).random((3, 4, 5))
ONCE = np.where(np.arange(4)[:, None] % 3 == np.arange(3)[:, None, None], FULL, NAN)


@pytest.mark.parametrize(("scores", "options", "error", "message"), [
    (FULL[:1], {}, ArgumentError, "1 assessor with scores .* needs 2; without a budget, qrowd plan"),
    (FULL[:, :1], {}, ArgumentError, "1 topic with scores"),
    (FULL[:, :, :1], {}, ArgumentError, "1 system; variance among systems needs 2"),
    (np.full((3, 4, 5), NAN), {}, ArgumentError, "0 assessor of 3"),
    (np.where(FULL > 0.9, np.inf, FULL), {}, ArgumentError, "infinite"),
    (FULL, {"design": "both"}, ArgumentError, "design='both': choose one of crossed, nested, auto"),
    (ONCE, {}, NoOverlapError, "no topic has 2 assessors"),
    (ONCE, {"design": "crossed"}, NoOverlapError, "no 2 assessors share 2 topics"),
])  # fmt: skip
def test_what_cannot_be_taken_apart_is_an_error_that_says_why(scores, options, error, message):
    with pytest.raises(error, match=message):
        variance_components(numbered(scores), **options)


def test_designs_that_make_no_sense_are_errors():
    found = variance_components(numbered(FULL))
    for arguments in ((0, 2), (2, 0), (-1, 2), (NAN, 2), (np.inf, 2)):
        with pytest.raises(ArgumentError, match="a number above 0"):
            found.generalizability(*arguments)
    with pytest.raises(ArgumentError, match="choose one of crossed, nested"):
        found.generalizability(design="auto")
    with pytest.raises(ArgumentError, match="nested assessors do not give"):
        variance_components(numbered(FULL), design="nested").generalizability(design="crossed")
    with pytest.raises(ArgumentError, match="source 'systems': choose from system, topic"):
        found.of("systems")


# ---- real panels


def components_of(folder, judgments, files="*.gz"):
    import qrowd

    runs = qrowd.read_runs(str(folder / "runs" / files))
    scores = qrowd.evaluate(runs, qrowd.read_judgments(str(folder / judgments)), "nDCG@10").to_xarray()
    return variance_components(scores.sel(measure="nDCG@10"))


@pytest.mark.parametrize(
    ("files", "n", "component", "generalizability", "dependability"),
    [
        ("neural_c*.gz", 10, [0.00108, 0.00964, 0.03524, 0.00764, 0.00508], 0.821, 0.555),
        pytest.param(
            "*.gz", 61, [0.01611, 0.01251, 0.03076, 0.01580, 0.00675], 0.973, 0.936, marks=pytest.mark.nightly
        ),
    ],
)
def test_two_people_a_topic_of_dl19_differ_most_in_how_high_they_score(
    dl19, files, n, component, generalizability, dependability
):
    found = components_of(dl19, "humans/main.tsv", files)
    assert (found.design, found.n_systems, found.n_topics, found.n_assessors) == ("nested", n, 43, 2)
    assert found.handling == "every topic has 2 assessors of its own"
    assert found.component == pytest.approx(component, abs=5e-6)
    assert found.generalizability() == pytest.approx(generalizability, abs=5e-4)
    assert found.dependability() == pytest.approx(dependability, abs=5e-4)


@pytest.mark.nightly
def test_the_judges_of_dl19_and_dl21_do_more_to_scores_than_to_the_order_of_systems(dl19, dl21):
    for folder, n_topics, n_assessors, generalizability, dependability in (
        (dl19, 43, 8, 0.967, 0.850),
        (dl21, 52, 18, 0.958, 0.651),
    ):
        found = components_of(folder, "judges/*.gz")
        assert (found.design, found.n_topics, found.n_assessors) == ("crossed", n_topics, n_assessors)
        assert found.negative == ()
        assert found.generalizability() == pytest.approx(generalizability, abs=5e-4)
        assert found.dependability() == pytest.approx(dependability, abs=5e-4)
        assert found.of("assessor") > 10 * found.of("system*assessor")
    assert found.handling == (
        "the largest complete block: 18 of 18 assessors and 52 of 53 topics, 936 of 953 cells with scores"
    )
