"""Results of RAGElo: judgments of documents by its retrieval evaluators, or comparisons of the answers of agents.

Files are `..._results.jsonl`, whose lines may be wrapped as {"retrieval": ...} and {"answer": ...}. A record with an
exception, or without an answer, is counted and makes no judgment. Of comparisons alone, a document is the answer of an
agent. The file does not name the model: the assessor is the file, or the evaluators or annotators where there are
several.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from qrowd.readers.exports import NoRowError, Reader, Record

WRAPPED = ("retrieval", "answer", "elo_tournament")


def is_result(record: Record) -> bool:
    """Whether it is a result, wrapped or not."""
    inner = _unwrapped(record)
    wrapped = inner is not record and (inner.keys() >= {"qid", "raw_answer"} or "total_tournaments" in inner)
    return wrapped or record.keys() >= {"qid", "evaluator_name", "answer"}


def rows_of(record: Record) -> Iterator[Record]:
    """A row per judgment of a document, or the comparison of two agents."""
    record = _unwrapped(record)
    answer, evaluator = record.get("answer"), record.get("evaluator_name")
    is_game = record.get("agent_a") is not None and record.get("agent_b") is not None
    if "did" not in record and not is_game:
        return
    if answer in (None, "") or record.get("exception"):
        yield {}
    elif is_game:
        yield _comparison(record, answer)
    else:
        by_annotator = isinstance(answer, dict) and answer and all(isinstance(part, dict) for part in answer.values())
        for assessor, part in (answer if by_annotator else {evaluator: answer}).items():
            yield _judgment(record, assessor, part if isinstance(part, dict) else {"score": part})


def _unwrapped(record: Record) -> Record:
    """The result in {"retrieval": result}."""
    inner = next((record[key] for key in WRAPPED if len(record) == 1 and key in record), None)
    return inner if isinstance(inner, dict) else record


def _judgment(record: Record, assessor: str | None, cells: Record) -> Record:
    value = next((cells[key] for key in ("score", "overall") if cells.get(key) is not None), None)
    if value is None:
        raise NoRowError(f"the answer of {assessor or 'the evaluator'} has no score")
    row = {"topic": record["qid"], "document": record["did"], "value": value, "assessor": assessor}
    return row | {"comment": cells.get("reasoning")}


def _comparison(record: Record, answer: Any) -> Record:
    """None is preferred in a tie."""
    winner = answer.get("winner") if isinstance(answer, dict) else answer
    agents = {"A": record["agent_a"], "B": record["agent_b"], "C": None}
    if winner not in agents:
        raise NoRowError(f"the winner of two answers is {winner!r}, not A, B or C (a tie)")
    row = {"topic": record["qid"], "a": record["agent_a"], "b": record["agent_b"], "preferred": agents[winner]}
    return row | {"assessor": record.get("evaluator_name")}


RAGELO = Reader(is_result, rows_of, "holds no judgment of a document and no comparison of answers", named_by_file=True)
