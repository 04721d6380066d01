"""Migrating an empty database makes what the schema says, no more and no less."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine, inspect, text

import qrowd_server.store.engine
from qrowd_server.store.base import Store, StoreError
from qrowd_server.store.engine import HEAD, bring_up_to_date, open_store
from qrowd_server.store.schema import metadata
from qrowd_server.store.sessions import find_api_key, make_api_key
from servers import PostgresServer

pytestmark = pytest.mark.usefixtures("without_copies")

PARTS = {
    "sqlite": "select name, sql from sqlite_master where name not like '%alembic%' and sql is not null",
    "postgresql": """
        select conname, conrelid::regclass::text || ' ' || pg_get_constraintdef(oid) from pg_constraint
        where connamespace = 'public'::regnamespace and conrelid::regclass::text <> 'alembic_version'
        union all select indexname, indexdef from pg_indexes
        where schemaname = 'public' and tablename <> 'alembic_version'
        union all select table_name || '.' || column_name,
            data_type || ' ' || is_nullable || ' ' || coalesce(column_default, '') from information_schema.columns
        where table_schema = 'public' and table_name <> 'alembic_version'""",
}


@pytest.fixture
def engine(empty: str) -> Iterator[Engine]:
    made = create_engine(empty.replace("postgresql:", "postgresql+psycopg:"))
    yield made
    made.dispose()


def parts(connection: Connection) -> dict[str, str]:
    """Everything the database says of its tables, by name; of SQLite's own words, in any order.

    A column that SQLite added later stands on the line of another one, so commas outside of brackets end a line, too.
    """
    found = connection.execute(text(PARTS[connection.dialect.name]))
    ends = re.compile(r"\n|,(?![^()]*\))")
    lines = {name: sorted(line.strip(" ,\t") for line in ends.split(sql)) for name, sql in found}
    return {name: "\n".join(filter(None, each)) for name, each in lines.items()}


def test_migrating_makes_the_schema(engine: Engine) -> None:
    with engine.begin() as connection:
        bring_up_to_date(connection, "here")
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, metadata) == []


def test_migrating_makes_the_very_tables_that_create_all_makes(engine: Engine) -> None:
    with engine.begin() as connection:
        metadata.create_all(connection)
        expected = parts(connection)
        metadata.drop_all(connection)
        bring_up_to_date(connection, "here")
        assert parts(connection) == expected
    assert len(expected) >= len(metadata.tables)


STEP = """
from alembic import op
from sqlalchemy import Column, Integer

revision, down_revision = "0004", "0003"


def upgrade():
    op.add_column("api_key", Column("more", Integer))
    {then}
"""


def with_a_step(folder: Path, then: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A later qrowd, whose tables have one step more."""
    shutil.copytree(qrowd_server.store.engine.MIGRATIONS, folder)
    (folder / "versions" / "v0004.py").write_text(STEP.format(then=then))
    monkeypatch.setattr(qrowd_server.store.engine, "MIGRATIONS", folder)
    monkeypatch.setattr(qrowd_server.store.engine, "HEAD", "0004")


def columns(store: Store) -> set[str]:
    return store.read(lambda connection: {column["name"] for column in inspect(connection).get_columns("api_key")})


def test_a_later_version_brings_the_tables_up_to_date_and_an_earlier_one_refuses_them(
    empty: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(empty) as store:
        key = store.write(lambda c: make_api_key(c, "old", 1.0))
    with monkeypatch.context() as patch:
        with_a_step(tmp_path / "later", "pass", patch)
        with pytest.raises(StoreError, match="made by an older qrowd; start qrowd serve once"):
            open_store(empty, read_only=True)
        with open_store(empty) as store:
            assert "more" in columns(store)
            assert store.read(lambda c: find_api_key(c, key)) is not None
    with pytest.raises(StoreError, match=r"made by a newer qrowd \(version 0004 of its tables, not 0003\)"):
        open_store(empty)


def test_a_step_that_fails_leaves_the_database_as_it_was(
    empty: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_store(empty).close()
    with monkeypatch.context() as patch:
        with_a_step(tmp_path / "later", "raise KeyError", patch)
        with pytest.raises(KeyError):
            open_store(empty)
    with open_store(empty) as store:
        assert "more" not in columns(store)


def test_a_database_from_before_the_first_release_is_refused_with_the_next_step(empty: str) -> None:
    with open_store(empty) as store:
        store.write(lambda connection: connection.execute(text("update alembic_version set version_num = '0002'")))
    for read_only in (False, True):
        with pytest.raises(StoreError, match=r"made before qrowd 0\.3\.0, .*; export it with the version that made it"):
            open_store(empty, read_only=read_only)


def test_the_newest_step_is_the_one_that_migrate_names() -> None:
    config = Config()
    config.set_main_option("script_location", qrowd_server.store.engine.__file__.replace("engine.py", "migrations"))
    config.set_main_option("path_separator", "os")
    assert ScriptDirectory.from_config(config).get_heads() == [HEAD]


def test_a_store_whose_making_failed_is_made_by_the_next_start(empty: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyError("power")

    with monkeypatch.context() as patch:
        patch.setattr("alembic.runtime.migration.HeadMaintainer.update_to_step", stop)
        with pytest.raises(KeyError):
            open_store(empty)
    with open_store(empty) as store:
        assert store.read(lambda connection: len(inspect(connection).get_table_names())) == len(metadata.tables) + 1


def test_another_program_s_database_is_left_alone(engine: Engine, empty: str) -> None:
    with engine.begin() as connection:
        connection.execute(text("create table theirs (x integer)"))
    with pytest.raises(StoreError, match="another program \\(theirs\\)"):
        open_store(empty)
    assert inspect(engine).get_table_names() == ["theirs"]


def test_a_database_in_sql_ascii_holds_any_text(postgres: PostgresServer) -> None:
    """Without a locale, initdb makes databases in it, from which text would come as bytes."""
    url = postgres.database("encoding 'SQL_ASCII'")
    with open_store(url) as store:
        store.write(lambda c: make_api_key(c, "ключ 猫", 1.0))
        assert store.read(lambda c: c.scalar(text("select name from api_key"))) == "ключ 猫"
    postgres.drop(url)
