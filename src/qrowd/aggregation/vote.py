"""Counting and averaging: majority vote, mean, median, geometric mean."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from qrowd.aggregation.aggregate import Aggregate, aggregate_of
from qrowd.aggregation.coded import Coded, Floats, coded, need_whole_grades
from qrowd.errors import ArgumentError, ScaleError
from qrowd.model.chance import Chance, Rng
from qrowd.model.judgments import Judgments, Repeats

Ties = Literal["coin", "lowest", "highest", "fractional"]


def majority_vote(
    judgments: Judgments, ties: Ties = "coin", *, rng: Rng = None, repeats: Repeats = "first"
) -> Aggregate:
    """The grade that most assessors gave.

    ties : between grades given equally often: "coin" draws one (Ferrante, Ferro & Maistro 2017, section 2.2), "lowest",
        "highest", or "fractional", their mean. A coin belongs to the document's label, so the order of rows does not
        matter.
    rng : for the coins; None tosses anew every time.

    The posterior is the share of the winners: 1 for a single one, equal parts for tied ones.

    >>> judgments = Judgments.from_rows([("q", "d", who, g) for who, g in (("ann", 1), ("bob", 2), ("cyd", 2))])
    >>> majority_vote(judgments).judgments.value
    array([2.])
    """
    if ties not in get_args(Ties):
        raise ArgumentError(f"ties={ties!r}: choose one of {', '.join(get_args(Ties))}")
    data = coded(judgments, repeats)
    need_whole_grades(data, "majority_vote")
    winners = winning(data)
    shares = winners / winners.sum(axis=1, keepdims=True)
    n_tied = int((winners.sum(axis=1) > 1).sum())
    if ties == "fractional":
        value = shares @ data.grades
        return aggregate_of(data, "majority", "majority_vote(ties='fractional')", value, shares, n_ties=n_tied)
    chosen = one_of(winners, ties, data, rng)
    posterior = np.zeros_like(winners)
    posterior[np.arange(chosen.size), chosen] = 1.0
    method = f"majority_vote(ties={ties!r})"
    return aggregate_of(data, "majority", method, data.grades[chosen], posterior, n_ties=n_tied)


def winning(data: Coded) -> Floats:
    """(pairs, grades) 1 for the grades that most assessors gave."""
    counts = data.counts()
    return np.asarray(counts == counts.max(axis=1, keepdims=True), np.float64)


def one_of(winners: Floats, ties: Ties, data: Coded, rng: Rng) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """(pairs,) one winner each."""
    if ties == "highest":
        return np.asarray(winners.shape[1] - 1 - winners[:, ::-1].argmax(axis=1))
    if ties == "lowest":
        return np.asarray(winners.argmax(axis=1))
    topic = np.repeat(np.arange(len(data.pool.topics)), np.diff(data.pool.starts))
    topics, documents = np.array(data.pool.topics)[topic], np.array(data.pool.documents)[data.pool.document]
    lots = np.empty(topic.size)
    lots[np.lexsort((documents, topics))] = Chance.of(rng).stream("majority").random(topic.size)
    nth = np.floor(lots * winners.sum(axis=1))
    return np.asarray((np.cumsum(winners, axis=1) > nth[:, None]).argmax(axis=1))


def mean(judgments: Judgments, *, repeats: Repeats = "first") -> Aggregate:
    """The arithmetic mean of what assessors gave."""
    data = coded(judgments, repeats)
    return aggregate_of(data, "mean", "mean()", _sums(data, data.value) / np.diff(data.starts))


def median(judgments: Judgments, *, repeats: Repeats = "first") -> Aggregate:
    """The middle of what assessors gave; between two middle ones, their mean."""
    data = coded(judgments, repeats)
    ordered = data.value[np.lexsort((data.value, data.pair))]
    size = np.diff(data.starts)
    middle = (ordered[data.starts[:-1] + (size - 1) // 2] + ordered[data.starts[:-1] + size // 2]) / 2
    return aggregate_of(data, "median", "median()", middle)


def geometric_mean(judgments: Judgments, *, repeats: Repeats = "first") -> Aggregate:
    """exp of the mean logarithm: the average of magnitudes (Maddalena et al. 2017, section 4.3).

    Raises
    ------
    ScaleError
        A value of 0, which has no logarithm.
    """
    data = coded(judgments, repeats)
    zero = np.flatnonzero(data.value == 0)
    if zero.size:
        pair = int(data.pair[zero[0]])
        topic = int(np.searchsorted(data.pool.starts, pair, side="right")) - 1
        document = data.pool.documents[data.pool.document[pair]]
        raise ScaleError(
            f"assessor {data.assessors[data.assessor[zero[0]]]}, topic {data.pool.topics[topic]}, document {document}: "
            "0 has no logarithm, so no geometric mean; use mean or median, or recode"
        )
    logs = _sums(data, np.log(data.value)) / np.diff(data.starts)
    return aggregate_of(data, "geometric mean", "geometric_mean()", np.exp(logs))


def _sums(data: Coded, values: Floats) -> Floats:
    return np.asarray(np.add.reduceat(values, data.starts[:-1]))
