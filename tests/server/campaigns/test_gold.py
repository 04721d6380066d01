"""Gold questions through the service: what is stored, who is excluded, what leaves the campaign."""

import asyncio
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import event as sql_event
from sqlalchemy import select

from judging import Clock, created, judged_by_a_model, seeded, tables, work
from qrowd.errors import ArgumentError, FileError
from qrowd_server.campaigns.plan.folder import read_folder
from qrowd_server.campaigns.plan.plan import Plan
from qrowd_server.campaigns.plan.plan_notes import plan_notes
from qrowd_server.campaigns.plan.plan_tables import plan_from_table, table_from_plan
from qrowd_server.campaigns.results.archive import read_archive, write_archive
from qrowd_server.campaigns.results.campaign_progress import progress
from qrowd_server.campaigns.results.exports import export_rows
from qrowd_server.campaigns.results.quality import accuracy_of, quality
from qrowd_server.campaigns.running import collected
from qrowd_server.campaigns.running.admin import CampaignAdmin
from qrowd_server.campaigns.running.judging import JudgingService
from qrowd_server.campaigns.running.rebuild import rebuild
from qrowd_server.protocols.events import CannotTell, Consent, GoOn, Judge, Prefer, Rate
from qrowd_server.protocols.settings import GoldSettings
from qrowd_server.protocols.views import (
    ConsentView,
    DocumentView,
    EndView,
    ExcludedView,
    NoneLeftView,
    PairView,
    RatingView,
)
from qrowd_server.store.answer_rows import count_answers
from qrowd_server.store.base import Store
from qrowd_server.store.engine import open_store
from qrowd_server.store.event_log import of_campaign
from qrowd_server.store.materials import documents_of, find_campaign
from qrowd_server.store.schema import assessor, bad_mark, gold_answer, judgment, preference

N_OWN, N_GOLD = 20, 24


def label(topic: int, kind: str, number: int) -> str:
    return f"t{topic}{kind}{number}"


def gold_plan(protocol: str, *, topics: int = 2, redundancy: int = 40, **gold: Any) -> Plan:
    """Topics with 20 documents each, and 24 gold questions whose labels say what is right: grade = number % 4."""
    rows, documents = [], []
    for t in range(topics):
        own = [label(t, "d", i) for i in range(N_OWN)]
        known = [label(t, "g", i) for i in range(N_GOLD if protocol == "grades" else 2 * N_GOLD)]
        if protocol == "grades":
            questions = [{"document": one, "accepted": [i % 4], "reason": "so it is"} for i, one in enumerate(known)]
        else:
            questions = [{"document": known[2 * i], "worse": known[2 * i + 1]} for i in range(N_GOLD)]
        systems = {"systems": {"one": own, "two": own[::-1]}} if protocol == "preference" else {}
        rows.append({"label": f"t{t}", "title": f"Topic {t}", "pool": own, "gold": questions, **systems})
        documents += [{"label": one, "text": f"Text of {one}."} for one in (*own, *known)]
    settings = {"redundancy": redundancy, "rating": False}
    settings |= {"k": N_OWN} if protocol == "grades" else {"order": "random"}
    table = {
        "campaign": {"name": "pilot", "protocol": protocol, "seed": 7},
        protocol: settings,
        "gold": gold,
        "journey": {"consent": False},
        "topics": rows,
        "documents": documents,
    }
    return plan_from_table(table)


def labels(store: Store) -> dict[int, str]:
    row = find(store)
    return store.read(lambda c: {one.id: one.label for one in documents_of(c, row.id)})


def find(store: Store) -> Any:
    return store.read(lambda c: find_campaign(c, "pilot"))


async def answer(service: JudgingService, who: int, names: dict[int, str], right: Any, rng: Random, most: int) -> int:
    """Answer up to so many questions; how many until the end. right : says of a gold question whether to answer so."""
    page, n = await service.page(who), 0
    while n < most:
        view, action = page.view, None
        if isinstance(view, ConsentView):
            action = Consent(True)
        elif isinstance(view, DocumentView):
            name = names[view.document]
            grade = int(name.partition("g")[2] or 0) % 4 if "g" in name else rng.randrange(4)
            if "g" in name and not right(rng):
                grade = rng.choice([other for other in range(4) if other != grade])
            action, n = Judge(view.position, str(grade)), n + 1
        elif isinstance(view, PairView):
            names_of = names[view.left], names[view.right]
            better = "left" if int(names_of[0][3:]) < int(names_of[1][3:]) else "right"
            other = "right" if better == "left" else "left"
            action, n = Prefer(view.pair, better if "d" in names_of[0] or right(rng) else other), n + 1
        elif isinstance(view, RatingView):
            action = Rate(3, 3)
        elif isinstance(view, EndView | NoneLeftView) and (getattr(view, "another", False) or n == 0):
            action = GoOn()
        if action is None:
            break
        await service.act(who, action, shown=page.shown, key=page.key)
        page = await service.page(who)
    return n


