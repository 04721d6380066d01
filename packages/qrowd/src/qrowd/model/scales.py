"""The scale an assessor judged on. It belongs to the assessor: one panel may mix yes/no, 0-3 and free magnitudes.

A scale is declared, or inferred from the values and then stated wherever it mattered. Its notation is the same in
Python, on the command line and in tables: `binary`, `0-3` (whole grades), `0..1` (bounded fractions), `magnitude`, and
`magnitude normalised` for magnitudes that were brought onto one scale.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import ceil, inf, isfinite
from typing import Literal

import numpy as np

from qrowd.errors import ScaleError
from qrowd.kernels.arrays import Floats

Kind = Literal["binary", "graded", "fractions", "magnitude"]


@dataclass(frozen=True)
class Scale:
    """What an assessor's values mean.

    kind : `binary` (0, 1), `graded` (whole grades up to maximum), `fractions` (any value up to maximum),
        `magnitude` (any positive number, no upper end).
    maximum : the highest value the scale allows; inf for magnitudes.
    declared : False where the scale was inferred from the values.
    rel : the lowest value that counts as relevant; default: grade 1, half of a fraction's maximum, None for magnitudes.
    normalised : of magnitudes, how they were brought onto one scale for all assessors, such as "normalised by
        geometric-mean"; empty where they are as written.
    """

    kind: Kind
    maximum: float
    declared: bool = True
    rel: float | None = None
    normalised: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if self.rel is None and self.kind != "magnitude":
            object.__setattr__(self, "rel", self.maximum / 2 if self.kind == "fractions" else 1.0)

    def __str__(self) -> str:
        if self.kind == "graded":
            return f"0-{self.maximum:.15g}"
        if self.kind == "fractions":
            return f"0..{self.maximum:.15g}"
        return f"{self.kind} {self.normalised}".rstrip()

    def rescaled(self) -> Scale:
        """The scale of the same values divided by its maximum; what was relevant stays relevant."""
        if self.kind == "binary":
            return self
        return Scale("fractions", 1.0, self.declared, (self.rel or 0.0) / self.maximum)

    def problem(self, values: Floats) -> str | None:
        """What is wrong with values on this scale, or None; negative values mean "not judged" and fit any scale."""
        own_values = values[values >= 0]
        if self.kind == "magnitude":
            return "a magnitude must be above 0" if (own_values == 0).any() else None
        if own_values.size and own_values.max() > self.maximum:
            return f"value {own_values.max():g} is above the scale's maximum {self.maximum:g}"
        if self.kind != "fractions" and (own_values % 1 != 0).any():
            return f"value {own_values[own_values % 1 != 0][0]:g} is not a whole grade"
        return None


BINARY = Scale("binary", 1.0)


def parse_scale(text: str) -> Scale:
    """Read `binary`, `0-3`, `0..1`, `magnitude` or `magnitude normalised`.

    >>> parse_scale("0-3")
    Scale(kind='graded', maximum=3.0, declared=True, rel=1.0)
    """
    word = text.strip().lower()
    if word in ("binary", "0-1"):
        return BINARY
    if magnitude := re.fullmatch(r"magnitude(( normalised( by [a-z, -]+)?)?)", word):
        return Scale("magnitude", inf, normalised=magnitude[1].lstrip())
    if graded := re.fullmatch(r"0-([1-9]\d*)", word):
        return Scale("graded", float(graded[1]))
    if (bounded := re.fullmatch(r"0\.\.(\d+(?:\.\d+)?)", word)) and float(bounded[1]) > 0:
        return Scale("fractions", float(bounded[1]))
    raise ScaleError(f"scale {text!r} is not understood; write binary, 0-3, 0..1, magnitude or magnitude normalised")


def infer_scale(values: Floats) -> Scale:
    """The simplest scale that holds the values (negative ones, "not judged", aside).

    Only 0 and 1: binary. Whole numbers that include 0 or stay within 10: graded up to the highest seen. Fractions that
    stay within 1, or include 0: fractions, up to the next whole number. Anything else, above 0 throughout: magnitude.
    """
    own_values = values[values >= 0]
    if not own_values.size:
        return Scale("binary", 1.0, declared=False)
    highest = float(own_values.max())
    if not isfinite(highest):
        raise ScaleError("a value is not finite")
    whole = bool((np.floor(own_values) == own_values).all())
    if whole and highest <= 1:
        return Scale("binary", 1.0, declared=False)
    if whole and (highest <= 10 or own_values.min() == 0):
        return Scale("graded", highest, declared=False)
    if highest <= 1 or own_values.min() == 0:
        return Scale("fractions", float(ceil(highest)), declared=False)
    return Scale("magnitude", inf, declared=False)
