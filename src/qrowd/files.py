"""Files on disk: finding them, unpacking them, telling what they hold, and writing them whole or not at all."""

from __future__ import annotations

import gzip
import io
import os
import re
import sys
import tomllib
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from glob import glob, has_magic
from itertools import groupby
from pathlib import Path, PurePath
from typing import Any, Literal, TypeVar

from qrowd import tables, trec
from qrowd.errors import ArgumentError, FileError, check_choice
from qrowd.model.cells import IdenticalRows, IncompleteRows, WordLabels
from qrowd.model.duplicates import Duplicates
from qrowd.model.frames import TableOptions
from qrowd.model.headers import Names
from qrowd.model.judgments import Judgments, Recoding, concatenate_judgments
from qrowd.model.labels import first_of, plural
from qrowd.model.preferences import Preferences, concatenate_preferences
from qrowd.model.runs import Runs, concatenate_runs
from qrowd.model.scales import Scale
from qrowd.threads import in_threads

PathLike = str | os.PathLike[str]
Paths = PathLike | Iterable[PathLike] | Mapping[str, PathLike]
"""A path, glob pattern or folder; several of them; or {name: path}. "-" is standard input."""

Whole = TypeVar("Whole", Judgments, Preferences, Runs)

NameFrom = Literal["file", "column"]
Progress = Callable[[int, int], object]

ENDINGS = (
    ".gz", ".run", ".trec", ".res", ".txt", ".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".xlsx", ".qrels",
    ".qrel", ".prefs", ".pref",
)  # fmt: skip
ABOUT = re.compile(r"readme(\..*)?|license(\..*)?|.*\.(md|ya?ml|html|pdf)", re.IGNORECASE)  # files about the data
SUMMARIES = ("aggregated.csv", "perquery.csv")  # scores that PyTerrier writes beside the runs into its save_dir
TOO_LARGE = "is too large; leave out what is not needed"


def read_judgments(
    paths: Paths,
    *,
    assessor: NameFrom = "file",
    scales: Mapping[str, Scale | str] | None = None,
    columns: Names | None = None,
    labels: WordLabels | None = None,
    incomplete_rows: IncompleteRows = "refuse",
    identical_rows: IdenticalRows = "keep",
    progress: Progress | None = None,
) -> Judgments:
    """Read judgments from qrels files and tables.

    paths : a path, glob pattern, folder, "NAME=PATH", list of those, or {assessor: path}; plain or gzip; "-" is
        standard input.
    assessor : "file" makes every qrels file one assessor, named after it without endings such as .qrels.gz; "column"
        takes the assessor from column 2 of the qrels lines. Tables (CSV, TSV, JSON Lines, Parquet, Excel; a header
        names the columns) bring their assessor column, if they have one.
    scales : declared scales by assessor name or shell pattern, such as {"umbrela-*": "0-3"}; others are inferred.
    columns, labels, incomplete_rows, identical_rows : of tables, as in `qrowd.model.frames.TableOptions`.
    progress : called with the numbers of files read and of all files.

    Raises
    ------
    FileError
        A file that is missing, truncated, empty or malformed, with the line.

    >>> read_judgments("judges/*.qrels.gz")  # doctest: +SKIP
    Judgments(215872 judgments: 53 topics, 10824 documents, 18 assessors)
    """
    check_choice("assessor", assessor, NameFrom)
    options = TableOptions(columns, labels, incomplete_rows, identical_rows)
    files = _named(paths, "assessor", unique=assessor == "file")

    def load(item: tuple[str, Path]) -> Judgments | trec.Parsed:
        name, path = item
        text = read_bytes(path)
        if tables.is_table(text, _shown(path)):
            return tables.judgments_from_table(text, _shown(path), assessor=name, options=options)
        return trec.parse(text, _shown(path), trec.QRELS)

    join = partial(trec.judgments_from, assessor_in_column=assessor == "column")
    judgments = concatenate_judgments(_joined(load, files.named, join, progress))
    judgments = replace(judgments, notes=(*files.notes, *judgments.notes))
    return judgments.with_scales(scales) if scales else judgments


