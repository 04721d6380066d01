"""The report that compares the arms of a study."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from qrowd.errors import ArgumentError
from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences
from qrowd_papers.arms.arm_times import arm_times
from qrowd_papers.arms.compared_arms import compare_arms

DOCUMENTS = [f"d{d}" for d in range(6)]


def arms_of(seed=1, topics=8):
    """Two assessors per topic and arm; preferences follow a shared order with noise."""
    rng = np.random.default_rng(seed)
    grades = {name: [] for name in ("topic", "document", "assessor", "value", "order", "seconds")}
    pairs = {name: [] for name in ("topic", "preferred", "other", "assessor", "strength", "order", "seconds")}
    for t in range(topics):
        worth = rng.normal(size=6)
        for a in (0, 1):
            for d in range(6):
                value = int(np.clip(np.rint(worth[d] + rng.normal(0, 0.7) + 2), 0, 4))
                row = (f"t{t}", DOCUMENTS[d], f"a{(t + a) % 6}", value, d, float(rng.gamma(4, 1.6)))
                for column, cell in zip(grades.values(), row, strict=True):
                    column.append(cell)
            for order, (i, j) in enumerate(combinations(range(6), 2)):
                margin = worth[i] - worth[j] + rng.normal(0, 0.4)
                one, other = (i, j) if margin > 0 else (j, i)
                names = (DOCUMENTS[one], DOCUMENTS[other])
                row = (f"t{t}", *names, f"a{(t + a + 2) % 6}", 1 + (abs(margin) > 1), order, float(rng.gamma(4, 0.7)))
                for column, cell in zip(pairs.values(), row, strict=True):
                    column.append(cell)
    return {"absolute": grades, "definite": pairs}


def units_of(frames):
    rng = np.random.default_rng(2)
    rows = []
    for arm, frame in frames.items():
        seconds = pd.DataFrame(frame).groupby(["assessor", "topic"])["seconds"].sum()
        rows += [
            (who, topic, arm, "completed", True, total, int(rng.integers(0, 2)), *rng.integers(3, 6, 2))
            for (who, topic), total in seconds.items()
        ]
    names = ["assessor", "topic", "arm", "status", "counts", "seconds", "looked_up", "confidence", "understanding"]
    return pd.DataFrame(rows, columns=names)


@pytest.fixture
def frames():
    return arms_of()


def read(frames):
    return {
        "absolute": Judgments.from_frame(frames["absolute"]),
        "definite": Preferences.from_frame(frames["definite"]),
    }


def test_a_study_gives_agreement_times_feedback_and_context_by_arm(frames):
    report = compare_arms(read(frames), units_of(frames))
    text = str(report)
    assert report.sentence.startswith("2 arms, 336 judgments; agreement on pairs of documents: absolute 0.")
    for title in (
        "differences of agreement between arms",
        "absolute: grade: answer of another assessor (column) given that of one (row)",
        "absolute: preferences inferred from grades",
        "definite: strong preferences apart",
        "median seconds per judgment",
        "feedback after a unit, from 1 to 5",
        "units in which the context was looked up",
    ):
        assert title in text
    assert "ties: pairs of equal grade agree at the rate 0.5" in text
    frame = report.to_frame(what="times")
    assert frame["median"].tolist() == pytest.approx(arm_times(read(frames)).to_frame()["median"], nan_ok=True)


def test_differences_of_three_arms_are_corrected_together(frames):
    other = Preferences.from_frame(arms_of(3)["definite"])
    report = compare_arms({**read(frames), "other": other})
    found = report.to_frame(what="differences")
    assert len(found) == 3
    assert (found.p_holm >= found.p).all()
    assert found.p_holm.max() <= 1


def test_without_units_and_times_the_report_says_what_it_cannot_compare():
    rows = [("q", "a", "b", who) for who in ("ann", "bob")]
    grades = [("q", d, who, v) for who in ("ann", "bob") for d, v in (("a", 2), ("b", 1))]
    report = compare_arms({"one": Preferences.from_rows(rows), "two": Judgments.from_rows(grades)})
    assert report.times is None
    assert "seconds: not recorded in every arm" in str(report)
    assert "feedback: no units are given" in str(report)


def test_one_arm_and_an_empty_arm_are_refused(frames):
    arms = read(frames)
    with pytest.raises(ArgumentError, match="needs two arms or more"):
        compare_arms({"absolute": arms["absolute"]})
    with pytest.raises(ArgumentError, match="arm empty: it holds no judgment yet"):
        compare_arms({"absolute": arms["absolute"], "empty": arms["definite"].select(topics=[])})
