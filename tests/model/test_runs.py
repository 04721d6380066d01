"""Runs: one rule for ranks, and nothing lost on the way in and out."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from oracles import measures as oracle
from qrowd.errors import ArgumentError, InputError
from qrowd.model.runs import Runs, concatenate_runs
from strategies import few

DOCUMENTS = ("D1", "D10", "D2", "a", "b", "é", "ﬀ", "🙂")
SCORES = (0.0, -0.0, 1.0, 1 + 1e-9, 1 - 1e-9, 2.5, 1e-300, 1e300, -1e300, 3e38, 4e38)

lists = st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from(SCORES) | st.floats(-1e308, 1e308), min_size=1)
several = st.dictionaries(
    st.sampled_from("ABC"), st.dictionaries(st.sampled_from(["t1", "t2", "t3"]), lists, min_size=1)
)


def ranking(ranked, runs, system, topic):
    s, t = runs.systems.index(system), runs.topics.index(topic)
    start, length = ranked.starts[s, t], ranked.lengths[s, t]
    return [runs.documents[d] for d in ranked.document[start : start + length]]


# ---- ranks


@given(several, st.booleans())
@example({"A": {"t1": {"a": 1.0, "b": 1.0 + 1e-9, "D1": 1.0}}}, True)
@settings(max_examples=settings.default.max_examples // 2)
def test_every_list_is_ranked_as_the_oracle_ranks_it(nested, single):
    runs = Runs.from_dict(nested)
    ranked = runs.ranked(score_dtype="float32" if single else "float64")
    for system, topics in nested.items():
        for topic in runs.topics:
            scores = topics.get(topic, {})
            assert ranking(ranked, runs, system, topic) == oracle.rank(scores, float32=single)


@few
@given(several, st.randoms())
def test_ranks_do_not_depend_on_the_order_of_the_rows(nested, random):
    rows = [
        (s, t, d, score) for s, topics in nested.items() for t, scores in topics.items() for d, score in scores.items()
    ]
    assume(rows)
    random.shuffle(rows)
    frame = pd.DataFrame(rows, columns=["system", "topic", "document", "score"])
    runs = Runs.from_frame(frame)
    for system, topics in nested.items():
        for topic, scores in topics.items():
            assert ranking(runs.ranked(), runs, system, topic) == oracle.rank(scores)


@given(several, st.booleans())
def test_a_document_is_tied_where_it_has_the_score_of_the_one_above(nested, single):
    runs = Runs.from_dict(nested)
    ranked = runs.ranked(score_dtype="float32" if single else "float64")
    rounded = oracle.single_precision if single else float
    tied_lists = {}
    for system, topics in nested.items():
        for topic, scores in topics.items():
            s, t = runs.systems.index(system), runs.topics.index(topic)
            values = [rounded(scores[d]) for d in oracle.rank(scores, float32=single)]
            expected = [False, *(a == b for a, b in pairwise(values))]
            start = ranked.starts[s, t]
            assert ranked.tied[start : start + len(values)].tolist() == expected
            tied_lists[s, t] = any(expected)
    found = ranked.tied_lists()
    assert {place: bool(found[place]) for place in tied_lists} == tied_lists
    assert found.sum() == sum(tied_lists.values())


def test_ids_that_are_not_text_are_compared_by_their_bytes():
    names = [b"\xff", b"\x80", "é".encode(), "\ue000".encode(), b"z"]
    documents = {name.decode("utf-8", "surrogateescape"): 1.0 for name in names}
    runs = Runs.from_dict({"A": {"t": documents}})
    found = [label.encode("utf-8", "surrogateescape") for label in ranking(runs.ranked(), runs, "A", "t")]
    assert found == sorted(names, reverse=True)


def test_a_system_without_a_list_for_a_topic_has_one_of_length_0():
    runs = Runs.from_dict({"A": {"t1": {"d": 1}}, "B": {"t2": {"d": 1, "e": 2}}})
    assert runs.ranked().lengths.tolist() == [[1, 0], [0, 2]]


def test_an_unknown_precision_is_refused():
    with pytest.raises(ArgumentError, match="score_dtype='float16': choose one of float64, float32"):
        Runs.from_dict({"A": {"t": {"d": 1}}}).ranked(score_dtype="float16")


# ---- the rank column


ranks = st.none() | st.integers(1, 4).map(float)
ranked_rows = st.lists(
    st.tuples(st.sampled_from("AB"), st.sampled_from(["t1", "t2"]), ranks, st.integers(0, 3)), min_size=1
)


def contradicts(rows):
    return any(r1 < r2 and s1 < s2 for r1, s1 in rows for r2, s2 in rows)


@given(ranked_rows)
@example([("A", "t1", 1.0, 2), ("A", "t1", 2.0, 1), ("A", "t1", 2.0, 3), ("A", "t1", 3.0, 0)])
def test_a_list_contradicts_itself_where_a_lower_score_has_the_better_rank(rows):
    frame = pd.DataFrame(
        [(s, t, f"d{i}", score, rank) for i, (s, t, rank, score) in enumerate(rows)],
        columns=["system", "topic", "document", "score", "rank"],
    )
    by_list = {}
    for system, topic, rank, score in rows:
        by_list.setdefault((system, topic), []).extend([] if rank is None else [(rank, score)])
    assert Runs.from_frame(frame).rank_contradictions == sum(map(contradicts, by_list.values()))


def test_runs_without_a_rank_column_contradict_nothing():
    assert Runs.from_dict({"A": {"t": {"d": 1}}}).rank_contradictions == 0


# ---- what is refused


@pytest.mark.parametrize("score", [float("nan"), float("inf"), float("-inf")])
def test_a_score_that_is_not_finite_is_refused_by_name(score):
    with pytest.raises(InputError, match="system 'A', topic 't', document 'e': expected a finite number"):
        Runs.from_dict({"A": {"t": {"d": 1, "e": score}}})


def test_a_document_twice_in_a_list_is_refused_by_name_and_row():
    frame = {"run": ["A", "A", "A"], "qid": ["1", "2", "1"], "docno": ["d", "d", "d"], "score": [1, 2, 3]}
    with pytest.raises(InputError, match=r"^row 3: system A, topic 1, document d: the document is in the list twice$"):
        Runs.from_frame(frame)


columns_of_codes = st.integers(1, 3).flatmap(
    lambda width: st.lists(st.tuples(*[st.integers(0, 3)] * width), max_size=12).map(
        lambda rows: [np.array([row[i] for row in rows], np.int32) for i in range(width)]
    )
)


# ---- in and out


def nested_again(runs):
    nested = {}
    for s, t, d, score in zip(runs.system, runs.topic, runs.document, runs.score.tolist(), strict=True):
        nested.setdefault(runs.systems[s], {}).setdefault(runs.topics[t], {})[runs.documents[d]] = score
    return nested


@few
@given(several)
def test_a_dictionary_and_a_frame_come_back_as_they_were(nested):
    runs = Runs.from_dict(nested)
    assert nested_again(runs) == nested
    if nested:
        assert nested_again(Runs.from_frame(runs.to_frame())) == nested


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_carries_the_rank_where_it_is_known(backend):
    frame = pd.DataFrame({"qid": ["1", "1"], "docno": ["d", "e"], "score": [2.5, 1.5], "rank": [1, None]})
    runs = Runs.from_frame(frame, system="A")
    again = Runs.from_frame(runs.to_frame(backend))
    assert nested_again(again) == {"A": {"1": {"d": 2.5, "e": 1.5}}}
    np.testing.assert_array_equal(again.rank, [1, np.nan])


def test_parts_are_put_one_after_the_other():
    parts = [{"A": {"t1": {"d": 1.0}}}, {"B": {"t1": {"e": 2.0}}}, {"A": {"t2": {"e": 3.0}}}]
    together = concatenate_runs([Runs.from_dict(part) for part in parts])
    assert nested_again(together) == {"A": {"t1": {"d": 1.0}, "t2": {"e": 3.0}}, "B": {"t1": {"e": 2.0}}}
    assert together.systems == ("A", "B")


def test_two_parts_with_the_same_list_are_refused():
    part = Runs.from_dict({"A": {"t1": {"d": 1.0}}})
    with pytest.raises(InputError, match=r"system A, topic t1, document d: .* twice: two parts hold this list"):
        concatenate_runs([part, part])


@few
@given(several)
def test_ranking_changes_nothing_and_nobody_can_change_the_columns(nested):
    runs = Runs.from_dict(nested)
    columns = [runs.system, runs.topic, runs.document, runs.score]
    before = [column.copy() for column in columns]
    runs.ranked()
    runs.ranked(score_dtype="float32")
    for column, old in zip(columns, before, strict=True):
        assert column.tobytes() == old.tobytes()
        assert not column.flags.writeable


def test_runs_say_what_they_hold():
    runs = Runs.from_dict({"A": {"t1": {"d": 1.0}, "t2": {"d": 1.0}}})
    assert repr(runs) == "Runs(1 system, 2 topics, 2 retrieved documents)"
    assert len(runs) == 2
