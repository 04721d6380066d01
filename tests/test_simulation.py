"""A simulation does what it says: the truth behind it can be found again in what it yields."""

import gc
import weakref
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.simulation import (
    AllRelevant,
    Behaviour,
    Confident,
    Confused,
    Inverted,
    Lazy,
    Lenient,
    Magnitude,
    Random,
    RandomAssessors,
    Spammer,
    Truth,
    check_documents,
    simulate_demo,
    simulate_judgments,
    simulate_magnitudes,
    simulate_pool,
    simulate_preferences,
    simulate_runs,
)

CONFUSION = ((0.7, 0.2, 0.1, 0.0), (0.3, 0.4, 0.2, 0.1), (0.1, 0.2, 0.5, 0.2), (0.0, 0.0, 0.1, 0.9))
BEHAVIOURS: dict[str, Behaviour] = {
    "confused": Confused(CONFUSION),
    "yes or no": Confused.of_accuracy(0.8),
    "careful": Lenient(noise=0.2),
    "lenient": Lenient(shift=0.5),
    "severe": Lenient(shift=-0.5),
    "confident": Confident(noise=0.2, appeal=0.5),
    "spammer": Spammer(),
    "constant": Spammer(2),
    "coin": Random(0.3),
    "lazy": Lazy(),
    "all relevant": AllRelevant(),
    "inverted": Inverted(Lenient()),
    "magnitudes": Magnitude(),
    "inverted magnitudes": Inverted(Magnitude()),
}
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
TABLE_I = (278, 111, 214, 212, 188, 212, 179, 174, 243, 164, 342, 195, 253, 203, 264, 408, 210, 419)


@pytest.fixture(scope="module")
def truth() -> Truth:
    return simulate_pool(50, 100, rng=11)


def said(truth: Truth, behaviour: Behaviour, **options: object) -> NDArray[np.float64]:
    """(pairs,) what one assessor says about a whole pool."""
    return simulate_judgments(truth, {"ann": behaviour}, rng=5, **options).panel().values[:, 0]  # type: ignore[arg-type]


def rows(judgments: Judgments) -> list[tuple[object, ...]]:
    """Every judgment in labels, with all that was recorded."""
    optional = [getattr(judgments, name) for name in Judgments.OPTIONAL if getattr(judgments, name) is not None]
    return [
        (
            judgments.topics[judgments.topic[i]],
            judgments.documents[judgments.document[i]],
            judgments.assessors[judgments.assessor[i]],
            float(judgments.value[i]),
            *(column[i] for column in optional),
        )
        for i in range(len(judgments))
    ]


def precision(runs: Runs, truth: Truth, cut: int = 10) -> NDArray[np.float64]:
    """(systems, topics) share of truly relevant documents among the first ten, in obvious loops."""
    pool, ranked = truth.pool, runs.ranked()
    relevant = {pool.documents[pool.document[i]] for i in np.flatnonzero(truth.grade > 0)}
    scores = np.zeros(ranked.starts.shape)
    for s, t in np.ndindex(scores.shape):
        first = ranked.document[ranked.starts[s, t] : ranked.starts[s, t] + min(cut, ranked.lengths[s, t])]
        scores[s, t] = sum(runs.documents[d] in relevant for d in first) / cut
    return scores


def clock(times: NDArray[np.object_]) -> NDArray[np.float64]:
    """(n,) seconds of ISO 8601 texts."""
    return np.array([datetime.fromisoformat(text).timestamp() for text in times])


def near(observed: float, p: float, n: float) -> bool:
    """Within five binomial standard errors."""
    return abs(observed - p) <= 5 * np.sqrt(p * (1 - p) / n)


# ---- chance

SIMULATIONS: dict[str, Callable[[Truth, object], object]] = {
    "pool": lambda _, rng: simulate_pool(5, 20, rng=rng).relevance.tolist(),
    "runs": lambda truth, rng: simulate_runs(truth, 4, unjudged=0.1, ties=0.1, rng=rng).to_frame().to_csv(),
    "judgments": lambda truth, rng: rows(
        simulate_judgments(
            truth, BEHAVIOURS, coverage=0.5, repeats=0.1, record=("order", "seconds", "time", "comment"), rng=rng
        )
    ),
    "magnitudes": lambda truth, rng: rows(simulate_magnitudes(truth, 200, rng=rng)),
    "preferences": lambda truth, rng: simulate_preferences(truth, 2, coverage=0.1, bad=0.1, rng=rng).to_rows(),
    "random assessors": lambda truth, rng: [
        panel.values.tolist() for panel in RandomAssessors(truth.pool, 3, 0.3, rng=rng)
    ],
    "demo": lambda _, rng: rows(simulate_demo(rng=rng)[1]),
}


@pytest.mark.parametrize("simulation", SIMULATIONS.values(), ids=SIMULATIONS)
def test_the_same_chance_gives_the_same_result_and_another_gives_another(
    truth: Truth, simulation: Callable[[Truth, object], object]
) -> None:
    assert simulation(truth, 3) == simulation(truth, np.random.default_rng(3))
    assert simulation(truth, 3) != simulation(truth, 4)


def test_a_generator_moves_on_so_that_two_calls_differ(truth: Truth) -> None:
    rng = np.random.default_rng(3)
    first, second = (simulate_pool(3, 20, rng=rng).relevance for _ in range(2))
    assert (first != second).all()


