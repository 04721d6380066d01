"""Answers that a folder knows beforehand: check documents of magnitudes, gold questions of grades and preferences."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Protocol

from qrowd import tables, trec
from qrowd.collect.campaigns.gold_questions import gold_labels, gold_of_file, highest_grade
from qrowd.collect.campaigns.places import Place
from qrowd.collect.protocols.schema import SchemaError, Where
from qrowd.errors import ArgumentError, FileError
from qrowd.model.judgments import concatenate_judgments
from qrowd.model.pools import checks_from_gold
from qrowd.texts import read_fields


class Files(Protocol):
    """A folder that is being read; see `Folder`."""

    def bytes(self, name: str) -> bytes:
        """What a file holds."""


class Reading(Protocol):
    """What has been read of a folder so far; see `folder.Reading`."""

    @property
    def folder(self) -> Files:
        """The folder."""

    files: Mapping[str, Any]
    places: dict[Where, Place]

    def names(self, key: str) -> list[str]:
        """The files for a key of [files]."""


def refuse_unused(reading: Reading, table: Mapping[str, Any], protocols: Collection[str]) -> None:
    """Refuse named files of check documents and of gold that would do nothing.

    Raises
    ------
    SchemaError
        There is one.
    """
    reasons = {}
    if "magnitude" not in protocols:
        reasons["checks"] = "only units of magnitudes hold check documents; name gold questions by gold = in [files]"
        if "question" in table:
            reasons["gold"] = "the documents of a question come one by one, without gold questions"
    elif table["campaign"].get("checks", True) is False:
        reasons = dict.fromkeys(("checks", "gold"), "units hold no check documents (checks = false)")
    for key, reason in reasons.items():
        if key in reading.files:
            raise SchemaError(("files", key), f"{reading.files[key]!r} would do nothing: {reason}; remove the line")


def gold_questions(
    reading: Reading, table: dict[str, Any], topics: dict[str, dict[str, Any]], protocols: Collection[str]
) -> dict[str, set[str]]:
    """{topic: documents of gold questions}, which are put into the table of each topic.

    Magnitudes have check documents instead, and the documents of a question come without.
    """
    if "magnitude" in protocols or "question" in table or not ("gold" in table or "gold" in reading.files):
        return {}
    tolerance = table.setdefault("gold", {}).get("tolerance", 0)
    tolerance = tolerance if isinstance(tolerance, int) and tolerance >= 0 else 0  # said by the table's reader
    of_gold: dict[str, set[str]] = {}
    for name in reading.names("gold"):
        content = no_parquet(reading.folder.bytes(name), name)
        for line, label, question in gold_of_file(content, name, tolerance, highest_grade(table)):
            the_topic(topics, label, name, line)
            questions = topics[label].setdefault("gold", [])
            reading.places["topics", list(topics).index(label), "gold", len(questions)] = name, line
            questions.append(question)
            of_gold.setdefault(label, set()).update(gold_labels([question]))
    return of_gold


def find_checks(reading: Reading, topics: Mapping[str, dict[str, Any]], pools: Mapping[str, Any], seed: Any) -> None:
    """The check documents of every topic: those a file names, else by gold grades."""
    names = reading.names("checks")
    for name in names:
        for line, (label, high, low) in read_fields(reading.folder.bytes(name), name, "topic high low"):
            topic = the_topic(topics, label, name, line)
            if "checks" in topic:
                raise FileError(name, f"topic {label!r} has its checks already; keep one line", line)
            topic["checks"] = [high, low]
            reading.places[("topics", list(topics).index(label), "checks")] = name, line
    gold = reading.names("gold")
    open_topics = {label: pools[label] for label, topic in topics.items() if "checks" not in topic}
    if "gold" in reading.files and not open_topics:
        problem = f"{reading.files['gold']!r} would do nothing: the file of checks names those of every topic"
        raise SchemaError(("files", "gold"), f"{problem}; remove the line")
    if not gold or not open_topics or isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        return
    content = no_parquet(reading.folder.bytes(gold[0]), gold[0])
    if tables.is_table(content, gold[0]):
        judgments = tables.judgments_from_table(content, gold[0], assessor="gold")
    else:
        judgments = concatenate_judgments([trec.judgments_from([("gold", trec.parse(content, gold[0], trec.QRELS))])])
    try:
        checks = checks_from_gold(judgments, open_topics, seed)
    except ArgumentError as error:
        raise FileError(gold[0], str(error)) from None
    for i, (label, topic) in enumerate(topics.items()):
        if label in checks:
            topic["checks"] = list(checks[label])
            reading.places["topics", i, "checks"] = gold[0], 1


def the_topic(topics: Any, label: str, name: str, line: int) -> Any:
    """A topic by its label; an error at this line where there is none."""
    if label not in topics:
        raise FileError(name, f"there is no topic {label!r}; add it to the topics, or remove the line", line)
    return topics[label] if isinstance(topics, dict) else None


def no_parquet(content: bytes, name: str) -> bytes:
    """The content of a file, which must not be Parquet."""
    if content.startswith(tables.PARQUET_STARTS):
        raise FileError(name, "is Parquet; write it as CSV, JSON Lines or in TREC's format")
    return content
