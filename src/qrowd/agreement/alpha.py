"""Krippendorff's alpha: how far any number of assessors agree beyond chance, on any scale, whoever judged what.

Krippendorff (2011), Computing Krippendorff's Alpha-Reliability. University of Pennsylvania. Intervals: resampled
topics or documents, or Hayes & Krippendorff (2007), Answering the Call for a Standard Reliability Measure for Coding
Data. Communication Methods and Measures 1(1), 77-89.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict, Unpack, get_args, overload

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from qrowd.agreement.reliability import By, Documents, Groups, Reliability, reliability
from qrowd.errors import ArgumentError
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
from qrowd.model.frames import make_frame
from qrowd.model.judgments import Judgments, Repeats
from qrowd.model.one_scale import CombineScales

Floats = NDArray[np.float64]
Resample = Literal["topics", "documents", "deviations"]

CELLS_AT_ONCE = 2_000_000  # of a block of replicates


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha and what it rests on.

    value : 1 - observed / expected; nan where documents judged often enough hold fewer than two distinct values.
    low, high : the interval that holds `confidence` of the replicates, and more of them where few topics were drawn
        (`qrowd.kernels.resample.tail`).
    p : share of replicates in which there is no agreement (alpha <= 0), the data themselves counting as one that has
        none: (1 + such replicates) / (1 + replicates).
    observed, expected : mean squared difference of two judgments of the same document, of any two judgments.
    level : of measurement; scale : the one that all values were taken to be on.
    n_documents, n_judgments, n_pairs, n_values : documents judged often enough, their judgments, the pairs of judgments
        of the same document, and the distinct values. n_left_out : documents that too few judged.
    n_repeats : judgments that repeated an earlier one of the same assessor; repeats : what became of them.
    n_topics : of those documents.
    bootstrap : how many replicates; resample : what was drawn, "documents" where topics were asked for and there is
        only one; n_undefined : replicates of a single value, which are left out.
    seed : give it as `rng` to see the same replicates again.
    replicates : (replicates,) alpha of each, nan where undefined.

    low, high and p are nan where nothing was resampled.
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
    bootstrap: int
    resample: Resample | None
    n_undefined: int
    confidence: float
    seed: Seed | None
    replicates: Floats = field(repr=False, compare=False)

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row."""
        return make_frame(alpha_columns([self]), backend)


