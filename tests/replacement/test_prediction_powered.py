"""Few topics of people, many of a model: estimates, intervals and systems."""

import numpy as np
import pytest
import scipy.stats
import xarray
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import prediction_powered as oracle
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.evaluation import evaluate
from qrowd.replacement import (
    prediction_powered,
    prediction_powered_difference,
    prediction_powered_means,
)
from qrowd.replacement.prediction_powered import Rule
from qrowd.simulation import simulate_demo

NAN = float("nan")
AGREE = {"cross_fit": False, "published": True}  # ppi-python's conventions
SCORE = st.integers(0, 20).map(lambda value: value / 20)


def drawn(seed, n=25, more=200, rho=0.8, truth=0.4, bias=0.1):
    """Scores of people and of a biased model that correlates with them by rho."""
    random = np.random.default_rng(seed)
    y = random.normal(size=n + more)
    f = rho * y + np.sqrt(1 - rho**2) * random.normal(size=n + more)
    y, f = truth + 0.2 * y, truth + bias + 0.2 * f
    return y[:n], f[:n], f[n:]


@st.composite
def samples(draw, least=3):
    n, more = draw(st.integers(least, 8)), draw(st.integers(2, 10))
    return [draw(st.lists(SCORE, min_size=k, max_size=k)) for k in (n, n, more)]


# ---- arrays


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(samples())
def test_estimate_and_error_are_what_the_formulas_say(arrays):
    y, f, g = arrays
    ratio = len(y) / len(g)
    for target, formula, ratio_ in (
        ("new topics", oracle.prediction_powered, ratio), ("these topics", oracle.for_these_topics, 0.0)
    ):  # fmt: skip
        lams = {"classical": 0.0, "ppi": 1.0, "ppi++": oracle.tuned_lambda(y, f, g, ratio_)}
        for method, lam in lams.items():
            found = prediction_powered(y, f, g, method=method, target=target, cross_fit=False)
            theta, se = formula(y, f, g, lam)
            assert found.lam == pytest.approx(lam, abs=1e-12)
            assert found.estimate == pytest.approx(theta, abs=1e-12)
            assert found.standard_error == pytest.approx(se, abs=1e-7)
            assert found.classical_standard_error == pytest.approx(formula(y, f, g, 0.0)[1], abs=1e-7)
            assert (found.n_assessor_topics, found.n_model_topics) == (len(y), len(g))


