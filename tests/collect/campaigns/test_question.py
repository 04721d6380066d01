"""A campaign with a question: the log holds the design, and its statement is that of `qrowd next` from the exports."""

import asyncio
import csv
import json
from collections import Counter
from random import Random

import numpy as np
import pytest
from sqlalchemy import select

import qrowd
from judging import Clock, created, seeded, tables
from qrowd import files
from qrowd.collect.campaigns.admin import CampaignAdmin
from qrowd.collect.campaigns.archive import read_archive, write_archive
from qrowd.collect.campaigns.drawn import Drawn, NewSizes, read_drawn
from qrowd.collect.campaigns.exports import export_rows, kinds_of
from qrowd.collect.campaigns.folder import read_folder
from qrowd.collect.campaigns.live import LiveQuestions
from qrowd.collect.campaigns.looking import design_of, look_at
from qrowd.collect.campaigns.lookup import find
from qrowd.collect.campaigns.models import ask_in_campaign
from qrowd.collect.campaigns.progress import progress
from qrowd.collect.campaigns.rebuild import rebuild
from qrowd.collect.protocols.events import GoOn, Judge
from qrowd.collect.protocols.views import DocumentView, EndView, LostView, NoneLeftView
from qrowd.collect.store import draws
from qrowd.collect.store.engine import open_store
from qrowd.collect.store.schema import MODEL, assignment, judgment, slot
from qrowd.errors import FileError
from qrowd.judge import FunctionModel
from qrowd.sequential.stored import read_design
from questions import answer, make_world, next_step, write_world
from soak.checks import violations

PEOPLE = 20


