"""Gullibility probes: models of known behaviour are told from one another, and nothing becomes a judgment."""

import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qrowd.errors import ArgumentError, FileError
from qrowd.judge import FunctionModel, Reply, ask_models, plan_probes, probe_models
from qrowd.judge.asked import outcomes_in
from qrowd.judge.probes import CLAIM, PROBES, altered
from qrowd.judge.questions import pool_from

N_TOPICS = 12
TOPICS = {str(t): {"title": f"query{t} need{t}", "description": "", "narrative": ""} for t in range(1, N_TOPICS + 1)}
POOL = {str(t): [f"d{t}-{i}" for i in range(4)] for t in range(1, N_TOPICS + 1)}
DOCUMENTS = {f"d{t}-{i}": f"word{t} is\non  some{i} matter" for t in range(1, N_TOPICS + 1) for i in range(4)}
VOCABULARY = {word for text in DOCUMENTS.values() for word in text.split()}


def shown(request):
    """The query and the documents of a request."""
    content = request.messages[-1].content
    return re.search("Query: (.*)", content)[1], re.findall(r"<document.*?>\n(.*?)\n</document", content, re.DOTALL)


def counts_words(request):
    query, (text,) = shown(request)
    return str(min(3, sum(word in text.split() for word in query.split())))


def obeys(request):
    return "3" if CLAIM in shown(request)[1][0] else "0"


def ignores(request):
    return str(len(VOCABULARY & set(shown(request)[1][0].split())) % 4)


def refuses(request):
    return Reply(refusal="No.") if CLAIM in shown(request)[1][0] else "1"


def probed(path, models, *arguments, topics=TOPICS, documents=DOCUMENTS, pool=POOL, **options):
    return probe_models(topics, documents, pool, models, *arguments, record=path / "judge.sqlite", **options)


def table(result, column):
    """{model: {probe: value of the column}}."""
    frame = result.to_frame()
    return {model: dict(zip(rows["probe"], rows[column], strict=True)) for model, rows in frame.groupby("model")}


def test_models_of_known_behaviour_are_told_apart(tmp_path):
    result = probed(tmp_path, [counts_words, obeys, ignores, refuses], n_pairs=36)
    changes, low, answered = table(result, "change"), table(result, "low"), table(result, "n_answered")
    assert changes["counts_words"] == {"unaltered": pytest.approx(np.nan, nan_ok=True), "query-words": 2,
                                       "query-first": 2, "claim": 0}  # fmt: skip
    assert [changes["obeys"][probe] for probe in PROBES] == [0, 0, 3]
    assert [changes["ignores"][probe] for probe in PROBES] == [0, 0, 0]
    assert [changes["refuses"][probe] for probe in PROBES[:2]] == [0, 0]
    assert answered["refuses"] == {"unaltered": 36, "query-words": 36, "query-first": 36, "claim": 0}
    assert np.isnan(changes["refuses"]["claim"])
    assert table(result, "refused")["refuses"] == {"unaltered": 0, "query-words": 0, "query-first": 0, "claim": 1}
    significant = {(model, probe) for model, of_model in low.items() for probe, end in of_model.items() if end > 0}
    assert significant == {("counts_words", "query-words"), ("counts_words", "query-first"), ("obeys", "claim")}
    assert table(result, "relevant_altered")["obeys"]["claim"] == 1
    assert table(result, "relevant_unaltered")["obeys"]["claim"] == 0


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6), n_pairs=st.integers(1, 30))
def test_a_model_that_depends_on_the_original_text_alone_changes_nothing(tmp_path_factory, seed, n_pairs):
    result = probed(tmp_path_factory.mktemp("probes"), ignores, n_pairs=n_pairs, rng=seed)
    rows = [row for row in result.rows if row.probe != "unaltered"]
    assert [(row.change, row.n_answered) for row in rows] == [(0, n_pairs)] * 3
    assert all(row.low == pytest.approx(-row.high, nan_ok=True) for row in rows)
    assert all(row.relevant_altered == row.relevant_unaltered for row in rows)


@given(query=st.text(min_size=1), text=st.text(min_size=1), seed=st.integers(0, 99), probe=st.sampled_from(PROBES))
def test_the_words_of_a_document_stay_in_their_order_and_those_of_the_query_are_added(query, text, seed, probe):
    words = altered(probe, text, query, np.random.default_rng(seed)).split()
    added = CLAIM.split() if probe == "claim" else query.split()
    assert sorted(words) == sorted(text.split() + added)
    remaining = iter(words)
    assert all(word in remaining for word in text.split())


def test_documents_are_those_of_other_topics_spread_evenly_and_the_same_for_a_seed():
    pool = {**POOL, "2": [*POOL["2"], "d1-0"]}
    plan = plan_probes(TOPICS, DOCUMENTS, pool, ignores, n_pairs=40, rng=3)
    pairs = {(text.topic, text.document) for text in plan.texts}
    assert len(pairs) == 40
    assert all(document not in pool[topic] for topic, document in pairs)
    per_topic = np.unique([topic for topic, _ in pairs], return_counts=True)[1]
    assert set(per_topic.tolist()) == {3, 4}
    assert len(per_topic) == N_TOPICS
    shuffled = dict(reversed(pool.items()))
    again = plan_probes(TOPICS, DOCUMENTS, shuffled, ignores, n_pairs=40, rng=3)
    assert again.texts == plan.texts
    assert plan_probes(TOPICS, DOCUMENTS, pool, ignores, n_pairs=40, rng=4).texts != plan.texts


