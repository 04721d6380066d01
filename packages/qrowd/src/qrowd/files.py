"""Files on disk: finding them, unpacking them, telling what they hold, and writing them whole or not at all."""

from __future__ import annotations

import io
import os
import re
import sys
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from qrowd import tables, trec
from qrowd.errors import FileError, check_choice
from qrowd.leaderboard_files import Entry, LeaderboardFormat, parse_leaderboard, scores_of_entries
from qrowd.model.cells import IdenticalRows, IncompleteRows, WordLabels
from qrowd.model.conventions import Duplicates
from qrowd.model.headers import UNIT_COLUMNS, Names, roles_of
from qrowd.model.judgments import Judgments, Recoding, concatenate_judgments
from qrowd.model.labels import Words
from qrowd.model.preferences import Preferences, concatenate_preferences
from qrowd.model.runs import Runs, concatenate_runs
from qrowd.model.scales import Scale
from qrowd.model.scores import Scores
from qrowd.paths import PathLike as PathLike
from qrowd.paths import Paths as Paths
from qrowd.paths import find_files as find_files
from qrowd.paths import given_files, given_names, is_data_set, named_files, on_disk, shown
from qrowd.paths import without_endings as without_endings
from qrowd.readers import irds
from qrowd.threads import in_threads

if TYPE_CHECKING:
    from qrowd.partitions import PartitionedCollection

Whole = TypeVar("Whole", Judgments, Preferences, Runs)

NameFrom = Literal["file", "column"]
Progress = Callable[[int, int], object]

