"""What every measure of preferences must obey."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from qrowd.evaluation import evaluate, measure
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences
from qrowd.model.runs import Runs
from qrowd.preferences import DEFINITIONS, from_grades
from strategies import DOCUMENTS, preference_worlds

NAMES = [definition.name for definition in DEFINITIONS]


def run_of(documents):
    return Runs.from_dict({"s": {"t": {document: float(-i) for i, document in enumerate(documents)}}})


@settings(max_examples=8)
@given(preference_worlds(topics=("t",)), st.permutations(DOCUMENTS))
def test_ppref_of_a_list_and_of_its_reverse_sum_to_one(world, documents):
    there, back = (
        evaluate(run_of(order), world.preferences, "ppref", conventions=Conventions(min_coverage=0)).to_xarray()
        for order in (documents, documents[::-1])
    )
    some = there.coords["relevant"].values > 0
    np.testing.assert_allclose((there + back).values[..., 0][some], 1, rtol=1e-12)


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(st.permutations(DOCUMENTS), st.data())
def test_a_ranking_that_follows_every_preference_scores_one(documents, data):
    pairs = st.lists(st.integers(0, len(documents) - 1), min_size=2, max_size=2, unique=True).map(sorted)
    chosen = data.draw(st.lists(pairs, min_size=1, max_size=12))
    rows = [("t", documents[i], documents[j], "ann") for i, j in chosen]
    scores = evaluate(
        run_of(documents), Preferences.from_rows(rows), [name for name in NAMES if name != "compatibility"]
    ).to_xarray()
    np.testing.assert_allclose(scores.values, 1, rtol=1e-12)


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(preference_worlds())
def test_shares_lie_between_zero_and_one_whatever_was_said(world):
    scores = evaluate(world.runs, world.preferences, NAMES, conventions=Conventions(min_coverage=0)).values
    known = scores[~np.isnan(scores)]
    assert ((known >= 0) & (known <= 1 + 1e-12)).all()
    assert all(measure(name).bounds == (0, 1) for name in NAMES)


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(st.lists(st.integers(0, 3), min_size=8, max_size=8), st.permutations(DOCUMENTS))
def test_the_ideal_ranking_is_fully_compatible_and_no_other_is_more_so(grades, documents):
    assume(max(grades) > 0)
    by = dict(zip(DOCUMENTS, grades, strict=True))
    judgments = Judgments.from_rows([("t", document, "ann", grade) for document, grade in by.items()])
    ideal = sorted(documents, key=lambda document: -by[document])
    best, other = (
        evaluate(run_of(order), judgments, "compatibility").to_xarray().item() for order in (ideal, documents)
    )
    assert best == pytest.approx(1, rel=1e-12)
    assert 0 < other <= 1 + 1e-12


@settings(max_examples=settings.default.max_examples // 5)
@given(preference_worlds())
def test_nobodys_name_matters(world):
    """Topics, assessors and systems may be called anything; documents decide ties of equal scores only."""

    def renamed(rows, places):
        return [tuple(f"<{cell}>" if i in places else cell for i, cell in enumerate(row)) for row in rows]

    other = type(world)(
        renamed(world.rows, {0, 3, 6}),
        renamed(world.bad, {0, 2, 3}),
        {f"<{s}>": {f"<{t}>": scores for t, scores in topics.items()} for s, topics in world.lists.items()},
    )
    one, two = (
        evaluate(w.runs, w.preferences, NAMES, conventions=Conventions(min_coverage=0)).values for w in (world, other)
    )
    np.testing.assert_array_equal(one, two)


@settings(max_examples=settings.default.max_examples // 5)
@given(preference_worlds(), st.randoms(use_true_random=False))
def test_the_order_in_which_preferences_were_given_does_not_matter(world, chance):
    rows = chance.sample(world.rows, len(world.rows))
    other = type(world)(rows, chance.sample(world.bad, len(world.bad)), world.lists)
    one, two = (
        evaluate(w.runs, w.preferences, NAMES, conventions=Conventions(min_coverage=0))
        .to_xarray()
        .sortby("assessor")
        .sortby("topic")
        .values
        for w in (world, other)
    )
    np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-12)


@settings(max_examples=settings.default.max_examples // 5)
@given(preference_worlds(), preference_worlds())
def test_what_one_assessor_says_does_not_change_another_assessors_scores(world, other):
    alone = [row for row in world.rows if row[3] == "ann"]
    assume(alone)
    only = type(world)(alone, [mark for mark in world.bad if mark[2] == "ann"], {"s1": {"t": {"D1": 1.0, "a": 2.0}}})
    both = type(world)(alone + [row for row in other.rows if row[3] == "bob"], only.bad, only.lists)
    assume("t" in only.topics)
    one, two = (
        evaluate(w.runs, w.preferences, NAMES, conventions=Conventions(min_coverage=0))
        .to_xarray()
        .sel(assessor="ann", topic="t")
        .values
        for w in (only, both)
    )
    np.testing.assert_allclose(one, two, rtol=1e-12)


@settings(max_examples=settings.default.max_examples // 5)
@given(st.data())
def test_on_grades_every_measure_is_that_of_the_preferences_they_imply(data):
    """A document of grade 0 is Bad; compatibility alone goes by the grades themselves."""
    grade = st.integers(0, 3)
    grades = data.draw(st.dictionaries(st.sampled_from(DOCUMENTS), grade, min_size=2))
    assume(max(grades.values()) > min(grades.values()) == 0)  # what nothing is below is in no ideal ranking
    judgments = Judgments.from_rows([("t", document, "ann", value) for document, value in grades.items()])
    runs = run_of(data.draw(st.permutations(DOCUMENTS))[: data.draw(st.integers(1, 8))])
    names = [name for name in NAMES if name != "compatibility"]
    unjudged = data.draw(st.sampled_from(["nonrelevant", "condensed"]))
    one, two = (
        evaluate(runs, source, names, conventions=Conventions(min_coverage=0, unjudged=unjudged)).values
        for source in (judgments, from_grades(judgments))
    )
    np.testing.assert_allclose(one, two, rtol=1e-12)
    levels = (
        evaluate(runs, from_grades(judgments), "compatibility", conventions=Conventions(min_coverage=0))
        .to_xarray()
        .item()
    )
    assert levels == pytest.approx(
        evaluate(runs, judgments, "compatibility", conventions=Conventions(min_coverage=0)).to_xarray().item(),
        rel=1e-12,
    )
