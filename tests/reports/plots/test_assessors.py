"""Pictures of assessors: severity, agreement, who judged what."""

import numpy as np
import pytest

from qrowd.agreement import assessor_profiles, pairwise_agreement
from qrowd.errors import ArgumentError
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.reports.plots.assessors import judged_share, plot_assessors, plot_coverage, plot_kappa
from qrowd.simulation import simulate_demo


@pytest.fixture(scope="module")
def demo():
    runs, judgments, _ = simulate_demo()
    return runs, judgments


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_every_assessor_is_a_dot_with_a_name_and_who_stands_out_looks_different(demo):
    found = assessor_profiles(demo[1].unit_grades())
    ax = plot_assessors(found)
    assert set(texts(ax)) == set(found.assessors)
    usual, outlying = ax.containers
    place = found.assessors.index("crowd-3")
    assert found.reasons[place]
    assert outlying.lines[0].get_xydata().tolist() == [[found.severity[place], found.agreement[place]]]
    assert usual.lines[0].get_marker() != outlying.lines[0].get_marker()
    assert len(usual.lines[0].get_xdata()) == 7


def test_of_a_crowd_only_those_who_stand_out_are_named():
    random = np.random.default_rng(1)
    rows = [
        ("q", f"d{d}", f"w{a}", 1 if a == 0 else int(d % 2 == 0) if random.random() < 0.9 else 1 - d % 2)
        for a in range(61) for d in range(30)
    ]  # fmt: skip
    found = assessor_profiles(Judgments.from_rows(rows))
    out = {name for name, why in zip(found.assessors, found.reasons, strict=True) if why}
    assert "w0" in out
    ax = plot_assessors(found)
    assert set(texts(ax)) <= out
    assert "w0" in texts(ax)
    assert not ax.containers[0].has_xerr


def test_the_assessors_who_agree_most_with_the_others_come_first(demo):
    found = pairwise_agreement(demo[1].unit_grades())
    ax = plot_kappa(found)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert sorted(names) == sorted(found.assessors)
    first, last = (np.nanmean(found.kappa[found.assessors.index(name)]) for name in (names[0], names[-1]))
    assert first == np.nanmax(np.nanmean(found.kappa, axis=1))
    assert last == np.nanmin(np.nanmean(found.kappa, axis=1))
    assert ax.get_xlabel() == "Cohen's kappa"
    weighted = pairwise_agreement(demo[1].unit_grades(), weights="linear")
    assert plot_kappa(weighted).get_xlabel() == "Cohen's kappa, linear weights"


RUNS = Runs.from_dict({
    "one": {"q": {"a": 3, "b": 2, "c": 1}, "p": {"d": 2, "e": 1}, "unheard": {"a": 1}},
    "two": {"q": {"x": 3, "y": 2, "a": 1}},
})  # fmt: skip
SAID = Judgments.from_rows([
    ("q", "a", "ann", 1), ("q", "b", "ann", 0), ("q", "a", "bob", 1), ("p", "d", "bob", 1), ("q", "c", "bob", -1),
])  # fmt: skip


def test_the_share_judged_counts_the_first_documents_over_the_topics_anyone_judged():
    found = judged_share(RUNS, SAID, depth=2)
    assert found.systems == ("two", "one")
    assert found.assessors == ("ann", "bob")
    assert found.share.tolist() == [[0, 0], pytest.approx([2 / 4, 2 / 4])]  # a b | d e
    assert found.anyone.tolist() == [0, pytest.approx(3 / 4)]


def test_the_share_judged_is_what_counting_one_by_one_gives(demo):
    runs, judgments = demo
    found = judged_share(runs, judgments, depth=5)
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


def test_the_first_column_holds_what_anybody_judged():
    ax = plot_coverage(judged_share(RUNS, SAID, depth=2))
    assert [label.get_text() for label in ax.get_xticklabels()] == ["anyone", "ann", "bob"]
    assert texts(ax) == ["0", "0", "0", "75", "50", "50"]
    assert texts(plot_coverage(judged_share(RUNS, SAID, depth=2), top=1)) == ["0", "0", "0"]


def test_some_of_the_assessors_may_be_shown():
    found = judged_share(RUNS, SAID, depth=2)
    assert found.only(("bob",)).share.tolist() == found.share[:, 1:].tolist()
    assert found.only(("bob",)).anyone.tolist() == found.anyone.tolist()


def test_a_depth_is_1_or_more():
    with pytest.raises(ArgumentError, match="depth=0"):
        judged_share(RUNS, SAID, depth=0)
