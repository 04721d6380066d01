"""Dispersion of the judgments of one document: variance, standard deviation and entropy.

The simple measures of agreement that Maddalena, Roitero, Demartini & Mizzaro (2017), Considering Assessor Agreement in
IR Evaluation. ICTIR, section 3.2, name beside Krippendorff's alpha. They do not correct for chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.agreement.document_counts import document_counts
from qrowd.kernels.arrays import Floats, Ints
from qrowd.model.judgments import Judgments, Repeats
from qrowd.model.one_scale import CombineScales
from qrowd.model.result import Result


@dataclass(frozen=True, eq=False)
class TopicDispersion(Result):
    """Means over the documents of each topic; arrays are (topics,), columns as of `DocumentDispersion`."""

    summary = "Means over the documents of each topic"

    topics: tuple[str, ...]
    n_documents: Ints
    variance: Floats
    sd: Floats
    entropy: Floats

    _COLUMNS = ("topics", "n_documents", "variance", "sd", "entropy")


@dataclass(frozen=True, eq=False)
class DocumentDispersion(Result):
    """Dispersion of the values of every document judged twice or more; arrays are (documents,).

    topic, document : labels. n : number of judgments. mean : of the values.
    variance, sd : with n - 1. entropy : -sum p log2 p over the shares p of the distinct values, in bits.
    """

    summary = "Dispersion of the values of every document judged twice or more"

    topic: NDArray[np.object_]
    document: NDArray[np.object_]
    n: Ints
    mean: Floats
    variance: Floats
    sd: Floats
    entropy: Floats

    @property
    def by_topic(self) -> TopicDispersion:
        """The mean over the documents of each topic, in the order in which topics were judged."""
        topics = tuple(dict.fromkeys(self.topic.tolist()))
        number = {label: t for t, label in enumerate(topics)}
        code = np.array([number[label] for label in self.topic.tolist()], np.int64)
        n = np.bincount(code)
        means = (np.bincount(code, column) / n for column in (self.variance, self.sd, self.entropy))
        return TopicDispersion(topics, n, *means)

    def _columns(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def document_dispersion(
    judgments: Judgments,
    *,
    repeats: Repeats = "first",
    combine_scales: CombineScales = "auto",
) -> DocumentDispersion:
    """Variance, standard deviation and entropy of the values of every document.

    Options, errors : as of `krippendorff_alpha`.

    >>> judgments = Judgments.from_rows([("q", "d", who, grade) for who, grade in (("ann", 0), ("bob", 0), ("cyd", 3))])
    >>> found = document_dispersion(judgments)
    >>> found.variance, found.entropy.round(3)
    (array([3.]), array([0.918]))
    """
    data = document_counts(judgments, level="interval", repeats=repeats, combine_scales=combine_scales)
    (documents,) = data.groups
    n, counts = documents.size, documents.counts
    mean = np.asarray(counts @ documents.values) / n
    squares = np.asarray(counts @ documents.values**2) - n * mean**2
    variance = np.maximum(squares, 0.0) / (n - 1)
    plogp = counts.copy()
    if isinstance(counts, np.ndarray):
        np.multiply(counts, np.log2(np.maximum(counts, 1.0)), out=plogp)
    else:
        plogp.data = counts.data * np.log2(counts.data)
    entropy = np.log2(n) - np.asarray(plogp.sum(axis=1)).ravel() / n
    topic, document = np.divmod(documents.pair, len(data.documents))
    labels = np.array(data.topics, object)[topic], np.array(data.documents, object)[document]
    return DocumentDispersion(*labels, n, mean, variance, np.sqrt(variance), np.maximum(entropy, 0.0))
