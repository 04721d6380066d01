"""Aggregation by counting and averaging: majority vote, mean, sum, median, geometric mean."""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b
from typing import Literal

import numpy as np

from qrowd.aggregation.aggregate import (
    Aggregate,
    Coded,
    Repeated,
    RepeatedValues,
    aggregate_of,
    coded,
    coded_grades,
    merged,
)
from qrowd.errors import ScaleError, check_choice
from qrowd.kernels.arrays import Floats, Ints
from qrowd.model.chance import Chance, Rng, Seed, seed_of
from qrowd.model.judgments import Judgments
from qrowd.model.one_scale import CombineScales
from qrowd.model.scales import Scale

Ties = Literal["coin", "lowest", "highest", "fractional"]


def majority_vote(
    judgments: Judgments,
    *,
    ties: Ties = "coin",
    rng: Rng = 1,
    repeats: Repeated = "first",
    combine_scales: CombineScales = "auto",
) -> Aggregate:
    """The grade that most assessors gave.

    Parameters
    ----------
    ties : between grades given equally often: "coin" draws one at random (Ferrante, Ferro & Maistro 2017, section 2.2),
        "lowest", "highest", or "fractional", their mean. The draw depends on the labels of topic and document, not on
        the order of rows or on other documents.
    rng : source of chance for "coin". The result's `seed` makes the same draws again.
    repeats : which of an assessor's repeated judgments votes: "first", "last", "all" of them, or "error".
    combine_scales : how values on unlike scales are combined: "auto" counts each as relevant or not, by its assessor's
        own scale; "as-is", "rescaled" and "relevant" do one of these in any case.

    The posterior is 1 for the winning grade; with ties="fractional", tied grades have equal probabilities.

    >>> judgments = Judgments.from_rows([("q", "d", who, g) for who, g in (("ann", 1), ("bob", 2), ("cyd", 2))])
    >>> majority_vote(judgments).judgments.value
    array([2.])
    """
    check_choice("ties", ties, Ties)
    data = coded_grades(judgments, repeats, combine_scales, "majority")
    winners = winning(data)
    if ties == "fractional":
        seed = None
        posterior = winners / winners.sum(axis=1, keepdims=True)
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


def winning(data: Coded) -> Floats:
    """(pairs, grades) 1 for the grades that most assessors gave."""
    counts = data.counts()
    return np.asarray(counts == counts.max(axis=1, keepdims=True), np.float64)


def one_of(winners: Floats, ties: Ties, data: Coded, rng: Rng) -> tuple[Seed | None, Floats]:
    """The seed, if chance was used, and (pairs, grades) 1 for one winner of each pair."""
    seed = seed_of(rng) if ties == "coin" else None
    if seed is not None:
        lots = coins(data, np.flatnonzero(winners.sum(axis=1) > 1), Chance.of(seed))
        nth = np.floor(lots * winners.sum(axis=1))
    else:
        nth = winners.sum(axis=1) - 1 if ties == "highest" else np.zeros(data.n_pairs)
    grade = (np.cumsum(winners, axis=1) > nth[:, None]).argmax(axis=1)
    return seed, np.eye(data.grades.size)[grade]


def coins(data: Coded, tied: Ints, chance: Chance) -> Floats:
    """(pairs,) number from 0 to 1 for the tied pairs: a hash of the labels of topic and document."""
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
    """The arithmetic mean of the values; on unlike scales, of values divided by their scale's maximum."""
    data = coded(judgments, repeats, combine_scales)
    return aggregate_of(data, "mean", f"mean(repeats={repeats!r})", _sums(data, data.value) / np.diff(data.starts))


def total(
    judgments: Judgments, *, repeats: RepeatedValues = "first", combine_scales: CombineScales = "auto"
) -> Aggregate:
    """The sum of the values; unlike scales as in `mean`. Two judgments of 0-2 become one of 0-4.

    So NTCIR's INTENT-2 made five levels of double judgments (Demeester et al. 2016, Inf. Retr. J. 19, section 4.1).

    Raises
    ------
    ScaleError
        Documents with different numbers of judgments, whose sums cannot be compared.
    """
    data = coded(judgments, repeats, combine_scales)
    size = np.diff(data.starts)
    if size.min() < size.max():
        raise ScaleError(
            f"sums of {size.min()} and of {size.max()} judgments cannot be compared; use the mean, or keep the "
            "documents that all assessors judged"
        )
    value = _sums(data, data.value)
    scale = Scale(data.scale.kind, data.scale.maximum * int(size[0]), data.scale.declared, data.scale.rel)
    if scale.kind == "binary" and size[0] > 1:
        scale = Scale("graded", float(size[0]), data.scale.declared)
    merged_values = merged(data.pool, value, "sum", scale)
    return replace(
        aggregate_of(data, "sum", f"total(repeats={repeats!r})", value), judgments=merged_values, scale=scale
    )


def median(
    judgments: Judgments, *, repeats: RepeatedValues = "first", combine_scales: CombineScales = "auto"
) -> Aggregate:
    """The median of the values (of an even number, the mean of the two middle ones); unlike scales as in `mean`."""
    data = coded(judgments, repeats, combine_scales)
    ordered = data.value[np.lexsort((data.value, data.pair))]
    size = np.diff(data.starts)
    middle = (ordered[data.starts[:-1] + (size - 1) // 2] + ordered[data.starts[:-1] + size // 2]) / 2
    return aggregate_of(data, "median", f"median(repeats={repeats!r})", middle)


def geometric_mean(
    judgments: Judgments, *, repeats: RepeatedValues = "first", combine_scales: CombineScales = "auto"
) -> Aggregate:
    """The geometric mean of the values, for magnitudes (Maddalena et al. 2017, section 4.3).

    Normalise magnitudes of several assessors first, as the source does (`qrowd.magnitude.normalise`): each may use a
    range of numbers of their own.

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
            "0 has no logarithm and no geometric mean; use mean or median, or recode it"
        )
    logs = _sums(data, np.log(data.value)) / np.diff(data.starts)
    return aggregate_of(data, "geometric mean", f"geometric_mean(repeats={repeats!r})", np.exp(logs))


def _sums(data: Coded, values: Floats) -> Floats:
    return np.asarray(np.add.reduceat(values, data.starts[:-1]))
