"""Names for display: without what all or many of them have in common, and shortened so that they stay different."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import takewhile

PARTS = re.compile(r"[_\-.]+|[^_\-.]+")
ELLIPSIS = "…"
SHARED_WORDS = 3  # words of an ending that is left out though not all names have it; fewer may be what tells them apart
SHARED_NAMES = 3  # names that have such an ending, and at least a quarter of all


def short_names(names: Sequence[str]) -> tuple[str, ...]:
    """The names without the words that all begin and end with; words are separated by `_`, `-` and `.`.

    Three or more last words that at least a quarter of the names share are left out, too. Equal names stay equal and
    different ones different; none becomes empty.

    >>> short_names(["my_bm25_2020-judged", "my_dense_2020-judged", "my_dense_rm3_2020-judged"])
    ('bm25', 'dense', 'dense_rm3')
    >>> short_names(["bm25", "dense_dl-2020-judged", "dense_rm3_dl-2020-judged", "splade_dl-2020-judged"])
    ('bm25', 'dense', 'dense_rm3', 'splade')
    >>> short_names(["bm25", "bm25-rm3"])
    ('bm25', 'bm25-rm3')
    """
    labels = tuple(names)
    while (shorter := _without_shared_end(_without_common_words(labels))) != labels:
        labels = shorter
    return labels


def _without_common_words(names: Sequence[str]) -> tuple[str, ...]:
    if len(set(names)) < 2:
        return tuple(names)
    parts = [PARTS.findall(name) for name in names]
    start = _common(parts)
    end = _common([part[start:][::-1] for part in parts])
    return tuple("".join(part[start : len(part) - end]) for part in parts)


def _without_shared_end(names: Sequence[str]) -> tuple[str, ...]:
    """The names without the ending of several words that saves the most letters, if all stay different."""
    different = set(names)
    counts = Counter(end for name in different for end in _ends(name))
    shared = [end for end, n in counts.items() if n >= max(SHARED_NAMES, len(different) / 4)]
    for end in sorted(shared, key=lambda end: (-len(end) * counts[end], end)):
        labels = tuple(name.removesuffix(end) if end in _ends(name) else name for name in names)
        if len(set(labels)) == len(different):
            return labels
    return tuple(names)


def _ends(name: str) -> list[str]:
    """The endings of at least `SHARED_WORDS` words that begin with a separator and leave a word."""
    parts = PARTS.findall(name)
    words = [i for i, part in enumerate(parts) if _is_word(part)]
    return ["".join(parts[i - 1 :]) for i in words[1 : len(words) - SHARED_WORDS + 1]]


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


def labels_of(names: Sequence[str], longest: int) -> tuple[str, ...]:
    """The names without what they share, with at most so many letters where they stay different with so many.

    >>> labels_of(["my_bm25_2020", "my_" + "dense_" * 9 + "2020", "my_splade_2020"], 20)
    ('bm25', 'dense_dense_d…_dense', 'splade')
    >>> labels_of(["monot5_3b_run_1", "monot5_3b_run_2"], 20)  # a number alone is no name
    ('monot5_3b_run_1', 'monot5_3b_run_2')
    """
    shorter = short_names(names)
    has_letters = all(any(letter.isalpha() for letter in name) for name in shorter)
    return fitted_names(shorter if has_letters else names, longest)


def fitted_names(names: Sequence[str], longest: int) -> tuple[str, ...]:
    """The names with at most so many letters: the middle of a long one is left out, or what it shares with others.

    Different names stay different, which may need more letters than `longest`.

    >>> fitted_names(["colbert_rankgpt4o_msmarco_2020", "colbert_rankgpt4_msmarco_2020"], 20)
    ('colbe…rankgpt4o…2020', 'colber…rankgpt4…2020')
    """
    for length in range(longest, max(map(len, names), default=0)):
        labels = _fitted(names, length)
        if len(set(labels.values())) == len(labels):
            return tuple(labels[name] for name in names)
    return tuple(names)


def _fitted(names: Sequence[str], longest: int) -> dict[str, str]:
    """{name: label} of at most so many letters; labels may be equal."""
    labels = {
        name: f"{core}{ELLIPSIS}"
        if core != name and len(core) < longest < len(name)
        else _without_middle(name, longest)
        for name, core in zip(names, _without_shared_end(names), strict=True)
    }
    alike = defaultdict(list)
    for name, label in labels.items():
        alike[label].append(name)
    for group in alike.values():
        if len(group) > 1:
            labels |= {name: _around(name, core, longest) for name, core in zip(group, short_names(group), strict=True)}
    return labels


def _without_middle(name: str, longest: int) -> str:
    if len(name) <= longest:
        return name
    end = (longest - 1) // 3
    return f"{name[: longest - 1 - end]}{ELLIPSIS}{name[len(name) - end :] if end else ''}"


def _around(name: str, core: str, longest: int) -> str:
    """The part that differs, with as much of both ends of the name as there is room for."""
    start = name.index(core)
    rest = longest - len(core) - 2
    if rest < 4 or start == 0 or start + len(core) == len(name):
        return _without_middle(core if rest < 4 else name, longest)
    after = min(rest // 2, 4, len(name) - start - len(core))
    before = min(rest - after, start)
    head = name[:before] + (ELLIPSIS if before < start else "")
    tail = (ELLIPSIS if after < len(name) - start - len(core) else "") + name[len(name) - after :]
    return head + core + tail
