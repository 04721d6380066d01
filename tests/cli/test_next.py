"""`qrowd next`: a question, batches, answers, and a decision."""

import csv
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from qrowd.files import read_judgments, read_runs
from qrowd.reports.next_judgment_tables import differences_table
from qrowd.sequential import read_design
from qrowd.sequential.question import Question, Statement
from qrowd_server.campaigns.plan.folder import read_folder

QUESTION = ["next", "--runs", "panel/runs", "--question", "rerank-llm > tf-idf"]
MODEL = ["--model", "panel/judges/llm-a.qrels"]
pytestmark = pytest.mark.usefixtures("coarse")
DESIGN_WRITTEN = "wrote next.json: what was drawn, for the next call; another question needs --design\n"


@pytest.fixture
def panel(folder, tmp_path):
    """A panel in the current folder; and a function that answers for what was drawn."""
    Path("panel").exists() or Path("panel").symlink_to(folder)
    grades = read_judgments("panel/gold.qrels").to_dict(assessor="gold")

    def answer(n=None, design="next.json"):
        drawn = read_design(design).to_frame()
        pairs = list(zip(drawn["topic"], drawn["document"], strict=True))[:n]
        rows = [f"{topic},{document},ann,{int(grades[topic].get(document, 0))}" for topic, document in pairs]
        Path("people.csv").write_text("\n".join(["topic,document,assessor,grade", *rows]) + "\n")

    return answer


def batch(path="batch.csv"):
    with open(path, newline="") as file:
        return [(row["topic"], row["document"]) for row in csv.DictReader(file)]


@pytest.mark.parametrize(("n_open", "title"), [
    (30, "(20 of 30, the smallest), of 1,200 pairs of systems"),
    (20, ", of 1,200 pairs of systems"),
    (1200, "(20 of 1,200, the smallest)"),
])  # fmt: skip
def test_the_title_says_how_many_differences_are_open_and_how_many_there_are(n_open, title):
    n = 1200
    low = np.where(np.arange(n) < n_open, -1.0, 0.1)
    counts = np.zeros(n, int)
    question = Question.read("best", ("a", "b"))
    pairs = (("a",) * n, ("b",) * n)
    statement = Statement(question, "P@1", 0.95, "", False, *pairs, low + 1, low, low + 2, counts, counts, ())
    assert differences_table(statement).title == f"P@1: differences that are open{' ' * (title[0] == '(')}{title}"


def test_a_question_is_asked_judged_and_decided(qrowd, panel):
    first = qrowd(*QUESTION, *MODEL, "--scale", "0-3", "-o", "batch.csv")
    assert first.status == 0, first.err
    assert "Open: rerank-llm - tf-idf is " in first.out
    assert len(batch()) == 20
    assert first.err == f"{DESIGN_WRITTEN}wrote batch.csv\n"
    assert (
        "seed: 1; 0 documents drawn before this call; the batch holds what nobody judged of these and of 20 more"
        in first.out
    )
    panel()
    second = qrowd(*QUESTION, *MODEL, "--judgments", "people.csv", "-n", "100", "-o", "batch.csv")
    assert len(batch()) == 100
    assert "20 of 401 documents judged" in second.out
    assert (
        "seed: 1; 20 documents drawn before this call; the batch holds what nobody judged of these and of 100 more"
        in second.out
    )
    looked = qrowd(*QUESTION, *MODEL, "--judgments", "people.csv").out
    assert "120 documents drawn before this call; the batch holds what nobody judged of these and of 0 more" in looked
    panel()
    last = qrowd(*QUESTION, *MODEL, "--judgments", "people.csv", "-o", "batch.csv")
    assert last.out.startswith(
        "rerank-llm is better than tf-idf by nDCG@10 on these topics for those who judged, with confidence 0.95"
    )
    assert "differences that decide the question" in last.out
    assert Path("batch.csv").read_text() == "topic,document,order,probability\n"  # nothing more is drawn
    assert len(read_design("next.json").to_frame()) == 120
    assert "so far: 120 judgments by 1 assessor\n" in last.out


