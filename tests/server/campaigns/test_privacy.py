"""A person who is deleted is in no table, no file of the database, no export and no copy made afterwards."""

import asyncio
import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from sqlalchemy import Table, insert, select

from judging import NOW, Clock, created, next_action, seeded, small_plan, tables, work
from qrowd.errors import ArgumentError
from qrowd_server.campaigns.results.archive import read_archive, write_archive
from qrowd_server.campaigns.results.exports import ARCHIVE, EXPORTS, export_rows
from qrowd_server.campaigns.results.quality import quality
from qrowd_server.campaigns.running.admin import CampaignAdmin
from qrowd_server.campaigns.running.collected import judgments
from qrowd_server.campaigns.running.privacy import (
    DELETED,
    apply_retention,
    delete_person,
    due,
    person_data,
    person_json,
)
from qrowd_server.campaigns.running.rebuild import rebuild
from qrowd_server.protocols.events import Judge, Rate
from qrowd_server.protocols.setting_fields import SchemaError
from qrowd_server.protocols.views import DocumentView, RatingView
from qrowd_server.store import base, sessions
from qrowd_server.store import event_log as events
from qrowd_server.store import state_rows as state
from qrowd_server.store.base import Store
from qrowd_server.store.engine import open_store
from qrowd_server.store.invitation_links import find_invitation, invite
from qrowd_server.store.schema import event, metadata
from qrowd_server.store.sqlite import backup

#: What only the person to be deleted has; each is long enough to be found by chance nowhere.
NAME, PLATFORM_ID, ABOUT = "marked-name-Zoltan", "marked-pid-5f3a9c", "marked-study"
REASON, COMMENT, DRAFT, OWNER = "marked-reason", "marked-comment-village", "marked-draft-words", "marked-note-rude"
MARKS = (NAME, PLATFORM_ID, ABOUT, REASON, COMMENT, DRAFT, OWNER)


async def take_part(store: Store, provider: str = "panel", *, comment: bool = True, steps: int = 60) -> int:
    """A person judges, with marked words in everything that they can write, and leaves a draft."""
    service = seeded(store, Clock(step=20.0), seed=5)
    external = NAME if provider == "link" else PLATFORM_ID
    person = await service.arrive("pilot", provider, external, name=NAME, about={"STUDY_ID": ABOUT})
    rng, page = Random(3), await service.page(person)
    for _ in range(steps):
        action: Any = next_action(page, rng)
        if isinstance(page.view, DocumentView) and isinstance(action, Judge):
            action = Judge(action.position, action.text, f"{REASON} {action.position}")
            await service.save_draft(person, page.shown, action.position, "1", DRAFT)
        elif isinstance(page.view, RatingView):
            action = Rate(4, 5, COMMENT)
        if action is None:
            break
        await service.act(person, action, shown=page.shown, key=page.key)
        page = await service.page(person)
    if isinstance(page.view, DocumentView):
        await service.save_draft(person, page.shown, page.view.position, "1", DRAFT)
    return person


def fill(store: Store, provider: str = "panel") -> int:
    """A campaign with two other people and the marked one, whom an owner excluded and took back; their number."""
    number = created(store, small_plan("grades", k=4, redundancy=3, reason="optional", journey={"consent": True}))
    token = store.write(lambda connection: invite(connection, number, NAME, NOW))
    service = seeded(store, Clock(step=10.0))
    for i in range(2):
        asyncio.run(work(service, asyncio.run(service.arrive("pilot", "link", f"other-{i}")), Random(i), 7))
    person = asyncio.run(take_part(store, provider, steps=10))
    store.write(lambda connection: sessions.open_session(connection, "assessor", person, NOW))
    admin = CampaignAdmin(store, clock=lambda: NOW + 5000)
    asyncio.run(admin.exclude("pilot", NAME, OWNER))
    asyncio.run(admin.reinstate("pilot", NAME))
    assert store.read(lambda connection: find_invitation(connection, token)) is not None
    return person


@cache
def rows_of_a_campaign(provider: str) -> tuple[int, list[tuple[Table, list[dict[str, Any]]]]]:
    """The number of the marked person, and the rows of all tables, worked out once."""
    with TemporaryDirectory() as folder, open_store(Path(folder) / "judgments.db") as store, store.reading() as c:
        person = fill(store, provider)
        rows = [(one, [dict(row) for row in c.execute(select(one)).mappings()]) for one in metadata.sorted_tables]
    return person, rows


