"""Labels drawn again and again: one judgment per document, or one assessor per topic.

What is drawn belongs to the labels of topic, document and assessor and to the number of the sample: the order in which
judgments were told, how many samples there are, and how many are scored at once do not matter to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, ScaleError
from qrowd.evaluation import evaluate, evaluate_blocks
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Chance, Rng
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments, Repeats
from qrowd.model.panel import Panel, Pool
from qrowd.model.runs import Runs
from qrowd.model.scales import Scale
from qrowd.model.scores import Scores

Draw = Literal["document", "topic"]

STRAND = 64  # samples that share a stream of chance, topic by topic


class JudgmentSamples:
    """n virtual assessors who take over, document by document, one random judgment; a `Blocks` (qrowd.model.panel).

    Each document of each topic draws for itself, all its judgments being equally likely. Iterating yields panels of up
    to `block` assessors over the pool of the judgments, again and again the same, and keeps none.

    Parameters
    ----------
    repeats : which of an assessor's repeated judgments can be drawn: "first", "last", their "mean", or "error".
    block : assessors per panel; a multiple of 64 wastes nothing.

    Raises
    ------
    ScaleError
        Assessors on scales that cannot be one.
    ArgumentError
        No judgment at all.
    """

    def __init__(self, judgments: Judgments, n: int, *, repeats: Repeats = "first", block: int = 512, rng: Rng) -> None:
        self.assessors = tuple(f"sample {i}" for i in range(1, whole("n_resamples", n) + 1))
        self.block = whole("block", block)
        one = _judged(judgments).single(repeats=repeats)
        self.scale = _one_scale(one)
        self._chance = Chance.of(rng)
        self.pool, pair = pool_of(one)
        judged = np.flatnonzero(one.value >= 0)
        rows = judged[np.lexsort((_places(one.assessors)[one.assessor[judged]], pair[judged]))]
        self._value = one.value[rows]
        self._count = np.bincount(pair[rows], minlength=self.pool.document.size)
        self._start = np.cumsum(self._count) - self._count
        place = _places(self.pool.documents)[self.pool.document]
        # By topic, the place of each pooled document among the topic's, in the order of labels.
        self._lot = [np.argsort(np.argsort(place[self.pool.rows(t)])) for t in range(len(self.pool.topics))]

    def __len__(self) -> int:
        """How many samples."""
        return len(self.assessors)

    def __iter__(self) -> Iterator[Panel]:
        for begin in range(0, len(self), self.block):
            end = min(begin + self.block, len(self))
            yield Panel(self.pool, self.assessors[begin:end], (self.scale,) * (end - begin), self._values(begin, end))

    def _values(self, begin: int, end: int) -> Floats:
        """(pairs, samples) the judgments drawn; nan where there is none."""
        values = np.empty((self.pool.document.size, end - begin))
        for strand in range(begin // STRAND, -(-end // STRAND)):
            low, high = max(begin, strand * STRAND), min(end, (strand + 1) * STRAND)
            for t, topic in enumerate(self.pool.topics):
                here = self.pool.rows(t)
                lots = self._chance.stream(f"judgment {topic}", strand).random((self._lot[t].size, STRAND))
                mine = lots[self._lot[t], low % STRAND : low % STRAND + high - low]
                nth = (mine * self._count[here, None]).astype(np.int64)
                sample = self._value[np.minimum(self._start[here, None] + nth, self._value.size - 1)]
                values[here, low - begin : high - begin] = sample
        values[self._count == 0] = np.nan
        return values


def sampled_scores(
    runs: Runs,
    labels: Judgments,
    measures: object | Sequence[object],
    n: int,
    draw: Draw,
    conventions: Conventions,
    rng: Rng,
    *,
    block: int,
    threads: int | None,
) -> Iterator[Scores]:
    """The scores of n samples of the labels, a block of at most `block` of them after the other."""
    whole("n_resamples", n)
    whole("block", block)
    if draw not in get_args(Draw):
        raise ArgumentError(f"draw={draw!r}: choose one of {', '.join(get_args(Draw))}")
    adjusted = conventions.graded(_judged(labels))
    conventions = replace(conventions, grades="as-is")
    if draw == "topic":
        crowd = evaluate(runs, adjusted, measures, conventions=conventions, threads=threads)
        return _by_topic(crowd, n, block, conventions.min_coverage, Chance.of(rng))
    samples = JudgmentSamples(adjusted, n, repeats=conventions.repeats, block=block, rng=rng)
    return evaluate_blocks(runs, samples, measures, conventions=conventions, threads=threads)


def whole(name: str, value: Any) -> int:
    """`value`, if it is a number of things, 1 or more."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ArgumentError(f"{name}={value!r}: a whole number from 1 on was expected")
    return int(value)


def _by_topic(crowd: Scores, n: int, block: int, min_coverage: float, chance: Chance) -> Iterator[Scores]:
    """Each topic's scores are those of one assessor at random, of all who judged enough of it to have a score."""
    places = np.argsort(_places(crowd.assessors))
    who = np.full((n, len(crowd.topics)), -1)
    for t, topic in enumerate(crowd.topics):
        able = places[((crowd.coverage[:, t] > 0) & (crowd.coverage[:, t] >= min_coverage))[places]]
        if able.size:
            who[:, t] = able[(chance.stream(f"assessor {topic}").random(n) * able.size).astype(np.int64)]
    topics = np.arange(len(crowd.topics))
    for begin in range(0, n, block):
        sampled = who[begin : begin + block]
        values = crowd.values[:, sampled, topics]  # (measures, samples, topics, systems)
        values[:, sampled < 0] = np.nan
        names = tuple(f"sample {i}" for i in range(begin + 1, begin + len(sampled) + 1))
        yield replace(
            crowd,
            assessors=names,
            values=values,
            relevant=crowd.relevant[:, sampled, topics],
            coverage=crowd.coverage[sampled, topics],
        )


def _judged(judgments: Judgments) -> Judgments:
    if not (judgments.value >= 0).any():
        raise ArgumentError("labels: no document was judged; give judgments with values of 0 or more")
    return judgments


def _one_scale(judgments: Judgments) -> Scale:
    """The scale of judgments that are mixed: everyone's, and relevant from where on everyone says."""
    shared, finer = judgments.shared_scale(), [scale for scale in judgments.scales if scale.kind != "binary"]
    if all(scale.rel == Scale(scale.kind, scale.maximum).rel for scale in finer):
        return shared
    lowest = {scale.rel for scale in finer}
    if len(lowest) > 1:
        raise ScaleError(
            "labels: assessors call documents relevant from different values on, so their judgments cannot be mixed; "
            "draw='topic' leaves everyone on their own scale, and recode makes one"
        )
    return replace(shared, rel=lowest.pop())


def pool_of(judgments: Judgments) -> tuple[Pool, NDArray[np.int64]]:
    """The pooled documents, and (judgments,) the place of each judgment's among them."""
    width = len(judgments.documents)
    pairs, row = np.unique(judgments.topic.astype(np.int64) * width + judgments.document, return_inverse=True)
    starts = np.searchsorted(pairs, np.arange(len(judgments.topics) + 1, dtype=np.int64) * width)
    pool = Pool(judgments.topics, judgments.documents, starts.astype(np.int64), (pairs % width).astype(np.int32))
    return pool, row.astype(np.int64)


def _places(labels: Sequence[str]) -> NDArray[np.int64]:
    """(labels,) the place of each in alphabetical order."""
    places = np.empty(len(labels), np.int64)
    places[sorted(range(len(labels)), key=labels.__getitem__)] = np.arange(len(labels))
    return places
