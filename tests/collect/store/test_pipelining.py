"""Statements that are sent without waiting for them: the same as one by one, in both databases."""

import asyncio
from contextlib import contextmanager
from random import Random

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import bindparam, delete, event, insert, select, update
from sqlalchemy.exc import DataError, IntegrityError

from judging import Clock, created, next_action, seeded, small_plan, work
from qrowd.collect.protocols.views import DocumentView
from qrowd.collect.store.base import StoreUnknownError
from qrowd.collect.store.schema import setting
from qrowd.collect.store.sqlite import Direct

ROW = {"name": bindparam("key"), "value": bindparam("text")}
PUT = Direct(insert(setting).values(ROW))
CHANGE = Direct(update(setting).where(setting.c.name == bindparam("key")).values(value=bindparam("text")))
FIND = Direct(select(setting.c.value).where(setting.c.name == bindparam("key")))
ALL = select(setting.c.name, setting.c.value).order_by(setting.c.name)
FIRST = {"key": "k0", "text": "first"}


@pytest.fixture
def notes(store):
    store.write(lambda connection: connection.execute(delete(setting)))
    return store


@pytest.fixture
def served(postgres, opened, monkeypatch):
    """A store in PostgreSQL alone."""
    monkeypatch.setattr("qrowd.collect.store.postgres.PAUSE", 0.001)
    store = opened(postgres.database())
    store.write(lambda connection: connection.execute(delete(setting)))
    return store


steps = st.lists(
    st.tuples(st.sampled_from(["send", "change", "ask", "first", "run", "all"]), st.integers(0, 3)), max_size=14
)


@given(steps=steps)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_sent_and_asked_in_any_order_is_as_if_each_was_waited_for(notes, steps):
    notes.write(lambda connection: connection.execute(delete(setting)))
    expected, known = [], {}

    def mixed(connection):
        asked = []
        for n, (what, number) in enumerate(steps):
            key, values = f"k{number}", {"key": f"k{number}", "text": f"v{n}"}
            if what == "send" and key not in known:
                PUT.send(connection, values)
                known[key] = values["text"]
            elif what == "change":
                CHANGE.send(connection, values)
                known.update({key: values["text"]} if key in known else {})
            elif what == "run":
                assert CHANGE.run(connection, values) == (key in known)
                known.update({key: values["text"]} if key in known else {})
            elif what == "all":
                assert connection.execute(ALL).all() == sorted(known.items())
            elif what in ("ask", "first"):
                one = FIND.ask(connection, {"key": key}, tuple)
                asked.append(one)
                expected.append(known.get(key))
                if what == "first":
                    one()
        return asked

    answers = notes.write(mixed)  # read after the transaction
    assert [None if (row := one()) is None else row[0] for one in answers] == expected
    assert notes.read(lambda connection: connection.execute(ALL).all()) == sorted(known.items())


@pytest.mark.parametrize("later", ["nothing", "another", "asked", "committed"])
def test_a_statement_that_fails_undoes_the_work_and_leaves_the_store_in_order(notes, later):
    notes.write(lambda connection: PUT.send(connection, FIRST))

    def twice(connection):
        PUT.send(connection, {"key": "k1", "text": "undone"})
        PUT.send(connection, FIRST)
        if later == "another":
            connection.execute(ALL)
        elif later == "asked":
            FIND.first(connection, {"key": "k0"})
        elif later == "committed":
            FIND.ask(connection, {"key": "k0"}, tuple)

    for _ in range(3):
        with pytest.raises(IntegrityError):
            notes.write(twice)
    assert notes.read(lambda connection: connection.execute(ALL).all()) == [("k0", "first")]
    notes.write(lambda connection: PUT.send(connection, {"key": "k2", "text": "later"}))
    assert notes.read(lambda connection: connection.execute(ALL).all()) == [("k0", "first"), ("k2", "later")]


def test_a_work_that_raises_takes_what_it_sent_with_it(notes):
    class Mine(Exception):
        pass

    def raises(connection):
        PUT.send(connection, FIRST)
        raise Mine

    for _ in range(20):  # more often than there are connections
        with pytest.raises(Mine):
            notes.write(raises)
    assert notes.read(lambda connection: connection.execute(ALL).all()) == []


