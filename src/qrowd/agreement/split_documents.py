"""The documents on which assessors are split most, and everyone's grades of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import NoOverlapError, ScaleError
from qrowd.kernels.arrays import Floats
from qrowd.model.frames import make_frame
from qrowd.model.judgments import Judgments, Repeats


@dataclass(frozen=True, eq=False)
class SplitDocuments:
    """The documents on which assessors are split most; arrays are (documents,) unless said otherwise.

    split : 4 times the variance of the grades over their scales' maxima: 0 where all give the same grade, 1 where half
        give the lowest and half the highest. value, share : (documents, assessors) grade, and grade over the scale's
        maximum; nan where not judged. The assessors who judged some of these are ordered from the most severe to the
        most lenient on all documents.
    """

    topics: tuple[str, ...]
    documents: tuple[str, ...]
    assessors: tuple[str, ...]
    split: Floats
    value: Floats
    share: Floats

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per judgment of these documents."""
        i, j = np.nonzero(~np.isnan(self.value))
        return make_frame(
            {
                "topic": np.array(self.topics, object)[i],
                "document": np.array(self.documents, object)[i],
                "assessor": np.array(self.assessors, object)[j],
                "value": self.value[i, j],
                "share": self.share[i, j],
                "split": self.split[i],
            },
            backend,
        )


def split_documents(
    judgments: Judgments, *, top: int = 15, min_assessors: int | None = None, repeats: Repeats = "first"
) -> SplitDocuments:
    """The documents on which assessors are split most, and the grades they gave.

    top : number of documents. min_assessors : number that must have judged a document; default: half of the most that
        judged any, at least 2.

    Raises
    ------
    ScaleError
        Magnitudes, which have no highest value.
    NoOverlapError
        No document was judged by so many.
    """
    panel = judgments.panel(repeats=repeats)
    if not np.isfinite(panel.maximum).all():
        raise ScaleError(
            "magnitudes have no highest value to be split between; qrowd plot magnitude-5 is for them, and "
            "qrowd.agreement.geometric_sd"
        )
    share = panel.values / panel.maximum
    known = ~np.isnan(share)
    n = known.sum(axis=1)
    needed = max(2, (int(n.max(initial=0)) + 1) // 2) if min_assessors is None else min_assessors
    enough = n >= needed
    if not enough.any():
        raise NoOverlapError(f"no document was judged by {needed} assessors, so none can be split")
    total = np.where(known, share, 0.0)
    mean = total.sum(axis=1) / np.maximum(n, 1)
    squares = np.where(known, (share - mean[:, None]) ** 2, 0.0).sum(axis=1)
    split = np.where(enough, 4 * squares / np.maximum(n, 1), -1.0)
    rows = [i for i in np.argsort(-split, kind="stable")[:top].tolist() if enough[i]]
    lenient = np.divide(total.sum(axis=0), known.sum(axis=0), out=np.zeros(known.shape[1]), where=known.any(axis=0))
    columns = np.argsort(lenient, kind="stable")
    columns = columns[known[rows][:, columns].any(axis=0)]
    topic: NDArray[np.int64] = np.repeat(np.arange(len(panel.pool.topics)), np.diff(panel.pool.starts))
    return SplitDocuments(
        tuple(panel.pool.topics[topic[i]] for i in rows),
        tuple(panel.pool.documents[panel.pool.document[i]] for i in rows),
        tuple(panel.assessors[a] for a in columns),
        split[rows],
        panel.values[rows][:, columns],
        share[rows][:, columns],
    )
