"""A campaign from the form in the browser: a folder is written from what was entered, and read like any other.

There is one reader and one check, those of folders. What they find is sorted to the fields of the form.
"""

from __future__ import annotations

import dataclasses
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from shutil import move
from tempfile import TemporaryDirectory
from typing import Any

from qrowd.collect.campaigns.folder import MAX_UNPACKED, PAGES, TOML, plan_from_parts, unpack_zip
from qrowd.collect.campaigns.form_fields import (
    FIELDS,
    HEADING,
    POOLS,
    TEXTS,
    lines_of,
    protocol_of_form,
    tables_of,
    toml_text,
)
from qrowd.collect.campaigns.plan import Plan
from qrowd.collect.campaigns.plan_tables import plan_from_table
from qrowd.collect.campaigns.shown_files import PDF
from qrowd.collect.campaigns.web_pages import ENDINGS
from qrowd.collect.protocols.messages import N_
from qrowd.collect.protocols.schema import SchemaError, Where, path, read
from qrowd.collect.protocols.settings import SETTINGS, GoldSettings, JourneySettings
from qrowd.errors import FileError
from qrowd.files import read_bytes
from qrowd.model.headers import header_key
from qrowd.texts import DOCUMENT, TOPIC, read_documents, read_topics, table_rows

ONE = {  # fields of the form that hold one file, and what it is called in the folder
    "topics": "topics",
    "pool.list": "pool",
    "gold": "gold",
    "checks": "checks",
    "questions": "questions",
}
SEVERAL = ("documents", "runs", "pictures")
FILES = (*ONE, *SEVERAL)
ANYWHERE = ""  # the field of a problem that belongs to none
MOST = 30  # problems of settings
MAX_POOL = 100_000  # lines of a pool that the form writes
MISSING = {
    "campaign.title": N_("is empty; say what assessors take part in"),
    "topics": N_("are missing; write a title on each line, or choose a file"),
    "documents": N_("are missing; choose a file"),
    "runs": N_("are missing; choose a file for each system"),
    "pool.list": N_("is missing; write a line for each topic and document, or choose a file"),
}
TWICE = "two files are called '{name}'; rename one"
PATTERN = re.compile(r"[*?\[\]]|[\x00-\x1f]")
KEY = re.compile(r"[a-z_]+(\.[a-z_]+)*")
BESIDE = {"grades.scale": "grades.labels", "campaign.guidelines": "guidelines", "campaign.pictures": "pictures",
          "prolific.codes": "prolific.completed", "campaign.preset": ANYWHERE, "files.runs": "runs",
          "files.topics": "topics", "files.documents": "documents", "files.pool": "pool.list", "files": "pool",
          "files.gold": "gold", "files.checks": "checks", "gold": "gold", "files.questions": "questions",
          "checks": "checks"}  # fmt: skip


@dataclass(frozen=True)
class SentFile:
    """A file that was sent. field : of the form. name : as it was sent."""

    field: str
    name: str
    content: bytes = dataclasses.field(repr=False)


@dataclass(frozen=True)
class FormCheck:
    """What a form stands for.

    plan, toml : of the campaign, and the text of its campaign.toml; None and "" where it cannot be created.
    problems : by the name of the field.
    """

    plan: Plan | None
    problems: Mapping[str, tuple[str, ...]]
    toml: str


def check_form(values: Mapping[str, str], files: Iterable[SentFile]) -> FormCheck:
    """The plan of a form, or what is wrong with it: of all settings at once, and of each file what is found first."""
    sent = tuple(files)
    problems: dict[str, list[str]] = {}
    if not values.get("campaign.title", "").strip():
        problems["campaign.title"] = [MISSING["campaign.title"]]
        values = {**values, "campaign.name": values.get("campaign.name") or "campaign"}
    for name, problem in _settings_problems(values, gold=_has_gold(values, sent)):
        problems.setdefault(name, []).append(problem)
    missing = list(_missing(values, sent))
    for name in missing:
        problems.setdefault(name, []).append(MISSING[name])
    without = frozenset(problems) - {ANYWHERE}
    plan, toml, errors = None, "", list[FileError]()
    with TemporaryDirectory(prefix="qrowd-") as temporary:
        root, origins = Path(temporary).resolve(), dict[str, str]()
        try:
            if not missing:
                origins = write_folder(root, values, sent, without=without)
                plan, toml = plan_from_parts(root), (root / TOML).read_text(encoding="utf-8")
        except FileError as error:
            errors.append(error)
    for one in (*errors, *(_problems_of_files(sent) if plan is None else ())):
        name, problem = _beside(one, origins)
        if problem not in problems.setdefault(name, []):
            problems[name].append(problem)
    listed = {name: tuple(texts) for name, texts in problems.items() if texts}
    return FormCheck(None, listed, "") if listed else FormCheck(plan, {}, toml)


