"""What was said comes out whole, in order, the same each time, and is read back."""

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, insert

from qrowd import read_judgments, read_preferences
from qrowd.errors import ArgumentError
from qrowd_server.campaigns.running.collected import JUDGMENTS, judgment_rows
from qrowd_server.store import event_log as events
from qrowd_server.store import export, schema, writers
from qrowd_server.store.base import Store, StoreError
from qrowd_server.store.engine import open_store
from qrowd_server.store.sqlite import backup
from server.soak.store import AT, assessor_row, assignment_row, campaign, judged, judgment_row, memory

WHY = 'he said "no", =then\r\nleft;\ttab 𝔘 \u2028 end'


def said(connection: Connection) -> None:
    """Two topics; a1 counts, a2 is excluded, a3 has not finished."""
    campaign(connection, topics=2, units=2)
    names = {1: None, 2: "bot", 3: None}
    connection.execute(insert(schema.assessor), [assessor_row(n, excluded=why) for n, why in names.items()])
    rows = [
        assignment_row(900, 1, 1, 0),
        assignment_row(100, 1, 4, 0, topic_id=2),
        assignment_row(500, 2, 1, 1),
        assignment_row(300, 3, 2, 0, status="open", counts=False),
    ]
    connection.execute(insert(schema.assignment), rows)
    judgments = [
        judgment_row(900, 1, 3, value=0.1, raw=".1", reason=WHY),
        judgment_row(900, 0, 2, value=None, raw="", active=None),
        judgment_row(900, 2, 1, value=40.0, raw="40", reason=""),
        judgment_row(100, 0, 1, value=1e-7),
        judgment_row(500, 0, 1),
        judgment_row(300, 0, 1),
    ]
    connection.execute(insert(schema.judgment), judgments)
    pair = {"campaign_id": 1, "unit_id": 1, "seconds": 3.5, "active": None, "time": AT, "strength": 1}
    pairs = [(900, 0, 1, 2, "left", 1), (900, 2, 3, 4, "right", 2), (900, 1, 1, 5, "duplicates", 1)]
    pairs += [(500, 0, 1, 2, "left", 1), (100, 0, 2, 1, "right", 1)]
    connection.execute(
        insert(schema.preference),
        [
            pair | dict(zip(("assignment_id", "number", "left_id", "right_id", "choice", "strength"), row, strict=True))
            for row in pairs
        ],
    )
    mark = {"campaign_id": 1, "unit_id": 1, "seconds": 2.0, "time": AT}
    marks = [mark | {"assignment_id": 900, "document_id": d, "number": n} for d, n in ((3, 3), (6, 1))]
    connection.execute(insert(schema.bad_mark), marks)
    for number in range(3):
        one = events.LogEntry(
            AT + number, 1, 1, 900, 1, "assessor", ["judged", "went_to", "judged"][number], {"position": number}
        )  # fmt: skip
        events.append(connection, [one])


@pytest.fixture
def full(store: Store) -> Store:
    store.write(said)
    return store


def rows(store: Store, what: Callable[..., Iterator[Any]], **options: object) -> list[Any]:
    return store.read(lambda c: list(what(c, 1, **options)))


def test_only_what_counts_is_exported_topic_by_topic_in_the_order_shown(full: Store) -> None:
    assert [row[:6] for row in rows(full, judgment_rows)] == [
        ("001", "d3", "a1", 0.1, 1, "001/0"),
        ("001", "d1", "a1", 40.0, 2, "001/0"),
        ("002", "d1", "a1", 1e-7, 0, "002/1"),
    ]


def test_everything_comes_with_a_column_that_says_whether_it_counts(full: Store) -> None:
    found = rows(full, judgment_rows, everything=True)
    named = [dict(zip(JUDGMENTS + export.STATUS, row, strict=True)) for row in found]
    assert [(r["assessor"], r["value"], r["counted"], r["status"], r["excluded"]) for r in named] == [
        ("a1", 0.1, True, "completed", None),
        ("a1", 40.0, True, "completed", None),
        ("a2", 10.0, False, "completed", "bot"),
        ("a3", 10.0, False, "open", None),
        ("a1", 1e-7, True, "completed", None),
    ]
    assert {type(r["counted"]) for r in named} == {bool}


