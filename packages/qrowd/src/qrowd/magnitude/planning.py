"""Planning: assessors needed per document, and units needed per topic.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), sections 3.2 and 6.3, Tables I and II.
"""

from __future__ import annotations

from math import ceil, isfinite, log1p

from qrowd.errors import ArgumentError


def assessors_needed(sd: float, *, margin: float, confidence: float = 0.95) -> int:
    """Number of assessors per document for which the mean of its magnitudes has a given margin of error.

        n = ceil((z sd / margin)^2),   z the normal quantile of (1 + confidence) / 2

    Section 6.3, Table II.

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
    return _needed(_at_least("sd", sd, 0), _above("margin", margin), confidence)


def assessors_needed_for_ratio(log_sd: float, *, margin: float, confidence: float = 0.95) -> int:
    """Number of assessors per document for which its geometric mean is correct up to a factor of 1 + margin.

        n = ceil((z log_sd / ln(1 + margin))^2)

    The counterpart of `assessors_needed` for log-normal magnitudes: the interval of their median, which is their
    geometric mean, runs from true / (1 + margin) to true (1 + margin).

    Parameters
    ----------
    log_sd : standard deviation of the natural logarithms of a document's magnitudes.
    margin : .5 for a factor of 1.5.
    confidence : level of the interval.

    Raises
    ------
    ArgumentError
        log_sd below 0, margin not above 0, a confidence that is not between 0 and 1.

    >>> assessors_needed_for_ratio(0.8, margin=0.5)
    15
    """
    return _needed(_at_least("log_sd", log_sd, 0), log1p(_above("margin", margin)), confidence)


def units_needed(documents: int, *, redundancy: int = 10, unit_size: int = 8, n_checks: int = 2) -> int:
    """Number of units that a topic needs so that each of its documents is judged at least `redundancy` times.

        units = ceil(redundancy (documents - n_checks) / (unit_size - n_checks))

    Section 3.2, Table I.

    Parameters
    ----------
    documents : number of documents of the topic, its check documents included.
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
        raise ArgumentError("expected 1 or more", "redundancy", redundancy)
    if n_checks < 0:
        raise ArgumentError("expected 0 or more", "n_checks", n_checks)
    if unit_size <= n_checks:
        raise ArgumentError(f"{n_checks} checks leave no room for other documents", "unit_size", unit_size)
    if documents < unit_size:
        raise ArgumentError(f"expected {unit_size} or more", "documents", documents)
    return -(-redundancy * (documents - n_checks) // (unit_size - n_checks))


def _needed(sd: float, margin: float, confidence: float) -> int:
    from scipy.special import ndtri

    if not 0 < confidence < 1:
        raise ArgumentError("expected a number between 0 and 1, such as 0.95", "confidence", confidence)
    z = float(ndtri((1 + confidence) / 2))
    return max(ceil((z * sd / margin) ** 2), 1)


def _at_least(name: str, value: float, least: float) -> float:
    if not (isfinite(value) and value >= least):
        raise ArgumentError(f"expected {least:g} or more", name, value)
    return float(value)


def _above(name: str, value: float) -> float:
    if not (isfinite(value) and value > 0):
        raise ArgumentError("expected a number above 0", name, value)
    return float(value)
