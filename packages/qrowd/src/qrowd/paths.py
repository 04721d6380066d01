"""Which files are read: those that paths, patterns and folders stand for, and the names that they give.

Beside files there are data sets of ir_datasets (`irds:ID`), files that name their reader (`READER:FILE`), and run
folders of TIRA (`run.txt` beside `ir-metadata.yml`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from glob import glob, has_magic
from itertools import repeat
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

from qrowd.errors import ArgumentError, FileError
from qrowd.model.labels import described, first_of, plural
from qrowd.readers import irds, reader_and_path

PathLike = str | os.PathLike[str]
Paths = PathLike | Iterable[PathLike] | Mapping[str, PathLike]
"""A path, glob pattern or folder; several of them; or {name: path}. "-" is standard input."""

ENDINGS = (
    ".gz", ".run", ".trec", ".res", ".txt", ".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet", ".xlsx",
    ".qrels", ".qrel", ".prefs", ".pref", ".tot", ".eval",
)  # fmt: skip
ABOUT = re.compile(
    r"(.*[-_.])?readme(\..*)?|license(\..*)?|.*\.(md|ya?ml|toml|html|pdf)", re.IGNORECASE
)  # files about the data
TIRA_RUNS = ("run.txt", "run.txt.gz")  # in a run folder of TIRA, beside its metadata
TIRA_METADATA = "ir-metadata.yml"
SUMMARIES = ("aggregated.csv", "perquery.csv")  # scores that PyTerrier writes beside the runs into its save_dir


def file_name(label: str, ending: str) -> str:
    """The name of the file of a label: unusual letters in percent notation, and never a name that a folder passes over.

    >>> file_name("meta-llama/Llama-3.1-8B+graded", ".csv")
    'meta-llama%2FLlama-3.1-8B+graded.csv'
    """
    name = quote(label, safe="+ ()") + ending
    return f"%{ord(name[0]):02X}{name[1:]}" if name.startswith(".") or ABOUT.fullmatch(name) else name


def find_files(path: PathLike) -> list[Path]:
    """The files that a path, glob pattern or folder stands for, sorted, or a FileError that there is none.

    Files that speak about the data (README, *.md, *.yml, *.toml, licences, hidden files) are passed over among others.
    """
    return _matches(path)[0]


def _matches(path: PathLike, *, alone: bool = True) -> tuple[list[Path], list[Path]]:
    """The files that a path, pattern or folder stands for, and those passed over. alone : no other path is given."""
    text = os.fspath(path)
    one = Path(text)
    if is_data_set(one):
        return [one], []
    reader, rest = reader_and_path(text)
    if reader:
        return [Path(f"{reader}:{file}") for file in _matches(rest)[0]], []
    if text == "-" or (one.exists() and not one.is_dir()):  # a shell's <(zcat ...) is no regular file
        return ([], [one]) if not alone and is_about(one) else ([one], [])
    if (run := _tira_run(one)) is not None:
        return [run], []
    if one.is_dir():
        files = sorted(_files_in(one.iterdir()))
    elif has_magic(text):
        files = sorted(_files_in(map(Path, glob(text, recursive=True))))
    else:
        raise FileError(text, "there is no such file")
    of_pyterrier = any(p.name.endswith(".res.gz") for p in files)
    over = [p for p in files if is_about(p) or p.name[0] == "." or (of_pyterrier and p.name in SUMMARIES)]
    if len(over) == len(files):
        raise FileError(text, "no file is there" if one.is_dir() else "no file matches this pattern")
    return [p for p in files if p not in over], over


def _files_in(paths: Iterable[Path]) -> Iterator[Path]:
    """The files among the paths, and the runs of TIRA's run folders."""
    for path in paths:
        if path.is_file():
            yield path
        elif (run := _tira_run(path)) is not None:
            yield run


def _tira_run(folder: Path) -> Path | None:
    """The run in a run folder of TIRA; None for other folders and files."""
    if not (folder / TIRA_METADATA).is_file():
        return None
    return next((folder / name for name in TIRA_RUNS if (folder / name).is_file()), None)


def is_about(path: PurePath) -> bool:
    """Whether a file speaks about the data, by its name."""
    return ABOUT.fullmatch(path.name) is not None


