"""`qrowd disagreements`: what it shows, the files it writes, and the campaign that settles them."""

import csv
import io
import json
import re
from pathlib import Path

import qrowd as library

PANEL = ["--runs", "panel/runs", "--judgments", *(f"panel/judges/{name}.qrels" for name in ("ann", "bob", "sven"))]
TEXTS = ["--topics", "panel/topics.tsv", "--documents", "panel/documents.jsonl"]


def test_the_documents_are_those_of_the_library_in_their_order(qrowd, folder):
    out = qrowd("disagreements", *PANEL, "-m", "P@10", *TEXTS, "-o", "-").out
    rows = list(csv.DictReader(io.StringIO(out)))
    panel = library.read_judgments(PANEL[3:])
    result = library.disagreements(library.read_runs("panel/runs"), panel, "P@10")
    assert [row["document"] for row in rows] == list(result.documents)
    assert [row["grades"] for row in rows] == list(result.grades)
    assert all(row["text"] and row["query"] for row in rows)


def test_a_terminal_shows_the_first_documents(qrowd, folder):
    outcome = qrowd("disagreements", *PANEL, "--systems", "rerank-llm", "hybrid", "-n", "3")
    assert outcome.status == 0, outcome.err
    assert "documents on which assessors disagree (the first 3 of " in outcome.out


def test_assessors_who_share_no_document_are_told_what_to_do(qrowd, folder, tmp_path):
    lines = (folder / "judges" / "ann.qrels").read_text().splitlines(keepends=True)
    for name, part in (("x", lines[::2]), ("y", lines[1::2])):
        (tmp_path / f"{name}.qrels").write_text("".join(part))
    out = qrowd("disagreements", "--runs", "panel/runs", "--judgments", "x.qrels", "y.qrels").out
    assert out.startswith("No document was judged by two assessors: let a second assessor judge some of the documents.")


def test_of_two_systems_a_note_names_the_pair_and_of_more_each_row_does(qrowd, folder):
    for first, second in (("rerank-llm", "hybrid"), ("hybrid", "rerank-llm")):
        pair = qrowd("disagreements", *PANEL, "--systems", first, second, "-n", "3").out
        assert "first system" not in pair
        assert f"change of the difference, {first} minus {second}, between all assessors" in pair
        sign = "+" if first == "rerank-llm" else "-"  # rerank-llm is ahead, whatever one of these documents is
        assert len(re.findall(rf" \{sign}0\.\d{{4}}  \{sign}0\.\d{{4}} ", pair)) == 3
    every = qrowd("disagreements", *PANEL, "-n", "3").out
    assert "first system" in every
    assert "first minus second system, of the pair with the largest" in every


def test_grades_that_are_thirds_are_shown_with_three_digits(qrowd, folder):
    judges = [f"panel/judges/{name}.qrels" for name in ("ann", "bob", "crowd-1")]
    out = qrowd("disagreements", *PANEL[:2], "--judgments", *judges, "-n", "999").out
    assert " 0.667" in out
    assert "0.6667" not in out


def test_grades_of_several_scales_are_divided_by_the_maximum_as_in_the_report(qrowd, folder):
    judges = [f"panel/judges/{name}.qrels" for name in ("ann", "crowd-1", "llm-a")]
    outcome = qrowd("disagreements", *PANEL[:2], "--judgments", *judges, "-o", "mixed.csv")
    assert outcome.status == 0, outcome.err
    assert "Grades are divided by the maximum of their scale." in outcome.out
    assert "grades: divided by the maximum of their scale, as scales differ" in outcome.out
    assert "no such option: --grades" in qrowd("disagreements", *PANEL, "--grades", "as-is").err
    rows = list(csv.DictReader(io.StringIO(Path("mixed.csv").read_text())))
    conventions = library.Conventions(grades="rescaled")
    panel = library.read_judgments(judges)
    result = library.disagreements(library.read_runs("panel/runs"), panel, conventions=conventions)
    assert [row["document"] for row in rows] == list(result.documents)
    assert [float(row["product"]) for row in rows] == result.product.tolist()


def test_comments_are_written(qrowd, folder):
    Path("few.csv").write_text(
        "topic,document,assessor,value,comment\nq01,q01-00000,ann,3,names the drug\nq01,q01-00000,bob,0,another drug\n"
    )
    arguments = ["disagreements", "--runs", "panel/runs", "--judgments", "few.csv", "--assessor", "column"]
    content = json.loads(qrowd(*arguments, "-o", "-.json").out)
    assert [row["comment"] for row in content["judgments"]] == ["names the drug", "another drug"]


def test_a_name_without_ending_is_the_folder_of_a_campaign(qrowd, folder):
    outcome = qrowd("disagreements", *PANEL, *TEXTS, "-n", "5", "-o", "verdicts")
    assert outcome.status == 0, outcome.err
    assert "next: qrowd campaign create verdicts" in outcome.err
    assert len(Path("verdicts/pool.txt").read_text().splitlines()) == 5
    created = qrowd("campaign", "create", "verdicts")
    assert created.status == 0, created.err


def test_a_folder_without_texts_or_an_unknown_ending_is_refused_before_work(qrowd, folder):
    for output, said in (("verdicts", "give --topics and --documents"), ("verdicts.doc", "ending must be one of")):
        outcome = qrowd("disagreements", *PANEL, "-o", output)
        assert outcome.status == 2
        assert said in outcome.err
        assert outcome.err.count("\n") == 1
        assert not Path(output).exists()