def folder_zip(values: Mapping[str, str], files: Iterable[SentFile]) -> bytes:
    """The folder of a form as a zip, for `qrowd campaign create`; also where it cannot be created yet.

    Raises
    ------
    FileError
        A zip among the files cannot be unpacked.
    """
    buffer, sent = io.BytesIO(), tuple(files)
    with TemporaryDirectory(prefix="qrowd-") as temporary:
        root = Path(temporary).resolve()
        write_folder(root, values, sent, strict=False)
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(one for one in root.rglob("*") if one.is_file()):
                archive.write(file, file.relative_to(root).as_posix())
    return buffer.getvalue()


# ---- the folder


def write_folder(
    root: Path,
    values: Mapping[str, str],
    files: Iterable[SentFile],
    *,
    without: frozenset[str] = frozenset(),
    strict: bool = True,
) -> dict[str, str]:
    """Write the folder of a form; {file in it: field of the form}.

    without : names of fields that are left out. strict : whether a pool that cannot be written is an error.

    Raises
    ------
    FileError
        A zip that cannot be unpacked, or topics and documents of which no pool can be made.
    """
    sent, names, origins = tuple(files), {}, {}
    tables = _write_documents(root, [one for one in sent if one.field == "documents"])
    for name in tables:
        origins[name] = "documents"
    for one in sent:
        if one.field in ONE:
            names[one.field] = f"{ONE[one.field]}{_ending(one.name)}"
            _write(root, names[one.field], one.content)
        elif one.field in ("runs", "pictures"):
            name = PATTERN.sub("_", PurePosixPath(one.name).name)
            _write(root, name if one.field == "pictures" else f"runs/{name}", one.content)
            origins[name if one.field == "pictures" else f"runs/{name}"] = one.field
    if "topics" not in names and (text := values.get("topics", "")).strip():
        names["topics"], content = _pasted_topics(text)
        _write(root, names["topics"], content)
    try:
        names |= _write_pool(root, values, names, tables)
    except FileError:
        if strict:
            raise
    if text := values.get("guidelines", ""):
        _write(root, "guidelines.md", text.encode())
    entries = {"topics": names.get("topics"), "documents": tables or None}
    entries |= {"runs": "runs/*"} if values.get("pool") == "runs" else {"pool": names.get("pool.list")}
    entries |= {key: names.get(key) for key in ("gold", "checks", "questions")}
    toml = _toml(values, sent, {key: name for key, name in entries.items() if name}, without)
    _write(root, TOML, toml.encode())
    origins |= {name: key for key, name in names.items()} | {"guidelines.md": "guidelines"}
    return origins if values.get("pool") == "list" else {**origins, "pool.txt": "pool"}


def _toml(
    values: Mapping[str, str], sent: tuple[SentFile, ...], names: dict[str, Any], without: frozenset[str] = frozenset()
) -> str:
    """The text of campaign.toml."""
    tables = tables_of(values, gold=_has_gold(values, sent), without=without)
    if values.get("guidelines"):
        tables["campaign"]["guidelines"] = "guidelines.md"
    if values.get("pool") == "runs" and "files.depth" not in without:
        depth = values.get("files.depth", "").strip() or FIELDS["files.depth"].default
        names = {**names, "depth": int(depth) if depth.isdecimal() else depth}
    return f"{HEADING}\n{toml_text({**tables, 'files': names})}"


def _has_gold(values: Mapping[str, str], sent: Iterable[SentFile]) -> bool:
    """Whether there are gold questions; the file of magnitudes names check documents."""
    return protocol_of_form(values) != "magnitude" and any(one.field == "gold" for one in sent)


def _ending(name: str) -> str:
    """The ending of a file's name, which says how it is read: ".csv", ".jsonl.gz"."""
    suffixes = [one.lower() for one in PurePosixPath(name).suffixes[-2:]]
    kept = suffixes if len(suffixes) == 2 and suffixes[1] == ".gz" else suffixes[-1:]
    return "".join(one for one in kept if re.fullmatch(r"\.[a-z0-9]{1,10}", one))


def _write(root: Path, name: str, content: bytes) -> None:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


