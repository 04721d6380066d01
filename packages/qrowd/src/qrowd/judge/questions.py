"""Questions: which documents of which topics are put to a model, in which order, and together with which others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from qrowd.errors import ArgumentError, FileError
from qrowd.judge.prompts import ITEMIZED, Form
from qrowd.model.chance import Chance, Rng
from qrowd.model.labels import number_in
from qrowd.model.pools import lists_of, pool_of
from qrowd.paths import PathLike, shown

if TYPE_CHECKING:
    from qrowd.model.judgments import Judgments
    from qrowd.model.preferences import Preferences
    from qrowd.model.runs import Runs

Pool = Mapping[str, Sequence[str]]
"""{topic: documents}."""
TextOf = Mapping[str, str | Mapping[str, str]]
"""{topic or document: its text, or {"title": ..., "text": ...}}."""

DEPTH = 10
UNIT_SIZE = 8  # documents of a unit of magnitudes, as assessors get them, the two check documents among them


class Unit(NamedTuple):
    """What of an answer gets a value: a nugget, a cited sentence, a criterion; or, without an item, all of it."""

    system: str
    criterion: str = ""
    unit: str = ""
    weight: float = 1.0
    item: str = ""


@dataclass(frozen=True)
class Question:
    """What one request asks about.

    documents : one; two in the order in which they are shown, for a preference; those of one unit, for magnitudes.
    unit : name of the unit, which holds a high and a low check document. answers : the units of the documents, where
    these are answers of systems; of each document of a preference one.
    """

    topic: str
    documents: tuple[str, ...]
    unit: str = ""
    answers: tuple[Unit, ...] = ()


def pool_from(source: Runs | Judgments | Preferences | Pool, *, depth: int = DEPTH) -> dict[str, tuple[str, ...]]:
    """{topic: documents in order of label}: the first `depth` of each run, or all that were judged.

    Raises
    ------
    ArgumentError
        A depth below 1.
    """
    from qrowd.model.preferences import Preferences
    from qrowd.model.runs import Runs

    if isinstance(source, Mapping):
        return {topic: tuple(dict.fromkeys(documents)) for topic, documents in source.items()}
    if isinstance(source, Runs):
        lists = lists_of(source, source.topics)
        return {topic: pool_of(of_topic, depth) for topic, of_topic in lists.items()}
    pool = source.pool if isinstance(source, Preferences) else source.panel().pool
    documents = [pool.documents[d] for d in pool.document.tolist()]
    starts = pool.starts.tolist()
    return {topic: tuple(sorted(documents[starts[t] : starts[t + 1]])) for t, topic in enumerate(pool.topics)}


def single_questions(pool: Pool) -> list[Question]:
    """One question per document."""
    return [Question(topic, (document,)) for topic, documents in pool.items() for document in documents]


def preference_questions(pool: Pool, pairs: Iterable[tuple[str, str, str]] | None = None) -> list[Question]:
    """Pairs of documents, each in both orders, so that an effect of the order is seen and not hidden.

    pairs : (topic, document, document); default: each pair of documents of a topic's pool.

    Raises
    ------
    ArgumentError
        A document that is to be compared with itself.
    """
    if pairs is None:
        pairs = ((topic, one, two) for topic, documents in pool.items() for one, two in combinations(documents, 2))
    questions = []
    for topic, one, two in pairs:
        if one == two:
            raise ArgumentError(f"pairs: topic {topic}: {one} cannot be compared with itself")
        questions += [Question(topic, (one, two)), Question(topic, (two, one))]
    return list(dict.fromkeys(questions))


def magnitude_questions(
    pool: Pool, checks: Mapping[str, tuple[str, str]], *, size: int = UNIT_SIZE, rng: Rng = 1
) -> list[Question]:
    """Units of `size` documents in random order, each with the high and the low check document of its topic.

    Magnitudes have no fixed scale, so documents are comparable within a unit, and units by their check documents. The
    documents of a topic are spread evenly over as few units as possible.

    Raises
    ------
    ArgumentError
        A size below 3; a topic without check documents.
    """
    if size < 3:
        raise ArgumentError("a unit holds two check documents and at least one other", "size", size)
    chance, questions = Chance.of(rng), []
    for topic, documents in pool.items():
        if not documents:
            continue
        if topic not in checks:
            raise ArgumentError(f"checks: topic {topic} has no check documents; name a high and a low one")
        stream = chance.stream(f"units {topic}")
        others = [document for document in documents if document not in checks[topic]]
        others = [others[i] for i in stream.permutation(len(others))]
        n_units = max(1, -(-len(others) // (size - 2)))
        for u in range(n_units):
            of_unit = [*others[u::n_units], *checks[topic]]
            shuffled = tuple(of_unit[i] for i in stream.permutation(len(of_unit)))
            questions.append(Question(topic, shuffled, f"{topic}-{u + 1}"))
    return questions


def texts_missing(question: Question, topics: Collection[str], documents: Collection[str]) -> str:
    """Which text of a question is not there; empty where all are. Such a question is never asked."""
    if question.topic not in topics:
        return f"topic {question.topic}"
    return next((f"document {document}" for document in question.documents if document not in documents), "")


def answer_pool(
    answers: Iterable[Sequence[str]], items: Mapping[str, Iterable[Sequence[str]]], form: Form
) -> tuple[dict[str, list[str]], dict[str, str], dict[str, list[Unit]]]:
    """({topic: documents}, {document: text}, {document: units}) of answers, which are called TOPIC/SYSTEM.

    Parameters
    ----------
    answers
        (topic, system, text, item, unit, criterion, weight), of which the last four may be empty. An answer with an
        unit or item of its own is asked about this alone, and called TOPIC/SYSTEM/UNIT.
    items
        {topic: (item, unit, criterion, weight)} of the other answers; "" for all topics. A unit without a name has
        that of its item.
    form
        Of the prompt; some take no items.

    Raises
    ------
    ArgumentError
        A unit of an answer that is there twice, or a weight that is no number.
    """
    pool, texts, units = defaultdict[str, list[str]](list), dict[str, str](), defaultdict[str, list[Unit]](list)
    for topic, system, text, *own in answers:
        name = own[1] or own[0]
        label = f"{topic}/{system}/{name}".rstrip("/")
        pool[topic].append(label)
        texts[label] = text
        asked = [own] if name or form not in ITEMIZED else items.get(topic, items.get("", [own]))
        for item, unit, criterion, weight in asked:
            new = Unit(system, criterion, unit or item, number_in(weight or "1"), item)
            if not isfinite(new.weight):
                raise ArgumentError(f"answers: {label}: the weight {weight!r} is no number")
            if any(new[:3] == other[:3] for other in units[label]):
                raise ArgumentError(f"answers: {label}: {new.unit or system} is there twice; name units apart")
            units[label].append(new)
    return pool, texts, units


# ---- texts


def topic_texts(text: str | Mapping[str, str]) -> dict[str, str]:
    """The texts of a topic by the names that prompts have for them."""
    if isinstance(text, str):
        return {"topic": text}
    names = {"topic": "title", "description": "description", "narrative": "narrative"}
    return {ours: text.get(theirs) or "" for ours, theirs in names.items()}


def document_text(text: str | Mapping[str, str]) -> str:
    """Title and text of a document."""
    if isinstance(text, str):
        return text
    return "\n\n".join(part for part in (text.get("title"), text.get("text")) if part)


def texts_by_topic(topics: TextOf) -> dict[str, dict[str, str]]:
    """{topic: its texts}, of those that have one."""
    texts = {label: topic_texts(text) for label, text in topics.items()}
    return {label: one for label, one in texts.items() if one["topic"].strip()}


def texts_by_document(documents: TextOf) -> dict[str, str]:
    """{document: title and text}, of those that have any."""
    return {label: text for label, one in documents.items() if (text := document_text(one)).strip()}


def read_topic_texts(path: PathLike) -> dict[str, dict[str, str]]:
    """{topic: its title, description and narrative} of a table, TREC topics, Parquet or "irds:ID".

    Raises
    ------
    FileError
        A file that cannot be read, or a topic that is there with two texts, with the line.
    """
    from qrowd.readers import irds
    from qrowd.texts import read_topics

    name = str(path)
    if name.startswith(irds.PREFIX):
        return {row["label"]: row for row in irds.topics(name)}
    topics: dict[str, dict[str, str]] = {}
    for line, row in read_topics(_content(path), shown(Path(path))):
        _enter(topics, row, "topic", name, line)
    return topics


def read_document_texts(
    paths: Iterable[PathLike], *, labels: Collection[str] | None = None
) -> dict[str, dict[str, str]]:
    """{document: its title and text} of tables, TREC documents, Parquet or "irds:ID"; only these labels, or all.

    A document without text is left out, so that it counts as missing.

    Raises
    ------
    FileError
        A file that cannot be read, or a document that is there with two texts, with the line.
    """
    from qrowd.readers import irds
    from qrowd.texts import read_documents

    documents: dict[str, dict[str, str]] = {}
    for path in paths:
        name = str(path)
        if name.startswith(irds.PREFIX):
            documents.update({row["label"]: row for row in irds.documents(name, labels)})
            continue
        for line, row in read_documents(_content(path), shown(Path(path))):
            if (row["text"] or row["title"]) and (labels is None or row["label"] in labels):
                _enter(documents, row, "document", name, line)
    return documents


def _enter(texts: dict[str, dict[str, str]], row: Mapping[str, object], noun: str, name: str, line: int) -> None:
    """Refuse a label with another text than before; the same text again says nothing new."""
    strings = {key: value if isinstance(value, str) else "" for key, value in row.items()}
    if texts.setdefault(strings["label"], strings) != strings:
        raise FileError(name, f"{noun} {row['label']} is there already, with another text; remove one", line)


def _content(path: PathLike) -> bytes:
    """What a file holds; Parquet as JSON Lines, so that there is one reader of columns."""
    import json

    from qrowd.files import read_bytes, read_columns
    from qrowd.tables import PARQUET_STARTS

    content = read_bytes(Path(path))
    if not content.startswith(PARQUET_STARTS):
        return content
    columns = read_columns(path)
    rows = zip(*columns.values(), strict=True)
    return "\n".join(json.dumps(dict(zip(columns, row, strict=True)), default=str) for row in rows).encode()
