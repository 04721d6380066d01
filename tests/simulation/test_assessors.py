"""How simulated assessors judge."""

import numpy as np
import pytest

from qrowd.simulation import (
    Confident,
    Confused,
    Inverted,
    Lazy,
    Lenient,
    Random,
    Spammer,
    Truth,
    simulate_judgments,
    simulate_pool,
)
from simulated import BEHAVIOURS, CONFUSION, near, values_of

SCALES = {
    "confused": "0-3",
    "yes or no": "binary",
    "careful": "0-3",
    "lenient": "0-3",
    "severe": "0-3",
    "confident": "0..1",
    "spammer": "0-3",
    "constant": "0-3",
    "coin": "binary",
    "lazy": "binary",
    "all relevant": "binary",
    "inverted": "0-3",
    "magnitudes": "magnitude",
    "inverted magnitudes": "magnitude",
}


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_every_behaviour_keeps_to_the_scale_it_declares(truth: Truth, name: str) -> None:
    judgments = simulate_judgments(truth, {name: BEHAVIOURS[name]}, rng=5)
    (scale,) = judgments.scales
    assert scale.declared
    assert str(scale) == SCALES[name]
    assert scale.problem(judgments.value) is None
    assert len(judgments) == truth.grade.size


def test_a_confused_assessor_has_the_confusion_given() -> None:
    truth = simulate_pool(200, 100, rng=1)
    values = values_of(truth, Confused(CONFUSION))
    for grade, row in enumerate(CONFUSION):
        own = values[truth.grade == grade]
        for value, p in enumerate(row):
            assert near((own == value).mean(), p, own.size)


@pytest.mark.parametrize("grades", [2, 4])
def test_an_accuracy_is_the_share_of_right_answers_at_every_grade(grades: int) -> None:
    truth = simulate_pool(200, 100, n_grades=grades, rng=1)
    values = values_of(truth, Confused.of_accuracy(0.7, n_grades=grades))
    for grade in range(grades):
        own = values[truth.grade == grade]
        assert near((own == grade).mean(), 0.7, own.size)
        assert near((own == (grade + 1) % grades).mean(), 0.3 / (grades - 1), own.size)


def test_two_rows_of_confusion_take_every_relevant_document_alike(truth: Truth) -> None:
    values = values_of(truth, Confused(((0.9, 0.1), (0.4, 0.6))))
    for grade in range(4):
        own = values[truth.grade == grade]
        assert near(own.mean(), 0.6 if grade else 0.1, own.size)


def test_without_shift_and_noise_what_is_seen_is_the_truth(truth: Truth) -> None:
    assert (values_of(truth, Lenient()) == truth.grade).all()


def test_a_lenient_assessor_never_grades_below_and_a_severe_one_never_above_the_truth(truth: Truth) -> None:
    lenient, severe = values_of(truth, Lenient(0.5)), values_of(truth, Lenient(-0.5))
    assert (lenient >= truth.grade).all()
    assert (severe <= truth.grade).all()
    assert lenient.mean() > truth.grade.mean() > severe.mean()


def test_noise_confuses_neighbouring_grades_more_than_distant_ones() -> None:
    truth = simulate_pool(200, 100, rng=1)
    own = values_of(truth, Lenient(noise=0.3))[truth.grade == 1]
    shares = [float((own == value).mean()) for value in range(4)]
    assert shares[1] > shares[0] > shares[3]
    assert shares[2] > shares[3]


def test_an_assessor_drawn_to_appeal_grades_appealing_documents_higher(truth: Truth) -> None:
    fair, drawn = values_of(truth, Lenient(noise=0.2)), values_of(truth, Lenient(noise=0.2, appeal=0.7))
    assert abs(np.corrcoef(fair, truth.appeal)[0, 1]) < 0.07
    assert np.corrcoef(drawn, truth.appeal)[0, 1] > 0.3


def test_a_confident_assessor_gives_hundredths_and_seldom_anything_between(truth: Truth) -> None:
    values = values_of(truth, Confident())
    assert (np.round(values, 2) == values).all()
    assert ((values > 0.5) <= (truth.grade > 0)).all()
    assert ((values > 0.25) & (values < 0.75)).mean() < 0.15


def test_a_spammer_gives_one_grade_or_any_alike(truth: Truth) -> None:
    assert (values_of(truth, Spammer(2)) == 2).all()
    values = values_of(truth, Spammer())
    for grade in range(4):
        assert near((values[truth.grade == 3] == grade).mean(), 0.25, (truth.grade == 3).sum())


@pytest.mark.parametrize("p", [0.05, 0.5, 0.95])
def test_a_random_assessor_finds_relevant_at_the_rate_given_whatever_the_truth(truth: Truth, p: float) -> None:
    values = values_of(truth, Random(p))
    for grade in range(4):
        assert near(values[truth.grade == grade].mean(), p, (truth.grade == grade).sum())


def test_a_lazy_assessor_marks_exactly_one_document_of_every_topic_that_has_a_relevant_one() -> None:
    truth = simulate_pool(100, 20, prevalence=0.1, rng=1)
    values = values_of(truth, Lazy()).reshape(100, 20)
    answerable = (truth.grade.reshape(100, 20) > 0).any(axis=1)
    assert 0 < answerable.sum() < 100
    assert (values.sum(axis=1) == answerable).all()
    assert (truth.grade.reshape(100, 20)[values == 1] > 0).all()


def test_a_lazy_assessor_marks_any_relevant_document_alike() -> None:
    truth = simulate_pool(2000, 3, prevalence=1, rng=1)
    assert near(values_of(truth, Lazy()).reshape(-1, 3)[:, 0].mean(), 1 / 3, 2000)


def test_an_inverted_assessor_says_the_opposite(truth: Truth) -> None:
    for behaviour, top in ((Confused(CONFUSION), 3), (Random(0.2), 1), (Confident(noise=0.3), 1), (Lazy(), 1)):
        assert (values_of(truth, Inverted(behaviour)) == top - values_of(truth, behaviour)).all()
    assert (values_of(truth, Inverted(Inverted(Lenient()))) == truth.grade).all()
