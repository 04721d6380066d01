"""Review of pairs: final answers for them, and preferences opened again for their authors."""

import asyncio
import csv
import io
from collections.abc import Callable, Coroutine
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qrowd
from judging import Clock, created, judged_by_three, seeded, small_plan, tables, three_arms, work
from qrowd.collect.campaigns.adjudication import PAIR_ANSWERS, adjudications
from qrowd.collect.campaigns.archive import read_archive, write_archive
from qrowd.collect.campaigns.collected import preferences
from qrowd.collect.campaigns.exports import export_rows
from qrowd.collect.campaigns.progress import progress
from qrowd.collect.campaigns.quality import quality
from qrowd.collect.campaigns.rebuild import rebuild
from qrowd.collect.campaigns.review import CampaignReview, Filters, review_rows, summaries
from qrowd.collect.protocols.events import GoOn, Judge, MarkBad, Prefer, Refusal, Undo
from qrowd.collect.protocols.views import PairView
from qrowd.collect.store.base import Store
from qrowd.errors import ArgumentError

PAIRS = {"protocol": "preference", "redundancy": 3, "topics": 2, "stop": False, "order": "keep-preferred"}


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(coroutine)


def campaign(store: Store, clock: Clock, **further: Any) -> tuple[Any, list[int]]:
    return judged_by_three(store, clock, **{**PAIRS, **further})


def reviewer(store: Store, clock: Clock) -> CampaignReview:
    return CampaignReview(store, clock=clock, account="rita")


def content(store: Store, what: str, format: str, name: str = "pilot", **options: Any) -> str:
    return store.read(lambda c: b"".join(export_rows(c, name, what, format, names=True, **options)).decode())


def table(store: Store, what: str, name: str = "pilot", **options: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content(store, what, "csv", name, **options))))


def content_of_tables(store: Store) -> dict[str, list[Any]]:
    """Everything that events add up to, whichever of two assessors with the same pair has which seat."""
    pairs = rows(store, "select board, low_id, high_id, assignment_id from pair_lease")
    return {**store.read(tables), "pair_lease": sorted(map(tuple, pairs))}


def same_after_rebuilding(store: Store) -> None:
    before = content_of_tables(store)
    store.write(lambda c: rebuild(c, "pilot"))
    assert content_of_tables(store) == before


def rows(store: Store, query: str) -> list[Any]:
    return store.read(lambda c: list(c.exec_driver_sql(query)))


def first_pair(store: Store) -> tuple[str, str]:
    """Two documents of topic t0 that somebody compared, in alphabetical order."""
    row = next(row for row in table(store, "preferences") if row["topic"] == "t0" and row["preferred"])
    one, other = sorted((row["preferred"], row["other"]))
    return one, other


# ---- final answers


def test_a_final_answer_for_a_pair_is_one_more_assessor_and_in_no_progress_or_agreement(store: Store) -> None:
    clock = Clock(step=1.0)
    campaign(store, clock, bad=False)
    one, other = first_pair(store)
    before = store.read(lambda c: progress(c, "pilot", clock.now)).answers
    judged, agreement = store.read(lambda c: preferences(c, "pilot")), store.read(lambda c: quality(c, "pilot"))
    plain = table(store, "preferences")
    final = run(reviewer(store, clock).adjudicate("pilot", "t0", other, "first", "It names both.", other=one))
    assert (final.documents, final.preferred, final.value, final.text) == ((one, other), other, -1.0, "second")
    assert (final.account, final.reason, final.n) == ("rita", "It names both.", 1)
    assert store.read(lambda c: progress(c, "pilot", clock.now)).answers == before
    assert store.read(lambda c: preferences(c, "pilot")).assessors == judged.assessors
    assert repr(store.read(lambda c: quality(c, "pilot"))) == repr(agreement)
    assert table(store, "preferences") == plain
    added, replaced = (table(store, "preferences", adjudicated=how) for how in ("add", "replace"))
    assert added[:-1] == plain
    assert [added[-1][name] for name in ("topic", "preferred", "other", "assessor", "strength", "kind")] == [
        "t0", other, one, "adjudicated", "1", "adjudicator"
    ]  # fmt: skip
    others = [row for row in plain if not (row["topic"] == "t0" and {row["preferred"], row["other"]} == {one, other})]
    assert len(others) == len(plain) - 3
    assert replaced == [*others, added[-1]]
    same_after_rebuilding(store)


