"""AWARE itself: the mean of what assessors' judgments make of a system, weighted by their accuracies.

Ferrante, Ferro, Maistro (2017), ACM TOIS 36(2), equation 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.model.scores import Scores

if TYPE_CHECKING:
    import xarray

Floats = NDArray[np.float64]


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
    """The AWARE version of every measure, as scores of one assessor of that name.

    accuracy : (measures, assessors, topics). about : how it came about, kept as the attribute "aware".
    """
    values = weighted_average(scores.values, accuracy)[:, None]
    relevant = weighted_average(scores.relevant[..., None], accuracy)[:, None, :, 0]
    coverage = scores.coverage.max(axis=0, keepdims=True)
    attributes = {**scores.attributes, "aware": dict(about)}
    return Scores(scores.measures, (name,), scores.topics, scores.systems, values, relevant, coverage, attributes)


def aware(scores: xarray.DataArray, accuracy: xarray.DataArray | Floats) -> xarray.DataArray:
    """The accuracy-weighted mean of scores over the assessors that have a score in the cell.

    scores : with dimensions assessor, topic, system and any others. Leave out the cells where an assessor found nothing
        relevant by evaluate(..., empty="nan"), AWARE's rule.
    accuracy : with dimension assessor and any of the others, or more; or one number per assessor. 0 or more; only
        ratios matter.

    aware(t, s) = sum_k a_k(t) m_k(t, s) / sum_k a_k(t), over the assessors k with a score; where all their accuracies
    are 0, they count alike. Equation 3; accuracies are conditional on the topic.

    >>> aware(scores, accuracy)  # doctest: +SKIP
    <xarray.DataArray 'aware' (measure: 2, topic: 5, system: 4)> ...
    """
    import xarray

    if not isinstance(accuracy, xarray.DataArray):
        given = np.asarray(accuracy, np.float64)
        if given.shape != (scores.sizes["assessor"],):
            raise ArgumentError(
                f"accuracy: one number for each of the {scores.sizes['assessor']} assessors was expected, or a "
                "DataArray with a dimension assessor"
            )
        accuracy = xarray.DataArray(given, dims="assessor", coords={"assessor": scores.coords["assessor"]})
    for dim in (name for name in accuracy.dims if name in scores.coords and name in accuracy.coords):
        labels = set(accuracy[dim].values.tolist())
        if lost := [label for label in scores[dim].values.tolist() if label not in labels]:
            raise ArgumentError(f"accuracy: none for {dim} {lost[0]}; give one for each that has scores")
        accuracy = accuracy.sel({dim: scores[dim].values})
    if (accuracy < 0).any():
        raise ArgumentError("accuracy: weights are 0 or more")
    known = scores.notnull()
    weights = accuracy.fillna(0.0).where(known, 0.0)
    weights = weights.where(weights.sum("assessor") > 0, known.astype(float))
    mean = (scores.fillna(0.0) * weights).sum("assessor") / weights.sum("assessor")
    return mean.rename("aware").assign_attrs(scores.attrs)
