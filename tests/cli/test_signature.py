"""Every command that shows a result ends with its signature, and the result of Python has the same."""

import pytest

import qrowd as library
from qrowd.model.conventions import Conventions
from qrowd.reports.aggregation import aggregate
from qrowd.reports.agreement_tables import agree, assessors
from qrowd.reports.aware import aware_of
from qrowd.reports.disagreement_tables import on_shared_scale
from qrowd.reports.evaluation import evaluation_of
from qrowd.reports.paper_table import systems_table
from qrowd.reports.prediction import predict_relevance
from qrowd.reports.replacement import replacement_report

PANEL = ("--runs", "panel/runs", "--judgments", "panel/judges")

RESULTS = {
    "evaluate": (
        ("-m", "nDCG@10", "--baseline", "bm25"),
        lambda runs, judged: evaluation_of(runs, judged, ["nDCG@10"], baseline="bm25"),
    ),
    "compare": (
        ("--confidence", "0.9", "--seed", "2", "--ties", "expected"),
        lambda runs, judged: library.compare(
            runs, judged, conventions=Conventions(ties="expected"), confidence=0.9, rng=2
        ),
    ),
    "table": (
        ("-m", "AP", "--marks", "pairs"),
        lambda runs, judged: systems_table(runs, judged, ["AP"], marks="pairs"),
    ),
    "aware": (("-m", "AP", "--n-resamples", "5"), lambda runs, judged: aware_of(runs, judged, ["AP"], n_resamples=5)),
    "plan": (
        ("--budget", "1000", "--topic-cost", "2.5"),
        lambda runs, judged: library.plan(runs, judged, budget=1000, topic_cost=2.5),
    ),
    "disagreements": (
        ("--grades", "rescaled", "--systems", "bm25", "hybrid"),
        lambda runs, judged: library.disagreements(
            runs, judged, systems=("bm25", "hybrid"), conventions=on_shared_scale(Conventions(), judged)
        ),
    ),
    "replace": (
        ("--model", "llm-a", "--eps", "0.1"),
        lambda runs, judged: replacement_report(
            judged, ["llm-a"], runs=runs, eps=0.1, conventions=Conventions(min_coverage=0.1)
        ),
    ),
    "predict": (
        ("--rel", "1", "--n-resamples", "20"),
        lambda runs, judged: predict_relevance(judged, runs=runs, rel=1, n_resamples=20),
    ),
}
OF_JUDGMENTS = {
    "agree": (
        ("--n-resamples", "30", "--resample", "documents"),
        lambda judged: agree(judged, n_resamples=30, resample="documents"),
    ),
    "assessors": ((), assessors),
    "aggregate": (("--method", "dawid-skene"), lambda judged: aggregate(judged, method="dawid-skene")),
}


@pytest.mark.parametrize("command", RESULTS)
def test_the_last_line_is_the_signature_of_the_result(qrowd, folder, command):
    options, function = RESULTS[command]
    outcome = qrowd(command, *PANEL, *options)
    assert outcome.status == 0, outcome.err
    runs, judged = library.read_runs("panel/runs"), library.read_judgments("panel/judges")
    assert outcome.out.splitlines()[-1] == function(runs, judged).signature


@pytest.mark.parametrize("command", OF_JUDGMENTS)
def test_so_it_is_where_there_are_judgments_alone(qrowd, folder, command):
    options, function = OF_JUDGMENTS[command]
    outcome = qrowd(command, "--judgments", "panel/judges", *options)
    assert outcome.out.splitlines()[-1] == function(library.read_judgments("panel/judges")).signature
