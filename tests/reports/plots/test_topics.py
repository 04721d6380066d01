"""Pictures of topics: agreement, ease, and the documents assessors are split on."""

import numpy as np
import pytest

from qrowd.agreement import ease_correlation, krippendorff_alpha
from qrowd.agreement.split_documents import split_documents
from qrowd.model.judgments import Judgments
from qrowd.model.scores import Scores
from qrowd.reports.plots.topics import alpha_order, plot_alpha, plot_split, plot_topics, split_names
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


SAID = Judgments.from_rows(
    [
        (topic, document, who, value)
        for topic, document, values in (
            ("q", "halves", (0, 0, 3, 3)), ("q", "same", (3, 3, 3, 3)), ("p", "one", (0, 0, 0, 3)),
            ("p", "near", (1, 1, 2, 2)), ("p", "alone", (3,)),
        )
        for who, value in zip(("ann", "bob", "cid", "dot"), values, strict=False)
    ],
    scales={"*": "0-3"},
)  # fmt: skip


def test_the_grade_of_everyone_who_judged_stands_in_its_cell():
    found = split_documents(SAID, min_assessors=1)
    ax = plot_split(found)
    assert len(ax.texts) == len(found.to_frame()) == 17
    assert [text.get_text() for text in ax.texts[:4]] == ["0", "0", "3", "3"]


def test_of_a_long_document_name_the_end_is_shown():
    rows = [("301", "msmarco_passage_08_123456789", who, v) for who, v in (("ann", 0), ("bob", 1))]
    assert split_names(split_documents(Judgments.from_rows(rows))) == ["301: …sage_08_123456789"]
