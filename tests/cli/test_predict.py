"""`qrowd predict`."""

import json

import pandas as pd
import pytest

import qrowd as library
from qrowd.files import read_duplicates
from qrowd.predicted_relevance import predicted_relevance, relevant_results

EXPERTS = ("ann", "bob", "lena", "sven")


@pytest.fixture
def experts(folder):
    """The judgments of those who grade 0-3."""
    return ["--judgments", *(folder / "judges" / f"{name}.qrels" for name in EXPERTS)]


def test_predict_is_the_library_s_model(qrowd, experts, tmp_path):
    outcome = qrowd("predict", *experts, "--rel", 2, "--resample", "topics", "--seed", 3, "--output", "p.csv")
    assert outcome.status == 0, outcome.err
    model = predicted_relevance(library.read_judgments(experts[1:]), rel=2, resample="topics", rng=3)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "p.csv"), model.to_frame(), check_dtype=False)
    assert "resamples of topics" in outcome.out
    assert "double judgments: 1,000 of 1,000 documents, on 25 topics" in outcome.out


def test_predict_says_what_another_assessor_finds_relevant(qrowd, experts):
    out = qrowd("predict", *experts, "--rel", 2).out
    assert out.startswith("Another assessor finds relevant (grade >= 2) 67 % of what an assessor gave 3, 39 %")
    assert "over all documents judged twice" in out
    assert "evaluated judgments: 4,000 of 4,000, by ann, bob, lena, sven; assessors who judged all documents" in out
    assert "counted" not in out
    assert "as a gain it favours judged documents" in out


def test_with_runs_systems_stand_by_predicted_and_by_binary_relevance(qrowd, experts, folder, tmp_path):
    arguments = [
        "predict",
        *experts,
        "--rel",
        2,
        "--runs",
        folder / "runs",
        "-m",
        "P@10",
        "-m",
        "nDCG@10",
    ]
    outcome = qrowd(*arguments, "--cutoff", 5, "--output", "p.json")
    assert outcome.status == 0, outcome.err
    assert "in the first 5 ranks" in outcome.out
    assert "P(relevance='given')@10, predicted and binary relevance; tau-b of the two rankings 0.939" in outcome.out
    assert "(the first 2 of 12 systems)" in qrowd(*arguments, "--top", 2).out
    written = json.loads((tmp_path / "p.json").read_text())
    assert {row["measure"] for row in written["systems"]} == {"P(relevance='given')@10", "nDCG@10"}
    assert len(written["relevant_results"]) == 12
    assert written["tau"]["P(relevance='given')@10"] == pytest.approx(0.939, abs=5e-4)


def test_a_second_round_on_a_part_changes_no_score_of_the_reference(qrowd, experts, folder, tmp_path):
    """The paper's recipe. Of 4.16 relevant results 2.36 were counted, since the second assessor lacked the others."""
    lines = (folder / "judges" / "bob.qrels").read_text().splitlines()
    (tmp_path / "second.qrels").write_text("\n".join(lines[::5]) + "\n")
    common = ["--rel", 2, "--runs", folder / "runs", "--n-resamples", 0, "-o", "p.json"]
    outcome = qrowd("predict", "--judgments", experts[1], "second.qrels", *common)
    assert "evaluated judgments: 1,000 of 1,200, by ann; " in outcome.out
    assert "best systems: of the results judged twice in the first 10 ranks of the 3 systems" in outcome.out
    written = json.loads((tmp_path / "p.json").read_text())
    ann = library.read_judgments([experts[1]])
    scores = library.evaluate(library.read_runs(folder / "runs"), ann.recode(2), "P@10")
    counted = dict(zip(scores.systems, 10 * scores.values.mean(axis=(0, 1, 2)), strict=True))
    assert {row["system"]: row["binary"] for row in written["relevant_results"]} == pytest.approx(counted)


