"""What the files of a folder are, by their names and first lines; and the commands that can be tried on them."""

from __future__ import annotations

import gzip
import os
import re
import shlex
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

Kind = Literal["runs", "judgments", "preferences", "campaign", "database", "archive"]

MOST_FILES, DEEPEST, HEAD = 2000, 2, 4096
NOUNS: dict[Kind, str] = {"runs": "run file", "judgments": "judgment file", "preferences": "preference file"}
_FIELDS: dict[int, Kind] = {3: "preferences", 4: "judgments", 6: "runs"}
_NO_VOTES = ("gold", "magnitude")
_COMPRESSED = b"\x1f\x8b"
_NOT_DATA = (
    ".md", ".rst", ".toml", ".cfg", ".ini", ".yaml", ".yml", ".html", ".css", ".js", ".py", ".ipynb", ".sh", ".tex",
    ".pdf", ".svg", ".png", ".log", ".lock",
)  # fmt: skip
_NOT_SEARCHED = ("node_modules", "__pycache__", "site-packages")


def files_of_folder(folder: Path) -> dict[Kind, list[Path]]:
    """{kind: files} of a folder and of the folders in it, as far as their first lines say what they are."""
    kinds: dict[Kind, list[Path]] = {}
    for path in _paths(folder):
        kind = kind_of(path)
        if kind is not None:
            kinds.setdefault(kind, []).append(path.relative_to(folder))
    return kinds


def _paths(folder: Path) -> Iterator[Path]:
    """The files of a folder, and of those in it, except hidden ones and what programs are installed in.

    A very large folder is cut off.
    """
    n = 0
    for parent, folders, names in os.walk(folder):
        here = Path(parent)
        if "pyvenv.cfg" in names:  # a virtual environment
            folders.clear()
            continue
        depth = len(here.relative_to(folder).parts)
        searched = [name for name in folders if not name.startswith(".") and name not in _NOT_SEARCHED]
        folders[:] = sorted(searched) if depth < DEEPEST else []
        for name in sorted(names):
            if not name.startswith("."):
                yield here / name
                n += 1
        if n > MOST_FILES:
            return


def kind_of(path: Path) -> Kind | None:
    """What a file is by its name and its first line; None where that is unclear."""
    if path.name == "campaign.toml":
        return "campaign"
    if path.suffix == ".archive":
        return "archive"
    if path.suffix in _NOT_DATA:
        return None
    try:
        with path.open("rb") as plain:
            head = plain.read(HEAD)
        if head.startswith(_COMPRESSED):
            with gzip.open(path) as file:
                head = file.read(HEAD)
    except (OSError, EOFError, zlib.error):
        return None
    if head.startswith(b"SQLite format 3"):
        return "database" if path.suffix == ".db" else None
    lines = head.decode("utf-8", "replace").lstrip("\ufeff").splitlines()
    return kind_of_line(lines[0]) if lines and "\0" not in lines[0] else None


def kind_of_line(line: str) -> Kind | None:
    """What a file with this first line is: the header of a table, or a line of a TREC file.

    >>> kind_of_line("q1 Q0 d1 1 12.5 bm25"), kind_of_line("q1 0 d1 2"), kind_of_line("Topic,Doc ID,Label")
    ('runs', 'judgments', 'judgments')
    """
    from qrowd.model.headers import DOCUMENT, TOPIC, is_called
    from qrowd.model.headers import kind_of as kind_of_table

    headers = [cell.strip("\"' ") for cell in re.split(r"[,;\t]", line)]
    if is_called(headers, TOPIC) and is_called(headers, DOCUMENT):
        return kind_of_table(headers)
    cells = [re.sub(r"\W|_", "", cell.lower()) for cell in re.split(r"[,;\t:{}]", line)]
    if {"preferred", "winner", "doca", "first"}.intersection(cells) and len(cells) > 2:
        return "preferences"
    if {"score", "rank", "similarity"}.intersection(cells):
        return "runs"
    if {"value", "label", "relevance", "grade", "rel", "rating", "judgment"}.intersection(cells):
        return "judgments"
    fields = line.split() if len(headers) < 3 or "\t" in line else []  # with commas, it is no TREC file
    kind = _FIELDS.get(len(fields))
    if kind == "preferences" and "\t" in line and " " in line.strip():  # a topic of two words
        return None
    if kind == "runs":
        return kind if _is_number(fields[3]) and _is_number(fields[4]) else None
    return kind if kind != "judgments" or _is_number(fields[3]) else None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def as_argument(folder: Path, paths: list[Path]) -> str:
    """The shortest argument that names these files of one folder: the folder, a pattern, or one path."""
    if len(paths) == 1:
        return shlex.quote(str(paths[0]))
    parent, names = paths[0].parent, {path.name for path in paths}
    visible = {path.name for path in (folder / parent).iterdir() if path.is_file() and not path.name.startswith(".")}
    if names == visible and parent != Path("."):
        return shlex.quote(str(parent))
    for ending in ("".join(paths[0].suffixes[-2:]), paths[0].suffix):
        pattern = f"*{ending}"
        if ending and names == {path.name for path in (folder / parent).glob(pattern)}:
            return f"'{parent / pattern}'"
    return " ".join(shlex.quote(str(path)) for path in paths[:10])