def test_the_same_number_for_everything_ties_nothing_together() -> None:
    truth = simulate_pool(50, 100, topic_spread=0, rng=7)
    blind = simulate_runs(truth, 2, depth=100, quality=(0, 0), rng=7)
    relevance = dict(zip(truth.pool.documents, truth.relevance, strict=True))
    by_system = [
        {blind.documents[d]: s for d, s in zip(blind.document[rows], blind.score[rows], strict=True)}
        for rows in (blind.system == 0, blind.system == 1)
    ]
    noise = [np.array([system[label] for label in relevance]) for system in by_system]
    sources = np.corrcoef([np.array(list(relevance.values())), truth.appeal, *noise, said(truth, Spammer())])
    assert np.abs(sources - np.eye(5)).max() < 5 / np.sqrt(len(relevance))


def test_nobodys_judgments_depend_on_who_else_takes_part(truth: Truth) -> None:
    options = {"coverage": 0.4, "repeats": 0.1, "record": ("seconds", "time", "comment"), "rng": 5}
    everyone = rows(simulate_judgments(truth, BEHAVIOURS, **options))
    backwards = rows(simulate_judgments(truth, dict(reversed(BEHAVIOURS.items())), **options))
    alone = rows(simulate_judgments(truth, {"coin": BEHAVIOURS["coin"]}, **options))
    assert sorted(everyone) == sorted(backwards)
    assert [row for row in everyone if row[2] == "coin"] == alone


def test_two_assessors_of_one_behaviour_judge_independently(truth: Truth) -> None:
    pair = simulate_judgments(truth, {"ann": Random(0.5), "bob": Random(0.5)}, rng=5).panel().values
    assert near((pair[:, 0] == pair[:, 1]).mean(), 0.5, len(pair))


# ---- the truth


def test_grades_have_the_prevalence_asked_for() -> None:
    truth = simulate_pool(200, 100, prevalence=(0.5, 0.3, 0.2), grades=3, topic_spread=0, rng=1)
    for grade, p in enumerate((0.5, 0.3, 0.2)):
        assert near((truth.grade == grade).mean(), p, truth.grade.size)


def test_one_share_of_relevant_documents_is_halved_from_grade_to_grade() -> None:
    truth = simulate_pool(200, 100, prevalence=0.35, topic_spread=0, rng=1)
    for grade, p in enumerate((0.65, 0.2, 0.1, 0.05)):
        assert near((truth.grade == grade).mean(), p, truth.grade.size)


@pytest.mark.parametrize(("prevalence", "grade"), [(0, 0), ((0, 0, 1, 0), 2), ((0, 0, 0, 1), 3)])
def test_a_prevalence_of_all_or_nothing_is_kept(prevalence: float, grade: int) -> None:
    assert (simulate_pool(5, 20, prevalence=prevalence, rng=1).grade == grade).all()


def test_topics_differ_in_their_share_of_relevant_documents_only_if_asked() -> None:
    even, uneven = (simulate_pool(200, 100, topic_spread=spread, rng=1) for spread in (0, 0.5))
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


# ---- runs


def test_the_true_order_of_systems_is_recovered_by_precision_over_enough_topics() -> None:
    truth = simulate_pool(400, 60, rng=2)
    runs = simulate_runs(truth, 6, depth=10, rng=2)
    assert runs.systems == ("sys1", "sys2", "sys3", "sys4", "sys5", "sys6")
    assert (np.diff(precision(runs, truth).mean(axis=1)) > 0).all()


def test_a_quality_for_every_system_is_kept_in_the_order_given() -> None:
    truth = simulate_pool(400, 60, rng=2)
    runs = simulate_runs(truth, 3, depth=10, quality=(1.0, 0.0, 2.0), names=("b", "c", "a"), rng=2)
    b, c, a = precision(runs, truth).mean(axis=1)
    assert runs.systems == ("b", "c", "a")
    assert a > b > c
    assert near(c, (truth.grade > 0).mean(), 4000)


def test_a_system_that_follows_appeal_ranks_appealing_documents_first(truth: Truth) -> None:
    runs = simulate_runs(truth, 2, depth=10, quality=(1, 1), appeal=(0, 1), rng=3)
    appeal = dict(zip(truth.pool.documents, truth.appeal, strict=True))
    plain, drawn = (np.mean([appeal[runs.documents[d]] for d in runs.document[runs.system == s]]) for s in (0, 1))
    assert abs(plain) < 0.2
    assert drawn > 0.8


def test_the_share_of_unjudged_documents_is_as_asked_at_the_top_as_at_the_end(truth: Truth) -> None:
    runs = simulate_runs(truth, 20, depth=30, unjudged=0.2, rng=3)
    ranked, pooled = runs.ranked(), set(truth.pool.documents)
    outside = np.array([runs.documents[d] not in pooled for d in ranked.document]).reshape(-1, 30)
    assert (ranked.lengths == 30).all()
    assert near(outside[:, :5].mean(), 0.2, outside[:, :5].size)
    assert near(outside[:, 25:].mean(), 0.2, outside[:, 25:].size)


def test_the_share_of_ties_is_as_asked_and_without_it_there_are_none(truth: Truth) -> None:
    tied = simulate_runs(truth, 20, depth=30, ties=0.1, rng=3).ranked().tied
    assert near(tied.reshape(-1, 30)[:, 1:].mean(), 0.1, 20 * 50 * 29)
    assert not simulate_runs(truth, 20, depth=30, rng=3).ranked().tied.any()


