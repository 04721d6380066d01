"""A store of the first release is brought up to date with all that it holds."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Connection, Engine, create_engine, text

from collect.store.test_migrations import parts
from judging import Clock, created, seeded, small_plan, tables, work
from qrowd.collect.store.accounts import accounts, add_account
from qrowd.collect.store.engine import open_store
from qrowd.collect.store.invitations import find_invitation, invite
from qrowd.collect.store.migrate import HEAD, version
from qrowd.collect.store.schema import metadata
from qrowd.errors import ArgumentError


@pytest.fixture
def engine(empty: str) -> Iterator[Engine]:
    made = create_engine(empty.replace("postgresql:", "postgresql+psycopg:"))
    yield made
    made.dispose()


def to_first_release(connection: Connection) -> None:
    """Undo what steps 0003 and 0002 did, where nothing is in the tables that they touch but what is looked at here."""
    undo_0003(connection)
    undo_0002(connection)


def undo_0003(connection: Connection) -> None:
    tables = ("invited", "sign_up", "member", "identity", "second_factor", "recovery_code", "gold_answer", "gold")
    tables += ("draft_part", "campaign_draft")
    for name in (*tables, "reservation", "message"):
        connection.execute(text(f"drop table {name}"))
    connection.execute(text("drop index uq_assessor_pseudonym"))
    connection.execute(text("alter table assessor drop column pseudonym"))
    connection.execute(text("alter table event drop column account"))
    connection.execute(text("alter table event drop column version"))
    connection.execute(text("alter table campaign drop column version"))
    connection.execute(text("alter table campaign drop column stamp"))
    connection.execute(text("alter table document drop column layout"))
    connection.execute(text("alter table document drop column pages"))
    connection.execute(text("alter table account drop column role"))
    connection.execute(text("alter table account drop column disabled"))
    connection.execute(text("drop index ix_event_by_owner"))
    connection.execute(text("drop index ix_event_of_assessor"))
    connection.execute(text("drop index ix_invitation_campaign_id_name"))
    if connection.dialect.name == "postgresql":
        constraint = "constraint uq_invitation_campaign_id_name unique (campaign_id, name)"
        connection.execute(text(f"alter table invitation add {constraint}"))
        return
    connection.execute(text("create unique index uq_invitation_campaign_id_name on invitation (campaign_id, name)"))


def undo_0002(connection: Connection) -> None:
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
        store.write(lambda c: add_account(c, "olga", "a hash", 5.0, role="administrator"))
        token = store.write(lambda c: invite(c, 1, "zoë", 5.0))
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
        assert [(one.name, one.role) for one in store.read(accounts)] == [("olga", "administrator")]
        assert store.read(lambda c: find_invitation(c, token)).name == "zoë"
        with pytest.raises(ArgumentError, match="looks like"):  # the names of before are known
            store.write(lambda c: invite(c, 1, "Zoe\u0308", 6.0))
        if store.dialect == "sqlite":
            assert store.read(lambda c: c.exec_driver_sql("pragma foreign_key_check").all()) == []
    assert "question" in metadata.tables
