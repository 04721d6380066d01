"""Overlap of what assessors call relevant."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given

from oracles import agreement as oracle
from panels import GRADES, judgments_of, judgments_of_rows, pairable, panels
from qrowd.agreement.overlap import overlap
from qrowd.errors import NoOverlapError, ScaleError
from qrowd.model.judgments import Judgments


@given(panels(GRADES), panels(GRADES))
def test_overlap_is_shared_over_united_relevant_documents_of_every_pair_and_topic(first, second):
    assume(pairable(first) or pairable(second))
    rows = [
        (topic, document, who, value)
        for topic, panel in (("q1", first), ("q2", second))
        for document, said in panel.items()
        for who, value in said.items()
    ]
    found = overlap(Judgments.from_rows(rows, scales={"*": "0-3"}))
    frame = found.to_frame().set_index(["topic", "first", "second"])
    by_topic = {}
    for topic, panel in (("q1", first), ("q2", second)):
        for a, b in combinations(found.assessors, 2):
            n, both, either = oracle.overlap(panel, a, b, rel=1)
            if n == 0:
                assert (topic, a, b) not in frame.index
                continue
            row = frame.loc[(topic, a, b)]
            assert (row["n_documents"], row["both"], row["either"]) == (n, both, either)
            if either:
                assert row["overlap"] == pytest.approx(both / either)
                by_topic.setdefault(topic, []).append(both / either)
            else:
                assert np.isnan(row["overlap"])
    means = [np.mean(values) for values in by_topic.values()]
    assert found.mean == pytest.approx(np.mean(means) if means else np.nan, nan_ok=True)


def test_all_assessors_at_once_overlap_in_what_all_call_relevant():
    # Relevant to all: d1. To anyone: d1, d2, d3. Not judged by all: d4.
    found = overlap(judgments_of_rows(ann="11001", bob="1010*", cyd="11101"))
    assert found.everyone[0] == pytest.approx(1 / 3)


def test_relevant_is_what_each_scale_says_or_what_was_asked_for():
    grades = {"d1": {"ann": 1.0, "bob": 2.0}, "d2": {"ann": 2.0, "bob": 2.0}}
    assert overlap(judgments_of(grades, "0-3")).value[0] == 1
    assert overlap(judgments_of(grades, "0-3"), rel=2).value[0] == 0.5
    fractions = Judgments.from_rows(
        [("q", "d", "ann", 1), ("q", "d", "llm", 0.4)], scales={"ann": "binary", "llm": "0..1"}
    )
    assert overlap(fractions).value[0] == 0


def test_pairs_are_averaged_over_topics():
    rows = [("q1", "a", "ann", 1), ("q1", "a", "bob", 1), ("q2", "a", "ann", 1), ("q2", "a", "bob", 0)]
    frame = overlap(Judgments.from_rows(rows)).to_frame(what="pairs")
    assert (frame["overlap"][0], frame["n_topics"][0]) == (0.5, 2)


def test_the_more_assessors_the_less_all_of_them_overlap(eight_people):
    found = overlap(eight_people)
    assert len(found.to_frame()) == 3 * 28
    three = overlap(eight_people.select(assessors=["a1", "a2", "a3"]))
    assert np.nanmean(found.everyone) < np.nanmean(three.everyone) < three.mean < 1


def test_bad_input_gets_one_clear_line():
    with pytest.raises(NoOverlapError, match="no pair of assessors judged a document in common"):
        overlap(judgments_of_rows(ann="01**", bob="**10"))
    with pytest.raises(NoOverlapError, match="agreement needs at least two assessors"):
        overlap(judgments_of_rows(ann="01"))
    magnitudes = judgments_of({"d": {"ann": 3.5, "bob": 20.0}}, "magnitude")
    with pytest.raises(ScaleError, match="assessor ann: magnitudes have no lowest relevant value; pass rel="):
        overlap(magnitudes)
    assert overlap(magnitudes, rel=5).both[0] == 0
