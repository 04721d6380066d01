"""p(R|i): the printed table, the equations in loops, laws, standard errors, and what is refused."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from merging import judgments_of, panels
from oracles import predicted_relevance as oracle
from qrowd.errors import ArgumentError, NoOverlapError, ScaleError
from qrowd.model.judgments import Judgments
from qrowd.predicted_relevance import predicted_relevance

GRADES = (0, 1, 2)
SCALE = "0-2"
U1 = [2, 2, 1, 0, 1, 1, 0, 1, 2, 1, 1, 1, 2, 0, 1, 0, 1, 1, 0, 0]
U2 = [1, 2, 1, 1, 2, 0, 0, 1, 2, 2, 0, 2, 1, 0, 1, 2, 0, 1, 0, 0]
TABLE_1 = {("q", f"d{i}"): {"U1": one, "U2": two} for i, (one, two) in enumerate(zip(U1, U2, strict=True), 1)}


def listed(labels):
    """As the oracle takes them."""
    return {pair: list(said.items()) for pair, said in labels.items()}


def doubled(labels):
    return any(len(said) > 1 for said in labels.values())


def fitted(labels, rel=2, **options):
    return predicted_relevance(judgments_of(labels, SCALE), rel=rel, **{"n_resamples": 0, **options})


def by_grade(model):
    """{grade: p(R|i)}, None where not known."""
    known = (None if np.isnan(p) else p for p in model.probability.tolist())
    return dict(zip(model.grades.tolist(), known, strict=True))


def expected(matrix, grades, relevant, smoothing=0.0):
    """The oracle's, ready to be compared."""
    p = oracle.predicted(matrix, grades, relevant, smoothing)
    return {grade: None if value is None else pytest.approx(value, abs=1e-12) for grade, value in p.items()}


def seen(labels):
    return sorted({float(grade) for said in labels.values() for grade in said.values()})


# ---- printed: Demeester et al. (2016), Table 1


@pytest.mark.parametrize(
    ("method", "shares"),
    [("one-sided", {0: (1, 6), 1: (3, 10), 2: (2, 4)}), ("symmetric", {0: (1, 13), 1: (5, 17), 2: (4, 10)})],
)
def test_table_1_is_reproduced_counts_and_all(method, shares):
    model = fitted(TABLE_1, method=method)
    equation = oracle.equation_4 if method == "one-sided" else oracle.equation_5
    for i, grade in enumerate(GRADES):
        assert (model.n_relevant[i], model.n[i]) == shares[grade]
        assert equation(list(zip(U1, U2, strict=True)), {2}, grade) == shares[grade]
        assert model[grade] == pytest.approx(float(Fraction(*shares[grade])), abs=1e-15)
    assert (model.data.n_documents, model.data.n_judgments, model.data.n_topics, model.data.n_single) == (20, 40, 1, 0)


def test_the_binomial_error_is_the_printed_formula():
    model = fitted(TABLE_1, resample="binomial")
    assert model.standard_error == pytest.approx(
        [oracle.binomial_error(*part) for part in ((1, 13), (5, 17), (4, 10))], abs=1e-15
    )
    # Wilson (1927): where the standard error would be, if p were at the end of the interval.
    for end in (model.low, model.high):
        assert np.abs(end - model.probability) == pytest.approx(1.959964 * np.sqrt(end * (1 - end) / model.n), rel=1e-6)


# ---- the equations in loops


