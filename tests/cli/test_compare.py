"""`qrowd compare`."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

PAGE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "fail_a_test.md"


@pytest.fixture
def panel(folder):
    return ["--runs", folder / "runs", "--judgments", folder / "judges"]


def test_compare_says_first_who_may_be_the_best_and_whether_assessors_agree(qrowd, panel):
    outcome = qrowd("compare", *panel)
    assert outcome.status == 0
    assert outcome.out.startswith(
        "By nDCG@10, rerank-large leads for 4 of 8 assessors; 7 of 12 systems may be the best (95 % simultaneous "
        "confidence set"
    )
    for part in ("nDCG@10: systems by the panel", "agreement of each assessor's ranking", "scale: "):
        assert part in outcome.out


def test_two_systems_may_follow_their_option(qrowd, panel):
    out = qrowd("compare", *panel, "--systems", "bm25", "hybrid", "-o", "pair.csv").out
    written = pd.read_csv("pair.csv")  # the answer to what was asked: the difference with its intervals
    assert set(written["first"]) == {"bm25"}
    assert f"by {-written['difference'][0]:.3f} [{-written['high'][0]:.3f}, {-written['low'][0]:.3f}]" in out
    assert "nDCG@10: bm25 minus hybrid" in out
    assert "hybrid beats bm25 by " in out
    assert out == qrowd("compare", *panel, "--systems", "bm25", "--systems", "hybrid").out


def test_compare_is_the_library_s(qrowd, panel, folder, tmp_path):
    import qrowd as library
    from qrowd.comparison import correlations

    assert qrowd("compare", *panel, "-m", "AP", "--reference", "bob", "--output", "c.csv").status == 0
    scores = library.evaluate(library.read_runs(folder / "runs"), library.read_judgments(folder / "judges"), "AP")
    found = correlations(scores, reference="bob")
    written = pd.read_csv(tmp_path / "c.csv", index_col="assessor")
    for name, tau, ap in zip(found.assessors, found.tau_b, found.ap, strict=True):
        if name != "bob":
            assert written.loc[name, ["tau_b", "ap"]].tolist() == pytest.approx([tau, ap], abs=1e-12)


def test_every_choice_and_convention_is_written_down(qrowd, panel, tmp_path):
    choices = {"confidence": "0.99", "n-resamples": "200", "seed": "4"}
    conventions = {
        "unjudged": "condensed",
        "missing": "skip",
        "empty": "nan",
        "min-coverage": "0.2",
        "grades": "rescaled",
    }
    options = [word for name, value in (choices | conventions).items() for word in (f"--{name}", value)]
    assert qrowd("compare", *panel, *options, "--output", "c.json").status == 0
    written = json.loads((tmp_path / "c.json").read_text())
    assert {name.replace("_", "-"): str(value) for name, value in written["choices"].items()} == choices
    told = {name.replace("_", "-"): str(value) for name, value in written["conventions"].items()}
    assert conventions.items() <= told.items()


def test_slots_of_a_crowd_are_compared(qrowd, folder):
    arguments = ["--runs", folder / "runs", "--judgments", folder / "magnitudes.csv", "--slots", 3]
    assert "slot 3" in qrowd("compare", *arguments).out


@pytest.mark.parametrize(("extra", "expected"), [
    (["--reference", "anne"], ["'anne'", "'ann'"]),
    (["--systems", "bm25"], ["--systems bm25", "found 1"]),
    (["--systems", "bm25", "bm52"], ["'bm52'", "did you mean"]),
    (["--systems", "bm25", "bm25"], ["the same"]),
    (["--confidence", "5"], ["--confidence 5"]),
    (["--ties", "x"], ["'--ties': 'x'"]),
    (["-m", "nDGC"], ["did you mean 'nDCG'"]),
    (["--output", "c.xls"], ["c.xls", ".csv"]),
])  # fmt: skip
def test_a_mistake_is_one_line_with_the_culprit_and_exit_status_2(qrowd, panel, extra, expected):
    outcome = qrowd("compare", *panel, *extra)
    assert outcome.status == 2
    assert outcome.out == ""
    assert outcome.err.startswith("qrowd: ")
    assert outcome.err.count("\n") == 1
    for text in expected:
        assert text in outcome.err


def test_a_single_system_cannot_be_compared(qrowd, folder):
    outcome = qrowd("compare", "--runs", folder / "runs" / "bm25.run", "--judgments", folder / "judges")
    assert outcome.status == 2
    assert "bm25 is the only system" in outcome.err


RELATED = ("--related", "bob=rerank*", "--related", "bob=hybrid")


def test_related_assessors_are_left_out_of_the_scores_of_their_systems(qrowd, panel, folder, tmp_path):
    import qrowd as library
    from qrowd.comparison import kinship

    outcome = qrowd("compare", *panel, *RELATED, "--output", "c.json")
    assert outcome.status == 0
    out = qrowd("compare", *panel, *RELATED).out
    assert "Without relatives, " in out.splitlines()[0]
    assert "systems with related assessors, and those whose rank they change; tau-b" in out
    assert "related: without relatives: least squares" in out
    written = pd.DataFrame(json.loads((tmp_path / "c.json").read_text())["kinship"]).set_index("system")
    scores = library.evaluate(library.read_runs(folder / "runs"), library.read_judgments(folder / "judges"))
    expected = kinship(scores.sel(measure="nDCG@10"), {"bob": ["rerank*", "hybrid"]}).to_frame().set_index("system")
    for column in ("mean", "without_relatives", "rank_without"):
        assert written[column].to_dict() == pytest.approx(expected[column].to_dict())
    assert written["n_relatives"].sum() == 4


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bobb=rerank*", "related: no assessor matches 'bobb'; did you mean 'bob'?"),
        ("bob=rerink-*", "related: no system matches 'rerink-*'; "),
        ("bob", "--related bob: expected ASSESSORS=SYSTEMS, as in 'qwen*=dual*'"),
    ],
)
def test_kinship_that_matches_nothing_is_one_line(qrowd, panel, text, expected):
    outcome = qrowd("compare", *panel, "--related", text)
    assert outcome.status == 2
    assert expected in outcome.err
    assert outcome.err.count("\n") == 1


# ---- a gate for continuous integration


@pytest.mark.parametrize(
    ("condition", "status", "outcome"),
    [
        ("hybrid<=bm25", 0, "Passes: hybrid<=bm25 is excluded; hybrid minus bm25 is +"),
        ("bm25 <= hybrid", 1, "Fails: bm25 <= hybrid is not excluded; bm25 minus hybrid is -"),
        ("bm25<hybrid", 1, "Fails: bm25<hybrid is shown; "),
        ("hybrid<splade", 0, "Passes: hybrid<splade is not shown; "),
        ("bm25<hybrid - .09", 0, "Passes: bm25<hybrid - .09 is not shown; "),
        *(
            pytest.param(*case, marks=pytest.mark.nightly)
            for case in [
                ("splade<hybrid", 0, "Passes: splade<hybrid is not shown; "),
                ("hybrid<=splade", 1, "Fails: hybrid<=splade is not excluded; "),
                ("hybrid<=splade-0.1", 0, "Passes: hybrid<=splade-0.1 is excluded; "),
                ("bm25+rm3<=bm25 - 1", 0, "Passes: bm25+rm3<=bm25 - 1 is excluded; "),
            ]
        ),
    ],
)
def test_the_exit_status_says_whether_a_condition_holds(qrowd, panel, condition, status, outcome):
    few = ["--n-resamples", 200]
    printed = qrowd("compare", *panel, *few, "--fail-if", condition)
    assert (printed.status, printed.err) == (status, "")
    assert printed.out.startswith(outcome)
    systems = condition.replace(" ", "").replace("=", "").split("-")[0].split("<")
    same = qrowd("compare", *panel, *few, "--systems", *systems).out
    *lines, signature = printed.out.partition(". ")[2].splitlines()
    assert lines == same.splitlines()[:-1]
    assert "| fail-if " in signature


def test_a_condition_that_holds_by_one_of_several_measures_fails_the_test(qrowd, panel, tmp_path):
    options = ["-m", "nDCG@10", "RR", "--fail-if", "bm25<=tf-idf", "-o", "c.json"]
    assert qrowd("compare", *panel, *options).status == 1
    written = json.loads((tmp_path / "c.json").read_text())
    intervals = [row for row in written["intervals"] if row["method"] == "satterthwaite"]
    assert [row["measure"] for row in intervals if row["low"] <= 0] == written["fail_if"]["holds_by"] == ["RR"]


def test_the_outcome_stands_on_standard_error_where_standard_output_has_the_file(qrowd, panel):
    printed = qrowd("compare", *panel, "--fail-if", "hybrid<=bm25", "-o", "-.json")
    assert json.loads(printed.out)["fail_if"]["sentence"] + "\n" == printed.err
    assert printed.err.startswith("Passes: hybrid<=bm25 is excluded; ")


def test_the_condition_is_about_the_intervals_at_the_confidence_that_is_asked_for(qrowd, panel):
    assert qrowd("compare", *panel, "--fail-if", "hybrid<=bm25-0.04", "--confidence", "0.99999").status == 1


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("hybrid", "--fail-if hybrid: expected 'A<=B' or 'A<B' with two systems, as in 'new<=old'"),
        ("hybrid>bm25", "--fail-if 'hybrid>bm25': expected"),
        ("hybrid<=bm52", "system 'bm52' is not among the systems; did you mean 'bm25'?"),
        ("hybrid<=hybrid", "are the same; name two"),
    ],
)
def test_a_condition_that_means_nothing_has_exit_status_2(qrowd, panel, condition, message):
    printed = qrowd("compare", *panel, "--fail-if", condition)
    assert (printed.status, printed.out) == (2, "")
    assert message in printed.err


@pytest.mark.parametrize("condition", ["hybrid<=splade", "bm25<hybrid"])
def test_a_condition_is_about_the_systems_that_are_named_in_their_order(qrowd, panel, condition):
    printed = qrowd("compare", *panel, "--fail-if", condition, "--systems", "hybrid", "bm25")
    problem = "--systems names others, or in another order; leave --systems out"
    assert (printed.status, printed.err) == (2, f"qrowd: --fail-if '{condition}': {problem}\n")


def test_a_condition_may_repeat_the_systems_that_are_named(qrowd, panel):
    options = ["--n-resamples", 200, "--fail-if", "hybrid<=bm25"]
    both, one = qrowd("compare", *panel, *options, "--systems", "hybrid", "bm25"), qrowd("compare", *panel, *options)
    assert both.status == one.status == 0
    assert both.out.splitlines()[:-1] == one.out.splitlines()[:-1]


def test_one_topic_says_nothing_of_a_condition(qrowd, tmp_path):
    (tmp_path / "a.run").write_text("t Q0 d 1 2 a\n")
    (tmp_path / "b.run").write_text("t Q0 e 1 2 b\n")
    (tmp_path / "ann.qrels").write_text("t 0 d 1\nt 0 e 0\n")
    printed = qrowd("compare", "--runs", "a.run", "b.run", "--judgments", "ann.qrels", "--fail-if", "a<b")
    assert printed.status == 2
    assert "a and b share fewer than two topics with a score by nDCG@10" in printed.err


def test_a_reader_who_goes_away_does_not_turn_a_failure_into_a_success(panel, tmp_path):
    reading, writing = os.pipe()
    os.close(reading)
    words = [sys.executable, "-m", "qrowd", "compare", *map(str, panel), "--fail-if", "bm25<hybrid"]
    assert subprocess.run(words, stdout=writing, cwd=tmp_path, check=False).returncode == 1
    os.close(writing)


def test_the_workflow_and_the_hook_of_the_page_fail_where_the_new_system_is_worse(qrowd, folder, tmp_path):
    shutil.copytree(folder / "judges", tmp_path / "judges")
    text = PAGE.read_text(encoding="utf-8")
    workflow, hook = (re.search(rf"```{kind}\n(.*?)```", text, re.DOTALL)[1] for kind in ("yaml", "sh"))
    steps = [step["run"] for step in yaml.safe_load(workflow)["jobs"]["compare"]["steps"] if "run" in step]
    commands = [*(step for step in steps if step.startswith("qrowd")), hook.splitlines()[-1].removeprefix("exec ")]
    assert len(commands) == 2
    for new, status in (("bm25", 1), ("rerank-llm", 0)):
        for name, system in (("new", new), ("old", "hybrid" if new == "bm25" else "tf-idf")):
            shutil.copy(folder / "runs" / f"{system}.run", tmp_path / f"{name}.run")
        for command in commands:
            assert qrowd(*shlex.split(command)[1:]).status == status
        assert (tmp_path / "compare.md").read_text().startswith("Fails: " if status else "Passes: ")
