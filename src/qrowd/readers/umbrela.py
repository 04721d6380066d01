"""Judgments of UMBRELA as JSON Lines, one record per query and passage; records whose answer was not understood hold 0.

Only an answer is a judgment: records with `result_status` 0 are left out. A record that `umbrela judge` wrote holds the
texts of query and passage; `qid` and `docid` must have been added.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from qrowd.errors import FileError
from qrowd.readers.exports import Record, as_table, first_record, plain, records

START = {"query", "passage", "judgment", "result_status"}
TOPIC = ("qid", "query_id", "topic_id", "topic")
DOCUMENT = ("docid", "doc_id", "document_id", "passage_id", "pid", "docno", "document")


def recognises(text: bytes, name: str) -> bool:
    """Whether the first record is one of UMBRELA, with all its fields."""
    return first_record(text).keys() >= START


def read(text: bytes, name: str) -> dict[str, list[Any]]:
    """One row per answer that was understood.

    Raises
    ------
    FileError
        A record without `qid` or `docid`; no answer that was understood.
    """
    return as_table(_rows(text, name), name, "holds no record with result_status 1")


def _rows(text: bytes, name: str) -> Iterator[Record]:
    for number, record in enumerate(records(text, name), start=1):
        query = record.get("query")
        cells = plain(query | record if isinstance(query, dict) else record)
        topic, document = (next((cells[key] for key in keys if key in cells), None) for keys in (TOPIC, DOCUMENT))
        if topic is None or document is None:
            raise FileError(
                name,
                f"record {number}: no {'qid' if topic is None else 'docid'}, only texts; add qid and docid to the "
                "records, or read the qrels of umbrela evaluate",
            )
        if record.get("result_status") == 0:
            continue
        row = {"topic": topic, "document": document, "value": cells.get("judgment")}
        yield row | {new: cells[old] for old, new in (("model", "assessor"), ("reasoning", "comment")) if old in cells}
