"""Documents whose merged value contradicts the level that another scale gives them.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), section 6.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Floats, Ints
from qrowd.model.gold import Gold, against
from qrowd.model.judgments import Judgments
from qrowd.model.one_scale import on_one_scale
from qrowd.model.result import Result


@dataclass(frozen=True, eq=False)
class Conflicts(Result):
    """Documents whose merged value is nearest to a level other than their own; largest excess first.

    topic, document : (conflicts,) labels. level : of the reference. nearest : the level whose centre is nearest.
    value : the merged value. n : number of merged judgments.
    excess : distance from the median of the topic's other documents of the level, minus distance from the median of
        those of the nearest level; of logarithms for magnitudes.
    n_documents : on both scales. A document that is alone at its level in its topic is never in conflict.
    """

    topic: NDArray[np.object_]
    document: NDArray[np.object_]
    level: Floats
    nearest: Floats
    value: Floats
    n: Ints
    excess: Floats
    n_documents: int

    _COLUMNS = ("topic", "document", "level", "nearest", "value", "n", "excess")

    def __len__(self) -> int:
        return int(self.level.size)


def scale_conflicts(judgments: Judgments, reference: Gold) -> Conflicts:
    """Documents whose merged value is nearest to a level that is not adjacent to the reference's.

    The centre of a level is computed topic by topic. Magnitudes are compared as logarithms.

    reference : the other scale: the name of an assessor, the judgments of one, or {(topic, document): level}.

    Raises
    ------
    NoOverlapError
        The reference graded no document that the others judged.
    """
    with_reference = against(judgments, reference, noun="reference", repeats="first")
    combined = on_one_scale(with_reference.judgments, "auto", "rescaled")
    logs = combined.shared_scale().kind == "magnitude"
    one = combined.single(repeats="first")
    pairs = one.pair_numbers
    graded = with_reference.grades_of(one.topics, one.documents)
    rows = np.flatnonzero((one.value >= 0) & ~np.isnan(graded(pairs)))
    rows = rows[np.argsort(pairs[rows], kind="stable")]
    pair, starts = np.unique(pairs[rows], return_index=True)
    value = one.value[rows]
    whole = np.array([np.median(part) for part in np.split(value, starts[1:])])
    values_or_logs = np.log(whole) if logs else whole
    topic, document = np.divmod(pair, len(one.documents))
    levels, level = np.unique(graded(pair), return_inverse=True)
    centre = np.full((pair.size, levels.size), np.nan)
    for t in np.unique(topic):
        here = np.flatnonzero(topic == t)
        for k in range(levels.size):
            members = here[level[here] == k]
            if members.size:
                centre[here, k] = np.median(values_or_logs[members])
                others = values_or_logs[members]
                centre[members, k] = [_median(np.delete(others, i)) for i in range(others.size)]
    distance = np.abs(values_or_logs[:, None] - centre)
    own = distance[np.arange(pair.size), level]
    nearest = np.argmin(np.where(np.isnan(distance), np.inf, distance), axis=1)
    excess = own - distance[np.arange(pair.size), nearest]
    conflicts = np.flatnonzero(~np.isnan(own) & (np.abs(nearest - level) >= 2))
    conflicts = conflicts[np.argsort(-excess[conflicts], kind="stable")]
    return Conflicts(
        np.array(one.topics, object)[topic[conflicts]],
        np.array(one.documents, object)[document[conflicts]],
        levels[level[conflicts]],
        levels[nearest[conflicts]],
        whole[conflicts],
        np.diff(np.append(starts, rows.size))[conflicts],
        excess[conflicts],
        n_documents=pair.size,
    )


def _median(values: Floats) -> float:
    return float(np.median(values)) if values.size else np.nan
