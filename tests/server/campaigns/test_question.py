"""A campaign with a question: the log holds the design, and its statement is that of `qrowd next` from the exports."""

import asyncio
import zipfile
from contextlib import suppress
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest
from sqlalchemy import select

import qrowd
from judging import Clock, created, seeded, tables
from qrowd.errors import ArgumentError, FileError
from qrowd.judge import FunctionModel
from qrowd.sequential.design import read_design
from qrowd_server.campaigns.plan.folder import plan_from_zip, read_folder
from qrowd_server.campaigns.results.archive import read_archive, write_archive
from qrowd_server.campaigns.results.campaign_progress import progress
from qrowd_server.campaigns.results.exports import export_rows, kinds_of
from qrowd_server.campaigns.running import question_batches as questions
from qrowd_server.campaigns.running.admin import CampaignAdmin
from qrowd_server.campaigns.running.campaign_settings import find
from qrowd_server.campaigns.running.models import ask_in_campaign
from qrowd_server.campaigns.running.rebuild import rebuild
from qrowd_server.protocols.events import Refusal
from qrowd_server.protocols.views import DocumentView, NoneLeftView
from qrowd_server.store import event_log as events
from qrowd_server.store.engine import open_store
from qrowd_server.store.schema import assignment, judgment, slot, unit
from qrowd_server.web.serving import repeat
from questions import answer, make_world, write_world
from server.soak.checks import violations


@pytest.fixture(autouse=True)
def few_simulations(monkeypatch):
    """How many judgments are to come is simulated for each look; no test of this file asks how well."""
    monkeypatch.setattr("qrowd.sequential.expectation.N_PATHS", 3)


FAR_APART = make_world(topics=12, documents=8, noises=(0.2, 5.0))  # decided after few answers
USUAL = make_world(topics=5, documents=16)
PLANS = {}  # of folders of these two worlds; those with the same options are equal


def plan_of(folder, world, options):
    """The plan of a folder that is written here."""
    write_world(folder, world, **options)
    key = id(world), *sorted(options.items())
    if key in PLANS:
        return PLANS[key]
    plan = read_folder(folder)
    if world is FAR_APART or world is USUAL:
        PLANS[key] = plan
    return plan


class Live:
    """A campaign with a question and its people; the server looks after every answer that makes a look due."""

    def __init__(self, store, folder, *, world=None, people=4, seed=1, **options):
        self.store, self.folder = store, folder
        self.world = world or USUAL
        self.clock = Clock(step=1.0)
        self.id = created(store, plan_of(folder, self.world, options), self.clock())
        self.service = seeded(store, self.clock, seed)
        self.admin = CampaignAdmin(store, clock=self.clock)
        self.rng = Random(seed)
        self.people = [asyncio.run(self.service.arrive("live", "link", f"person-{i}")) for i in range(people)]

    @property
    def row(self):
        return self.store.read(lambda connection: find(connection, "live"))

    def answer(self, who=None, *, wrong=0.05, answers=1):
        who = self.rng.choice(self.people) if who is None else who
        page = asyncio.run(answer(self.service, self.world, who, self.rng, wrong=wrong, answers=answers))
        questions.look_again(self.store, self.clock())
        return page

    def until_decided(self, most=400):
        for _ in range(most):
            if self.row.status != "running":
                return
            self.answer()

    def look(self):
        return questions.look(self.store, self.row)

    def log(self, kind):
        return self.store.read(lambda connection: events.of_kind(connection, self.id, kind))

    def next_judgments(self, name, **options):
        """What `qrowd next` says of the files that an owner exports."""
        folder = self.folder / name
        folder.mkdir()
        for what, form, file in (("judgments", "csv", "judgments.csv"), ("design", "json", "next.json")):
            pieces = self.store.read(lambda c, what=what, form=form: list(export_rows(c, "live", what, form)))
            (folder / file).write_bytes(b"".join(pieces))
        models = self.folder / "llm.qrels"
        options = {"models": qrowd.read_judgments(models) if models.exists() else None, **options}
        return qrowd.next_judgments(
            qrowd.read_runs(self.folder / "runs"),
            qrowd.read_judgments(folder / "judgments.csv"),
            design=read_design(folder / "next.json"),
            **options,
        )


def assert_same_statement(first, second):
    assert first.sentence == second.sentence
    assert (first.answer, first.certain, first.remaining) == (second.answer, second.certain, second.remaining)
    for name in ("estimate", "low", "high", "n_judged", "n_documents"):
        np.testing.assert_allclose(getattr(first, name), getattr(second, name), rtol=1e-9, atol=1e-12, err_msg=name)


