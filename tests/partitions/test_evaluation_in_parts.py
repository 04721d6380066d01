"""Scores of a partitioned collection are those of the whole: bit by bit, with the same conventions and facts."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

import qrowd
from drawn_conventions import MEASURES, conventions
from equal_scores import equal
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.model.conventions import Conventions
from qrowd.model.preferences import Preferences
from qrowd.partitions import open_partitioned, write_partitioned
from qrowd.simulation import simulate_demo
from shuffled import Shuffled
from strategies import ANY, BOUNDED, worlds


@given(data=st.data(), seed=st.integers(0, 99))
def test_any_partition_in_any_order_gives_the_scores_of_the_whole(data, seed):
    world = data.draw(worlds(scales=BOUNDED, n_topics=5, n_systems=3, repeats=True))
    measures = data.draw(st.lists(st.sampled_from(MEASURES), min_size=1, max_size=3, unique=True))
    options = data.draw(conventions(measures))
    topics = sorted({*world.judgments.topics, *world.runs.topics})
    part_of = {topic: data.draw(st.integers(0, 3)) for topic in topics}
    whole = qrowd.evaluate(world.runs, world.judgments, measures, conventions=options)
    with TemporaryDirectory() as folder:
        collection = write_partitioned(f"{folder}/c", world.runs, world.judgments, part_of=part_of)
        here = qrowd.evaluate(collection.runs, collection.judgments, measures, conventions=options)
        workers = Shuffled(seed, sum(bool(judged) for judged, _ in collection.topics_by_part))
        there = qrowd.evaluate(collection.runs, collection.judgments, measures, conventions=options, executor=workers)
    assert equal(here, whole)
    assert equal(there, whole)


@given(world=worlds(scales=ANY, n_topics=4, repeats=True), inferred=st.booleans())
def test_an_assessor_has_the_scale_of_the_whole_in_each_part(world, inferred):
    judgments = world.judgments
    if inferred:
        judgments = type(judgments).from_rows(world.rows)
    if any(scale.kind == "magnitude" for scale in judgments.scales):
        measures, options = ["AP(rel=1)", "P(rel=1)@3"], Conventions()
    else:
        measures, options = ["ERR@5", "nDCG@3"], Conventions(grades="rescaled")
    whole = qrowd.evaluate(world.runs, judgments, measures, conventions=options)
    topics = sorted({*judgments.topics, *world.runs.topics})
    with TemporaryDirectory() as folder:
        collection = write_partitioned(
            f"{folder}/c", world.runs, judgments, part_of={topic: i for i, topic in enumerate(topics)}
        )
        assert collection.scales == judgments.scales
        assert equal(qrowd.evaluate(collection.runs, collection.judgments, measures, conventions=options), whole)


@pytest.fixture(scope="module")
def demo():
    runs, judgments, _ = simulate_demo()
    return runs, judgments


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_workers_give_the_scores_of_one_process(demo, kind):
    runs, judgments = demo
    whole = qrowd.evaluate(runs, judgments, ["nDCG@10", "AP"])
    pool = ThreadPoolExecutor(2) if kind == "threads" else ProcessPoolExecutor(2, mp_context=get_context("spawn"))
    done = []
    with pool:
        scores = qrowd.evaluate(
            runs, judgments, ["nDCG@10", "AP"], executor=pool, progress=lambda *counts: done.append(counts)
        )
    assert equal(scores, whole)
    rows = len(runs) + len(judgments)
    assert done[-1] == (rows, rows)


def test_runs_and_judgments_over_a_collection_are_read_when_something_asks_for_rows(demo, tmp_path):
    runs, judgments = demo
    collection = write_partitioned(tmp_path / "c", runs, judgments, n_parts=3)
    opened = open_partitioned(tmp_path / "c")
    assert repr(opened) == repr(collection)
    assert len(opened.runs) == len(runs)
    assert opened.judgments.topics == judgments.topics
    assert "score" not in vars(opened.runs)
    assert sorted(map(tuple, opened.runs.to_frame().values.tolist())) == sorted(
        map(tuple, runs.to_frame().values.tolist())
    )
    assert "score" in vars(opened.runs)
    assert opened.judgments.select(assessors=["ann"]).to_dict() == judgments.select(assessors=["ann"]).to_dict()


def test_what_has_no_topic_in_common_is_refused_as_for_one_process(tmp_path):
    runs, judgments = {"a": {"t": {"d": 1.0}}}, {"u": {"d": 1}}
    with pytest.raises(NoOverlapError) as whole:
        qrowd.evaluate(runs, judgments, "AP")
    with ThreadPoolExecutor(1) as pool, pytest.raises(NoOverlapError) as parts:
        qrowd.evaluate(runs, judgments, "AP", executor=pool)
    assert str(parts.value) == str(whole.value)


def test_an_executor_is_refused_for_preferences():
    preferences = Preferences.from_rows([("t", "a", "b", "ann")])
    with ThreadPoolExecutor(1) as pool, pytest.raises(ArgumentError, match="executor: is for Judgments"):
        qrowd.evaluate({"s": {"t": {"a": 1.0}}}, preferences, "compatibility", executor=pool)
