"""`qrowd replace`: may a model replace our assessors?"""

from __future__ import annotations

import shlex
import sys
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from qrowd.cli import options, reading
from qrowd.cli.options import convention, option
from qrowd.cli.output import Output, ShortNames, deliver
from qrowd.cli.values import related_of
from qrowd.errors import ArgumentError
from qrowd.model.conventions import Conventions
from qrowd.paths import find_files
from qrowd.reports.phrases import listed

if TYPE_CHECKING:
    from qrowd.reports.document import Document


def replace(
    data: options.Data,
    files: options.JudgmentFiles = None,
    model: Annotated[
        list[str] | None,
        option(
            help="Models, each tested alone: assessors of the judgments, files, or folders of one file per model.",
            panel="Data",
            metavar="NAMES|FILES",
            show_default="each assessor in turn",
        ),
    ] = None,
    gold: options.Gold = None,
    runs: options.MaybeRuns = options.NO_RUNS,
    measure: options.Measure = "nDCG@10",
    group: Annotated[
        list[str] | None,
        option(
            help="Group of systems that the model may be biased towards, as in 'neural=neural_*'; needs --runs.",
            metavar="NAME=PATTERN",
            show_default="rankings are compared, no bias",
        ),
    ] = None,
    related: reading.Related = None,
    eps: Annotated[
        float,
        option(help="Cost margin epsilon of the alternative annotator test: 0.2 for experts, 0.15 skilled, 0.1 crowd."),
    ] = 0.2,
    q: Annotated[float, convention(help="False discovery rate over all assessors.")] = 0.05,
    closeness: Annotated[
        Literal["accuracy", "rmse", "difference"] | None,
        convention(help="How close a judgment is to those of the others.", show_default="by the scale"),
    ] = None,
    clusters: Annotated[
        Literal["topics", "documents"],
        convention(help="Independent units of the test: topics, or documents as in the paper."),
    ] = "topics",
    min_documents: Annotated[int, convention(help="Smallest number of documents on which an assessor is tested.")] = 30,
    documents: Annotated[
        Literal["pool", "seen"],
        convention(
            help="Documents that are ranked for the ceiling: all that --gold judged, or those that others judged, too."
        ),
    ] = "pool",
    min_coverage: options.MinCoverage = 0.1,
    repeats: options.Repeats = "first",
    combine_scales: options.CombineScales = "auto",
    seed: options.Seed = 1,
    short_names: ShortNames = False,
    output: Output = None,
) -> None:
    """Compare models with assessors: may they replace them, and what do their grades mean."""
    from qrowd.reports.replacement import replacements

    data = options.judgments_by_position(files, data)
    groups, relatives = systems_by_group(group or [], runs.runs), related_of(related)
    if relatives and not (runs.runs and model):
        missing = ("--runs", "RUNS") if model else ("--model", "MODEL")
        raise ArgumentError(f"--related: it is about scores of systems by a model; type {_command(*missing)}")
    test: dict[str, Any] = {
        "eps": eps,
        "q": q,
        "closeness": closeness,
        "clusters": clusters,
        "min_documents": min_documents,
        "combine_scales": combine_scales,
        "conventions": Conventions(min_coverage=min_coverage, repeats=repeats),
    }
    if not model:
        return deliver(_in_turn(data, gold, runs.runs, test), output)
    models: dict[str, Any] = {f"model {i}": text for i, text in enumerate(_each_model(model, data))}
    judgments, names = data.read_with(**models, gold=gold)
    rankings = runs.read(data)
    result = replacements(
        judgments,
        [names[option] for option in models],
        gold=names.get("gold"),
        runs=rankings,
        groups=groups,
        related=relatives,
        measure=measure,
        documents=documents,
        rng=seed,
        **test,
    )
    systems = () if rankings is None else rankings.systems
    deliver(result.to_document().shown(systems, short_names=short_names), output)


def _each_model(models: list[str], data: options.Data) -> list[str]:
    """The models, with the files of a folder or pattern in its place; an assessor's name comes first."""
    several = [text for text in models if Path(text).is_dir() or (has_magic(text) and not Path(text).exists())]
    once = "-" in (data.judgments or ())  # standard input cannot be read again
    assessors = data.read(in_slots=False).assessors if several and not once else ()
    files = {text: [str(file) for file in find_files(text)] for text in several if text not in assessors}
    return [model for text in models for model in files.get(text, [text])]


def _in_turn(data: options.Data, gold: str | None, runs: list[str] | None, test: dict[str, Any]) -> Document:
    """Each assessor in place of the model. gold : left out of the assessors."""
    from qrowd.reports.replacement_in_turn import in_turn
    from qrowd.uncertainty.annotator_test import MIN_ASSESSORS

    if gold or runs:
        given = "--gold" if gold else "--runs"
        raise ArgumentError(f"{given}: it is about a model; type {_command('--model', 'MODEL')}, or leave {given} out")
    judgments = data.read()
    if len(judgments.assessors) < MIN_ASSESSORS:
        raise ArgumentError(
            f"missing option '--model': with {listed(judgments.assessors)} only, none can be tested in place of the "
            f"others; type {_command('--model', judgments.assessors[-1])}"
        )
    return in_turn(judgments, **test).to_document()


def _command(*further: str) -> str:
    """What the user typed, with further options, to type next."""
    return f"`{shlex.join(['qrowd', *sys.argv[1:], *further])}`"


def systems_by_group(texts: list[str], runs: list[str] | None) -> dict[str, list[str]]:
    """{name: patterns}; a name that is given twice holds the systems of both patterns."""
    groups: dict[str, list[str]] = {}
    for text in texts:
        name, equals, pattern = text.partition("=")
        if not (name and equals and pattern):
            raise ArgumentError(f"--group {text}: expected NAME=PATTERN, as in 'neural=neural_*'")
        groups.setdefault(name, []).append(pattern)
    if groups and not runs:
        raise ArgumentError(f"--group: bias is estimated from scores of systems; type {_command('--runs', 'RUNS')}")
    return groups
