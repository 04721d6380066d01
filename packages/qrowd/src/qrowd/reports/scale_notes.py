"""The note on scales of every report.

It says on which scales the assessors judged and how values were brought together where scales differ, and ends with the
options that declare what was inferred.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from glob import escape

from qrowd.model.inferred_scales import alike
from qrowd.model.judgments import Judgments
from qrowd.model.one_scale import Combined, CombineScales, combined_how
from qrowd.model.scales import Scale
from qrowd.reports.document import Note
from qrowd.reports.phrases import listed

NAMED = 3  # assessors of a scale who are named
OPTIONS, EXAMPLES = 8, 2  # options that are printed to paste; of more only some, to show their form

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
    texts = SCALE_RULES | {"relevant": f"{SCALE_RULES['relevant']}, from {thresholds(scales)}"}
    return "; ".join(f"{', '.join(statistics)}: {texts[rule]}" for rule, statistics in by_rule.items())


def thresholds(scales: Iterable[Scale]) -> str:
    """From which value on each scale a judgment counts as relevant: 1 on 0-3, 0.5 on 0..1."""
    return ", ".join(dict.fromkeys(f"{scale.rel:g} on {scale}" for scale in scales if scale.rel is not None))


def scale_note(judgments: Judgments, rules: str = "") -> Note:
    """The note for these judgments; see `scales_note`."""
    return scales_note(dict(zip(judgments.assessors, judgments.scales, strict=True)), rules)


def scales_note(scales: Mapping[str, Scale], rules: str = "") -> Note:
    """On which scales the assessors judged.

    scales : by assessor; rules : how values were brought together, where the caller changed them or where scales
    differ.

    >>> scales = {"ann": Scale("graded", 3.0, False), "bob": Scale("binary", 1.0)}
    >>> print(scales_note(scales, "votes count relevance"))
    scale: 0-3 (inferred): ann; binary: bob; votes count relevance; to declare: --scale 'ann=0-3'
    >>> print(scales_note(dict.fromkeys(["ann", "bob"], Scale("binary", 1.0, False))))
    scale: binary (inferred from the judgments of ann and bob); to declare: --scale '*=binary'
    """
    inferred = {name: scale for name, scale in scales.items() if not scale.declared}
    if alike(list(scales.values())):
        how = f"inferred from the judgments of {listed(list(inferred), NAMED)}" if inferred else "declared"
        parts = [f"{next(iter(scales.values()))} ({how})"]
        patterns = ["*"]
    else:
        parts = ["; ".join(scales_of(scales))]
        patterns = list(map(escape, inferred))
    if rules:
        parts.append(rules)
    raw = [name for name, scale in scales.items() if scale.kind == "magnitude" and not scale.normalised]
    if len(raw) > 1:
        parts.append(
            f"magnitudes of {len(raw)} assessors as written, though each may use a range of numbers of their own; "
            "to bring them onto one scale: --normalise geometric-mean"
        )
    if inferred:
        pairs = zip(patterns, inferred.values(), strict=False)
        options = [f"--scale {_quoted(f'{pattern}={scale}')}" for pattern, scale in pairs]
        if len(options) > OPTIONS:
            options = [*options[:EXAMPLES], "and so on"]
        parts.append(f"to declare: {' '.join(options)}")
    return Note("scale", "; ".join(parts))


def scales_of(scales: Mapping[str, Scale]) -> Iterator[str]:
    """Every scale with its assessors."""
    by_scale: dict[str, list[str]] = {}
    for name, scale in scales.items():
        by_scale.setdefault(f"{scale}{'' if scale.declared else ' (inferred)'}", []).append(name)
    for text, names in by_scale.items():
        yield f"{text}: {listed(names, NAMED)}"


def _quoted(text: str) -> str:
    """In single quotes, whether or not the shell needs them."""
    quoted = shlex.quote(text)
    return quoted if quoted.startswith("'") else f"'{text}'"
