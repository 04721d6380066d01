"""`qrowd aggregate`."""

import pandas as pd
import pytest

METHODS = ["majority", "dawid-skene", "mace", "mean", "sum", "median", "geometric-mean"]
EXPERTS = ("ann", "bob", "lena", "sven")


@pytest.fixture
def experts(folder):
    """The judgments of those who grade 0-3."""
    return ["--judgments", *(folder / "judges" / f"{name}.qrels" for name in EXPERTS)]


@pytest.mark.parametrize(
    "method", [pytest.param(one, marks=[pytest.mark.nightly] * (one in ("mean", "sum", "median"))) for one in METHODS]
)
def test_every_method_merges_into_one_judgment_per_document(qrowd, experts, folder, tmp_path, method):
    judged = ["--judgments", folder / "magnitudes.csv"] if method == "geometric-mean" else experts
    outcome = qrowd("aggregate", *judged, "--method", method, "--output", "a.csv", "--qrels", "merged.qrels")
    assert outcome.status == 0, outcome.err
    assert "of 1,000 documents" in outcome.out
    assert len(pd.read_csv(tmp_path / "a.csv")) == 1000
    assert len((tmp_path / "merged.qrels").read_text().splitlines()) == 1000
    assert qrowd("evaluate", "--runs", folder / "runs", "--judgments", "merged.qrels", "-m", "nDCG@10").status == 0


def test_dawid_skene_says_whether_it_converged_and_whom_it_trusts(qrowd, experts):
    out = qrowd("aggregate", *experts, "--method", "dawid-skene(per=all)").out
    assert "which converged in" in out
    assert "probability that each assessor gives the merged grade" in out
    assert "log-likelihood: -" in out


def test_mace_says_which_grade_frequencies_it_took(qrowd, experts):
    fitted = qrowd("aggregate", *experts, "--method", "mace").out
    assert "mace(prior='fitted', restarts=10, knowing=0.5, guessing=1," in fitted
    paper = qrowd("aggregate", *experts, "--method", "mace(prior=uniform)").out
    assert "mace(prior='uniform', restarts=10, knowing=0.5, guessing=10," in paper
    assert qrowd("aggregate", *experts, "--method", "mace(prior=flat)").status == 2


def test_the_same_seed_tosses_the_same_coins(qrowd, experts, tmp_path):
    for name, seed in (("one", 3), ("two", 3), ("other", 4)):
        qrowd("aggregate", *experts, "--seed", seed, "--qrels", f"{name}.qrels")
    read = {name: (tmp_path / f"{name}.qrels").read_text() for name in ("one", "two", "other")}
    assert read["one"] == read["two"] != read["other"]


def test_an_unknown_method_is_refused_with_those_there_are(qrowd, experts):
    assert "method 'glad' is unknown" in qrowd("aggregate", *experts, "--method", "glad").err
    outcome = qrowd("aggregate", *experts, "--method", "uniform")
    assert outcome.status == 2
    assert "majority, dawid-skene, mace" in outcome.err


def test_magnitudes_cannot_vote_and_are_told_what_they_can(qrowd, folder):
    outcome = qrowd("aggregate", "--judgments", folder / "magnitudes.csv")
    assert outcome.status == 2
    assert "geometric-mean" in outcome.err
    assert outcome.err.count("\n") == 1


def test_a_result_called_qrels_names_the_option_that_writes_qrels(qrowd, folder):
    outcome = qrowd("aggregate", "--judgments", folder / "judges" / "ann.qrels", "--output", "merged.qrels")
    assert outcome.status == 2
    assert outcome.err.endswith(".html; qrowd aggregate --qrels writes qrels, of labels without blanks\n")
