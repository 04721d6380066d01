"""Runs, judgments and preferences as TREC's lines."""

from __future__ import annotations

import re

import numpy as np

from qrowd.errors import ArgumentError
from qrowd.model.judgments import Judgments
from qrowd.model.labels import closest
from qrowd.model.preferences import Preferences
from qrowd.model.runs import Runs

BLANK = r"[ \t-\r]"


def format_preferences(preferences: Preferences) -> str:
    """Preferences as trec_eval's prefs lines: a subgroup for each, the group is its assessor, levels 2, 1 and 0 (Bad).

    Raises
    ------
    ArgumentError
        What the format cannot hold: strong preferences, weights, a preference for a Bad document, certain labels.
    """
    weighted = preferences.weight is not None and (preferences.weight != 1).any()
    if weighted or (preferences.strength == 2).any():
        what = "weights" if weighted else "strong preferences (strength 2)"
        raise ArgumentError(f"prefs cannot hold {what}; write a table (to_frame) instead")
    topics = [checked_label(label, first=True) for label in preferences.topics]
    documents, assessors = (
        list(map(checked_label, labels)) for labels in (preferences.documents, preferences.assessors)
    )
    marks = (preferences.bad_topic, preferences.bad_document, preferences.bad_assessor)
    bad = set(zip(*(column.tolist() for column in marks), strict=True))
    columns = (preferences.topic, preferences.preferred, preferences.other, preferences.assessor)
    lines = []
    for number, (t, p, o, a) in enumerate(zip(*(column.tolist() for column in columns), strict=True), start=1):
        if (t, p, a) in bad:
            row = preferences.describe(number - 1)
            raise ArgumentError(f"{row}: prefs cannot hold a preference for a document marked as Bad; write a table")
        lines.append(f"{topics[t]} {assessors[a]} {number} {documents[p]} 2\n")
        lines.append(f"{topics[t]} {assessors[a]} {number} {documents[o]} {0 if (t, o, a) in bad else 1}\n")
    for number, (t, d, a) in enumerate(sorted(bad), start=len(preferences) + 1):
        lines.append(f"{topics[t]} {assessors[a]} {number} {documents[d]} 0\n")
    return "".join(lines)


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
    topic = runs.topic[rows]
    document = runs.document[rows]
    score = runs.score[rows]
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
