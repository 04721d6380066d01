"""What a set of files contains: questions about the data before any number is computed from it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

import numpy as np

from qrowd import files, tables, trec
from qrowd.errors import FileError, InputError
from qrowd.kernels.arrays import Floats
from qrowd.model.alignment import align
from qrowd.model.cells import IdenticalRows, IncompleteRows, WordLabels
from qrowd.model.headers import COLUMNS, Kind
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.model.labels import Words
from qrowd.model.preferences import Preferences, concatenate_preferences
from qrowd.model.runs import Runs, concatenate_runs
from qrowd.paths import check_names, named_files, shown
from qrowd.reports.document import Document, Table
from qrowd.reports.phrases import cells, count, percent, span
from qrowd.threads import in_threads

if TYPE_CHECKING:
    import pandas

MISTAKES_SHOWN = 10
Whole = TypeVar("Whole", Judgments, Preferences, Runs)


@dataclass(frozen=True, eq=False)
class Inspection:
    """The content of the files, and mistakes in them.

    mistakes : one line each, at most MISTAKES_SHOWN a file and then how many more.
    runs, judgments, preferences : what could be read, or None.
    formats : (files, kind, format, columns) of the files, alike ones together.
    """

    mistakes: tuple[str, ...]
    runs: Runs | None
    judgments: Judgments | None
    preferences: Preferences | None = None
    formats: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()

    def tables(self) -> Iterator[Table]:
        """How the files are read; one row per system of the runs, and one per assessor."""
        if self.formats:
            headers = ("files", "read as", "format", "columns")
            yield Table.of("files", dict(zip(headers, map(list, zip(*self.formats, strict=True)), strict=True)))
        if self.runs is not None:
            ranked = self.runs.ranked()
            lengths = [row[row > 0] for row in ranked.lengths]
            columns = {
                "system": list(self.runs.systems),
                "topics": [str(row.size) for row in lengths],
                "documents": [f"{row.sum():,}" for row in lengths],
                "list length": [span(row.min(), row.max()) for row in lengths],
                "lists with ties": cells(str, ranked.tied_lists().sum(axis=1)),
            }
            yield Table.of("runs", columns)
        if self.judgments is not None:
            judgments = self.judgments
            coverage = judgments.coverage()
            values = [judgments.value[judgments.assessor == a] for a in range(len(judgments.assessors))]
            columns = {
                "assessor": list(judgments.assessors),
                "scale": cells(str, judgments.scales),
                "judgments": [f"{row.size:,}" for row in values],
                "topics": cells(str, (coverage > 0).sum(axis=1)),
                "of the pool": cells(percent, coverage.mean(axis=1), digits=1),
                "repeats": cells("{:,}".format, judgments.repeats_by_assessor()),
                "values": cells(_values, values),
            }
            yield Table.of("judgments", columns)
        if self.preferences is not None:
            read = self.preferences
            everyone = range(len(read.assessors))
            columns = {
                "assessor": list(read.assessors),
                "preferences": [f"{(read.assessor == a).sum():,}" for a in everyone],
                "topics": [str(np.unique(read.topic[read.assessor == a]).size) for a in everyone],
                "Bad marks": [f"{(read.bad_assessor == a).sum():,}" for a in everyone],
            }
            yield Table.of("preferences", columns)

    def to_document(self) -> Document:
        """Everything in one document; its frame has the rows of all tables."""
        tables = tuple(self.tables())
        mistakes = tuple(f"mistake: {mistake}" for mistake in self.mistakes)
        sentence = f"{count(len(mistakes), 'mistake') if mistakes else 'no mistakes'} found"

        def frame() -> pandas.DataFrame:
            import pandas as pd

            frames = [pd.DataFrame(one.rows, columns=one.header).assign(table=one.title) for one in tables]
            return pd.concat(frames) if frames else pd.DataFrame({"table": []})

        return Document(sentence, tables, (*self.remarks(), *mistakes), frame)

    def remarks(self) -> list[str]:
        """Facts that the rows do not show."""
        remarks = list(self.notes)
        if self.runs is not None:
            runs = self.runs
            n_lists = int(np.count_nonzero(runs.ranked().lengths))
            n_missing = len(runs.systems) * len(runs.topics) - n_lists
            topics = count(len(runs.topics), "topic")
            documents = count(len(runs), "document")
            remarks.append(f"runs: {count(len(runs.systems), 'system')}, {topics}, {documents}")
            if n_missing:
                pairs = count(n_missing, "(system, topic) pair has", "(system, topic) pairs have")
                remarks.append(f"missing: {pairs} no list")
            if contradictions := runs.rank_contradictions:
                remarks.append(f"ranks: in {count(contradictions, 'list')} the rank column contradicts the scores")
        if self.judgments is not None:
            judgments = self.judgments
            remarks.append(
                f"judgments: {len(judgments):,} of {count(len(judgments.topics), 'topic')} and "
                f"{count(len(judgments.documents), 'document')} by {count(len(judgments.assessors), 'assessor')}"
            )
            if negative := int((judgments.value < 0).sum()):
                mean = count(negative, "value below 0 means", "values below 0 mean")
                remarks.append(f"negative: {mean} pooled but not judged, unless recoded")
        if self.preferences is not None:
            read = self.preferences
            remarks.append(
                f"preferences: {len(read):,} of {count(len(read.topics), 'topic')} and "
                f"{count(len(read.documents), 'document')} by {count(len(read.assessors), 'assessor')}"
            )
        if self.runs is not None and self.judgments is not None:
            remarks.append(_together(self.runs, self.judgments))
        return remarks


def _together(runs: Runs, judgments: Judgments) -> str:
    shared = len(set(runs.topics) & set(judgments.topics))
    if not shared:
        return "together: runs and judgments share no topic"
    unjudged = align(runs, judgments.panel().pool).facts(runs, [10]).attributes()["unjudged_shares"][10]
    topics = count(shared, "shared topic")
    return f"together: {topics}; {percent(unjudged, 1)} of the first 10 documents were judged by nobody"


# ---------------------------------------------------------------------- reading


@dataclass(frozen=True, eq=False)
class _File:
    """One file: what it was read as, in which format and columns; its content, or its mistakes."""

    name: str
    path: Path
    kind: Kind
    format: str = ""
    columns: str = ""
    part: trec.Fields | trec.Parsed | Judgments | Preferences | Runs | None = None
    mistakes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Settings:
    """How files are read; see `inspect`."""

    assessor: Literal["file", "column"]
    system: Literal["file", "column"]
    format: trec.PreferenceFormat
    columns: Mapping[str, Sequence[str]]
    labels: WordLabels | None
    incomplete_rows: IncompleteRows
    identical_rows: IdenticalRows

    def of_tables(self, kind: Kind) -> dict[str, Any]:
        columns = {role: headers for role, headers in self.columns.items() if role in COLUMNS[kind]}
        settings: dict[str, Any] = {"columns": columns, "incomplete_rows": self.incomplete_rows}
        of_judgments = {"labels": self.labels, "identical_rows": self.identical_rows}
        return settings | of_judgments if kind == "judgments" else settings


def inspect(
    paths: Sequence[str],
    *,
    assessor: Literal["file", "column"] = "file",
    system: Literal["file", "column"] = "file",
    format: trec.PreferenceFormat = "auto",
    columns: Mapping[str, Sequence[str]] | None = None,
    labels: WordLabels | None = None,
    incomplete_rows: IncompleteRows = "refuse",
    identical_rows: IdenticalRows = "keep",
    progress: files.Progress | None = None,
) -> Inspection:
    """Read files of any kind, telling runs, judgments and preferences by their lines, and collect all mistakes.

    assessor, system, format, columns, labels, incomplete_rows, identical_rows, progress : as in `read_judgments`,
        `read_runs` and `read_preferences`; `columns` may name roles of any of them.
    """
    settings = _Settings(assessor, system, format, columns or {}, labels, incomplete_rows, identical_rows)
    listed = named_files(paths, "file", unique=False)
    read = []
    words: dict[Kind, Words] = {kind: Words() for kind in get_args(Kind)}
    for done, file in enumerate(in_threads(partial(_read, settings=settings), listed.named), start=1):
        read.append(_numbered(file, words[file.kind]))
        if progress is not None:
            progress(done, len(listed.named))
    mistakes = [line for file in read for line in file.mistakes]
    in_column = assessor == "column"
    runs = _joined(read, "runs", trec.runs_from, concatenate_runs, "" if system == "column" else "system", mistakes)
    of_judgments = partial(trec.judgments_from, assessor_in_column=in_column)
    of_preferences = partial(trec.preferences_from, assessor_in_column=in_column)
    noun = "" if in_column else "assessor"
    judgments = _joined(read, "judgments", of_judgments, concatenate_judgments, noun, mistakes)
    preferences = _joined(read, "preferences", of_preferences, concatenate_preferences, noun, mistakes)
    wholes = (whole for whole in (runs, judgments, preferences) if whole is not None)
    notes = (*listed.notes, *(note for whole in wholes for note in whole.notes))
    return Inspection(tuple(mistakes), runs, judgments, preferences, tuple(_formats(read)), notes)


def _read(item: tuple[str, Path], *, settings: _Settings) -> _File:
    """One file, by itself."""
    name, path = item
    written = shown(path)
    kind: Kind = "judgments"
    text, form = b"", None
    try:
        if path.suffix == ".archive":
            command = f"qrowd campaign create {shlex.quote(written)}"
            raise FileError(written, f"is an archive of a campaign; {command} brings the campaign into a database")
        text = files.read_bytes(path)
        if tables.is_table(text, written):
            outline = tables.outline_of(text, written, settings.columns)
            kind = outline.kind
            roles = ", ".join(f"{role}: {header}" for role, header in outline.role_of.items())
            part = _table(text, written, name, kind, settings.of_tables(kind))
            return _File(name, path, kind, outline.format, roles, part)
        kind, form = _text_format(text, written, settings)
        return _File(name, path, kind, "TREC's lines", form.line, trec.split(text, written, form))
    except FileError as error:
        return _File(name, path, kind, mistakes=_mistakes(path, text, form, error))
    except InputError as error:
        return _File(name, path, kind, mistakes=(str(error),))


def _numbered(file: _File, words: Words) -> _File:
    """The file with its labels as numbers."""
    if not isinstance(file.part, trec.Fields):
        return file
    try:
        return replace(file, part=trec.number_labels(file.part, words))
    except FileError as error:
        mistakes = _mistakes(file.path, file.part.text, file.part.format, error)
        return replace(file, part=None, mistakes=mistakes)


def _mistakes(path: Path, text: bytes, form: trec.Format | None, error: FileError) -> tuple[str, ...]:
    """The first mistakes of a file and whether there are more; those of a text file by a second, slower reading."""
    listed = [error, *error.more]
    if form is not None:
        listed = list(islice(trec.mistakes(text, shown(path), form), MISTAKES_SHOWN + 1)) or listed
    more = [f"{shown(path)}: more mistakes follow"] if len(listed) > MISTAKES_SHOWN else []
    return (*map(str, listed[:MISTAKES_SHOWN]), *more)


def _table(text: bytes, name: str, label: str, kind: Kind, settings: Any) -> Judgments | Preferences | Runs:
    if kind == "runs":
        return tables.from_table(Runs, text, name, system=label, **settings)
    if kind == "preferences":
        return tables.from_table(Preferences, text, name, assessor=label, **settings)
    return tables.from_table(Judgments, text, name, assessor=label, **settings)


def _text_format(text: bytes, name: str, settings: _Settings) -> tuple[Kind, trec.Format]:
    """Runs, judgments or preferences: by the number of fields; of four, preferences name one document twice."""
    lines = (line.split() for line in BytesIO(text) if line.strip() and not line.startswith(b"#"))
    first = list(islice(lines, 20))
    n = len(first[0]) if first else 0
    winner = n == 4 and all(len(fields) == 4 and fields[3] in fields[1:3] for fields in first)
    if settings.format == "qrels_prefs" and n == 4:
        return "preferences", trec.PREFERENCES["qrels_prefs"]
    if n in (3, 5) or (winner and all(fields[1] != fields[2] for fields in first)):
        return "preferences", trec.preference_format(text, name, settings.format)
    if n > trec.QRELS.n_fields:
        return "runs", trec.TAGGED_RUN if settings.system == "column" else trec.RUN
    return "judgments", trec.QRELS


def _joined(
    read: Sequence[_File],
    kind: Kind,
    join: Callable[[Iterable[tuple[str, trec.Parsed]]], Whole],
    concatenate: Callable[[Sequence[Whole]], Whole],
    noun: str,
    mistakes: list[str],
) -> Whole | None:
    """What the files of a kind hold together. noun : what each file is named after, if anything."""
    good = [file for file in read if file.kind == kind and file.part is not None]
    texts = [(file.name, file.part) for file in good if isinstance(file.part, trec.Parsed)]
    wholes: list[Any] = [file.part for file in good if not isinstance(file.part, trec.Parsed)]
    if not good:
        return None
    try:
        if noun:
            check_names([(file.name, file.path) for file in good], noun)
        return concatenate([join(texts), *wholes] if texts else wholes)
    except InputError as error:
        mistakes.append(str(error))
        return None


def _formats(read: Sequence[_File]) -> Iterator[tuple[str, ...]]:
    """(files, kind, format, columns), alike files in one row."""
    alike: dict[tuple[str, ...], list[_File]] = {}
    for file in read:
        if file.part is not None:
            alike.setdefault((file.kind, file.format, file.columns), []).append(file)
    for settings, same in alike.items():
        yield shown(same[0].path) if len(same) == 1 else count(len(same), "file"), *settings


def _values(values: Floats) -> str:
    """Each value with its share, or the quartiles where there are many values."""
    distinct, counts = np.unique(values, return_counts=True)
    if distinct.size <= 7:
        return "  ".join(f"{v:g}: {100 * c / values.size:.0f} %" for v, c in zip(distinct, counts, strict=True))
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    return f"{distinct.size} values, {distinct[0]:g} to {distinct[-1]:g}, quartiles {low:g} {middle:g} {high:g}"
