"""Values that the shell completes: measures, methods and plots."""

from __future__ import annotations

ARGUMENTS = "qrowd.arguments"
"""Key of `Context.meta`: the words of a command that the shell completes."""


def measure_names() -> list[str]:
    """Each measure as one would first write it."""
    from qrowd.evaluation import definitions
    from qrowd.reports.measure_reference import example

    return [example(definition) for definition in definitions()]


def trec_eval_measures() -> list[str]:
    """trec_eval's measures and groups of them."""
    from qrowd.reports.trec_eval_output import GROUPS, MEASURES

    return [*GROUPS, *MEASURES]


def method_names() -> list[str]:
    """Methods that put the assessors together."""
    from qrowd.methods import DEFINITIONS

    return [method.name for method in DEFINITIONS]


def plot_names() -> list[str]:
    """All plots."""
    from qrowd.reports.plots.registry import PLOTS

    return list(PLOTS)
