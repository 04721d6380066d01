"""Pictures of agreement and of gain distributions: what is drawn where, and how it looks.

The references in `reference/` are drawn from small simulated panels. `QROWD_DRAW=1 pytest
tests/papers/test_agreement_plots.py` draws them anew; look at them before they are committed.
"""

import os
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure as Canvas
from matplotlib.image import imread

from qrowd.agreement import ease_correlation, krippendorff_alpha
from qrowd.evaluation import evaluate
from qrowd.gain_distributions import agreement_aware_ndcg, gain_distributions
from qrowd.model.scores import Scores
from qrowd.reports.plots.style import GREY, styled
from qrowd.simulation import Lenient, simulate_demo, simulate_judgments, simulate_pool, simulate_runs
from qrowd_papers.agreement.gain_density import density
from qrowd_papers.agreement.gold import alpha_by_gold, alpha_of_matched_subsets
from qrowd_papers.agreement.plots import (
    REMOVED,
    apart,
    check_curves,
    plot_alpha_by_gold,
    plot_alpha_by_topic,
    plot_check_distributions,
    plot_cumulated_gain,
    plot_gain_ridges,
    plot_scatter,
    plot_topic_removal,
    plot_topics,
    smoothed,
)
from qrowd_papers.agreement.scatter import scatter
from qrowd_papers.agreement.study import topic_removal

REFERENCE = Path(__file__).parent / "reference"
DOTS = 50
TOLERANCE = 0.02  # mean absolute difference of pixels, from 0 to 1: letters a pixel apart, but no other mark
TRUTH = simulate_pool(12, 40, n_grades=3, rng=3)
PANEL = simulate_judgments(TRUTH, {name: Lenient(noise=0.7) for name in ("ann", "bob", "cy", "dan")}, rng=3)
RUNS = simulate_runs(TRUTH, 8, depth=20, rng=3)
GOLD = TRUTH.judgments()
RANDOM = np.random.default_rng(3)
CHECKS = {name: (RANDOM.normal(2, 0.8, 90), RANDOM.normal(0.5, 0.9, 80)) for name in ("q1", "q2", "q3")}


@pytest.fixture(scope="module")
def by_topic():
    return krippendorff_alpha(PANEL, level="interval", by="topic", n_resamples=50, rng=3)


@pytest.fixture(scope="module")
def by_gold():
    return alpha_by_gold(PANEL, GOLD, level="interval", by="topic")


@pytest.fixture(scope="module")
def matched():
    return alpha_of_matched_subsets(PANEL, GOLD, level="interval", n_resamples=10, rng=3)


@pytest.fixture(scope="module")
def removal(by_topic):
    agreement = dict(zip(by_topic.labels, by_topic.value.tolist(), strict=True))
    return topic_removal(evaluate(RUNS, GOLD, "nDCG").to_xarray(), agreement, n_resamples=40, rng=3)


@pytest.fixture(scope="module")
def listed():
    return density(RUNS, gain_distributions(PANEL), "q01", system="sys8", cutoff=5)


@pytest.fixture(scope="module")
def two_measures():
    aware = agreement_aware_ndcg(RUNS, PANEL, cutoff=10)
    return scatter(evaluate(RUNS, GOLD, "AP"), aware.scores().sel(measure=aware.measure))


# ---- what is drawn where


def test_topics_stand_in_order_of_alpha_each_on_its_interval(by_topic):
    ax = plot_alpha_by_topic(by_topic.alphas)
    dots = ax.lines[-1]
    assert dots.get_ydata().tolist() == sorted(by_topic.value)
    alphas = sorted((alpha for _, alpha in by_topic), key=lambda alpha: alpha.value)
    for (start, end), alpha in zip(ax.collections[0].get_segments(), alphas, strict=True):
        assert (start[1], end[1]) == (alpha.low, alpha.high)


def test_without_replicates_there_are_no_intervals(by_gold):
    ax = plot_alpha_by_topic([alphas[by_gold.names.index("01")] for alphas in by_gold.alphas])
    assert not ax.collections
    value = by_gold.of("01")
    assert ax.lines[-1].get_ydata().tolist() == sorted(value[~np.isnan(value)])


