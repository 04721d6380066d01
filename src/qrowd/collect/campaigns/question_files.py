"""A question from the files of a folder: its runs, and the judgments of models."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

from qrowd import files
from qrowd.collect.campaigns.question_settings import QuestionSettings
from qrowd.collect.protocols.schema import SchemaError, read
from qrowd.collect.protocols.settings import GradesSettings
from qrowd.errors import ArgumentError, FileError, MeasureError

FILES = ("runs", "models")  # keys of [question] that name files
Pools = dict[str, dict[str, tuple[str, int] | None]]


class Place(Protocol):
    """A folder from which nobody gets out."""

    def path(self, name: str) -> Path:
        """Where a name in the folder leads."""

    def find(self, name: str) -> list[str]:
        """The files that a name, pattern or folder stands for."""


def question_and_pools(
    table: Mapping[str, Any],
    file_table: Mapping[str, Any],
    topics: Collection[str],
    folder: Place,
    usual: Callable[[str], list[str]],
) -> tuple[dict[str, Any], Pools]:
    """The table of the question with its content, and {topic: documents} that it needs.

    table : the whole one. file_table : [files]. topics : labels of those that have a text. usual : the files for a key
    of [files]; the runs are theirs where [question] names none.

    Raises
    ------
    SchemaError
        A question that cannot be read, or about topics without a text.
    FileError
        A file that cannot be read.
    """
    for key in ("pool", "depth"):
        if key in file_table:
            raise SchemaError(("files", key), "has no effect: the question decides what is judged; remove it")
    own: dict[str, Any] = table["question"]
    names: dict[str, list[str]] = {}
    for key in FILES:
        entry = own.get(key, [])
        entries = [entry] if isinstance(entry, str) else entry
        if not isinstance(entries, list) or not all(isinstance(name, str) for name in entries):
            raise SchemaError(("question", key), f"{entry!r} cannot be used; give a name or a list of names")
        try:
            names[key] = [file for name in entries for file in folder.find(name)]
        except FileError as error:
            raise SchemaError(("question", key), str(error)) from None
    runs = names["runs"] or usual("runs")
    if not runs:
        raise SchemaError(("question", "runs"), "is missing; name the files of the runs that the question compares")
    settings = {key: value for key, value in own.items() if key not in FILES}
    try:
        plan = read(QuestionSettings, settings)
    except SchemaError as error:
        raise SchemaError(("question", *error.where), error.problem, error.code) from None
    try:
        scale = read(GradesSettings, table.get("grades", {})).scale
    except SchemaError as error:
        raise SchemaError(("grades", *error.where), error.problem, error.code) from None
    content = _content(plan, scale, _read(files.read_runs, runs, folder), names["models"], folder, topics)
    return {**settings, "content": content[0]}, content[1]


def _content(
    plan: QuestionSettings, scale: str, runs: Any, models: list[str], folder: Place, topics: Collection[str]
) -> tuple[dict[str, Any], Pools]:
    from qrowd.sequential.problems import prepare  # slow to import, and needed with a question alone

    labels = _read(files.read_judgments, models, folder) if models else None
    try:
        preparation = prepare(runs, labels, question=plan.text, measure=plan.measure, scale=scale)
    except MeasureError as error:
        raise SchemaError(("question", "measure"), str(error)) from None
    except ArgumentError as error:
        text = str(error)
        key = next((key for key in (*FILES, "measure") if text.startswith(f"{key}:")), "text")
        raise SchemaError(("question", key), text.removeprefix(f"{key}: ").removeprefix("question: ")) from None
    with_text = set(topics)
    if missing := next((topic for topic in preparation.candidates.topics if topic not in with_text), None):
        raise SchemaError(("question", "runs"), f"topic {missing!r} has no text; add it to the topics")
    pools: Pools = {}
    for topic, document in (*preparation.pairs, *preparation.further_pairs):
        pools.setdefault(topic, {})[document] = None
    return preparation.to_table(), pools


def _read(read_files: Callable[[dict[str, Path]], Any], names: list[str], folder: Place) -> Any:
    """What files of the folder hold; an error names the file as the folder does."""
    paths = {files.without_endings(PurePosixPath(name)): folder.path(name) for name in names}
    if len(paths) < len(names):
        raise FileError(names[-1], "another file has the same name without its endings; rename one")
    try:
        return read_files(paths)
    except FileError as error:
        name = next((name for name in names if str(folder.path(name)) in error.path), names[0])
        raise FileError(name, error.problem, error.line) from None
