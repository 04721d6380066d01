"""A campaign from a folder: `campaign.toml`, and the files it names or that have the usual names.

Nothing outside the folder is ever read: no absolute path, no "..", no symbolic link that leads out. A zip of such a
folder is read the same way, after its members have been looked at.
"""

from __future__ import annotations

import io
import os
import re
import secrets
import stat
import tomllib
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath, PureWindowsPath
from tempfile import TemporaryDirectory
from typing import Any

from qrowd import tables, trec
from qrowd.collect.campaigns.known_answers import (
    find_checks,
    gold_questions,
    no_parquet,
    refuse_unused,
    the_topic,
)
from qrowd.collect.campaigns.places import Place, placed
from qrowd.collect.campaigns.plan import MAX_DOCUMENTS, Plan
from qrowd.collect.campaigns.plan_tables import plan_from_table
from qrowd.collect.campaigns.question_settings import question_and_pools
from qrowd.collect.campaigns.shown_files import PDF, ShownFiles, pdf_as, read_guidelines
from qrowd.collect.campaigns.web_pages import ENDINGS
from qrowd.collect.protocols.presets import with_preset
from qrowd.collect.protocols.schema import SchemaError, Where, no_such
from qrowd.collect.protocols.settings import SETTINGS
from qrowd.errors import ArgumentError, FileError
from qrowd.files import read_bytes, without_endings
from qrowd.model.labels import first_of
from qrowd.model.pools import lists_of, pool_of, within
from qrowd.model.runs import concatenate_runs
from qrowd.readers import irds
from qrowd.texts import Row, read_documents, read_fields, read_objects, read_page, read_topics

TOML = "campaign.toml"
PAGES = (".txt", ".html", ".htm")
MAX_BYTES = 1 << 30  # of all files together, unpacked

USUAL = {
    "topics": ("topics.tsv", "topics.csv", "topics.jsonl", "topics.trec", "topics.txt", "topics.xml"),
    "documents": ("documents.jsonl", "documents.csv", "documents.tsv", "documents.trec", "documents.sgml", "documents"),
    "runs": ("runs",),
    "pool": ("pool.txt", "pool.qrels"),
    "gold": ("gold.qrels", "gold.txt"),
    "checks": ("checks.txt",),
    "questions": ("questions.jsonl",),
    "context": ("context.jsonl",),
}
SEVERAL = ("documents", "runs")
DEPTH = 10

Pools = dict[str, dict[str, tuple[str, int] | None]]  # {topic: {document: the file and line that list it}}

MAX_ZIP = 256 << 20  # bytes, packed
MAX_UNPACKED = 512 << 20
MAX_MEMBERS = 50_000
MAX_RATIO = 200
FREE = 1 << 20  # so much may be unpacked at any ratio


def read_folder(path: str | os.PathLike[str]) -> Plan:
    """The plan that a folder, or one TOML file in a folder, describes.

    [campaign] name, title, protocol, seed, lease_minutes, consent, instructions, practice_instructions, checks,
    questions, preset, language, retention_days.
    [magnitude], [grades] or [preference], or [arms.NAME.PROTOCOL] for each of several arms: settings. [journey]:
    settings. [panel]: where assessors come from.
    [question]: a question about systems, with runs and models (files); it decides what is judged.
    [gold]: settings of gold questions, which the file `gold` holds.
    [files] topics, documents, pool, runs, depth, checks, gold, questions, context; what is not named is looked for
    under its usual name (`USUAL`). topics and documents may be of a data set of ir_datasets, "irds:ID".

    Without a seed each reading draws a fresh one.

    Raises
    ------
    FileError
        Whatever cannot be read or could not work, by file and where possible by line.
    """
    place = Path(path)
    toml = place if place.is_file() else place / TOML
    if not toml.is_file():
        raise FileError(toml, "there is no such file; a campaign's folder holds one")
    return _read(Folder(toml.parent.resolve(), data_sets=True), toml.name)


def plan_from_zip(content: bytes, *, max_unpacked: int = MAX_UNPACKED) -> Plan:
    """The plan that a zip of a folder describes; `campaign.toml` stands at its top, or in its only folder.

    Raises
    ------
    FileError
        What is no zip, too large, packed too tightly, encrypted, or holds a name that leads elsewhere; and as for
        `read_folder`.
    """
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


def unpack_zip(content: bytes, root: Path, *, max_unpacked: int = MAX_UNPACKED) -> None:
    """Unpack a zip that somebody sent into a folder.

    Raises
    ------
    FileError
        As for `plan_from_zip`.
    """
    if len(content) > MAX_ZIP:
        raise FileError("zip", f"{len(content)} bytes are more than {MAX_ZIP}; leave out what no pool needs")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _unpack(archive, root, max_unpacked)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError("zip", f"cannot be unpacked ({error}); pack the folder again") from None
    except OSError as error:
        raise FileError("zip", f"cannot be unpacked ({error.strerror}); rename its members") from None


