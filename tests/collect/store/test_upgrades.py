"""A store of the first release is brought up to date with all that it holds."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Connection, Engine, create_engine, text

from collect.store.test_migrations import parts
from judging import Clock, created, seeded, small_plan, tables, work
from qrowd.collect.store.engine import open_store
from qrowd.collect.store.migrate import HEAD, version
from qrowd.collect.store.schema import metadata


@pytest.fixture
def engine(empty: str) -> Iterator[Engine]:
    made = create_engine(empty.replace("postgresql:", "postgresql+psycopg:"))
    yield made
    made.dispose()


def to_first_release(connection: Connection) -> None:
    """Undo what step 0002 did, where nothing is in the tables that it touches but in `assignment`."""
    connection.execute(text("drop table question"))
    connection.execute(text("update alembic_version set version_num = '0001'"))
    if connection.dialect.name == "postgresql":
        connection.execute(text("alter table assignment drop constraint uq_assignment_assessor_id_topic_id_drawn_id"))
        connection.execute(text("alter table assignment drop column drawn_id"))
        constraint = "constraint uq_assignment_assessor_id_topic_id unique (assessor_id, topic_id)"
        connection.execute(text(f"alter table assignment add {constraint}"))
        return
    sql = connection.scalar(text("select sql from sqlite_master where name = 'assignment'"))
    old = "\n".join(line for line in sql.splitlines() if "drawn_id INTEGER" not in line)
    old = old.replace("_drawn_id UNIQUE (assessor_id, topic_id, drawn_id)", " UNIQUE (assessor_id, topic_id)")
    of_indexes = "select sql from sqlite_master where tbl_name = 'assignment' and type = 'index' and sql is not null"
    indexes = connection.scalars(text(of_indexes)).all()
    connection.execute(text("create temp table kept as select * from assignment"))
    connection.execute(text("alter table kept drop column drawn_id"))
    connection.execute(text("drop table assignment"))
    connection.execute(text(old))
    connection.execute(text("insert into assignment select * from kept"))
    connection.execute(text("drop table kept"))
    for index in indexes:
        connection.execute(text(index))


def test_a_store_of_the_first_release_keeps_everything(empty: str, engine: Engine) -> None:
    import asyncio
    from random import Random

    with open_store(empty) as store:
        created(store, small_plan("grades", k=2, redundancy=3))
        created(store, small_plan("preference", name="pairs"))
        service = seeded(store, Clock(step=3.0))

        async def judge() -> None:
            for campaign in ("pilot", "pairs"):
                for i in range(4):
                    who = await service.arrive(campaign, "link", f"p{i}")
                    await work(service, who, Random(i), steps=9)

        asyncio.run(judge())
        before = store.read(tables)
    with engine.begin() as connection:  # SQLite: without foreign keys, as every connection begins
        expected = parts(connection)
        to_first_release(connection)
        assert version(connection) == "0001"
        assert parts(connection) != expected
    with open_store(empty) as store:
        assert store.read(version) == HEAD
        assert store.read(parts) == expected
        assert store.read(tables) == before
        who = asyncio.run(seeded(store, Clock(step=3.0), 9).arrive("pilot", "link", "somebody new"))
        assert who
        if store.dialect == "sqlite":
            assert store.read(lambda c: c.exec_driver_sql("pragma foreign_key_check").all()) == []
    assert "question" in metadata.tables
