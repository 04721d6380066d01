"""Language models in a campaign: the same protocol, checks and log as people; only an answer becomes a judgment."""

import asyncio
import json
import re
from base64 import b64encode
from collections import Counter
from contextlib import suppress
from functools import partial
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judging import Clock, created, seeded, small_plan, tables, three_arms, until, work
from qrowd import evaluate
from qrowd.errors import ArgumentError, QrowdError
from qrowd.judge import AskOptions, FunctionModel, Record
from qrowd.judge.asking import answers_in
from qrowd.judge.exchange import Price, Prices, Reply
from qrowd.model.runs import Runs
from qrowd_server.campaigns.results.archive import read_archive, write_archive
from qrowd_server.campaigns.results.campaign_progress import progress
from qrowd_server.campaigns.results.exports import export_rows
from qrowd_server.campaigns.results.quality import quality
from qrowd_server.campaigns.running.admin import CampaignAdmin
from qrowd_server.campaigns.running.campaign_settings import find, read_settings
from qrowd_server.campaigns.running.collected import collected, judgments
from qrowd_server.campaigns.running.models import ask_in_campaign, campaign_prompt
from qrowd_server.campaigns.running.rebuild import rebuild
from qrowd_server.cli.database import unit_frame
from qrowd_server.protocols.views import EndView
from qrowd_server.store import event_log as events
from qrowd_server.store.engine import open_store
from server.pictures import png

PLANS = {
    "magnitude": {"protocol": "magnitude", "k": 4, "redundancy": 4, "question": True},
    "grades": {"protocol": "grades", "k": 2, "redundancy": 4, "question": True},
    "preference": {"protocol": "preference", "redundancy": 4, "question": True},
    "together": {"protocol": "preference", "redundancy": 4, "sharing": "shared", "documents": 5, "stop": False},
}
WHOLE = {"consent": True, "practice": True, "practice_each_unit": True}


def numbers_in(request):
    """The numbers of the documents in the last message: 2 of t1d2."""
    return [int(number) for number in re.findall(r"Text of t\dd(\d)", request.messages[-1].content)]


def sensible(request):
    """Document 0 is the best and 1 the worst, which are the check documents of magnitudes; the right option."""
    text = request.messages[-1].content
    better = [{0: 9.5, 1: 1}.get(number, number) for number in numbers_in(request)]
    if '{"preferred": "A"}' in text:
        return json.dumps({"preferred": "A" if better[0] >= better[1] else "B"})
    if '"grade": G' in text:
        return json.dumps({"grade": 3 if better[0] > 3 else int(better[0])})
    return json.dumps({"reason": "it says so", "1": better[0]})


class Asked:
    """A model that counts how often it is asked what."""

    def __init__(self, answer=sensible, name="small"):
        self.answer, self.requests = answer, []
        self.model = FunctionModel(self, name)

    def __call__(self, request):
        self.requests.append(request)
        return self.answer(request)

    @property
    def most(self):
        return max(Counter(request.key for request in self.requests).values())


def people(service, n, steps=1000, campaign="pilot"):
    async def come_and_work():
        ids = [await service.arrive(campaign, "link", f"person-{i}") for i in range(n)]
        await asyncio.gather(*(work(service, one, Random(i), steps) for i, one in enumerate(ids)))

    asyncio.run(come_and_work())


def log_of(store, *kinds):
    with store.reading() as connection:
        log = events.of_campaign(connection, find(connection, "pilot").id)
        return [one for one in log if not kinds or one.kind in kinds]


def rows_of(store, what="judgments", campaign="pilot", **options):
    with store.reading() as connection:
        lines = b"".join(export_rows(connection, campaign, what, "jsonl", **options)).splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture
def local(opened, tmp_path):
    """A store in SQLite."""
    return opened(tmp_path / "judgments.db")


