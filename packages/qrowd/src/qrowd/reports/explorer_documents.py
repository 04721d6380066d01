"""The documents that a reader of the explorer may look at: those in a top `depth` of any system, topic by topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats
from qrowd.model.conventions import ScoreDtype
from qrowd.model.judgments import Judgments, Repeats
from qrowd.model.preferences import Preferences
from qrowd.model.runs import Runs

LETTERS = 2000  # of a text; the rest is left out
Texts = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, eq=False)
class ListedDocuments:
    """Documents in the top lists; those of topic t are starts[t] ... starts[t + 1] - 1.

    labels : (documents,). starts : (topics + 1,).
    ranking : (topics, systems, depth) number of the document; -1 where the list is shorter.
    grades : (documents, assessors) as given; of preferences, won minus lost comparisons; nan: not judged.
    texts : (documents,) "" where there is none; None where no texts were given.
    comments : {"document,assessor": what the assessor wrote}; None where nobody wrote anything.
    n_shortened : texts of which only the first letters are kept.
    """

    labels: tuple[str, ...]
    starts: NDArray[np.int32]
    ranking: NDArray[np.int32]
    grades: NDArray[np.float32]
    texts: tuple[str, ...] | None = None
    comments: Mapping[str, str] | None = None
    n_shortened: int = 0

    @property
    def depth(self) -> int:
        return int(self.ranking.shape[2])


def listed_documents(
    runs: Runs,
    judgments: Judgments | Preferences,
    topics: Sequence[str],
    depth: int,
    *,
    texts: Texts | None = None,
    score_dtype: ScoreDtype = "float64",
    repeats: Repeats = "first",
) -> ListedDocuments:
    """The documents of the first `depth` ranks of all systems, for these topics, with what assessors said of them."""
    labels, starts, ranking = _top_lists(runs, topics, depth, score_dtype)
    if isinstance(judgments, Preferences):
        pairs, values = _comparisons(judgments)
        comments = None
    else:
        judgments = judgments.single(repeats=repeats)
        pairs, values = _grades(judgments)
        comments = _comments(judgments, topics, labels, starts)
    numbers = _numbers_of(judgments, topics, labels, starts)
    grades = np.full((len(labels), len(judgments.assessors)), np.nan, np.float32)
    if pairs.size:
        row = np.minimum(np.searchsorted(pairs, numbers), pairs.size - 1)
        judged = pairs[row] == numbers
        grades[judged] = values[row[judged]]
    shown = None if texts is None else [_text(texts.get(label, {})) for label in labels]
    if shown and not any(shown):
        raise ArgumentError(
            f"documents: none of the {len(labels):,} documents of the top {depth} has a text, {labels[0]} among them; "
            "compare ids"
        )
    return ListedDocuments(
        labels,
        starts,
        ranking,
        grades,
        None if shown is None else tuple(text if len(text) <= LETTERS else f"{text[:LETTERS]}…" for text in shown),
        comments or None,
        sum(len(text) > LETTERS for text in shown or ()),
    )


def top_documents(runs: Runs, depth: int, *, score_dtype: ScoreDtype = "float64") -> set[str]:
    """The labels of the documents in a top `depth` of any system, of all topics."""
    return set(_top_lists(runs, runs.topics, depth, score_dtype)[0])


def _top_lists(
    runs: Runs, topics: Sequence[str], depth: int, score_dtype: ScoreDtype
) -> tuple[tuple[str, ...], NDArray[np.int32], NDArray[np.int32]]:
    """Labels and starts of the documents, and the ranking; in a topic, documents of better ranks come first."""
    lists = runs.ranked(score_dtype=score_dtype)
    number = {topic: t for t, topic in enumerate(runs.topics)}
    ranking = np.full((len(topics), len(runs.systems), depth), -1, np.int32)
    documents: list[int] = []
    starts = [0]
    for place, topic in enumerate(topics):
        if (t := number.get(topic)) is not None:
            for s, (start, length) in enumerate(zip(lists.starts[:, t], lists.lengths[:, t], strict=True)):
                n = min(int(length), depth)
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
    topic = np.repeat([topic_number.get(one, -1) for one in topics], np.diff(starts)).astype(np.int64)
    document = np.array([document_number.get(label, -1) for label in labels], np.int64)
    known = (topic >= 0) & (document >= 0)
    return np.where(known, topic * len(judgments.documents) + document, -1)


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


def _comments(
    judgments: Judgments, topics: Sequence[str], labels: Sequence[str], starts: NDArray[np.int32]
) -> dict[str, str]:
    """{"document,assessor": comment} of the listed documents."""
    if judgments.comment is None:
        return {}
    numbers = _numbers_of(judgments, topics, labels, starts)
    place = {number: d for d, number in enumerate(numbers.tolist()) if number >= 0}
    comments = {}
    rows = zip(judgments.pair_numbers.tolist(), judgments.assessor.tolist(), judgments.comment.tolist(), strict=True)
    for pair, assessor, comment in rows:
        if isinstance(comment, str) and comment.strip() and pair in place:
            comments[f"{place[pair]},{assessor}"] = comment.strip()
    return comments


def _text(row: Mapping[str, str]) -> str:
    """Title and text of a document, one below the other."""
    return "\n".join(filter(None, (row.get("title", "").strip(), row.get("text", "").strip())))
