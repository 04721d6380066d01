"""Every command that shows a result ends with its signature, and the result of Python has the same."""

import json
import shlex
from pathlib import Path

import pytest

import qrowd as library
from qrowd.model.conventions import Conventions
from qrowd.model.signature import version
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
        ("--systems", "bm25", "hybrid"),
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


@pytest.fixture(scope="module")
def simulated(eight_topics):
    return eight_topics


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize("command", RESULTS)
def test_the_last_line_is_the_signature_of_the_result(qrowd, folder, command):
    options, function = RESULTS[command]
    outcome = qrowd(command, *PANEL, *options)
    assert outcome.status == 0, outcome.err
    runs, judged = library.read_runs("panel/runs"), library.read_judgments("panel/judges")
    assert outcome.out.splitlines()[-1] == function(runs, judged).signature


OTHERS = (
    "demo",
    "prefer agree --preferences panel/preferences.csv",
    "magnitude --judgments panel/magnitudes.csv --gold panel/gold.qrels --normalise median",
    "next --runs panel/runs --question 'bm25 > hybrid' --model panel/judges/llm-a.qrels --scale 0-3",
    "evaluate --runs panel/runs --judgments panel/judges -m AP --exclude 'crowd-*' --method majority",
    "compare --runs panel/runs --judgments panel/judges -m AP --exclude 'crowd-*' 'llm-*' --slots 2 --seed 2",
)
LONGER = (
    "prefer bradley-terry --preferences panel/preferences.csv --n-resamples 3",
    "table --runs panel/runs --judgments panel/judges -m AP --exclude 'crowd-*' 'llm-*' --slots 2",
    "next --runs panel/runs --question best --judgments panel/judges --exclude 'crowd-*' --model llm-a --scale 0-3",
)
FIELDS = {
    "demo": "baseline bm25 | both 10000 | seed 1",
    "prefer agree": "transitivity | topics 25 | assessors 3",
    "prefer bradley-terry": "resample pairs 3 | seed 1",
    "magnitude": "magnitude median | topics 25 | assessors 199 | gold gold",
    "next": 'models llm-a | question "bm25 > hybrid" | scale 0-3 | seed 1',
    "evaluate": (
        "assessors 5 | exclude crowd-* | ties document | unjudged nonrelevant | methods majority | over topics 10000 | "
        "seed 1"
    ),
    "compare": "exclude crowd-* llm-* | slots 2 | ties document | unjudged nonrelevant | both 10000 | seed 2",
    "table": "exclude crowd-* llm-* | slots 2 | ties document | unjudged nonrelevant",
    "next --runs panel/runs --question best": "exclude crowd-* | models llm-a | question best | scale 0-3 | seed 1",
}


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize("line", [*OTHERS, *(pytest.param(line, marks=pytest.mark.nightly) for line in LONGER)])
def test_the_last_line_of_other_commands_is_a_signature_with_their_options(qrowd, folder, line):
    outcome = qrowd(*shlex.split(line))
    assert outcome.status == 0, outcome.err
    name = max((name for name in FIELDS if line.startswith(name)), key=len)
    last = outcome.out.splitlines()[-1]
    assert last.startswith(f"qrowd {version()} | ")
    assert last.endswith(FIELDS[name])


def test_leaderboards_say_what_became_of_missing_scores(qrowd, tmp_path):
    for judge, grades in {"gpt": (2, 1, 1), "nist": (3, 1, 2)}.items():
        rows = [
            {"run_id": system, "topic_id": topic, "measure": "GRADE", "value": grade + (topic == "t1") / 10}
            for system, grade in zip("abc", grades, strict=True)
            for topic in ("t1", "t2", "t3")
        ]
        (tmp_path / f"{judge}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows[1:]))
    boards = ("leaderboards", tmp_path / "gpt.jsonl", tmp_path / "nist.jsonl", "--n-resamples", 20)
    skipped, zero = (qrowd(*boards, *more).out.splitlines()[-1] for more in ((), ("--missing", "zero")))
    assert skipped == f"qrowd {version()} | GRADE | runs 3 | topics 3 | assessors 2 | both 20 | seed 1"
    assert zero == skipped.replace("| both", "| missing zero | both")


def test_a_report_has_it_in_its_foot(qrowd, folder, tmp_path):
    few = ("-m", "AP", "RR", "--n-resamples", 20, "--random-assessors", 2, "-o", tmp_path / "page.html")
    report = qrowd("report", *PANEL, *few).out.splitlines()[-1]
    assert " | AP RR | runs 12 | " in report  # all measures of the page
    assert report.endswith("random-assessors 2 | resamples 20 | seed 1")
    assert f"<code>{report}</code>" in (tmp_path / "page.html").read_text()


def test_files_hold_it_where_a_reader_looks_and_rows_do_not(qrowd, folder):
    qrowd("compare", *PANEL, "-m", "AP", "-o", "x.json")
    signature = json.loads(Path("x.json").read_text())["signature"]
    for name in ("x.txt", "x.tex", "x.md", "x.html", "x.csv"):
        assert qrowd("compare", *PANEL, "-m", "AP", "-o", name).out.splitlines()[-1] == signature
    assert Path("x.txt").read_text().splitlines()[-1] == signature
    assert f"% {signature}" in Path("x.tex").read_text().splitlines()
    assert f"- {signature}" in Path("x.md").read_text().splitlines()
    assert f"<li>{signature}</li>" in Path("x.html").read_text()
    assert "qrowd" not in Path("x.csv").read_text()
    qrowd("table", *PANEL, "-m", "AP", "-o", "table.tex")
    assert sum(line.startswith("% qrowd ") for line in Path("table.tex").read_text().splitlines()) == 1


def test_what_trec_eval_prints_has_none(qrowd, folder):
    outcome = qrowd("trec-eval", "-m", "map", "panel/gold.qrels", "panel/runs/bm25.run")
    assert [line.split()[0] for line in outcome.out.splitlines()] == ["map"]


@pytest.mark.parametrize("command", OF_JUDGMENTS)
def test_so_it_is_where_there_are_judgments_alone(qrowd, folder, command):
    options, function = OF_JUDGMENTS[command]
    outcome = qrowd(command, "--judgments", "panel/judges", *options)
    assert outcome.out.splitlines()[-1] == function(library.read_judgments("panel/judges")).signature
