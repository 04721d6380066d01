"""What the page computes with when its reader chooses assessors, topics, measure or method.

The page holds a header (JSON) and a payload: arrays one after the other, compressed (gzip) and in base64. Numbers are
little endian; before compression the bytes of an array are sorted by their place in a number, all first bytes, then all
second ones, which makes the payload smaller. The page computes means, ranks and intervals as `qrowd.evaluate` does.
"""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from dataclasses import dataclass
from math import isinf
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.evaluation import bounds_of
from qrowd.kernels.arrays import Floats
from qrowd.model.scores import Scores
from qrowd.reports.report_documents import DEPTH, ListedDocuments

TYPES = {"float64": "f8", "float32": "f4", "int32": "i4"}


@dataclass(frozen=True, eq=False)
class Choice:
    """A method of putting the assessors together that a reader can choose. note : what is exact.

    kind : "mean" of the chosen assessors; "weights" : weighted mean, with values (measures, assessors, topics), nan
        where the assessor is left out of the topic; "merged" : scores that the choice of assessors does not change,
        with values (measures, topics, systems).
    """

    name: str
    kind: Literal["mean", "weights", "merged"]
    note: str = ""
    values: Floats | None = None


@dataclass(frozen=True, eq=False)
class PageData:
    """The content of the page behind its tables.

    scores : one per measure, with the same assessors, topics and systems. topics : texts, "" where there is none.
    kind : "judgments" or "preferences". confidence : of the intervals over topics.
    """

    scores: tuple[Scores, ...]
    methods: tuple[Choice, ...]
    topics: tuple[str, ...]
    documents: ListedDocuments
    kind: Literal["judgments", "preferences"]
    confidence: float

    def encoded(self) -> tuple[str, str]:
        """The header and the payload as the page holds them; neither can end the script element that it stands in."""
        arrays = self._arrays()
        documents = {name: getattr(self.documents, name) for name in ("labels", "texts", "comments")}
        texts = json.dumps(documents, separators=(",", ":")).encode()
        listed = [
            *({"name": name, "dtype": TYPES[array.dtype.name], "shape": array.shape} for name, array in arrays.items()),
            {"name": "labels_and_texts", "dtype": "utf8", "shape": [len(texts)]},
        ]
        header = json.dumps({**self._header(), "arrays": listed}, separators=(",", ":"), allow_nan=False)
        packed = gzip.compress(b"".join([*map(_by_place, arrays.values()), texts]), mtime=0, compresslevel=6)
        return header.replace("<", "\\u003c"), b64encode(packed).decode()

    def _header(self) -> dict[str, Any]:
        """What describes the arrays."""
        first = self.scores[0]
        measures = [name for scores in self.scores for name in scores.measures]
        bounds = [[None if isinf(end) else end for end in bounds_of(name)] for name in measures]
        return {
            "kind": self.kind,
            "systems": first.systems,
            "assessors": first.assessors,
            "topics": [{"id": topic, "text": text} for topic, text in zip(first.topics, self.topics, strict=True)],
            "measures": [{"name": name, "bounds": ends} for name, ends in zip(measures, bounds, strict=True)],
            "methods": [{"name": one.name, "kind": one.kind, "note": one.note} for one in self.methods],
            "t": _quantiles(len(first.topics) - 1, self.confidence),
            "confidence": self.confidence,
            "depth": DEPTH,
        }

    def _arrays(self) -> dict[str, NDArray[Any]]:
        """The numbers, in the order in which the page reads them."""
        scores = np.concatenate([one.values for one in self.scores])
        n_measures, n_assessors, n_topics, n_systems = scores.shape
        of_kind = {kind: [one.values for one in self.methods if one.kind == kind] for kind in ("merged", "weights")}
        return {
            "scores": scores,
            "merged": np.array(of_kind["merged"]).reshape(-1, n_measures, n_topics, n_systems),
            "weights": np.array(of_kind["weights"]).reshape(-1, n_measures, n_assessors, n_topics),
            **{name: getattr(self.documents, name) for name in ("starts", "ranking", "grades")},
        }


def _by_place(array: NDArray[Any]) -> bytes:
    """The bytes of little-endian numbers, sorted by their place in a number."""
    plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    return plain.reshape(-1).view(np.uint8).reshape(-1, plain.dtype.itemsize).T.tobytes()


def _quantiles(n: int, confidence: float) -> list[float]:
    """Two-sided quantiles of Student's t for 1 to n degrees of freedom."""
    from scipy.special import stdtrit

    return np.asarray(stdtrit(np.arange(1, n + 1), (1 + confidence) / 2)).tolist() if n > 0 else []