# ---- one place for people and models


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.nightly] * (kind != "magnitude")) for kind in PLANS]
)
def test_a_mixed_panel_obeys_one_log_that_gives_the_same_tables_and_the_same_archive(store, opened, tmp_path, kind):
    created(store, small_plan(**PLANS[kind], topics=2, journey=WHOLE))
    service = seeded(store, clock=Clock(step=30.0))
    people(service, 2, steps=25 if kind == "magnitude" else 6)
    asked = [Asked(name=name) for name in ("small", "large")]
    done = ask_in_campaign(
        store, "pilot", [one.model for one in asked], record=tmp_path / "r", max_failures=99, clock=service.clock
    )
    assert [one.assessor for one in done.models] == ["small+campaign", "large+campaign"]
    assert sum(one.completed for one in done.models) > 0
    assert all(one.most == 1 for one in asked if one.requests)
    kinds = {"small+campaign": "model", "large+campaign": "model", "a1": "person", "a2": "person"}
    rows = rows_of(store, "preferences" if "preference" in PLANS[kind]["protocol"] else "judgments")
    assert {row["kind"] for row in rows} == {"person", "model"}
    assert all(row["kind"] == kinds[row["assessor"]] for row in rows)
    before = store.read(tables)
    store.write(lambda connection: rebuild(connection, "pilot"))
    assert store.read(tables) == before
    lines = store.read(lambda connection: list(write_archive(connection, "pilot")))
    other = opened(tmp_path / "other.db")
    other.write(lambda connection: read_archive(connection, lines))
    assert other.read(lambda connection: list(write_archive(connection, "pilot"))) == lines
    assert rows_of(other, "units") == rows_of(store, "units")


def test_the_judgments_of_a_mixed_panel_are_evaluated_as_those_of_people(local, tmp_path):
    created(local, small_plan("grades", k=4, redundancy=4))
    people(seeded(local, clock=Clock(step=30.0)), 2)
    ask_in_campaign(local, "pilot", [Asked(name=name).model for name in ("small", "large")], record=tmp_path / "r")
    panel = local.read(lambda connection: judgments(connection, "pilot"))
    assert sorted(panel.assessors) == ["a1", "a2", "large+campaign", "small+campaign"]
    assert {str(scale) for scale in panel.scales} == {"0-3"}
    systems = {
        name: {f"t{t}": {f"t{t}d{d}": -rank for rank, d in enumerate(order)} for t in range(3)}
        for name, order in ORDERS.items()
    }
    scores = evaluate(Runs.from_dict(systems), panel, ["nDCG@4"]).sel(assessor=["small+campaign", "large+campaign"])
    best, worst = (scores.sel(system=name).values.mean() for name in ("best", "worst"))
    assert best == pytest.approx(1)
    assert worst < 1


ORDERS = {"best": [0, 3, 2, 1], "worst": [1, 2, 3, 0]}


def test_a_model_is_marked_wherever_the_owner_looks(local, tmp_path):
    created(local, small_plan("grades", k=4, redundancy=2, rating=False))
    people(seeded(local, clock=Clock(step=30.0)), 1)
    ask_in_campaign(local, "pilot", Asked().model, record=tmp_path / "r")
    with local.reading() as connection:
        units = unit_frame(connection, "pilot")
        shown, found = quality(connection, "pilot"), progress(connection, "pilot", 0.0)
    assert dict(zip(units.assessor, units.kind, strict=True)) == {"a1": "person", "small+campaign": "model"}
    rows = {one.name: one for one in shown.assessors}
    model, person = rows["small+campaign"], rows["a1"]
    assert (model.kind, person.kind) == ("model", "person")
    assert (found.models, found.models_in_words) == ({"finished": 1}, "Models: 1 finished.")
    arrived = log_of(local, "arrived")[-1].data
    assert arrived["provider"] == "model"
    assert arrived["about"]["model"] == "small"
    assert len(arrived["about"]["prompts"][""]) == 64


# ---- what a model is asked


