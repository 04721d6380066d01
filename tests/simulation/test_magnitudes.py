"""Simulated crowds that give magnitudes."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from qrowd.model.judgments import Judgments
from qrowd.simulation import MagnitudeCrowd, Truth, check_documents, simulate_magnitudes, simulate_pool
from qrowd.simulation.magnitudes import written
from simulated import clock, labels, near, rows, units

TABLE_I = (278, 111, 214, 212, 188, 212, 179, 174, 243, 164, 342, 195, 253, 203, 264, 408, 210, 419)


@pytest.fixture(scope="module")
def crowd(truth: Truth) -> Judgments:
    return simulate_magnitudes(truth, 200, rng=5)


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
    truth = simulate_pool(20, 8, prevalence=0.5, topic_variance=0, rng=1)
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
        crowd = simulate_magnitudes(truth, 200, crowd=MagnitudeCrowd(noise=1.5), checked=checked, rng=5)
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


def test_magnitudes_are_written_in_round_numbers_or_two_digits(truth: Truth) -> None:
    for share in (0.0, 0.6, 1.0):
        values = written(np.log(3) + 2 * truth.relevance, share, np.random.default_rng(1))
        digits = [f"{value:.1e}".split("e")[0] for value in values]
        assert all(value == float(f"{value:.2g}") for value in values)
        round_ones = np.mean([mantissa in ("1.0", "2.0", "5.0") for mantissa in digits])
        assert share <= round_ones <= share + 0.1
    assert values.min() < 0.1 < 100 < values.max()


def test_rounding_a_magnitude_moves_it_no_further_than_halfway_to_the_next_round_number(truth: Truth) -> None:
    logs, rng = np.log(10) + 2 * truth.relevance, np.random.default_rng(1)
    assert np.abs(np.log(written(logs, 1.0, rng)) - logs).max() <= np.log(2.5) / 2 + 1e-9
    assert np.abs(written(logs, 0.0, rng) / np.exp(logs) - 1).max() <= 0.05 + 1e-9
