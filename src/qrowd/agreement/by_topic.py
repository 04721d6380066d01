"""Topics by how far assessors agree: are they easy for systems, and what if they were left out?

Maddalena, Roitero, Demartini, Mizzaro (2017), Considering Assessor Agreement in IR Evaluation. ICTIR, sections 3.3,
4.2, 5.1 and 5.2 (Figures 2, 4 and 5, Table 3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qrowd.agreement.alpha import AlphaBy
from qrowd.agreement.correlation import Pearson, pearson
from qrowd.agreement.gold import AlphaByGold
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.kernels.correlation import tau_b
from qrowd.model.chance import Chance, Rng, Seed, seed_of
from qrowd.model.frames import make_frame
from qrowd.model.scores import interpolated, known_mean, rankable

if TYPE_CHECKING:
    import xarray

Floats = NDArray[np.float64]
Agreement = AlphaBy | AlphaByGold | Mapping[str, float]
"""Alpha of every topic: of all documents, by gold, or {topic: anything}."""

STRATEGIES = ("high", "low", "random")


@dataclass(frozen=True, eq=False)
class EaseAgreement:
    """How topic ease goes with agreement.

    topics : (topics,) those whose ease and agreement are both known for some documents; ease : (topics,) mean score of
        all systems. names : (sets,) of documents that agreement was computed on. agreement : (sets, topics).
    bins : numbers of bins, 0 for single topics. correlations : (sets, bins).
    significant : p below which a correlation is marked.
    """

    topics: tuple[str, ...]
    ease: Floats
    names: tuple[str, ...]
    agreement: Floats
    bins: tuple[int, ...]
    correlations: tuple[tuple[Pearson, ...], ...]
    significant: float

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per set of documents and number of bins: the paper's Table 3."""
        flat = [one for row in self.correlations for one in row]
        p = np.array([one.p for one in flat])
        return make_frame(
            {
                "agreement": np.repeat(np.array(self.names, object), len(self.bins)),
                "bins": np.tile(np.array(self.bins), len(self.names)),
                "n": np.array([one.n for one in flat]),
                "pearson": np.array([one.r for one in flat]),
                "p": p,
                "significant": p < self.significant,
            },
            backend,
        )

    def points(self, bins: int = 0, name: str | None = None, backend: str = "pandas") -> Any:
        """What to plot (Figure 2): agreement and ease of every topic, or the means of every bin of topics."""
        if name is not None and name not in self.names:
            raise ArgumentError(f"name={name!r}: choose from {', '.join(self.names)}")
        agreement = self.agreement[self.names.index(name) if name is not None else -1]
        known = np.flatnonzero(~np.isnan(agreement))
        if not bins:
            columns = {"topic": np.array(self.topics, object)[known]}
            return make_frame({**columns, "agreement": agreement[known], "ease": self.ease[known]}, backend)
        x, y = binned(agreement, self.ease, bins)
        return make_frame({"bin": np.arange(1, x.size + 1), "agreement": x, "ease": y}, backend)


def ease_against_agreement(
    scores: xarray.DataArray | Floats,
    agreement: Agreement,
    *,
    bins: Sequence[int] = (8, 16, 32),
    significant: float = 0.005,
    complete: bool = True,
    interpolate: bool = False,
    topics: Sequence[str] | None = None,
) -> EaseAgreement:
    """Are topics on which assessors agree easier for systems? Pearson's correlation, by topic and in bins of topics.

    Parameters
    ----------
    scores : of one measure, with dimensions topic, system and possibly assessor (averaged within topics first), or a
        (topics, systems) array together with `topics`. Ease is the mean over systems of what is not nan.
    agreement : by topic: krippendorff_alpha(..., by="topic"), alpha_by_gold(..., by="topic") or {topic: number}.
    bins : topics are put in order of agreement and cut into this many bins of equal size (differing by one at most);
        the bins' means are correlated. More bins than topics: nan.
    complete : with gold, only topics that have documents of every gold grade.
    interpolate : fill missing (topic, system) scores first; see `interpolated`.

    Raises
    ------
    NoOverlapError
        Scores and agreement share no topic.
    """
    labels, table = _topic_scores(scores, topics)
    if interpolate:
        table = interpolated(table)
    sets = _sets(agreement, complete)
    wanted = [i for i, topic in enumerate(labels) if any(topic in by_topic for by_topic in sets.values())]
    if not wanted:
        raise NoOverlapError("scores and agreement share no topic; check that both are of the same collection")
    ease = known_mean(table[wanted], axis=1)
    kept = tuple(labels[i] for i in wanted)
    value = np.array([[by_topic.get(topic, np.nan) for topic in kept] for by_topic in sets.values()])
    found = tuple(tuple(pearson(*(binned(row, ease, n) if n else (row, ease))) for n in (*bins, 0)) for row in value)
    return EaseAgreement(kept, ease, tuple(sets), value, (*bins, 0), found, significant)


