"""Do two assessors see the same system ahead?"""

import numpy as np
import pytest
import xarray
from hypothesis import given
from hypothesis import strategies as st

from oracles import comparison as oracle
from qrowd.comparison.rankings import sign_agreement
from qrowd.errors import ArgumentError
from qrowd.model.scores import Scores

SCORE = st.sampled_from([0.0, 0.5, 1.0, None])
TABLES = st.lists(st.tuples(*[st.tuples(*[SCORE] * 4)] * 2), min_size=1, max_size=4)


def array(rows):
    return Scores.from_array([[np.nan if v is None else v for v in row] for row in rows])


@given(TABLES)
def test_signs_are_counted_over_all_pairs_of_systems_of_all_topics(topics):
    x, y = zip(*topics, strict=True)
    same, opposite, tied = oracle.sign_counts(x, y)
    found = sign_agreement(array(x), array(y))
    assert (found.same, found.opposite, found.tied) == (same, opposite, tied)
    assert found.value == pytest.approx(same / (same + opposite) if same + opposite else float("nan"), nan_ok=True)
    assert sign_agreement(array(y), array(x)) == pytest.approx(found) or np.isnan(found.value)


def test_an_assessor_agrees_with_themself_and_never_with_their_opposite():
    x = np.random.default_rng(1).random((5, 6))
    assert sign_agreement(array(x), array(x)).value == 1
    assert sign_agreement(array(x), array(-x)).value == 0


def test_sides_that_do_not_fit_are_refused():
    with pytest.raises(ArgumentError, match="the same topics and systems"):
        sign_agreement(array(np.ones((2, 3))), array(np.ones((3, 3))))
    named = [xarray.DataArray(np.ones((1, 2)), [("topic", ["q"]), ("system", list(names))]) for names in ("ab", "ba")]
    with pytest.raises(ArgumentError, match="in the same order"):
        sign_agreement(*named)
