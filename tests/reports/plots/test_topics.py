"""Pictures of topics: agreement, ease, and the documents assessors are split on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrowd.agreement import ease_against_agreement, krippendorff_alpha
from qrowd.errors import NoOverlapError, ScaleError
from qrowd.model.judgments import Judgments
from qrowd.reports.plots.topics import alpha_order, plot_alpha, plot_split, plot_topics, split_documents, split_names
from qrowd.simulation import simulate_demo


@pytest.fixture(scope="module")
def alphas():
    judgments = simulate_demo()[1].unit_grades()
    return krippendorff_alpha(judgments, by="topic", bootstrap=100, rng=1)


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
    found = ease_against_agreement(scores, alphas, bins=(8,), topics=alphas.labels)
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


def test_the_documents_split_most_come_first():
    found = split_documents(SAID)
    assert found.documents == ("halves", "one", "near", "same")
    assert found.split == pytest.approx([1, 4 * 3 / 16, 1 / 9, 0])
    assert split_documents(SAID, top=2).documents == ("halves", "one")


def test_severe_assessors_stand_left_and_lenient_ones_right():
    assert split_documents(SAID).assessors == ("bob", "ann", "cid", "dot")
    assert split_documents(SAID).value[1].tolist() == [0, 0, 0, 3]


def test_who_judged_none_of_the_documents_shown_has_no_column():
    more = Judgments.from_rows(
        [("q", "split", who, v) for who, v in (("ann", 0), ("bob", 1))]
        + [("q", "same", who, 1) for who in ("cid", "dot")]
    )
    assert split_documents(more, top=1).assessors == ("ann", "bob")
    assert set(split_documents(more).assessors) == {"ann", "bob", "cid", "dot"}


def test_a_document_that_few_judged_is_left_out_unless_asked_for():
    assert "alone" not in split_documents(SAID).documents
    assert "alone" in split_documents(SAID, least=1).documents
    with pytest.raises(NoOverlapError, match="judged by 5 assessors"):
        split_documents(SAID, least=5)


def test_magnitudes_have_no_highest_value_to_be_split_between():
    free = Judgments.from_rows([("q", "a", "ann", 120), ("q", "a", "bob", 7)], scales={"*": "magnitude"})
    with pytest.raises(ScaleError, match="no highest value"):
        split_documents(free)


@given(st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=6))
def test_a_split_lies_between_unanimity_and_halves_whatever_the_scale(grades):
    def said(factor, scale):
        rows = [
            ("q", f"d{i}", who, factor * v) for i, row in enumerate(grades) for who, v in zip("abc", row, strict=True)
        ]
        return split_documents(Judgments.from_rows(rows, scales={"*": scale}))

    found = said(1, "0-3")
    assert ((found.split >= 0) & (found.split <= 1)).all()
    assert said(2, "0-6").split == pytest.approx(found.split)
    unanimous = [len(set(grades[int(name[1:])])) == 1 for name in found.documents]
    assert [one == pytest.approx(0) for one in found.split] == unanimous


def test_the_grade_of_everyone_who_judged_stands_in_its_cell():
    found = split_documents(SAID, least=1)
    ax = plot_split(found)
    assert len(ax.texts) == len(found.to_frame()) == 17
    assert [text.get_text() for text in ax.texts[:4]] == ["0", "0", "3", "3"]


def test_of_a_long_document_name_the_end_is_shown():
    rows = [("301", "msmarco_passage_08_123456789", who, v) for who, v in (("ann", 0), ("bob", 1))]
    assert split_names(split_documents(Judgments.from_rows(rows))) == ["301: …sage_08_123456789"]