def test_exports_with_final_answers_are_read_again_with_one_more_assessor(store: Store, tmp_path: Path) -> None:
    clock = Clock(step=1.0)
    campaign(store, clock, bad=False)
    one, other = first_pair(store)
    run(reviewer(store, clock).adjudicate("pilot", "t0", one, "first", "", other=other))
    for format, name in (("csv", "out.csv"), ("jsonl", "out.jsonl")):
        (tmp_path / name).write_text(content(store, "preferences", format, adjudicated="add"), encoding="utf-8")
        found = qrowd.read_preferences(tmp_path / name)
        assert sorted(found.assessors) == ["adjudicated", "ann", "bob", "cleo"]
    lines = content(store, "preferences", "prefs", adjudicated="add").splitlines()
    assert [line.split()[3:] for line in lines if line.startswith("t0 adjudicated ")] == [[one, "2"], [other, "1"]]


def test_documents_that_say_the_same_are_a_final_answer_among_the_duplicates(store: Store) -> None:
    clock = Clock(step=1.0)
    campaign(store, clock, bad=False, duplicates=True)
    one, other = first_pair(store)
    rita, plain = reviewer(store, clock), table(store, "duplicates")
    run(rita.adjudicate("pilot", "t0", one, "same", "", other=other))
    assert table(store, "duplicates", adjudicated="add")[: len(plain)] == plain
    last = table(store, "duplicates", adjudicated="replace")[-1]
    assert (last["one"], last["same_as"], last["assessor"]) == (one, other, "adjudicated")
    left = table(store, "preferences", adjudicated="replace")
    assert not [row for row in left if row["topic"] == "t0" and {row["preferred"], row["other"]} == {one, other}]


@pytest.mark.parametrize("text", PAIR_ANSWERS)
def test_a_final_answer_is_the_same_whichever_document_is_called_the_first(store: Store, text: str) -> None:
    clock = Clock(step=1.0)
    created(store, small_plan(**PAIRS, duplicates=True, definitely=True))
    rita = reviewer(store, clock)
    final = run(rita.adjudicate("pilot", "t0", "t0d2", text, "", other="t0d1"))
    assert final.documents == ("t0d1", "t0d2")
    assert final.text_from("t0d2") == text
    assert final.preferred == {"f": "t0d2", "s": "t0d1"}.get(text.removeprefix("definitely ")[0], "") or text == "same"
    flipped = {"first": "second", "second": "first"}
    same = " ".join(flipped.get(word, word) for word in text.split())
    again = run(rita.adjudicate("pilot", "t0", "t0d1", same, "", other="t0d2"))
    assert (again.value, again.text, again.n) == (final.value, final.text, 2)
    assert run(rita.adjudicate("pilot", "t0", "t0d2", "", "", other="t0d1")) is None
    assert store.read(lambda c: adjudications(c, 1)) == {}


@pytest.mark.parametrize(
    ("topic", "document", "other", "text", "problem"),
    [
        ("t9", "t0d1", "t0d2", "first", "no document"),
        ("t0", "t0d1", "x", "first", "no document 'x'"),
        ("t0", "t0d1", "t0d1", "first", "of two documents"),
        ("t0", "t0d1", "t0d2", "left", "choose one of"),
        ("t0", "t0d1", "t0d2", "same", "choose one of first, second"),
        ("t0", "t0d1", "t0d2", "definitely first", "choose one of first, second"),
        ("t0", "t0d1", "", "1", "it collects preferences"),
    ],
)
def test_a_final_answer_that_the_campaign_does_not_allow_is_refused(
    store: Store, topic: str, document: str, other: str, text: str, problem: str
) -> None:
    clock = Clock(step=1.0)
    created(store, small_plan(**PAIRS, duplicates=False, definitely=False))
    with pytest.raises(ArgumentError, match=problem):
        run(reviewer(store, clock).adjudicate("pilot", topic, document, text, "", other=other))
    assert store.read(lambda c: adjudications(c, 1)) == {}