def test_a_decided_question_has_an_empty_batch_and_no_campaign(qrowd, panel):
    judge = ["--model", "panel/judges/llm-a.qrels", "--scale", "0-3"]
    asked = ["next", "--runs", "panel/runs", "--question", "rerank-llm > tf-idf", "-m", "P@1", "--judgments"]
    everything = Path("everything.csv")
    grades = read_judgments("panel/gold.qrels").to_dict(assessor="gold")
    runs = read_runs("panel/runs").to_frame()
    pairs = {(topic, document) for topic, document in zip(runs["topic"], runs["document"], strict=True)}
    rows = [f"{topic},{document},ann,{int(grades[topic].get(document, 0))}" for topic, document in sorted(pairs)]
    everything.write_text("\n".join(["topic,document,assessor,grade", *rows]) + "\n")
    for name, content in (("b.csv", "topic,document,order,probability\n"), ("b.jsonl", ""), ("b.json", "[]\n")):
        outcome = qrowd(*asked, everything, *judge, "-o", name)
        assert "Nothing more needs to be judged for it." in outcome.out
        assert (outcome.status, outcome.err) == (0, f"wrote {name}\n")
        assert Path(name).read_text() == content
    texts = ["--topics", "panel/topics.tsv", "--documents", "panel/documents.jsonl"]
    outcome = qrowd(*asked, everything, *judge, *texts, "-o", "folder")
    assert (outcome.status, outcome.err) == (0, "nothing is left to judge: folder is not written\n")
    assert not Path("folder").exists()


def test_the_statement_is_written_to_a_file_of_its_own(qrowd, panel):
    asked = [*QUESTION, *MODEL, "--scale", "0-3"]
    shown = qrowd(*asked, "--statement", "now.html")
    assert shown.err == "wrote now.html\n"
    sentence = shown.out.splitlines()[0]
    page = Path("now.html").read_text()
    assert "<h1>rerank-llm &gt; tf-idf</h1>" in page
    assert f"<p>{sentence}</p>" in page
    assert "<li>command: qrowd " in page
    assert "command: " not in shown.out
    assert not Path("next.json").exists()  # a statement draws nothing
    both = qrowd(*asked, "-o", "batch.csv", "--statement", "now.json")
    assert both.err == f"{DESIGN_WRITTEN}wrote batch.csv\nwrote now.json\n"
    assert both.out.splitlines()[0] == sentence
    content = json.loads(Path("now.json").read_text())
    assert content["sentence"] == sentence
    assert [row["first"] for row in content["differences"]] == ["rerank-llm"]
    table = qrowd(*asked, "--statement", "-")
    (row,) = csv.DictReader(table.out.splitlines())
    assert (row["first"], row["second"], row["n_documents"]) == ("rerank-llm", "tf-idf", "401")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--statement", "now"], "output now: the ending must be one of "),
        (["--statement", "next.json"], "--statement next.json: this is the file of --design; name another"),
        (["--statement", "./b.csv", "-o", "b.csv"], "--statement ./b.csv: this is the file of -o; name another"),
        (["-o", "next.json"], "-o next.json: this is the file of --design; name another"),
        (["--design", "b.json", "-o", "./b.json"], "-o ./b.json: this is the file of --design; name another"),
        (["--statement", "-", "-o", "-"], "--statement -: standard output takes the batch; name a file for one of"),
    ],
)
def test_no_file_replaces_another_of_the_same_call(qrowd, panel, arguments, said):
    outcome = qrowd(*QUESTION, *MODEL, "--scale", "0-3", *arguments)
    assert outcome.status == 2
    assert said in outcome.err
    assert outcome.err.count("\n") == 1
    assert not Path("next.json").exists()


def test_a_question_that_the_tolerance_decides_shows_its_difference(qrowd, panel):
    out = qrowd(*QUESTION, *MODEL, "--scale", "0-3", "--tolerance", "3").out
    header, row = out.partition("\nnDCG@10: differences that decide the question\n")[2].splitlines()[:2]
    assert header.startswith("system ")
    assert row.split()[:2] == ["rerank-llm", "tf-idf"]


