"""Sums over topics do not depend on the parts: the same to the bit, and the statistics are those of the scores."""

import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import fields, replace
from multiprocessing import get_context
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import qrowd
from drawn_conventions import MEASURES, conventions
from qrowd.comparison import ScoreSums, all_differences, rank_systems, variance_components
from qrowd.comparison.exact_sums import ExactSums
from qrowd.errors import ArgumentError, NoOverlapError, QrowdError
from qrowd.model.conventions import Conventions
from qrowd.partitions import write_partitioned
from qrowd.simulation import simulate_demo
from shuffled import Shuffled
from strategies import BOUNDED, worlds


def plain(value):
    """What a value holds, as Python numbers; floats by their bits."""
    if isinstance(value, ExactSums):
        return value.fractions().tolist()
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if hasattr(value, "__dataclass_fields__"):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    return value.hex() if isinstance(value, float) else value


def statistics(sums):
    """Every statistic of every measure; the line of a refusal where there is one."""
    results = []
    for measure in sums.measures:
        one = sums.sel(measure=measure)
        calls = [one.rank_systems, one.variance_components, one.replicate_means]
        calls += [lambda m=m, one=one: one.all_differences(method=m) for m in ("recommended", "topics", "pigeonhole")]
        for call in calls:
            try:
                results.append(plain(call()))
            except QrowdError as error:
                results.append(str(error))
    return results


@given(data=st.data(), seed=st.integers(0, 99))
def test_any_partition_in_any_order_gives_the_same_sums_and_statistics_to_the_bit(data, seed):
    world = data.draw(worlds(scales=BOUNDED, n_topics=5, n_systems=3, repeats=True))
    measures = data.draw(st.lists(st.sampled_from(MEASURES), min_size=1, max_size=2, unique=True))
    options = data.draw(conventions(measures))
    if options.missing == "interpolate":
        options = replace(options, missing="skip")
    topics = sorted({*world.judgments.topics, *world.runs.topics})
    part_of = {topic: data.draw(st.integers(0, 3)) for topic in topics}
    replicates = {"n_resamples": 6, "rng": seed}
    whole = ScoreSums.of(qrowd.evaluate(world.runs, world.judgments, measures, conventions=options), **replicates)
    with TemporaryDirectory() as folder:
        collection = write_partitioned(f"{folder}/c", world.runs, world.judgments, part_of=part_of)
        workers = Shuffled(seed, sum(bool(judged) for judged, _ in collection.topics_by_part))
        there = qrowd.score_sums(
            collection.runs, collection.judgments, measures, conventions=options, executor=workers, **replicates
        )
    assert plain(there.sums) == plain(whole.sums)
    assert dict(there.attributes) == dict(whole.attributes)
    assert statistics(there) == statistics(whole)


@pytest.fixture(scope="module")
def demo():
    runs, judgments, _ = simulate_demo()
    return runs, judgments


def test_the_executor_changes_no_bit(demo, tmp_path):
    here = qrowd.score_sums(*demo, ["nDCG@10", "AP"], n_resamples=50, rng=1)
    collection = write_partitioned(tmp_path / "c", *demo, n_parts=5)
    for pool in (ThreadPoolExecutor(2), ProcessPoolExecutor(2, mp_context=get_context("spawn"))):
        with pool:
            there = qrowd.score_sums(
                collection.runs, collection.judgments, ["nDCG@10", "AP"], n_resamples=50, rng=1, executor=pool
            )
        assert plain(there.sums) == plain(here.sums)
        assert statistics(there) == statistics(here)
        assert dict(there.attributes) == dict(here.attributes)


def test_the_statistics_of_a_collection_are_those_of_its_scores(demo):
    scores = qrowd.evaluate(*demo, "AP")
    sums = qrowd.score_sums(*demo, "AP")
    np.testing.assert_allclose(sums.rank_systems().mean, rank_systems(scores).mean, rtol=1e-12)
    np.testing.assert_allclose(
        sums.all_differences().standard_error, all_differences(scores).standard_error, rtol=1e-12
    )
    np.testing.assert_allclose(
        sums.variance_components().estimate, variance_components(scores).estimate, rtol=1e-10, atol=1e-16
    )
    assert dict(sums.attributes) == dict(scores.attributes)


def test_scores_of_parts_that_are_on_disk_are_not_computed_again(demo, tmp_path, monkeypatch):
    collection = write_partitioned(tmp_path / "c", *demo, n_parts=3)
    data = collection.runs, collection.judgments
    qrowd.evaluate(*data, "AP", results=tmp_path / "parts")
    monkeypatch.setattr("qrowd.evaluation.part_tasks.scores_of_part", None)
    progress = []
    sums = qrowd.score_sums(*data, "AP", results=tmp_path / "parts", progress=lambda *counts: progress.append(counts))
    n_rows = len(demo[0]) + len(demo[1])
    assert progress[-1] == (n_rows, n_rows)
    assert plain(sums.sums) == plain(ScoreSums.of(qrowd.evaluate(*demo, "AP")).sums)


def test_what_comes_back_from_a_part_does_not_grow_with_its_topics(demo):
    from qrowd.comparison.measure_sums import sums_of_values

    random = np.random.default_rng(1)
    sizes = [
        len(pickle.dumps(sums_of_values(random.random((1, 4, n, 8)), range(4), 4, list(map(str, range(n))), 20, 1)))
        for n in (100, 10_000)
    ]
    assert sizes[1] < 1.5 * sizes[0]


def test_gaps_that_all_topics_fill_and_topics_that_are_not_shared_are_refused(demo):
    with pytest.raises(ArgumentError, match=r"^missing='interpolate': fills gaps from the scores of all topics"):
        qrowd.score_sums(*demo, conventions=Conventions(missing="interpolate"))
    with pytest.raises(NoOverlapError) as scores:
        qrowd.evaluate({"a": {"t": {"d": 1.0}}}, {"u": {"d": 1}}, "AP")
    with pytest.raises(NoOverlapError) as sums:
        qrowd.score_sums({"a": {"t": {"d": 1.0}}}, {"u": {"d": 1}}, "AP")
    assert str(sums.value) == str(scores.value)
