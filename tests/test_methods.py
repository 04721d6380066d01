"""Approaches: each is what its room makes of the panel."""

from dataclasses import replace

import numpy as np
import pytest

from qrowd import Judgments, Runs, aggregation, evaluate, evaluation
from qrowd.aware import NAMES, similarity_to_random
from qrowd.errors import ArgumentError, MeasureError
from qrowd.files import read_judgments
from qrowd.gain_distributions import agreement_aware_ndcg, gain_distributions, interval_dcg
from qrowd.methods import DEFINITIONS, _side_by_side, evaluate_methods, parse_method
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import concatenate_judgments
from qrowd.predicted_relevance import predicted_relevance
from qrowd.reports.evaluation import evaluation_of, summarise
from qrowd.simulation import simulate_demo, simulate_magnitudes
from real_runs import runs_of

RUNS, PANEL, TRUTH = simulate_demo()
EXPERTS = PANEL.select(assessors=["ann", "bob", "lena", "sven"])
MEASURES = ["nDCG@10", "P@5"]
WHOLE_GRADES = (
    *(f"binary-{model}" for model in ("gpt4", "gpt4o", "llama32")),
    *(f"exam-graded-max-{model}" for model in ("gpt4", "gpt4o")),
    *(f"umbrela-{model}" for model in ("gpt4", "gpt4o", "llama32")),
)


def by(text, **options):
    return evaluate_methods(RUNS, EXPERTS, MEASURES, methods=[text], **{"rng": 1, **options}).values[:, 0]


@pytest.mark.parametrize(
    ("text", "merge"),
    [
        ("majority", lambda j: aggregation.majority_vote(j, rng=1)),
        ("mv(ties=highest)", lambda j: aggregation.majority_vote(j, ties="highest")),
        ("dawid-skene(per=all,smoothing=0.1)", lambda j: aggregation.dawid_skene(j, per="all", smoothing=0.1, rng=1)),
        ("mace(restarts=2)", lambda j: aggregation.mace(j, restarts=2, rng=1)),
        ("mace(prior='uniform')", lambda j: aggregation.mace(j, prior="uniform", rng=1)),
        ("mean", aggregation.mean),
        ("median", aggregation.median),
    ],
)
def test_merging_first_is_evaluating_the_merged_labels(text, merge):
    expected = evaluate(RUNS, merge(EXPERTS).judgments, MEASURES).to_xarray().isel(assessor=0)
    assert by(text) == pytest.approx(expected.values, abs=0)


def test_uniform_is_the_mean_over_assessors_with_something_relevant():
    scores = evaluate(RUNS, EXPERTS, MEASURES, conventions=Conventions(empty="nan")).to_xarray()
    assert by("uniform") == pytest.approx(scores.mean("assessor").values, nan_ok=True)


def test_an_estimator_is_aware_with_its_accuracies():
    similarities = similarity_to_random(RUNS, EXPERTS, MEASURES, n_resamples=10, rng=4)
    for text, options in (
        ("sgl_tau_msd(n_resamples=10)", {}),
        ("sgl_tau_msd(n_resamples=10,polarity=printed,across=all)", {"polarity": "printed", "across": "all"}),
    ):
        assert by(text, rng=4) == pytest.approx(
            similarities.average("sgl_tau_msd", **options).values[:, 0], nan_ok=True
        )


def test_estimators_share_the_random_assessors_they_are_compared_with():
    told = []
    both = ["sgl_tau_msd(n_resamples=10)", "tpc_rmse_md(n_resamples=10)"]
    found = evaluate_methods(RUNS, EXPERTS, MEASURES, methods=both, rng=4, progress=lambda *step: told.append(step))
    assert {name for name, _, total in told if total > 1} == {"sgl_tau_msd(n_resamples=10)"}  # compared once, for both
    for a, text in enumerate(both):
        assert found.values[:, a] == pytest.approx(by(text, rng=4), abs=0, nan_ok=True)


def test_predicted_relevance_is_the_mean_of_expected_gains():
    model = predicted_relevance(EXPERTS, rel=1, n_resamples=0)
    gains = model.with_gains(EXPERTS, grade_gains=model.probability)
    scores = evaluate(RUNS, gains, ["nDCG@10", "P(relevance='given')@5"]).to_xarray()
    assert by("prm(rel=1)") == pytest.approx(scores.mean("assessor").values)


