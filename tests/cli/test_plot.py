"""`qrowd plot`."""

import re
import sys
from inspect import signature

import pandas as pd
import pytest

from qrowd.cli.plot import plot
from qrowd.reports.plots.registry import PLOTS, Options


@pytest.fixture(scope="module")
def simulated(eight_topics):
    return eight_topics


@pytest.fixture
def panel(folder):
    return ["--runs", folder / "runs", "--judgments", folder / "judges"]


def test_without_a_name_every_figure_is_listed_with_its_question(qrowd):
    outcome = qrowd("plot")
    assert outcome.status == 0
    lines = outcome.out.splitlines()
    assert [line.split()[0] for line in lines[: len(PLOTS)]] == list(PLOTS)
    assert "How does the ranking change with the method that combines the assessors? (runs and judgments)" in lines[3]


def test_a_figure_is_written_under_its_name_and_its_caption_told(qrowd, panel, tmp_path):
    outcome = qrowd("plot", "systems", *panel, "--top", 3)
    assert outcome.status == 0
    assert outcome.out.startswith("Mean nDCG@10 of 3 systems, hybrid first, ")
    assert outcome.err == "wrote systems.svg\n"
    assert b"hybrid</text>" in (tmp_path / "systems.svg").read_bytes()


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("s.png", b"\x89PNG"),
        ("s.SVG", b"<?xml"),
        pytest.param("s.pdf", b"%PDF", marks=pytest.mark.nightly),
    ],
)
def test_the_ending_says_how_it_is_written(qrowd, panel, tmp_path, name, start):
    assert qrowd("plot", "ranks", *panel, "-m", "AP", "-o", name).status == 0
    assert (tmp_path / name).read_bytes().startswith(start)


def test_the_data_of_a_figure_are_the_library_s(qrowd, panel, folder, tmp_path):
    import qrowd as library
    from qrowd.comparison import system_intervals

    assert qrowd("plot", "systems", *panel, "-m", "AP", "--unjudged", "condensed", "-o", "s.csv").status == 0
    judgments = library.read_judgments(folder / "judges")
    conventions = library.Conventions(unjudged="condensed")
    scores = library.evaluate(library.read_runs(folder / "runs"), judgments, "AP", conventions=conventions)
    expected = system_intervals(scores).to_frame()
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "s.csv"), expected)


def test_judgments_alone_are_enough_where_no_system_is_shown(qrowd, folder, tmp_path):
    arguments = ["--judgments", folder / "judges", "-o"]
    assert qrowd("plot", "assessors", *arguments, "a.csv", "--grades", "rescaled").status == 0
    assert len(pd.read_csv(tmp_path / "a.csv")) == 8
    assert qrowd("plot", "assessors", *arguments, "b.csv", "--combine-scales", "rescaled").status == 0
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_methods_are_those_asked_for(qrowd, panel, tmp_path):
    assert (
        qrowd(
            "plot", "bump", *panel, "--method", "uniform", "--method", "tpc_tau_md(n_resamples=20)", "-o", "b.csv"
        ).status
        == 0
    )
    assert set(pd.read_csv(tmp_path / "b.csv")["method"]) == {"uniform", "tpc_tau_md(n_resamples=20)"}


def test_ranks_show_as_many_systems_that_may_be_the_best_as_evaluate(qrowd, panel):
    best = re.search(r"\d+ of 12 systems may be the best", qrowd("evaluate", *panel, "-m", "nDCG@10").out)
    plotted = qrowd("plot", "ranks", *panel)
    assert best.group() in plotted.out
    assert signature(plot).parameters["sampling"].default.n_resamples == Options().n_resamples == 10_000


def test_the_same_seed_draws_the_same_picture(qrowd, panel, tmp_path):
    for seed, name in ((1, "a.svg"), (1, "b.svg"), (2, "c.csv"), (1, "d.csv")):
        assert (
            qrowd(
                "plot", "alpha", *panel[2:], "--grades", "rescaled", "--n-resamples", 50, "--seed", seed, "-o", name
            ).status
            == 0
        )
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert (tmp_path / "c.csv").read_bytes() != (tmp_path / "d.csv").read_bytes()


@pytest.mark.parametrize(("arguments", "expected"), [
    (["bumb"], ["'bumb' is not known", "did you mean 'bump'"]),
    (["systems", "-o", "s.gif"], ["s.gif", ".svg, .pdf, .png, .csv"]),
    (["systems", "--ties", "x"], ["'--ties': 'x'"]),
    (["systems", "-m", "nDGC"], ["did you mean 'nDCG'"]),
    (["systems", "--confidence", "95"], ["--confidence 95"]),
    (["bump", "--method", "majorty"], ["did you mean 'majority'"]),
    (["systems", "--test", "max-t"], ["--test max-t: plot systems does not use it; leave it out"]),
    (["ranks", "--combine-scales", "relevant"], ["--combine-scales relevant: plot ranks does not use it"]),
    (["bump", "--n-resamples", "50"], ["--n-resamples 50: plot bump does not use it"]),
    (["components", "--top", "2"], ["--top 2: plot components does not use it; leave it out"]),
    (["assessors", "--top", "2"], ["--top 2: plot assessors does not use it"]),
    (["coverage", "--grades", "rescaled"], ["--grades rescaled: plot coverage does not use it"]),
    (["correlation", "--short-names"], ["--short-names: plot correlation does not use it"]),
    (["kappa"], ["--runs", "plot kappa does not use it"]),
    (["coverage", "--ties", "expected"], ["--ties expected: plot coverage does not use it"]),
    (["correlation", "--confidence", "0.9"], ["--confidence 0.9: plot correlation does not use it"]),
    (["alpha", "--combine-scales", "as-is"], ["cannot be on one scale", "combine the scales by rescaled"]),
])  # fmt: skip
def test_a_mistake_is_one_line_with_the_culprit_and_exit_status_2(qrowd, panel, tmp_path, arguments, expected):
    outcome = qrowd("plot", *arguments, *(panel[2:] if arguments[0] == "alpha" else panel))
    assert outcome.status == 2
    assert outcome.err.startswith("qrowd: ")
    assert outcome.err.count("\n") == 1
    for text in expected:
        assert text in outcome.err
    assert not list(tmp_path.glob("*.svg"))


def test_runs_are_asked_for_where_judgments_alone_are_given(qrowd, tmp_path):
    (tmp_path / "ann.qrels").write_text("t 0 d 1\n")
    outcome = qrowd("plot", "systems", "--judgments", "ann.qrels")
    assert outcome.status == 2
    assert outcome.err == (
        "qrowd: missing option '--runs': give the files of runs (see --help); "
        "qrowd check ann.qrels says what needs none\n"
    )


def test_matplotlib_is_asked_for_before_anything_is_read(qrowd, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.rcsetup", None)
    outcome = qrowd("plot", "kappa", "--judgments", "nowhere")
    assert outcome.status == 2
    assert "pip install 'qrowd[plots]'" in outcome.err
