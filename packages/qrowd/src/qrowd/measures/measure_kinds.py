"""How measures are scored: one topic after the other, or from the gains of documents, for many topics at once.

A `ByGain` measure reads nothing of a document but its gain, which its value and the assessor's scale decide. Of these a
`Linear` measure is a weighted sum of gains, weights by rank, over a normaliser per assessor; that is enough to give it
expected scores under ties and to take it apart by document. Any other `Scored` measure reads the `TopicView`.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from qrowd.errors import MeasureError
from qrowd.kernels import gains as kernels
from qrowd.kernels.arrays import Floats
from qrowd.measures.topic_views import Gains, Part
from qrowd.measures.topic_views import TopicView as TopicView
from qrowd.model.alignment import PooledLists
from qrowd.model.measure import Definition, Measure, Parameter, Value, any_of, number, one_of
from qrowd.model.panel import Panel, Pool
from qrowd.model.scales import Scale

WITHOUT_LIMIT = np.iinfo(np.int64).max


class Scored(Definition):
    """A measure that can be scored."""

    @abstractmethod
    def score(self, measure: Measure, view: TopicView, out: Floats) -> None:
        """Write the (systems, assessors) scores of one topic into out."""

    def n_relevant(self, measure: Measure, view: TopicView) -> Floats:
        """(assessors,) how many documents the measure could have rewarded; where 0, the score says nothing."""
        return view.n_relevant(measure)


class ByGain(Scored):
    """A measure that reads the gains of documents, and of several topics at once."""

    @abstractmethod
    def gains(self, measure: Measure, view: TopicView) -> Floats:
        """(documents, assessors) gains, 0 where not judged."""

    @abstractmethod
    def score_part(self, measure: Measure, part: Part, out: Floats, begin: int) -> None:
        """Write the scores of each list into out (lists, assessors), from column `begin` on."""

    def rewarded(self, measure: Measure, part: Part) -> Floats:
        """(topics, assessors) how many documents the measure could have rewarded; where 0, the score says nothing."""
        return self.gains_of(measure, part).n_positive

    def several_topics(self, measure: Measure) -> bool:
        """Whether the gain of a document depends on its value and the scale alone, not on others of the topic."""
        return not measure.values.get("judged_only") and measure.values.get("max_rel") != "topic"

    def gains_of(self, measure: Measure, part: Part) -> Gains:
        """`gains` of the documents of a part."""
        return part.gains(lambda view: view.remember(measure, lambda: self.gains(measure, view)))

    def score(self, measure: Measure, view: TopicView, out: Floats) -> None:
        self.score_part(measure, view.part, out, 0)

    def n_relevant(self, measure: Measure, view: TopicView) -> Floats:
        return np.asarray(self.rewarded(measure, view.part)[0])


class Linear(ByGain):
    """score = sum over ranks of coefficients[rank] * gains[document at rank] / normaliser."""

    linear = True

    @abstractmethod
    def coefficients(self, measure: Measure, depth: int) -> Floats:
        """(depth or fewer,) weight of each rank; ranks beyond weigh nothing."""

    def normaliser(self, measure: Measure, part: Part) -> Floats | None:
        """(topics, assessors) what the sum is divided by, or None; where it is 0 the score is 0."""
        return None

    def score_part(self, measure: Measure, part: Part, out: Floats, begin: int) -> None:
        lists = part.lists
        gains = self.gains_of(measure, part)
        weights = lists.remember((measure, gains.unit), lambda: gains.unit * self._weights(measure, lists))
        ends = lists.ends(None if lists.last is not None else measure.cutoff)
        kernels.weighted_sums(lists.starts, ends, lists.row, weights, gains.in_units, begin, out)
        normaliser = self.normaliser(measure, part)
        if normaliser is not None:
            kernels.divide(out, begin, np.ascontiguousarray(normaliser, np.float64))

    def _weights(self, measure: Measure, lists: PooledLists) -> Floats:
        """(entries,) the coefficient of each rank; under ties, the mean of the ranks that share the score."""
        first = lists.rank if lists.first is None else lists.first
        last = lists.rank if lists.last is None else lists.last
        depth = int(last.max(initial=0)) + 1
        coefficients = np.zeros(depth)
        given = self.coefficients(measure, depth)
        coefficients[: given.size] = given
        if lists.first is None:
            return coefficients[lists.rank]
        cumulated = np.append(0.0, np.cumsum(coefficients))
        means = (cumulated[last + 1] - cumulated[first]) / (last + 1 - first)
        return np.where(first == last, coefficients[first], means)


def divided(out: Floats, by: Floats) -> None:
    """out /= by, with 0 where by is 0."""
    np.divide(out, np.where(by > 0, by, np.inf), out=out)


def reach(measure: Measure) -> int:
    """The last rank looked at, as kernels take it."""
    return measure.cutoff or WITHOUT_LIMIT


def recall_base(measure: Measure, part: Part) -> Floats:
    """(topics, assessors) how many relevant documents there are: the assessor's own, anyone's, or a given number."""
    base: Value = measure["recall_base"]
    own = part.gains(lambda view: view.relevant(measure)).totals
    if base == "own":
        return own
    if base == "union":
        everyone = part.everyone or part
        matrix = everyone.gains(lambda view: view.relevant(measure)).matrix
        anyone = np.asarray(matrix.max(axis=1, initial=0.0, keepdims=True), np.float64)
        return np.repeat(kernels.topic_sums(part.lists.documents, anyone), own.shape[1], 1)
    return np.full(own.shape, float(base))  # type: ignore[arg-type]


def linear_parts(measure: Measure, scale: Scale, depth: int) -> tuple[Floats, Floats]:
    """(ranks,) coefficients and (grades,) gains of grades 0, 1, 2 ... of a scale with levels.

    The score is the sum of coefficient x gain over ranks, up to a divisor that all systems of a topic share.

    depth : of the longest ranking.

    Raises
    ------
    MeasureError
        A measure that is not linear in gains, that leaves out unjudged documents, or to which every grade is the same.
    """
    definition = measure.definition
    if not isinstance(definition, Linear) or measure.values.get("judged_only"):
        raise MeasureError(f"{measure}: is not a weighted sum of gains by rank; use one such as DCG@10, P@10 or RBP")
    n = int(scale.maximum) + 1
    pool = Pool(("",), tuple(map(str, range(n))), np.array([0, n]), np.arange(n, dtype=np.int32))
    panel = Panel(pool, ("",), (scale,), np.arange(n, dtype=np.float64)[:, None])
    gains = definition.gains(measure, TopicView(np.zeros((1, 1), np.int32), panel.values, panel))[:, 0]
    if gains.min() == gains.max():
        raise MeasureError(f"{measure}: gives every grade of {scale} the same gain, so that judging decides nothing")
    return definition.coefficients(measure, depth), np.asarray(gains, np.float64)


REL = Parameter(
    "rel",
    None,
    "lowest relevant value, in the assessor's units; default: the scale's own (grade 1, half of a fraction's maximum)",
    number(0, open_ends=True),
)
RECALL_BASE = Parameter(
    "recall_base",
    "own",
    "how many relevant documents there are: each assessor's 'own', the 'union' over assessors, or a number",
    any_of(one_of("own", "union"), number(1)),
)
RELEVANCE = Parameter(
    "relevance",
    "threshold",
    "'threshold': 1 from rel on, else 0; 'given': values are probabilities of relevance, and they are counted",
    one_of("threshold", "given"),
)
JUDGED_ONLY = Parameter(
    "judged_only", False, "leave documents the assessor has not judged out of the ranking", one_of(False, True)
)
MAX_REL = Parameter(
    "max_rel",
    None,
    "highest grade possible; default: the maximum of the assessor's scale; 'topic': of magnitudes, which have no "
    "maximum, the assessor's highest in the topic",
    any_of(one_of("topic"), number(0, open_ends=True)),
)
