"""evaluate: every run, scored by every assessor's judgments, on every topic, by every measure.

The result keeps all four dimensions. Nothing is averaged here, and every convention that shaped the numbers is named
in `scores.attributes`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from qrowd.errors import ArgumentError
from qrowd.evaluation.named_measures import DEFAULT_MEASURES
from qrowd.evaluation.scoring_plan import Plan, Progress, parsed_measures
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.objects import AnyJudgments, AnyRuns, as_judgments, as_runs
from qrowd.model.panel import Blocks, Panel
from qrowd.model.preferences import Preferences
from qrowd.model.scores import Scores

if TYPE_CHECKING:
    from qrowd.executors import AnyExecutor
    from qrowd.partitions import PartitionedJudgments, PartitionedRuns
    from qrowd.paths import PathLike


def evaluate(
    runs: AnyRuns | PartitionedRuns,
    judgments: AnyJudgments | Preferences | Panel | Blocks | Iterable[Panel] | PartitionedJudgments,
    measures: object | Sequence[object] = DEFAULT_MEASURES,
    *,
    conventions: Conventions = Conventions(),
    executor: AnyExecutor = None,
    results: PathLike | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Scores:
    """Score every system, for every assessor, on every judged topic, by every measure.

    runs : Runs; or a data frame, dictionaries, rows or what else `qrowd.model.objects` converts.
    judgments : Judgments, or what is converted; or a Panel; or panels in blocks over one pool of topics and documents
        (anything iterable), for assessors too many to hold at once. Preferences are for measures of preferences, which
        infer them from grades where they are given judgments.
    measures : texts, ir_measures objects, or one of them.
    conventions : the options that change scores.
    executor : whose workers score the parts of a partitioned collection (`qrowd.partition`): any
        `concurrent.futures.Executor`, a Dask client, or `qrowd.executors.Processes(n)`. Other data are written to a
        temporary folder first, which the workers must be able to read. Default: this process.
    results : folder for the scores of each part of a partitioned collection. What it holds of the same parts, measures
        and conventions is not computed again, so that an evaluation that was interrupted goes on.
    threads : number of threads, which score topics side by side; default: all processors, and 1 for each worker of an
        executor.
    progress : called with (topics done, topics in all) of each block; with the rows of a partitioned collection after
        each part.

    Returns
    -------
    Scores (measure, assessor, topic, system), float64, nan where an assessor has no score. `relevant` (measure,
    assessor, topic) is the number of documents the measure could have rewarded, `coverage` (assessor, topic) the share
    of the pool that the assessor judged. `attributes` name the conventions in force and the facts behind them.

    Raises
    ------
    NoOverlapError
        Runs and judgments share no topic.
    MeasureError
        A measure that does not fit the judgments' scales or the conventions.
    """
    partitioned = hasattr(runs, "collection") or hasattr(judgments, "collection")
    if partitioned or executor is not None or results is not None:
        from qrowd.evaluation.parts import evaluate_in_parts

        return evaluate_in_parts(
            runs,
            judgments,
            measures,
            conventions=conventions,
            executor=executor,
            results=results,
            threads=threads,
            progress=progress,
        )
    runs, judgments = as_runs(runs), _answers(judgments)
    plan = Plan(runs, parsed_measures(measures, conventions), conventions, threads, progress)
    if isinstance(judgments, Preferences):
        plan.refuse_grades()
        return plan.gather(judgments.assessors, [judgments] if judgments.topics else [], judgments.n_repeats())
    names, panels = _panels(judgments, conventions)
    if names is None:
        panels = list(panels)
        names = [assessor for panel in panels for assessor in panel.assessors]
    if not isinstance(judgments, Judgments):
        return plan.gather(names, panels)
    scores = plan.gather(names, panels, judgments.n_repeats())
    scales = dict(zip(judgments.assessors, judgments.scales, strict=True))  # before `grades` divided anything
    carried = {name: value for name in ("prepared", "clusters") if (value := getattr(judgments, name))}
    if runs.criteria:
        carried["criteria"] = runs.criteria
    return replace(scores, attributes={**scores.attributes, "scales": scales, **carried})


def _answers(judgments: Any) -> Judgments | Preferences | Panel | Blocks | Iterable[Panel]:
    """Judgments of any kind as `Judgments`; preferences and panels as they are."""
    if isinstance(judgments, Judgments | Preferences | Panel):
        return judgments
    frame = any(hasattr(judgments, name) for name in ("columns", "column_names", "to_dict"))
    if frame or isinstance(judgments, str | Mapping) or not isinstance(judgments, Iterable):
        return as_judgments(judgments)
    if isinstance(judgments, Blocks):
        return judgments
    if isinstance(judgments, Sequence):
        return judgments if judgments and isinstance(judgments[0], Panel) else as_judgments(judgments)
    rows = iter(judgments)  # once, since it may draw panels
    first = next(rows, None)
    rows = chain([] if first is None else [first], rows)
    return rows if isinstance(first, Panel) else as_judgments(rows)


def evaluate_blocks(
    runs: AnyRuns,
    blocks: Blocks | Iterable[Panel],
    measures: object | Sequence[object] = DEFAULT_MEASURES,
    *,
    conventions: Conventions = Conventions(),
    threads: int | None = None,
    progress: Progress = None,
) -> Iterator[Scores]:
    """The scores of one block of assessors after the other, for reductions that need never hold them all.

    >>> total = sum(s.values.sum(axis=1) for s in evaluate_blocks(runs, blocks, "AP"))  # doctest: +SKIP

    Arguments, scores and errors as in `evaluate`, one result per block.
    """
    plan = Plan(as_runs(runs), parsed_measures(measures, conventions), conventions, threads, progress)
    plan.refuse_union()
    for panel in blocks:
        yield plan.gather(panel.assessors, [panel])


def _panels(
    judgments: Judgments | Panel | Blocks | Iterable[Panel], conventions: Conventions
) -> tuple[Sequence[str] | None, Iterable[Panel]]:
    """The assessors' names where they are known beforehand, and panels that hold them in order."""
    if isinstance(judgments, Judgments):
        if not len(judgments):
            raise ArgumentError("judgments: there are none")
        return judgments.assessors, [conventions.graded(judgments).panel(repeats=conventions.repeats)]
    if conventions.grades == "rescaled":
        raise ArgumentError("grades='rescaled' is for Judgments; make panels from rescaled judgments")
    if isinstance(judgments, Panel):
        return judgments.assessors, [judgments]
    return getattr(judgments, "assessors", None), judgments