def test_breaking_ties_by_label_favours_neither_side_of_the_pool(truth: Truth) -> None:
    runs = simulate_runs(truth, 10, depth=30, unjudged=0.5, ties=1, rng=3)
    pooled = set(truth.pool.documents)
    first = np.array([runs.documents[d] in pooled for d in runs.ranked().document]).reshape(-1, 30)[:, :10]
    assert near(first.mean(), 0.5, first.size)


def test_no_list_is_longer_than_its_pool() -> None:
    runs = simulate_runs(simulate_pool(2, (3, 8), rng=1), 2, depth=5, rng=1)
    assert runs.ranked().lengths.tolist() == [[3, 5], [3, 5]]


# ---- assessors


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
    values = said(truth, Confused(CONFUSION))
    for grade, row in enumerate(CONFUSION):
        own = values[truth.grade == grade]
        for value, p in enumerate(row):
            assert near((own == value).mean(), p, own.size)


@pytest.mark.parametrize("grades", [2, 4])
def test_an_accuracy_is_the_share_of_right_answers_at_every_grade(grades: int) -> None:
    truth = simulate_pool(200, 100, grades=grades, rng=1)
    values = said(truth, Confused.of_accuracy(0.7, grades))
    for grade in range(grades):
        own = values[truth.grade == grade]
        assert near((own == grade).mean(), 0.7, own.size)
        assert near((own == (grade + 1) % grades).mean(), 0.3 / (grades - 1), own.size)


def test_two_rows_of_confusion_take_every_relevant_document_alike(truth: Truth) -> None:
    values = said(truth, Confused(((0.9, 0.1), (0.4, 0.6))))
    for grade in range(4):
        own = values[truth.grade == grade]
        assert near(own.mean(), 0.6 if grade else 0.1, own.size)


def test_without_shift_and_noise_what_is_seen_is_the_truth(truth: Truth) -> None:
    assert (said(truth, Lenient()) == truth.grade).all()


def test_a_lenient_assessor_never_grades_below_and_a_severe_one_never_above_the_truth(truth: Truth) -> None:
    lenient, severe = said(truth, Lenient(0.5)), said(truth, Lenient(-0.5))
    assert (lenient >= truth.grade).all()
    assert (severe <= truth.grade).all()
    assert lenient.mean() > truth.grade.mean() > severe.mean()


def test_noise_confuses_neighbouring_grades_more_than_distant_ones() -> None:
    truth = simulate_pool(200, 100, rng=1)
    own = said(truth, Lenient(noise=0.3))[truth.grade == 1]
    shares = [float((own == value).mean()) for value in range(4)]
    assert shares[1] > shares[0] > shares[3]
    assert shares[2] > shares[3]


def test_an_assessor_drawn_to_appeal_grades_appealing_documents_higher(truth: Truth) -> None:
    fair, drawn = said(truth, Lenient(noise=0.2)), said(truth, Lenient(noise=0.2, appeal=0.7))
    assert abs(np.corrcoef(fair, truth.appeal)[0, 1]) < 0.07
    assert np.corrcoef(drawn, truth.appeal)[0, 1] > 0.3


def test_a_confident_assessor_gives_hundredths_and_seldom_anything_between(truth: Truth) -> None:
    values = said(truth, Confident())
    assert (np.round(values, 2) == values).all()
    assert ((values > 0.5) <= (truth.grade > 0)).all()
    assert ((values > 0.25) & (values < 0.75)).mean() < 0.15


def test_a_spammer_gives_one_grade_or_any_alike(truth: Truth) -> None:
    assert (said(truth, Spammer(2)) == 2).all()
    values = said(truth, Spammer())
    for grade in range(4):
        assert near((values[truth.grade == 3] == grade).mean(), 0.25, (truth.grade == 3).sum())


@pytest.mark.parametrize("p", [0.05, 0.5, 0.95])
def test_a_random_assessor_finds_relevant_at_the_rate_given_whatever_the_truth(truth: Truth, p: float) -> None:
    values = said(truth, Random(p))
    for grade in range(4):
        assert near(values[truth.grade == grade].mean(), p, (truth.grade == grade).sum())


def test_a_lazy_assessor_marks_exactly_one_document_of_every_topic_that_has_a_relevant_one() -> None:
    truth = simulate_pool(100, 20, prevalence=0.1, rng=1)
    values = said(truth, Lazy()).reshape(100, 20)
    answerable = (truth.grade.reshape(100, 20) > 0).any(axis=1)
    assert 0 < answerable.sum() < 100
    assert (values.sum(axis=1) == answerable).all()
    assert (truth.grade.reshape(100, 20)[values == 1] > 0).all()


def test_a_lazy_assessor_marks_any_relevant_document_alike() -> None:
    truth = simulate_pool(2000, 3, prevalence=1, rng=1)
    assert near(said(truth, Lazy()).reshape(-1, 3)[:, 0].mean(), 1 / 3, 2000)


def test_an_inverted_assessor_says_the_opposite(truth: Truth) -> None:
    for behaviour, top in ((Confused(CONFUSION), 3), (Random(0.2), 1), (Confident(noise=0.3), 1), (Lazy(), 1)):
        assert (said(truth, Inverted(behaviour)) == top - said(truth, behaviour)).all()
    assert (said(truth, Inverted(Magnitude())) == 1 / said(truth, Magnitude())).all()
    assert (said(truth, Inverted(Inverted(Lenient()))) == truth.grade).all()