def read_runs(
    paths: Paths,
    *,
    system: NameFrom = "file",
    columns: Names | None = None,
    incomplete_rows: IncompleteRows = "refuse",
    identical_rows: IdenticalRows = "keep",
    progress: Progress | None = None,
) -> Runs:
    """Read runs from TREC run files and tables.

    paths : a path, glob pattern, folder, "NAME=PATH", list of those, or {system: path}; plain or gzip; "-" is
        standard input.
    system : "file" makes every run file one system, named after it without endings such as .run.gz; "column" takes
        the system from the tag, the last column of the run lines, which often repeats from file to file. Tables bring
        their system column, if they have one.
    columns, incomplete_rows, identical_rows : of tables, as in `qrowd.model.frames.TableOptions`.
    progress : called with the numbers of files read and of all files.

    Raises
    ------
    FileError
        A file that is missing, truncated, empty or malformed, with the line; a document twice in one list.
    """
    check_choice("system", system, NameFrom)
    options = TableOptions(columns, None, incomplete_rows, identical_rows)
    files = _named(paths, "system", unique=system == "file")

    def load(item: tuple[str, Path]) -> Runs | trec.Parsed:
        name, path = item
        text = read_bytes(path)
        if tables.is_table(text, _shown(path)):
            return tables.runs_from_table(text, _shown(path), system=name, options=options)
        return trec.parse(text, _shown(path), trec.TAGGED_RUN if system == "column" else trec.RUN)

    runs = concatenate_runs(_joined(load, files.named, trec.runs_from, progress))
    return replace(runs, notes=(*files.notes, *runs.notes))


def read_preferences(
    paths: Paths,
    *,
    format: trec.PreferenceFormat = "auto",
    assessor: NameFrom = "file",
    columns: Names | None = None,
    incomplete_rows: IncompleteRows = "refuse",
    progress: Progress | None = None,
) -> Preferences:
    """Read preferences from text files and tables.

    paths : a path, glob pattern, folder, "NAME=PATH", list of those, or {assessor: path}; plain or gzip; "-" is
        standard input.
    format : of text files. "pairs" (`topic preferred other`), "winner" (`topic a b preferred`), "prefs" (trec_eval's
        `topic group subgroup document level`), "qrels_prefs" (`topic group document level`); "auto" tells the first
        three by the number of fields. In trec_eval's formats higher levels are preferred to lower ones of the same
        (sub)group, and level 0 marks a document as Bad.
    assessor : "file" makes every text file one assessor, named after it without its endings, with trec_eval's judgment
        groups as groups of that assessor; "column" makes every judgment group an assessor. Tables (CSV, TSV, JSON
        Lines, Parquet, Excel; a header names the columns) bring their assessor column, if they have one.
    columns, incomplete_rows : of tables, as in `qrowd.model.frames.TableOptions`.
    progress : called with the numbers of files read and of all files.

    Raises
    ------
    FileError
        A file that is missing, truncated, empty or malformed, with the line.

    >>> read_preferences("preferences/crowd.txt.gz")  # doctest: +SKIP
    Preferences(11681 preferences: 50 topics, 1570 documents, 1 assessor)
    """
    check_choice("assessor", assessor, NameFrom)
    options = TableOptions(columns, None, incomplete_rows)
    files = _named(paths, "assessor", unique=assessor == "file")

    def load(item: tuple[str, Path]) -> Preferences | trec.Parsed:
        name, path = item
        text = read_bytes(path)
        if tables.is_table(text, _shown(path)):
            return tables.preferences_from_table(text, _shown(path), assessor=name, options=options)
        return trec.parse(text, _shown(path), trec.preference_format(text, _shown(path), format))

    join = partial(trec.preferences_from, assessor_in_column=assessor == "column")
    preferences = concatenate_preferences(_joined(load, files.named, join, progress))
    return replace(preferences, notes=(*files.notes, *preferences.notes))


def read_answers(path: PathLike) -> Judgments | Preferences:
    """Preferences where the file is a table with columns for two documents, else judgments.

    Raises
    ------
    FileError
        As `read_judgments` and `read_preferences`.
    """
    text = read_bytes(Path(path))
    table = tables.is_table(text, str(path))
    if table and tables.table_kind(text, str(path)) == "preferences":
        return read_preferences(path)
    return read_judgments(path)


def read_columns(path: PathLike) -> dict[str, Sequence[object]]:
    """{column: cells} of a table; an empty cell is None.

    Raises
    ------
    FileError
        A file that is missing or no table, with the line.
    """
    table = tables.read_table(read_bytes(Path(path)), str(path))
    columns: Any = table.columns
    if not isinstance(columns, Mapping):  # Parquet
        columns = columns.to_pydict()
    return {name: columns[name] for name in table.names}


