"""How kernels become machine code: Pythran translates them to C++ when qrowd is built.

A kernel is a Python function of arrays and numbers with the types of its arguments:

    @kernel("int32[:,:], float64[:,:], int, float64[:,:]")
    def shared_precision_sum(rows, worth, cutoff, out): ...

`build_kernels.py` writes the kernels of a module and its constants, all in capital letters, into a file for Pythran and
puts the compiled module into `kernels/native`. Arrays must have the stated type and be contiguous; a kernel holds no
lock of the interpreter. A kernel without types is called only by others of its module.
"""

from __future__ import annotations

import functools
import importlib
import os
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., object])

AS_PYTHON = os.environ.get("QROWD_KERNELS") == "python"  # for a debugger: kernels run as the Python they are
NUMBERS: dict[str, Callable[[Any], object]] = {"int": int, "float": float, "bool": bool}


def kernel(types: str = "") -> Callable[[Function], Function]:
    """The compiled form of the function; the function itself is its attribute `__wrapped__`.

    types : of the arguments in Pythran's notation, separated by a comma and a blank.
    """

    def decorate(function: Function) -> Function:
        return function if AS_PYTHON or not types else cast(Function, _caller(function, types.split(", ")))

    return decorate


def _caller(function: Callable[..., object], types: list[str]) -> Callable[..., object]:
    """Numbers become those that the kernel takes; arguments may be named. The first call loads the compiled module."""
    numbers = [(i, NUMBERS[kind]) for i, kind in enumerate(types) if kind in NUMBERS]
    names = function.__code__.co_varnames[: len(types)]
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


def native(module: str) -> ModuleType:
    """The compiled kernels of a module."""
    try:
        return importlib.import_module(f"{__package__}.native.{module.rpartition('.')[2]}")
    except ModuleNotFoundError:
        raise ImportError(
            f"{module} is not compiled for this Python. Install qrowd again, which compiles it "
            "(pip install --force-reinstall qrowd); in a clone, 'make kernels'."
        ) from None
