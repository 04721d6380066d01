"""Judged answers: nuggets of nuggetizer, support and rubrics of RAGDoll, evaluations of InspectorRAGet, and ratings.

A record is the answer of a system to a topic, with its units and what was judged of them; the assessor is the file
unless it names people. A unit whose judgment failed has none, and is counted.

Support is that of the first citation of a sentence, as the TREC RAG track judges it (Thakur et al. 2025, arXiv
2504.15205, section 3.3); a sentence without citations has no support. So `Mean(criterion=cited)` is weighted precision,
`Mean` weighted recall, and with `rel=1` both are hard.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import isfinite, nan
from typing import Any

from qrowd.readers.tool_exports import NoRowError, Reader, Record, plain

ROLES = {
    "topic": ("topic_id", "narrative_id", "qid", "query_id", "task_id"),
    "system": ("run_id", "runtag", "run", "model_id"),
}
NO_JUDGMENT = ("", "none", "fail", "failed", "-1", "not_rated")
ASSIGNMENTS = {"support": 1, "partial_support": 0.5, "not_support": 0}
IMPORTANCES = ("vital", "okay", "failed")
SUPPORT = {"2": 1, "1": 0.5, "0": 0}
VERDICTS = {"satisfied": 1, "partially_satisfied": 0.5, "not_satisfied": 0}
RATINGS = {"bad": 0, "so-so": 1, "mostly_good": 2, "perfect": 3}
AUTOMATIC = ("system", "composite")  # what InspectorRAGet and MTRAG call the annotator where a program measured


def _refused(place: str, value: Any, expected: str) -> NoRowError:
    return NoRowError(f"{place} is {value!r:.60}; write {expected}")


def _answer(where: str, record: Record) -> Record:
    """The topic and the system of a record."""
    cells = {key: cell for key, cell in plain(record).items() if cell not in (None, "")}
    labels = {role: next((cells[key] for key in keys if key in cells), None) for role, keys in ROLES.items()}
    for role, label in labels.items():
        if label is None:
            raise NoRowError(f"{where}no {role}, such as {ROLES[role][0]} or {ROLES[role][-1]}; add it to the record")
    return labels


def _parts(where: str, record: Record, key: str) -> Iterator[tuple[str, Record]]:
    """The objects of a list, with their places."""
    parts = record.get(key)
    if not isinstance(parts, list):
        raise _refused(f"{where}{key}", parts, "a list")
    for number, part in enumerate(parts, start=1):
        if not isinstance(part, dict):
            raise _refused(f"{where}{key}, number {number},", part, "a JSON object")
        yield f"{where}{key}, number {number}: ", part


def _object(where: str, record: Record, key: str) -> Record:
    part = record.get(key)
    if not isinstance(part, dict):
        raise _refused(f"{where}{key}", part, "a JSON object")
    return part


def _text(where: str, record: Record, key: str) -> str:
    text = record.get(key)
    if not isinstance(text, str) or not text.strip():
        raise _refused(f"{where}{key}", text, "a text, the same wherever it is the same")
    return text


def _number(place: str, cell: Any) -> float:
    try:
        number = float(cell)
    except (TypeError, ValueError, OverflowError):
        number = nan
    if not isfinite(number):
        raise _refused(place, cell, "a number")
    return number


def _judged(where: str, unit: Record, key: str, words: Mapping[str, float], cells: Record) -> Record:
    """The row of a unit with the gain of a word; an empty one where it was not judged."""
    word = str(unit.get(key)).strip().lower().replace(" ", "_")
    if word in NO_JUDGMENT:
        return {}
    if word not in words:
        raise _refused(f"{where}{key}", unit[key], f"{', '.join(words)} or failed")
    return cells | {"value": words[word]}


def nugget_rows(record: Record) -> Iterator[Record]:
    """One row per nugget, whose criterion is its importance."""
    answer = _answer("", record)
    for where, nugget in _parts("", record, "nuggets"):
        if (importance := nugget.get("importance")) not in IMPORTANCES:
            raise _refused(f"{where}importance", importance, "vital or okay")
        cells = answer | {"criterion": importance, "unit": _text(where, nugget, "text")}
        yield _judged(where, nugget, "assignment", ASSIGNMENTS, cells)


def support_rows(record: Record) -> Iterator[Record]:
    """One row per sentence, whose criterion is whether it is cited."""
    answer = _answer("", record)
    for number, (where, sentence) in enumerate(_parts("", record, "sentences"), start=1):
        citations = list(_parts(where, sentence, "citations")) if sentence.get("citations") else []
        criterion, citation = ("cited", citations[0][1]) if citations else ("uncited", {"support": 0})
        yield _judged(where, citation, "support", SUPPORT, answer | {"criterion": criterion, "unit": number})


def rubric_rows(record: Record) -> Iterator[Record]:
    """One row per criterion of a rubric, by its type, with its weight."""
    answer = _answer("", record)
    for where, each in _parts("", record, "criteria"):
        cells = {"criterion": str(each.get("type", "explicit")), "unit": _text(where, each, "text")}
        weight = {"weight": _number(f"{where}weight", each.get("weight"))}
        yield _judged(where, each, "verdict", VERDICTS, answer | cells | weight)


def evaluation_rows(record: Record) -> Iterator[Record | None]:
    """One row per answer, criterion and annotator; None for what a program measured."""
    numbers = {
        (str(metric.get("name")), str(word.get("value"))): word.get("numeric_value")
        for where, metric in _parts("", record, "metrics")
        for _, word in (_parts(where, metric, "values") if metric.get("values") else ())
    }
    key, judged = ("results", "scores") if "results" in record else ("evaluations", "annotations")
    for where, evaluation in _parts("", record, key):
        answer = _answer(where, evaluation)
        criteria = _object(where, evaluation, judged)
        for criterion in criteria:
            annotators = _object(where, criteria, criterion)
            for annotator in annotators:
                annotation = plain(_object(f"{where}{criterion}: ", annotators, annotator))
                value = annotation.get("value")
                if annotator in AUTOMATIC:
                    yield None
                elif str(value).strip().lower() in NO_JUDGMENT:
                    yield {}
                else:
                    place = f"{where}{criterion}: value of {annotator}"
                    number = _number(place, numbers.get((criterion, str(value)), value))
                    about = {"seconds": annotation.get("duration"), "time": annotation.get("timestamp")}
                    yield answer | {"criterion": criterion, "assessor": annotator, "value": number} | about


def rating_rows(record: Record) -> Iterator[Record | None]:
    """The rating of a report; None for that of a document or of a citation."""
    if "citation" in record or "docid" in record:
        yield None
    else:
        cells = {"assessor": _text("", record, "username"), "comment": record.get("comment") or None}
        yield _judged("", record, "rating", RATINGS, _answer("", record) | cells)


def _holds(key: str, judged: str) -> Callable[[Record], bool]:
    """Whether a record has a list of objects with something judged, or an empty one."""

    def recognises(record: Record) -> bool:
        parts = record.get(key)
        return isinstance(parts, list) and (
            not parts or any(isinstance(part, dict) and judged in part for part in parts)
        )

    return recognises


NUGGETIZER = Reader(_holds("nuggets", "assignment"), nugget_rows, "no nugget was assigned", noun="nugget")
SUPPORT_OF_CITATIONS = Reader(_holds("sentences", "citations"), support_rows, "no sentence was judged", noun="sentence")
RUBRICS = Reader(_holds("criteria", "verdict"), rubric_rows, "no criterion has a verdict", noun="criterion")
INSPECTOR_RAGET = Reader(
    lambda record: record.keys() >= {"models", "metrics", "tasks"},
    evaluation_rows,
    "holds no annotation of a person or a model",
    noun="annotation",
    passed_over="what a program measured",
)
AUTOJUDGE_ANNOTATE = Reader(
    lambda record: record.keys() >= {"topic_id", "username", "rating"},
    rating_rows,
    "holds no rating of a report",
    noun="rating",
    passed_over="ratings of documents and citations",
)
