"""How pictures look: the same data, the same bytes; and every general figure as it was when somebody last looked at it.

The references in `reference/` are drawn from the demo's panel, without text: letters differ by the version of FreeType,
marks do not. With QROWD_DRAW=1 in the environment these tests draw them anew; look at them before they are committed.
"""

import os
import re
from io import BytesIO
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure as Canvas
from matplotlib.image import imread
from matplotlib.text import Text

from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.model.conventions import Conventions
from qrowd.model.runs import Runs
from qrowd.reports.plots.registry import PLOTS, Options, busiest, default_methods, plot_named
from qrowd.reports.plots.style import PALETTE, RULES, Figure, axes_or_new, name_points, render, styled
from qrowd.simulation import simulate_demo

REFERENCE = Path(__file__).parent / "reference"
DOTS = 55  # per inch
TOLERANCE = 0.0002  # mean absolute difference of pixels, from 0 to 1: less than any mark makes that is missing


@pytest.fixture(scope="module")
def demo():
    runs, judgments, _ = simulate_demo()
    return runs, judgments


@pytest.fixture(scope="module")
def general(demo):
    """{name: figure}, each made once."""
    options = Options(conventions=Conventions(grades="rescaled"), n_resamples=200, top=8)
    return {name: plot(*demo, options) for name, plot in PLOTS.items()}


def marks(figure, change=lambda ax: None):
    """A PNG of everything but the text, the axes always in the same place."""
    with styled():
        canvas = Canvas(figsize=figure.size or RULES["figure.figsize"], layout="none")
        ax = canvas.subplots()
        figure.draw(ax)
        if ax.get_legend():
            ax.get_legend().remove()
        for text in canvas.findobj(Text):
            text.set_visible(False)
        change(ax)
        out = BytesIO()
        canvas.savefig(out, format="png", dpi=DOTS, metadata={"Software": None})
        return out.getvalue()


def apart(first, second):
    """Mean absolute difference of two PNG."""
    now, then = (imread(BytesIO(png), format="png")[:, :, :3] for png in (first, second))
    assert now.shape == then.shape
    return np.abs(now - then).mean()


@pytest.mark.parametrize("name", PLOTS)
def test_a_general_figure_looks_as_it_did(name, general):
    file = REFERENCE / f"plot-{name}.png"
    if os.environ.get("QROWD_DRAW"):
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(marks(general[name]))
    assert file.stat().st_size < 40_000
    assert apart(marks(general[name]), file.read_bytes()) <= TOLERANCE


@pytest.mark.parametrize("name", ["systems", "ranks", "bump", "components", "assessors", "alpha"])
def test_a_mark_that_is_missing_is_noticed(name, general):
    def without(ax):
        (ax.lines or ax.patches)[-1].remove()

    assert apart(marks(general[name], without), (REFERENCE / f"plot-{name}.png").read_bytes()) > TOLERANCE


@pytest.mark.parametrize("name", PLOTS)
def test_a_general_figure_has_a_caption_and_data(name, general):
    figure = general[name]
    assert figure.name == name
    assert figure.caption.endswith(".")
    assert len(figure.frame()) > 0


DATE = re.compile(rb"CreationDate|<dc:date>|20\d\d-\d\d-\d\d")


def test_the_same_data_gives_the_same_svg_without_a_date_and_its_text_stays_text(general):
    file = render(general["systems"], "svg")
    assert file == render(general["systems"], "svg")
    assert file.startswith(b"<?xml")
    assert not DATE.search(file)
    assert b"rerank-large</text>" in file


@pytest.mark.parametrize(("form", "start"), [("pdf", b"%PDF"), ("png", b"\x89PNG")])
def test_a_picture_is_written_as_pdf_or_png_without_a_date(form, start, general):
    file = render(general["ranks"], form)
    assert file.startswith(start)
    assert not DATE.search(file)


def test_another_form_is_refused(general):
    with pytest.raises(ArgumentError, match="format='gif': a plot is written as svg, pdf, png"):
        render(general["ranks"], "gif")


def test_our_style_is_nobody_else_s():
    before = dict(plt.rcParams)
    with styled():
        assert plt.rcParams["font.size"] == RULES["font.size"]
        assert plt.rcParams["axes.prop_cycle"].by_key()["color"] == list(PALETTE)
    assert dict(plt.rcParams) == before


def test_axes_that_are_given_are_drawn_on():
    ax = Canvas().subplots()
    assert axes_or_new(ax) is ax
    assert axes_or_new(None) is not ax
    assert not plt.get_fignums()  # nothing opens a window


def test_the_colours_differ_in_lightness_or_hue_for_everybody():
    """Okabe & Ito's colours keep apart when red and green are one (Machado et al. 2009, deuteranopia)."""
    matrix = np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]])
    rgb = np.array([[int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)] for colour in PALETTE])
    seen = rgb @ matrix.T
    apart = np.linalg.norm(seen[:, None] - seen[None], axis=2)[np.triu_indices(len(PALETTE), 1)]
    assert apart.min() > 0.1


