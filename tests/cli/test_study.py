"""`qrowd study`: which studies there are, and their analyses of files."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest

import qrowd as library
from qrowd.magnitude import normalise
from qrowd.reports.plots.style import drawn
from qrowd.simulation import simulate_magnitudes, simulate_pool, simulate_runs
from qrowd_papers.magnitude.distribution import distribution
from qrowd_papers.magnitude.geometric_sd import geometric_sd
from qrowd_papers.magnitude.level_ratios import level_ratios
from qrowd_papers.predicted_relevance.sensitivity import sensitivity_to_sample_size
from simulated import write_files


def test_the_studies_are_listed_with_a_sentence_each(qrowd):
    outcome = qrowd("study", "recompute")
    assert outcome.status == 0
    assert "AWARE: assessors weighted by their distance from random ones." in outcome.out
    assert "did you mean 'aware'?" in qrowd("study", "recompute", "awhere").err
    assert "only the study aware keeps finished parts" in qrowd("study", "recompute", "advice", "--results", "x").err


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


# ---- magnitudes

TRUTH = simulate_pool(5, 40, rng=4)
GOLD = TRUTH.judgments()


@pytest.fixture(scope="module")
def crowd():
    return library.Judgments.from_frame(simulate_magnitudes(TRUTH, 90, rng=4).to_frame())


@pytest.fixture(scope="module")
def files(crowd, tmp_path_factory):
    """A user's magnitudes, as a file; gold and runs beside it."""
    return write_files(tmp_path_factory.mktemp("files"), crowd, GOLD, simulate_runs(TRUTH, 8, rng=4))


@pytest.fixture
def mine(files, tmp_path):
    """Those files in the folder where commands run."""
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    return ["--judgments", "mine.csv", "--n-resamples", 20]


@pytest.fixture
def unsaved(monkeypatch):
    """Figures are drawn but not saved as SVG, which takes ten times as long."""
    monkeypatch.setattr("qrowd_papers.written.render", lambda figure, _: f"<svg>{drawn(figure)}</svg>".encode())


@pytest.mark.nightly
def test_every_analysis_of_the_magnitude_paper_and_its_fifteen_figures_are_those_of_the_files(
    qrowd, mine, crowd, tmp_path, unsaved
):
    outcome = qrowd(
        "study", "magnitude", *mine, "--gold", "levels.csv", "--runs", "runs", "--figures", "drawn", "-o", "out.json"
    )
    assert outcome.status == 0, outcome.err
    assert "left out" not in outcome.out
    tables = json.loads((tmp_path / "out.json").read_text())
    assert {name.split(": ")[0] for name in tables} - {"sentence", "notes", "signature"} == {
        "distribution", "units", "agreement", "effort", "levels", "gains", "conflicts", "rankings",
    }  # fmt: skip
    sds = [row["log_sd"] for row in tables["distribution: topics"]]
    np.testing.assert_allclose(sds, distribution(crowd, by_topic=True).log_sd)
    ratios = pd.DataFrame(tables["agreement: documents"])["ratio"]
    np.testing.assert_allclose(ratios, geometric_sd(normalise(crowd)).ratio)
    assert sorted(path.name for path in (tmp_path / "drawn").glob("*.svg")) == sorted(
        f"magnitude-{number}.svg" for number in range(1, 16)
    )
    points = pd.read_csv(tmp_path / "drawn" / "magnitude-15.csv")
    np.testing.assert_allclose(points["ratio"], level_ratios(crowd, GOLD).ratio)


def test_without_gold_and_runs_the_rest_is_shown_and_the_output_says_what_is_left_out(qrowd, mine, tmp_path, unsaved):
    outcome = qrowd("study", "magnitude", *mine, "--figures", "drawn")
    assert outcome.status == 0, outcome.err
    assert "left out: levels: this needs gold grades; give --gold NAME or FILE" in outcome.out
    assert "left out: rankings: this needs runs; give --runs FILES" in outcome.out
    assert sorted(path.name for path in (tmp_path / "drawn").glob("*.svg")) == [
        "magnitude-1.svg", "magnitude-2.svg", "magnitude-5.svg", "magnitude-9.svg",
    ]  # fmt: skip


# ---- predicted relevance


def test_what_predicted_relevance_of_files_depends_on(qrowd, folder, tmp_path):
    judges = ["--judgments", *(folder / "judges" / f"{name}.qrels" for name in ("ann", "bob", "lena"))]
    judgments = library.read_judgments(judges[1:])
    (tmp_path / "types.csv").write_text("topic,type\n" + "".join(f"{t},{t[-1]}\n" for t in judgments.topics))
    command = ["study", "predicted-relevance", *judges, "--runs", folder / "runs", "--rel", 2, "--types", "types.csv"]
    outcome = qrowd(*command)
    assert outcome.status == 0, outcome.err
    for title in ("by model of user", "that separate two grades", "by type of topic", "down to the best rank"):
        assert title in outcome.out
    needed = sensitivity_to_sample_size(judgments, rel=2, rng=1).size_needed
    assert f"{needed[-1]:,.0f} are enough" in outcome.out
    assert "--rel" in qrowd("study", "predicted-relevance", *judges).err
