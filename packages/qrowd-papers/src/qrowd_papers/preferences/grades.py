"""How many grades do the order by utility and the stop save? Section 5.3: one to two fewer per query.

Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR, section 5.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from qrowd.evaluation import measure
from qrowd.measures.linear import linear_parts
from qrowd.model.chance import Rng
from qrowd.model.scales import parse_scale
from qrowd.preferences.scheduling import Curves, GradedTopic, Topic, grades_needed
from qrowd.reports.document import Table
from qrowd.reports.phrases import number
from qrowd_papers.preferences.claims import GRADED, LABELS

SHARES = (0.20, 0.28, 0.25, 0.25, 0.02)  # of Bad, Fair, Good, Excellent and Perfect, as printed in section 3.2
PRINTED = "1-2"  # judgments fewer per query


def graded_curves(topics: Sequence[Topic], *, rng: Rng) -> Curves:
    """The documents of the topics graded in five grades along the same order; DCG@5 with gains 2^g - 1."""
    discounts, gains = linear_parts(measure(GRADED["DCG"]), parse_scale(f"0-{len(LABELS) - 1}"), 5)
    graded = [GradedTopic.of(topic, shares=SHARES, gains=gains, discounts=discounts) for topic in topics]
    return grades_needed(graded, rng=rng)


def savings_table(curves: Mapping[str, Curves]) -> Table:
    """Mean judgments of a topic, and how many fewer they are than documents; beside what is printed."""
    rows = []
    for topics, curve in curves.items():
        judgments = {
            name: float(np.average(curve.judgments[here], weights=curve.topics[here]))
            for name in dict.fromkeys(curve.condition.tolist())
            if (here := curve.condition == name).any()
        }
        everything, by_chance, by_utility = judgments.values()
        cells = (everything, by_chance, by_utility, everything - by_utility)
        rows.append([topics, *(number(cell, 2) for cell in cells), PRINTED])
    header = ["grades", "all documents", "random, stop", "utility, stop", "fewer", "fewer, printed"]
    return Table("section 5.3: grades that a topic takes", header, rows)
