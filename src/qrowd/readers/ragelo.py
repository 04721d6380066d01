"""Results of RAGElo as JSON Lines (`..._results.jsonl`): the judgments of documents by its retrieval evaluators.

Records of answers and of pairs of answers are passed over, and so are those with an exception instead of an answer. The
file does not name the model: the assessor is the file, or the evaluator where a file holds those of several.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from qrowd.errors import FileError
from qrowd.readers.exports import Record, as_table, first_record, records


def recognises(text: bytes, name: str) -> bool:
    """Whether the first record is a result of an evaluator."""
    return first_record(text).keys() >= {"qid", "evaluator_name", "answer"}


def read(text: bytes, name: str) -> dict[str, list[Any]]:
    """One row per document that was judged.

    Raises
    ------
    FileError
        An answer without a score; no judgment of a document.
    """
    table = as_table(_rows(text, name), name, "holds no judgment of a document")
    if len(set(table["assessor"])) == 1:
        del table["assessor"]
    return table


def _rows(text: bytes, name: str) -> Iterator[Record]:
    for number, record in enumerate(records(text, name), start=1):
        answer = record.get("answer")
        if "did" not in record or answer is None or record.get("exception"):
            continue
        cells = answer if isinstance(answer, dict) else {"score": answer}
        if cells.get("score") is None:
            raise FileError(name, f"record {number}: the answer of {record.get('evaluator_name')} has no score")
        yield {
            "topic": record["qid"],
            "document": record["did"],
            "value": cells["score"],
            "assessor": record.get("evaluator_name"),
            "comment": cells.get("reasoning"),
        }
