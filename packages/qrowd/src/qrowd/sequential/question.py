"""The question that judging is to decide, and what can be said of it at this moment, however often one has looked.

Is A better than B, which is best, is C among the best, how do all rank.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from math import isfinite
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats
from qrowd.model.labels import closest, first_of, plural
from qrowd.model.result import Result
from qrowd.sequential.estimates import Target

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
            first, second = (_named(part, systems) for part in parts)
            return cls("better", (first, second))
        match = re.fullmatch(r"(?:(?P<one>.+) among )?(?P<kind>best|ranking)(?: (?P<n>\d+))?(?: of (?P<of>.+))?", text)
        if match is None or (match["one"] and match["kind"] != "best") or (match["n"] and not match["one"]):
            raise ArgumentError(f"question: {text!r}; expected {FORMS}")
        listed = match["of"].split(",") if match["of"] else list(systems)
        chosen = tuple(dict.fromkeys(name for part in listed for name in _matches(part.strip(), systems)))
        if match["one"]:
            first = _named(match["one"], systems)
            return cls("among", (first, *(name for name in chosen if name != first)), int(match["n"] or 1))
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


def _matches(text: str, systems: Sequence[str]) -> list[str]:
    names = [text] if text in systems else [name for name in systems if fnmatchcase(name, text)]
    if not names:
        raise ArgumentError(f"question: there is no system {text!r}; {closest(text, systems, 'system')}")
    return names


def _named(text: str, systems: Sequence[str]) -> str:
    names = _matches(text.strip(), systems)
    if len(names) > 1:
        raise ArgumentError(f"question: several systems match {text.strip()!r}: {first_of(names, 8)}; name one")
    return names[0]


@dataclass(frozen=True, eq=False)
class Statement(Result):
    """The answer to a question by the judgments so far; the intervals hold at all times at once.

    answer : in words, empty while the question is open. certain : whether no possible judgment could change it.
    first, second : (contrasts,) systems. estimate, low, high : (contrasts,) difference of their scores.
    n_judged, n_documents : (contrasts,) documents that can change the difference, judged and in all.
    remaining : systems that may still be the best, or whose answer is open. tolerance : a difference of up to this much
    counts as none. target : the topics of the runs, or all like them. n_judged_in_all, n_documents_in_all : of the
    documents that can change any difference; n_unjudgeable : of these, documents that nobody can judge, which count as
    gaining the lowest.
    """

    question: Question
    measure: str
    confidence: float
    answer: str
    certain: bool
    first: tuple[str, ...]
    second: tuple[str, ...]
    estimate: Floats
    low: Floats
    high: Floats
    n_judged: NDArray[np.int64]
    n_documents: NDArray[np.int64]
    remaining: tuple[str, ...]
    tolerance: float = 0.0
    target: Target = "these topics"
    n_judged_in_all: int = 0
    n_documents_in_all: int = 0
    n_unjudgeable: int = 0

    _COLUMNS = ("first", "second", "estimate", "low", "high", "n_judged", "n_documents")

    @property
    def decided(self) -> bool:
        """Whether the question is answered."""
        return bool(self.answer)

    def _sentence(self) -> str:
        return self.sentence

    @property
    def sentence(self) -> str:
        """The answer, or what is open; it claims no more than the intervals do."""
        judged = f"{self.n_judged_in_all:,} of {plural(self.n_documents_in_all, 'document')} judged"
        if self.n_unjudgeable:
            verb = "counts" if self.n_unjudgeable == 1 else "count"
            judged += f"; {plural(self.n_unjudgeable, 'document')} that nobody can judge {verb} as not relevant"
        if self.answer:
            where = "these topics" if self.target == "these topics" else "topics like these"
            how = "whatever the other judgments are" if self.certain else f"with confidence {self.confidence:g}"
            return f"{self.answer} by {self.measure} on {where} for those who judged, {how} ({judged})."
        if self.question.kind == "better":
            first, second = self.first[0], self.second[0]
            return f"Open: {first} - {second} is {self._difference()} by {self.measure} ({judged})."
        n = len(self.question.systems)
        what = {
            "best": f"{len(self.remaining)} of {n} systems may be the best",
            "among": f"{len(self.remaining)} of {n - 1} systems may be above {self.question.systems[0]} or below it",
            "ranking": f"the ranks of {len(self.remaining)} of {n} systems are not certain",
        }[self.question.kind]
        return f"Open: {what} by {self.measure} ({judged})."

    def _difference(self) -> str:
        low, high = float(self.low[0]), float(self.high[0])
        if not (isfinite(low) and isfinite(high)):
            return f"expected to be {self.estimate[0]:+.3f}, with no interval until a batch that was drawn is judged,"
        return f"{self.estimate[0]:+.3f} [{low:+.3f}, {high:+.3f}]"


def answer_of(
    question: Question, contrasts: NDArray[np.int64], low: Floats, high: Floats, *, tolerance: float
) -> tuple[str, tuple[int, ...]]:
    """The answer in words, empty while open, and the systems that are open.

    low, high : (contrasts,) bounds of the differences. A difference within the tolerance counts as none.
    """
    n = len(question.systems)
    above = np.zeros((n, n), bool)  # certainly above, or not below by more than the tolerance
    beaten = np.zeros((n, n), bool)
    for (i, j), lower, upper in zip(contrasts.tolist(), low.tolist(), high.tolist(), strict=True):
        beaten[j, i], beaten[i, j] = lower > 0, upper < 0
        above[i, j], above[j, i] = lower >= -tolerance, upper <= tolerance
    names = question.systems
    if question.kind == "better":
        first, second = names
        if beaten[1, 0] or beaten[0, 1]:
            winner, loser = (first, second) if beaten[1, 0] else (second, first)
            return f"{winner} is better than {loser}", ()
        if above[0, 1] and above[1, 0] and tolerance > 0:
            return f"{first} and {second} differ by no more than {tolerance:g}", ()
        return "", (0, 1)
    if question.kind == "best":
        left = np.flatnonzero(~beaten.any(axis=1))
        if left.size == 1:
            return f"{names[left[0]]} is the best of {n} systems", ()
        good = [i for i in left if all(above[i, j] for j in left if j != i)]
        if tolerance > 0 and good:
            return f"{names[good[0]]} is the best of {n} systems, or within {tolerance:g} of the best", ()
        return "", tuple(left.tolist())
    if question.kind == "among":
        n_above, n_below = int(beaten[0].sum()), int(beaten[1:, 0].sum())
        if n_above >= question.n_best:
            return f"{names[0]} is not among the best {question.n_best} of {n} systems", ()
        if n_below >= n - question.n_best:
            return f"{names[0]} is among the best {question.n_best} of {n} systems", ()
        return "", tuple(j for j in range(1, n) if not (beaten[0, j] or beaten[j, 0]))
    settled = beaten | beaten.T | (above & above.T & (tolerance > 0)) | np.eye(n, dtype=bool)
    if settled.all():
        order = np.argsort(-beaten.sum(axis=0), kind="stable")
        return "the ranking is " + " > ".join(names[i] for i in order), ()
    return "", tuple(np.flatnonzero(~settled.all(axis=1)).tolist())


def open_contrasts(
    question: Question,
    contrasts: NDArray[np.int64],
    low: Floats,
    high: Floats,
    remaining: tuple[int, ...],
    *,
    tolerance: float,
) -> NDArray[np.bool_]:
    """(contrasts,) those whose sign still matters; at least one.

    Where every difference that matters is within the tolerance and the question is open all the same, as that of one
    among the best may be, the tolerance is left aside. Where none is left then, as after differences that contradict
    each other, all count.
    """
    undecided = (low <= 0) & (high >= 0)
    if question.kind == "among":
        undecided &= np.isin(contrasts, remaining)[:, 1]
    else:
        undecided &= np.isin(contrasts, remaining).all(axis=1)
    wide = undecided & ~((tolerance > 0) & (low >= -tolerance) & (high <= tolerance))
    for some in (wide, undecided):
        if some.any():
            return np.asarray(some)
    return np.ones(len(contrasts), bool)
