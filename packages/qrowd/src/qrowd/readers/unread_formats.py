"""Formats that qrowd does not read: what a file is, and what to do with it (unread_formats.toml)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection
from functools import cache
from pathlib import Path


def unread_format(text: bytes, columns: Collection[str] | None = None) -> str | None:
    """What a file seems to be that qrowd does not read, why not and what to do; None where it is nothing known.

    columns : of a table, as far as it could be read, by which and by keys of JSON it is recognised, too. Letter case,
        blanks, underscores and hyphens in them do not count.
    """
    formats = _formats()
    start = text[:20_000].decode("latin-1")
    words = [words for pattern, words in formats["starts"].items() if re.match(pattern, start, re.IGNORECASE)]
    if columns is not None:
        keys = re.findall(r'"([^"\n]{1,40})"\s*:', start)
        names = {re.sub(r"[\s_-]", "", name).casefold() for name in (*columns, *keys)}
        words += [words for keys, words in formats["keys"].items() if names.issuperset(keys.split())]
    return f"looks like {words[0].format(**formats['advice'])}" if words else None


@cache
def _formats() -> dict[str, dict[str, str]]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
