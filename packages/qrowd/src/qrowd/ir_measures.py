"""Measures of a panel of assessors for ir_measures, and through it for PyTerrier.

Importing this module registers the provider "qrowd" and the measures below, so that `ir_measures.parse_measure`,
`ir_measures.iter_calc`, `ir_measures.calc_aggregate` and `pt.Experiment` know them. Qrels name the assessor of each
judgment in a column (or field) `assessor`; without one, all judgments are of one assessor, "judgments".

Panel, Worst, Best, SD      mean, lowest, highest and standard deviation of the assessors' scores, topic by topic
Assessor                    the score by one assessor
Method                      the score by a method of `qrowd.methods`, such as "majority" or "dawid-skene"
Q, GAP, DCG, ...            measures that qrowd has and ir_measures lacks

Values are those of `qrowd.evaluate`.

>>> import pandas as pd
>>> from ir_measures import nDCG
>>> rows = [("q1", "d1", 1, "ann"), ("q1", "d2", 0, "ann"), ("q1", "d1", 0, "bob"), ("q1", "d2", 1, "bob")]
>>> qrels = pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance", "assessor"])
>>> for each in Panel(nDCG @ 2), Worst(nDCG @ 2):
...     print(f"{each} {each.calc_aggregate(qrels, {'q1': {'d1': 2.0, 'd2': 1.0}}):.3f}")
Panel(measure='nDCG@2') 0.815
Worst(measure='nDCG@2') 0.631
"""

# mypy: allow-untyped-calls

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import isnan
from typing import Any

import numpy as np

from qrowd.aware.estimators import NAMES as ESTIMATORS
from qrowd.errors import ArgumentError, MeasureError, QrowdError
from qrowd.evaluation import definitions, evaluate, measure
from qrowd.kernels.arrays import Floats
from qrowd.methods import evaluate_methods, parse_method
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.measure import Definition
from qrowd.model.runs import Runs
from qrowd.model.scores import Scores, known_mean

try:
    import ir_measures
    from ir_measures.measures import ParamInfo, registry
    from ir_measures.util import QrelsConverter, RunConverter
except ModuleNotFoundError as error:
    if error.name != "ir_measures":
        raise
    raise QrowdError("qrowd.ir_measures needs ir_measures; pip install ir_measures") from None

__all__ = ["SD", "Assessor", "Best", "Method", "Panel", "PanelMeasure", "Provider", "Worst", "evaluate_measures"]

ONE_ASSESSOR = "judgments"

_MEASURE = {"measure": ParamInfo(dtype=str, required=True, desc="measure by which each assessor's judgments score")}
_ASSESSOR = {"assessor": ParamInfo(dtype=str, required=True, desc="name of the assessor")}
_METHOD = {"method": ParamInfo(dtype=str, required=True, desc="method that puts the assessors together")}


# ---------------------------------------------------------------------- measures


class PanelMeasure(ir_measures.Measure):
    """A measure that puts the scores of several assessors together: `Panel(nDCG@10)`.

    method : the method that puts assessors together before scoring; None where each assessor's scores are computed.
    """

    SUPPORTED_PARAMS = _MEASURE

    def __call__(self, *values: object, **named: object) -> PanelMeasure:
        """The measure with its parameters, in their order or by name."""
        if len(values) > len(self.SUPPORTED_PARAMS):
            raise ArgumentError(f"{self.NAME}: takes {', '.join(self.SUPPORTED_PARAMS)}, not {len(values)} values")
        params = {**self.params, **dict(zip(self.SUPPORTED_PARAMS, values, strict=False)), **named}
        if "measure" in params:
            params["measure"] = str(measure(params["measure"]))
        ordered = {name: params.pop(name) for name in self.SUPPORTED_PARAMS if name in params}
        return type(self)(**ordered, **params)

    def __matmul__(self, cutoff: object) -> PanelMeasure:
        raise ArgumentError(f"{self.NAME} takes no cut-off; give it to the measure inside: {self.NAME}(nDCG@{cutoff})")

    @property
    def method(self) -> str | None:
        """The method that merges the assessors, if this measure names one."""
        return None

    def by_topic(self, scores: Scores) -> Floats:
        """(topics, systems) values from the scores by each assessor; nan where there is none."""
        return self._reduced(scores.of(self["measure"]))

    def _reduced(self, values: Floats) -> Floats:
        return known_mean(values, axis=0)

    def aggregator(self) -> Any:
        """The mean over the topics that have a value."""
        return _KnownMean()


