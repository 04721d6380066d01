"""How many grades do the order by utility and the stop save? Section 5.3: one to two fewer per query.

Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR, section 5.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from qrowd.evaluation import measure
from qrowd.kernels.arrays import Floats
from qrowd.measures.measure_kinds import linear_parts
from qrowd.model.chance import Chance, Rng
from qrowd.model.scales import parse_scale
from qrowd.preferences.scheduling import grade_bounds, order_documents, rank_coefficients
from qrowd.reports.document import Table
from qrowd.reports.phrases import number
from qrowd_papers.preferences.claims import GRADED, LABELS
from qrowd_papers.preferences.replays import Answers, Topic

SHARES = (0.20, 0.28, 0.25, 0.25, 0.02)  # of Bad, Fair, Good, Excellent and Perfect, as printed in section 3.2
PRINTED = "1-2"  # judgments fewer per query


def gains_of_answers(answers: Answers, shares: Sequence[float], gains: Floats) -> Floats:
    """(documents,) gains along the order of the answers: the document that wins fewest pairs has the lowest grade.

    shares : of documents with each grade, the lowest first. gains : by grade.

    >>> gains_of_answers(Answers.of_order([2, 0, 1]), [1 / 3, 2 / 3], np.array([0, 1])).tolist()
    [1, 0, 1]
    """
    place = np.argsort(np.argsort(answers.wins.sum(axis=1), kind="stable"))
    ends = np.cumsum(shares)[:-1] * place.size
    return np.asarray(gains[np.searchsorted(ends.round(9), place, side="right")])


def graded_until_settled(gains: Floats, coefficients: Floats, highest: float, sequence: Iterable[int]) -> int:
    """How many documents of the sequence are graded until no further grade can change the order of the systems.

    gains : (documents,) that they will get. coefficients, highest : as in `grade_bounds`.
    """
    graded = np.full(gains.size, np.nan)
    for n_graded, document in enumerate(sequence, 1):
        graded[document] = gains[document]
        if grade_bounds(graded, coefficients, highest=highest).settled:
            return n_graded
    return gains.size


def grades_needed(topics: Sequence[Topic], *, rng: Rng) -> Floats:
    """(topics, 3) documents; grades until the order of the systems by DCG@5 is settled, at random and by utility."""
    discounts, gains = linear_parts(measure(GRADED["DCG"]), parse_scale(f"0-{len(LABELS) - 1}"), 5)
    needed = []
    for i, topic in enumerate(topics):
        by_document = gains_of_answers(topic.answers, SHARES, gains)
        coefficients = rank_coefficients(topic.systems, discounts)
        chance = Chance.of(Chance.of(rng).stream("topic", i))
        at_random = chance.stream("sequence").permutation(by_document.size).tolist()
        by_utility = order_documents(coefficients, at_random)
        stops = [graded_until_settled(by_document, coefficients, gains.max(), one) for one in (at_random, by_utility)]
        needed.append([by_document.size, *stops])
    return np.array(needed, float)


def savings_table(needed: Mapping[str, Floats]) -> Table:
    """Mean judgments of a topic, and how many fewer they are than documents; beside what is printed."""
    rows = []
    for topics, counts in needed.items():
        everything, by_chance, by_utility = counts.mean(axis=0)
        cells = (everything, by_chance, by_utility, everything - by_utility)
        rows.append([topics, *(number(cell, 2) for cell in cells), PRINTED])
    header = ["grades", "all documents", "random, stop", "utility, stop", "fewer", "fewer, printed"]
    return Table("section 5.3: grades that a topic takes", header, rows)