def test_magnitudes_are_log_normal_with_the_multiplier_and_exponent_given(truth: Truth) -> None:
    logs = np.log(said(truth, Magnitude(multiplier=20, exponent=0.7, noise=0.3, round_numbers=0)))
    slope, intercept = np.polyfit(truth.relevance, logs, 1)
    assert slope == pytest.approx(0.7, abs=0.03)
    assert intercept == pytest.approx(np.log(20), abs=0.03)
    assert np.std(logs - slope * truth.relevance) == pytest.approx(0.3, abs=0.02)


def test_magnitudes_are_written_in_round_numbers_or_two_digits(truth: Truth) -> None:
    for share in (0.0, 0.6, 1.0):
        values = said(truth, Magnitude(multiplier=3, exponent=2, round_numbers=share))
        digits = [f"{value:.1e}".split("e")[0] for value in values]
        assert all(value == float(f"{value:.2g}") for value in values)
        round_ones = np.mean([mantissa in ("1.0", "2.0", "5.0") for mantissa in digits])
        assert share <= round_ones <= share + 0.1
    assert values.min() < 0.1 < 100 < values.max()


def test_rounding_a_magnitude_moves_it_no_further_than_halfway_to_the_next_round_number() -> None:
    truth = simulate_pool(20, 100, rng=1)
    exact = 10 * np.exp(2 * truth.relevance)
    assert np.abs(np.log(said(truth, Magnitude(10, 2, 0, 1)) / exact)).max() <= np.log(2.5) / 2 + 1e-9
    assert np.abs(said(truth, Magnitude(10, 2, 0, 0)) / exact - 1).max() <= 0.05 + 1e-9


# ---- panels


@pytest.mark.parametrize("coverage", [0.0, 0.001, 0.25, 1.0])
def test_an_assessor_covers_the_share_given_of_every_pool_and_at_least_one_document(coverage: float) -> None:
    truth = simulate_pool(6, (40, 40, 40, 7, 7, 1), rng=1)
    judgments = simulate_judgments(truth, {"ann": Lenient(), "all": Lenient()}, coverage={"ann": coverage}, rng=1)
    per_topic = Counter(topic for topic, _, who, *_ in rows(judgments) if who == "ann")
    expected = [max(round(coverage * size), 1) if coverage else 0 for size in (40, 40, 40, 7, 7, 1)]
    assert [per_topic[topic] for topic in truth.pool.topics] == expected
    assert sum(who == "all" for _, _, who, *_ in rows(judgments)) == 135


def test_coverage_changes_what_is_judged_and_not_how(truth: Truth) -> None:
    part = simulate_judgments(truth, {"ann": Random(0.5)}, coverage=0.3, rng=5)
    whole = dict(zip(truth.pool.documents, said(truth, Random(0.5)), strict=True))
    assert len(part) == 1500
    assert all(whole[document] == value for _, document, _, value in rows(part))


def test_labels_of_documents_that_nobody_judged_are_left_out(truth: Truth) -> None:
    part = simulate_judgments(truth, {"ann": Lenient()}, coverage=0.3, rng=5)
    assert len(part.documents) == 1500


def test_repeats_are_the_share_given_and_look_anew(truth: Truth) -> None:
    judgments = simulate_judgments(truth, {"ann": Random(0.5), "bob": Random(0.5)}, repeats={"ann": 0.2}, rng=5)
    assert judgments.n_repeats() == 1000
    assert len(judgments) == 11_000
    by_pair: dict[object, list[float]] = {}
    for _, document, who, value in rows(judgments):
        by_pair.setdefault((who, document), []).append(value)
    again = [values for values in by_pair.values() if len(values) == 2]
    assert near(np.mean([a == b for a, b in again]), 0.5, 1000)


def test_a_careful_assessor_repeats_themselves_exactly(truth: Truth) -> None:
    judgments = simulate_judgments(truth, {"ann": Lenient()}, repeats=0.2, rng=5)
    assert judgments.single(repeats="mean").value.tolist() == judgments.single(repeats="first").value.tolist()


def test_nothing_is_recorded_unless_asked_and_asking_changes_no_judgment(truth: Truth) -> None:
    plain = simulate_judgments(truth, {"ann": Random()}, repeats=0.1, rng=5)
    full = simulate_judgments(
        truth, {"ann": Random()}, repeats=0.1, record=("order", "seconds", "time", "comment"), rng=5
    )
    assert all(getattr(plain, name) is None for name in Judgments.OPTIONAL)
    assert [row[:4] for row in rows(full)] == rows(plain)


def test_order_and_time_tell_the_same_story_and_each_works_without_a_break(truth: Truth) -> None:
    judgments = simulate_judgments(
        truth, {"ann": Lenient(), "bob": Lenient()}, record=("order", "seconds", "time"), rng=5
    )
    assert judgments.order is not None
    assert judgments.time is not None
    assert judgments.seconds is not None
    assert sorted(judgments.order) == list(range(1, len(judgments) + 1))
    by_order = np.argsort(judgments.order)
    assert (np.diff(clock(judgments.time)[by_order]) >= 0).all()
    bob = np.flatnonzero(judgments.assessor == 1)
    assert (np.diff(judgments.order[bob]) > 0).all()
    assert np.diff(clock(judgments.time)[bob]) == pytest.approx(judgments.seconds[bob][1:], abs=0.002)
    # Topic after topic, not in the order of their numbers.
    visits = judgments.topic[bob][np.append(True, np.diff(judgments.topic[bob]) != 0)]
    assert len(visits) == 50
    assert not (np.diff(visits) > 0).all()


