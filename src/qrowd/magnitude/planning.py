"""Planning: assessors needed per document, units needed per collection, and their cost.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), sections 3.2, 4.1 and 6.3, Tables I and II.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi
from typing import Literal, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, check_choice
from qrowd.model.result import Result

Number: TypeAlias = float | Sequence[float] | NDArray[np.floating] | NDArray[np.integer]
Many: TypeAlias = Sequence[float] | NDArray[np.floating] | NDArray[np.integer]
Estimator = Literal["geometric_mean", "median"]


@overload
def assessors_needed(sd: float, *, margin: float, confidence: float = ...) -> int: ...
@overload
def assessors_needed(sd: Number, *, margin: Many, confidence: float = ...) -> NDArray[np.int64]: ...
@overload
def assessors_needed(sd: Many, *, margin: Number, confidence: float = ...) -> NDArray[np.int64]: ...
def assessors_needed(sd: Number, *, margin: Number, confidence: float = 0.95) -> int | NDArray[np.int64]:
    """Number of assessors per document for which the mean of its magnitudes has a given margin of error.

        n = ceil((z sd / margin)^2),   z the normal quantile of (1 + confidence) / 2

    Section 6.3, Table II. Arguments may be arrays that broadcast.

    Parameters
    ----------
    sd : standard deviation of a document's (normalised) magnitudes.
    margin : half the width of the interval for the arithmetic mean.
    confidence : level of the interval. Table II states .95 and was computed with .99.

    Raises
    ------
    ArgumentError
        sd below 0, margin not above 0, a confidence that is not between 0 and 1.

    >>> assessors_needed(2, margin=2), assessors_needed(2, margin=2, confidence=0.99)
    (4, 7)
    """
    return _needed(_at_least("sd", sd, 0), _above("margin", margin), _quantile(confidence))


@overload
def assessors_needed_for_ratio(
    log_sd: float, *, margin: float, confidence: float = ..., estimator: Estimator = ...
) -> int: ...
@overload
def assessors_needed_for_ratio(
    log_sd: Number, *, margin: Many, confidence: float = ..., estimator: Estimator = ...
) -> NDArray[np.int64]: ...
@overload
def assessors_needed_for_ratio(
    log_sd: Many, *, margin: Number, confidence: float = ..., estimator: Estimator = ...
) -> NDArray[np.int64]: ...
def assessors_needed_for_ratio(
    log_sd: Number, *, margin: Number, confidence: float = 0.95, estimator: Estimator = "geometric_mean"
) -> int | NDArray[np.int64]:
    """Number of assessors per document for which its geometric mean is correct up to a factor of 1 + margin.

        n = ceil((z log_sd / ln(1 + margin))^2)

    The counterpart of `assessors_needed` for log-normal magnitudes: the interval of their median, which is their
    geometric mean, runs from true / (1 + margin) to true (1 + margin).

    Parameters
    ----------
    log_sd : standard deviation of the natural logarithms of a document's magnitudes.
    margin : .5 for a factor of 1.5.
    confidence : level of the interval.
    estimator : "geometric_mean" of the n magnitudes, or their "median", which needs pi / 2 times as many (by its
        variance in large samples).

    Raises
    ------
    ArgumentError
        log_sd below 0, margin not above 0, a confidence that is not between 0 and 1.

    >>> [assessors_needed_for_ratio(0.8, margin=0.5, estimator=e) for e in ("geometric_mean", "median")]
    [15, 24]
    """
    check_choice("estimator", estimator, Estimator)
    sd = _at_least("log_sd", log_sd, 0) * (np.sqrt(pi / 2) if estimator == "median" else 1.0)
    return _needed(sd, np.log1p(_above("margin", margin)), _quantile(confidence))


@overload
def units_needed(documents: int, *, redundancy: int = ..., unit_size: int = ..., n_checks: int = ...) -> int: ...
@overload
def units_needed(
    documents: Many, *, redundancy: int = ..., unit_size: int = ..., n_checks: int = ...
) -> NDArray[np.int64]: ...
def units_needed(
    documents: int | Many, *, redundancy: int = 10, unit_size: int = 8, n_checks: int = 2
) -> int | NDArray[np.int64]:
    """Number of units that a topic needs so that each of its documents is judged at least `redundancy` times.

        units = ceil(redundancy (documents - n_checks) / (unit_size - n_checks))

    Section 3.2, Table I.

    Parameters
    ----------
    documents : number of documents of the topic, its check documents included; one number, or one per topic.
    redundancy : judgments per document.
    unit_size : documents per unit.
    n_checks : check documents, which are in every unit.

    Raises
    ------
    ArgumentError
        Fewer documents than a unit has; a unit without room for other documents than checks.

    >>> units_needed(278)
    460
    """
    if redundancy < 1:
        raise ArgumentError(f"redundancy={redundancy!r}: expected 1 or more")
    if n_checks < 0:
        raise ArgumentError(f"n_checks={n_checks!r}: expected 0 or more")
    if unit_size <= n_checks:
        raise ArgumentError(f"unit_size={unit_size!r}: {n_checks} checks leave no room for other documents")
    sizes = _at_least("documents", documents, unit_size)
    if (sizes % 1 != 0).any():
        raise ArgumentError(f"documents={documents!r}: expected whole numbers")
    places = redundancy * (sizes.astype(np.int64) - n_checks)
    units = -(-places // (unit_size - n_checks))
    return int(units) if units.ndim == 0 else units


@dataclass(frozen=True)
class Cost(Result):
    """Cost of judging a collection, in the currency of the pay.

    n_documents, n_units, n_judgments : number of each; judgments of check documents are counted in every unit.
    total : pay of all units plus the platform's fee.
    """

    n_documents: int
    n_units: int
    n_judgments: int
    total: float

    _COLUMNS = ("n_documents", "n_units", "n_judgments", "total", "per_document", "per_judgment")

    @property
    def per_document(self) -> float:
        """Total divided by documents."""
        return self.total / self.n_documents

    @property
    def per_judgment(self) -> float:
        """Total divided by judgments."""
        return self.total / self.n_judgments


def judging_cost(
    documents: int | Many,
    *,
    pay: float,
    fee: float = 0.0,
    redundancy: int = 10,
    unit_size: int = 8,
    n_checks: int = 2,
) -> Cost:
    """Cost of judging every document `redundancy` times (sections 4.1 and 6.3).

    Parameters
    ----------
    documents : number of documents of each topic, its check documents included.
    pay : for one unit.
    fee : of the platform, as a share of the pay.
    redundancy, unit_size, n_checks : as in `units_needed`.

    Raises
    ------
    ArgumentError
        A pay or fee below 0; arguments that `units_needed` refuses.

    >>> judging_cost([278, 111], pay=0.2, fee=0.2, redundancy=7).per_document
    0.2776...
    """
    _at_least("pay", pay, 0)
    _at_least("fee", fee, 0)
    sizes = np.atleast_1d(np.asarray(documents))
    units = int(units_needed(sizes, redundancy=redundancy, unit_size=unit_size, n_checks=n_checks).sum())
    return Cost(int(sizes.sum()), units, units * unit_size, units * pay * (1 + fee))


def _needed(sd: NDArray[np.float64], margin: NDArray[np.float64], z: float) -> int | NDArray[np.int64]:
    n = np.maximum(np.ceil((z * sd / margin) ** 2), 1).astype(np.int64)
    return int(n) if n.ndim == 0 else n


def _quantile(confidence: float) -> float:
    from scipy.special import ndtri

    if not 0 < confidence < 1:
        raise ArgumentError(f"confidence={confidence!r}: expected a number between 0 and 1, such as 0.95")
    return float(ndtri((1 + confidence) / 2))


def _at_least(name: str, value: Number, least: float) -> NDArray[np.float64]:
    numbers = np.asarray(value, np.float64)
    if not (np.isfinite(numbers) & (numbers >= least)).all():
        raise ArgumentError(f"{name}={value!r}: expected {least:g} or more")
    return numbers


def _above(name: str, value: Number) -> NDArray[np.float64]:
    numbers = np.asarray(value, np.float64)
    if not (np.isfinite(numbers) & (numbers > 0)).all():
        raise ArgumentError(f"{name}={value!r}: expected a number above 0")
    return numbers
