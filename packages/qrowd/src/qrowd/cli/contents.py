"""The commands by group, with one sentence each, so that `qrowd --help` and completion load none of them.

The command `trec-eval` is the function `trec_eval` in the module `qrowd.cli.trec_eval`; its docstring begins with the
same sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

GROUPS: Mapping[str, Mapping[str, str]] = {
    "Evaluate systems": {
        "demo": "Show an evaluation of a small simulated panel.",
        "evaluate": "Score each run by each assessor, and show whether the assessors agree on the best system.",
        "compare": "Show which systems may be the best, and whether the assessors agree on that.",
        "table": (
            "Print systems by measures or by assessors as a paper does: the best in bold, with marks of significance."
        ),
        "report": "Write one page: which system is better, how certain that is, and on what the assessors disagree.",
        "plot": "Draw one plot as SVG, PDF or PNG, ready for a paper.",
        "aware": "Weight the assessors by how different they are from random assessors (AWARE).",
        "predict": "Predict which documents users find relevant, from documents that two or more assessors judged.",
        "partition": "Write runs and judgments that do not fit into memory in parts, for qrowd evaluate.",
        "check": "Show what files contain, how they are read, and the mistakes in them.",
        "measures": "List all measures with their parameters, formulas and sources.",
        "trec-eval": "Print what trec_eval prints, of one file of judgments or of each assessor.",
        "prefer": "Evaluate systems by preferences between two documents.",
    },
    "Study the assessors": {
        "agree": (
            "Measure how well assessors agree: Krippendorff's alpha, Cohen's kappa of each pair, "
            "and other coefficients."
        ),
        "assessors": "Describe each assessor: grades, severity, agreement with others, drift and speed.",
        "disagreements": (
            "Show on which documents assessors disagree, ordered by what that changes in differences of systems."
        ),
        "aggregate": "Merge the judgments of several assessors into one judgment per document.",
        "replace": "Compare models with assessors: may they replace them, and what do their grades mean.",
        "leaderboards": "Show whether leaderboards agree on the systems, such as those of models with that of people.",
        "magnitude": "Analyse magnitudes: free numbers above 0 instead of grades.",
    },
    "Plan": {
        "plan": "Plan how many topics and assessors to judge, and how to spend a budget.",
        "next": "Show what can be said of a question now, and write the documents that people should judge next.",
        "simulate": "Write a simulated panel with known true grades: runs, texts, judgments, magnitudes, preferences.",
    },
    "Collect judgments": {
        "judge": "Ask language models to judge, and show what became of each question.",
    },
    "Papers": {
        "study": "Recompute a paper, or apply its analyses to files.",
    },
}

COMMANDS = "qrowd.commands"  # entry points of distributions that add commands: modules with such a table


def all_groups() -> Mapping[str, Mapping[str, str]]:
    """{group: {command: sentence}} with the commands that other distributions add."""
    groups = {group: dict(sentences) for group, sentences in GROUPS.items()}
    for module in added():
        for group, sentences in module.GROUPS.items():
            groups[group] = groups.get(group, {}) | sentences
    return groups


def package_of(name: str) -> str:
    """The package whose module of this name holds the command; it is looked for elsewhere only where qrowd has none.

    Raises
    ------
    KeyError
        There is no such command.
    """
    if any(name in sentences for sentences in GROUPS.values()):
        return "qrowd.cli"
    for module in added():
        if any(name in sentences for sentences in module.GROUPS.values()):
            return str(module.__package__)
    raise KeyError(name)


def added() -> Iterator[Any]:
    """The tables of commands of other distributions."""
    from importlib.metadata import entry_points

    for point in entry_points(group=COMMANDS):
        yield import_module(point.value)
