"""The plot of alpha by topic."""

import pytest

from qrowd.agreement import krippendorff_alpha
from qrowd.model.judgments import Judgments
from qrowd.reports.plots.assessor_plots import alpha_order, plot_alpha
from qrowd.simulation import simulate_demo


@pytest.fixture(scope="module")
def alphas():
    judgments = simulate_demo()[1].rescaled()
    return krippendorff_alpha(judgments, by="topic", n_resamples=100, rng=1)


def row_names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def test_topics_stand_by_alpha_with_their_intervals(alphas):
    ax = plot_alpha(alphas, overall=0.28)
    names = row_names(ax)
    values = [alphas[name].value for name in names]
    assert values == sorted(values, reverse=True)
    assert len(names) == 25
    (bars,) = ax.collections
    for (start, end), name in zip(bars.get_segments(), names, strict=True):
        assert (start[0], end[0]) == pytest.approx((alphas[name].low, alphas[name].high))
    assert [text.get_text() for text in ax.get_legend().get_texts()][-1] == "all topics: 0.280"


def test_of_many_topics_both_ends_are_shown(alphas):
    order = alpha_order(alphas)
    assert alpha_order(alphas, 5) == order[:3] + order[-2:]
    assert len(row_names(plot_alpha(alphas, top=5))) == 5


def test_a_topic_without_alpha_is_left_out():
    rows = [("same", d, who, 1) for d in "abc" for who in ("ann", "bob")]
    rows += [("apart", d, who, int(d == "a")) for d in "abc" for who in ("ann", "bob")]
    found = krippendorff_alpha(Judgments.from_rows(rows), by="topic")
    assert row_names(plot_alpha(found)) == ["apart"]
    assert not plot_alpha(found).collections  # nothing was resampled