def test_comments_fit_the_grade(truth: Truth) -> None:
    judgments = simulate_judgments(truth, {"ann": Lenient()}, record=("comment",), rng=5)
    assert judgments.comment is not None
    words = [set(judgments.comment[judgments.value == grade]) for grade in (0, 2, 3)]
    assert words[0].isdisjoint(words[1] | words[2])
    assert words[1].isdisjoint(words[2])


# ---- magnitudes


@pytest.fixture(scope="module")
def crowd(truth: Truth) -> Judgments:
    return simulate_magnitudes(truth, 200, rng=5)


def units(judgments: Judgments) -> dict[str, list[int]]:
    """Rows of every unit, in the order of the judgments."""
    found: dict[str, list[int]] = {}
    assert judgments.unit is not None
    for row, unit in enumerate(judgments.unit):
        found.setdefault(unit, []).append(row)
    return found


def labels(truth: Truth, pairs: NDArray[np.int64]) -> list[str]:
    return [truth.pool.documents[d] for d in truth.pool.document[pairs]]


def test_a_unit_holds_eight_documents_of_one_topic_judged_by_one_assessor(crowd: Judgments) -> None:
    for members in units(crowd).values():
        assert len({int(crowd.document[i]) for i in members}) == len(members) == 8
        assert len({int(crowd.topic[i]) for i in members}) == 1
        assert len({int(crowd.assessor[i]) for i in members}) == 1


def test_every_unit_holds_the_known_highly_relevant_and_the_known_not_relevant_document(
    truth: Truth, crowd: Judgments
) -> None:
    high, low = check_documents(truth)
    for pairs, choose in ((high, np.maximum), (low, np.minimum)):
        assert (truth.grade[pairs] == choose.reduceat(truth.grade, truth.pool.starts[:-1])).all()
    checks = [set(pair) for pair in zip(labels(truth, high), labels(truth, low), strict=True)]
    for members in units(crowd).values():
        topic = truth.pool.topics.index(crowd.topics[crowd.topic[members[0]]])
        assert checks[topic] < {crowd.documents[crowd.document[i]] for i in members}


