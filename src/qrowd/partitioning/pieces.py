"""Files read in pieces: text cut between lines, Parquet by groups of rows, so that memory does not grow with the file.

Each piece is read by what reads whole files; lines in messages are those of the file.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeVar

from qrowd import tables, trec
from qrowd.errors import FileError, RowError, check_choice
from qrowd.files import GZIP_STARTS, ZSTD_STARTS, NameFrom, Paths, read_bytes
from qrowd.model.frames import TableOptions
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.model.vocabulary import Words
from qrowd.paths import is_data_set, named_files, on_disk, shown
from qrowd.readers import irds

Piece = TypeVar("Piece", Judgments, Runs)

PIECE = 48 << 20  # bytes of text
ROWS = 1 << 20  # of Parquet
CSV_ENDINGS, LINES_ENDINGS = (".csv", ".tsv"), (".jsonl", ".ndjson")

Advance = Callable[[int], None]


def n_bytes_of(paths: Paths) -> int:
    """Bytes of the files as they lie on disk; what is no file counts for nothing."""
    files = (on_disk(path) for _, path in named_files(paths, "file", unique=False).named)
    return sum(file.stat().st_size for file in files if file.is_file())


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

    for number, (name, path) in enumerate(named_files(paths, "assessor", unique=assessor == "file").named):
        if is_data_set(path):
            yield number, Judgments.from_frame(irds.judgments(path.as_posix()), assessor=name)
            continue
        for piece in _pieces(name, path, of_text, of_frame, advance):
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

    for name, path in named_files(paths, "system", unique=system == "file").named:
        if is_data_set(path):
            yield Runs.from_frame(irds.scored_documents(path.as_posix()), system=name)
            continue
        yield from _pieces(name, path, of_text, of_frame, advance)


def _pieces(
    name: str,
    path: Path,
    of_text: Callable[[bytes, str, str], Piece],
    of_frame: Callable[[Any, str], Piece],
    advance: Advance,
) -> Iterator[Piece]:
    """What a file holds, piece after piece."""
    label, file = shown(path), on_disk(path)
    if _starts(file, tables.PARQUET_STARTS):
        yield from _of_parquet(name, file, label, of_frame, advance)
        return
    if not _may_be_cut(file, label):
        yield of_text(read_bytes(path), name, label)
        advance(file.stat().st_size if file.is_file() else 0)
        return
    header, n_pieces = b"", 0
    for before, text in _text_pieces(file, label, advance):
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


def _may_be_cut(file: Path, label: str) -> bool:
    """Whether a file is text that can be cut between lines: no workbook, JSON array or export of another tool."""
    if str(file) == "-":
        return False
    if _bare(label).endswith((*CSV_ENDINGS, *LINES_ENDINGS)):
        return True
    try:
        with _opened(file) as stream:
            start = stream.read(1 << 16)
    except (OSError, EOFError, zlib.error):
        return False  # reading it whole says what is wrong
    return bool(start.strip()) and not tables.is_table(start, label)


def _starts(file: Path, start: bytes) -> bool:
    """Whether a file on disk starts with these bytes."""
    try:
        with file.open("rb") as stream:
            return stream.read(len(start)) == start
    except OSError:
        return False  # reading it says what is wrong


def _has_header(text: bytes, label: str) -> bool:
    """Whether the first line names the columns."""
    return tables.is_table(text[: 1 << 16], label) and not text.lstrip().startswith(b"{")


def _bare(label: str) -> str:
    name = label.lower()
    return name.removesuffix(".gz").removesuffix(".zst")


@contextmanager
def _opened(file: Path) -> Iterator[IO[bytes]]:
    """The file as a stream, unpacked where its first bytes say that it is gzip or Zstandard."""
    with file.open("rb") as raw:
        start = raw.peek(4)[:4]
        if start.startswith(GZIP_STARTS):
            with gzip.open(raw) as unpacked:
                yield unpacked  # type: ignore[misc]
        elif start.startswith(ZSTD_STARTS):
            import pyarrow

            with pyarrow.CompressedInputStream(raw, "zstd") as stream:
                yield stream
        else:
            yield raw


def _text_pieces(file: Path, label: str, advance: Advance) -> Iterator[tuple[int, bytes]]:
    """(lines before it, text) of pieces that end with a line; a line break within quotes ends none."""
    n_lines, rest, quoted = 0, b"", _bare(label).endswith(CSV_ENDINGS)
    read = 0
    try:
        with _opened(file) as stream:
            while block := stream.read(PIECE):
                text = rest + block
                end = _last_end(text, quoted)
                rest = text[end:]
                if end:
                    yield n_lines, text[:end]
                    n_lines += text.count(b"\n", 0, end)
                read = _advanced(file, read, advance)
    except FileNotFoundError:
        raise FileError(label, "there is no such file") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileError(label, f"damaged or truncated gzip ({error}); fetch the file again") from None
    except OSError as error:
        raise FileError(label, f"cannot be read: {(error.strerror or str(error)).lower()}") from None
    if rest:
        yield n_lines, rest
    advance(file.stat().st_size - read if file.is_file() else 0)


def _advanced(file: Path, read: int, advance: Advance) -> int:
    """Say that one more piece was read, of a file whose unpacked size nobody knows: at most its size on disk."""
    size = file.stat().st_size if file.is_file() else 0
    step = min(PIECE, size - read)
    advance(step)
    return read + step


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


def _of_parquet(
    name: str, file: Path, label: str, of_frame: Callable[[Any, str], Piece], advance: Advance
) -> Iterator[Piece]:
    import pyarrow
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(file) as source:
            words = [one.name for one in source.schema_arrow if pyarrow.types.is_string(one.type)]
        with parquet.ParquetFile(file, read_dictionary=words) as source:
            n_rows, size = 0, file.stat().st_size
            for batch in source.iter_batches(ROWS):
                try:
                    piece = of_frame(pyarrow.Table.from_batches([batch]), name)
                except RowError as error:
                    raise FileError(label, f"row {n_rows + error.row}: {error.problem}") from None
                yield piece
                before, n_rows = n_rows, n_rows + batch.num_rows
                share = size / source.metadata.num_rows
                advance(int(share * n_rows) - int(share * before))
    except (pyarrow.ArrowException, OSError) as error:
        raise FileError(label, f"not readable as Parquet: {' '.join(str(error).split())}") from None
    if not n_rows:
        raise FileError(label, tables.NO_ROWS)
