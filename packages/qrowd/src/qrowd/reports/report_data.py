"""Texts of the report, and what its page computes with when a reader chooses assessors, topics, measure or method.

The page holds the data as JSON, compressed (gzip) and in base64; numbers that are not known are null. The page computes
means, ranks and intervals as `qrowd.evaluate` does.
"""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isinf
from typing import Any

import numpy as np

from qrowd.evaluation import bounds_of
from qrowd.kernels.arrays import Floats
from qrowd.model.conventions import Conventions, ScoreDtype
from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences
from qrowd.model.runs import Runs
from qrowd.model.scores import Scores
from qrowd.reports.document import json_value
from qrowd.reports.table import Records

DEPTH = 10  # documents of each list that a reader can look at
LETTERS = 2000  # of a text; the rest is left out
AnyTexts = Mapping[str, Mapping[str, str] | str]


@dataclass(frozen=True)
class Texts:
    """topics, documents : {label: text}. comments : {(topic, document): {assessor: what the assessor wrote}}."""

    topics: Mapping[str, str]
    documents: Mapping[str, str]
    comments: Mapping[tuple[str, str], Mapping[str, str]]


def texts_of(topics: AnyTexts | None, documents: AnyTexts | None, judgments: Judgments | Preferences) -> Texts:
    """The texts that there are, and all comments.

    topics, documents : {label: text}, or {label: {"title": ..., "text": ...}} as files are read.
    """
    comments: dict[tuple[str, str], dict[str, str]] = {}
    if isinstance(judgments, Judgments) and judgments.comment is not None:
        for row, text in enumerate(judgments.comment.tolist()):
            if isinstance(text, str) and text.strip():
                pair = judgments.topics[judgments.topic[row]], judgments.documents[judgments.document[row]]
                comments.setdefault(pair, {})[judgments.assessors[judgments.assessor[row]]] = " ".join(text.split())
    return Texts(dict(_joined(topics or {})), dict(_joined(documents or {})), comments)


def _joined(texts: AnyTexts) -> Iterator[tuple[str, str]]:
    """The parts of each text that there are, once each, with single blanks; a long text is cut."""
    for label, text in texts.items():
        names = ("title", "description", "text")
        parts = [text] if isinstance(text, str) else dict.fromkeys(text.get(name, "") for name in names)
        if joined := " ".join(" ".join(part.split()) for part in parts if part):
            yield label, joined if len(joined) <= LETTERS else f"{joined[:LETTERS]}…"


def top_documents(runs: Runs, *, score_dtype: ScoreDtype = "float64") -> set[str]:
    """The labels of the documents in the first ranks of any system, of all topics."""
    top = _top_lists(runs, runs.topics, score_dtype)
    return {document for lists in top for documents in lists for document in documents}


def _top_lists(runs: Runs, topics: Sequence[str], score_dtype: ScoreDtype) -> Iterator[list[list[str]]]:
    """The first documents of each system, topic by topic."""
    lists = runs.ranked(score_dtype=score_dtype)
    number = {topic: t for t, topic in enumerate(runs.topics)}
    for topic in topics:
        if topic not in number:
            yield [[] for _ in runs.systems]
            continue
        starts = lists.starts[:, number[topic]].tolist()
        lengths = lists.lengths[:, number[topic]].tolist()
        codes = (
            lists.document[start : start + min(length, DEPTH)] for start, length in zip(starts, lengths, strict=True)
        )
        yield [[runs.documents[code] for code in of_system] for of_system in codes]


@dataclass(frozen=True, eq=False)
class PageData:
    """The content of the page behind its tables.

    scores : one per measure, with the same assessors, topics and systems. methods : {name: scores (measures, topics,
    systems) that the choice of assessors does not change; None for the mean of the chosen assessors}.
    documents : of each topic, those in the top lists, with text, comments and grades; preferences have no grades.
    ranking : [topic][system] numbers of its first documents. confidence : of the intervals over topics.
    """

    scores: tuple[Scores, ...]
    methods: Mapping[str, Floats | None]
    texts: Texts
    documents: Records
    ranking: list[list[list[int]]]
    confidence: float

    @classmethod
    def of(
        cls,
        runs: Runs,
        judgments: Judgments | Preferences,
        scores: tuple[Scores, ...],
        methods: Mapping[str, Floats | None],
        texts: Texts,
        *,
        conventions: Conventions,
        confidence: float,
    ) -> PageData:
        """With the documents of the first ranks of all systems."""
        topics = scores[0].topics
        documents: Records = []
        ranking = []
        grades = _grades(judgments, topics, conventions) if isinstance(judgments, Judgments) else {}
        for topic, lists in zip(topics, _top_lists(runs, topics, conventions.score_dtype), strict=True):
            labels = dict.fromkeys(label for of_system in lists for label in of_system)
            number = {label: n for n, label in enumerate(labels, start=len(documents))}
            ranking.append([[number[label] for label in of_system] for of_system in lists])
            documents += [
                {
                    "label": label,
                    "text": texts.documents.get(label, ""),
                    "comments": texts.comments.get((topic, label), {}),
                    "grades": grades.get((topic, label), []),
                }
                for label in labels
            ]
        return cls(scores, methods, texts, documents, ranking, confidence)

    def encoded(self) -> str:
        """The data as the page holds them; they cannot end the script element that they stand in."""
        content = json.dumps(self._content(), default=json_value, separators=(",", ":"), allow_nan=False)
        return b64encode(gzip.compress(content.encode(), mtime=0, compresslevel=6)).decode()

    def _content(self) -> dict[str, Any]:
        first = self.scores[0]
        measures = [name for scores in self.scores for name in scores.measures]
        bounds = [[None if isinf(end) else end for end in bounds_of(name)] for name in measures]
        return {
            "systems": first.systems,
            "assessors": first.assessors,
            "topics": [{"id": topic, "text": self.texts.topics.get(topic, "")} for topic in first.topics],
            "measures": [{"name": name, "bounds": ends} for name, ends in zip(measures, bounds, strict=True)],
            "methods": [
                {"name": name} if scores is None else {"name": name, "scores": scores}
                for name, scores in self.methods.items()
            ],
            "scores": np.concatenate([scores.values for scores in self.scores]),
            "documents": self.documents,
            "ranking": self.ranking,
            "t": _quantiles(len(first.topics) - 1, self.confidence),
            "confidence": self.confidence,
            "depth": DEPTH,
        }


def _grades(
    judgments: Judgments, topics: Sequence[str], conventions: Conventions
) -> dict[tuple[str, str], list[float | None]]:
    """{(topic, document): the grade of each assessor, None without one} of judged documents."""
    panel = judgments.panel(repeats=conventions.repeats)
    pool = panel.pool
    wanted = set(topics)
    grades = {}
    for t, topic in enumerate(pool.topics):
        if topic in wanted:
            rows = pool.rows(t)
            values = json_value(panel.values[rows])
            for code, of_document in zip(pool.document[rows].tolist(), values, strict=True):
                grades[topic, pool.documents[code]] = of_document
    return grades


def _quantiles(n: int, confidence: float) -> list[float]:
    """Two-sided quantiles of Student's t for 1 to n degrees of freedom."""
    from scipy.special import stdtrit

    return np.asarray(stdtrit(np.arange(1, n + 1), (1 + confidence) / 2)).tolist() if n > 0 else []
