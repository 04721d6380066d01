"""The top set: the best system, and the systems that its topics do not tell from it.

Wilcoxon (1945), Individual Comparisons by Ranking Methods. Biometrics Bulletin 1(6), 80-83; Pratt (1959), Remarks on
Zeros and Ties in the Wilcoxon Signed Rank Procedures. JASA 54(287), 655-667.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.corrections import holm
from qrowd.comparison.system_ranking import Correction, settled
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.model.frames import make_frame
from qrowd.model.scores import Floats, known_mean, one_table

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores

Zeros = Literal["wilcox", "pratt", "zsplit"]

EXACT = 50  # topics up to which the distribution of the signed ranks is counted out where none are equal
EXACT_TIED = 13  # and where some are: all 2^13 signs


@dataclass(frozen=True, eq=False)
class TopSet:
    """The best system and those not distinguishable from it; every array is (systems,).

    best : the system with the highest mean; of several that are equal but for rounding, the first.
    mean : over the topics where the system has a score.
    p : paired Wilcoxon signed-rank test of each system against the best, two-sided, corrected as `correction` says; nan
        for the best itself and for a system that shares no topic with it.
    member : the best, and all whose p is 1 - confidence or more.
    n_topics : topics where both the system and the best have a score.
    """

    systems: tuple[str, ...]
    best: str
    mean: Floats
    p: Floats
    member: NDArray[np.bool_]
    n_topics: NDArray[np.int64]
    confidence: float
    zeros: Zeros
    correction: Correction

    @property
    def members(self) -> tuple[str, ...]:
        """Their names, best mean first."""
        order = np.argsort(-self.mean, kind="stable")
        return tuple(self.systems[s] for s in order if self.member[s])

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per system, as given."""
        return make_frame(
            {
                "system": np.array(self.systems, object),
                "mean": self.mean,
                "p": self.p,
                "member": self.member,
                "n_topics": self.n_topics,
            },
            backend,
        )


@dataclass(frozen=True)
class TopSetOverlap:
    """How far two top sets are the same.

    jaccard : systems in both / systems in either; 1 for equal sets.
    same_best : whether both have the same best system.
    """

    both: tuple[str, ...]
    either: tuple[str, ...]
    jaccard: float
    same_best: bool


def top_set(
    scores: AnyScores,
    *,
    confidence: float = 0.95,
    zeros: Zeros = "wilcox",
    correction: Correction = "none",
) -> TopSet:
    """The systems that cannot be told from the best one, topic by topic.

    scores : (topic, system) of one measure, for one assessor or a panel's mean.
    zeros : what topics without a difference do: "wilcox" leaves them out, "pratt" ranks them and then leaves them out,
        "zsplit" gives half their ranks to either side.
    correction : "holm" corrects p for the number of systems, which makes the set larger; "none" does not.

    Differences equal but for rounding (1e-12 of the largest score) count as equal, so that 0.1 + 0.2 - 0.3 is a zero. p
    is scipy.stats.wilcoxon's: exact up to 50 topics where no difference is 0 and no two are equally large, up to 13
    where some are, else from the normal approximation without correction for continuity. Where all differences are 0, p
    is 1. Not being told apart is not being equal: with few topics the set is large.

    Raises
    ------
    ArgumentError
        An unknown option; a confidence outside 0 to 1; no system.
    NoOverlapError
        No system has a score.

    >>> scores = np.linspace(0.1, 0.9, 12)[:, None] + np.array([0.0, 0.1, -0.2]) * np.array([[1.0], [0.2], [1.0]] * 4)
    >>> top_set(scores).members
    ('1',)
    """
    if zeros not in get_args(Zeros):
        raise ArgumentError(f"zeros={zeros!r}: choose from {', '.join(get_args(Zeros))}")
    if correction not in get_args(Correction):
        raise ArgumentError(f"correction={correction!r}: choose from {', '.join(get_args(Correction))}")
    if not 0 < confidence < 1:
        raise ArgumentError(f"confidence={confidence!r}: a level between 0 and 1 was expected")
    values, (_, systems) = one_table(scores)
    mean = known_mean(values, axis=0)
    if np.isnan(mean).all():
        raise NoOverlapError("scores: no system has a score on any topic, so none is the best")
    best = int(np.nanargmax(settled(mean)))
    differences = values - values[:, [best]]
    p = signed_rank_p(differences, zeros, float(np.nanmax(np.abs(values))))
    p[best] = np.nan
    if correction == "holm":
        p = holm(p)
    member = p >= 1 - confidence
    member[best] = True
    n_topics = (~np.isnan(differences)).sum(axis=0)
    return TopSet(systems, systems[best], mean, p, member, n_topics, confidence, zeros, correction)


def top_set_overlap(first: TopSet, second: TopSet) -> TopSetOverlap:
    """How far two top sets hold the same systems, by name."""
    either = tuple(dict.fromkeys((*first.members, *second.members)))
    both = tuple(name for name in first.members if name in second.members)
    return TopSetOverlap(both, either, len(both) / len(either), first.best == second.best)


def signed_rank_p(differences: Floats, zeros: Zeros = "wilcox", scale: float = 0.0) -> Floats:
    """(columns,) two-sided p of Wilcoxon's signed-rank test of each column; nan without any known difference.

    differences : (topics, columns). Those below 1e-12 of `scale`, and of each other, are equal.
    """
    from scipy.stats import wilcoxon

    grain = 1e-12 * max(scale, float(np.nanmax(np.abs(differences), initial=0.0)))
    rounded = np.round(differences / grain) if grain else differences
    known = ~np.isnan(rounded)
    n = known.sum(axis=0)
    size = np.sort(np.abs(rounded), axis=0)
    tied = (np.diff(size, axis=0) == 0).any(axis=0) | (size == 0).any(axis=0)
    varied = (np.where(known, rounded, 0.0) != 0).any(axis=0)
    p = np.where((n > 0) & ~varied, 1.0, np.nan)
    # Columns go together where they have as many known topics and the same method; which topics makes no difference.
    for many in np.unique(n[varied]):
        for ties in (False, True):
            columns = np.flatnonzero(varied & (n == many) & (tied == ties))
            if columns.size:
                closed = rounded.T[columns][known.T[columns]].reshape(columns.size, many)
                if ties and many <= EXACT_TIED:
                    p[columns] = _of_all_signs(closed, zeros)
                else:
                    method = "exact" if many <= EXACT and not ties else "approx"
                    p[columns] = wilcoxon(closed, axis=1, zero_method=zeros, method=method).pvalue
    return p


def _of_all_signs(differences: Floats, zeros: Zeros) -> Floats:
    """(rows,) exact p of (rows, topics) differences: every sign of every rank is as likely as the other.

    What scipy.stats.wilcoxon gets from PermutationMethod, all rows and signs at once instead of one after the other.
    """
    from scipy.stats import rankdata

    zero = differences == 0
    ranks = rankdata(np.abs(differences), axis=1)
    if zeros == "wilcox":
        ranks -= zero.sum(axis=1, keepdims=True)
    ranks[zero] = 0.0  # or half of theirs on either side, whatever the signs of the others
    n = differences.shape[1]
    signs = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    sums, seen = signs @ ranks.T, np.where(differences > 0, ranks, 0.0).sum(axis=1)
    # Sums are halves of whole numbers.
    low, high = (sums <= seen + 0.25).mean(axis=0), (sums >= seen - 0.25).mean(axis=0)
    return np.asarray(np.minimum(2 * np.minimum(low, high), 1.0))
