"""What the explorer holds of each method: weights where scores are averaged, else the scores themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from qrowd.aware.estimators import NAMES
from qrowd.kernels.arrays import Floats
from qrowd.methods import Task, evaluate_methods, parse_method
from qrowd.model.chance import Seed
from qrowd.model.conventions import Conventions
from qrowd.model.inferred_scales import alike
from qrowd.model.judgments import Judgments
from qrowd.model.measure import Measure
from qrowd.model.one_scale import CombineScales
from qrowd.model.runs import Runs
from qrowd.model.scores import Scores

if TYPE_CHECKING:
    from qrowd.executors import AnyExecutor

Kind = Literal["mean", "merged", "weights"]
MEAN = "mean"
NAMED_OTHERWISE = {MEAN: "mean-of-judgments"}  # the panel mean has the name already
APPROXIMATE = (
    "the weights are those of all assessors and topics; with some left out they are divided by the sum of the others, "
    "which is approximate"
)


@dataclass(frozen=True, eq=False)
class MethodOfPage:
    """A method that the page offers, with what it needs to show it.

    name : unique on the page. label : as it is written. note : what is exact.
    merged : (measures, topics, systems) scores of a method of kind "merged".
    weights : (measures, assessors, topics) of kind "weights"; nan leaves the assessor out of the topic; where all
        weights of those who have one are 0, they count alike.
    """

    name: str
    label: str
    kind: Kind
    note: str
    merged: Floats | None = None
    weights: Floats | None = None


def panel_mean() -> MethodOfPage:
    """The mean over the assessors."""
    return MethodOfPage(MEAN, "mean over assessors", "mean", "")


def usual_methods(judgments: Judgments) -> tuple[str, ...]:
    """Those beside the mean where none are named: the majority vote, of several assessors who grade on one scale."""
    graded = all(scale.kind in ("binary", "graded") for scale in judgments.scales)
    return ("majority",) if graded and alike(judgments.scales) and len(judgments.assessors) > 1 else ()


def methods_of_page(
    runs: Runs,
    judgments: Judgments,
    scores: Scores,
    measures: Sequence[Measure],
    methods: Sequence[str],
    *,
    conventions: Conventions,
    combine_scales: CombineScales = "auto",
    seed: Seed,
    executor: AnyExecutor = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[tuple[MethodOfPage, ...], tuple[str, ...]]:
    """The methods, the panel mean first, and their warnings. scores : of the same runs, judgments and measures."""
    task = Task(runs, judgments, tuple(measures), conventions, seed, None, progress, combine_scales, executor)
    parts, warnings = [panel_mean()], []
    for method in dict.fromkeys(map(parse_method, methods)):
        if method.definition.name in ("uniform", *NAMES) and _agree(scores, task.panel):
            parts.append(_weighted(method, task))
            continue
        merged = evaluate_methods(
            runs,
            judgments,
            list(measures),
            methods=[str(method)],
            conventions=conventions,
            combine_scales=combine_scales,
            rng=seed,
            executor=executor,
        )
        warnings += list(merged.attributes["warnings"])
        parts.append(_merged(method, merged, scores))
    return tuple(parts), tuple(warnings)


def _weighted(method: Measure, task: Task) -> MethodOfPage:
    """A mean of the assessors' scores with weights."""
    name = str(method)
    if method.definition.name == "uniform":
        note = "exact for any choice; an assessor without a relevant document in a topic is left out there"
        return MethodOfPage(name, name, "weights", note, weights=np.where(task.panel.known, 1.0, np.nan))
    values = method.values
    similarities = task.similarities(int(str(values["n_resamples"])))
    weights = similarities.accuracy(
        method.definition.name,
        polarity=values["polarity"],  # type: ignore[arg-type]
        across=values["across"],  # type: ignore[arg-type]
    )
    return MethodOfPage(name, name, "weights", f"exact for all assessors and topics; {APPROXIMATE}", weights=weights)


def _agree(scores: Scores, panel: Scores) -> bool:
    """Whether scores are those that the weights were made for, apart from cells without a score."""
    known = ~np.isnan(panel.values)
    return bool(np.array_equal(scores.values[known], panel.values[known]))


def _merged(method: Measure, merged: Scores, scores: Scores) -> MethodOfPage:
    """Scores of judgments that were merged, in the order of the topics of the page."""
    place = {topic: t for t, topic in enumerate(merged.topics)}
    values = np.full((len(scores.measures), len(scores.topics), len(scores.systems)), np.nan)
    for t, topic in enumerate(scores.topics):
        if topic in place:
            values[:, t] = merged.values[:, 0, place[topic]]
    name = str(method)
    n = len(scores.assessors)
    note = f"scores by this method from all {n} assessors; the choice of assessors does not change them"
    return MethodOfPage(NAMED_OTHERWISE.get(name, name), _label(name), "merged", note, merged=values)


def _label(name: str) -> str:
    return "mean of the judgments, scored" if name == MEAN else name