@given(samples())
def test_by_default_every_topic_has_the_lambda_that_the_others_tune(arrays):
    found = prediction_powered(*arrays)
    theta, se, lam = oracle.left_one_out(*arrays)
    assert found.estimate == pytest.approx(theta, abs=1e-12)
    assert found.standard_error == pytest.approx(se, abs=1e-7)
    assert found.lam == pytest.approx(lam, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_without_cross_fitting_the_numbers_are_those_of_ppi_python(seed):
    ppi = pytest.importorskip("ppi_py")
    y, f, g = drawn(seed, rho=(0.9, 0.5, 0.0, -0.5, 0.99)[seed])
    for method, lam in (("classical", 0), ("ppi", 1), ("ppi++", None)):
        found = prediction_powered(y, f, g, method=method, **AGREE)
        low, high = ppi.ppi_mean_ci(y, f, g, alpha=0.05, lam=lam)
        theta = np.ravel(ppi.ppi_mean_pointestimate(y, f, g, lam=lam))[0]
        assert found.estimate == pytest.approx(theta, abs=1e-9)
        assert [found.low, found.high] == pytest.approx([low[0], high[0]], abs=1e-9)
    at_90 = prediction_powered(y, f, g, confidence=0.9, **AGREE)
    assert at_90.high == pytest.approx(ppi.ppi_mean_ci(y, f, g, alpha=0.1)[1][0], abs=1e-9)


def test_the_defaults_make_wider_intervals_than_ppi_python_does():
    y, f, g = drawn(1, n=10)
    papers, ours = prediction_powered(y, f, g, **AGREE), prediction_powered(y, f, g)
    assert ours.high - ours.low > papers.high - papers.low
    assert np.isinf(papers.df)
    assert 9 <= ours.df < 9 + 199


@given(samples())
def test_neither_the_order_of_topics_nor_a_constant_bias_of_the_model_matters(arrays):
    y, f, g = map(np.array, arrays)
    found = prediction_powered(y, f, g)
    turned = prediction_powered(y[::-1], f[::-1] + 0.25, g[::-1] + 0.25)
    assert turned.estimate == pytest.approx(found.estimate, abs=1e-9)
    assert turned.standard_error == pytest.approx(found.standard_error, abs=1e-7)


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(samples(), st.sampled_from([0.5, 3.0, 100.0]), st.sampled_from([-1.0, 0.0, 2.0]))
def test_another_unit_is_another_unit_of_the_answer(arrays, unit, zero):
    y, f, g = (unit * np.array(scores) + zero for scores in arrays)
    found, scaled = prediction_powered(*arrays), prediction_powered(y, f, g)
    assert scaled.estimate == pytest.approx(unit * found.estimate + zero, abs=1e-7)
    assert scaled.standard_error == pytest.approx(unit * found.standard_error, abs=1e-5)
    assert scaled.lam == pytest.approx(found.lam, abs=1e-7)


def test_a_model_that_is_right_takes_the_place_of_people_as_far_as_it_goes():
    errors = []
    for more in (25, 100, 1000):
        y, _, g = drawn(3, more=more)
        exact = prediction_powered(y, y, g, method="ppi")
        assert exact.lam == 1
        assert exact.estimate == pytest.approx(g.mean())
        assert exact.standard_error == pytest.approx(g.std(ddof=1) / np.sqrt(more))
        errors.append(prediction_powered(y, y, g).standard_error)
    assert errors[0] > errors[1] > errors[2]
    these = prediction_powered(y, y, g, target="these topics", method="ppi")
    assert these.estimate == pytest.approx(np.concatenate([y, g]).mean())
    assert these.standard_error == pytest.approx(0, abs=1e-12)
    assert these.effective_topics > 1e6
    assert (
        prediction_powered([0.25, 0.75], [0.25, 0.75], [0.5, 1.0], method="ppi", target="these topics").topics_gained
        == np.inf
    )


def test_a_useless_model_is_left_aside():
    y, f, g = drawn(5, n=400, more=4000, rho=0.0)
    found, classical = prediction_powered(y, f, g), prediction_powered(y, f, g, method="classical")
    assert found.lam < 0.1
    assert found.standard_error == pytest.approx(classical.standard_error, rel=0.01)
    assert abs(found.topics_gained) < 0.02 * 400
    constant = prediction_powered(y, np.full(400, 0.3), np.full(4000, 0.3))
    assert (constant.lam, constant.estimate, constant.standard_error) == (
        0,
        pytest.approx(y.mean()),
        pytest.approx(classical.standard_error),
    )
    assert prediction_powered(y, -y, -y).lam == 0


def test_a_good_model_is_worth_topics_and_a_bad_one_fully_trusted_costs_some():
    good, bad = drawn(7, rho=0.9), drawn(7, rho=0.0)
    found = prediction_powered(*good)
    assert found.effective_topics == pytest.approx(25 * (found.classical_standard_error / found.standard_error) ** 2)
    assert found.topics_gained > 25
    assert prediction_powered(*bad, method="ppi").topics_gained < -5
    assert prediction_powered(*good, method="classical").topics_gained == 0


@given(samples())
def test_the_interval_is_a_t_interval_with_satterthwaites_degrees_of_freedom(arrays):
    y, f, g = arrays
    for target, confidence in (("new topics", 0.95), ("these topics", 0.8)):
        found = prediction_powered(y, f, g, method="ppi", target=target, confidence=confidence)
        df = oracle.satterthwaite(y, f, g) if target == "new topics" else len(y) - 1
        if found.standard_error > 1e-9:
            assert found.df == pytest.approx(df)
        half = scipy.stats.t.ppf(0.5 + confidence / 2, found.df) * found.standard_error
        assert [found.low, found.high] == pytest.approx([found.estimate - half, found.estimate + half], abs=1e-9)


def test_two_topics_of_people_say_nothing_of_the_model_that_is_used_with_them():
    found = prediction_powered([0.2, 0.6], [0.3, 0.7], [0.1, 0.9, 0.4])
    assert (found.lam, found.estimate, found.df) == (0, pytest.approx(0.4), 1)


def test_scores_that_never_vary_have_an_interval_without_width():
    found = prediction_powered([0.5] * 3, [0.2] * 3, [0.2] * 4, method="ppi")
    assert (found.low, found.high, found.standard_error, found.df) == (0.5, 0.5, 0, 2)
    assert found.effective_topics == 3


@pytest.mark.parametrize(("n", "least", "most"), [(10, 0.925, 0.965), (25, 0.935, 0.965)])
def test_intervals_hold_the_truth_about_as_often_as_they_say(n, least, most):
    random = np.random.default_rng(11)
    repeats, more = 4000, 60
    y = random.normal(size=(n, repeats))
    noise = random.normal(size=(n + more, repeats))
    f = 0.8 * y + 0.6 * noise[:n] + 0.5
    g = 0.8 * random.normal(size=(more, repeats)) + 0.6 * noise[n:] + 0.5
    held = {}
    for name, options in {"classical": {"method": "classical"}, "ppi": {"method": "ppi"}, "ppi++": {}}.items():
        fit = Rule(**options).fit(y, f, g)
        held[name] = ((fit.low <= 0) & (fit.high >= 0)).mean()
        assert least <= held[name] <= most, (name, held[name])
    plain = Rule(cross_fit=False, published=True).fit(y, f, g)
    assert ((plain.low <= 0) & (plain.high >= 0)).mean() < held["ppi++"]


@pytest.mark.parametrize(("arrays", "options", "message"), [
    (([0.1], [0.2], [0.1, 0.2]), {}, "assessor: 1 topic judged by assessors; 2 or more"),
    (([0.1, 0.3], [0.2, 0.3], [0.1]), {}, "model: 1 topic scored by the model alone"),
    (([0.1, 0.3], [0.2], [0.1, 0.2]), {}, "model: 1 scores for the 2 topics of assessor"),
    (([0.1, NAN], [0.2, 0.3], [0.1, 0.2]), {}, "assessor: a score is not a finite number"),
    (([[0.1, 0.3]], [0.2, 0.3], [0.1, 0.2]), {}, "assessor: one score per topic was expected"),
    (([0.1, 0.3], [0.2, 0.3], [0.1, 0.2]), {"method": "ppi+"}, r"method='ppi\+': choose one of classical, ppi, ppi"),
    (([0.1, 0.3], [0.2, 0.3], [0.1, 0.2]), {"target": "all"}, "target='all'"),
    (([0.1, 0.3], [0.2, 0.3], [0.1, 0.2]), {"confidence": 95}, "confidence=95"),
])  # fmt: skip
def test_arrays_and_options_that_make_no_sense_are_refused(arrays, options, message):
    with pytest.raises(ArgumentError, match=message):
        prediction_powered(*arrays, **options)


def test_people_alone_need_no_topic_of_the_model():
    found = prediction_powered([0.2, 0.6, 0.1], [0.3, 0.7, 0.1], [], method="classical")
    assert (found.estimate, found.n_model_topics) == (pytest.approx(0.3), 0)


# ---- scores

SYSTEMS, TOPICS = ("bm25", "dense", "hybrid"), tuple(f"t{i}" for i in range(12))


def scores_of(seed, topics=TOPICS, systems=SYSTEMS, measure="AP"):
    values = np.random.default_rng(seed).random((len(TOPICS), len(SYSTEMS)))[: len(topics), : len(systems)]
    coords = {"topic": list(topics), "system": list(systems), "measure": measure}
    return xarray.DataArray(values, dims=("topic", "system"), coords=coords)


def test_every_system_is_the_array_of_its_own_topics_matched_by_name():
    assessor, model = scores_of(1).isel(topic=[7, 2, 5, 9]), scores_of(2)
    found = prediction_powered_means(assessor, model.isel(system=[2, 0, 1]), method="ppi")
    assert found.assessor_topics == ("t7", "t2", "t5", "t9")
    assert found.model_topics == tuple(name for name in TOPICS if name not in found.assessor_topics)
    assert found.left_out == ()
    for s, name in enumerate(SYSTEMS):
        f = model.sel(system=name, topic=list(found.assessor_topics)).values
        g = model.sel(system=name, topic=list(found.model_topics)).values
        one = prediction_powered(assessor.sel(system=name).values, f, g, method="ppi")
        row = found.to_frame().iloc[s]
        assert row["system"] == name
        for column in (
            "estimate",
            "standard_error",
            "low",
            "high",
            "lam",
            "df",
            "classical_standard_error",
            "topics_gained",
        ):
            assert row[column] == pytest.approx(getattr(one, column))


def test_the_difference_of_two_systems_is_that_of_their_topics():
    assessor, model = scores_of(1).isel(topic=slice(0, 6)), scores_of(2)
    found = prediction_powered_difference(assessor, model, "hybrid", "bm25", confidence=0.9)
    difference = assessor.sel(system="hybrid") - assessor.sel(system="bm25")
    predicted = model.sel(system="hybrid") - model.sel(system="bm25")
    assert found == prediction_powered(difference.values, predicted[:6].values, predicted[6:].values, confidence=0.9)
    turned = prediction_powered_difference(assessor, model, "bm25", "hybrid", confidence=0.9)
    assert (turned.low, turned.high) == (pytest.approx(-found.high), pytest.approx(-found.low))
    with pytest.raises(ArgumentError, match="are the same; name two"):
        prediction_powered_difference(assessor, model, "bm25", "bm25")
    with pytest.raises(ArgumentError, match="did you mean 'bm25'"):
        prediction_powered_difference(assessor, model, "bm26", "hybrid")


def test_topics_without_a_score_are_named_and_left_out():
    assessor, model = scores_of(1).isel(topic=slice(0, 6)).copy(), scores_of(2).copy()
    assessor[0, 1] = NAN  # one system lacks it
    assessor[1] = NAN  # nobody judged it: the model has it alone
    model[2, 0] = NAN  # the model lacks it
    model[11] = NAN
    found = prediction_powered_means(assessor, model)
    assert found.assessor_topics == ("t3", "t4", "t5")
    assert found.left_out == ("t0", "t2")
    assert found.model_topics == ("t1", "t6", "t7", "t8", "t9", "t10")


def test_scores_as_they_come_from_an_evaluation_are_understood_in_both_forms():
    runs, judgments, truth = simulate_demo()
    people = truth.judgments().select(topics=truth.judgments().topics[:8])
    one = judgments.select(assessors=["ann"])
    scores = [evaluate(runs, each, "AP") for each in (people, one)]
    arrays = [evaluate(runs, each, "AP").to_xarray().mean("assessor") for each in (people, one)]
    plain, labelled = prediction_powered_means(*scores), prediction_powered_means(*arrays)
    assert plain.estimate == pytest.approx(labelled.estimate, abs=1e-12)
    assert plain.assessor_topics == labelled.assessor_topics == people.topics
    two = evaluate(runs, judgments, "AP")
    with pytest.raises(ArgumentError, match="one was expected"):
        prediction_powered_means(two, scores[1])


@pytest.mark.parametrize(("assessor", "model", "error", "message"), [
    (scores_of(1, ("u1", "u2")), scores_of(2), NoOverlapError, "score no topic in common"),
    (scores_of(1, ("t3",)), scores_of(2), ArgumentError, "assessor: 1 topic judged by assessors"),
    (scores_of(1, systems=("bm25", "sparse")), scores_of(2), ArgumentError, "no scores of system"),
    (scores_of(1), scores_of(2, measure="nDCG@10"), ArgumentError, "model: scores of nDCG@10, while assessor has AP"),
    (scores_of(1), scores_of(2), ArgumentError, "model: 0 topics scored by the model alone"),
])  # fmt: skip
def test_scores_that_do_not_go_together_are_refused(assessor, model, error, message):
    with pytest.raises(error, match=message):
        prediction_powered_means(assessor, model)