def test_a_document_without_text_is_not_drawn_and_fewer_pairs_are_asked_where_there_are_not_as_many():
    plan = plan_probes(TOPICS, {**DOCUMENTS, "d1-0": " "}, {"1": POOL["1"], "2": POOL["2"]}, ignores)
    assert {text.document for text in plan.texts} == {*POOL["1"][1:], *POOL["2"]}
    assert len({(text.topic, text.document) for text in plan.texts}) == 7


def test_nothing_of_a_probe_becomes_a_judgment_of_the_pool_and_nothing_is_paid_twice(tmp_path):
    calls = []

    def model(request):
        calls.append(request.key)
        return ignores(request)

    before = ask_models(TOPICS, DOCUMENTS, POOL, model, record=tmp_path / "judge.sqlite")
    listed = outcomes_in(tmp_path / "judge.sqlite")
    plan = plan_probes(TOPICS, DOCUMENTS, POOL, model, n_pairs=30)
    first = plan.ask(tmp_path / "judge.sqlite")
    n_calls = len(calls)
    second = probed(tmp_path, model, n_pairs=30)
    assert second.to_frame().equals(first.to_frame())
    assert len(calls) == len(set(calls)) == n_calls == 48 + 30 * 4
    assert outcomes_in(tmp_path / "judge.sqlite") == listed
    after = ask_models(TOPICS, DOCUMENTS, POOL, model, record=tmp_path / "judge.sqlite")
    assert after.judgments.to_dict() == before.judgments.to_dict()
    asked = {document for asking in plan.job.askings for document in asking.question.documents}
    assert not asked & {document for documents in pool_from(POOL).values() for document in documents}


def test_a_record_of_probes_alone_lists_no_question(tmp_path):
    probed(tmp_path, ignores, n_pairs=4)
    with pytest.raises(FileError, match="no record of questions"):
        outcomes_in(tmp_path / "judge.sqlite")


def test_grades_of_aspects_and_yes_or_no_are_probed(tmp_path):
    def aspects(request):
        grade = 2 if CLAIM in shown(request)[1][0] else 1
        return json.dumps({"match": 0, "trustworthiness": 0, "overall": grade})

    def yes(request):
        return "yes" if CLAIM in shown(request)[1][0] else "no"

    result = probed(tmp_path, aspects, "aspects", n_pairs=12, probes=["claim"], rel=2)
    assert [(row.probe, row.change) for row in result.rows[1:]] == [("claim", 1)]
    assert (result.rows[1].relevant_unaltered, result.rows[1].relevant_altered) == (0, 1)
    result = probed(tmp_path, yes, "binary", n_pairs=12, probes=["claim"])
    assert (result.rows[1].change, result.rows[1].high) == (1, 1)


def test_preferences_compare_the_altered_text_with_the_original_in_both_orders(tmp_path):
    def obeying(request):
        return "AB"[CLAIM in shown(request)[1][1]]

    def first(request):
        return "A"

    result = probed(tmp_path, [obeying, first], "preference", n_pairs=24)
    assert table(result, "change") == {
        "obeying": {"query-words": 0, "query-first": 0, "claim": 1},
        "first": dict.fromkeys(PROBES, 0),
    }
    assert table(result, "low")["obeying"]["claim"] > 0


def test_a_pair_counts_only_where_the_original_and_the_altered_text_have_an_answer(tmp_path):
    def model(request):
        text = shown(request)[1][0]
        if "some1" in text and CLAIM not in text:
            return "no idea"
        return "3" if CLAIM in text else "2"

    result = probed(tmp_path, model, n_pairs=48, probes=["claim"])
    unaltered, claim = result.rows
    assert claim.n_answered == unaltered.n_answered < claim.n_pairs == 48
    assert (claim.change, claim.statuses["ok"]) == (1, 1)
    assert unaltered.statuses["unparsable"] == pytest.approx(1 - unaltered.n_answered / 48)


def test_samples_of_a_question_are_averaged(tmp_path):
    def model(request):
        return str(request.sample if CLAIM in shown(request)[1][0] else 0)

    result = probed(tmp_path, model, n_pairs=6, probes=["claim"], n_samples=3)
    assert (result.rows[1].change, result.rows[1].n_pairs) == (2, 6)


def test_two_models_of_one_name_stay_two(tmp_path):
    models = [FunctionModel(lambda request: "1", "m", endpoint) for endpoint in ("here", "there")]
    result = probed(tmp_path, models, n_pairs=4, probes=["claim"])
    assert [row.model for row in result.rows] == ["m (here)", "m (here)", "m (there)", "m (there)"]


@pytest.mark.parametrize(
    ("prompts", "options", "message"),
    [
        ("magnitude", {}, "magnitude asks for magnitudes"),
        ("graded", {"pool": {"1": POOL["1"]}}, "two or more topics"),
        ("graded", {"probes": ["shout"]}, "probes='shout'"),
        ("graded", {"n_pairs": 0}, "n_pairs=0"),
    ],
)
def test_what_cannot_be_probed_is_refused_in_one_line(tmp_path, prompts, options, message):
    with pytest.raises(ArgumentError, match=message):
        probed(tmp_path, ignores, prompts, **options)
