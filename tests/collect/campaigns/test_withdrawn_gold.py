"""Gold questions that an owner withdraws: they count for nobody, and nothing else changes."""

import asyncio
import csv
import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from collect.campaigns.test_gold import answer, gold_plan, labels
from judging import Clock, created, seeded, tables
from qrowd.collect.campaigns.accuracy import accuracies
from qrowd.collect.campaigns.admin import CampaignAdmin
from qrowd.collect.campaigns.archive import read_archive, write_archive
from qrowd.collect.campaigns.changing import change_campaign
from qrowd.collect.campaigns.exports import export_rows
from qrowd.collect.campaigns.rebuild import rebuild
from qrowd.collect.campaigns.review import CampaignReview
from qrowd.collect.campaigns.state import read_settings, withdrawn_gold
from qrowd.collect.campaigns.withdrawn_gold import gold_state, no_longer_excluded
from qrowd.collect.store.base import Store
from qrowd.collect.store.materials import find_campaign
from qrowd.errors import ArgumentError

PROTOCOLS = ("grades", "preference")


def row(store: Store) -> Any:
    return store.read(lambda c: find_campaign(c, "pilot"))


def judged(store: Store, protocol: str, *, right: bool, names: tuple[str, ...] = ("ann",), **gold: Any) -> Any:
    """A campaign in which people have answered 30 questions, all gold questions right or all wrong; the service."""
    clock = Clock(step=1.0)
    created(store, gold_plan(protocol, **{"every": 2, "first_every": 2, "min_answers": 5, "exclude": True, **gold}))
    service = seeded(store, clock)

    async def come() -> None:
        for name in names:
            one = await service.arrive("pilot", "link", name)
            await answer(service, one, labels(store), lambda rng: right, Random(1), 30)

    asyncio.run(come())
    return service


def table(store: Store, what: str) -> list[dict[str, str]]:
    content = store.read(lambda c: b"".join(export_rows(c, "pilot", what, "csv", names=True))).decode()
    return list(csv.DictReader(io.StringIO(content)))


def asked(store: Store) -> list[tuple[str, tuple[str, ...]]]:
    """The gold questions that somebody answered, by topic and documents."""
    places = ((one["topic"], tuple(filter(None, (one["document"], one["other"])))) for one in table(store, "gold"))
    return list(dict.fromkeys(places))


def withdraw(store: Store, place: tuple[str, tuple[str, ...]], **options: Any) -> None:
    owner = CampaignReview(store, clock=Clock(), account="olga")
    asyncio.run(owner.withdraw_gold("pilot", *place, options.pop("reason", "Grade 2 is right."), **options))


def n_counted(store: Store) -> int:
    found = row(store)
    gold = read_settings(found).gold
    return sum(one.n for one in store.read(lambda c: accuracies(c, found.id, gold)).values())


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_withdrawn_question_is_in_no_accuracy_and_its_answers_are_kept(
    store: Store, protocol: str, opened: Callable[..., Store], tmp_path: Path
) -> None:
    judged(store, protocol, right=True)
    before, places = table(store, "gold"), asked(store)
    n = n_counted(store)
    assert n == len(before) > 5
    withdraw(store, places[0])
    withdraw(store, places[1])
    assert n_counted(store) == n - 2
    assert int(table(store, "payment")[0]["gold_answers"]) == n - 2
    assert table(store, "gold") == before
    state = store.read(lambda c: gold_state(c, row(store), *places[0]))
    assert state is not None
    assert (state.is_withdrawn, state.reason, state.account) == (True, "Grade 2 is right.", "olga")
    withdraw(store, places[1], withdrawn=False, reason="")
    assert n_counted(store) == n - 1
    found = store.read(tables)
    store.write(lambda c: rebuild(c, "pilot"))
    assert store.read(tables) == found
    lines = store.read(lambda c: list(write_archive(c, "pilot", names=True)))
    copy = opened(str(tmp_path / "copy.db"))
    copy.write(lambda c: read_archive(c, lines))
    assert n_counted(copy) == n - 1


def test_a_question_stays_withdrawn_when_the_campaign_is_changed(store: Store) -> None:
    judged(store, "grades", right=True)
    withdraw(store, asked(store)[0])
    plan = gold_plan("grades", every=2, first_every=2, min_answers=5, exclude=True)
    store.write(lambda c: change_campaign(c, replace(plan, title="Another title"), 1.0))
    assert len(withdrawn_gold(row(store).settings)) == 1
    found = store.read(tables)
    store.write(lambda c: rebuild(c, "pilot"))
    assert store.read(tables) == found


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_who_was_excluded_by_withdrawn_questions_is_listed_and_can_be_reinstated(store: Store, protocol: str) -> None:
    judged(store, protocol, right=False, names=("ann", "bob"))
    assert [one["excluded"] for one in table(store, "payment")] != ["", ""]
    of_ann = {
        (one["topic"], tuple(filter(None, (one["document"], one["other"]))))
        for one in table(store, "gold")
        if one["assessor"] == "ann"
    }
    for place in of_ann:
        assert [one.name for one in store.read(lambda c: no_longer_excluded(c, row(store)))] != ["ann", "bob"]
        withdraw(store, place)
    assert "ann" in [one.name for one in store.read(lambda c: no_longer_excluded(c, row(store)))]
    asyncio.run(CampaignAdmin(store, clock=Clock()).reinstate("pilot", "ann"))
    assert "ann" not in [one.name for one in store.read(lambda c: no_longer_excluded(c, row(store)))]


def test_nobody_is_excluded_by_questions_that_were_withdrawn_before(store: Store) -> None:
    clock = Clock(step=1.0)
    plan = gold_plan("grades", topics=1, every=2, first_every=2, min_answers=5, exclude=True)
    created(store, plan)
    service = seeded(store, clock)
    for question in plan.topics[0].gold[1:]:
        withdraw(store, ("t0", (question.document,)))

    async def come() -> int:
        ann = await service.arrive("pilot", "link", "ann")
        return await answer(service, ann, labels(store), lambda rng: False, Random(1), 60)

    assert asyncio.run(come()) > 30
    assert table(store, "payment")[0]["excluded"] == ""
    assert len(table(store, "gold")) > 10


@pytest.mark.parametrize(
    ("place", "reason", "problem"),
    [
        (("t0", ("t0d1",)), "why", "no such gold question"),
        (("t9", ("t0g1",)), "why", "no such gold question"),
        (("t0", ("t0g1", "t0g2")), "why", "no such gold question"),
        (("t0", ("t0g1",)), " ", "reason: say why"),
        (("t0", ("t0g1",)), "x" * 2001, "at most 2,000"),
    ],
)
def test_what_is_no_gold_question_or_has_no_reason_is_refused(
    store: Store, place: tuple[str, tuple[str, ...]], reason: str, problem: str
) -> None:
    created(store, gold_plan("grades", every=2))
    with pytest.raises(ArgumentError, match=problem):
        withdraw(store, place, reason=reason)
    assert withdrawn_gold(row(store).settings) == frozenset()
