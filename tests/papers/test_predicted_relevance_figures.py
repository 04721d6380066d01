"""The predicted relevance paper's figures: what stands behind them, and how they looked when somebody last looked.

`QROWD_DRAW=1 pytest tests/papers/test_predicted_relevance_figures.py` draws the references anew; look at them before
they are committed.
"""

import os
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure as Canvas
from matplotlib.image import imread

from qrowd.predicted_relevance import relevant_results
from qrowd.reports.plots.style import RULES, render, styled
from qrowd_papers.predicted_relevance.cases import Panel, load
from qrowd_papers.predicted_relevance.figures import predicted_relevance_figures
from qrowd_papers.predicted_relevance.sensitivity import (
    sensitivity_to_rank,
    sensitivity_to_sample_size,
    sensitivity_to_topics,
)
from qrowd_papers.predicted_relevance.study import means_by_gains

REFERENCE = Path(__file__).parent / "reference"
NAMES = ("prm-1", "prm-2", "prm-3", "prm-table-3", "prm-table-5", "prm-table-7")
DOTS = 50
TOLERANCE = 0.02  # mean absolute difference of pixels, from 0 to 1


@pytest.fixture(scope="module")
def figures():
    return {figure.name: figure for figure in predicted_relevance_figures(quick=True, rng=1)}


@pytest.fixture(scope="module")
def pages():
    return load(None, True, 1)["pages"]


def test_the_paper_s_figures_are_there_with_captions(figures):
    assert tuple(figures) == NAMES
    for figure in figures.values():
        assert figure.caption.endswith(".")
        assert "simulated" in figure.caption


@pytest.mark.nightly
@pytest.mark.parametrize("name", NAMES)
def test_a_figure_looks_as_it_did(name, figures):
    figure = figures[name]
    with styled():
        canvas = Canvas(figsize=figure.size or RULES["figure.figsize"])
        figure.draw(canvas.subplots(*figure.panels))
        picture = BytesIO()
        canvas.savefig(picture, format="png", dpi=DOTS, metadata={"Software": None})
    file = REFERENCE / f"{name}.png"
    if os.environ.get("QROWD_DRAW"):
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(picture.getvalue())
    picture.seek(0)
    now, then = (imread(source, format="png")[:, :, :3] for source in (picture, file))
    assert now.shape == then.shape
    assert np.abs(now - then).mean() <= TOLERANCE
    assert file.stat().st_size < 40_000


@pytest.mark.nightly
def test_the_same_data_gives_the_same_bytes(figures):
    assert render(figures["prm-2"], "svg") == render(figures["prm-2"], "svg")


def test_figure_1_s_data_are_those_of_by_quality_for_both_kinds_of_users(figures, pages):
    frame = figures["prm-1"].frame()
    for title, theta in (("theta = Key", 3), ("theta = Rel", 1)):
        found = sensitivity_to_rank(pages.doubles, pages.runs, rel=theta)
        mine = frame[frame["theta"] == title]
        assert mine["probability"].to_numpy() == pytest.approx(found.probability.ravel(), nan_ok=True)


def test_figures_2_and_3_s_data_are_those_of_their_rooms(figures, pages):
    frame = figures["prm-2"].frame()
    drawn = sensitivity_to_topics(pages.doubles, rel=3, n_resamples=100, rng=1).replicates
    mine = frame[frame["panel"] == "simulated pages"]["probability"].to_numpy()
    assert mine == pytest.approx(drawn.ravel(), nan_ok=True)
    frame = figures["prm-3"].frame()
    mean = sensitivity_to_sample_size(pages.doubles, rel=3, rng=1).mean
    assert frame["mean"].to_numpy() == pytest.approx(mean.ravel(), nan_ok=True)


def test_tables_5_and_7_as_pictures_have_the_tables_numbers(figures, pages):
    panel = Panel(pages)
    frame = figures["prm-table-5"].frame()
    counted = relevant_results(panel.model(1), pages.whole, runs=pages.runs, cutoff=30).to_frame()
    mine = frame[frame["relevant"] == "from Rel on"]
    assert mine["binary"].to_numpy() == pytest.approx(counted["binary"].to_numpy())
    frame = figures["prm-table-7"].frame()
    means = means_by_gains(pages.runs, pages.whole, panel.model(3), "nDCG@20")
    best = frame[(frame["method"] == "linear") & (frame["rank_of_all"] == 1)]["mean"]
    assert best.max() == pytest.approx(means["linear"].max())
