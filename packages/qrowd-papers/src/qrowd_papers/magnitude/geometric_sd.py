"""Dispersion of the magnitudes of one document: geometric standard deviation, and highest over lowest.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), section 6.1.1 and Figure 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.agreement.by_topic import PearsonTest, pearson_test
from qrowd.agreement.document_counts import document_counts
from qrowd.errors import ScaleError
from qrowd.kernels.arrays import Floats
from qrowd.model.judgments import Judgments
from qrowd.model.result import Result


@dataclass(frozen=True, eq=False)
class GeometricSD(Result):
    """Dispersion of the values of every document judged at least twice; arrays are (documents,).

    topic, document : labels. n : number of judgments.
    geometric_mean, geometric_sd : exp of the mean and of the standard deviation (n - 1) of the logarithms.
    ratio : highest value over lowest.
    """

    summary = "Dispersion of the values of every document judged at least twice"

    topic: NDArray[np.object_]
    document: NDArray[np.object_]
    n: NDArray[np.int64]
    geometric_mean: Floats
    geometric_sd: Floats
    ratio: Floats

    @property
    def correlation(self) -> PearsonTest:
        """Pearson's, between the logarithms of geometric_sd and ratio."""
        return pearson_test(np.log(self.geometric_sd), np.log(self.ratio))

    def _columns(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def geometric_sd(judgments: Judgments) -> GeometricSD:
    """Geometric standard deviation, and ratio of highest to lowest value, of every document.

    Raises
    ------
    ScaleError
        A value of 0, which has no logarithm.
    NoOverlapError
        Fewer than two assessors; no document judged often enough.
    """
    from scipy.sparse import csr_array

    judgments.shared_scale()
    data = document_counts(judgments, level="ratio", min_judgments=2)
    (documents,) = data.groups
    if documents.values[0] == 0:
        raise ScaleError("there are values of 0, which have no logarithm; geometric_sd is for magnitudes above 0")
    n, logs = documents.size, np.log(documents.values)
    counts = csr_array(documents.counts)
    starts, code = counts.indptr[:-1], counts.indices
    mean = (counts @ logs) / n
    squares = np.add.reduceat(counts.data * (logs[code] - np.repeat(mean, np.diff(counts.indptr))) ** 2, starts)
    low, high = np.minimum.reduceat(code, starts), np.maximum.reduceat(code, starts)
    deviation = np.exp(np.sqrt(squares / (n - 1)))
    ratio = documents.values[high] / documents.values[low]
    topic, document = np.divmod(documents.pair, len(data.documents))
    labels = np.array(data.topics, object)[topic], np.array(data.documents, object)[document]
    return GeometricSD(*labels, n, np.exp(mean), deviation, ratio)
