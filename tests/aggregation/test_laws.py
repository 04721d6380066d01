"""What holds for every aggregator."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qrowd
from merging import by_pair, judgments_of, panels
from qrowd import aggregation
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.model.judgments import Judgments

# Every aggregator with its coins fixed to the lowest grade, so that names of documents cannot matter.
EVERY = {
    "majority_vote": lambda j: aggregation.majority_vote(j, ties="lowest"),
    "mean": aggregation.mean,
    "median": aggregation.median,
    "geometric_mean": lambda j: aggregation.geometric_mean(j.recode({0: 1, 1: 2, 2: 3})),
    "dawid_skene": lambda j: aggregation.dawid_skene(j, ties="lowest"),
    "dawid_skene pooled": lambda j: aggregation.dawid_skene(j, start="shares", per="all"),
    "mace": lambda j: aggregation.mace(j, restarts=2, max_iterations=200, rng=1),
}
NAMED = {name.split()[0] for name in EVERY}
every = pytest.mark.parametrize("name", EVERY)


def test_every_aggregator_is_held_to_these_laws():
    public = {n for n in aggregation.__all__ if n[0].islower()}
    assert public == NAMED | {"total"}  # a sum has a scale of its own


@every
@given(labels=panels(grades=(0, 1, 2)), data=st.data())
@settings(max_examples=settings.default.max_examples // 2)
def test_nobodys_name_matters_and_no_order_of_rows(name, labels, data):
    if name == "mace":  # starts by chance are dealt out by number, so it may end elsewhere
        return
    merged = by_pair(EVERY[name](judgments_of(labels)))
    renamed = {("x" + t, "y" + d): {"z" + a: g for a, g in said.items()} for (t, d), said in labels.items()}
    assert by_pair(EVERY[name](judgments_of(renamed))) == {
        ("x" + t, "y" + d): pytest.approx(value) for (t, d), value in merged.items()
    }
    shuffled = dict(data.draw(st.permutations(list(labels.items()))))
    assert by_pair(EVERY[name](judgments_of(shuffled))) == {p: pytest.approx(v) for p, v in merged.items()}


@every
@given(grades=st.lists(st.integers(0, 2), min_size=1, max_size=5))
@settings(max_examples=settings.default.max_examples // 2)
def test_a_unanimous_panel_gives_its_unanimous_grade(name, grades):
    labels = {("t", f"d{i}"): dict.fromkeys("abc", grade) for i, grade in enumerate(grades)}
    merged = by_pair(EVERY[name](judgments_of(labels, scale="0-3")))
    shift = 1 if name == "geometric_mean" else 0
    assert merged == {pair: pytest.approx(next(iter(said.values())) + shift) for pair, said in labels.items()}


@every
@given(labels=panels())
@settings(max_examples=settings.default.max_examples * 3 // 10)
def test_the_result_is_judgments_that_evaluate_takes(name, labels):
    merged = EVERY[name](judgments_of(labels)).judgments
    runs = qrowd.Runs.from_dict({"A": {t: {d: 1.0 for u, d in labels if u == t} for t, _ in labels}})
    scores = qrowd.evaluate(runs, merged, "nDCG").to_xarray()
    assert scores.sizes["assessor"] == 1
    assert ((scores >= 0) & (scores <= 1 + 1e-12)).all()


@every
def test_no_judgments_are_refused_in_one_line(name):
    nothing = Judgments.from_rows([("t", "d", "a", -1)])
    with pytest.raises(NoOverlapError, match="no judgments to merge"):
        EVERY[name](nothing)


@pytest.mark.parametrize("name", ["majority_vote", "dawid_skene", "dawid_skene pooled", "mace"])
@given(labels=panels())
@settings(max_examples=settings.default.max_examples * 3 // 10)
def test_posteriors_sum_to_one_and_the_grade_is_their_highest(name, labels):
    found = EVERY[name](judgments_of(labels))
    assert found.posterior.sum(axis=1) == pytest.approx(1)
    chosen = np.searchsorted(found.grades, found.judgments.value)
    assert found.posterior[np.arange(chosen.size), chosen] == pytest.approx(found.posterior.max(axis=1))
    assert found.expected().value == pytest.approx(found.posterior @ found.grades)


def test_averages_have_no_posterior():
    merged = aggregation.mean(judgments_of({("t", "d"): {"a": 1, "b": 2}}))
    for ask in (merged.expected, lambda: merged.to_frame(what="confusion")):
        with pytest.raises(ArgumentError, match="mean"):
            ask()


def test_the_frames_hold_every_pair_and_every_confusion():
    labels = {("t", f"d{i}"): {"a": i % 2, "b": i % 2} for i in range(4)}
    found = aggregation.dawid_skene(judgments_of(labels), per="all")
    frame = found.to_frame()
    assert list(frame.columns) == ["topic", "document", "value", "p_0", "p_1"]
    assert len(frame) == 4
    confusion = found.to_frame(what="confusion")
    assert confusion[["gives_0", "gives_1"]].sum(axis=1).tolist() == pytest.approx([1] * 4)
