"""Exports of Quepid: the ratings of a case (`query,docid,rating`, or with titles) and of a book, as CSV or as JSON.

A query without ratings stands alone in its row, and is left out; an empty cell is no rating. A book has a column per
rater, `query,docid,Ann,Bob`; several ratings of a rater (`1|2`) are repeated judgments. In its JSON, judgments that are
unrateable or to be made later are counted and left out.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from io import StringIO

from qrowd.errors import FileError
from qrowd.readers.exports import Export, Record, as_table, counted

START = ["query", "docid"]
DETAILED = ["Query Text", "Doc ID", "Rating"]
BOOK = (b'"query_doc_pairs"', b'"query_text"')
NO_RATING = "no document has a rating"
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
    """Whether the header, or the content of a book, is that of Quepid."""
    if _is_book(text):
        return True
    first = text[:10_000].decode("utf-8-sig", "replace").lstrip().split("\n", 1)[0]
    try:
        header = next(csv.reader([first.strip()]), [])
    except csv.Error:
        return False
    if set(DETAILED) <= set(header):
        return True
    return len(header) > 2 and header[:2] == START and NO_RATER.isdisjoint(column.lower() for column in header[2:])


def read(text: bytes, name: str) -> Export:
    """One row per rating.

    Raises
    ------
    FileError
        A row with too many cells, or no rating at all.
    """
    if _is_book(text):
        return _book(text, name)
    return Export(as_table(_rows(text.decode("utf-8-sig", "surrogateescape"), name), name, NO_RATING))


def _is_book(text: bytes) -> bool:
    return text.lstrip()[:1] == b"{" and all(mark in text[:100_000] for mark in BOOK)


def _book(text: bytes, name: str) -> Export:
    """The judgments of a book as JSON."""
    try:
        pairs = json.loads(text)["query_doc_pairs"]
        judged = [(pair["query_text"], pair["doc_id"], one) for pair in pairs for one in pair["judgements"]]
        rated = [one for one in judged if one[2].get("rating") is not None]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FileError(name, f"is no book of Quepid: {error!r:.80}") from None
    rows = (
        {"topic": query, "document": document, "value": one["rating"], "assessor": one.get("user_email") or "anonymous"}
        | {"comment": one.get("explanation")}
        for query, document, one in rated
    )
    table = as_table(rows, name, NO_RATING)
    missing = len(judged) - len(rated)
    note = f"{counted(missing, 'judgment')} without a rating (unrateable, or to be made later) made no judgment"
    return Export(table, [note] if missing else [])


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
        if set(DETAILED) <= set(header):
            query, document, rating = (cells[i] if i < len(cells) else "" for i in map(header.index, DETAILED))
            if rating.strip():
                yield {"topic": query, "document": document, "value": rating}
            continue
        for rater, ratings in zip(header[2:], cells[2:], strict=False):
            for rating in filter(None, map(str.strip, ratings.split("|"))):
                row = {"topic": cells[0], "document": cells[1], "value": rating}
                yield row if header[2:] == ["rating"] else row | {"assessor": rater}