def test_a_model_reads_what_assessors_read(local, tmp_path):
    words = {"instructions": "Judge {topic} as a gardener.", "title": "Gardens"}
    plan = small_plan("grades", k=1, topics=1, documents=1, scale="binary", labels=["no", "yes"], campaign=words,
                      guidelines=["useless", "of use {documents}"], ask="Would you plant it?")  # fmt: skip
    created(local, plan)
    asked = Asked(lambda request: '{"grade": 1}')
    ask_in_campaign(local, "pilot", asked.model, record=tmp_path / "r", parameters={"temperature": 0})
    (request,) = asked.requests
    system, user = request.messages
    assert (system.role, system.content) == ("system", "Judge { topic} as a gardener.")
    assert "Topic: Topic 0\n" in user.content
    assert ">\nText of t0d0.\n</document" in user.content
    assert "Would you plant it?\n\nGrades:\n0: no - useless\n1: yes - of use { documents}\n" in user.content
    assert request.parameters == {"temperature": 0}
    assert request.schema["properties"]["grade"]["enum"] == [0, 1]


def test_magnitudes_are_asked_one_by_one_in_a_conversation_with_the_models_own_numbers(local, tmp_path):
    created(local, small_plan("magnitude", k=4, topics=1, redundancy=1))
    asked = Asked()
    ask_in_campaign(local, "pilot", asked.model, record=tmp_path / "r")
    order = [numbers_in(request)[0] for request in asked.requests]
    assert sorted(order) == [0, 1, 2, 3]
    last = asked.requests[-1].messages
    assert [one.role for one in last] == ["system", *["user", "assistant"] * 3, "user"]
    assert [json.loads(one.content) for one in last if one.role == "assistant"] == [
        json.loads(sensible(request)) for request in asked.requests[:-1]
    ]
    assert [row["value"] for row in rows_of(local)] == [json.loads(sensible(one))["1"] for one in asked.requests]
    assert {row["comment"] for row in rows_of(local)} == {"it says so"}


def test_left_is_a_and_right_is_b(local, tmp_path):
    created(local, small_plan("preference", topics=1, documents=4, order="all", redundancy=1))
    asked = Asked()
    ask_in_campaign(local, "pilot", asked.model, record=tmp_path / "r")
    rows = rows_of(local, "preferences")
    assert len(rows) == len(asked.requests) == 6
    best_first = [f"t0d{d}" for d in (0, 3, 2, 1)]
    assert all(best_first.index(row["preferred"]) < best_first.index(row["other"]) for row in rows)
    by_pair = {frozenset(numbers_in(one)): numbers_in(one)[0] for one in asked.requests}
    for row in rows:
        pair = frozenset(int(row[side][-1]) for side in ("preferred", "other"))
        assert row["first"] == (by_pair[pair] == int(row["preferred"][-1]))


def test_each_arm_asks_its_own_question(local, tmp_path):
    created(local, three_arms(documents=3))
    asked = Asked()
    done = ask_in_campaign(local, "study", asked.model, record=tmp_path / "r").models[0]
    assert (done.completed, done.ended) == (3, "no unit is left for it")
    by_arm = Counter(row["arm"] for row in rows_of(local, "units", campaign="study"))
    assert by_arm == {"absolute": 1, "preference": 1, "degrees": 1}
    forms = Counter(next(iter(request.schema["properties"])) for request in asked.requests)
    assert forms.pop("grade") == 3
    assert forms in ({"preferred": n} for n in (4, 5, 6))  # what follows from two pairs is not asked


