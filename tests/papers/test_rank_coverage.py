"""How often rank intervals and the set of the best systems err."""

import numpy as np
import pytest

from numbered_scores import numbered
from qrowd.comparison.rank_intervals import largest_of, rank_intervals
from qrowd_papers import rank_coverage as study
from qrowd_papers.rank_coverage import (
    Collection,
    error_in_families,
    family_wise_error,
    normal,
    ranks_held,
    skewed,
    two_kinds,
)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("n", "low", "high"), [(120, 0.008, 0.11), pytest.param(500, 0.025, 0.07, marks=pytest.mark.nightly)]
)
def test_of_equal_systems_one_is_left_out_in_five_percent_and_the_same_seed_says_so_again(n, low, high):
    found = family_wise_error(("skewed",), (5,), (3, 8), (25,), n_simulations=n, rng=1)
    assert found.n_systems.tolist() == [5, 5]
    assert ((found.share >= low) & (found.share <= high)).all()  # standard error .020, or .010 of 500
    assert found.error.tolist() == pytest.approx(np.sqrt(found.share * (1 - found.share) / n).tolist())
    alone = family_wise_error(("skewed",), (5,), (8,), (25,), n_simulations=n, rng=1)
    assert alone.share.tolist() == found.share[found.n_assessors == 8].tolist()
    assert found["n_assessors"].tolist() == [3, 8]


def test_giving_up_early_changes_no_answer():
    """What the study decides by blocks is what p of all replicates would say, drawn from the same stream."""
    answers = []
    one_better = np.array([0.15, 0, 0, 0])
    for seed in range(60):
        pairs = study._pairs(normal(np.random.default_rng(seed), 10, 3, 4) + one_better)
        early = study._differs(pairs, np.random.default_rng(seed), 400)
        random = np.random.default_rng(seed)
        largest = np.concatenate([pairs.replicates(random, 40) for _ in range(10)], axis=1)
        reached = (largest[:, :, None, None] >= pairs.t[:, None]).sum(axis=1)  # by kind of t, and by pair
        p = (1 + reached.max(axis=0)) / 401
        assert early == (p < 0.05).any()
        answers.append(early)
    assert 10 < sum(answers) < 50


@pytest.mark.parametrize("draw", [normal, skewed, two_kinds])
def test_equal_systems_have_equal_means(draw):
    values = draw(np.random.default_rng(1), 400, 60, 6)
    assert values.shape == (400, 60, 6)
    mean = values.mean(axis=(0, 1))
    spread = np.std(values.mean(axis=0), axis=0, ddof=1) / np.sqrt(60) + np.std(values.mean(axis=1), axis=0) / 20
    assert (np.abs(mean - mean.mean()) < 4 * spread).all()


def test_a_set_of_the_study_is_that_of_rank_intervals():
    collection = Collection.in_families(np.random.default_rng(2), 8)
    values = collection.draw(np.random.default_rng(3), 30, 4)
    pairs = study._pairs(values)
    found = rank_intervals(numbered(values.transpose(1, 0, 2)), n_resamples=2000, rng=1)
    significant = study._significant(pairs, largest_of(pairs, 2000, 1))
    assert ((pairs.mean[:, None] > pairs.mean) & significant).tolist() == found.better.tolist()


@pytest.mark.nightly
def test_true_ranks_are_held():
    one = ranks_held(6, 5, 40, n_simulations=60, n_replicates=200, rng=1)
    assert one.ranks >= 0.93
    assert one.best >= 0.93
    assert 1 <= one.set_size < 6


@pytest.mark.nightly
def test_the_study_has_every_part_and_its_tables_every_row(monkeypatch):
    def few(what):
        return lambda *given, **options: what(*given, **options | {"n_simulations": 2, "n_replicates": 40})

    for name in ("family_wise_error", "error_in_families", "ranks_held"):
        monkeypatch.setattr(study, name, few(getattr(study, name)))
    monkeypatch.setattr(study, "N_SYSTEMS", (5, 6, 8))
    told = []
    found = study.rank_study(rng=1, progress=lambda *what: told.append(what))
    assert told[-1][1] == told[-1][2]
    assert [len(table.rows) for table in study.rank_tables(found)] == [9, 9, 3, 6, 18]
    assert study.rank_tables(found)[2].header == ["systems", "topics", "2", "3", "5", "8", "18"]
    assert study.rank_study(quick=True, rng=1).n < found.n
    assert len(study.rank_notes(found)) == 4


@pytest.mark.nightly
def test_where_tastes_lie_along_one_axis_three_assessors_err_more_often_than_stated_and_eighteen_do_not():
    few, many = (error_in_families(a, n_simulations=100, n_replicates=200, rng=1) for a in (3, 18))
    assert 0.05 < few < 0.2
    assert many < 0.1