def test_predicted_relevance_is_of_the_assessor_who_judged_everything():
    ann, bob = (EXPERTS.select(assessors=name) for name in ("ann", "bob"))
    second = bob.to_frame().sample(frac=0.2, random_state=1)
    judgments = concatenate_judgments([ann, Judgments.from_frame(second, scales={"*": "0-3"})])
    found = evaluate_methods(RUNS, judgments, ["nDCG@10"], methods=["prm(rel=2)"])
    model = predicted_relevance(judgments, rel=2, n_resamples=0)
    alone = evaluate(RUNS, model.with_gains(ann), ["nDCG@10"])
    assert found.values[0, 0].mean(axis=0) == pytest.approx(alone.values[0, 0].mean(axis=0))
    (warning,) = (text for text in found.attributes["warnings"] if "evaluated" in text)
    assert warning.startswith("predicted-relevance(rel=2): evaluated judgments: 1,000 of 1,200, by ann; ")


def test_agreement_aware_is_ndcg_of_mean_gains():
    found = evaluate_methods(RUNS, EXPERTS, ["nDCG@10"], methods=["agreement-aware"])
    expected = agreement_aware_ndcg(RUNS, gain_distributions(EXPERTS), cutoff=10, normalise="divide")
    assert found.values[0, 0] == pytest.approx(expected.mean)
    assert found.measures == ("nDCG@10",)


def test_agreement_aware_says_how_far_assessors_disagree_about_each_system():
    text = "agreement-aware(cumulate=mixture)"
    summary = evaluation_of(RUNS, EXPERTS, ["nDCG(dcg='original')@10"], methods=["majority", text])
    found = summary.to_frame(what="disagreement").set_index("system")
    gains = gain_distributions(EXPERTS)
    options = {"cutoff": 10, "dcg": "original"}
    expected = agreement_aware_ndcg(RUNS, gains, normalise="divide", cumulate="mixture", **options)
    systems = expected.to_frame(what="systems").set_index("system")
    for column in ("mean", "sd"):
        assert found[column].tolist() == pytest.approx(systems[column].tolist())
    within = interval_dcg(RUNS, gains, **options)
    low = (within.lower / (expected.constant * expected.ideal[:, None])).mean(axis=0)
    assert found["low"].tolist() == pytest.approx(low.tolist())
    assert (found["low"] <= found["mean"]).all()
    assert (found["mean"] <= found["high"]).all()


def test_equal_assessors_have_one_standard_error_and_no_score_below_0():
    """The s.d. of a mixture is no error: two equal assessors had .1798 beside the .0445 of the topics."""
    ann = EXPERTS.select(assessors="ann")
    again = replace(ann, assessors=("again",))
    twice = concatenate_judgments([ann, again])
    summary = evaluation_of(RUNS, twice, ["nDCG@10"], methods=["agreement-aware(cumulate=mixture)"])
    found = summary.to_frame(what="disagreement")
    assert list(found) == ["method", "measure", "system", "mean", "sd", "low", "high"]
    systems = summary.to_frame(what="systems").set_index("system")
    alone = evaluation_of(RUNS, ann, ["nDCG@10"]).to_frame(what="systems").set_index("system")
    assert systems["standard_error"].to_dict() == pytest.approx(alone["standard_error"].to_dict())
    assert (found["mean"] >= 0).all()
    assert found["low"].tolist() == pytest.approx(found["high"].tolist())


def test_the_interval_of_a_ratio_is_over_the_ideal():
    summary = evaluation_of(RUNS, EXPERTS, ["nDCG@10"], methods=["agreement-aware"])
    gains = gain_distributions(EXPERTS)
    within, expected = interval_dcg(RUNS, gains, cutoff=10), agreement_aware_ndcg(RUNS, gains, cutoff=10)
    high = (within.upper / (expected.constant * expected.ideal[:, None])).mean(axis=0)
    assert summary.to_frame(what="disagreement")["high"].tolist() == pytest.approx(high.tolist())


def test_the_geometric_mean_is_for_magnitudes():
    magnitudes = simulate_magnitudes(TRUTH, 70, rng=1)
    expected = evaluate(RUNS, aggregation.geometric_mean(magnitudes).judgments, ["nDCG@10"]).to_xarray()
    found = evaluate_methods(RUNS, magnitudes, ["nDCG@10"], methods=["geometric-mean"])
    assert found.values[0, 0] == pytest.approx(expected.values[0, 0], nan_ok=True)


