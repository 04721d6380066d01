"""The arguments of public functions: converted, or refused with one line, as the annotations of the function say.

Data may be of every shape that `qrowd.model.objects` converts; scores may be an xarray.DataArray. Whatever else a
function needs is only checked for its kind: another result, numbers, text, a dictionary.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from functools import cache, wraps
from inspect import Parameter, isfunction, signature
from numbers import Real
from types import UnionType
from typing import Any, ParamSpec, TypeVar, get_args, get_origin

import numpy as np

from qrowd.errors import ArgumentError, InputError
from qrowd.kernels.arrays import Floats
from qrowd.model.objects import as_judgments, as_preferences, as_runs
from qrowd.model.scores import scores_of
from qrowd.model.tabular import as_frame, described

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def accept_objects(names: MutableMapping[str, Any]) -> None:
    """Make the public functions of a package convert or refuse their arguments.

    names : the package's `globals()`, with `__all__`.
    """
    functions = {name: names[name] for name in names["__all__"] if isfunction(names[name])}
    makers: dict[str, tuple[str, ...]] = {}
    for name, function in functions.items():
        kind = str(function.__annotations__.get("return"))
        makers[kind] = (*makers.get(kind, ()), name)
    for name, function in functions.items():
        names[name] = converting(function, makers)


def converting(
    function: Callable[Parameters, Result], makers: Mapping[str, tuple[str, ...]] | None = None
) -> Callable[Parameters, Result]:
    """The function, which converts its data and refuses what is of the wrong kind.

    Judgments, runs, preferences and scores are converted wherever they stand; other parameters are checked if they have
    no default. None, text and other types pass where the annotation allows them.

    makers : {class: the functions that return it}, for messages.
    """

    @cache
    def declared() -> tuple[Any, dict[str, Expected]]:
        takes = signature(function)
        kinds = {name: _expected(parameter, function, makers or {}) for name, parameter in takes.parameters.items()}
        return takes, {name: expected for name, expected in kinds.items() if expected is not None}

    @wraps(function)
    def convert(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        takes, kinds = declared()
        try:
            bound = takes.bind_partial(*args, **kwargs)
        except TypeError:
            return function(*args, **kwargs)  # which says better what is wrong
        for name in bound.arguments.keys() & kinds.keys():
            bound.arguments[name] = kinds[name].checked(name, bound.arguments[name])
        return function(*bound.args, **bound.kwargs)

    return convert


# ---------------------------------------------------------------------- what a parameter takes


@dataclass(frozen=True)
class Expected:
    """What a parameter takes.

    types : what passes as it is. convert : makes the same of other objects, or refuses them; None: there are no others.
    """

    types: tuple[type, ...]
    convert: Callable[..., object] | None
    makers: tuple[str, ...] = ()

    def checked(self, name: str, value: object) -> object:
        """The value, or what it was converted to.

        Raises
        ------
        ArgumentError
            A value of the wrong kind.
        """
        whole = next((kind for kind in (str, Mapping) if isinstance(value, kind)), None)  # neither is a list
        if isinstance(value, self.types) and (whole is None or whole in self.types):
            return value
        if self.convert is not None:
            return self.convert(value, argument=name)
        own = [kind.__name__ for kind in self.types if kind.__module__.startswith("qrowd.")]
        makers = self.makers or [f"help({name})" for name in own]
        next_step = f"; see {' or '.join(makers)}" if makers else ""
        kinds = " or ".join(dict.fromkeys(WORDS.get(kind, kind.__name__) for kind in self.types))
        raise ArgumentError(f"{name}: expected {kinds}, found {described(value)}{next_step}")


def _numbers(value: Any, *, argument: str) -> Floats:
    if hasattr(value, "dims"):  # an xarray.DataArray, whose labels may matter
        return value  # type: ignore[no-any-return]
    try:
        array = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        array = np.zeros(())
    if array.ndim == 0:
        raise ArgumentError(f"{argument}: expected a list or an array of numbers, found {described(value)}")
    return array


def _array(value: Any, *, argument: str) -> Any:
    _numbers(value, argument=argument)
    return np.asarray(value)


def _as_table(value: Any, *, argument: str) -> Any:
    if hasattr(value, "dims"):  # an xarray.DataArray
        return value
    try:
        return as_frame(value)
    except InputError as error:
        raise ArgumentError(f"{argument}: {error}") from None


CONVERSIONS: dict[str, Callable[..., object]] = {
    **dict.fromkeys(("Judgments", "AnyJudgments"), as_judgments),
    **dict.fromkeys(("Runs", "AnyRuns"), as_runs),
    "Preferences": as_preferences,
    **dict.fromkeys(("Scores", "AnyScores"), scores_of),
}
OTHER_CONVERSIONS: dict[str, Callable[..., object]] = {
    **dict.fromkeys(("Floats", "ArrayLike"), _numbers),
    "ndarray": _array,
    "Frame": _as_table,
}
WORDS: dict[Any, str] = {
    str: "text",
    Real: "a number",
    Mapping: "a dictionary",
    Iterable: "a list",
    Callable: "a function",
}
WIDER: dict[Any, Any] = {int: Real, float: Real, tuple: Iterable, Sequence: Iterable}  # what passes for a class, too


def _expected(parameter: Parameter, function: Any, makers: Mapping[str, tuple[str, ...]]) -> Expected | None:
    """What the annotation of a parameter says; None where anything goes."""
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        return None
    names = outer_names(str(parameter.annotation))
    kinds = [kind for name in names for kind in _types(name, function.__globals__)]
    names += [kind.__name__ for kind in kinds]
    types = tuple(WIDER.get(kind, kind) for kind in kinds if kind is not object)
    data = [convert for name, convert in CONVERSIONS.items() if name in names]
    if data:
        return None if Iterable in kinds else Expected(types, data[0])  # it may be more than data: the function decides
    if parameter.default is not parameter.empty:
        return None
    other = [convert for name, convert in OTHER_CONVERSIONS.items() if name in names]
    if other:
        return Expected(types, other[0])
    if not types or object in kinds:
        return None
    return Expected(types, None, tuple(name for kind in types for name in makers.get(kind.__name__, ())))


def outer_names(annotation: str) -> list[str]:
    """The members of a union, without what stands in brackets: `str | Mapping[str, float]` has `str` and `Mapping`."""
    shorter = None
    while annotation != shorter:
        shorter, annotation = annotation, re.sub(r"\[[^\[\]]*\]", "", annotation)
    return [name.strip() for name in annotation.split("|")]


def _types(name: str, names: Mapping[str, Any]) -> Iterator[type]:
    """The classes that a name of an annotation stands for; `object` where it is no name of classes."""
    if name in OTHER_CONVERSIONS or name in ("AnyJudgments", "AnyRuns", "AnyScores"):
        return
    yield from _classes(None if name == "None" else names.get(name, getattr(builtins, name, object)))


def _classes(thing: object) -> Iterator[type]:
    if isinstance(thing, UnionType):
        for member in get_args(thing):
            yield from _classes(member)
    elif thing is None:
        yield type(None)
    else:
        kind = get_origin(thing) or thing
        yield kind if isinstance(kind, type) and kind is not Any else object
