"""Documents of the report: those in the top lists with their grades, and the texts and comments that are shown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Floats
from qrowd.model.conventions import Conventions, ScoreDtype
from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences
from qrowd.model.runs import Runs

DEPTH = 10  # documents of each list that a reader can look at
LETTERS = 2000  # of a text of these; the rest is left out
FOLDED = 240  # letters, from which on a text is folded behind its first words
START = 120  # letters of these words
AnyTexts = Mapping[str, Mapping[str, str] | str]


# ---------------------------------------------------------------------- texts


@dataclass(frozen=True)
class Comment:
    """What an assessor wrote about a document."""

    topic: str
    document: str
    assessor: str
    text: str


@dataclass(frozen=True)
class Texts:
    """topics, documents : {label: text}. comments : on the documents that are shown."""

    topics: Mapping[str, str] = field(default_factory=dict)
    documents: Mapping[str, str] = field(default_factory=dict)
    comments: tuple[Comment, ...] = ()

    def comments_on(self, topic: str, document: str) -> list[Comment]:
        """Those on a document of a topic."""
        return [comment for comment in self.comments if (comment.topic, comment.document) == (topic, document)]

    def of(self, pairs: Collection[tuple[str, str]]) -> Texts:
        """Those of all topics, and of these (topic, document) pairs."""
        wanted = {document for _, document in pairs}
        documents = {document: text for document, text in self.documents.items() if document in wanted}
        comments = tuple(one for one in self.comments if (one.topic, one.document) in pairs)
        return Texts(self.topics, documents, comments)


def texts_of(topics: AnyTexts | None, documents: AnyTexts | None, judgments: Judgments | Preferences) -> Texts:
    """The texts that there are, and all comments.

    topics, documents : {label: text}, or {label: {"title": ..., "text": ...}} as files are read.
    """
    return Texts(
        dict(_joined(topics or {}, ("title", "description"))),
        dict(_joined(documents or {}, ("title", "text"))),
        tuple(_comments(judgments)) if isinstance(judgments, Judgments) else (),
    )


def _joined(texts: AnyTexts, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The parts of each text that there are, once each, with single blanks."""
    for label, text in texts.items():
        parts = [text] if isinstance(text, str) else dict.fromkeys(text.get(name, "") for name in names)
        if joined := " ".join(" ".join(part.split()) for part in parts if part):
            yield label, joined


def _comments(judgments: Judgments) -> Iterator[Comment]:
    if judgments.comment is None:
        return
    for row, text in enumerate(judgments.comment.tolist()):
        if isinstance(text, str) and text.strip():
            topic, document = judgments.topics[judgments.topic[row]], judgments.documents[judgments.document[row]]
            yield Comment(topic, document, judgments.assessors[judgments.assessor[row]], " ".join(text.split()))


def start_of(text: str) -> str:
    """The first words of a text that is folded; empty where it is short enough to be shown whole.

    >>> start_of("short"), len(start_of("word " * 99)) <= START + 2
    ('', True)
    """
    if len(text) <= FOLDED:
        return ""
    return f"{text[:START].rsplit(' ', 1)[0]} …"


# ---------------------------------------------------------------------- the top lists


@dataclass(frozen=True, eq=False)
class ListedDocuments:
    """Documents in the top lists; those of topic t are starts[t] ... starts[t + 1] - 1.

    labels : (documents,). starts : (topics + 1,).
    ranking : (topics, systems, DEPTH) number of the document; -1 where the list is shorter.
    grades : (documents, assessors) as given; of preferences, won minus lost comparisons; nan: not judged.
    texts : (documents,) "" where there is none. comments : {"document,assessor": what the assessor wrote}.
    """

    labels: tuple[str, ...]
    starts: NDArray[np.int32]
    ranking: NDArray[np.int32]
    grades: NDArray[np.float32]
    texts: tuple[str, ...]
    comments: Mapping[str, str]


