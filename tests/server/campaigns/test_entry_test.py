"""The entry test through the service: spammers among honest people, what is stored, what an owner should know.

How often campaigns of 40 people keep the promise that is tested here for three seeds, `benchmarks/gold_questions.py`
says for a thousand.
"""

import asyncio
import json
from collections.abc import Callable
from math import log
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import select

from judging import Clock, created, judged_by_a_model, seeded, tables
from qrowd_server.campaigns.plan.plan import Plan
from qrowd_server.campaigns.plan.plan_notes import effort_of, plan_notes
from qrowd_server.campaigns.plan.plan_tables import plan_from_table, table_from_plan
from qrowd_server.campaigns.results.archive import read_archive, write_archive
from qrowd_server.campaigns.results.exports import export_rows
from qrowd_server.campaigns.running.judging import JudgingService
from qrowd_server.campaigns.running.rebuild import rebuild
from qrowd_server.protocols.events import Action, GoOn, Judge, Prefer
from qrowd_server.protocols.views import DocumentView, ExcludedView, PairView, View
from qrowd_server.store.base import Store
from qrowd_server.store.engine import open_store
from qrowd_server.store.event_log import of_campaign
from qrowd_server.store.materials import documents_of, find_campaign
from qrowd_server.store.schema import gold_answer

ANSWERS = 24  # of each person, if nobody stops them
FEW = ["honest"] * 3 + ["random"] * 2 + ["same"]
MANY = ["honest"] * 30 + ["random"] * 7 + ["same"] * 3
ACCEPTED = ([0], [1, 2], [1, 2], [3])  # of the gold questions in turn, as in the benchmark
Labels = dict[int, str]
Answer = Callable[[View, Labels], Action]


def entry_plan(protocol: str, *, topics: int = 2, n_gold: int = 24, n_own: int = 8, **gold: Any) -> Plan:
    """Topics with gold questions whose labels say what is right: "t0g5" of ACCEPTED; "t0b5" is better than "t0w5"."""
    rows, documents = [], []
    for t in range(topics):
        own = [f"t{t}d{i}" for i in range(n_own)]
        if protocol == "grades":
            questions = [{"document": f"t{t}g{i}", "accepted": ACCEPTED[i % 4]} for i in range(n_gold)]
            known = [one["document"] for one in questions]
        else:
            questions = [{"document": f"t{t}b{i}", "worse": f"t{t}w{i}"} for i in range(n_gold)]
            known = [one[key] for one in questions for key in ("document", "worse")]
        rows.append({"label": f"t{t}", "title": f"Topic {t}", "pool": own, "gold": questions})
        documents += [{"label": one, "text": f"Text of {one}."} for one in (*own, *known)]
    settings = {"redundancy": 40, "rating": False} | ({"order": "random"} if protocol == "preference" else {})
    return plan_from_table(
        {
            "campaign": {"name": "pilot", "protocol": protocol, "seed": 7},
            protocol: settings,
            "gold": gold,
            "journey": {"consent": False},
            "topics": rows,
            "documents": documents,
        }
    )


def labels_of(store: Store) -> Labels:
    def read(connection: Any) -> Labels:
        row = find_campaign(connection, "pilot")
        assert row is not None
        return {one.id: one.label for one in documents_of(connection, row.id)}

    return store.read(read)


def honest(rng: Random, low: float, high: float) -> Answer:
    """Somebody who answers gold questions with an accuracy drawn from a range."""
    accuracy = rng.uniform(low, high)

    def answer(view: View, labels: Labels) -> Action:
        right = rng.random() < accuracy
        if isinstance(view, DocumentView):
            label = labels[view.document]
            accepted = ACCEPTED[int(label.partition("g")[2]) % 4] if "g" in label else range(4)
            others = [grade for grade in range(4) if grade not in accepted]
            return Judge(view.position, str(rng.choice(accepted if right or not others else others)))
        assert isinstance(view, PairView)
        left_is_better = "b" in labels[view.left]
        return Prefer(view.pair, "left" if left_is_better == right else "right")

    return answer


