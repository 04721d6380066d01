"""The condition of `qrowd compare --fail-if` and its interval."""

import importlib.util
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import qrowd
from qrowd.errors import ArgumentError
from qrowd.reports.gate import Gate

SYSTEMS = ("new", "old", "bm25+rm3", "old-0.5", "a b")
NUMBERS = st.floats(-1, 1)


@pytest.mark.parametrize(
    ("text", "first", "sign", "second", "margin"),
    [
        ("new<old", "new", "<", "old", 0),
        (" new  <= old ", "new", "<=", "old", 0),
        ("new<=old-0.01", "new", "<=", "old", -0.01),
        ("new<=old + .5", "new", "<=", "old", 0.5),
        ("new<=old-0.5", "new", "<=", "old-0.5", 0),
        ("new<=old-0.5-0.5", "new", "<=", "old-0.5", -0.5),
        ("bm25+rm3<a b + 1", "bm25+rm3", "<", "a b", 1),
        ("new<=old-9", "new", "<=", "old-9", 0),  # a misspelt name is no margin of 9, which would never fail
    ],
)
def test_a_condition_names_two_systems_and_a_margin(text, first, sign, second, margin):
    assert Gate.parse(text, SYSTEMS) == Gate(text, first, sign, second, margin)


@pytest.mark.parametrize("text", ["", "<", "new<", "<=old", "new", "new=old", "new>old"])
def test_anything_else_is_refused(text):
    with pytest.raises(ArgumentError):
        Gate.parse(text, SYSTEMS)


@given(NUMBERS, NUMBERS, st.floats(-0.5, 0.5))
def test_at_most_is_the_contrary_of_more_and_follows_from_less(low, high, margin):
    low, high = sorted((low, high))
    of = SimpleNamespace(low=low, high=high)
    turned = SimpleNamespace(low=-high, high=-low)
    less, at_most = (Gate("", "new", sign, "old", margin).holds(of) for sign in ("<", "<="))
    more = Gate("", "old", "<", "new", -margin).holds(turned)
    assert at_most is not more
    assert at_most or not less
    assert less == (high < margin)


@given(NUMBERS, NUMBERS, st.floats(0, 0.5))
def test_a_wider_interval_fails_what_asks_for_proof_and_passes_what_asks_for_a_loss(low, high, wider):
    low, high = sorted((low, high))
    narrow, wide = SimpleNamespace(low=low, high=high), SimpleNamespace(low=low - wider, high=high + wider)
    less, at_most = (Gate("", "new", sign, "old", 0.0) for sign in ("<", "<="))
    assert at_most.holds(wide) or not at_most.holds(narrow)
    assert less.holds(narrow) or not less.holds(wide)


@pytest.mark.nightly
def test_the_simulation_of_its_errors_decides_as_compare_does():
    path = Path(__file__).resolve().parents[2] / "docs" / "gate_errors.py"
    spec = importlib.util.spec_from_file_location("gate_errors", path)
    simulation = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(simulation)
    decided = [simulation.shown(25, 3, rng) for rng in range(20)]
    seeds = [rng for rng, (worse, better) in enumerate(decided) if any(worse) or any(better)]
    assert 1 <= len(seeds) <= 5  # of 20 pairs of equal systems
    for rng in (0, *seeds[:3]):
        worse, better = decided[rng]
        data = (*simulation.simulated(25, 3, rng), list(simulation.MEASURES))
        lost = qrowd.compare(*data, fail_if="new<old", n_resamples=10).gate.holds_by
        at_most = qrowd.compare(*data, fail_if="new<=old", n_resamples=10).gate.holds_by
        assert [name in lost for name in simulation.MEASURES] == worse
        assert [name not in at_most for name in simulation.MEASURES] == better