def test_one_assessor_first(qrowd, experts):
    outcome = qrowd("predict", *experts, "--rel", 3, "--method", "one-sided", "--first", "ann", "--smoothing", 2)
    assert "one-sided (equation 4), predicting from ann; smoothing: 2 counts" in outcome.out


def test_judgments_are_written_as_probabilities(qrowd, experts, folder, tmp_path):
    assert qrowd("predict", *experts, "--rel", 2, "--qrels", "p.qrels").status == 0
    lines = (tmp_path / "p.qrels").read_text().splitlines()
    assert len(lines) == 4000
    assert {line.split()[1] for line in lines} == set(EXPERTS)
    assert all(0 <= float(line.split()[3]) <= 1 for line in lines)
    again = ["--judgments", "p.qrels", "--assessor", "column", "--runs", folder / "runs", "-m", "nDCG@10"]
    assert qrowd("evaluate", *again).status == 0


def test_duplicates_and_unjudged_documents_are_treated_as_asked(qrowd, experts, folder, tmp_path):
    judgments = library.read_judgments(experts[1:])
    pairs = judgments.to_frame()[["topic", "document"]].drop_duplicates()
    pairs["group"] = pairs.groupby("topic").cumcount() // 4
    pairs.to_csv(tmp_path / "d.csv", index=False)
    arguments = ["predict", *experts, "--rel", 2, "--n-resamples", 0, "--runs", folder / "runs", "-o", "p.json"]
    out = qrowd(*arguments, "--duplicates", "d.csv", "--unjudged", "condensed").out
    assert "duplicates: 250 groups of 1,000 documents that count as one in results and scores" in out
    assert "unjudged: documents without a judgment are taken out of each ranking" in out
    duplicates = read_duplicates(tmp_path / "d.csv")
    conventions = library.Conventions(unjudged="condensed", duplicates=duplicates)
    model, runs = predicted_relevance(judgments, rel=2, n_resamples=0), library.read_runs(folder / "runs")
    scores = library.evaluate(runs, model.with_gains(judgments), "nDCG@10", conventions=conventions)
    expected = dict(zip(scores.systems, scores.values.mean(axis=(0, 1, 2)), strict=True))
    written = json.loads((tmp_path / "p.json").read_text())
    assert {row["system"]: row["predicted"] for row in written["systems"]} == pytest.approx(expected)
    counted = relevant_results(model, judgments, runs=runs, duplicates=duplicates).to_frame().set_index("system")
    for row in written["relevant_results"]:
        assert row["binary"] == pytest.approx(counted.loc[row["system"], "binary"])


MISTAKES = {
    "no threshold": ([], "the lowest relevant grade is needed"),
    "a threshold beyond": (["--rel", 4], "--rel 4: it is outside the scale (0-3)"),
    "a measure": (["--rel", 2, "-m", "AP"], "AP: it has no form for probabilities"),
    "a first for nothing": (["--rel", 2, "--first", "ann"], "one-sided"),
    "nobody": (["--rel", 2, "--method", "one-sided", "--first", "anne"], "did you mean 'ann'?"),
    "an ending": (["--rel", 2, "--output", "p.xls"], "p.xls"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_one_line_and_exit_status_2(qrowd, experts, case):
    extra, message = MISTAKES[case]
    outcome = qrowd("predict", *experts, *extra)
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.startswith("qrowd: ")
    assert outcome.err.count("\n") == 1
    assert message in outcome.err


def test_judgments_without_grades_or_without_a_second_assessor_are_refused(qrowd, folder):
    for name, message in (
        ("judges/ann.qrels", "judge a sample of the documents of every topic"),
        ("judges/llm-a.qrels", "needs whole grades"),
        ("magnitudes.csv", "needs whole grades"),
    ):
        outcome = qrowd("predict", "--judgments", folder / name, "--rel", 1)
        assert (outcome.status, outcome.err.count("\n")) == (2, 1)
        assert message in outcome.err
