"""Variance components where assessors are a model and a prompt."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from numbered_scores import brennan_3, numbered
from oracles import factor_components as oracle
from qrowd.comparison import variance_components
from qrowd.comparison.generalizability import CROSSED
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.model.judgments import Judgments
from qrowd.model.scores import Scores
from qrowd_papers.crossed_components import crossed_components, crossed_terms
from qrowd_papers.factor_components import assessor_factors, judgment_components, score_components

TRUTH = {
    "document": 1.0, "model": 0.3, "prompt": 0.1, "document*model": 0.4, "document*prompt": 0.05, "model*prompt": 0.1,
    "error": 0.5,
}  # fmt: skip


def simulated(rng, n_documents, n_models, n_prompts):
    """(documents, models, prompts) values with the components of TRUTH."""
    shape = (n_documents, n_models, n_prompts)
    values = np.zeros(shape)
    for source, term in zip(TRUTH, crossed_terms(3), strict=True):
        levels = [n if axis in term else 1 for axis, n in enumerate(shape)]
        values = values + rng.normal(0, np.sqrt(TRUTH[source]), levels)
    return values


def judgments_of(values, n_topics=4):
    """The values as judgments of magnitude, documents in turn of n_topics topics; nan is no judgment."""
    nested = {}
    for (d, m, p), value in np.ndenumerate(values):
        if not np.isnan(value):
            nested.setdefault(f"model{m}+prompt{p}", {}).setdefault(f"t{d % n_topics}", {})[f"d{d}"] = float(value)
    return Judgments.from_dict(nested, scales={"*": "magnitude"})


@st.composite
def tables(draw):
    """Three factors of two or three levels, with some values missing."""
    shape = draw(st.tuples(*[st.integers(2, 3)] * 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values = rng.integers(0, 4, shape).astype(float)
    values[rng.random(shape) < draw(st.sampled_from([0.0, 0.1]))] = np.nan
    return values


def test_a_crossed_example_of_brennan_comes_out_as_printed():
    """Synthetic data set no. 3, persons x items x occasions: components as in test_generalizability."""
    components = score_components(numbered(brennan_3()))
    printed = dict(zip(CROSSED, [0.5528, 0.4417, 0.0074, 0.5750, 0.1009, 0.1565, 0.9352], strict=True))
    assert components.factors == ("assessor",)
    assert {source: components.of(source) for source in CROSSED} == pytest.approx(printed, abs=5.1e-5)
    assert components.generalizability() == pytest.approx(variance_components(numbered(brennan_3())).generalizability())


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(tables())
def test_components_solve_the_expectations_that_are_counted_out(values):
    estimates = crossed_components(values, np.ones((1, len(values))))[0]
    if np.isnan(estimates).any():
        return
    table = {key: value for key, value in np.ndenumerate(values) if not np.isnan(value)}
    assert list(oracle.components(table)) == crossed_terms(3)
    assert estimates == pytest.approx(list(oracle.components(table).values()), abs=1e-6)


@given(tables(), st.floats(0.1, 10), st.floats(-5, 5))
def test_other_units_change_estimates_by_the_square_of_the_unit(values, unit, shift):
    weights = np.ones((1, len(values)))
    estimates = crossed_components(values, weights) * unit**2
    assert crossed_components(unit * values + shift, weights) == pytest.approx(estimates, abs=1e-8, nan_ok=True)


@settings(max_examples=settings.default.max_examples // 2)
@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_levels_does_not_matter(values, random):
    weights = np.ones((1, len(values)))
    orders = [random.sample(range(n), n) for n in values.shape]
    estimates = crossed_components(values, weights)
    assert crossed_components(values[np.ix_(*orders)], weights) == pytest.approx(estimates, abs=1e-9, nan_ok=True)


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(tables(), st.integers(0, 2**32 - 1))
def test_what_is_drawn_twice_counts_as_two_documents(values, seed):
    rows = np.random.default_rng(seed).integers(len(values), size=4)
    weights = np.bincount(rows, minlength=len(values))[None].astype(float)
    drawn = crossed_components(values[rows], np.ones((1, 4)))[0]
    assert crossed_components(values, weights)[0] == pytest.approx(drawn, abs=1e-9, nan_ok=True)


def test_simulated_components_are_right_on_average_with_a_tenth_of_the_judgments_missing():
    rng = np.random.default_rng(3)
    estimates = []
    for _ in range(150):
        values = simulated(rng, 40, 5, 6)
        values[rng.random(values.shape) < 0.1] = np.nan
        estimates.append(crossed_components(values, np.ones((1, 40)))[0])
    error = np.std(estimates, axis=0) / np.sqrt(150)
    assert (np.abs(np.mean(estimates, axis=0) - list(TRUTH.values())) < 4 * error).all()


@pytest.mark.nightly
@pytest.mark.parametrize("n", [20, pytest.param(60, marks=pytest.mark.nightly)])
def test_intervals_hold_the_share_of_what_topics_decide(n):
    """Samples of documents, a document to each topic, with models and prompts that stay."""
    rng = np.random.default_rng(5)
    covered = 0
    for seed in range(n):
        values = 5 + rng.normal(0, 1, (60, 1, 1)) + rng.normal(0, 0.7, (60, 3, 1)) + rng.normal(0, 0.5, (60, 3, 4))
        values = np.maximum(values, 0.01)
        components = judgment_components(
            judgments_of(values, 60), factors="{model}+{prompt}", n_resamples=100, rng=seed
        )
        covered += components.low[3] <= 0.49 / (1 + 0.49 + 0.25) <= components.high[3]
    assert components.sources[3] == "document*model"
    assert covered >= binom.ppf(0.01, n, 0.95)  # 53 of 60, 16 of 20


def test_judgments_and_scores_have_the_components_of_their_tables():
    values = np.random.default_rng(1).integers(1, 9, (12, 3, 2)).astype(float)
    values[5, 1, 1] = np.nan
    estimates = crossed_components(values, np.ones((1, 12)))[0]
    judged = judgment_components(judgments_of(values), factors="{model}+{prompt}")
    assert judged.estimate == pytest.approx(estimates, abs=1e-9)
    assert judged.sources == tuple(TRUTH)
    assert (judged.n_topics, judged.n_targets, judged.n_values, judged.n_missing) == (4, 12, 71, 1)
    assert judged.n_levels == (3, 2)
    names = [f"{m}_{p}" for m in range(3) for p in range(2)]
    array = np.random.default_rng(2).random((6, 5, 4))
    scored = score_components(Scores.from_array(array, measure="AP", assessors=names), factors="{model}_{prompt}")
    table = array.reshape(3, 2, 5, 4).transpose(2, 3, 0, 1)  # topic, system, model, prompt
    assert scored.estimate == pytest.approx(crossed_components(table, np.ones((1, 5)))[0])
    assert scored.sources[4:8] == ("system*topic", "topic*model", "topic*prompt", "system*model")
    assert (scored.response, scored.target, scored.n_targets) == ("AP", "system", 4)


def test_shares_add_up_and_disagreement_leaves_out_what_all_assessors_have_in_common():
    components = judgment_components(judgments_of(2 + simulated(np.random.default_rng(1), 30, 3, 3) ** 2),
                                     factors="{model}+{prompt}", n_resamples=50, rng=1)  # fmt: skip
    assert components.share.sum() == pytest.approx(1)
    assert np.isnan(components.disagreement[0])
    assert components.disagreement[1:].sum() == pytest.approx(1)
    assert ((components.low <= components.high) & (components.low >= 0)).all()
    assert components.seed == 1
    assert components.to_frame().source.tolist() == list(TRUTH)


def test_generalizability_is_the_squared_correlation_of_a_panel_with_all_models_and_prompts():
    values = simulated(np.random.default_rng(1), 200, 3, 4) + 20
    components = judgment_components(judgments_of(values), factors="{model}+{prompt}")
    error = components.of("document*model") / 2 + components.of("document*prompt") / 5 + components.of("error") / 10
    expected = components.of("document") / (components.of("document") + error)
    assert components.generalizability(model=2, prompt=5) == pytest.approx(expected)
    assert components.generalizability() == components.generalizability(model=3, prompt=4)
    with pytest.raises(ArgumentError, match="no factor 'assessor'; choose from model, prompt"):
        components.generalizability(assessor=2)


def test_a_pattern_takes_as_little_of_a_name_as_fits():
    names, levels = assessor_factors(["gpt-4.1_12", "a_b_1"], "{model}_{prompt}")
    assert (names, levels) == (("model", "prompt"), [("gpt-4.1", "12"), ("a", "b_1")])


@pytest.mark.parametrize(("assessors", "pattern", "message"), [
    (["a+x", "b"], "{model}+{prompt}", "assessor 'b' does not fit"),
    (["a+x", "b+x"], "{model}+{prompt}", "prompt is 'x' for all assessors; write it instead of {prompt}"),
    (["a"], "{assessor}", "a second assessor is needed"),
    (["a", "b"], "model", "it names no factor"),
    (["a", "b"], "{model}{prompt}", "two factors need text between them"),
    (["a+a", "b+b"], "{model}+{model}", "'model' cannot be a factor here"),
    (["a", "b"], "{topic}", "'topic' cannot be a factor here"),
])  # fmt: skip
def test_a_pattern_that_does_not_fit_the_assessors_is_refused(assessors, pattern, message):
    with pytest.raises(ArgumentError) as refusal:
        assessor_factors(assessors, pattern)
    assert message in str(refusal.value)


def test_prompts_that_only_one_model_got_cannot_be_separated_from_the_model():
    judgments = Judgments.from_dict(
        {name: {"t": {"p": 0, "q": 1, "r": 2}} for name in ("a+x", "a+y", "b+z", "b+w")}, scales={"*": "0-3"}
    )
    with pytest.raises(NoOverlapError, match="too few documents with values of several combinations of model and"):
        judgment_components(judgments, factors="{model}+{prompt}")


def test_scores_of_one_system_are_refused():
    with pytest.raises(ArgumentError, match="1 system; variance among systems needs 2"):
        score_components(numbered(np.ones((2, 3, 1))))