def test_the_notes_name_each_convention_in_force(qrowd, panel):
    out = qrowd(*QUESTION, *MODEL, "--scale", "0-3", "--tolerance", "0.01").out
    for note in (
        "target: mean nDCG@10 on these 25 topics",
        "confidence: 0.95 that the answer is right, however often one looks\n",
        "people: scale 0-3; a gain is the mean of those who judge the document; other people may prefer another",
        "predicted from judgments of 1 model",
        "normaliser: ",
        "tolerance: 0.01",
        "seed: 1",
    ):
        assert note in out
    assert not Path("next.json").exists()  # without -o nothing is drawn


def test_the_same_inputs_give_the_same_batch_and_what_is_not_judged_comes_first(qrowd, panel):
    qrowd(*QUESTION, *MODEL, "--scale", "0-3", "-o", "batch.csv")
    first, design = batch(), Path("next.json").read_text()
    qrowd(*QUESTION, *MODEL, "-o", "batch.csv")
    assert batch() == first
    assert Path("next.json").read_text() == design
    panel(5)
    outcome = qrowd(*QUESTION, *MODEL, "--judgments", "people.csv", "-o", "batch.csv")
    assert batch()[:15] == first[5:]
    assert "15 of them drawn before" in outcome.out


def test_judgments_after_a_gap_are_held_back_and_this_is_said(qrowd, panel):
    qrowd(*QUESTION, *MODEL, "--scale", "0-3", "-o", "batch.csv")
    panel()
    lines = Path("people.csv").read_text().splitlines(keepends=True)
    Path("people.csv").write_text("".join(lines[:3] + lines[4:]))
    out = qrowd(*QUESTION, *MODEL, "--judgments", "people.csv").out
    assert "held back: 17 judgments" in out


