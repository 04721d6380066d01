"""How a measure is written: `nDCG@10`, `AP(rel=2)`, `RBP(p=0.9)@20`. The same text in Python, shell, table and paper.

The notation is that of ir_measures (MacAvaney, Macdonald & Ounis 2022): a name, parameters in parentheses where they
differ from their defaults, a cut-off after `@`. trec_eval's names (`ndcg_cut_10`, `map`) are understood as aliases.
What a measure computes stands with its `Definition`, in the package it belongs to.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from inspect import cleandoc
from math import inf
from sys import float_info
from typing import ClassVar, Literal, TypeGuard

from qrowd.errors import MeasureError
from qrowd.model.labels import closest, described

Value = bool | int | float | str | dict[float, float] | None
_SHAPE = re.compile(r"(?P<name>[^(@]+?)\s*(?:\((?P<inside>.*)\))?\s*(?:@\s*(?P<cutoff>.*))?", re.DOTALL)
_CUT = re.compile(r"0*[1-9][0-9]{0,17}")
_NUMBERED = re.compile(r"(?P<stem>[a-z_]+?)[_.](?P<cutoff>\d+(?:\.\d+)?)", re.IGNORECASE)


@dataclass(frozen=True)
class Parameter:
    """One parameter of a measure.

    accept : turns what was written into the value used, or raises ValueError saying what was expected.
    """

    name: str
    default: Value
    meaning: str
    accept: Callable[[object], Value]


class Definition:
    """What is said of a measure once: its name, parameters, cut-off, and in the docstring its formula and source.

    The docstring holds the sentence, then the formula (the indented block), then a paragraph `Source: ...`.
    """

    name: ClassVar[str]
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    cutoff: ClassVar[Literal["required", "optional", "none"]] = "optional"
    aliases: ClassVar[tuple[str, ...]] = ()  # trec_eval's names; one that ends in _ takes the cut-off: ndcg_cut_10
    linear: ClassVar[bool] = False  # a weighted sum of gains by rank, up to a normaliser
    of_units: ClassVar[bool] = False  # whether it scores answers, which are no rankings

    def lowest(self, measure: Measure) -> float:
        """The lowest score there can be; -inf where there is none."""
        return 0.0

    def highest(self, measure: Measure) -> float:
        """The highest score there can be; inf where there is none."""
        return 1.0

    @property
    def sentence(self) -> str:
        return self._paragraphs()[0]

    @property
    def formula(self) -> str:
        return next((p for p in self._paragraphs() if p.startswith("    ")), "not stated").strip()

    @property
    def source(self) -> str:
        return next((p for p in self._paragraphs() if p.startswith("Source: ")), "not stated").removeprefix("Source: ")

    @property
    def notes(self) -> str:
        """What else the docstring says."""
        rest = [p for p in self._paragraphs()[1:] if not p.startswith(("    ", "Source: "))]
        return "\n\n".join(rest)

    def _paragraphs(self) -> list[str]:
        paragraphs = cleandoc(type(self).__doc__ or "").split("\n\n")
        return [p if p.startswith("    ") else " ".join(p.split()) for p in paragraphs]


@dataclass(frozen=True, eq=False)
class Measure:
    """A measure with its parameters and cut-off; two with the same text are the same.

    values : every parameter's value, default or given.
    cutoff : the last rank looked at, or None.
    """

    definition: Definition
    values: Mapping[str, Value]
    cutoff: int | None

    @property
    def bounds(self) -> tuple[float, float]:
        """The lowest and the highest score there can be."""
        return self.definition.lowest(self), self.definition.highest(self)

    def __getitem__(self, parameter: str) -> Value:
        return self.values[parameter]

    @cached_property
    def _text(self) -> str:
        arguments = [
            f"{p.name}={_written(self[p.name])}" for p in self.definition.parameters if self[p.name] != p.default
        ]
        inside = f"({','.join(arguments)})" if arguments else ""
        return f"{self.definition.name}{inside}" + ("" if self.cutoff is None else f"@{self.cutoff}")

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Measure({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Measure) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


def parse_measure(
    text: object,
    definitions: Sequence[Definition],
    noun: str = "measure",
    added: Callable[[], Sequence[Definition]] = tuple,
) -> Measure:
    """Read a measure from its notation, from a trec_eval name, or from anything whose `str` is such a text.

    noun : what messages call it, where something else is written in the same notation.
    added : gives the definitions of other distributions; called only where `definitions` lacks the name.

    ir_measures' objects print themselves in the same notation and need no treatment of their own.

    Raises
    ------
    MeasureError
        An unknown name (the nearest one is proposed), parameter or value, or a cut-off that is missing or out of place.
    """
    if isinstance(text, Measure):
        return text
    written = str(text).strip()
    if "\n" in written:
        raise MeasureError(f"{noun}: expected text such as nDCG@10, found {described(text)}")
    shape = _SHAPE.fullmatch(written)
    quoted = f"{noun} {written!r}"
    if shape is None:
        raise MeasureError(f"{quoted} is not of the form Name(parameter=value)@k, as in nDCG@10")
    definition, number = _find(shape["name"].strip(), shape["cutoff"], quoted, definitions, added)
    arguments = _arguments(shape["inside"], quoted)
    cutoff = None if number is None else int(number)
    measure = definition.name
    if cutoff is not None and definition.cutoff == "none":
        raise MeasureError(f"{quoted}: {measure} takes no cut-off; write {measure}")
    if cutoff is None and definition.cutoff == "required":
        raise MeasureError(f"{quoted}: {measure} needs a cut-off, as in {measure}@10")
    known = {parameter.name: parameter for parameter in definition.parameters}
    values = {name: parameter.default for name, parameter in known.items()}
    for name, value in arguments.items():
        if name not in known:
            takes = ", ".join(known) or "no parameters"
            raise MeasureError(f"{quoted}: {measure} has no parameter {name!r}; it takes {takes}")
        try:
            values[name] = known[name].accept(value)
        except ValueError as error:
            raise MeasureError(f"{quoted}: {name} must be {error}, not {value!r}") from None
    return Measure(definition, values, cutoff)


def _find(
    name: str,
    cutoff: str | None,
    written: str,
    definitions: Sequence[Definition],
    added: Callable[[], Sequence[Definition]],
) -> tuple[Definition, str | None]:
    """The definition a name or alias stands for, and the number from after the @ or from a trec_eval name."""
    definition, cutoff = _named(name, cutoff, definitions)
    if definition is None and (others := added()):
        definitions = (*definitions, *others)
        definition, cutoff = _named(name, cutoff, definitions)
    if definition is None:
        names = [name_or_alias for d in definitions for name_or_alias in (*d.aliases, d.name)]
        hint = closest(name, names, "measure", "" if cutoff is None else f"@{cutoff}")
        where_to_look = " (`qrowd measures` lists all)" if written.startswith("measure ") else ""
        raise MeasureError(f"{written} is unknown; {hint}{where_to_look}")
    if cutoff is not None and not _CUT.fullmatch(cutoff := cutoff.strip()):
        raise MeasureError(f"{written}: the cut-off must be a whole number from 1, not {cutoff!r}")
    return definition, cutoff


def _named(name: str, cutoff: str | None, definitions: Sequence[Definition]) -> tuple[Definition | None, str | None]:
    """The definition of that name or alias in any case, if there is one, and the number as it is written."""
    names = {alias.lower(): d for d in definitions for alias in (*d.aliases, d.name)}
    definition = names.get(name.lower())
    if definition is None and cutoff is None and (numbered := _NUMBERED.fullmatch(name)):
        definition = names.get(numbered["stem"].lower() + "_")
        cutoff = None if definition is None else numbered["cutoff"]
    return definition, cutoff


def _arguments(inside: str | None, written: str) -> dict[str, Value]:
    """The parameters between the parentheses; a value that is no Python literal is a word (dcg=exp-log2)."""
    if inside is None or not inside.strip():
        return {}
    source = f"f({inside})"
    unreadable = MeasureError(f"{written}: cannot read the parentheses; write (parameter=value, ...)")
    try:
        call = ast.parse(source, mode="eval").body
    except (SyntaxError, ValueError):
        raise unreadable from None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
        raise unreadable
    arguments: dict[str, Value] = {}
    for keyword in call.keywords:
        if keyword.arg is None:
            raise unreadable
        if keyword.arg in arguments:
            raise MeasureError(f"{written}: {keyword.arg} is given twice")
        try:
            value = ast.literal_eval(keyword.value)
        except (ValueError, TypeError):
            word = ast.get_source_segment(source, keyword.value) or ""
            value = {"true": True, "false": False}.get(word.lower(), word)
        arguments[keyword.arg] = value
    return arguments


def _written(value: Value) -> str:
    """A parameter's value in the notation: 2 rather than 2.0, text in quotes, a map in order, without blanks."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return repr(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{_written(k)}:{_written(v)}" for k, v in sorted(value.items())) + "}"
    return repr(int(value)) if float(value).is_integer() else repr(float(value))


