"""How kernels become machine code: each is written in C as well, and compiled when qrowd is installed.

A kernel is a Python function of arrays and numbers, with the types of its arguments:

    @kernel("int32[:,:], float64[:,:], int, float64[:,:]")
    def shared_precision_sum(rows, worth, cutoff, out): ...

The .c file beside its module holds a function of the same name that computes the same in loops. `build_kernels.py`
compiles all of them into `kernels/native`; where it could not, the Python functions run. Arrays must have the stated
type and be C-contiguous. A compiled kernel holds no lock of the interpreter.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

Function = TypeVar("Function", bound=Callable[..., object])
Arrays = Callable[..., tuple[np.ndarray[Any, Any], ...]]

AS_PYTHON = os.environ.get("QROWD_KERNELS") == "python"  # for a debugger: kernels run as the Python they are
LIBRARY = Path(__file__).with_name("native") / ("kernels.dll" if os.name == "nt" else "kernels.so")
SLOWER = (
    "qrowd was installed without a C compiler; reading and scoring large files take about 4 times as long. "
    "Install a compiler and run pip install --force-reinstall --no-cache-dir --no-deps qrowd."
)
NUMBERS: dict[str, Callable[[Any], object]] = {
    "int": lambda value: ctypes.c_int64(int(value)),
    "bool": lambda value: ctypes.c_int64(bool(value)),
    "float": lambda value: ctypes.c_double(float(value)),
}


class Array(ctypes.Structure):
    """As in arrays.h: where the first element is, and the shape."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("rows", ctypes.c_int64),
        ("columns", ctypes.c_int64),
        ("last", ctypes.c_int64),
    )


def kernel(types: str, numbers: str = "", arrays: Arrays | None = None) -> Callable[[Function], Function]:
    """The compiled form of the function, where there is one; the function itself is its attribute `__wrapped__`.

    types : of the arguments, separated by a comma and a blank.
    numbers : types of the numbers that it returns, all "int" or all "float".
    arrays : makes from the arguments the arrays that it returns; the kernel fills them.
    """

    def decorate(function: Function) -> Function:
        @functools.cache
        def chosen() -> Callable[..., object]:
            in_c = None if AS_PYTHON else library()
            return function if in_c is None else _caller(function, in_c, types.split(", "), numbers, arrays)

        @functools.wraps(function)
        def call(*arguments: object, **named: object) -> object:
            return chosen()(*arguments, **named)

        return cast(Function, call)

    return decorate


@functools.cache
def library() -> ctypes.CDLL | None:
    """The compiled kernels; None, after a sentence on standard error, where there are none."""
    try:
        return ctypes.CDLL(str(LIBRARY))
    except OSError:
        print(SLOWER, file=sys.stderr)
        return None


def _caller(
    function: Callable[..., object], in_c: ctypes.CDLL, types: list[str], numbers: str, arrays: Arrays | None
) -> Callable[..., object]:
    """The function in C with the arguments and results of the one in Python; arguments may be named."""
    names = function.__code__.co_varnames[: len(types)]
    converts = [NUMBERS[kind] if kind in NUMBERS else _checked(function, kind) for kind in types]
    size = len(numbers.split(", "))
    room_type = (ctypes.c_int64 if numbers.startswith("int") else ctypes.c_double) * size
    compiled = in_c[function.__name__]

    def call(*arguments: Any, **named: Any) -> object:
        values = [*arguments, *(named[name] for name in names[len(arguments) :])]
        made, room = arrays(*values) if arrays else (), room_type()
        results = [room] if numbers else [_as_array(array) for array in made]
        if compiled(*(convert(value) for convert, value in zip(converts, values, strict=True)), *results):
            raise MemoryError(f"not enough memory for {function.__name__}")
        returned = tuple(room) if numbers else made
        return returned if len(returned) > 1 else next(iter(returned), None)

    return call


def _checked(function: Callable[..., object], kind: str) -> Callable[[Any], Array]:
    """Refuses arrays of another type, number of dimensions or order than the kernel reads."""
    name, _, rest = kind.partition("[")
    wanted = np.dtype(name), rest.count(":"), True

    def convert(array: Any) -> Array:
        if not isinstance(array, np.ndarray) or (array.dtype, array.ndim, array.flags.c_contiguous) != wanted:
            raise TypeError(f"{function.__name__} takes a C-contiguous {kind}, not {array!r}")
        return _as_array(array)

    return convert


def _as_array(array: np.ndarray[Any, Any]) -> Array:
    return Array(array.ctypes.data, *array.shape)
