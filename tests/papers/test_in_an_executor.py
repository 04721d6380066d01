"""Studies in the workers of an executor: the same tables to the bit, whatever the number of workers."""

import numpy as np
import pytest

import qrowd_papers.next_judgments as next_judgments
from pools import Backwards, Pickled, few_in_families, few_ranks_held, spawned
from qrowd.errors import ArgumentError
from qrowd.executors import Processes
from qrowd.reports.document import render
from qrowd.simulation import Confused, simulate_judgments, simulate_pool, simulate_runs
from qrowd_papers import papers
from qrowd_papers.advice import advice_page
from qrowd_papers.aware.study import aware_study
from qrowd_papers.coverage import coverage
from qrowd_papers.next_judgments import null_table, replays
from qrowd_papers.next_judgments_replays import simulated
from qrowd_papers.rank_coverage import RankStudy, family_wise_error, rank_study
from qrowd_papers.skewed_grades import skewed_grades


@pytest.fixture(scope="module", params=["here", pytest.param("processes", marks=pytest.mark.nightly)])
def executor(request):
    """Copies of tasks, run here; every night two processes for all tests of this module."""
    with Pickled() if request.param == "here" else spawned(2) as pool:
        yield pool


@pytest.mark.nightly
def test_replays_of_a_panel_are_the_same_in_two_processes(executor):
    panel = simulated(1, n_topics=4, n_systems=3)
    alone, together = (replays(panel, seeds=range(2), executor=one) for one in (None, executor))
    assert len(alone.rows) == 3 * 3 * 2  # pairs, designs, seeds
    assert len({row.n_asked for row in alone.rows}) > 5
    assert together == alone


@pytest.mark.nightly
def test_equal_systems_are_simulated_in_blocks_that_change_no_count(executor, monkeypatch):
    monkeypatch.setattr(next_judgments, "GUESSES", ("real",))
    together = null_table(2, 1, None, executor)
    assert together.rows == null_table(2, 1, None).rows
    monkeypatch.setattr(next_judgments, "PATHS_AT_ONCE", 2)
    monkeypatch.setattr(
        next_judgments, "null_errors", lambda n, *, first, **_: max(first + n - 3, 0) - max(first - 3, 0)
    )
    assert [row[2:4] for row in null_table(5, 1, None).rows] == [["5", "2"]] * 2  # errors: of the paths 3 and 4


@pytest.mark.nightly
def test_coverage_is_the_same_in_two_processes():
    size = {"n_topics": (10, 20), "n_assessors": (2, 4), "n_simulations": 100, "n_replicates": 20, "rng": 1}
    with spawned(2) as executor:
        alone, together = coverage(**size), coverage(**size, executor=executor)
    assert together.equals(alone)


@pytest.mark.nightly
def test_the_study_of_ranks_is_the_same_in_two_processes(executor, monkeypatch):
    def few_of_equal_systems(designs, *_, **options):
        return family_wise_error(designs, (5,), (2, 3), (10,), **options | {"n_simulations": 20})

    monkeypatch.setattr("qrowd_papers.rank_coverage.N_SYSTEMS", (5,))
    monkeypatch.setattr("qrowd_papers.rank_coverage.family_wise_error", few_of_equal_systems)
    monkeypatch.setattr("qrowd_papers.rank_coverage.error_in_families", few_in_families)
    monkeypatch.setattr("qrowd_papers.rank_coverage.ranks_held", few_ranks_held)
    alone, together = rank_study(quick=True, rng=1), rank_study(quick=True, rng=1, executor=executor)
    assert isinstance(together, RankStudy)
    assert (together.families, together.held) == (alone.families, alone.held)
    assert len(set(alone.families.values())) > 1
    assert len(set(alone.alike.share)) > 1
    assert together.alike.equals(alone.alike)
    assert together.kinds.equals(alone.kinds)


@pytest.mark.nightly
def test_tuples_of_assessors_are_the_same_in_two_processes_and_are_stored_as_they_come(executor, tmp_path):
    truth = simulate_pool(4, 12, prevalence=0.3, rng=1)
    runs = simulate_runs(truth, 5, depth=10, rng=1)
    accuracies = (0.9, 0.8, 0.7, 0.6)
    judgments = simulate_judgments(truth, {f"a{i}": Confused.of_accuracy(p) for i, p in enumerate(accuracies)}, rng=1)
    case = (runs, judgments, truth.judgments(binary=True), ("AP",))
    size = {"methods": ("mv", "emmv", "uniform", "sgl_rmse_md", "tpc_tau_med:printed"), "n_tuples": 2, "rng": 1}
    alone = aware_study(*case, n_resamples=6, **size)
    together = aware_study(*case, n_resamples=6, **size, executor=executor, folder=str(tmp_path))
    again = aware_study(*case, n_resamples=6, **size, folder=str(tmp_path))
    assert len(list(tmp_path.iterdir())) == len(alone.sizes) == 2
    for name in ("ap_correlation", "tau", "rmse"):
        for other in (together, again):
            np.testing.assert_array_equal(getattr(other, name), getattr(alone, name))


def test_the_tuples_of_a_size_are_several_tasks_whose_order_changes_nothing():
    truth = simulate_pool(4, 12, prevalence=0.4, rng=1)
    runs = simulate_runs(truth, 4, depth=8, rng=1)
    judgments = simulate_judgments(truth, {f"a{i}": Confused.of_accuracy(0.8) for i in range(10)}, rng=1)
    case = (runs, judgments, truth.judgments(binary=True), ("AP",))
    size = {"methods": ("mv", "emmv", "uniform"), "sizes": (4, 5), "n_tuples": 230, "rng": 1}
    alone, backwards = aware_study(*case, **size), Backwards(6)
    together = aware_study(*case, **size, executor=backwards)
    assert backwards.n_submitted == 6
    for name in ("ap_correlation", "tau", "rmse"):
        np.testing.assert_array_equal(getattr(together, name), getattr(alone, name))


@pytest.mark.nightly
def test_aggregators_and_advice_are_the_same_in_two_processes(executor, monkeypatch):
    size = {"shares": (0.5, 0.9), "crowds": ("guess",), "n_panels": 2, "rng": 1}
    assert skewed_grades(**size, executor=executor).equals(skewed_grades(**size))
    for name, values in (("N_SYSTEMS", (2, 6)), ("PANEL_SIZES", (3,)), ("POWER_DESIGNS", ((70, 3), (54, 5)))):
        monkeypatch.setattr(f"qrowd_papers.advice.{name}", values)
    monkeypatch.setattr("qrowd_papers.advice.ADVICE_DESIGNS", ((50, 3, 0.1, 1.0), (50, 8, 0.02, 0.5)))
    monkeypatch.setattr("qrowd_papers.advice.PILOTS", ((54, 5), (50, 8)))
    alone, together = advice_page(quick=True, rng=1), advice_page(quick=True, rng=1, executor=executor)
    assert render(together, "page.md") == render(alone, "page.md")


def test_a_study_that_is_computed_in_one_process_says_so():
    message = r"study 'annotator-test': it is computed in one process; aware, coverage, advice, skewed-grades, next"
    with pytest.raises(ArgumentError, match=message):
        papers.page("annotator-test", quick=True, executor=Processes(2))