def test_each_arm_of_a_study_has_final_answers_of_its_own(store: Store) -> None:
    clock = Clock(step=1.0)
    created(store, three_arms())
    rita = reviewer(store, clock)
    run(rita.adjudicate("study/degrees", "t0", "t0d0", "definitely second", "", other="t0d1"))
    run(rita.adjudicate("study/preference", "t0", "t0d0", "first", "", other="t0d1"))
    run(rita.adjudicate("study", "t0", "t0d0", "3", "Because."))
    final = table(store, "preferences", "study", adjudicated="add")
    assert [(row["arm"], row["preferred"], row["strength"]) for row in final] == [
        ("degrees", "t0d1", "2"), ("preference", "t0d0", "1")
    ]  # fmt: skip
    assert [row["value"] for row in table(store, "judgments", "study", adjudicated="add")] in (["3"], ["3.0"])
    with pytest.raises(ArgumentError, match="choose one of first, second"):
        run(rita.adjudicate("study/preference", "t0", "t0d0", "definitely first", "", other="t0d1"))
    with pytest.raises(ArgumentError, match="study/"):
        run(rita.adjudicate("study", "t0", "t0d0", "first", "", other="t0d1"))


def test_final_answers_do_not_change_which_pairs_are_asked(
    store: Store, opened: Callable[..., Store], tmp_path: Path
) -> None:
    def asked(one: Store, *, with_final: bool) -> list[Any]:
        clock = Clock()
        created(one, small_plan(**{**PAIRS, "order": "utility", "stop": True, "sharing": "shared"}))
        service, rita = seeded(one, clock), reviewer(one, clock)

        async def story() -> None:
            people = [await service.arrive("pilot", "link", name) for name in ("ann", "bob")]
            for turn in range(8):
                await work(service, people[turn % 2], Random(turn), steps=1)
                if with_final:
                    await rita.adjudicate("pilot", "t0", "t0d0", "second", "", other=f"t0d{1 + turn % 3}")

        run(story())
        kinds = ("offered", "stopped", "finished")
        query = f"select kind, data from event where kind in {kinds} order by id"
        return [(kind, as_json(data)) for kind, data in rows(one, query)]

    plain = asked(store, with_final=False)
    assert len(plain) > 5
    assert asked(opened(str(tmp_path / "other.db")), with_final=True) == plain


def test_pairs_without_a_final_answer_are_listed_alone(store: Store) -> None:
    clock = Clock(step=1.0)
    campaign(store, clock, bad=False)
    one, other = first_pair(store)
    run(reviewer(store, clock).adjudicate("pilot", "t0", one, "first", "", other=other))
    found = store.read(lambda c: review_rows(c, 1, summaries(c, "pilot", Filters()), ""))
    final = {tuple(sorted(row.documents)): row.final for row in found if row.final is not None}
    assert {pair: answer.preferred for pair, answer in final.items()} == {(one, other): one}
    assert len(store.read(lambda c: summaries(c, "pilot", Filters(open=True)))) == len(found) - 1


# ---- answers opened again


def opened_pair(store: Store, clock: Clock, **further: Any) -> tuple[Any, int, int, PairView]:
    """A campaign in which a preference is open again: the service, its author, the unit and the page."""
    service, _ = campaign(store, clock, bad=False, **further)
    unit, holder = rows(store, "select id, assessor_id from assignment order by id")[0]
    run(reviewer(store, clock).reopen("pilot", unit, 1, "The left one is newer."))
    return service, holder, unit, run(service.page(holder))


def said(store: Store, unit: int) -> list[Any]:
    query = f"select number, left_id, right_id, choice, strength from preference where assignment_id = {unit}"
    return rows(store, f"{query} order by number")


