"""Runs and judgments as TREC's lines."""

from __future__ import annotations

import re

import numpy as np

from qrowd.errors import ArgumentError
from qrowd.model.judgments import Judgments
from qrowd.model.labels import closest
from qrowd.model.runs import Runs

BLANK = r"[ \t-\r]"


def format_run(runs: Runs, system: str) -> str:
    """One system's lists as a TREC run, best first; scores in full so that reading them back gives the same doubles.

    Raises
    ------
    ArgumentError
        A system that is not among the runs; a label that TREC's format cannot hold.
    """
    if system not in runs.systems:
        raise ArgumentError(f"no system is called {system!r}; {closest(system, runs.systems, 'system')}")
    rows = np.flatnonzero(runs.system == runs.systems.index(system))
    topic, document, score = runs.topic[rows], runs.document[rows], runs.score[rows]
    ranked = Runs((system,), runs.topics, runs.documents, np.zeros_like(topic), topic, document, score).ranked()
    falling = score[np.lexsort((-score, topic))].tolist()
    lines = []
    for t, (start, length) in enumerate(zip(ranked.starts[0].tolist(), ranked.lengths[0].tolist(), strict=True)):
        for rank, row in enumerate(range(start, start + length), start=1):
            fields = (
                checked_label(runs.topics[t], first=True),
                "Q0",
                checked_label(runs.documents[ranked.document[row]]),
            )
            lines.append(f"{' '.join(fields)} {rank} {falling[row]!r} {checked_label(system)}\n")
    return "".join(lines)


def format_qrels(judgments: Judgments, *, assessor_in_column: bool = False) -> str:
    """Judgments as qrels lines in their own order; column 2 is 0, or the assessor.

    Raises
    ------
    ArgumentError
        A label that TREC's format cannot hold.
    """
    topics = [checked_label(label, first=True) for label in judgments.topics]
    documents = [checked_label(label) for label in judgments.documents]
    assessors = [checked_label(label) if assessor_in_column else "0" for label in judgments.assessors]
    columns = (judgments.topic, judgments.assessor, judgments.document, judgments.value)
    return "".join(
        qrels_line(topics[t], assessors[a], documents[d], v)
        for t, a, d, v in zip(*(column.tolist() for column in columns), strict=True)
    )


def qrels_line(topic: str, second: str, document: str, value: float) -> str:
    """A line of qrels, of labels that `checked_label` accepts; `second` is the second column."""
    return f"{topic} {second} {document} {int(value) if value == int(value) else repr(value)}\n"


def checked_label(label: str, *, first: bool = False) -> str:
    """The label, which TREC's formats can hold between blanks, or first in a line.

    Raises
    ------
    ArgumentError
        An empty label, one with a blank, or one that starts a comment.
    """
    if not label or re.search(BLANK, label) or (first and label.startswith("#")):
        problem = "is empty" if not label else "holds a blank" if re.search(BLANK, label) else "starts a comment"
        raise ArgumentError(f"label {label!r} {problem}, so TREC's formats cannot hold it; write a table instead")
    return label