def _write_documents(root: Path, sent: list[SentFile]) -> list[str]:
    """Write the files of documents; what [files] documents names: tables, or a folder of pages and PDF files.

    A zip is unpacked. Where there is a table, it names images and PDF files; else each page is a document.
    """
    with TemporaryDirectory(prefix="qrowd-") as temporary:
        own = Path(temporary).resolve()
        for one in sent:
            if one.name.lower().endswith(".zip"):
                unpacked = own / "unpacked"
                if unpacked.exists():
                    raise FileError("documents", "there are several zips; pack all documents into one")
                unpacked.mkdir()
                try:
                    unpack_zip(one.content, unpacked)
                except FileError as error:
                    raise FileError("documents", f"{one.name}: {error.problem}") from None
                _lift(unpacked, own)
            else:
                name = PATTERN.sub("_", PurePosixPath(one.name).name) or "documents"
                if (own / name).exists():
                    raise FileError("documents", TWICE.format(name=name))
                _write(own, name, one.content)
        inside = [file.relative_to(own) for file in sorted(own.rglob("*")) if file.is_file()]
        names = [file.as_posix() for file in inside if not _is_hidden(file)]
        tables = [name for name in names if not name.lower().endswith((*PAGES, PDF, *ENDINGS))]
        for name in names:
            target = _reserved(name) if tables else f"documents/{PurePosixPath(name).name}"
            if (root / target).exists():
                raise FileError("documents", TWICE.format(name=PurePosixPath(name).name))
            (root / target).parent.mkdir(parents=True, exist_ok=True)
            move(own / name, root / target)
    return [_reserved(name) for name in tables] or (["documents"] if names else [])


def _lift(inside: Path, own: Path) -> None:
    """Move what was unpacked out of its folder, and of the one folder that holds it all."""
    entries = [one for one in inside.iterdir() if not _is_hidden(Path(one.name))]
    top = entries[0] if len(entries) == 1 and entries[0].is_dir() else inside
    for one in list(top.iterdir()):
        if (own / one.name).exists():
            raise FileError("documents", TWICE.format(name=one.name))
        move(one, own / one.name)


def _is_hidden(name: Path) -> bool:
    return any(part.startswith(".") or part == "__MACOSX" for part in name.parts)


def _reserved(name: str) -> str:
    """The name of a table of documents, which is none of the folder's own names."""
    own = PurePosixPath(name).name.split(".")[0] in ("campaign", "topics", "pool", "gold", "checks", "questions")
    return f"of-documents-{name}" if own and "/" not in name else name


def _pasted_topics(text: str) -> tuple[str, bytes]:
    """The name and the content of topics that were pasted: TREC topics, a table, or one title a line."""
    first = text.lstrip().split("\n", 1)[0]
    if first.startswith("<"):
        return "topics.trec", text.encode()
    if first.startswith("{"):
        return "topics.jsonl", text.encode()
    if "\t" in first:
        return "topics.tsv", text.encode()
    known = {header_key(name) for name in TOPIC}
    if "," in first and known & {header_key(cell.strip('" ')) for cell in first.split(",")}:
        return "topics.csv", text.encode()
    titles = filter(None, lines_of(text))
    return "topics.tsv", "".join(f"t{i}\t{title}\n" for i, title in enumerate(titles, start=1)).encode()


def _write_pool(root: Path, values: Mapping[str, str], names: Mapping[str, str], tables: list[str]) -> dict[str, str]:
    """Write which documents are judged for which topic, as far as the form has to say it."""
    pool = values.get("pool") if values.get("pool") in POOLS else POOLS[0]
    if pool == "runs":
        return {}
    if pool == "list":
        text = values.get("pool.list", "")
        if "pool.list" not in names and text.strip():
            _write(root, "pool.txt", text.encode())
            return {"pool.list": "pool.txt"}
        if "pool.list" not in names:
            raise FileError("pool.list", MISSING["pool.list"])
        return {}
    if "topics" not in names or not tables:
        return {}  # which the reader says
    if pool == "column":
        lines = list(islice(_pool_of_column(root, tables), MAX_POOL + 1))
    else:
        topics = [row["label"] for _, row in read_topics(_read(root, names["topics"]), names["topics"])]
        pairs = (f"{topic} {label}\n" for label in dict.fromkeys(_labels(root, tables)) for topic in topics)
        lines = list(islice(pairs, MAX_POOL + 1))
    if len(lines) > MAX_POOL:
        raise FileError("pool", f"these are more than {MAX_POOL} pairs of a topic and a document; choose by a list")
    _write(root, "pool.txt", "".join(lines).encode())
    return {"pool.list": "pool.txt"}


def _read(root: Path, name: str) -> bytes:
    return read_bytes(root / name, name=name, most=MAX_UNPACKED)


def _labels(root: Path, tables: list[str]) -> Iterator[str]:
    """The labels of all documents."""
    for name in tables:
        if (root / name).is_dir():
            yield from (one.name.rsplit(".", 1)[0] for one in sorted((root / name).iterdir()))
        else:
            yield from (row["label"] for _, row in read_documents(_read(root, name), name))


