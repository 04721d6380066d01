"""Gold questions of a campaign that is being made: from files, and checked as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from qrowd import tables
from qrowd.collect.protocols.gold import entry_test
from qrowd.collect.protocols.schema import Where
from qrowd.collect.protocols.settings import (
    GoldSettings,
    GradesSettings,
    MagnitudeSettings,
    PreferenceSettings,
)
from qrowd.errors import FileError
from qrowd.texts import decoded, read_fields, table_rows

if TYPE_CHECKING:
    from qrowd.collect.campaigns.plan import Plan, TopicPlan

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


def gold_problems(plan: Plan) -> Problems:
    """What is wrong with the gold questions of a plan."""
    n_questions = sum(len(topic.gold) for topic in plan.topics)
    if plan.gold is None:
        if n_questions:
            first = next(i for i, one in enumerate(plan.topics) if one.gold)
            yield ("topics", first, "gold"), "are given, but there is no table [gold]; add it, or remove them"
        return
    if plan.question is not None:
        yield (
            ("gold",),
            "the documents of a campaign with a question come one by one, without gold questions; remove it",
        )
        return
    if any(isinstance(settings, MagnitudeSettings) for settings in plan.arms.values()):
        problem = "units of magnitudes have check documents instead; remove it, and name [files] checks or gold"
        yield ("gold",), problem
        return
    if not n_questions:
        yield ("gold",), "there is no gold question; name a file by gold = in [files]"
    labels = {document.label for document in plan.documents}
    grades = [settings for settings in plan.arms.values() if isinstance(settings, GradesSettings)]
    pairs = any(isinstance(settings, PreferenceSettings) for settings in plan.arms.values())
    for i, topic in enumerate(plan.topics):
        yield from _problems_of_topic(topic, ("topics", i, "gold"), labels, grades, pairs)


def _problems_of_topic(
    topic: TopicPlan, where: Where, labels: set[str], grades: list[GradesSettings], pairs: bool
) -> Problems:
    if len(topic.gold) > MAX_GOLD:
        yield where, f"{len(topic.gold)} are more than {MAX_GOLD}; leave some out"
    asked: set[tuple[str, ...]] = set()
    pool, of_pairs = set(topic.pool), set[str]()
    for n, one in enumerate(topic.gold):
        place = (*where, n)
        names = " and ".join(map(repr, one.labels))
        for label in one.labels:
            if label not in labels:
                yield place, f"document {label!r} has no text; add it to the documents"
            if label in pool:
                yield place, f"document {label!r} is in the pool of topic {topic.label!r}; take it out of one of them"
        if tuple(sorted(one.labels)) in asked:
            yield place, f"{names} is there already; keep one line"
        asked.add(tuple(sorted(one.labels)))
        of_pairs.update(one.labels if one.worse else ())
        if len(one.reason) > MAX_REASON or "\0" in one.reason:
            yield (*place, "reason"), f"cannot be kept; write at most {MAX_REASON} characters"
        if one.worse:
            if one.worse == one.document:
                yield place, f"{one.document!r} cannot be both the better and the worse one; choose two"
            if not pairs:
                yield place, "is a pair, but no pairs are judged; give a document and its grade"
            if one.accepted:
                yield (*place, "accepted"), "are grades, but this is a pair; leave them out"
        else:
            yield from _grade_problems(one, place, grades)


def _grade_problems(one: GoldQuestion, place: Where, grades: list[GradesSettings]) -> Problems:
    if not grades:
        yield place, "is a document, but pairs are judged; give the better and the worse one"
        return
    if not one.accepted:
        yield (*place, "accepted"), f"document {one.document!r} has no grade that is right; give at least one"
    for settings in grades:
        if strange := next((grade for grade in one.accepted if not 0 <= grade <= settings.maximum), None):
            problem = f"{strange} is no grade of the scale {settings.scale}; give 0 to {settings.maximum}"
            yield (*place, "accepted"), problem
        elif len(set(one.accepted)) > settings.maximum:
            yield (*place, "accepted"), f"every grade of {one.document!r} would be right; leave some out"


def gold_notes(plan: Plan) -> Iterator[str]:
    """What an owner should know of the gold questions."""
    gold = plan.gold
    if gold is None:
        return
    n = sum(len(topic.gold) for topic in plan.topics)
    how = f"1 in {gold.every}"
    if gold.first_every:
        how = f"1 in {gold.first_every} in the first unit of an assessor, then 1 in {gold.every}"
    if gold.first:
        how = f"the first {gold.first} answers of an assessor, then {how}"
    yield f"Gold questions: {n} in {len([t for t in plan.topics if t.gold])} of {len(plan.topics)} topics; {how}."
    if gold.exclude:
        yield (
            f"Assessors are excluded whose answers to at least {gold.min_answers} gold questions show an accuracy "
            f"below {gold.accuracy:g} (risk {gold.risk:g})."
        )
    else:
        yield "Nobody is excluded by gold questions (exclude = false in [gold])."
    if without := [topic.label for topic in plan.topics if not topic.gold]:
        yield f"{len(without)} topics have no gold question, {without[0]!r} first; nobody is checked there."
    if gold.first:
        yield from _entry_notes(plan, gold)


def _entry_notes(plan: Plan, gold: GoldSettings) -> Iterator[str]:
    """What the entry test finds, and where it is too short."""
    test = entry_test(gold.first, gold.accuracy, gold.risk)
    if gold.exclude and not test.least_right:
        yield f"{gold.first} answers are too few for an entry test with this accuracy and risk; raise first in [gold]."
    elif gold.exclude:
        n_grades = next((s.maximum + 1 for s in plan.arms.values() if isinstance(s, GradesSettings)), 2)
        chances = [len(g.accepted) / n_grades if g.accepted else 0.5 for t in plan.topics for g in t.gold]
        guess = test.passes(sum(chances) / len(chances))
        yield (
            f"Entry test: {test.least_right} of {gold.first} right answers. Guessing passes with probability "
            f"{guess:.1g}, an accuracy of {gold.accuracy:g} fails with probability {test.risk:.1g}."
        )
    if short := [topic for topic in plan.topics if 0 < len(topic.gold) < gold.first]:
        yield (
            f"{len(short)} topics have fewer gold questions than the entry test, {short[0].label!r} first "
            f"({len(short[0].gold)}); who begins there has the rest of it in the next unit."
        )


# ---- files


def gold_of_file(
    content: bytes, name: str, tolerance: int, highest: int | None
) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """(line, topic, gold question as a table) of each line of a file.

    A table (CSV, TSV, JSON Lines) with the columns topic, document and grade or accepted (grades that are right, as
    "2 3"), or topic, better and worse, and perhaps reason; or lines "topic iteration document grade" (qrels), or
    "topic better worse".

    tolerance : grades so far from `grade` are right, too. highest : the highest grade; None without a scale.

    Raises
    ------
    FileError
        A line that is neither.
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
            problem = "expected topic, document and grade or accepted; or topic, better and worse"
            raise FileError(name, problem, line)
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
