import contextlib
import dataclasses
import os
import signal
import sqlite3
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qrowd.errors import FileError
from qrowd.judge.exchange import Message, Reply, Request
from qrowd.judge.record import Record, is_complete

REQUEST = Request("http://localhost:1/v1", "small", (Message("user", "hello"),), {"temperature": 0})
TEXTS = st.text(st.characters(exclude_categories=()), max_size=5)  # lone surrogates too
NUMBERS = st.none() | st.integers(0, 2**40)
REPLIES = st.builds(
    Reply,
    text=st.none() | TEXTS,
    refusal=st.none() | TEXTS,
    tokens_in=NUMBERS,
    seconds=st.floats(0, 1e6),
    error=st.none() | TEXTS,
    timed_out=st.booleans(),
    raw=TEXTS,
)


@settings(max_examples=settings.default.max_examples * 4 // 5)
@given(reply=REPLIES, content=TEXTS)
def test_what_is_read_from_a_record_is_what_was_written(tmp_path_factory, reply, content):
    request = dataclasses.replace(REQUEST, messages=(Message("user", content),), schema={"type": "object"})
    with Record(tmp_path_factory.mktemp("record") / "judge.sqlite") as record:
        record.add(request, reply, cost=0.5)
        (attempt,) = record.attempts()
        assert (attempt.request, attempt.reply, attempt.cost) == (request, reply, 0.5)
        assert attempt.request.key == request.key
        assert record.has(request, reply)
        assert not record.has(request, dataclasses.replace(reply, raw=reply.raw + "."))
        assert record.latest(request.key) == reply


def test_only_complete_replies_are_reused_and_the_latest_of_them(tmp_path):
    with Record(tmp_path / "judge.sqlite") as record:
        record.add(REQUEST, Reply(error="HTTP 500"))
        assert not is_complete(record.latest(REQUEST.key))
        record.add(REQUEST, Reply(text="1"))
        record.add(REQUEST, Reply(text="2", finish_reason="length"))
        record.add(REQUEST, Reply(timed_out=True, error="no answer within 1 s"))
        assert record.latest(REQUEST.key) == Reply(text="2", finish_reason="length")
        assert len(record) == 4


@pytest.mark.parametrize(
    "change",
    [
        {"endpoint": "http://localhost:2/v1"},
        {"model": "large"},
        {"messages": (Message("user", "hello "),)},
        {"messages": (Message("system", "hello"),)},
        {"parameters": {"temperature": 1}},
        {"parameters": {}},
        {"schema": {"type": "integer"}},
        {"sample": 2},
    ],
)
def test_two_endpoints_models_prompts_parameters_or_samples_never_share_a_reply(tmp_path, change):
    with Record(tmp_path / "judge.sqlite") as record:
        record.add(REQUEST, Reply(text="1"))
        assert record.latest(dataclasses.replace(REQUEST, **change).key) is None


def test_attempts_are_never_changed_or_deleted(tmp_path):
    with Record(tmp_path / "judge.sqlite") as record:
        record.add(REQUEST, Reply(text="1"))
    with sqlite3.connect(tmp_path / "judge.sqlite") as database:
        for statement in ("UPDATE attempts SET cost = 0", "DELETE FROM attempts"):
            with pytest.raises(sqlite3.IntegrityError, match="never"):
                database.execute(statement)
    database.close()


def test_a_transaction_is_there_as_a_whole_or_not_at_all(tmp_path):
    with Record(tmp_path / "judge.sqlite") as record:
        with contextlib.suppress(KeyboardInterrupt), record.transaction():
            record.add(REQUEST, Reply(text="1"))
            raise KeyboardInterrupt
        assert len(record) == 0
        with record.transaction():
            record.add(REQUEST, Reply(text="1"))
        assert len(record) == 1


HOLDER = (
    "import sys; from qrowd.judge.record import Record; r = Record(sys.argv[1]); print('held', flush=True); input()"
)


def test_a_second_process_gets_one_line_may_read_and_may_write_once_the_first_is_killed(tmp_path):
    path = tmp_path / "judge.sqlite"
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(FileError, match=r"judge\.sqlite: another qrowd process writes this record; wait"):
            Record(path)
        with Record(path, read_only=True) as record:
            assert len(record) == 0
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
    with Record(path) as record:
        record.add(REQUEST, Reply(text="1"))
        assert len(record) == 1


def test_another_file_is_refused_and_stays_as_it_is(tmp_path):
    text, other = tmp_path / "notes.txt", tmp_path / "other.sqlite"
    text.write_text("topic,document\n" * 100)
    with sqlite3.connect(other) as database:
        database.execute("CREATE TABLE t (a)")
    database.close()
    for path in (text, other):
        before = path.read_bytes()
        with pytest.raises(FileError, match="choose another name"):
            Record(path)
        assert path.read_bytes() == before
    with pytest.raises(FileError, match="there is no such record"):
        Record(tmp_path / "none.sqlite", read_only=True)
    with pytest.raises(FileError, match="does the folder exist"):
        Record(tmp_path / "none" / "judge.sqlite")


def test_a_record_of_a_later_version_is_refused_in_one_line(tmp_path):
    with Record(tmp_path / "judge.sqlite"):
        pass
    with sqlite3.connect(tmp_path / "judge.sqlite") as database:
        database.execute("PRAGMA user_version = 9")
    database.close()
    for read_only in (False, True):
        with pytest.raises(FileError, match="is a record of version 9, this qrowd reads 1; update qrowd"):
            Record(tmp_path / "judge.sqlite", read_only=read_only)
