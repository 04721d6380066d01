"""The long tables of a recomputed paper as CSV files beside its page."""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

from qrowd import files
from qrowd.reports.document import Table


def write_tables(tables: Sequence[Table], folder: str | Path) -> list[str]:
    """Write tables into a folder; the names of the files.

    Tables of the same columns share one file, whose first column is their title. A file is named after the words that
    its titles end or begin with.
    """
    groups: dict[tuple[str, ...], list[Table]] = defaultdict(list)
    for table in tables:
        groups[tuple(table.header)].append(table)
    contents: dict[str, str] = {}
    for group in groups.values():
        name = file_name([table.title for table in group])
        while f"{name}.csv" in contents:
            name += "-more"
        contents[f"{name}.csv"] = _text(group)
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, text in contents.items():
        files.write_whole(Path(folder) / name, text)
    return list(contents)


def file_name(titles: Sequence[str]) -> str:
    """The words that all titles end with, else those they begin with, else the first title; in lower case.

    >>> file_name(["dl19: AP; tuples of 3, 5", "dl21: AP; tuples of 3, 5"])
    'ap-tuples-of-3-5'
    """
    split = [re.findall(r"[^\W_]+", title.lower().replace("'", "")) for title in titles]
    last = _common([words[::-1] for words in split])[::-1]
    first = _common(split)
    words = next((words for words in (last, first) if len("-".join(words)) > 3), split[0])
    return "-".join(words)[:60].strip("-")


def _common(lists: Sequence[Sequence[str]]) -> list[str]:
    """The words that all lists begin with."""
    return [words[0] for words in takewhile(lambda words: len(set(words)) == 1, zip(*lists, strict=False))]


def _text(group: Sequence[Table]) -> str:
    several = len(group) > 1
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([*(["table"] if several else []), *group[0].header])
    for table in group:
        writer.writerows([*([table.title] if several else []), *row] for row in table.rows)
    return buffer.getvalue()
