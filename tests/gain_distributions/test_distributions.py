"""What a document gains when assessors disagree."""

from math import log, sqrt

import numpy as np
import pytest
import xarray
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles import gain_distributions as oracle
from panels import ASSESSORS, GRADES, MAGNITUDES, judgments_of, panels
from qrowd.gain_distributions import gain_distributions
from qrowd.model.judgments import Judgments

WEIGHTS = st.fixed_dictionaries({who: st.sampled_from((0.5, 1.0, 3.0)) for who in ASSESSORS})
RANGES = ((0.0, 1.0), (0.1, 0.9), (0.25, 0.75))


def said(panel):
    return {document: given for document, given in panel.items() if given}


def assessors_of(panel):
    return {who for given in panel.values() for who in given}


def by_document(made):
    return {made.pool.documents[d]: i for i, d in enumerate(made.pool.document.tolist())}


def of_one(*gains, **options):
    """The distribution of a document that somebody gave each of the gains."""
    rows = [("q", "d", f"a{i}", gain) for i, gain in enumerate(gains)]
    return gain_distributions(Judgments.from_rows(rows, scales={"*": "0..100"}), **options)


@given(panels(), WEIGHTS, st.sampled_from(RANGES))
@settings(max_examples=settings.default.max_examples // 2)
def test_a_documents_gain_is_what_its_assessors_say_in_proportion_to_their_weights(panel, weights, ends):
    assume(said(panel))
    weights = {who: weights[who] for who in assessors_of(panel)}
    made = gain_distributions(judgments_of(panel, "0-3"), weights=weights, interval=ends)
    assert set(by_document(made)) == set(said(panel))
    for document, i in by_document(made).items():
        atoms = [(gain, weights[who]) for who, gain in panel[document].items()]
        expected = oracle.shares(atoms)
        assert made.n[i] == len(atoms)
        assert made.mean[i] == pytest.approx(oracle.mean(expected), abs=1e-12)
        assert made.variance[i] == pytest.approx(oracle.variance(expected), abs=1e-12)
        assert made.lower[i] == oracle.end(atoms, ends[0])
        assert made.upper[i] == oracle.end(atoms, ends[1])
        rows = slice(made.starts[i], made.starts[i + 1])
        found = np.array(sorted(zip(made.gain[rows], made.share[rows], strict=True)))
        assert found == pytest.approx(np.array(sorted(expected)))


@given(panels(), st.permutations(ASSESSORS))
@settings(max_examples=settings.default.max_examples // 2)
def test_who_said_it_does_not_matter(panel, names):
    assume(said(panel))
    renamed = dict(zip(ASSESSORS, names, strict=True))
    other = {document: {renamed[who]: v for who, v in given.items()} for document, given in panel.items()}
    one, two = (gain_distributions(judgments_of(p, "0-3")) for p in (panel, other))
    order = [by_document(two)[document] for document in by_document(one)]
    for name in ("n", "mean", "variance", "lower", "upper"):
        assert getattr(one, name) == pytest.approx(getattr(two, name)[order], abs=1e-14)


@given(panels(), st.sampled_from((0.25, 1.0, 7.0)), st.sampled_from(RANGES), st.sampled_from(("sample", "interval")))
@settings(max_examples=settings.default.max_examples // 2)
def test_equal_weights_are_no_weights(panel, weight, ends, shape):
    assume(said(panel))
    judgments = judgments_of(panel, "0-3")
    one = gain_distributions(judgments, interval=ends, shape=shape)
    two = gain_distributions(judgments, interval=ends, shape=shape, weights={"*": weight})
    for name in ("mean", "variance", "lower", "upper", "share"):
        assert getattr(one, name) == pytest.approx(getattr(two, name), abs=1e-14)


@given(panels(), st.sampled_from(("sample", "interval")))
@settings(max_examples=settings.default.max_examples // 2)
def test_unanimous_assessors_leave_no_spread_whatever_their_weights(panel, shape):
    assume(said(panel))
    level = {document: {who: len(document) * 0.3 for who in given} for document, given in panel.items()}
    weights = {who: 0.1 * (i + 1) for i, who in enumerate(sorted(assessors_of(level)))}
    made = gain_distributions(judgments_of(level, "0..1"), weights=weights, shape=shape)
    assert (made.variance == 0).all()
    assert (made.mean == made.lower).all()


@given(panels(), st.sampled_from((0.5, 3.0)), st.sampled_from(("sample", "interval")))
@settings(max_examples=settings.default.max_examples // 2)
def test_gains_times_a_number_have_mean_and_spread_times_that_number(panel, factor, shape):
    assume(said(panel))
    judgments = judgments_of(panel, "0-3")
    one = gain_distributions(judgments, shape=shape)
    two = gain_distributions(judgments, shape=shape, gains={grade: factor * grade for grade in GRADES})
    for name in ("mean", "sd", "lower", "upper"):
        assert getattr(two, name) == pytest.approx(factor * getattr(one, name), abs=1e-12)


def test_an_interval_is_a_uniform_distribution():
    made = of_one(1, 2, 2, 7, shape="interval")
    assert (made.lower[0], made.upper[0], made.mean[0]) == (1, 7, 4)
    assert made.sd[0] == pytest.approx(6 / sqrt(12))


def test_a_range_leaves_out_the_extremes_by_weight_not_by_head():
    assert of_one(0, 2, 2, 2, 2, 2, 2, 2, 2, 9, interval=(0.11, 0.9)).upper[0] == 2
    assert of_one(0, 2, 2, 2, 2, 2, 2, 2, 2, 9, interval=(0.11, 0.9)).lower[0] == 2
    assert of_one(0, 2, 9, interval=(0.1, 0.9), weights={"a0": 1, "a1": 1, "a2": 18}).lower[0] == 2


# ---- gains


def test_unit_gains_bring_unlike_scales_together():
    rows = [("q", "d", "ann", 1), ("q", "d", "bob", 3), ("q", "d", "cyd", 2), ("q", "e", "cyd", 0)]
    judgments = Judgments.from_rows(rows, scales={"ann": "binary", "bob": "0-3", "cyd": "0-5"})
    made = gain_distributions(judgments, gains="rescaled")
    assert sorted(made.gain[: made.starts[1]]) == pytest.approx([0.4, 1, 1])
    assert made.scale.maximum == 1


@given(panels(MAGNITUDES))
@settings(max_examples=settings.default.max_examples // 2)
def test_log_gains_are_logarithms_and_may_lie_below_0(panel):
    assume(said(panel))
    made = gain_distributions(judgments_of(panel, "magnitude"), gains="log")
    for document, i in by_document(made).items():
        logs = [log(v) for v in panel[document].values()]
        assert made.mean[i] == pytest.approx(sum(logs) / len(logs))
        assert made.lower[i] == pytest.approx(min(logs))


def test_a_map_gives_each_grade_its_gain_and_a_grade_it_does_not_name_its_own():
    made = of_one(1, 2, 3, gains={2: 3, 3: 7})
    assert list(made.gain) == [1, 3, 7]


def test_a_negative_value_is_no_judgment_and_of_repeats_the_first_counts():
    rows = [("q", "d", "ann", -1), ("q", "d", "bob", 2), ("q", "d", "bob", 0), ("q", "e", "ann", -2)]
    judgments = Judgments.from_rows(rows)
    made = gain_distributions(judgments)
    assert list(made.gain) == [2]
    assert made.n_repeats == 1
    assert list(gain_distributions(judgments, repeats="last").gain) == [0]


# ---- weights

ROWS = [("q1", "d", "ann", 3), ("q1", "d", "bob", 0), ("q2", "d", "ann", 1), ("q2", "d", "bob", 2)]


@pytest.mark.parametrize("weights", [
    {"ann": {"q1": 1, "q2": 3}, "bob": {"q2": 1, "q1": 3}},
    np.array([[1.0, 3], [3, 1]]),
    xarray.DataArray([[3.0, 1], [1, 3]], {"topic": ["q2", "q1"], "assessor": ["ann", "bob"]}, ("topic", "assessor")),
])  # fmt: skip
def test_weights_may_differ_from_topic_to_topic_as_the_accuracies_of_aware_do(weights):
    made = gain_distributions(Judgments.from_rows(ROWS), weights=weights)
    assert made.mean == pytest.approx([0.75, 1.25])
    assert made.weighted


@pytest.mark.parametrize("weights", [
    {"b*": 1, "*": 3}, {"ann": 3, "*": 1}, np.array([3.0, 1]), xarray.DataArray([1.0, 3], {"assessor": ["bob", "ann"]}),
])  # fmt: skip
def test_weights_may_be_given_by_pattern_array_or_labels(weights):
    made = gain_distributions(Judgments.from_rows(ROWS), weights=weights)
    assert made.mean == pytest.approx([2.25, 1.25])


def test_an_assessor_of_weight_0_is_not_there_not_even_the_scale():
    judgments = Judgments.from_rows(
        [*ROWS, ("q2", "e", "cyd", 1)], scales={"ann": "0-3", "bob": "0-3", "cyd": "binary"}
    )
    made = gain_distributions(judgments, weights={"cyd": 0, "*": 1})
    assert made.assessors == ("ann", "bob")
    assert made.n.tolist() == [2, 2]


# ---- documents of one judgment

ALONE = [
    *(("q1", "a", "ann", 0), ("q1", "a", "bob", 2)),
    ("q1", "b", "ann", 1),
    *(("q1", "c", "ann", 3), ("q1", "c", "bob", 3)),
    ("q2", "a", "ann", 2),
]


def test_a_document_that_one_assessor_judged_has_no_spread_by_default():
    assert gain_distributions(Judgments.from_rows(ALONE)).variance.tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize(("shape", "several"), [("sample", 1.0), ("interval", 4 / 12)])
def test_pooled_it_has_the_mean_variance_of_the_topics_other_documents_or_of_all_topics(shape, several):
    made = gain_distributions(Judgments.from_rows(ALONE), single="pooled", shape=shape)
    assert made.variance == pytest.approx([several, several / 2, 0, several / 2])
    assert made.mean.tolist() == [1, 1, 3, 2]
    assert (made.upper - made.lower)[[1, 3]] / sqrt(12) == pytest.approx(made.sd[[1, 3]])


def test_pooled_it_has_the_variance_of_the_only_other_document():
    rows = [("q1", "a", "ann", 0), ("q1", "a", "bob", 2), ("q1", "b", "ann", 1)]
    assert gain_distributions(Judgments.from_rows(rows), single="pooled").variance.tolist() == [1, 1]


def test_a_frame_has_one_row_per_document():
    frame = gain_distributions(Judgments.from_rows(ALONE)).to_frame()
    assert list(frame.columns) == ["topic", "document", "n", "mean", "sd", "lower", "upper"]
    assert frame["topic"].tolist() == ["q1", "q1", "q1", "q2"]
    assert frame["document"].tolist() == ["a", "b", "c", "a"]
