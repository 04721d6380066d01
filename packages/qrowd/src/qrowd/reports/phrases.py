"""Numbers, names and intervals as text, written alike in every report."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from math import isnan
from typing import Any

LONGEST = 100  # letters of the names in a list
# Of families, and MODEL+PROMPT, as qrowd judge and campaigns name models.
MODEL_NAME = re.compile(r"gpt|llama|llm|claude|gemini|gemma|mi[sx]tral|qwen|deepseek|umbrela|.\+\w", re.IGNORECASE)


def number(value: float, digits: int = 4) -> str:
    """A number with so many decimals; - for nan."""
    return "-" if isnan(value) else f"{value:.{digits}f}"


def signed(value: float, digits: int = 4) -> str:
    """A number with its sign, + where it is shown as 0; - for nan.

    >>> signed(0.25), signed(-0.25, 2), signed(-1e-9, 1)
    ('+0.2500', '-0.25', '+0.0')
    """
    return "-" if isnan(value) else f"{value:+z.{digits}f}"


def interval(low: float, high: float, digits: int = 3) -> str:
    """[low, high]; - for nan.

    >>> interval(-0.01, 0.2)
    '[-0.010, 0.200]'
    """
    return "-" if isnan(low) else f"[{low:.{digits}f}, {high:.{digits}f}]"


def span(low: float, high: float, digits: int = 0) -> str:
    """low-high, or the one number where both are equal; - for nan."""
    if isnan(low):
        return "-"
    return f"{low:.{digits}f}" if low == high else f"{low:.{digits}f}-{high:.{digits}f}"


def probability(value: float) -> str:
    """.023, or <.001; - for nan."""
    return "-" if isnan(value) else "<.001" if value < 0.001 else f"{value:.3f}".removeprefix("0")


def percent(share: float, digits: int | None = None) -> str:
    """A share in per cent, with so many decimals (default: three significant digits); - for nan.

    >>> percent(1 / 18), percent(1 / 18, 1)
    ('5.56 %', '5.6 %')
    """
    if isnan(share):
        return "-"
    return f"{100 * share:.3g} %" if digits is None else f"{100 * share:.{digits}f} %"


def or_dash(value: object) -> str:
    """A rank or a name; - for 0 and for no name."""
    return str(value or "-")


def yes(value: object) -> str:
    """The word yes; empty for False and for an empty text."""
    return "yes" if value else ""


def mean_of(measures: str) -> str:
    """The mean of a measure, as in "mean nDCG@10"; Mean says it itself."""
    return measures if measures.startswith("Mean") else f"mean {measures}"


def count(n: float, one: str, several: str = "") -> str:
    """How many of something: 1 system, 1,200 systems; `several` where it is not `one` with an s.

    >>> count(1, "system"), count(1200, "system"), count(2, "judgment repeats", "judgments repeat")
    ('1 system', '1,200 systems', '2 judgments repeat')
    """
    return f"{n:,.0f} {one if n == 1 else several or one + 's'}"


def is_or_are(n: float) -> str:
    """The verb after a number: 1 is, 2 are."""
    return "is" if n == 1 else "are"


def listed(names: Sequence[str], most: int = 5) -> str:
    """Up to `most` names; of more, or of long names, the first ones and how many more there are.

    >>> listed(["ann", "bob", "cyd"]), listed(["ann", "bob", "cyd", "dan"], most=3)
    ('ann, bob and cyd', 'ann, bob and 2 more')
    """
    most = min(most, max(sum(total <= LONGEST for total in accumulate(map(len, names))), 1) + 1)
    parts = list(names) if len(names) <= most else [*names[: most - 1], f"{len(names) - most + 1} more"]
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def lead(names: Sequence[str]) -> str:
    """Which systems are first, one or several with equal means.

    >>> lead(["dense"]), lead(["dense", "splade"])
    ('dense leads', 'dense and splade share the lead')
    """
    return f"{listed(names) or 'no system'} {'share the lead' if len(names) > 1 else 'leads'}"


def lead_for(leaders: Sequence[str], best: Sequence[Sequence[str]], noun: str, by: str = "in the mean") -> str:
    """Which systems lead, and for how many of those who rank.

    best : of each assessor, the systems that are first; none where the assessor has no ranking. by : where they lead.
    """
    ranked = [names for names in best if names]
    if not ranked:
        return f"all systems are equal for every {noun}"
    n_agreeing = sum(set(leaders) <= set(names) for names in ranked)
    if not n_agreeing:
        return f"{lead(leaders)} {by}, but for none of {count(len(ranked), noun)}"
    if len(ranked) == 1:
        return f"{lead(leaders)} for the only {noun}"
    many = "all" if n_agreeing == len(ranked) else f"{n_agreeing} of"
    return f"{lead(leaders)} for {many} {count(len(ranked), noun)}".replace(" for all 2 ", " for both ")


def cells(text_of: Callable[..., str], *columns: Iterable[Any], **options: Any) -> list[str]:
    """Cells of a table: `text_of` the values of one or more columns, row by row.

    >>> cells(number, [0.25, 0.5], digits=1), cells(span, [1, 2], [2, 2]), cells("{:,}".format, [1200])
    (['0.2', '0.5'], ['1-2', '2'], ['1,200'])
    """
    return [text_of(*values, **options) for values in zip(*columns, strict=True)]


def sentence_case(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]


def with_minus_signs(text: str) -> str:
    """The text with a minus sign in place of the hyphen before a negative number, for pages."""
    return re.sub(r"(?<![\w.-])-(?=[\d.])", "\N{MINUS SIGN}", text)
