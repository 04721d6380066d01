"""A condition on two systems that fails a test in continuous integration: `new<=old`, `new<old-0.01`.

`A<B` holds where it is shown: the interval of A minus B lies below 0. `A<=B` is the contrary of `B<A`: it holds unless
A is shown to be better, with an interval above 0. A margin stands in the place of 0: `A<=B-0.01` holds unless A is
shown to lose less than 0.01 (non-inferiority).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from qrowd.comparison.differences import Difference
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.reports.phrases import count, percent, signed

CONDITION = re.compile(r"\s*(.*?\S)\s*(<=?)\s*(\S.*?)\s*")
OUTCOMES = {  # by the sign: passes, fails
    "<": ("Passes: {} is not shown", "Fails: {} is shown"),
    "<=": ("Passes: {} is excluded", "Fails: {} is not excluded"),
}
MARGIN = re.compile(r"(.*?\S)\s*([+-])\s*(\d*\.\d+|(?<=\s)\d+)")  # "-9" may end a name: a whole one needs blanks


@dataclass(frozen=True)
class Gate:
    """A condition, and whether it holds by any measure: the test then fails.

    condition : as it was written. margin : what the difference `first` minus `second` is compared with. holds_by : the
    measures by which it holds. sentence : the outcome with the intervals that decide.
    """

    condition: str
    first: str
    sign: str
    second: str
    margin: float = 0.0
    holds_by: tuple[str, ...] = ()
    sentence: str = ""

    @classmethod
    def parse(cls, text: str, systems: Sequence[str]) -> Gate:
        """The condition of a text such as `new<=old-0.01`; the name of a system may end like a margin.

        Raises
        ------
        ArgumentError
            No such condition. Whether the systems exist, `compare` asks.
        """
        match = CONDITION.fullmatch(text)
        if not match:
            raise ArgumentError("expected 'A<=B' or 'A<B' with two systems, as in 'new<=old'", "fail_if", text)
        first, sign, second = match.groups()
        margin = None if second in systems else MARGIN.fullmatch(second)
        if margin:
            return cls(text, first, sign, margin[1], float(margin[2] + margin[3]))
        return cls(text, first, sign, second)

    def holds(self, one: Difference) -> bool:
        """Whether it holds for the interval of `first` minus `second`."""
        return one.high < self.margin if self.sign == "<" else not one.low > self.margin

    def decided(self, by_measure: Mapping[str, Sequence[Difference]]) -> Gate:
        """With the outcome. by_measure : intervals of the difference of the two systems; the first of each decides.

        Raises
        ------
        NoOverlapError
            A measure has no interval, so that nothing can be said.
        """
        pair = f"{self.first} and {self.second}"
        parts: dict[str, str] = {}
        holds_by: list[str] = []
        for measure, intervals in by_measure.items():
            if not intervals:
                raise NoOverlapError(f"fail_if: {pair} share fewer than two topics with a score by {measure}")
            one = intervals[0]
            parts[measure] = f"{signed(one.difference)} [{one.low:.4f}, {one.high:.4f}] by {measure}"
            if self.holds(one):
                holds_by.append(measure)
        outcome = OUTCOMES[self.sign][bool(holds_by)].format(self.condition)
        values = ", ".join(parts[measure] for measure in holds_by or parts)
        n = f"{count(one.n_topics, one.sampled)}, {count(one.n_assessors, 'assessor')}"
        over = f"{percent(one.confidence)} intervals, {n}"
        sentence = f"{outcome}; {self.first} minus {self.second} is {values} ({over})."
        return replace(self, holds_by=tuple(holds_by), sentence=sentence)
