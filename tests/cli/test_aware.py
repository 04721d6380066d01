"""`qrowd aware`, `qrowd study` and `qrowd evaluate --method`."""

import json

import pandas as pd
import pytest

from qrowd_papers.aware.study import aware_study

EXPERTS = ("ann", "bob", "lena", "sven")


@pytest.fixture
def panel(folder):
    return ["--runs", folder / "runs", "--judgments", folder / "judges"]


@pytest.fixture
def experts(folder):
    return ["--runs", folder / "runs", "--judgments", *(folder / "judges" / f"{name}.qrels" for name in EXPERTS)]


def test_aware_says_who_is_best_what_assessors_are_worth_and_what_was_assumed(qrowd, panel):
    outcome = qrowd("aware", *panel, "-m", "AP", "--n-resamples", 40)
    assert outcome.status == 0, outcome.err
    first, *lines = outcome.out.splitlines()
    assert first.startswith("Assessors weighted by sgl_rmse_md: by AP, rerank-large leads")
    assert any(line.split()[:2] == ["rerank-large", "0.62"] or line.startswith("rerank-large ") for line in lines)
    assert "polarity: dissimilarity" in outcome.out
    assert "40 of each level (under 0.05, even 0.5, over 0.95); seed: 1" in outcome.out
    weights = {line.split()[0]: float(line.split()[1]) for line in lines if line.startswith(("bob ", "crowd-3 "))}
    assert weights["bob"] > weights["crowd-3"]


def test_an_assessor_who_always_gives_one_grade_is_named_where_the_weight_is_more_than_equal(qrowd, panel, folder):
    ann = (folder / "judges" / "ann.qrels").read_text().splitlines()
    highest = max(int(line.split()[3]) for line in ann)
    always = [" ".join([*line.split()[:3], str(highest)]) for line in ann]
    (folder / "judges" / "annotator-9.qrels").write_text("\n".join(always) + "\n")
    outcome = qrowd("aware", *panel, "-m", "nDCG@10", "--n-resamples", 20)
    assert outcome.status == 0, outcome.err
    assert "annotator-9: has the largest weight by nDCG@10 (" in outcome.out
    assert "although it stands out: " in outcome.out
    assert "always grade" in outcome.out
    assert "says how far an assessor is from random judging, not how accurate the assessor is" in outcome.out


def test_aware_says_whether_assessors_with_more_weight_rank_like_the_others(
    qrowd, panel
):  # which takes all of the panel
    outcome = qrowd("aware", *panel, "-m", "AP", "--n-resamples", 20)
    assert "assessors with more weight agree more with the others' rankings (mean tau-b " in outcome.out
    printed = qrowd("aware", *panel, "-m", "AP", "--n-resamples", 20, "--polarity", "printed").out
    assert "agree less with the others' rankings" in printed
    assert (
        "with more weight" not in qrowd("aware", *panel, "-m", "AP", "--n-resamples", 20, "--estimator", "uniform").out
    )
    assert "a weight says how far" not in outcome.out  # nobody with much weight stands out


def test_numbers_go_to_a_file_and_the_same_seed_gives_the_same(qrowd, experts, tmp_path):
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        assert (
            qrowd("aware", *experts, "-m", "AP", "--n-resamples", 10, "--seed", seed, "--output", f"{name}.csv").status
            == 0
        )
    a, b, c = ((tmp_path / f"{name}.csv").read_text() for name in "abc")
    assert a == b != c
    frame = pd.read_csv(tmp_path / "a.csv")
    assert list(frame.columns) == ["measure", "topic", "system", "sgl_rmse_md", "uniform"]
    assert qrowd("aware", *experts, "-m", "AP", "--n-resamples", 10, "--output", "a.json").status == 0
    content = json.loads((tmp_path / "a.json").read_text())
    assert content["options"]["n_resamples"] == 10
    assert len(content["accuracy"][0]) == len(content["assessor"])


@pytest.mark.nightly
def test_processes_change_no_digit(qrowd, experts):
    alone, together = (
        qrowd("aware", *experts, "-m", "AP", "--n-resamples", 10, *more) for more in ([], ["--processes", 2])
    )
    assert together.status == 0, together.err
    assert together.out == alone.out