def test_preferences_and_marks_stand_in_the_order_judged_without_duplicates(full: Store) -> None:
    found = [row[:7] for row in rows(full, export.preferences)]
    assert found == [
        ("001", "d1", "d2", "a1", 1, 1, 0),
        ("001", None, "d6", "a1", 1, None, 1),
        ("001", "d4", "d3", "a1", 2, 0, 2),
        ("001", None, "d3", "a1", 1, None, 3),
        ("002", "d1", "d2", "a1", 1, 0, 0),
    ]
    assert [row[:4] for row in rows(full, export.duplicates)] == [("001", "d1", "d5", "a1")]
    everything = rows(full, export.preferences, everything=True)
    assert [row[-3:] for row in everything].count((False, "completed", "bot")) == 1
    assert len(everything) == 6


FORMATS = {".jsonl": writers.json_lines, ".csv": writers.csv, ".parquet": writers.parquet}


def written(
    store: Store, path: Path, what: Callable[..., Iterator[Any]], columns: Sequence[str], **options: object
) -> Path:
    path.write_bytes(b"".join(FORMATS[path.suffix](columns, store.stream(lambda c: what(c, 1, **options)))))
    return path


@pytest.mark.parametrize("ending", FORMATS)
def test_exported_judgments_are_read_back_as_they_were(full: Store, tmp_path: Path, ending: str) -> None:
    path = written(full, tmp_path / f"j{ending}", judgment_rows, JUDGMENTS)
    found = read_judgments(path)
    assert (found.topics, found.documents, found.assessors) == (("001", "002"), ("d3", "d1"), ("a1",))
    assert found.value.tolist() == [0.1, 40.0, 1e-7]
    assert found.order is not None
    assert found.unit is not None
    assert found.comment is not None
    assert found.order.tolist() == [1, 2, 0]
    assert found.unit.tolist() == ["001/0", "001/0", "002/1"]
    assert found.comment.tolist()[0] == WHY


@pytest.mark.parametrize("ending", FORMATS)
def test_exported_preferences_are_read_back_as_they_were(full: Store, tmp_path: Path, ending: str) -> None:
    found = read_preferences(written(full, tmp_path / f"p{ending}", export.preferences, export.PREFERENCES))
    names = [(found.documents[p], found.documents[o]) for p, o in zip(found.preferred, found.other, strict=True)]
    assert names == [("d1", "d2"), ("d4", "d3"), ("d1", "d2")]
    assert found.strength.tolist() == [1, 2, 1]
    assert found.first is not None
    assert found.first.tolist() == [1, 0, 0]
    assert [found.documents[d] for d in found.bad_document] == ["d6", "d3"]


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("what", [judgment_rows, export.preferences])
def test_exporting_again_gives_the_same_bytes(
    full: Store, tmp_path: Path, ending: str, what: Callable[..., Iterator[Any]]
) -> None:
    columns = (JUDGMENTS if what is judgment_rows else export.PREFERENCES) + export.STATUS
    one, two = (written(full, tmp_path / f"{n}{ending}", what, columns, everything=True) for n in range(2))
    assert one.read_bytes() == two.read_bytes() != b""


@pytest.mark.nightly
def test_both_databases_export_the_same_bytes(postgres: Any, tmp_path: Path) -> None:
    found = []
    for url in (postgres.database(), tmp_path / "x.db"):
        with open_store(url) as store:
            store.write(said)
            for what, columns in ((judgment_rows, JUDGMENTS), (export.preferences, export.PREFERENCES)):
                found.append(b"".join(writers.json_lines(columns, store.stream(lambda c, what=what: what(c, 1)))))
    assert found[:2] == found[2:]


