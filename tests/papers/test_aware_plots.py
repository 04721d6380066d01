"""Pictures of AWARE: what is drawn where, and that names cover nothing."""

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure as Canvas
from matplotlib.image import imread

from qrowd.aware.estimators import GAPS
from qrowd.aware.similarity import Similarities
from qrowd.model.scores import Scores
from qrowd.reports.plots.style import PALETTE, Figure, render
from qrowd_papers.analysis_of_variance import interaction_effects, main_effects
from qrowd_papers.aware.plots import (
    SIZES_OF_EFFECTS,
    name_ends,
    plot_effect_sizes,
    plot_interaction,
    plot_main_effects,
    plot_score_densities,
    plot_similarity_to_random,
    plot_tukey,
)
from qrowd_papers.tukey import tukey_of_means

REFERENCE = Path(__file__).parent / "reference"
# Ferrante, Ferro, Maistro (2017), Figure 8(e): means of the similarities, and the error of Table 3.
GAP_MEANS = {"apc": 0.6687, "tau": 0.6645, "kld": 0.6608, "fro": 0.6593, "rmse": 0.6499}


def printed_gaps():
    return tukey_of_means(list(GAP_MEANS), np.array(list(GAP_MEANS.values())), np.full(5, 1044), 6.4347 / 5167, 5167)


def responses():
    """Three methods by sizes 2 to 10: one rises, one falls, one stays."""
    rows = [
        (size, name, slope * size) for size in (2, 3, 5, 10) for name, slope in (("up", 1), ("down", -1), ("no", 0))
    ]
    size, method, y = zip(*rows, strict=True)
    return {"size": np.array(size), "method": np.array(method), "y": np.array(y, float)}


def row_names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def test_levels_stand_best_on_top_with_the_letters_that_the_paper_s_groups_give():
    found = printed_gaps()
    ax = plot_tukey(found, marked=["kld"])
    assert row_names(ax) == ["apc", "tau", "kld", "fro", "rmse"]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]
    assert [text.get_text() for text in ax.texts] == ["a", "ab", "bc", "c", "d"]
    marks = {line.get_color(): line.get_xdata().tolist() for line in ax.lines if line.get_marker() in "os^"}
    assert marks[PALETTE[0]] == [0.6687, 0.6645]  # the top group
    assert marks[PALETTE[1]] == [0.6608]  # the one marked
    dashed = next(line for line in ax.lines if line.get_linestyle() == "--")
    assert dashed.get_xdata()[0] == pytest.approx(0.6687 - found.half_width[0])


def test_a_band_shows_which_levels_do_not_differ_from_one_as_the_papers_figures_4e_and_6e():
    """The paper's groups of Figure 8(e): (apc tau) (tau kld) (kld fro) (rmse)."""
    found = printed_gaps()
    ax = plot_tukey(found, compared=["kld", "unknown"])
    (band,) = [patch for patch in ax.patches if patch.get_label() == "not different from kld: 2"]
    low, high = band.get_x(), band.get_x() + band.get_width()
    assert (low, high) == (pytest.approx(0.6608 - found.half_width[2]), pytest.approx(0.6608 + found.half_width[2]))
    reach = [name for name, m, h in zip(found.levels, found.mean, found.half_width, strict=True)
             if m - h <= high and m + h >= low]  # fmt: skip
    assert reach == ["tau", "kld", "fro"]


def test_the_dashed_line_lies_above_the_best_where_low_is_good():
    found = tukey_of_means(["a", "b"], np.array([0.2, 0.4]), np.full(2, 9), 0.01, 16, best="lowest")
    dashed = next(line for line in plot_tukey(found).lines if line.get_linestyle() == "--")
    assert dashed.get_xdata()[0] == pytest.approx(0.2 + found.half_width[0])


def test_levels_that_are_numbers_stand_where_their_number_is():
    ax = plot_main_effects(main_effects(responses(), "y", ["size", "method"]), "size")
    assert ax.lines[0].get_xdata().tolist() == [2, 3, 5, 10]
    assert ax.lines[0].get_ydata() == pytest.approx([0, 0, 0, 0])
    named = plot_main_effects(main_effects(responses(), "y", ["size", "method"]), "method")
    assert named.lines[0].get_ydata() == pytest.approx([5, -5, 0])
    assert [label.get_text() for label in named.get_xticklabels()] == ["up", "down", "no"]


