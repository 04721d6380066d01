"""The measures of trec_eval 9.0.4 in the order in which it prints them, and its groups of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from qrowd.errors import ArgumentError
from qrowd.kernels import ranked_list
from qrowd.kernels.arrays import Floats
from qrowd.kernels.ranked_list import RankedList, gains_of, ideal_of, share

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


Values = Callable[[RankedList, Arguments], Sequence[float | str]]


@dataclass(frozen=True)
class TrecMeasure:
    """One of trec_eval's measures.

    function : the values of one topic, one for each label.
    takes : what its parameters are; default : those without a parameter.
    summary : how topics become one number. per_topic : whether topics have a line. whole : printed without digits.
    """

    name: str
    function: Values
    takes: Literal["nothing", "cutoffs", "levels", "numbers", "gains"] = "nothing"
    default: tuple[float, ...] = ()
    summary: Literal["mean", "sum", "geometric", "none"] = "mean"
    per_topic: bool = True
    whole: bool = False

    def arguments(self, text: str | None) -> Arguments:
        """The parameters that stand after the dot.

        Raises
        ------
        ArgumentError
            Parameters that the measure cannot take.
        """
        if self.takes in ("cutoffs", "levels"):
            numbers = self.default if text is None else self._cutoffs(text)
            style = "{:.0f}" if self.takes == "cutoffs" else "{:4.2f}"
            return Arguments(tuple(f"{self.name}_{style.format(number)}" for number in numbers), numbers, {})
        if text is None or self.takes == "nothing":
            return Arguments((self.name,), self.default, {})
        if self.takes == "numbers":
            numbers = tuple(leading_number(part) for part in text.split(","))
            if self.name == "utility" and len(numbers) != 4:
                raise ArgumentError(f"measure 'utility.{text}': four numbers were expected, as in utility.1,-1,0,0")
            return Arguments((f"{self.name}_{text}",), numbers, {})
        pairs = [part.split("=") for part in text.split(",")]
        if any(len(pair) != 2 for pair in pairs):
            raise ArgumentError(f"measure '{self.name}.{text}': pairs were expected, as in {self.name}.1=3,2=7")
        gains = {
            float(level): leading_number(gain) for level, gain in reversed(pairs) if re.fullmatch(r"[+-]?\d+", level)
        }
        return Arguments((f"{self.name}_{text}",), (), gains)

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


def plain(function: Callable[[RankedList], float]) -> Values:
    """A value without parameters."""
    return lambda ranked, _: [function(ranked)]


def at_cutoffs(function: Callable[[RankedList, int], float]) -> Values:
    """A value for each cut-off."""
    return lambda ranked, arguments: [function(ranked, int(cutoff)) for cutoff in arguments.numbers]


def of_gains(function: Callable[[Floats, Floats], float]) -> Values:
    """A value of the gains at each rank and the ideal ones."""

    def values(ranked: RankedList, arguments: Arguments) -> Sequence[float]:
        return [function(gains_of(ranked.grades, arguments.gains), ideal_of(ranked.judged, arguments.gains))]

    return values


def with_numbers(function: Callable[[RankedList, Sequence[float]], float]) -> Values:
    """One value, which all numbers together decide."""
    return lambda ranked, arguments: [function(ranked, arguments.numbers)]


def relative_precision(ranked: RankedList, cutoff: int) -> float:
    """Precision at a cut-off, divided by the highest that it can be."""
    return share(ranked.found(cutoff), min(cutoff, ranked.n_relevant))


def r_levels(ranked: RankedList, arguments: Arguments) -> Sequence[float]:
    """Precision at each multiple of the number of relevant documents."""
    return [ranked_list.precision_at_multiple(ranked, multiple) for multiple in arguments.numbers]


def recall_levels(ranked: RankedList, arguments: Arguments) -> Sequence[float]:
    """Interpolated precision at each level of recall."""
    return ranked_list.interpolated_precisions(ranked, arguments.numbers)


def relevance_string(ranked: RankedList, arguments: Arguments) -> Sequence[str]:
    """The grades of the first documents, one character each."""
    n = max(int(arguments.numbers[0]), 0)
    letters = []
    for grade, pooled in zip(ranked.grades[:n].tolist(), ranked.pooled[:n].tolist(), strict=True):
        letters.append(("." if pooled else "-") if grade != grade else ">" if grade > 9 else str(int(grade)))
    return [f"'{''.join(letters)}'"]


def by_level(ranked: RankedList, arguments: Arguments) -> Sequence[float | str]:
    """Rndcg, which is 0 without relevant documents."""
    if not ranked.n_relevant:
        return [0.0]
    return of_gains(ranked_list.normalised_by_level)(ranked, arguments)


def cut_ndcg(ranked: RankedList, cutoff: int) -> float:
    """nDCG of grades at a cut-off."""
    gains, ideal = gains_of(ranked.grades, {}), ideal_of(ranked.judged, {})
    return ranked_list.normalised(gains[:cutoff], ideal[:cutoff])


def count(name: str, function: Callable[[RankedList], float]) -> TrecMeasure:
    """A number that is summed over topics."""
    return TrecMeasure(name, plain(function), summary="sum", whole=True)


_IN_ORDER = (
    TrecMeasure("runid", plain(lambda _: 0.0), summary="none", per_topic=False),
    TrecMeasure("num_q", plain(lambda _: 1.0), summary="none", per_topic=False),
    count("num_ret", lambda ranked: ranked.n_retrieved),
    count("num_rel", lambda ranked: ranked.n_relevant),
    count("num_rel_ret", lambda ranked: ranked.n_relevant_retrieved),
    TrecMeasure("map", plain(ranked_list.average_precision)),
    TrecMeasure(
        "gm_map",
        plain(lambda ranked: ranked_list.geometric(ranked_list.average_precision(ranked))),
        summary="geometric",
        per_topic=False,
    ),
    TrecMeasure("Rprec", plain(lambda ranked: share(ranked.found(ranked.n_relevant), ranked.n_relevant))),
    TrecMeasure("bpref", plain(ranked_list.binary_preference)),
    TrecMeasure("recip_rank", plain(ranked_list.reciprocal_rank)),
    TrecMeasure("iprec_at_recall", recall_levels, "levels", RECALLS),
    TrecMeasure("P", at_cutoffs(lambda ranked, cutoff: ranked.found(cutoff) / cutoff), "cutoffs", CUTOFFS),
    TrecMeasure("relstring", relevance_string, "numbers", (10.0,), summary="none"),
    TrecMeasure(
        "recall", at_cutoffs(lambda ranked, cutoff: share(ranked.found(cutoff), ranked.n_relevant)), "cutoffs", CUTOFFS
    ),
    TrecMeasure("infAP", plain(ranked_list.inferred_ap)),
    TrecMeasure(
        "gm_bpref",
        plain(lambda ranked: ranked_list.geometric(ranked_list.binary_preference(ranked))),
        summary="geometric",
        per_topic=False,
    ),
    TrecMeasure("Rprec_mult", r_levels, "levels", MULTIPLES),
    TrecMeasure("utility", with_numbers(ranked_list.utility), "numbers", (1.0, -1.0, 0.0, 0.0)),
    TrecMeasure("11pt_avg", with_numbers(ranked_list.interpolated_average), "numbers", RECALLS),
    TrecMeasure("binG", plain(ranked_list.binary_gain)),
    TrecMeasure("G", of_gains(ranked_list.normalised_gain), "gains"),
    TrecMeasure("ndcg", of_gains(ranked_list.normalised), "gains"),
    TrecMeasure("ndcg_rel", of_gains(ranked_list.normalised_by_relevant), "gains"),
    TrecMeasure("Rndcg", by_level, "gains"),
    TrecMeasure("ndcg_cut", at_cutoffs(cut_ndcg), "cutoffs", CUTOFFS),
    TrecMeasure("map_cut", at_cutoffs(ranked_list.average_precision), "cutoffs", CUTOFFS),
    TrecMeasure("relative_P", at_cutoffs(relative_precision), "cutoffs", CUTOFFS),
    TrecMeasure(
        "success", at_cutoffs(lambda ranked, cutoff: float(ranked.found(cutoff) > 0)), "cutoffs", (1.0, 5.0, 10.0)
    ),
    TrecMeasure("set_P", plain(lambda ranked: share(ranked.n_relevant_retrieved, ranked.n_retrieved))),
    TrecMeasure("set_relative_P", plain(lambda ranked: relative_precision(ranked, ranked.n_retrieved))),
    TrecMeasure("set_recall", plain(lambda ranked: share(ranked.n_relevant_retrieved, ranked.n_relevant))),
    TrecMeasure(
        "set_map", plain(lambda ranked: share(ranked.n_relevant_retrieved**2, ranked.n_retrieved * ranked.n_relevant))
    ),
    TrecMeasure(
        "set_F", lambda ranked, arguments: [ranked_list.set_f(ranked, arguments.numbers[0])], "numbers", (1.0,)
    ),
    count("num_nonrel_judged_ret", lambda ranked: int(ranked.is_judged.sum()) - ranked.n_relevant_retrieved),
)
MEASURES: dict[str, TrecMeasure] = {measure.name: measure for measure in _IN_ORDER}
GROUPS: dict[str, list[str]] = {"official": list(MEASURES)[:12], "all_trec": list(MEASURES)}
"""Names that stand for several measures."""
