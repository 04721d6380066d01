"""`qrowd plot magnitude-1` ... `magnitude-15`: the figures of the magnitude paper from a user's own files."""

import shutil

import numpy as np
import pandas as pd
import pytest

import qrowd as library
from qrowd.agreement import geometric_sd
from qrowd.magnitude import gain_profile, level_ratios, level_tests, normalise, unit_widths
from qrowd.reports.plots.registry import MAGNITUDES
from qrowd.simulation import simulate_magnitudes, simulate_pool, simulate_runs
from simulated import write_files

TRUTH = simulate_pool(5, 40, rng=4)
RUNS = simulate_runs(TRUTH, 8, rng=4)
GOLD = TRUTH.judgments()
ALONE = ("magnitude-1", "magnitude-2", "magnitude-5", "magnitude-9")
OF_RUNS = ("magnitude-10", "magnitude-11", "magnitude-12")


@pytest.fixture(scope="module")
def crowd():
    return library.Judgments.from_frame(simulate_magnitudes(TRUTH, 90, rng=4).to_frame())


@pytest.fixture(scope="module")
def files(crowd, tmp_path_factory):
    """A user's magnitudes, as a file; gold and runs beside it."""
    return write_files(tmp_path_factory.mktemp("files"), crowd, GOLD, RUNS)


@pytest.fixture
def mine(files, tmp_path):
    """Those files in the folder where commands run."""
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    return ["--judgments", "mine.csv"]


WHOLE = ("--gold", "levels.csv", "--runs", "runs", "--n-resamples", 20)


def test_the_fifteen_figures_are_listed_with_the_question_and_what_they_need(qrowd):
    lines = {line.split()[0]: line for line in qrowd("plot").out.splitlines()}
    assert [name for name in lines if name.startswith("magnitude-")] == [f"magnitude-{i}" for i in range(1, 16)]
    assert "How are magnitudes distributed as written? (judgments)" in lines["magnitude-1"]
    assert "(runs, judgments and gold)" in lines["magnitude-10"]


@pytest.mark.parametrize("name", MAGNITUDES)
def test_each_figure_draws_the_user_s_magnitudes(qrowd, mine, tmp_path, name):
    outcome = qrowd("plot", name, *mine, *WHOLE)
    assert outcome.status == 0, outcome.err
    assert outcome.err == f"wrote {name}.svg\n"
    assert b"<svg" in (tmp_path / f"{name}.svg").read_bytes()


@pytest.mark.parametrize("name", ALONE)
def test_figures_that_need_no_gold_are_drawn_without(qrowd, mine, name):
    assert qrowd("plot", name, *mine).status == 0


EXPECTED = {
    "magnitude-3": ("magnitude", lambda crowd: level_tests(normalise(crowd), GOLD).magnitude),
    "magnitude-5": ("ratio", lambda crowd: geometric_sd(normalise(crowd)).ratio),
    "magnitude-13": ("ratio", lambda crowd: unit_widths(crowd, GOLD).to_frame(what="counts")["ratio"]),
    "magnitude-14": ("gain", lambda crowd: gain_profile(crowd, GOLD).gain),
    "magnitude-15": ("ratio", lambda crowd: level_ratios(crowd, GOLD).ratio),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_the_data_of_a_figure_are_the_library_s(qrowd, mine, crowd, tmp_path, name):
    assert qrowd("plot", name, *mine, "--gold", "levels.csv", "-o", "out.csv").status == 0
    column, values = EXPECTED[name]
    np.testing.assert_allclose(pd.read_csv(tmp_path / "out.csv")[column], values(crowd))


def test_the_normalisation_in_force_is_the_one_asked_for(qrowd, mine, tmp_path):
    for scheme in ("median", "checks"):
        outcome = qrowd("plot", "magnitude-9", *mine, "--gold", "levels.csv", "--normalise", scheme, "-o", "out.csv")
        assert f"normalisation: {scheme}" in outcome.out
    first = pd.read_csv(tmp_path / "out.csv")["sd"]
    assert qrowd("plot", "magnitude-9", *mine, "-o", "out.csv").status == 0
    assert not np.allclose(first, pd.read_csv(tmp_path / "out.csv")["sd"])


def test_top_is_the_number_of_topics_with_a_panel(qrowd, mine, tmp_path):
    assert qrowd("plot", "magnitude-4", *mine, "--gold", "levels.csv", "--top", 2).status == 0
    picture = (tmp_path / "magnitude-4.svg").read_text()
    shown = [topic for topic in GOLD.topics if f">{topic}</text>" in picture]
    assert len(shown) == 2


@pytest.mark.parametrize("name", sorted(set(MAGNITUDES) - set(ALONE)))
def test_what_a_figure_lacks_is_said_in_one_line_before_a_file_is_read(qrowd, name):
    outcome = qrowd("plot", name, "--judgments", "nowhere.csv")
    lack = "it needs runs; give --runs FILES" if name in OF_RUNS else "it needs gold grades; give --gold NAME or FILE"
    assert outcome.status == 2
    assert outcome.err == f"qrowd: plot {name}: {lack}\n"


@pytest.mark.parametrize(("arguments", "expected"), [
    (("magnitude-16",), "did you mean 'magnitude-"),
    (("magnitude-3", "--gold", "nobody"), "--gold nobody: neither an assessor nor a file"),
    (("magnitude-13", "--gold", "levels.csv", "--checks", "levels.csv"), "there is no column 'H'"),
    (("alpha", "--gold", "levels.csv"), "--gold, --checks and --by are options of the plots magnitude-1"),
    (("magnitude-1", "--scale", "*=0-3"), "value"),
])  # fmt: skip
def test_a_mistake_is_one_line_with_the_culprit_and_exit_status_2(qrowd, mine, tmp_path, arguments, expected):
    outcome = qrowd("plot", *arguments, *mine)
    assert outcome.status == 2
    assert outcome.err.count("\n") == 1
    assert expected in outcome.err
    assert not list(tmp_path.glob("*.svg"))