def test_lines_of_an_interaction_are_the_cells_means_and_those_not_shown_are_grey():
    effects = interaction_effects(responses(), "y", "size", "method")
    ax = plot_interaction(effects, shown=["down", "up", "unknown"])
    by_name = {line.get_label(): line for line in ax.lines}
    assert by_name["up"].get_ydata().tolist() == [2, 3, 5, 10]
    assert by_name["down"].get_ydata().tolist() == [-2, -3, -5, -10]
    assert len(ax.lines) == 3
    assert {text.get_text() for text in ax.texts} == {"up", "down"}


@given(st.lists(st.floats(0, 1), min_size=1, max_size=7))
def test_names_beside_lines_do_not_cover_each_other_and_keep_their_order(heights):
    ax = Canvas(figsize=(4, 3)).subplots()
    ax.set_ylim(0, 1)
    name_ends(ax, 1.0, [(y, f"line {i}", "black") for i, y in enumerate(heights)])
    places = [text.xyann[1] for text in ax.texts]
    step = 8.5 / (ax.get_window_extent().height * 72 / ax.figure.dpi)
    assert (np.diff(places) >= step * 0.98).all()
    assert [heights[int(text.get_text().split()[1])] for text in ax.texts] == sorted(heights)


def test_effect_sizes_stand_at_their_value_and_shades_begin_where_effects_are_called_larger():
    ax = plot_effect_sizes({"method": 0.488, "gap": 0.0298}, {"here": {"method": 0.25}})
    assert ax.lines[0].get_xdata().tolist() == [0.488, 0.0298]
    assert ax.lines[1].get_xdata()[0] == 0.25
    assert np.isnan(ax.lines[1].get_xdata()[1])
    starts = [patch.get_x() for patch in ax.patches]
    assert starts == pytest.approx(list(SIZES_OF_EFFECTS.values()))


def test_assessors_stand_with_the_one_least_like_any_random_one_on_top():
    half = np.full((1, 3, 1, 1), 0.5)
    scores = Scores(("AP",), ("x", "y", "z"), ("q",), ("s",), half, half[..., 0], half[0, ..., 0], {})
    single = np.zeros((len(GAPS), 1, 2, 3))
    single[3, 0] = [[0.2, 0.9, 0.1], [0.6, 0.1, 0.3]]
    similarities = Similarities(scores, "random", {"under": 0.05, "over": 0.95}, single, np.zeros((5, 1, 2, 3, 1)))
    ax = plot_similarity_to_random(similarities, "AP", "tau")
    assert row_names(ax) == ["z", "x", "y"]
    assert ax.lines[0].get_xdata().tolist() == [0.1, 0.2, 0.9]
    assert ax.lines[1].get_xdata().tolist() == [0.3, 0.6, 0.1]


def test_densities_reach_from_0_to_1_and_the_mark_is_at_the_peak():
    bell = np.exp(-((np.linspace(0, 1, 101) - 0.3) ** 2) / 0.01)
    ax = plot_score_densities({"even": bell}, {"ann": bell[::-1]})
    grey, line, peak = ax.lines
    assert (grey.get_xdata()[0], grey.get_xdata()[-1]) == (0, 1)
    assert (peak.get_xdata()[0], peak.get_ydata()[0]) == (pytest.approx(0.3), pytest.approx(1))
    assert line.get_ydata() == pytest.approx(bell)


# ---- beside kept pictures


def pixels(png):
    return imread(io.BytesIO(png))[..., :3]


PICTURES = {
    "aware-tukey": lambda ax: plot_tukey(printed_gaps(), marked=["rmse"], response="mean tau_ap", ax=ax),
    "aware-interaction": lambda ax: plot_interaction(
        interaction_effects(responses(), "y", "size", "method"), shown=["up", "down"], ax=ax
    ),
    "aware-effects": lambda ax: plot_effect_sizes(
        {"approach": 0.488, "measure": 0.9109, "gap": 0.0298}, {"here": {"approach": 0.25, "gap": 0.0}}, ax=ax
    ),
}


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_look_as_they_did(name):
    picture = render(Figure(name, "", PICTURES[name], lambda: None, size=(3.0, 2.0)), "png")
    kept = (REFERENCE / f"{name}.png").read_bytes()
    assert len(kept) < 40_000
    assert np.abs(pixels(picture) - pixels(kept)).mean() < 0.01