class _KnownMean(ir_measures.MeanAgg):
    def add(self, value: float) -> None:
        if not isnan(value):
            super().add(value)


class _Worst(PanelMeasure):
    def _reduced(self, values: Floats) -> Floats:
        return np.asarray(np.fmin.reduce(values, axis=0))


class _Best(PanelMeasure):
    def _reduced(self, values: Floats) -> Floats:
        return np.asarray(np.fmax.reduce(values, axis=0))


class _SD(PanelMeasure):
    def _reduced(self, values: Floats) -> Floats:
        known = (~np.isnan(values)).sum(axis=0)
        squares = np.nansum((values - known_mean(values, axis=0)) ** 2, axis=0)
        return np.asarray(np.where(known > 1, np.sqrt(squares / np.maximum(known - 1, 1)), np.nan))


class _Assessor(PanelMeasure):
    SUPPORTED_PARAMS = _ASSESSOR | _MEASURE

    def by_topic(self, scores: Scores) -> Floats:
        return np.asarray(scores.sel(assessor=self["assessor"]).of(self["measure"])[0])


class _Method(PanelMeasure):
    SUPPORTED_PARAMS = _METHOD | _MEASURE

    def __call__(self, *values: object, **named: object) -> PanelMeasure:
        parsed = super().__call__(*values, **named)
        if "method" in parsed.params:
            parsed.params["method"] = str(parse_method(parsed.params["method"]))
        return parsed

    @property
    def method(self) -> str | None:
        return str(self["method"])


def _registered(name: str, kind: type[Any], sentence: str, **attributes: object) -> Any:
    """The measure `name`, known to ir_measures from now on; the one that is there already, if there is one."""
    if name not in registry:
        content = {"__name__": name, "NAME": name, "__doc__": sentence, "SHORT_DESC": sentence, **attributes}
        ir_measures.measures.register(type(name, (kind,), content)())
    return registry[name]


Panel = _registered("Panel", PanelMeasure, "The mean of the assessors' scores, topic by topic.")
Worst = _registered("Worst", _Worst, "The lowest of the assessors' scores, topic by topic.")
Best = _registered("Best", _Best, "The highest of the assessors' scores, topic by topic.")
SD = _registered("SD", _SD, "The standard deviation of the assessors' scores, topic by topic.")
Assessor = _registered("Assessor", _Assessor, "The score by the judgments of one assessor.")
Method = _registered("Method", _Method, "The score by a method that puts the assessors together.")


def _own(definition: Definition) -> Any:
    """A measure of qrowd as one of ir_measures."""
    params = {p.name: ParamInfo(default=p.default, desc=p.meaning) for p in definition.parameters}
    if definition.cutoff != "none":
        params["cutoff"] = ParamInfo(dtype=int, required=definition.cutoff == "required", desc="last rank looked at")
    return _registered(definition.name, ir_measures.Measure, definition.sentence, SUPPORTED_PARAMS=params)


_OWN = {
    definition.name: _own(definition)
    for definition in definitions()
    if definition.name.isidentifier() and definition.name not in registry
}


def __getattr__(name: str) -> Any:
    """Q, GAP and the other measures that ir_measures lacks, by their names."""
    if name in _OWN:
        return _OWN[name]
    raise AttributeError(f"module 'qrowd.ir_measures' has no attribute {name!r}")


# ---------------------------------------------------------------------- scores


def evaluate_measures(
    measures: Iterable[Any],
    runs: Runs,
    judgments: Judgments,
    *,
    conventions: Conventions = Conventions(),
    rng: int = 0,
) -> dict[str | None, Scores]:
    """The scores that measures of ir_measures need: {method: scores}, those by each assessor under None.

    conventions : as in `qrowd.evaluate`. rng : of methods that draw, the same for all.
    """
    inside: dict[str | None, list[str]] = {}
    for each in measures:
        method = each.method if isinstance(each, PanelMeasure) else None
        inside.setdefault(method, []).append(each["measure"] if isinstance(each, PanelMeasure) else str(each))
    return {
        method: evaluate(runs, judgments, texts, conventions=conventions)
        if method is None
        else evaluate_methods(runs, judgments, texts, methods=method, conventions=conventions, rng=rng)
        for method, texts in inside.items()
    }


