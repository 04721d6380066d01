"""Exports of other tools as tables: of annotation tools, of models that judge, and of TREC RAG; and readers of others.

A reader makes {column: cells} of the bytes of a file. The built-in ones are recognised by what the file holds; those of
other distributions (entry points of the group `qrowd.readers`) are asked when nothing else recognises it. A file may
name its reader: `argilla:export.json`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os.path import exists
from types import ModuleType
from typing import Any, Protocol, runtime_checkable

from qrowd.errors import ArgumentError, FileError
from qrowd.plugins import load
from qrowd.readers import argilla, autojudge, label_studio, prodigy, quepid, ragelo, trec_rag, umbrela

GROUP = "qrowd.readers"
Columns = Mapping[str, Sequence[Any]]


@runtime_checkable
class Reader(Protocol):
    """What an entry point of the group `qrowd.readers` stands for."""

    def recognises(self, text: bytes, name: str) -> bool:
        """Whether this reader can read a file with this content and name."""
        ...

    def read(self, text: bytes, name: str) -> Any:
        """The rows of the file as {column: cells} or as a data frame."""
        ...


@dataclass(frozen=True)
class _BuiltIn:
    module: ModuleType

    def recognises(self, text: bytes, name: str) -> bool:
        return bool(self.module.recognises(text, name))

    def read(self, text: bytes, name: str) -> Any:
        return self.module.read(text, name)


BUILT_IN: dict[str, Reader] = {
    "label-studio": _BuiltIn(label_studio),
    "argilla": _BuiltIn(argilla),
    "prodigy": _BuiltIn(prodigy),
    "quepid": _BuiltIn(quepid),
    "ragelo": _BuiltIn(ragelo),
    "trec-rag": _BuiltIn(trec_rag),
    "umbrela": _BuiltIn(umbrela),
    "autojudge": _BuiltIn(autojudge),
}


def reader_and_path(name: str) -> tuple[str, str]:
    """("argilla", "export.json") of "argilla:export.json"; no reader where the name does not begin with one."""
    match = re.fullmatch(r"([a-z][a-z0-9_-]+):(.+)", name)
    if match is None or exists(name) or not (match[1] in BUILT_IN or match[1] in load(GROUP)):
        return "", name
    return match[1], match[2]


def reader_for(text: bytes, name: str) -> Reader | None:
    """The reader that the name begins with, or the built-in one that recognises the content."""
    reader, _ = reader_and_path(name)
    if reader:
        return BUILT_IN[reader] if reader in BUILT_IN else others()[reader]
    return next((reader for reader in BUILT_IN.values() if reader.recognises(text, name)), None)


def other_reader_for(text: bytes, name: str) -> Reader | None:
    """The reader of another distribution that recognises a file which nothing else recognises.

    Raises
    ------
    FileError
        Two readers that do.
    """
    names = [reader for reader, each in others().items() if each.recognises(text, name)]
    if len(names) > 1:
        raise FileError(name, f"is recognised by the readers {names[0]} and {names[1]}; write {names[0]}:{name}")
    return others()[names[0]] if names else None


def others() -> dict[str, Reader]:
    """The readers of other distributions, by name.

    Raises
    ------
    ArgumentError
        One that cannot be imported, or is none.
    """
    readers: dict[str, Reader] = {}
    for name, each in load(GROUP).items():
        if not isinstance(each, Reader):
            raise ArgumentError(f"{GROUP}: {name!r} has no functions `recognises` and `read`; it is no reader")
        readers[name] = each
    return readers
