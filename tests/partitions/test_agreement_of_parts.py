"""Agreement over the parts of a partitioned collection is that of all judgments, and no more than a part is held."""

import math
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrowd.agreement import krippendorff_alpha, pairwise_agreement
from qrowd.errors import NoOverlapError, QrowdError, ScaleError
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.partitions import open_partitioned, write_partitioned
from qrowd.simulation import simulate_demo
from strategies import ANY, worlds

RUNS = Runs.from_dict({"s": {"t1": {"a": 1.0}}})


def same(one, other, *, to_the_bit=True):
    """Whether two results have equal fields."""
    for name in one.__dataclass_fields__:
        left, right = getattr(one, name), getattr(other, name)
        if isinstance(left, np.ndarray):
            assert np.allclose(left, right, rtol=0, atol=0 if to_the_bit else 1e-12, equal_nan=True), name
        elif isinstance(left, float):
            assert left == right or abs(left - right) < (0 if to_the_bit else 1e-12) or left != left != right, name
        else:
            assert left == right, name
    return True


def outcome(function, *arguments, **options):
    try:
        return function(*arguments, **options)
    except QrowdError as error:
        return type(error), str(error)


@given(data=st.data())
def test_alpha_over_parts_is_alpha_of_all(data):
    world = data.draw(worlds(scales=ANY, n_topics=4, repeats=True))
    judgments = world.judgments if data.draw(st.booleans()) else Judgments.from_rows(world.rows)
    options = {
        "level": data.draw(st.sampled_from([None, "nominal", "ordinal", "interval"])),
        "by": data.draw(st.sampled_from([None, "topic"])),
        "repeats": data.draw(st.sampled_from(["first", "last", "mean"])),
        "slots": data.draw(st.sampled_from([None, None, 2])),
        "combine_scales": data.draw(st.sampled_from(["auto", "rescaled", "relevant", "as-is"])),
        "n_resamples": data.draw(st.sampled_from([0, 20])),
        "resample": data.draw(st.sampled_from(["topics", "documents", "deviations"])),
        "rng": 1,
    }
    whole = outcome(krippendorff_alpha, judgments, **options)
    with TemporaryDirectory() as folder:
        part_of = {topic: data.draw(st.integers(0, 2)) for topic in judgments.topics}
        collection = write_partitioned(f"{folder}/c", RUNS, judgments, part_of={"t1": 0, **part_of})
        in_parts = outcome(krippendorff_alpha, collection.judgments, **options)
        assert "value" not in vars(collection.judgments)
    if isinstance(whole, tuple):
        assert in_parts[0] is whole[0]
        return
    assert in_parts.labels == whole.labels
    for (_, one), (_, other) in zip(whole, in_parts, strict=True):
        assert same(one, other)


@given(data=st.data())
def test_agreement_of_each_pair_over_parts_is_that_of_all(data):
    world = data.draw(worlds(scales=ANY, n_topics=4, repeats=True))
    judgments = world.judgments if data.draw(st.booleans()) else Judgments.from_rows(world.rows)
    options = {
        "weights": data.draw(st.sampled_from([None, "linear", "quadratic"])),
        "repeats": data.draw(st.sampled_from(["first", "last", "mean"])),
        "combine_scales": data.draw(st.sampled_from(["auto", "rescaled", "relevant", "as-is"])),
    }
    whole = outcome(pairwise_agreement, judgments, **options)
    with TemporaryDirectory() as folder:
        part_of = {topic: data.draw(st.integers(0, 2)) for topic in judgments.topics}
        collection = write_partitioned(f"{folder}/c", RUNS, judgments, part_of={"t1": 0, **part_of})
        in_parts = outcome(pairwise_agreement, collection.judgments, **options)
        assert "value" not in vars(collection.judgments)
    if isinstance(whole, tuple):
        assert in_parts[0] is whole[0]
    else:
        assert same(whole, in_parts, to_the_bit=options["weights"] != "quadratic")


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    runs, judgments, _ = simulate_demo()
    return judgments, write_partitioned(tmp_path_factory.mktemp("demo") / "c", runs, judgments, n_parts=5)


def test_the_interval_over_topics_is_that_of_all_judgments(demo):
    judgments, collection = demo
    whole, in_parts = (
        krippendorff_alpha(each, n_resamples=200, rng=7).item()
        for each in (judgments, open_partitioned(collection.folder).judgments)
    )
    assert same(whole, in_parts, to_the_bit=False)
    assert not math.isnan(in_parts.low)


def test_many_values_agree_to_twelve_decimals(tmp_path):
    rng = np.random.default_rng(3)
    rows = [(f"t{i % 7}", f"d{i}", who, rng.random()) for i in range(300) for who in ("ann", "bob", "eve")]
    judgments = Judgments.from_rows(rows)
    collection = write_partitioned(tmp_path / "c", RUNS, judgments, n_parts=3)
    for level in ("ordinal", "interval"):
        whole, in_parts = (
            krippendorff_alpha(each, level=level, n_resamples=50, rng=1).item()
            for each in (judgments, open_partitioned(collection.folder).judgments)
        )
        assert same(whole, in_parts, to_the_bit=False)


def test_two_assessors_who_say_the_same_in_other_numbers_are_refused_over_parts(tmp_path):
    rows = [(f"t{i % 5}", f"d{i}", who, i % 2 * top) for i in range(100) for who, top in (("ann", 1), ("bob", 3))]
    judgments = Judgments.from_rows(rows)
    collection = write_partitioned(tmp_path / "c", RUNS, judgments, n_parts=3)
    with pytest.raises(ScaleError) as whole:
        krippendorff_alpha(judgments)
    with pytest.raises(ScaleError) as parts:
        krippendorff_alpha(collection.judgments)
    assert str(parts.value) == str(whole.value)


def test_an_assessor_who_uses_the_top_in_one_part_only_does_not_stop_short(tmp_path):
    rows = [(f"t{i % 5}", f"d{i}", who, i % 2 * top) for i in range(100) for who, top in (("ann", 1), ("bob", 3))]
    judgments = Judgments.from_rows([*rows, ("t9", "d", "ann", 3)])
    collection = write_partitioned(tmp_path / "c", RUNS, judgments, n_parts=3)
    assert same(krippendorff_alpha(judgments).item(), krippendorff_alpha(collection.judgments).item())


def test_no_document_in_common_is_refused_as_for_all_judgments(tmp_path):
    judgments = Judgments.from_rows([("t1", "a", "ann", 1), ("t2", "b", "bob", 0)])
    collection = write_partitioned(tmp_path / "c", RUNS, judgments, n_parts=3)
    for function in (krippendorff_alpha, pairwise_agreement):
        with pytest.raises(NoOverlapError) as whole:
            function(judgments)
        with pytest.raises(NoOverlapError) as parts:
            function(open_partitioned(collection.folder).judgments)
        assert str(parts.value) == str(whole.value)