@pytest.mark.parametrize("name", [d.name for d in DEFINITIONS if d.name != "geometric-mean"])
def test_every_method_scores_every_system_on_every_topic(name):
    text = {"predicted-relevance": "prm(rel=1)"}.get(name, f"{name}(n_resamples=2)" if name in NAMES else name)
    found = evaluate_methods(RUNS, EXPERTS, ["nDCG@10"], methods=[text])
    assert found.values.shape == (1, 1, 25, 12)
    assert ((found.values >= 0) & (found.values <= 1 + 1e-12)).all()
    assert parse_method(str(parse_method(text))) == parse_method(text)


def test_topics_are_put_side_by_side_by_name_also_where_one_method_has_fewer():
    one = Judgments.from_rows([("q02", "d", "merged", 1)])
    few = evaluation.evaluate(Runs.from_dict({"s": {"q02": {"d": 1.0}}}), one, ["P@1"])
    all_ = evaluation.evaluate(
        Runs.from_dict({"s": {"q01": {"d": 1.0}, "q02": {"e": 1.0}}}),
        Judgments.from_rows([("q01", "d", "x", 1), ("q02", "d", "x", 1)]),
        ["P@1"],
    )
    found = _side_by_side(("few", "all"), [few, all_], {})
    assert found.topics == ("q02", "q01")
    assert found.values[0, :, :, 0].tolist() == [[1, pytest.approx(np.nan, nan_ok=True)], [0, 1]]


def test_scores_by_method_tell_what_they_are():
    found = evaluate_methods(RUNS, EXPERTS, MEASURES, methods=["majority", "prm(rel=1)"], rng=9)
    assert found.assessors == ("majority", "predicted-relevance(rel=1)")
    assert found.attributes["seed"] == 9
    assert any("p(R|0)" in warning for warning in found.attributes["warnings"])
    summary = summarise(found)
    assert summary.noun == "method"
    assert "methods" in summary.sentence
    assert set(found.attributes["scales"]) == set(EXPERTS.assessors)


def test_unit_grades_bring_unlike_scales_together_before_merging():
    several = PANEL.select(assessors=["ann", "crowd-1"])
    found = evaluate_methods(RUNS, several, ["nDCG@10"], methods=["mean"], conventions=Conventions(grades="rescaled"))
    expected = evaluate(RUNS, aggregation.mean(several.rescaled()).judgments, ["nDCG@10"]).to_xarray()
    assert found.values[0, 0] == pytest.approx(expected.values[0, 0])


def test_what_is_not_a_method_is_refused():
    with pytest.raises(MeasureError, match=r"method 'majorty' is unknown; did you mean 'majority'\?"):
        by("majorty")
    with pytest.raises(MeasureError, match="polarity must be one of 'dissimilarity', 'printed'"):
        by("sgl_tau_msd(polarity=up)")
    with pytest.raises(ArgumentError, match="methods: none"):
        evaluate_methods(RUNS, EXPERTS, MEASURES, methods=[])


@pytest.mark.nightly
def test_dl21s_leader_by_majority_is_no_matter_of_the_coin(dl21):
    """On their own scales (0/1, 0-3, 0-5) the eight judges of whole grades and NIST never tie on what is relevant; as
    numbers on one scale they leave 1,505 of 10,828 documents to the coin."""
    files = {name: dl21 / "judges" / f"{name}.qrels.gz" for name in WHOLE_GRADES}
    judgments = read_judgments({"nist": dl21 / "qrels.nist.txt", **files})
    assert len(set(map(str, judgments.scales))) == 3
    runs = runs_of(dl21)
    leaders = set()
    for seed in (1, 2, 3):
        scores = evaluate_methods(runs, judgments, ["nDCG@10"], methods=["majority"], rng=seed)
        assert scores.attributes["combined"] == {"majority": "relevant"}
        leaders.add(scores.systems[int(scores.values[0, 0].mean(axis=0).argmax())])
    assert leaders == {"pash_f1"}
    assert aggregation.majority_vote(judgments, rng=1).n_ties == 0
    assert aggregation.majority_vote(judgments, rng=1, combine_scales="as-is").n_ties == 1_505