def first_steps(folder: Path) -> tuple[str, list[tuple[str, str]]]:
    """What is in the folder in a sentence, and the commands that can be tried: (command, what it does)."""
    from qrowd.reports.phrases import count, listed

    kinds = files_of_folder(folder)
    arguments: dict[Kind, str] = {}
    numbers: dict[Kind, int] = {}
    parts = []
    for kind, noun in NOUNS.items():
        groups: dict[Path, list[Path]] = {}
        for path in kinds.get(kind, []):
            groups.setdefault(path.parent, []).append(path)
        if groups:
            largest = max(groups.values(), key=len)
            used = _of_one_panel(groups, largest) if kind == "judgments" else [largest]
            arguments[kind] = " ".join(as_argument(folder, paths) for paths in used)
            numbers[kind] = sum(map(len, used))
            parts.append(f"{count(len(kinds[kind]), noun)} (such as {largest[0]})")
    parts += [f"a folder of a campaign ({path.parent})" for path in kinds.get("campaign", [])[:1]]
    parts += [f"a database of campaigns ({path})" for path in kinds.get("database", [])[:1]]
    parts += [f"an archive of a campaign ({path})" for path in kinds.get("archive", [])[:1]]
    commands = list(_commands(arguments, numbers, kinds))
    if commands:
        return f"This folder holds {listed(parts)}.", commands
    return "This folder holds no runs and no judgments.", [
        ("qrowd demo", "an evaluation of a small simulated panel"),
        ("qrowd simulate panel", "files of a simulated panel, to try every command"),
        ("qrowd serve --demo", "the pages on which assessors judge"),
    ]


def _of_one_panel(groups: dict[Path, list[Path]], largest: list[Path]) -> list[list[Path]]:
    """The judgments of all folders, but those that are called gold or magnitudes: no votes of the panel."""
    votes = [[one for one in paths if not one.name.lower().startswith(_NO_VOTES)] for paths in groups.values()]
    return [paths for paths in votes if paths] or [largest]


def _commands(
    arguments: dict[Kind, str], numbers: dict[Kind, int], kinds: dict[Kind, list[Path]]
) -> Iterator[tuple[str, str]]:
    """The commands for what there is: (command, what it does)."""
    runs, judgments, preferences = (arguments.get(kind) for kind in ("runs", "judgments", "preferences"))
    if runs and judgments:
        data = f"--runs {runs} --judgments {judgments}"
        yield f"qrowd evaluate {data}", "the score of each run by each assessor"
        if numbers["runs"] > 1 or runs.endswith((".csv", ".tsv")):  # a table holds several systems
            yield f"qrowd compare {data}", "the systems that may be the best"
            yield f"qrowd report {data}", "one page for those who decide"
    if runs and preferences:
        yield f"qrowd prefer evaluate --runs {runs} --preferences {preferences}", "the score of each run by preferences"
    if preferences and not runs:
        yield f"qrowd prefer agree --preferences {preferences}", "the agreement of the assessors"
    if judgments:
        yield f"qrowd agree --judgments {judgments}", "the agreement of the assessors"
        yield f"qrowd assessors --judgments {judgments}", "each assessor: grades, severity, agreement with the others"
    if runs or judgments:
        yield (
            f"qrowd check {' '.join(filter(None, (runs, judgments)))}",
            "the content of the files, and mistakes in them",
        )
    for path in kinds.get("campaign", [])[:1]:
        yield f"qrowd campaign create {shlex.quote(str(path.parent))} --check", "whether the campaign can be created"
    for path in kinds.get("database", [])[:1]:
        yield f"qrowd campaign list --database {shlex.quote(str(path))}", "its campaigns and their progress"
    for path in kinds.get("archive", [])[:1]:
        yield f"qrowd campaign import {shlex.quote(str(path))}", "the campaign of the archive in a database again"