def test_a_pair_opened_again_comes_first_with_its_reason_and_can_be_changed(store: Store) -> None:
    clock = Clock(step=1.0)
    service, holder, unit, page = opened_pair(store, clock)
    before = said(store, unit)
    assert isinstance(page.view, PairView)
    assert (page.view.pair, page.view.reopened) == (1, "The left one is newer.")
    assert (page.view.left, page.view.right, page.view.answer) == tuple(before[1][1:4])
    new = "right" if page.view.answer == "left" else "left"
    receipt = run(service.act(holder, Prefer(1, new, active=2.0), shown=page.shown, key=page.key))
    assert [event.kind for event in receipt.events] == ["reconsidered", "preferred_again"]
    after = said(store, unit)
    assert [row[:3] for row in after] == [row[:3] for row in before]
    assert [row[3] for row in after] == [new if row[0] == 1 else row[3] for row in before]
    assert not getattr(run(service.page(holder)).view, "reopened", "")
    assert run(service.act(holder, Prefer(1, new, active=2.0), shown=page.shown, key=page.key)).replayed
    same_after_rebuilding(store)


def test_a_pair_opened_again_can_be_kept_or_closed_and_is_then_as_it_was(store: Store) -> None:
    clock = Clock(step=1.0)
    service, holder, unit, page = opened_pair(store, clock)
    before, rita = said(store, unit), reviewer(store, clock)
    receipt = run(service.act(holder, GoOn(), shown=page.shown, key=page.key))
    assert [(one.kind, one.data["changed"]) for one in receipt.events] == [("reconsidered", False)]
    run(rita.reopen("pilot", unit, 0, "And this one?"))
    page = run(service.page(holder))
    assert page.view.pair == 0
    run(rita.close("pilot", unit, 0))
    with pytest.raises(Refusal):
        run(service.act(holder, Prefer(0, "left"), shown=page.shown, key=page.key))
    assert said(store, unit) == before
    same_after_rebuilding(store)


@pytest.mark.parametrize("action", [Prefer(2, "left"), Judge(1, "1"), MarkBad(1, "left"), Undo(1)])
def test_other_actions_than_an_answer_to_the_opened_pair_are_refused(store: Store, action: Any) -> None:
    clock = Clock(step=1.0)
    service, holder, unit, page = opened_pair(store, clock)
    before = said(store, unit)
    with pytest.raises(Refusal):
        run(service.act(holder, action, shown=page.shown, key=page.key))
    assert said(store, unit) == before


def test_an_answer_to_a_document_is_not_changed_by_a_form_for_pairs(store: Store) -> None:
    clock = Clock(step=1.0)
    created(store, small_plan("grades", k=4, redundancy=1, topics=1))
    service = seeded(store, clock)

    async def story() -> None:
        ann = await service.arrive("pilot", "link", "ann")
        await work(service, ann, Random(1))
        (unit,) = rows(store, "select id from assignment")[0]
        await reviewer(store, clock).reopen("pilot", unit, 1, "why")
        page = await service.page(ann)
        with pytest.raises(Refusal):
            await service.act(ann, Prefer(1, "left"), shown=page.shown, key=page.key)

    run(story())


def test_bad_marks_and_pairs_that_nobody_judged_cannot_be_opened_again(store: Store) -> None:
    clock = Clock(step=1.0)
    created(store, small_plan(**{**PAIRS, "redundancy": 1, "topics": 1, "bad": True}))
    service, rita = seeded(store, clock), reviewer(store, clock)

    async def story() -> None:
        ann = await service.arrive("pilot", "link", "ann")
        await service.act(ann, GoOn())
        page = await service.page(ann)
        await service.act(ann, MarkBad(0, "left"), shown=page.shown, key=page.key)
        (unit,) = rows(store, "select id from assignment")[0]
        for pair in (0, 1, 9):
            with pytest.raises(ArgumentError, match="Bad marks"):
                await rita.reopen("pilot", unit, pair, "why")

    run(story())


