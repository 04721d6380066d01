"""How kernels become machine code: Pythran translates them to C++ when qrowd is built.

A kernel is a Python function of arrays and numbers with the types of its arguments:

    @kernel("int32[:,:], float64[:,:], int, float64[:,:]")
    def shared_precision_sum(rows, worth, cutoff, out): ...

`build_kernels.py` collects the kernels of a module, compiles them for each level of vector units, and puts the results
into `kernels/native`. Arrays must have the stated type and be contiguous; a kernel holds no lock of the interpreter.
A kernel without types is called only by other kernels of its module and is compiled into them.
"""

from __future__ import annotations

import functools
import importlib
import os
import re
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., object])

# Levels of vector units, best first, with the features they need, as NumPy names them; every processor has the last.
LEVELS = (("x86_64_v3", ("AVX2", "FMA3")), ("baseline", ()))
LEVEL = "QROWD_KERNELS"  # environment variable that names a level, to measure one that is not the machine's best
NUMBERS: dict[str, Callable[[Any], object]] = {"int": int, "float": float, "bool": bool}


def kernel(*types: str) -> Callable[[Function], Function]:
    """The compiled form of the function; the function itself is its attribute `__wrapped__`.

    types : types of the arguments in Pythran's notation, separated by commas; several texts where arrays may have
        several types. Only `build_kernels.py` reads more than which arguments are numbers.
    """

    def decorate(function: Function) -> Function:
        if not types or os.environ.get(LEVEL) == "python":
            return function
        return cast(Function, _caller(function, types[0]))

    return decorate


def split_types(types: str) -> list[str]:
    """The type of each argument: commas within brackets do not separate."""
    parts, depth = [""], 0
    for sign in re.sub(r"\s+", " ", types.strip()):
        depth += (sign in "([") - (sign in ")]")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts]


def _caller(function: Callable[..., object], types: str) -> Callable[..., object]:
    """Numbers become those that the kernel takes; arguments may be named. The first call loads the compiled module."""
    numbers = [(i, NUMBERS[kind]) for i, kind in enumerate(split_types(types)) if kind in NUMBERS]
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    compiled: Callable[..., object] | None = None

    @functools.wraps(function)
    def call(*arguments: object, **named: object) -> object:
        nonlocal compiled
        if compiled is None:
            compiled = cast(Callable[..., object], getattr(native(function.__module__), function.__name__))
        values = [*arguments, *(named[name] for name in names[len(arguments) :])]
        for i, convert in numbers:
            values[i] = convert(values[i])
        return compiled(*values)

    return call


@functools.cache
def level() -> str:
    """The best level of vector units of this processor, or the one that the environment names."""
    levels = [name for name, _ in LEVELS]
    if LEVEL in os.environ and os.environ[LEVEL] not in levels:
        raise ImportError(f"{LEVEL} is {os.environ[LEVEL]!r}; there are {', '.join(levels)}, and python for none")
    if LEVEL in os.environ:
        return os.environ[LEVEL]
    features = getattr(importlib.import_module("numpy._core._multiarray_umath"), "__cpu_features__", {})
    return next(name for name, needs in LEVELS if all(features.get(need, False) for need in needs))


def native(module: str) -> ModuleType:
    """The compiled kernels of a module, at the best level that was built for it."""
    name, levels = module.rpartition(".")[2], [one for one, _ in LEVELS]
    for one in levels[levels.index(level()) :]:
        try:
            return importlib.import_module(f"{__package__}.native.{one}.{name}")
        except ModuleNotFoundError:
            continue
    raise ImportError(
        f"{module} is not compiled for this Python. Install qrowd again, which compiles it "
        "(pip install --force-reinstall qrowd); in a clone, 'make kernels'."
    )
