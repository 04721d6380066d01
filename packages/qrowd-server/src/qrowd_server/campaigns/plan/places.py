"""Where in a campaign's files a mistake stands: the file and the line of the smallest part whose place is known."""

from __future__ import annotations

import re
from collections.abc import Mapping

from qrowd.errors import FileError
from qrowd_server.protocols.schema import LISTED, SchemaError, Where, listed, path

Place = tuple[str, int | None]  # a file and its line; None for the whole file


def placed(error: SchemaError, places: Mapping[Where, Place], toml: str, text: str) -> FileError:
    """The error by file and line. places : of parts of the table; text : of the TOML file, for all others.

    Further values that do not fit follow, each on a line of its own.
    """
    first = _placed(error, places, toml, text)
    others = [str(_placed(SchemaError(*one), places, toml, text)) for one in error.more[: LISTED - 1]]
    if not others:
        return first
    return FileError(first.path, listed([first.problem, *others], 1 + len(error.more)), first.line)


def _placed(error: SchemaError, places: Mapping[Where, Place], toml: str, text: str) -> FileError:
    for n in range(len(error.where), 0, -1):
        if (place := places.get(error.where[:n])) is not None:
            of_list = isinstance(error.where[-1], int) and n == len(error.where) - 1
            rest = path(error.where[n - of_list :])
            return FileError(place[0], f"{rest}: {error.problem}" if rest else error.problem, place[1])
    problem = f"{path(error.where)}: {error.problem}" if error.where else error.problem
    return FileError(toml, problem, _line_of(text, error.where))


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
