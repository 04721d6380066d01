"""Dispersion of the magnitudes of one document."""

import numpy as np
import pytest
from hypothesis import assume, given, settings

from oracles import agreement as oracle
from panels import MAGNITUDES, judgments_of, judgments_of_rows, pairable, panels
from qrowd.errors import ScaleError
from qrowd.simulation import simulate_magnitudes, simulate_pool
from qrowd_papers.magnitude.geometric_sd import geometric_sd


@settings(max_examples=settings.default.max_examples // 2)
@given(panels(MAGNITUDES))
def test_the_geometric_sd_is_what_its_definition_says(panel):
    assume(pairable(panel))
    frame = geometric_sd(judgments_of(panel, "magnitude")).to_frame().set_index("document")
    for document, said in panel.items():
        if len(said) < 2:
            assert document not in frame.index
            continue
        mean, deviation, ratio = oracle.geometric_sd(list(said.values()))
        row = frame.loc[document]
        assert row["n"] == len(said)
        assert row["geometric_mean"] == pytest.approx(mean)
        assert row["geometric_sd"] == pytest.approx(deviation)
        assert row["ratio"] == pytest.approx(ratio)


def test_geometric_sd_and_ratio_are_correlated():
    # Maddalena et al. (TOIS 2017), Figure 5: .999 for ten scores of each document.
    truth = simulate_pool(4, 60, rng=1)
    found = geometric_sd(simulate_magnitudes(truth, 120, rng=1).slots(10))
    assert set(found.n) == {10}
    assert found.correlation.r > 0.9
    assert found.correlation.p < 1e-10


def test_a_zero_is_refused():
    with pytest.raises(ScaleError, match="there are values of 0, which have no logarithm"):
        geometric_sd(judgments_of_rows(ann="01", bob="12"))


def test_equal_magnitudes_have_geometric_sd_1():
    found = geometric_sd(judgments_of({"d": {"ann": 0.1, "bob": 0.1, "cyd": 0.1}}, "magnitude"))
    assert (found.geometric_sd[0], found.ratio[0]) == (1, 1)
    assert np.isnan(found.correlation.r)