def judged(store: Store, plan: Plan, people: int = 2, steps: int = 60, step: float = 3.0) -> JudgingService:
    created(store, plan)
    service = seeded(store, Clock(step=step))

    async def everybody() -> None:
        for i in range(people):
            who = await service.arrive("pilot", "link", f"p{i}")
            await work(service, who, Random(i), steps=steps)

    asyncio.run(everybody())
    return service


# ---- what is stored


@pytest.mark.parametrize("protocol", ["grades", "preference"])
def test_grades_of_gold_documents_are_judgments_and_gold_pairs_are_no_preferences(store: Store, protocol: str):
    judged(store, gold_plan(protocol, every=3), steps=40)
    names = labels(store)
    what = "judgments" if protocol == "grades" else "preferences"
    answers = store.read(lambda c: c.execute(select(gold_answer)).all())
    own = store.read(lambda c: c.execute(select(judgment if protocol == "grades" else preference)).all())
    assert len(answers) > 15
    n_bad = store.read(lambda c: len(c.execute(select(bad_mark)).all()))
    for row in own:
        columns = ("document_id",) if protocol == "grades" else ("left_id", "right_id")
        assert not any("g" in names[getattr(row, column)] for column in columns)
    values = store.read(lambda c: getattr(collected, what)(c, "pilot"))
    n_gold = len(answers) if protocol == "grades" else 0
    assert len({one for one in values.documents if "g" in one}) == len({one.document_id for one in answers[:n_gold]})

    def lines(**options: Any) -> list[dict[str, Any]]:
        content = store.read(lambda c: b"".join(export_rows(c, "pilot", options.pop("what", what), "jsonl", **options)))
        return [json.loads(line) for line in content.splitlines()]

    assert len(lines()) == len(own) + n_bad + n_gold
    of_gold_documents = [row for row in lines() if "g" in (row.get("document") or row.get("other"))]
    assert len(of_gold_documents) == n_gold == len([row for row in lines() if row.get("origin") == "gold"])
    assert len(lines(everything=True)) == len(own) + n_bad + n_gold
    of_gold = lines(what="gold")
    assert len(of_gold) == len(answers)
    assert sum(row["right"] for row in of_gold) == sum(one.is_right for one in answers)
    for row in of_gold:
        if protocol == "grades":
            assert row["right"] == (int(row["document"].partition("g")[2]) % 4 == int(row["answer"]))
        else:
            assert row["right"] == (row["answer"] == "better")
    standing = store.read(lambda c: progress(c, "pilot", 2e9))
    assert standing.answers + standing.uncounted == len(own) + n_bad
    for format in ("csv", "parquet", "spreadsheet"):
        for kind in ("gold", "payment", what):
            assert store.read(lambda c, k=kind, f=format: b"".join(export_rows(c, "pilot", k, f, everything=k == what)))


@pytest.mark.parametrize(
    ("protocol", "feedback"),
    [
        ("grades", True),
        *(pytest.param(*case, marks=pytest.mark.nightly) for case in [("grades", False), ("preference", True)]),
    ],
)
def test_tables_follow_from_the_log_and_an_archive_carries_gold(tmp_path, store: Store, protocol: str, feedback: bool):
    judged(store, gold_plan(protocol, every=2, feedback=feedback, exclude=True, accuracy=0.9, risk=0.2), steps=40)
    before = store.read(tables)
    assert before["gold_answer"]
    store.write(lambda c: rebuild(c, "pilot"))
    assert store.read(tables) == before
    lines = store.read(lambda c: list(write_archive(c, "pilot")))
    with open_store(tmp_path / "other.db") as other:
        other.write(lambda c: read_archive(c, lines))
        assert other.read(lambda c: list(write_archive(c, "pilot"))) == lines
        rows = [s.read(lambda c: b"".join(export_rows(c, "pilot", "payment", "jsonl"))) for s in (store, other)]
        assert rows[0] == rows[1]