def test_an_interruption_between_design_and_batch_loses_nothing(qrowd, panel, monkeypatch):
    def interrupted(*args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("os._exit", sys.exit)  # `run` ends so
        patch.setattr("qrowd.cli.next._write", interrupted)
        interruption = qrowd(*QUESTION, *MODEL, "--scale", "0-3", "-o", "batch.csv")
    assert interruption.status == 130
    expected = "interrupted; the design was written to next.json; the same call writes the same batch"
    assert expected in interruption.err
    assert len(read_design("next.json").to_frame()) == 20
    assert not Path("batch.csv").exists()
    outcome = qrowd(*QUESTION, *MODEL, "-o", "batch.csv")
    assert outcome.status == 0
    assert len(batch()) == 20


def test_documents_that_nobody_can_judge_do_not_hold_back_the_others(qrowd, panel):
    qrowd(*QUESTION, *MODEL, "--scale", "0-3", "-o", "batch.csv")
    panel()
    lines = Path("people.csv").read_text().splitlines(keepends=True)
    Path("people.csv").write_text("".join(lines[:3] + lines[4:]))
    topic, document = batch()[2]
    Path("broken.csv").write_text(f"topic,document\n{topic},{document}\n")
    arguments = [*QUESTION, *MODEL, "--judgments", "people.csv", "--unjudgeable", "broken.csv"]
    first = qrowd(*arguments, "-o", "batch.csv")
    assert first.status == 0, first.err
    assert "(19 of 401 documents judged; 1 document that nobody can judge counts as not relevant)" in first.out
    assert "unjudgeable: 1 document that nobody can judge counts as not relevant, as documents" in first.out
    assert "held back" not in first.out
    drawn = batch()
    assert (topic, document) not in drawn
    qrowd(*arguments, "-o", "batch.csv")
    assert batch() == drawn


def texts():
    drawn = read_design("next.json")
    topics = [{"topic": topic, "title": f"query {topic}"} for topic in dict.fromkeys(drawn.topics)]
    documents = [{"docid": document, "text": f"text of {document}"} for document in dict.fromkeys(drawn.documents)]
    for name, rows in (("topics", topics), ("documents", documents)):
        Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return ["--topics", "topics.jsonl", "--documents", "documents.jsonl"]


def test_tasks_for_label_studio_are_read_back_as_judgments(qrowd, panel):
    qrowd(*QUESTION, *MODEL, "--scale", "0-3", "-o", "batch.csv")
    qrowd(*QUESTION, *MODEL, *texts(), "-o", "batch.json")
    tasks = json.loads(Path("batch.json").read_text())
    assert tasks[0]["data"]["query"] == f"query {tasks[0]['data']['topic']}"
    assert tasks[0]["data"]["text"] == f"text of {tasks[0]['data']['document']}"
    for task in tasks:
        result = [{"from_name": "grade", "type": "rating", "value": {"rating": 2}}]
        task["annotations"] = [{"completed_by": "ann", "result": result}]
    Path("export.json").write_text(json.dumps(tasks))
    outcome = qrowd(*QUESTION, *MODEL, "--judgments", "export.json")
    assert outcome.status == 0, outcome.err
    assert "20 of 401 documents judged" in outcome.out


def test_a_folder_is_a_campaign_of_the_batch(qrowd, panel):
    qrowd(*QUESTION, *MODEL, "--scale", "0-3", "-o", "batch.csv")
    outcome = qrowd(*QUESTION, *MODEL, *texts(), "-o", "first-batch")
    assert "next: qrowd campaign create first-batch" in outcome.err
    plan = read_folder("first-batch")
    assert plan.name == "first-batch"
    assert {(topic, document) for topic, document in batch()} == {
        tuple(line.split()) for line in Path("first-batch/pool.txt").read_text().splitlines()
    }


def test_the_batch_goes_to_standard_output_alone(qrowd, panel):
    out = qrowd(*QUESTION, *MODEL, "--scale", "0-3", "-n", "3", "-o", "-").out
    assert [len(line.split(",")) for line in out.splitlines()] == [4] * 4
    lines = qrowd(*QUESTION, *MODEL, "-n", "3", "-o", "-.jsonl").out.splitlines()
    assert [set(json.loads(line)) for line in lines] == [{"topic", "document", "order", "probability"}] * 3


def test_models_may_be_assessors_of_the_judgments(qrowd, panel):
    arguments = ["--judgments", "panel/judges", "--scale", "0-3", "llm-*=0..1"]
    outcome = qrowd(*QUESTION, "--model", "llm-a", "sven", *arguments)
    assert outcome.status == 0, outcome.err
    assert "predicted from judgments of 2 models" in outcome.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--scale", "0-3", "--question", "rerank-lm > hybrid"], "question: there is no system 'rerank-lm'; did you"),
        (["--question", "best"], "scale: which values people may still give is not known; declare"),
        (["--question", "best", "--scale", "0-3", "-m", "Bpref"], "Bpref: is neither a weighted sum of gains by"),
        (["--question", "best", "--scale", "0-3", "-o", "x.txt"], "output x.txt: expected .csv or .jsonl"),
        (["--question", "best", "--scale", "0-3", "-o", "x"], "output x: a name without ending is the folder of a"),
        (["--question", "best", "--scale", "0-3", "--model", "no"], "no: there is no such file"),
        (["--question", "best", "--scale", "0-3", "--design", "panel/gold.qrels"], "is no design of qrowd next"),
        (["--question", "best", "--scale", "0-3", "0-2"], "--scale 0-3 0-2: people judge on one scale; give one"),
    ],
)
def test_a_mistake_is_refused_in_one_line_with_the_next_step(qrowd, panel, arguments, said):
    outcome = qrowd("next", "--runs", "panel/runs", *arguments)
    assert outcome.status == 2
    assert said in outcome.err
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--question", "best"],
            "design: that of next.json or of --design is for the question 'rerank-llm > tf-idf', ",
        ),
        (["--question", "best of bm25, tf-idf"], "; name a new file by --design"),
        (["-m", "DCG@10"], "or of --design is for the measure 'nDCG@10', not for 'DCG@10'; name a new file"),
        (["--scale", "0-2"], "or of --design is for the scale '0-3', not for '0-2'"),
        (["--model", "few.qrels"], "design: it is of other runs: "),
    ],
)
def test_a_design_of_something_else_is_refused(qrowd, panel, arguments, said):
    qrowd(*QUESTION, *MODEL, "--scale", "0-3", "-o", "batch.csv")
    lines = Path("panel/judges/llm-a.qrels").read_text().splitlines(keepends=True)
    Path("few.qrels").write_text("".join(line for line in lines if line.startswith("q01 ")))
    rest = ["next", "--runs", "panel/runs", *(QUESTION[3:] if "--question" not in arguments else [])]
    rest += MODEL if "--model" not in arguments else []
    outcome = qrowd(*rest, *arguments)
    assert outcome.status == 2
    assert said in outcome.err
