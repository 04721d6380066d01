"""Judgments of UMBRELA as JSON Lines or as the JSON of `umbrela judge --output json`, one record per query and passage.

A record with `result_status` 0 holds a 0 that no model gave: it is left out and counted. Compact records, which are the
default, have no `result_status`: their zeros may be failures. Records hold the texts of query and passage; `qid` and
`docid` must have been added, except for a `qid` in the query.
"""

from __future__ import annotations

import json
from typing import Any

from qrowd.errors import FileError
from qrowd.readers.exports import Export, Record, as_table, counted, first_record, plain, records

START = {"query", "passage", "judgment"}
STATUS = "result_status"
ENVELOPE = (b'"castorini.cli.v1"', b'"umbrela"')
TOPIC = ("qid", "query_id", "topic_id", "topic")
ASSESSOR = {"assessor", "worker", "annotator", "judge", "user", "rater"}
DOCUMENT = ("docid", "doc_id", "document_id", "passage_id", "pid", "docno", "document")


def recognises(text: bytes, name: str) -> bool:
    """Whether the first record is one of UMBRELA, with all its fields, or the file is what its command printed."""
    if _is_envelope(text):
        return True
    record = first_record(text)
    if not record.keys() >= START:
        return False
    if STATUS in record:
        return True
    # Other tables of texts and judgments have these fields, too: with assessors, or with the query as the topic.
    topic, document = _labels(_cells(record))
    return ASSESSOR.isdisjoint(record) and (topic is not None or document is None)


def read(text: bytes, name: str) -> Export:
    """One row per answer that was understood.

    Raises
    ------
    FileError
        A record without `qid` or `docid`; no answer that was understood.
    """
    listed = _judged(text, name) if _is_envelope(text) else records(text, name)
    rows = [_row(record, number, name) for number, record in enumerate(listed, start=1) if record.get(STATUS) != 0]
    table = as_table(iter(rows), name, f"holds no record with {STATUS} 1")
    failed = len(listed) - len(rows)
    unknown = sum(STATUS not in record and record["judgment"] == 0 for record in listed)
    notes = [f"{counted(failed, 'record')} with {STATUS} 0 had no answer and made no judgment"] if failed else []
    if unknown:
        notes.append(
            f"{counted(unknown, 'judgment')} of 0 may be an answer that was not understood: compact records do not say "
            "so, and those of umbrela judge --include-trace do"
        )
    return Export(table, notes)


def _row(record: Record, number: int, name: str) -> Record:
    cells = _cells(record)
    topic, document = _labels(cells)
    if topic is None or document is None:
        raise FileError(
            name,
            f"record {number}: no {'qid' if topic is None else 'docid'}, only texts; add qid and docid to the "
            "records, or read the qrels of umbrela evaluate",
        )
    row = {"topic": topic, "document": document, "value": cells.get("judgment")}
    return row | {new: cells[old] for old, new in (("model", "assessor"), ("reasoning", "comment")) if old in cells}


def _cells(record: Record) -> Record:
    query = record.get("query")
    return plain(query | record if isinstance(query, dict) else record)


def _labels(cells: Record) -> tuple[Any, Any]:
    """Topic and document, each None where there is none."""
    topic, document = (next((cells[key] for key in keys if key in cells), None) for keys in (TOPIC, DOCUMENT))
    return topic, document


def _is_envelope(text: bytes) -> bool:
    return text.lstrip()[:1] == b"{" and all(mark in text[:1000] for mark in ENVELOPE)


def _judged(text: bytes, name: str) -> list[Record]:
    """The records in what `umbrela judge --output json` printed."""
    try:
        artifacts = json.loads(text)["artifacts"]
        lists = [one.get("data", one.get("value")) for one in artifacts if one.get("name") == "judgments"]
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        lists = []
    if not lists or not isinstance(lists[0], list) or not all(isinstance(record, dict) for record in lists[0]):
        raise FileError(name, "holds no judgments of umbrela judge")
    return list(lists[0])