def test_every_set_of_gold_levels_has_an_ascending_curve_of_complete_topics_and_its_name(by_gold, matched):
    ax = plot_alpha_by_gold(by_gold, matched)
    curves = [line for line in ax.lines if line.get_marker() != "None"]
    assert len(curves) == len(by_gold.names) == 7
    for line, name in zip(curves, by_gold.names, strict=True):
        value = by_gold.of(name)[by_gold.complete]
        assert line.get_ydata().tolist() == sorted(value[~np.isnan(value)])
    assert len({(line.get_color(), line.get_marker(), line.get_linestyle()) for line in curves}) == 7
    assert len({line.get_marker() for line in curves}) == 7  # never by colour alone
    names = {text.get_text() for text in ax.texts}
    assert {r"$\alpha^{A}$", r"$\alpha^{0}$", r"$\alpha^{12}$"} < names
    pale = [line for line in ax.lines if line.get_color() == GREY and line.get_linewidth() == 4]
    assert [line.get_ydata().tolist() for line in pale] == [
        sorted(column[~np.isnan(column)]) for column in matched.mean.T
    ]


def test_scores_go_down_to_the_right_and_ranks_up_to_all_topics(removal):
    score, tau = plot_topic_removal(removal), plot_topic_removal(removal, "tau")
    assert score.get_xlim()[0] > score.get_xlim()[1]
    assert tau.get_xlim()[0] < tau.get_xlim()[1]
    shown = removal.n_topics >= 2
    for ax, values in ((score, removal.score), (tau, removal.tau)):
        lines = [line for line in ax.lines if line.get_label() in REMOVED]
        for line, curve in zip(lines, values, strict=True):
            assert line.get_xdata().tolist() == removal.n_topics[shown].tolist()
            assert line.get_ydata().tolist() == curve[shown].tolist()
        assert [text.get_text() for text in ax.get_legend().get_texts()] == list(REMOVED)


def test_what_is_called_low_agreement_left_is_what_has_its_high_ones_removed(removal):
    frame = removal.to_frame()
    ax = plot_topic_removal(removal)
    low = next(line for line in ax.lines if line.get_label() == "low-agreement topics left")
    rows = frame[(frame["removed"] == "high") & (frame["n_topics"] >= 2)]
    assert low.get_ydata().tolist() == rows["score"].tolist()


def test_check_documents_have_a_row_a_topic_the_first_on_top(by_topic):
    ax = plot_check_distributions(CHECKS)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == ["q1", "q2", "q3"]
    assert ax.get_yticks().tolist() == [2, 1, 0]
    assert {line.get_linestyle() for line in ax.lines} == {"-", "--"}


def test_ridges_have_a_row_a_rank_and_the_mean_of_the_mixture(listed):
    for curve in ("gain", "discounted"):
        ax = plot_gain_ridges(listed, curve)
        assert [label.get_text() for label in ax.get_yticklabels()] == ["1", "2", "3", "4", "5"]
        heights = [line.get_ydata() for line in ax.lines if len(line.get_ydata()) == 100]
        assert len(heights) == 5
    mean = next(line for line in ax.lines if line.get_linestyle() == ":").get_xdata()[0]
    assert mean == pytest.approx(listed.mean[-1], abs=0.02)  # bins


def test_the_cumulated_gain_is_the_last_rank_s_with_mean_and_spread(listed):
    ax = plot_cumulated_gain(listed)
    assert ax.lines[0].get_ydata().tolist() == listed.cumulated[-1].tolist()
    assert ax.texts[0].get_text() == f"mean {listed.mean[-1]:.2f}\ns.d. {listed.sd[-1]:.2f}"


@pytest.mark.parametrize(("of", "side"), [("systems", 0), ("topics", 1)])
def test_a_scatter_has_a_dot_for_each_and_both_correlations(two_measures, of, side):
    ax = plot_scatter(two_measures, of)
    x, y = (two_measures.by_system, two_measures.by_topic)[side]
    assert ax.lines[0].get_xdata().tolist() == x.tolist()
    assert ax.lines[0].get_ydata().tolist() == y.tolist()
    told = f"{x.size} {of}: r = {two_measures.pearson[side]:.2f}, τ = {two_measures.tau[side]:.2f}"
    assert ax.texts[0].get_text() == told


