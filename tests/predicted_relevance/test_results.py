"""Counting relevant results: equations 1 and 2, for all judged documents and for the first ranks of runs."""

import numpy as np
import pytest

from merging import judgments_of
from qrowd.errors import ArgumentError, NoOverlapError, ScaleError
from qrowd.model.conventions import Duplicates
from qrowd.model.runs import Runs
from qrowd.predicted_relevance import predicted_relevance, relevant_results

LABELS = {
    ("q", "d1"): {"ann": 2, "bob": 1},
    ("q", "d2"): {"ann": 0, "bob": 0},
    ("q", "d3"): {"ann": 1},
    ("r", "d1"): {"bob": 2, "ann": 2},
    ("s", "d9"): {"bob": 1, "cyd": 2},
}
JUDGMENTS = judgments_of(LABELS, "0-2")
MODEL = predicted_relevance(JUDGMENTS, rel=2, n_resamples=0)
RUNS = Runs.from_dict(
    {"one": {"q": {"d1": 3, "x": 2, "d3": 1}, "r": {"d1": 1}}, "two": {"q": {"d2": 2, "d3": 1}, "s": {"d9": 1}}}
)


def by_hand(gain, topic, documents):
    """Mean over those who judged the topic, of the gains of the documents each of them judged."""
    said = {}
    for (t, document), grades in LABELS.items():
        for who, grade in grades.items():
            if t == topic:
                said.setdefault(who, []).append(gain(grade) if document in documents else 0)
    return np.mean([sum(gains) for gains in said.values()])


@pytest.mark.parametrize("cutoff", [1, 2, 10])
def test_results_in_the_first_ranks_are_counted_and_expected(cutoff):
    lists = {("one", "q"): ["d1", "x", "d3"], ("one", "r"): ["d1"], ("two", "q"): ["d2", "d3"], ("two", "s"): ["d9"]}
    found = relevant_results(MODEL, JUDGMENTS, runs=RUNS, cutoff=cutoff)
    for t, topic in enumerate(found.topics):
        for s, system in enumerate(found.systems):
            shown = lists.get((system, topic), [])[:cutoff]
            assert found.predicted[t, s] == pytest.approx(by_hand(lambda grade: MODEL[grade], topic, shown))
            assert found.binary[t, s] == pytest.approx(by_hand(lambda grade: grade >= 2, topic, shown))


def test_duplicates_count_once():
    duplicates = Duplicates.from_pairs([("q", "d1", "d3")])
    once = relevant_results(MODEL, JUDGMENTS, runs=RUNS, duplicates=duplicates)
    assert once.binary[0] == pytest.approx([by_hand(lambda grade: grade >= 2, "q", ["d1"]), 0.5])


def test_without_runs_all_judged_documents_count():
    found = relevant_results(MODEL, JUDGMENTS)
    documents = {d for _, d in LABELS}
    assert found.systems == ("all judged",)
    for t, topic in enumerate(found.topics):
        assert found.predicted[t, 0] == pytest.approx(by_hand(lambda grade: MODEL[grade], topic, documents))


def test_the_table_holds_means_over_topics_and_their_standard_errors():
    found = relevant_results(MODEL, JUDGMENTS, runs=RUNS)
    frame = found.to_frame().set_index("system")
    for s, system in enumerate(found.systems):
        assert frame.loc[system, "binary"] == pytest.approx(found.binary[:, s].mean())
        error = found.predicted[:, s].std(ddof=1) / np.sqrt(3)
        assert frame.loc[system, "predicted_standard_error"] == pytest.approx(error)
    one = relevant_results(MODEL, JUDGMENTS.select(topics="q"))
    assert np.isnan(one.to_frame()["binary_standard_error"]).all()


def test_what_a_random_user_expects_of_everything_judged_twice_is_what_was_found():
    """Of the judgments p(R|i) was learnt from, the expected number is the counted one."""
    doubles = judgments_of({pair: said for pair, said in LABELS.items() if len(said) > 1}, "0-2")
    gained = MODEL.with_gains(doubles, grade_gains=MODEL.probability)
    assert gained.value.sum() == pytest.approx((doubles.value >= 2).sum())


def test_a_grade_nobody_judged_twice_is_an_error_that_names_it():
    labels = {**LABELS, ("q", "d4"): {"ann": 3}}
    judgments = judgments_of(labels, "0-3")
    model = predicted_relevance(judgments, rel=2, n_resamples=0)
    with pytest.raises(ScaleError, match=r"p\(R\|3\) is not known.*known: 0, 1, 2"):
        relevant_results(model, judgments)
    smooth = predicted_relevance(judgments, rel=2, n_resamples=0, smoothing=1)
    assert relevant_results(smooth, judgments).predicted.sum() > 0


def test_a_cutoff_of_0_and_runs_of_other_topics_are_refused():
    with pytest.raises(ArgumentError, match="cutoff=0"):
        relevant_results(MODEL, JUDGMENTS, runs=RUNS, cutoff=0)
    with pytest.raises(NoOverlapError, match="share no topic"):
        relevant_results(MODEL, JUDGMENTS, runs=Runs.from_dict({"one": {"zz": {"d1": 1}}}))
