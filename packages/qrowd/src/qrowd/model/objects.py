"""Whatever people hold as judgments, runs or preferences, as qrowd's own: the one place where it is converted.

A function takes `Judgments`, or a data frame (pandas, Polars, PyArrow, lazy ones too; with the columns of PyTerrier,
ir_measures, ranx ...), a list of dictionaries or named tuples, nested dictionaries, ranx's Qrels and Run, a data set of
Hugging Face, or {name: one of these}, one for each assessor or system, whose name is then the key, whatever a column
says. Without a column of assessors, everything is of the one assessor "judgments"; without a column of systems, of the
one system "run".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from qrowd.errors import ArgumentError, InputError
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.model.labels import first_of
from qrowd.model.preferences import Preferences, concatenate_preferences
from qrowd.model.runs import Runs, concatenate_runs
from qrowd.model.scores import Names, Scores
from qrowd.model.tabular import as_frame, depth_of, is_row, library_of

Whole = TypeVar("Whole", Judgments, Preferences, Runs)

AnyJudgments = Judgments | Iterable[Any] | Any
AnyRuns = Runs | Iterable[Any] | Any


def as_judgments(data: AnyJudgments, *, argument: str = "judgments") -> Judgments:
    """The data as judgments. argument : what messages call it.

    Raises
    ------
    ArgumentError
        Something else, such as runs, or rows that cannot be read.

    >>> as_judgments([{"qid": "q1", "docno": "d1", "label": 2}])
    Judgments(1 judgment: 1 topic, 1 document, 1 assessor)
    """
    return _converted(data, Judgments, argument, _judgments_of)


def as_runs(data: AnyRuns, *, argument: str = "runs") -> Runs:
    """The data as runs. argument : what messages call it.

    Raises
    ------
    ArgumentError
        Something else, such as judgments, or rows that cannot be read.

    >>> as_runs({"bm25": {"q1": {"d1": 2.5, "d2": 1.0}}})
    Runs(1 system, 1 topic, 2 retrieved documents)
    """
    return _converted(data, Runs, argument, _runs_of)


def as_preferences(data: Preferences | Any, *, argument: str = "preferences") -> Preferences:
    """The data as preferences. argument : what messages call it.

    Raises
    ------
    ArgumentError
        Something else, such as judgments, or rows that cannot be read.
    """
    return _converted(data, Preferences, argument, _preferences_of)


OWN = {Judgments: "judgments", Runs: "runs", Preferences: "preferences", Scores: "scores"}
INSTEAD = {
    ("runs", "judgments"): "were runs and judgments swapped?",
    ("judgments", "runs"): "were runs and judgments swapped?",
    ("runs", "scores"): "qrowd.comparison and qrowd.reports.comparison.compare_scores take scores",
    ("judgments", "scores"): "functions of scores are in qrowd.comparison",
    ("preferences", "scores"): "functions of scores are in qrowd.comparison",
    ("judgments", "preferences"): "make grades of them with qrowd.preferences.to_grades",
    ("preferences", "judgments"): "make preferences of them with qrowd.preferences.from_grades",
}


def _converted(data: object, kind: type[Whole], argument: str, convert: Callable[[Any, str | None], Whole]) -> Whole:
    if isinstance(data, kind):
        return data
    expected = OWN[kind]
    other = OWN.get(type(data)) or {"Qrels": "judgments", "Run": "runs"}.get(_ranx(data))
    if other is not None and other != expected:
        question = INSTEAD.get((expected, other), f"give {expected}")
        raise ArgumentError(f"{argument}: these are {other}, but {expected} were expected; {question}")
    if isinstance(data, str | bytes) or hasattr(data, "__fspath__"):
        raise ArgumentError(
            f"{argument}: {data!r:.80} is no more than a name; read files with qrowd.read_{expected}(...)"
        )
    try:
        whole = convert(data, None)
    except InputError as error:
        raise ArgumentError(f"{argument}: {error}") from None
    if not whole.topics:
        raise ArgumentError(f"{argument}: there are none")
    return whole


def _judgments_of(data: Any, assessor: str | None) -> Judgments:
    if _ranx(data):
        data = data.to_dict()
    if depth_of(data) in (2, 3):
        return Judgments.from_dict(data if assessor is None else {assessor: data})
    if _is_of_names(data):
        return concatenate_judgments([_judgments_of(part, str(name)) for name, part in data.items()])
    frame = as_frame(data)
    _refuse_other(frame, "judgments")
    if assessor is None:
        return Judgments.from_frame(frame)
    judgments = Judgments.from_frame(frame, assessor=assessor)
    return replace(judgments, assessors=_renamed(judgments.assessors, assessor, "assessors"))


def _runs_of(data: Any, system: str | None) -> Runs:
    if _ranx(data):
        system = system or data.name
        data = data.to_dict()
    if depth_of(data) in (2, 3):
        return Runs.from_dict(data if system is None else {system: data})
    if _is_of_names(data):
        return concatenate_runs([_runs_of(part, str(name)) for name, part in data.items()])
    if isinstance(data, Sequence) and not isinstance(data, str) and data and _ranx(data[0]):
        return concatenate_runs([_runs_of(run, run.name or f"run {n}") for n, run in enumerate(data, start=1)])
    frame = as_frame(data)
    _refuse_other(frame, "runs")
    if system is None:
        return Runs.from_frame(frame)
    runs = Runs.from_frame(frame, system=system)
    return replace(runs, systems=_renamed(runs.systems, system, "systems"))


def _preferences_of(data: Any, assessor: str | None) -> Preferences:
    if _is_of_names(data):
        return concatenate_preferences([_preferences_of(part, str(name)) for name, part in data.items()])
    frame = as_frame(data)
    if assessor is None:
        return Preferences.from_frame(frame)
    preferences = Preferences.from_frame(frame, assessor=assessor)
    return replace(preferences, assessors=_renamed(preferences.assessors, assessor, "assessors"))


def _renamed(names: Names, key: str, noun: str) -> Names:
    """The names in the part of a dictionary under this key: the key is the name, whatever a column says."""
    if len(names) > 1:
        raise ArgumentError(
            f"{key!r} names one table, but its rows are of {len(names)} {noun} ({first_of(names, 3)}); give a table "
            "for each, or join the tables and give them without names"
        )
    return (key,) * len(names)


def _ranx(data: object) -> str:
    """The name of a type of ranx; empty for any other."""
    return type(data).__name__ if library_of(data) == "ranx" else ""


def _is_of_names(data: object) -> bool:
    """Whether this is {name: data} and not {column: cells}: its values are frames, rows or dictionaries."""
    if not isinstance(data, Mapping) or library_of(data) == "datasets" or not data:
        return False
    value = next(iter(data.values()))
    if isinstance(value, list | tuple):
        return bool(value) and is_row(value[0])
    return isinstance(value, Mapping) or hasattr(value, "columns") or _ranx(value) != ""


def _refuse_other(frame: Any, expected: str) -> None:
    """A table of runs, whose scores would pass for judgments, or one of judgments instead of runs."""
    from qrowd.model.headers import RUN_COLUMNS, is_called, kind_of

    names = list(frame) if isinstance(frame, Mapping) else list(getattr(frame, "column_names", None) or frame.columns)
    kind = kind_of(names)
    ranked = is_called(names, (*RUN_COLUMNS["rank"], *(RUN_COLUMNS["score"] if expected == "runs" else ())))
    if {kind, expected} == {"runs", "judgments"} and ranked == (expected == "judgments"):
        raise ArgumentError(f"the columns {', '.join(names)} are those of {kind}; were runs and judgments swapped?")
