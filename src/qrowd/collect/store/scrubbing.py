"""Zeros in the unused space of a SQLite file, so that nothing which was deleted is left in it.

Deleted rows stay in the file until their space is used again. With `secure_delete` SQLite overwrites them, but it keeps
copies of rows in the space between the cells of a page where it moved rows to another page. `vacuum` writes the whole
file anew; this reads it once, and writes only where unused space is not zero.

Unused are, by the file format (https://www.sqlite.org/fileformat2.html, sections 1.5 to 1.6): the space between the
cell pointers and the cells of a page, its free blocks, pages of the free list, and the rest of the last page of a row
that is longer than a page. At most 3 bytes at a time remain between two cells. SQLite's own `ext/misc/scrub.c` does the
same while it copies a file.

    python -m qrowd.collect.store.scrubbing FILE

It is a process of its own, because closing a second descriptor of the file would end the locks of SQLite in this one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from io import FileIO
from struct import unpack_from

import numpy as np
import numpy.typing as npt

MAGIC = b"SQLite format 3\0"
FIRST_HEADER = 100  # bytes of page 1 before its header
CHUNK = 2**20  # bytes read at a time
LOCK_BYTE = 2**30  # in a page that SQLite never writes
MOST_PAGES = 2**25  # the number of a following page then begins with a byte that no page's type has
INDEX_INNER, TABLE_INNER, INDEX_LEAF, TABLE_LEAF = 2, 5, 10, 13
TYPES = (INDEX_INNER, TABLE_INNER, INDEX_LEAF, TABLE_LEAF)


class LayoutError(Exception):
    """A file that this does not understand; `vacuum` is for those."""


@dataclass(frozen=True)
class Layout:
    """What the header says. size : of a page. usable : bytes of each. free : the first page of the free list, or 0."""

    size: int
    usable: int
    n_pages: int
    free: int

    def __post_init__(self) -> None:
        if self.n_pages >= MOST_PAGES:
            raise LayoutError(f"{self.n_pages} pages")

    @property
    def most_in_page(self) -> dict[int, int]:
        """The longest content of a cell that has no further pages, by the type of its page."""
        index = (self.usable - 12) * 64 // 255 - 23
        return {TABLE_LEAF: self.usable - 35, INDEX_LEAF: index, INDEX_INNER: index}

    def in_page(self, content: int, kind: int) -> int:
        """How much of a longer content is in the page itself."""
        least = (self.usable - 12) * 32 // 255 - 23
        kept = least + (content - least) % (self.usable - 4)
        return kept if kept <= self.most_in_page[kind] else least


def scrub(path: str | os.PathLike[str]) -> int:
    """Write zeros into all unused space; how many bytes were not zero.

    Nobody may write to the file meanwhile, and its write-ahead log has to be empty; others may read.

    Raises
    ------
    LayoutError
        It is no SQLite file, or one that moves pages by itself (`auto_vacuum`).
    """
    with FileIO(path, "r+") as file:
        layout = _layout(file)
        unused = _Unused(file)
        free = set()
        for number, begin in _free_list(file, layout):
            free.add(number)
            unused.zero((number - 1) * layout.size + begin, layout.size - begin)
        following = np.zeros(layout.n_pages + 1, np.uint32)  # by page: the first number in it
        long: list[tuple[int, int]] = []  # first page after a cell, and bytes that are there
        for number, page in _pages(file, layout):
            following[number] = int.from_bytes(page[:4])
            start = FIRST_HEADER if number == 1 else 0
            if number in free or page[start] not in TYPES:
                continue
            for offset, length in _gaps(page, start, layout):
                unused.zero_in(page, offset, length, (number - 1) * layout.size)
            long += _long_cells(page, start, layout)
        for first, n in long:
            last, used = _end(following, first, n, layout.usable - 4)
            unused.zero((last - 1) * layout.size + 4 + used, layout.usable - 4 - used)
        if unused.n_bytes:
            os.fsync(file.fileno())
        return unused.n_bytes


class _Unused:
    """Writes zeros, and counts."""

    def __init__(self, file: FileIO) -> None:
        self._file, self.n_bytes = file, 0

    def zero(self, offset: int, length: int) -> None:
        self._file.seek(offset)
        self._write(offset, self._file.read(length) or b"")

    def zero_in(self, page: memoryview, offset: int, length: int, start: int) -> None:
        """The same of a page that was read already, which begins at `start`."""
        self._write(start + offset, bytes(page[offset : offset + length]))

    def _write(self, offset: int, content: bytes) -> None:
        if n := len(content) - content.count(0):
            self._file.seek(offset)
            self._file.write(bytes(len(content)))
            self.n_bytes += n


def _layout(file: FileIO) -> Layout:
    header = file.read(FIRST_HEADER) or b""
    if len(header) < FIRST_HEADER or not header.startswith(MAGIC):
        raise LayoutError("no SQLite file")
    size, n_pages, free, largest_root = (
        *unpack_from(">H", header, 16),
        *unpack_from(">II", header, 28),
        *unpack_from(">I", header, 52),
    )
    size = 2**16 if size == 1 else size
    if largest_root:
        raise LayoutError("a file with pointers to parent pages")
    if file.seek(0, os.SEEK_END) != n_pages * size:
        raise LayoutError("a file of another length than its header says")
    return Layout(size, size - header[20], n_pages, free)


def _free_list(file: FileIO, layout: Layout) -> Iterator[tuple[int, int]]:
    """Pages of the free list and those that it names, each with where its unused space begins."""
    page, n_pages = layout.free, 0
    while page:
        file.seek((page - 1) * layout.size)
        content = file.read(layout.size) or b""
        after, n = unpack_from(">II", content)
        if n > layout.usable // 4 - 2 or (n_pages := n_pages + n + 1) > layout.n_pages:
            raise LayoutError("a free list that does not end")
        yield page, 8 + 4 * n
        yield from ((one, 0) for one in unpack_from(f">{n}I", content, 8))
        page = after


def _pages(file: FileIO, layout: Layout) -> Iterator[tuple[int, memoryview]]:
    """All pages with their numbers, without the one that SQLite never writes."""
    n = max(1, CHUNK // layout.size)
    never = LOCK_BYTE // layout.size + 1
    for first in range(1, layout.n_pages + 1, n):
        file.seek((first - 1) * layout.size)
        content = memoryview(file.read(n * layout.size) or b"")
        for i in range(len(content) // layout.size):
            if first + i != never:
                yield first + i, content[i * layout.size : (i + 1) * layout.size]


def _gaps(page: memoryview, start: int, layout: Layout) -> Iterator[tuple[int, int]]:
    """Where a page of a tree has unused space, and how much: before the cells, and in its free blocks.

    The first four bytes of a free block say where the next one is.
    """
    block, n, cells = unpack_from(">HHH", page, start + 1)
    end = _pointers(page, start) + 2 * n
    cells = cells or 2**16
    if not end <= cells <= layout.usable:
        raise LayoutError("a page whose parts overlap")
    yield end, cells - end
    while block:
        after, length = unpack_from(">HH", page, block)
        if block + length > layout.usable or 0 < after < block + length:
            raise LayoutError("free blocks that overlap")
        yield block + 4, length - 4
        block = after


def _pointers(page: memoryview, start: int) -> int:
    """Where the cell pointers of a page begin."""
    return start + (12 if page[start] in (INDEX_INNER, TABLE_INNER) else 8)


def _long_cells(page: memoryview, start: int, layout: Layout) -> list[tuple[int, int]]:
    """Cells that go on in other pages: the first of these, and how many bytes are there."""
    kind, (n,) = page[start], unpack_from(">H", page, start + 3)
    if kind == TABLE_INNER or not n:
        return []
    content: npt.NDArray[np.uint8] = np.frombuffer(page, np.uint8)
    cells = np.frombuffer(page, ">u2", n, _pointers(page, start)).astype(np.intp) + 4 * (kind == INDEX_INNER)
    found, most = [], layout.most_in_page[kind]
    for cell in cells[content[cells] > min(most, 127)].tolist():  # a length up to 127 is a single byte
        length, at = _varint(page, cell)
        if length > most:
            if kind == TABLE_LEAF:
                _, at = _varint(page, at)  # the number of the row
            kept = layout.in_page(length, kind)
            found.append((int.from_bytes(page[at + kept : at + kept + 4]), length - kept))
    return found


def _varint(page: memoryview, at: int) -> tuple[int, int]:
    """A number of 1 to 9 bytes, and where it ends."""
    value = 0
    for i in range(at, at + 8):
        value = value << 7 | page[i] & 127
        if page[i] < 128:
            return value, i + 1
    return value << 8 | page[at + 8], at + 9


def _end(following: npt.NDArray[np.uint32], page: int, length: int, per_page: int) -> tuple[int, int]:
    """The last page of so many bytes, and how many of them are in it."""
    while length > per_page:
        length -= per_page
        page = int(following[page]) if 0 < page < len(following) else 0
    if not 0 < page < len(following):
        raise LayoutError("a row without its end")
    return page, length


def main() -> int:
    """Scrub the file of the command line; 1 where it cannot be, which leaves the file as good as it was."""
    try:
        print(scrub(sys.argv[1]))
    except (LayoutError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
