"""What designs would give, and what a budget buys."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from numbered_scores import numbered
from oracles import generalizability as oracle
from qrowd.comparison import best_design, d_study, variance_components
from qrowd.comparison.generalizability import MAX_ASSESSORS, MAX_TOPICS, VarianceComponents
from qrowd.errors import ArgumentError

SOURCES = {
    "crossed": {
        "s": "system", "t": "topic", "a": "assessor", "st": "system*topic", "sa": "system*assessor",
        "ta": "topic*assessor", "sta": "error",
    },
    "nested": {"s": "system", "t": "topic", "a:t": "assessor:topic", "st": "system*topic", "sa:t": "error"},
}  # fmt: skip


def components(design="crossed", **v):
    """With these variance components, 0 where none is given; of 25 topics, 3 assessors, 10 systems."""
    sources = tuple(SOURCES[design].values())
    values = np.array([v.get(letter.replace(":", "_"), 0.0) for letter in SOURCES[design]])
    nothing = np.zeros(values.size)
    return VarianceComponents(
        design,
        sources,
        nothing,
        nothing.astype(int),
        nothing,
        values,
        values,
        values / max(values.sum(), 1e-300),
        (),
        topics=tuple(map(str, range(25))),
        assessors=("x", "y", "z"),
        systems=tuple(map(str, range(10))),
        n_assessors=3.0,
        n_scores=75,
        n_left_out=0,
        handling="made up",
    )


PART = st.sampled_from([0.0, 0.01, 0.3, 1.0])


@st.composite
def drawn(draw):
    design = draw(st.sampled_from(["crossed", "nested"]))
    found = {letter.replace(":", "_"): draw(PART) for letter in SOURCES[design]}
    assume(found["s"] > 0)
    return components(design, **found)


def letters(given_):
    return dict(zip(SOURCES[given_.design], given_.component.tolist(), strict=True))


@given(
    drawn(), st.lists(st.integers(1, 300), min_size=1, max_size=3), st.lists(st.integers(1, 9), min_size=1, max_size=3)
)
def test_a_d_study_holds_the_coefficients_of_every_design_topics_outermost(given_, topics, assessors):
    study = d_study(given_, topics, assessors)
    designs = [(t, a) for t in topics for a in assessors]
    assert list(zip(study.n_topics.tolist(), study.n_assessors.tolist(), strict=True)) == designs
    for i, (t, a) in enumerate(designs):
        figures = (
            study.generalizability,
            study.dependability,
            study.standard_error,
            study.standard_error_of_difference,
        )
        expected = oracle.coefficients(letters(given_), t, a, given_.design)
        assert [figure[i] for figure in figures] == pytest.approx(expected)
    assert np.isnan(study.cost).all()
    assert len(study.to_frame()) == len(designs)


COST = st.sampled_from([0.0, 0.4, 3.0, 30.0])


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(drawn(), st.sampled_from([60.0, 500.0, 2000.0]), COST, COST, st.sampled_from([1, 10, 37.5]))
def test_the_best_design_is_the_best_of_all_that_can_be_paid(given_, budget, topic_cost, judgment_cost, documents):
    assume(topic_cost + judgment_cost > 0)
    designs = oracle.designs_within(budget, topic_cost, judgment_cost, documents, MAX_TOPICS, MAX_ASSESSORS)
    options = {"topic_cost": topic_cost, "judgment_cost": judgment_cost, "documents_per_topic": documents}
    if not designs:
        with pytest.raises(ArgumentError, match="one topic with one assessor costs"):
            best_design(given_, budget, **options)
        return
    found = best_design(given_, budget, **options)
    worth = {(t, a): oracle.coefficients(letters(given_), t, a, given_.design)[0] for t, a, _ in designs}
    assert worth[found.n_topics, found.n_assessors] == pytest.approx(max(worth.values()), abs=2e-12)
    assert found.generalizability == pytest.approx(worth[found.n_topics, found.n_assessors])
    assert found.n_designs == len(designs)
    assert found.cost <= budget * (1 + 1e-9)
    price = {(t, a): cost for t, a, cost in designs}
    best = max(worth.values()) - 2e-12
    assert found.cost == pytest.approx(min(price[design] for design in worth if worth[design] >= best))
    for t, a in zip(found.by_assessors.n_topics.tolist(), found.by_assessors.n_assessors.tolist(), strict=True):
        assert t == max(topics for topics, assessors, _ in designs if assessors == a)


def test_unequal_costs_move_the_best_design():
    """By hand: 1/31 + .1/4 + 2/124 = .0734 is below .0740 of 41 topics with 3 and .0760 of 25 with 5; and so on."""
    given_ = components(s=1.0, st=1.0, sa=0.1, sta=2.0)
    bought = [
        best_design(given_, 2000, topic_cost=topic, judgment_cost=0.4, documents_per_topic=40) for topic in (0, 30, 300)
    ]
    assert [(found.n_topics, found.n_assessors, found.cost) for found in bought] == [
        (31, 4, 1984.0), (21, 4, 1974.0), (5, 6, 1980.0),
    ]  # fmt: skip


def test_where_one_assessor_says_all_the_others_are_not_paid():
    found = best_design(components(s=1.0, st=1.0), 100, topic_cost=1, judgment_cost=0, documents_per_topic=10)
    assert (found.n_topics, found.n_assessors, found.cost) == (100, 1, 100.0)


def test_crossed_components_tell_of_other_assessors_in_every_topic():
    given_ = components(s=1.0, st=0.5, sa=0.2, sta=0.3, t=0.1, a=0.4, ta=0.6)
    study = d_study(given_, [10], [2], design="nested")
    assert study.design == "nested"
    assert study.generalizability[0] == pytest.approx(1 / (1 + 0.05 + 0.5 / 20))
    assert study.dependability[0] == pytest.approx(1 / (1 + 0.05 + 0.025 + 0.01 + 1.0 / 20))


GOOD = {"budget": 100, "topic_cost": 1, "judgment_cost": 1, "documents_per_topic": 10}


@pytest.mark.parametrize(("changed", "message"), [
    ({"budget": 0}, "budget=0: a number above 0"),
    ({"budget": float("nan")}, "budget=nan"),
    ({"budget": 10}, "budget=10: one topic with one assessor costs 11"),
    ({"topic_cost": -1}, "topic_cost=-1: 0 or more"),
    ({"judgment_cost": float("inf")}, "judgment_cost=inf"),
    ({"topic_cost": 0, "judgment_cost": 0}, "without costs no design is best"),
    ({"documents_per_topic": 0}, "documents_per_topic=0"),
])  # fmt: skip
def test_what_no_budget_can_mean_is_an_error(changed, message):
    with pytest.raises(ArgumentError, match=message):
        best_design(components(s=1.0, st=1.0), **(GOOD | changed))


def test_other_arguments_that_make_no_sense_are_errors_too():
    given_ = components(s=1.0, st=1.0)
    for topics, assessors, message in (
        ([], [1], "topics: at least one"),
        ([5], [0], "assessors: 0"),
        ([2.5], [1], "2.5"),
    ):
        with pytest.raises(ArgumentError, match=message):
            d_study(given_, topics, assessors)
    with pytest.raises(ArgumentError, match="nothing varies"):
        best_design(components(), **GOOD)


def test_the_data_s_own_design_is_the_default():
    given_ = variance_components(numbered(np.random.default_rng(0).random((3, 6, 5))))
    assert given_.generalizability() == given_.generalizability(6, 3) == d_study(given_, [6], [3]).generalizability[0]
