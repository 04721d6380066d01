"""The question of a campaign's folder: what `next_judgments` needs of the files that it names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from qrowd import files
from qrowd.errors import ArgumentError, FileError, MeasureError
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd_server.campaigns.plan.campaign_files import CampaignFiles
from qrowd_server.campaigns.plan.folder_files import Folder
from qrowd_server.campaigns.plan.question_settings import NUMBERS, QuestionSettings
from qrowd_server.protocols.schema import SchemaError, read
from qrowd_server.protocols.settings import GradesSettings

FILES = ("runs", "models")  # keys of [question] that name files


def question_and_pairs(
    table: Mapping[str, Any], given: CampaignFiles, topics: Collection[str]
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The table of the question with its content, and (topic, document) of what it may ask for.

    table : the whole one. given : the runs are those of [files] where [question] names none. topics : labels of those
    that have a text.

    Raises
    ------
    SchemaError
        A question that cannot be read, or about topics without a text.
    FileError
        A file that cannot be read.
    """
    for key in ("pool", "depth"):
        if key in given.table:
            raise SchemaError(("files", key), "has no effect: the question decides what is judged; remove it")
    asked: dict[str, Any] = table["question"]
    folder = given.folder
    names = {key: _names(asked, key, folder) for key in FILES}
    runs = names["runs"] or given.names("runs")
    if not runs:
        raise SchemaError(("question", "runs"), "is missing; name the files of the runs that the question compares")
    settings = {key: value for key, value in asked.items() if key not in FILES}
    question = _read_table(QuestionSettings, settings, "question")
    scale = _read_table(GradesSettings, table.get("grades", {}), "grades").scale
    models = _read_files(files.read_judgments, names["models"], folder) if names["models"] else None
    content: dict[str, Any] = {
        "runs": _table_of_runs(_read_files(files.read_runs, runs, folder)),
        "models": None if models is None else _table_of_judgments(models),
    }
    content["design"] = _first_design(replace(question, content=content), scale, table["campaign"]["seed"])
    pairs = [(topic, document) for topic, document in content["design"]["documents"]]
    for topic, _ in pairs:
        if topic not in topics:
            raise SchemaError(("question", "runs"), f"topic {topic!r} has no text; add it to the topics")
    return {**settings, "content": content}, pairs


def _names(table: Mapping[str, Any], key: str, folder: Folder) -> list[str]:
    """The files that a key of [question] names."""
    entry = table.get(key, [])
    entries = [entry] if isinstance(entry, str) else entry
    if not isinstance(entries, list) or not all(isinstance(name, str) for name in entries):
        raise SchemaError(("question", key), f"{entry!r} cannot be used; give a name or a list of names")
    try:
        return [file for name in entries for file in folder.find(name)]
    except FileError as error:
        raise SchemaError(("question", key), str(error)) from None


def _read_table(kind: type[Any], table: Mapping[str, Any], name: str) -> Any:
    try:
        return read(kind, table)
    except SchemaError as error:
        raise SchemaError((name, *error.where), error.problem, error.code) from None


def _first_design(question: QuestionSettings, scale: str, seed: Any) -> dict[str, Any]:
    """The design with its first batch."""
    from qrowd.sequential.stored import table_from_design

    try:
        first = question.next_judgments(None, scale=scale, rng=seed if isinstance(seed, int) and seed >= 0 else 1)
    except MeasureError as error:
        raise SchemaError(("question", "measure"), str(error)) from None
    except ArgumentError as error:
        text = str(error)
        key = next((key for key in (*FILES, "measure") if text.startswith(f"{key}:")), "text")
        raise SchemaError(("question", key), text.removeprefix(f"{key}: ").removeprefix("question: ")) from None
    if not first.design.documents:
        problem = "no judgment can decide it, because the systems rank the same documents alike; compare others"
        raise SchemaError(("question", "text"), problem)
    return table_from_design(first.design)


def _read_files(read_all: Callable[[dict[str, Path]], Any], names: list[str], folder: Folder) -> Any:
    """What files of the folder hold; an error names the file as the folder does."""
    paths = {files.without_endings(PurePosixPath(name)): folder.path(name) for name in names}
    if len(paths) < len(names):
        raise FileError(names[-1], "another file has the same name without its endings; rename one")
    try:
        return read_all(paths)
    except FileError as error:
        name = next((name for name in names if str(folder.path(name)) in error.path), names[0])
        raise FileError(name, error.problem, error.line) from None


def _table_of_runs(runs: Runs) -> dict[str, Any]:
    labels = {name: list(getattr(runs, name)) for name in ("systems", "topics", "documents")}
    return labels | {name: getattr(runs, name).tolist() for name in NUMBERS}


def _table_of_judgments(judgments: Judgments) -> dict[str, Any]:
    frame = judgments.to_frame()
    rows = frame[["topic", "document", "assessor", "value"]].to_numpy().tolist()
    return {"rows": rows, "scales": dict(zip(judgments.assessors, map(str, judgments.scales), strict=True))}