def spammer(rng: Random, kind: str) -> Answer:
    """Somebody who reads nothing: answers at random, or always the same."""
    grade, side = str(rng.randrange(4)), rng.choice(("left", "right"))

    def answer(view: View, labels: Labels) -> Action:
        if isinstance(view, DocumentView):
            return Judge(view.position, grade if kind == "same" else str(rng.randrange(4)))
        assert isinstance(view, PairView)
        return Prefer(view.pair, side if kind == "same" else rng.choice(("left", "right")))

    return answer


async def take_part(service: JudgingService, name: str, labels: Labels, answer: Answer, most: int = ANSWERS) -> int:
    """Answer until the server excludes or `most` answers are given; after how many it excluded, 0 for never."""
    who = await service.arrive("pilot", "link", name, name=name)
    page, n = await service.page(who), 0
    while n < most and not isinstance(page.view, ExcludedView):
        if isinstance(page.view, DocumentView | PairView):
            action, n = answer(page.view, labels), n + 1
        elif getattr(page.view, "another", n == 0):
            action = GoOn()
        else:
            break
        await service.act(who, action, shown=page.shown, key=page.key)
        page = await service.page(who)
    return n if isinstance(page.view, ExcludedView) else 0


@pytest.mark.parametrize(
    ("seed", "kinds"), [(0, FEW), *(pytest.param(seed, MANY, marks=pytest.mark.nightly) for seed in (0, 1, 2))]
)
@pytest.mark.parametrize(
    ("protocol", "accuracy", "low", "high"),
    [("grades", 0.85, 0.85, 0.95), pytest.param("preference", 0.95, 0.95, 0.99, marks=pytest.mark.nightly)],
)
def test_all_spammers_are_out_within_20_answers_each_and_at_most_1_honest_person(
    store: Store, protocol: str, accuracy: float, low: float, high: float, seed: int, kinds: list[str]
):
    created(store, entry_plan(protocol, first=20, exclude=True, accuracy=accuracy))
    service, labels, rng = seeded(store, Clock(step=3.0), seed), labels_of(store), Random(seed)
    kinds = rng.sample(kinds, len(kinds))
    answers = [honest(rng, low, high) if kind == "honest" else spammer(rng, kind) for kind in kinds]

    async def everybody() -> list[int]:
        return [await take_part(service, f"p{i}", labels, answer) for i, answer in enumerate(answers)]

    out = asyncio.run(everybody())
    assert all(0 < n <= 20 for n, kind in zip(out, kinds, strict=True) if kind != "honest")
    assert sum(n > 0 for n, kind in zip(out, kinds, strict=True) if kind == "honest") <= 1


# ---- what is stored


def first_assigned(store: Store) -> list[dict[str, Any]]:
    def read(connection: Any) -> list[dict[str, Any]]:
        row = find_campaign(connection, "pilot")
        assert row is not None
        return [one.data for one in of_campaign(connection, row.id) if one.kind == "assigned"]

    return store.read(read)


@pytest.mark.parametrize("protocol", ["grades", pytest.param("preference", marks=pytest.mark.nightly)])
def test_where_a_topic_has_too_few_gold_questions_the_rest_of_the_entry_test_is_in_the_next_unit(
    store: Store, protocol: str
):
    created(store, entry_plan(protocol, first=10, every=1000, n_gold=6, n_own=4, topics=3))
    service = seeded(store, Clock(step=3.0))
    asyncio.run(take_part(service, "ann", labels_of(store), honest(Random(1), 1, 1), most=31))
    assert [one.get("gold_first", 0) for one in first_assigned(store)] == [10, 4, 0]
    rows = store.read(lambda c: c.execute(select(gold_answer).order_by(gold_answer.c.time)).all())
    assert [row.is_entry for row in rows][:10] == [True] * 10
    assert not any(row.is_entry for row in rows[10:])


@pytest.mark.parametrize(
    ("first", "accuracy", "test"), [(10, 0.7, "sequential test of gold answers"), (20, 0.9, "entry test")]
)
def test_an_exclusion_names_the_test_that_was_failed_and_not_one_that_could_still_be_passed(
    store: Store, first: int, accuracy: float, test: str
):
    created(store, entry_plan("grades", first=first, exclude=True, accuracy=accuracy))
    service = seeded(store, Clock(step=3.0))
    asyncio.run(take_part(service, "ann", labels_of(store), honest(Random(3), 0.0, 0.0)))
    (event,) = store.read(lambda c: [one for one in of_campaign(c, 1) if one.kind == "excluded"])
    gold = event.data["gold"]
    assert (gold["right"], event.data["reason"]) == (0, f"{test}: 0 of {gold['answers']} right")
    assert (gold["answers"] > first - gold["least_right"]) == (test == "entry test")


