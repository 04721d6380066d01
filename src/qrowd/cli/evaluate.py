"""`qrowd evaluate`: every run, by every assessor."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from qrowd.cli import options
from qrowd.cli.options import measures, methods, option
from qrowd.cli.output import Output, ShortNames, Top, deliver, is_standard_output
from qrowd.cli.processes import Workers
from qrowd.cli.reading import JudgeRecord
from qrowd.errors import ArgumentError
from qrowd.model.conventions import Conventions

if TYPE_CHECKING:
    from qrowd.cli.show import Advance


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

    @contextmanager
    def arguments(self) -> Iterator[dict[str, Any]]:
        """As `qrowd.evaluate` takes them."""
        with self.executor() as executor:
            yield {"executor": executor, "results": self.results}

    def progress(self, advance: Advance, runs: Any, judgments: Any) -> Callable[[int, int], None]:
        """The bar, with parts and rows where these are scored in parts."""
        from qrowd.cli.throughput import showing_parts

        if hasattr(runs, "collection") and hasattr(judgments, "collection"):
            parts = runs.collection.topics_by_part
            return showing_parts(advance, sum(bool(judged) for judged, _ in parts))
        return advance if self == InParts() else showing_parts(advance, None)


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
    judgments, rankings = data.read(), run_files.read(data)
    with parts.arguments() as workers, progress("scoring") as advance:
        summary = evaluation_of(
            rankings,
            judgments,
            measure or DEFAULT_MEASURES,
            methods=method or [],
            baseline=baseline,
            conventions=conventions,
            combine_scales=combine_scales,
            rng=seed,
            progress=advance if method else parts.progress(advance, rankings, judgments),
            **workers,
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
