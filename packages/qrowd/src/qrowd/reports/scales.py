"""The note on scales of every report.

It says on which scales the assessors judged and how values were brought together where scales differ, and ends with the
options that declare what was inferred.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from glob import escape

from qrowd.model.inferred_scales import alike
from qrowd.model.judgments import Judgments
from qrowd.model.one_scale import Combined, CombineScales, combined_how
from qrowd.model.scales import Scale
from qrowd.reports.document import Note
from qrowd.reports.phrases import listed

NAMED = 3  # assessors of a scale who are named
OPTIONS = 8  # that are printed to paste; of more, only their form

SCALE_RULES: dict[Combined, str] = {
    "as-is": "values compared as given",
    "rescaled": "every value divided by its scale's maximum",
    "relevant": "each judgment counted as relevant or not, by its assessor's own scale",
}


def scale_rules(scales: Sequence[Scale], combine_scales: CombineScales, unlike: Mapping[str, Combined]) -> str:
    """How values were brought together for each statistic; empty where all are on one scale and nothing was changed.

    unlike : what "auto" does on unlike scales, by the name of the statistic.
    """
    by_rule: dict[Combined, list[str]] = {}
    for statistic, rule in unlike.items():
        by_rule.setdefault(combined_how(scales, combine_scales, rule), []).append(statistic)
    if list(by_rule) == ["as-is"] and alike(scales):
        return ""
    return "; ".join(f"{', '.join(statistics)}: {SCALE_RULES[rule]}" for rule, statistics in by_rule.items())


def scale_note(judgments: Judgments, rules: str = "", *, gold: str | None = None) -> Note:
    """The note for these judgments; see `scales_note`."""
    scales = dict(zip(judgments.assessors, judgments.scales, strict=True))
    return scales_note(scales, rules, gold=gold)


def scales_note(scales: Mapping[str, Scale], rules: str = "", *, gold: str | None = None) -> Note:
    """On which scales the assessors judged.

    scales : by assessor; rules : how values were brought together, where the caller changed them or where scales
    differ; gold : the assessor, if any, whose judgments the others are compared with.

    >>> scales = {"ann": Scale("graded", 3.0, False), "bob": Scale("binary", 1.0)}
    >>> print(scales_note(scales, "votes count relevance"))
    scale: 0-3 (inferred): ann; binary: bob; votes count relevance; to declare: --scale 'ann=0-3'
    >>> print(scales_note(dict.fromkeys(["ann", "bob", "gold"], Scale("binary", 1.0, False)), gold="gold"))
    scale: binary (inferred from the judgments of both assessors and gold); to declare: --scale '*=binary'
    """
    open_ones = {name: scale for name, scale in scales.items() if not scale.declared}
    parts = [_shared(scales, open_ones, gold) if alike(list(scales.values())) else "; ".join(_groups(scales))]
    if rules:
        parts.append(rules)
    raw = [name for name, scale in scales.items() if scale.kind == "magnitude" and not scale.normalised]
    if len(raw) > 1:
        parts.append(
            f"magnitudes of {len(raw)} assessors as written, though each may use a range of numbers of their own; "
            "to bring them onto one scale: --normalise geometric-mean"
        )
    if open_ones:
        parts.append(f"to declare: {options(open_ones, scales)}")
    return Note("scale", "; ".join(parts))


def _shared(scales: Mapping[str, Scale], open_ones: Mapping[str, Scale], gold: str | None) -> str:
    """The one scale of all, and whose it was inferred from."""
    scale = next(iter(scales.values()))
    if not open_ones:
        return f"{scale} (declared)"
    whose = listed(list(open_ones), NAMED)
    if len(open_ones) == len(scales) > 1:
        n = len(scales) - (gold in scales)
        whose = {1: "the assessor", 2: "both assessors"}.get(n, f"all {n} assessors")
        whose += " and gold" if gold in scales else ""
    return f"{scale} (inferred from the judgments of {whose})"


def _groups(scales: Mapping[str, Scale]) -> Iterator[str]:
    """Every scale with its assessors."""
    by_scale: dict[str, list[str]] = {}
    for name, scale in scales.items():
        by_scale.setdefault(f"{scale}{'' if scale.declared else ' (inferred)'}", []).append(name)
    for text, names in by_scale.items():
        yield f"{text}: {listed(names, NAMED)}"


def options(scales: Mapping[str, Scale], everybody: Collection[str]) -> str:
    """The `--scale` options that declare these scales, to paste; names with a common beginning as one pattern.

    The first pattern that fits an assessor counts, so that `*` at the end stands for all others.

    >>> grades, yes_no = Scale("graded", 3.0), Scale("binary", 1.0)
    >>> scales = {"ann": grades, "bob": grades, "gpt-4": yes_no, "gpt-4o": yes_no}
    >>> options(scales, list(scales))
    "--scale 'gpt-*=binary' --scale '*=0-3'"
    >>> options({"ann": grades, "gpt-4": yes_no}, list(scales))
    "--scale 'ann=0-3' --scale 'gpt-4=binary'"
    """
    by_scale: dict[str, list[str]] = {}
    for name, scale in scales.items():
        by_scale.setdefault(str(scale), []).append(name)
    patterns = {scale: _patterns(names, everybody) for scale, names in by_scale.items()}
    most = max(patterns, key=lambda scale: len(patterns[scale]))
    if len(scales) == len(everybody) and (len(patterns) == 1 or len(patterns[most]) > 1):
        del patterns[most]
        patterns[most] = ["*"]
    pairs = [(pattern, scale) for scale, fitting in patterns.items() for pattern in fitting]
    if len(pairs) > OPTIONS:
        return f"--scale {shlex.quote(f'{pairs[0][0]}={pairs[0][1]}')} and so on for the others"
    return " ".join(f"--scale {_quoted(f'{pattern}={scale}')}" for pattern, scale in pairs)


def _patterns(names: Sequence[str], everybody: Collection[str]) -> list[str]:
    """Patterns and names that match these assessors and no others."""
    patterns: list[str] = []
    covered: set[str] = set()
    for name in names:
        if name in covered:
            continue
        ends = [match.end() for match in re.finditer(r"[-_. ]", name)]
        for start in (name[:end] for end in ends):  # the shortest common beginning that no other assessor has
            alike_named = {other for other in everybody if other.startswith(start)}
            if len(alike_named) > 1 and alike_named <= set(names) - covered:
                patterns.append(f"{escape(start)}*")
                covered |= alike_named
                break
        else:
            patterns.append(escape(name))
            covered.add(name)
    return patterns


def _quoted(text: str) -> str:
    """In single quotes, whether or not the shell needs them."""
    quoted = shlex.quote(text)
    return quoted if quoted.startswith("'") else f"'{text}'"
