"""Gain cumulated down ranked lists: intervals, sums, mixtures, draws."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import gain_distributions as oracle
from oracles.measures import rank
from qrowd.evaluation import evaluate
from qrowd.gain_distributions import gain_distributions, interval_dcg, uncertain_dcg
from qrowd.kernels.gains import discounts
from qrowd.measures import DEFINITIONS
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.measure import parse_measure
from qrowd.model.runs import Runs
from strategies import worlds

GRADED = worlds(scales=("0-3",), n_documents=5).filter(lambda world: any(value >= 0 for *_, value in world.rows))
DISCOUNTS = st.sampled_from(("log2", "original", "zipf"))
CUTOFFS = st.integers(1, 6)
UNANIMOUS = Judgments.from_rows([("q", d, who, g) for d, g in zip("abc", (3, 2, 0), strict=True) for who in "xy"])
IN_ORDER = Runs.from_dict({"s": {"q": {"a": 3, "b": 2, "c": 1}}})


def atoms_of(world, topic, document):
    """What everybody said of a document."""
    said = (world.opinions[who, topic].grades for who in world.assessors)
    return [(grades[document], 1.0) for grades in said if document in grades]


def listed(world, system, topic):
    return [atoms_of(world, topic, document) for document in rank(world.scores(system, topic))]


def cells(world, result):
    for t, topic in enumerate(result.topics):
        for s, system in enumerate(result.systems):
            yield t, s, topic, system


# ---- printed and computed numbers


def test_unanimous_gains_of_3_2_and_0_spread_as_a_mixture_and_not_as_a_sum():
    total = uncertain_dcg(IN_ORDER, UNANIMOUS, cutoff=3, dcg="original")
    mixture = uncertain_dcg(IN_ORDER, UNANIMOUS, cutoff=3, dcg="original", cumulate="mixture")
    assert total.sd[0, 0] == 0
    assert total.mean[0, 0] == 5
    assert mixture.sd[0, 0] == pytest.approx(1.153, abs=5e-4)
    assert mixture.constant == pytest.approx(2.6309, abs=5e-5)
    assert mixture.mean[0, 0] == pytest.approx(5 / mixture.constant)


@pytest.mark.parametrize("form", ["log2", "original", "zipf"])
def test_the_discounts_are_those_of_dcg(form):
    dcg = parse_measure(f"DCG(dcg='{form}')@7", DEFINITIONS)
    assert discounts(7, form) == pytest.approx(dcg.definition.coefficients(dcg, 7), rel=1e-15)
    assert discounts(7, form) == pytest.approx([oracle.weight(r, form) for r in range(1, 8)])


# ---- against the oracle


@given(GRADED, CUTOFFS, DISCOUNTS, st.sampled_from(("sum", "mixture")))
@settings(max_examples=settings.default.max_examples // 2)
def test_mean_and_spread_are_those_of_all_combinations_of_what_assessors_said(world, k, dcg, cumulate):
    found = uncertain_dcg(world.runs, world.judgments, cutoff=k, dcg=dcg, cumulate=cumulate)
    for t, s, topic, system in cells(world, found):
        if not any(world.opinions[who, topic].grades for who in world.assessors):  # pooled, and judged by nobody
            assert np.isnan([found.mean[t, s], found.sd[t, s]]).all()
            continue
        expected = oracle.cumulated(listed(world, system, topic), k, dcg, cumulate)
        assert found.mean[t, s] == pytest.approx(oracle.mean(expected), abs=1e-9)
        assert found.sd[t, s] == pytest.approx(sqrt(oracle.variance(expected)), abs=1e-9)


@given(GRADED, CUTOFFS, DISCOUNTS, st.permutations((0.5, 1.0, 3.0)))
@settings(max_examples=settings.default.max_examples // 2)
def test_over_assessors_it_spreads_as_far_as_everybodys_own_dcg(world, k, dcg, weights):
    weights = dict(zip(world.assessors, weights, strict=False))
    made = gain_distributions(world.judgments, weights=weights)
    found = uncertain_dcg(world.runs, made, cutoff=k, dcg=dcg, cumulate="assessors")
    for t, s, topic, system in cells(world, found):
        present = {who: weights[who] for who in world.assessors if world.opinions[who, topic].grades}
        if not present:
            assert np.isnan([found.mean[t, s], found.sd[t, s]]).all()
            continue
        documents = [
            {who: world.opinions[who, topic].grades[d] for who in present if d in world.opinions[who, topic].grades}
            for d in rank(world.scores(system, topic))
        ]
        expected = oracle.over_assessors(documents, present, k, dcg)
        assert found.mean[t, s] == pytest.approx(oracle.mean(expected), abs=1e-9)
        assert found.sd[t, s] == pytest.approx(sqrt(oracle.variance(expected)), abs=1e-9)


def test_a_strict_and_a_lenient_assessor_spread_further_than_independent_documents():
    judgments = Judgments.from_rows([("q", d, who, g) for d in "abc" for who, g in (("strict", 1), ("lenient", 3))])
    together = uncertain_dcg(IN_ORDER, judgments, cutoff=3, cumulate="assessors")
    apart = uncertain_dcg(IN_ORDER, judgments, cutoff=3)
    assert together.mean == pytest.approx(apart.mean)
    assert together.sd[0, 0] == pytest.approx(discounts(3).sum())
    assert apart.sd[0, 0] == pytest.approx(sqrt((discounts(3) ** 2).sum()))


def test_over_assessors_a_pooled_document_adds_its_own_doubt():
    rows = [("q", "a", "x", 0), ("q", "a", "y", 2), ("q", "b", "x", 1)]
    made = gain_distributions(Judgments.from_rows(rows), single="pooled")
    found = uncertain_dcg(Runs.from_dict({"s": {"q": {"a": 2, "b": 1}}}), made, cutoff=2, cumulate="assessors")
    assert found.sd[0, 0] == pytest.approx(sqrt(1 + 1 / np.log2(3) ** 2))


@given(GRADED, CUTOFFS, DISCOUNTS, st.sampled_from(((0.0, 1.0), (0.3, 0.7))))
@settings(max_examples=settings.default.max_examples // 2)
def test_an_interval_reaches_from_everybodys_least_to_everybodys_most(world, k, dcg, ends):
    found = interval_dcg(world.runs, gain_distributions(world.judgments, interval=ends), cutoff=k, dcg=dcg)
    for t, s, topic, system in cells(world, found):
        if not any(world.opinions[who, topic].grades for who in world.assessors):  # pooled, and judged by nobody
            assert np.isnan([found.lower[t, s], found.upper[t, s]]).all()
            continue
        expected = oracle.interval(listed(world, system, topic), k, dcg, *ends)
        assert (found.lower[t, s], found.upper[t, s]) == pytest.approx(expected, abs=1e-9)


# ---- laws


@given(GRADED, CUTOFFS, DISCOUNTS)
@settings(max_examples=settings.default.max_examples // 2)
def test_a_mixture_has_the_sums_mean_over_the_constant_and_a_sum_lies_in_its_interval(world, k, dcg):
    total, mixture = (
        uncertain_dcg(world.runs, world.judgments, cutoff=k, dcg=dcg, cumulate=cumulate)
        for cumulate in ("sum", "mixture")
    )
    within = interval_dcg(world.runs, world.judgments, cutoff=k, dcg=dcg)
    assert mixture.mean * total.constant == pytest.approx(total.mean, abs=1e-12, nan_ok=True)
    known = ~np.isnan(total.mean)
    assert (within.lower - 1e-12 <= total.mean)[known].all()
    assert (total.mean <= within.upper + 1e-12)[known].all()


@given(GRADED, CUTOFFS)
@settings(max_examples=settings.default.max_examples // 2)
def test_evenly_spread_gains_of_independent_documents_spread_no_further_than_their_interval(world, k):
    made = gain_distributions(world.judgments, shape="interval")
    total, within = uncertain_dcg(world.runs, made, cutoff=k), interval_dcg(world.runs, made, cutoff=k)
    assert total.mean == pytest.approx(within.mean, abs=1e-12, nan_ok=True)
    assert (total.sd <= within.sd + 1e-12)[~np.isnan(total.sd)].all()
    one = uncertain_dcg(world.runs, made, cutoff=1)
    assert one.sd == pytest.approx(interval_dcg(world.runs, made, cutoff=1).sd, abs=1e-12, nan_ok=True)


@given(GRADED, CUTOFFS, DISCOUNTS)
@settings(max_examples=settings.default.max_examples // 2)
def test_weights_of_one_assessor_alone_give_that_assessors_dcg_without_spread(world, k, dcg):
    measure = f"DCG(dcg='{dcg}')@{k}"
    scores = evaluate(world.runs, world.judgments, measure, conventions=Conventions(min_coverage=0)).to_xarray()
    for who in world.assessors:
        topics = {topic for topic in world.topics if world.opinions[who, topic].grades}
        if not topics & {topic for lists in world.lists.values() for topic in lists}:
            continue  # nothing to compare
        made = gain_distributions(world.judgments, weights={who: 2, **({"*": 0} if len(world.assessors) > 1 else {})})
        found = uncertain_dcg(world.runs, made, cutoff=k, dcg=dcg)
        own = scores.sel(assessor=who, topic=list(found.topics))[0].to_numpy()
        assert found.mean == pytest.approx(own, nan_ok=True, abs=1e-12)
        assert (found.sd == 0)[~np.isnan(own)].all()


@given(GRADED, CUTOFFS)
@settings(max_examples=settings.default.max_examples // 2)
def test_where_everybody_judged_everything_mean_and_spread_over_assessors_are_those_of_everybodys_dcg(world, k):
    rows = [
        (topic, document, who, world.opinions[who, topic].grades.get(document, 0.0))
        for topic in world.topics
        for document in {d for t, d, _, _ in world.rows if t == topic}
        for who in world.assessors
    ]
    judgments = Judgments.from_rows(rows, scales={"*": "0-3"})
    found = uncertain_dcg(world.runs, judgments, cutoff=k)
    own = evaluate(world.runs, judgments, f"DCG@{k}").to_xarray().sel(topic=list(found.topics))[0]
    assert found.mean == pytest.approx(own.mean("assessor").to_numpy(), abs=1e-12)
    together = uncertain_dcg(world.runs, judgments, cutoff=k, cumulate="assessors")
    assert together.sd == pytest.approx(own.std("assessor").to_numpy(), abs=1e-12)


@given(GRADED, CUTOFFS, st.sampled_from(("sum", "mixture")), st.randoms(use_true_random=False))
@settings(max_examples=settings.default.max_examples // 2)
def test_the_order_in_which_it_was_told_changes_nothing(world, k, cumulate, random):
    one = uncertain_dcg(world.runs, world.judgments, cutoff=k, cumulate=cumulate)
    other = world.shuffled(random)
    two = uncertain_dcg(other.runs, other.judgments, cutoff=k, cumulate=cumulate)
    rows = [two.topics.index(t) for t in one.topics]
    columns = [two.systems.index(s) for s in one.systems]
    assert two.mean[np.ix_(rows, columns)] == pytest.approx(one.mean, abs=1e-12, nan_ok=True)
    assert two.sd[np.ix_(rows, columns)] == pytest.approx(one.sd, abs=1e-12, nan_ok=True)


def test_a_small_spread_of_large_gains_is_not_lost():
    rows = [("q", d, who, 1e8 + e) for d in "ab" for who, e in (("x", -0.5), ("y", 0.5))]
    runs = Runs.from_dict({"s": {"q": {"a": 2, "b": 1}}})
    judgments = Judgments.from_rows(rows, scales={"*": "magnitude"})
    assert uncertain_dcg(runs, judgments, cutoff=2, cumulate="mixture").sd[0, 0] == pytest.approx(0.5, rel=1e-9)
    assert uncertain_dcg(runs, judgments, cutoff=2).sd[0, 0] == pytest.approx(0.5 * np.hypot(*discounts(2)), rel=1e-9)


# ---- missing lists

TWO_TOPICS = Judgments.from_rows([("q1", "a", "x", 2), ("q1", "a", "y", 0), ("q2", "a", "x", 1), ("q2", "a", "y", 1)])
LACKING = Runs.from_dict({"s": {"q1": {"a": 1.0}}, "t": {"q1": {"b": 1.0}, "q2": {"a": 1.0}}})


@pytest.mark.parametrize(("missing", "mean", "sd"), [("zero", 0, 0), ("skip", np.nan, np.nan), ("interpolate", 1, 0.5)])
def test_a_missing_list_is_empty_or_left_out_or_filled_in(missing, mean, sd):
    found = uncertain_dcg(LACKING, TWO_TOPICS, cutoff=5, conventions=Conventions(missing=missing))
    assert found.mean == pytest.approx(np.array([[1, 0], [mean, 1]]), nan_ok=True)
    assert found.sd == pytest.approx(np.array([[1, 0], [sd, 0]]), nan_ok=True)
    within = interval_dcg(LACKING, TWO_TOPICS, cutoff=5, conventions=Conventions(missing=missing))
    assert within.mean[1, 0] == pytest.approx(mean, nan_ok=True)


def test_a_topic_where_nobody_who_counts_judged_has_no_score():
    judgments = Judgments.from_rows([("q1", "a", "x", 1), ("q2", "a", "y", 1)])
    weights = {"x": {"q1": 1, "q2": 1}, "y": {"q1": 1, "q2": 0}}
    made = gain_distributions(judgments, weights=weights)
    for found in (uncertain_dcg(LACKING, made), interval_dcg(LACKING, made)):
        assert np.isnan(found.mean[1]).all()
        assert not np.isnan(found.mean[0]).any()


# ---- draws


def test_frames_have_one_row_per_topic_and_system():
    found = uncertain_dcg(LACKING, TWO_TOPICS)
    assert found.to_frame().to_dict("list")["system"] == ["s", "t", "s", "t"]
    assert list(interval_dcg(LACKING, TWO_TOPICS).to_frame("polars").columns) == ["topic", "system", "lower", "upper"]
