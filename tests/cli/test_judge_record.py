"""`--record`: what became of the questions to models, in `qrowd evaluate` and `qrowd report`."""

import json

import pytest

from qrowd.files import read_runs
from qrowd.judge import ask_models


@pytest.fixture
def asked(folder, tmp_path):
    """Judgments of a model that fails on the documents at rank 1 of one system, and their record."""
    runs = read_runs("panel/runs").select(systems=["bm25", "splade"])
    topics, texts = dict.fromkeys(runs.topics, "query"), {document: document for document in runs.documents}
    fails = {next(iter(ranked)) for ranked in runs.to_dict()["splade"].values()}

    def model(request):
        text = request.messages[-1].content
        return "I cannot" if any(f"\n{document}\n" in text for document in fails) else "1"

    answers = ask_models(topics, texts, runs, model, "graded", depth=3, record="judge.sqlite")
    (tmp_path / "judged.csv").write_text(answers.judgments.to_frame().to_csv(index=False))
    return ("--runs", "panel/runs/bm25.run", "panel/runs/splade.run", "--judgments", "judged.csv")


def test_evaluate_shows_the_share_of_each_system(qrowd, asked, tmp_path):
    outcome = qrowd("evaluate", *asked, "-m", "nDCG@10", "AP", "--record", "judge.sqlite")
    assert outcome.status == 0, outcome.err
    table = outcome.out.partition("questions to models on the documents of each system")[2]
    shares = {line.split()[0]: float(line.split()[2]) for line in table.splitlines()[2:4]}
    assert shares["splade"] > shares["bm25"]
    assert "unanswered: what a question without an answer is about is unjudged" in outcome.out
    assert qrowd("evaluate", *asked, "--record", "judge.sqlite", "-o", "e.json").status == 0
    assert {row["system"] for row in json.loads((tmp_path / "e.json").read_text())["unanswered"]} == set(shares)


def test_what_is_no_record_is_refused_in_one_line(qrowd, asked):
    outcome = qrowd("evaluate", *asked, "--record", "judged.csv")
    assert outcome.status == 2
    assert outcome.err.startswith("qrowd: judged.csv: ")
    assert outcome.err.count("\n") == 1


def test_status_has_counts_by_model_and_the_worst_topics_and_says_what_it_leaves_out(qrowd, asked, tmp_path):
    outcome = qrowd("judge", "status", "judge.sqlite", "--runs", "panel/runs/bm25.run", "panel/runs/splade.run")
    assert outcome.status == 0, outcome.err
    _, models, systems, topics = outcome.out.split("\n\n")[:4]
    header, row = (line.split("  ") for line in models.splitlines()[1:3])
    assert [cell.strip() for cell in header if cell][-2:] == ["ok", "unparsable"]
    assert row[-1].endswith(" %")
    assert [line.split()[2] for line in systems.splitlines()[2:]] == ["splade", "bm25"]
    assert len(topics.splitlines()) == 12
    assert "topics: 10 of 25 with failures are shown; all: -o FILE.json" in outcome.out
    assert qrowd("judge", "status", "judge.sqlite", "-o", "s.json").status == 0
    assert len(json.loads((tmp_path / "s.json").read_text())["topic"]) == 25