def test_a_document_of_which_a_model_sees_nothing_is_not_asked(local, tmp_path):
    plan = small_plan("grades", k=3, topics=1, documents=3, redundancy=1, max_cannot_tell=1.0)
    texts = ["<style>p {}</style><p>Bees &amp; honey.</p><div>More</div>", "", "Text of t0d2."]
    image = b64encode(png()).decode()
    documents = tuple(
        type(one)(
            **{
                **vars(one),
                "text": text,
                "html": "<" in text,
                "image": "" if text else image,
                "title": "" if text else "A picture",
            }
        )
        for one, text in zip(plan.documents, texts, strict=True)
    )
    created(local, type(plan)(**{**vars(plan), "documents": documents}))
    asked = Asked(lambda request: '{"grade": 2}')
    done = ask_in_campaign(local, "pilot", asked.model, record=tmp_path / "r")
    contents = [request.messages[-1].content for request in asked.requests]
    assert len(contents) == 2
    assert sum(">\nBees & honey.\n\nMore\n</" in content for content in contents) == 1
    assert done.unanswered == {"small+campaign": "replies without an answer: 1 (1 text missing)"}
    assert sorted(row["document"] for row in rows_of(local)) == ["t0d0", "t0d2"]
    assert Counter(one.status for one in answers_in(tmp_path / "r").outcomes) == {"ok": 2, "text_missing": 1}


def test_a_model_with_other_parameters_is_another_assessor_and_the_same_one_goes_on(local, tmp_path):
    created(local, small_plan("grades"))
    runs = [{"temperature": 0}, {"temperature": 1}, {"temperature": 0}]
    names = [
        ask_in_campaign(local, "pilot", Asked().model, record=tmp_path / "r", parameters=one).models[0].assessor
        for one in runs
    ]
    assert names == ["small+campaign", "small+campaign-2", "small+campaign"]
    with pytest.raises(ArgumentError, match="is there twice"):
        ask_in_campaign(local, "pilot", [Asked().model, Asked().model], record=tmp_path / "r")


# ---- failures

FAILURES = {
    "refused": Reply(refusal="I cannot", finish_reason="stop"),
    "cut_off": Reply(text='{"grade": 2', finish_reason="length"),
    "unparsable": Reply(text="perhaps 2 or 3"),
    "out_of_scale": Reply(text='{"grade": 7}'),
    "error": Reply(error="HTTP 400: too long", http_status=400),
}


@pytest.mark.parametrize(
    "status",
    [
        "refused",
        "unparsable",
        *(pytest.param(one, marks=pytest.mark.nightly) for one in ("cut_off", "out_of_scale", "error")),
    ],
)
def test_a_failed_grade_is_cannot_tell_until_the_unit_is_given_back(local, tmp_path, status):
    created(local, small_plan("grades", k=4, topics=1, redundancy=1))
    asked = Asked(lambda _: FAILURES[status])
    work = ask_in_campaign(local, "pilot", asked.model, record=tmp_path / "r", instead=True)
    done = work.models[0]
    assert (done.answers, done.completed, done.given_back) == (0, 0, 1)
    words = f"replies without an answer: 3 (3 {status.replace('_', ' ')})"  # half of four may be cannot tell
    assert work.unanswered == {"small+campaign": words}
    assert not rows_of(local, everything=True)
    log = log_of(local, "unanswered", "cannot_tell", "given_back")
    assert [one.kind for one in log] == [*["unanswered", "cannot_tell"] * 2, "unanswered", "given_back"]
    assert {one.data["status"] for one in log if one.kind == "unanswered"} == {status}
    asked = answers_in(tmp_path / "r")
    assert {one.status for one in asked.outcomes} == {status}
    assert not asked.n_unasked
    people(seeded(local, clock=Clock(step=30.0)), 1)  # the unit is there for others
    assert {row["assessor"] for row in rows_of(local)} == {"a1"}


