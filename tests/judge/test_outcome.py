"""Outcomes: only an answer becomes a judgment, and what failed is counted by model, topic and system."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from qrowd.judge.outcome import STATUSES, Outcome, Statuses, judgments_of, preferences_of
from qrowd.judge.questions import Question
from qrowd.model.runs import Runs
from strategies import few

OK = Outcome(Question("1", ("d1",)), "http://here/v1", "m", "graded", "0" * 64, 1, "ok", (2.0,), answered_by="m-1.5")

outcomes = st.lists(
    st.builds(
        Outcome,
        question=st.builds(Question, st.sampled_from("12"), st.sampled_from([("d1",), ("d2",), ("d3",)])),
        endpoint=st.sampled_from(["http://here/v1", "http://there/v1"]),
        model=st.sampled_from(["m", "n"]),
        prompt=st.just("graded"),
        prompt_sha256=st.just("0" * 64),
        sample=st.integers(1, 2),
        status=st.sampled_from(STATUSES),
        values=st.just((1.0,)),
        answered_by=st.sampled_from(["x", "y", None]),
        seconds=st.just(1.0),
    ),
    max_size=20,
    unique_by=lambda outcome: (outcome.question, outcome.endpoint, outcome.model, outcome.sample),
)


def rows(judgments):
    return sorted(judgments.to_frame().drop(columns=["seconds"], errors="ignore").itertuples(index=False, name=None))


@few
@given(outcomes)
def test_no_status_but_ok_makes_a_judgment(drawn):
    assert len(judgments_of(drawn)) == sum(outcome.status == "ok" for outcome in drawn)


@few
@given(outcomes, st.randoms())
def test_the_order_of_arrival_changes_nothing(drawn, random):
    shuffled = list(drawn)
    random.shuffle(shuffled)
    one, two = judgments_of(drawn), judgments_of(shuffled)
    assert rows(one) == rows(two)
    assert one.assessors == two.assessors
    assert np.array_equal(one.value, two.value)


@few
@given(outcomes)
def test_two_models_or_two_endpoints_never_share_an_assessor(drawn):
    sources = {(o.endpoint, o.model, o.answered_by or o.model) for o in drawn if o.status == "ok"}
    assert len(judgments_of(drawn).assessors) == len(sources)


def test_an_assessor_is_the_model_as_returned_and_the_prompt():
    judgments = judgments_of([OK, replace(OK, sample=2, values=(1.0,))], {"graded": "0-3"})
    assert judgments.assessors == ("m-1.5+graded",)
    assert judgments.n_repeats() == 1
    assert judgments.scales[0].maximum == 3


def test_magnitudes_keep_their_unit():
    unit = replace(OK, question=Question("1", ("d1", "high", "low"), "1-1"), values=(5.0, 50.0, 0.5))
    judgments = judgments_of([unit], {"graded": "magnitude"})
    assert judgments.value.tolist() == [5, 50, 0.5]
    assert set(judgments.unit) == {"1-1-1"}


def test_two_orders_of_a_pair_are_two_statements_that_may_contradict_each_other():
    pair = replace(OK, question=Question("1", ("d1", "d2")), values=(1.0,))
    swapped = replace(pair, question=Question("1", ("d2", "d1")))
    preferences = preferences_of([pair, swapped])
    assert {row[1:3] for row in preferences.to_rows()} == {("d1", "d2"), ("d2", "d1")}
    assert preferences.first.tolist() == [1, 1]
    assert preferences_of([replace(pair, status="unparsable")]) is None


def test_failures_are_shares_by_model_topic_and_system():
    runs = Runs.from_dict({"a": {"1": {"d1": 2, "d2": 1}}, "b": {"1": {"d1": 2}}})
    refused = replace(OK, question=Question("1", ("d2",)), status="refused", values=())
    statuses = Statuses((OK, refused), runs)
    frame = statuses.to_frame(what="system").set_index("system")
    assert frame["refused"].to_dict() == {"a": 0.5, "b": 0.0}
    assert statuses.to_frame(what="model")[["questions", "ok"]].values.tolist() == [[2, 0.5]]
    assert Statuses((OK, refused), runs, depth=1).to_frame(what="system")["refused"].tolist() == [0, 0]


@few
@given(outcomes)
def test_the_shares_of_all_statuses_sum_to_one(drawn):
    frame = Statuses(tuple(drawn)).to_frame(what="topic")
    assert np.allclose(frame[list(STATUSES)].sum(axis=1), 1)
    assert frame["questions"].sum() == len(drawn)
