"""Pictures of preferences: what is drawn where."""

import io
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from qrowd.preferences import PreferenceTable
from qrowd.reports.plots.style import Figure, render
from qrowd_papers.preferences.inferred_tables import agreement_difference, redistributed
from qrowd_papers.preferences.plots import (
    plot_judging_times,
    plot_judgments_needed,
    plot_measures_beside,
    plot_tie_rates,
    plot_what_others_say,
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


def table(*states, counts):
    return PreferenceTable(states, np.array(counts, float), 10)


PREFERRED = table("A < B", "A > B", counts=[[80, 20], [20, 80]])
INFERRED = table("A < B", "A = B", "A > B", counts=[[50, 20, 10], [20, 40, 20], [10, 20, 50]])


def line(ax, label):
    return next(found for found in ax.lines if found.get_label() == label)


def test_a_line_follows_its_condition_from_few_documents_to_many():
    ax = plot_judgments_needed(curves(), ["all pairs", "sorting"])
    drawn = [found for found in ax.lines if len(found.get_xdata()) == 3]
    assert [found.get_xdata().tolist() for found in drawn] == [[4, 5, 8], [4, 5, 8]]
    assert [found.get_ydata().tolist() for found in drawn] == [[6, 10, 28], [5, 7.2, 15.5]]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["all pairs", "sorting"]
    alone = plot_judgments_needed(curves(), ["sorting"])
    assert [found.get_ydata().tolist() for found in alone.lines if len(found.get_xdata()) == 3] == [[5, 7.2, 15.5]]


def test_cells_say_the_share_and_rows_how_often_they_were_said():
    ax = plot_what_others_say(["yes", "no"], np.array([[0.9, 0.1], [0.25, 0.75]]), total=np.array([1000, 400]))
    assert [label.get_text() for label in ax.get_yticklabels()] == ["yes (1,000)", "no (400)"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["yes", "no"]
    assert [text.get_text() for text in ax.texts][:4] == ["0.90", "0.10", "0.25", "0.75"]


def test_grades_agree_as_ties_are_dealt_out_and_the_band_is_where_no_difference_is_significant():
    ax = plot_tie_rates(PREFERRED, INFERRED, points=11)
    grades = line(ax, "grades")
    assert grades.get_ydata() == pytest.approx(
        [redistributed(INFERRED, rate=r).agreement for r in np.linspace(0, 1, 11)]
    )
    assert (np.diff(grades.get_ydata()) > 0).all()
    assert line(ax, "preferences").get_ydata()[0] == 0.8
    alike = [agreement_difference(PREFERRED, redistributed(INFERRED, rate=r)).p >= 0.05 for r in np.linspace(0, 1, 11)]
    assert any(alike)
    assert not all(alike)
    shaded = ax.collections[0].get_paths()[0].get_extents()
    wanted = np.linspace(0, 1, 11)[alike]
    assert (shaded.x0, shaded.x1) == (pytest.approx(wanted[0], abs=0.051), pytest.approx(wanted[-1], abs=0.051))


def test_times_stand_in_a_row_for_each_assessor():
    ax = plot_judging_times({"preference": [2.0, NAN], "absolute": [5.0, 6.0]}, ["ann", "bob"])
    assert line(ax, "preference").get_xdata()[0] == 2
    assert line(ax, "absolute").get_xdata().tolist() == [5, 6]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["ann", "bob"]


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
    "preferences-says": lambda ax: plot_what_others_say(PREFERRED.states, PREFERRED.probability, ax=ax),
    "preferences-ties": lambda ax: plot_tie_rates(PREFERRED, INFERRED, ax=ax),
}


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_look_as_they_did(name):
    picture = render(Figure(name, "", PICTURES[name], lambda: None, size=(3.0, 2.0)), "png")
    kept = (REFERENCE / f"{name}.png").read_bytes()
    assert len(kept) < 40_000
    assert np.abs(pixels(picture) - pixels(kept)).mean() < 0.01
