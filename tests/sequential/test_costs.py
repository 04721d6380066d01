"""What judgments cost: by assessor and by document."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import qrowd
from qrowd.errors import ArgumentError
from qrowd.sequential.costs import DocumentCosts, JudgmentCost

PEOPLE = qrowd.Judgments.from_dict({"ann": {"t": {"a": 1, "b": 0, "c": 2}}, "bob": {"t": {"a": 1}}})


def test_the_most_specific_cost_of_a_document_counts() -> None:
    table = {
        "topic": ["t", "t", None],
        "document": ["a", "", "b"],
        "cost": [5, 2.0, "3"],
    }
    costs = DocumentCosts.of(table).array(["t", "t", "t", "u"], ["a", "b", "c", "c"])
    np.testing.assert_array_equal(costs, [5, 3, 2, np.nan])
    frame = DocumentCosts.of(pd.DataFrame({"topic": ["t"], "cost": [4]}))
    assert frame.array(["t", "u"], ["a", "a"])[0] == 4


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"topic": ["t"]}, "document_costs: columns topic; cost was expected, with topic, document or both"),
        ({"cost": [1]}, "document_costs: columns cost; cost was expected"),
        ({"topic": ["t"], "cost": [0]}, "document_costs: t: the cost is 0; a number above 0"),
        ({"topic": ["t"], "document": ["a"], "cost": ["dear"]}, "document_costs: a of topic t: the cost is 'dear'"),
        ({"topic": ["t", "t"], "cost": [1, 2]}, "document_costs: t stands twice"),
        ({"topic": [""], "cost": [1]}, "document_costs: row 1 has neither a topic nor a document"),
    ],
)
def test_a_table_that_says_no_costs_is_refused(table: dict[str, list[object]], said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        DocumentCosts.of(table)


def test_the_mean_cost_goes_by_who_judged_so_far() -> None:
    assert JudgmentCost.of(2.0, PEOPLE).mean == 2
    assert JudgmentCost.of({"ann": 1, "bob": 2}).mean == 1.5
    cost = JudgmentCost.of({"ann": 1, "b*": 5, "cy": 100}, PEOPLE)  # cy has not judged yet
    assert cost.mean == pytest.approx((3 * 1 + 1 * 5) / 4)
    assert cost.assessors == ("ann", "bob", "cy")
    assert cost.by_judgments
    assert JudgmentCost.of(0, PEOPLE) == JudgmentCost()


@pytest.mark.parametrize(
    ("cost", "said"),
    [
        ({"ann": 1}, "there is no cost of 'bob', who judged; give one"),
        ({"ann": 1, "bob": -1}, "judgment_cost: bob: the cost is -1"),
        ({"ann": 1, "bob": 1, "x*": 2}, r"no assessor|'x\*'"),
        (float("inf"), "judgment_cost: the cost is inf"),
    ],
)
def test_a_cost_that_is_none_is_refused(cost: float | dict[str, float], said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        JudgmentCost.of(cost, PEOPLE)
