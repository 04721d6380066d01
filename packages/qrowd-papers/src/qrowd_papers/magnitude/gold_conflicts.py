"""Documents whose merged value contradicts the level that another scale gives them.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), section 6.2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats, Ints
from qrowd.model.gold import Gold, against
from qrowd.model.judgments import Judgments
from qrowd.model.one_scale import on_one_scale
from qrowd.model.result import Result


@dataclass(frozen=True, eq=False)
class Conflicts(Result):
    """Documents whose merged value is nearest to a level other than their own; largest excess first.

    judgments : those that were merged.
    topic, document : (conflicts,) labels. level : of the reference. nearest : the level whose centre is nearest.
    value : the merged value. n : number of merged judgments.
    own_centre, nearest_centre : median of the merged values of the topic's documents of each of the two levels (of the
        own level, without the document itself).
    excess : distance from the own centre minus distance from the nearest one; of logarithms for magnitudes.
    n_documents : on both scales. n_alone : of these, the only one of their level in their topic, so never in conflict.
    """

    judgments: Judgments
    topic: NDArray[np.object_]
    document: NDArray[np.object_]
    level: Floats
    nearest: Floats
    value: Floats
    n: Ints
    own_centre: Floats
    nearest_centre: Floats
    excess: Floats
    n_documents: int
    n_alone: int

    def __len__(self) -> int:
        return int(self.level.size)

    def _tables(self) -> dict[str, Callable[[], dict[str, Any]]]:
        return {"documents": self._documents, "judgments": self._judgments}

    def _documents(self) -> dict[str, Any]:
        names = ("topic", "document", "level", "nearest", "value", "n", "own_centre", "nearest_centre", "excess")
        return {name: getattr(self, name) for name in names}

    def _judgments(self) -> dict[str, Any]:
        judgments = self.judgments
        place = {pair: i for i, pair in enumerate(zip(self.topic, self.document, strict=True))}
        topics = (judgments.topics[t] for t in judgments.topic)
        documents = (judgments.documents[d] for d in judgments.document)
        which = np.array([place.get(pair, -1) for pair in zip(topics, documents, strict=True)], np.int64)
        rows = np.flatnonzero(which >= 0)
        rows = rows[np.argsort(which[rows], kind="stable")]
        at = which[rows]
        optional = {name: getattr(judgments, name) for name in judgments.OPTIONAL}
        return {
            "topic": self.topic[at],
            "document": self.document[at],
            "level": self.level[at],
            "nearest": self.nearest[at],
            "merged": self.value[at],
            "assessor": np.array(judgments.assessors, object)[judgments.assessor[rows]],
            "value": judgments.value[rows],
            **{name: column[rows] for name, column in optional.items() if column is not None},
        }


def scale_conflicts(
    judgments: Judgments,
    reference: Gold,
    *,
    min_distance: int = 2,
) -> Conflicts:
    """Documents whose merged value is nearest to a level at least `min_distance` levels from the reference's.

    The centre of a level is computed topic by topic. Magnitudes are compared as logarithms.

    Parameters
    ----------
    reference : the other scale: the name of an assessor, the judgments of one, or {(topic, document): level}.
    min_distance : 2 for levels that are not adjacent; 1 for any other level, as a yes/no reference needs.

    Raises
    ------
    NoOverlapError
        The reference graded no document that the others judged.
    """
    if min_distance < 1:
        raise ArgumentError("expected 1 level or more", "min_distance", min_distance)
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
                centre[members, k] = _median_of_others(values_or_logs[members])
    distance = np.abs(values_or_logs[:, None] - centre)
    own = distance[np.arange(pair.size), level]
    alone = np.isnan(own)
    nearest = np.argmin(np.where(np.isnan(distance), np.inf, distance), axis=1)
    excess = own - distance[np.arange(pair.size), nearest]
    conflicts = np.flatnonzero(~alone & (np.abs(nearest - level) >= min_distance))
    conflicts = conflicts[np.argsort(-excess[conflicts], kind="stable")]
    back = np.exp if logs else np.asarray
    return Conflicts(
        with_reference.judgments,
        np.array(one.topics, object)[topic[conflicts]],
        np.array(one.documents, object)[document[conflicts]],
        levels[level[conflicts]],
        levels[nearest[conflicts]],
        whole[conflicts],
        np.diff(np.append(starts, rows.size))[conflicts],
        back(centre[conflicts, level[conflicts]]),
        back(centre[conflicts, nearest[conflicts]]),
        excess[conflicts],
        n_documents=pair.size,
        n_alone=int(alone.sum()),
    )


def _median_of_others(x: Floats) -> Floats:
    """(x,) the median of the other values; nan if there is only one."""
    if x.size == 1:
        return np.array([np.nan])
    order = np.argsort(x, kind="stable")
    place = np.empty(x.size, np.int64)
    place[order] = np.arange(x.size)
    ordered = x[order]
    # The two middle places of the other values, moved up by one if the value left out comes before them.
    low, high = (x.size - 2) // 2, (x.size - 1) // 2
    return np.asarray((ordered[low + (place <= low)] + ordered[high + (place <= high)]) / 2)
