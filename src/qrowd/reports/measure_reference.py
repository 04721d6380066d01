"""The measure reference, generated from the definitions: one text for the documentation and the command line."""

from __future__ import annotations

from collections.abc import Sequence

from qrowd.evaluation import DEFINITIONS
from qrowd.model.measure import Definition


def example(definition: Definition) -> str:
    """The measure as one would first write it."""
    return f"{definition.name}@10" if definition.cutoff == "required" else definition.name


def measure_entry(definition: Definition) -> str:
    """A measure in four lines: sentence, formula, parameters with their defaults, source."""
    parameters = ", ".join(f"{p.name}={p.default!r}" for p in definition.parameters) or "none"
    lines = [definition.sentence, definition.formula, f"parameters: {parameters}", f"source: {definition.source}"]
    return "\n".join([example(definition), *(f"    {line}" for line in lines)])


def measure_page(definition: Definition) -> str:
    """Everything about one measure, as Markdown."""
    cutoff = {"required": "needs one (`@k`)", "optional": "may have one (`@k`)", "none": "takes none"}[
        definition.cutoff
    ]
    lines = [f"## {definition.name}", "", definition.sentence, "", f"    {definition.formula}", ""]
    if definition.notes:
        lines += [definition.notes, ""]
    lines += [f"- Cut-off: {cutoff}.", f"- Linear in gains: {'yes' if definition.linear else 'no'}."]
    if definition.aliases:
        names = (f"{alias}10" if alias.endswith("_") else alias for alias in definition.aliases)
        lines.append(f"- Also understood as: {', '.join(f'`{name}`' for name in names)}.")
    lines += [f"- `{p.name}` (default `{p.default!r}`): {p.meaning}." for p in definition.parameters]
    return "\n".join([*lines, "", f"Source: {definition.source}"])


def measure_reference(definitions: Sequence[Definition] = DEFINITIONS) -> str:
    """All measures, as the page of the documentation."""
    head = (
        "# Measures\n\n"
        "Generated from the definitions by `make docs`. The notation `Name(parameter=value)@k` is that of\n"
        "ir_measures, the same in Python, on the command line and in tables. In formulas g_r is the grade that the\n"
        "assessor whose score is computed gives the document at rank r.\n"
    )
    return "\n\n".join([head.rstrip(), *map(measure_page, definitions)]) + "\n"