GZIP_STARTS = b"\x1f\x8b"
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
    """Read judgments from qrels files, tables, exports of other tools and data sets of ir_datasets.

    paths : a path, glob pattern, folder, "NAME=PATH", list of those, or {assessor: path}; plain or packed; "-" is
        standard input, "irds:ID" a data set; "READER:PATH" names the reader of an export. The folder of a partitioned
        collection alone: its judgments.
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
    Judgments(215,872 judgments: 53 topics, 10,824 documents, 18 assessors)
    """
    check_choice("assessor", assessor, NameFrom)
    if (collection := _collection(paths)) is not None:
        judgments = collection.judgments.load()
        return judgments.with_scales(scales) if scales else judgments
    settings: dict[str, Any] = {
        "columns": columns,
        "labels": labels,
        "incomplete_rows": incomplete_rows,
        "identical_rows": identical_rows,
    }
    files = named_files(paths, "assessor", unique=assessor == "file")

    def load(item: tuple[str, Path]) -> Judgments | trec.Fields:
        name, path = item
        if is_data_set(path):
            return Judgments.from_frame(irds.judgments(path.as_posix()), assessor=name)
        text = read_bytes(path)
        if tables.is_table(text, shown(path)):
            return tables.from_table(Judgments, text, shown(path), assessor=name, **settings)
        return trec.split(text, shown(path), trec.QRELS)

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
    progress: Progress | None = None,
) -> Runs:
    """Read runs from TREC run files, tables, run folders of TIRA and data sets of ir_datasets.

    paths : a path, glob pattern, folder, "NAME=PATH", list of those, or {system: path}; plain or packed; "-" is
        standard input, "irds:ID" the scored documents of a data set. The folder of a partitioned collection alone: its
        runs.
    system : "file" makes every run file one system, named after it without endings such as .run.gz; "column" takes
        the system from the tag, the last column of the run lines, which often repeats from file to file. Tables bring
        their system column, if they have one.
    columns, incomplete_rows : of tables, as in `qrowd.model.frames.TableOptions`.
    progress : called with the numbers of files read and of all files.

    Raises
    ------
    FileError
        A file that is missing, truncated, empty or malformed, with the line; a document twice in one list.
    """
    check_choice("system", system, NameFrom)
    if (collection := _collection(paths)) is not None:
        return collection.runs.load()
    settings: dict[str, Any] = {"columns": columns, "incomplete_rows": incomplete_rows}
    files = named_files(paths, "system", unique=system == "file")

    def load(item: tuple[str, Path]) -> Runs | trec.Fields:
        name, path = item
        if is_data_set(path):
            return Runs.from_frame(irds.scored_documents(path.as_posix()), system=name)
        text = read_bytes(path)
        if tables.is_table(text, shown(path)):
            return tables.from_table(Runs, text, shown(path), system=name, **settings)
        return trec.split(text, shown(path), trec.TAGGED_RUN if system == "column" else trec.RUN)

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

    paths : a path, glob pattern, folder, "NAME=PATH", list of those, or {assessor: path}; plain or packed; "-" is
        standard input.
    format : of text files. "pairs" (`topic preferred other`), "winner" (`topic a b preferred`), "prefs" (trec_eval's
        `topic group subgroup document level`), "qrels_prefs" (`topic group document level`); "auto" tells the first
        three by the number of fields. In trec_eval's formats higher levels are preferred to lower ones of the same
        (sub)group, and level 0 marks a document as Bad.
    assessor : "file" makes every text file one assessor, named after it without its endings; "column" makes every
        judgment group of trec_eval's formats an assessor. Tables (CSV, TSV, JSON Lines, Parquet, Excel; a header names
        the columns) bring their assessor column, if they have one.
    columns, incomplete_rows : of tables, as in `qrowd.model.frames.TableOptions`.
    progress : called with the numbers of files read and of all files.

    Raises
    ------
    FileError
        A file that is missing, truncated, empty or malformed, with the line.

    >>> read_preferences("preferences/crowd.txt.gz")  # doctest: +SKIP
    Preferences(11,681 preferences: 50 topics, 1,570 documents, 1 assessor)
    """
    check_choice("assessor", assessor, NameFrom)
    settings: dict[str, Any] = {"columns": columns, "incomplete_rows": incomplete_rows}
    files = named_files(paths, "assessor", unique=assessor == "file")

    def load(item: tuple[str, Path]) -> Preferences | trec.Fields:
        name, path = item
        text = read_bytes(path)
        if tables.is_table(text, shown(path)):
            return tables.from_table(Preferences, text, shown(path), assessor=name, **settings)
        return trec.split(text, shown(path), trec.preference_format(text, shown(path), format))

    join = partial(trec.preferences_from, assessor_in_column=assessor == "column")
    preferences = concatenate_preferences(_joined(load, files.named, join, progress))
    return replace(preferences, notes=(*files.notes, *preferences.notes))


def read_scores(paths: Paths, *, format: LeaderboardFormat = "auto") -> Scores:
    """Read leaderboards, as TREC AutoJudge and trec_eval write them, as the scores of one assessor per file.

    paths : as in `read_judgments`; {assessor: folder} names the assessor of several files. In trec_eval's format a
        file is a system, and without a name all are of the assessor "scores".
    format : "trec_eval", "tot", "ir_measures", "ranking" or "jsonl"; `qrowd.leaderboard_files` describes them.

    Raises
    ------
    FileError
        A file that is missing or malformed, with the line, or whose format is not clear.

    >>> read_scores(["gpt=gpt.eval.jsonl", "nist=truth.eval.jsonl"])  # doctest: +SKIP
    """
    entries: list[Entry] = []
    for name, path in given_files(paths):
        file = without_endings(path)
        entries += parse_leaderboard(read_bytes(path), shown(path), file=file, assessor=name, format=format)
    return scores_of_entries(entries)


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


def hold_answers(paths: Paths, columns: Collection[str]) -> bool:
    """Whether every file is a table of answers; the first that is none decides. columns : roles that are named."""
    try:
        given = list(given_files(paths))
    except FileError:  # is told where they are read
        return False
    return all(_holds_answers(path, columns) for _, path in given)


def _holds_answers(path: Path, columns: Collection[str]) -> bool:
    if is_data_set(path) or path.name == "-":
        return False
    text, name = read_bytes(path), shown(path)
    return tables.is_table(text, name) and tables.table_kind(text, name, columns) == "answers"


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
    recoding: dict[str, Recoding] = {}
    for pattern, rule in parse_toml(read_bytes(Path(path)), path).items():
        try:
            recoding[pattern] = {float(k): float(v) for k, v in rule.items()} if isinstance(rule, dict) else float(rule)
        except (TypeError, ValueError):
            problem = f'{pattern!r} must be a threshold, or a table of values such as {{"-2" = 0}}'
            raise FileError(path, problem) from None
    return recoding


def parse_toml(content: bytes, path: PathLike) -> dict[str, Any]:
    """What a TOML file holds.

    Raises
    ------
    FileError
        What is no TOML, with the line.
    """
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        line = re.search(r"line (\d+)", str(error))
        raise FileError(path, f"is not valid TOML: {error}", int(line[1]) if line else None) from None


def read_labels(path: PathLike, *names: str, optional: Sequence[str] = (), may_be_empty: str = "") -> list[list[str]]:
    """The columns of these names of a table, as text; those of answers also by their other usual names.

    optional : further columns, which are "" where the table has none. may_be_empty : the column whose cells may be.

    Raises
    ------
    FileError
        A column that is missing, an empty cell, or a file that is missing or malformed, with the line.
    """
    table = tables.read_table(read_bytes(Path(path)), shown(Path(path)))
    usual = {name: UNIT_COLUMNS.get(name, (name,)) for name in (*names, *optional)}
    role_of = roles_of(table.names, usual, {name: name for name in usual if name in table.names})
    missing = next((name for name in names if name not in role_of), None)
    if missing is not None:
        raise FileError(path, f"there is no column {missing!r} among {', '.join(table.names)}; name the columns so")
    content = read_columns(path)
    empty = [""] * len(content[table.names[0]])
    columns = []
    for name in usual:
        cells = ["" if cell is None else str(cell) for cell in content.get(role_of.get(name, ""), empty)]
        if "" in cells and name in role_of and name != may_be_empty:
            row = cells.index("")
            raise FileError(path, f"{name} is missing", None if table.lines is None else table.lines[row])
        columns.append(cells)
    return columns


def read_duplicates(path: PathLike) -> Duplicates:
    """Read a table of documents that say the same: topic, document, group; or the pairs that a campaign exports.

    Raises
    ------
    FileError
        Other columns, or a file that is missing or malformed.
    """
    names = tables.read_table(read_bytes(Path(path)), shown(Path(path))).names
    if "same_as" in names:
        duplicates = Duplicates.from_pairs(zip(*read_labels(path, "topic", "one", "same_as"), strict=True))
    else:
        duplicates = Duplicates.from_groups(zip(*read_labels(path, "topic", "document", "group"), strict=True))
    if not duplicates.groups:
        raise FileError(path, "no group holds two documents of a topic; documents that say the same share a group")
    return duplicates


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


def read_clusters(path: PathLike) -> dict[str, str]:
    """Read a table of the cluster of each topic, with the columns topic and cluster.

    Raises
    ------
    FileError
        What `read_labels` refuses; a topic in two clusters.
    """
    clusters: dict[str, str] = {}
    for topic, cluster in zip(*read_labels(path, "topic", "cluster"), strict=True):
        if clusters.setdefault(topic, cluster) != cluster:
            raise FileError(path, f"topic {topic} is in the clusters {clusters[topic]} and {cluster}; name one")
    return clusters


def read_bytes(path: Path, *, name: str = "", most: int | None = None) -> bytes:
    """What is in a file, unpacked where its first bytes, not its name, say that it is gzip.

    name : of the file in messages; default: its path. most : bytes it may hold, unpacked.

    Raises
    ------
    FileError
        A missing, unreadable, truncated, empty or too large file.
    """
    name = name or shown(path)
    path = on_disk(path)
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
    if content.startswith(GZIP_STARTS):
        try:
            with _gzip_file(content) as unpacked:
                content = unpacked.read(-1 if most is None else most + 1)
        except Exception as error:  # zlib-ng raises an error of its own
            raise FileError(name, f"damaged or truncated gzip ({error}); fetch the file again") from None
    if most is not None and len(content) > most:
        raise FileError(name, TOO_LARGE)
    if not content or content.isspace():
        raise FileError(name, "is empty")
    return content


def _gzip_file(content: bytes) -> Any:
    """An open gzip file; zlib-ng, where it is installed, takes half the time of the standard library."""
    kind: Any
    try:
        from zlib_ng.gzip_ng import GzipNGFile as kind
    except ImportError:
        from gzip import GzipFile as kind
    return kind(fileobj=io.BytesIO(content))


def new_folder(path: PathLike, *folders: str) -> Path:
    """Make a folder for new files, with these folders in it.

    Raises
    ------
    FileError
        A folder that holds something already, or that cannot be made.
    """
    root = Path(path)
    try:
        if root.exists() and any(root.iterdir()):
            raise FileError(root, "is not empty; name a new folder")
        for folder in (root, *(root / name for name in folders)):
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(root, f"cannot be made: {(error.strerror or str(error)).lower()}") from None
    return root


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


def _collection(paths: Paths) -> PartitionedCollection | None:
    """The partitioned collection whose folder is the only path."""
    named = [] if isinstance(paths, Iterator) else list(given_names(paths))  # it is left to those who read its files
    if len(named) != 1 or named[0][0] is not None:
        return None
    folder = Path(named[0][1])
    if not folder.is_dir() or next(folder.glob("*.json"), None) is None:  # else the package need not be imported
        return None
    from qrowd.partitions import is_partitioned, open_partitioned

    return open_partitioned(folder) if is_partitioned(folder) else None


def _joined(
    load: Callable[[tuple[str, Path]], Whole | trec.Fields],
    named: Sequence[tuple[str, Path]],
    join: Callable[[Iterable[tuple[str, trec.Parsed]]], Whole],
    progress: Progress | None = None,
) -> list[Whole]:
    """Files in order, read in threads while labels of earlier ones are numbered; neighbouring text files are joined."""
    words = Words()
    loaded: list[tuple[str, Whole | trec.Parsed]] = []
    for done, part in enumerate(in_threads(load, named), start=1):
        parsed = trec.number_labels(part, words) if isinstance(part, trec.Fields) else part
        loaded.append((named[done - 1][0], parsed))
        if progress is not None:
            progress(done, len(named))
    whole: list[Whole] = []
    for is_text, group in groupby(loaded, key=lambda pair: isinstance(pair[1], trec.Parsed)):
        if is_text:
            whole.append(join(group))  # type: ignore[arg-type]
        else:
            whole.extend(part for _, part in group)  # type: ignore[misc]
    return whole
