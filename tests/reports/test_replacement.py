"""A model in place of assessors: each part of the answer is a table."""

import pytest
from pandas.testing import assert_frame_equal

from qrowd.errors import ArgumentError
from qrowd.model.conventions import Conventions
from qrowd.reports.replacement import replacement
from qrowd.simulation import simulate_demo


def test_each_part_of_the_answer_is_a_table_and_what_was_not_asked_for_is_none():
    runs, judgments, _ = simulate_demo()
    few = judgments.select(assessors=["ann", "bob", "lena", "llm-a"])
    rescaled = Conventions(grades="rescaled")
    answer = replacement(few, "llm-a", runs=runs, groups={"rerank": ["rerank*"]}, conventions=rescaled, rng=1)
    assert answer.to_frame()["assessor"].tolist() == ["ann", "bob", "lena"]
    for what, part in (("test", answer.test), ("assessors", answer.assessor_tests), ("bias", answer.bias)):
        assert_frame_equal(answer.to_frame(what=what), part.to_frame())
    assert answer.sentence in str(answer)
    with pytest.raises(ArgumentError, match="choose one of test, assessors, bias"):
        answer.to_frame(what="ceiling")
