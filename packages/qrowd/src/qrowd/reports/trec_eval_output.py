"""trec_eval's text: its measures in its order, its numbers in its digits.

Buckley (2008), trec_eval 9.0.4: trec_eval.c, measures.c, meas_*.c. Scores are compared in single precision, as there.
docs/trec_eval.md describes the options.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, isnan, log
from typing import Any, Literal

import numpy as np

from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.kernels import ranked_list
from qrowd.kernels.ranked_list import SMALLEST_GEOMETRIC, RankedList, gains_of, ideal_of, share
from qrowd.model.alignment import align
from qrowd.model.judgments import Judgments
from qrowd.model.labels import closest
from qrowd.model.runs import Runs
from qrowd.trec import RUN, parse, runs_from

CUTOFFS = (5.0, 10.0, 15.0, 20.0, 30.0, 100.0, 200.0, 500.0, 1000.0)
RECALLS = tuple(i / 10 for i in range(11))
MULTIPLES = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)


@dataclass(frozen=True)
class Arguments:
    """Parameters of a measure.

    labels : names of its lines. numbers : cut-offs, levels or other parameters. gains : of grades.
    """

    labels: tuple[str, ...]
    numbers: tuple[float, ...]
    gains: Mapping[float, float]


@dataclass(frozen=True)
class TrecMeasure:
    """One of trec_eval's measures.

    takes : what its parameters are; default : those without a parameter. function : of a list; of a list and one
    cut-off or level, for each label; of a list and all numbers; or of the gains at each rank and the ideal ones.
    summary : how topics become one number. per_topic : whether topics have a line. whole : printed without digits.
    needs_relevant : whether a topic without a relevant document is 0, for measures of gains.
    """

    name: str
    function: Callable[..., Any]
    takes: Literal["nothing", "cutoffs", "levels", "numbers", "gains"] = "nothing"
    default: tuple[float, ...] = ()
    summary: Literal["mean", "sum", "geometric", "none"] = "mean"
    per_topic: bool = True
    whole: bool = False
    needs_relevant: bool = False

    def arguments(self, text: str | None) -> Arguments:
        """The parameters that stand after the dot.

        Raises
        ------
        ArgumentError
            Parameters that the measure cannot take.
        """
        name = self.name
        if self.takes in ("cutoffs", "levels"):
            numbers = self.default if text is None else self._cutoffs(text)
            style = "{:.0f}" if self.takes == "cutoffs" else "{:4.2f}"
            return Arguments(tuple(f"{name}_{style.format(number)}" for number in numbers), numbers, {})
        if text is None or self.takes == "nothing":
            return Arguments((name,), self.default, {})
        if self.takes == "numbers":
            numbers = tuple(leading_number(part) for part in text.split(","))
            if name == "utility" and len(numbers) != 4:
                raise ArgumentError(f"measure 'utility.{text}': four numbers were expected, as in utility.1,-1,0,0")
            return Arguments((f"{name}_{text}",), numbers, {})
        pairs = [part.split("=") for part in text.split(",")]
        if any(len(pair) != 2 for pair in pairs):
            raise ArgumentError(f"measure '{name}.{text}': pairs were expected, as in {name}.1=3,2=7")
        gains = {
            float(level): leading_number(gain) for level, gain in reversed(pairs) if re.fullmatch(r"[+-]?\d+", level)
        }
        return Arguments((f"{name}_{text}",), (), gains)

    def values(self, ranked: RankedList, arguments: Arguments) -> Sequence[float | str]:
        """The values of one topic, one for each label."""
        if self.takes == "nothing":
            return [self.function(ranked)]
        if self.takes == "numbers":
            return [self.function(ranked, arguments.numbers)]
        if self.takes == "gains":
            gains = gains_of(ranked.grades, arguments.gains), ideal_of(ranked.judged, arguments.gains)
            return [0.0] if self.needs_relevant and not ranked.n_relevant else [self.function(*gains)]
        as_number = int if self.takes == "cutoffs" else float
        return [self.function(ranked, as_number(number)) for number in arguments.numbers]

    def _cutoffs(self, text: str) -> tuple[float, ...]:
        numbers = [leading_number(part) for part in text.split(",")]
        if self.takes == "cutoffs":
            numbers = [float(int(number)) for number in numbers]
            if min(numbers) <= 0:
                raise ArgumentError(f"measure '{self.name}.{text}': cut-offs from 1 were expected")
        return tuple(sorted(set(numbers)))


def leading_number(text: str) -> float:
    """The number with which the text begins, 0 where there is none, as C's atof reads it."""
    match = re.match(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text)
    return float(match[0]) if match else 0.0


def relative_precision(ranked: RankedList, cutoff: int) -> float:
    """Precision at a cut-off, divided by the highest that it can be."""
    return share(ranked.found(cutoff), min(cutoff, ranked.n_relevant))