def test_an_opened_answer_that_its_author_takes_back_in_another_window_is_passed_over(store: Store) -> None:
    clock = Clock(step=1.0)
    created(store, small_plan(**{**PAIRS, "bad": False}))
    service, rita = seeded(store, clock), reviewer(store, clock)

    async def story() -> None:
        ann = await service.arrive("pilot", "link", "ann")
        await work(service, ann, Random(1), steps=1)
        for pair in range(2):
            page = await service.page(ann)
            await service.act(ann, Prefer(pair, "left"), shown=page.shown, key=page.key)
        page = await service.page(ann)  # an older window
        (unit,) = rows(store, "select id from assignment")[0]
        await rita.reopen("pilot", unit, 1, "why")
        receipt = await service.act(ann, Undo(page.view.pair), shown=page.shown, key=page.key)
        assert receipt.page.view.reopened == ""
        await service.act(ann, Prefer(receipt.page.view.pair, "right"))  # says nothing of a page
        assert [row[3] for row in said(store, unit)] == ["left", "right"]

    run(story())
    same_after_rebuilding(store)


def test_revised_pairs_and_final_answers_go_into_another_database(
    store: Store, opened: Callable[..., Store], tmp_path: Path
) -> None:
    clock = Clock(step=1.0)
    service, holder, unit, page = opened_pair(store, clock)
    rita = reviewer(store, clock)
    new = "right" if page.view.answer == "left" else "left"
    run(service.act(holder, Prefer(1, new, active=2.0), shown=page.shown, key=page.key))
    run(rita.reopen("pilot", unit, len(said(store, unit)) - 1, "The last one, too."))
    one, other = first_pair(store)
    run(rita.adjudicate("pilot", "t0", one, "first", "why", other=other))
    for names in (True, False):
        lines = store.read(lambda c, names=names: list(write_archive(c, "pilot", names=names)))
        copy = opened(str(tmp_path / f"copy-{names}.db"))
        copy.write(lambda c, lines=lines: read_archive(c, lines))
        for what in ("preferences", "duplicates"):
            mine, theirs = (
                [{key: row[key] for key in row if key != "assessor"} for row in table(one, what, adjudicated="add")]
                for one in (store, copy)
            )
            assert mine == theirs
        if names:
            again = seeded(copy, clock)
            assert run(again.page(holder)).view == run(service.page(holder)).view
        same_after_rebuilding(copy)


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.sampled_from(["keep", "change", "go on", "undo", "close"]), max_size=8),
    st.integers(0, 99),
    st.sampled_from([("own", 1), ("shared", 1), ("shared", 2)]),
)
def test_whatever_pairs_are_opened_again_the_tables_are_what_the_log_adds_up_to(
    ways: list[str], seed: int, board: tuple[str, int]
) -> None:
    from qrowd.collect.store.engine import open_store

    sharing, redundancy = board
    with TemporaryDirectory() as folder, open_store(Path(folder) / "judgments.db") as store:
        clock = Clock(step=1.0)
        options = {"sharing": sharing, "pair_redundancy": redundancy, "redundancy": 2, "topics": 2, "documents": 5}
        created(store, small_plan(**{**PAIRS, **options}))
        service, rita, rng = seeded(store, clock, seed), reviewer(store, clock), Random(seed)

        async def story() -> None:
            people = [await service.arrive("pilot", "link", name) for name in ("ann", "bob")]
            for one in people:
                await work(service, one, rng, steps=3)
            for way in ways:
                query = "select assignment.id, assessor_id, state from assignment order by assignment.id"
                unit, whose, state = rng.choice(rows(store, query))
                page = await service.page(whose)  # as it is before
                pairs = [answer[0] for answer in as_json(state)["answers"] if not answer[3].startswith("bad")]
                if pairs:
                    await rita.reopen("pilot", unit, pair := rng.choice(pairs), "look again")
                    if way == "close":
                        await rita.close("pilot", unit, pair)
                if way == "undo" and isinstance(page.view, PairView) and page.view.may_undo:
                    await service.act(whose, Undo(page.view.pair), shown=page.shown, key=page.key)
                page = await service.page(whose)
                if way in ("keep", "change") and getattr(page.view, "reopened", ""):
                    choice = Prefer(page.view.pair, rng.choice(("left", "right")), active=1.0)
                    await service.act(whose, GoOn() if way == "keep" else choice, shown=page.shown, key=page.key)
                await work(service, rng.choice(people), rng, steps=1)

        run(story())
        same_after_rebuilding(store)


def as_json(value: Any) -> Any:
    import json

    return json.loads(value) if isinstance(value, str) else value
