"""`qrowd compare`."""

import json

import pandas as pd
import pytest


@pytest.fixture
def panel(folder):
    return ["--runs", folder / "runs", "--judgments", folder / "judges"]


def test_compare_says_first_who_may_be_the_best_and_whether_assessors_agree(qrowd, panel):
    outcome = qrowd("compare", *panel)
    assert outcome.status == 0
    assert outcome.out.startswith(
        "By nDCG@10, rerank-large has the highest mean; 7 of 12 systems may be the best (95 % simultaneous "
        "confidence set"
    )
    for part in ("nDCG@10: systems by the panel", "agreement of each assessor's ranking", "scale: "):
        assert part in outcome.out


def test_two_systems_may_follow_their_option(qrowd, panel):
    out = qrowd("compare", *panel, "--systems", "bm25", "hybrid").out
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