@dataclass(frozen=True, eq=False)
class AlphaBy:
    """Alpha of every group.

    by : what the groups are, the name of the first column of the frame; labels : one per group.
    """

    by: str
    labels: tuple[str, ...]
    alphas: tuple[Alpha, ...]

    @property
    def value(self) -> Floats:
        """(groups,) alpha."""
        return np.array([alpha.value for alpha in self.alphas])

    def __getitem__(self, label: str) -> Alpha:
        return self.alphas[self.labels.index(label)]

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[tuple[str, Alpha]]:
        return zip(self.labels, self.alphas, strict=True)

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per group."""
        return make_frame({self.by: np.array(self.labels, object), **alpha_columns(self.alphas)}, backend)


class Options(TypedDict, total=False):
    """What `krippendorff_alpha` takes besides judgments, level and by."""

    bootstrap: int
    resample: Resample
    confidence: float
    rng: Rng
    repeats: Repeats
    slots: int | None
    min_judgments: int
    logs: bool
    combine_scales: CombineScales


@overload
def krippendorff_alpha(
    judgments: Judgments, level: Level | None = None, *, by: None = None, **options: Unpack[Options]
) -> Alpha: ...
@overload
def krippendorff_alpha(
    judgments: Judgments, level: Level | None = None, *, by: Groups, **options: Unpack[Options]
) -> AlphaBy: ...
def krippendorff_alpha(
    judgments: Judgments,
    level: Level | None = None,
    *,
    by: By = None,
    bootstrap: int = 0,
    resample: Resample = "topics",
    confidence: float = 0.95,
    rng: Rng = None,
    repeats: Repeats = "first",
    slots: int | None = None,
    min_judgments: int = 2,
    logs: bool = False,
    combine_scales: CombineScales = "auto",
) -> Alpha | AlphaBy:
    """How far assessors agree beyond chance: 1 for complete agreement, 0 for none, below 0 for systematic disagreement.

    alpha = 1 - observed / expected: the mean squared difference of two judgments of the same document (each judgment
    weighing the same) over that of any two judgments.

    Parameters
    ----------
    level : of measurement, "nominal", "ordinal", "interval" or "ratio"; by default what the assessors' scale allows:
        yes/no is nominal, grades are ordinal, fractions interval, magnitudes ratio.
    by : None for one alpha; "topic"; or groups as {topic: group}, {assessor: group}, {(topic, document): group}, or one
        group per judgment. Documents are always those of a topic.
    bootstrap : how many replicates the interval and p rest on; 0 for neither.
    resample : "topics" draws topics with replacement, each with all its documents, and computes both disagreements
        anew: other topics, the same assessors; documents of a topic are judged alike more than others are. "documents"
        draws documents, whatever their topic: too narrow for other topics, and what is drawn where there is only one
        topic. "deviations" draws as many pairs of judgments as there are, expected disagreement held fixed
        (Hayes & Krippendorff; below -1 counts as -1): narrower, since pairs of the same document are not independent.
    slots : only the first so many judgments of every document, an assessor's repeats among them; for crowds.
    repeats : which of an assessor's judgments of the same document counts, where slots is not given.
    min_judgments : documents judged less often are left out.
    logs : take logarithms of the values first, as Maddalena et al. (ICTIR 2017) do with magnitudes and "interval".
    combine_scales : what becomes of unlike scales: "auto" divides values by their scale's maximum, and makes them
        relevant or not at level "nominal"; "as-is", "unit" and "relevant" do one of these whatever the level.

    Raises
    ------
    NoOverlapError
        Fewer than two assessors; no document judged often enough.
    ScaleError
        Magnitudes beside another scale; "as-is" of scales that cannot be one.

    >>> judgments = Judgments.from_rows(
    ...     [
    ...         ("q", d, who, v)
    ...         for who, said in {"ann": "00112", "bob": "01112"}.items()
    ...         for d, v in zip("abcde", map(int, said))
    ...     ]
    ... )
    >>> round(krippendorff_alpha(judgments, "nominal").value, 3)
    0.71
    """
    if bootstrap < 0 or not 0 < confidence < 1:
        raise ArgumentError(f"bootstrap={bootstrap}, confidence={confidence}: 0 or more, and a share, were expected")
    if resample not in get_args(Resample):
        raise ArgumentError(f"resample={resample!r}: choose one of {', '.join(get_args(Resample))}")
    data = reliability(
        judgments,
        level,
        by,
        repeats=repeats,
        slots=slots,
        min_judgments=min_judgments,
        logs=logs,
        combine_scales=combine_scales,
    )
    seed = seed_of(rng) if bootstrap else None
    alphas = tuple(
        alpha_of(documents, data, bootstrap, resample, confidence, seed, label)
        for label, documents in zip(data.labels, data.groups, strict=True)
    )
    return alphas[0] if by is None else AlphaBy(data.by, data.labels, alphas)


def alpha_of(
    documents: Documents,
    data: Reliability,
    bootstrap: int,
    resample: Resample,
    confidence: float,
    seed: Seed | None,
    label: str,
) -> Alpha:
    """Alpha of one group; its chance depends on the seed and its label alone."""
    counts, kind = documents.alike
    size = documents.size
    multiplicity = np.bincount(kind, minlength=counts.shape[0])
    topics, topic = np.unique(documents.pair // max(len(data.documents), 1), return_inverse=True)
    if resample == "topics" and topics.size == 1:
        resample = "documents"
    value = observed = expected = np.nan
    replicates = np.empty(0)
    if size.size:
        weights = multiplicity[None, :].astype(np.float64)
        disagreement = Disagreement(documents.values, counts, data.level)
        (value,), (observed,), (expected,) = disagreement.alphas(weights)
        if bootstrap and not np.isnan(value):
            assert seed is not None
            random = Chance.of(seed).stream(f"alpha {label}")
            if resample == "topics":
                of_topic = csr_array((np.ones(kind.size), (topic, kind)), shape=(topics.size, counts.shape[0]))
                replicates = disagreement.topics_resampled(of_topic, bootstrap, random)
            elif resample == "documents":
                replicates = disagreement.resampled(multiplicity, bootstrap, random)
            else:
                replicates = disagreement.deviations(multiplicity, expected, bootstrap, random)
    defined = replicates[~np.isnan(replicates)]
    low = high = p = np.nan
    if defined.size:
        beyond = tail(confidence, topics.size if resample == "topics" else None)
        low, high = np.quantile(defined, [beyond, 1 - beyond])
        p = (1 + np.count_nonzero(defined <= 0)) / (1 + defined.size)
    used = documents.counts.sum(axis=0) > 0
    return Alpha(
        float(value),
        float(low),
        float(high),
        float(p),
        float(observed),
        float(expected),
        data.level,
        str(data.scale),
        n_topics=topics.size,
        n_documents=size.size,
        n_judgments=int(size.sum()),
        n_pairs=int((size * (size - 1)).sum()) // 2,
        n_values=int(np.count_nonzero(used)),
        n_left_out=documents.left_out.size,
        n_repeats=data.n_repeats,
        repeats=data.repeats,
        bootstrap=bootstrap,
        resample=resample if bootstrap else None,
        n_undefined=replicates.size - defined.size,
        confidence=confidence,
        seed=seed,
        replicates=replicates,
    )


class Disagreement:
    """Observed and expected disagreement of documents, for as many weightings of the documents as wanted.

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
        said = weights @ self.counts
        n = said.sum(axis=1)
        if self.level == "ordinal":
            rank = mid_ranks(said)
            total, squares = self.counts @ rank.T, self.counts @ (rank**2).T
            within = 2 * (self.size[:, None] * squares - total**2) / (self.size[:, None] - 1)
            observed = (weights.T * within).sum(axis=0)
            expected = 2 * (n * (said * rank**2).sum(axis=1) - (said * rank).sum(axis=1) ** 2)
        else:
            observed, expected = weights @ self._within, self._difference.between(said, said)
        with np.errstate(divide="ignore", invalid="ignore"):
            observed, expected = observed / n, expected / (n * (n - 1))
            alpha = np.where((said > 0).sum(axis=1) > 1, 1 - observed / expected, np.nan)
        return alpha, observed, expected

    def resampled(self, multiplicity: NDArray[np.int64], replicates: int, random: np.random.Generator) -> Floats:
        """(replicates,) alpha of documents drawn with replacement."""
        blocks = resampled(multiplicity, replicates, self.at_once, random)
        return np.concatenate([self.alphas(weights)[0] for weights in blocks])

    def topics_resampled(self, documents: csr_array, replicates: int, random: np.random.Generator) -> Floats:
        """(replicates,) alpha of topics drawn with replacement; documents : (topics, documents) how many of each."""
        blocks = resampled(np.ones(documents.shape[0], np.int64), replicates, self.at_once, random)
        return np.concatenate([self.alphas(drawn @ documents)[0] for drawn in blocks])

    def deviations(
        self, multiplicity: NDArray[np.int64], expected: float, replicates: int, random: np.random.Generator
    ) -> Floats:
        """(replicates,) alpha of pairs of judgments drawn with replacement, expected disagreement held fixed."""
        draws = int((multiplicity * self.size * (self.size - 1)).sum()) // 2
        said = (multiplicity @ self.counts)[None, :]
        x = mid_ranks(said)[0] if self.level == "ordinal" else self.values
        level: Level = "interval" if self.level == "ordinal" else self.level
        if isinstance(self.counts, np.ndarray):
            # Values that never met may come out below 0 by rounding, which no share may be.
            share = np.maximum(coincidences(self.counts, multiplicity / (self.size - 1)).ravel(), 0.0)
            drawn = random.multinomial(draws, share / share.sum(), size=replicates)
            observed = drawn @ matrix_of_differences(x, level).ravel() / draws
        else:
            said_of = np.repeat(self.counts.indices, self.counts.data.astype(np.int64))
            starts = np.append(0, np.cumsum(self.size)).astype(np.int64)
            document = np.repeat(np.arange(self.size.size, dtype=np.int32), np.diff(starts))
            code = INTERVAL if self.level == "ordinal" else self._difference.code
            arrays = (starts, document, x[said_of], code, draws, random)
            observed = np.array([mean_drawn_difference(*arrays) for _ in range(replicates)])
        return np.maximum(1 - observed / expected, -1.0)


def alpha_columns(alphas: list[Alpha] | tuple[Alpha, ...]) -> dict[str, NDArray[Any]]:
    """Every field but the replicates, as columns; alpha under its name."""
    names = [name for name in Alpha.__dataclass_fields__ if name not in ("replicates", "seed")]
    columns = {name: np.array([getattr(alpha, name) for alpha in alphas]) for name in names}
    columns = {"alpha" if name == "value" else name: column for name, column in columns.items()}
    return {name: column.astype(object) if column.dtype.kind in "UO" else column for name, column in columns.items()}
