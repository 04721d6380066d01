"""Files read in pieces: text cut between lines, Parquet by groups of rows, so that memory does not grow with the file.

Each piece is read by what reads whole files; lines in messages are those of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from qrowd import tables, trec
from qrowd.errors import FileError, RowError, check_choice
from qrowd.files import GZIP_STARTS, ZSTD_STARTS, NameFrom, Paths
from qrowd.model.frames import TableOptions
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.model.scales import Scale
from qrowd.model.vocabulary import Words
from qrowd.partitioning.sources import Source, sources, unpacked
from qrowd.readers import irds

Piece = TypeVar("Piece", Judgments, Runs)

PIECE = 48 << 20  # bytes of text
ROWS = 1 << 20  # of Parquet
CSV_ENDINGS, LINES_ENDINGS = (".csv", ".tsv"), (".jsonl", ".ndjson")

Advance = Callable[[int], None]


@dataclass(frozen=True)
class FileOptions:
    """How files are read: system, assessor and scales as in `qrowd.partition`, and the options of tables."""

    system: NameFrom
    assessor: NameFrom
    scales: Mapping[str, Scale | str] | None
    tables: TableOptions


@dataclass(frozen=True)
class Task:
    """A file that is read at once, or some lines of a large one.

    kind : "runs" or "judgments". number : of the file. start, stop : of the lines in bytes; stop None: the whole file.
    """

    kind: str
    number: int
    source: Source
    start: int = 0
    stop: int | None = None

    @property
    def size(self) -> int:
        """Bytes, packed as they are; 0 for what is no file."""
        return self.source.size if self.stop is None else self.stop - self.start

    @property
    def is_for_any_process(self) -> bool:
        """Whether another process can read it; a pipe it cannot."""
        return self.source.is_data_set or self.source.is_stream


def tasks_of(judgments: Paths | None, runs: Paths | None, options: FileOptions) -> list[Task]:
    """The tasks of all files, judgments first, in the order of their rows.

    Raises
    ------
    FileError
        A path or an address where nothing is; two files of one name.
    """
    check_choice("assessor", options.assessor, NameFrom)
    check_choice("system", options.system, NameFrom)
    files = [
        ("judgments", [] if judgments is None else sources(judgments, "assessor", unique=options.assessor == "file")),
        ("runs", [] if runs is None else sources(runs, "system", unique=options.system == "file")),
    ]
    return [
        Task(kind, number, source.from_anywhere(), start, stop)
        for kind, listed in files
        for number, source in enumerate(listed)
        for start, stop in _cut(source)
    ]


def pieces_of(task: Task, options: FileOptions, advance: Advance) -> Iterator[Judgments | Runs]:
    """The judgments or the runs of a task, piece after piece."""
    return (_judgments if task.kind == "judgments" else _runs)(task, options, advance)


def _judgments(task: Task, options: FileOptions, advance: Advance) -> Iterator[Judgments]:
    def of_text(text: bytes, name: str, path: str) -> Judgments:
        if tables.is_table(text, path):
            return tables.judgments_from_table(text, path, assessor=name, options=options.tables)
        parsed = trec.number_labels(trec.split(text, path, trec.QRELS), Words())
        return trec.judgments_from([(name, parsed)], assessor_in_column=options.assessor == "column")

    def of_frame(frame: Any, name: str) -> Judgments:
        return Judgments.from_frame(frame, assessor=name, **vars(options.tables))

    if task.source.is_data_set:
        pieces = iter([Judgments.from_frame(irds.judgments(task.source.path), assessor=task.source.name)])
    else:
        pieces = _pieces(task, of_text, of_frame, advance)
    for piece in pieces:
        yield piece.with_scales(options.scales) if options.scales else piece


def _runs(task: Task, options: FileOptions, advance: Advance) -> Iterator[Runs]:
    settings = {name: value for name, value in vars(options.tables).items() if name != "labels"}

    def of_text(text: bytes, name: str, path: str) -> Runs:
        if tables.is_table(text, path):
            return tables.runs_from_table(text, path, system=name, options=options.tables)
        lines = trec.split(text, path, trec.TAGGED_RUN if options.system == "column" else trec.RUN)
        return trec.runs_from([(name, trec.number_labels(lines, Words()))])

    def of_frame(frame: Any, name: str) -> Runs:
        return Runs.from_frame(frame, system=name, **settings)

    if task.source.is_data_set:
        yield Runs.from_frame(irds.scored_documents(task.source.path), system=task.source.name)
    else:
        yield from _pieces(task, of_text, of_frame, advance)


def _cut(source: Source) -> list[tuple[int, int | None]]:
    """The tasks of a file: all of it, or its lines in several, where it is text that is not packed and no CSV.

    They depend on the file alone, so that pieces do not depend on who reads them.
    """
    if (
        source.store is not None
        or source.size <= PIECE
        or not source.is_stream
        or _bare(source.label).endswith(CSV_ENDINGS)
        or source.starts_with((tables.PARQUET_STARTS, GZIP_STARTS, ZSTD_STARTS))
        or not _may_be_cut(source)
    ):
        return [(0, None)]
    starts = [0]
    with source.opened() as file:
        for near in range(PIECE, source.size, PIECE):
            if near > starts[-1]:
                file.seek(near - 1)
                file.readline()
                if file.tell() < source.size:
                    starts.append(file.tell())
    return list(zip(starts, (*starts[1:], source.size), strict=True))


def _lines(task: Task, of_text: Callable[[bytes, str, str], Piece], advance: Advance) -> Iterator[Piece]:
    """Some lines of a file."""
    source, stop = task.source, task.start + task.size
    with source.opened() as file:
        file.seek(task.start)
        text = file.read(stop - task.start)
    advance(task.size)
    if not text.strip():
        return
    try:
        piece = of_text(text, source.name, source.label)
    except FileError as error:
        with source.opened() as file:
            lines_before = sum(
                file.read(min(PIECE, task.start - at)).count(b"\n") for at in range(0, task.start, PIECE)
            )
        raise _shifted(error, lines_before) from None
    yield piece


def _pieces(
    task: Task,
    of_text: Callable[[bytes, str, str], Piece],
    of_frame: Callable[[Any, str], Piece],
    advance: Advance,
) -> Iterator[Piece]:
    """What a file holds, piece after piece."""
    source = task.source
    name, label = source.name, source.label
    if task.stop is not None:
        yield from _lines(task, of_text, advance)
        return
    if source.is_stream and source.starts_with((tables.PARQUET_STARTS,)):
        yield from _of_parquet(source, of_frame, advance)
        return
    if not _may_be_cut(source):
        yield of_text(source.read(), name, label)
        advance(source.size)
        return
    header, n_pieces = b"", 0
    for before, text in _text_pieces(source, advance):
        if not text.strip():
            continue
        if n_pieces == 0 and _has_header(text, label):
            header = text[: text.index(b"\n") + 1] if b"\n" in text else b""
        again = header if n_pieces else b""
        n_pieces += 1
        with _lines_shifted(before - bool(again)):
            piece = of_text(again + text, name, label)
        yield piece
    if not n_pieces:
        raise FileError(label, "is empty")


def _may_be_cut(source: Source) -> bool:
    """Whether a file is text that can be cut between lines: no workbook, JSON array or export of another tool.

    What can be read only once, such as standard input, is read whole.
    """
    if not source.is_stream:
        return False
    if _bare(source.label).endswith((*CSV_ENDINGS, *LINES_ENDINGS)):
        return True
    with source.opened() as raw, unpacked(raw) as stream:
        start = stream.read(1 << 16)
    return bool(start.strip()) and not tables.is_table(start, source.label)


def _has_header(text: bytes, label: str) -> bool:
    """Whether the first line names the columns."""
    return tables.is_table(text[: 1 << 16], label) and not text.lstrip().startswith(b"{")


def _bare(label: str) -> str:
    name = label.lower()
    return name.removesuffix(".gz").removesuffix(".zst")


def _text_pieces(source: Source, advance: Advance) -> Iterator[tuple[int, bytes]]:
    """(lines before it, text) of pieces that end with a line; a line break within quotes ends none."""
    n_lines, rest, quoted = 0, b"", _bare(source.label).endswith(CSV_ENDINGS)
    position = 0
    with source.opened() as raw, unpacked(raw) as stream:
        while block := stream.read(PIECE):
            text = rest + block
            end = _last_end(text, quoted)
            rest = text[end:]
            if end:
                yield n_lines, text[:end]
                n_lines += text.count(b"\n", 0, end)
            before, position = position, min(raw.tell(), source.size)
            advance(position - before)
    if rest:
        yield n_lines, rest
    advance(source.size - position)


def _last_end(text: bytes, quoted: bool) -> int:
    """Where the last whole line ends; 0 where there is none."""
    end = text.rfind(b"\n") + 1
    while quoted and end and text.count(b'"', 0, end) % 2:
        end = text.rfind(b"\n", 0, end - 1) + 1
    return end


@contextmanager
def _lines_shifted(n: int) -> Iterator[None]:
    """Errors name the line of the file, not that of the piece."""
    try:
        yield
    except FileError as error:
        raise _shifted(error, n) from None


def _shifted(error: FileError, n: int) -> FileError:
    line = None if error.line is None else error.line + n
    return FileError(error.path, error.problem, line, tuple(_shifted(one, n) for one in error.more))


def _of_parquet(source: Source, of_frame: Callable[[Any, str], Piece], advance: Advance) -> Iterator[Piece]:
    import pyarrow
    from pyarrow import parquet

    with source.opened() as raw, _named_as_parquet(source.label), parquet.ParquetFile(raw) as file:
        words = [one.name for one in file.schema_arrow if pyarrow.types.is_string(one.type)]
    n_rows = 0
    with (
        source.opened() as raw,
        _named_as_parquet(source.label),
        parquet.ParquetFile(raw, read_dictionary=words) as file,
    ):
        for batch in file.iter_batches(ROWS):
            try:
                piece = of_frame(pyarrow.Table.from_batches([batch]), source.name)
            except RowError as error:
                raise FileError(source.label, f"row {n_rows + error.row}: {error.problem}") from None
            yield piece
            before, n_rows = n_rows, n_rows + batch.num_rows
            share = source.size / file.metadata.num_rows
            advance(int(share * n_rows) - int(share * before))
    if not n_rows:
        raise FileError(source.label, tables.NO_ROWS)


@contextmanager
def _named_as_parquet(label: str) -> Iterator[None]:
    """Errors of pyarrow name the file."""
    import pyarrow

    try:
        yield
    except (pyarrow.ArrowException, OSError) as error:
        raise FileError(label, f"not readable as Parquet: {' '.join(str(error).split())}") from None