class Provider(ir_measures.Provider):
    """Scores by qrowd; registered as "qrowd" with the default conventions.

    conventions : as in `qrowd.evaluate`. rng : of methods that draw.

    `Provider(conventions=Conventions(empty="nan")).calc_aggregate([...], qrels, run)` scores under other conventions.
    """

    NAME = "qrowd"

    def __init__(self, *, conventions: Conventions = Conventions(), rng: int = 0) -> None:
        super().__init__()
        self.conventions, self.rng = conventions, rng

    def supports(self, measure: Any) -> bool:
        """Whether the measure is one of a panel, or one that qrowd knows."""
        measure.validate_params()
        if isinstance(measure, PanelMeasure):
            return True
        try:
            _parsed(measure)
        except MeasureError:
            return False
        return True

    def qrel_inputs(self, measures: Iterable[Any]) -> list[str]:
        """The columns of qrels that measures need."""
        panel = any(isinstance(each, PanelMeasure) for each in measures)
        return [*super().qrel_inputs(measures), *["assessor"] * panel]

    def _evaluator(self, measures: Iterable[Any], qrels: object) -> _Evaluator:
        return _Evaluator(list(measures), judgments_of(qrels), self)


class _Evaluator(ir_measures.Evaluator):
    """Measures and judgments, ready for any number of runs."""

    def __init__(self, measures: list[Any], judgments: Judgments | None, provider: Provider) -> None:
        super().__init__(measures, () if judgments is None else set(judgments.topics))
        self.judgments, self.provider = judgments, provider
        for each in measures:
            if not isinstance(each, PanelMeasure):
                _parsed(each)  # refuses measures that qrowd does not have
                if judgments is not None and len(judgments.assessors) > 1:
                    raise ArgumentError(
                        f"{each}: the qrels are of {len(judgments.assessors)} assessors; write Panel({each}) for their "
                        f"mean, or Assessor({judgments.assessors[0]!r}, {each}) for one of them"
                    )
            elif each.method is not None and parse_method(each.method).definition.name in ESTIMATORS:
                raise ArgumentError(
                    f"{each}: {each.method} weighs assessors by their scores of all systems, and ir_measures shows one "
                    "run at a time; use qrowd.pyterrier.Experiment or qrowd.evaluate_methods"
                )

    def _iter_calc(self, run: object) -> Iterator[Any]:
        frame = RunConverter(run, strict=False).as_pd_dataframe()
        if self.judgments is None or not len(frame):
            return
        columns = [name for name in ("query_id", "doc_id", "score") if name in frame.columns]
        runs = Runs.from_frame(frame[columns], system="run")
        conventions = self.provider.conventions
        rng = self.provider.rng
        scores = evaluate_measures(self.measures, runs, self.judgments, conventions=conventions, rng=rng)
        for each in self.measures:
            if isinstance(each, PanelMeasure):
                base = scores[each.method]
                values = each.by_topic(base)
            else:
                base = scores[None]
                values = base.of(str(_parsed(each)))[0]
            for topic, value in zip(base.topics, values[:, 0].tolist(), strict=True):
                yield ir_measures.Metric(query_id=topic, measure=each, value=value)


def judgments_of(qrels: object) -> Judgments | None:
    """Judgments from qrels as ir_measures or PyTerrier takes them; None where there are none.

    Raises
    ------
    ArgumentError
        Several judgments of a document, and no column that names the assessors.
    """
    if isinstance(qrels, Judgments):
        return qrels
    frame: Any = qrels if hasattr(qrels, "columns") else QrelsConverter(qrels, strict=False).as_pd_dataframe()
    if not len(frame):
        return None
    judgments = Judgments.from_frame(frame, assessor=ONE_ASSESSOR)
    if judgments.assessors == (ONE_ASSESSOR,) and (repeats := judgments.n_repeats()):
        raise ArgumentError(
            f"qrels: {repeats} judgments are of documents that were judged before, and no column names the assessors; "
            "name it assessor"
        )
    return judgments


def _parsed(theirs: object) -> Any:
    return measure(str(theirs))


def _register() -> None:
    """Make the provider known, once, as the last of those that ir_measures asks."""
    if Provider.NAME not in ir_measures.providers.registry:
        ir_measures.DefaultPipeline.providers.append(ir_measures.providers.register(Provider()))


_register()

if __name__ == "__main__":  # the command line of ir_measures, with the provider
    from ir_measures.__main__ import main_cli

    main_cli()