def read_recoding(path: PathLike) -> dict[str, Recoding]:
    """Read a TOML file of recodings by assessor name or shell pattern, for `Judgments.recode`.

    A number is a threshold ("umbrela-*" = 2: grades from 2 become 1, below 0); a table replaces values
    ("*" = {"-2" = 0}).

    Raises
    ------
    FileError
        What is no TOML, or neither a number nor a table of numbers.
    """
    try:
        content = tomllib.loads(read_bytes(Path(path)).decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        line = re.search(r"line (\d+)", str(error))
        raise FileError(path, f"is not valid TOML: {error}", int(line[1]) if line else None) from None
    recoding: dict[str, Recoding] = {}
    for pattern, rule in content.items():
        try:
            recoding[pattern] = {float(k): float(v) for k, v in rule.items()} if isinstance(rule, dict) else float(rule)
        except (TypeError, ValueError):
            problem = f'{pattern!r} must be a threshold, or a table of values such as {{"-2" = 0}}'
            raise FileError(path, problem) from None
    return recoding


def read_labels(path: PathLike, *names: str) -> list[list[str]]:
    """The columns of these names of a table, as text.

    Raises
    ------
    FileError
        A column that is missing, an empty cell, or a file that is missing or malformed, with the line.
    """
    shown = _shown(Path(path))
    table = tables.read_table(read_bytes(Path(path)), shown)
    missing = next((name for name in names if name not in table.names), None)
    if missing is not None:
        raise FileError(path, f"there is no column {missing!r} among {', '.join(table.names)}; name the columns so")
    columns = [[None if cell is None else str(cell) for cell in read_columns(path)[name]] for name in names]
    for name, cells in zip(names, columns, strict=True):
        if None in cells:
            row = cells.index(None)
            raise FileError(path, f"{name} is missing", None if table.lines is None else table.lines[row])
    return [[cell for cell in cells if cell is not None] for cells in columns]


def read_duplicates(path: PathLike) -> Duplicates:
    """Read a table of documents that say the same: topic, document, group; or the pairs that a campaign exports.

    Raises
    ------
    FileError
        Other columns, or a file that is missing or malformed.
    """
    text = read_bytes(Path(path))
    return tables.duplicates_from_table(text, _shown(Path(path)))


def read_checks(path: PathLike) -> dict[str, tuple[str, str]]:
    """Read a table of the check documents of each topic, with the columns topic, H and N.

    Raises
    ------
    FileError
        What `read_labels` refuses; a topic that stands twice.
    """
    topics, high, low = read_labels(path, "topic", "H", "N")
    twice = next((topic for i, topic in enumerate(topics) if topic in topics[:i]), None)
    if twice is not None:
        raise FileError(path, f"topic {twice} stands twice; give each topic one row")
    return dict(zip(topics, zip(high, low, strict=True), strict=True))


def read_bytes(path: Path, *, name: str = "", most: int | None = None) -> bytes:
    """What is in a file, unpacked where it is gzip (told by its first bytes, not by its name).

    name : of the file in messages; default: its path. most : bytes it may hold, unpacked.

    Raises
    ------
    FileError
        A missing, unreadable, truncated, empty or too large file.
    """
    name = name or _shown(path)
    if not path.exists():
        path = _workbook(path)
    try:
        if most is not None and path.stat().st_size > most:
            raise FileError(name, TOO_LARGE)
        content = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except FileNotFoundError:
        raise FileError(name, "there is no such file") from None
    except IsADirectoryError:
        raise FileError(name, "is a folder; name the files in it, as in 'folder/*.gz'") from None
    except OSError as error:
        raise FileError(name, f"cannot be read: {(error.strerror or str(error)).lower()}") from None
    if content.startswith(b"\x1f\x8b"):
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(content)) as unpacked:
                content = unpacked.read(-1 if most is None else most + 1)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise FileError(name, f"damaged or truncated gzip ({error}); fetch the file again") from None
    if most is not None and len(content) > most:
        raise FileError(name, TOO_LARGE)
    if not content.strip():
        raise FileError(name, "is empty")
    return content


def write_whole(path: PathLike, content: str | bytes | Iterable[bytes]) -> None:
    """Write a file so that it is either complete or as it was: to a neighbour first, then renamed.

    content : the whole, or pieces one after another.

    A pipe or device (`/dev/stdout`) is written to directly.

    Raises
    ------
    FileError
        A folder that does not exist or cannot be written to.
    """
    whole = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    pieces = [whole] if isinstance(whole, bytes) else whole
    target = Path(path)
    try:
        if target.exists() and not target.is_file():
            with target.open("wb") as file:
                file.writelines(pieces)
        else:
            _replace(target.resolve(), pieces)
    except OSError as error:
        raise FileError(path, f"cannot be written: {(error.strerror or str(error)).lower()}") from None


def _replace(target: Path, pieces: Iterable[bytes]) -> None:
    beside = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        with beside.open("wb") as file:
            file.writelines(pieces)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def _workbook(path: Path) -> Path:
    """The file of FILE.xlsx#SHEET; any other path as it is."""
    sheet = re.fullmatch(r"(.*\.xlsx)#.+", str(path), re.IGNORECASE)
    return Path(sheet[1]) if sheet else path


def find_files(paths: PathLike | Iterable[PathLike]) -> list[Path]:
    """The files that paths, glob patterns and folders stand for, sorted within each.

    Files that speak about the data (README, *.md, *.yml, licences, hidden files) are passed over among others.

    Raises
    ------
    FileError
        A path that does not exist, a pattern or folder without files.
    """
    several = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    matches = [path for one in several for path in _matches(one, alone=len(several) == 1)[0]]
    return list(dict.fromkeys(matches))


