"""AWARE itself: the mean of assessors' scores, weighted by their accuracies.

Ferrante, Ferro, Maistro (2017), ACM TOIS 36(2), equation 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats
from qrowd.model.scores import Scores, scores_of

if TYPE_CHECKING:
    import xarray

    from qrowd.model.scores import AnyScores


def weighted_average(values: Floats, accuracy: Floats) -> Floats:
    """(..., topics, systems) mean over assessors of (..., assessors, topics, systems) values.

    accuracy : (..., assessors, topics), 0 or more; nan is no accuracy. Assessors without a score in a cell are left out
    of it; where all accuracies of those that have one are 0, they count alike; where nobody has one, nan.
    """
    known = ~np.isnan(values)
    weights = np.where(known, np.nan_to_num(accuracy)[..., None], 0.0)
    total = weights.sum(axis=-3, keepdims=True)
    weights = np.where(total > 0, weights, known)
    total = weights.sum(axis=-3)
    mean = (np.where(known, values, 0.0) * weights).sum(axis=-3)
    return np.asarray(np.divide(mean, total, out=np.full(mean.shape, np.nan), where=total > 0))


def averaged(scores: Scores, accuracy: Floats, name: str, about: Mapping[str, Any]) -> Scores:
    """AWARE's version of every measure, as scores of one assessor of that name.

    accuracy : (measures, assessors, topics). about : its options, kept as the attribute "aware".
    """
    values = weighted_average(scores.values, accuracy)[:, None]
    relevant = weighted_average(scores.relevant[..., None], accuracy)[:, None, :, 0]
    coverage = scores.coverage.max(axis=0, keepdims=True)
    attributes = {**scores.attributes, "aware": dict(about)}
    return Scores(scores.measures, (name,), scores.topics, scores.systems, values, relevant, coverage, attributes)


def aware(scores: AnyScores, accuracy: Mapping[str, float] | Sequence[float] | Floats | xarray.DataArray) -> Scores:
    """The accuracy-weighted mean of scores over the assessors that have a score in the cell.

    scores : AWARE leaves out the topics in which an assessor found nothing relevant:
        `evaluate(..., conventions=Conventions(empty="nan"))`.
    accuracy : {assessor: weight}, one number per assessor, or a DataArray with dimension assessor and any of estimator,
        measure and topic, as `Similarities.accuracies` gives. 0 or more; only ratios matter.

    Returns scores of one assessor, "aware", or of one per estimator, by name.

    aware(t, s) = sum_k a_k(t) m_k(t, s) / sum_k a_k(t), over the assessors k with a score; with equal weights where all
    their accuracies are 0. Equation 3; accuracies are conditional on the topic.

    Raises
    ------
    ArgumentError
        Weights below 0, or none for an assessor, a measure or a topic of the scores.
    """
    scores = scores_of(scores)
    names, weights = _accuracies(scores, accuracy)
    if (weights < 0).any():
        raise ArgumentError("accuracy: weights are 0 or more")
    averages = [averaged(scores, table, name, {}) for name, table in zip(names, weights, strict=True)]
    return replace(
        averages[0],
        assessors=names,
        values=np.concatenate([one.values for one in averages], axis=1),
        relevant=np.concatenate([one.relevant for one in averages], axis=1),
        coverage=np.concatenate([one.coverage for one in averages]),
    )


def _accuracies(scores: Scores, accuracy: Any) -> tuple[tuple[str, ...], Floats]:
    """The names of the estimators, and (estimators, measures, assessors, topics) accuracies."""
    labels = {"measure": scores.measures, "assessor": scores.assessors, "topic": scores.topics}
    shape = tuple(map(len, labels.values()))
    if not hasattr(accuracy, "dims"):
        if isinstance(accuracy, Mapping):
            _check_labels("assessor", scores.assessors, set(accuracy))
            accuracy = [accuracy[name] for name in scores.assessors]
        weights = np.asarray(accuracy, np.float64)
        if weights.shape != shape[1:2]:
            raise ArgumentError(
                f"accuracy: one number for each of the {shape[1]} assessors was expected, or a DataArray with a "
                "dimension assessor"
            )
        return ("aware",), np.broadcast_to(weights[:, None], (1, *shape))
    dimensions = ("estimator", *labels)
    if "assessor" not in accuracy.dims or not set(accuracy.dims) <= set(dimensions):
        raise ArgumentError(
            f"accuracy: dimensions {', '.join(map(str, accuracy.dims))}; assessor, and any of estimator, measure and "
            "topic, were expected"
        )
    for dim, names in labels.items():
        if dim in accuracy.dims:
            _check_labels(dim, names, set(map(str, accuracy[dim].values)))
            accuracy = accuracy.sel({dim: list(names)})
    if "estimator" not in accuracy.coords:
        accuracy = accuracy.assign_coords(estimator="aware")
    accuracy = accuracy.expand_dims([dim for dim in dimensions if dim not in accuracy.dims]).transpose(*dimensions)
    names = tuple(map(str, accuracy["estimator"].values))
    return names, np.broadcast_to(np.asarray(accuracy.values, np.float64), (len(names), *shape))


def _check_labels(dim: str, names: tuple[str, ...], present: set[str]) -> None:
    missing = [name for name in names if name not in present]
    if missing:
        raise ArgumentError(f"accuracy: none for {dim} {missing[0]}; give one for each that has scores")
