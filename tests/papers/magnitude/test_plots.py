"""Pictures of magnitudes: what is drawn, and each as it was when somebody last looked at it.

The references in `reference/` are drawn from a small simulated campaign. `QROWD_DRAW=1 pytest
tests/papers/magnitude/test_plots.py` draws them anew; look at them before they are committed.
"""

import os
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure as Canvas
from matplotlib.image import imread

from qrowd.magnitude import check_documents, gain_profile, level_tests, normalise
from qrowd.reports.plots.style import RULES, styled
from qrowd.simulation import MagnitudeCrowd, simulate_magnitudes, simulate_pool
from qrowd_papers.magnitude import plots
from qrowd_papers.magnitude.distribution import distribution
from qrowd_papers.magnitude.geometric_sd import geometric_sd
from qrowd_papers.magnitude.level_ratios import FIGURE_15, level_ratios
from qrowd_papers.magnitude.order_agreement import order_agreement
from qrowd_papers.magnitude.unit_counts import unit_widths

REFERENCE = Path(__file__).parents[1] / "reference"
DOTS = 50
TOLERANCE = 0.02  # mean absolute difference of pixels, from 0 to 1: letters a pixel apart, but no other mark
LEVELS = ("N", "M", "R", "H")
TRUTH = simulate_pool(4, 40, rng=2)
CROWD = simulate_magnitudes(TRUTH, 90, crowd=MagnitudeCrowd(noise=0.7), rng=2)
GOLD = TRUTH.judgments()
ONE_SCALE = normalise(CROWD)


def shares(seed, n=18):
    return np.random.default_rng(seed).uniform(0.5, 1, n)


def draw_two_rankings(ax):
    random = np.random.default_rng(4)
    x = np.linspace(0.2, 0.8, 30)
    y = x + random.normal(0, 0.06, 30)
    plots.plot_two_rankings(x, y, top_x=x > 0.7, top_y=y > 0.7, tau=0.7654, name="nDCG@10", kind="TREC's", ax=ax)
    ax.legend(loc="lower right")


DRAWN = {
    "distribution": lambda ax: plots.plot_distribution(distribution(CROWD), ax=ax),
    "levels": lambda ax: plots.plot_levels(level_tests(ONE_SCALE, GOLD), LEVELS, ax=ax),
    "spread": lambda ax: plots.plot_spread(geometric_sd(ONE_SCALE), checks=checks_of(geometric_sd(ONE_SCALE)), ax=ax),
    "unit-agreement": lambda ax: plots.plot_unit_agreement(
        {"gold": order_agreement(CROWD, GOLD, by="unit"), "by topic": order_agreement(CROWD, GOLD, by="topic")}, ax=ax
    ),
    "order-agreement": lambda ax: plots.plot_order_agreement({"NH": shares(1), "RH": shares(2)}, ax=ax),
    "schemes": lambda ax: plots.plot_schemes(
        {(a, b): shares(i + 3 * j) for i, a in enumerate(("mean", "checks")) for j, b in enumerate(("median", "x"))},
        ax=ax,
    ),
    "deviations": lambda ax: plots.plot_deviations(np.random.default_rng(3).lognormal(0.9, 0.5, 800), ax=ax),
    "two-rankings": draw_two_rankings,
    "correlations": lambda ax: plots.plot_correlations({"a": shares(5), "b": shares(6) - 0.6}, marks={"a": 0.7}, ax=ax),
    "widths": lambda ax: plots.plot_widths(unit_widths(CROWD, GOLD), least=2, ax=ax),
    "gain-profile": lambda ax: plots.plot_gain_profile(gain_profile(CROWD, GOLD), LEVELS, ax=ax),
    "level-ratios": lambda ax: plots.plot_level_ratios(level_ratios(CROWD, GOLD, pairs=FIGURE_15), ax=ax),
}


def checks_of(found):
    pairs = {(topic, name) for topic, both in check_documents(CROWD, GOLD).items() for name in both}
    return np.array([pair in pairs for pair in zip(found.topic, found.document, strict=True)])


def drawn(draw):
    """A picture, as a file."""
    with styled():
        canvas = Canvas(figsize=RULES["figure.figsize"])
        draw(canvas.subplots())
        out = BytesIO()
        canvas.savefig(out, format="png", dpi=DOTS, metadata={"Software": None})
    return out


def words(ax):
    return " ".join(text.get_text() for text in ax.texts)


@pytest.mark.nightly
@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_of_magnitudes_looks_as_it_did(name):
    picture = drawn(DRAWN[name])
    file = REFERENCE / f"magnitude-{name}.png"
    if os.environ.get("QROWD_DRAW"):
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(picture.getvalue())
    picture.seek(0)
    ours, theirs = imread(picture), imread(file)
    assert ours.shape == theirs.shape
    assert np.abs(ours - theirs).mean() <= TOLERANCE


