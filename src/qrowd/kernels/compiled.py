"""How kernels are compiled: once per machine (cached on disk) and without holding the interpreter's lock.

`error_model="numpy"` lets a division by zero give nan or inf, as in NumPy, and keeps inner loops free of branches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile on first call."""
    return cast(Function, numba.njit(cache=True, nogil=True, error_model="numpy")(function))
