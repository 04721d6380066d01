"""trec_eval's text: its measures in its order, its numbers in its digits.

Buckley (2008), trec_eval 9.0.4: trec_eval.c, measures.c, meas_*.c. Scores are compared in single precision, as there.
docs/trec_eval.md describes the options.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, isnan, log

import numpy as np

from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.kernels.ranked_list import SMALLEST_GEOMETRIC, RankedList
from qrowd.model.alignment import align
from qrowd.model.judgments import Judgments
from qrowd.model.labels import closest
from qrowd.model.runs import Runs
from qrowd.reports.trec_eval_measures import GROUPS, MEASURES, Arguments, TrecMeasure
from qrowd.trec import RUN, parse, runs_from


@dataclass(frozen=True)
class TrecEvalOptions:
    """trec_eval's options.

    measures : names and groups, with parameters after a dot: "official", "P.5,10", "ndcg.1=3,2=7".
    rel : lowest relevant grade. per_topic : print each topic. summary : print the line of all topics.
    complete : average over all topics of the judgments; those that the run lacks count 0.
    judged_only : leave documents without a judgment out of the run. depth : documents of a list that count.
    """

    measures: tuple[str, ...] = ("official",)
    rel: int = 1
    per_topic: bool = False
    summary: bool = True
    complete: bool = False
    judged_only: bool = False
    depth: int | None = None


def run_and_tag(text: bytes, name: str) -> tuple[Runs, str]:
    """A run file as trec_eval reads it, one system, and the tag of its last line, which is printed as its name.

    What follows the sixth field of a line belongs to the tag, of which the first word is printed.
    """
    lines = [line.split()[: RUN.n_fields] for line in text.split(b"\n")]
    runs = runs_from([("run", parse(b"\n".join(map(b" ".join, lines)), name, RUN))])
    last = next(fields for fields in reversed(lines) if fields and not fields[0].startswith(b"#"))
    return runs, last[-1].decode("utf-8", "surrogateescape")


def requested(texts: Sequence[str]) -> list[tuple[TrecMeasure, Arguments]]:
    """The measures of these names and groups, in trec_eval's order, with their parameters.

    Raises
    ------
    ArgumentError
        A name that trec_eval does not have, or parameters that the measure cannot take.
    """
    names: set[str] = set()
    parameters: dict[str, str] = {}
    for text in texts:
        name, dot, rest = text.partition(".")
        if dot and not rest:
            raise ArgumentError(f"measure {text!r}: parameters are expected after the dot, as in P.5,10")
        if name not in GROUPS and name not in MEASURES:
            near = closest(name, (*MEASURES, *GROUPS), "measure")
            raise ArgumentError(f"trec-eval has no measure {name!r}; {near}")
        names.update(GROUPS.get(name, [name]))
        if dot:
            parameters.setdefault(name, rest)
    return [(measure, measure.arguments(parameters.get(name))) for name, measure in MEASURES.items() if name in names]


def trec_eval_text(
    judgments: Judgments,
    runs: Runs,
    tag: str,
    options: TrecEvalOptions = TrecEvalOptions(),
    *,
    by_assessor: bool = False,
) -> str:
    """What trec_eval prints for judgments and the run of one system.

    tag : the name of the run.
    by_assessor : each assessor has lines of their own, which start with the name; else there is one assessor.

    Raises
    ------
    NoOverlapError
        No topic is in both.
    """
    measures = requested(options.measures)
    lines: list[str] = []
    for assessor in judgments.assessors:
        part = judgments.select(assessors=[assessor])
        start = f"{assessor}\t" if by_assessor else ""
        lines += [start + line for line in _lines(measures, part, runs, tag, options)]
    return "".join(lines)


def _ranked_lists(judgments: Judgments, runs: Runs, options: TrecEvalOptions) -> dict[str, RankedList]:
    """{topic: the list of the run}, of each topic that is both judged and in the run, in trec_eval's order."""
    if not set(judgments.topics) & set(runs.topics):
        raise NoOverlapError("no topic is in both the judgments and the run; are both of the same collection?")
    panel = judgments.panel(repeats="error")
    lists = {}
    for t, ranked in enumerate(align(runs, panel.pool, "float32").topics):
        n = int(ranked.lengths[0])
        if not n:
            continue
        rows = ranked.rows[0, : n if options.depth is None else min(n, max(options.depth, 0))]
        values = np.trunc(panel.topic(t)[:, 0])
        grades = np.where(rows < 0, np.nan, values[rows])
        counts = ~np.isnan(grades) | (not options.judged_only)
        judged = values[~np.isnan(values)]
        lists[panel.pool.topics[t]] = RankedList(grades[counts], (rows >= 0)[counts], judged, float(options.rel))
    return dict(sorted(lists.items(), key=lambda item: item[0].encode("utf-8", "surrogateescape")))


def _lines(
    measures: Sequence[tuple[TrecMeasure, Arguments]],
    judgments: Judgments,
    runs: Runs,
    tag: str,
    options: TrecEvalOptions,
) -> Iterator[str]:
    """The lines of all topics, and of their summary."""
    lists = _ranked_lists(judgments, runs, options)
    sums: dict[str, float] = {}
    for topic, ranked in lists.items():
        for measure, arguments in measures:
            values = measure.function(ranked, arguments)
            for label, value in zip(arguments.labels, values, strict=True):
                if not isinstance(value, str):
                    sums[label] = sums.get(label, 0.0) + value
                if options.per_topic and measure.per_topic:
                    yield _line(label, topic, value, whole=measure.whole)
    if options.summary:
        yield from _summary(measures, sums, len(lists), judgments, tag, options)


def _summary(
    measures: Sequence[tuple[TrecMeasure, Arguments]],
    sums: Mapping[str, float],
    n_scored: int,
    judgments: Judgments,
    tag: str,
    options: TrecEvalOptions,
) -> Iterator[str]:
    """The lines of all topics together. sums : of the scores of n_scored topics, by label."""
    n = len(judgments.topics) if options.complete else n_scored
    for measure, arguments in measures:
        if measure.name == "runid":
            yield _line("runid", "all", tag)
        elif measure.name == "num_q":
            yield _line("num_q", "all", n, whole=True)
        elif measure.summary != "none":
            for label in arguments.labels:
                total = sums[label]
                if measure.name == "num_rel" and options.complete:
                    total = int((np.trunc(judgments.value) >= options.rel).sum())
                elif measure.summary == "mean":
                    total /= n
                elif measure.summary == "geometric":
                    total = exp((total + (n - n_scored) * log(SMALLEST_GEOMETRIC)) / n)
                yield _line(label, "all", total, whole=measure.whole)


def _line(label: str, topic: str, value: float | str, *, whole: bool = False) -> str:
    """A line as C prints it, whose undefined numbers are negative."""
    if isinstance(value, str):
        text = value
    elif whole:
        text = str(int(value))
    else:
        text = "  -nan" if isnan(value) else f"{value:6.4f}"
    return f"{label:<22}\t{topic}\t{text}\n"