@pytest.mark.parametrize(
    ("kind", "key", "value"),
    [("judged", "position", 40), pytest.param("preferred", "gold", 99, marks=pytest.mark.nightly)],
)
def test_an_archive_whose_gold_does_not_fit_is_refused(store: Store, tmp_path, kind, key, value):
    judged(store, gold_plan("grades" if kind == "judged" else "preference", every=3), people=1, steps=20)
    lines = [json.loads(line) for line in store.read(lambda c: list(write_archive(c, "pilot")))]
    wanted = (i for i, one in enumerate(lines) if one.get("kind") == kind and (key != "gold" or "gold" in one["data"]))
    number = next(wanted)
    lines[number]["data"][key] = value
    with open_store(tmp_path / "other.db") as other, pytest.raises(ArgumentError, match="does not fit together"):
        other.write(lambda c: read_archive(c, [json.dumps(line) for line in lines]))


def test_cannot_tell_is_given_and_neither_told_nor_wrong_of_gold_documents_as_of_others(store: Store):
    created(store, gold_plan("grades", every=2))
    service, names = seeded(store, Clock(step=3.0)), labels(store)

    async def one() -> tuple[int, list[str]]:
        who, kinds = await service.arrive("pilot", "link", "ann"), []
        await service.act(who, GoOn())
        for _ in range(8):
            page = await service.page(who)
            kind, place = names[page.view.document][2], page.view.position
            action = Judge(place, "1") if kind in kinds else CannotTell(place, "cut off")  # the first of each kind
            kinds.append(kind)
            await service.act(who, action, shown=page.shown, key=page.key)
        return who, kinds

    who, kinds = asyncio.run(one())
    assert set(kinds) == {"d", "g"}
    assert store.read(lambda c: count_answers(c, who)) == (8, 6, 8)
    accuracy = store.read(lambda c: quality(c, "pilot", bootstrap=0)).assessors[0].accuracy
    assert accuracy is not None
    assert accuracy.n == kinds.count("g") - 1 > 0


def test_nobody_gets_the_same_gold_question_twice(store: Store):
    judged(store, gold_plan("grades", topics=4, every=2), people=1, steps=120)
    rows = store.read(lambda c: c.execute(select(gold_answer)).all())
    asked = store.read(lambda c: [(one["assessor"], one["document"]) for one in _gold_lines(c)])
    assert len(rows) == len(asked) > 45
    assert len(set(asked)) == len(asked)


def _gold_lines(connection: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in b"".join(export_rows(connection, "pilot", "gold", "jsonl")).splitlines()]


@pytest.mark.parametrize("protocol", ["grades", "preference"])
def test_an_answer_to_a_gold_question_takes_the_same_statements_as_any_other(store: Store, protocol: str):
    created(store, gold_plan(protocol, every=2, exclude=True, accuracy=0.05))
    service, statements = seeded(store, Clock(step=3.0)), []
    names = labels(store)

    def count(*args: Any) -> None:
        if "FROM document" not in args[2]:  # texts that a process has not shown yet, of any document
            statements.append(args[2])

    async def one() -> dict[bool, set[int]]:
        who = await service.arrive("pilot", "link", "ann")
        await service.act(who, GoOn())
        kinds: dict[bool, set[int]] = {True: set(), False: set()}
        for n in range(16):
            page = await service.page(who)
            view = page.view
            document = view.document if isinstance(view, DocumentView) else view.left
            action = Judge(view.position, "1") if isinstance(view, DocumentView) else Prefer(view.pair, "left")
            statements.clear()
            await service.act(who, action, shown=page.shown, key=page.key)
            if n >= 4:  # everything is in memory by then
                kinds["g" in names[document]].add(len(statements))
        return kinds

    engines = [one for one in vars(store).values() if hasattr(one, "dialect") and hasattr(one, "dispatch")]
    for engine in engines:
        sql_event.listen(engine, "before_cursor_execute", count)
    kinds = asyncio.run(one())
    assert kinds[True] == kinds[False]
    assert len(kinds[True]) == 1


# ---- who is excluded


