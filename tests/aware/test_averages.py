"""AWARE itself: scores averaged over assessors, weighted by their accuracies."""

import numpy as np
import pytest
import xarray
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import aware as oracle
from qrowd.aware import NAMES, aware, similarity_to_random
from qrowd.errors import ArgumentError
from qrowd.evaluation import evaluate
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs

nan = float("nan")
few = settings(max_examples=settings.default.max_examples * 3 // 5)  # xarray takes its time

# Section 3: one run, three crowd assessors and the truth, and a recall base of 3 whoever judges.
TOY_RUN = Runs.from_dict({"run": {"t": {f"d{i}": 5.0 - i for i in range(5)}}})
TOY = {"gold": "10100", "one": "11000", "two": "11100", "three": "01101"}


def toy(measure, assessors=("one", "two", "three")):
    rows = [("t", f"d{i}", who, float(v)) for who in assessors for i, v in enumerate(TOY[who])]
    return evaluate(TOY_RUN, Judgments.from_rows(rows), measure).to_xarray()


def test_the_toy_of_the_paper():
    """Printed: AP .5556, .6667, 1.0000 and .5889; uniform AWARE .7518, truncated; 35 % above the truth."""
    single = toy("AP(recall_base=3)", tuple(TOY))
    assert single.values.ravel() == pytest.approx([0.5556, 0.6667, 1.0, 0.5889], abs=5e-5)
    uniform = aware(toy("AP(recall_base=3)"), [1, 1, 1]).values.item()
    assert uniform == pytest.approx((2 / 3 + 1 + (1 / 2 + 2 / 3 + 3 / 5) / 3) / 3)
    assert uniform == pytest.approx(0.75185, abs=5e-6)
    assert uniform / single.sel(assessor="gold").item() - 1 == pytest.approx(0.35, abs=0.005)


def test_the_toy_of_the_paper_with_everyones_own_recall_base():
    assert aware(toy("AP"), [1, 1, 1]).values.item() == pytest.approx(0.8630, abs=5e-5)


def test_only_ratios_of_accuracies_matter():
    scores = toy("AP(recall_base=3)")
    assert aware(scores, [2, 0, 1]).values.item() == pytest.approx((2 * 0.6667 + 0.5889) / 3, abs=5e-5)
    assert aware(scores, [0.2, 0, 0.1]).values.item() == pytest.approx(aware(scores, [2, 0, 1]).values.item())


SCORE = st.one_of(st.none(), st.sampled_from([0.0, 0.1, 0.5, 1.0]))
WEIGHT = st.sampled_from([0.0, 0.0, 0.2, 1.0, 7.0])


@st.composite
def weighted_tables(draw):
    """[assessor][topic] scores of two systems or None, and [assessor][topic] weights."""
    n_assessors, n_topics = draw(st.integers(1, 4)), draw(st.integers(1, 3))

    def table(cell):
        return [[draw(cell) for _ in range(n_topics)] for _ in range(n_assessors)]

    return [[None if x is None else [x, x / 2] for x in row] for row in table(SCORE)], table(WEIGHT)


def as_arrays(tables, weights):
    values = [[[nan, nan] if row is None else row for row in table] for table in tables]
    coords = {
        "assessor": [f"a{i}" for i in range(len(tables))],
        "topic": [f"t{i}" for i in range(len(tables[0]))],
        "system": ["x", "y"],
    }
    scores = xarray.DataArray(values, dims=("assessor", "topic", "system"), coords=coords)
    accuracy = xarray.DataArray(
        np.array(weights, float), dims=("assessor", "topic"), coords={k: coords[k] for k in ("assessor", "topic")}
    )
    return scores, accuracy


@few
@given(weighted_tables())
def test_the_average_is_over_those_with_a_score_and_alike_where_all_accuracies_are_0(given_):
    scores, accuracy = as_arrays(*given_)
    expected = [row or [nan, nan] for row in oracle.aware(*given_)]
    assert aware(scores, accuracy).values[0, 0] == pytest.approx(np.array(expected), nan_ok=True)


@few
@given(weighted_tables())
def test_with_accuracies_above_0_it_reads_as_it_is_meant(given_):
    scores, accuracy = as_arrays(*given_)
    accuracy = accuracy + 0.25
    read = (scores * accuracy).sum("assessor") / accuracy.where(scores.notnull()).sum("assessor")
    assert aware(scores, accuracy).values[0, 0] == pytest.approx(read.values, nan_ok=True)


@few
@given(weighted_tables(), st.permutations(range(4)))
def test_the_order_of_assessors_does_not_matter(given_, order):
    scores, accuracy = as_arrays(*given_)
    order = [i for i in order if i < scores.sizes["assessor"]]
    usual = aware(scores, accuracy)
    for mixed in (aware(scores.isel(assessor=order), accuracy), aware(scores, accuracy.isel(assessor=order))):
        assert mixed.values == pytest.approx(usual.values, nan_ok=True)


def test_an_assessor_without_a_score_or_without_an_accuracy_has_no_part():
    scores, _ = as_arrays([[[0.2, 0.1]], [None], [[0.6, 0.3]]], [[1]] * 3)
    assert aware(scores, [1, 100, 3]).values[0, 0].tolist() == [[pytest.approx(0.5), pytest.approx(0.25)]]
    assert aware(scores, [1, 100, nan]).values[0, 0].tolist() == [[0.2, 0.1]]
    assert aware(scores, [nan, 100, nan]).values[0, 0].tolist() == [[pytest.approx(0.4), pytest.approx(0.2)]]


def test_every_estimator_and_measure_is_averaged_at_once(case):
    similarities = similarity_to_random(case.runs, case.judgments, list(case.measures), n_resamples=2, rng=1)
    accuracy = similarities.accuracies()
    averages = aware(case.scores, accuracy)
    assert averages.assessors == ("uniform", *NAMES)
    assert averages.attributes["conventions"] == case.scores.attrs["conventions"]
    for name in ("uniform", "tpc_rmse_msd", "sgl_apc_med"):
        one = averages.sel(assessor=name)
        assert one.values == pytest.approx(similarities.average(name).values, nan_ok=True)
        assert one.relevant == pytest.approx(similarities.average(name).relevant, nan_ok=True)
    uniform = aware(case.scores, accuracy.sel(estimator="uniform"))
    assert uniform.assessors == ("uniform",)
    assert uniform.values[:, 0] == pytest.approx(case.scores.mean("assessor").values, nan_ok=True)


def test_weights_are_given_by_name_or_in_order():
    scores, _ = as_arrays([[[0.2, 0.1]], [[0.4, 0.3]]], [[1]] * 2)
    assert aware(scores, {"a1": 3, "a0": 1}).values.tolist() == aware(scores, [1, 3]).values.tolist()


def test_weights_that_do_not_fit_the_scores_are_refused():
    scores, accuracy = as_arrays([[[0.2, 0.1], [0.5, 0.5]], [None, [1.0, 0.0]]], [[1, 2], [3, 4]])
    for weights, message in (
        ([1, 2, 3], "one number for each of the 2 assessors was expected"),
        ([1, -1], "weights are 0 or more"),
        (-accuracy, "weights are 0 or more"),
        (accuracy.isel(assessor=[0]), "accuracy: none for assessor a1"),
        (accuracy.isel(topic=[1]), "accuracy: none for topic t0"),
        ({"a0": 1}, "accuracy: none for assessor a1"),
        (accuracy.rename(topic="when"), "accuracy: dimensions assessor, when; assessor, and any of"),
    ):
        with pytest.raises(ArgumentError, match=message):
            aware(scores, weights)
    more = xarray.concat([accuracy, accuracy.assign_coords(assessor=["b0", "b1"])], "assessor")
    assert np.array_equal(aware(scores, more).values, aware(scores, accuracy).values)
