"""What would make a difference surer, in words: more topics or one more assessor, at equal cost."""

from __future__ import annotations

from qrowd.comparison.differences import Difference
from qrowd.comparison.effort import SAME, SURE, EqualCost, equal_cost, topics_for_an_assessor
from qrowd.reports.phrases import count

ADVICE_NOTE = (
    f"helps: lowers the standard error of the difference; about as much: standard errors within {100 * SAME:g} %; at "
    f"least as much: a standard error at most {100 * SAME:g} % larger; said where its probability is {SURE:g} or more"
)


def advice(found: Difference) -> str:
    """More topics or one more assessor, at equal cost; empty where the answer is clear, or where nothing tells."""
    equal = topics_or_assessor(found)
    return "" if equal is None else advice_of(equal)


def topics_or_assessor(found: Difference, **costs: float) -> EqualCost | None:
    """One more assessor against the topics that cost as much; None where the interval excludes 0 or nothing tells.

    costs : as in `topics_for_an_assessor`.
    """
    if found.excludes_zero or not any(found.mean_squares):
        return None
    topics = topics_for_an_assessor(found.n_topics, found.n_assessors, **costs)
    return equal_cost(
        found.mean_squares, found.mean_squares_df, found.n_topics, found.n_assessors, topics, found.mean_squares_per
    )


def advice_of(equal: EqualCost) -> str:
    """In words; empty where an assessor costs less than half a topic."""
    n = round(equal.topics)
    if n == 0:
        return ""
    about = "" if abs(equal.topics - n) < 1e-9 else "about "
    topics = f"judging {about}{count(n, 'more topic')}"
    assessor = "one more assessor for all topics"
    if equal.answer == "assessor":
        return f"{assessor} costs as much as {topics} and helps at least as much"
    told = f"{topics} costs as much as {assessor}"
    if equal.answer == "unknown":
        return f"{told}; {equal.n_assessors} assessors are too few to tell which helps more"
    return f"{told} and helps {'about' if equal.answer == 'same' else 'at least'} as much"
