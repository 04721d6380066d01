"""Scores made of a table with a row per score."""

import numpy as np
import pytest

from qrowd import Scores
from qrowd.errors import InputError

ROWS = {
    "topic": ["1", "1", "2", "2", "1"],
    "system": ["a", "b", "a", "b", "a"],
    "assessor": ["ann", "ann", "ann", "bob", "bob"],
    "measure": ["m", "m", "m", "m", "n"],
    "value": [0.25, -1, 3, 4, 5],
}


def test_a_row_is_a_cell_and_cells_without_a_row_are_missing():
    scores = Scores.from_frame(ROWS)
    assert (scores.measures, scores.assessors, scores.topics, scores.systems) == (
        ("m", "n"),
        ("ann", "bob"),
        ("1", "2"),
        ("a", "b"),
    )
    found = {
        (*(ROWS[name][i] for name in ("measure", "assessor", "topic", "system")),): ROWS["value"][i] for i in range(5)
    }
    for at, value in np.ndenumerate(scores.values):
        labels = zip((scores.measures, scores.assessors, scores.topics, scores.systems), at, strict=True)
        expected = found.get(tuple(names[i] for names, i in labels), np.nan)
        assert value == expected or (np.isnan(value) and np.isnan(expected))


def test_assessor_and_measure_may_be_missing():
    scores = Scores.from_frame({name: ROWS[name][:2] for name in ("topic", "system", "value")}, assessor="nist")
    assert (scores.measures, scores.assessors) == (("score",), ("nist",))
    np.testing.assert_array_equal(scores.values, [[[[0.25, -1]]]])


@pytest.mark.parametrize(
    ("frame", "problem"),
    [
        ({**ROWS, "unit": list("12345")}, "holds units of answers, not scores; evaluate it by the measure Mean"),
        ({name: [*cells, cells[0]] for name, cells in ROWS.items()}, "row 6: the score of m, ann, 1, a stands twice"),
        ({**ROWS, "value": [1, 2, "x", 3, 4]}, "row 3: expected a finite number as value, found 'x'"),
        ({name: ROWS[name] for name in ("topic", "value")}, "no system column"),
    ],
)
def test_other_tables_are_refused_with_the_place(frame, problem):
    with pytest.raises(InputError, match=problem):
        Scores.from_frame(frame)