@pytest.mark.parametrize(
    "kind", ["magnitude", *(pytest.param(kind, marks=pytest.mark.nightly) for kind in ("together", "preference"))]
)
def test_where_nothing_can_be_skipped_a_failure_gives_the_unit_back(local, tmp_path, kind):
    created(local, small_plan(**{**PLANS[kind], "redundancy": 1, "question": False}))
    halves = Asked(lambda request: "I would say so" if 3 in numbers_in(request) else sensible(request))
    options = {"max_failures": 99, "instead": True}
    work = ask_in_campaign(local, "pilot", halves.model, record=tmp_path / "r", **options)
    done = work.models[0]
    assert done.given_back == len(log_of(local, "given_back")) == 3
    assert work.unanswered == {"small+campaign": "replies without an answer: 3 (3 unparsable)"}
    assert done.completed == 0
    assert done.ended == "no unit is left for it"
    given_up = rows_of(local, "judgments" if kind == "magnitude" else "preferences")
    assert bool(given_up) == (kind == "together" and done.answers > 0)  # what was judged together stays
    before = local.read(tables)
    local.write(lambda connection: rebuild(connection, "pilot"))
    assert local.read(tables) == before
    people(seeded(local, clock=Clock(step=30.0)), 1)
    assert "a1" in {row["assessor"] for row in rows_of(local, "units") if row["status"] == "completed"}


def test_an_archive_keeps_what_a_model_did_not_answer(local, opened, tmp_path):
    created(local, small_plan("grades", k=4, redundancy=1))
    ask_in_campaign(local, "pilot", Asked(lambda request: "").model, record=tmp_path / "r")
    assert len(log_of(local, "unanswered")) == 9
    lines = local.read(lambda connection: list(write_archive(connection, "pilot")))
    other = opened(tmp_path / "other.db")
    other.write(lambda connection: read_archive(connection, lines))
    assert other.read(lambda connection: list(write_archive(connection, "pilot"))) == lines


def test_a_model_that_fails_three_units_in_a_row_stops_with_one_line(local, tmp_path):
    created(local, small_plan("preference", topics=6))
    asked = Asked(lambda request: "both are fine")
    done = ask_in_campaign(local, "pilot", asked.model, record=tmp_path / "r").models[0]
    assert done.given_back == len(asked.requests) == 3
    assert done.ended == "3 units in a row failed, the last one: unparsable: the text is not the answer alone"


def test_a_reason_that_is_required_is_part_of_the_answer(local, tmp_path):
    created(local, small_plan("grades", k=1, topics=1, documents=1, redundancy=1, reason="required", cannot_tell=False))
    done = ask_in_campaign(local, "pilot", Asked(lambda _: '{"grade": 2}').model, record=tmp_path / "r")
    assert done.unanswered == {"small+campaign": "replies without an answer: 1 (1 unparsable)"}
    assert not rows_of(local, everything=True)
    assert log_of(local, "unanswered")[0].data["detail"].startswith("Give a reason in a few words")


@pytest.mark.parametrize(
    ("text", "comment"),
    [
        ('```json\n{"reason": " on tea\\nonly ", "grade": 1}\n```', "on tea\nonly"),
        ('<think>{"reason": "no"}</think>{"grade": 1, "reason": "' + "x" * 2001 + '"}', "x" * 2000),
        ('{"reason": 5, "grade": 1}', None),
    ],
)
def test_the_reason_is_the_text_beside_the_grade_up_to_the_longest(local, tmp_path, text, comment):
    created(local, small_plan("grades", k=1, topics=1, documents=1, redundancy=1, reason="required"))
    ask_in_campaign(local, "pilot", Asked(lambda _: text).model, record=tmp_path / "r")
    assert [row["comment"] for row in rows_of(local)] == ([] if comment is None else [comment])


ANSWERS = st.sampled_from(['{"grade": 0}', '{"grade": 3}', "2", "grade: 1", "4", "1.5", "none", "", *FAILURES.values()])


@pytest.mark.nightly
@settings(max_examples=3)
@given(st.lists(ANSWERS, min_size=1, max_size=9), st.booleans())
def test_the_judgments_are_exactly_the_answers_with_status_ok(tmp_path_factory, script, cannot_tell):
    folder = tmp_path_factory.mktemp("law")
    store = open_store(folder / "judgments.db")
    try:
        created(store, small_plan("grades", k=3, topics=2, documents=3, redundancy=1, cannot_tell=cannot_tell))
        asked = Asked()
        asked.answer = lambda request: script[sum(map(ord, request.messages[-1].content)) % len(script)]
        ask_in_campaign(store, "pilot", asked.model, record=folder / "r", max_failures=99)
        outcomes = answers_in(folder / "r").outcomes
        values = {(one.question.topic, one.question.documents[0]): one.values for one in outcomes if one.status == "ok"}
        rows = {(row["topic"], row["document"]): (row["value"],) for row in rows_of(store, everything=True)}
        assert rows.items() <= values.items()
        whole = {row["topic"] for row in rows_of(store, "units") if row["status"] == "completed"}
        assert {place for place in values if place[0] in whole} == {place for place in rows if place[0] in whole}
    finally:
        store.close()


