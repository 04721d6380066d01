"""Chains, cycles, closure and Bad marks: against walks over every path, and by their laws."""

import warnings
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles import preference_closure as oracle
from qrowd.files import read_preferences
from qrowd.model.preferences import Preferences
from qrowd.preferences import closure, cycles, transitivity
from qrowd.preferences.decided import decided

DOCUMENTS = ("a", "b", "c", "d", "e", "f")
pair = st.lists(st.sampled_from(DOCUMENTS), min_size=2, max_size=2, unique=True).map(tuple)
said = st.lists(pair, min_size=1, max_size=14)
marks = st.sets(st.sampled_from(DOCUMENTS), max_size=3)


def in_order(pairs):
    rows = [("q", *pair, "ann") for pair in pairs]
    return replace(Preferences.from_rows(rows), order=np.arange(len(rows), dtype=np.float64))


def preferences_of(pairs, bad=(), assessor="ann", topic="q"):
    return Preferences.from_rows(
        [(topic, one, two, assessor) for one, two in pairs], bad=[(topic, document, assessor) for document in bad]
    )


def closed(preferences):
    """{pair: source}, whatever the warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # preferences for Bad documents; a test of its own
        found = closure(preferences)
    frame = found.to_frame()
    return dict(zip(zip(frame["preferred"], frame["other"], strict=True), frame["source"], strict=True)), found


# ---- against the oracle


@given(said)
def test_chains_and_cycles_of_three_are_what_loops_over_triples_count(pairs):
    found = transitivity(preferences_of(pairs))
    stand = oracle.held(pairs)
    wanted = oracle.triples(stand)
    assert (found.chains.sum(), found.kept.sum(), found.triples.sum(), found.cyclic.sum()) == wanted
    assert found.rate == pytest.approx(wanted[1] / wanted[0] if wanted[0] else np.nan, nan_ok=True)
    assert found.n_pairs.sum() == len(stand)


@given(said)
def test_a_chain_is_tested_if_its_ends_were_compared_last(pairs):
    found = transitivity(in_order(pairs))
    assert (found.tested.sum(), found.tested_kept.sum()) == oracle.tested(pairs)
    assert transitivity(preferences_of(pairs)).tested is None


@settings(max_examples=settings.default.max_examples // 5)
@given(st.permutations(list(combinations(DOCUMENTS, 2))), st.integers(0, 2**32 - 1))
def test_a_schedule_that_leaves_out_what_chains_imply_keeps_every_chain_and_tests_none(pairs, seed):
    coin, asked = np.random.default_rng(seed), []
    for one, two in pairs:
        known = closed(preferences_of(asked))[0] if asked else {}
        if not {(one, two), (two, one)} & known.keys():
            asked.append((one, two) if coin.random() < 0.5 else (two, one))
    found = transitivity(in_order(asked))
    assert found.kept.sum() == found.chains.sum()
    assert found.tested.sum() == 0


def test_random_answers_keep_half_of_the_tested_chains_however_pairs_are_chosen():
    rng = np.random.default_rng(20251)
    tested = kept = 0
    for _ in range(150):
        asked = []
        for one, two in rng.permutation(list(combinations(DOCUMENTS, 2))).tolist():
            wins = sum(pair[0] == one for pair in asked)
            if wins < 2 or rng.random() < 0.5:  # documents that won twice are asked about less
                asked.append((one, two) if rng.random() < 0.5 else (two, one))
        found = transitivity(in_order(asked))
        tested, kept = tested + found.tested.sum(), kept + found.tested_kept.sum()
    assert tested > 500
    assert abs(kept / tested - 0.5) < 4 * 0.5 / np.sqrt(tested)


@given(said)
def test_cycles_are_the_documents_that_paths_lead_round_and_the_evidence_is_shortest(pairs):
    stand = oracle.held(pairs)
    found = cycles(preferences_of(pairs))
    assert {frozenset(cycle.documents) for cycle in found} == oracle.components(stand)
    for cycle in found:
        way = cycle.shortest
        assert all(step in stand for step in zip(way, (*way[1:], way[0]), strict=True))
        assert len(way) == oracle.shortest_way_round(stand, cycle.documents)
        assert cycle.n_pairs == len({frozenset(p) for p in stand if set(p) <= set(cycle.documents)})


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(said, marks)
def test_the_closure_is_what_a_walk_over_every_path_finds(pairs, bad):
    sources, found = closed(preferences_of(pairs, bad))
    compared = {document for pair in pairs for document in pair} | bad
    wanted = oracle.closure(pairs, bad, compared)
    assert sources == wanted
    assert found.saved == sum(source != "judged" for source in wanted.values())
    counts = found.to_frame(what="counts").iloc[0]
    decided_pairs = {frozenset(pair) for pair in wanted}
    assert counts["n_documents"] == len(compared)
    assert counts["n_bad"] == len(bad)
    n_open = sum(
        frozenset((one, two)) not in decided_pairs and not {one, two} <= bad
        for i, one in enumerate(sorted(compared))
        for two in sorted(compared)[i + 1 :]
    )
    assert counts["open"] == n_open
    against = {(one, two) for (one, two), source in wanted.items() if one in bad and two not in bad}
    assert found.n_against_marks == len(against)


# ---- laws


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(said)
def test_closing_twice_adds_nothing(pairs):
    first, found = closed(preferences_of(pairs))
    second, _ = closed(found.preferences)
    assert second.keys() == first.keys()


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(said, marks)
def test_an_inference_never_contradicts_what_was_judged(pairs, bad):
    sources, _ = closed(preferences_of(pairs, bad))
    for (one, two), source in sources.items():
        if source != "judged":
            assert (two, one) not in sources


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(said, st.permutations(DOCUMENTS))
def test_without_cycles_the_closure_is_a_partial_order(pairs, order):
    place = {document: i for i, document in enumerate(order)}
    acyclic = [tuple(sorted(pair, key=place.get)) for pair in pairs]
    sources, found = closed(preferences_of(acyclic))
    assert not found.cycles
    assert transitivity(preferences_of(acyclic)).rate in (1.0, pytest.approx(np.nan, nan_ok=True))
    for one, two in sources:
        assert place[one] < place[two]
        assert all((one, three) in sources for two_, three in sources if two_ == two)


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(said, st.data())
def test_judging_what_was_implied_changes_nothing(pairs, data):
    first, found = closed(preferences_of(pairs))
    implied = [pair for pair, source in first.items() if source == "chain"]
    assume(implied)
    more = [*pairs, data.draw(st.sampled_from(implied))]
    second, again = closed(preferences_of(more))
    assert second.keys() == first.keys()
    assert again.saved == found.saved - 1


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(said, marks, st.permutations(DOCUMENTS))
def test_names_do_not_matter(pairs, bad, names):
    new = dict(zip(DOCUMENTS, names, strict=True))
    sources, found = closed(preferences_of(pairs, bad))
    renamed = preferences_of([(new[one], new[two]) for one, two in pairs], {new[document] for document in bad})
    again, refound = closed(renamed)
    assert again == {(new[one], new[two]): source for (one, two), source in sources.items()}
    assert sorted(len(c.shortest) for c in found.cycles) == sorted(len(c.shortest) for c in refound.cycles)


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(said, said)
def test_assessors_and_topics_do_not_meet(ann, bob):
    rows = [("q", *p, "ann") for p in ann] + [("q", *p, "bob") for p in bob] + [("u", *p, "ann") for p in bob]
    together = closure(Preferences.from_rows(rows)).to_frame()
    for topic, who, pairs in (("q", "ann", ann), ("q", "bob", bob), ("u", "ann", bob)):
        alone, _ = closed(preferences_of(pairs))
        here = together[(together["topic"] == topic) & (together["assessor"] == who)]
        assert dict(zip(zip(here["preferred"], here["other"], strict=True), here["source"], strict=True)) == alone


# ---- by hand


def test_more_than_sixty_four_documents_make_every_chain():
    line = [(f"d{i:03}", f"d{j:03}") for i in range(130) for j in range(i + 1, 130)]
    found = transitivity(preferences_of(line))
    n = 130 * 129 * 128 // 6
    assert (found.chains.sum(), found.kept.sum(), found.triples.sum(), found.cyclic.sum()) == (n, n, n, 0)
    neighbours = closure(preferences_of([(f"d{i:03}", f"d{i + 1:03}") for i in range(129)]))
    assert neighbours.saved == 130 * 129 // 2 - 129


def test_a_cycle_breaks_three_chains_of_one_triple():
    found = transitivity(preferences_of([("a", "b"), ("b", "c"), ("c", "a")]))
    assert (found.rate, found.triples.sum(), found.cyclic.sum()) == (0, 1, 1)
    assert found.chains.sum() == 3
    assert found.by_assessor == {"ann": 0.0}
    assert np.isnan(transitivity(preferences_of([("a", "b")])).rate)


def test_a_contradiction_goes_by_the_greater_weight_and_is_undecided_without():
    twice = closure(preferences_of([("a", "b"), ("a", "b"), ("b", "a")]))
    assert [tuple(row[1:3]) for row in twice.preferences.to_rows()] == [("a", "b")]
    assert (twice.n_contradictions, twice.n_repeats) == (1, 2)
    even = closure(preferences_of([("a", "b"), ("b", "a")]))
    assert (len(even.preferences), even.n_undecided, even.open.tolist()) == (0, 1, [1])


def test_a_tie_of_two_halves_is_undecided():
    rows = {"topic": ["q"] * 3, "preferred": ["a", "b", "a"], "other": ["b", "a", "c"], "weight": [0.5, 0.5, 0.5]}
    preferences = Preferences.from_frame(rows, assessor="ann")
    held = decided(preferences)
    assert [preferences.documents[d] for d in held.other] == ["c"]
    assert (held.n_undecided, held.n_contradictions, held.n_repeats) == (1, 0, 0)


def test_weight_decides_a_majority_and_definite_is_what_most_said():
    rows = {
        "topic": ["q"] * 5,
        "preferred": ["a", "b", "c", "c", "c"],
        "other": ["b", "a", "d", "d", "d"],
        "weight": [1, 3, 1, 1, 1],
        "strength": [1, 1, 2, 2, 1],
    }
    preferences = Preferences.from_frame(rows, assessor="ann")
    held = decided(preferences)
    assert [preferences.documents[d] for d in held.preferred] == ["b", "c"]
    assert held.strength.tolist() == [1, 2]


def test_a_preference_for_a_document_marked_as_bad_stands_with_a_warning():
    said = preferences_of([("a", "b"), ("b", "c")], bad=["a"])
    with pytest.warns(UserWarning, match="2 preferences are for a document that the same assessor marked as Bad"):
        found = closure(said)
    assert {row[1:3] for row in found.preferences.to_rows()} == {("a", "b"), ("b", "c"), ("a", "c")}


def test_two_bad_documents_are_not_ordered_and_need_no_judgment():
    found = closure(preferences_of([("a", "b")], bad=["y", "z"]))
    assert {row[1:3] for row in found.preferences.to_rows()} == {
        ("a", "b"), ("a", "y"), ("a", "z"), ("b", "y"), ("b", "z"),
    }  # fmt: skip
    assert (found.saved, found.open.tolist(), found.by_bad.tolist()) == (4, [0], [4])


def test_nothing_said_is_an_empty_closure():
    found = closure(Preferences.from_rows([]))
    assert (len(found.preferences), found.saved, found.cycles) == (0, 0, ())
    assert np.isnan(transitivity(Preferences.from_rows([])).rate)
    only_marks = closure(preferences_of([], bad=["a"]))
    assert (len(only_marks.preferences), only_marks.n_bad.tolist()) == (0, [1])


def test_a_cycle_says_what_it_is():
    (cycle,) = cycles(preferences_of([("b", "c"), ("c", "a"), ("a", "b"), ("c", "d")]))
    assert str(cycle) == "topic q, assessor ann, 3 documents: a > b > c > a"


# ---- real preferences


@pytest.mark.nightly
def test_gpt4o_is_far_more_transitive_than_the_crowd_and_chains_imply_most_pairs(dl21):
    crowd, gpt = (read_preferences(dl21 / "preferences" / f"{name}.txt.gz") for name in ("crowd", "gpt4o"))
    found, rates = closure(gpt), [transitivity(one) for one in (crowd, gpt)]
    assert [rate.chains.sum() for rate in rates] == [12571, 37524]
    assert [rate.rate for rate in rates] == pytest.approx([0.61387, 0.87856], abs=1e-5)
    assert [rate.n_contradictions for rate in rates] == [967, 500]
    assert (found.judged.sum(), found.saved, len(found.cycles)) == (40558, 267178, 94)
    n = found.n_documents
    assert (found.judged + found.by_chain + found.by_bad + found.open == n * (n - 1) // 2).all()
