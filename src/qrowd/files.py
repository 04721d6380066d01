"""Files on disk: finding them, unpacking them, telling what they hold, and writing them whole or not at all."""

from __future__ import annotations

import gzip
import io
import os
import re
import sys
import tomllib
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from glob import glob, has_magic
from itertools import groupby
from pathlib import Path, PurePath
from typing import Any, TypeVar

from qrowd import tables, trec
from qrowd.errors import ArgumentError, FileError
from qrowd.model.duplicates import Duplicates
from qrowd.model.judgments import Judgments, Recoding, concatenate_judgments
from qrowd.model.preferences import Preferences, concatenate_preferences
from qrowd.model.runs import Runs, concatenate_runs
from qrowd.model.scales import Scale
from qrowd.threads import in_threads

PathLike = str | os.PathLike[str]
Paths = PathLike | Iterable[PathLike] | Mapping[str, PathLike]
"""A path, glob pattern or folder; several of them; or {name: path}. "-" is standard input."""

Whole = TypeVar("Whole", Judgments, Preferences, Runs)

ENDINGS = (".gz", ".run", ".trec", ".res", ".txt", ".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".qrels", ".qrel")
SUMMARIES = ("aggregated.csv", "perquery.csv")  # scores that PyTerrier writes beside the runs into its save_dir
TOO_LARGE = "is too large; leave out what is not needed"


def read_judgments(
    paths: Paths, *, assessor: str = "file", scales: Mapping[str, Scale | str] | None = None
) -> Judgments:
    """Read judgments from qrels files and tables.

    paths : a path, glob pattern, folder, "NAME=PATH", list of those, or {assessor: path}; plain or gzip; "-" is
        standard input.
    assessor : "file" makes every qrels file one assessor, named after it up to the first dot; "column" takes the
        assessor from column 2 of the qrels lines. Tables (CSV, TSV, JSON Lines, Parquet; a header names the columns)
        bring their assessor column, if they have one.
    scales : declared scales by assessor name or shell pattern, such as {"umbrela-*": "0-3"}; others are inferred.

    Raises
    ------
    FileError
        A file that is missing, truncated, empty or malformed, with the line.

    >>> read_judgments("judges/*.qrels.gz")  # doctest: +SKIP
    Judgments(215872 judgments: 53 topics, 10824 documents, 18 assessors)
    """
    if assessor not in ("file", "column"):
        raise ArgumentError(f"assessor={assessor!r}: choose 'file' or 'column'")
    named = _named(paths, "assessor", lambda path: path.name.split(".")[0] or path.name, unique=assessor == "file")

    def load(item: tuple[str, Path]) -> Judgments | trec.Parsed:
        name, path = item
        text = read_bytes(path)
        if tables.is_table(text, _shown(path)):
            return tables.judgments_from_table(text, _shown(path), assessor=name)
        return trec.parse(text, _shown(path), trec.QRELS)

    join = partial(trec.judgments_from, assessor_in_column=assessor == "column")
    judgments = concatenate_judgments(_joined(load, named, join))
    return judgments.with_scales(scales) if scales else judgments


def read_runs(paths: Paths) -> Runs:
    """Read runs from TREC run files and tables.

    paths : a path, glob pattern, folder, "NAME=PATH", list of those, or {system: path}; plain or gzip; "-" is
        standard input.
        Every run file is one system, named after it without endings such as .run.gz; the tag column is not used, since
        tags repeat from file to file. Tables bring their system column, if they have one.

    Raises
    ------
    FileError
        A file that is missing, truncated, empty or malformed, with the line; a document twice in one list.
    """
    named = _named(paths, "system", without_endings)

    def load(item: tuple[str, Path]) -> Runs | trec.Parsed:
        name, path = item
        text = read_bytes(path)
        if tables.is_table(text, _shown(path)):
            return tables.runs_from_table(text, _shown(path), system=name)
        return trec.parse(text, _shown(path), trec.RUN)

    return concatenate_runs(_joined(load, named, trec.runs_from))


def read_preferences(paths: Paths, *, format: trec.PreferenceFormat = "auto", assessor: str = "file") -> Preferences:
    """Read preferences from text files and tables.

    paths : a path, glob pattern, folder, "NAME=PATH", list of those, or {assessor: path}; plain or gzip; "-" is
        standard input.
    format : of text files. "pairs" (`topic preferred other`), "winner" (`topic a b preferred`), "prefs" (trec_eval's
        `topic group subgroup document level`), "qrels_prefs" (`topic group document level`); "auto" tells the first
        three by the number of fields. In trec_eval's formats higher levels are preferred to lower ones of the same
        (sub)group, and level 0 marks a document as Bad.
    assessor : "file" makes every text file one assessor, named after it up to the first dot, with trec_eval's judgment
        groups as groups of that assessor; "column" makes every judgment group an assessor. Tables (CSV, TSV, JSON
        Lines, Parquet; a header names the columns) bring their assessor column, if they have one.

    Raises
    ------
    FileError
        A file that is missing, truncated, empty or malformed, with the line.

    >>> read_preferences("preferences/crowd.txt.gz")  # doctest: +SKIP
    Preferences(11681 preferences: 50 topics, 1570 documents, 1 assessor)
    """
    if assessor not in ("file", "column"):
        raise ArgumentError(f"assessor={assessor!r}: choose 'file' or 'column'")
    named = _named(paths, "assessor", lambda path: path.name.split(".")[0] or path.name, unique=assessor == "file")

    def load(item: tuple[str, Path]) -> Preferences | trec.Parsed:
        name, path = item
        text = read_bytes(path)
        if tables.is_table(text, _shown(path)):
            return tables.preferences_from_table(text, _shown(path), assessor=name)
        return trec.parse(text, _shown(path), trec.preference_format(text, _shown(path), format))

    join = partial(trec.preferences_from, assessor_in_column=assessor == "column")
    return concatenate_preferences(_joined(load, named, join))


def read_answers(path: PathLike) -> Judgments | Preferences:
    """Preferences where the file is a table with columns for two documents, else judgments.

    Raises
    ------
    FileError
        As `read_judgments` and `read_preferences`.
    """
    text = read_bytes(Path(path))
    table = tables.is_table(text, str(path))
    if table and set(tables.read_table(text, str(path)).names).intersection(tables.COMPARED):
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


def find_files(paths: PathLike | Iterable[PathLike]) -> list[Path]:
    """The files that paths, glob patterns and folders stand for, sorted within each.

    Raises
    ------
    FileError
        A path that does not exist, a pattern or folder without files.
    """
    found: list[Path] = []
    for given in [paths] if isinstance(paths, str | os.PathLike) else paths:
        text = os.fspath(given)
        path = Path(text)
        if text == "-" or (path.exists() and not path.is_dir()):  # a shell's <(zcat ...) is no regular file
            matches = [path]
        elif path.is_dir():
            matches = sorted(p for p in path.iterdir() if p.is_file() and not p.name.startswith("."))
            if any(p.name.endswith(".res.gz") for p in matches):
                matches = [p for p in matches if p.name not in SUMMARIES]
        elif has_magic(text):
            matches = sorted(p for p in map(Path, glob(text, recursive=True)) if p.is_file())
        else:
            raise FileError(text, "there is no such file")
        if not matches:
            raise FileError(text, "no file is there" if path.is_dir() else "no file matches this pattern")
        found.extend(matches)
    return list(dict.fromkeys(found))


def _named(paths: Paths, noun: str, name_of: Callable[[Path], str], *, unique: bool = True) -> list[tuple[str, Path]]:
    """(name, path) of every file; two files of one name would silently become one, so they are refused."""
    if isinstance(paths, Mapping):
        listed = [(name, path) for name, given in paths.items() for path in find_files(given)]
    else:
        listed = []
        for given in [paths] if isinstance(paths, str | os.PathLike) else paths:
            name, equals, rest = os.fspath(given).partition("=")
            if equals and not (Path(given).exists() or glob(os.fspath(given))):
                listed += [(name, path) for path in find_files(rest)]
            else:
                listed += [(noun if str(path) == "-" else name_of(path), path) for path in find_files(given)]
    listed = list(dict.fromkeys(listed))
    if not listed:
        raise ArgumentError(f"no files were given to read; each is one {noun}")
    first: dict[str, Path] = {}
    for name, path in listed:
        if unique and first.setdefault(name, path) != path:
            raise FileError(path, f"is {noun} {name!r}, as is {first[name]}; rename one, or give names as NAME=PATH")
    return listed


def _shown(path: Path) -> str:
    """A path as messages name it."""
    return "standard input" if str(path) == "-" else str(path)


def without_endings(path: PurePath) -> str:
    """The name of a file without the endings of runs, tables and packed files."""
    name = path.name
    while (ending := Path(name).suffix).lower() in ENDINGS and name != ending:
        name = name.removesuffix(ending)
    return name


def _joined(
    load: Callable[[tuple[str, Path]], Whole | trec.Parsed],
    named: Sequence[tuple[str, Path]],
    join: Callable[[Iterable[tuple[str, trec.Parsed]]], Whole],
) -> list[Whole]:
    """Files in order; neighbouring text files over one vocabulary, joined while later ones are still being read."""
    loaded = zip((name for name, _ in named), in_threads(load, named), strict=True)
    whole: list[Whole] = []
    for is_text, group in groupby(loaded, key=lambda pair: isinstance(pair[1], trec.Parsed)):
        if is_text:
            whole.append(join(group))  # type: ignore[arg-type]
        else:
            whole.extend(part for _, part in group)  # type: ignore[misc]
    return whole
