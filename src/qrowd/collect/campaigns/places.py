"""Where in a campaign's files a mistake stands: the file and the line of the smallest part whose place is known."""

from __future__ import annotations

import re
from collections.abc import Mapping

from qrowd.collect.protocols.schema import SchemaError, Where, path
from qrowd.errors import FileError

Place = tuple[str, int | None]  # a file and its line; None for the whole file


def placed(error: SchemaError, places: Mapping[Where, Place], toml: str, text: str) -> FileError:
    """The error by file and line. places : of parts of the table; text : of the TOML file, for all others."""
    for n in range(len(error.where), 0, -1):
        if (place := places.get(error.where[:n])) is not None:
            of_list = isinstance(error.where[-1], int) and n == len(error.where) - 1
            rest = path(error.where[n - of_list :])
            return FileError(place[0], f"{rest}: {error.problem}" if rest else error.problem, place[1])
    return FileError(toml, str(error), _line_of(text, error.where))


def _line_of(text: str, where: Where) -> int | None:
    """The line on which a key or its table stands in the TOML file, as far as plain looking tells."""
    names = [str(part) for part in where]
    section: list[str] = []
    heading_line = None
    for number, line in enumerate(text.split("\n"), start=1):
        if heading := re.match(r"\s*\[\s*([\w.-]+)\s*\]", line):
            section = heading[1].split(".")
            heading_line = number if section[: len(names)] == names[: len(section)] else heading_line
        elif section == names[: len(section)]:
            key = re.match(r"\s*([\w-]+)\s*=", line)
            if key and key[1] in names[len(section) :]:
                return number
    return heading_line
