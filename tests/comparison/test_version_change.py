"""The change between versions split into system and judge: an oracle of loops, laws, and coverage of the intervals."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import qrowd
from qrowd import Scores
from qrowd.comparison.version_change import version_change
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.reports.comparison import compare_scores

SYSTEMS, JUDGES = ("new", "old"), ("judge-2", "judge-1")
CELLS = st.lists(
    st.tuples(*[st.floats(0, 1)] * 2, *[st.one_of(st.floats(0, 1), st.none())] * 2).filter(
        lambda cells: cells[2] is not None or cells[3] is not None
    ),
    min_size=2,
    max_size=6,
)


def scores_of(topics):
    """Of (new by judge-2, old by judge-1, old by judge-2, new by judge-1) of each topic."""
    values = np.array(topics, float)[:, [0, 2, 3, 1]].reshape(-1, 2, 2).transpose(1, 0, 2)
    return Scores.from_array(values, assessors=JUDGES, systems=SYSTEMS)


def split(topics):
    """Mean change, and the parts of system and judge, topic by topic."""
    parts = []
    for after, before, old_by_new, new_by_old in topics:
        system, judge = [], []
        if old_by_new is not None:
            system.append(after - old_by_new)
            judge.append(old_by_new - before)
        if new_by_old is not None:
            system.append(new_by_old - before)
            judge.append(after - new_by_old)
        parts.append((after - before, sum(system) / len(system), sum(judge) / len(judge)))
    return np.mean(parts, axis=0)


@given(CELLS)
def test_the_parts_are_those_of_the_loop_and_add_up_to_the_change(topics):
    found = version_change(scores_of(topics), systems=SYSTEMS, assessors=JUDGES)
    parts = [one.difference for one in found.parts().values()]
    assert parts == pytest.approx(split(topics), abs=1e-12)
    assert parts[0] == pytest.approx(parts[1] + parts[2], abs=1e-12)
    back = version_change(scores_of(topics), systems=SYSTEMS[::-1], assessors=JUDGES[::-1])
    assert [-one.difference for one in back.parts().values()] == pytest.approx(parts, abs=1e-12)


def test_a_system_that_did_not_change_has_no_part_and_a_stricter_judge_has_all():
    topics = [(0.5 + t / 10, 0.7 + t / 10, 0.5 + t / 10, 0.7 + t / 10) for t in range(4)]
    found = version_change(scores_of(topics), systems=SYSTEMS, assessors=JUDGES)
    assert found.system.difference == pytest.approx(0)
    assert found.judge.difference == pytest.approx(-0.2)


@pytest.mark.nightly
@pytest.mark.parametrize("n", [150, pytest.param(10_000, marks=pytest.mark.nightly)])
def test_intervals_hold_the_truth_as_often_as_they_say(n):
    """System +.1 and judge -.05, 15 topics, both with their own taste by topic, errors of .2 in every score."""
    rng = np.random.default_rng(5)
    held = np.zeros(2)
    for _ in range(n):
        topic, taste, better = rng.normal(0, [[0.2], [0.1], [0.1]], (3, 15))
        cells = {
            (s, j): topic + (0.1 + better) * (s == 0) + (taste - 0.05) * (j == 0) + rng.normal(0, 0.2, 15)
            for s, j in product(range(2), range(2))
        }
        values = np.array([[cells[s, j] for s in range(2)] for j in range(2)]).transpose(0, 2, 1)
        scores = Scores.from_array(values, assessors=JUDGES, systems=SYSTEMS)
        found = version_change(scores, systems=SYSTEMS, assessors=JUDGES)
        held += [found.system.low <= 0.1 <= found.system.high, found.judge.low <= -0.05 <= found.judge.high]
    assert np.abs(held / n - 0.95).max() <= 3.5 * np.sqrt(0.95 * 0.05 / n)


def test_what_cannot_be_split_is_refused_with_the_next_step():
    with pytest.raises(NoOverlapError, match="let the new judge judge the old answers, too"):
        version_change(scores_of([(1, 0.5, None, None)] * 3), systems=SYSTEMS, assessors=JUDGES)
    with pytest.raises(ArgumentError, match="'new' and 'new' are the same version"):
        version_change(scores_of([(1, 1, 1, 1)] * 2), systems=("new", "new"), assessors=JUDGES)
    with pytest.raises(ArgumentError, match="the two versions of the system are missing"):
        compare_scores(scores_of([(1, 1, 1, 1)] * 2), assessors=JUDGES)


def test_compare_splits_the_change_and_a_gate_looks_at_the_system_alone():
    topics = [(0.3, 0.9, 0.2, 0.95), (0.4, 0.9, 0.4, 0.85), (0.2, 0.7, 0.15, 0.8), (0.3, 0.8, 0.2, 0.9)]
    frame = scores_of(topics).to_frame().rename(columns={"score": "value"}).drop(columns="measure")
    table = (qrowd.Runs.from_frame(frame), qrowd.Judgments.from_frame(frame), "Mean")
    found = qrowd.compare(*table, systems=SYSTEMS, assessors=JUDGES, n_resamples=100)
    change, system, judge = split(topics)
    assert found.sentence.startswith(
        f"From old by judge-1 to new by judge-2, Mean changes by {change:+.3f}: {system:+.3f} ["
    )
    assert found.to_frame(what="versions")["difference"].tolist() == pytest.approx([change, system, judge])
    gated = qrowd.compare(*table, assessors=JUDGES, fail_if="new<old", n_resamples=100).gate
    assert "4 topics, 2 assessors" in gated.sentence
    assert gated.holds_by == ()  # by both judges together new scores no lower: the judge became stricter
    assert "assessors judge-2 judge-1" in found.signature
