"""Pictures of preferences: what is drawn where."""

import io
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from qrowd.reports.plots.style import Figure, render
from qrowd_papers.preferences.plots import (
    plot_judgments_needed,
    plot_measures_beside,
)
from qrowd_papers.preferences.replays import Curves

REFERENCE = Path(__file__).parent / "reference"
NAN = float("nan")


def curves():
    """Two conditions on topics of 5, 4 and 8 documents."""
    documents = np.array([5, 4, 8, 4, 5, 8])
    condition = np.array(["all pairs"] * 3 + ["sorting"] * 3, object)
    judgments = np.array([10.0, 6.0, 28.0, 5.0, 7.2, 15.5])
    return Curves(condition, documents, np.array([3, 1, 2, 1, 3, 2]), judgments, np.zeros(6), np.zeros(6))


def test_a_line_follows_its_condition_from_few_documents_to_many():
    ax = plot_judgments_needed(curves(), ["all pairs", "sorting"])
    drawn = [found for found in ax.lines if len(found.get_xdata()) == 3]
    assert [found.get_xdata().tolist() for found in drawn] == [[4, 5, 8], [4, 5, 8]]
    assert [found.get_ydata().tolist() for found in drawn] == [[6, 10, 28], [5, 7.2, 15.5]]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["all pairs", "sorting"]
    alone = plot_judgments_needed(curves(), ["sorting"])
    assert [found.get_ydata().tolist() for found in alone.lines if len(found.get_xdata()) == 3] == [[5, 7.2, 15.5]]


def test_scores_that_one_measure_lacks_are_left_out_and_few_of_many_are_drawn():
    x, y = np.array([0.1, 0.2, NAN, 0.4]), np.array([1.0, 2.0, 3.0, 4.0])
    ax = plot_measures_beside(x, y, names=("a", "b"))
    assert ax.lines[0].get_xdata().tolist() == [0.1, 0.2, 0.4]
    assert ax.texts[0].get_text() == "r 1.000"
    many = plot_measures_beside(np.arange(100.0), np.arange(100.0), names=("a", "b"), most=30)
    assert many.lines[0].get_xdata().size == 25


# ---- beside kept pictures


def pixels(png):
    return imread(io.BytesIO(png))[..., :3]


PICTURES = {
    "preferences-needed": lambda ax: plot_judgments_needed(curves(), ["all pairs", "sorting"], ax=ax),
}


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_look_as_they_did(name):
    picture = render(Figure(name, "", PICTURES[name], lambda: None, size=(3.0, 2.0)), "png")
    kept = (REFERENCE / f"{name}.png").read_bytes()
    assert len(kept) < 40_000
    assert np.abs(pixels(picture) - pixels(kept)).mean() < 0.01