@dataclass(frozen=True)
class Files:
    """(name, path) of every file that is read, and notes about the others."""

    named: list[tuple[str, Path]]
    notes: tuple[str, ...]


def named_files(paths: Paths, noun: str, *, unique: bool = True) -> Files:
    """Names for all files; two files of one name would silently become one, so they are refused."""
    listed: list[tuple[str, Path]] = []
    over: list[Path] = []
    for name, path in given_names(paths):
        files, others = _matches(path, alone=name is not None or isinstance(paths, str | os.PathLike))
        default = noun if os.fspath(path) == "-" else None
        listed += [(name or default or without_endings(file), file) for file in files]
        over += others
    listed = list(dict.fromkeys(listed))
    if not listed:
        raise ArgumentError(f"no files were given to read; each is one {noun}")
    if unique:
        check_names(listed, noun)
    names = first_of([path.name for path in dict.fromkeys(over) if not path.name.startswith(".")], 5)
    note = f"passed over: {plural(len(set(over)), 'file')} about the data ({names})"
    return Files(listed, (note,) if names != "none" else ())


def check_names(named: Iterable[tuple[str, Path | str]], noun: str) -> None:
    """Refuse two files of one name.

    Raises
    ------
    FileError
        The second of them.
    """
    first: dict[str, Path | str] = {}
    for name, file in named:
        if first.setdefault(name, file) != file:
            raise FileError(file, f"is {noun} {name!r}, as is {first[name]}; rename one, or give names as NAME=PATH")


def given_files(paths: Paths) -> Iterator[tuple[str | None, Path]]:
    """Every file with the name that is given to it or to its folder, or None."""
    for name, path in given_names(paths):
        for file in _matches(path)[0]:
            yield name, file


def given_names(paths: Paths) -> Iterator[tuple[str | None, PathLike]]:
    """(name or None, path) of each path that is given, which may be written as NAME=PATH; a data frame is refused."""
    several: Any = [paths] if isinstance(paths, str | os.PathLike) or hasattr(paths, "columns") else paths
    for name, path in several.items() if isinstance(several, Mapping) else zip(repeat(None), several):
        try:
            text = os.fspath(path)
        except TypeError:
            raise ArgumentError(
                f"expected a path, found {described(path)}; Judgments.from_frame or Runs.from_frame reads data frames"
            ) from None
        key, equals, rest = text.partition("=")
        if name is None and equals and not (Path(path).exists() or glob(text)):
            yield key, rest
        else:
            yield name, path


def shown(path: Path) -> str:
    """A path as messages name it."""
    return "standard input" if str(path) == "-" else str(path)


def without_endings(path: PurePath) -> str:
    """The name of a file without the endings of runs, judgments, tables and packed files.

    The run of a run folder of TIRA is called as the metadata beside it say (`tag`), or as the folder.

    >>> without_endings(PurePath("llama-3.1-8b.qrels.gz"))
    'llama-3.1-8b'
    """
    if is_data_set(path):
        return path.as_posix().removeprefix(irds.PREFIX)
    reader, rest = reader_and_path(str(path))
    if reader:
        return without_endings(PurePath(rest))
    if path.name in TIRA_RUNS and Path(path.parent, TIRA_METADATA).is_file():
        return _tira_name(Path(path.parent))
    name = path.name
    while (ending := Path(name).suffix).lower() in ENDINGS and name != ending:
        name = name.removesuffix(ending)
    return name


def _tira_name(folder: Path) -> str:
    metadata = (folder / TIRA_METADATA).read_text("utf-8", "replace")
    tag = re.search(r"^tag:[ \t]*(['\"]?)(\S.*?)\1[ \t]*(#.*)?$", metadata, re.MULTILINE)
    return tag[2] if tag else folder.resolve().name


def is_data_set(path: PurePath) -> bool:
    """Whether a path is the name of a data set of ir_datasets, irds:ID."""
    return path.as_posix().startswith(irds.PREFIX)


def on_disk(path: Path) -> Path:
    """The file itself of READER:FILE; any other path as it is."""
    if path.exists():
        return path
    if is_data_set(path):
        raise FileError(path.as_posix(), "is a data set and no file; read judgments, runs, topics or texts of it")
    return Path(reader_and_path(str(path))[1])