# ---- checks


def test_a_model_that_fails_the_check_looks_again_once_and_its_unit_never_counts(local, tmp_path):
    created(local, small_plan("magnitude", k=4, topics=1, redundancy=1, revisions=-1))
    asked = Asked(lambda request: '{"reason": "so", "1": 5}')  # H and N alike
    done = ask_in_campaign(local, "pilot", asked.model, record=tmp_path / "r").models[0]
    assert len(asked.requests) == 8
    assert done.given_back == 1
    again = asked.requests[4].messages[-1].content
    assert "your numbers did not pass a check of the whole set. Your number for this document was 5." in again
    assert not rows_of(local)
    assert len(rows_of(local, everything=True)) == 4
    assert [one.data["passed"] for one in log_of(local, "checked")] == [False, False]


def test_a_model_that_mends_its_numbers_passes(local, tmp_path):
    created(local, small_plan("magnitude", k=4, topics=1, redundancy=1))
    asked = Asked(lambda r: sensible(r) if "did not pass" in r.messages[-1].content else '{"reason": "so", "1": 5}')
    done = ask_in_campaign(local, "pilot", asked.model, record=tmp_path / "r").models[0]
    assert (done.answers, done.completed, len(asked.requests)) == (4, 1, 8)  # another answer is no further one
    assert {row["document"]: row["value"] for row in rows_of(local)} == {"t0d0": 9.5, "t0d1": 1, "t0d2": 2, "t0d3": 3}


def test_seconds_ratings_and_questions_about_topics_are_not_asked_of_a_model(local, tmp_path):
    plan = small_plan("magnitude", k=4, topics=1, redundancy=1, min_seconds=3600, rating=True, question=True)
    created(local, plan)
    assert ask_in_campaign(local, "pilot", Asked().model, record=tmp_path / "r").models[0].completed == 1
    (checked,) = log_of(local, "checked")
    assert checked.data == {"passed": True, "ordered": True, "unhurried": True}
    assert not log_of(local, "rated", "line_judged", "practised", "replied")


def test_an_excluded_model_and_one_in_a_paused_campaign_stop(local, tmp_path):
    created(local, small_plan("grades", k=1))
    service = seeded(local, clock=Clock(step=1.0))
    record = tmp_path / "r"
    ask_in_campaign(local, "pilot", Asked().model, record=record, options=AskOptions(budget=40, prices=PRICES))
    asyncio.run(CampaignAdmin(local).set_status("pilot", "stopped"))
    assert ask_in_campaign(local, "pilot", Asked().model, record=record).models[0].ended == "the campaign is stopped"
    asyncio.run(CampaignAdmin(local).set_status("pilot", "running"))
    asyncio.run(CampaignAdmin(local).exclude("pilot", "small+campaign", "too mild"))
    done = ask_in_campaign(local, "pilot", Asked().model, record=record, clock=service.clock).models[0]
    assert done.ended == "it is excluded"
    assert not rows_of(local)


# ---- nothing lost, nothing paid twice

PRICES = Prices([Price("*", "*", 0.0, 1e6)], "USD")  # 1 a token of the answer


class Crash(Exception):
    """The process is gone."""


def tick(ticks):
    """The time, until there are no ticks left."""
    if next(ticks, None) is None:
        raise Crash
    return 1.8e9


