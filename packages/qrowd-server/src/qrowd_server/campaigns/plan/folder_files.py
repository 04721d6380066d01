"""A folder from which nobody gets out, and a zip of one, whose members are looked at before they are unpacked."""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath

from qrowd.errors import FileError
from qrowd.files import read_bytes
from qrowd.readers import irds

MAX_BYTES = 1 << 30  # of all files together, unpacked
MAX_ZIP = 256 << 20  # bytes, packed
MAX_UNPACKED = 512 << 20
MAX_MEMBERS = 50_000
MAX_RATIO = 200
FREE = 1 << 20  # so much may be unpacked at any ratio


@dataclass
class Folder:
    """A folder, how many bytes may still be read from it, and whether it may name data sets of ir_datasets."""

    root: Path
    left: int = MAX_BYTES
    data_sets: bool = False

    def path(self, name: str) -> Path:
        """Where a name in the folder leads; it must not lead out."""
        _inside(name)
        try:
            target = (self.root / name).resolve()
        except (OSError, RuntimeError) as error:
            raise FileError(name, f"cannot be read: {error}") from None
        if not target.is_relative_to(self.root):
            raise FileError(name, "leads out of the folder; put the file itself into the folder")
        return target

    def find(self, name: str) -> list[str]:
        """The files a name, pattern or folder stands for, by their names in the folder, sorted; or the one data set."""
        if name.startswith(irds.PREFIX):
            if not self.data_sets:
                raise FileError(name, "data sets are read by `qrowd campaign create` only; put a file into the folder")
            return [name]
        _inside(name)
        if any(sign in name for sign in "*?["):
            try:
                matches = sorted(self.root.glob(name))
            except (ValueError, NotImplementedError, OSError) as error:
                raise FileError(name, f"is no pattern: {error}") from None
        else:
            path = self.path(name)
            if not path.exists():
                raise FileError(name, "there is no such file")
            matches = sorted(self.root.joinpath(name).iterdir()) if path.is_dir() else [self.root / name]
        names = [m.relative_to(self.root).as_posix() for m in matches if not m.name.startswith(".")]
        files = [file for file in names if self.path(file).is_file()]
        if not files:
            raise FileError(name, "no file is there")
        return files

    def bytes(self, name: str) -> bytes:
        """What a file holds, unpacked where it is gzip."""
        content = read_bytes(self.path(name), name=name, most=self.left)
        self.left -= len(content)
        return content


def _inside(name: str) -> None:
    posix, windows = PurePosixPath(name), PureWindowsPath(name)
    out = posix.is_absolute() or windows.drive or windows.root or ".." in posix.parts or ".." in windows.parts
    if not name or "\x00" in name or out:
        raise FileError(name or "''", "is no name inside the folder; give one without '..' that starts there")


# ---- zips


def unpack_zip(content: bytes, root: Path, *, max_unpacked: int = MAX_UNPACKED) -> None:
    """Unpack a zip that somebody sent into a folder.

    Raises
    ------
    FileError
        What is no zip, too large, packed too tightly, encrypted, or holds a name that leads elsewhere.
    """
    if len(content) > MAX_ZIP:
        raise FileError("zip", f"{len(content)} bytes are more than {MAX_ZIP}; leave out what no pool needs")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _unpack(archive, root, max_unpacked)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError("zip", f"cannot be unpacked ({error}); pack the folder again") from None
    except OSError as error:
        raise FileError("zip", f"cannot be unpacked ({error.strerror}); rename its members") from None


def _unpack(archive: zipfile.ZipFile, root: Path, most: int) -> None:
    members = archive.infolist()
    if len(members) > MAX_MEMBERS:
        raise FileError("zip", f"{len(members)} members are more than {MAX_MEMBERS}; put documents into one file")
    names: set[str] = set()
    for member in members:
        name = member.orig_filename
        _inside(name.rstrip("/"))
        kind = stat.S_IFMT(member.external_attr >> 16)
        if "\\" in name or kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise FileError(f"zip, {name}", "is no plain file or folder; pack the files themselves")
        if member.flag_bits & 1:
            raise FileError(f"zip, {name}", "is encrypted; pack without a password")
        if name in names:
            raise FileError(f"zip, {name}", "is there twice; remove one")
        names.add(name)
        target = root / name
        if member.is_dir():
            target.mkdir(parents=True, exist_ok=True)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(member) as packed, target.open("wb") as plain:
            size = 0
            while part := packed.read(1 << 20):  # what it holds counts, not what it says it holds
                size, most = size + len(part), most - len(part)
                if most < 0 or size > max(FREE, MAX_RATIO * member.compress_size):
                    raise FileError(f"zip, {name}", "unpacks to too much; leave out what no pool needs")
                plain.write(part)
