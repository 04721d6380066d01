"""Who is judged with whom: every document often enough, the check documents always, nobody twice."""

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrowd.errors import ArgumentError
from qrowd_server.protocols.assembly import slots_of, units_of_topic
from qrowd_server.protocols.settings import GradesSettings, MagnitudeSettings, PreferenceSettings

TABLE_I = {  # Maddalena et al. (2017), topic: documents, units
    402: (278, 460), 403: (111, 182), 405: (214, 354), 407: (212, 350), 408: (188, 310), 410: (212, 350),
    415: (179, 295), 416: (174, 287), 418: (243, 402), 420: (164, 270), 421: (342, 567), 427: (195, 322),
    428: (253, 419), 431: (203, 335), 440: (264, 437), 442: (408, 677), 445: (210, 347), 448: (419, 695),
}  # fmt: skip


def sizes(units):
    return sorted(map(len, units))


@pytest.mark.parametrize(("n", "n_units"), TABLE_I.values(), ids=TABLE_I)
def test_the_papers_topics_become_the_papers_units(n, n_units):
    units = units_of_topic(range(n), (n - 1, 3), MagnitudeSettings(), rng=n)
    assert len(units) == n_units
    assert {len(set(unit)) for unit in units} == {8}
    counts = Counter(document for unit in units for document in unit)
    assert counts.pop(n - 1) == counts.pop(3) == n_units
    assert len(counts) == n - 2
    assert set(counts.values()) <= {10, 11}


@given(n=st.integers(3, 40), k=st.integers(3, 12), redundancy=st.integers(1, 12), seed=st.integers(0, 2**32))
def test_every_document_is_in_enough_units_and_none_two_ahead_of_another(n, k, redundancy, seed):
    documents = [100 - document for document in range(n)]
    units = units_of_topic(documents, (100, 99), MagnitudeSettings(k=k, redundancy=redundancy), rng=seed)
    assert len(units) == (redundancy if n <= k else -(-redundancy * (n - 2) // (k - 2)))
    assert all(len(unit) == len(set(unit)) == min(n, k) for unit in units)
    assert all({100, 99} <= set(unit) for unit in units)
    assert all(unit == tuple(document for document in documents if document in unit) for unit in units)
    counts = Counter(document for unit in units for document in unit)
    others = [counts[document] for document in documents[2:]]
    assert min(others) >= redundancy
    assert max(others) - min(others) <= 1


@given(n=st.integers(2, 40), k=st.integers(3, 12), redundancy=st.integers(1, 5), seed=st.integers(0, 2**32))
def test_without_check_documents_every_place_is_an_ordinary_one(n, k, redundancy, seed):
    units = units_of_topic(range(n), None, MagnitudeSettings(k=k, redundancy=redundancy), rng=seed)
    assert len(units) == (redundancy if n <= k else -(-redundancy * n // k))
    counts = Counter(document for unit in units for document in unit)
    assert min(counts[document] for document in range(n)) >= redundancy
    assert all(len(set(unit)) == min(n, k) for unit in units)


def test_any_two_documents_may_meet():
    """Over 200 drawings of 5 units each, every pair of 14 documents meets about as often as any other."""
    met = Counter()
    for seed in range(200):
        for unit in units_of_topic(range(14), (0, 1), MagnitudeSettings(k=6, redundancy=2), rng=seed):
            met.update(combinations([document for document in unit if document > 1], 2))
    expected = 200 * 6 * 6 / 66  # six units, six pairs of ordinary documents in each, 66 pairs in all
    assert len(met) == 66
    assert all(0.6 * expected < times < 1.4 * expected for times in met.values())


def test_the_same_chance_gives_the_same_units_and_another_others():
    drawn = [units_of_topic(range(50), (0, 1), MagnitudeSettings(), rng=seed) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


@given(n=st.integers(1, 100), k=st.integers(1, 30), seed=st.integers(0, 2**32))
def test_grades_come_in_few_batches_of_nearly_equal_size(n, k, seed):
    batches = units_of_topic(range(n), None, GradesSettings(k=k), rng=seed)
    assert sorted(document for batch in batches for document in batch) == list(range(n))
    assert len(batches) == -(-n // k)
    assert max(sizes(batches)) - min(sizes(batches)) <= 1
    assert max(sizes(batches)) <= k


def test_21_documents_are_not_20_and_a_lonely_one():
    assert sizes(units_of_topic(range(21), None, GradesSettings(), rng=1)) == [10, 11]


def test_preferences_are_one_unit_of_the_whole_topic():
    assert units_of_topic((5, 3, 9), None, PreferenceSettings()) == [(5, 3, 9)]


def test_magnitude_units_are_one_persons_and_the_others_have_a_slot_for_each_assessor():
    assert slots_of(MagnitudeSettings(redundancy=10)) == 1
    assert slots_of(GradesSettings(redundancy=4)) == 4
    assert slots_of(PreferenceSettings(redundancy=2)) == 2


@pytest.mark.parametrize(
    ("documents", "checks", "settings", "message"),
    [
        ((1, 2, 1), None, GradesSettings(),
         "documents: one of them is named twice; name each document of a topic once"),
        ((), None, GradesSettings(), "documents: 0 of them; this protocol needs at least 1 in every topic"),
        ((1,), None, PreferenceSettings(), "documents: 1 of them; this protocol needs at least 2 in every topic"),
        ((1,), None, MagnitudeSettings(), "documents: 1 of them; this protocol needs at least 2 in every topic"),
        ((1, 2, 3), (1, 4), MagnitudeSettings(),
         "checks=(1, 4): name two different documents of the topic, the better one first"),
        ((1, 2, 3), (2, 2), MagnitudeSettings(),
         "checks=(2, 2): name two different documents of the topic, the better one first"),
    ],
)  # fmt: skip
def test_what_cannot_become_units_is_refused(documents, checks, settings, message):
    with pytest.raises(ArgumentError) as found:
        units_of_topic(documents, checks, settings)
    assert str(found.value) == message
