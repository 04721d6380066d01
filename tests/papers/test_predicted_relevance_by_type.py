"""p(R|i) by type of topic."""

from random import Random

import pytest

from merging import judgments_of
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.predicted_relevance import predicted_relevance
from qrowd_papers.predicted_relevance.sensitivity import predicted_relevance_by_type

SCALE = "0-2"
TABLE_1 = {("q", "d1"): {"U1": 2, "U2": 1}, ("q", "d2"): {"U1": 0, "U2": 1}}


def fitted(labels):
    return predicted_relevance(judgments_of(labels, SCALE), rel=2, n_resamples=0)


def by_grade(model):
    return {grade: p for grade, p in zip(model.grades.tolist(), model.probability.tolist(), strict=True) if p == p}


def wide(n=60, seed=5):
    """A panel of three topics whose documents two to four people judged."""
    random = Random(seed)
    return {
        (f"t{i % 3}", f"d{i}"): {who: min(2, random.randrange(3) + (i % 3 == 0)) for who in "abcd"[: 2 + i % 3]}
        for i in range(n)
    }


def test_every_type_of_topic_has_a_model_of_its_own():
    labels = wide()
    types = {"t0": "navigational", "t2": "informational", "t1": "informational"}
    both = predicted_relevance_by_type(judgments_of(labels, SCALE), types, rel=2, n_resamples=5, rng=1)
    assert list(both) == ["navigational", "informational"]
    for label, topics in (("navigational", {"t0"}), ("informational", {"t1", "t2"})):
        alone = fitted({pair: said for pair, said in labels.items() if pair[0] in topics})
        assert by_grade(both[label]) == by_grade(alone)
        assert both[label].data.n_single == alone.data.n_single == 0
        assert both[label].data.n_topics == len(topics)


def test_topics_without_a_type_are_left_out():
    labels = wide()
    labels[("t0", "once")], labels[("t1", "once")] = {"a": 0}, {"b": 1}
    part = predicted_relevance_by_type(judgments_of(labels, SCALE), {"t1": "only"}, rel=2, n_resamples=0)["only"]
    assert part.data.n_single == 1
    assert by_grade(part) == by_grade(fitted({pair: said for pair, said in labels.items() if pair[0] == "t1"}))


def test_types_without_topics_or_double_judgments_are_refused():
    once = {**TABLE_1, ("z", "d"): {"U1": 1}}
    for labels, types, error, message in (
        (TABLE_1, {}, ArgumentError, "topic: type"),
        (TABLE_1, {"qq": "x"}, ArgumentError, "'qq'; did you mean 'q'"),
        (once, {"q": "x", "z": "y"}, NoOverlapError, "type 'y'"),
    ):
        with pytest.raises(error, match=message):
            predicted_relevance_by_type(judgments_of(labels, SCALE), types, rel=2)
