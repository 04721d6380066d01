"""A linear measure taken apart scores as the whole."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrowd import Judgments, Runs, evaluate
from qrowd.errors import MeasureError
from qrowd.measures import DEFINITIONS
from qrowd.measures.measure_kinds import linear_parts
from qrowd.model.measure import parse_measure
from qrowd.model.scales import parse_scale
from strategies import few

SCALE = parse_scale("0-3")
LINEAR = ("DCG", "DCG@3", "DCG(dcg=exp-log2)@4", "DCG(gains={1: 5})@4", "P@2", "P(rel=2)@3", "RBP(p=0.5)", "RBP@2")


@pytest.mark.parametrize("name", LINEAR)
@few
@given(st.lists(st.integers(0, 3), min_size=1, max_size=6))
def test_coefficients_times_gains_are_the_score(name, grades):
    documents = [f"d{i}" for i in range(len(grades))]
    judgments = Judgments.from_rows(
        [("t", d, "a", g) for d, g in zip(documents, grades, strict=True)], scales={"a": "0-3"}
    )
    runs = Runs.from_dict({"one": {"t": {d: -i for i, d in enumerate(documents)}}})
    coefficients, gains = linear_parts(parse_measure(name, DEFINITIONS), SCALE, len(grades))
    expected = evaluate(runs, judgments, [name]).values.item()
    ranked = np.array(grades)[: coefficients.size]
    assert coefficients @ gains[ranked] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("AP", "AP: is not a weighted sum of gains by rank; use one such as DCG@10"),
        ("DCG(judged_only=True)@5", "is not a weighted sum"),
        ("Judged@5", "Judged@5: gives every grade of 0-3 the same gain"),
        ("P(rel=4)@5", "so that judging decides nothing"),
    ],
)
def test_measures_that_grades_do_not_decide_linearly_are_refused(name, message):
    with pytest.raises(MeasureError) as found:
        linear_parts(parse_measure(name, DEFINITIONS), SCALE, 5)
    assert message in str(found.value)
