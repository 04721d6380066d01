"""Results of RAGElo: judgments of documents by its retrieval evaluators, or comparisons of the answers of agents.

Files are `..._results.jsonl`, whose lines may be wrapped as {"retrieval": ...} and {"answer": ...}, and the CSV files
of earlier versions. A record with an exception, or without an answer, is counted and makes no judgment. A file with
judgments of documents is read for those; of comparisons alone, a document is the answer of an agent, and ties are left
out. The file does not name the model: the assessor is the file, or the evaluator or annotator where there are several.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import StringIO
from typing import Any

from qrowd.errors import FileError
from qrowd.readers.exports import Export, Record, as_table, counted, first_record, records

WRAPPED = ("retrieval", "answer", "elo_tournament")
HEADERS = ({"did", "answer"}, {"agent_a", "agent_b", "answer"})
TOPIC = ("qid", "query_id")
SCORES = ("score", "overall")


def recognises(text: bytes, name: str) -> bool:
    """Whether the first record, or the header, is that of results."""
    record = first_record(text)
    if record:
        inner = _unwrapped(record)
        return record.keys() >= {"qid", "evaluator_name", "answer"} or (
            inner is not record and (inner.keys() >= {"qid", "raw_answer"} or "total_tournaments" in inner)
        )
    return any(header <= set(_header(text)) for header in HEADERS) and _header(text)[0] in TOPIC


def read(text: bytes, name: str) -> Export:
    """One row per document that was judged; without any, one per comparison that has a winner.

    Raises
    ------
    FileError
        An answer without a score; no judgment of a document and no comparison.
    """
    listed = [_unwrapped(record) for record in records(text, name)] if first_record(text) else _csv_records(text)
    failed = 0
    judged: list[Record] = []
    compared: list[Record] = []
    for number, record in enumerate(listed, start=1):
        is_game = record.get("agent_a") is not None and record.get("agent_b") is not None
        if "did" not in record and not is_game:
            continue
        if record.get("answer") in (None, "") or record.get("exception"):
            failed += 1
        elif is_game:
            compared += _comparison(record, number, name)
        else:
            judged += _judgments(record, number, name)
    ties = sum(row["preferred"] is None for row in compared)
    rows = judged or [row for row in compared if row["preferred"] is not None]
    table = as_table(iter(rows), name, "holds no judgment of a document and no comparison of answers")
    if len(set(table["assessor"])) == 1:
        del table["assessor"]
    notes = [f"{counted(failed, 'record')} had no answer and made no judgment"] if failed else []
    if judged and compared:
        notes.append(f"{counted(len(compared), 'comparison')} between answers of agents passed over")
    elif ties:
        notes.append(f"{counted(ties, 'tie')} between answers of agents left out, which say no preference")
    return Export(table, notes)


def _unwrapped(record: Record) -> Record:
    """The result in {"retrieval": result}."""
    inner = next((record[key] for key in WRAPPED if len(record) == 1 and key in record), None)
    return inner if isinstance(inner, dict) else record


def _header(text: bytes) -> list[str]:
    first = text[:10_000].decode("utf-8-sig", "replace").lstrip().split("\n", 1)[0]
    return first.strip().split(",")


def _csv_records(text: bytes) -> list[Record]:
    words = text.decode("utf-8-sig", "surrogateescape")
    rows = list(csv.DictReader(StringIO(words, newline="")))
    return [{**row, "qid": next(row[key] for key in TOPIC if key in row)} for row in rows]


def _judgments(record: Record, number: int, name: str) -> Iterator[Record]:
    """The judgment of a record, or of each annotator in its answer."""
    answer, evaluator = record["answer"], record.get("evaluator_name")
    by_annotator = isinstance(answer, dict) and all(isinstance(one, dict) for one in answer.values())
    parts = answer if by_annotator and answer else {evaluator: answer}
    for assessor, part in parts.items():
        cells: dict[str, Any] = part if isinstance(part, dict) else {"score": part}
        value = next((cells[key] for key in SCORES if cells.get(key) is not None), None)
        if value is None:
            raise FileError(name, f"record {number}: the answer of {assessor or 'the evaluator'} has no score")
        row = {"topic": record["qid"], "document": record["did"], "value": value, "assessor": assessor}
        yield row | {"comment": cells.get("reasoning")}


def _comparison(record: Record, number: int, name: str) -> Iterator[Record]:
    """The comparison of a record; None is preferred in a tie."""
    answer = record["answer"]
    winner = answer.get("winner") if isinstance(answer, dict) else answer
    agents = {"A": record["agent_a"], "B": record["agent_b"], "C": None}
    if winner not in agents:
        raise FileError(name, f"record {number}: the winner of two answers is {winner!r}, not A, B or C (a tie)")
    row = {"topic": record["qid"], "a": record["agent_a"], "b": record["agent_b"], "preferred": agents[winner]}
    yield row | {"assessor": record.get("evaluator_name")}
