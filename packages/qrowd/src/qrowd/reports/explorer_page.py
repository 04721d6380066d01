"""The explorer as one HTML page that needs no network and no other file: scores and script are part of the page.

The page holds a header (JSON) and a payload: arrays one after the other, compressed (gzip) and in base64. Numbers are
little endian; before compression the bytes of an array are sorted by their place in a number, all first bytes, then all
second ones, which makes the payload smaller.
"""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from importlib import resources
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.reports.explorer_data import ExplorerData
from qrowd.reports.explorer_documents import ListedDocuments

FORMAT = 1
SCRIPTS = (
    "payload.js",
    "statistics.js",
    "state.js",
    "elements.js",
    "charts.js",
    "controls.js",
    "systems.js",
    "pair.js",
    "topic.js",
    "main.js",
)
"""The script of the page, in this order."""
_SHORT = {"float64": "f8", "float32": "f4", "int32": "i4"}


def explorer_page(data: ExplorerData) -> str:
    """The page."""
    folder = resources.files("qrowd.reports") / "templates" / "explorer"
    header, payload = encoded(data)
    parts = {
        "title": escape(data.title).encode("utf-8", "replace").decode(),
        "style": (folder / "explorer.css").read_text("utf-8"),
        "script": "\n".join((folder / name).read_text("utf-8") for name in SCRIPTS),
        "header": header,
        "payload": payload,
    }
    template = (folder / "explorer.html").read_text("utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda place: parts[place[1]], template)


def encoded(data: ExplorerData) -> tuple[str, str]:
    """The header and the payload as the page holds them; neither can end the script element that it stands in."""
    arrays = _arrays(data)
    texts = None if data.documents is None else _labels_and_texts(data.documents)
    listed = [
        {"name": name, "dtype": _SHORT[array.dtype.name], "shape": list(array.shape)} for name, array in arrays.items()
    ]
    pieces = [_by_place(array) for array in arrays.values()]
    if texts is not None:
        listed.append({"name": "labels_and_texts", "dtype": "utf8", "shape": [len(texts)]})
        pieces.append(texts)
    header = json.dumps({**_header(data), "arrays": listed}, separators=(",", ":"), allow_nan=False)
    packed = gzip.compress(b"".join(pieces), 9, mtime=0)
    return header.replace("<", "\\u003c"), b64encode(packed).decode()


def _header(data: ExplorerData) -> dict[str, Any]:
    """What describes the arrays."""
    scores, documents = data.scores, data.documents
    return {
        "format": FORMAT,
        "title": data.title,
        "version": version("qrowd"),
        "command": data.command,
        "kind": data.kind,
        "systems": scores.systems,
        "labels": data.labels,
        "assessors": scores.assessors,
        "topics": [{"id": topic, "text": text} for topic, text in zip(scores.topics, data.topic_texts, strict=True)],
        "measures": [asdict(one) for one in data.measures],
        "methods": [{name: getattr(one, name) for name in ("name", "label", "kind", "note")} for one in data.methods],
        "t": _quantiles(len(scores.topics) - 1, data.confidence),
        "confidence": data.confidence,
        "conventions": dict(data.conventions),
        "notes": data.notes,
        "documents": None
        if documents is None
        else {
            "depth": documents.depth,
            "has_texts": documents.texts is not None,
            "has_comments": documents.comments is not None,
        },
    }


def _arrays(data: ExplorerData) -> dict[str, NDArray[Any]]:
    """The numbers, in the order in which the page reads them."""
    merged = [one.merged for one in data.methods if one.merged is not None]
    weights = [one.weights for one in data.methods if one.weights is not None]
    arrays: dict[str, NDArray[Any]] = {"scores": data.scores.values}
    n_measures, n_assessors, n_topics, n_systems = data.scores.values.shape
    arrays["merged"] = np.array(merged).reshape(-1, n_measures, n_topics, n_systems)
    arrays["weights"] = np.array(weights).reshape(-1, n_measures, n_assessors, n_topics)
    if data.documents is not None:
        arrays |= {name: getattr(data.documents, name) for name in ("starts", "ranking", "grades")}
    return arrays


def _labels_and_texts(documents: ListedDocuments) -> bytes:
    content = {"documents": documents.labels, "texts": documents.texts, "comments": documents.comments}
    return json.dumps(content, separators=(",", ":")).encode()


def _by_place(array: NDArray[Any]) -> bytes:
    """The bytes of little-endian numbers, sorted by their place in a number."""
    plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    return plain.reshape(-1).view(np.uint8).reshape(-1, plain.dtype.itemsize).T.tobytes()


def _quantiles(n: int, confidence: float) -> Sequence[float]:
    """Two-sided quantiles of Student's t for 1 to n degrees of freedom."""
    from scipy.special import stdtrit

    return np.asarray(stdtrit(np.arange(1, n + 1), (1 + confidence) / 2)).tolist() if n > 0 else []
