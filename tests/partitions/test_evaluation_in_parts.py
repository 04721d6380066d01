"""Scores of a partitioned collection are those of the whole: bit by bit, with the same conventions and facts."""

import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qrowd
from drawn_conventions import MEASURES, conventions
from equal_scores import equal
from pools import Backwards
from qrowd.errors import ArgumentError, FileError, NoOverlapError
from qrowd.executors import Processes
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.model.preferences import Preferences
from qrowd.partitions import open_partitioned, write_partitioned
from qrowd.simulation import simulate_demo
from strategies import ANY, BOUNDED, worlds


@settings(max_examples=settings.default.max_examples * 6 // 25)
@given(data=st.data(), n_parts=st.integers(1, 5))
def test_any_partition_in_any_order_gives_the_scores_of_the_whole(data, n_parts):
    world = data.draw(worlds(scales=BOUNDED, n_topics=5, n_systems=3, repeats=True))
    measures = data.draw(st.lists(st.sampled_from(MEASURES), min_size=1, max_size=3, unique=True))
    options = data.draw(conventions(measures))
    whole = qrowd.evaluate(world.runs, world.judgments, measures, conventions=options)
    with TemporaryDirectory() as folder:
        collection = write_partitioned(f"{folder}/c", world.runs, world.judgments, n_parts=n_parts)
        here = qrowd.evaluate(collection.runs, collection.judgments, measures, conventions=options)
        workers = Backwards(sum(bool(judged) for judged, _ in collection.topics_by_part()))
        there = qrowd.evaluate(collection.runs, collection.judgments, measures, conventions=options, executor=workers)
    assert equal(here, whole)
    assert equal(there, whole)


@settings(max_examples=settings.default.max_examples * 6 // 25)
@given(world=worlds(scales=ANY, n_topics=4, repeats=True), inferred=st.booleans(), in_pieces=st.booleans())
def test_an_assessor_has_the_scale_of_the_whole_in_each_part(world, inferred, in_pieces):
    judgments = world.judgments
    if inferred:
        judgments = Judgments.from_rows(world.rows)
    if any(scale.kind == "magnitude" for scale in judgments.scales):
        measures, options = ["AP(rel=1)", "P(rel=1)@3"], Conventions()
    else:
        measures, options = ["ERR@5", "nDCG@3"], Conventions(grades="rescaled")
    pieces = [judgments.select(topics=[topic]) for topic in judgments.topics] if in_pieces else [judgments]
    whole = qrowd.evaluate(world.runs, concatenate_judgments(pieces), measures, conventions=options)
    scales = dict(zip(judgments.assessors, judgments.scales, strict=True))
    with TemporaryDirectory() as folder:
        collection = write_partitioned(f"{folder}/c", world.runs, pieces, n_parts=4)
        assert dict(zip(collection.assessors, collection.scales, strict=True)) == scales
        assert equal(qrowd.evaluate(collection.runs, collection.judgments, measures, conventions=options), whole)


@pytest.fixture(scope="module")
def demo():
    runs, judgments, _ = simulate_demo()
    return runs, judgments


@pytest.fixture
def collection(demo, tmp_path):
    return write_partitioned(tmp_path / "collection", *demo, n_parts=6)


@pytest.mark.parametrize("kind", ["threads", "processes", pytest.param("pool", marks=pytest.mark.nightly)])
def test_workers_give_the_scores_of_one_process(demo, collection, kind):
    whole = qrowd.evaluate(*demo, ["nDCG@10", "AP"])
    pools = {
        "threads": lambda: ThreadPoolExecutor(2),
        "pool": lambda: ProcessPoolExecutor(1, mp_context=get_context("spawn")),
        "processes": lambda: Processes(1),
    }
    done = []
    scores = qrowd.evaluate(
        collection.runs,
        collection.judgments,
        ["nDCG@10", "AP"],
        executor=pools[kind](),
        progress=lambda *counts: done.append(counts),
    )
    assert equal(scores, whole)
    assert done[-1] == (len(demo[0]) + len(demo[1]),) * 2


def test_what_is_in_memory_is_partitioned_first(demo):
    with ThreadPoolExecutor(2) as pool:
        assert equal(qrowd.evaluate(*demo, "AP", executor=pool), qrowd.evaluate(*demo, "AP"))


def test_a_collection_is_loaded_for_other_functions(demo, collection):
    runs, judgments = demo
    opened = open_partitioned(collection.folder)
    assert repr(opened) == repr(collection)
    rows = [frame.to_frame().sort_values(["topic", "document"]) for frame in (opened.judgments.load(), judgments)]
    assert rows[0].reset_index(drop=True).equals(rows[1].reset_index(drop=True))
    assert opened.runs.load().to_dict() == runs.to_dict()
    assert equal(qrowd.evaluate(opened.runs.load(), opened.judgments.load(), "AP"), qrowd.evaluate(*demo, "AP"))


def test_what_has_no_topic_in_common_is_refused_as_for_one_process():
    runs, judgments = {"a": {"t": {"d": 1.0}}}, {"u": {"d": 1}}
    with pytest.raises(NoOverlapError) as whole:
        qrowd.evaluate(runs, judgments, "AP")
    with ThreadPoolExecutor(1) as pool, pytest.raises(NoOverlapError) as parts:
        qrowd.evaluate(runs, judgments, "AP", executor=pool)
    assert str(parts.value) == str(whole.value)


def test_what_cannot_be_scored_in_parts_is_refused(demo, collection, tmp_path):
    preferences = Preferences.from_rows([("t", "a", "b", "ann")])
    with ThreadPoolExecutor(1) as pool, pytest.raises(ArgumentError, match="an executor are for judgments"):
        qrowd.evaluate({"s": {"t": {"a": 1.0}}}, preferences, "compatibility", executor=pool)
    with pytest.raises(ArgumentError, match="results: keeps the scores of a partitioned collection"):
        qrowd.evaluate(*demo, "AP", results=tmp_path / "results")
    with pytest.raises(ArgumentError, match="give both of a partitioned collection"):
        qrowd.evaluate(collection.runs, demo[1], "AP")
    other = write_partitioned(tmp_path / "other", *demo, n_parts=2)
    with pytest.raises(ArgumentError, match="of two partitioned collections"):
        qrowd.evaluate(collection.runs, other.judgments, "AP")


CLIENT = """
import os, signal, sys
import qrowd
collection = qrowd.open_partitioned(sys.argv[1])
def die(done, total):
    if done * 2 >= total:
        os.kill(os.getpid(), signal.SIGKILL)
qrowd.evaluate(collection.runs, collection.judgments, ["AP"], results=sys.argv[2], progress=die)
"""


@pytest.mark.nightly
def test_after_a_kill_the_parts_that_were_scored_are_not_scored_again(demo, collection, tmp_path):
    results = tmp_path / "results"
    words = [sys.executable, "-c", CLIENT, str(collection.folder), str(results)]
    assert subprocess.run(words, timeout=300, check=False).returncode == -signal.SIGKILL
    done = {path: path.stat().st_mtime_ns for path in results.iterdir()}
    assert 1 <= len(done) < 6
    scores = qrowd.evaluate(collection.runs, collection.judgments, ["AP"], results=results)
    assert {path: path.stat().st_mtime_ns for path in done} == done
    assert len(list(results.iterdir())) == 6
    assert equal(scores, qrowd.evaluate(*demo, ["AP"]))


def test_other_measures_conventions_and_collections_have_results_of_their_own(demo, collection, tmp_path):
    runs, judgments = demo
    results, n = tmp_path / "results", 0
    other = qrowd.Conventions(min_coverage=0.5)
    fewer = judgments.select(assessors=["ann", "bob"])
    again = write_partitioned(tmp_path / "again", runs, fewer, n_parts=6)
    for opened, judged, measure, options in (
        (collection, judgments, "AP", qrowd.Conventions()),
        (collection, judgments, "P@5", qrowd.Conventions()),
        (collection, judgments, "AP", other),
        (again, fewer, "AP", qrowd.Conventions()),
    ):
        scores = qrowd.evaluate(opened.runs, opened.judgments, measure, conventions=options, results=results)
        assert equal(scores, qrowd.evaluate(runs, judged, measure, conventions=options))
        n += 6
        assert len(list(results.iterdir())) == n


@pytest.mark.parametrize(
    "damage",
    ["flipped", "swapped", *(pytest.param(one, marks=pytest.mark.nightly) for one in ("empty", "cut", "no archive"))],
)
def test_a_result_that_is_damaged_or_of_another_part_is_scored_again(collection, tmp_path, damage):
    results = tmp_path / "results"
    scores = qrowd.evaluate(collection.runs, collection.judgments, ["AP"], results=results)
    first, second, *_ = sorted(results.iterdir())
    before = first.read_bytes(), second.read_bytes()
    middle = len(before[0]) // 2
    if damage == "swapped":
        first.write_bytes(before[1])
        second.write_bytes(before[0])
    else:
        flipped = before[0][:middle] + bytes([before[0][middle] ^ 1]) + before[0][middle + 1 :]
        new = {"empty": b"", "cut": before[0][:middle], "flipped": flipped, "no archive": b"scores"}
        first.write_bytes(new[damage])
    assert equal(qrowd.evaluate(collection.runs, collection.judgments, ["AP"], results=results), scores)
    assert equal(qrowd.evaluate(collection.runs, collection.judgments, ["AP"], results=results), scores)


def test_a_collection_that_was_written_again_is_not_taken_for_the_one_that_was_opened(demo, collection):
    collection.folder.rename(collection.folder.with_name("before"))
    write_partitioned(collection.folder, *demo, n_parts=6)
    with pytest.raises(FileError, match="was written again after it was opened"):
        qrowd.evaluate(collection.runs, collection.judgments, "AP")
