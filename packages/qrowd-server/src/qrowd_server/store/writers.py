"""Exported rows as files, piece by piece: every writer is a generator of bytes.

json_lines, csv, parquet     tables, which read_judgments and read_preferences read
qrels                        `topic assessor document value`
"""

from __future__ import annotations

import csv as csv_module
import re
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from itertools import islice
from json import JSONEncoder
from tempfile import TemporaryFile
from typing import Any

from qrowd.errors import ArgumentError
from qrowd.trec import checked_label, qrels_line
from qrowd_server.store.export import Tuple

ROWS = 1000  # in a piece
ROWS_OF_PARQUET = 50_000  # in a row group
PIECE = 1 << 20  # bytes
FORMULA = re.compile(r"[\t\r\n]|\s*[=+\-@]")  # how a cell starts that a spreadsheet may work out
NUMBERS = {"value", "seconds", "time", "active", "started", "ended", "confidence", "understanding"}
NUMBERS |= {"accuracy", "accuracy_low", "accuracy_high", "bonus"}
WHOLE = {"order", "strength", "first", "visits", "revisions", "assignment", "id"}
WHOLE |= {"right", "units", "gold_answers", "gold_right"}
WHOLE |= {"documents", "answers", "session", "backs", "fails", "wrong", "looked_up", "position"}
TRUTHS = {"counted", "counts", "late"}


def json_lines(columns: Sequence[str], rows: Iterable[Tuple]) -> Iterator[bytes]:
    """One JSON object a line."""
    encode = JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
    for piece in _pieces(rows, ROWS):
        yield ("\n".join([encode(dict(zip(columns, row, strict=True))) for row in piece]) + "\n").encode()


def csv(columns: Sequence[str], rows: Iterable[Tuple], *, for_spreadsheets: bool = False) -> Iterator[bytes]:
    """Comma-separated, the first line names the columns.

    for_spreadsheets : a text that begins with = + - @, with a tab or with a break gets an apostrophe before it, so that
        no program takes it for a formula. Such a file is to look at: read back, those texts keep the apostrophe.
    """
    text = StringIO(newline="")
    write = csv_module.writer(text, lineterminator="\r\n")  # or a cell with a lone return would not be quoted
    write.writerow(columns)
    for piece in _pieces(rows, ROWS):
        write.writerows([_harmless(row) for row in piece] if for_spreadsheets else piece)
        yield text.getvalue().encode()
        text.seek(0)
        text.truncate()
    if text.tell():  # no rows, only the names
        yield text.getvalue().encode()


def parquet(columns: Sequence[str], rows: Iterable[Tuple]) -> Iterator[bytes]:
    """Parquet, which needs pyarrow (`pip install 'qrowd[tables]'`)."""
    try:
        import pyarrow
        from pyarrow import parquet as files
    except ImportError:
        raise ArgumentError("writing Parquet needs pyarrow; pip install 'qrowd[tables]'") from None

    def kind(name: str) -> Any:
        if name in TRUTHS:
            return pyarrow.bool_()
        return pyarrow.float64() if name in NUMBERS else pyarrow.int64() if name in WHOLE else pyarrow.string()

    schema = pyarrow.schema([(name, kind(name)) for name in columns])
    with TemporaryFile() as file:  # its end says where everything is
        with files.ParquetWriter(file, schema, compression="zstd") as writer:
            for piece in _pieces(rows, ROWS_OF_PARQUET):
                cells = zip(*piece, strict=True)
                arrays = [pyarrow.array(column, field.type) for column, field in zip(cells, schema, strict=True)]
                writer.write_batch(pyarrow.record_batch(arrays, schema=schema))
        file.seek(0)
        yield from iter(lambda: file.read(PIECE), b"")


def qrels(columns: Sequence[str], rows: Iterable[Tuple]) -> Iterator[bytes]:
    """Judgments as qrels lines; column 2 is the assessor."""
    at = [columns.index(name) for name in ("topic", "document", "assessor", "value")]
    for piece in _pieces(rows, ROWS):
        lines = []
        for row in piece:
            label, name, who, value = (row[i] for i in at)
            lines.append(qrels_line(checked_label(label, first=True), checked_label(who), checked_label(name), value))
        yield "".join(lines).encode()


def _pieces(rows: Iterable[Tuple], size: int) -> Iterator[list[Tuple]]:
    rows = iter(rows)
    while piece := list(islice(rows, size)):
        yield piece


def _harmless(row: Tuple) -> Tuple:
    return tuple(f"'{cell}" if isinstance(cell, str) and FORMULA.match(cell) else cell for cell in row)
