"""The documents on which assessors are split most."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrowd.agreement.split_documents import split_documents
from qrowd.errors import NoOverlapError, ScaleError
from qrowd.model.judgments import Judgments

JUDGMENTS = Judgments.from_rows(
    [
        (topic, document, who, value)
        for topic, document, values in (
            ("q", "halves", (0, 0, 3, 3)), ("q", "same", (3, 3, 3, 3)), ("p", "one", (0, 0, 0, 3)),
            ("p", "near", (1, 1, 2, 2)), ("p", "alone", (3,)),
        )
        for who, value in zip(("ann", "bob", "cid", "dot"), values, strict=False)
    ],
    scales={"*": "0-3"},
)  # fmt: skip  # fmt: skip


def test_the_documents_split_most_come_first():
    found = split_documents(JUDGMENTS)
    assert found.documents == ("halves", "one", "near", "same")
    assert found.split == pytest.approx([1, 4 * 3 / 16, 1 / 9, 0])
    assert split_documents(JUDGMENTS, top=2).documents == ("halves", "one")


def test_severe_assessors_stand_left_and_lenient_ones_right():
    assert split_documents(JUDGMENTS).assessors == ("bob", "ann", "cid", "dot")
    assert split_documents(JUDGMENTS).value[1].tolist() == [0, 0, 0, 3]


def test_who_judged_none_of_the_documents_shown_has_no_column():
    more = Judgments.from_rows(
        [("q", "split", who, v) for who, v in (("ann", 0), ("bob", 1))]
        + [("q", "same", who, 1) for who in ("cid", "dot")]
    )
    assert split_documents(more, top=1).assessors == ("ann", "bob")
    assert set(split_documents(more).assessors) == {"ann", "bob", "cid", "dot"}


def test_a_document_that_few_judged_is_left_out_unless_asked_for():
    assert "alone" not in split_documents(JUDGMENTS).documents
    assert "alone" in split_documents(JUDGMENTS, min_assessors=1).documents
    with pytest.raises(NoOverlapError, match="judged by 5 assessors"):
        split_documents(JUDGMENTS, min_assessors=5)


def test_magnitudes_have_no_highest_value_to_be_split_between():
    free = Judgments.from_rows([("q", "a", "ann", 120), ("q", "a", "bob", 7)], scales={"*": "magnitude"})
    with pytest.raises(ScaleError, match="no highest value"):
        split_documents(free)


@given(st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=6))
def test_a_split_lies_between_unanimity_and_halves_whatever_the_scale(grades):
    def split(factor, scale):
        rows = [
            ("q", f"d{i}", who, factor * v) for i, row in enumerate(grades) for who, v in zip("abc", row, strict=True)
        ]
        return split_documents(Judgments.from_rows(rows, scales={"*": scale}))

    found = split(1, "0-3")
    assert ((found.split >= 0) & (found.split <= 1)).all()
    assert split(2, "0-6").split == pytest.approx(found.split)
    unanimous = [len(set(grades[int(name[1:])])) == 1 for name in found.documents]
    assert [one == pytest.approx(0) for one in found.split] == unanimous
