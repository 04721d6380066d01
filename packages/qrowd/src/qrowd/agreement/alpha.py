"""Krippendorff's alpha: agreement of any number of assessors beyond chance, on any scale, with missing judgments.

Krippendorff (2011), Computing Krippendorff's Alpha-Reliability. University of Pennsylvania. Intervals: resampled
topics or documents, or Hayes & Krippendorff (2007), Answering the Call for a Standard Reliability Measure for Coding
Data. Communication Methods and Measures 1(1), 77-89.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from qrowd.agreement.document_counts import By, DocumentCounts, Documents, document_counts
from qrowd.errors import ArgumentError, check_choice
from qrowd.kernels.arrays import Floats, Ints
from qrowd.kernels.counts import Counts, coincidences
from qrowd.kernels.disagreement import (
    INTERVAL,
    Difference,
    Level,
    matrix_of_differences,
    mean_drawn_difference,
    mid_ranks,
)
from qrowd.kernels.resample import resampled, tail
from qrowd.model.chance import Chance, Rng, Seed, seed_of
from qrowd.model.judgments import Judgments, Repeats
from qrowd.model.labels import number_of, plural
from qrowd.model.one_scale import CombineScales
from qrowd.model.result import Result

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Resample = Literal["topics", "documents", "deviations"]

CELLS_AT_ONCE = 2_000_000  # of a block of resamples


@dataclass(frozen=True)
class Alpha(Result):
    """Krippendorff's alpha and what it rests on.

    value : 1 - observed / expected; nan if the documents hold fewer than two distinct values.
    low, high : percentile interval at level `confidence`, wider when few topics were drawn
        (`qrowd.kernels.resample.tail`).
    p : p-value of "no agreement" (alpha <= 0): (1 + resamples with alpha <= 0) / (1 + resamples).
    observed, expected : mean squared difference of two judgments of the same document, and of any two judgments.
    level : of measurement. scale : the one scale on which all values were compared.
    n_topics, n_documents, n_judgments : documents judged at least `min_judgments` times, their topics and judgments.
    n_pairs : pairs of judgments of the same document. n_values : distinct values.
    n_left_out : documents judged less often than `min_judgments`.
    n_repeats : judgments that repeated an earlier one of the same assessor. repeats : how repeats were treated.
    n_resamples : number of resamples. resample : what was drawn; "documents" also where topics were requested and there
        is only one. n_undefined : resamples with a single distinct value, which the interval leaves out.
    seed : pass it as `rng` to draw the same resamples again.
    resamples : (n_resamples,) alpha of each resample, nan where undefined.

    low, high and p are nan if n_resamples is 0.
    """

    value: float
    low: float
    high: float
    p: float
    observed: float
    expected: float
    level: Level
    scale: str
    n_topics: int
    n_documents: int
    n_judgments: int
    n_pairs: int
    n_values: int
    n_left_out: int
    n_repeats: int
    repeats: str
    n_resamples: int
    resample: Resample | None
    n_undefined: int
    confidence: float
    seed: Seed | None
    resamples: Floats = field(repr=False, compare=False)

    def _columns(self) -> dict[str, Any]:
        return alpha_columns([self])

    def _sentence(self) -> str:
        interval = "" if np.isnan(self.low) else f" [{self.low:.3f}, {self.high:.3f}]"
        return (
            f"Krippendorff's alpha ({self.level}) is {self.value:.3f}{interval}: {self.n_judgments:,} judgments of "
            f"{self.n_documents:,} documents of {plural(self.n_topics, 'topic')} on the scale {self.scale}."
        )


@dataclass(frozen=True, eq=False)
class Alphas(Result):
    """Krippendorff's alpha of every group, or of all judgments as the one group "all".

    by : what the groups are: "topic", "group", or "" for all judgments together. labels : one per group.
    alphas : one per group. `alphas["301"]` is that of one group, `alphas.item()` that of the only one.
    """

    by: str
    labels: tuple[str, ...]
    alphas: tuple[Alpha, ...]

    @property
    def value(self) -> Floats:
        """(groups,) alpha."""
        return np.array([alpha.value for alpha in self.alphas])

    def item(self) -> Alpha:
        """Alpha of the only group.

        Raises
        ------
        ArgumentError
            There are several groups.
        """
        if len(self.alphas) != 1:
            raise ArgumentError(f"alpha by {self.by}: there are {len(self.alphas)} groups; name one, as alphas[label]")
        return self.alphas[0]

    def __getitem__(self, label: str) -> Alpha:
        return self.alphas[number_of(label, self.labels, self.by or "group")]

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[tuple[str, Alpha]]:
        return zip(self.labels, self.alphas, strict=True)

    def _sentence(self) -> str:
        if len(self.alphas) == 1:
            return self.item()._sentence()
        defined = self.value[~np.isnan(self.value)]
        ends = f" from {defined.min():.3f} to {defined.max():.3f}" if defined.size else ""
        return f"Krippendorff's alpha of {plural(len(self.labels), self.by or 'group')}{ends}."

    def _columns(self) -> dict[str, Any]:
        return {self.by or "group": self.labels, **alpha_columns(self.alphas)}


def krippendorff_alpha(
    judgments: Judgments,
    *,
    level: Level | None = None,
    by: By = None,
    n_resamples: int = 0,
    resample: Resample = "topics",
    confidence: float = 0.95,
    rng: Rng = 1,
    repeats: Repeats = "first",
    slots: int | None = None,
    min_judgments: int = 2,
    logs: bool = False,
    combine_scales: CombineScales = "auto",
) -> Alphas:
    """How far assessors agree beyond chance: 1 for complete agreement, 0 for none, below 0 for systematic disagreement.

    alpha = 1 - observed / expected: the mean squared difference of two judgments of the same document (each judgment
    weighing the same) over that of any two judgments.

    Parameters
    ----------
    level : of measurement, "nominal", "ordinal", "interval" or "ratio"; by default what the assessors' scale allows:
        yes/no is nominal, grades are ordinal, fractions interval, magnitudes ratio.
    by : None for all judgments together; "topic"; or groups as {topic: group}, {assessor: group},
        {(topic, document): group}, or one group per judgment. A document always belongs to one topic.
    n_resamples : number of bootstrap resamples for the interval and p; 0 computes neither.
    resample : "topics" draws topics with replacement, each with all its documents, and computes both disagreements
        anew: the interval is for other topics and the same assessors. Clusters stand for topics that are in clusters,
        unless `by` is "topic" or a mapping. "documents" draws documents of any topic; the interval is too narrow for
        other topics, because documents of one topic are judged alike. It is used if there is only one topic.
        "deviations" draws as many pairs of judgments as there are and keeps expected disagreement fixed (Hayes &
        Krippendorff; values below -1 count as -1); it is narrower, since pairs of the same document are not
        independent.
    confidence : level of the interval.
    rng : source of chance for the resamples.
    slots : use only the first so many judgments of every document, repeats by one assessor included; for crowds.
    repeats : which of an assessor's judgments of the same document counts, if slots is not given.
    min_judgments : documents judged less often are left out.
    logs : take logarithms of the values first, as Maddalena et al. (ICTIR 2017) do with magnitudes and "interval".
    combine_scales : how values on unlike scales are combined: "auto" divides values by their scale's maximum, and at
        level "nominal" makes them relevant or not; "as-is", "rescaled" and "relevant" do one of these at any level.

    Returns
    -------
    Alphas
        One alpha per group; without `by` one alpha, which `.item()` returns.

    Raises
    ------
    NoOverlapError
        Fewer than two assessors; no document judged often enough.
    ScaleError
        Magnitudes beside another scale; "as-is" of scales that cannot be one.

    >>> judgments = Judgments.from_rows(
    ...     [
    ...         ("q", d, who, v)
    ...         for who, grades in {"ann": "00112", "bob": "01112"}.items()
    ...         for d, v in zip("abcde", map(int, grades))
    ...     ]
    ... )
    >>> round(krippendorff_alpha(judgments, level="nominal").item().value, 3)
    0.71
    """
    if n_resamples < 0 or not 0 < confidence < 1:
        raise ArgumentError(
            f"n_resamples={n_resamples}, confidence={confidence}: expected 0 or more, and a number between 0 and 1"
        )
    check_choice("resample", resample, Resample)
    options: Any = {
        "level": level, "by": by, "repeats": repeats, "slots": slots, "min_judgments": min_judgments, "logs": logs,
    }  # fmt: skip
    sampled = judgments if isinstance(by, str | Mapping) else judgments.by_cluster()
    counts = document_counts(sampled, **options, combine_scales=combine_scales)
    seed = seed_of(rng) if n_resamples else None
    alphas = tuple(
        alpha_of(documents, counts, n_resamples, resample, confidence, seed, label)
        for label, documents in zip(counts.labels, counts.groups, strict=True)
    )
    return Alphas(counts.by, counts.labels, alphas)


def alpha_of(
    documents: Documents,
    data: DocumentCounts,
    n_resamples: int,
    resample: Resample,
    confidence: float,
    seed: Seed | None,
    label: str,
) -> Alpha:
    """Alpha of one group; its resamples depend on the seed and the label alone."""
    from scipy.sparse import csr_array

    counts, kind = documents.alike  # documents that were judged alike are one row, counted as often as they occur
    topics, topic = np.unique(documents.pair // max(len(data.documents), 1), return_inverse=True)
    multiplicity = np.bincount(kind, minlength=counts.shape[0])
    n_topics = topics.size
    size = np.asarray(counts.sum(axis=1), np.int64).ravel()
    if resample == "topics" and n_topics == 1:
        resample = "documents"
    value = observed = expected = np.nan
    resamples = np.empty(0)
    if size.size:
        weights = multiplicity[None, :].astype(np.float64)
        disagreement = Disagreement(documents.values, counts, data.level)
        (value,), (observed,), (expected,) = disagreement.alphas(weights)
        if n_resamples and not np.isnan(value):
            assert seed is not None
            random = Chance.of(seed).stream(f"alpha {label}")
            if resample == "topics":
                of_topics = csr_array((np.ones(kind.size), (topic, kind)), shape=(n_topics, counts.shape[0]))
                resamples = disagreement.topics_resampled(of_topics, n_resamples, random)
            elif resample == "documents":
                resamples = disagreement.resampled(multiplicity, n_resamples, random)
            else:
                resamples = disagreement.deviations(multiplicity, expected, n_resamples, random)
    defined = resamples[~np.isnan(resamples)]
    low = high = p = np.nan
    if defined.size:
        beyond = tail(confidence, n_topics if resample == "topics" else None)
        low, high = np.quantile(defined, [beyond, 1 - beyond])
        p = (1 + np.count_nonzero(defined <= 0)) / (1 + defined.size)
    used = np.asarray(counts.sum(axis=0)).ravel() > 0
    return Alpha(
        float(value),
        float(low),
        float(high),
        float(p),
        float(observed),
        float(expected),
        data.level,
        str(data.scale),
        n_topics=n_topics,
        n_documents=int(multiplicity.sum()),
        n_judgments=int(multiplicity @ size),
        n_pairs=int(multiplicity @ (size * (size - 1))) // 2,
        n_values=int(np.count_nonzero(used)),
        n_left_out=documents.left_out.size,
        n_repeats=data.n_repeats,
        repeats=data.repeats,
        n_resamples=n_resamples,
        resample=resample if n_resamples else None,
        n_undefined=resamples.size - defined.size,
        confidence=confidence,
        seed=seed,
        resamples=resamples,
    )


class Disagreement:
    """Observed and expected disagreement of documents, for any number of weightings of the documents.

    values : (values,); counts : (documents, values), each document with at least two judgments.
    """

    def __init__(self, values: Floats, counts: Counts, level: Level) -> None:
        self.values, self.counts, self.level = values, counts, level
        self.size = np.asarray(counts.sum(axis=1)).ravel()
        self.at_once = max(1, CELLS_AT_ONCE // max(counts.shape))
        if level != "ordinal":
            self._difference = Difference(values, level)
            self._within = self._difference.within(counts)

    def alphas(self, weights: Floats) -> tuple[Floats, Floats, Floats]:
        """(rows,) alpha, observed and expected disagreement; weights : (rows, documents)."""
        totals = weights @ self.counts
        n = totals.sum(axis=1)
        if self.level == "ordinal":
            rank = mid_ranks(totals)
            total = self.counts @ rank.T
            squares = self.counts @ (rank**2).T
            within = 2 * (self.size[:, None] * squares - total**2) / (self.size[:, None] - 1)
            observed = (weights.T * within).sum(axis=0)
            expected = 2 * (n * (totals * rank**2).sum(axis=1) - (totals * rank).sum(axis=1) ** 2)
        else:
            observed = weights @ self._within
            expected = self._difference.between(totals, totals)
        with np.errstate(divide="ignore", invalid="ignore"):
            observed = observed / n
            expected = expected / (n * (n - 1))
            alpha = np.where((totals > 0).sum(axis=1) > 1, 1 - observed / expected, np.nan)
        return alpha, observed, expected

    def resampled(self, multiplicity: Ints, n_resamples: int, random: np.random.Generator) -> Floats:
        """(n_resamples,) alpha of documents drawn with replacement."""
        blocks = resampled(multiplicity, n_resamples, self.at_once, random)
        return np.concatenate([self.alphas(weights)[0] for weights in blocks])

    def topics_resampled(self, documents: csr_array, n_resamples: int, random: np.random.Generator) -> Floats:
        """(n_resamples,) alpha of topics drawn with replacement; documents : (topics, documents) how many of each."""
        blocks = resampled(np.ones(documents.shape[0], np.int64), n_resamples, self.at_once, random)
        return np.concatenate([self.alphas(topics @ documents)[0] for topics in blocks])

    def deviations(self, multiplicity: Ints, expected: float, n_resamples: int, random: np.random.Generator) -> Floats:
        """(n_resamples,) alpha of pairs of judgments drawn with replacement, expected disagreement held fixed."""
        draws = int((multiplicity * self.size * (self.size - 1)).sum()) // 2
        totals = (multiplicity @ self.counts)[None, :]
        x = mid_ranks(totals)[0] if self.level == "ordinal" else self.values
        level: Level = "interval" if self.level == "ordinal" else self.level
        if isinstance(self.counts, np.ndarray):
            # Rounding may put the share of two values that never meet below 0.
            share = np.maximum(coincidences(self.counts, multiplicity / (self.size - 1)).ravel(), 0.0)
            pairs = random.multinomial(draws, share / share.sum(), size=n_resamples)
            observed = pairs @ matrix_of_differences(x, level).ravel() / draws
        else:
            code_of_judgment = np.repeat(self.counts.indices, self.counts.data.astype(np.int64))
            starts = np.append(0, np.cumsum(self.size)).astype(np.int64)
            document = np.repeat(np.arange(self.size.size, dtype=np.int32), np.diff(starts))
            code = INTERVAL if self.level == "ordinal" else self._difference.code
            arrays = (starts, document, x[code_of_judgment], code, draws, random)
            observed = np.array([mean_drawn_difference(*arrays) for _ in range(n_resamples)])
        return np.maximum(1 - observed / expected, -1.0)


def alpha_columns(alphas: Sequence[Alpha]) -> dict[str, Any]:
    """Every field but seed and resamples, as columns; the value under the name alpha."""
    names = [name for name in Alpha.__dataclass_fields__ if name not in ("resamples", "seed")]
    return {"alpha" if name == "value" else name: [getattr(alpha, name) for alpha in alphas] for name in names}
