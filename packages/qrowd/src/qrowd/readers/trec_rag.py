"""Judgments of TREC RAG in six columns: topic, Q0, segment, judgment, confidence and the run that judged.

Their number of fields is that of a run, so a file must name this reader: `trec-rag:FILE`.
"""

from __future__ import annotations

from qrowd.errors import FileError
from qrowd.readers.exports import Reader, Record

FIELDS = ("topic", "iteration", "document", "value", "confidence", "assessor")


def records(text: bytes, name: str) -> list[Record]:
    """One record per line.

    Raises
    ------
    FileError
        A line with another number of fields, with its number.
    """
    lines = []
    for number, line in enumerate(text.decode("utf-8-sig", "surrogateescape").split("\n"), start=1):
        fields = line.split()
        if not fields or line.startswith("#"):
            continue
        if len(fields) != len(FIELDS):
            expected = "topic Q0 segment judgment confidence run_id"
            raise FileError(name, f"expected '{expected}', found {len(fields)} fields", number)
        lines.append(dict(zip(FIELDS, fields, strict=True)))
    return lines


TREC_RAG = Reader(lambda record: False, lambda record: [record], "holds no line", records)