def _matches(path: PathLike, *, alone: bool = True) -> tuple[list[Path], list[Path]]:
    """The files that a path, pattern or folder stands for, and those passed over. alone : no other path is given."""
    text = os.fspath(path)
    one = Path(text)
    if text == "-" or (_workbook(one).exists() and not one.is_dir()):  # a shell's <(zcat ...) is no regular file
        return ([], [one]) if not alone and _is_about(one) else ([one], [])
    if one.is_dir():
        files = sorted(p for p in one.iterdir() if p.is_file())
    elif has_magic(text):
        files = sorted(p for p in map(Path, glob(text, recursive=True)) if p.is_file())
    else:
        raise FileError(text, "there is no such file")
    of_pyterrier = any(p.name.endswith(".res.gz") for p in files)
    over = [p for p in files if _is_about(p) or p.name[0] == "." or (of_pyterrier and p.name in SUMMARIES)]
    if len(over) == len(files):
        raise FileError(text, "no file is there" if one.is_dir() else "no file matches this pattern")
    return [p for p in files if p not in over], over


def _is_about(path: Path) -> bool:
    return ABOUT.fullmatch(path.name) is not None


@dataclass(frozen=True)
class _Files:
    """(name, path) of every file that is read, and notes about the others."""

    named: list[tuple[str, Path]]
    notes: tuple[str, ...]


def _named(paths: Paths, noun: str, *, unique: bool = True) -> _Files:
    """Names for all files; two files of one name would silently become one, so they are refused."""
    listed: list[tuple[str, Path]] = []
    over: list[Path] = []
    for name, path in _given_names(paths):
        files, others = _matches(path, alone=name is not None or isinstance(paths, str | os.PathLike))
        default = noun if os.fspath(path) == "-" else None
        listed += [(name or default or without_endings(file), file) for file in files]
        over += others
    listed = list(dict.fromkeys(listed))
    if not listed:
        raise ArgumentError(f"no files were given to read; each is one {noun}")
    first: dict[str, Path] = {}
    for name, file in listed:
        if unique and first.setdefault(name, file) != file:
            raise FileError(file, f"is {noun} {name!r}, as is {first[name]}; rename one, or give names as NAME=PATH")
    names = first_of([path.name for path in dict.fromkeys(over) if not path.name.startswith(".")], 5)
    was = "was" if len(set(over)) == 1 else "were"
    note = f"{plural(len(set(over)), 'file')} about the data {was} passed over ({names})"
    return _Files(listed, (note,) if names != "none" else ())


def _given_names(paths: Paths) -> Iterator[tuple[str | None, PathLike]]:
    """(name or None, path) of each path that is given, which may be written as NAME=PATH."""
    if isinstance(paths, Mapping):
        yield from paths.items()
        return
    for path in [paths] if isinstance(paths, str | os.PathLike) else paths:
        name, equals, rest = os.fspath(path).partition("=")
        if equals and not (_workbook(Path(path)).exists() or glob(os.fspath(path))):
            yield name, rest
        else:
            yield None, path


def _shown(path: Path) -> str:
    """A path as messages name it."""
    return "standard input" if str(path) == "-" else str(path)


def without_endings(path: PurePath) -> str:
    """The name of a file without the endings of runs, judgments, tables and packed files; of FILE.xlsx#SHEET the sheet.

    >>> without_endings(PurePath("llama-3.1-8b.qrels.gz"))
    'llama-3.1-8b'
    """
    if str(path) != str(_workbook(Path(path))):
        return str(path).rpartition("#")[2]
    name = path.name
    while (ending := Path(name).suffix).lower() in ENDINGS and name != ending:
        name = name.removesuffix(ending)
    return name


def _joined(
    load: Callable[[tuple[str, Path]], Whole | trec.Parsed],
    named: Sequence[tuple[str, Path]],
    join: Callable[[Iterable[tuple[str, trec.Parsed]]], Whole],
    progress: Progress | None = None,
) -> list[Whole]:
    """Files in order; neighbouring text files over one vocabulary, joined while later ones are still being read."""

    def counted() -> Iterator[Whole | trec.Parsed]:
        for done, part in enumerate(in_threads(load, named), start=1):
            yield part
            if progress is not None:
                progress(done, len(named))

    loaded = zip((name for name, _ in named), counted(), strict=True)
    whole: list[Whole] = []
    for is_text, group in groupby(loaded, key=lambda pair: isinstance(pair[1], trec.Parsed)):
        if is_text:
            whole.append(join(group))  # type: ignore[arg-type]
        else:
            whole.extend(part for _, part in group)  # type: ignore[misc]
    return whole