def filled(store: Store, provider: str = "panel") -> int:
    """A copy of that campaign; PostgreSQL, which counts for itself, gets it answer by answer."""
    if store.dialect != "sqlite":
        return fill(store, provider)
    person, rows = rows_of_a_campaign(provider)
    store.write(lambda connection: [connection.execute(insert(one), of_table) for one, of_table in rows if of_table])
    return person


def everything_exported(store: Store) -> bytes:
    """Every table in every format that holds it, with names and without, and both archives."""

    def files(connection: Any) -> Iterator[bytes]:
        for names in (False, True):
            yield from export_rows(connection, "pilot", ARCHIVE, "jsonl", names=names)
            for what, kind in EXPORTS.items():
                for format in set(kind.formats) - {"parquet"}:
                    for everything in (False, True):
                        try:
                            yield from export_rows(
                                connection, "pilot", what, format, names=names, everything=everything
                            )
                        except ArgumentError:  # a kind that this campaign does not have
                            continue

    return b"".join(store.stream(files))


def in_database(store: Store) -> str:
    """Every cell of every table; the repr of a row would cut long ones."""

    def cells(connection: Any) -> str:
        return "\n".join(
            repr([tuple(row) for row in connection.execute(select(one))]) for one in metadata.sorted_tables
        )

    return store.read(cells)


def marks_in(content: bytes | str) -> set[str]:
    return {mark for mark in MARKS if (mark.encode() in content if isinstance(content, bytes) else mark in content)}


def files_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


