"""Panel measures and the provider "qrowd", by the real ir_measures."""

import subprocess
import sys

import ir_measures
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, RR, P, nDCG

import qrowd
from qrowd.errors import ArgumentError, MeasureError
from qrowd.evaluation import definitions
from qrowd.ir_measures import SD, Assessor, Best, Method, Panel, Provider, Worst
from qrowd.methods import evaluate_methods
from qrowd.model.conventions import Conventions

TOPICS, DOCUMENTS = ("q1", "q2", "q3"), tuple(f"d{i}" for i in range(8))
ASSESSORS = ("ann", "bob", "cyd")
MEASURES = ("nDCG@5", "AP", "AP(rel=2)", "RR", "P@3", "Rprec", "GAP")


def frames(seed):
    """Qrels of three assessors, of whom one did not judge q3, and a run that lacks q2."""
    rng = np.random.default_rng(seed)
    qrels = [
        (topic, document, int(rng.integers(4)), who)
        for who in ASSESSORS
        for topic in TOPICS
        for document in DOCUMENTS
        if (who, topic) != ("cyd", "q3") and (document == "d0" or rng.random() < 0.7)
    ]
    run = [(topic, document, float(rng.random())) for topic in ("q1", "q3", "q9") for document in DOCUMENTS]
    return (
        pd.DataFrame(qrels, columns=["query_id", "doc_id", "relevance", "assessor"]),
        pd.DataFrame(run, columns=["query_id", "doc_id", "score"]),
    )


def by_qrowd(qrels, run, measure, **options):
    return qrowd.evaluate(
        qrowd.Runs.from_frame(run, system="run"), qrowd.Judgments.from_frame(qrels), str(measure), **options
    )


def by_topic(measure, qrels, run):
    return {metric.query_id: metric.value for metric in measure.iter_calc(qrels, run)}


@pytest.mark.parametrize("inner", MEASURES)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (1, 2))])
def test_panel_measures_are_what_evaluate_gives(inner, seed):
    qrels, run = frames(seed)
    scores = by_qrowd(qrels, run, inner)
    values = scores.values[0, :, :, 0]
    expected = {
        Panel: np.nanmean(values, axis=0),
        Worst: np.nanmin(values, axis=0),
        Best: np.nanmax(values, axis=0),
        SD: np.nanstd(values, axis=0, ddof=1),
    }
    for family, by_hand in expected.items():
        computed = by_topic(family(inner), qrels, run)
        assert list(computed) == list(scores.topics)
        np.testing.assert_allclose(list(computed.values()), by_hand, rtol=1e-12, atol=1e-15)
    for a, who in enumerate(ASSESSORS):
        np.testing.assert_array_equal(list(by_topic(Assessor(who, inner), qrels, run).values()), values[a])


def test_a_mean_is_over_the_topics_that_the_assessor_judged():
    qrels, run = frames(0)
    of_two = by_topic(Assessor("cyd", AP), qrels, run)
    assert np.isnan(of_two["q3"])
    assert Assessor("cyd", AP).calc_aggregate(qrels, run) == (of_two["q1"] + of_two["q2"]) / 2


@pytest.mark.parametrize("method", ["majority", "dawid-skene(per='all')", "mean", "uniform"])
def test_a_method_merges_as_evaluate_methods_does(method):
    qrels, run = frames(1)
    runs, judgments = qrowd.Runs.from_frame(run, system="run"), qrowd.Judgments.from_frame(qrels)
    expected = evaluate_methods(runs, judgments, "nDCG@5", methods=method, rng=0)
    computed = by_topic(Method(method, nDCG @ 5), qrels, run)
    assert list(computed) == list(expected.topics)
    np.testing.assert_array_equal(list(computed.values()), expected.values[0, 0, :, 0])


@pytest.mark.parametrize(
    "measure",
    [
        Panel(nDCG @ 10),
        Worst(AP(rel=2)),
        Best("nDCG(dcg='exp-log2')@10"),
        SD(RR),
        Assessor('o\'neil "x"', P @ 5),
        Method("dawid-skene(per='all')", nDCG @ 10),
        ir_measures.parse_measure("GAP"),
        ir_measures.parse_measure("DCG(dcg='exp-log2')@7"),
    ],
    ids=str,
)
def test_the_text_of_a_measure_is_parsed_back(measure):
    again = ir_measures.parse_measure(str(measure))
    assert again == measure
    assert type(again) is type(measure)
    assert again.params == measure.params


@given(st.sampled_from(ASSESSORS), st.sampled_from(MEASURES))
def test_named_and_unnamed_parameters_say_the_same(who, inner):
    assert Assessor(who, inner) == Assessor(measure=inner, assessor=who) == Assessor(who)(measure=inner)


def test_the_provider_scores_plain_measures_as_evaluate_does():
    qrels, run = frames(2)
    alone = qrels[qrels.assessor == "bob"]
    measures = [nDCG @ 5, AP, ir_measures.parse_measure("DCG@5")]
    computed = ir_measures.providers.registry["qrowd"].calc_aggregate(measures, alone, run)
    for measure in measures:
        assert computed[measure] == pytest.approx(by_qrowd(alone, run, measure).values.mean(), abs=1e-15)