# ---- the statement


def test_people_decide_a_question_and_qrowd_next_states_the_same_from_the_exports(store, tmp_path):
    live = Live(store, tmp_path / "f", world=FAR_APART, people=6)
    live.until_decided()
    assert live.row.status == "decided"
    (decision,) = live.log("decided")
    assert decision.data["sentence"].startswith(
        "sys0 is better than sys1 by nDCG@10 on these topics for those who judged, with confidence"
    )
    result = live.next_judgments("exported", question="sys0 > sys1")
    assert result.statement.decided
    assert_same_statement(result.statement, live.look().result.statement)
    assert result.n_others == 0
    p = store.read(lambda connection: progress(connection, "live", live.clock()))
    assert p.question is not None
    assert p.question.answer
    assert p.question.n_judged < p.question.n_documents
    assert p.share == 1
    assert p.question.models == ("llm",)


@pytest.mark.parametrize(
    ("question", "settings", "options"),
    [
        ("best", "tolerance = 0.3\n", {"tolerance": 0.3}),
        pytest.param(
            "ranking",
            'target = "new topics"\nconfidence = 0.9\n',
            {"target": "new topics", "confidence": 0.9},
            marks=pytest.mark.nightly,
        ),
        pytest.param("sys0 > sys2", 'measure = "AP"\n', {"measure": "AP"}, marks=pytest.mark.nightly),
        pytest.param(
            "sys2 among best 2",
            'tolerance = 0.01\nmeasure = "P@5"\n',
            {"tolerance": 0.01, "measure": "P@5"},
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_every_statement_on_the_way_is_that_of_qrowd_next(store, tmp_path, question, settings, options):
    world = make_world(noises=(0.5, 1.0, 2.0), topics=5, documents=10)
    settings += "batch = 4\n"
    live = Live(store, tmp_path / "f", world=world, question=question, settings=settings, redundancy=2)
    for n in range(8):
        live.answer(wrong=0.3)
        if n % 4 == 3:
            result = live.next_judgments(f"after-{n}", question=question, **options)
            assert_same_statement(result.statement, live.look().result.statement)


def test_the_statement_needs_no_model(store, tmp_path):
    live = Live(store, tmp_path / "f", models=False)
    (tmp_path / "f" / "llm.qrels").unlink()
    for _ in range(12):
        live.answer()
    result = live.next_judgments("exported", question="sys0 > sys1")
    assert_same_statement(result.statement, live.look().result.statement)


def test_a_campaign_of_an_earlier_version_speaks_for_those_who_judged(store, tmp_path):
    """It may have asked for all people like those who judge, whom no interval held for."""
    live = Live(store, tmp_path / "f")
    stored = {**live.row.settings["question"], "disagreement": True}
    row = SimpleNamespace(id=live.id, settings={"question": stored})
    now = store.read(lambda connection: questions.question_of(connection, live.row))
    assert store.read(lambda connection: questions.question_of(connection, row)) == now


def test_judgments_of_an_excluded_assessor_are_not_in_the_statement(store, tmp_path):
    live = Live(store, tmp_path / "f")
    for who in live.people:
        live.answer(who, answers=2)
    before = live.look().n_judged
    asyncio.run(live.admin.exclude("live", "person-0", "spam"))
    assert live.look().n_judged == before - 2
    result = live.next_judgments("excluded", question="sys0 > sys1")
    assert_same_statement(result.statement, live.look().result.statement)


def test_an_interval_that_is_not_there_yet_is_none_in_the_log_and_in_the_progress(store, tmp_path):
    """About new topics nothing is certain, so that there is no interval before some documents are judged."""
    live = Live(store, tmp_path / "f", settings='batch = 4\ntarget = "new topics"\n')
    live.answer(answers=2)
    (look,) = live.log("looked")
    ((first, second, estimate, low, high),) = look.data["looked"]["differences"]
    assert (first, second, low, high) == ("sys0", "sys1", None, None)
    assert estimate == pytest.approx(live.look().result.statement.estimate[0])
    assert np.isinf(live.look().result.statement.low).all()
    p = store.read(lambda connection: progress(connection, "live", live.clock()))
    assert [(one.low, one.high) for one in p.question.differences] == [(None, None)]


def test_a_decision_that_loses_its_judgments_is_taken_back_and_judging_goes_on(store, tmp_path):
    live = Live(store, tmp_path / "f", world=FAR_APART, people=6)
    live.until_decided()
    for n in range(1, 6):
        asyncio.run(live.admin.exclude("live", f"person-{n}", "spam"))
    questions.look_again(store, live.clock())
    assert live.row.status == "running"
    (undecided,) = live.log("undecided")
    assert undecided.data["sentence"] == live.look().result.sentence
    p = store.read(lambda connection: progress(connection, "live", live.clock()))
    assert (p.question.answer, p.question.n_judged) == ("", live.look().n_judged)
    n_looks = len(live.log("looked"))
    questions.look_again(store, live.clock())  # nothing has happened since
    assert len(live.log("looked")) == n_looks
    live.people += [asyncio.run(live.service.arrive("live", "link", f"later-{n}")) for n in range(3)]
    live.people = [live.people[0], *live.people[-3:]]
    live.until_decided()
    assert (live.row.status, len(live.log("decided"))) == ("decided", 2)
    store.write(lambda connection: rebuild(connection, "live"))
    assert live.row.status == "decided"
    assert store.read(violations) == []


@pytest.mark.nightly
@pytest.mark.parametrize("status", ["stopped", "paused"])
def test_a_statement_follows_the_judgments_that_count_also_where_nobody_judges(store, tmp_path, status):
    live = Live(store, tmp_path / "f", world=FAR_APART, people=6)
    live.until_decided()
    asyncio.run(live.admin.set_status("live", status))
    for n in range(1, 6):
        asyncio.run(live.admin.exclude("live", f"person-{n}", "spam"))
    seen = live.look()
    asyncio.run(live.admin.reinstate("live", "person-1"))
    assert not store.write(lambda connection: questions.write_look(connection, seen, 5.0))  # it knows less
    questions.look_again(store, live.clock())
    p = store.read(lambda connection: progress(connection, "live", live.clock()))
    assert p.question.sentence == live.look().result.sentence
    assert (live.row.status, live.log("undecided"), len(live.log("drawn"))) == (status, [], live.look().n_batches)


@pytest.mark.parametrize("redundancy", [1, pytest.param(2, marks=pytest.mark.nightly)])
def test_units_that_are_finished_after_the_decision_are_in_the_statement(store, tmp_path, redundancy):
    """One look after the last unit in hand: not after each answer, which could open the question for a moment."""
    live = Live(store, tmp_path / "f", world=FAR_APART, people=4 * redundancy, redundancy=redundancy)
    live.until_decided()
    n_looks = len(live.log("looked"))
    pages = [live.answer(who, answers=1) for who in live.people]
    assert any(isinstance(page.view, DocumentView) for page in pages)  # their units are not done
    assert len(live.log("looked")) == n_looks
    for who in live.people:
        live.answer(who, answers=9)
    p = store.read(lambda connection: progress(connection, "live", live.clock()))
    now = live.look()
    assert (p.question.sentence, p.question.n_judged) == (now.result.sentence, now.n_judged)
    assert (p.question.answer != "", p.open) == (live.row.status == "decided", 0)
    assert len(live.log("looked")) == n_looks + 1
    questions.look_again(store, live.clock())  # nothing has happened since
    assert len(live.log("looked")) == n_looks + 1


def test_a_unit_that_nobody_finishes_is_waited_for_until_its_lease_is_over(store, tmp_path):
    live = Live(store, tmp_path / "f", world=FAR_APART, people=4)
    live.until_decided()
    (seen,) = live.log("looked")[-1:]
    pages = [live.answer(who, answers=1) for who in live.people]
    assert any(isinstance(page.view, DocumentView) for page in pages)
    questions.look_again(store, live.clock() + 1e7)
    assert live.log("looked")[-1].data["n_judged"] == live.look().n_judged > seen.data["n_judged"]


def test_the_statement_of_a_paused_campaign_is_new_and_the_next_batch_comes_when_it_runs_again(store, tmp_path):
    live = Live(store, tmp_path / "f", people=3, settings="batch = 6\n", k=2)
    for who in live.people:
        asyncio.run(answer(live.service, live.world, who, live.rng, answers=1))
    asyncio.run(live.admin.set_status("live", "paused"))
    questions.look_again(store, live.clock())
    p = store.read(lambda connection: progress(connection, "live", live.clock()))
    assert (p.question.n_judged, p.question.sentence) == (3, live.look().result.sentence)
    assert (len(live.log("looked")), len(live.log("drawn"))) == (1, 1)
    asyncio.run(live.admin.set_status("live", "running"))
    questions.look_again(store, live.clock())
    assert (len(live.log("looked")), len(live.log("drawn"))) == (2, 2)
    questions.look_again(store, live.clock())
    assert len(live.log("looked")) == 2


# ---- batches


def test_the_next_batch_is_drawn_when_half_of_one_is_judged(store, tmp_path):
    live = Live(store, tmp_path / "f", settings="batch = 8\n", k=3)
    assert [len(one.data["documents"]) for one in live.log("drawn")] == [8]
    assert len(store.read(lambda c: c.execute(select(slot)).all())) <= 8
    for n in range(1, 4):
        live.answer()
        assert (live.look().n_judged, len(live.log("drawn")), len(live.log("looked"))) == (n, 1, 0)
    live.answer()
    assert [len(one.data["documents"]) for one in live.log("drawn")] == [8, 4]
    assert len(live.log("looked")) == 1
    assert all(len(one.documents) <= 3 for one in store.read(lambda c: c.execute(select(unit)).all()))


@pytest.mark.nightly
def test_nobody_judges_a_document_twice_and_each_gets_its_number_of_people(store, tmp_path):
    world = make_world(topics=2, documents=12)
    live = Live(store, tmp_path / "f", world=world, redundancy=2, settings="batch = 4\ntolerance = 0.0\n")
    for _ in range(20):
        live.answer(wrong=0.5)
    rows = store.read(
        lambda c: c.execute(select(assignment.c.assessor_id, judgment.c.document_id).join(judgment)).all()
    )
    assert len(set(rows)) == len(rows)
    n_people = {}
    for _, document in rows:
        n_people[document] = n_people.get(document, 0) + 1
    assert max(n_people.values()) == 2
    assert store.read(violations) == []


@pytest.mark.parametrize("topics", [3, *(pytest.param(n, marks=pytest.mark.nightly) for n in (5, 12))])
def test_people_are_told_as_many_documents_as_the_units_of_the_first_batch_have(store, tmp_path, topics):
    live = Live(store, tmp_path / "f", world=make_world(topics=topics, documents=16))
    sizes = store.read(lambda c: [len(documents) for documents in c.scalars(select(unit.c.documents))])
    assert live.row.settings["effort"][0] == round(np.mean(sizes))


def test_earlier_batches_are_handed_out_first(store, tmp_path):
    live = Live(store, tmp_path / "f", settings="batch = 6\n", k=1)
    for _ in range(9):
        live.answer()
    units = store.read(lambda c: c.execute(select(unit.c.id).order_by(unit.c.id)).scalars().all())
    had = set(store.read(lambda c: c.execute(select(assignment.c.unit_id)).scalars().all()))
    assert set(units[:6]) <= had


def test_somebody_who_waits_for_the_next_batch_is_told_when_to_look_again(store, tmp_path):
    live = Live(store, tmp_path / "f", people=1, settings="batch = 4\n")
    page = asyncio.run(answer(live.service, live.world, live.people[0], live.rng, answers=10))
    assert isinstance(page.view, NoneLeftView)
    assert page.view.until is not None
    questions.look_again(store, live.clock())
    page = live.answer()
    assert not isinstance(page.view, NoneLeftView)


def test_of_two_servers_that_look_at_once_one_draws(store, tmp_path):
    live = Live(store, tmp_path / "f", settings="batch = 4\n")
    asyncio.run(answer(live.service, live.world, live.people[0], live.rng, answers=2))
    seen = live.look()
    assert store.write(lambda connection: questions.write_look(connection, seen, 5.0))
    assert not store.write(lambda connection: questions.write_look(connection, seen, 6.0))
    assert len(live.log("drawn")) == 2


def test_the_background_task_draws_and_decides_while_people_judge(store, tmp_path):
    live = Live(store, tmp_path / "f", world=FAR_APART, people=3)

    async def work():
        task = asyncio.create_task(repeat(0.01, lambda: questions.look_again(store, live.clock())))
        while store.read(lambda connection: find(connection, "live").status) == "running":
            with suppress(Refusal):  # the decision came between a page and its form
                await answer(live.service, live.world, live.rng.choice(live.people), live.rng)
            await asyncio.sleep(0.02)
        task.cancel()

    asyncio.run(asyncio.wait_for(work(), 60))
    assert live.row.status == "decided"


def test_a_decided_campaign_hands_out_nothing(store, tmp_path):
    live = Live(store, tmp_path / "f", world=FAR_APART, people=6)
    live.until_decided()
    n = live.look().n_judged
    for who in live.people:
        live.answer(who, answers=3)
    later = live.look().n_judged  # units in hand are finished
    for who in live.people:
        assert not isinstance(live.answer(who, answers=3).view, DocumentView)
    assert live.look().n_judged == later >= n


# ---- the design is in the log


def test_the_tables_are_what_the_log_adds_up_to(store, tmp_path):
    live = Live(store, tmp_path / "f", redundancy=2, settings="batch = 6\n")
    for _ in range(9):
        live.answer()
    before = store.read(tables)
    store.write(lambda connection: rebuild(connection, "live"))
    assert store.read(tables) == before
    assert store.read(violations) == []


def test_an_archive_holds_the_question_and_its_design(store, tmp_path):
    with open_store(str(tmp_path / "other.db")) as other:
        live = Live(store, tmp_path / "f")
        for _ in range(15):
            live.answer()
        lines = store.read(lambda connection: list(write_archive(connection, "live")))
        assert other.write(lambda connection: read_archive(connection, lines)) == "live"
        there = questions.look(other, other.read(lambda connection: find(connection, "live")))
        assert_same_statement(there.result.statement, live.look().result.statement)
        assert other.read(lambda connection: list(write_archive(connection, "live"))) == lines
        service = seeded(other, live.clock, 6)
        who = asyncio.run(service.arrive("live", "link", "somebody new"))
        page = asyncio.run(answer(service, live.world, who, live.rng, answers=2))
        assert not isinstance(page.view, NoneLeftView)


# ---- what cannot be done


def test_models_are_named_in_the_folder_and_judge_no_batch(store, tmp_path):
    Live(store, tmp_path / "f")
    with pytest.raises(ArgumentError, match=r"name judgments of models in .question. by models ="):
        ask_in_campaign(store, "live", [FunctionModel(lambda request: "{}", "llm")], record=tmp_path / "record")


@pytest.mark.parametrize(
    ("options", "change", "problem"),
    [
        ({"question": "sys0 > sys9"}, {}, r"campaign.toml, line \d+: question.text: there is no system 'sys9'"),
        ({"question": "sys0 and sys1"}, {}, "question.text: 'sys0 and sys1'; expected 'A > B'"),
        ({"settings": 'measure = "nDCG@ten"\n'}, {}, "question.measure: "),
        ({"settings": "confidence = 95\n"}, {}, "question.confidence: 95 cannot be used; give a number between"),
        ({"settings": "surprise = 1\n"}, {}, "question.surprise: "),
        ({"settings": "disagreement = true\n"}, {}, "question.disagreement: there is no such key"),
        ({"settings": "batch = 1\n"}, {}, "question.batch: 1 cannot be used"),
        ({"more": "[files]\ndepth = 3\n"}, {}, "files.depth: has no effect: the question decides what is judged"),
        ({}, {"[grades]": "[magnitude]", 'scale = "0-3"\n': ""}, "question: magnitude judgments cannot decide"),
        ({}, {"[grades]": "[preference]", 'scale = "0-3"\n': "", "k = 5\n": "", 'reason = "none"\n': ""}, "preference"),
        ({}, {'runs = "runs/*.run"\n': 'runs = "nothing/*.run"\n'}, "nothing/.*: no file is there"),
        ({}, {'runs = "runs/*.run"\n': "runs = 3\n"}, "question.runs: 3 cannot be used"),
        ({}, {"t0\tAbout t0\n": ""}, "question.runs: topic 't0' has no text; add it to the topics"),
    ],
)  # fmt: skip
def test_a_question_that_cannot_work_is_refused_in_one_line(tmp_path, options, change, problem):
    folder = write_world(tmp_path / "f", make_world(topics=2, documents=6), **options)
    for file in ("campaign.toml", "topics.tsv"):
        text = (folder / file).read_text()
        for old, new in change.items():
            text = text.replace(old, new)
        (folder / file).write_text(text)
    with pytest.raises(FileError, match=problem) as error:
        read_folder(folder)
    assert "\n" not in str(error.value)


def test_two_systems_that_rank_alike_are_refused(tmp_path):
    world = make_world(topics=2, documents=6)
    world.runs["sys1"] = world.runs["sys0"]
    with pytest.raises(FileError, match="rank the same documents alike"):
        read_folder(write_world(tmp_path / "f", world))


def test_a_campaign_without_a_question_has_no_design():
    assert "design" not in kinds_of(["grades"])
    assert "design" in kinds_of(["grades"], question=True)


def test_the_files_of_a_zip_are_read_as_those_of_its_folder(tmp_path):
    folder = write_world(tmp_path / "f", make_world(topics=2, documents=6))
    with zipfile.ZipFile(tmp_path / "f.zip", "w") as archive:
        for file in folder.rglob("*"):
            if file.is_file():
                archive.write(file, file.relative_to(folder))
    assert plan_from_zip((tmp_path / "f.zip").read_bytes()) == read_folder(folder)