# ---- the folder, from which nobody gets out


@dataclass
class Folder:
    """A folder, how many bytes may still be read from it, and whether it may name data sets of ir_datasets."""

    root: Path
    left: int = MAX_BYTES
    data_sets: bool = False

    def path(self, name: str) -> Path:
        """Where a name in the folder leads; it must not lead out."""
        _inside(name)
        try:
            target = (self.root / name).resolve()
        except (OSError, RuntimeError) as error:
            raise FileError(name, f"cannot be read: {error}") from None
        if not target.is_relative_to(self.root):
            raise FileError(name, "leads out of the folder; put the file itself into the folder")
        return target

    def find(self, name: str) -> list[str]:
        """The files a name, pattern or folder stands for, by their names in the folder, sorted; or the one data set."""
        if name.startswith(irds.PREFIX):
            if not self.data_sets:
                raise FileError(name, "data sets are read by `qrowd campaign create` only; put a file into the folder")
            return [name]
        _inside(name)
        if any(sign in name for sign in "*?["):
            try:
                matches = sorted(self.root.glob(name))
            except (ValueError, NotImplementedError, OSError) as error:
                raise FileError(name, f"is no pattern: {error}") from None
        else:
            path = self.path(name)
            if not path.exists():
                raise FileError(name, "there is no such file")
            matches = sorted(self.root.joinpath(name).iterdir()) if path.is_dir() else [self.root / name]
        names = [m.relative_to(self.root).as_posix() for m in matches if not m.name.startswith(".")]
        files = [one for one in names if self.path(one).is_file()]
        if not files:
            raise FileError(name, "no file is there")
        return files

    def bytes(self, name: str) -> bytes:
        """What a file holds, unpacked where it is gzip."""
        content = read_bytes(self.path(name), name=name, most=self.left)
        self.left -= len(content)
        return content


def _inside(name: str) -> None:
    posix, windows = PurePosixPath(name), PureWindowsPath(name)
    out = posix.is_absolute() or windows.drive or windows.root or ".." in posix.parts or ".." in windows.parts
    if not name or "\x00" in name or out:
        raise FileError(name or "''", "is no name inside the folder; give one without '..' that starts there")


def _unpack(archive: zipfile.ZipFile, root: Path, most: int) -> None:
    members = archive.infolist()
    if len(members) > MAX_MEMBERS:
        raise FileError("zip", f"{len(members)} members are more than {MAX_MEMBERS}; put documents into one file")
    names: set[str] = set()
    for member in members:
        name = member.orig_filename
        _inside(name.rstrip("/"))
        kind = stat.S_IFMT(member.external_attr >> 16)
        if "\\" in name or kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise FileError(f"zip, {name}", "is no plain file or folder; pack the files themselves")
        if member.flag_bits & 1:
            raise FileError(f"zip, {name}", "is encrypted; pack without a password")
        if name in names:
            raise FileError(f"zip, {name}", "is there twice; remove one")
        names.add(name)
        target = root / name
        if member.is_dir():
            target.mkdir(parents=True, exist_ok=True)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(member) as packed, target.open("wb") as plain:
            size = 0
            while part := packed.read(1 << 20):  # what it holds counts, not what it says it holds
                size, most = size + len(part), most - len(part)
                if most < 0 or size > max(FREE, MAX_RATIO * member.compress_size):
                    raise FileError(f"zip, {name}", "unpacks to too much; leave out what no pool needs")
                plain.write(part)


# ---- reading


@dataclass
class Reading:
    """What has been read so far; places : the file and line of each part of the table, by its path in the table."""

    folder: Folder
    toml: str
    files: Mapping[str, Any]
    places: dict[Where, Place] = field(default_factory=dict)

    def names(self, key: str) -> list[str]:
        """The files for a key of [files]: those named, else the first usual one that exists."""
        entry = self.files.get(key)
        if entry is None:
            usual = next((name for name in USUAL[key] if self.folder.path(name).exists()), None)
            return [] if usual is None else self.folder.find(usual)
        entries = entry if isinstance(entry, list) and key in SEVERAL else [entry]
        if not all(isinstance(name, str) for name in entries):
            kind = "a name or a list of names" if key in SEVERAL else "a name"
            raise SchemaError(("files", key), f"{entry!r} cannot be used; give {kind}")
        names = [file for name in entries for file in self.folder.find(name)]
        if len(names) > 1 and key not in SEVERAL:
            raise SchemaError(("files", key), f"{entry!r} stands for {len(names)} files; name one")
        return list(dict.fromkeys(names))


