"""Measures under label uncertainty, slow and obvious: one draw after the other, in loops over systems, on lists.

`means` is [draw][system]: what each system scores on average over the topics of one draw, nan where it has no score.
"""

import math

from qrowd.evaluation import evaluate
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments


def means_of_draws(runs, draws, scale, measure, **conventions):
    """[draw][system] by evaluating each draw alone; a draw is {(topic, document): value}."""
    found = []
    for draw in draws:
        rows = [(topic, document, "one", value) for (topic, document), value in draw.items()]
        scores = evaluate(
            runs, Judgments.from_rows(rows, scales={"one": scale}), measure, conventions=Conventions(**conventions)
        ).to_xarray()
        found.append(average(scores.values[0, 0].tolist()))
    return found


def average(table):
    """[system] mean over the topics with a score of [topic][system]."""
    columns = [[x for x in column if not math.isnan(x)] for column in zip(*table, strict=True)]
    return [sum(column) / len(column) if column else math.nan for column in columns]


def quantile(values, share):
    """Between the two sorted values that (n - 1) * share falls between, in proportion."""
    ordered = sorted(values)
    place = (len(ordered) - 1) * share
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def higher(x, y):
    """x > y, and not by rounding alone."""
    return x > y and not math.isclose(x, y, rel_tol=1e-11, abs_tol=1e-13)


def tau_b(x, y):
    """(concordant - discordant) / sqrt(pairs untied in x * pairs untied in y); nan where one ties all."""
    balance = untied_x = untied_y = 0
    for i in range(len(x)):
        for j in range(i):
            a = higher(x[i], x[j]) - higher(x[j], x[i])
            b = higher(y[i], y[j]) - higher(y[j], y[i])
            balance += a * b
            untied_x += a != 0
            untied_y += b != 0
    return balance / math.sqrt(untied_x * untied_y) if untied_x and untied_y else math.nan


def complete(lists, judged, depth):
    """{topic: [system]} whose first documents have all been judged; lists is {system: {topic: [document]}}."""
    found = {}
    for system, topics in lists.items():
        for topic, documents in topics.items():
            head = documents[:depth]
            if len(head) == depth and all((topic, document) in judged for document in head):
                found.setdefault(topic, []).append(system)
    return found