@pytest.mark.parametrize("provider", ["panel", pytest.param("link", marks=pytest.mark.nightly)])
def test_after_a_deletion_nothing_of_the_person_is_in_the_tables_the_exports_or_copies(
    store: Store, opened: Callable[..., Store], tmp_path: Path, provider: str
) -> None:
    person = filled(store, provider)
    before = marks_in(in_database(store))
    assert {NAME, REASON, DRAFT, OWNER, ABOUT} <= before, "the test's person has left marks"
    n_judgments = len(store.read(lambda connection: judgments(connection, "pilot")).value)
    store.write(lambda connection: delete_person(connection, "pilot", person, NOW + 9000))
    assert marks_in(in_database(store)) == set()
    assert marks_in(everything_exported(store)) == set()
    assert len(store.read(lambda connection: judgments(connection, "pilot")).value) == n_judgments
    if store.dialect == "sqlite":
        backup(store, copy := tmp_path / "copy.db")
        assert marks_in(copy.read_bytes()) == set()
    # The archive of it, in another database.
    lines = store.read(lambda connection: list(write_archive(connection, "pilot", names=True)))
    other = opened(tmp_path / "other.db")
    other.write(lambda connection: read_archive(connection, lines))
    assert marks_in(in_database(other)) == set()


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are erased before the next work, not some time after the deletion."""
    monkeypatch.setattr(base, "ERASE_SOON", 0.0)
    monkeypatch.setattr(base, "ERASE_AGAIN", 0.0)


def delete(store: Store, person: int) -> None:
    """Delete a person; then another work."""
    store.write(lambda connection: delete_person(connection, "pilot", person, NOW + 9000))
    store.write(lambda connection: sessions.put_setting(connection, "x", "y"))


def test_the_files_hold_nothing_of_a_deleted_person_while_the_server_runs(tmp_path: Path, at_once: None) -> None:
    with open_store(tmp_path / "judgments.db") as store:
        person = fill(store)
        assert marks_in(files_of(tmp_path)) != set()
        delete(store, person)
        assert marks_in(files_of(tmp_path)) == set()


def refused(connection: Any) -> None:
    """A work that reads the first of several rows and raises, as a refused name did."""
    rows = connection.scalars(select(event.c.id))
    for number in rows:
        raise ArgumentError(f"refused at {number}")


@pytest.mark.parametrize("how", ["write", "read"])
def test_a_refused_work_that_was_reading_keeps_nothing_in_the_log(tmp_path: Path, at_once: None, how: str) -> None:
    with open_store(tmp_path / "judgments.db") as store:
        person = fill(store)
        with pytest.raises(ArgumentError) as error:
            getattr(store, how)(refused)
        delete(store, person)
        assert marks_in(files_of(tmp_path)) == set()
        assert "refused at 1" in str(error.value), "its traceback is still held here, as by a log that is written later"


def test_a_reader_delays_the_erasing_and_no_answer(tmp_path: Path, at_once: None) -> None:
    with open_store(tmp_path / "judgments.db") as store:
        person = fill(store)
        with store.reading() as connection:
            connection.scalar(select(event.c.id))
            delete(store, person)
            assert marks_in(files_of(tmp_path)) != set()
        store.write(lambda connection: sessions.put_setting(connection, "x", "z"))
        store.write(lambda connection: sessions.put_setting(connection, "x", "z"))
        assert marks_in(files_of(tmp_path)) == set()


@pytest.mark.parametrize("answers", ["keep", "withdraw"])
@pytest.mark.parametrize(
    "protocol", ["grades", *(pytest.param(one, marks=pytest.mark.nightly) for one in ("magnitude", "preference"))]
)
def test_the_tables_are_still_what_the_log_adds_up_to(store: Store, protocol: str, answers: Any) -> None:
    created(store, small_plan(protocol, redundancy=2, documents=8, journey={"consent": True}))
    service = seeded(store, Clock(step=30.0))
    people = [asyncio.run(service.arrive("pilot", "link", f"person-{i}")) for i in range(2)]
    for i, one in enumerate(people):
        asyncio.run(work(service, one, Random(i), 9 + i))
    store.write(lambda connection: delete_person(connection, "pilot", people[0], NOW + 9000, answers=answers))
    before = store.read(tables)
    store.write(lambda connection: rebuild(connection, "pilot"))
    assert store.read(tables) == before


def test_answers_are_kept_or_withdrawn_as_the_person_wants(store: Store) -> None:
    person = filled(store)
    panel = store.read(lambda connection: judgments(connection, "pilot"))
    assert "a3" in panel.assessors
    store.write(lambda connection: delete_person(connection, "pilot", person, NOW + 9000))
    kept = store.read(lambda connection: judgments(connection, "pilot"))
    assert list(kept.value) == list(panel.value)
    assert kept.assessors == panel.assessors
    store.write(lambda connection: delete_person(connection, "pilot", person, NOW + 9001, answers="withdraw"))
    assert "a3" not in store.read(lambda connection: judgments(connection, "pilot")).assessors
    found = store.read(lambda connection: state.find_assessor(connection, person))
    assert found is not None
    assert found[0].excluded == "answers withdrawn when the person was deleted"


def test_the_log_says_that_a_person_was_deleted_with_counts(store: Store) -> None:
    person = filled(store)
    store.write(lambda connection: delete_person(connection, "pilot", person, NOW + 9000, account="olga"))
    (entry,) = [one for one in store.read(lambda c: list(events.of_campaign(c, 1))) if one.kind == DELETED]
    assert (entry.actor, entry.account, entry.assessor_id) == ("owner", "olga", person)
    data = dict(entry.data)
    assert data.pop("n_events") > 0
    assert data.pop("n_texts") > 0
    assert data == {"answers": "kept", "by": "owner", "texts": "removed"}


def test_sessions_and_invitations_end_with_the_person(store: Store) -> None:
    person = filled(store, "link")
    token = store.write(lambda connection: invite(connection, 1, NAME, NOW))
    cookie, _ = store.write(lambda connection: sessions.open_session(connection, "assessor", person, NOW))
    store.write(lambda connection: delete_person(connection, "pilot", person, NOW + 60))
    assert store.read(lambda connection: sessions.find_session(connection, cookie, NOW + 61)) is None
    assert store.read(lambda connection: find_invitation(connection, token)) is None


def test_exports_have_pseudonyms_and_names_only_where_they_are_asked_for(store: Store) -> None:
    filled(store)
    plain, named = (
        store.read(lambda c: b"".join(export_rows(c, "pilot", "judgments", "jsonl", names=names)))  # noqa: B023
        for names in (False, True)
    )
    assert {json.loads(line)["assessor"] for line in plain.splitlines()} == {"a1", "a2", "a3"}
    assert {json.loads(line)["assessor"] for line in named.splitlines()} == {"other-0", "other-1", NAME}
    for what in (ARCHIVE, "units", "judgments"):
        content = store.read(lambda c: b"".join(export_rows(c, "pilot", what, "jsonl")))  # noqa: B023
        assert not marks_in(content) & {NAME, PLATFORM_ID, ABOUT}, what
    labels = {one.name for one in store.read(lambda connection: quality(connection, "pilot")).assessors}
    assert labels == {"a1", "a2", "a3"}


def test_pseudonyms_are_the_same_after_a_rebuild_and_in_a_database_that_read_the_archive(
    store: Store, opened: Callable[..., Store], tmp_path: Path
) -> None:
    filled(store)
    names = {one.id: one.label for one in store.read(lambda connection: state.assessors_of(connection, 1))}
    store.write(lambda connection: rebuild(connection, "pilot"))
    assert {one.id: one.label for one in store.read(lambda c: state.assessors_of(c, 1))} == names
    other = opened(tmp_path / "other.db")
    lines = store.read(lambda connection: list(write_archive(connection, "pilot")))
    other.write(lambda connection: read_archive(connection, lines))
    rows = other.read(lambda connection: state.assessors_of(connection, 1))
    assert {one.id: one.label for one in rows} == names
    assert {one.name for one in rows} == set(names.values())


def test_after_the_retention_time_names_go_and_answers_and_comments_stay(store: Store) -> None:
    filled(store)
    admin = CampaignAdmin(store, clock=lambda: NOW + 10_000)
    asyncio.run(admin.set_status("pilot", "stopped"))
    day = 86400.0
    assert store.read(lambda connection: due(connection, NOW + 10_000 + 29 * day, default=30)) == {}
    assert store.read(lambda connection: due(connection, NOW + 10_000 + 31 * day)) == {}
    done = apply_retention(store, NOW + 10_000 + 30 * day, default=30)
    assert done == {"pilot": 3}
    assert marks_in(in_database(store)) & {NAME, PLATFORM_ID, ABOUT} == set()
    assert REASON in in_database(store)
    assert apply_retention(store, NOW + 10_000 + 40 * day, default=30) == {}
    before = store.read(tables)
    store.write(lambda connection: rebuild(connection, "pilot"))
    assert store.read(tables) == before


def test_the_file_about_a_person_holds_all_they_gave_and_for_themselves_nothing_of_how_they_are_checked(
    store: Store,
) -> None:
    person = filled(store)
    row = next(one for one in store.read(lambda connection: state.assessors_of(connection, 1)) if one.id == person)
    owner, own = (
        store.read(lambda connection: person_json(connection, row, for_owner=for_owner)).decode()  # noqa: B023
        for for_owner in (True, False)
    )
    for content in (owner, own):
        assert {NAME, PLATFORM_ID, ABOUT, REASON} <= marks_in(content)
        assert json.loads(content)["person"]["name in exports"] == "a3"
    assert OWNER in owner
    assert OWNER not in own
    assert '"seed"' not in own
    value = store.read(lambda connection: person_data(connection, row, for_owner=False))
    assert len(value["units"][0]["answers"]) >= 4


def test_the_person_gets_no_names_of_documents_while_the_unit_is_open(store: Store) -> None:
    created(store, small_plan("grades", k=4))
    service = seeded(store, Clock(step=10.0))
    person = asyncio.run(service.arrive("pilot", "link", "ann"))
    asyncio.run(work(service, person, Random(1), 3))

    def units(for_owner: bool) -> list[dict[str, Any]]:
        row = store.read(lambda connection: state.find_assessor(connection, person))[0]  # type: ignore[index]
        return store.read(lambda connection: person_data(connection, row, for_owner=for_owner))["units"]

    assert [(unit["status"], len(unit["answers"]) > 0) for unit in units(False)] == [("open", True)]
    assert not any(key.startswith("document") for answer in units(False)[0]["answers"] for key in answer)
    assert all("documents" in answer for answer in units(True)[0]["answers"])
    asyncio.run(work(service, person, Random(1), 3))
    assert units(False)[0]["status"] == "completed"
    assert all("documents" in answer for answer in units(False)[0]["answers"])


@pytest.mark.parametrize(("days", "fits"), [(0, True), (36_500, True), (1e300, False), (36_501, False), (-1, False)])
def test_a_retention_time_is_a_hundred_years_at_most(days: float, fits: bool) -> None:
    if fits:
        assert small_plan("grades", campaign={"retention_days": days}).retention_days == days
    else:
        with pytest.raises(SchemaError, match="retention_days"):
            small_plan("grades", campaign={"retention_days": days})


def test_a_model_or_a_stranger_is_no_person_to_delete(store: Store) -> None:
    filled(store)
    with pytest.raises(ArgumentError, match="no such person"):
        store.write(lambda connection: delete_person(connection, "pilot", 12345, NOW))