@settings(max_examples=settings.default.max_examples // 2)
@given(panels(), st.sampled_from([0.0, 0.5, 3.0]))
def test_the_symmetric_form_is_the_row_normalised_coincidence_matrix(labels, smoothing):
    assume(doubled(labels))
    grades = seen(labels)
    matrix = oracle.coincidences(listed(labels), grades)
    model = fitted(labels, smoothing=smoothing)
    assert by_grade(model) == expected(matrix, grades, {2.0}, smoothing)
    for i, row in enumerate(grades):
        assert model.coincidences[i] == pytest.approx([matrix[row, column] for column in grades], abs=1e-12)


@given(st.lists(st.tuples(st.sampled_from(GRADES), st.sampled_from(GRADES)), min_size=1, max_size=12))
def test_of_two_assessors_it_is_equation_5(pairs):
    model = fitted({("q", f"d{i}"): {"ann": a, "bob": b} for i, (a, b) in enumerate(pairs)})
    for i, grade in enumerate(model.grades):
        found, n = oracle.equation_5(pairs, {2}, grade)
        assert (model.n_relevant[i], model.n[i]) == (pytest.approx(found), pytest.approx(n))


@settings(max_examples=settings.default.max_examples // 2)
@given(panels(), st.sampled_from([None, "a", ("b", "a"), ["c", "b", "a"]]), st.sampled_from([0.0, 2.0]))
def test_the_one_sided_form_counts_from_whoever_is_first(labels, first, smoothing):
    names = [first] if isinstance(first, str) else first
    assume(doubled(labels))
    assume(names is None or set(names) <= {name for said in labels.values() for name in said})
    assume(names is None or any(len(said) > 1 and set(said) & set(names) for said in labels.values()))
    grades = seen(labels)
    matrix = oracle.directed(listed(labels), grades, names)
    model = fitted(labels, method="one-sided", first=first, smoothing=smoothing)
    assert by_grade(model) == expected(matrix, grades, {2.0}, smoothing)
    assert model.coincidences.sum() == pytest.approx(model.data.n_documents)
    assert model.data.n_documents + model.data.n_left_out + model.data.n_single == len(labels)


def test_the_order_column_says_who_was_first():
    rows = {"topic": ["q"] * 2, "document": ["d"] * 2, "assessor": ["ann", "bob"], "value": [0, 2]}
    for order, grade in (([1, 2], 0), ([2, 1], 2)):
        judgments = Judgments.from_frame({**rows, "order": order}, scales={"*": SCALE})
        model = predicted_relevance(judgments, rel=2, method="one-sided", n_resamples=0)
        assert model.grades[model.n > 0] == [grade]


# ---- laws


@settings(max_examples=settings.default.max_examples // 2)
@given(panels(), st.permutations("abcd"), st.sampled_from([0.0, 1.5]))
def test_nobodys_name_matters(labels, names, smoothing):
    assume(doubled(labels))
    other = dict(zip("abcd", names, strict=True))
    renamed = {pair: {other[who]: grade for who, grade in said.items()} for pair, said in labels.items()}
    one, two = (fitted(panel, smoothing=smoothing) for panel in (labels, renamed))
    assert np.array_equal(one.probability, two.probability, equal_nan=True)


@settings(max_examples=settings.default.max_examples // 2)
@given(panels(), st.sampled_from([0.0, 4.0]), st.sampled_from(["symmetric", "one-sided"]), st.sampled_from([1, 2]))
def test_it_is_a_probability_and_the_counts_are_judgments(labels, smoothing, method, rel):
    assume(doubled(labels))
    model = fitted(labels, rel, smoothing=smoothing, method=method)
    known = model.probability[~np.isnan(model.probability)]
    assert ((known >= 0) & (known <= 1 + 1e-12)).all()
    units = model.data.n_judgments if method == "symmetric" else model.data.n_documents
    assert model.n.sum() == pytest.approx(units)


@given(st.lists(st.tuples(st.sampled_from(GRADES), st.integers(2, 4)), min_size=1, max_size=6), st.sampled_from([1, 2]))
def test_assessors_who_always_agree_leave_0_and_1(documents, rel):
    labels = {("q", f"d{i}"): dict.fromkeys("abcd"[:n], grade) for i, (grade, n) in enumerate(documents)}
    model = fitted(labels, rel, n_resamples=20, rng=1)
    assert model.probability.tolist() == [float(grade >= rel) for grade in model.grades]
    drawn = model.replicates[~np.isnan(model.replicates)]
    assert set(drawn.tolist()) <= {0.0, 1.0}


@settings(max_examples=settings.default.max_examples // 2)
@given(panels(), st.floats(0.1, 50))
def test_smoothing_draws_towards_the_overall_share(labels, smoothing):
    assume(doubled(labels))
    plain, smooth = fitted(labels), fitted(labels, smoothing=smoothing)
    overall = plain.n_relevant.sum() / plain.n.sum()
    for before, after in zip(plain.probability, smooth.probability, strict=True):
        low, high = sorted((overall, overall if np.isnan(before) else before))
        assert low - 1e-12 <= after <= high + 1e-12
    assert fitted(labels, smoothing=1e12).probability == pytest.approx(overall)


@settings(max_examples=settings.default.max_examples // 2)
@given(panels())
def test_every_judgment_copied_by_a_twin_adds_its_own_agreement(labels):
    """o' of a document is o with weight (m-1)/(2m-1) per ordered pair, 4 times, plus each judgment with its twin."""
    twins = {pair: {**said, **{who + "'": g for who, g in said.items()}} for pair, said in labels.items()}
    grades = seen(labels)
    model = fitted(twins)
    found, given_ = (dict.fromkeys(grades, 0.0) for _ in range(2))
    for said in labels.values():
        m, r = len(said), sum(grade == 2 for grade in said.values())
        for grade in said.values():
            given_[grade] += 2
            found[grade] += 2 * (2 * r - (grade == 2)) / (2 * m - 1)
    assert by_grade(model) == {g: pytest.approx(found[g] / given_[g], abs=1e-12) for g in grades}


@settings(max_examples=settings.default.max_examples // 2)
@given(panels())
def test_every_document_judged_alike_again_changes_nothing(labels):
    assume(doubled(labels))
    again = {**labels, **{(topic, d + " again"): said for (topic, d), said in labels.items()}}
    one, two = fitted(labels), fitted(again)
    assert one.probability == pytest.approx(two.probability, abs=1e-12, nan_ok=True)
    assert 2 * one.n == pytest.approx(two.n)


def test_judgments_withheld_and_documents_judged_once_teach_nothing():
    labels = {**TABLE_1, ("q", "once"): {"U1": 2}, ("q", "withheld"): {"U1": 2, "U2": -1}}
    model = fitted(labels)
    assert by_grade(model) == by_grade(fitted(TABLE_1))
    assert model.data.n_single == 2


# ---- standard errors


def wide(n=60, seed=5):
    """A panel of three topics whose documents two to four people judged."""
    random = Random(seed)
    return {
        (f"t{i % 3}", f"d{i}"): {who: min(2, random.randrange(3) + (i % 3 == 0)) for who in "abcd"[: 2 + i % 3]}
        for i in range(n)
    }


@pytest.mark.parametrize("se", ["documents", "topics"])
def test_bootstrap_errors_are_those_of_drawing_again_by_hand(se):
    labels = wide(n=60 if se == "documents" else 240)
    if se == "topics":  # twelve of them
        labels = {(f"t{int(d[1:]) % 12}", d): said for (_, d), said in labels.items()}
    groups = {}
    for pair in labels:
        groups.setdefault(pair if se == "documents" else pair[0], []).append(pair)
    random, n = Random(7), 600
    drawn = [oracle.drawn_again(listed(labels), GRADES, {2}, list(groups.values()), random) for _ in range(n)]
    model = fitted(labels, resample=se, n_resamples=4000, rng=3)
    for i, grade in enumerate(GRADES):
        by_hand = np.std([one[grade] for one in drawn], ddof=1)
        assert model.standard_error[i] == pytest.approx(by_hand, rel=4 / np.sqrt(2 * n))
        assert model.low[i] < model.probability[i] < model.high[i]


def test_a_bootstrap_that_knows_which_documents_are_alike_draws_as_one_that_does_not():
    few, many = TABLE_1, {(topic, f"{d} {k}"): said for (topic, d), said in TABLE_1.items() for k in range(40)}
    small, large = (fitted(labels, n_resamples=4000, rng=1) for labels in (few, many))
    assert large.standard_error * np.sqrt(40) == pytest.approx(small.standard_error, rel=0.1)


@pytest.mark.parametrize(("alike", "apart"), [(60, 400), (300, 100)])
def test_the_binomial_error_takes_both_directions_of_a_pair_for_two_observations(alike, apart):
    """With a documents judged (2, 2) and d judged (2, 0), drawing documents gives sqrt(2 (a + d) / (2 a + d)) as much.

    By the delta method, from residuals 2 (1 - p) and -p of the two kinds; the binomial has (1 - p) twice and -p.
    """
    labels = {("q", f"d{i}"): {"a": 2, "b": 2} for i in range(alike)}
    labels |= {("q", f"x{i}"): {"a": 2, "b": 0} for i in range(apart)}
    ratio = (
        fitted(labels, n_resamples=4000, rng=1).standard_error[1]
        / fitted(labels, resample="binomial").standard_error[1]
    )
    assert ratio == pytest.approx(np.sqrt(2 * (alike + apart) / (2 * alike + apart)), rel=0.05)


def test_the_same_rng_draws_the_same_and_another_does_not():
    one, again, other = (fitted(TABLE_1, n_resamples=50, rng=rng) for rng in (1, 1, 2))
    assert np.array_equal(one.replicates, again.replicates, equal_nan=True)
    assert not np.array_equal(one.replicates, other.replicates, equal_nan=True)
    assert (one.seed, fitted(TABLE_1).seed) == (1, None)


def test_replicates_without_a_grade_are_counted_and_left_out():
    labels = {("q", "rare"): {"a": 2, "b": 1}, **{("q", f"d{i}"): {"a": 0, "b": 0} for i in range(3)}}
    model = fitted(labels, n_resamples=400, rng=1)
    assert model.n_undefined[2] == pytest.approx(400 * 0.75**4, abs=4 * np.sqrt(400 * 0.32 * 0.68))
    assert model.probability[2] == model.low[2] == model.high[2] == 0


# ---- refused


SINGLE = {("q", "d"): {"a": 2}, ("q", "e"): {"b": 1}}
REFUSED = {
    "no double judgment": (SINGLE, {"rel": 2}, NoOverlapError, "of 2 documents was.*judge a sample"),
    "no threshold": (TABLE_1, {"rel": None}, ArgumentError, "the lowest relevant grade is needed"),
    "above the scale": (TABLE_1, {"rel": 3}, ArgumentError, r"rel=3: it is outside the scale \(0-2\)"),
    "everything": (TABLE_1, {"rel": 0}, ArgumentError, "rel=0: it is outside"),
    "not a number": (TABLE_1, {"rel": float("nan")}, ArgumentError, "outside"),
    "a method": (TABLE_1, {"rel": 2, "method": "equation 4"}, ArgumentError, "symmetric, one-sided"),
    "first for nothing": (TABLE_1, {"rel": 2, "first": "U1"}, ArgumentError, "one-sided"),
    "nobody": (TABLE_1, {"rel": 2, "method": "one-sided", "first": "U3"}, ArgumentError, "'U3' is no assessor"),
    "smoothing": (TABLE_1, {"rel": 2, "smoothing": -1}, ArgumentError, "smoothing=-1"),
    "resample": (TABLE_1, {"rel": 2, "resample": "bayes"}, ArgumentError, "topics, documents, binomial"),
    "n_resamples": (TABLE_1, {"rel": 2, "n_resamples": -1}, ArgumentError, "n_resamples=-1"),
    "confidence": (TABLE_1, {"rel": 2, "confidence": 1}, ArgumentError, "confidence=1"),
    "repeats": (TABLE_1, {"rel": 2, "repeats": "mean"}, ArgumentError, "first, last, error"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_is_refused_in_one_line(case):
    labels, options, error, message = REFUSED[case]
    with pytest.raises(error, match=message) as caught:
        predicted_relevance(judgments_of(labels, SCALE), **options)
    assert "\n" not in str(caught.value)


def test_a_first_assessor_who_shares_no_document_is_refused():
    labels = {("q", "d"): {"a": 2, "b": 1}, ("q", "e"): {"c": 1}}
    with pytest.raises(NoOverlapError, match="'c' judged no document that another"):
        fitted(labels, method="one-sided", first="c")


@pytest.mark.parametrize("scale", ["0..1", "magnitude"])
def test_values_without_grades_are_refused(scale):
    labels = {("q", "d"): {"a": 0.5, "b": 0.25}}
    with pytest.raises(ScaleError, match=r"whole grades.*recode"):
        predicted_relevance(judgments_of(labels, scale), rel=1)


def test_of_assessors_on_unlike_scales_it_is_learnt_who_calls_what_relevant():
    rows = [("q", "d", "ann", 3), ("q", "d", "bob", 1), ("q", "e", "ann", 0), ("q", "e", "bob", 0)]
    judgments = Judgments.from_rows(rows, scales={"ann": "0-3", "bob": "0-4"})
    model = predicted_relevance(judgments, rel=1, n_resamples=0)
    assert (model.options.scale, model[0], model[1]) == ("binary", 0, 1)
    assert model.judgments(judgments).value.tolist() == [1, 1, 0, 0]
    with pytest.raises(ArgumentError, match=r"rel=2: it is outside the scale \(binary\)"):
        predicted_relevance(judgments, rel=2)


def test_no_judgment_at_all_is_refused():
    for rows in ([], [("q", "d", "ann", -1)]):
        with pytest.raises(NoOverlapError, match="no judgments"):
            predicted_relevance(Judgments.from_rows(rows), rel=1)


def test_many_grades_are_no_obstacle():
    random = Random(1)
    labels = {("q", f"d{i}"): {who: random.randrange(101) for who in "ab"} for i in range(300)}
    model = predicted_relevance(judgments_of(labels, "0-100"), rel=50, rng=1, n_resamples=10)
    grades = seen(labels)
    assert by_grade(model) == expected(
        oracle.coincidences(listed(labels), grades), grades, {g for g in grades if g > 49}
    )
