"""The files of a campaign's folder, from which nobody gets out, and what each says, with where it stands."""

from __future__ import annotations

import io
import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from qrowd import tables, trec
from qrowd.errors import ArgumentError, FileError
from qrowd.files import read_bytes, without_endings
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.model.labels import first_of
from qrowd.model.pools import Lists, lists_of
from qrowd.model.runs import Runs, concatenate_runs
from qrowd.readers import irds
from qrowd.texts import Row, read_documents, read_fields, read_objects, read_page, read_topics
from qrowd_server.campaigns.plan.documents import ENDINGS, image_of, image_to_text
from qrowd_server.campaigns.plan.gold_questions import gold_of_file
from qrowd_server.campaigns.plan.pdf import read_pdfs
from qrowd_server.campaigns.plan.plan import MAX_DOCUMENTS
from qrowd_server.protocols.setting_fields import SchemaError, no_such

MAX_BYTES = 1 << 30  # of all files together, unpacked
MAX_ZIP = 256 << 20  # bytes, packed
MAX_UNPACKED = 512 << 20
MAX_MEMBERS = 50_000
MAX_RATIO = 50  # of what somebody sent, unpacked to packed, in a zip and in a gzip file of it
FREE = 1 << 20  # so much may be unpacked at any ratio
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
Place = tuple[str, int | None]  # a file and its line; None for the whole file
SEVERAL = ("documents", "runs")
PAGES = (".txt", ".html", ".htm")
PDF = ".pdf"
CHECK_HEADER = re.compile(rb"(\xef\xbb\xbf)?topic\s*([\s,])\s*(high|h|better|relevant)[\s,]+\w+\s*\n", re.IGNORECASE)


@dataclass
class Folder:
    """A folder, how many bytes may still be read from it, and whether it may name data sets of ir_datasets.

    One that may not was sent by somebody, so its gzip files are bounded, too.
    """

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
        files = [file for file in names if self.path(file).is_file()]
        if not files:
            raise FileError(name, "no file is there")
        return files

    def bytes(self, name: str) -> bytes:
        """What a file holds, unpacked where it is gzip."""
        path, most = self.path(name), self.left
        if not self.data_sets and path.is_file():
            most = min(most, max(FREE, MAX_RATIO * path.stat().st_size))
        content = read_bytes(path, name=name, most=most)
        self.left -= len(content)
        return content


def _inside(name: str) -> None:
    posix, windows = PurePosixPath(name), PureWindowsPath(name)
    out = posix.is_absolute() or windows.drive or windows.root or ".." in posix.parts or ".." in windows.parts
    if not name or "\x00" in name or out:
        raise FileError(name or "''", "is no name inside the folder; give one without '..' that starts there")


@dataclass(frozen=True)
class Entry:
    """What a line of a file says of a topic, and where."""

    topic: str
    value: Any
    place: Place


@dataclass(frozen=True)
class CampaignFiles:
    """The files of a folder. table : [files], which names them.

    Raises
    ------
    SchemaError
        A key that does not exist.
    """

    folder: Folder
    table: Mapping[str, Any]

    def __post_init__(self) -> None:
        for key in self.table:
            if key not in (*USUAL, "depth"):
                raise SchemaError(("files", key), no_such("key", key, (*USUAL, "depth")))

    def names(self, key: str) -> list[str]:
        """The files for a key of [files]: those named, else the first usual one that exists."""
        entry = self.table.get(key)
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

    def needed(self, key: str) -> list[str]:
        """As `names`; an error where there is none."""
        if not (names := self.names(key)):
            raise SchemaError(("files", key), f"is missing; name a file, or call it {USUAL[key][0]}")
        return names

    def content(self, name: str) -> bytes:
        """What a file holds, which must not be Parquet."""
        content = self.folder.bytes(name)
        if content.startswith(tables.PARQUET_STARTS):
            raise FileError(name, "is Parquet; write it as CSV, JSON Lines or in TREC's format")
        return content


def read_topic_file(files: CampaignFiles) -> list[Entry]:
    """The topics: tables with a label of their own."""
    (name,) = files.needed("topics")
    if name.startswith(irds.PREFIX):
        rows: Iterable[Row] = enumerate(irds.topics(name), start=1)
    else:
        rows = read_topics(files.folder.bytes(name), name)
    topics: dict[str, Entry] = {}
    for line, topic in rows:
        label = topic["label"]
        if label in topics:
            raise FileError(name, f"label {label!r} is there already; every topic needs its own", line)
        topics[label] = Entry(label, topic, (name, line))
    return list(topics.values())


def read_run_files(files: CampaignFiles, topics: Collection[str]) -> Lists | None:
    """{topic: {system: documents}}; None without runs."""
    if not (names := files.names("runs")):
        return None
    parts = []
    systems: dict[str, str] = {}
    for name in names:
        system = without_endings(PurePosixPath(name))
        if system in systems:
            raise FileError(name, f"is system {system!r}, as is {systems[system]}; rename one")
        systems[system] = name
        content = files.content(name)
        if tables.is_table(content, name):
            parts.append(tables.from_table(Runs, content, name, system=system))
        else:
            parts.append(trec.runs_from([(system, trec.parse(content, name, trec.RUN))]))
        if set(topics).isdisjoint(of_run := parts[-1].topics):
            problem = f"none of its topics ({first_of(of_run, 3)}) is in {files.needed('topics')[0]}"
            raise FileError(name, f"{problem} ({first_of(list(topics), 3)}); use the same ids in both")
    return lists_of(concatenate_runs(parts), topics)


def read_pool_file(files: CampaignFiles) -> list[Entry]:
    """The documents that are judged for a topic."""
    forms = ("topic document", "topic iteration document grade")
    lines = _read(files, "pool", lambda content, name: read_fields(content, name, *forms))
    return [Entry(fields[0], fields[1 if len(fields) == 2 else 2], place) for place, fields in lines]


