"""`qrowd evaluate`: every run, by every assessor."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from qrowd.cli import options
from qrowd.cli.options import measures, methods, option
from qrowd.cli.output import Output, ShortNames, Top, deliver, is_standard_output
from qrowd.cli.processes import Workers
from qrowd.cli.reading import JudgeRecord
from qrowd.errors import ArgumentError
from qrowd.model.conventions import Conventions

if TYPE_CHECKING:
    from qrowd.partitions import PartitionedCollection


@dataclass(frozen=True)
class InParts(Workers):
    """Who scores, and where the scores of the parts of a partitioned collection are kept."""

    results: Annotated[
        str | None,
        option(
            help="Folder for the scores of each part; what it holds is not computed again after an interruption.",
            panel="Partitioned collections",
            metavar="FOLDER",
        ),
    ] = None


def evaluate(
    runs: options.MaybeRuns,
    data: options.Data,
    files: options.Files = None,
    measure: Annotated[list[str] | None, measures(show_default="nDCG@10 AP P@10 RR")] = None,
    method: Annotated[
        list[str] | None,
        methods(
            "Methods that put the assessors together, several side by side: majority, dawid-skene(per=all), mace, "
            "mean, uniform, sgl_rmse_msd, predicted-relevance(rel=2), agreement-aware and others."
        ),
    ] = None,
    baseline: options.Baseline = None,
    per_measure: Annotated[
        bool,
        option(
            "--per-measure",
            help="Print a table of each measure with standard errors, ranges over assessors and ranks, and the "
            "agreement of assessors; so do one measure, --baseline and --method.",
        ),
    ] = False,
    per_topic: options.PerTopic = False,
    judge_record: JudgeRecord = None,
    parts: InParts = InParts(),
    conventions: options.Scoring = Conventions(),
    combine_scales: options.CombineScales = "auto",
    seed: options.Seed = 1,
    top: Top = None,
    short_names: ShortNames = False,
    output: Output = None,
) -> None:
    """Score each run by each assessor, and show whether the assessors agree on the best system."""
    from qrowd.cli.show import progress, show_table
    from qrowd.evaluation import DEFAULT_MEASURES
    from qrowd.reports.evaluation import evaluation_of, topic_table
    from qrowd.reports.short_names import short_names as without_common_words

    if method and parts.results is not None:
        raise ArgumentError("--results: methods need the judgments of all parts at once; leave it out")
    run_files, data = options.by_position(files, runs, data)
    collection = None if method or judge_record is not None else _partitioned(run_files, data)
    if collection is None:
        judgments, rankings = data.read(), run_files.read(data)
    with parts.executor() as executor, progress("scoring") as advance:
        summary = evaluation_of(
            rankings if collection is None else collection.runs,
            judgments if collection is None else collection.judgments,
            measure or DEFAULT_MEASURES,
            methods=method or [],
            baseline=baseline,
            conventions=conventions,
            combine_scales=combine_scales,
            rng=seed,
            progress=advance,
            executor=executor,
            results=parts.results,
        )
    if judge_record is not None:
        from qrowd.reports.unanswered import read_unanswered

        summary = summary.with_unanswered(read_unanswered(judge_record, rankings, rng=seed))
    systems = summary.scores.systems
    documents = summary.to_document(), summary.to_document() if per_measure else summary.overview()
    whole, shown = (document.shown(systems, top=top, short_names=short_names) for document in documents)
    deliver(whole, output, shown=shown)
    if per_topic and not (output and is_standard_output(output)):
        labels = dict(zip(systems, without_common_words(systems), strict=True)) if short_names else {}
        show_table(topic_table(summary.scores).renamed(labels))


def _partitioned(runs: options.Runs, data: options.Data) -> PartitionedCollection | None:
    """The partitioned collection whose folder is the only path of both; its judgments are taken as they are."""
    plain = data == replace(options.Data(), judgments=data.judgments)
    if data.judgments != runs.runs or len(runs.runs) != 1 or not plain:
        return None
    from qrowd.partitions import is_partitioned, open_partitioned

    return open_partitioned(runs.runs[0]) if is_partitioned(runs.runs[0]) else None
