"""Texts of the report: of topics, of the documents it shows, and what assessors wrote about these."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from qrowd.model.judgments import Judgments

FOLDED = 240  # letters, from which on a text is folded behind its first words
START = 120  # letters of these words
AnyTexts = Mapping[str, Mapping[str, str] | str]


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
        return [one for one in self.comments if (one.topic, one.document) == (topic, document)]


def texts_of(
    topics: AnyTexts | None,
    documents: AnyTexts | None,
    judgments: Judgments | None,
    pairs: Collection[tuple[str, str]],
) -> Texts:
    """The texts of all topics, and those of the (topic, document) pairs with their comments.

    topics, documents : {label: text}, or {label: {"title": ..., "text": ...}} as files are read.
    """
    wanted = {document for _, document in pairs}
    return Texts(
        {topic: text for topic, given in (topics or {}).items() if (text := _joined(given, ("title", "description")))},
        {
            document: text
            for document, given in (documents or {}).items()
            if document in wanted and (text := _joined(given, ("title", "text")))
        },
        () if judgments is None else tuple(_comments(judgments, set(pairs))),
    )


def _joined(given: Mapping[str, str] | str, names: Iterable[str]) -> str:
    """The parts of a text that there are, once each, with single blanks."""
    parts = [given] if isinstance(given, str) else dict.fromkeys(given.get(name, "") for name in names)
    return " ".join(" ".join(part.split()) for part in parts if part)


def _comments(judgments: Judgments, pairs: Collection[tuple[str, str]]) -> Iterable[Comment]:
    if judgments.comment is None:
        return
    for row in np.flatnonzero([bool(comment) for comment in judgments.comment]).tolist():
        topic, document = judgments.topics[judgments.topic[row]], judgments.documents[judgments.document[row]]
        if (topic, document) in pairs:
            assessor = judgments.assessors[judgments.assessor[row]]
            yield Comment(topic, document, assessor, " ".join(str(judgments.comment[row]).split()))


def start_of(text: str) -> str:
    """The first words of a text that is folded; empty where it is short enough to be shown whole.

    >>> start_of("short"), len(start_of("word " * 99)) <= START + 2
    ('', True)
    """
    if len(text) <= FOLDED:
        return ""
    return f"{text[:START].rsplit(' ', 1)[0]} …"
