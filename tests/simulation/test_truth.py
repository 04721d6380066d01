"""The simulated truth."""

import numpy as np
import pytest

from qrowd.simulation import Lenient, Truth, simulate_judgments, simulate_pool
from simulated import near


def test_grades_have_the_prevalence_asked_for() -> None:
    truth = simulate_pool(200, 100, prevalence=(0.5, 0.3, 0.2), n_grades=3, topic_variance=0, rng=1)
    for grade, p in enumerate((0.5, 0.3, 0.2)):
        assert near((truth.grade == grade).mean(), p, truth.grade.size)


def test_one_share_of_relevant_documents_is_halved_from_grade_to_grade() -> None:
    truth = simulate_pool(200, 100, prevalence=0.35, topic_variance=0, rng=1)
    for grade, p in enumerate((0.65, 0.2, 0.1, 0.05)):
        assert near((truth.grade == grade).mean(), p, truth.grade.size)


@pytest.mark.parametrize(("prevalence", "grade"), [(0, 0), ((0, 0, 1, 0), 2), ((0, 0, 0, 1), 3)])
def test_a_prevalence_of_all_or_nothing_is_kept(prevalence: float, grade: int) -> None:
    assert (simulate_pool(5, 20, prevalence=prevalence, rng=1).grade == grade).all()


def test_topics_differ_in_their_share_of_relevant_documents_only_if_asked() -> None:
    even, uneven = (simulate_pool(200, 100, topic_variance=spread, rng=1) for spread in (0, 0.5))
    even_shares, uneven_shares = ((t.grade > 0).reshape(200, 100).mean(axis=1) for t in (even, uneven))
    assert even_shares.std() < 1.3 * np.sqrt(0.4 * 0.6 / 100)
    assert uneven_shares.std() > 4 * np.sqrt(0.4 * 0.6 / 100)


def test_topics_may_have_pools_of_different_sizes() -> None:
    pool = simulate_pool(3, (5, 1, 9), rng=1).pool
    assert pool.starts.tolist() == [0, 5, 6, 15]
    assert len(set(pool.documents)) == 15


def test_gold_is_the_truth_in_grades_and_in_yes_or_no(truth: Truth) -> None:
    graded, binary = truth.judgments(), truth.judgments(binary=True, name="nist")
    assert (graded.assessors, str(graded.scales[0])) == (("gold",), "0-3")
    assert (binary.assessors, str(binary.scales[0])) == (("nist",), "binary")
    assert (graded.panel().values[:, 0] == truth.grade).all()
    assert (binary.panel().values[:, 0] == (truth.grade > 0)).all()


def test_a_panel_of_judgments_of_the_whole_pool_stands_in_the_order_of_the_truth(truth: Truth) -> None:
    pool = simulate_judgments(truth, {"ann": Lenient()}, rng=5).panel().pool
    assert pool.topics == truth.pool.topics
    assert pool.documents == truth.pool.documents
    assert (pool.starts == truth.pool.starts).all()
    assert (pool.document == truth.pool.document).all()
