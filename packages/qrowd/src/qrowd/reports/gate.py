"""A condition on two systems that fails a test in continuous integration: `new<=old`, `new<old-0.01`.

`A<B` holds where it is shown: the interval of A minus B lies below 0. `A<=B` is the contrary of `B<A`: it holds unless
A is shown to be better, with an interval above 0. A margin stands in the place of 0: `A<=B-0.01` holds unless A is
shown to lose less than 0.01 (non-inferiority).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from qrowd.comparison.differences import Difference
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.model.labels import number_of
from qrowd.reports.phrases import count, percent, signed

CONDITION = re.compile(r"\s*(.*?\S)\s*(<=?)\s*(\S.*?)\s*")
OUTCOMES = {  # by the sign: passes, fails
    "<": ("Passes: {} is not shown", "Fails: {} is shown"),
    "<=": ("Passes: {} is excluded", "Fails: {} is not excluded"),
}
MARGIN = re.compile(r"(.*?\S)\s*([+-])\s*(\d+\.?\d*|\.\d+)")


@dataclass(frozen=True)
class Condition:
    """That one system is worse than another (<), or not better (<=).

    text : as it was written. margin : what the difference `first` minus `second` is compared with.
    """

    text: str
    first: str
    sign: str
    second: str
    margin: float

    @classmethod
    def parse(cls, text: str, systems: Sequence[str]) -> Condition:
        """The condition of a text such as `new<=old-0.01`; the name of a system may end like a margin.

        Raises
        ------
        ArgumentError
            No such condition, or a system that does not exist.
        """
        match = CONDITION.fullmatch(text)
        if not match:
            raise ArgumentError("expected 'A<=B' or 'A<B' with two systems, as in 'new<=old'", "fail_if", text)
        first, sign, second = match.groups()
        margin = None if second in systems else MARGIN.fullmatch(second)
        if margin:
            second = margin[1]
        for name in (first, second):
            number_of(name, systems, "system")
        return cls(text, first, sign, second, float(margin[2] + margin[3]) if margin else 0.0)

    def holds(self, one: Difference) -> bool:
        """Whether it holds for the interval of `first` minus `second`."""
        return one.high < self.margin if self.sign == "<" else not one.low > self.margin


@dataclass(frozen=True)
class Gate:
    """Whether a condition holds by any measure: the test then fails.

    holds_by : the measures by which it holds. sentence : the outcome with the intervals that decide.
    """

    condition: Condition
    holds_by: tuple[str, ...]
    sentence: str


def gate(condition: Condition, by_measure: Mapping[str, Sequence[Difference]]) -> Gate:
    """Whether the condition holds.

    by_measure : intervals of the difference of its systems; the first of each decides.

    Raises
    ------
    NoOverlapError
        A measure has no interval, so that nothing can be said.
    """
    first, second = condition.first, condition.second
    for measure, intervals in by_measure.items():
        if not intervals:
            raise NoOverlapError(f"fail_if: {first} and {second} share fewer than two topics with a score by {measure}")
    deciding = {measure: intervals[0] for measure, intervals in by_measure.items()}
    holds_by = tuple(measure for measure, one in deciding.items() if condition.holds(one))
    outcome = OUTCOMES[condition.sign][bool(holds_by)].format(condition.text)
    parts = [
        f"{signed(one.difference)} [{one.low:.4f}, {one.high:.4f}] by {measure}"
        for measure, one in deciding.items()
        if measure in (holds_by or deciding)
    ]
    one = next(iter(deciding.values()))
    over = f"{percent(one.confidence)} intervals, {count(one.n_topics, 'topic')}, {count(one.n_assessors, 'assessor')}"
    return Gate(condition, holds_by, f"{outcome}; {first} minus {second} is {', '.join(parts)} ({over}).")
