"""The question that judging is to decide: is A better than B, which is best, is C among the best, how do all rank."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.model.labels import closest, first_of

Kind = Literal["better", "best", "among", "ranking"]

FORMS = "'A > B', 'best', 'best of A, B*', 'C among best 3', 'C among best 3 of A, B*' or 'ranking of A, B*'"


@dataclass(frozen=True)
class Question:
    """A question about systems.

    kind : `better` (the first system against the second), `best`, `among` (is the first system among the best n), or
        `ranking`. systems : those that it is about, at least two. n_best : of `among`.
    """

    kind: Kind
    systems: tuple[str, ...]
    n_best: int = 1

    def __post_init__(self) -> None:
        if len(set(self.systems)) < max(len(self.systems), 2):
            raise ArgumentError("question: at least two systems were expected, each once")
        if not 1 <= self.n_best < len(self.systems):
            raise ArgumentError(f"question: {self.n_best} best of {len(self.systems)} systems; fewer were expected")

    def __str__(self) -> str:
        of = ", ".join(self.systems)
        if self.kind == "better":
            return f"{self.systems[0]} > {self.systems[1]}"
        if self.kind == "among":
            return f"{self.systems[0]} among best {self.n_best} of {of}"
        return f"{self.kind} of {of}"

    @classmethod
    def read(cls, text: str, systems: Sequence[str]) -> Question:
        """A question from its text.

        >>> Question.read("best of bm25, dense*", ["bm25", "dense-1", "dense-2", "lm"]).systems
        ('bm25', 'dense-1', 'dense-2')

        Raises
        ------
        ArgumentError
            A text of another form; a system that there is not.
        """
        parts = text.split(" > " if " > " in text else ">")
        if len(parts) == 2:
            first, second = (_named(part.strip(), systems) for part in parts)
            return cls("better", (first, second))
        match = re.fullmatch(r"(?:(?P<one>.+) among )?(?P<kind>best|ranking)(?: (?P<n>\d+))?(?: of (?P<of>.+))?", text)
        if match is None or (match["one"] and match["kind"] != "best") or (match["n"] and not match["one"]):
            raise ArgumentError(f"question: {text!r}; expected {FORMS}")
        chosen = _selected(match["of"], systems) if match["of"] else tuple(systems)
        if match["one"]:
            one = _named(match["one"].strip(), systems)
            return cls("among", (one, *(name for name in chosen if name != one)), int(match["n"] or 1))
        return cls("best" if match["kind"] == "best" else "ranking", chosen)

    def contrasts(self) -> NDArray[np.int64]:
        """(contrasts, 2) numbers of the systems whose differences decide it."""
        n = len(self.systems)
        if self.kind == "better":
            return np.array([[0, 1]])
        if self.kind == "among":
            return np.array([[0, other] for other in range(1, n)])
        return np.array([[i, j] for i in range(n) for j in range(i + 1, n)])

    def confidence_of_each(self, confidence: float) -> float:
        """The two-sided confidence of each interval, so that the answer is right with the confidence of all.

        The best system is lost only if one of the n - 1 intervals of the others against it is wrong to one side; one
        system is misplaced only if one of its n - 1 intervals is wrong; a ranking is wrong only if any interval is.
        """
        n = len(self.systems)
        alpha = 1 - confidence
        if self.kind == "best":
            return 1 - min(2 * alpha / (n - 1), alpha) if n > 2 else confidence
        return 1 - alpha / len(self.contrasts())


def _named(name: str, systems: Sequence[str]) -> str:
    if name in systems:
        return name
    several = [one for one in systems if fnmatchcase(one, name)]
    if len(several) == 1:
        return several[0]
    if several:
        raise ArgumentError(f"question: several systems match {name!r}: {first_of(several, 8)}; name one")
    raise ArgumentError(f"question: there is no system {name!r}; {closest(name, systems, 'system')}")


def _selected(text: str, systems: Sequence[str]) -> tuple[str, ...]:
    chosen: dict[str, None] = {}
    for part in (part.strip() for part in text.split(",")):
        matches = [part] if part in systems else [one for one in systems if fnmatchcase(one, part)]
        if not matches:
            raise ArgumentError(f"question: no system matches {part!r}; {closest(part, systems, 'system')}")
        chosen.update(dict.fromkeys(matches))
    return tuple(chosen)
