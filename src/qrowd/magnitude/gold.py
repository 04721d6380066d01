"""What is known of the documents beforehand: their gold grades, and the two check documents H and N of each topic.

Every unit of a topic holds both check documents, one from each end of what relevance can be; Maddalena, Mizzaro,
Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation. ACM TOIS 35(3),
section 3.2.4.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from qrowd.errors import ArgumentError, InputError, NoOverlapError, ScaleError
from qrowd.magnitude.units import By, Floats, Rows, Units, and_more, units_of
from qrowd.model.judgments import Judgments
from qrowd.model.labels import closest

Gold = str | Judgments | Mapping[tuple[str, str], float]
"""The name of the assessor whose grades are gold, the judgments of one assessor, or {(topic, document): grade}."""
Checks = Mapping[str, tuple[str, str]] | Judgments
"""{topic: (H, N)}, or gold judgments that show which they are."""


def apart(judgments: Judgments, gold: Gold) -> tuple[Judgments, Judgments]:
    """The judgments without those of gold, and gold's own.

    Raises
    ------
    ArgumentError
        A name that nobody has.
    """
    if isinstance(gold, Judgments):
        return judgments, gold
    if not isinstance(gold, str):
        rows = ((topic, document, "gold", grade) for (topic, document), grade in gold.items())
        return judgments, Judgments.from_rows(rows)
    if gold not in judgments.assessors:
        raise ArgumentError(f"gold={gold!r}: nobody has this name; {closest(gold, judgments.assessors, 'assessor')}")
    own = judgments.select(assessors=lambda name: name == gold)
    return judgments.select(assessors=lambda name: name != gold), own


def gold_grades(judgments: Judgments, gold: Judgments) -> Floats:
    """(n,) the gold grade of the document of each judgment; nan where gold says nothing of it.

    gold : one assessor's grades, binary or 0-3 and the like; negative ones say nothing.

    Raises
    ------
    ArgumentError
        More than one gold assessor.
    ScaleError
        Gold that is not in grades.
    InputError
        A document with two gold grades.
    NoOverlapError
        No document of the judgments has a gold grade.
    """
    if len(gold.assessors) != 1:
        raise ArgumentError(
            f"gold: one assessor's grades are needed, these are of {len(gold.assessors)}; "
            f"use gold.select(assessors=...) or merge them first"
        )
    if gold.scales[0].kind not in ("binary", "graded"):
        raise ScaleError(f"gold: assessor {gold.assessors[0]} is on scale {gold.scales[0]}; levels need whole grades")
    if gold.n_repeats():
        raise InputError(
            f"gold: assessor {gold.assessors[0]} judged documents more than once (repeats: {gold.n_repeats()}); "
            "use gold.single('first'), 'last' or 'mean'"
        )
    topics = _codes(gold.topics, judgments.topics)[judgments.topic]
    documents = _codes(gold.documents, judgments.documents)[judgments.document]
    pairs = gold.pair_numbers
    wanted = topics * len(gold.documents) + documents
    order = np.argsort(pairs)
    at = order[np.minimum(np.searchsorted(pairs, wanted, sorter=order), pairs.size - 1)]
    found = (topics >= 0) & (documents >= 0) & (pairs[at] == wanted)
    grades = np.where(found & (gold.value[at] >= 0), gold.value[at], np.nan)
    if np.isnan(grades).all():
        raise NoOverlapError("gold: none of the judged documents has a gold grade; check topic and document labels")
    return grades


def check_documents(judgments: Judgments, gold: Gold, *, by: By = "unit") -> dict[str, tuple[str, str]]:
    """The check documents {topic: (H, N)} that gold points to.

    H has the topic's highest gold grade among the judged documents, N the lowest; where several do, it is the one that
    the most units hold.

    Raises
    ------
    ArgumentError
        A topic whose judged documents have fewer than two gold grades, or where two documents would serve equally.
    """
    judgments, gold = apart(judgments, gold)
    return _found_checks(units_of(judgments, by=by), gold)


def check_magnitudes(units: Units, checks: Checks | None) -> tuple[Floats, Floats]:
    """(units,) magnitude of H and of N in each unit; the geometric mean where one was judged twice.

    Raises
    ------
    ArgumentError
        No checks, none for a topic, or H and N the same document.
    InputError
        A unit without one of its check documents.
    """
    named, judgments = named_checks(units, checks), units.judgments
    number = {label: i for i, label in enumerate(judgments.documents)}
    codes = np.empty((len(judgments.topics), 2), np.int64)
    for t, topic in enumerate(judgments.topics):
        high, low = named[topic]
        codes[t] = number.get(high, -1), number.get(low, -1)
    magnitudes = []
    for which, name in enumerate("HN"):
        here = judgments.document == codes[judgments.topic, which]
        count = np.bincount(units.number[here], minlength=len(units))
        without = np.flatnonzero(count == 0)
        if without.size:
            unit = int(without[0])
            document = named[judgments.topics[units.topic[unit]]][which]
            raise InputError(
                f"{units.describe(unit)}: the check document {name}, {document}, is not in it{and_more(without.size)}; "
                f"correct checks, or leave such units out"
            )
        once = np.bincount(units.number[here], judgments.value[here], minlength=len(units))
        logs = np.bincount(units.number[here], units.logs[here], minlength=len(units))
        magnitudes.append(np.where(count == 1, once, np.exp(logs / count)))  # no logarithm where there is no need
    return magnitudes[0], magnitudes[1]


def named_checks(units: Units, checks: Checks | None) -> Mapping[str, tuple[str, str]]:
    """{topic: (H, N)} for every topic of the units, named or found in gold."""
    if checks is None:
        raise ArgumentError("checks: say which documents they are, as {topic: (H, N)} or by gold judgments")
    if isinstance(checks, Judgments):
        return _found_checks(units, checks)
    for topic in units.judgments.topics:
        if topic not in checks:
            raise ArgumentError(f"checks: topic {topic} has none; give {{{topic!r}: (H, N)}}")
        high, low = checks[topic]
        if high == low:
            raise ArgumentError(f"checks: topic {topic} has {high} as both H and N; two documents are needed")
    return checks


def _found_checks(units: Units, gold: Judgments) -> dict[str, tuple[str, str]]:
    judgments = units.judgments
    grades = gold_grades(judgments, gold)
    # In how many units each (topic, document) stands.
    pair = judgments.pair_numbers
    pairs, first, of_row = np.unique(pair, return_index=True, return_inverse=True)
    in_unit = np.unique(of_row * len(units) + units.number)
    held = np.bincount(in_unit // len(units), minlength=pairs.size)
    topic, document, grade = judgments.topic[first], judgments.document[first], grades[first]
    found = {}
    for t, name in enumerate(judgments.topics):
        here = np.flatnonzero((topic == t) & ~np.isnan(grade))
        if np.unique(grade[here]).size < 2:
            raise ArgumentError(
                f"topic {name}: its judged documents have fewer than two different gold grades, so nothing shows which "
                f"are the check documents; name them, as checks={{{name!r}: (H, N)}}"
            )
        ends = (here[grade[here] == end] for end in (grade[here].max(), grade[here].min()))
        high, low = (judgments.documents[document[_most_held(rows, held, name, units)]] for rows in ends)
        found[name] = (high, low)
    return found


def _most_held(rows: Rows, held: Rows, topic: str, units: Units) -> int:
    most = rows[held[rows] == held[rows].max()]
    if most.size > 1:
        raise ArgumentError(
            f"topic {topic}: gold shows {most.size} documents at one end that equally many units hold; "
            f"name the check documents, as checks={{{topic!r}: (H, N)}}"
        )
    return int(most[0])


def _codes(known: tuple[str, ...], labels: tuple[str, ...]) -> Rows:
    """(labels,) place of each label among the known ones; -1 where it is none of them."""
    place = {label: i for i, label in enumerate(known)}
    return np.array([place.get(label, -1) for label in labels], np.int64)