def test_an_empty_campaign_is_an_empty_export(store: Store) -> None:
    store.write(campaign)
    assert rows(store, judgment_rows) == rows(store, export.preferences) == []
    assert list(writers.json_lines(JUDGMENTS, [])) == []
    assert b"".join(writers.csv(("a", "b"), [])) == b"a,b\r\n"
    assert b"".join(writers.parquet(("a", "b"), [])).startswith(b"PAR1")


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", " =", "\n=", "\u00a0+"])
def test_a_cell_for_spreadsheets_is_never_a_formula_and_numbers_stay_numbers(start: str) -> None:
    row = (f"{start}cmd|' /C calc'!A0", -1.5, "plain=", None)
    text = b"".join(writers.csv(("a", "b", "c", "d"), [row], for_spreadsheets=True)).decode()
    assert list(csv.reader(StringIO(text, newline="")))[1] == ["'" + str(row[0]), "-1.5", "plain=", ""]
    plain = b"".join(writers.csv(("a", "b", "c", "d"), [row])).decode()
    assert list(csv.reader(StringIO(plain, newline="")))[1][0] == row[0]


def test_qrels_are_read_back(full: Store, tmp_path: Path) -> None:
    found = rows(full, judgment_rows)
    text = b"".join(writers.qrels(JUDGMENTS, found))
    assert text.decode().splitlines() == ["001 a1 d3 0.1", "001 a1 d1 40", "002 a1 d1 1e-07"]
    path = tmp_path / "x.qrels"
    path.write_bytes(text)
    assert read_judgments(path, assessor="column").value.tolist() == [0.1, 40.0, 1e-7]


def test_what_qrels_cannot_hold_is_refused() -> None:
    columns = ("topic", "document", "assessor", "value")
    with pytest.raises(ArgumentError, match="is empty"):
        list(writers.qrels(columns, [("1", "", "a", 1.0)]))


def test_a_long_export_is_streamed_in_little_memory(store: Store) -> None:
    n_judgments = 6_000
    store.write(lambda c: judged(c, n_judgments, topics=4))
    assert len(rows(store, judgment_rows)) == n_judgments  # warm
    before, n = memory(), 0
    for piece in writers.json_lines(JUDGMENTS, store.stream(lambda c: judgment_rows(c, 1))):
        assert len(piece) < 400_000  # of 1.5 MB
        n += piece.count(b"\n")
        json.loads(piece.split(b"\n", 1)[0])
    assert n == n_judgments
    assert memory() - before < 64


# ---- backup


def test_a_backup_holds_all_that_was_acknowledged_before_and_opens_as_a_store(tmp_path: Path) -> None:
    with open_store(tmp_path / "a.db") as store:
        store.write(said)
        backup(store, tmp_path / "b.db")
        expected = rows(store, judgment_rows)
        with pytest.raises(StoreError, match="is there already"):
            backup(store, tmp_path / "b.db")
    with open_store(tmp_path / "b.db") as copy:
        assert rows(copy, judgment_rows) == expected
        assert copy.read(lambda c: c.exec_driver_sql("pragma integrity_check").scalar()) == "ok"
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def test_a_backup_taken_while_many_write_is_a_prefix_with_everything_acknowledged_before(tmp_path: Path) -> None:
    import threading

    from sqlalchemy import select

    from server.soak.store import answer, prepare

    with open_store(tmp_path / "a.db") as store:
        store.write(lambda c: prepare(c, 4))
        acknowledged: list[str] = []
        stop = threading.Event()

        def write(assessor: int) -> None:
            n = 0
            while not stop.is_set():
                store.write(answer(assessor, f"{assessor}-{n}", n))
                acknowledged.append(f"{assessor}-{n}")
                n += 1

        threads = [threading.Thread(target=write, args=(i + 1,)) for i in range(4)]
        for thread in threads:
            thread.start()
        while len(acknowledged) < 60:
            pass
        before = list(acknowledged)
        backup(store, tmp_path / "b.db")
        stop.set()
        for thread in threads:
            thread.join()
        in_order = select(schema.event.c.idem_key).order_by(schema.event.c.id)
        all_ = store.read(lambda c: list(c.scalars(in_order)))
    with open_store(tmp_path / "b.db", read_only=True) as copy:
        found = copy.read(lambda c: list(c.scalars(in_order)))
    assert set(before) <= set(found)
    assert found == all_[: len(found)]
