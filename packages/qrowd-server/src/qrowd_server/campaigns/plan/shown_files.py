"""What the files of a folder show beside text: images, PDF files, and guidelines with their pictures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from qrowd.errors import ArgumentError, FileError
from qrowd.texts import decoded
from qrowd_server.campaigns.plan.document_images import image_of, image_to_text
from qrowd_server.campaigns.plan.guidelines import picture_names
from qrowd_server.campaigns.plan.pdf import read_pdfs
from qrowd_server.protocols.schema import LISTED, listed

Read = Callable[[str], bytes]  # a file of the folder, by its name
PDF = ".pdf"


@dataclass
class ShownFiles:
    """Images and PDF files that documents name; what is wrong with them is said of all at once.

    read : a file of the folder.
    """

    read: Read
    _pdfs: list[tuple[dict[str, Any], str, bytes, str, int]] = field(default_factory=list)
    _problems: list[FileError] = field(default_factory=list)

    def add(self, row: dict[str, Any], name: str, line: int) -> None:
        """Take the files that a row of documents names; PDF files are rendered by `finish`."""
        pdf, image = row.pop("pdf", ""), row.get("image")
        if isinstance(image, str) and image:
            content = self._content(image, f"image {image}", name, line)
            try:
                row["image"] = "" if content is None else image_to_text(image_of(content).content)
            except ArgumentError as error:
                self._problems.append(FileError(name, f"image {image}: {error}", line))
        if isinstance(pdf, str) and pdf and (content := self._content(pdf, f"pdf {pdf}", name, line)) is not None:
            self._pdfs.append((row, pdf, content, name, line))
        elif pdf and not isinstance(pdf, str):
            self._problems.append(FileError(name, f"pdf: {pdf!r:.60} cannot be used; give the name of a file", line))

    def finish(self) -> None:
        """Render the PDF files into their rows.

        Raises
        ------
        FileError
            Files that cannot be read or shown: the first 20 of them, and how many.
        """
        try:
            pdfs = read_pdfs([content for _, _, content, _, _ in self._pdfs])
        except ArgumentError as error:
            raise FileError(self._pdfs[0][3], str(error), self._pdfs[0][4]) from None
        for (row, pdf, _, name, line), outcome in zip(self._pdfs, pdfs, strict=True):
            if isinstance(outcome, ArgumentError):
                self._problems.append(FileError(name, f"pdf {pdf}: {outcome}", line))
                continue
            row |= {"text": row.get("text") or outcome.text, "pages": list(outcome.pages)}
        raise_all(self._problems)

    def _content(self, file: str, what: str, name: str, line: int) -> bytes | None:
        try:
            return self.read(file)
        except FileError as error:
            self._problems.append(FileError(name, f"{what}: {error.problem}", line))
            return None


def raise_all(problems: list[FileError]) -> None:
    """One error that lists the first of them and says how many there are; nothing without any."""
    if problems:
        first, *rest = problems
        lines = [first.problem, *map(str, rest[: LISTED - 1])]
        raise FileError(first.path, listed(lines, len(problems)), first.line)


def read_guidelines(head: dict[str, Any], read: Read) -> None:
    """Put the text of the file that [campaign] names as guidelines in its place, and the pictures that it names.

    Raises
    ------
    FileError
        The file cannot be read, or names a picture that is not in the folder.
    """
    name = head.get("guidelines", "")
    if not isinstance(name, str) or not name:
        return
    markdown = decoded(read(name), name)
    problems: list[FileError] = []
    pictures: dict[str, str] = {}
    for picture in picture_names(markdown):
        line = next((n for n, text in enumerate(markdown.split("\n"), 1) if picture in text), None)
        try:
            if "://" in picture or picture.startswith("//"):
                raise ArgumentError("is on another site; put the picture into the folder")
            pictures[picture] = image_to_text(image_of(read(_beside(name, picture))).content)
        except FileError as error:
            problems.append(FileError(name, f"picture {picture}: {error.problem}", line))
        except ArgumentError as error:
            problems.append(FileError(name, f"picture {picture}: {error}", line))
    raise_all(problems)
    head |= {"guidelines": markdown, "pictures": pictures}


def _beside(name: str, picture: str) -> str:
    """A name in the folder, of what is named from a file of the folder."""
    return str(PurePosixPath(name).parent / picture)