class Live:
    """A campaign with a question and its people; a look after every answer, without a thread."""

    def __init__(
        self, store, folder, *, world=None, people=PEOPLE, seed=1, clock=None, looks=True, simulate=False, **options
    ):
        self.store, self.folder, self.looks = store, folder, looks
        self.world = world or make_world()
        self.clock = clock or Clock(step=1.0)
        self.id = created(store, read_folder(write_world(folder, self.world, **options)), self.clock())
        self.service = seeded(store, self.clock, seed)
        self.questions = LiveQuestions(store, self.service.cache.new_sizes, clock=self.clock, simulate=simulate)
        self.admin = CampaignAdmin(store, clock=self.clock)
        self.rng = Random(seed)
        self.people = [self.run(self.service.arrive("live", "link", f"person-{i}")) for i in range(people)]

    @staticmethod
    def run(work):
        return asyncio.run(work)

    @property
    def status(self):
        return self.store.read(lambda connection: find(connection, "live").status)

    def answer(self, who, *, wrong=0.05, answers=1):
        page = self.run(answer(self.service, self.world, who, self.rng, wrong=wrong, answers=answers))
        if self.looks:
            self.questions.look(self.id)
        return page

    def until_decided(self, most=400):
        """Everybody in turn, in an order that changes, until no more documents are handed out."""
        for _ in range(most // len(self.people) + 1):
            for who in self.rng.sample(self.people, len(self.people)):
                if self.status != "running":
                    return
                self.answer(who)

    def look(self):
        return self.store.read(lambda connection: look_at(connection, self.id))

    def drawn(self):
        return self.store.read(lambda connection: read_drawn(connection, self.id))

    def exported(self, name):
        """The files that an owner exports."""
        folder = self.folder / name
        folder.mkdir()
        for what, form, file in (("judgments", "csv", "judgments.csv"), ("design", "json", "next.json")):
            pieces = self.store.read(lambda c, what=what, form=form: list(export_rows(c, "live", what, form)))
            (folder / file).write_bytes(b"".join(pieces))
        return folder

    def next_judgments(self, name="exported", **options):
        """What `qrowd next` says of the exported files."""
        folder = self.exported(name)
        judgments = qrowd.read_judgments(folder / "judgments.csv")
        with (folder / "judgments.csv").open(newline="") as file:
            models = sorted({row["assessor"] for row in csv.DictReader(file) if row["kind"] == MODEL})
        people = judgments.select(assessors=[one for one in judgments.assessors if one not in models])
        labels = [judgments.select(assessors=models)] if models else []
        if (self.folder / "llm.qrels").exists() and options.pop("labels", True):
            labels.append(qrowd.read_judgments(self.folder / "llm.qrels"))
        from qrowd.model.judgments import concatenate_judgments

        options = {"question": "sys0 > sys1", "models": concatenate_judgments(labels) if labels else None, **options}
        design = read_design(folder / "next.json")
        return qrowd.next_judgments(qrowd.read_runs(self.folder / "runs"), people, design=design, **options)


def assert_same_statement(one, other):
    assert one.sentence == other.sentence
    assert (one.answer, one.certain, one.remaining) == (other.answer, other.certain, other.remaining)
    for name in ("estimate", "low", "high", "n_judged", "n_documents"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-9, atol=1e-12, err_msg=name)


# ---- the statement


def test_twenty_people_decide_a_question_and_qrowd_next_states_the_same_from_the_exports(store, tmp_path):
    live = Live(store, tmp_path / "f")
    live.until_decided()
    assert live.status == "decided"
    for who in live.people:  # those who have a document on the page finish it
        live.answer(who, answers=3)
    judged_by = {who for (who,) in store.read(lambda c: c.execute(select(assignment.c.assessor_id)).all())}
    assert len(judged_by) == PEOPLE
    final = live.look()
    result = live.next_judgments()
    assert result.statement.decided
    assert 15 <= final.n_judged < len(final.preparation.pairs)
    assert_same_statement(result.statement, final.statement)
    assert result.n_waiting == 0
    assert result.n_others == 0


@pytest.mark.parametrize(
    ("question", "settings", "options"),
    [
        ("best", "tolerance = 0.3\n", {"tolerance": 0.3}),
        ("ranking", 'target = "new topics"\nconfidence = 0.9\n', {"target": "new topics", "confidence": 0.9}),
        ("sys0 > sys2", 'measure = "AP"\n', {"measure": "AP"}),
        ("sys2 among best 2", 'disagreement = true\nmeasure = "P@5"\n', {"disagreement": True, "measure": "P@5"}),
    ],
)
def test_every_statement_on_the_way_is_that_of_qrowd_next(tmp_path, question, settings, options):
    with open_store(str(tmp_path / "q.db")) as store:
        world = make_world(noises=(0.5, 1.0, 2.0), documents=15)
        live = Live(store, tmp_path / "f", world=world, people=4, question=question, settings=settings, redundancy=2)
        for n in range(24):
            live.answer(live.rng.choice(live.people), wrong=0.3)
            if n % 8 == 7:
                result = live.next_judgments(f"after-{n}", question=question, **options)
                assert_same_statement(result.statement, live.look().statement)


def test_the_statement_needs_no_model(tmp_path):
    with open_store(str(tmp_path / "q.db")) as store:
        live = Live(store, tmp_path / "f", people=3, models=False)
        (tmp_path / "f" / "llm.qrels").unlink()
        for _ in range(20):
            live.answer(live.rng.choice(live.people))
        assert_same_statement(live.next_judgments().statement, live.look().statement)


def test_judgments_of_an_excluded_assessor_are_not_in_the_statement_and_their_documents_go_to_others(tmp_path):
    with open_store(str(tmp_path / "q.db")) as store:
        live = Live(store, tmp_path / "f", people=4)
        for _ in range(6):
            for who in live.people:
                live.answer(who)
        before = live.look().n_judged
        live.run(live.admin.exclude("live", "person-0", "spam"))
        lost = before - live.look().n_judged
        assert lost == 6
        assert_same_statement(live.next_judgments("excluded").statement, live.look().statement)
        n_drawn = len(live.drawn())
        for who in live.people[1:]:
            live.answer(who, answers=2)  # what the excluded assessor had comes first
        assert len(live.drawn()) == n_drawn
        assert live.look().n_judged == before - lost + 6


# ---- the design is in the log


def test_every_document_that_somebody_has_was_drawn_and_the_log_says_how(store, tmp_path):
    live = Live(store, tmp_path / "f", people=5)
    for _ in range(30):
        live.answer(live.rng.choice(live.people))
    drawn = live.drawn()
    design = store.read(lambda connection: design_of(connection, live.id))
    pairs = {(design.topics[i], design.documents[i]) for i in drawn.document}
    had = store.read(lambda connection: {tuple(row[:2]) for row in _assigned(connection)})
    assert had == pairs
    assert len(set(drawn.document)) == len(drawn)  # never twice
    assert len(drawn.sizes) < len(drawn)
    assert (design.draws.probabilities() > 0).all()


def _assigned(connection):
    from qrowd.collect.store.schema import document, topic

    query = select(topic.c.label, document.c.label, assignment.c.status).join_from(assignment, topic)
    return connection.execute(query.join(document, document.c.id == assignment.c.drawn_id)).all()


def test_the_tables_are_what_the_log_adds_up_to(store, tmp_path):
    live = Live(store, tmp_path / "f", people=6, redundancy=2, settings="wait_minutes = 0.2\n")
    for _ in range(40):
        live.answer(live.rng.choice(live.people))
    before = store.read(tables)
    store.write(lambda connection: rebuild(connection, "live"))
    assert store.read(tables) == before
    assert store.read(violations) == []


def test_an_archive_holds_the_question_and_its_design(tmp_path):
    with open_store(str(tmp_path / "q.db")) as store, open_store(str(tmp_path / "other.db")) as other:
        live = Live(store, tmp_path / "f", people=4)
        for _ in range(30):
            live.answer(live.rng.choice(live.people))
        lines = store.read(lambda connection: list(write_archive(connection, "live")))
        assert other.write(lambda connection: read_archive(connection, lines)) == "live"
        campaign_id = other.read(lambda connection: find(connection, "live").id)
        there = other.read(lambda connection: look_at(connection, campaign_id))
        assert_same_statement(there.statement, live.look().statement)
        assert other.read(lambda connection: list(write_archive(connection, "live"))) == lines
        seeded(other, live.clock, 5)
        service = seeded(other, live.clock, 6)
        who = live.run(service.arrive("live", "link", "somebody new"))
        page = live.run(answer(service, live.world, who, live.rng, answers=3))
        assert isinstance(page.view, DocumentView)


def test_a_document_is_drawn_as_often_as_its_size_says():
    sizes = np.array([0.5, 0.25, 0.0, 0.15, 0.1])
    start = Drawn(1, (sizes,), (0,), (), ())
    n = 4000
    counts = Counter(start.next_draw(None, seed)[0] for seed in range(n))
    for document, size in enumerate(sizes):
        sd = np.sqrt(n * size * (1 - size))
        assert abs(counts[document] - n * size) <= 4 * sd


def test_a_batch_goes_on_until_it_has_its_share_and_new_judgments_changed_the_sizes():
    old, new = np.full(40, 0.1), np.full(40, 0.2)
    few = Drawn(1, (old,), (3,), (0,) * 9, tuple(range(9)))
    enough = Drawn(1, (old,), (3,), (0,) * 10, tuple(range(10)))
    assert few.next_draw(NewSizes(new, 5), 1)[1] is None
    assert enough.next_draw(NewSizes(new, 3), 1)[1] is None  # the same judgments
    begun = enough.next_draw(NewSizes(new, 5), 1)[1]
    assert (begun[:10] == 0).all()
    assert (begun[10:] == 0.2).all()


def test_all_documents_are_drawn_at_last_and_then_there_is_nothing_more(tmp_path):
    with open_store(str(tmp_path / "q.db")) as store:
        world = make_world(topics=2, documents=8, noises=(0.3, 0.4))
        live = Live(store, tmp_path / "f", world=world, people=2, settings="stop = false\n", k=1000)
        for _ in range(40):
            last = [live.answer(who) for who in live.people]
        n = len(live.look().preparation.pairs)
        assert len(live.drawn()) == n
        assert live.look().n_judged == n
        assert live.look().statement.certain
        assert all(isinstance(page.view, NoneLeftView) for page in last)
        assert live.status == "running"  # stop = false


# ---- who gets which document


def test_nobody_judges_a_document_twice_and_each_gets_its_number_of_people(store, tmp_path):
    world = make_world(topics=3, documents=12)
    live = Live(store, tmp_path / "f", world=world, people=5, redundancy=3, settings="stop = false\n", looks=False)
    for _ in range(200):
        live.answer(live.rng.choice(live.people))
    query = select(judgment.c.document_id, assignment.c.assessor_id).join_from(judgment, assignment)
    rows = [tuple(row) for row in store.read(lambda connection: connection.execute(query).all())]
    assert len(set(rows)) == len(rows)
    per_document = Counter(document for document, _ in rows)
    assert set(per_document.values()) <= {1, 2, 3}
    assert len(per_document) == len(live.look().preparation.pairs)
    assert store.read(violations) == []


def test_a_document_that_somebody_left_is_the_first_that_others_get(store, tmp_path):
    clock = Clock(step=0.0)
    live = Live(store, tmp_path / "f", people=3, clock=clock)
    first, second, third = live.people
    left = live.run(live.service.act(first, GoOn())).page.documents
    live.answer(second, answers=4)
    assert live.look().n_counting == 0  # what was drawn first is not judged
    clock.now += 3601  # the lease
    taken = live.run(live.service.act(third, GoOn())).page
    assert taken.documents == left
    assert isinstance(live.run(live.service.page(first)).view, LostView)
    live.answer(third)
    assert live.look().n_counting == 5


def test_a_document_that_somebody_has_for_long_is_given_to_a_second_person_too(store, tmp_path):
    clock = Clock(step=0.0)
    live = Live(store, tmp_path / "f", people=3, clock=clock, settings="wait_minutes = 2.0\n")
    slow, second, third = live.people
    shown = live.run(live.service.act(slow, GoOn())).page
    live.answer(second, answers=4)
    clock.now += 121
    taken = live.run(live.service.act(third, GoOn())).page
    assert taken.documents == shown.documents
    live.answer(third)
    assert live.look().n_counting == 5
    # The slow one has lost nothing, and both judgments count.
    receipt = live.run(live.service.act(slow, Judge(0, "3"), shown=shown.shown, key=shown.key))
    assert not receipt.late
    number = next(iter(shown.documents))
    query = select(judgment.c.value).where(judgment.c.document_id == number)
    assert len(store.read(lambda connection: connection.execute(query).all())) == 2
    before = store.read(tables)
    store.write(lambda connection: rebuild(connection, "live"))
    assert store.read(tables) == before


def test_a_document_that_enough_people_judged_is_handed_out_to_nobody_else(tmp_path):
    with open_store(str(tmp_path / "q.db")) as store:
        clock = Clock(step=0.0)
        live = Live(store, tmp_path / "f", people=4, clock=clock, settings="wait_minutes = 2.0\n", k=1000)
        slow, second, third, fourth = live.people
        shown = live.run(live.service.act(slow, GoOn())).page
        live.answer(second, answers=2)
        clock.now += 121
        live.answer(third)  # the one that the slow assessor has
        clock.now += 3601  # its lease is over, and those of the others
        n_drawn = len(live.drawn())
        live.answer(fourth, answers=3)
        assert live.look().n_judged == 6
        assert len(live.drawn()) > n_drawn
        number = next(iter(shown.documents))
        query = select(assignment.c.assessor_id).where(assignment.c.drawn_id == number)
        assert {who for (who,) in store.read(lambda c: c.execute(query).all())} == {slow, third}


def test_documents_follow_one_another_and_after_k_of_them_there_is_an_end(tmp_path):
    with open_store(str(tmp_path / "q.db")) as store:
        live = Live(store, tmp_path / "f", people=1, k=3, looks=False)
        who = live.people[0]
        views = [type(live.answer(who, answers=n).view) for n in (2, 1)]
        assert views == [DocumentView, EndView]
        page = live.run(live.service.page(who))
        assert page.view == EndView("completed", another=True)
        assert live.run(live.service.act(who, GoOn(), shown=page.shown)).page.place == (1, 3)


def test_max_units_counts_sets_of_k_documents(tmp_path):
    with open_store(str(tmp_path / "q.db")) as store:
        live = Live(store, tmp_path / "f", people=1, k=3, looks=False, more="max_units = 2\n")
        page = live.answer(live.people[0], answers=50)
        assert page.view == EndView("completed")
        assert len(live.drawn()) == 6


def test_a_unit_may_be_the_only_one(tmp_path):
    with open_store(str(tmp_path / "q.db")) as store:
        live = Live(store, tmp_path / "f", people=1, k=4, looks=False, more="another = false\n")
        assert live.answer(live.people[0], answers=50).view == EndView("completed")
        assert len(live.drawn()) == 4


# ---- the decision


def test_a_decided_campaign_hands_out_nothing_and_documents_in_hand_are_finished(store, tmp_path):
    live = Live(store, tmp_path / "f")
    live.until_decided()
    assert live.status == "decided"
    n_drawn = len(live.drawn())
    decision = store.read(lambda connection: draws.last_of_kind(connection, live.id, "decided"))
    for who in live.people:
        page = live.run(live.service.page(who))
        if isinstance(page.view, DocumentView):
            page = live.answer(who)
        assert page.view in (EndView("completed"), NoneLeftView(None, True))
    assert len(live.drawn()) == n_drawn
    newcomer = live.run(live.service.arrive("live", "link", "too late"))
    assert live.run(live.service.act(newcomer, GoOn())).page.view == NoneLeftView(None, False)
    p = store.read(lambda connection: progress(connection, "live", live.clock()))
    assert p.status == "decided"
    assert p.question.decision == decision.data["sentence"]
    assert p.question.answer
    assert p.question.share == 1


def test_an_owner_may_go_on_after_the_decision_and_it_is_not_stopped_again(tmp_path):
    with open_store(str(tmp_path / "q.db")) as store:
        live = Live(store, tmp_path / "f", people=5)
        live.until_decided()
        assert live.status == "decided"
        live.run(live.admin.set_status("live", "running"))
        before = live.look().n_judged
        for who in live.people:
            live.answer(who, answers=2)
        assert live.status == "running"
        assert live.look().n_judged == before + 10
        assert_same_statement(live.next_judgments().statement, live.look().statement)
        store.write(lambda connection: rebuild(connection, "live"))
        assert live.status == "running"


def test_the_log_shows_how_the_interval_closed_with_every_judgment(tmp_path):
    with open_store(str(tmp_path / "q.db")) as store:
        live = Live(store, tmp_path / "f", people=3, settings="stop = false\n", simulate=True)
        for _ in range(25):
            live.answer(live.rng.choice(live.people))
        question = store.read(lambda connection: progress(connection, "live", live.clock())).question
        low, median, high = question.to_go
        assert 0 <= low <= median <= high <= question.n_documents - question.n_judged + 1
        looks = question.looks
        numbers = [one.n_judged for one in looks]
        assert numbers == sorted(numbers)
        assert numbers[-1] == 25
        assert len(set(numbers)) == 25
        widths = [one.difference.high - one.difference.low for one in looks]
        assert widths[-1] < widths[0]


# ---- models


def test_models_label_every_document_and_are_no_people(tmp_path):
    with open_store(str(tmp_path / "q.db")) as store:
        live = Live(store, tmp_path / "f", people=3, models=False)
        (tmp_path / "f" / "llm.qrels").unlink()
        for _ in range(12):
            live.answer(live.rng.choice(live.people))
        before, n_drawn = live.look(), len(live.drawn())

        def label(request):
            name = request.messages[-1].content.rpartition("Text of ")[2].split(".")[0]
            return json.dumps({"grade": live.world.labels[name.partition("d")[0]][name]})

        ask_in_campaign(store, "live", [FunctionModel(label, "llm")], record=tmp_path / "record", clock=live.clock)
        after = live.look()
        assert len(live.drawn()) == n_drawn
        assert after.n_judged == before.n_judged
        (model,) = after.models
        assert after.n_topics_without == 0
        n_labels = [one.problem.labels.standardised.shape[1] for one in (before, after)]
        assert n_labels[0] == 0 < n_labels[1]
        assert_same_statement(live.next_judgments().statement, after.statement)
        for _ in range(12):
            live.answer(live.rng.choice(live.people))
        result = live.next_judgments("later")
        assert_same_statement(result.statement, live.look().statement)
        assert result.models == (model,)
        assert store.read(violations) == []
        tables_before = store.read(tables)
        store.write(lambda connection: rebuild(connection, "live"))
        assert store.read(tables) == tables_before


# ---- what cannot be done


@pytest.mark.parametrize(
    ("options", "change", "problem"),
    [
        ({"question": "sys0 > sys9"}, {}, r"campaign.toml, line \d+: question.text: there is no system 'sys9'"),
        ({"question": "sys0 and sys1"}, {}, "question.text: 'sys0 and sys1'; expected 'A > B'"),
        ({"settings": 'measure = "nDCG@ten"\n'}, {}, "question.measure: "),
        ({"settings": "confidence = 95\n"}, {}, "question.confidence: 95 cannot be used; give a number between"),
        ({"settings": "surprise = 1\n"}, {}, "question.surprise: "),
        ({"more": "[files]\ndepth = 3\n"}, {}, "files.depth: has no effect: the question decides what is judged"),
        ({}, {"[grades]": "[magnitude]", 'scale = "0-3"\n': ""}, "question: magnitude judgments cannot decide"),
        ({}, {"[grades]": "[preference]", 'scale = "0-3"\n': "", "k = 5\n": "", 'reason = "none"\n': ""}, "preference"),
        ({}, {"[grades]": '[grades]\norder = "utility"'}, "grades.order: has no effect with a question"),
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


def test_a_campaign_without_a_question_has_no_design(tmp_path):
    assert "design" not in kinds_of(["grades"])
    assert "design" in kinds_of(["grades"], question=True)


def test_questions_about_topics_are_refused(tmp_path):
    folder = write_world(tmp_path / "f", make_world(topics=1, documents=6))
    asked = {"topic": "t0", "text": "What?", "options": ["a", "b"], "correct": 0}
    (folder / "questions.jsonl").write_text(json.dumps(asked) + "\n")
    with pytest.raises(FileError, match="one document at a time; remove the questions about topics"):
        read_folder(folder)


def test_the_files_of_a_zip_are_read_as_those_of_its_folder(tmp_path):
    import zipfile

    from qrowd.collect.campaigns.folder import plan_from_zip

    folder = write_world(tmp_path / "f", make_world(topics=2, documents=6))
    with zipfile.ZipFile(tmp_path / "f.zip", "w") as archive:
        for file in folder.rglob("*"):
            if file.is_file():
                archive.write(file, file.relative_to(folder))
    assert plan_from_zip((tmp_path / "f.zip").read_bytes()) == read_folder(folder)
    assert files.new_folder is not None


def test_slots_are_made_when_a_document_is_drawn(tmp_path):
    with open_store(str(tmp_path / "q.db")) as store:
        live = Live(store, tmp_path / "f", people=2, looks=False, redundancy=2)
        assert store.read(lambda c: c.execute(select(slot)).all()) == []
        live.run(live.service.act(live.people[0], GoOn()))
        assert len(store.read(lambda c: c.execute(select(slot)).all())) == 2
        page = live.run(live.service.page(live.people[0]))
        assert next_step(live.world, page, Random(1)) is not None