def test_every_other_document_is_judged_ten_times_and_those_that_fill_the_last_unit_eleven(
    truth: Truth, crowd: Judgments
) -> None:
    checks = {*labels(truth, check_documents(truth)[0]), *labels(truth, check_documents(truth)[1])}
    times = Counter(document for _, document, *_ in rows(crowd))
    counts = Counter(n for document, n in times.items() if document not in checks)
    n_units = 50 * -(-10 * 98 // 6)
    assert len(units(crowd)) == n_units
    filling = 6 * n_units - 10 * 98 * 50
    assert counts == {10: 98 * 50 - filling, 11: filling}
    assert all(times[document] == n_units // 50 for document in checks)


def test_table_i_of_the_magnitude_paper_has_7059_units_for_4269_documents() -> None:
    truth = simulate_pool(18, TABLE_I, prevalence=0.3, rng=1)
    crowd = simulate_magnitudes(truth, 1481, rng=1)
    assert truth.grade.size == 4269
    assert len(units(crowd)) == 7059
    per_topic = Counter(crowd.topics[crowd.topic[members[0]]] for members in units(crowd).values())
    assert [per_topic[topic] for topic in truth.pool.topics[:3]] == [460, 182, 354]


def test_the_smallest_topic_still_gives_units_without_repetition() -> None:
    truth = simulate_pool(20, 8, prevalence=0.5, topic_spread=0, rng=1)
    crowd = simulate_magnitudes(truth, 30, redundancy=3, rng=1)
    assert len(units(crowd)) == 60
    assert all(len({crowd.document[i] for i in members}) == 8 for members in units(crowd).values())


def test_check_documents_and_the_others_stand_at_any_place_of_a_unit(truth: Truth, crowd: Judgments) -> None:
    high = set(labels(truth, check_documents(truth)[0]))
    places = Counter(
        place
        for members in units(crowd).values()
        for place, row in enumerate(members)
        if crowd.documents[crowd.document[row]] in high
    )
    n = sum(places.values())
    assert all(near(places[place] / n, 1 / 8, n) for place in range(8))


def test_nobody_judges_a_topic_twice(crowd: Judgments) -> None:
    done = [(int(crowd.topic[members[0]]), int(crowd.assessor[members[0]])) for members in units(crowd).values()]
    assert len(set(done)) == len(done)


def test_h_is_above_n_in_every_unit_that_was_kept_but_not_in_what_was_said_first(truth: Truth) -> None:
    failed = []
    high, low = (set(labels(truth, pairs)) for pairs in check_documents(truth))
    for checked in (True, False):
        crowd = simulate_magnitudes(truth, 200, noise=1.5, checked=checked, rng=5)
        failures = 0
        for members in units(crowd).values():
            by_label = {crowd.documents[crowd.document[i]]: crowd.value[i] for i in members}
            (h,), (n,) = ([v for label, v in by_label.items() if label in side] for side in (high, low))
            failures += h <= n
        failed.append(failures)
    assert failed[0] == 0
    assert failed[1] > 100


def test_everything_about_a_unit_is_recorded_in_the_order_it_happened(crowd: Judgments) -> None:
    assert crowd.order is not None
    assert crowd.seconds is not None
    assert crowd.time is not None
    assert crowd.comment is not None
    assert crowd.order.tolist() == list(range(1, len(crowd) + 1))
    assert crowd.seconds.min() >= 20
    when = clock(crowd.time)
    assert (np.diff(when) >= 0).all()
    for members in units(crowd).values():
        assert np.diff(when[members]) == pytest.approx(crowd.seconds[members][1:], abs=0.002)
    assert all(isinstance(words, str) and words for words in crowd.comment)


def test_an_assessor_does_one_unit_after_the_other(crowd: Judgments) -> None:
    for who in range(len(crowd.assessors)):
        visits = crowd.unit[crowd.assessor == who] if crowd.unit is not None else []
        changes = sum(a != b for a, b in pairwise(visits))
        assert changes == len(set(visits)) - 1


def test_every_assessor_has_a_scale_of_their_own_but_ranks_like_the_truth(truth: Truth, crowd: Judgments) -> None:
    relevance = dict(zip(truth.pool.documents, truth.relevance, strict=True))
    seen = np.array([relevance[crowd.documents[d]] for d in crowd.document])
    logs = np.log(crowd.value)
    slopes, levels = [], []
    for who in np.flatnonzero(np.bincount(crowd.assessor) >= 80):
        mine = crowd.assessor == who
        slope, level = np.polyfit(seen[mine], logs[mine], 1)
        slopes.append(slope)
        levels.append(level)
    assert len(slopes) > 50
    assert min(slopes) > 0.2
    assert np.std(levels) == pytest.approx(0.65, rel=0.3)
    assert str(crowd.scales[0]) == "magnitude"


# ---- preferences


def test_without_taste_and_noise_every_preference_is_true_and_every_pair_is_judged_once() -> None:
    truth = simulate_pool(10, 12, rng=1)
    given = simulate_preferences(truth, 3, taste=0, noise=0, strong_margin=0.7, rng=1)
    relevance = dict(zip(truth.pool.documents, truth.relevance, strict=True))
    assert len(given) == len(given.to_rows()) == 10 * 3 * 66
    assert len({(frozenset((a, b)), who) for _, a, b, who, _ in given.to_rows()}) == len(given)
    for topic, preferred, other, _, strength in given.to_rows():
        assert preferred.startswith(topic)
        assert relevance[preferred] > relevance[other]
        assert strength == 1 + (relevance[preferred] - relevance[other] >= 0.7)


def cycles(rows: list[tuple[str, str, str, str, int]]) -> int:
    """How many triples go round in a circle."""
    better = {(who, a, b) for _, a, b, who, _ in rows}
    beaten: dict[tuple[str, str], list[str]] = {}
    for who, a, b in better:
        beaten.setdefault((who, a), []).append(b)
    return sum((who, c, a) in better for who, a, b in better for c in beaten.get((who, b), ())) // 3


def test_taste_makes_no_cycles_but_noise_does() -> None:
    truth = simulate_pool(10, 12, rng=1)
    assert cycles(simulate_preferences(truth, 3, taste=2, noise=0, rng=1).to_rows()) == 0
    assert cycles(simulate_preferences(truth, 3, taste=0, noise=2, rng=1).to_rows()) > 50


def test_taste_is_what_an_assessor_sees_in_a_document_every_time() -> None:
    truth = simulate_pool(10, 12, rng=1)
    ranked = {taste: simulate_preferences(truth, 2, taste=taste, noise=0, rng=1).to_rows() for taste in (0, 1)}
    wins = {
        taste: {
            who: [sum(row[1] == label and row[3] == who for row in rows) for label in truth.pool.documents]
            for who in ("assessor-1", "assessor-2")
        }
        for taste, rows in ranked.items()
    }
    assert wins[0]["assessor-1"] == wins[0]["assessor-2"]
    agreement = np.corrcoef(wins[1]["assessor-1"], wins[1]["assessor-2"])[0, 1]
    assert 0.25 < agreement < 0.75  # relevance and taste weigh alike


def test_a_pool_of_one_document_leaves_nothing_to_prefer() -> None:
    assert simulate_preferences(simulate_pool(2, 1, rng=1), 2, rng=1).to_rows() == []


def test_an_adversary_prefers_the_worse_and_an_indifferent_assessor_neither() -> None:
    truth = simulate_pool(40, 12, rng=1)
    given = simulate_preferences(truth, 3, taste=0, noise=0.1, assessor_weights=(1, -1, 0), rng=1)
    relevance = dict(zip(truth.pool.documents, truth.relevance, strict=True))
    right: dict[str, list[bool]] = {}
    for _, preferred, other, who, _ in given.to_rows():
        right.setdefault(who, []).append(relevance[preferred] > relevance[other])
    assert np.mean(right["assessor-1"]) > 0.95
    assert np.mean(right["assessor-2"]) < 0.05
    assert near(float(np.mean(right["assessor-3"])), 0.5, 40 * 66)


def test_bad_documents_are_the_worst_and_stand_in_no_preference() -> None:
    truth = simulate_pool(10, 10, rng=1)
    given = simulate_preferences(truth, 2, taste=0, bad=0.2, rng=1)
    grades = truth.relevance.reshape(10, 10)
    worst = {truth.pool.documents[10 * t + i] for t in range(10) for i in np.argsort(grades[t])[:2]}
    assert len(given.bad) == 10 * 2 * 2
    assert {document for _, document, _ in given.bad} == worst
    assert {a for row in given.to_rows() for a in row[1:3]}.isdisjoint(worst)
    assert len(given) == 10 * 2 * 28


def test_each_assessor_judges_the_share_of_pairs_given_and_either_side_may_win() -> None:
    given = simulate_preferences(simulate_pool(10, 10, rng=1), 2, coverage=0.4, rng=1)
    assert len(given) == 2 * 10 * 18
    assert len({(row[3], frozenset(row[1:3])) for row in given.to_rows()}) == len(given)


# ---- random assessors by the thousand


def values(assessors: RandomAssessors) -> NDArray[np.float64]:
    return np.hstack([panel.values for panel in assessors])


def test_random_assessors_are_the_same_every_time_they_are_asked(truth: Truth) -> None:
    assessors = RandomAssessors(truth.pool, 300, rng=5)
    assert (values(assessors) == values(assessors)).all()


@pytest.mark.parametrize("block", [1, 50, 64, 100, 1000])
def test_neither_the_size_of_blocks_nor_the_number_of_assessors_changes_what_one_says(truth: Truth, block: int) -> None:
    for options in ({"p": 0.3}, {"distribution": (0.3, 0.3, 0.4)}):
        whole = values(RandomAssessors(truth.pool, 200, block=256, rng=5, **options))  # type: ignore[arg-type]
        part = values(RandomAssessors(truth.pool, 130, block=block, rng=5, **options))  # type: ignore[arg-type]
        assert (whole[:, :130] == part).all()


def test_blocks_cover_all_assessors_in_order_over_the_one_pool(truth: Truth) -> None:
    assessors = RandomAssessors(truth.pool, 300, block=128, rng=5)
    panels = list(assessors)
    assert [len(panel.assessors) for panel in panels] == [128, 128, 44]
    assert sum((panel.assessors for panel in panels), ()) == assessors.assessors
    assert assessors.assessors[0] == "random 1"
    assert len(set(assessors.assessors)) == len(assessors) == 300
    for panel in panels:
        assert panel.pool is truth.pool
        assert panel.values.dtype == np.float64
        assert panel.values.shape == (5000, len(panel.assessors))
        assert {str(scale) for scale in panel.scales} == {"binary"}
        assert len(panel.scales) == len(panel.assessors)


@pytest.mark.parametrize("p", [0.0, 0.001, 0.05, 0.3, 0.5, 0.95, 1.0])
def test_random_assessors_find_relevant_at_the_rate_given(truth: Truth, p: float) -> None:
    drawn = values(RandomAssessors(truth.pool, 400, p, rng=5))
    assert set(np.unique(drawn)) <= {0.0, 1.0}
    assert near(drawn.mean(), p, drawn.size)
    assert np.abs(drawn.mean(axis=0) - p).max() <= 6 * np.sqrt(p * (1 - p) / 5000)
    assert np.abs(drawn.mean(axis=1) - p).max() <= 6 * np.sqrt(p * (1 - p) / 400) + (p == 0.001) * 0.02


def test_the_values_of_a_yielded_block_are_kept_by_its_reader_alone(truth: Truth) -> None:
    reading = iter(RandomAssessors(truth.pool, 128, block=64, rng=5))
    kept = weakref.ref(next(reading).values)
    gc.collect()
    assert kept() is None


def test_random_assessors_are_independent_of_each_other(truth: Truth) -> None:
    drawn = values(RandomAssessors(truth.pool, 200, 0.3, rng=5))
    off = np.corrcoef(drawn.T) - np.eye(200)
    assert np.abs(off).max() < 6 / np.sqrt(5000)


def test_random_grades_follow_their_distribution_even_where_two_edges_share_a_byte(truth: Truth) -> None:
    distribution = (0.6, 0.001, 0.0005, 0.3, 0.0985)
    drawn = values(RandomAssessors(truth.pool, 400, distribution=distribution, rng=5))
    for grade, p in enumerate(distribution):
        assert near((drawn == grade).mean(), p, drawn.size)
    (panel,) = RandomAssessors(truth.pool, 2, distribution=distribution, rng=5)
    assert str(panel.scales[0]) == "0-4"


def test_random_assessors_judge_what_the_one_they_are_compared_with_judged(truth: Truth) -> None:
    model = np.where(np.arange(5000) % 3 == 0, 1.0, np.nan)
    whole, part = (values(RandomAssessors(truth.pool, 100, rng=5, like=like)) for like in (None, model))
    assert (np.isnan(part) == np.isnan(model)[:, None]).all()
    assert (part[::3] == whole[::3]).all()


# ---- the demo


def gains(judgments: Judgments) -> dict[tuple[str, str], float]:
    return {(who, document): value for _, document, who, value in rows(judgments)}


def ndcg(runs: Runs, judgments: Judgments) -> dict[str, NDArray[np.float64]]:
    """{assessor: (systems,) mean nDCG@10}, in obvious loops."""
    found, ranked, discount = gains(judgments), runs.ranked(), 1 / np.log2(np.arange(2, 12))
    means: dict[str, NDArray[np.float64]] = {}
    for who in judgments.assessors:
        scores = np.zeros(ranked.starts.shape)
        for s, t in np.ndindex(scores.shape):
            listed = ranked.document[ranked.starts[s, t] :][: ranked.lengths[s, t]][:10]
            given = [value for (a, d), value in found.items() if a == who and d.startswith(f"{runs.topics[t]}-")]
            ideal = np.sort(given)[::-1][:10] @ discount
            got = np.array([found.get((who, runs.documents[d]), 0.0) for d in listed]) @ discount
            scores[s, t] = got / ideal if ideal else 0.0
        means[who] = scores.mean(axis=1)
    return means


def test_in_the_demo_the_two_best_systems_change_places_with_the_assessor() -> None:
    runs, judgments, truth = simulate_demo()
    by_assessor = {who: [runs.systems[s] for s in np.argsort(-m)[:2]] for who, m in ndcg(runs, judgments).items()}
    (gold,) = ndcg(runs, truth.judgments()).values()
    assert [runs.systems[s] for s in np.argsort(-gold)[:2]] == ["rerank-large", "rerank-llm"]
    assert by_assessor["llm-a"] == by_assessor["lena"] == ["rerank-llm", "rerank-large"]
    assert by_assessor["bob"] == by_assessor["sven"] == ["rerank-large", "rerank-llm"]
    assert by_assessor["ann"][0] == by_assessor["crowd-1"][0] == "rerank-large"


def test_the_demo_is_twelve_systems_25_topics_and_eight_assessors_on_scales_of_three_kinds() -> None:
    runs, judgments, truth = simulate_demo()
    assert (len(runs.systems), len(runs.topics), len(judgments.assessors)) == (12, 25, 8)
    assert {str(scale) for scale in judgments.scales} == {"0-3", "binary", "0..1"}
    assert truth.pool.topics == runs.topics == judgments.topics


# ---- what cannot be simulated is refused

TRUTH = simulate_pool(3, 20, rng=1)
REFUSED: dict[str, Callable[[], object]] = {
    "n_topics=0": lambda: simulate_pool(0, 20, rng=1),
    "grades=1": lambda: simulate_pool(3, 20, grades=1, rng=1),
    "n_documents=0": lambda: simulate_pool(3, 0, rng=1),
    "n_documents=(4, 5)": lambda: simulate_pool(3, (4, 5), rng=1),
    "prevalence=1.2": lambda: simulate_pool(3, 20, prevalence=1.2, rng=1),
    "prevalence=(0.5, 0.5)": lambda: simulate_pool(3, 20, prevalence=(0.5, 0.5), rng=1),
    "topic_spread=-1": lambda: simulate_pool(3, 20, topic_spread=-1, rng=1),
    "n_systems=0": lambda: simulate_runs(TRUTH, 0, rng=1),
    "depth=0": lambda: simulate_runs(TRUTH, 2, depth=0, rng=1),
    "quality=(1, 2, 3)": lambda: simulate_runs(TRUTH, 2, quality=(1, 2, 3), rng=1),
    "appeal=(1, 2, 3)": lambda: simulate_runs(TRUTH, 2, appeal=(1, 2, 3), rng=1),
    "names=('a', 'a')": lambda: simulate_runs(TRUTH, 2, names=("a", "a"), rng=1),
    "unjudged=2": lambda: simulate_runs(TRUTH, 2, unjudged=2, rng=1),
    "ties=nan": lambda: simulate_runs(TRUTH, 2, ties=float("nan"), rng=1),
    "confusion=((0.5, 0.4),)": lambda: Confused(((0.5, 0.4),)),
    "a confusion of 3 rows": lambda: said(TRUTH, Confused(((1, 0), (1, 0), (0, 1)))),
    "accuracy=2": lambda: Confused.of_accuracy(2),
    "p=1.5": lambda: Random(1.5),
    "Spammer(4)": lambda: said(TRUTH, Spammer(4)),
    "assessors={}": lambda: simulate_judgments(TRUTH, {}, rng=1),
    "coverage={'bob'": lambda: said(TRUTH, Lenient(), coverage={"bob": 0.5}),
    "repeats=7": lambda: said(TRUTH, Lenient(), repeats=7),
    "record='unit'": lambda: said(TRUTH, Lenient(), record=("unit",)),
    "topic q1 has 30 units": lambda: simulate_magnitudes(TRUTH, 29, rng=1),
    "unit_size=2": lambda: simulate_magnitudes(TRUTH, 50, unit_size=2, rng=1),
    "do not fill a unit": lambda: simulate_magnitudes(TRUTH, 50, unit_size=21, rng=1),
    "there is no pair to check by": lambda: simulate_magnitudes(replace(TRUTH, cuts=np.full(3, np.inf)), 50, rng=1),
    "assessor_weights=(1,)": lambda: simulate_preferences(TRUTH, 2, assessor_weights=(1,), rng=1),
    "n=0": lambda: RandomAssessors(TRUTH.pool, 0, rng=1),
    "p=-1": lambda: RandomAssessors(TRUTH.pool, 5, -1, rng=1),
    "block=0": lambda: RandomAssessors(TRUTH.pool, 5, block=0, rng=1),
    "distribution=(0.5, 0.4)": lambda: RandomAssessors(TRUTH.pool, 5, distribution=(0.5, 0.4), rng=1),
    "like: 60 values": lambda: RandomAssessors(TRUTH.pool, 5, like=np.ones(3), rng=1),
}


@pytest.mark.parametrize("culprit", REFUSED)
def test_what_cannot_be_simulated_is_refused_by_name(culprit: str) -> None:
    with pytest.raises(ArgumentError) as refused:
        REFUSED[culprit]()
    assert culprit in str(refused.value)
    assert "\n" not in str(refused.value)
