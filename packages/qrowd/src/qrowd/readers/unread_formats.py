"""Formats that qrowd does not read: what a file is, and what to do with it.

A JSON file is recognised by the keys of its first record, a table by the names of its columns. Letter case, blanks,
underscores and hyphens do not count.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from qrowd.readers.tool_exports import Record, first_record


def unread_format(text: bytes, columns: Collection[str] = ()) -> str | None:
    """What a file seems to be that qrowd does not read, why not and what to do; None where it is nothing known.

    columns : of a table, as far as it could be read.
    """
    formats = _formats()
    names = {re.sub(r"[\s_-]", "", name).casefold() for name in (*columns, *_keys(first_record(text)))}
    start = text[:1000].decode("latin-1")
    words = [words for pattern, words in formats["starts"].items() if re.match(pattern, start, re.IGNORECASE)]
    words += [words for keys, words in formats["keys"].items() if names.issuperset(keys.split())]
    return f"looks like {words[0].format(**formats['advice'])}" if words else None


@cache
def _formats() -> dict[str, dict[str, str]]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _keys(record: Record) -> Iterator[str]:
    for key, value in record.items():
        yield key
        inner: Any = value[0] if isinstance(value, list) and value else value
        if isinstance(inner, dict):
            yield from (f"{key}.{name}" for name in inner)
