"""`qrowd study`: which studies there are, and their analyses of files."""

import json

import pytest

from qrowd import plugins


def test_the_studies_are_listed_with_a_sentence_each(qrowd):
    outcome = qrowd("study", "--help")
    assert outcome.status == 0
    assert "AWARE: assessors weighted by their distance from random ones." in " ".join(outcome.out.split())
    assert "did you mean 'aware'?" in qrowd("study", "awhere").err


def test_without_qrowd_papers_one_line_says_what_to_install(qrowd, monkeypatch):
    monkeypatch.setattr(plugins, "load", lambda group: {})
    for command in (["study"], ["study", "magnitude", "--judgments", "mine.csv"]):
        outcome = qrowd(*command)
        assert outcome.status == 2
        assert outcome.err.count("\n") == 1
        assert "qrowd-papers, which is not installed" in outcome.err


# ---- arms of a study


@pytest.fixture
def arms(tmp_path):
    """Two small arms and their units as files."""
    (tmp_path / "grades.csv").write_text(
        "topic,document,assessor,value,seconds\n"
        + "".join(f"q,{d},{who},{v},{6 + v}\n" for who in ("ann", "bob") for v, d in enumerate("abc"))
    )
    (tmp_path / "pairs.csv").write_text(
        "topic,preferred,other,assessor,seconds\n"
        + "".join(f"u,{pair},{who},3\n" for who in ("ann", "bob") for pair in ("a,b", "b,c", "a,c"))
    )
    (tmp_path / "units.csv").write_text(
        "assessor,topic,arm,status,counts,seconds,looked_up,confidence,understanding\n"
        "ann,q,absolute,completed,True,21,0,4,5\nbob,q,absolute,completed,True,21,1,3,\n"
        "ann,u,pairs,completed,True,9,0,5,5\nbob,u,pairs,expired,True,9,4,1,1\n"
    )
    return ["--arm", f"absolute={tmp_path / 'grades.csv'}", "--arm", f"pairs={tmp_path / 'pairs.csv'}"]


def test_arms_of_a_study_are_compared_from_their_files(qrowd, arms, tmp_path):
    outcome = qrowd("study", "arms", *arms, "--units", tmp_path / "units.csv", "--output", tmp_path / "o.json")
    assert outcome.status == 0, outcome.err
    assert outcome.out.startswith(
        "2 arms, 12 judgments; agreement on pairs of documents: absolute 1.000, pairs 1.000; "
        "median seconds: absolute 7.00, pairs 3.00."
    )
    content = json.loads((tmp_path / "o.json").read_text())
    assert [row["median"] for row in content["times"] if row["assessor"] == "all"] == [7, 3, 4.5]
    feedback = {(row["arm"], row["question"]): (row["n"], row["median"]) for row in content["feedback"]}
    assert feedback["absolute", "confidence"] == (2, 3.5)
    assert feedback["absolute", "understanding"] == (1, 5)
    assert feedback["pairs", "confidence"] == (1, 5)
    assert [(row["arm"], row["n"], row["with_context"]) for row in content["context"]] == [
        ("absolute", 2, 1),
        ("pairs", 1, 0),
    ]


def test_arms_of_a_study_are_drawn_from_their_files(qrowd, arms, tmp_path):
    outcome = qrowd("study", "arms", *arms, "--figures", "drawn")
    assert outcome.status == 0, outcome.err
    assert "1 figures with their data in drawn" in outcome.out
    assert b"absolute</text>" in (tmp_path / "drawn" / "arms.svg").read_bytes()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--arm", "grades.csv"], "--arm grades.csv: expected NAME=FILE"),
        (["--arm", "absolute=x.csv"], "there are two arms of this name"),
    ],
)
def test_an_arm_is_a_name_and_a_file(qrowd, arms, more, words):
    outcome = qrowd("study", "arms", *arms, *more)
    assert outcome.status == 2
    assert words in outcome.err