def test_two_assessors_of_a_shared_topic_may_have_the_same_gold_pair_at_once(store: Store):
    plan = gold_plan("preference", topics=1, redundancy=4, every=2)
    table = table_from_plan(plan)
    table["preference"] |= {"sharing": "shared", "pair_redundancy": 2}
    for topic in table["topics"]:
        topic["gold"] = topic["gold"][:1]
    judged(store, plan_from_table(table), people=4, steps=12)
    rows = store.read(lambda c: c.execute(select(gold_answer)).all())
    assert len(rows) == 4
    before = store.read(tables)
    store.write(lambda c: rebuild(c, "pilot"))
    assert store.read(tables) == before


# By the rule alone, of those who guess 99.9 % are excluded within 20 gold documents and 93 % within 20 gold pairs, and
# of the others .07 % at most: with 2 and 4 of them, 4 and 12, or 10 and 30 each bound is missed with 3 % at most.
@pytest.mark.parametrize(
    ("protocol", "n_people", "honest_at_most", "random_at_least"),
    [
        pytest.param("grades", 6, 0, 2, marks=pytest.mark.nightly),
        pytest.param("preference", 6, 0, 1, marks=pytest.mark.nightly),
        pytest.param("grades", 16, 0, 4, marks=pytest.mark.nightly),
        pytest.param("preference", 16, 0, 3, marks=pytest.mark.nightly),
        pytest.param("grades", 40, 1, 9, marks=pytest.mark.nightly),
        pytest.param("preference", 40, 1, 8, marks=pytest.mark.nightly),
    ],
)
def test_whoever_guesses_is_excluded_and_whoever_does_not_is_not(
    store: Store, protocol: str, n_people: int, honest_at_most: int, random_at_least: int
):
    gold = {"every": 2, "exclude": True, "accuracy": 0.85, "risk": 0.1}
    created(store, gold_plan(protocol, **gold))
    service, names = seeded(store, Clock(step=3.0)), labels(store)
    n_excluded = {"honest": 0, "random": 0}

    async def everybody() -> None:
        for i in range(n_people):
            honest, rng = i % 4 != 0, Random(i)
            share = 0.95 if honest else 0.25 if protocol == "grades" else 0.5
            who = await service.arrive("pilot", "link", f"p{i}")
            await answer(service, who, names, lambda rng, share=share: rng.random() < share, rng, 40)
            if isinstance((await service.page(who)).view, ExcludedView):
                n_excluded["honest" if honest else "random"] += 1

    asyncio.run(everybody())
    assert n_excluded["honest"] <= honest_at_most
    assert n_excluded["random"] >= random_at_least


def spammer(store: Store, name: str = "eve", **gold: Any) -> JudgingService:
    rule = {"every": 2, "exclude": True, "accuracy": 0.85, "risk": 0.05}
    created(store, gold_plan("grades", **{**rule, **gold}))
    service, names = seeded(store, Clock(step=3.0)), labels(store)

    async def one() -> None:
        who = await service.arrive("pilot", "link", name, name=name)
        await answer(service, who, names, lambda rng: False, Random(1), 40)

    asyncio.run(one())
    return service


def test_an_exclusion_is_an_event_of_the_server_with_the_counts_and_units_go_to_others(store: Store):
    service = spammer(store)
    log = store.read(lambda c: list(of_campaign(c, find(store).id)))
    (out,) = [one for one in log if one.kind == "excluded"]
    assert out.actor == "server"
    assert out.data["reason"] == "sequential test of gold answers: 0 of 5 right"
    assert {key: out.data["gold"][key] for key in ("answers", "right", "min_answers", "accuracy", "risk")} == {
        "answers": 5, "right": 0, "min_answers": 5, "accuracy": 0.85, "risk": 0.05
    }  # fmt: skip
    assert [one.kind for one in log[-2:]] == ["excluded", "assignment_withdrawn"]
    assert store.read(lambda c: collected.judgments(c, "pilot")).assessors == ()
    who = store.read(lambda c: c.scalar(select(assessor.c.id)))
    assert isinstance(asyncio.run(service.page(who)).view, ExcludedView)
    standing = store.read(lambda c: progress(c, "pilot", 2e9))
    assert (standing.open, standing.withdrawn) == (0, 1)
    before = store.read(tables)
    store.write(lambda c: rebuild(c, "pilot"))
    assert store.read(tables) == before