# ---- laws


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_names_beside_curves_keep_their_order_and_a_distance_and_stay_inside(ends):
    heights = apart(sorted(ends), 0.07, 1.0)
    assert all(b - a >= 0.07 - 1e-12 for a, b in pairwise(heights))
    assert max(heights) <= 1.0 + 1e-12


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=20))
def test_a_smoothed_sample_is_a_density_whose_mean_is_the_sample_s(values):
    sample = np.array(values)
    width = max(sample.std(ddof=1) * sample.size**-0.2, 1e-9) if sample.size > 1 else 0.1
    if width < 1e-3:
        return
    at = np.linspace(sample.min() - 8 * width, sample.max() + 8 * width, 20_001)
    height = smoothed(sample, at)
    step = at[1] - at[0]
    assert height.sum() * step == pytest.approx(1, abs=1e-6)
    assert (height * at).sum() * step == pytest.approx(sample.mean(), abs=1e-4)


def test_curves_of_check_documents_hold_nearly_all_that_was_said():
    at, curves = check_curves(CHECKS)
    for pair in curves.values():
        for height in pair:
            assert height.sum() * (at[1] - at[0]) > 0.9


# ---- how they look


def drawn(draw):
    """A picture, as a file."""
    with styled():
        canvas = Canvas()
        draw(canvas.subplots())
        out = BytesIO()
        canvas.savefig(out, format="png", dpi=DOTS, metadata={"Software": None})
    return out


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["alpha", "levels", "scores", "tau", "checks", "ridges", "cumulated", "scatter"])
def test_a_picture_looks_like_its_reference(name, by_topic, by_gold, matched, removal, listed, two_measures):
    draw = {
        "alpha": lambda ax: plot_alpha_by_topic(by_topic.alphas, ax=ax),
        "levels": lambda ax: plot_alpha_by_gold(by_gold, matched, ax=ax),
        "scores": lambda ax: plot_topic_removal(removal, ax=ax),
        "tau": lambda ax: plot_topic_removal(removal, "tau", ax=ax),
        "checks": lambda ax: plot_check_distributions(CHECKS, ax=ax),
        "ridges": lambda ax: plot_gain_ridges(listed, ax=ax),
        "cumulated": lambda ax: plot_cumulated_gain(listed, ax=ax),
        "scatter": lambda ax: plot_scatter(two_measures, ax=ax),
    }[name]
    picture = drawn(draw)
    file = REFERENCE / f"agreement-{name}.png"
    if os.environ.get("QROWD_DRAW"):
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(picture.getvalue())
    picture.seek(0)
    ours, theirs = imread(picture), imread(file)
    assert ours.shape == theirs.shape
    assert np.abs(ours - theirs).mean() <= TOLERANCE


@pytest.fixture(scope="module")
def alphas():
    judgments = simulate_demo()[1].rescaled()
    return krippendorff_alpha(judgments, by="topic", n_resamples=100, rng=1)


def test_ease_is_drawn_against_agreement_with_the_means_of_bins(alphas):
    random = np.random.default_rng(1)
    scores = random.random((25, 4)) + alphas.value[:, None]
    found = ease_correlation(Scores.from_array(scores, topics=alphas.labels), alphas, bins=(8,))
    ax = plot_topics(found)
    dots, bins = ax.lines
    assert dots.get_xdata().tolist() == alphas.value.tolist()
    assert dots.get_ydata() == pytest.approx(scores.mean(axis=1))
    order = np.argsort(alphas.value)
    assert bins.get_xdata()[0] == pytest.approx(alphas.value[order[:4]].mean())
    said = [text.get_text() for text in ax.texts]
    assert any(text.startswith(f"Pearson's r {found.correlations[0][-1].r:.2f}, p ") for text in said)
    assert len(plot_topics(found, bins=0).lines) == 1