def _pool_of_column(root: Path, tables: list[str]) -> Iterator[str]:
    """The lines of a pool from the column `topic` of tables of documents."""
    for name in tables:
        if (root / name).is_dir():
            raise FileError("documents", "are no table, so there is no column topic; choose another way")
        for line, row in table_rows(_read(root, name).decode("utf-8-sig"), name, ("docid", "text"), DOCUMENT):
            label = next((row[column] for column in DOCUMENT if row.get(column) is not None), "")
            if not (topic := str(row.get("topic") or "").strip()):
                raise FileError(name, "no topic stands in the column topic; write its id", line)
            yield f"{topic} {label}\n"


# ---- what is wrong


def _missing(values: Mapping[str, str], sent: tuple[SentFile, ...]) -> Iterator[str]:
    """The fields without which nothing can be read."""
    fields = {one.field for one in sent}
    if "topics" not in fields and not values.get("topics", "").strip():
        yield "topics"
    if "documents" not in fields:
        yield "documents"
    if values.get("pool") == "runs" and "runs" not in fields:
        yield "runs"


def _settings_problems(values: Mapping[str, str], *, gold: bool) -> Iterator[tuple[str, str]]:
    """(field, problem) of all settings, each checked without those that were refused."""
    refused = frozenset[str]()
    for _ in range(MOST):
        tables = tables_of(values, gold=gold, without=refused)
        if (found := _first_problem(protocol_of_form(values), tables)) is None:
            return
        where, problem = found
        name = _field_of(path(where))
        yield name, problem
        if name in refused or name == ANYWHERE:
            return
        refused |= {name}


def _first_problem(protocol: str, tables: Mapping[str, Any]) -> tuple[Where, str] | None:
    """The first value of the tables that does not fit, and why."""
    kinds: dict[str, type] = {protocol: SETTINGS[protocol], "journey": JourneySettings, "gold": GoldSettings}
    for table, kind in kinds.items():
        try:
            read(kind, tables.get(table, {}))
        except SchemaError as error:
            return (table, *error.where), error.problem
    try:
        plan_from_table(_stand_in(protocol, tables))
    except SchemaError as error:
        return error.where, error.problem
    return None


def _stand_in(protocol: str, tables: Mapping[str, Any]) -> dict[str, Any]:
    """A plan of the form's texts over topics and documents of ours, so that they are checked without the files."""
    labels = [f"d{i}" for i in range(8)]
    head = {key: value for key, value in tables["campaign"].items() if key != "guidelines"}
    checks = {"checks": ["d0", "d1"]} if protocol == "magnitude" and head.get("checks", True) is True else {}
    return {
        "campaign": head,
        protocol: {},
        "topics": [{"label": "t", "title": "a topic", "pool": labels, **checks}],
        "documents": [{"label": label, "text": "a text"} for label in labels],
        **{key: tables[key] for key in ("prolific", "mturk") if key in tables},
    }


def _problems_of_files(sent: tuple[SentFile, ...]) -> Iterator[FileError]:
    """What is wrong with files that can be read by themselves, so that not only the first of them is heard of."""
    for one in sent:
        name = f"{ONE.get(one.field, one.field)}{_ending(one.name)}"
        try:
            if one.field == "topics":
                for _ in read_topics(one.content, name):
                    pass
            elif one.field == "documents" and not one.name.lower().endswith((*PAGES, PDF, *ENDINGS, ".zip", ".gz")):
                for _ in read_documents(one.content, one.name):
                    pass
        except FileError as error:
            yield error


def _field_of(place: str) -> str:
    """The field of the form for a place in the table; of the nearest that there is."""
    parts = re.sub(r"\[\d+\]", "", place).split(".")
    for n in range(len(parts), 0, -1):
        name = ".".join(parts[:n])
        name = BESIDE.get(name, name)
        if name in FIELDS or name in TEXTS or name in FILES:
            return name
    return ANYWHERE


def _beside(error: FileError, origins: Mapping[str, str]) -> tuple[str, str]:
    """The field beside which an error is shown, and what is shown there."""
    if error.path == TOML:
        if (match := KEY.match(error.problem)) is not None and (name := _field_of(match[0])) != ANYWHERE:
            rest = error.problem[match.end() :]
            return name, rest.removeprefix(": ") if rest.startswith(": ") else error.problem
        return ANYWHERE, error.problem
    if error.path in (*FILES, *TEXTS):
        return error.path, error.problem
    name = origins.get(error.path) or origins.get(PurePosixPath(error.path).parts[0], "")
    if not name:
        stem = PurePosixPath(error.path).name.split(".")[0]
        name = next((key for key, called in ONE.items() if called == stem), "documents")
    return name, str(error)
