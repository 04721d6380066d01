"""What a set of files contains: questions about the data before any number is computed from it."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from qrowd import files, tables, trec
from qrowd.errors import FileError, InputError
from qrowd.leaderboard_files import leaderboard_format
from qrowd.model.cells import IdenticalRows, IncompleteRows, WordLabels
from qrowd.model.headers import Kind, are_usual, likely_columns, roles_in
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.model.labels import Words
from qrowd.model.preferences import Preferences, concatenate_preferences
from qrowd.model.runs import Runs, concatenate_runs
from qrowd.model.scales import infer_scale
from qrowd.model.scores import Scores
from qrowd.paths import TIRA_METADATA, check_names, find_files, named_files, shown, without_endings
from qrowd.readers.unread_formats import unread_format
from qrowd.reports.document import UNITS
from qrowd.reports.phrases import count, listed
from qrowd.reports.scale_notes import scales_of
from qrowd.reports.short_names import renamed
from qrowd.texts import kind_of_texts
from qrowd.threads import in_threads

Content = Literal["runs", "judgments", "gold", "magnitudes", "preferences", "scores", "topics", "documents"]
MISTAKES_SHOWN = 10
KINDS: dict[Content, tuple[Any, Any, Any, str]] = {
    "runs": (Runs, trec.runs_from, concatenate_runs, "system"),
    "judgments": (Judgments, trec.judgments_from, concatenate_judgments, "assessor"),
    "magnitudes": (Judgments, trec.judgments_from, concatenate_judgments, "assessor"),
    "preferences": (Preferences, trec.preferences_from, concatenate_preferences, "assessor"),
}
"""What is read, from which lines and how it is put together, and what each file of it is named after."""


@dataclass(frozen=True)
class Settings:
    """How files are read, as in `read_judgments`, `read_runs` and `read_preferences`; columns are of any of them."""

    assessor: Literal["file", "column"] = "file"
    system: Literal["file", "column"] = "file"
    format: trec.PreferenceFormat = "auto"
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    labels: WordLabels | None = None
    incomplete_rows: IncompleteRows = "refuse"
    identical_rows: IdenticalRows = "keep"

    def of_tables(self, kind: Kind) -> dict[str, Any]:
        """The arguments for tables."""
        columns = {role: headers for role, headers in self.columns.items() if role in roles_in(kind)}
        settings: dict[str, Any] = {"columns": columns, "incomplete_rows": self.incomplete_rows}
        of_judgments = {"labels": self.labels, "identical_rows": self.identical_rows}
        return settings | of_judgments if kind == "judgments" else settings

    def options(self, *names: str) -> str:
        """Those of these that are not the usual ones, and columns, as they are written on the command line."""
        usual, words = Settings(), []
        for name in names:
            if (value := getattr(self, name)) != getattr(usual, name):
                words += [f"--{name.replace('_', '-')}", value]
        for role, headers in self.columns.items() if "incomplete_rows" in names else ():
            words += [word for header in headers for word in ("--column", f"{role}={header}")]
        return "".join(f" {word}" for word in map(shlex.quote, words))


@dataclass(frozen=True, eq=False)
class File:
    """One file: what it was read as, and how; its content, or its mistakes.

    content : "judgments", "magnitudes" and "gold" are judgments. how : the format, and the columns of a table; for a
        file with a mistake, the command that may read it.
    """

    name: str
    path: Path
    content: Content
    how: str = ""
    part: Any = None  # fields of lines, or the runs, judgments or preferences of a table
    mistakes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Inspection:
    """The content of the files, and mistakes in them.

    files : all of them, read or not. mistakes : one line each, first what does not fit together, then of each file.
    runs, judgments, magnitudes, preferences, scores : what could be read, or None. Judgments are grades, without a file
        called gold, if there are others.
    """

    settings: Settings
    files: tuple[File, ...]
    mistakes: tuple[str, ...]
    notes: tuple[str, ...]
    runs: Runs | None
    judgments: Judgments | None
    magnitudes: Judgments | None
    preferences: Preferences | None
    scores: Scores | None

    @property
    def answers(self) -> bool:
        """Whether the runs are answers, in the same files as their judgments."""
        return self.runs is not None and self.runs.criterion is not None

    def of(self, content: str) -> list[File]:
        """The files that were read as this."""
        return [file for file in self.files if file.content == content and not file.mistakes]

    def contents(self) -> Iterator[str]:
        """What the files hold, each content in a line."""
        for content in get_args(Content):
            by_how: dict[str, list[File]] = {}
            for file in self.of(content):
                by_how.setdefault(file.how, []).append(file)
            sources = [f"{listed(short_paths(same))} ({how})" for how, same in by_how.items()]
            if sources:
                sizes = renamed(_sizes(getattr(self, content, None)), UNITS if self.answers else {})
                yield f"{content}: {sizes}from {'; '.join(sources)}"
        if self.judgments is not None:
            scales = scales_of(dict(zip(self.judgments.assessors, self.judgments.scales, strict=True)))
            yield f"scales: {'; '.join(scales)}"

    def remarks(self) -> list[str]:
        """What was noticed that is no mistake."""
        remarks = list(self.notes)
        if self.runs is not None:
            runs = self.runs
            if n := len(runs.systems) * len(runs.topics) - int(np.count_nonzero(runs.ranked().lengths)):
                remarks.append(f"missing: {count(n, '(system, topic) pair')} without a list")
            judged = {*getattr(self.judgments, "topics", ()), *getattr(self.preferences, "topics", ())}
            if absent := judged - set(runs.topics):
                remarks.append(f"missing: {count(len(absent), 'judged topic is', 'judged topics are')} in no run")
            if contradictions := runs.rank_contradictions:
                remarks.append(f"ranks: in {count(contradictions, 'list')} the rank column contradicts the scores")
        if self.judgments is not None:
            if negative := int((self.judgments.value < 0).sum()):
                mean = count(negative, "value below 0 means", "values below 0 mean")
                remarks.append(f"negative: {mean} pooled but not judged, unless recoded")
            if repeats := self.judgments.n_repeats():
                remarks.append(f"repeats: {count(repeats, 'judgment repeats', 'judgments repeat')} an earlier one")
                if self.settings.assessor == "file" and any("TREC" in file.how for file in self.of("judgments")):
                    remarks.append("assessors: where column 2 says who judged, add --assessor column")
        return remarks


def _sizes(whole: object) -> str:
    """How much there is of everything that has labels, and how many rows."""
    nouns = {
        "systems": "system",
        "assessors": "assessor",
        "topics": "topic",
        "documents": "document id",
        "measures": "measure",
    }
    sizes = [count(len(getattr(whole, name)), noun) for name, noun in nouns.items() if hasattr(whole, name)]
    sizes += [count(len(whole), "row")] if isinstance(whole, Judgments | Preferences | Runs) else []
    return "".join(f"{size}, " for size in sizes)


def short_paths(files: Sequence[File]) -> list[str]:
    """The files as arguments of a command; for many in a folder the folder, or a pattern, that stands for them."""
    by_folder: dict[Path, list[str]] = {}
    for file in files:
        is_named = file.name != without_endings(file.path) and str(file.path) != "-"
        text = f"{file.name}={file.path}" if is_named else str(file.path)
        by_folder.setdefault(file.path.parent, []).append(text)
    return [text for folder, named in by_folder.items() for text in _shortened(folder, named)]


def _shortened(folder: Path, named: list[str]) -> list[str]:
    patterns = (str(folder), f"{folder}/*{Path(named[0]).suffix}") if len(named) > 2 else ()
    return next(([pattern] for pattern in patterns if _files_of(pattern) == sorted(named)), named)


def _files_of(path: str) -> list[str]:
    """The files that a path, folder or pattern stands for; none where it stands for none."""
    with suppress(InputError):
        return sorted(map(str, find_files(path)))
    return []


# ---------------------------------------------------------------------- reading


def inspect(paths: Sequence[str], settings: Settings, progress: files.Progress | None = None) -> Inspection:
    """Read files of any kind, telling what they hold by their lines, and collect all mistakes.

    progress : as in `read_judgments`.
    """
    listed = named_files(_with_folders(paths), "file", unique=False)
    read: list[File] = []
    words: dict[Content, Words] = defaultdict(Words)
    for done, parts in enumerate(in_threads(partial(_read, settings=settings), listed.named), start=1):
        read += [_numbered(file, words[file.content]) for file in parts]
        if progress is not None:
            progress(done, len(listed.named))
    read = list(_with_magnitudes_and_gold(read))
    mistakes: list[str] = []
    wholes = {content: _joined(read, content, settings, mistakes) for content in KINDS}
    notes = [note for whole in wholes.values() if whole is not None for note in whole.notes]
    scores = _scores(read, mistakes)
    share = max(1, MISTAKES_SHOWN // max(1, sum(bool(file.mistakes) for file in read)))  # of each file
    for part in (slice(share), slice(share, None)):
        mistakes += [line for file in read for line in file.mistakes[part]]
    remarks = tuple(dict.fromkeys([*listed.notes, *notes]))
    return Inspection(settings, tuple(read), tuple(mistakes), remarks, **wholes, scores=scores)


def _with_folders(paths: Sequence[str]) -> Iterator[str]:
    """The paths, and the folders in folders; a folder that holds nothing but folders stands for these."""
    for path in paths:
        inside = [] if Path(path, TIRA_METADATA).is_file() else sorted(map(str, Path(path).glob("[!.]*/")))
        yield from list(filter(_files_of, [path, *inside])) or [path]


def _read(item: tuple[str, Path], *, settings: Settings) -> list[File]:
    """One file, by itself; answers are judgments and runs."""
    name, path = item
    written = shown(path)
    content: Content = "judgments"
    text, form = b"", None
    try:
        if path.suffix == ".archive":
            command = f"qrowd campaign create {shlex.quote(written)}"
            raise FileError(written, f"is an archive of a campaign; {command} brings the campaign into a database")
        text = files.read_bytes(path)
        if special := _special(text, name, path):
            return [special]
        if tables.is_table(text, written):
            outline = tables.outline_of(text, written, settings.columns)
            kinds: tuple[Any, ...] = ("judgments", "runs") if outline.kind == "answers" else (outline.kind,)
            content = kinds[0]
            roles = [header if header == role else f"{role}: {header}" for role, header in outline.role_of.items()]
            how = f"{outline.format}, columns {', '.join(roles)}"
            return [File(name, path, one, how, _of_table(one, text, written, name, settings)) for one in kinds]
        content, form = _text_format(text, written, settings)
        return [File(name, path, content, "TREC's lines", trec.split(text, written, form))]
    except FileError as error:
        if (
            text
            and (error.line or 1) == 1
            and (other := _other_format(text, name, path, settings, is_table=form is None))
        ):
            return [other]
        return [File(name, path, content, mistakes=_mistakes(path, text, form, error))]
    except InputError as error:
        return [File(name, path, content, mistakes=(str(error),))]


def _of_table(kind: Any, text: bytes, written: str, name: str, settings: Settings) -> Any:
    whole, *_, noun = KINDS[kind]
    return tables.from_table(whole, text, written, **{noun: name}, **settings.of_tables(kind))


def _special(text: bytes, name: str, path: Path) -> File | None:
    """Texts, leaderboards, and what is recognised by its first bytes."""
    if unread := unread_format(text):
        return File(name, path, "judgments", mistakes=(f"{shown(path)}: {unread}",))
    content = kind_of_texts(text, shown(path))
    if content is not None:
        return File(name, path, content, "texts")
    format = leaderboard_format(tables.first_line(text), shown(path))
    return None if format is None else File(name, path, "scores", format)


def _other_format(text: bytes, name: str, path: Path, settings: Settings, *, is_table: bool) -> File | None:
    """A file that is not read as what it seemed to be: in a format of others, or with columns to be guessed."""
    try:
        headers = tables.read_table(text, shown(path)).names
    except FileError:
        headers = ()
    likely = {role: header for role, header in likely_columns(headers).items() if role not in settings.columns}
    missing = [role for role in ("topic", "document", "value") if role not in {*likely, *settings.columns}]
    command = ""
    if problem := unread_format(text, headers):
        pass
    elif len(missing) > 1 and is_table and headers:
        problem = (
            f"no columns for {listed(missing)} among {listed(headers, 8)}; a header is topic,document,assessor,value, "
            f"for example, or name the columns: --column {missing[0]}=HEADER"
        )
    elif missing or are_usual(likely):
        return None
    else:
        options = [word for role, header in likely.items() for word in ("--column", f"{role}={header}")]
        command = shlex.join(["qrowd", "check", str(path), *options])
        problem = "looks like a table of judgments whose columns have other names than the usual ones"
    return File(name, path, "judgments", command, mistakes=(f"{shown(path)}: {problem}",))


def _with_magnitudes_and_gold(read: Sequence[File]) -> Iterator[File]:
    """The files with magnitudes, and the gold judgments beside others, as such."""
    n_judgments = sum(file.content == "judgments" for file in read)
    for file in read:
        content = file.content
        is_qrels = content == "judgments" and isinstance(file.part, trec.Parsed)
        scales = [infer_scale(file.part.number)] if is_qrels else getattr(file.part, "scales", ())
        if scales and all(scale.kind == "magnitude" for scale in scales):
            content = "magnitudes"
        elif content == "judgments" and file.name == "gold" and n_judgments > 1:
            content = "gold"
        yield replace(file, content=content)


def _scores(read: Sequence[File], mistakes: list[str]) -> Scores | None:
    """The leaderboards together."""
    boards = [file for file in read if file.content == "scores"]
    if not boards:
        return None
    try:
        return files.read_scores([str(file.path) for file in boards])
    except InputError as error:
        mistakes.append(str(error))
        return None


def _numbered(file: File, words: Words) -> File:
    """The file with its labels as numbers."""
    if not isinstance(file.part, trec.Fields):
        return file
    try:
        return replace(file, part=trec.number_labels(file.part, words))
    except FileError as error:
        mistakes = _mistakes(file.path, file.part.text, file.part.format, error)
        return replace(file, how="", part=None, mistakes=mistakes)


def _mistakes(path: Path, text: bytes, form: trec.Format | None, error: FileError) -> tuple[str, ...]:
    """The mistakes of a file as path:line: problem; those of a text file by a second, slower reading."""
    errors = [error, *error.more]
    if form is not None:
        errors = list(trec.mistakes(text, shown(path), form)) or errors
    return tuple(f"{one.path}{'' if one.line is None else f':{one.line}'}: {one.problem}" for one in errors)


def _text_format(text: bytes, name: str, settings: Settings) -> tuple[Content, trec.Format]:
    """Runs, judgments or preferences: by the number of fields; of four, preferences name one document twice."""
    lines = (line.split() for line in BytesIO(text) if line.strip() and not line.startswith(b"#"))
    first = list(islice(lines, 20))
    n = len(first[0]) if first else 0
    winner = n == 4 and all(len(fields) == 4 and fields[3] in fields[1:3] for fields in first)
    winner = winner and not {fields[1] for fields in first} <= {b"0", b"Q0"}  # all grades are 0
    if settings.format == "qrels_prefs" and n == 4:
        return "preferences", trec.PREFERENCES["qrels_prefs"]
    if n in (3, 5) or (winner and all(fields[1] != fields[2] for fields in first)):
        return "preferences", trec.preference_format(text, name, settings.format)
    if n > trec.QRELS.n_fields:
        return "runs", trec.TAGGED_RUN if settings.system == "column" else trec.RUN
    return "judgments", trec.QRELS


def _joined(read: Sequence[File], content: Content, settings: Settings, mistakes: list[str]) -> Any:
    """What the files of a content hold together; None where there are none, or where they do not fit together."""
    _, join, concatenate, noun = KINDS[content]
    in_column = getattr(settings, noun) == "column"
    good = [file for file in read if file.content == content and file.part is not None]
    texts = [(file.name, file.part) for file in good if isinstance(file.part, trec.Parsed)]
    wholes: list[Any] = [file.part for file in good if not isinstance(file.part, trec.Parsed)]
    if not good:
        return None
    try:
        if not in_column:
            check_names([(file.name, file.path) for file in good], noun)
        options = {} if noun == "system" else {"assessor_in_column": in_column}
        return concatenate([join(texts, **options), *wholes] if texts else wholes)
    except InputError as error:
        mistakes.append(str(error))
        return None