def _read(folder: Folder, toml: str) -> Plan:
    text = folder.bytes(toml)
    try:
        table = tomllib.loads(text.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        line = re.search(r"line (\d+)", str(error))
        raise FileError(toml, f"is not valid TOML: {error}", int(line[1]) if line else None) from None
    allowed = ("campaign", *SETTINGS, "arms", "journey", "panel", "question", "gold", "files")
    reading = Reading(folder, toml, {})
    try:
        for key in table:
            if key not in allowed:
                raise SchemaError((key,), no_such("table", key, allowed))
        for key in allowed:
            if not isinstance(table.get(key, {}), dict):
                raise SchemaError((key,), f"is a table; write [{key}]")
        table = with_preset(table)
        reading.files = table.pop("files", {})
        for key in reading.files:
            if key not in (*USUAL, "depth"):
                raise SchemaError(("files", key), no_such("key", key, (*USUAL, "depth")))
        return plan_from_table(table | _material(reading, table))
    except SchemaError as error:
        raise placed(error, reading.places, reading.toml, text.decode()) from None


def _material(reading: Reading, table: dict[str, Any]) -> dict[str, Any]:
    """Topics and documents, as `plan_from_table` takes them."""
    head = table.setdefault("campaign", {})
    if "seed" not in head:
        head["seed"] = secrets.randbits(62)
    protocols = _protocols(table)
    topics = _topics(reading)
    by_label: dict[str, dict[str, Any]] = {topic["label"]: topic for topic in topics}
    runs = pools = None
    if "question" in table:
        table["question"], pools = question_and_pools(table, reading.files, by_label, reading.folder, reading.names)
        topics = [topic for topic in topics if topic["label"] in pools]  # those that can change the answer
        by_label = {topic["label"]: topic for topic in topics}
        reading.places.clear()  # they count the topics that were left out
    else:
        runs = _lists(reading, by_label)
        pools = _pools(reading, by_label, runs)
    if pools is None and len(by_label) > 1:
        problem = f"what is judged for each of {len(by_label)} topics is missing; name runs or pool"
        raise SchemaError(("files",), problem)
    place = {label: ("topics", i) for i, label in enumerate(by_label)}
    of_gold = gold_questions(reading, table, by_label, protocols)
    if pools is not None:
        for label, questions in of_gold.items():
            for document in questions:
                pools[label].pop(document, None)
        for label, topic in by_label.items():
            topic["pool"] = list(pools[label])
            for n, document in enumerate(topic["pool"]):
                if (origin := pools[label][document]) is not None:
                    reading.places[(*place[label], "pool", n)] = origin
            if runs is not None and _compares(table):
                topic["systems"] = {s: list(ranking) for s, ranking in within(runs[label], pools[label]).items()}
    wanted = None if pools is None else {d for part in (pools, of_gold) for labels in part.values() for d in labels}
    read_guidelines(head, reading.folder.bytes)
    documents = _documents(reading, wanted, pdf_as(head))
    texts, names = {row["label"] for row in documents}, reading.names("documents")
    files = first_of(names, 2)
    for label, pool in (pools or {}).items():
        for n, (document, origin) in enumerate(pool.items()):
            if origin is None and document not in texts:  # a run ranks it, so no line of a pool file is to blame
                reading.places[(*place[label], "pool", n)] = files, None
    refuse_unused(reading, table, protocols)
    if "magnitude" in protocols and head.get("checks", True) is not False:
        everything = {label: [row["label"] for row in documents] for label in by_label}
        find_checks(reading, by_label, everything if pools is None else pools, head["seed"])
    for name in reading.names("questions") if head.get("questions") is not False else ():
        for line, label, row in read_objects(reading.folder.bytes(name), name):
            topic = the_topic(by_label, label, name, line)
            if "question" in topic:
                raise FileError(name, f"topic {label!r} has a question already; keep one", line)
            topic["question"] = row
            reading.places[(*place[label], "question")] = name, line
    for name in reading.names("context"):
        for line, label, row in read_objects(reading.folder.bytes(name), name):
            topic = the_topic(by_label, label, name, line)
            reading.places.setdefault((*place[label], "context"), (name, line))
            snippets = row.get("snippets")
            if len(row) != 1 or not isinstance(snippets, list):
                raise FileError(name, 'expected {"topic": ..., "snippets": [...]}, a list of texts', line)
            topic["context"] = [*topic.get("context", []), *snippets]
    return {"topics": topics, "documents": documents}


def _compares(table: Mapping[str, Any]) -> bool:
    """Whether a protocol looks at systems: preferences, and grades by utility or with a stop."""
    arms = table.get("arms", {}).values() if table.get("arms") else [table]
    graded = [arm["grades"] for arm in arms if isinstance(arm, dict) and isinstance(arm.get("grades"), dict)]
    stops = any(one.get("stop") or one.get("order") == "utility" for one in graded)
    return stops or "preference" in _protocols(table)


def _protocols(table: Mapping[str, Any]) -> set[str]:
    """The protocols of a campaign's arms, or the one that it names or has a table of."""
    arms = table.get("arms")
    if arms:
        return {protocol for arm in arms.values() if isinstance(arm, dict) for protocol in arm}
    named = table["campaign"].get("protocol")
    return {named} if isinstance(named, str) else {protocol for protocol in SETTINGS if protocol in table}


def _topics(reading: Reading) -> list[dict[str, Any]]:
    topics: list[dict[str, Any]] = []
    labels: set[str] = set()
    names = reading.names("topics")
    if not names:
        raise SchemaError(("files", "topics"), f"is missing; name a file, or call it {USUAL['topics'][0]}")
    for line, topic in _topic_rows(reading, names[0]):
        if topic["label"] in labels:
            raise FileError(names[0], f"label {topic['label']!r} is there already; every topic needs its own", line)
        labels.add(topic["label"])
        reading.places["topics", len(topics)] = names[0], line
        topics.append(topic)
    return topics


def _topic_rows(reading: Reading, name: str) -> Iterator[Row]:
    if name.startswith(irds.PREFIX):
        return enumerate(irds.topics(name), start=1)
    return read_topics(reading.folder.bytes(name), name)


def _lists(reading: Reading, topics: Collection[str]) -> Any:
    """{topic: {system: documents}}; None without runs."""
    if not (names := reading.names("runs")):
        return None
    parts = []
    systems: dict[str, str] = {}
    for name in names:
        system = without_endings(PurePosixPath(name))
        if system in systems:
            raise FileError(name, f"is system {system!r}, as is {systems[system]}; rename one")
        systems[system] = name
        content = no_parquet(reading.folder.bytes(name), name)
        if tables.is_table(content, name):
            parts.append(tables.runs_from_table(content, name, system=system))
        else:
            parts.append(trec.runs_from([(system, trec.parse(content, name, trec.RUN))]))
    return lists_of(concatenate_runs(parts), topics)


def _pools(reading: Reading, topics: Collection[str], runs: Any) -> Pools | None:
    """The pools: what runs found together with what the pool file lists; None without either."""
    names = reading.names("pool")
    if runs is None and not names:
        return None
    depth = reading.files.get("depth", DEPTH)
    pools: Pools = {label: {} for label in topics}
    for label in topics if runs is not None else ():
        try:
            pools[label].update(dict.fromkeys(pool_of(runs[label], depth)))
        except ArgumentError as error:
            raise SchemaError(("files", "depth"), str(error)) from None
    for name in names:
        forms = "topic document", "topic iteration document grade"
        for line, fields in read_fields(reading.folder.bytes(name), name, *forms):
            topic, document = fields[0], fields[1 if len(fields) == 2 else 2]
            the_topic(topics, topic, name, line)
            pools[topic][document] = name, line
    return pools


def _documents(reading: Reading, labels: Collection[str] | None, pdf_as: str) -> list[dict[str, Any]]:
    """The rows of the documents that are wanted; all of them for None. pdf_as : "pages" or "text"."""
    names = reading.names("documents")
    if not names:
        raise SchemaError(("files", "documents"), f"is missing; name a file, or call it {USUAL['documents'][0]}")
    documents: list[dict[str, Any]] = []
    shown = ShownFiles(reading.folder.bytes, pdf_as)
    for name in names:
        for line, row in _document_rows(reading, name, labels):
            if labels is not None and row["label"] not in labels:
                continue
            shown.add(row, name, line)
            reading.places["documents", len(documents)] = name, line
            documents.append(row)
            if len(documents) > MAX_DOCUMENTS:
                raise FileError(name, f"more than {MAX_DOCUMENTS} documents; name a pool", line)
    shown.finish()
    return documents


def _document_rows(reading: Reading, name: str, labels: Collection[str] | None) -> Iterator[Row]:
    if name.startswith(irds.PREFIX):
        yield from enumerate(irds.documents(name, labels), start=1)
        return
    one_each = len(PurePosixPath(name).parts) > 1 or reading.files.get("documents") not in (None, name)
    if name.lower().endswith(ENDINGS):
        problem = "is an image; name it in a table of documents, in the column `image` beside a title"
        raise FileError(name, problem)
    if name.lower().endswith(PDF):
        label = PurePosixPath(name).stem
        if labels is None or label in labels:
            yield 1, {"label": label, "pdf": name}
        return
    if not (name.lower().endswith(PAGES) and one_each):
        yield from read_documents(reading.folder.bytes(name), name)
        return
    label = PurePosixPath(name).stem
    if labels is None or label in labels:
        yield 1, read_page(reading.folder.bytes(name), name, label)