def relevance_string(ranked: RankedList, numbers: Sequence[float]) -> str:
    """The grades of the first documents, one character each."""
    n = max(int(numbers[0]), 0)
    letters = []
    for grade, pooled in zip(ranked.grades[:n].tolist(), ranked.pooled[:n].tolist(), strict=True):
        letters.append(("." if pooled else "-") if grade != grade else ">" if grade > 9 else str(int(grade)))
    return f"'{''.join(letters)}'"


def cut_ndcg(ranked: RankedList, cutoff: int) -> float:
    """nDCG of grades at a cut-off."""
    gains = gains_of(ranked.grades, {})
    ideal = ideal_of(ranked.judged, {})
    return ranked_list.normalised(gains[:cutoff], ideal[:cutoff])


def count(name: str, function: Callable[[RankedList], float]) -> TrecMeasure:
    """A number that is summed over topics."""
    return TrecMeasure(name, function, summary="sum", whole=True)


_IN_ORDER = (
    TrecMeasure("runid", lambda _: 0.0, summary="none", per_topic=False),
    TrecMeasure("num_q", lambda _: 1.0, summary="none", per_topic=False),
    count("num_ret", lambda ranked: ranked.n_retrieved),
    count("num_rel", lambda ranked: ranked.n_relevant),
    count("num_rel_ret", lambda ranked: ranked.n_relevant_retrieved),
    TrecMeasure("map", ranked_list.average_precision),
    TrecMeasure(
        "gm_map",
        lambda ranked: ranked_list.geometric(ranked_list.average_precision(ranked)),
        summary="geometric",
        per_topic=False,
    ),
    TrecMeasure("Rprec", lambda ranked: share(ranked.found(ranked.n_relevant), ranked.n_relevant)),
    TrecMeasure("bpref", ranked_list.binary_preference),
    TrecMeasure("recip_rank", ranked_list.reciprocal_rank),
    TrecMeasure(
        "iprec_at_recall",
        lambda ranked, level: ranked_list.interpolated_precisions(ranked, [level])[0],
        "levels",
        RECALLS,
    ),
    TrecMeasure("P", lambda ranked, cutoff: ranked.found(cutoff) / cutoff, "cutoffs", CUTOFFS),
    TrecMeasure("relstring", relevance_string, "numbers", (10.0,), summary="none"),
    TrecMeasure("recall", lambda ranked, cutoff: share(ranked.found(cutoff), ranked.n_relevant), "cutoffs", CUTOFFS),
    TrecMeasure("infAP", ranked_list.inferred_ap),
    TrecMeasure(
        "gm_bpref",
        lambda ranked: ranked_list.geometric(ranked_list.binary_preference(ranked)),
        summary="geometric",
        per_topic=False,
    ),
    TrecMeasure("Rprec_mult", ranked_list.precision_at_multiple, "levels", MULTIPLES),
    TrecMeasure("utility", ranked_list.utility, "numbers", (1.0, -1.0, 0.0, 0.0)),
    TrecMeasure("11pt_avg", ranked_list.interpolated_average, "numbers", RECALLS),
    TrecMeasure("binG", ranked_list.binary_gain),
    TrecMeasure("G", ranked_list.normalised_gain, "gains"),
    TrecMeasure("ndcg", ranked_list.normalised, "gains"),
    TrecMeasure("ndcg_rel", ranked_list.normalised_by_relevant, "gains"),
    TrecMeasure("Rndcg", ranked_list.normalised_by_level, "gains", needs_relevant=True),
    TrecMeasure("ndcg_cut", cut_ndcg, "cutoffs", CUTOFFS),
    TrecMeasure("map_cut", ranked_list.average_precision, "cutoffs", CUTOFFS),
    TrecMeasure("relative_P", relative_precision, "cutoffs", CUTOFFS),
    TrecMeasure("success", lambda ranked, cutoff: float(ranked.found(cutoff) > 0), "cutoffs", (1.0, 5.0, 10.0)),
    TrecMeasure("set_P", lambda ranked: share(ranked.n_relevant_retrieved, ranked.n_retrieved)),
    TrecMeasure("set_relative_P", lambda ranked: relative_precision(ranked, ranked.n_retrieved)),
    TrecMeasure("set_recall", lambda ranked: share(ranked.n_relevant_retrieved, ranked.n_relevant)),
    TrecMeasure(
        "set_map", lambda ranked: share(ranked.n_relevant_retrieved**2, ranked.n_retrieved * ranked.n_relevant)
    ),
    TrecMeasure("set_F", lambda ranked, numbers: ranked_list.set_f(ranked, numbers[0]), "numbers", (1.0,)),
    count("num_nonrel_judged_ret", lambda ranked: int(ranked.is_judged.sum()) - ranked.n_relevant_retrieved),
)
MEASURES: dict[str, TrecMeasure] = {measure.name: measure for measure in _IN_ORDER}
GROUPS: dict[str, list[str]] = {"official": list(MEASURES)[:12], "all_trec": list(MEASURES)}
"""Names that stand for several measures."""


# ---------------------------------------------------------------------- as text


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
            values = measure.values(ranked, arguments)
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
