"""How many assessors a document needs, how many units a collection, and what that costs.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), sections 3.2, 4.1 and 6.3, Tables I and II.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi
from typing import Literal, TypeAlias, get_args, overload

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError

Number: TypeAlias = float | Sequence[float] | NDArray[np.floating] | NDArray[np.integer]
Many: TypeAlias = Sequence[float] | NDArray[np.floating] | NDArray[np.integer]
Estimator = Literal["geometric_mean", "median"]


@overload
def workers_needed(sigma: float, error: float, confidence: float = ...) -> int: ...
@overload
def workers_needed(sigma: Number, error: Many, confidence: float = ...) -> NDArray[np.int64]: ...
@overload
def workers_needed(sigma: Many, error: Number, confidence: float = ...) -> NDArray[np.int64]: ...
def workers_needed(sigma: Number, error: Number, confidence: float = 0.95) -> int | NDArray[np.int64]:
    """How many assessors must judge a document so that the mean of its magnitudes lies within `error` of the true one.

        n = ceil((z sigma / error)^2),   z the normal quantile of (1 + confidence) / 2

    Parameters
    ----------
    sigma : standard deviation of a document's (normalised) magnitudes, in their units.
    error : half the width of the interval for the arithmetic mean, in the same units.
    confidence : from 0 to 1. Table II says .95 and was computed with .99.

    Numbers or arrays that broadcast; an int, or an int64 array. Section 6.3, Table II.

    Raises
    ------
    ArgumentError
        sigma below 0, error not above 0, a confidence that is not between 0 and 1.

    >>> workers_needed(2, 2), workers_needed(2, 2, confidence=0.99)
    (4, 7)
    """
    return _needed(_at_least("sigma", sigma, 0), _above("error", error), _quantile(confidence))


@overload
def workers_needed_for_ratio(
    sigma_log: float, error: float, confidence: float = ..., *, estimator: Estimator = ...
) -> int: ...
@overload
def workers_needed_for_ratio(
    sigma_log: Number, error: Many, confidence: float = ..., *, estimator: Estimator = ...
) -> NDArray[np.int64]: ...
@overload
def workers_needed_for_ratio(
    sigma_log: Many, error: Number, confidence: float = ..., *, estimator: Estimator = ...
) -> NDArray[np.int64]: ...
def workers_needed_for_ratio(
    sigma_log: Number, error: Number, confidence: float = 0.95, *, estimator: Estimator = "geometric_mean"
) -> int | NDArray[np.int64]:
    """How many assessors must judge a document so that its typical magnitude is right up to a factor of 1 + error.

        n = ceil((z sigma_log / ln(1 + error))^2)

    The twin of `workers_needed` for magnitudes that are log-normal: it bounds their median, which is their geometric
    mean, from both sides (true / (1 + error) to true (1 + error)).

    Parameters
    ----------
    sigma_log : standard deviation of the natural logarithms of a document's magnitudes.
    error : .5 for "up to a factor of 1.5".
    confidence : from 0 to 1.
    estimator : "geometric_mean" of the n magnitudes, or their "median", which needs pi / 2 times as many (its
        variance in large samples).

    Raises
    ------
    ArgumentError
        sigma_log below 0, error not above 0, a confidence that is not between 0 and 1.

    >>> workers_needed_for_ratio(0.8, 0.5), workers_needed_for_ratio(0.8, 0.5, estimator="median")
    (15, 24)
    """
    if estimator not in get_args(Estimator):
        raise ArgumentError(f"estimator={estimator!r}: choose one of {', '.join(get_args(Estimator))}")
    sigma = _at_least("sigma_log", sigma_log, 0) * (np.sqrt(pi / 2) if estimator == "median" else 1.0)
    return _needed(sigma, np.log1p(_above("error", error)), _quantile(confidence))


@overload
def units_needed(documents: int, redundancy: int = ..., unit_size: int = ..., checks: int = ...) -> int: ...
@overload
def units_needed(
    documents: Many, redundancy: int = ..., unit_size: int = ..., checks: int = ...
) -> NDArray[np.int64]: ...
def units_needed(
    documents: int | Many, redundancy: int = 10, unit_size: int = 8, checks: int = 2
) -> int | NDArray[np.int64]:
    """How many units a topic needs so that each of its documents is judged at least `redundancy` times.

        units = ceil(redundancy (documents - checks) / (unit_size - checks))

    documents : of the topic, its check documents included; one number, or one per topic.
    checks : documents that stand in every unit.

    Section 3.2, Table I.

    Raises
    ------
    ArgumentError
        Fewer documents than fill a unit; a unit with no room beside the checks.

    >>> units_needed(278)
    460
    """
    if redundancy < 1:
        raise ArgumentError(f"redundancy={redundancy!r}: at least 1 needed")
    if checks < 0:
        raise ArgumentError(f"checks={checks!r}: at least 0 needed")
    if unit_size <= checks:
        raise ArgumentError(f"unit_size={unit_size!r}: {checks} checks leave no room for other documents")
    sizes = _at_least("documents", documents, unit_size)
    if (sizes % 1 != 0).any():
        raise ArgumentError(f"documents={documents!r}: whole numbers are needed")
    open_places = redundancy * (sizes.astype(np.int64) - checks)
    units = -(-open_places // (unit_size - checks))
    return int(units) if units.ndim == 0 else units


@dataclass(frozen=True)
class Cost:
    """What it costs to have a collection judged, in the currency of the pay.

    n_documents, n_units, n_judgments : how many; judgments count the check documents each time.
    total : pay of all units and the platform's fee on it.
    """

    n_documents: int
    n_units: int
    n_judgments: int
    total: float

    @property
    def per_document(self) -> float:
        """Total over documents."""
        return self.total / self.n_documents

    @property
    def per_judgment(self) -> float:
        """Total over judgments."""
        return self.total / self.n_judgments


def judging_cost(
    documents: int | Many,
    pay: float,
    *,
    fee: float = 0.0,
    redundancy: int = 10,
    unit_size: int = 8,
    checks: int = 2,
) -> Cost:
    """What it costs to have every document judged `redundancy` times (sections 4.1 and 6.3).

    documents : of each topic, its check documents included.
    pay : for one unit.
    fee : of the platform, as a share of the pay.

    Raises
    ------
    ArgumentError
        A pay or fee below 0; what `units_needed` refuses.

    >>> judging_cost([278, 111], pay=0.2, fee=0.2, redundancy=7).per_document
    0.2776...
    """
    _at_least("pay", pay, 0)
    _at_least("fee", fee, 0)
    sizes = np.atleast_1d(np.asarray(documents))
    units = int(units_needed(sizes, redundancy, unit_size, checks).sum())
    return Cost(int(sizes.sum()), units, units * unit_size, units * pay * (1 + fee))


def _needed(sigma: NDArray[np.float64], error: NDArray[np.float64], z: float) -> int | NDArray[np.int64]:
    n = np.maximum(np.ceil((z * sigma / error) ** 2), 1).astype(np.int64)
    return int(n) if n.ndim == 0 else n


def _quantile(confidence: float) -> float:
    from scipy.special import ndtri

    if not 0 < confidence < 1:
        raise ArgumentError(f"confidence={confidence!r}: a number between 0 and 1 was expected, such as 0.95")
    return float(ndtri((1 + confidence) / 2))


def _at_least(name: str, given: Number, least: float) -> NDArray[np.float64]:
    numbers = np.asarray(given, np.float64)
    if not (np.isfinite(numbers) & (numbers >= least)).all():
        raise ArgumentError(f"{name}={given!r}: at least {least:g} needed")
    return numbers


def _above(name: str, given: Number) -> NDArray[np.float64]:
    numbers = np.asarray(given, np.float64)
    if not (np.isfinite(numbers) & (numbers > 0)).all():
        raise ArgumentError(f"{name}={given!r}: a number above 0 was expected")
    return numbers
