"""Gold questions of a campaign that is being made: from files, and checked as a whole."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from qrowd import tables
from qrowd.errors import FileError
from qrowd.texts import decoded, read_fields, table_rows
from qrowd_server.protocols.setting_fields import Where
from qrowd_server.protocols.settings import (
    GoldSettings,
    GradesSettings,
    MagnitudeSettings,
    PreferenceSettings,
    Settings,
)

COLUMNS = ("topic", "document", "grade", "accepted", "better", "worse", "reason")
FORMS = ("topic better worse", "topic iteration document grade")
MAX_GOLD = 1000  # of one topic
MAX_REASON = 2000  # characters
Problems = Iterator[tuple[Where, str]]


@dataclass(frozen=True)
class GoldQuestion:
    """A document or a pair of a topic whose answer is known.

    document : its label; of a pair that of the better one. worse : that of the other one; "" without a pair.
    accepted : grades that are right; none of a pair. reason : why, for assessors who are told.
    """

    document: str
    accepted: tuple[int, ...] = ()
    worse: str = ""
    reason: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        """Of its documents."""
        return (self.document, self.worse) if self.worse else (self.document,)


def gold_labels(questions: Any) -> set[str]:
    """The documents of a topic's gold questions, from a table of JSON that may hold anything."""
    rows = questions if isinstance(questions, list | tuple) else ()
    cells = (row.get(key) for row in rows if isinstance(row, Mapping) for key in ("document", "worse"))
    return {label for label in cells if isinstance(label, str) and label}


# ---- what cannot work


def gold_problems(
    gold: GoldSettings | None,
    questions: Mapping[str, tuple[GoldQuestion, ...]],
    pools: Mapping[str, tuple[str, ...]],
    labels: set[str],
    arms: Collection[Settings],
    *,
    about_systems: bool,
) -> Problems:
    """What is wrong with the gold questions of a plan.

    questions, pools : of each topic. labels : of all documents. about_systems : whether the campaign has a question.
    """
    if gold is None:
        for i, of_topic in enumerate(questions.values()):
            if of_topic:
                yield ("topics", i, "gold"), "are given, but there is no table [gold]; add it, or remove them"
        return
    if about_systems:
        problem = "the documents of a campaign with a question come one by one, without gold questions; remove it"
        yield ("gold",), problem
    elif any(isinstance(settings, MagnitudeSettings) for settings in arms):
        problem = "units of magnitudes have check documents instead; remove it, and name [files] checks or gold"
        yield ("gold",), problem
    elif not any(questions.values()):
        yield ("gold",), "there is no gold question; name a file by gold = in [files]"
    for i, (topic, of_topic) in enumerate(questions.items()):
        where = ("topics", i, "gold")
        if len(of_topic) > MAX_GOLD:
            yield where, f"{len(of_topic)} are more than {MAX_GOLD}; leave some out"
        asked: set[frozenset[str]] = set()
        for n, question in enumerate(of_topic):
            for label in question.labels:
                if label not in labels:
                    yield (*where, n), f"document {label!r} has no text; add it to the documents"
                if label in pools[topic]:
                    yield (
                        (*where, n),
                        f"document {label!r} is in the pool of topic {topic!r}, too; take it out of one",
                    )
            if frozenset(question.labels) in asked:
                yield (*where, n), f"{' and '.join(map(repr, question.labels))} is there already; keep one line"
            asked.add(frozenset(question.labels))
            yield from _answer_problems(question, (*where, n), arms)


def _answer_problems(question: GoldQuestion, place: Where, arms: Collection[Settings]) -> Problems:
    grades = [settings for settings in arms if isinstance(settings, GradesSettings)]
    if len(question.reason) > MAX_REASON or "\0" in question.reason:
        yield (*place, "reason"), f"cannot be kept; write at most {MAX_REASON} characters"
    if question.worse:
        if question.worse == question.document:
            yield place, f"{question.document!r} cannot be both the better and the worse one; choose two"
        if not any(isinstance(settings, PreferenceSettings) for settings in arms):
            yield place, "is a pair, but no pairs are judged; give a document and its grade"
        return
    name, accepted = question.document, question.accepted
    if not grades:
        yield place, "is a document, but pairs are judged; give the better and the worse one"
    if not accepted:
        yield (*place, "accepted"), f"document {name!r} has no grade that is right; give at least one"
    for settings in grades:
        for grade in accepted:
            if not 0 <= grade <= settings.maximum:
                problem = f"{grade} is no grade of the scale {settings.scale}; give 0 to {settings.maximum}"
                yield (*place, "accepted"), problem
        if len(set(accepted)) > settings.maximum:
            yield (*place, "accepted"), f"every grade of {name!r} would be right; leave some out"


# ---- files


def gold_of_file(
    content: bytes, name: str, tolerance: int, highest: int | None
) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """(line, topic, gold question as a table) of each line of a file.

    A table (CSV, TSV, JSON Lines) with the columns topic, document and grade or accepted (grades that are right, as
    "2 3"), or topic, better and worse, and perhaps reason; or lines "topic iteration document grade" (qrels), or
    "topic better worse".

    tolerance : grades so far from `grade` are right, too. highest : the highest grade; None without a scale.
    """
    if not tables.is_table(content, name):
        for line, fields in read_fields(content, name, *FORMS):
            if len(fields) == 3:
                yield line, fields[0], {"document": fields[1], "worse": fields[2]}
            else:
                grades = _around(fields[3], tolerance, highest, name, line)
                yield line, fields[0], {"document": fields[2], "accepted": grades}
        return
    for line, row in table_rows(decoded(content, name), name, ("topic", "document"), COLUMNS):
        cells = {key: row[key] for key in COLUMNS if row.get(key) not in (None, "")}
        topic = cells.get("topic")
        if topic is None:
            raise FileError(name, "the column `topic` is empty or missing; say which topic this belongs to", line)
        question: dict[str, Any] = {"reason": str(cells["reason"])} if "reason" in cells else {}
        if "better" in cells and "worse" in cells and "document" not in cells:
            question |= {"document": str(cells["better"]), "worse": str(cells["worse"])}
        elif "document" in cells and "worse" not in cells and ("grade" in cells) != ("accepted" in cells):
            known = cells.get("accepted")
            grades = (
                _around(cells["grade"], tolerance, highest, name, line) if known is None else _all(known, name, line)
            )
            question |= {"document": str(cells["document"]), "accepted": grades}
        else:
            raise FileError(name, "expected topic, document and grade or accepted; or topic, better and worse", line)
        yield line, str(topic), question


def _around(cell: Any, tolerance: int, highest: int | None, name: str, line: int) -> list[int]:
    grade = _grade(cell, name, line)
    if highest is None or grade > highest:
        return [grade]
    return list(range(max(grade - tolerance, 0), min(grade + tolerance, highest) + 1))


def _all(cell: Any, name: str, line: int) -> list[int]:
    parts = cell if isinstance(cell, list) else str(cell).replace(",", " ").replace(";", " ").split()
    return sorted({_grade(part, name, line) for part in parts})


def _grade(cell: Any, name: str, line: int) -> int:
    try:
        value = float(cell)
        if isinstance(cell, bool) or value != int(value) or value < 0:
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise FileError(name, f"{cell!r} is no grade; give a whole number from 0", line) from None
    return int(value)
