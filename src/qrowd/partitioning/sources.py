"""Files that are read as streams: files on disk, and files at addresses, which fsspec opens (s3://, gs://, https://)."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from glob import has_magic
from os import fspath
from pathlib import Path, PurePosixPath
from typing import IO, Any

from qrowd.errors import FileError, QrowdError
from qrowd.files import GZIP_STARTS, ZSTD_STARTS, read_bytes
from qrowd.paths import (
    Paths,
    check_names,
    given_names,
    is_about,
    is_address,
    is_data_set,
    named_files,
    on_disk,
    shown,
    without_endings,
)


@dataclass(frozen=True)
class Source:
    """A file, or a data set of ir_datasets.

    name : of its system or assessor. label : its name in messages. size : bytes, packed as they are; 0 for what is no
    file. path : on disk, or at an address. store : file system of fsspec; None: this machine's.
    """

    name: str
    label: str
    size: int
    path: str
    store: Any = None

    @property
    def is_data_set(self) -> bool:
        """Whether it is the name of a data set, irds:ID."""
        return self.store is None and is_data_set(Path(self.path))

    @property
    def is_stream(self) -> bool:
        """Whether it can be read from its beginning more than once; a pipe cannot."""
        return self.store is not None or on_disk(Path(self.path)).is_file()

    @contextmanager
    def opened(self) -> Iterator[IO[bytes]]:
        """Its bytes.

        Raises
        ------
        FileError
            A file that is missing or cannot be read, also while it is open.
        """
        try:
            if self.store is None:
                with on_disk(Path(self.path)).open("rb") as stream:
                    yield stream
            else:
                with self.store.open(self.path, "rb") as stream:
                    yield stream
        except QrowdError:
            raise
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise FileError(self.label, f"damaged or truncated gzip ({error}); fetch the file again") from None
        except Exception as error:  # packages that open addresses have errors of their own
            if self.store is None and not isinstance(error, OSError):
                raise
            raise _unreadable(self.label, error) from None

    def starts_with(self, starts: tuple[bytes, ...]) -> bool:
        """Whether the file begins with one of these."""
        with self.opened() as stream:
            return stream.read(max(map(len, starts))).startswith(starts)

    def from_anywhere(self) -> Source:
        """The same file for a process that works in another folder."""
        path = Path(self.path)
        return self if self.store is not None or not path.is_file() else replace(self, path=str(path.absolute()))

    def read(self) -> bytes:
        """All of it, unpacked."""
        if self.store is None:
            return read_bytes(Path(self.path), name=self.label)
        with self.opened() as raw, unpacked(raw) as stream:
            content = stream.read()
        if not content or content.isspace():
            raise FileError(self.label, "is empty")
        return content


@contextmanager
def unpacked(raw: IO[bytes]) -> Iterator[IO[bytes]]:
    """The stream, unpacked where its first bytes say that it is gzip or Zstandard."""
    start = raw.read(4)
    raw.seek(0)
    if start.startswith(GZIP_STARTS):
        with gzip.open(raw) as stream:
            yield stream  # type: ignore[misc]
    elif start.startswith(ZSTD_STARTS):
        import pyarrow

        with pyarrow.CompressedInputStream(raw, "zstd") as stream:
            yield stream
    else:
        yield raw


def sources(paths: Paths, noun: str, *, unique: bool = True) -> list[Source]:
    """The files that paths, patterns, folders and addresses stand for, each with the name of a system or an assessor.

    Raises
    ------
    FileError
        A path or an address where nothing is; two files of one name, if names are to be unique.
    """
    given = list(given_names(paths))
    if not any(is_address(path) for _, path in given):
        return [_local(name, path) for name, path in named_files(paths, noun, unique=unique).named]
    found: list[Source] = []
    for name, path in given:
        if is_address(path):
            found += [_named(name, one) for one in _at_address(fspath(path))]
        else:
            alone: Paths = path if name is None else {name: path}
            found += [_local(own, file) for own, file in named_files(alone, noun, unique=False).named]
    found = list({one.label: one for one in found}.values())
    if unique:
        check_names(((one.name, one.label) for one in found), noun)
    return found


def _local(name: str, path: Path) -> Source:
    file = path if is_data_set(path) else on_disk(path)
    return Source(name, shown(path), file.stat().st_size if file.is_file() else 0, str(path))


def _named(name: str | None, source: Source) -> Source:
    return source if name is None else Source(name, source.label, source.size, source.path, source.store)


def _at_address(address: str) -> list[Source]:
    """The files of an address, of a pattern or of a folder, sorted."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise QrowdError(f"{address}: addresses are read with fsspec; pip install 'qrowd[remote]'") from None
    try:
        store, path = url_to_fs(address)
        if has_magic(path):
            found = store.glob(path, detail=True)
        elif (about := store.info(path))["type"] == "directory":
            found = {one["name"]: one for one in store.ls(path, detail=True)}
        else:
            return [_remote(store, path, about, address)]
        files = {name: about for name, about in sorted(found.items()) if about["type"] == "file"}
        names = [name for name in files if not is_about(PurePosixPath(name)) and PurePosixPath(name).name[0] != "."]
        if not names:
            raise FileError(address, "no file matches this pattern" if has_magic(path) else "no file is there")
        return [_remote(store, name, files[name], store.unstrip_protocol(name)) for name in names]
    except FileError:
        raise
    except Exception as error:  # of any package that opens addresses
        raise _unreadable(address, error) from None


def _remote(store: Any, path: str, about: Any, label: str) -> Source:
    return Source(without_endings(PurePosixPath(path)), label, about.get("size") or 0, path, store)


def _unreadable(label: str, error: Exception) -> FileError:
    """What is said of a file that cannot be read."""
    if isinstance(error, FileNotFoundError):
        return FileError(label, "there is no such file")
    own = error.strerror if isinstance(error, OSError) else None
    reason = own.lower() if own else " ".join(str(error).split()) or type(error).__name__
    refused = isinstance(error, PermissionError) and is_address(label)
    return FileError(label, f"cannot be read: {reason}{'; set the credentials of the store' if refused else ''}")
