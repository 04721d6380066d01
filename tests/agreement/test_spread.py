"""Spread of the magnitudes of one document."""

import numpy as np
import pytest
from hypothesis import assume, given

from oracles import agreement as oracle
from panels import MAGNITUDES, judgments_of, judgments_of_rows, pairable, panels
from qrowd.agreement.spread import spread
from qrowd.errors import ScaleError
from qrowd.simulation import simulate_magnitudes, simulate_pool


@given(panels(MAGNITUDES))
def test_spread_is_what_its_definition_says(panel):
    assume(pairable(panel))
    frame = spread(judgments_of(panel, "magnitude")).to_frame().set_index("document")
    for document, said in panel.items():
        if len(said) < 2:
            assert document not in frame.index
            continue
        mean, deviation, ratio = oracle.spread(list(said.values()))
        row = frame.loc[document]
        assert row["n"] == len(said)
        assert row["geometric_mean"] == pytest.approx(mean)
        assert row["geometric_deviation"] == pytest.approx(deviation)
        assert row["ratio"] == pytest.approx(ratio)


def test_the_two_measures_of_spread_go_together():
    # Maddalena et al. (TOIS 2017), Figure 5: .999 for ten scores of each document.
    truth = simulate_pool(4, 60, rng=1)
    found = spread(simulate_magnitudes(truth, 120, rng=1), slots=10)
    assert set(found.n) == {10}
    assert found.correlation.r > 0.9
    assert found.correlation.p < 1e-10


def test_a_zero_has_no_ratio():
    with pytest.raises(ScaleError, match="there are values of 0, whose ratio to others has no end"):
        spread(judgments_of_rows(ann="01", bob="12"))


def test_equal_magnitudes_have_no_spread():
    found = spread(judgments_of({"d": {"ann": 0.1, "bob": 0.1, "cyd": 0.1}}, "magnitude"))
    assert (found.geometric_deviation[0], found.ratio[0]) == (1, 1)
    assert np.isnan(found.correlation.r)