def test_polarity_changes_the_weights_and_is_told(qrowd, experts):
    ours = qrowd("aware", *experts, "-m", "AP", "--n-resamples", 20).out
    printed = qrowd("aware", *experts, "-m", "AP", "--n-resamples", 20, "--polarity", "printed").out
    assert ours != printed
    assert "polarity: printed" in printed


def test_a_gold_assessor_can_stand_for_the_random_ones(qrowd, panel, folder):
    outcome = qrowd("aware", *panel, "-m", "AP", "--gold", folder / "gold.qrels", "--estimator", "sgl_apc_md")
    assert outcome.status == 0, outcome.err
    assert "by similarity to gold on 25 topics" in outcome.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--n-resamples", 0), "--n-resamples 0: a whole number from 1"),
        (("--estimator", "sgl_foo_md"), "did you mean 'sgl_fro_md'?"),
        (("--polarity", "up"), "'--polarity': 'up'"),
        (("-m", "DCG@10"), "nDCG for DCG"),
        (("--gold", "nowhere.qrels"), "nowhere.qrels"),
    ],
)
def test_what_is_wrong_is_one_line_and_status_2(qrowd, panel, arguments, message):
    outcome = qrowd("aware", *panel, *arguments)
    assert outcome.status == 2
    assert message in outcome.err
    assert outcome.err.count("\n") == 1


def test_one_assessor_or_several_alike_have_nothing_to_weigh(qrowd, folder):
    one = folder / "judges" / "ann.qrels"
    assert "there is one (ann)" in qrowd("aware", "--runs", folder / "runs", "--judgments", one).err
    outcome = qrowd("aware", "--runs", folder / "runs", "--judgments", f"a={one}", f"b={one}")
    assert outcome.status == 2
    assert "gave the same judgments" in outcome.err


def test_methods_stand_side_by_side_like_assessors(qrowd, experts, tmp_path):
    methods = ["majority", "dawid-skene(per=all)", "mean", "uniform", "sgl_tau_msd(n_resamples=20)", "prm(rel=1)"]
    asked = [part for method in methods for part in ("--method", method)]
    outcome = qrowd("evaluate", *experts, "-m", "nDCG@10", *asked, "--output", "scores.csv")
    assert outcome.status == 0, outcome.err
    assert "leads for" in outcome.out
    assert "6 methods" in outcome.out
    assert "range over methods" in outcome.out
    assert "methods: each combines the assessors in its own way; seed: 1" in outcome.out
    assert "p(R|0)" in outcome.out  # what the method warned of
    frame = pd.read_csv(tmp_path / "scores.csv")
    whole = {"dawid-skene(per=all)": "dawid-skene(per='all')", "prm(rel=1)": "predicted-relevance(rel=1)"}
    assert set(frame["assessor"]) == {whole.get(method, method) for method in methods}


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("majorty", "method 'majorty' is unknown; did you mean 'majority'?"),
        ("prm", "needs the lowest relevant grade"),
        ("dawid-skene(per=week)", "per must be one of 'topic', 'all'"),
        ("agreement-aware", "it is a form of nDCG@k, not of AP"),
        ("majority@10", "majority takes no cut-off"),
    ],
)
def test_a_method_that_does_not_fit_is_refused_in_one_line(qrowd, experts, method, message):
    outcome = qrowd("evaluate", *experts, "-m", "AP", "--method", method)
    assert outcome.status == 2
    assert message in outcome.err
    assert outcome.err.count("\n") == 1


def test_the_quick_study_runs_and_writes_its_page(qrowd, tmp_path, monkeypatch):
    def few(*case, n_tuples, n_resamples, **options):
        assert (n_tuples, n_resamples) == (30, 50)
        return aware_study(*case, n_tuples=2, n_resamples=3, **options)

    monkeypatch.setattr("qrowd_papers.aware.claims.aware_study", few)
    monkeypatch.setattr(
        "qrowd_papers.tukey._critical", lambda n_levels, error_df: 4.0
    )  # which takes as long as the rest
    outcome = qrowd("study", "recompute", "aware", "--quick", "--output", "aware.md")
    assert outcome.status == 0, outcome.err
    text = (tmp_path / "aware.md").read_text()
    assert text.startswith("AWARE, recomputed. Closest to the gold")
    assert "| tpc_apc_med |" in text
    assert "did you mean 'aware'?" in qrowd("study", "recompute", "awhere").err
    assert "there is no such folder" in qrowd("study", "recompute", "aware", "--quick", "--data", tmp_path).err
