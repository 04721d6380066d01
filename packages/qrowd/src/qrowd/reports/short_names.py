"""Names for display: without the words that all of them share, and shortened so that they stay different."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import takewhile

PARTS = re.compile(r"[_\-.]+|[^_\-.]+")
ELLIPSIS = "…"


def short_names(names: Sequence[str]) -> tuple[str, ...]:
    """The names without the words that all begin and end with; words are separated by `_`, `-` and `.`.

    Equal names stay equal and different ones different; none becomes empty.

    >>> short_names(["my_bm25_2020-judged", "my_dense_2020-judged", "my_dense_rm3_2020-judged"])
    ('bm25', 'dense', 'dense_rm3')
    >>> short_names(["bm25", "bm25-rm3"])
    ('bm25', 'bm25-rm3')
    """
    if len(set(names)) < 2:
        return tuple(names)
    parts = [PARTS.findall(name) for name in names]
    start = _common(parts)
    end = _common([part[start:][::-1] for part in parts])
    return tuple("".join(part[start : len(part) - end]) for part in parts)


def renamed(text: str, names: Mapping[str, str]) -> str:
    """The text with names replaced wherever they stand by themselves. names : {name: label}.

    >>> renamed("a_bm25 leads; a_bm25_rm3 is next.", {"a_bm25": "bm25", "a_bm25_rm3": "bm25_rm3"})
    'bm25 leads; bm25_rm3 is next.'
    """
    if not names:
        return text
    longest_first = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.sub(rf"(?<![\w.-])(?:{longest_first})(?![\w-]|\.\w)", lambda match: names[match[0]], text)


def _common(parts: Sequence[Sequence[str]]) -> int:
    """The number of first parts that all have, up to a separator, so that a word is left of each."""
    n = sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, zip(*parts, strict=False)))
    while n and (_is_word(parts[0][n - 1]) or not all(any(map(_is_word, part[n:])) for part in parts)):
        n -= 1
    return n


def _is_word(part: str) -> bool:
    return part[0] not in "_-."


def fitted_names(names: Sequence[str], longest: int) -> tuple[str, ...]:
    """The names with at most so many letters: the middle of a long one is left out.

    Different names stay different, which may need more letters than `longest`.

    >>> fitted_names(["my_bm25_2020", "my_dense_dense_dense_2020"], 20)
    ('my_bm25_2020', 'my_dense_dens…e_2020')
    """
    for length in range(longest, max(map(len, names), default=0)):
        labels = tuple(_without_middle(name, length) for name in names)
        if len(set(labels)) == len(set(names)):
            return labels
    return tuple(names)


def _without_middle(name: str, longest: int) -> str:
    if len(name) <= longest:
        return name
    end = (longest - 1) // 3
    return f"{name[: longest - 1 - end]}{ELLIPSIS}{name[len(name) - end :] if end else ''}"