@pytest.mark.parametrize("protocol", ["grades", pytest.param("preference", marks=pytest.mark.nightly)])
def test_an_exclusion_says_that_the_entry_test_was_failed_and_all_follows_from_the_log(
    tmp_path: Path, store: Store, protocol: str
):
    created(store, entry_plan(protocol, first=20, exclude=True, accuracy=0.9))
    service, labels = seeded(store, Clock(step=3.0)), labels_of(store)

    async def both() -> list[int]:
        people = honest(Random(3), 1, 1), honest(Random(3), 0.5, 0.5)
        return [await take_part(service, f"p{i}", labels, one) for i, one in enumerate(people)]

    stays, leaves = asyncio.run(both())
    assert stays == 0 < leaves <= 20
    (event,) = store.read(lambda c: [one for one in of_campaign(c, 1) if one.kind == "excluded"])
    gold = event.data["gold"]
    test = "entry test" if gold["entry_failed"] else "sequential test of gold answers"  # a pass mark still in reach
    assert event.data["reason"] == f"{test}: {gold['right']} of {gold['answers']} right"
    n_wrong = gold["answers"] - gold["right"]
    assert (gold["first"], gold["least_right"], gold["entry_failed"]) == (20, 16, n_wrong == 5)
    assert n_wrong == 5 or gold["evidence"] >= -log(0.05)
    content = store.read(lambda c: b"".join(export_rows(c, "pilot", "payment", "jsonl")))
    paid = [json.loads(line) for line in content.splitlines()]
    assert [(one["gold_answers"], one["answers"]) for one in paid] == [(20, 4), (gold["answers"], 0)]
    assert [one["excluded"] for one in paid] == [None, event.data["reason"]]
    before = store.read(tables)
    store.write(lambda c: rebuild(c, "pilot"))
    assert store.read(tables) == before
    lines = store.read(lambda c: list(write_archive(c, "pilot")))
    with open_store(tmp_path / "other.db") as other:
        other.write(lambda c: read_archive(c, lines))
        assert other.read(lambda c: list(write_archive(c, "pilot"))) == lines


def test_language_models_have_no_entry_test(store: Store):
    judged_by_a_model(store, entry_plan("grades", first=10), 12)
    assert not any("gold_first" in one for one in first_assigned(store))
    assert store.read(lambda c: c.execute(select(gold_answer)).all()) == []


# ---- what an owner should know


def test_notes_tell_the_pass_mark_and_where_it_is_too_short():
    plan = entry_plan("preference", first=20, exclude=True, accuracy=0.9)
    notes = " ".join(plan_notes(plan))
    assert "Entry test: 16 of 20 right answers." in notes
    short = plan_from_table(table_from_plan(entry_plan("grades", n_gold=12, first=20, exclude=True)))
    assert "2 topics have fewer gold questions than the entry test, 't0' first (12)" in " ".join(plan_notes(short))
    few = entry_plan("grades", first=1, exclude=True, accuracy=0.9)
    assert "1 answers are too few for an entry test" in " ".join(plan_notes(few))


@pytest.mark.parametrize(
    ("protocol", "without", "with_test"),
    [
        # Documents; minutes of 10 s for each decision and .65 s for each text. Of 8 documents or pairs 1 is gold.
        ("grades", (9, 2), (29, 6)),
        ("preference", (12, 3), (52, 7)),  # half of 28 pairs, and 2 of gold; and 20 more with 40 documents
    ],
)
def test_an_invitation_counts_the_entry_test(protocol: str, without: tuple[int, int], with_test: tuple[int, int]):
    assert effort_of(entry_plan(protocol)) == without
    assert effort_of(entry_plan(protocol, first=20)) == with_test


def test_no_more_gold_questions_are_counted_than_a_topic_has():
    assert effort_of(entry_plan("grades", n_own=21, n_gold=4, first=90))[0] == 14  # units of 11 and 10, and 4
