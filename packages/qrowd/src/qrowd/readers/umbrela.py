"""Judgments of UMBRELA as JSON Lines or as the JSON of `umbrela judge --output json`, one record per query and passage.

A record with `result_status` 0 holds a 0 that no model gave: it is left out and counted. Compact records, which are the
default, have no `result_status`: their zeros may be failures. Records hold the texts of query and passage; `qid` and
`docid` must have been added, except for a `qid` in the query.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from qrowd.readers.exports import NoRowError, Reader, Record, plain

STATUS = "result_status"
TOPIC = ("qid", "query_id", "topic_id", "topic")
ASSESSOR = {"assessor", "worker", "annotator", "judge", "user", "rater"}
DOCUMENT = ("docid", "doc_id", "document_id", "passage_id", "pid", "docno", "document")


def is_judgment(record: Record) -> bool:
    """Whether it is one of UMBRELA's, with all its fields, or what its command prints."""
    if record.get("repo") == "umbrela" and "artifacts" in record:
        return True
    if not record.keys() >= {"query", "passage", "judgment"}:
        return False
    if STATUS in record:
        return True
    # Other tables of texts and judgments have these fields, too: with assessors, or with the query as the topic.
    topic, document = _labels(_cells(record))
    return ASSESSOR.isdisjoint(record) and (topic is not None or document is None)


def rows_of(record: Record) -> Iterator[Record]:
    """The judgment of a record, or of each record that the command printed."""
    printed = [part.get("data") for part in record.get("artifacts", ()) if part.get("name") == "judgments"]
    for each in printed[0] or () if printed else [record]:
        cells = _cells(each)
        topic, document = _labels(cells)
        if each.get(STATUS) == 0:
            yield {}
        elif topic is None or document is None:
            raise NoRowError(
                f"no {'qid' if topic is None else 'docid'}, only texts; add qid and docid to the records, or read the "
                "qrels of umbrela evaluate"
            )
        else:
            more = {new: cells[old] for old, new in (("model", "assessor"), ("reasoning", "comment")) if old in cells}
            status = {STATUS: each[STATUS]} if STATUS in each else {}
            yield {"topic": topic, "document": document, "value": cells.get("judgment")} | more | status


def _cells(record: Record) -> Record:
    query = record.get("query")
    return plain(query | record if isinstance(query, dict) else record)


def _labels(cells: Record) -> tuple[Any, Any]:
    """Topic and document, each None where there is none."""
    topic, document = (next((cells[key] for key in keys if key in cells), None) for keys in (TOPIC, DOCUMENT))
    return topic, document


UMBRELA = Reader(
    is_judgment,
    rows_of,
    "holds no judgment of umbrela judge that a model gave",
    doubtful=lambda row: row["value"] == 0 and STATUS not in row,
    doubt="of 0 may be an answer that was not understood: compact records do not say so, and those of umbrela judge "
    "--include-trace do",
)
