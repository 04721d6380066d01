"""Random assessors in the workers of an executor: the same similarities to the bit, whoever compares which block."""

from dataclasses import replace

import numpy as np
import pytest

from pools import Backwards, Pickled
from qrowd.aware import assessor_similarities, similarity_to_random
from qrowd.aware.random_assessors import even_grades
from qrowd.errors import ArgumentError, MeasureError
from qrowd.executors import Processes
from qrowd.methods import evaluate_methods

N = 12  # two blocks for each level, with the next fixture


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of eight random assessors in this process; in other processes they hold 512 still."""
    monkeypatch.setattr("qrowd.aware.random_assessors.BLOCK", 8)


def similarities_of(case, n=N, **options):
    return similarity_to_random(
        case.runs, case.judgments, list(case.measures), n_resamples=n, rng=3, conventions=case.conventions, **options
    )


def n_tasks(case):
    """Blocks of all groups of assessors and levels."""
    totals = []
    similarities_of(case, progress=lambda done, total: totals.append(total))
    assert totals == [len(totals)] * len(totals)
    assert len(totals) % 6 == 0
    return totals[0]


def same(one, other):
    return (
        one.single.tobytes() == other.single.tobytes()
        and one.by_topic.tobytes() == other.by_topic.tobytes()
        and one.attributes == other.attributes
    )


@pytest.mark.parametrize(
    "options", [{}, pytest.param({"by_topic": False, "gaps": ("rmse", "kld")}, marks=pytest.mark.nightly)]
)
def test_threads_and_any_order_give_the_same_similarities(case, options, small_blocks):
    totals = []
    alone = similarities_of(case, progress=lambda done, total: totals.append(total), **options)
    assert same(alone, similarities_of(case, executor=Backwards(totals[0]), **options))
    assert same(alone, similarities_of(case, threads=3, **options))


@pytest.mark.nightly
def test_processes_give_the_same_similarities(gappy):
    n = 520  # two blocks for each level
    assert same(similarities_of(gappy, n), similarities_of(gappy, n, executor=Processes(2)))


def test_progress_counts_blocks_of_random_assessors(plain, small_blocks):
    told, n = [], n_tasks(plain)
    similarities_of(plain, executor=Backwards(n), progress=lambda done, total: told.append((done, total)))
    assert told == [(done, n) for done in range(1, n + 1)]


def test_assessor_similarities_and_methods_pass_the_executor_on(plain, small_blocks):
    data = (plain.runs, plain.judgments, ["AP"])
    n = n_tasks(replace(plain, measures=("AP",)))
    executor = Backwards(n)
    one = assessor_similarities(*data, n_resamples=N, rng=3, executor=executor)
    assert executor.n_submitted == n
    assert same(one, assessor_similarities(*data, n_resamples=N, rng=3))
    executor = Backwards(n)
    by_method = evaluate_methods(*data, methods=f"sgl_rmse_md(n_resamples={N})", rng=3, executor=executor)
    assert executor.n_submitted == n
    assert np.array_equal(by_method.values, one.average("sgl_rmse_md").values, equal_nan=True)


def test_a_draw_of_ones_own_reaches_the_workers_if_they_can_import_it(plain):
    assert same(similarities_of(plain), similarities_of(plain, draw=even_grades, executor=Processes(1)))
    with pytest.raises(ArgumentError, match=r"^executor: the arguments cannot be sent .* top of a module$"):
        similarities_of(plain, draw=lambda p, scale: even_grades(p / 2, scale), executor=Processes(1))


def test_an_error_in_a_worker_is_the_one_line_that_it_is_here(plain):
    few = replace(plain, measures=("AP(recall_base=1)",))
    with pytest.raises(MeasureError) as alone:
        similarities_of(few)
    with pytest.raises(MeasureError) as elsewhere:
        similarities_of(few, executor=Pickled())
    assert str(elsewhere.value) == str(alone.value)