@pytest.mark.parametrize(
    "name", [d.name for d in definitions() if hasattr(qrowd.ir_measures, d.name) and not getattr(d, "of_units", False)]
)
def test_each_measure_that_ir_measures_lacks_is_known_to_it_and_scored_by_qrowd(name):
    qrels, run = frames(3)
    alone = qrels[qrels.assessor == "bob"]
    theirs = getattr(qrowd.ir_measures, name)
    measure = theirs @ 3 if theirs.SUPPORTED_PARAMS.get("cutoff", ir_measures.ParamInfo()).required else theirs
    assert ir_measures.parse_measure(str(measure)) == measure
    expected = by_qrowd(alone, run, measure)
    computed = dict(zip(expected.topics, expected.values[0, 0, :, 0], strict=True))
    assert by_topic(measure, alone, run) == pytest.approx(computed, rel=1e-12, nan_ok=True)


def test_panel_measures_and_those_of_other_providers_stand_side_by_side():
    qrels, run = frames(2)
    alone = qrels[qrels.assessor == "ann"].drop(columns="assessor")
    both = ir_measures.calc_aggregate([nDCG @ 5, Panel(nDCG @ 5)], alone, run)
    assert both[nDCG @ 5] == pytest.approx(both[Panel(nDCG @ 5)], abs=1e-12)


def test_all_shapes_of_qrels_and_runs_give_the_same():
    qrels, run = frames(0)
    alone = qrels[qrels.assessor == "ann"]
    as_tuples = [ir_measures.Qrel(q, d, r) for q, d, r, _ in alone.itertuples(index=False)]
    as_dict = {q: dict(zip(part.doc_id, part.relevance, strict=True)) for q, part in alone.groupby("query_id")}
    as_run = {q: dict(zip(part.doc_id, part.score, strict=True)) for q, part in run.groupby("query_id")}
    expected = Panel(AP).calc_aggregate(alone, run)
    for shape in (as_tuples, as_dict, qrowd.Judgments.from_frame(alone)):
        assert Panel(AP).calc_aggregate(shape, as_run) == expected


def test_a_provider_may_score_under_other_conventions():
    qrels, run = frames(0)
    there = Provider(conventions=Conventions(missing="skip")).calc_aggregate([Panel(AP)], qrels, run)[Panel(AP)]
    assert there == pytest.approx(np.mean([by_topic(Panel(AP), qrels, run)[topic] for topic in ("q1", "q3")]))


def test_no_judgments_and_no_results_are_no_error():
    qrels, run = frames(0)
    assert by_topic(Panel(AP), qrels[:0], run) == {}
    assert set(by_topic(Panel(AP), qrels, run[:0]).values()) == {0.0}


def test_assessors_are_asked_for_in_the_qrels():
    assert set(ir_measures.qrel_inputs([Panel(AP)])) == {"query_id", "doc_id", "relevance", "assessor"}
    assert set(ir_measures.qrel_inputs([AP])) == {"query_id", "doc_id", "relevance"}


def test_repeated_judgments_without_assessors_are_refused():
    qrels, run = frames(0)
    with pytest.raises(ArgumentError, match="no column names the assessors; name it assessor"):
        Panel(AP).calc_aggregate(qrels.drop(columns="assessor"), run)


def test_a_plain_measure_of_several_assessors_is_refused_with_what_to_write():
    qrels, run = frames(0)
    with pytest.raises(
        ArgumentError, match=r"of 3 assessors; write Panel\(AP\) for their mean, or Assessor\('ann', AP\)"
    ):
        ir_measures.providers.registry["qrowd"].calc_aggregate([AP], qrels, run)


def test_what_cannot_be_computed_is_refused_at_once():
    qrels, run = frames(0)
    with pytest.raises(MeasureError, match="did you mean"):
        Panel("nDGC@10")
    with pytest.raises(MeasureError, match="method 'majorty' is unknown"):
        Method("majorty", AP)
    with pytest.raises(ArgumentError, match=r"Worst takes no cut-off; .* Worst\(nDCG@10\)"):
        Worst(nDCG) @ 10
    with pytest.raises(ArgumentError, match="Panel: takes measure, not 2 values"):
        Panel(AP, RR)
    with pytest.raises(ArgumentError, match=r"one run at a time; use qrowd\.pyterrier\.Experiment"):
        Method("sgl_rmse_msd", AP).calc_aggregate(qrels, run)
    with pytest.raises(ArgumentError, match="'dan'"):
        Assessor("dan", AP).calc_aggregate(qrels, run)


def test_other_providers_are_asked_first():
    qrels, _ = frames(0)
    alone = qrels[qrels.assessor == "ann"]
    evaluator = ir_measures.evaluator([nDCG @ 5], alone)
    assert type(evaluator).__module__.startswith("ir_measures.")
    assert ir_measures.DefaultPipeline.providers[-1].NAME == "qrowd"


def test_the_command_line_of_ir_measures_has_the_provider(tmp_path):
    qrels, run = frames(0)
    alone = qrels[qrels.assessor == "ann"].assign(zero=0)
    alone[["query_id", "zero", "doc_id", "relevance"]].to_csv(tmp_path / "q", sep=" ", header=False, index=False)
    run.assign(q0="Q0", rank=1, tag="t")[["query_id", "q0", "doc_id", "rank", "score", "tag"]].to_csv(
        tmp_path / "r", sep=" ", header=False, index=False
    )
    command = [sys.executable, "-W", "ignore", "-m", "qrowd.ir_measures", "--provider", "qrowd"]
    done = subprocess.run(
        [*command, tmp_path / "q", tmp_path / "r", "GAP@3"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"GAP@3\t{by_qrowd(alone, run, 'GAP@3').values.mean():.4f}\n"


def test_without_ir_measures_the_message_says_what_to_install():
    script = "import sys; sys.modules['ir_measures'] = None\nimport qrowd.ir_measures"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stderr.endswith("qrowd.ir_measures needs ir_measures; pip install ir_measures\n")
