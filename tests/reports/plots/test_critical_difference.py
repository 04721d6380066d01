"""Critical-difference diagrams: every label is on the picture and covers no other."""

from itertools import combinations

import numpy as np
import pytest

from qrowd.comparison import mean_ranks
from qrowd.model.scores import Scores
from qrowd.reports.plots.critical_difference import caption_of, layout_of, plot_critical_difference
from qrowd.reports.plots.style import styled


def ranked(n_systems, n_topics=30, name="system-{}", spread=0.5, **options):
    rng = np.random.default_rng(n_systems)
    values = rng.normal(0, 0.15, (n_topics, n_systems)) + np.linspace(spread, 0, n_systems)
    return mean_ranks(Scores.from_array(values, systems=[name.format(s) for s in range(n_systems)]), **options)


def drawn(result, top=None):
    """The axes of the diagram in its own size, and a canvas that knows where everything is."""
    from matplotlib.figure import Figure as Canvas

    place = layout_of(result, top)
    with styled():
        canvas = Canvas(figsize=(place.width, place.height))
        ax = plot_critical_difference(result, top=top, ax=canvas.subplots())
        canvas.draw_without_rendering()
    return canvas, ax


LONG = "colbert_rankgpt4o_msmarco_v2_{}_p2020-judged-rerank-large"


@pytest.mark.parametrize(("n_systems", "top", "name"), [
    *((n_systems, None, "s{}") for n_systems in (2, 3)),
    *((*size, LONG) for size in ((2, None), (40, None), (40, 1))),
    *(pytest.param(*size, LONG, marks=pytest.mark.nightly) for size in ((12, None), (40, 15))),
])  # fmt: skip
def test_no_label_is_cut_off_or_covers_another(n_systems, top, name):
    canvas, ax = drawn(ranked(n_systems, name=name), top)
    boxes = [text.get_window_extent() for text in ax.texts]
    assert sum(name.split("{}")[0] in text.get_text() for text in ax.texts) >= (top or n_systems)
    for box in boxes:
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= canvas.bbox.width
        assert box.y1 <= canvas.bbox.height
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))


def test_a_bar_joins_each_group_and_bars_do_not_cover_each_other():
    result = ranked(12)
    place = layout_of(result)
    several = [group for group in result.groups if len(group) > 1]
    assert [(result.systems[a], result.systems[b]) for a, b, _ in place.bars] == [(g[0], g[-1]) for g in several]
    for one, other in combinations(place.bars, 2):
        if one[2] == other[2]:
            assert result.mean_rank[one[1]] < result.mean_rank[other[0]]


def test_of_the_best_systems_ranks_are_those_among_all():
    result = ranked(80)
    _, ax = drawn(result, 10)
    labels = {text.get_text() for text in ax.texts}
    assert {f"{result.systems[s]}  {result.mean_rank[s]:.2f}" for s in range(10)} <= labels
    assert not any(label.startswith(f"{result.systems[10]} ") for label in labels)
    assert "the best 10 of 80 systems" in caption_of(result, "AP", 10)


def test_the_caption_names_the_test_and_a_test_without_critical_difference_draws_none():
    result = ranked(4, test="max-t", n_resamples=200, rng=1)
    _, ax = drawn(result)
    assert not any("critical" in text.get_text() for text in ax.texts)
    assert "max-t over topics and assessors; 95 % for all pairs together" in caption_of(result, "AP", None)
    assert "Nemenyi, over topics; 95 %" in caption_of(ranked(4), "AP", None)
