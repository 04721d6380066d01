"""The documents that can change an answer: what each weighs in the score of each system, and its gain.

The score of a topic is a weighted sum of gains, or, for AP, of products of gains. What a document adds to AP depends on
those above it: AP is, over the number of relevant documents,

    sum_r g_r (1 + sum_{j < r} g_j) / r,

which is linear in the gain of each single document. With the mean gain of several people, or an expected gain, in place
of a gain, it is the expected score if documents were independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, MeasureError, NoOverlapError
from qrowd.evaluation.scoring_plan import check_kind
from qrowd.kernels.arrays import Floats
from qrowd.measures.gain import NDCG
from qrowd.measures.measure_kinds import ByGain, Linear, TopicView, linear_parts
from qrowd.measures.precision import AP
from qrowd.measures.units import Mean, weights_of
from qrowd.model.judgments import Judgments
from qrowd.model.measure import Measure
from qrowd.model.panel import Panel, Pool
from qrowd.model.runs import Runs
from qrowd.model.scales import Scale

GRADES = Scale("graded", 3.0)  # any scale: weights of ranks do not depend on it


def is_linear(measure: Measure) -> bool:
    """Whether the score is a weighted sum of gains, over a normaliser that all systems share."""
    return not isinstance(measure.definition, AP)


def gains_definition(measure: Measure) -> ByGain:
    """The definition of a measure that reads gains.

    Raises
    ------
    MeasureError
        A measure whose score is neither a weighted sum of gains nor AP; one that leaves out unjudged documents or takes
        the number of relevant documents from elsewhere.
    """
    definition, values = measure.definition, measure.values
    if values.get("judged_only") or not isinstance(definition, Linear | AP | Mean):
        raise MeasureError(
            f"{measure}: is neither a weighted sum of gains by rank nor AP; use one such as nDCG@10, P@10, RBP or AP, "
            "and of answers Mean"
        )
    if values.get("recall_base", "own") != "own":
        raise MeasureError(f"{measure}: only recall_base='own' can be estimated from a part of the judgments")
    return definition


def rank_weights(measure: Measure, depth: int) -> Floats:
    """(ranks,) what the gain at each rank is multiplied with; of AP 1 / rank, to the cut-off."""
    gains_definition(measure)
    if is_linear(measure):
        return linear_parts(measure, GRADES, depth)[0]
    return 1 / np.arange(1.0, min(depth, measure.cutoff or depth) + 1)


@dataclass(frozen=True, eq=False)
class Lists:
    """The candidates at each rank of each list, as AP reads them.

    candidate : (systems, topics, ranks) numbers, the number of candidates beyond the end of a list. topic :
    (candidates,). labelled : (candidates,) whether any model judged each.
    """

    candidate: NDArray[np.int64]
    topic: NDArray[np.int64]
    labelled: NDArray[np.bool_]

    @classmethod
    def of(cls, weight: Floats, topic: NDArray[np.int64], n_topics: int, labelled: NDArray[np.bool_]) -> Lists:
        """weight : (systems, candidates) 1 / rank, 0 where a list does not have it. topic : (candidates,)."""
        ranks = np.where(weight > 0, np.rint(1 / np.where(weight > 0, weight, 1.0)), 0).astype(np.int64)
        lists = np.full((len(weight), n_topics, int(ranks.max(initial=1))), topic.size, np.int64)
        system, candidate = np.nonzero(ranks)
        lists[system, topic[candidate], ranks[system, candidate] - 1] = candidate
        return cls(lists, topic, labelled)

    def sums(self, gains: Floats) -> Floats:
        """(..., systems, topics) scores before the normaliser. gains : (..., candidates)."""
        by_rank = self._by_rank(gains)
        return np.asarray((self._weights * by_rank * (1 + _above(by_rank))).sum(axis=-1))

    def slopes(self, gains: Floats) -> Floats:
        """(systems, candidates) derivatives of the sums by the gain of each candidate. gains : (candidates,)."""
        by_rank = self._by_rank(gains)
        below = np.flip(_above(np.flip(self._weights * by_rank, -1)), -1)
        of_lists = self._weights * (1 + _above(by_rank)) + below
        result = np.zeros((len(of_lists), self.topic.size + 1))
        for row, candidate, values in zip(result, self.candidate, of_lists, strict=True):
            row[candidate.ravel()] = values.ravel()
        return result[:, :-1]

    @property
    def _weights(self) -> Floats:
        return 1 / np.arange(1.0, self.candidate.shape[-1] + 1)

    def _by_rank(self, gains: Floats) -> Floats:
        padded = np.concatenate([gains, np.zeros((*gains.shape[:-1], 1))], axis=-1)
        return np.asarray(padded[..., self.candidate])

    def matter_to(self, first: int, second: int) -> NDArray[np.bool_]:
        """(candidates,) whether each can change the difference of two systems.

        In topics whose lists differ all that the lists have, and those with labels too, because relevant ones that no
        list has count. It does not depend on what people judged, so that a design stays the same.
        """
        differ = (self.candidate[first] != self.candidate[second]).any(axis=-1)
        result = np.zeros(self.topic.size + 1, bool)
        for system in (first, second):
            result[self.candidate[system][differ].ravel()] = True
        return np.asarray(result[:-1] | self.labelled & differ[self.topic])


def _above(values: Floats) -> Floats:
    """(..., ranks) sums over the ranks above each."""
    return np.asarray(np.cumsum(values, axis=-1) - values)


DEEPEST = 100  # rank of a run that says something of a document
RARE = 1e-4  # added to means, so that documents that no run returns have logarithms


@dataclass(frozen=True, eq=False)
class Candidates:
    """Documents of topics, those first ranked by systems and those that anybody judged.

    topics, documents, systems : labels. topic, document : (pairs,) numbers into them, ordered by topic.
    weight : (systems, pairs) of a gain in the sum of a topic, before the normaliser. retrieved : (pairs, 3) where all
    runs return a document, as `retrieval` says.
    """

    topics: tuple[str, ...]
    documents: tuple[str, ...]
    systems: tuple[str, ...]
    topic: NDArray[np.int64]
    document: NDArray[np.int64]
    weight: Floats
    retrieved: Floats

    def __len__(self) -> int:
        return self.topic.size

    def rows_of(self, judgments: Judgments) -> NDArray[np.int64]:
        """(judgments,) the pair of each judgment, -1 where it is none of these."""
        return self.rows(judgments.topics, judgments.documents, judgments.topic, judgments.document)

    def rows(
        self,
        topics: Sequence[str],
        documents: Sequence[str],
        topic: NDArray[np.integer],
        document: NDArray[np.integer],
    ) -> NDArray[np.int64]:
        """(rows,) the pair of each row of numbers into other labels, -1 where it is none of these."""
        t = _numbers(self.topics, topics)[topic]
        d = _numbers(self.documents, documents)[document]
        keys = self.topic * len(self.documents) + self.document
        wanted = t * len(self.documents) + d
        place = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
        return np.where((t >= 0) & (d >= 0) & (keys[place] == wanted), place, -1)


def candidates_of(runs: Runs, systems: Sequence[str], judgments: Sequence[Judgments], measure: Measure) -> Candidates:
    """The documents that a linear measure reads of these systems, and all that were judged in the topics of the runs.

    Raises
    ------
    MeasureError
        A measure that reads gains in another way.
    ArgumentError
        A system that is not among the runs.
    """
    check_kind(measure, runs)
    depth = int(runs.ranked().lengths.max(initial=0))
    by_rank = rank_weights(measure, depth) if runs.criterion is None else np.ones(depth)
    place = np.full(len(runs.systems), -1)
    place[[_system(runs, name) for name in systems]] = np.arange(len(systems))
    first = _first_documents(runs, by_rank.size)
    first = first[:, place[first[0]] >= 0]
    if not first.size:
        raise NoOverlapError("the systems of the question returned no documents; check the runs")
    documents = list(dict.fromkeys(chain(runs.documents, *(each.documents for each in judgments))))
    n = len(documents)
    keys = [first[1] * n + first[3]]
    for each in judgments:
        topic = _numbers(runs.topics, each.topics)[each.topic]
        document = _numbers(documents, each.documents)[each.document]
        keys.append((topic * n + document)[topic >= 0])
    pairs = np.unique(np.concatenate(keys))
    weight = np.zeros((len(systems), pairs.size))
    of_rows = by_rank[first[2]] if runs.criterion is None else _unit_weights(runs, measure, first)
    weight[place[first[0]], np.searchsorted(pairs, keys[0])] = of_rows
    retrieval = _retrieval(runs, pairs, n)
    return Candidates(runs.topics, tuple(documents), tuple(systems), pairs // n, pairs % n, weight, retrieval)


def _unit_weights(runs: Runs, measure: Measure, units: NDArray[np.int64]) -> Floats:
    """(units,) what the gain of each is multiplied with: its share of the weights above 0 of its answer.

    Raises
    ------
    NoOverlapError
        An answer without such a unit.
    """
    weight = weights_of(measure, runs, runs.score)[units[4]]
    n_topics = len(runs.topics)
    answer = units[0] * n_topics + units[1]
    total = np.bincount(answer, np.maximum(weight, 0.0), len(runs.systems) * n_topics)
    for number in np.flatnonzero(total == 0):
        system, topic = divmod(number, n_topics)
        if system in units[0]:
            where = f"{runs.systems[system]} has no unit in topic {runs.topics[topic]}"
            raise NoOverlapError(f"{measure}: {where}; leave that topic out of the answers")
    return np.asarray(weight / total[answer])


def _first_documents(runs: Runs, depth: int) -> NDArray[np.int64]:
    """(5, rows) system, topic, rank from 0, document, and row of the runs of the first documents of each list."""
    ranked = runs.ranked()
    lengths = np.minimum(ranked.lengths, depth).ravel()
    number = np.repeat(np.arange(lengths.size), lengths)  # of the list
    rank = np.arange(number.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    row = ranked.row[ranked.starts.ravel()[number] + rank]
    place = np.divmod(number, len(runs.topics))
    return np.stack([*place, rank, runs.document[row], row]).astype(np.int64)


def _retrieval(runs: Runs, pairs: NDArray[np.int64], n_documents: int) -> Floats:
    """(pairs, 3) where the runs return each document: logarithms of the means over the runs of 1 / (60 + rank) and of
    1 / rank, and the share of the runs that return it among the first ten.

    pairs : topic x n_documents + document, ascending.
    """
    _, topic, rank, document, _ = _first_documents(runs, DEEPEST)
    place = np.minimum(np.searchsorted(pairs, topic * n_documents + document), pairs.size - 1)
    inside = pairs[place] == topic * n_documents + document
    place, rank = place[inside], rank[inside]
    sums = [np.bincount(place, values, pairs.size) for values in (1 / (61 + rank), 1 / (1 + rank), rank < 10)]
    means = np.array(sums).T / max(len(runs.systems), 1)
    return np.column_stack([np.log(means[:, :2] + RARE), means[:, 2]])


def gains_of_values(measure: Measure, values: Floats, scales: Sequence[Scale]) -> Floats:
    """(pairs, assessors) gains of values, nan where there is no value."""
    n = values.shape[0]
    pool = Pool(("",), tuple(map(str, range(n))), np.array([0, n]), np.arange(n, dtype=np.int32))
    panel = Panel(pool, tuple(map(str, range(len(scales)))), tuple(scales), np.ascontiguousarray(values))
    gains = gains_definition(measure).gains(measure, TopicView(np.zeros((1, 1), np.int32), panel.values, panel))
    return np.where(np.isnan(values), np.nan, gains)


def mean_gains(judgments: Judgments | None, candidates: Candidates, measure: Measure) -> Floats:
    """(pairs,) mean gain by the assessors who judged each, nan where nobody did."""
    if judgments is None:
        return np.full(len(candidates), np.nan)
    gains = _gains(judgments, candidates, measure)
    counts = (~np.isnan(gains)).sum(axis=1)
    return np.where(counts > 0, np.nansum(gains, axis=1) / np.maximum(counts, 1), np.nan)


def label_shares(judgments: Judgments | None, candidates: Candidates) -> Floats:
    """(pairs, assessors) values as shares of the highest on the scale of each assessor, nan where not judged.

    Where a scale has no highest value, that of the assessor's judgments counts.
    """
    if judgments is None:
        return np.zeros((len(candidates), 0))
    values = _values(judgments, candidates)
    limits = np.array([one.maximum if np.isfinite(one.maximum) else np.nan for one in judgments.scales])
    highest = np.where(np.isnan(limits), np.nanmax(values, axis=0, initial=1e-300), limits)
    return np.asarray(values / highest)


def possible_gains(measure: Measure, scale: Scale) -> Floats:
    """Gains of the grades of a scale, ascending.

    Raises
    ------
    ArgumentError
        A scale without a highest value.
    """
    if not np.isfinite(scale.maximum):
        raise ArgumentError(
            f"scale {scale}: has no highest value, so that no document could ever be certain; use grades or fractions"
        )
    grades = np.arange(int(scale.maximum) + 1.0)[:, None]
    levels = np.unique(gains_of_values(measure, grades, [scale]))
    if levels.size < 2:
        raise MeasureError(f"{measure}: gives every grade of {scale} the same gain, so that judging decides nothing")
    return levels


def ideal_scores(measure: Measure, candidates: Candidates, chance: Floats, levels: Floats) -> Floats:
    """(topics,) expected normaliser of each topic; 1 where the measure has none.

    chance : (levels - 1, pairs) probability that a document gains at least each level above the lowest.

    The expected number of documents at each level or above fills the ranks of the ideal list.
    """
    definition = measure.definition
    if not isinstance(definition, NDCG):
        return np.ones(len(candidates.topics))
    counts = np.array([np.bincount(candidates.topic, of_level, len(candidates.topics)) for of_level in chance])
    by_rank = definition.coefficients(measure, int(np.ceil(counts.max(initial=1.0))))
    ranks = np.arange(by_rank.size)
    filled = np.clip(counts[:, :, None] - ranks, 0, 1) @ by_rank
    return np.asarray(np.diff(levels) @ filled + levels[0] * by_rank.sum())


def expected_normalisers(
    measure: Measure, candidates: Candidates, expected: Floats, spread: Floats, *, gains: Floats, levels: Floats
) -> Floats:
    """(topics,) expected normaliser, between its limits; inf where no gain is possible.

    expected, spread : (pairs,) mean and standard deviation of a normal distribution of the gain of a document that is
    not judged. gains : (pairs,) nan where not judged. levels : possible gains, ascending.
    """
    from scipy.special import ndtr

    middles = (levels[1:] + levels[:-1]) / 2
    chance = ndtr((expected - middles[:, None]) / spread)
    judged = ~np.isnan(gains)
    shares = (np.nan_to_num(gains) - levels[:-1, None]) / np.diff(levels)[:, None]  # a mean of people lies between
    chance = np.where(judged, np.clip(shares, 0, 1), chance)
    ideal = ideal_scores(measure, candidates, chance, levels)
    limits = normaliser_limits(measure, candidates, gains, levels)  # shares of levels say too much of means
    return np.where(ideal > 0, np.clip(ideal, *limits), np.inf)


def normaliser_limits(measure: Measure, candidates: Candidates, gains: Floats, levels: Floats) -> list[Floats]:
    """(topics,) normaliser if every open document gained the lowest, and the highest; 1 where the measure has none."""
    return [_ideal(measure, candidates, np.where(np.isnan(gains), levels[end], gains)) for end in (0, -1)]


def _ideal(measure: Measure, candidates: Candidates, gains: Floats) -> Floats:
    definition = measure.definition
    if not isinstance(definition, NDCG):
        return np.ones(len(candidates.topics))
    order = np.lexsort((-gains, candidates.topic))
    topics = candidates.topic[order]
    rank = np.arange(topics.size) - np.searchsorted(topics, topics)
    by_rank = np.append(definition.coefficients(measure, int(rank.max(initial=0)) + 1), 0.0)
    coefficients = by_rank[np.minimum(rank, by_rank.size - 1)]
    return np.bincount(topics, coefficients * gains[order], len(candidates.topics)).astype(np.float64)


def _gains(judgments: Judgments, candidates: Candidates, measure: Measure) -> Floats:
    """(pairs, assessors) gains, of the mean of repeats, nan where not judged."""
    return gains_of_values(measure, _values(judgments, candidates), judgments.scales)


def _values(judgments: Judgments, candidates: Candidates) -> Floats:
    """(pairs, assessors) values, the mean of repeats, nan where not judged."""
    rows = candidates.rows_of(judgments)
    inside = (rows >= 0) & (judgments.value >= 0)  # below 0: not judged
    n = len(judgments.assessors)
    place = rows[inside] * n + judgments.assessor[inside]
    sums = np.bincount(place, judgments.value[inside], len(candidates) * n)
    counts = np.bincount(place, minlength=len(candidates) * n)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan).reshape(len(candidates), n)


def _system(runs: Runs, name: str) -> int:
    if name not in runs.systems:
        raise ArgumentError(f"question: there is no system {name!r}; the runs have {', '.join(runs.systems[:5])} ...")
    return runs.systems.index(name)


def _numbers(labels: Sequence[str], others: Sequence[str]) -> NDArray[np.int64]:
    number = {label: i for i, label in enumerate(labels)}
    return np.array([number.get(label, -1) for label in others], np.int64)