def listed_documents(
    runs: Runs,
    judgments: Judgments | Preferences,
    topics: Sequence[str],
    texts: Texts,
    conventions: Conventions,
) -> ListedDocuments:
    """The documents of the first ranks of all systems, for these topics, with what assessors said of them."""
    labels, starts, ranking = _top_lists(runs, topics, conventions.score_dtype)
    if isinstance(judgments, Preferences):
        pairs, values = _comparisons(judgments)
    else:
        pairs, values = _grades(judgments.single(repeats=conventions.repeats))
    numbers = _numbers_of(judgments, topics, labels, starts)
    grades = np.full((len(labels), len(judgments.assessors)), np.nan, np.float32)
    if pairs.size:
        row = np.minimum(np.searchsorted(pairs, numbers), pairs.size - 1)
        judged = pairs[row] == numbers
        grades[judged] = values[row[judged]]
    topic_of = np.repeat(np.arange(len(topics)), np.diff(starts)).tolist()
    place = {(topics[t], label): d for d, (t, label) in enumerate(zip(topic_of, labels, strict=True))}
    number = {name: a for a, name in enumerate(judgments.assessors)}
    comments = {
        f"{place[one.topic, one.document]},{number[one.assessor]}": one.text
        for one in texts.comments
        if (one.topic, one.document) in place and one.assessor in number
    }
    shown = (texts.documents.get(label, "") for label in labels)
    cut = tuple(text if len(text) <= LETTERS else f"{text[:LETTERS]}…" for text in shown)
    return ListedDocuments(labels, starts, ranking, grades, cut, comments)


def top_documents(runs: Runs, *, score_dtype: ScoreDtype = "float64") -> set[str]:
    """The labels of the documents in the first ranks of any system, of all topics."""
    return set(_top_lists(runs, runs.topics, score_dtype)[0])


def _top_lists(
    runs: Runs, topics: Sequence[str], score_dtype: ScoreDtype
) -> tuple[tuple[str, ...], NDArray[np.int32], NDArray[np.int32]]:
    """Labels and starts of the documents, and the ranking; in a topic, documents of better ranks come first."""
    lists = runs.ranked(score_dtype=score_dtype)
    number = {topic: t for t, topic in enumerate(runs.topics)}
    ranking = np.full((len(topics), len(runs.systems), DEPTH), -1, np.int32)
    documents: list[int] = []
    starts = [0]
    for place, topic in enumerate(topics):
        if (t := number.get(topic)) is not None:
            for s, (start, length) in enumerate(zip(lists.starts[:, t], lists.lengths[:, t], strict=True)):
                n = min(int(length), DEPTH)
                ranking[place, s, :n] = lists.document[start : start + n]
        codes = ranking[place].T.ravel()  # rank by rank
        distinct, first = np.unique(codes[codes >= 0], return_index=True)
        in_order = distinct[np.argsort(first)]
        filled = ranking[place] >= 0
        new_number = np.argsort(np.argsort(first)) + len(documents)
        ranking[place][filled] = new_number[np.searchsorted(distinct, ranking[place][filled])]
        documents += in_order.tolist()
        starts.append(len(documents))
    return tuple(runs.documents[d] for d in documents), np.array(starts, np.int32), ranking


def _numbers_of(
    judgments: Judgments | Preferences, topics: Sequence[str], labels: Sequence[str], starts: NDArray[np.int32]
) -> NDArray[np.int64]:
    """(documents,) topic * len(documents) + document in the numbers of the judgments; -1 where they have none."""
    topic_number = {topic: t for t, topic in enumerate(judgments.topics)}
    document_number = {document: d for d, document in enumerate(judgments.documents)}
    topic = np.repeat([topic_number.get(name, -1) for name in topics], np.diff(starts)).astype(np.int64)
    document = np.array([document_number.get(label, -1) for label in labels], np.int64)
    judged = (topic >= 0) & (document >= 0)
    return np.where(judged, topic * len(judgments.documents) + document, -1)


def _grades(judgments: Judgments) -> tuple[NDArray[np.int64], Floats]:
    """(pairs,) sorted numbers of (topic, document), and (pairs, assessors) grades."""
    panel = judgments.panel()
    topic = np.repeat(np.arange(len(panel.pool.topics), dtype=np.int64), np.diff(panel.pool.starts))
    return topic * len(judgments.documents) + panel.pool.document, np.asarray(panel.values)


def _comparisons(preferences: Preferences) -> tuple[NDArray[np.int64], Floats]:
    """(pairs,) sorted numbers of (topic, document), and (pairs, assessors) won minus lost comparisons."""
    topic = preferences.topic.astype(np.int64) * len(preferences.documents)
    pairs, row = np.unique(
        np.concatenate([topic + preferences.preferred, topic + preferences.other]), return_inverse=True
    )
    weight = np.ones(len(preferences)) if preferences.weight is None else preferences.weight
    assessor = np.tile(preferences.assessor, 2)
    shape = (pairs.size, len(preferences.assessors))
    balance, n = np.zeros(shape), np.zeros(shape)
    np.add.at(balance, (row, assessor), np.concatenate([weight, -weight]))
    np.add.at(n, (row, assessor), 1)
    return pairs, np.where(n > 0, balance, np.nan)
