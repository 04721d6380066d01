"""Judgments of TREC RAG in six columns: topic, Q0, segment, judgment, confidence and the run that judged.

Their number of fields is that of a run, so a file must name this reader: `trec-rag:FILE`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from qrowd.errors import FileError
from qrowd.readers.exports import Record, as_table

FIELDS = ("topic", "iteration", "document", "value", "confidence", "assessor")


def recognises(text: bytes, name: str) -> bool:
    """Never: a run looks the same."""
    return False


def read(text: bytes, name: str) -> dict[str, list[Any]]:
    """One row per line.

    Raises
    ------
    FileError
        A line with another number of fields, with its number.
    """
    return as_table(_rows(text.decode("utf-8-sig", "surrogateescape"), name), name, "holds no line")


def _rows(words: str, name: str) -> Iterator[Record]:
    for number, line in enumerate(words.split("\n"), start=1):
        fields = line.split()
        if not fields or line.startswith("#"):
            continue
        if len(fields) != len(FIELDS):
            expected = "topic Q0 segment judgment confidence run_id"
            raise FileError(name, f"expected '{expected}', found {len(fields)} fields", number)
        yield dict(zip(FIELDS, fields, strict=True))
