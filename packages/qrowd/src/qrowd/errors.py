"""What can go wrong, as a tree.

    QrowdError
    |-- InputError             what was handed over cannot be used as it is (also a ValueError)
    |   |-- FileError          a file, and where known its line
    |   |-- RowError           one row of a table or data frame
    |   |-- MeasureError       the text of a measure
    |   |-- ScaleError         a scale, or values that do not fit theirs
    |   |-- ArgumentError      any other argument
    |-- NoOverlapError         nothing in common to compute with (also a ValueError)

Every message is one line: the culprit first, then what was expected and the next step.
"""

from __future__ import annotations

from os import PathLike, fspath
from typing import Any, get_args


class QrowdError(Exception):
    """Anything qrowd raises on purpose."""


class InputError(QrowdError, ValueError):
    """What was handed over cannot be used as it is."""


class FileError(InputError):
    """A file that cannot be read as what it should be; names the file and, where known, the line.

    more : further mistakes of the file, in the order of lines.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        problem: str,
        line: int | None = None,
        more: tuple[FileError, ...] = (),
    ) -> None:
        self.path = fspath(path)
        self.problem = problem
        self.line = line
        self.more = more
        super().__init__(f"{self.path}{'' if line is None else f', line {line}'}: {problem}")

    def __reduce__(self) -> tuple[type[FileError], tuple[str, str, int | None, tuple[FileError, ...]]]:
        return type(self), (self.path, self.problem, self.line, self.more)


class RowError(InputError):
    """One row of a table or data frame that cannot be used; `row` counts from 1, the header aside.

    more : (row, problem) of further mistakes, in the order of rows.
    """

    def __init__(self, row: int, problem: str, more: tuple[tuple[int, str], ...] = ()) -> None:
        self.row, self.problem, self.more = row, problem, more
        super().__init__(f"row {row}: {problem}")

    def __reduce__(self) -> tuple[type[RowError], tuple[int, str, tuple[tuple[int, str], ...]]]:
        return type(self), (self.row, self.problem, self.more)


class MeasureError(InputError):
    """The text of a measure that cannot be understood or does not fit the judgments."""


class ScaleError(InputError):
    """A scale that makes no sense, or values that do not fit theirs."""


class ArgumentError(InputError):
    """An argument outside what the function takes; names the argument and its value where there is one culprit."""

    def __init__(self, problem: str, argument: str | None = None, value: object = None) -> None:
        self.problem, self.argument, self.value = problem, argument, value
        super().__init__(problem if argument is None else f"{argument}={value!r}: {problem}")


class NoOverlapError(QrowdError, ValueError):
    """Nothing in common to compute with: no shared topic, or no shared document."""


def check_choice(name: str, value: object, choices: Any) -> None:
    """Refuse a value that is none of the choices: a Literal, or the words themselves.

    Raises
    ------
    ArgumentError
        Naming the option, the value and the choices.
    """
    words = get_args(choices) or tuple(choices)
    if value not in words:
        raise ArgumentError(f"choose one of {', '.join(map(str, words))}", name, value)
