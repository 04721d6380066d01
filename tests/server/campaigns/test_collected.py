"""What readers get of a campaign against what was clicked: pool and gold documents, "cannot tell", final answers."""

import asyncio
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

import qrowd
from command_line import status_of
from judging import Clock, seeded, small_plan, work
from qrowd_server.campaigns.plan.plan_tables import plan_from_table, table_from_plan
from qrowd_server.campaigns.results.exports import export_rows
from qrowd_server.campaigns.results.review_decisions import adjudicate
from qrowd_server.campaigns.running.collected import counts_gold, judgments
from qrowd_server.campaigns.running.creation import create_campaign
from qrowd_server.protocols.events import CannotTell, Judge
from qrowd_server.protocols.views import DocumentView
from qrowd_server.store.base import Store
from qrowd_server.store.engine import open_store
from qrowd_server.store.materials import documents_of

Key = tuple[str, str, str]  # topic, document, assessor


def exported(store: Store, everything: bool = False) -> list[dict[str, Any]]:
    pieces = store.read(
        lambda c: list(export_rows(c, "pilot", "judgments", "jsonl", names=True, everything=everything))
    )
    return [json.loads(line) for line in b"".join(pieces).splitlines()]


def in_qrels(store: Store) -> dict[Key, float]:
    qrels = store.read(lambda c: b"".join(export_rows(c, "pilot", "judgments", "qrels", names=True))).decode()
    lines = [line.split() for line in qrels.splitlines()]
    return {(topic, document, name): float(value) for topic, name, document, value in lines}


def read(store: Store) -> dict[Key, float]:
    table = store.read(lambda c: judgments(c, "pilot", names=True)).to_frame()
    return {(row.topic, row.document, row.assessor): row.value for row in table.itertuples()}


def with_gold(store: Store, systems: dict[str, list[str]] | None = None, arm: str = "") -> dict[Key, float]:
    """Three people judge all of two topics with gold documents among them; two cannot tell of t0d0: the clicks.

    systems : that the campaign keeps of its first topic. arm : with these judgments, beside one with preferences.
    """
    clicks: dict[Key, float] = {}
    table = table_from_plan(small_plan("grades", k=4, redundancy=3, topics=2, cannot_tell=True, max_cannot_tell=0.5))
    if arm:
        table["arms"] = {arm: {"grades": table.pop("grades")}, "pairs": {"preference": {"redundancy": 3}}}
    table["gold"] = {"every": 2}
    table["topics"][0]["systems"] = systems or {}
    for i, topic in enumerate(table["topics"]):
        topic["gold"] = [{"document": f"t{i}g{g}", "accepted": [g]} for g in range(2)]
        table["documents"] += [{"label": f"t{i}g{g}", "text": "gold"} for g in range(2)]
    store.write(lambda c: create_campaign(c, plan_from_table(table), 1.0))
    service, rng = seeded(store, Clock(step=5.0)), Random(3)

    async def come() -> None:
        nonlocal clicks
        labels = store.read(lambda c: {one.id: one.label for one in documents_of(c, 1)})
        for name in ("ann", "bob", "cleo"):
            who = await service.arrive("pilot", "link", name, name=name)
            for _ in range(40):
                page = await service.page(who)
                if isinstance(page.view, DocumentView):
                    document, place, grade = labels[page.view.document], page.view.position, rng.randrange(4)
                    unsure = document == "t0d0" and name != "cleo"
                    act = CannotTell(place, "cut off") if unsure else Judge(place, str(grade))
                    clicks |= {} if unsure else {(document[:2], document, name): float(grade)}
                    await service.act(who, act, shown=page.shown, key=page.key)
                else:
                    await work(service, who, rng, steps=1)

    asyncio.run(come())
    return clicks


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, dict[Key, float]]:
    """A database with that campaign, and the clicks."""
    file = tmp_path_factory.mktemp("judged") / "judgments.db"
    with open_store(file) as store:
        clicks = with_gold(store)
    return file.read_bytes(), clicks


def test_exports_and_campaign_hold_every_click_and_final_answers_replace_what_they_settle(
    tmp_path: Path, judged: tuple[bytes, dict[Key, float]]
) -> None:
    content, clicks = judged
    (tmp_path / "judgments.db").write_bytes(content)
    with open_store(tmp_path / "judgments.db") as store:
        assert len([key for key in clicks if "g" in key[1]]) == 12
        assert len(clicks) == 3 * 2 * (4 + 2) - 2, "two answers are 'cannot tell'"
        rows = exported(store)
        assert {(row["topic"], row["document"], row["assessor"]): row["value"] for row in rows} == clicks == read(store)
        assert sum(row["origin"] == "gold" for row in rows) == 12
        for document, text in (("t0d0", "3"), ("t1g1", "0"), ("t1d2", "2")):
            store.write(lambda c, d=document, t=text: adjudicate(c, "pilot", d[:2], d, t, "so it is", 2.0))
        settled = {(d[:2], d, name): float(t) for d, t in (("t0d0", 3), ("t1g1", 0), ("t1d2", 2)) for name in NAMES}
        rows = exported(store)
        expected = clicks | settled
        assert {(row["topic"], row["document"], row["assessor"]): row["value"] for row in rows} == expected
        assert read(store) == expected
        assert [row["origin"] for row in rows].count("final") == 9
        assert in_qrels(store) == expected