def binned(agreement: Floats, ease: Floats, bins: int) -> tuple[Floats, Floats]:
    """(bins,) mean agreement and ease of bins of topics in order of agreement; nan for more bins than topics."""
    if bins < 1:
        raise ArgumentError(f"bins={bins}: at least one bin was expected")
    known = np.flatnonzero(~(np.isnan(agreement) | np.isnan(ease)))
    if known.size < bins:
        return np.full(bins, np.nan), np.full(bins, np.nan)
    parts = np.array_split(known[np.argsort(agreement[known], kind="stable")], bins)
    return np.array([agreement[part].mean() for part in parts]), np.array([ease[part].mean() for part in parts])


@dataclass(frozen=True, eq=False)
class TopicRemoval:
    """Scores and system rankings on fewer and fewer topics.

    n_topics : (sizes,) topics kept, from all down to 1.
    score : (strategies, sizes) mean over systems of their mean score; tau : (strategies, sizes) tau-b of the systems'
        ranking with that on all topics (nan where all systems tie). Random removal: means over repetitions.
    low, high : (2, sizes) interval of the random score (row 0) and tau (row 1) that holds `confidence` of repetitions.
    Strategies in order: topics of high agreement removed first, of low agreement first, at random.
    """

    n_topics: NDArray[np.int64]
    score: Floats
    tau: Floats
    low: Floats
    high: Floats
    repetitions: int
    confidence: float
    seed: Seed

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per strategy and number of topics; low and high are nan where nothing is random."""
        n = self.n_topics.size
        blank = np.full((2, n), np.nan)
        return make_frame(
            {
                "removed": np.repeat(np.array(STRATEGIES, object), n),
                "n_topics": np.tile(self.n_topics, 3),
                "score": self.score.ravel(),
                "score_low": np.concatenate([*blank, self.low[0]]),
                "score_high": np.concatenate([*blank, self.high[0]]),
                "tau": self.tau.ravel(),
                "tau_low": np.concatenate([*blank, self.low[1]]),
                "tau_high": np.concatenate([*blank, self.high[1]]),
            },
            backend,
        )


def topic_removal(
    scores: xarray.DataArray | Floats,
    agreement: AlphaBy | Mapping[str, float],
    *,
    repetitions: int = 300,
    confidence: float = 0.95,
    interpolate: bool = False,
    topics: Sequence[str] | None = None,
    rng: Rng,
) -> TopicRemoval:
    """What happens to scores and rankings when topics of high or low agreement go first, or at random (Figures 4, 5).

    scores, interpolate, topics : as in `ease_against_agreement`; topics without agreement are left out from the start.
    Ties in agreement go in the order of the scores' topics. Missing scores are left out of a system's mean.

    Raises
    ------
    NoOverlapError
        Scores and agreement share no topic.
    """
    labels, table = _topic_scores(scores, topics)
    if interpolate:
        table = interpolated(table)
    (by_topic,) = _sets(agreement, complete=False).values()
    value = np.array([by_topic.get(topic, np.nan) for topic in labels])
    known = np.flatnonzero(~np.isnan(value))
    if not known.size:
        raise NoOverlapError("scores and agreement share no topic; check that both are of the same collection")
    table, value = table[known], value[known]
    reference = known_mean(table, axis=0)
    seed = seed_of(rng)
    random = Chance.of(seed).stream("topic removal")
    ascending = np.argsort(value, kind="stable")
    shuffled = np.argsort(random.random((repetitions, value.size)), axis=1)
    followed = [_on_first(table[order], reference) for order in (ascending, ascending[::-1])]
    drawn = np.array([_on_first(table[order], reference) for order in shuffled]).reshape(repetitions, 2, -1)
    sides = [(1 - confidence) / 2, (1 + confidence) / 2]
    with np.errstate(all="ignore"):
        low, high = _known_quantiles(drawn, sides)
    both = np.array([*followed, known_mean(drawn, axis=0)])[:, :, ::-1]
    sizes = np.arange(value.size, 0, -1)
    return TopicRemoval(sizes, both[:, 0], both[:, 1], low[:, ::-1], high[:, ::-1], repetitions, confidence, seed)


def _on_first(ordered: Floats, reference: Floats) -> tuple[Floats, Floats]:
    """(topics,) mean score and tau on the first 1, 2, ... of the topics (topics, systems)."""
    known = ~np.isnan(ordered)
    count = np.cumsum(known, axis=0)
    means = np.where(count > 0, np.cumsum(np.where(known, ordered, 0.0), axis=0) / np.maximum(count, 1), np.nan)
    # Sums in another order differ in their last digits; what is equal but for that is a tie.
    return known_mean(means, axis=1), tau_b(rankable(means), rankable(reference)[None])


def _known_quantiles(drawn: Floats, sides: list[float]) -> Floats:
    """(sides, ...) quantiles over the first axis of what is not nan."""
    flat = drawn.reshape(drawn.shape[0], -1)
    out = np.full((len(sides), flat.shape[1]), np.nan)
    for column in range(flat.shape[1]):
        known = flat[~np.isnan(flat[:, column]), column]
        if known.size:
            out[:, column] = np.quantile(known, sides)
    return out.reshape(len(sides), *drawn.shape[1:])


def _topic_scores(scores: xarray.DataArray | Floats, topics: Sequence[str] | None) -> tuple[tuple[str, ...], Floats]:
    """Topic labels and (topics, systems) scores."""
    if isinstance(scores, np.ndarray):
        if topics is None or scores.ndim != 2 or scores.shape[0] != len(topics):
            raise ArgumentError(
                f"scores of shape {scores.shape}: (topics, systems) and topics= with its labels expected"
            )
        return tuple(topics), scores.astype(np.float64)
    if not {"topic", "system"} <= set(scores.dims) <= {"measure", "assessor", "topic", "system"}:
        shown = ", ".join(map(str, scores.dims))
        raise ArgumentError(f"scores with dimensions ({shown}): topic and system, and perhaps assessor, expected")
    if "measure" in scores.dims:
        if scores.sizes["measure"] != 1:
            shown = ", ".join(map(str, scores["measure"].values))
            raise ArgumentError(f"scores of several measures ({shown}); take one with scores.sel(measure=...)")
        scores = scores.isel(measure=0)
    if "assessor" in scores.dims:
        scores = scores.mean("assessor", skipna=True)
    table = np.asarray(scores.transpose("topic", "system").values, np.float64)
    return tuple(map(str, scores["topic"].values)), table


def _sets(agreement: Agreement, complete: bool) -> dict[str, dict[str, float]]:
    """{set of documents: {topic: agreement}}."""
    if isinstance(agreement, AlphaByGold):
        kept = np.flatnonzero(agreement.complete) if complete else np.arange(len(agreement.topics))
        return {
            name: {agreement.topics[t]: float(agreement.value[t, column]) for t in kept}
            for column, name in enumerate(agreement.names)
        }
    if isinstance(agreement, AlphaBy):
        return {"all": dict(zip(agreement.labels, agreement.value.tolist(), strict=True))}
    return {"all": {str(topic): float(value) for topic, value in agreement.items()}}