def test_whom_an_owner_reinstates_the_rule_does_not_exclude_again(store: Store):
    service = spammer(store)
    asyncio.run(CampaignAdmin(store).reinstate("pilot", "eve"))
    who = store.read(lambda c: c.scalar(select(assessor.c.id)))
    asyncio.run(answer(service, who, labels(store), lambda rng: False, Random(2), 30))
    assert not isinstance(asyncio.run(service.page(who)).view, ExcludedView)


def test_without_the_rule_nobody_is_excluded(store: Store):
    spammer(store, exclude=False)
    one = store.read(lambda c: quality(c, "pilot", bootstrap=0)).assessors[0]
    assert one.excluded is None
    assert one.accuracy is not None
    assert (one.accuracy.n_right, one.accuracy.n) == (0, 20)


def test_language_models_get_no_gold_questions(store: Store):
    judged_by_a_model(store, gold_plan("grades", every=2), 30)
    assert store.read(lambda c: c.execute(select(gold_answer)).all()) == []
    assert store.read(lambda c: c.execute(select(judgment)).all())


# ---- accuracy and payment


def test_the_interval_of_an_accuracy_is_that_of_clopper_and_pearson():
    accuracy = accuracy_of(10, 9, GoldSettings())  # Clopper & Pearson: .5550 to .9975
    assert (accuracy.value, accuracy.low, accuracy.high) == (
        0.9,
        pytest.approx(0.5550, abs=5e-5),
        pytest.approx(0.9975, abs=5e-5),
    )
    assert (accuracy_of(5, 0, GoldSettings()).low, accuracy_of(5, 5, GoldSettings()).high) == (0, 1)


def test_the_payment_table_has_accuracy_and_bonus_and_none_for_the_excluded(store: Store):
    steps = [{"accuracy": 0.5, "amount": 1.0}, {"accuracy": 0.9, "amount": 2.5}]
    created(store, gold_plan("grades", every=2, exclude=True, accuracy=0.85, risk=0.05, bonus=steps))
    service, names = seeded(store, Clock(step=3.0)), labels(store)

    async def everybody() -> None:
        for name, share in (("ann", 1.0), ("eve", 0.0)):
            who = await service.arrive("pilot", "link", name, name=name)
            await answer(service, who, names, lambda rng, share=share: rng.random() < share, Random(1), 40)

    asyncio.run(everybody())
    content = store.read(lambda c: b"".join(export_rows(c, "pilot", "payment", "jsonl")))
    ann, eve = (json.loads(line) for line in content.splitlines())
    assert (ann["gold_answers"], ann["gold_right"], ann["accuracy"], ann["bonus"]) == (20, 20, 1.0, 2.5)
    assert (ann["units"], ann["answers"], ann["excluded"]) == (1, 20, None)
    assert (eve["gold_right"], eve["bonus"], eve["status"]) == (0, 0.0, "excluded")


# ---- seconds beside words


# ---- what cannot work, and what an owner should know


def folder(path: Path, protocol: str, toml: str = "", **files: str) -> Path:
    settings = {"grades": "[grades]\nk = 4\n", "preference": "[preference]\n", "magnitude": "[magnitude]\nk = 4\n"}
    head = f'[campaign]\nname = "pilot"\nseed = 1\n{settings.get(protocol, "")}'
    (path / "campaign.toml").write_text(head + toml)
    (path / "topics.tsv").write_text("t\tbread\n")
    documents = [json.dumps({"docid": f"d{i}", "text": f"text {i}"}) for i in range(10)]
    (path / "documents.jsonl").write_text("\n".join(documents))
    for name, content in files.items():
        (path / name.replace("__", ".")).write_text(content)
    return path


ARMS = "[arms.a.grades]\nk = 4\n[arms.b.magnitude]\nk = 4\n[gold]\nevery = 3\n"
QRELS = "t 0 d8 0\nt 0 d9 3\n"
FILES = '[files]\ngold = "gold.qrels"\n'


def test_qrels_are_gold_questions_of_grades_and_leave_the_pool(tmp_path: Path):
    plan = read_folder(folder(tmp_path, "grades", FILES + "[gold]\ntolerance = 1\n", gold__qrels=QRELS))
    (topic,) = plan.topics
    assert {one.document: one.accepted for one in topic.gold} == {"d8": (0, 1), "d9": (2, 3)}
    assert topic.pool == tuple(f"d{i}" for i in range(8))
    assert plan_from_table(table_from_plan(plan)) == plan
    assert any("Gold questions: 2 in 1 of 1 topics." in note for note in plan_notes(plan))