@pytest.mark.parametrize(
    "kind", ["grades", *(pytest.param(kind, marks=pytest.mark.nightly) for kind in ("together", "magnitude"))]
)
def test_whenever_it_is_cut_off_the_same_call_goes_on_and_asks_nothing_twice(opened, tmp_path, kind):
    asked, whole = Asked(), Asked()
    plan = {**PLANS[kind], "redundancy": 2, "topics": 2}
    for name, one, step in (("whole", whole, 10**6), ("cut", asked, 3)):
        store = opened(tmp_path / f"{name}.db")
        created(store, small_plan(**plan))
        ticks, crashes, done = iter(()), -1, None
        while done is None:
            crashes += 1
            ticks = iter(range(step + crashes % 4))  # the process ends at each of the places in turn
            with suppress(Crash):
                done = ask_in_campaign(
                    store, "pilot", one.model, record=tmp_path / f"{name}.record", clock=partial(tick, ticks)
                )
        assert done.models[0].ended == "no unit is left for it"
        assert (crashes > 3) == (name == "cut")
        assert {row["status"] for row in rows_of(store, "units")} == {"completed"}
        with Record(tmp_path / f"{name}.record", read_only=True) as record:
            assert len(record) == len(one.requests)
    assert asked.most == whole.most == 1


GONE = Reply(error="ConnectError at there", tokens_in=0, tokens_out=0)
SPOILT = {
    "malformed": Reply(error="the answer holds no choices", http_status=200),
    "page": Reply(error="HTTP 200 with HTML", http_status=200),
    "late": Reply(timed_out=True, error="no answer within 1 s"),
    "failed": Reply(error="HTTP 500", http_status=500),
}


@pytest.mark.parametrize(
    "kind", ["late", *(pytest.param(one, marks=pytest.mark.nightly) for one in ("failed", "malformed", "page"))]
)
def test_an_answer_that_never_comes_gives_its_unit_back_and_the_model_goes_on(local, tmp_path, monkeypatch, kind):
    created(local, small_plan("preference", topics=2, redundancy=1))
    monkeypatch.setattr("qrowd.judge.running.FIRST_WAIT", 0)
    asked = Asked(lambda request: SPOILT[kind] if "Topic 0" in request.messages[-1].content else sensible(request))
    done = ask_in_campaign(local, "pilot", asked.model, record=tmp_path / "r").models[0]
    assert (done.completed, done.given_back, done.ended) == (1, 1, "no unit is left for it")
    assert asked.most <= 4
    people(seeded(local, clock=Clock(step=30.0)), 1)
    assert {row["assessor"] for row in rows_of(local, "units") if row["status"] == "completed"} == {
        "a1", "small+campaign",
    }  # fmt: skip


@pytest.mark.parametrize("instead", [False, pytest.param(True, marks=pytest.mark.nightly)])
def test_a_model_whose_server_is_gone_keeps_no_unit_and_the_next_call_goes_on_in_it(
    local, tmp_path, monkeypatch, instead
):
    created(local, small_plan("preference", topics=1, redundancy=1))
    monkeypatch.setattr("qrowd.judge.running.FIRST_WAIT", 0)
    calls = Asked(lambda request: GONE if len(calls.requests) > 1 else sensible(request))
    with pytest.raises(QrowdError, match="ConnectError at there; no answer after 10 waits"):
        ask_in_campaign(local, "pilot", calls.model, record=tmp_path / "r", instead=instead)
    (unit,) = rows_of(local, "units")
    assert unit["status"] == "expired"
    assert local.read(lambda connection: progress(connection, "pilot", 1.8e9)).free == 1
    calls.answer = sensible
    done = ask_in_campaign(local, "pilot", calls.model, record=tmp_path / "r", instead=instead).models[0]
    assert done.completed == 1
    assert [(row["assignment"], row["status"]) for row in rows_of(local, "units")] == [
        (unit["assignment"], "completed")
    ]
    assert calls.most == 11  # ten times in vain, and once with an answer