def test_a_name_that_would_cover_another_is_left_out():
    ax = axes_or_new(None)
    x = np.array([0.0, 0.5, 0.5, 0.5001, 1.0])
    y = np.array([0.0, 0.5, 0.5, 0.5, np.nan])
    ax.plot(x, y, "o")
    name_points(ax, x, y, ["far", "a long name", "another long name", "", "nowhere"])
    shown = [text.get_text() for text in ax.texts]
    assert "far" in shown
    assert "nowhere" not in shown
    ax.figure.draw_without_rendering()
    boxes = [Text.get_window_extent(text) for text in ax.texts]  # without the line to the dot
    assert not any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i])


def test_a_figure_without_size_is_as_wide_as_its_panels():
    def draw(axes):
        for ax in np.ravel(axes):
            ax.plot([0, 1])

    one, four = (Figure("x", "x.", draw, lambda: None, panels=panels) for panels in ((1, 1), (2, 2)))
    first, second = (imread(BytesIO(render(figure, "png")), format="png").shape for figure in (one, four))
    assert second[1] == 2 * first[1]
    assert second[0] > first[0]


# ---- by name


def test_a_general_figure_says_what_it_asks_and_what_it_needs():
    for name, plot in PLOTS.items():
        assert plot.name == name
        assert plot.sentence.endswith("?")
        assert set(plot.needs) <= {"runs", "judgments"}
        assert bool(plot.measures) <= ("runs" in plot.needs)


def test_an_unknown_name_gets_the_nearest():
    with pytest.raises(ArgumentError, match="'bumb' is not known; did you mean 'bump'"):
        plot_named("bumb")
    assert plot_named("bump") is PLOTS["bump"]


@pytest.mark.parametrize(("name", "options", "message"), [
    ("systems", None, "it needs runs"),
])  # fmt: skip
def test_what_a_figure_lacks_is_said(name, options, message, demo):
    runs, judgments = demo
    with pytest.raises(ArgumentError, match=message):
        PLOTS[name](None if options is None else runs, judgments, options)


@pytest.mark.parametrize("options", [{"top": 0}, {"cutoff": 0}, {"n_resamples": 1}, {"confidence": 95}])
def test_an_option_outside_its_range_is_named(options):
    (name,) = options
    with pytest.raises(ArgumentError, match=f"{name}={options[name]}"):
        Options(**options)


def test_the_methods_of_a_bump_are_those_the_judgments_allow(demo):
    judgments = demo[1]
    graded = judgments.select(assessors=["ann", "bob", "lena"])
    assert default_methods(graded)[1:3] == ("majority", "dawid-skene")
    assert default_methods(graded)[-1] == "predicted-relevance(rel=2)"
    assert default_methods(judgments.select(assessors=["crowd-1", "crowd-2"]))[-1] == "predicted-relevance(rel=1)"
    assert default_methods(judgments.rescaled())[1:3] == ("mean", "median")
    assert "majority" not in default_methods(judgments)  # several scales
    assert "geometric-mean" in default_methods(graded.recode({0: 1}).with_scales({"*": "magnitude"}))


def test_a_bump_of_whole_grades_goes_through_votes_to_predicted_relevance(demo):
    runs, judgments = demo
    graded = judgments.select(assessors=["ann", "bob", "lena", "sven"])
    figure = PLOTS["bump"](runs, graded, Options(methods=("majority", "uniform")))
    assert list(dict.fromkeys(figure.frame()["method"])) == ["majority", "uniform"]


def test_a_caption_says_what_the_picture_does_not_show(demo):
    runs, judgments = demo
    graded = judgments.select(assessors=["ann", "bob", "lena", "sven"])
    one = runs.to_dict(system="bm25")
    twins = Runs.from_dict({"bm25": one, "twin": one})
    bump = PLOTS["bump"](twins, graded, Options(methods=("majority", "uniform")))
    assert set(bump.frame()["rank"]) == {1}
    assert "those with equal means are drawn below one another. In colour: those that move most" in bump.caption
    assert "Names that would cover others are left out" in PLOTS["assessors"](None, graded).caption


def test_of_a_crowd_those_who_judged_most_are_in_the_tables(demo):
    runs, judgments = demo
    assert busiest(judgments, 8) == judgments.assessors
    assert busiest(judgments, 6) == ("ann", "bob", "lena", "sven", "crowd-3", "llm-a")  # crowd-1, crowd-2 judged less
    for name in ("kappa", "correlation"):
        frame = PLOTS[name](runs, judgments, Options(conventions=Conventions(grades="rescaled"), top=3)).frame()
        assert set(frame["first"]) | set(frame["second"]) == {"ann", "bob", "lena"}


def test_runs_and_judgments_without_a_common_topic_are_an_error(demo):
    runs, judgments = demo
    with pytest.raises(NoOverlapError):
        PLOTS["coverage"](runs.select(topics=["q01"]), judgments.select(topics=["q02"]))