def test_an_error_of_a_sent_statement_has_the_name_that_sqlalchemy_gives_it(served):
    def wrong(connection):
        Direct(select(setting.c.name.label("a")).where(setting.c.value == bindparam("key")).limit(-1)).first(
            connection, {"key": "x"}
        )

    with pytest.raises(DataError, match="LIMIT"):
        served.write(wrong)


def test_two_who_wait_for_the_same_row_in_sent_statements_come_one_after_the_other(served):
    served.write(lambda connection: PUT.send(connection, {"key": "n", "text": "0"}))
    lock = Direct(select(setting.c.value).where(setting.c.name == bindparam("key")).with_for_update())

    def add(connection):
        asked = lock.ask(connection, {"key": "n"}, tuple)
        CHANGE.send(connection, {"key": "n", "text": str(int(asked()[0]) + 1)})

    async def many():
        await asyncio.gather(*(served.write_async(add) for _ in range(60)))

    asyncio.run(many())
    assert served.read(lambda connection: FIND.first(connection, {"key": "n"}))[0] == "60"


@contextmanager
def ending(connection):
    """What kills this connection's own backend; whoever waits for it then finds it gone."""
    pid = connection.exec_driver_sql("select pg_backend_pid()").scalar()
    url = connection.engine.url.set(drivername="postgresql").render_as_string(False)
    with psycopg.connect(url, autocommit=True) as other:
        yield lambda: other.execute("select pg_terminate_backend(%s, 5000)", (pid,))


def test_a_connection_lost_under_a_question_is_replaced_and_the_work_run_again(served):
    tries = []

    def work(connection):
        tries.append(1)
        with ending(connection) as end:
            PUT.send(connection, FIRST)
            if len(tries) == 1:
                end()
        return FIND.first(connection, {"key": "k0"})[0]

    assert served.write(work) == "first"
    assert len(tries) == 2


def test_a_connection_lost_with_the_commit_is_reported_as_unknown(served):
    def work(connection):
        with ending(connection) as end:
            PUT.send(connection, FIRST)
            end()

    with pytest.raises(StoreUnknownError, match="look the key up"):
        served.write(work)
    assert served.read(lambda connection: connection.execute(ALL).all()) == []
    served.write(lambda connection: PUT.send(connection, FIRST))


@pytest.mark.parametrize(("protocol", "most"), [("grades", 3), ("magnitude", 3), ("preference", 3)])
def test_an_answer_waits_for_postgresql_at_most_three_times(served, monkeypatch, protocol, most):
    rating = {} if protocol == "magnitude" else {"rating": False}
    created(served, small_plan(protocol, documents=12 if protocol == "preference" else 8, **rating))
    service = seeded(served, Clock(step=40.0))
    waits = []

    async def answer():
        who = await service.arrive("pilot", "link", "ann")
        page = await work(service, who, Random(1), steps=3)
        leave, run = psycopg.Pipeline.__exit__, event.listen

        def left(pipeline, *reason):
            waits.append("sent")
            return leave(pipeline, *reason)

        monkeypatch.setattr(psycopg.Pipeline, "__exit__", left)
        run(served._engine, "before_cursor_execute", lambda connection, cursor, text, *_: waits.append(text))
        receipt = await service.act(who, next_action(page, Random(2)), shown=page.shown, key=page.key)
        assert receipt.events
        return receipt.page.view

    view = asyncio.run(answer())
    assert protocol == "preference" or isinstance(view, DocumentView)
    assert 1 <= len(waits) <= most, waits


def test_more_than_a_socket_holds_is_sent_and_comes_back(served):
    texts = [f"{n} " + "words " * 200_000 for n in range(12)]  # a megabyte each

    def put(connection):
        for n, text in enumerate(texts):
            PUT.send(connection, {"key": f"k{n}", "text": text})
        return [FIND.ask(connection, {"key": f"k{n}"}, tuple) for n in range(12)]

    assert [one()[0] for one in served.write(put)] == texts
