"""Gold: an assessor of the judgments, judgments of their own, or a mapping."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrowd.errors import ArgumentError, InputError, NoOverlapError
from qrowd.model.gold import against
from qrowd.model.judgments import Judgments

ROWS = [("q", "a", "ann", 2), ("q", "b", "ann", 0), ("r", "a", "ann", 1), ("q", "a", "gold", 3), ("r", "a", "gold", 0)]
JUDGMENTS = Judgments.from_rows(ROWS)
MAPPING = {("q", "a"): 3, ("r", "a"): 0}


def test_an_assessor_judgments_and_a_mapping_give_the_same_grades():
    for gold in ("gold", JUDGMENTS.select(assessors="gold"), MAPPING):
        pair = against(JUDGMENTS if gold == "gold" else JUDGMENTS.select(assessors="ann"), gold)
        assert pair.judgments.assessors == ("ann",)
        assert pair.grades().tolist() == pytest.approx([3, np.nan, 0], nan_ok=True)
        assert pair.name == "gold"


@given(
    st.dictionaries(st.tuples(st.sampled_from("qrs"), st.sampled_from("abc")), st.integers(0, 3), min_size=1),
    st.dictionaries(st.tuples(st.sampled_from("rst"), st.sampled_from("bcd")), st.integers(-1, 3), min_size=1),
)
def test_each_judgment_has_the_gold_grade_of_its_topic_and_document(judged, gold):
    judgments = Judgments.from_rows((topic, document, "ann", value) for (topic, document), value in judged.items())
    expected = [gold.get(pair, -1) for pair in judged]
    if max(expected) < 0:
        with pytest.raises(NoOverlapError, match="gold 'gold' has no grade for any document"):
            against(judgments, gold)
        return
    grades = against(judgments, gold).grades()
    assert [-1 if np.isnan(grade) else grade for grade in grades] == expected


def test_bare_grades_are_on_the_scale_of_the_judgments_unless_that_is_of_magnitudes():
    assert str(against(JUDGMENTS.select(assessors="ann"), {("q", "a"): 1}).scale) == "0-3"
    magnitudes = Judgments.from_rows([("q", "a", "ann", 12.5)], scales={"*": "magnitude"})
    assert str(against(magnitudes, {("q", "a"): 2}).scale) == "0-2"


def test_what_cannot_be_gold_is_refused_in_one_line():
    with pytest.raises(ArgumentError, match=r"gold='golf': no assessor has this name; did you mean 'gold'\?"):
        against(JUDGMENTS, "golf")
    with pytest.raises(ArgumentError, match=r"reference: one assessor was expected, found 2 \(ann, gold ...\)"):
        against(JUDGMENTS, JUDGMENTS, noun="reference")
    twice = Judgments.from_rows([*ROWS, ("q", "a", "gold", 1)])
    assert against(twice, "gold").grades()[0] == 3
    assert against(twice, "gold", repeats="last").grades()[0] == 1
    with pytest.raises(InputError, match="assessor gold, topic q, document a: judged more than once"):
        against(twice, "gold", repeats="error")
