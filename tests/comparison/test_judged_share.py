"""The share of each system's first documents that each assessor judged."""

import pytest

from qrowd.comparison.judged_share import judged_share
from qrowd.errors import ArgumentError
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.simulation import simulate_demo

RUNS = Runs.from_dict({
    "one": {"q": {"a": 3, "b": 2, "c": 1}, "p": {"d": 2, "e": 1}, "unheard": {"a": 1}},
    "two": {"q": {"x": 3, "y": 2, "a": 1}},
})  # fmt: skip
SAID = Judgments.from_rows([
    ("q", "a", "ann", 1), ("q", "b", "ann", 0), ("q", "a", "bob", 1), ("p", "d", "bob", 1), ("q", "c", "bob", -1),
])  # fmt: skip


@pytest.fixture(scope="module")
def demo():
    runs, judgments, _ = simulate_demo()
    return runs, judgments


def test_the_share_judged_counts_the_first_documents_over_the_topics_anyone_judged():
    found = judged_share(RUNS, SAID, cutoff=2)
    assert found.systems == ("two", "one")
    assert found.assessors == ("ann", "bob")
    assert found.share.tolist() == [[0, 0], pytest.approx([2 / 4, 2 / 4])]  # a b | d e
    assert found.anyone.tolist() == [0, pytest.approx(3 / 4)]


def test_the_share_judged_is_what_counting_one_by_one_gives(demo):
    runs, judgments = demo
    found = judged_share(runs, judgments, cutoff=5)
    by_row = zip(judgments.topic, judgments.document, judgments.assessor, judgments.value, strict=True)
    said = {(judgments.topics[t], judgments.documents[d], judgments.assessors[a]) for t, d, a, v in by_row if v >= 0}
    lists = {}
    for s, t, d, score in zip(runs.system, runs.topic, runs.document, runs.score, strict=True):
        lists.setdefault((runs.systems[s], runs.topics[t]), []).append((score, runs.documents[d]))
    name, who = "bm25", "crowd-1"
    judged = returned = 0
    for (system, topic), ranked in lists.items():
        if system == name:
            for _, document in sorted(ranked, reverse=True)[:5]:
                returned += 1
                judged += (topic, document, who) in said
    assert found.share[found.systems.index(name), found.assessors.index(who)] == pytest.approx(judged / returned)


def test_some_of_the_assessors_may_be_shown():
    found = judged_share(RUNS, SAID, cutoff=2)
    assert found.only(("bob",)).share.tolist() == found.share[:, 1:].tolist()
    assert found.only(("bob",)).anyone.tolist() == found.anyone.tolist()


def test_a_cutoff_is_1_or_more():
    with pytest.raises(ArgumentError, match="cutoff=0"):
        judged_share(RUNS, SAID, cutoff=0)
