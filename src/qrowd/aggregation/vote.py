"""Counting and averaging: majority vote, mean, median, geometric mean."""

from __future__ import annotations

from hashlib import blake2b
from typing import Literal, get_args

import numpy as np

from qrowd.aggregation.aggregate import Aggregate, aggregate_of
from qrowd.aggregation.coded import Coded, Floats, Ints, Repeated, RepeatedValues, coded, coded_grades
from qrowd.errors import ArgumentError, ScaleError
from qrowd.model.chance import Chance, Rng, Seed, seed_of
from qrowd.model.judgments import Judgments
from qrowd.model.one_scale import CombineScales

Ties = Literal["coin", "lowest", "highest", "fractional"]


def majority_vote(
    judgments: Judgments,
    ties: Ties = "coin",
    *,
    rng: Rng = None,
    repeats: Repeated = "first",
    combine_scales: CombineScales = "auto",
) -> Aggregate:
    """The grade that most assessors gave.

    ties : between grades given equally often: "coin" draws one (Ferrante, Ferro & Maistro 2017, section 2.2), "lowest",
        "highest", or "fractional", their mean. A coin belongs to the labels of topic and document: neither the order of
        rows nor what other documents were judged matters to it.
    rng : for the coins; None tosses anew every time, and the result's `seed` tosses the same again.
    repeats : which of an assessor's repeated judgments votes: "first", "last", "all" of them, or "error".
    combine_scales : what becomes of unlike scales: "auto" counts each judgment as relevant or not, by its assessor's
        own scale; "as-is", "unit" and "relevant" do one of these in any case.

    The posterior is the share of the winners: 1 for a single one, equal parts for tied ones that make a fraction.

    >>> judgments = Judgments.from_rows([("q", "d", who, g) for who, g in (("ann", 1), ("bob", 2), ("cyd", 2))])
    >>> majority_vote(judgments).judgments.value
    array([2.])
    """
    check_ties(ties)
    data = coded_grades(judgments, repeats, combine_scales, "majority_vote")
    winners = winning(data)
    if ties == "fractional":
        seed, posterior = None, winners / winners.sum(axis=1, keepdims=True)
    else:
        seed, posterior = one_of(winners, ties, data, rng)
    return aggregate_of(
        data,
        "majority",
        f"majority_vote(ties={ties!r}, repeats={repeats!r})",
        posterior @ data.grades,
        posterior,
        n_ties=int((winners.sum(axis=1) > 1).sum()),
        seed=seed,
    )


def check_ties(ties: Ties) -> None:
    """Refuse a rule for ties that there is not."""
    if ties not in get_args(Ties):
        raise ArgumentError(f"ties={ties!r}: choose one of {', '.join(get_args(Ties))}")


def winning(data: Coded) -> Floats:
    """(pairs, grades) 1 for the grades that most assessors gave."""
    counts = data.counts()
    return np.asarray(counts == counts.max(axis=1, keepdims=True), np.float64)


def one_of(winners: Floats, ties: Ties, data: Coded, rng: Rng) -> tuple[Seed | None, Floats]:
    """The seed, if chance came in, and (pairs, grades) 1 for one winner each."""
    seed = seed_of(rng) if ties == "coin" else None
    if seed is not None:
        lots = coins(data, np.flatnonzero(winners.sum(axis=1) > 1), Chance.of(seed))
        nth = np.floor(lots * winners.sum(axis=1))
    else:
        nth = winners.sum(axis=1) - 1 if ties == "highest" else np.zeros(data.n_pairs)
    chosen = (np.cumsum(winners, axis=1) > nth[:, None]).argmax(axis=1)
    return seed, np.eye(data.grades.size)[chosen]


def coins(data: Coded, tied: Ints, chance: Chance) -> Floats:
    """(pairs,) from 0 to 1, for the tied pairs, each found by hashing the labels of topic and document."""
    lots = np.zeros(data.n_pairs)
    key = b"".join(number.to_bytes(4, "big") for number in chance.root)
    topics, documents = data.pool.topics, data.pool.documents
    topic = np.searchsorted(data.pool.starts, tied, side="right") - 1
    for pair, t, d in zip(tied.tolist(), topic.tolist(), data.pool.document[tied].tolist(), strict=True):
        label = f"{len(topics[t])} {topics[t]} {documents[d]}".encode("utf-8", "surrogateescape")
        lots[pair] = int.from_bytes(blake2b(label, key=key, digest_size=6).digest(), "big") / 2**48
    return lots


def mean(
    judgments: Judgments, *, repeats: RepeatedValues = "first", combine_scales: CombineScales = "auto"
) -> Aggregate:
    """The arithmetic mean of what assessors gave; of unlike scales, of values divided by their scale's maximum."""
    data = coded(judgments, repeats, combine_scales)
    return aggregate_of(data, "mean", f"mean(repeats={repeats!r})", _sums(data, data.value) / np.diff(data.starts))


def median(
    judgments: Judgments, *, repeats: RepeatedValues = "first", combine_scales: CombineScales = "auto"
) -> Aggregate:
    """The middle of what assessors gave; between two middle ones, their mean; of unlike scales as `mean`."""
    data = coded(judgments, repeats, combine_scales)
    ordered = data.value[np.lexsort((data.value, data.pair))]
    size = np.diff(data.starts)
    middle = (ordered[data.starts[:-1] + (size - 1) // 2] + ordered[data.starts[:-1] + size // 2]) / 2
    return aggregate_of(data, "median", f"median(repeats={repeats!r})", middle)


def geometric_mean(
    judgments: Judgments, *, repeats: RepeatedValues = "first", combine_scales: CombineScales = "auto"
) -> Aggregate:
    """exp of the mean logarithm: the average of magnitudes (Maddalena et al. 2017, section 4.3).

    Raises
    ------
    ScaleError
        A value of 0, which has no logarithm.
    """
    data = coded(judgments, repeats, combine_scales)
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
    return aggregate_of(data, "geometric mean", f"geometric_mean(repeats={repeats!r})", np.exp(logs))


def _sums(data: Coded, values: Floats) -> Floats:
    return np.asarray(np.add.reduceat(values, data.starts[:-1]))
