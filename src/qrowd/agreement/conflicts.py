"""Where two scales contradict each other: documents that one of them puts among those of quite another level.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), section 6.2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from qrowd.agreement.reference import Reference, hold, pair_numbers
from qrowd.errors import ArgumentError, ScaleError
from qrowd.model.frames import make_frame
from qrowd.model.judgments import Judgments, Repeats
from qrowd.model.one_scale import CombineScales, on_one_scale

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Merge = Literal["median", "geometric_mean", "mean"]


@dataclass(frozen=True, eq=False)
class Conflicts:
    """Documents whose merged value lies nearer to a level that is not next to their own; worst first.

    topic, document : (conflicts,) labels. level : what the reference says; nearest : the level nearest by value.
    value : the merged value; n : judgments behind it.
    own_centre, nearest_centre : median of the merged values of the topic's documents of either level (of the own level,
        without the document itself).
    excess : how much farther the own centre is than the nearest, in logarithms for magnitudes.
    n_documents : on both scales; n_alone : of these, alone at their level in their topic, so never in conflict.
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
    merge: Merge
    apart: int

    def __len__(self) -> int:
        return int(self.level.size)

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per document in conflict."""
        names = ("topic", "document", "level", "nearest", "value", "n", "own_centre", "nearest_centre", "excess")
        return make_frame({name: getattr(self, name) for name in names}, backend)

    def details(self, backend: str = "pandas") -> Any:
        """One row per judgment of a document in conflict: who said what, with all that was recorded (comments too)."""
        said = self.judgments
        place = {pair: i for i, pair in enumerate(zip(self.topic, self.document, strict=True))}
        names = zip((said.topics[t] for t in said.topic), (said.documents[d] for d in said.document), strict=True)
        which = np.array([place.get(pair, -1) for pair in names], np.int64)
        rows = np.flatnonzero(which >= 0)
        rows = rows[np.argsort(which[rows], kind="stable")]
        at = which[rows]
        recorded = {name: column[rows] for name in said.OPTIONAL if (column := getattr(said, name)) is not None}
        return make_frame(
            {
                "topic": self.topic[at],
                "document": self.document[at],
                "level": self.level[at],
                "nearest": self.nearest[at],
                "merged": self.value[at],
                "assessor": np.array(said.assessors, object)[said.assessor[rows]],
                "value": said.value[rows],
                **recorded,
            },
            backend,
        )


def scale_conflicts(
    judgments: Judgments,
    reference: Reference,
    *,
    merge: Merge = "median",
    apart: int = 2,
    repeats: Repeats = "first",
    combine_scales: CombineScales = "auto",
) -> Conflicts:
    """Documents whose merged value is nearest to a level at least `apart` levels from the one the reference gives them.

    reference : the other scale: the name of an assessor, the judgments of one, or {(topic, document): level}.
    merge : what becomes of a document's several values.
    apart : 2 for levels that are not next to each other; 1 for any other level, as a yes/no reference needs.
    combine_scales : what becomes of unlike scales of those who are merged; "auto" divides by each scale's maximum.

    Levels have centres topic by topic. Magnitudes are compared as logarithms.

    Raises
    ------
    NoOverlapError
        The reference graded nothing that the others judged.
    ScaleError
        Logarithms of 0.
    """
    if merge not in get_args(Merge):
        raise ArgumentError(f"merge={merge!r}: choose one of {', '.join(get_args(Merge))}")
    if apart < 1:
        raise ArgumentError(f"apart={apart}: at least 1 level was expected")
    held = hold(judgments, reference, "reference", repeats)
    merged_ones = on_one_scale(held.judgments, combine_scales, "unit")
    logs = merge == "geometric_mean" or merged_ones.shared_scale().kind == "magnitude"
    one = merged_ones.single(repeats)
    pairs = pair_numbers(one)
    graded = held.grades_of(one.topics, one.documents)
    rows = np.flatnonzero((one.value >= 0) & ~np.isnan(graded(pairs)))
    rows = rows[np.argsort(pairs[rows], kind="stable")]
    pair, starts = np.unique(pairs[rows], return_index=True)
    value = one.value[rows]
    if logs and (value == 0).any():
        raise ScaleError("there are values of 0, which have no logarithm; choose merge='median' or recode 0")
    parts = np.split(value, starts[1:])
    whole = np.array([_MERGED[merge](part) for part in parts])
    merged = np.log(whole) if logs else whole
    topic, document = np.divmod(pair, len(one.documents))
    levels, level = np.unique(graded(pair), return_inverse=True)
    centre = np.full((pair.size, levels.size), np.nan)
    for t in np.unique(topic):
        here = np.flatnonzero(topic == t)
        for k in range(levels.size):
            members = here[level[here] == k]
            if members.size:
                centre[here, k] = np.median(merged[members])
                centre[members, k] = _median_of_others(merged[members])
    away = np.abs(merged[:, None] - centre)
    own = away[np.arange(pair.size), level]
    alone = np.isnan(own)
    nearest = np.argmin(np.where(np.isnan(away), np.inf, away), axis=1)
    excess = own - away[np.arange(pair.size), nearest]
    found = np.flatnonzero(~alone & (np.abs(nearest - level) >= apart))
    found = found[np.argsort(-excess[found], kind="stable")]
    back = np.exp if logs else np.asarray
    return Conflicts(
        held.judgments,
        np.array(one.topics, object)[topic[found]],
        np.array(one.documents, object)[document[found]],
        levels[level[found]],
        levels[nearest[found]],
        whole[found],
        np.diff(np.append(starts, rows.size))[found],
        back(centre[found, level[found]]),
        back(centre[found, nearest[found]]),
        excess[found],
        n_documents=pair.size,
        n_alone=int(alone.sum()),
        merge=merge,
        apart=apart,
    )


_MERGED: dict[Merge, Callable[[Floats], np.float64]] = {
    "median": np.median,
    "geometric_mean": lambda values: np.exp(np.log(values).mean()),
    "mean": np.mean,
}


def _median_of_others(x: Floats) -> Floats:
    """(x,) the median of the others; nan for one alone."""
    if x.size == 1:
        return np.array([np.nan])
    order = np.argsort(x, kind="stable")
    place = np.empty(x.size, np.int64)
    place[order] = np.arange(x.size)
    ordered = x[order]
    # The two middle places among the others, moved up by one where the one left out stands before them.
    low, high = (x.size - 2) // 2, (x.size - 1) // 2
    return np.asarray((ordered[low + (place <= low)] + ordered[high + (place <= high)]) / 2)
