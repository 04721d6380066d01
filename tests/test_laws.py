"""Laws that every measure obeys, found by the registry and tried on worlds drawn at random.

Each world is scored by many measures at once: a call costs far more than one more measure in it.
"""

from dataclasses import astuple, replace
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles import measures as oracle
from oracles.notation import MEANING, ON_A_BOUNDED_SCALE, ON_ANY_SCALE, judged, texts_of
from qrowd.evaluation import evaluate, evaluate_blocks, measure
from qrowd.evaluation import scoring_plan as plan
from qrowd.measures import DEFINITIONS
from qrowd.model.conventions import Conventions
from strategies import ANY, BOUNDED, PROBABILITIES, World, scores_of, worlds

NAMES = [definition.name for definition in DEFINITIONS]
LINEAR = [definition.name for definition in DEFINITIONS if definition.linear]
briefly = settings(max_examples=settings.default.max_examples // 2)  # there are many measures to every example

conventions = st.fixed_dictionaries(
    {
        "unjudged": st.sampled_from(["nonrelevant", "condensed"]),
        "missing": st.sampled_from(["zero", "skip", "interpolate"]),
        "empty": st.sampled_from(["zero", "nan"]),
        "min_coverage": st.sampled_from([0, 0.1, 0.5]),
    }
)


@st.composite
def measured_worlds(draw, names=NAMES, **size):
    """A world, and every third of the texts of these measures that are fit for its scales."""
    scales, *tables = draw(
        st.sampled_from([(ANY, ON_ANY_SCALE), (BOUNDED, ON_ANY_SCALE, ON_A_BOUNDED_SCALE), (PROBABILITIES, MEANING)])
    )
    texts = [text for name in names for text in texts_of(name, *tables)]
    return draw(worlds(scales, **size)), texts[draw(st.integers(0, 2)) :: 3]


def without(texts, *words):
    """The texts that hold none of the words."""
    return [text for text in texts if not any(word in text for word in words)]


def assert_same(scores, expected):
    """The same labels, in whatever order, and by label the same numbers."""
    for dimension in expected.dims:
        assert sorted(scores[dimension].values) == sorted(expected[dimension].values)
    scores = scores.sel({dimension: expected[dimension].values for dimension in expected.dims})
    np.testing.assert_allclose(scores, expected, rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(scores["relevant"], expected["relevant"])
    np.testing.assert_array_equal(scores["coverage"], expected["coverage"])


# --- What a score is --------------------------------------------------------------------------------------------------


@briefly
@given(measured_worlds(), conventions)
def test_a_score_is_within_the_bounds_of_its_measure_which_are_0_and_1_but_for_dcg(measured_world, options):
    world, texts = measured_world
    scores = evaluate(world.runs, world.judgments, texts, conventions=Conventions(**options)).to_xarray()
    for text in texts:
        low, high = measure(text).bounds
        assert (low, high) == (0, np.inf if text.startswith("DCG") else 1) or "recall_base=" in text, text
        known = scores.sel(measure=text).values
        known = known[~np.isnan(known)]
        assert np.isfinite(known).all(), text
        assert ((low <= known) & (known <= high + 1e-12)).all(), text


def worth(text, document, grades):
    """How much the measure wants the document."""
    if document not in grades:
        return 0
    gains = measure(text).values.get("gains") or "linear"
    return 1 if text.startswith("Judged") else oracle.gain_of(grades[document], gains)


@briefly
@given(
    measured_worlds([name for name in NAMES if name not in ("Q", "Twist")], n_topics=1, n_systems=1),
    st.data(),
)
def test_exchanging_a_document_with_a_better_one_further_down_never_lowers_the_score(measured_world, data):
    """For Bpref both must be judged; condensed lists and residuals, which unjudged documents shape, stay out.

    Q and Twist are not of this kind: a sum of distances that never recovers makes Twist's first part 0.
    """
    world, texts = measured_world
    ranking, texts = oracle.rank(world.scores("s1", "t1")), without(texts, "judged_only", "residual")
    assume(len(ranking) > 1)
    i, j = sorted(data.draw(st.lists(st.integers(0, len(ranking) - 1), min_size=2, max_size=2, unique=True)))
    upper, lower = ranking[i], ranking[j]
    exchanged = [{upper: lower, lower: upper}.get(document, document) for document in ranking]
    lists = {"before": {"t1": scores_of(ranking)}, "after": {"t1": scores_of(exchanged)}}
    scores = evaluate(
        replace(world, lists=lists).runs, world.judgments, texts, conventions=Conventions(min_coverage=0)
    ).to_xarray()
    for assessor in world.assessors:
        grades = world.opinions[assessor, "t1"].grades
        for text in texts:
            comparable = not text.startswith("Bpref") or {upper, lower} <= set(grades)
            if grades and comparable and worth(text, lower, grades) > worth(text, upper, grades):
                before, after = scores.sel(
                    measure=text, assessor=assessor, topic="t1", system=["before", "after"]
                ).values
                assert after >= before - 1e-12, (text, assessor)


@briefly
@given(measured_worlds(LINEAR, n_topics=1, n_systems=1))
def test_a_linear_measure_adds_up_what_each_document_scores_by_itself_at_its_rank(measured_world):
    world, texts = measured_world
    ranking, texts = oracle.rank(world.scores("s1", "t1")), without(texts, "judged_only", "residual")
    lists = {"whole": {"t1": scores_of(ranking)}}
    for document in ranking:
        alone = [other if other == document else f"not {other}" for other in ranking]
        lists[f"only {document}"] = {"t1": scores_of(alone)}
    scores = evaluate(replace(world, lists=lists).runs, world.judgments, texts).to_xarray()
    parts = scores.drop_sel(system="whole").sum("system", skipna=False)
    np.testing.assert_allclose(parts, scores.sel(system="whole"), rtol=1e-12, atol=1e-14)


@briefly
@given(measured_worlds(LINEAR, n_assessors=2, n_topics=1, n_documents=5), st.sampled_from(["nonrelevant", "condensed"]))
def test_an_expected_score_is_the_mean_over_all_orders_of_tied_documents(measured_world, unjudged):
    world, texts = measured_world
    scores = evaluate(
        world.runs, world.judgments, texts, conventions=Conventions(ties="expected", unjudged=unjudged, min_coverage=0)
    ).to_xarray()

    def score(ranking, text, opinion):
        return MEANING[text](ranking if unjudged == "nonrelevant" else judged(ranking, opinion), opinion)

    for m, a, s in product(range(len(texts)), range(len(world.assessors)), range(len(world.systems))):
        text, opinion = texts[m], world.opinions[world.assessors[a], "t1"]
        if opinion.grades:
            expected = oracle.expected_under_ties(
                score, world.scores(world.systems[s], "t1"), text=text, opinion=opinion
            )
            assert scores.values[m, a, 0, s] == pytest.approx(expected, rel=1e-12, abs=1e-14), text


# --- What makes no difference -----------------------------------------------------------------------------------------


@briefly
@given(measured_worlds(), conventions, st.randoms(use_true_random=False))
def test_the_order_of_assessors_topics_systems_and_rows_makes_no_difference(measured_world, options, random):
    world, texts = measured_world
    other = world.shuffled(random)
    expected = evaluate(world.runs, world.judgments, texts, conventions=Conventions(**options)).to_xarray()
    assert_same(
        evaluate(
            other.runs, other.judgments, random.sample(texts, len(texts)), conventions=Conventions(**options)
        ).to_xarray(),
        expected,
    )


@briefly
@given(worlds(repeats=True), st.sampled_from(["first", "last", "mean"]), st.randoms(use_true_random=False))
def test_the_order_of_rows_makes_no_difference_to_repeats_that_have_an_order_or_a_mean(world, repeats, random):
    texts = ["DCG@3", "AP(rel=2)", "Judged@3"]
    other = world.shuffled(random)
    here, there = world.judgments, other.judgments
    if repeats != "mean":
        # Equal rows are the same judgment: which of them is which does not matter.
        when = {row: float(i) for i, row in enumerate(random.sample(world.rows, len(world.rows)))}
        here, there = (
            replace(judgments, order=np.array([when[row] for row in rows]))
            for judgments, rows in ((here, world.rows), (there, other.rows))
        )
    expected = evaluate(world.runs, here, texts, conventions=Conventions(repeats=repeats)).to_xarray()
    assert_same(evaluate(other.runs, there, texts, conventions=Conventions(repeats=repeats)).to_xarray(), expected)


@briefly
@given(measured_worlds(), conventions)
def test_names_make_no_difference_as_long_as_documents_keep_their_order(measured_world, options):
    world, texts = measured_world
    listed = {d for topics in world.lists.values() for scores in topics.values() for d in scores}
    renamed = {d: f"{i:02}" for i, d in enumerate(sorted(listed | {d for _, d, _, _ in world.rows}))}
    rows = [(f"topic {t}", renamed[d], f"an {a}", value) for t, d, a, value in world.rows]
    lists = {
        f"a {s}": {f"topic {t}": {renamed[d]: score for d, score in scores.items()} for t, scores in topics.items()}
        for s, topics in world.lists.items()
    }
    other = World({f"an {a}": scale for a, scale in world.scales.items()}, rows, lists)
    expected = evaluate(world.runs, world.judgments, texts, conventions=Conventions(**options)).to_xarray()
    np.testing.assert_array_equal(
        evaluate(other.runs, other.judgments, texts, conventions=Conventions(**options)).to_xarray(), expected
    )


@briefly
@given(measured_worlds(), st.data(), st.sampled_from(["nonrelevant", "condensed"]))
def test_a_tail_of_documents_that_an_assessor_has_not_judged_makes_no_difference(measured_world, data, unjudged):
    world, texts = measured_world
    tail = data.draw(st.lists(st.sampled_from(["nobody's 1", "nobody's 2", *sorted({d for _, d, _, _ in world.rows})])))
    lists = {
        system: {t: {**{d: -1.0 - i for i, d in enumerate(tail)}, **scores} for t, scores in topics.items()}
        for system, topics in world.lists.items()
    }
    before = evaluate(
        world.runs, world.judgments, texts, conventions=Conventions(unjudged=unjudged, min_coverage=0)
    ).to_xarray()
    after = evaluate(
        replace(world, lists=lists).runs,
        world.judgments,
        texts,
        conventions=Conventions(unjudged=unjudged, min_coverage=0),
    ).to_xarray()
    for a, assessor in enumerate(world.assessors):
        for t, topic in enumerate(world.topics):
            if not set(tail) & set(world.opinions[assessor, topic].grades):
                np.testing.assert_allclose(after[:, a, t], before[:, a, t], rtol=1e-13, atol=1e-14)


@briefly
@given(measured_worlds())
def test_condensed_scores_are_those_of_lists_without_the_documents_the_assessor_has_not_judged(measured_world):
    world, texts = measured_world
    scores = evaluate(
        world.runs, world.judgments, texts, conventions=Conventions(unjudged="condensed", min_coverage=0)
    ).to_xarray()
    for a, assessor in enumerate(world.assessors):
        lists = {
            system: {
                # An unjudged document at the end keeps the list from being missing.
                topic: {
                    "nobody's": -1.0,
                    **{d: v for d, v in world.scores(system, topic).items() if d in opinion.grades},
                }
                for topic in world.topics
                for opinion in [world.opinions[assessor, topic]]
            }
            for system in world.systems
        }
        shorter = evaluate(
            replace(world, lists=lists).runs, world.judgments, texts, conventions=Conventions(min_coverage=0)
        ).to_xarray()
        np.testing.assert_allclose(scores[:, a], shorter[:, a], rtol=1e-13, atol=1e-14)


# --- However it is computed -------------------------------------------------------------------------------------------


@briefly
@given(
    st.sampled_from([(NAMES, "document"), (LINEAR, "expected")]).flatmap(
        lambda case: st.tuples(measured_worlds(case[0]), st.just(case[1]))
    ),
    conventions,
    st.integers(1, 3),
    st.integers(1, 3),
)
def test_scoring_a_few_assessors_at_a_time_in_however_many_threads_makes_no_difference(case, options, few, threads):
    (world, texts), ties = case
    options = options | {"ties": ties}
    expected = evaluate(world.runs, world.judgments, texts, conventions=Conventions(**options)).to_xarray()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "ASSESSORS_AT_ONCE", few)
        assert_same(
            evaluate(
                world.runs, world.judgments, texts, conventions=Conventions(**options), threads=threads
            ).to_xarray(),
            expected,
        )


@briefly
@given(measured_worlds(), st.sampled_from(["nonrelevant", "condensed"]))
def test_scoring_assessors_together_is_scoring_them_one_by_one(measured_world, unjudged):
    """All but recall_base='union', which asks what the others found relevant."""
    world, texts = measured_world
    texts = without(texts, "union")
    together = evaluate(
        world.runs, world.judgments, texts, conventions=Conventions(unjudged=unjudged, min_coverage=0)
    ).to_xarray()
    for a, assessor in enumerate(world.assessors):
        judgments = world.judgments.select(assessors=[assessor])
        if {t for topics in world.lists.values() for t in topics} & set(judgments.topics):
            alone = evaluate(
                world.runs, judgments, texts, conventions=Conventions(unjudged=unjudged, min_coverage=0)
            ).to_xarray()
            there = [world.topics.index(topic) for topic in alone["topic"].values]
            np.testing.assert_allclose(alone[:, 0], together[:, a, there], rtol=1e-13, atol=1e-14)
            assert together[:, a].drop_isel(topic=there).isnull().all()


@briefly
@given(measured_worlds(), st.data(), conventions)
def test_judgments_a_panel_and_panels_in_blocks_are_scored_alike(measured_world, data, options):
    world, texts = measured_world
    texts = without(texts, "union")
    panel = world.judgments.panel()
    cuts = sorted(data.draw(st.sets(st.integers(1, len(panel.assessors)))) | {0, len(panel.assessors)})
    blocks = [panel.part(slice(start, end)) for start, end in pairwise(cuts)]
    expected = evaluate(world.runs, world.judgments, texts, conventions=Conventions(**options)).to_xarray()
    assert_same(evaluate(world.runs, panel, texts, conventions=Conventions(**options)).to_xarray(), expected)
    assert_same(evaluate(world.runs, blocks, texts, conventions=Conventions(**options)).to_xarray(), expected)
    assert_same(evaluate(world.runs, iter(blocks), texts, conventions=Conventions(**options)).to_xarray(), expected)
    in_blocks = evaluate_blocks(world.runs, iter(blocks), texts, conventions=Conventions(**options))
    one_by_one = [scores.to_xarray() for scores in in_blocks]
    assert [scores["assessor"].values.tolist() for scores in one_by_one] == [list(block.assessors) for block in blocks]
    for scores in one_by_one:
        assert_same(scores, expected.sel(assessor=scores["assessor"].values))


@briefly
@given(measured_worlds(), conventions)
def test_what_is_handed_to_evaluate_stays_as_it_was(measured_world, options):
    world, texts = measured_world
    given_in = (world.runs, world.judgments, world.judgments.panel(), list(texts))
    before = [copied(thing) for thing in given_in]
    runs, judgments, panel, listed = given_in
    evaluate(runs, judgments, listed, conventions=Conventions(**options))
    evaluate(runs, panel, listed, conventions=Conventions(**options))
    for thing, copy in zip(given_in, before, strict=True):
        np.testing.assert_equal(copied(thing), copy)


def copied(thing):
    """Everything in it, none of it shared."""
    return list(thing) if isinstance(thing, list) else astuple(thing)