def test_the_budget_stops_a_model_which_goes_on_in_its_unit(local, tmp_path):
    created(local, small_plan("magnitude", k=4, topics=1, redundancy=1))
    answers = Asked(lambda request: Reply(text=sensible(request), tokens_in=1, tokens_out=10))
    options = {"parameters": {"max_tokens": 10}, "options": AskOptions(budget=25, prices=PRICES)}
    done = ask_in_campaign(local, "pilot", answers.model, record=tmp_path / "r", **options)
    assert done.cost == 20
    assert done.stopped.startswith("budget: 20 of 25")
    assert done.models[0].ended == "stopped"
    assert len(answers.requests) == 2
    options["options"] = AskOptions(prices=PRICES)
    ask_in_campaign(local, "pilot", answers.model, record=tmp_path / "r", **options)
    assert len(answers.requests) == 4
    assert len(rows_of(local)) == 4


def test_a_unit_that_a_person_took_over_is_lost_to_the_model(local, tmp_path):
    created(local, small_plan("magnitude", k=4, topics=1, redundancy=1, campaign={"lease_minutes": 1}))
    clock = Clock()
    asked = Asked(lambda request: Reply(text=sensible(request), tokens_out=10))
    options = {"record": tmp_path / "r", "clock": clock, "parameters": {"max_tokens": 10}, "instead": True}
    ask_in_campaign(local, "pilot", asked.model, options=AskOptions(budget=15, prices=PRICES), **options)
    clock.now += 3600
    people(seeded(local, clock=clock), 1, steps=2)
    asyncio.run(CampaignAdmin(local).set_status("pilot", "stopped"))
    done = ask_in_campaign(local, "pilot", asked.model, **options).models[0]
    assert done.ended == "the campaign is stopped"
    asyncio.run(CampaignAdmin(local).set_status("pilot", "running"))
    done = ask_in_campaign(local, "pilot", asked.model, **options).models[0]
    assert (done.answers, len(asked.requests)) == (0, 1)
    assert done.ended == "no unit is left for it"  # nobody gets a topic twice
    units = {(row["assessor"], row["status"]) for row in rows_of(local, "units")}
    assert units == {("small+campaign", "expired"), ("a1", "open")}


def test_a_server_that_refuses_the_key_ends_the_job_in_one_line(local, tmp_path):
    created(local, small_plan("grades"))
    refused = Asked(lambda request: Reply(error="HTTP 401", http_status=401))
    with pytest.raises(QrowdError, match="small at function: HTTP 401; check the key"):
        ask_in_campaign(local, "pilot", refused.model, record=tmp_path / "r")
    assert len(log_of(local, "assigned")) == 1
    assert not log_of(local, "unanswered")


def test_models_judge_beside_a_server_of_the_same_file(opened, tmp_path):
    served = opened(tmp_path / "judgments.db")  # which holds the lock
    created(served, small_plan("preference", sharing="shared", redundancy=2, topics=2, stop=False))
    service = seeded(served, clock=Clock(step=30.0))
    beside = opened(tmp_path / "judgments.db", create=False, beside_server=True)

    async def first():
        person = await service.arrive("pilot", "link", "ann")
        await until(service, person, EndView, Random(1), steps=1)

    with pytest.raises(AssertionError):
        asyncio.run(first())  # ann is in the middle of a unit
    ask_in_campaign(beside, "pilot", Asked().model, record=tmp_path / "r")
    people(service, 1)
    rows = served.read(lambda connection: collected(connection, "pilot"))
    assert "small+campaign" in rows.assessors


def test_the_same_campaign_makes_the_same_prompt(local):
    created(local, small_plan("grades"))
    with local.reading() as connection:
        campaign = read_settings(find(connection, "pilot"))
    arm = campaign.arms[""]
    assert campaign_prompt(arm, "Be fair.").sha256 == campaign_prompt(arm, "Be fair.").sha256
    assert campaign_prompt(arm, "Be fair.").sha256 != campaign_prompt(arm, "Be kind.").sha256
