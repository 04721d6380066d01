"""Runs, judgments and preferences as TREC's lines."""

from __future__ import annotations

import re
from typing import Literal

import numpy as np

from qrowd.errors import ArgumentError, check_choice
from qrowd.model.judgments import Judgments
from qrowd.model.labels import closest
from qrowd.model.preferences import Preferences
from qrowd.model.runs import Runs

BLANK = r"[ \t-\r]"


def format_preferences(preferences: Preferences, *, format: Literal["pairs", "winner", "prefs"] = "pairs") -> str:
    """Preferences as lines of text in their own order.

    format : "pairs" (`topic preferred other`), "winner" (`topic a b preferred`, a being the document shown first, or
        where nobody knows the one with the lower id), "prefs" (trec_eval's, one subgroup per preference, the group
        being that of the preference, else its assessor; levels 2 and 1, 0 for what is Bad).

    Raises
    ------
    ArgumentError
        What the format cannot hold: several assessors, marks, strong preferences, weights, certain labels.
    """
    check_choice("format", format, ("pairs", "winner", "prefs"))
    for there, what in (
        ((preferences.strength == 2).any(), "strong preferences (strength 2)"),
        (preferences.weight is not None and (preferences.weight != 1).any(), "weights"),
        (format != "prefs" and preferences.bad_topic.size > 0, "Bad marks"),
        (format != "prefs" and len(preferences.assessors) > 1, "several assessors; select one"),
    ):
        if there:
            raise ArgumentError(f"format={format!r} cannot hold {what}; write a table (to_frame) instead")
    topics = [checked_label(label, first=True) for label in preferences.topics]
    documents = [checked_label(label) for label in preferences.documents]
    columns = preferences.topic, preferences.preferred, preferences.other
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    if format == "pairs":
        return "".join(f"{topics[t]} {documents[p]} {documents[o]}\n" for t, p, o in rows)
    if format == "winner":
        firsts = np.full(len(rows), np.nan) if preferences.first is None else preferences.first
        lines = []
        for (t, p, o), first in zip(rows, firsts.tolist(), strict=True):
            leads = documents[p] < documents[o] if np.isnan(first) else first == 1
            a, b = (p, o) if leads else (o, p)
            lines.append(f"{topics[t]} {documents[a]} {documents[b]} {documents[p]}\n")
        return "".join(lines)
    grouped = preferences.pooled() if len(preferences.assessors) > 1 or preferences.group is None else preferences
    assert grouped.group is not None
    groups, marks = (
        [] if labels is None else [checked_label(str(label)) for label in labels.tolist()]
        for labels in (grouped.group, grouped.bad_group)
    )
    bad = set(zip(grouped.bad_topic.tolist(), grouped.bad_document.tolist(), marks, strict=True))
    lines = []
    for number, ((t, p, o), group) in enumerate(zip(rows, groups, strict=True), start=1):
        if (t, p, group) in bad:
            row = grouped.describe(number - 1)
            raise ArgumentError(f"{row}: prefs cannot hold a preference for a Bad document; write a table instead")
        lines.append(f"{topics[t]} {group} {number} {documents[p]} 2\n")
        lines.append(f"{topics[t]} {group} {number} {documents[o]} {0 if (t, o, group) in bad else 1}\n")
    for number, (t, d, group) in enumerate(sorted(bad), start=len(rows) + 1):
        lines.append(f"{topics[t]} {group} {number} {documents[d]} 0\n")
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