@pytest.mark.parametrize("arm", ["", pytest.param("absolute", marks=pytest.mark.nightly)])
def test_scores_and_exports_leave_out_gold_documents_that_no_run_ranks_and_agreement_does_not(
    tmp_path: Path, arm: str
) -> None:
    with open_store(tmp_path / "judgments.db") as store:
        clicks = with_gold(store, {"a": ["t0d0", "t0g1", "t0d1"], "b": ["t0d2"]}, arm)
        name = f"pilot/{arm}".rstrip("/")
        store.write(lambda c: adjudicate(c, name, "t1", "t1g1", "0", "so it is", 2.0))  # no run ranks it
        scored = {key: value for key, value in clicks.items() if key[1] not in ("t0g0", "t1g0", "t1g1")}
        n_unranked, n_ranked = len(clicks) - len(scored), [key[1] for key in clicks].count("t0g1")
        assert (n_unranked, n_ranked) == ((4, 2) if arm else (9, 3))
        assert read(store) == scored
        assert {(row["topic"], row["document"], row["assessor"]): row["value"] for row in exported(store)} == scored
        assert in_qrels(store) == scored
        everything = exported(store, everything=True)
        assert [row["status"] for row in everything].count("unranked") == n_unranked
        assert len(everything) == len(clicks)
        again = qrowd.Judgments.from_frame(everything)
        assert len(again) == len(scored), "what does not count is left out when the file is read"
        said, agreed = (store.read(lambda c, f=final: judgments(c, "pilot", final=f)) for final in (True, False))
        assert len(agreed.value) == len(clicks)
        note = (
            "campaign pilot: scores and exports of what counts leave out judgments of gold documents that no "
            f"run ranks: {n_unranked}"
        )
        assert said.notes[-3] == f"campaign pilot: judgments of gold documents: {n_ranked} ({SEEN})"
        assert said.notes[-1] == note
        assert note not in agreed.notes
        assert store.read(lambda c: counts_gold(c, "pilot")), "that of t0g1, which a ranks"
        assert f"campaign pilot: judgments of gold documents: {n_ranked + n_unranked}" in agreed.notes


def test_no_gold_document_counts_where_runs_rank_none(tmp_path: Path) -> None:
    with open_store(tmp_path / "judgments.db") as store:
        with_gold(store, {"a": ["t0d0", "t0d1"], "b": ["t0d2"]})
        assert not store.read(lambda c: counts_gold(c, "pilot"))
        assert not any("--unjudged" in note for note in store.read(lambda c: judgments(c, "pilot")).notes)


NAMES = ("ann", "bob", "cleo")
SEEN = "compare --unjudged condensed leaves out those that an assessor did not see"
NOTES = (
    f"campaign pilot: judgments of gold documents: 9 ({SEEN})",
    "campaign pilot: answers replaced by final answers of owners: 9 (final answers: 3)",
)


def test_commands_say_how_many_judgments_are_of_gold_documents_and_how_many_are_final(tmp_path, capsys, judged) -> None:
    database = str(tmp_path / "judgments.db")
    Path(database).write_bytes(judged[0])
    with open_store(database) as store:
        for document in ("t0d0", "t1g1", "t1d2"):
            store.write(lambda c, d=document: adjudicate(c, "pilot", d[:2], d, "1", "so it is", 2.0))
    run = tmp_path / "a.run"
    run.write_text("".join(f"t{t} Q0 t{t}d{d} {d + 1} {9 - d} a\n" for t in range(2) for d in range(4)))
    for command in (
        ("evaluate", "--runs", run, "--campaign", "pilot", "--database", database),
        ("campaign", "export", "pilot", "--database", database, "-o", tmp_path / "out.jsonl"),
    ):
        assert status_of(*command) == 0
        lines = capsys.readouterr().err.splitlines()
        assert [line.removeprefix("note: ") for line in lines if line.startswith("note: campaign")] == list(NOTES)


def test_a_decision_changes_when_final_answers_settle_a_disagreement(tmp_path: Path) -> None:
    """Two people agree that A is better, the third says the opposite of everything; the owner sides with the third."""
    with open_store(tmp_path / "judgments.db") as store:
        store.write(lambda c: create_campaign(c, small_plan("grades", k=4, redundancy=3, topics=3), 1.0))
        service = seeded(store, Clock(step=5.0))
        labels = store.read(lambda c: {one.id: one.label for one in documents_of(c, 1)})

        async def come() -> None:
            for name in NAMES:
                who = await service.arrive("pilot", "link", name, name=name)
                for _ in range(30):
                    page = await service.page(who)
                    if isinstance(page.view, DocumentView):
                        is_first = labels[page.view.document].endswith("d0")
                        grade = "3" if is_first == (name != "cleo") else "0"
                        await service.act(who, Judge(page.view.position, grade), shown=page.shown, key=page.key)
                    else:
                        await work(service, who, Random(1), steps=1)

        asyncio.run(come())
        ranking = {"a": [0, 1, 2, 3], "b": [3, 2, 1, 0]}
        for name, order in ranking.items():
            lines = (f"t{t} Q0 t{t}d{d} {k + 1} {9 - k} {name}\n" for t in range(3) for k, d in enumerate(order))
            (tmp_path / f"{name}.run").write_text("".join(lines))
        before = means(tmp_path, store)
        for t in range(3):
            for d in range(4):
                text = "0" if d == 0 else "3"
                store.write(lambda c, p=(f"t{t}", f"t{t}d{d}", text): adjudicate(c, "pilot", *p, "so it is", 2.0))
        after = means(tmp_path, store)
    assert before == {"a": 2 / 3, "b": 1 / 3}
    assert after == {"a": 0, "b": 1}


def means(folder: Path, store: Store) -> dict[str, float]:
    """{run: its mean P@1 over assessors and topics}."""
    runs = qrowd.read_runs([folder / "a.run", folder / "b.run"])
    frame = qrowd.evaluate(runs, store.read(lambda c: judgments(c, "pilot")), ["P@1"]).to_frame()
    return frame.groupby("system")["score"].mean().to_dict()
