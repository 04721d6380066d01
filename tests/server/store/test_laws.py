"""What every store promises, whatever database holds it."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Connection, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from qrowd.errors import ArgumentError
from qrowd_server.store import event_log as events
from qrowd_server.store import schema
from qrowd_server.store.base import Store, StoreError
from qrowd_server.store.engine import open_store
from qrowd_server.store.sqlite import backup
from server.soak.store import AT, answer, assessor_row, assignment_row, campaign, prepare
from servers import PostgresServer


def put(name: str, value: str = "v") -> Callable[[Connection], str]:
    def work(connection: Connection) -> str:
        connection.execute(insert(schema.setting), {"name": name, "value": value})
        return name

    return work


def names(connection: Connection) -> list[str]:
    return list(connection.scalars(select(schema.setting.c.name).order_by(schema.setting.c.name)))


def test_what_write_returns_is_there_for_every_reader(store: Store) -> None:
    assert store.write(put("a")) == "a"
    assert store.read(names) == ["a"]


def test_a_work_that_raises_leaves_nothing_and_its_error_comes_back(store: Store) -> None:
    def work(connection: Connection) -> None:
        put("a")(connection)
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        store.write(work)
    assert store.read(names) == []


def test_of_a_hundred_works_at_once_those_that_raise_are_undone_alone(store: Store) -> None:
    def work(number: int) -> Callable[[Connection], int]:
        def one(connection: Connection) -> int:
            put(f"{number:03}")(connection)
            if number % 3 == 0:
                raise LookupError(number)
            if number % 3 == 1:
                put("twice")(connection)  # only the first of these can
            return number

        return one

    async def all_at_once() -> list[object]:
        works = (store.write_async(work(n)) for n in range(100))
        return list(await asyncio.gather(*works, return_exceptions=True))

    results = asyncio.run(all_at_once())
    kept = [n for n, result in enumerate(results) if result == n]
    assert [type(r) for n, r in enumerate(results) if n % 3 == 0] == [LookupError] * 34
    assert [r for n, r in enumerate(results) if n % 3 == 2] == [n for n in range(100) if n % 3 == 2]
    assert sum(n % 3 == 1 for n in kept) == 1
    assert sum(isinstance(result, IntegrityError) for result in results) == 32
    assert store.read(names) == [f"{n:03}" for n in kept] + ["twice"]


def test_a_work_may_undo_a_part_of_itself(store: Store) -> None:
    def work(connection: Connection) -> None:
        put("a")(connection)
        with pytest.raises(IntegrityError), connection.begin_nested():
            put("a")(connection)
        put("b")(connection)

    store.write(work)
    assert store.read(names) == ["a", "b"]


@pytest.mark.parametrize("how", ["commit", "rollback"])
def test_a_work_that_commits_or_rolls_back_by_itself_is_refused(store: Store, how: str) -> None:
    def work(connection: Connection) -> None:
        put("a")(connection)
        getattr(connection, how)()

    with pytest.raises(StoreError, match="must not commit"):
        store.write(work)
    assert store.write(put("b")) == "b"


def test_a_reader_cannot_write(store: Store) -> None:
    with pytest.raises(Exception, match=r"read-?only"):
        store.read(put("a"))
    assert store.read(names) == []


def test_a_reader_sees_one_moment_whatever_is_written_meanwhile(store: Store) -> None:
    store.write(put("a"))
    with store.reading() as connection:
        assert names(connection) == ["a"]
        store.write(put("b"))
        assert names(connection) == ["a"]
    assert store.read(names) == ["a", "b"]


def test_a_stream_sees_one_moment_from_its_first_row(store: Store) -> None:
    for name in "abc":
        store.write(put(name))
    stream = store.stream(lambda connection: connection.scalars(select(schema.setting.c.name).order_by("name")))
    assert next(stream) == "a"
    store.write(put("bb"))
    assert list(stream) == ["b", "c"]


def test_a_hundred_increments_from_ten_threads_lose_none(store: Store) -> None:
    store.write(put("n", "0"))
    row = schema.setting.c.name == "n"

    def work(connection: Connection) -> None:
        now = int(connection.execute(select(schema.setting.c.value).where(row).with_for_update()).scalar_one())
        connection.execute(update(schema.setting).where(row).values(value=str(now + 1)))

    threads = [threading.Thread(target=lambda: [store.write(work) for _ in range(10)]) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.read(lambda connection: connection.scalar(select(schema.setting.c.value).where(row))) == "100"


def test_the_same_form_sent_ten_times_at_once_is_one_event_and_one_answer(store: Store) -> None:
    store.write(lambda connection: prepare(connection, 1))

    async def send() -> list[int]:
        return list(await asyncio.gather(*(store.write_async(answer(1, "key", 0)) for _ in range(10))))

    assert len(set(asyncio.run(send()))) == 1
    assert store.read(lambda c: c.scalar(select(func.count(schema.event.c.id)))) == 1


def test_read_async_reads(store: Store) -> None:
    store.write(put("a"))
    assert asyncio.run(store.read_async(names)) == ["a"]
    assert asyncio.run(store.read_async(names)) == ["a"]


def test_a_caller_who_goes_away_does_not_disturb_the_others(store: Store) -> None:
    async def leave() -> str:
        gone = asyncio.ensure_future(store.write_async(put("a")))
        await asyncio.sleep(0)
        gone.cancel()
        return await store.write_async(put("b"))

    assert asyncio.run(leave()) == "b"
    assert "b" in store.read(names)


def test_what_is_in_a_store_is_there_when_it_is_opened_again(address: str) -> None:
    with open_store(address) as store:
        store.write(put("a"))
    with open_store(address, create=False) as store:
        assert store.read(names) == ["a"]


def test_a_closed_store_says_so_and_closes_twice(store: Store) -> None:
    store.close()
    store.close()
    with pytest.raises(StoreError, match="is closed"):
        store.write(names)


def test_a_read_only_store_reads_while_another_writes_and_writes_nothing(
    store: Store, address: str, opened: Callable[..., Store]
) -> None:
    reader = opened(address, read_only=True)
    store.write(put("a"))
    assert reader.read(names) == ["a"]
    with pytest.raises(StoreError, match="read only"):
        reader.write(put("b"))


@pytest.mark.parametrize("options", [{"create": False}, {"read_only": True}])
def test_what_is_not_there_is_not_made_unasked(empty: str, options: dict[str, bool]) -> None:
    with pytest.raises(StoreError, match=r"no such file|no tables of qrowd; in an empty database qrowd serve makes"):
        open_store(empty, **options)


def test_a_store_made_by_a_newer_qrowd_is_refused(empty: str) -> None:
    with open_store(empty) as store:
        store.write(lambda connection: connection.exec_driver_sql("update alembic_version set version_num = '9999'"))
    with pytest.raises(StoreError, match="newer qrowd"):
        open_store(empty)


def test_the_password_is_in_no_text() -> None:
    with pytest.raises(StoreError) as caught:
        open_store("postgresql://me:hush@localhost:1/none")
    assert "hush" not in f"{caught.value!r}{caught.value}"


@pytest.mark.parametrize("url", ["mysql://localhost/x", "sqlite://", "postgresql://a:hush@b:port/c"])
def test_an_address_that_is_no_store_is_refused(url: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        open_store(url)
    assert "hush" not in str(caught.value)


# ---- what the tables themselves forbid


def two_assessors(connection: Connection) -> None:
    campaign(connection, topics=2, units=2)
    connection.execute(insert(schema.assessor), [assessor_row(1), assessor_row(2)])
    connection.execute(insert(schema.assignment), assignment_row(1, 1, 1, 0, status="open"))


@pytest.mark.parametrize(
    ("row", "allowed"),
    [
        (assignment_row(2, 2, 1, 0, status="open"), False),  # the slot is taken
        (assignment_row(2, 2, 1, 0, status="completed"), False),
        (assignment_row(2, 2, 1, 0, status="expired"), True),
        (assignment_row(2, 2, 1, 1, status="open"), True),
        (assignment_row(2, 1, 3, 0, status="open", topic_id=2), False),  # a second open one
        (assignment_row(2, 1, 3, 0, status="completed", topic_id=2), True),
        (assignment_row(2, 1, 2, 0, status="expired"), False),  # the topic a second time
    ],
)
def test_slots_open_assignments_and_topics_are_taken_once(store: Store, row: dict[str, object], allowed: bool) -> None:
    store.write(two_assessors)

    def add(connection: Connection) -> None:
        connection.execute(insert(schema.assignment), row)

    if allowed:
        store.write(add)
    else:
        with pytest.raises(IntegrityError):
            store.write(add)
    assert store.read(lambda c: c.scalar(select(func.count(schema.assignment.c.id)))) == 1 + allowed


def test_a_row_of_nothing_is_refused(store: Store) -> None:
    with pytest.raises(IntegrityError):
        store.write(lambda c: c.execute(insert(schema.assessor), assessor_row(1, campaign=7)))


def test_a_value_that_is_no_json_is_refused(store: Store) -> None:
    store.write(lambda connection: campaign(connection))
    odd = events.LogEntry(AT, 1, None, None, None, "server", "odd", {"x": float("nan")})
    with pytest.raises(Exception, match="JSON compliant"):
        store.write(lambda connection: events.append(connection, [odd]))


def test_a_postgresql_store_names_pg_dump(postgres: PostgresServer, tmp_path: Path) -> None:
    with open_store(postgres.database()) as store, pytest.raises(StoreError, match="pg_dump"):
        backup(store, tmp_path / "b.db")
