"""A campaign from a folder: `campaign.toml`, and the files it names or that have the usual names.

Nothing outside the folder is ever read: no absolute path, no "..", no symbolic link that leads out. A zip of such a
folder is read the same way, after its members have been looked at.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from qrowd import files as core_files
from qrowd.errors import ArgumentError, FileError, MeasureError
from qrowd.model.judgments import Judgments
from qrowd.model.labels import first_of
from qrowd.model.pools import Lists, checks_from_gold, pool_of
from qrowd.model.runs import Runs
from qrowd_server.campaigns.plan.campaign_files import (
    MAX_UNPACKED,
    CampaignFiles,
    Entry,
    Folder,
    Place,
    read_check_file,
    read_context_file,
    read_document_files,
    read_gold_judgments,
    read_gold_questions,
    read_pool_file,
    read_question_file,
    read_run_files,
    read_topic_file,
    unpack_zip,
)
from qrowd_server.campaigns.plan.gold_questions import gold_labels
from qrowd_server.campaigns.plan.guidelines import read_guidelines
from qrowd_server.campaigns.plan.plan import Plan
from qrowd_server.campaigns.plan.plan_tables import PlanTable, arms_of, plan_from_table, read_settings
from qrowd_server.campaigns.plan.question_settings import NUMBERS, QuestionSettings
from qrowd_server.protocols.setting_fields import SchemaError, Where, no_such, path, read
from qrowd_server.protocols.settings import SETTINGS, GradesSettings, MagnitudeSettings, with_preset

TOML = "campaign.toml"
DEPTH = 10
FILES = ("runs", "models")  # keys of [question] that name files


def read_folder(path: str | os.PathLike[str]) -> Plan:
    """The plan that a folder, or one TOML file in a folder, describes.

    [campaign] name, title, protocol, seed, lease_minutes, consent, instructions, practice_instructions, checks,
    questions, preset, language, retention_days.
    [magnitude], [grades] or [preference], or [arms.NAME.PROTOCOL] for each of several arms: settings. [journey]:
    settings. [panel]: where assessors come from.
    [question]: a question about systems, with runs and models (files); it decides what is judged.
    [gold]: settings of gold questions, which the file `gold` holds.
    [files] topics, documents, pool, runs, depth, checks, gold, questions, context; what is not named is looked for
    under its usual name (`campaign_files.USUAL`). topics and documents may be of a data set of ir_datasets, "irds:ID".

    Without a seed each reading draws a fresh one.
    """
    place = Path(path)
    toml = place if place.is_file() else place / TOML
    if not toml.is_file():
        raise FileError(toml, "there is no such file; a campaign's folder holds one")
    return _read(Folder(toml.parent.resolve(), data_sets=True), toml.name)


def plan_from_zip(content: bytes, *, max_unpacked: int = MAX_UNPACKED) -> Plan:
    """The plan that a zip of a folder describes; `campaign.toml` stands at its top, or in its only folder."""
    with TemporaryDirectory(prefix="qrowd-") as name:
        root = Path(name).resolve()
        unpack_zip(content, root, max_unpacked=max_unpacked)
        if not (root / TOML).is_file():
            inside = [entry for entry in root.iterdir() if (entry / TOML).is_file()]
            if len(inside) != 1:
                raise FileError("zip", f"holds no {TOML}; pack the folder that holds it")
            root = inside[0]
        return plan_from_parts(root, max_unpacked=max_unpacked)


def plan_from_parts(root: Path, *, max_unpacked: int = MAX_UNPACKED) -> Plan:
    """The plan of a folder that somebody sent: as `read_folder`, without data sets of ir_datasets."""
    return _read(Folder(root.resolve(), max_unpacked), TOML)


def _read(folder: Folder, toml: str) -> Plan:
    text = folder.bytes(toml)
    table = core_files.parse_toml(text, toml)
    allowed = ("campaign", *SETTINGS, "arms", "journey", "panel", "question", "gold", "files")
    places: dict[Where, Place] = {}
    try:
        for key in table:
            if key not in allowed:
                raise SchemaError((key,), no_such("table", key, allowed))
        for key in allowed:
            if not isinstance(table.get(key, {}), dict):
                raise SchemaError((key,), f"is a table; write [{key}]")
        table = with_preset(table)
        files = CampaignFiles(folder, table.pop("files", {}))
        return plan_from_table(table | _joined(files, table, places))
    except SchemaError as error:
        raise placed(error, places, toml, text.decode()) from None


# ---- topics and documents from all files


class _Topics:
    """The topics as tables, to which other files add. places : where each part stands, by its path in the plan."""

    def __init__(self, entries: Sequence[Entry], places: dict[Where, Place]) -> None:
        self.tables: dict[str, dict[str, Any]] = {entry.topic: entry.value for entry in entries}
        self.where = {label: ("topics", i) for i, label in enumerate(self.tables)}
        self.places = places
        places.update((self.where[entry.topic], entry.place) for entry in entries)

    def put(self, entry: Entry, key: str) -> None:
        """Set a key, which must be new."""
        table = self._table(entry)
        if key in table:
            name, line = entry.place
            has = "its checks" if key == "checks" else f"a {key}"
            raise FileError(name, f"topic {entry.topic!r} has {has} already; keep one line", line)
        table[key] = entry.value
        self.places[(*self.where[entry.topic], key)] = entry.place

    def append(self, entry: Entry, key: str) -> None:
        """Append to the list of a key."""
        values = self._table(entry).setdefault(key, [])
        self.places[(*self.where[entry.topic], key, len(values))] = entry.place
        values.append(entry.value)

    def _table(self, entry: Entry) -> dict[str, Any]:
        if entry.topic not in self.tables:
            name, line = entry.place
            raise FileError(name, f"there is no topic {entry.topic!r}; add it to the topics, or remove the line", line)
        return self.tables[entry.topic]


def _joined(files: CampaignFiles, table: dict[str, Any], places: dict[Where, Place]) -> dict[str, Any]:
    """Topics and documents as `plan_from_table` takes them; `places` is filled with where they stand."""
    head = table.setdefault("campaign", {})
    head.setdefault("seed", secrets.randbits(62))
    whole = read_settings(table)
    arms = tuple(arms_of(whole).values())
    magnitude = any(isinstance(settings, MagnitudeSettings) for settings in arms)
    _refuse_unused(files.table, whole, magnitude=magnitude, question="question" in table)
    entries = read_topic_file(files)
    labels = [entry.topic for entry in entries]
    runs: Lists | None = None
    pool: list[Entry] | None
    if "question" in table:
        table["question"], pairs = question_and_pairs(table, files, labels)
        pool = [Entry(topic, document, _of_documents(files)) for topic, document in pairs]
        entries = [entry for entry in entries if entry.topic in {topic for topic, _ in pairs}]
    else:
        runs = read_run_files(files, labels)
        pool = _pool(files, labels, runs)
    if pool is None and len(labels) > 1:
        raise SchemaError(("files",), f"what is judged for each of {len(labels)} topics is missing; name runs or pool")
    topics = _Topics(entries, places)
    gold: set[tuple[str, str]] = set()
    if not magnitude and "question" not in table and ("gold" in table or "gold" in files.table):
        table.setdefault("gold", {})
        highest = next((settings.maximum for settings in arms if isinstance(settings, GradesSettings)), None)
        for entry in read_gold_questions(files, 0 if whole.gold is None else whole.gold.tolerance, highest):
            topics.append(entry, "gold")
            gold |= {(entry.topic, label) for label in gold_labels([entry.value])}
    for entry in pool or ():
        if (entry.topic, entry.value) not in gold:
            topics.append(entry, "pool")
    wanted = None
    depth = files.table.get("depth", DEPTH)
    if pool is not None:
        wanted = {entry.value for entry in pool} | {label for _, label in gold}
        for label, topic in topics.tables.items():
            topic.setdefault("pool", [])
            if runs is not None:
                topic["systems"] = {system: list(ranking[:depth]) for system, ranking in runs[label].items()}
    read_guidelines(head, files.folder.bytes)
    documents = read_document_files(files, wanted)
    places.update((("documents", i), place) for i, (_, place) in enumerate(documents))
    rows = [row for row, _ in documents]
    if magnitude and whole.campaign.checks:
        for entry in _checks(files, topics.tables, [row["label"] for row in rows], head["seed"]):
            topics.put(entry, "checks")
    if whole.campaign.questions is not False:
        for entry in read_question_file(files):
            topics.put(entry, "question")
    for entry in read_context_file(files):
        topics.append(entry, "context")
    return {"topics": list(topics.tables.values()), "documents": rows}


def _of_documents(files: CampaignFiles) -> Place:
    """The place that is to blame for a document of a run that has no text."""
    return first_of(files.names("documents"), 2), None


def _pool(files: CampaignFiles, topics: Collection[str], runs: Lists | None) -> list[Entry] | None:
    """What is judged: what runs retrieved, and what the pool file lists; None without either."""
    if runs is None and not files.names("pool"):
        return None
    entries: dict[tuple[str, str], Entry] = {}
    if runs is not None:
        place = _of_documents(files)
        for topic in topics:
            try:
                documents = pool_of(runs[topic], files.table.get("depth", DEPTH))
            except ArgumentError as error:
                raise SchemaError(("files", "depth"), str(error)) from None
            entries.update(((topic, document), Entry(topic, document, place)) for document in documents)
    entries.update(((entry.topic, entry.value), entry) for entry in read_pool_file(files))
    return list(entries.values())


def _checks(
    files: CampaignFiles, topics: Mapping[str, Mapping[str, Any]], documents: Sequence[str], seed: int
) -> list[Entry]:
    """The check documents of every topic: those a file names, else by gold grades."""
    checks = read_check_file(files)
    in_file = {entry.topic for entry in checks}
    pools = {label: topic.get("pool", documents) for label, topic in topics.items() if label not in in_file}
    if pools and (gold := read_gold_judgments(files)) is not None:
        name, judgments = gold
        try:
            by_gold = checks_from_gold(judgments, pools, seed)
        except ArgumentError as error:
            raise FileError(name, str(error)) from None
        checks += [Entry(label, list(pair), (name, 1)) for label, pair in by_gold.items()]
    return checks


def _refuse_unused(files: Mapping[str, Any], whole: PlanTable, *, magnitude: bool, question: bool) -> None:
    """Refuse named files of check documents and of gold that would do nothing. files : [files]."""
    with_checks = magnitude and whole.campaign.checks
    used = {"checks": with_checks, "gold": with_checks or not (magnitude or question)}
    for key, is_used in used.items():
        if key in files and not is_used:
            reason = "checks are of magnitudes; gold questions of grades and preferences, without a question"
            raise SchemaError(("files", key), f"{files[key]!r} would do nothing: {reason}; remove the line")


# ---- a question


def question_and_pairs(
    table: Mapping[str, Any], given: CampaignFiles, topics: Collection[str]
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The table of the question with its content, and (topic, document) of what it may ask for.

    table : the whole one. given : the runs are those of [files] where [question] names none. topics : labels of those
    that have a text.
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
    models = _read_files(core_files.read_judgments, names["models"], folder) if names["models"] else None
    content: dict[str, Any] = {
        "runs": _table_of_runs(_read_files(core_files.read_runs, runs, folder)),
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
    from qrowd.sequential.design import table_from_design

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
    paths = {core_files.without_endings(PurePosixPath(name)): folder.path(name) for name in names}
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


# ---- where a mistake stands


def placed(error: SchemaError, places: Mapping[Where, Place], toml: str, text: str) -> FileError:
    """The error by file and line. places : of parts of the table; text : of the TOML file, for all others."""
    for n in range(len(error.where), 0, -1):
        if (place := places.get(error.where[:n])) is not None:
            of_list = isinstance(error.where[-1], int) and n == len(error.where) - 1
            rest = path(error.where[n - of_list :])
            return FileError(place[0], f"{rest}: {error.problem}" if rest else error.problem, place[1])
    problem = f"{path(error.where)}: {error.problem}" if error.where else error.problem
    return FileError(toml, problem, _line_of(text, error.where))


def _line_of(text: str, where: Where) -> int | None:
    """The line on which a key or its table stands in the TOML file, as far as plain looking tells."""
    names = [str(part) for part in where]
    section: list[str] = []
    heading_line = None
    for number, line in enumerate(text.split("\n"), start=1):
        if heading := re.match(r"\s*\[\s*([\w.-]+)\s*\]", line):
            section = heading[1].split(".")
            heading_line = number if section[: len(names)] == names[: len(section)] else heading_line
        elif section == names[: len(section)]:
            key = re.match(r"\s*([\w-]+)\s*=", line)
            if key and key[1] in names[len(section) :]:
                return number
    return heading_line