def test_dots_lie_on_the_share_of_magnitudes_up_to_a_value():
    ax = plots.plot_distribution(distribution(CROWD, by_topic=True), "q2")
    dots = next(line for line in ax.lines if line.get_marker() == ".")
    here = CROWD.value[CROWD.topic == CROWD.topics.index("q2")]
    for value, share in list(zip(*dots.get_data(), strict=True))[::10]:
        assert share == pytest.approx(np.mean(here <= value))


def test_boxes_of_levels_show_the_medians_of_the_tests():
    found = level_tests(ONE_SCALE, GOLD)
    ax = plots.plot_levels(found, LEVELS)
    middles = [line.get_ydata()[0] for line in ax.lines if line.get_linewidth() == 1.8]
    assert middles == pytest.approx(found.medians)  # everything has gold, so U has no box
    assert [label.get_text() for label in ax.get_xticklabels()] == ["U", *LEVELS]


def test_every_document_is_counted_in_one_ratio():
    found = geometric_sd(ONE_SCALE)
    ax = plots.plot_spread(found, checks=checks_of(found))
    assert ax.collections[0].get_offsets()[:, 1].sum() == found.ratio.size
    assert (ax.collections[0].get_offsets()[:, 0] % 5 == 0).all()
    (inner,) = ax.child_axes
    assert [len(marks.get_offsets()) for marks in inner.collections] == [found.ratio.size - 8, 8]


def test_the_curve_of_units_ends_at_the_share_with_full_agreement():
    found = order_agreement(CROWD, GOLD, by="unit")
    ax = plots.plot_unit_agreement({"gold": found})
    x, y = ax.lines[0].get_data()
    assert (x[0], y[0], x[-1]) == (0, 100, 100)
    assert y[-1] == pytest.approx(100 * np.mean(found.value == 1))
    assert (np.diff(y) <= 1e-12).all()


def test_a_column_shows_its_topics_and_their_mean_and_leaves_unknown_ones_out():
    ax = plots.plot_order_agreement({"NH": np.array([0.5, 1.0, np.nan])})
    assert sorted(ax.collections[0].get_offsets()[:, 1]) == [50, 100]
    assert words(ax) == "75"


def test_what_lies_above_the_limit_is_written_not_drawn():
    ax = plots.plot_deviations(np.array([1.0, 2.0, 3.0, 7.0, 9.0]))
    assert sum(patch.get_height() for patch in ax.patches) == 3
    assert "2 documents\nabove 6" in words(ax)
    assert "median 3.0" in words(ax)


def test_every_system_has_one_mark_by_the_top_sets_it_belongs_to():
    top_x, top_y = np.array([True, True, False, False]), np.array([True, False, True, False])
    x = np.arange(4.0)
    ax = plots.plot_two_rankings(x, -x, top_x=top_x, top_y=top_y, tau=-1.0, name="P", kind="NIST's")
    by_label = {marks.get_label(): marks.get_offsets()[:, 0].tolist() for marks in ax.collections}
    assert by_label == {
        "neither top set": [3],
        "top by magnitudes": [1],
        "top by NIST's grades": [2],
        "top by both": [0],
    }
    assert "-1.000" in words(ax)


def test_rare_ratios_are_left_out_and_counted():
    found = unit_widths(CROWD, GOLD)
    ax = plots.plot_widths(found, least=3)
    counts = found.to_frame(what="counts")
    rare = int(counts["n_units"][counts["n_units"] < 3].sum())
    assert f"{rare} units" in words(ax)
    assert len(ax.collections[0].get_segments()) == (counts["n_units"] >= 3).sum()


def test_a_gain_profile_names_its_numbers_and_overlays_both_usual_gains():
    found = gain_profile(CROWD, GOLD)
    ax = plots.plot_gain_profile(found, LEVELS)
    assert (
        ax.get_xticklabels()[3].get_text()
        == f"H\nn = {found.gains.n[3]:,}\n{(found.gain[found.level == 3] > 20).sum():,} > 20"
    )
    lines = {line.get_label(): line.get_ydata().tolist() for line in ax.lines}
    assert lines["linear"] == [1, 2, 3, 4]
    assert lines["exponential"] == [2, 4, 8, 16]


def test_ratios_of_levels_are_dots_up_to_the_limit():
    found = level_ratios(CROWD, GOLD, pairs=FIGURE_15)
    ax = plots.plot_level_ratios(found)
    dots = [len(marks.get_offsets()) for marks in ax.collections]
    assert dots == [int((found.ratio[found.pair == p] <= 3.5).sum()) for p in range(3)]
    assert f"{(found.ratio[found.pair == 0] > 3.5).sum():,} above" in words(ax)
