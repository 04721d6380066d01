"""PyTerrier with a panel of assessors: `Experiment` with the arguments of pt.Experiment.

PyTerrier runs the systems; qrowd scores what they return by each assessor that the qrels name in a column `assessor`.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np

from qrowd.comparison import against_baseline, difference, holm
from qrowd.errors import ArgumentError, QrowdError, check_choice
from qrowd.evaluation import measure
from qrowd.files import read_judgments
from qrowd.ir_measures import Panel, PanelMeasure, evaluate_measures, judgments_of
from qrowd.kernels.arrays import Floats
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.result import Result
from qrowd.model.runs import Runs, concatenate_runs
from qrowd.model.scores import Scores, known_mean
from qrowd.reports.phrases import count

__all__ = ["Experiment", "ExperimentResult"]

Test = Literal["t", "topics and assessors"]
Correction = Literal["holm"]
RECORDER = "number of the results"  # the measure that collects what systems return


@dataclass(frozen=True, eq=False)
class Metric:
    """One of the eval_metrics with its scores.

    label : as the caller wrote it. by_topic : scores of the panel, as one assessor. by_assessor : the scores behind
    them; None for a measure that is itself one of a panel. p, p_corrected : (systems,) p-values of no difference from
    the baseline; nan for the baseline itself; None where there is no baseline, or no correction.
    """

    label: str
    by_topic: Scores
    by_assessor: Scores | None
    p: Floats | None = None
    p_corrected: Floats | None = None

    @property
    def mean(self) -> Floats:
        """(systems,) mean over topics."""
        return known_mean(self.by_topic.values[0, 0], axis=0)

    @property
    def mean_by_assessor(self) -> dict[str, Floats]:
        """{assessor: (systems,) mean over the topics that the assessor judged}; empty for a single assessor."""
        if self.by_assessor is None or len(self.by_assessor.assessors) < 2:
            return {}
        means = known_mean(self.by_assessor.values[0], axis=1)
        return dict(zip(self.by_assessor.assessors, means, strict=True))


@dataclass(frozen=True, eq=False)
class ExperimentResult(Result):
    """Systems that PyTerrier ran, scored by each assessor.

    systems : their names. metrics : the measures with their scores. runs, judgments : what was scored.
    scores : by each assessor, for the functions of `qrowd.comparison` and for `qrowd.summarise`; None where only
    methods were asked for. baseline : the system that others are compared with, if any.

    `to_frame()` has a row per system, `to_frame(what="perquery")` one per system, topic, measure and assessor.
    """

    systems: tuple[str, ...]
    metrics: tuple[Metric, ...] = field(repr=False)
    runs: Runs = field(repr=False)
    judgments: Judgments = field(repr=False)
    scores: Scores | None = field(repr=False)
    baseline: str | None
    test: str
    correction: str | None
    correction_alpha: float

    def _sentence(self) -> str:
        systems = count(len(self.systems), "system")
        topics = count(len(self.judgments.topics), "topic")
        text = f"{systems} on {topics}, judged by {count(len(self.judgments.assessors), 'assessor')}"
        if self.baseline is None:
            return f"{text}."
        how = "not corrected" if self.correction is None else f"corrected by {self.correction}"
        return f"{text}; differences from {self.baseline} with p-values of test {self.test!r}, {how}."

    def _tables(self) -> Mapping[str, Callable[[], Mapping[str, Any]]]:
        return {"averages": self._averages, "perquery": self._perquery}

    def _averages(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"name": self.systems}
        for metric in self.metrics:
            columns[metric.label] = metric.mean
            for who, mean in metric.mean_by_assessor.items():
                columns[f"{metric.label} {who}"] = mean
        if self.baseline is None:
            return columns
        others = np.array([system != self.baseline for system in self.systems])
        for metric in self.metrics:
            label = metric.label
            by_topic = against_baseline(metric.by_topic, self.baseline)
            ahead = [mean > mean[self.systems.index(self.baseline)] for mean in metric.mean_by_assessor.values()]
            columns[f"{label} +"] = _blank(by_topic.wins, others)
            columns[f"{label} -"] = _blank(by_topic.losses, others)
            if ahead:
                columns[f"{label} assessors +"] = _blank(np.sum(ahead, axis=0), others)
            columns[f"{label} p-value"] = metric.p
            if metric.p_corrected is not None:
                columns[f"{label} reject"] = metric.p_corrected <= self.correction_alpha
                columns[f"{label} p-value corrected"] = metric.p_corrected
        return columns

    def _perquery(self) -> dict[str, Any]:
        rows = list(self._cells())
        return dict(zip(("name", "qid", "measure", "assessor", "value"), zip(*rows, strict=True), strict=True))

    def _cells(self) -> Iterator[tuple[str, str, str, str, float]]:
        for metric in self.metrics:
            several = [metric.by_assessor] if metric.mean_by_assessor else []
            for scores in filter(None, [metric.by_topic, *several]):
                for a, who in enumerate(scores.assessors):
                    for t, topic in enumerate(scores.topics):
                        values = scores.values[0, a, t].tolist()
                        yield from (
                            (name, topic, metric.label, who, value)
                            for name, value in zip(self.systems, values, strict=True)
                        )


def _blank(counts: Any, others: Any) -> Floats:
    """Counts, nan for the baseline."""
    return np.where(others, counts, np.nan)


def Experiment(
    retr_systems: Sequence[Any] | Mapping[str, Any],
    topics: Any,
    qrels: Any,
    eval_metrics: Sequence[object],
    *,
    names: Sequence[str] | None = None,
    baseline: int | str | None = None,
    test: Test = "t",
    correction: Correction | None = "holm",
    correction_alpha: float = 0.05,
    conventions: Conventions = Conventions(),
    rng: int = 0,
    **options: Any,
) -> ExperimentResult:
    """Run systems by PyTerrier and score them by each assessor.

    Parameters
    ----------
    retr_systems, topics, eval_metrics, names, baseline : as in pt.Experiment. Measures are texts or objects of
        ir_measures; panel measures (`qrowd.ir_measures`) may be among them, also methods that compare systems.
    qrels : a frame with a column `assessor`, Judgments, or the paths of the files of several assessors.
    test : "t", the paired t-test over topics of the panel mean; or "topics and assessors", which takes both as samples
        (`qrowd.comparison.difference`).
    correction : of the p-values of one measure against the baseline: "holm", or None.
    conventions : as in `qrowd.evaluate`. rng : of methods that draw.
    options : the other options of pt.Experiment, such as save_dir, save_mode, batch_size, filter_by_topics, plan.

    Raises
    ------
    ArgumentError
        Systems of the same name, an unknown baseline, test or correction, and the measure "mrt", which is no score.
    """
    pt = _pyterrier()
    if isinstance(retr_systems, Mapping):
        names = list(retr_systems)
        retr_systems = list(retr_systems.values())
    labels = tuple(map(str, names or _names(retr_systems)))
    _check(labels, len(retr_systems), options)
    reference = labels[baseline] if isinstance(baseline, int) and -1 < baseline < len(labels) else baseline
    if reference is not None and reference not in labels:
        raise ArgumentError(f"choose from {', '.join(labels)}, or their numbers from 0", "baseline", baseline)
    check_choice("test", test, Test)
    if correction is not None:
        check_choice("correction", correction, Correction)
    measures = {str(each): each if isinstance(each, PanelMeasure) else _plain(each) for each in eval_metrics}
    topics = pt.io.read_topics(topics) if isinstance(topics, str) else topics
    judgments = _judgments(qrels)
    if options.get("filter_by_topics", True):
        judgments = judgments.select(topics=set(map(str, topics["qid"])).__contains__)
    runs = _runs(pt, labels, list(retr_systems), topics, judgments, measures.values(), options)
    scored = evaluate_measures(measures.values(), runs, judgments, conventions=conventions, rng=rng)
    metrics = [_metric(label, each, scored) for label, each in measures.items()]
    if reference is not None:
        metrics = [_tested(metric, str(reference), test, correction) for metric in metrics]
    return ExperimentResult(
        labels,
        tuple(metrics),
        runs,
        judgments,
        scored.get(None),
        None if reference is None else str(reference),
        test,
        correction,
        correction_alpha,
    )


def _pyterrier() -> Any:
    try:
        import pyterrier
    except ModuleNotFoundError as error:
        if error.name != "pyterrier":
            raise
        raise QrowdError("this needs PyTerrier; pip install pyterrier") from None
    return pyterrier


def _names(systems: Sequence[Any]) -> list[str]:
    """The text of each system; frames, whose text is long, are numbered."""
    return [f"system {i}" if hasattr(one, "columns") else str(one) for i, one in enumerate(systems)]


def _check(labels: Sequence[str], n_systems: int, options: Mapping[str, object]) -> None:
    if len(labels) != n_systems:
        raise ArgumentError(f"names: {len(labels)} names for {n_systems} systems; give one for each")
    twice = next((label for i, label in enumerate(labels) if label in labels[:i]), None)
    if twice is not None:
        raise ArgumentError(f"names: {twice!r} is the name of two systems; give names=[...] that differ")
    for name in ("dataframe", "highlight", "perquery", "round"):
        if name in options:
            raise ArgumentError(f"{name}: this is for frames of PyTerrier; the result has to_frame() instead")


def _plain(metric: object) -> str:
    """The text of a measure of one assessor, checked."""
    if str(metric) == "mrt":
        raise ArgumentError("eval_metrics: mrt is a time, no score; pt.Experiment measures it")
    return str(measure(metric))


def _judgments(qrels: Any) -> Judgments:
    if isinstance(qrels, str | PathLike | list | tuple):
        return read_judgments(qrels)
    judgments = judgments_of(qrels)
    if judgments is None:
        raise ArgumentError("qrels: there are none")
    return judgments


def _runs(
    pt: Any,
    labels: Sequence[str],
    systems: list[Any],
    topics: Any,
    judgments: Judgments,
    measures: Iterable[object],
    options: Mapping[str, Any],
) -> Runs:
    """What the systems return: PyTerrier evaluates a measure that notes the results and gives back their number."""
    import ir_measures

    results: list[Any] = []

    def record(_qrels: Any, run: Any) -> Iterator[tuple[str, int]]:
        results.append(run)
        return ((topic, len(results)) for topic in run["query_id"].unique())

    metrics = [ir_measures.define(record, name=RECORDER, support_cutoff=False)]
    qrels = judgments.to_frame().rename(columns={"topic": "qid", "document": "docno", "value": "label"})
    folder = options.get("save_dir")
    if folder is None:
        qrels = qrels.drop_duplicates("qid")  # the topics are all that is asked of them
    else:  # whose summaries are to hold scores
        metrics += [Panel(each) for each in measures if isinstance(each, str)]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Evaluation measures differ")  # by the one that notes results
        rows = pt.Experiment(systems, topics, qrels, metrics, names=list(labels), perquery=True, **options)
    if folder is not None:
        _without_recorder(Path(folder))
    rows = rows[(rows["measure"] == RECORDER) & (rows["value"] > 0)]
    parts = []
    for label in labels:
        for number in rows.loc[rows["name"] == label, "value"].unique():
            frame = results[int(number) - 1][["query_id", "doc_id", "score"]]
            parts.append(Runs.from_frame(frame, system=label))
    return concatenate_runs(parts)


def _without_recorder(folder: Path) -> None:
    """Remove the measure that notes results from the summaries that PyTerrier writes."""
    import pandas as pd

    aggregated = pd.read_csv(folder / "aggregated.csv", dtype={"name": str})
    aggregated.drop(columns=RECORDER).to_csv(folder / "aggregated.csv", index=False)
    by_topic = pd.read_csv(folder / "perquery.csv", dtype={"name": str, "qid": str})
    by_topic[by_topic["measure"] != RECORDER].to_csv(folder / "perquery.csv", index=False)


def _metric(label: str, each: Any, scored: Mapping[str | None, Scores]) -> Metric:
    if isinstance(each, PanelMeasure):
        scores = scored[each.method]
        of_panel = Scores.from_array(
            each.by_topic(scores), measure=label, assessors=[label], topics=scores.topics, systems=scores.systems
        )
        return Metric(label, of_panel, None)
    by_assessor = scored[None].sel(measure=each)
    return Metric(label, by_assessor.panel_mean(), by_assessor)


def _tested(metric: Metric, baseline: str, test: Test, correction: Correction | None) -> Metric:
    """The metric with its p-values."""
    systems = metric.by_topic.systems
    if test == "t":
        p = against_baseline(metric.by_topic, baseline, correction="none").p
    else:
        scores = metric.by_assessor or metric.by_topic
        p = np.array([np.nan if one == baseline else difference(scores, one, baseline).p for one in systems])
    corrected = None if correction is None else holm(p)
    return Metric(metric.label, metric.by_topic, metric.by_assessor, p, corrected)