def test_a_table_names_grades_sets_of_grades_and_reasons(tmp_path: Path):
    content = 'topic,document,accepted,reason\nt,d8,"2 3",It names both.\nt,d9,0,\n'
    plan = read_folder(folder(tmp_path, "grades", '[files]\ngold = "known.csv"\n', known__csv=content))
    assert [(one.document, one.accepted, one.reason) for one in plan.topics[0].gold] == [
        ("d8", (2, 3), "It names both."), ("d9", (0,), "")
    ]  # fmt: skip


@pytest.mark.parametrize("content", ["t d8 d9\n", "topic,better,worse\nt,d8,d9\n"])
def test_pairs_are_gold_questions_of_preferences(tmp_path: Path, content: str):
    name = "known.csv" if "," in content else "known.txt"
    files = {name.replace(".", "__"): content}
    plan = read_folder(folder(tmp_path, "preference", f'[files]\ngold = "{name}"\n', **files))
    (one,) = plan.topics[0].gold
    assert (one.document, one.worse) == ("d8", "d9")
    assert len(plan.topics[0].pool) == 8


def test_a_file_of_the_usual_name_is_gold_only_where_the_campaign_has_a_table_gold(tmp_path: Path):
    assert read_folder(folder(tmp_path, "grades", gold__qrels=QRELS)).gold is None
    plan = read_folder(folder(tmp_path, "grades", "[gold]\nevery = 4\n", gold__qrels=QRELS))
    assert plan.gold == GoldSettings(every=4)


@pytest.mark.parametrize(
    ("protocol", "toml", "content", "message"),
    [
        ("magnitude", "[gold]\nevery = 4\n[files]\nchecks = 'gold.qrels'\n", "t d0 d1\n", "check documents instead"),
        ("", "checks = false\n[magnitude]\nk = 4\n" + FILES, QRELS, "would do nothing: checks are of magnitudes"),
        ("grades", FILES.replace("gold =", "checks ="), QRELS, "would do nothing: checks are of magnitudes"),
        ("grades", "[gold]\nevery = 4\n", None, "there is no gold question"),
        ("grades", FILES, "t 0 d8 7\n", "7 is no grade of the scale 0-3"),
        ("grades", FILES, "t d8 d9\n", "no pairs are judged"),
        ("preference", FILES, QRELS, "pairs are judged"),
        ("preference", FILES, "t d8 d8\n", "cannot be both"),
        ("grades", FILES, "t 0 d8 1\nt 0 d8 2\n", "is there already"),
        ("grades", FILES, "t 0 nothing 1\n", "has no text"),
        ("grades", FILES, "u 0 d8 1\n", "there is no topic 'u'"),
        ("grades", FILES, "t 0 d8 much\n", "is no grade"),
        ("grades", FILES + "[gold]\ntolerance = 3\n", "t 0 d8 1\n", "every grade of 'd8' would be right"),
        ("grades", FILES + "[gold]\naccuracy = 1.5\n", QRELS, "accuracy"),
        ("", ARMS + FILES, QRELS, "check documents instead"),
    ],
)  # fmt: skip
def test_gold_that_cannot_work_is_refused_in_one_line(tmp_path: Path, protocol, toml, content, message):
    files = {} if content is None else {"gold__qrels": content}
    with pytest.raises(FileError, match=message) as refused:
        read_folder(folder(tmp_path, protocol, toml, **files))
    assert "\n" not in str(refused.value)


def test_gold_of_a_campaign_with_a_question_is_refused_in_one_line():
    table = table_from_plan(gold_plan("grades"))
    topics = [{**topic, "gold": []} for topic in table["topics"]]
    with pytest.raises(ArgumentError, match="gold"):
        plan_from_table({**table, "topics": topics})
    with pytest.raises(ArgumentError, match=r"no table \[gold\]"):
        plan_from_table({key: value for key, value in table.items() if key != "gold"})


def test_notes_tell_where_gold_questions_are_missing():
    table = table_from_plan(gold_plan("grades", topics=3, every=2))
    table["topics"][1]["gold"] = []
    notes = " ".join(plan_notes(plan_from_table(table)))
    assert "Nobody is excluded by gold questions" in notes
    assert "There is no gold question for 1 of the topics, 't1' first" in notes