def read_check_file(files: CampaignFiles) -> list[Entry]:
    """The two check documents of a topic, the better one first."""
    lines = _read(files, "checks", lambda content, name: read_fields(_without_header(content), name, "topic high low"))
    return [Entry(topic, [high, low], place) for place, (topic, high, low) in lines]


def _without_header(content: bytes) -> bytes:
    """Lines with blanks between fields, of a table with commas, too; the header becomes a comment."""
    header = CHECK_HEADER.match(content)
    return b"#" + content.replace(header[2], b" ") if header else content  # labels may hold what separates no fields


def read_gold_judgments(files: CampaignFiles) -> tuple[str, Judgments] | None:
    """The name of the gold file, and its grades, by which check documents are chosen; None without one."""
    if not (names := files.names("gold")):
        return None
    (name,) = names
    content = files.content(name)
    if tables.is_table(content, name):
        return name, tables.from_table(Judgments, content, name, assessor="gold")
    return name, concatenate_judgments([trec.judgments_from([("gold", trec.parse(content, name, trec.QRELS))])])


def read_gold_questions(files: CampaignFiles, tolerance: int, highest: int | None) -> list[Entry]:
    """Gold questions as tables; see `gold_of_file`."""
    return [
        Entry(topic, question, (name, line))
        for name in files.names("gold")
        for line, topic, question in gold_of_file(files.content(name), name, tolerance, highest)
    ]


def read_question_file(files: CampaignFiles) -> list[Entry]:
    """The question of a topic that its assessors answer first."""
    return [Entry(topic, row, (name, line)) for name, line, topic, row in _objects(files, "questions")]


def read_context_file(files: CampaignFiles) -> list[Entry]:
    """Snippets that are shown with a topic."""
    snippets = []
    for name, line, topic, row in _objects(files, "context"):
        if len(row) != 1 or not isinstance(row.get("snippets"), list):
            raise FileError(name, 'expected {"topic": ..., "snippets": [...]}, a list of texts', line)
        snippets += [Entry(topic, snippet, (name, line)) for snippet in row["snippets"]]
    return snippets


def read_document_files(files: CampaignFiles, labels: Collection[str] | None) -> list[tuple[dict[str, Any], Place]]:
    """The tables of the documents that are wanted; all of them for None."""
    documents: list[tuple[dict[str, Any], Place]] = []
    pdfs: list[tuple[dict[str, Any], bytes, Place]] = []
    for name in files.needed("documents"):
        for line, row in _document_rows(files, name, labels):
            if labels is not None and row["label"] not in labels:
                continue
            if pdf := _read_shown(files, row, "pdf", name, line):
                pdfs.append((row, pdf, (name, line)))
            if image := _read_shown(files, row, "image", name, line):
                row["image"] = image_to_text(image)
            documents.append((row, (name, line)))
            if len(documents) > MAX_DOCUMENTS:
                raise FileError(name, f"more than {MAX_DOCUMENTS} documents; name a pool", line)
    for (row, _, (file, number)), outcome in zip(pdfs, read_pdfs([pdf for _, pdf, _ in pdfs]), strict=True):
        if isinstance(outcome, ArgumentError):
            raise FileError(file, f"pdf of document {row['label']!r}: {outcome}", number)
        row |= {"text": row.get("text") or outcome.text, "pages": list(outcome.pages)}
    return documents


def _read_shown(files: CampaignFiles, row: dict[str, Any], key: str, name: str, line: int) -> bytes:
    """The content of the PDF or image that a row names, which leaves the row; empty without one."""
    file = row.pop(key, "") or ""
    if not file:
        return b""
    if not isinstance(file, str):
        raise FileError(name, f"{key}: {file!r:.60} cannot be used; give the name of a file", line)
    try:
        content = files.folder.bytes(file)
        return content if key == "pdf" else image_of(content).content
    except FileError as error:
        raise FileError(name, f"{key} {file}: {error.problem}", line) from None
    except ArgumentError as error:
        raise FileError(name, f"{key} {file}: {error}", line) from None


def _document_rows(files: CampaignFiles, name: str, labels: Collection[str] | None) -> Iterator[Row]:
    if name.startswith(irds.PREFIX):
        yield from enumerate(irds.documents(name, labels), start=1)
        return
    in_folder = len(PurePosixPath(name).parts) > 1 or files.table.get("documents") not in (None, name)
    label = PurePosixPath(name).stem
    wanted = labels is None or label in labels
    if name.lower().endswith(ENDINGS):
        raise FileError(name, "is an image; name it in a table of documents, in the column `image` beside a title")
    if name.lower().endswith(PDF):
        if wanted:
            yield 1, {"label": label, "pdf": name}
    elif not (name.lower().endswith(PAGES) and in_folder):
        yield from read_documents(files.folder.bytes(name), name)
    elif wanted:
        yield 1, read_page(files.folder.bytes(name), name, label)


def _read(
    files: CampaignFiles, key: str, read: Callable[[bytes, str], Iterable[tuple[int, list[str]]]]
) -> Iterator[tuple[Place, list[str]]]:
    for name in files.names(key):
        for line, fields in read(files.folder.bytes(name), name):
            yield (name, line), fields


def _objects(files: CampaignFiles, key: str) -> Iterator[tuple[str, int, str, dict[str, Any]]]:
    for name in files.names(key):
        for line, topic, row in read_objects(files.folder.bytes(name), name):
            yield name, line, topic, row


# ---- zips


def unpack_zip(content: bytes, root: Path, *, max_unpacked: int = MAX_UNPACKED) -> None:
    """Unpack a zip that somebody sent into a folder."""
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
