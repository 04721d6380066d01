"""Exports of Quepid: the ratings of a case (`query,docid,rating`) and of a book (`query,docid` and a column per rater).

A query without ratings stands alone in its row, and is left out; an empty cell is no rating. Several ratings of a rater
(`1|2`) are repeated judgments.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import StringIO
from typing import Any

from qrowd.errors import FileError
from qrowd.readers.exports import Record, as_table

START = ["query", "docid"]
NO_RATER = {
    "grade",
    "relevance",
    "label",
    "rel",
    "score",
    "value",
    "judgment",
    "judgement",
    "rank",
    "assessor",
    "rater",
}


def recognises(text: bytes, name: str) -> bool:
    """Whether the header is that of Quepid."""
    first = text[:10_000].decode("utf-8-sig", "replace").lstrip().split("\n", 1)[0]
    try:
        header = next(csv.reader([first.strip()]), [])
    except csv.Error:
        return False
    return len(header) > 2 and header[:2] == START and NO_RATER.isdisjoint(column.lower() for column in header[2:])


def read(text: bytes, name: str) -> dict[str, list[Any]]:
    """One row per rating.

    Raises
    ------
    FileError
        A row with too many cells, or no rating at all.
    """
    return as_table(_rows(text.decode("utf-8-sig", "surrogateescape"), name), name, "no document has a rating")


def _rows(words: str, name: str) -> Iterator[Record]:
    reader = csv.reader(StringIO(words, newline=""))
    header: list[str] = []
    for cells in reader:
        if not any(map(str.strip, cells)):
            continue
        if not header:
            header = [cell.strip() for cell in cells]
            continue
        if len(cells) > len(header):
            raise FileError(name, f"expected {len(header)} cells, found {len(cells)}", reader.line_num)
        for rater, ratings in zip(header[2:], cells[2:], strict=False):
            for rating in filter(None, map(str.strip, ratings.split("|"))):
                row = {"topic": cells[0], "document": cells[1], "value": rating}
                yield row if header[2:] == ["rating"] else row | {"assessor": rater}