# ---------------------------------------------------------------------- what a parameter accepts

Acceptance = Callable[[object], Value]


def number(low: float, high: float = inf, *, open_ends: bool = False) -> Acceptance:
    """A finite number from low to high, or strictly between them."""

    def accept(value: object) -> Value:
        if _is_number(value) and (low < value < high if open_ends else low <= value <= high):
            return value
        if high == inf:
            raise ValueError(f"a number {'above' if open_ends else 'from'} {low:g}")
        raise ValueError(
            f"a number {'strictly between' if open_ends else 'from'} {low:g} {'and' if open_ends else 'to'} {high:g}"
        )

    return accept


def one_of(*words: Value) -> Acceptance:
    """One of the words."""

    def accept(value: object) -> Value:
        for word in words:
            if value == word and type(value) is type(word):
                return word
        raise ValueError(f"one of {', '.join(map(repr, words))}")

    return accept


def any_of(*acceptances: Acceptance) -> Acceptance:
    """What one of several accepts."""

    def accept(value: object) -> Value:
        refusals = []
        for accepted in acceptances:
            try:
                return accepted(value)
            except ValueError as error:
                refusals.append(str(error))
        raise ValueError(" or ".join(refusals))

    return accept


def gain_map(value: object) -> Value:
    """A map from grades to gains of 0 or more: {1: 1, 2: 3, 3: 7}."""
    if isinstance(value, dict) and all(_is_number(k) and _is_number(v) and v >= 0 for k, v in value.items()):
        return value
    raise ValueError("a map from grades to gains of 0 or more, like {1: 1, 2: 3}")


def _is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value is a number, which True is not, that a double can hold."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= float_info.max
