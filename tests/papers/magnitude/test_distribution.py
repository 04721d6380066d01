"""Log-normal but for round numbers; by ratio but for haste."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from oracles import magnitude as oracle
from qrowd.errors import ArgumentError, InputError
from qrowd.magnitude import normalise
from qrowd.model.judgments import Judgments
from qrowd.simulation import MagnitudeCrowd, simulate_magnitudes
from qrowd_papers.magnitude.digits import ratio_digits, round_numbers, significant_digits
from qrowd_papers.magnitude.distribution import distribution

approx = pytest.approx


def of_values(values, assessor=None):
    """One topic, a document for each value."""
    return Judgments.from_rows(
        [("q", f"d{i}", assessor(i) if assessor else "ann", value) for i, value in enumerate(values)],
        scales={"*": "magnitude"},
    )


# ---- the distribution

values = st.lists(st.one_of(st.sampled_from([1.0, 2.0, 5.0, 10.0]), st.floats(1e-3, 1e3)), min_size=2, max_size=12)


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(values)
def test_the_summary_is_what_its_words_say(numbers):
    found = distribution(of_values(numbers))
    array = np.array(numbers)
    assert found.n.tolist() == [len(numbers)]
    assert found.mean[0] == approx(array.mean())
    assert found.sd[0] == approx(array.std(ddof=1))
    assert found.median[0] == approx(np.median(array))
    assert found.geometric_mean[0] == approx(stats.gmean(array))
    assert found.geometric_sd[0] == approx(np.exp(np.log(array).std(ddof=1)))
    assert (found.log_mean[0], found.log_sd[0]) == approx((np.log(array).mean(), np.log(array).std(ddof=1)))
    assert found.share_up_to(5.0)[0] == approx(np.mean(array <= 5.0))


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(values)
def test_the_distance_is_the_largest_on_either_side_of_a_step(numbers):
    found = distribution(of_values(numbers))
    if max(numbers) < min(numbers) * (1 + 1e-6):
        return
    expected = oracle.distance_to_lognormal(numbers, found.log_mean[0], found.log_sd[0])
    assert found.distance[0] == approx(expected, abs=1e-9)
    curve = stats.lognorm(found.log_sd[0], scale=np.exp(found.log_mean[0])).cdf
    assert found.distance[0] == approx(stats.kstest(numbers, curve).statistic, abs=1e-9)


def test_a_log_normal_sample_is_recognised():
    sample = np.exp(1.5 + 0.8 * np.random.default_rng(1).standard_normal(20_000))
    found = distribution(of_values(sample))
    assert (found.log_mean[0], found.log_sd[0]) == approx((1.5, 0.8), abs=0.03)
    assert found.distance[0] < 0.02


def test_normalising_smooths_round_numbers_away_and_nears_the_curve_in_every_topic(crowd):
    """Figure 2 against Figure 1."""
    before, after = (distribution(judgments, by_topic=True) for judgments in (crowd, normalise(crowd)))
    assert before.groups == crowd.topics
    assert (after.distance < 0.6 * before.distance).all()
    assert round_numbers(normalise(crowd)).one_two_five < 0.01


def test_equal_magnitudes_have_no_curve_and_one_has_no_deviation():
    found = distribution(of_values([3.0, 3.0, 3.0]))
    assert (found.sd[0], found.geometric_mean[0]) == approx((0, 3))
    assert np.isnan(found.distance[0])
    assert np.isnan(distribution(of_values([3.0])).sd[0])


def test_frames_hold_a_row_per_group_and_the_curves_a_row_per_value():
    rows = [("q1", "a", "ann", 1.0), ("q1", "b", "ann", 2.0), ("q1", "c", "ann", 2.0), ("q2", "a", "ann", 8.0)]
    found = distribution(Judgments.from_rows(rows, scales={"ann": "magnitude"}), by_topic=True)
    assert found.to_frame()[["group", "n"]].to_dict("list") == {"group": ["q1", "q2"], "n": [3, 1]}
    curves = found.to_frame(what="curves")
    assert curves["share"].tolist() == approx([1 / 3, 1, 1])
    assert curves["value"].tolist() == [1, 2, 8]
    # At the geometric mean the curve is at one half.
    whole = distribution(of_values([1.0, 2.0, 4.0])).to_frame(what="curves")
    assert whole["fitted"][1] == approx(0.5)
    assert whole.columns.tolist() == ["group", "value", "share", "fitted"]


# ---- round numbers


def test_round_numbers_come_with_how_often_and_by_how_many():
    found = round_numbers(of_values([5, 5, 5, 10, 10, 0.25, 7, 12], assessor=lambda i: "ann" if i < 2 else f"w{i % 2}"))
    frame = found.to_frame()
    assert frame["value"].tolist() == [5, 10, 0.25, 7, 12]  # equally frequent ones by value
    assert frame["n"].tolist() == [3, 2, 1, 1, 1]
    assert frame["share"].sum() == approx(1)
    assert frame["n_assessors"].tolist() == [2, 2, 1, 1, 1]
    assert frame["digits"].tolist() == [1, 1, 2, 1, 2]
    assert found.one_two_five == 5 / 8


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_a_crowd_likes_round_numbers_as_much_as_it_was_made_to(truth, share):
    found = round_numbers(
        simulate_magnitudes(truth, 700, crowd=MagnitudeCrowd(round_numbers=share), checked=False, rng=1)
    )
    by_chance = 0.05  # two digits, of which 10, 20 and 50 stand for a few per cent
    assert share <= found.one_two_five + 0.01
    assert found.one_two_five <= share + (1 - share) * by_chance + 0.01


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(st.sampled_from([1, 2, 5]), st.integers(-20, 20))
def test_a_power_of_ten_does_not_make_a_number_less_round(digit, power):
    assert round_numbers(of_values([float(f"{digit}e{power}")])).one_two_five == 1


# ---- significant figures


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(st.integers(1, 999_999_999), st.integers(-320, 290))
def test_figures_of_a_written_number_are_its_digits(digits, power):
    number = float(f"{digits}e{power}")
    if number < 1e-305:
        return  # too small for nine digits
    assert significant_digits(np.array([number])).tolist() == [len(str(digits).rstrip("0"))]


def test_numbers_that_never_end_have_more_figures_than_are_told_apart():
    assert significant_digits(np.array([1 / 3, 2 / 7, 76 / 54, 1e-310 / 3])).tolist() == [10, 10, 10, 10]


written = st.builds(
    lambda digits, power: str(Decimal(digits).scaleb(power)), st.integers(1, 120), st.integers(-2, 1)
).map(lambda text: format(Decimal(text), "f"))


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(st.lists(written, min_size=1, max_size=8))
def test_figures_of_ratios_are_those_of_exact_fractions(texts):
    found = ratio_digits(of_values(map(float, texts)), by="assessor")
    assert found.digits.tolist() == [oracle.ratio_digits(texts)]


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(st.lists(st.tuples(st.sampled_from("uvw"), written), min_size=1, max_size=12))
def test_ratios_never_cross_units(rows):
    columns = {"topic": ["q"] * len(rows), "assessor": ["ann"] * len(rows), "document": list(range(len(rows)))}
    columns |= {"unit": [unit for unit, _ in rows], "value": [float(text) for _, text in rows]}
    found = ratio_digits(Judgments.from_frame(columns, scales={"*": "magnitude"}))
    texts = {unit: [text for other, text in rows if other == unit] for unit, _ in rows}
    assert found.digits.tolist() == [oracle.ratio_digits(some) for some in texts.values()]


def test_seventy_six_after_fifty_four_is_no_ratio():
    """Section 9.2: 76 / 54 is 1.407..., more precise than anyone judges."""
    found = ratio_digits(of_values([54, 76]), by="assessor")
    assert (found.digits.tolist(), found.n_within(2)) == ([10], 0)
    assert ratio_digits(of_values([50, 100, 75]), by="assessor").digits.tolist() == [2]  # 75 is 1.5 times 50
    assert ratio_digits(of_values([50, 100, 200]), by="assessor").digits.tolist() == [1]


def test_a_third_is_not_short():
    assert ratio_digits(of_values([3, 1]), by="assessor").digits.tolist() == [10]


def test_the_order_column_says_which_score_came_before():
    columns = {"topic": ["q"] * 2, "document": ["a", "b"], "assessor": ["ann"] * 2, "unit": ["u"] * 2, "value": [1, 3]}
    assert ratio_digits(Judgments.from_frame({**columns, "order": [1, 2]})).digits.tolist() == [1]
    assert ratio_digits(Judgments.from_frame({**columns, "order": [2, 1]})).digits.tolist() == [10]


def test_counts_of_figures_add_up_to_the_units(crowd):
    found = ratio_digits(crowd)
    assert found.n_within(10) == 7059
    assert found.to_frame()["digits"].tolist() == found.digits.tolist()


REFUSED = {
    "nothing": (lambda: distribution(Judgments.from_rows([])), ArgumentError, "judgments: there are none"),
    "zero": (
        lambda: round_numbers(Judgments.from_rows([("q", "a", "ann", 0), ("q", "b", "ann", -1)])),
        InputError,
        "assessor ann, topic q, document a: magnitude 0 (and 1 more); a magnitude is above 0; leave out "
        "unjudged documents",
    ),
}


@pytest.mark.parametrize(("call", "error", "line"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_summed_up_is_named_in_one_line(call, error, line):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == line
