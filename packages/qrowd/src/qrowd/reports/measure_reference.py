"""The measure reference, generated from the definitions: one text for the documentation and the command line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from qrowd.evaluation import definitions as all_definitions
from qrowd.model.measure import Definition, Parameter


def example(definition: Definition) -> str:
    """The measure as one would first write it."""
    return f"{definition.name}@10" if definition.cutoff == "required" else definition.name


def measure_page(definition: Definition, shared: Sequence[Parameter] = ()) -> str:
    """Everything about one measure, as Markdown; of shared parameters only the names."""
    lines = [f"## {definition.name}", "", definition.sentence, "", f"    {definition.formula}", ""]
    if definition.notes:
        lines += [definition.notes, ""]
    facts = [f"Cut-off `@k`: {definition.cutoff}.", "Linear in gains." * definition.linear]
    if definition.aliases:
        facts.append(
            f"Aliases: {listed(f'{alias}10' if alias.endswith('_') else alias for alias in definition.aliases)}."
        )
    if common := [p.name for p in definition.parameters if p in shared]:
        facts.append(f"Shared parameters: {listed(common)}.")
    own = [parameter_line(p) for p in definition.parameters if p not in shared]
    lines += [" ".join(filter(None, facts)), *[""] * bool(own), *own]
    return "\n".join([*lines, "", f"Source: {definition.source}"])


def listed(names: Iterable[str]) -> str:
    """Names as code, separated by commas."""
    return ", ".join(f"`{name}`" for name in names)


def parameter_line(parameter: Parameter) -> str:
    """A parameter with its default and its meaning."""
    return f"- `{parameter.name}` (default `{parameter.default!r}`): {parameter.meaning}."


def shared_parameters(definitions: Sequence[Definition]) -> list[Parameter]:
    """The parameters that several measures have in common, in the order of the measures."""
    every = [parameter for definition in definitions for parameter in definition.parameters]
    return [parameter for parameter in dict.fromkeys(every) if every.count(parameter) > 1]


HEAD = """\
# Measures

Generated from the definitions by `make docs`. The notation `Name(parameter=value)@k` is that of ir_measures, the same
in Python, on the command line and in tables. In formulas g_r is the grade that the assessor whose score is computed
gives the document at rank r. Measures that are linear in gains accept `ties="expected"`.

## Shared parameters

These parameters mean the same in each measure that lists them.
"""


def measure_reference(definitions: Sequence[Definition] = all_definitions()) -> str:
    """All measures, as the page of the documentation."""
    shared = shared_parameters(definitions)
    parts = [HEAD.rstrip(), "\n".join(map(parameter_line, shared))]
    return "\n\n".join([*parts, *(measure_page(definition, shared) for definition in definitions)]) + "\n"
