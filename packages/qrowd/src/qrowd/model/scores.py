"""Scores: what each system scored, by each measure, for each assessor, on each topic.

`Scores` is what `qrowd.evaluate` returns and what every function of scores takes; `to_xarray` gives the same with
xarray's arithmetic. A cell is nan where an assessor has no score. Means over a panel are taken over assessors within
each topic first and over topics then, so that a topic that many people judged weighs no more than one that few did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qrowd.display import Display, Displayed
from qrowd.errors import ArgumentError, NoOverlapError, RowError
from qrowd.kernels.arrays import Bools, Codes, Floats, Ints
from qrowd.kernels.two_way import of_clusters
from qrowd.model.labels import Clusters, clusters_of, first_of, number_of, numbered_clusters
from qrowd.model.signature import signature_of

if TYPE_CHECKING:
    import pandas
    import xarray

    from qrowd.model.frames import Frame
    from qrowd.model.headers import Names as Headers

    AnyScores: TypeAlias = "Scores | xarray.DataArray"

Names = tuple[str, ...]
DIMENSIONS = ("measure", "assessor", "topic", "system")
PANEL_MEAN = "panel mean"


@dataclass(frozen=True, eq=False)
class Scores(Displayed):
    """Scores with their labels and how they were obtained.

    values : (measures, assessors, topics, systems).
    relevant : (measures, assessors, topics) number of documents the measure could have rewarded.
    coverage : (assessors, topics) share of the topic's pool that the assessor judged.
    attributes : the conventions in force and the facts behind them; `attrs` of the DataArray.
    """

    measures: Names
    assessors: Names
    topics: Names
    systems: Names
    values: Floats = field(repr=False)
    relevant: Floats = field(repr=False)
    coverage: Floats = field(repr=False)
    attributes: Mapping[str, Any] = field(repr=False)

    @cached_property
    def signature(self) -> str:
        """One line for a paper: the version, measures, what was evaluated, and the conventions in force."""
        return signature_of(self)

    @property
    def in_force(self) -> tuple[str, ...]:
        """The conventions on which these scores depend: where another choice would have changed one of them."""
        about, judged = self.attributes, self.coverage > 0
        facts = {"missing": about.get("missing_lists") or about.get("zeros")}
        if "conventions" in about:
            facts |= {
                "ties": about["tied_lists"],
                "unjudged": any(about["unjudged_shares"].values()),
                "empty": ((self.relevant == 0) & judged).any(),
                "min_coverage": (judged & (self.coverage < about["conventions"]["min_coverage"])).any(),
                "repeats": about["scales"] and about["repeated_judgments"],  # each preference counts
            }
        return tuple(name for name, fact in facts.items() if fact)

    def with_clusters(self, clusters: Clusters) -> Scores:
        """With the cluster of each topic, such as its conversation: intervals and tests are then over clusters.

        clusters : {topic: cluster}, in the order of topics, or a pattern whose first group is the cluster.

        >>> scores.with_clusters("^(.*)<::>")  # doctest: +SKIP
        """
        return replace(self, attributes={**self.attributes, "clusters": clusters_of(self.topics, clusters)})

    @cached_property
    def known(self) -> Bools:
        """(measures, assessors, topics) where the assessor has a score."""
        return np.asarray(~np.isnan(self.values).all(axis=3))

    def of(self, measure: str) -> Floats:
        """(assessors, topics, systems) scores of one measure."""
        return np.asarray(self.values[number_of(measure, self.measures, "measure")])

    def sel(
        self,
        *,
        measure: str | Sequence[str] | None = None,
        assessor: str | Sequence[str] | None = None,
        topic: str | Sequence[str] | None = None,
        system: str | Sequence[str] | None = None,
    ) -> Scores:
        """The scores of some measures, assessors, topics and systems, each a name or several, in the order given.

        All four dimensions stay; `scores.sel(measure="AP").values[0]` is the array of one measure.

        Raises
        ------
        ArgumentError
            A name that the scores do not have.

        >>> scores.sel(measure="AP", system=["bm25", "dense"])  # doctest: +SKIP
        Scores(measures=('AP',), assessors=('ann', 'bob'), topics=('q1', 'q2'), systems=('bm25', 'dense'))
        """
        m, measures = _places(measure, self.measures, "measure")
        a, assessors = _places(assessor, self.assessors, "assessor")
        t, topics = _places(topic, self.topics, "topic")
        s, systems = _places(system, self.systems, "system")
        return replace(
            self,
            measures=measures,
            assessors=assessors,
            topics=topics,
            systems=systems,
            values=self.values[np.ix_(m, a, t, s)],
            relevant=self.relevant[np.ix_(m, a, t)],
            coverage=self.coverage[np.ix_(a, t)],
        )

    def panel_mean(self) -> Scores:
        """The mean over the assessors that have a score, topic by topic: scores of the one assessor "panel mean".

        The number of relevant documents is the mean of the same assessors'; the coverage is the highest of any.
        """
        return replace(
            self,
            assessors=(PANEL_MEAN,),
            values=known_mean(self.values, axis=1)[:, None],
            relevant=known_mean(np.where(self.known, self.relevant, np.nan), axis=1)[:, None],
            coverage=self.coverage.max(axis=0, keepdims=True),
        )

    def with_zeros(self) -> Scores:
        """With 0 where a system has no score and another one has; the attribute `zeros` counts these scores."""
        lacking = np.isnan(self.values) & self.known[..., None]
        values = np.where(lacking, 0.0, self.values)
        return replace(self, values=values, attributes={**self.attributes, "zeros": int(lacking.sum())})

    def to_xarray(self) -> xarray.DataArray:
        """A DataArray (measure, assessor, topic, system) with coordinates `relevant` and `coverage`."""
        import xarray

        labels = (self.measures, self.assessors, self.topics, self.systems)
        coords: dict[str, Any] = {dim: list(names) for dim, names in zip(DIMENSIONS, labels, strict=True)}
        coords["relevant"] = (DIMENSIONS[:3], self.relevant)
        coords["coverage"] = (DIMENSIONS[1:3], self.coverage)
        return xarray.DataArray(self.values, dims=DIMENSIONS, coords=coords, name="score", attrs=dict(self.attributes))

    @classmethod
    def from_xarray(cls, array: xarray.DataArray) -> Scores:
        """Back from what `to_xarray` made, or from any array with dimensions topic and system.

        A dimension of length 1 may be missing: its label is the array's scalar coordinate, or "score" (measure) or "1".

        Raises
        ------
        ArgumentError
            An array without topics or systems, or with other dimensions longer than 1.
        """
        others = [dim for dim in array.dims if dim not in DIMENSIONS]
        lacking = [dim for dim in ("topic", "system") if dim not in array.dims and dim not in array.coords]
        if lacking or any(array.sizes[dim] > 1 for dim in others):
            dimensions = ", ".join(map(str, array.dims))
            raise ArgumentError(
                f"scores have the dimensions {dimensions}; {', '.join(DIMENSIONS)} were expected, the first two only "
                "where there are several"
            )
        array = array.squeeze(others)
        measures, assessors, topics, systems = (_labels(array, dim) for dim in DIMENSIONS)
        values = np.asarray(_with(array, DIMENSIONS), np.float64)
        relevant = _with(array.coords["relevant"], DIMENSIONS[:3]) if "relevant" in array.coords else None
        coverage = _with(array.coords["coverage"], DIMENSIONS[1:3]) if "coverage" in array.coords else None
        return cls._of(measures, assessors, topics, systems, values, relevant, coverage, array.attrs)

    @classmethod
    def from_array(
        cls,
        values: object,
        *,
        measure: str = "score",
        assessors: Sequence[str] | None = None,
        topics: Sequence[str] | None = None,
        systems: Sequence[str] | None = None,
    ) -> Scores:
        """Scores of one measure from a plain array (topics, systems) or (assessors, topics, systems).

        assessors, topics, systems : the labels; default: "1", "2", ...

        Raises
        ------
        ArgumentError
            Another number of dimensions, or labels that do not fit.

        >>> Scores.from_array([[0.2, 0.4], [0.1, 0.5]], systems=["bm25", "dense"]).topics
        ('1', '2')
        """
        array = np.asarray(values, np.float64)
        if array.ndim not in (2, 3):
            raise ArgumentError(
                f"scores of shape {array.shape}: (topics, systems) or (assessors, topics, systems) expected"
            )
        array = array.reshape(-1, *array.shape[-2:])
        a, t, s = array.shape
        labels = _numbered("assessor", a, assessors), _numbered("topic", t, topics), _numbered("system", s, systems)
        return cls._of((measure,), *labels, array[None])

    @classmethod
    def from_frame(cls, frame: Frame, *, assessor: str = "1", columns: Headers | None = None) -> Scores:
        """From a data frame, or {column: cells}, with a row per score: topic, system and value.

        Columns of assessors and of measures may be there, too; `assessor` and "score" stand in for them. Other options
        are those of `qrowd.model.frames.TableOptions`.

        Raises
        ------
        InputError
            A column or a cell that is missing, or a score that stands twice.

        >>> Scores.from_frame({"topic": [1, 1], "system": ["a", "b"], "value": [0.2, 0.4]}).values.tolist()
        [[[[0.2, 0.4]]]]
        """
        from qrowd.model.frames import score_columns

        table = score_columns(frame, columns, assessor)
        value = table.numbers["value"]
        labels = {"criterion": (np.zeros(value.size, np.int32), ("score",)), **table.labels}
        codes = [codes for codes, _ in labels.values()]
        measures, assessors, topics, systems = (names for _, names in labels.values())
        places, first = np.unique(np.stack(codes), axis=1, return_index=True)
        if first.size < value.size:
            row = int(np.setdiff1d(np.arange(value.size), first)[0])
            again = ", ".join(words[of[row]] for of, words in labels.values())
            raise RowError(int(table.rows[row]), f"the score of {again} stands twice")
        values = np.full((len(measures), len(assessors), len(topics), len(systems)), np.nan)
        values[tuple(places)] = value[first]
        return cls._of(measures, assessors, topics, systems, values)

    @classmethod
    def _of(
        cls,
        measures: Names,
        assessors: Names,
        topics: Names,
        systems: Names,
        values: Floats,
        relevant: Floats | None = None,
        coverage: Floats | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> Scores:
        """Scores of which perhaps no more is known than their values: each topic then has a relevant document."""
        known: Bools = ~np.isnan(values)
        if relevant is None:
            relevant = np.ones(known.shape[:3])
        if coverage is None:
            coverage = np.asarray(known.any(axis=(0, 3)), np.float64)
        return cls(measures, assessors, topics, systems, values, relevant, coverage, attributes or {})

    def to_frame(self) -> pandas.DataFrame:
        """One row per (measure, assessor, topic, system), with its score."""
        import pandas as pd

        labels = (self.measures, self.assessors, self.topics, self.systems)
        columns: dict[str, Any] = {
            dim: pd.Categorical.from_codes(codes.ravel(), pd.Index(names))
            for dim, names, codes in zip(DIMENSIONS, labels, np.indices(self.values.shape, dtype=np.int32), strict=True)
        }
        return pd.DataFrame({**columns, "score": np.ascontiguousarray(self.values).ravel()})

    def _display(self) -> Display:
        from qrowd.model.previews import scores_display

        return scores_display(self, known_mean(known_mean(self.values, axis=1), axis=1))


def scores_of(scores: AnyScores | Any, *, argument: str = "scores") -> Scores:
    """The scores that a caller gave, as `Scores`. argument : what messages call them.

    Raises
    ------
    ArgumentError
        Anything but Scores or an xarray.DataArray.
    """
    if isinstance(scores, Scores):
        return scores
    if hasattr(scores, "dims"):
        return Scores.from_xarray(scores)
    if isinstance(scores, str) or hasattr(scores, "__fspath__"):
        found = f"{scores!r:.80} is no more than a name"
        next_step = "read files with qrowd.read_scores(...)"
    else:
        found = f"{type(scores).__name__} were given, but scores were expected"
        next_step = "qrowd.evaluate gives scores, and Scores.from_array names those of an array"
    raise ArgumentError(f"{argument}: {found}; {next_step}")


def one_measure(scores: AnyScores) -> tuple[Floats, tuple[Names, Names, Names]]:
    """The (assessor, topic, system) scores of the only measure, and the labels of the three dimensions.

    Raises
    ------
    ArgumentError
        Scores of several measures.
    """
    plain = scores_of(scores)
    if len(plain.measures) != 1:
        raise ArgumentError(
            f"scores of {len(plain.measures)} measures ({first_of(plain.measures, 5)}); one was expected: "
            f'scores.sel(measure="{plain.measures[0]}")'
        )
    return plain.values[0], (plain.assessors, plain.topics, plain.systems)


def clusters_in(scores: AnyScores, rows: Ints | None = None) -> tuple[Codes, Names] | None:
    """(topics,) numbers of the clusters of these topics (default: all), and their names; None where each is its own.

    Raises
    ------
    NoOverlapError
        All topics are in one cluster.
    """
    plain = scores_of(scores)
    topics = plain.topics if rows is None else tuple(plain.topics[t] for t in rows)
    numbers = numbered_clusters(topics, plain.attributes.get("clusters"))
    if numbers and len(numbers[1]) < 2:
        raise NoOverlapError(f"scores: the {len(topics)} topics are in one cluster; 2 clusters are needed")
    return numbers


def one_table(scores: AnyScores) -> tuple[Floats, tuple[Names, Names]]:
    """The (topic, system) scores of the only measure and assessor, and the labels of the two dimensions.

    Raises
    ------
    ArgumentError
        Scores of several measures or assessors.
    """
    values, (assessors, topics, systems) = one_measure(scores)
    if len(assessors) != 1:
        raise ArgumentError(
            f"scores of {len(assessors)} assessors ({first_of(assessors, 5)}); one was expected: "
            f'scores.sel(assessor="{assessors[0]}") or scores.panel_mean()'
        )
    return values[0], (topics, systems)


def _places(names: str | Sequence[str] | None, labels: Names, noun: str) -> tuple[list[int], Names]:
    if names is None:
        return list(range(len(labels))), labels
    selected = (names,) if isinstance(names, str) else tuple(names)
    return [number_of(name, labels, noun) for name in selected], selected


def _labels(array: xarray.DataArray, dim: str) -> Names:
    if dim in array.coords:
        return tuple(map(str, np.atleast_1d(array.coords[dim].values)))
    if dim in array.dims:
        return _numbered(dim, array.sizes[dim], None)
    return ("score" if dim == "measure" else "1",)


def _with(array: xarray.DataArray, dimensions: tuple[str, ...]) -> NDArray[Any]:
    """The values with all of these dimensions, in this order."""
    return np.asarray(array.expand_dims([dim for dim in dimensions if dim not in array.dims]).transpose(*dimensions))


def _numbered(dim: str, size: int, names: Sequence[str] | None) -> Names:
    """The labels of a dimension, which are numbers from 1 unless given."""
    labels = tuple(map(str, range(1, size + 1) if names is None else names))
    if len(labels) != size:
        raise ArgumentError(f"{dim}s: {len(labels)} labels for {size} {dim}s")
    return labels


def known_mean(values: Floats, axis: int) -> Floats:
    """Mean over an axis of the values that are not nan; nan where none is."""
    known = ~np.isnan(values)
    count = known.sum(axis=axis)
    total = np.where(known, values, 0.0).sum(axis=axis)
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan))


def by_cluster(scores: AnyScores, values: Floats, rows: Ints | None = None, *, sums: bool = False) -> Floats:
    """(clusters, columns) of (topics, columns): values whose standard error is that of clusters of topics, or sums.

    nan counts nowhere. Without clusters, the values are as they are. rows : the topics; default: all.
    """
    clusters = clusters_in(scores, rows)
    if clusters is None:
        return values
    out = np.full((len(clusters[1]), values.shape[1]), np.nan)
    for column, known in enumerate(~np.isnan(values.T)):
        names, numbers = np.unique(clusters[0][known], return_inverse=True)
        own = values[known, column]
        if sums:
            out[names, column] = np.bincount(numbers, own)
        elif names.size > 1:
            out[names, column] = of_clusters(
                own[:, None, None], np.ones((own.size, 1), bool), numbers.astype(np.int32)
            )[0].ravel()
    return out


def known_error(values: Floats, axis: int) -> Floats:
    """Standard error of `known_mean`; nan for fewer than two values."""
    known = ~np.isnan(values)
    count = known.sum(axis=axis)
    mean = np.expand_dims(known_mean(values, axis=axis), axis)
    squares = np.where(known, (values - mean) ** 2, 0.0).sum(axis=axis)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(count > 1, np.sqrt(squares / (count - 1) / count), np.nan))


def rankable(scores: Floats) -> Floats:
    """Scores to 12 decimals: those that differ by rounding are no two ranks."""
    return np.ascontiguousarray(np.round(scores, 12), np.float64)


def interpolated(table: Floats) -> Floats:
    """Missing scores (nan) of (topics, systems, ...) replaced by the mean of the topic's and the system's others.

    A score stays missing where its topic and its system have no other. Maddalena, Roitero, Demartini & Mizzaro (2017),
    Considering Assessor Agreement in IR Evaluation. ICTIR, section 3.3.
    """
    known = ~np.isnan(table)
    filled = np.where(known, table, 0.0)
    total = filled.sum(axis=1, keepdims=True) + filled.sum(axis=0, keepdims=True)
    count = known.sum(axis=1, keepdims=True) + known.sum(axis=0, keepdims=True)
    mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return np.asarray(np.where(known, table, mean))
