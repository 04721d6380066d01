"""Files read in pieces: text cut between lines, Parquet by groups of rows, so that memory does not grow with the file.

Each piece is read by what reads whole files; lines in messages are those of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from qrowd import tables, trec
from qrowd.errors import FileError, RowError, check_choice
from qrowd.files import NameFrom, Paths
from qrowd.model.frames import TableOptions
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.model.vocabulary import Words
from qrowd.partitioning.sources import Source, sources, unpacked
from qrowd.readers import irds

Piece = TypeVar("Piece", Judgments, Runs)

PIECE = 48 << 20  # bytes of text
ROWS = 1 << 20  # of Parquet
CSV_ENDINGS, LINES_ENDINGS = (".csv", ".tsv"), (".jsonl", ".ndjson")

Advance = Callable[[int], None]


def n_bytes_of(paths: Paths) -> int:
    """Bytes of the files, packed as they are; what is no file counts for nothing."""
    return sum(source.size for source in sources(paths, "file", unique=False))


def judgments_in_pieces(
    paths: Paths, assessor: NameFrom, options: TableOptions, advance: Advance
) -> Iterator[tuple[int, Judgments]]:
    """(number of the file, judgments of a piece of it)."""
    check_choice("assessor", assessor, NameFrom)

    def of_text(text: bytes, name: str, path: str) -> Judgments:
        if tables.is_table(text, path):
            return tables.judgments_from_table(text, path, assessor=name, options=options)
        parsed = trec.number_labels(trec.split(text, path, trec.QRELS), Words())
        return trec.judgments_from([(name, parsed)], assessor_in_column=assessor == "column")

    def of_frame(frame: Any, name: str) -> Judgments:
        return Judgments.from_frame(frame, assessor=name, **vars(options))

    for number, source in enumerate(sources(paths, "assessor", unique=assessor == "file")):
        if source.is_data_set:
            yield number, Judgments.from_frame(irds.judgments(source.path), assessor=source.name)
            continue
        for piece in _pieces(source, of_text, of_frame, advance):
            yield number, piece


def runs_in_pieces(paths: Paths, system: NameFrom, options: TableOptions, advance: Advance) -> Iterator[Runs]:
    """The runs of one piece after the other."""
    check_choice("system", system, NameFrom)
    settings = {name: value for name, value in vars(options).items() if name != "labels"}

    def of_text(text: bytes, name: str, path: str) -> Runs:
        if tables.is_table(text, path):
            return tables.runs_from_table(text, path, system=name, options=options)
        lines = trec.split(text, path, trec.TAGGED_RUN if system == "column" else trec.RUN)
        return trec.runs_from([(name, trec.number_labels(lines, Words()))])

    def of_frame(frame: Any, name: str) -> Runs:
        return Runs.from_frame(frame, system=name, **settings)

    for source in sources(paths, "system", unique=system == "file"):
        if source.is_data_set:
            yield Runs.from_frame(irds.scored_documents(source.path), system=source.name)
            continue
        yield from _pieces(source, of_text, of_frame, advance)


def _pieces(
    source: Source,
    of_text: Callable[[bytes, str, str], Piece],
    of_frame: Callable[[Any, str], Piece],
    advance: Advance,
) -> Iterator[Piece]:
    """What a file holds, piece after piece."""
    name, label = source.name, source.label
    if source.is_stream and source.starts_with(tables.PARQUET_STARTS):
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
