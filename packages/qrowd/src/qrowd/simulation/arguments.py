"""Checks of a simulation's numbers, and its labels."""

from __future__ import annotations

from qrowd.errors import ArgumentError


def share(name: str, value: float) -> float:
    """`value`, if it lies from 0 to 1."""
    if not 0 <= value <= 1:
        raise ArgumentError("a share lies from 0 to 1", name, value)
    return float(value)


def count(name: str, value: int, least: int = 1) -> int:
    """`value`, if it is at least `least`."""
    if value < least:
        raise ArgumentError(f"at least {least} needed", name, value)
    return int(value)


def numbered(stem: str, n: int) -> tuple[str, ...]:
    """n labels of equal width: sys01 ... sys12."""
    width = len(str(n))
    return tuple(f"{stem}{i:0{width}d}" for i in range(1, n + 1))
