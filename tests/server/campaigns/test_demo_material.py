"""The demo collection is whole, varied and fit for every protocol."""

from collections import Counter

import pytest

from qrowd.texts import read_documents, read_fields
from qrowd_server.campaigns.demo import FOLDER, NAMES, demo_plans
from qrowd_server.campaigns.plan.folder import read_folder
from qrowd_server.protocols.settings import GradesSettings, PreferenceSettings


@pytest.fixture(scope="module")
def plans():
    return dict(zip(NAMES, demo_plans(), strict=True))


@pytest.fixture(scope="module")
def texts():
    return [row for _, row in read_documents((FOLDER / "documents.jsonl").read_bytes(), "documents.jsonl")]


@pytest.fixture(scope="module")
def gold():
    fields = read_fields((FOLDER / "gold.qrels").read_bytes(), "gold.qrels", "topic iteration document grade")
    return {document: (topic, int(grade)) for _, (topic, _, document, grade) in fields}


def test_every_protocol_has_a_campaign_on_the_same_topics(plans):
    assert [plan.in_short for plan in plans.values()] == list(NAMES)
    assert [plan.name for plan in plans.values()] == ["demo-magnitude", "demo-grades", "demo-preference"]
    assert len({tuple((t.label, t.pool) for t in plan.topics) for plan in plans.values()}) == 1
    assert len({plan.seed for plan in plans.values()}) == 3


def test_the_demo_does_not_make_anybody_wait_but_the_file_does(plans):
    assert plans["magnitude"].settings.min_seconds == 3
    assert demo_plans(min_seconds=0.5)[0].settings.min_seconds == 0.5
    assert read_folder(FOLDER / "magnitude.toml").settings.min_seconds == 20


def test_settings_are_those_worth_showing(plans):
    assert (plans["magnitude"].settings.k, plans["magnitude"].settings.redundancy) == (8, 3)
    assert isinstance(plans["grades"].settings, GradesSettings)
    assert plans["grades"].settings.scale == "0-3"
    assert all(plans["grades"].settings.guidelines)
    assert isinstance(plans["preference"].settings, PreferenceSettings)
    assert plans["preference"].settings.order == "keep-preferred"
    assert plans["preference"].settings.stop


def test_every_topic_is_complete(plans):
    for topic in plans["magnitude"].topics:
        assert all((topic.title, topic.description, topic.narrative))
        assert len(topic.question.options) == 4
        assert len(topic.context) == 6
        assert 12 <= len(topic.pool) <= 15
    assert len({topic.question.correct for topic in plans["magnitude"].topics}) > 1


def test_documents_are_short_and_all_different(texts):
    assert len(texts) == 75
    lengths = [len(row["text"].split()) for row in texts]
    assert 50 <= min(lengths) <= max(lengths) <= 130
    assert len({row["text"] for row in texts}) == len({row["title"] for row in texts}) == 75


def test_every_topic_has_documents_of_every_worth(gold):
    for topic in {topic for topic, _ in gold.values()}:
        of_topic = Counter(grade for own, grade in gold.values() if own == topic)
        assert of_topic == {3: 3, 2: 3, 1: 3, 0: 6}  # two of the six are broken or sell something


def test_check_documents_are_beyond_doubt(plans, gold):
    for topic in plans["magnitude"].topics:
        assert [gold[document] for document in topic.checks] == [(topic.label, 3), (topic.label, 0)]


def test_engines_differ_and_find_what_is_judged(plans):
    for topic in plans["preference"].topics:
        found = topic.systems
        assert sorted(found) == ["harbour", "lantern", "meadow"]
        assert len({documents[:5] for documents in found.values()}) == 3
        assert {d for documents in found.values() for d in documents[:10]} == set(topic.pool)


def test_engines_are_not_equally_good(plans, gold):
    worth = {
        name: sum(gold[d][1] for topic in plans["preference"].topics for d in topic.systems[name][:5])
        for name in ("lantern", "meadow", "harbour")
    }
    assert worth["lantern"] < worth["meadow"] <= worth["harbour"]
