"""Whatever people hold as judgments or runs, as qrowd's own: the one place where it is converted.

A function takes `Judgments`, or a data frame (pandas, Polars, PyArrow, lazy ones too; with the columns of PyTerrier,
ir_measures, ranx ...), a list of dictionaries or named tuples, nested dictionaries, ranx's Qrels and Run, a data set of
Hugging Face, or {name: one of these}, one for each assessor or system, whose name is then the key, whatever a column
says. Without a column of assessors, everything is of the one assessor "judgments"; without a column of systems, of the
one system "run".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass, replace
from typing import Any

from qrowd.errors import ArgumentError, InputError
from qrowd.model.frames import as_frame
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.model.labels import depth_of, first_of
from qrowd.model.preferences import Preferences
from qrowd.model.runs import Runs, concatenate_runs
from qrowd.model.scores import Scores

AnyJudgments = Judgments | Iterable[Any] | Any
AnyRuns = Runs | Iterable[Any] | Any

OWN = {Judgments: "judgments", Runs: "runs", Preferences: "preferences", Scores: "scores"}
CONCATENATE: dict[type[Any], Callable[[Any], Any]] = {
    Judgments: concatenate_judgments,
    Runs: concatenate_runs,
}


def as_judgments(data: AnyJudgments, *, argument: str = "judgments") -> Judgments:
    """The data as judgments. argument : what messages call it.

    Raises
    ------
    ArgumentError
        Something else, such as runs, or rows that cannot be read.

    >>> as_judgments([{"qid": "q1", "docno": "d1", "label": 2}])
    Judgments(1 judgment: 1 topic, 1 document, 1 assessor)
    """
    judgments: Judgments = _converted(data, Judgments, argument)
    return judgments


def as_runs(data: AnyRuns, *, argument: str = "runs") -> Runs:
    """The data as runs. argument : what messages call it.

    Raises
    ------
    ArgumentError
        Something else, such as judgments, or rows that cannot be read.

    >>> as_runs({"bm25": {"q1": {"d1": 2.5, "d2": 1.0}}})
    Runs(1 system, 1 topic, 2 retrieved documents)
    """
    runs: Runs = _converted(data, Runs, argument)
    return runs


def _converted(data: object, kind: type[Any], argument: str) -> Any:
    if isinstance(data, kind):
        return data
    expected = OWN[kind]
    other = OWN.get(type(data)) or {"Qrels": "judgments", "Run": "runs"}.get(_ranx(data))
    if other is not None and other != expected:
        hint = "were runs and judgments swapped?" if {other, expected} == {"runs", "judgments"} else f"give {expected}"
        raise ArgumentError(f"{argument}: these are {other}, but {expected} were expected; {hint}")
    if isinstance(data, str | bytes) or hasattr(data, "__fspath__"):
        raise ArgumentError(
            f"{argument}: {data!r:.80} is no more than a name; read files with qrowd.read_{expected}(...)"
        )
    try:
        whole = _of(data, kind, None)
    except InputError as error:
        raise ArgumentError(f"{argument}: {error}") from None
    if not whole.topics:
        raise ArgumentError(f"{argument}: there are none")
    return whole


def _of(data: Any, kind: type[Any], name: str | None) -> Any:
    """The data as Judgments or Runs. name : of its one assessor or system, if it has one."""
    role = "system" if kind is Runs else "assessor"
    if _ranx(data):
        name = name or (data.name if kind is Runs else None)
        data = data.to_dict()
    if depth_of(data) in (2, 3):
        return kind.from_dict(data if name is None else {name: data})
    if _is_of_names(data):
        return CONCATENATE[kind]([_of(part, kind, str(key)) for key, part in data.items()])
    frame = as_frame(data)
    if name is None:
        return kind.from_frame(frame)
    whole = kind.from_frame(frame, **{role: name})
    names = getattr(whole, f"{role}s")
    if len(names) > 1:
        raise ArgumentError(
            f"{name!r} names one table, but its rows are of {len(names)} {role}s ({first_of(names, 3)}); give a table "
            "for each, or join the tables and give them without names"
        )
    return replace(whole, **{f"{role}s": (name,) * len(names)})


def _ranx(data: object) -> str:
    """The name of a type of ranx; empty for any other."""
    return type(data).__name__ if type(data).__module__.partition(".")[0] == "ranx" else ""


def _is_of_names(data: object) -> bool:
    """Whether this is {name: data} and not {column: cells}: its values are frames, rows or dictionaries."""
    if not isinstance(data, Mapping) or not data:
        return False
    value = next(iter(data.values()))
    if isinstance(value, list | tuple):
        return bool(value) and (isinstance(value[0], Mapping | tuple) or is_dataclass(value[0]))
    return isinstance(value, Mapping) or hasattr(value, "columns") or _ranx(value) != ""
