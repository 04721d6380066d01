"""The measures of trec_eval 10.0 in the order in which it prints them, and its groups of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from qrowd.errors import ArgumentError
from qrowd.kernels import preference_groups, ranked_list
from qrowd.kernels.arrays import Floats
from qrowd.kernels.preference_groups import JudgmentGroup
from qrowd.kernels.ranked_list import RankedList, gains_of, gains_to_one, programs_ideal_of

Topic = Sequence[RankedList] | Sequence[JudgmentGroup]
"""What measures read of one topic: the list as each assessor judged it, or the judgment groups."""

Takes = Literal["nothing", "cutoffs", "levels", "numbers", "gains"]
CUTOFFS = (5.0, 10.0, 15.0, 20.0, 30.0, 100.0, 200.0, 500.0, 1000.0)
RECALLS = tuple(i / 10 for i in range(11))
MULTIPLES = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)


@dataclass(frozen=True)
class Arguments:
    """What a measure was asked for.

    labels : names of its lines. numbers : cut-offs, levels or other parameters. gains : of grades.
    named : parameters with a name that is no grade. n_collection : documents in the collection.
    """

    labels: tuple[str, ...]
    numbers: tuple[float, ...]
    gains: Mapping[float, float]
    named: Mapping[str, float]
    n_collection: int


@dataclass(frozen=True)
class TrecMeasure:
    """One of trec_eval's measures.

    function : the values of one topic, one for each label.
    takes : what its parameters are; default : those without a parameter.
    reads : the format of judgments it needs; "" any.
    summary : how topics become one number. per_topic : whether topics have a line. whole : printed without digits.
    """

    name: str
    function: Callable[[Any, Arguments], Sequence[float | str]]
    takes: Takes = "nothing"
    default: tuple[float, ...] = ()
    reads: Literal["", "qrels", "qrels_jg", "prefs"] = "qrels"
    summary: Literal["mean", "sum", "geometric", "none"] = "mean"
    per_topic: bool = True
    whole: bool = False

    def of(self, topic: Topic, arguments: Arguments) -> Sequence[float | str]:
        """The values of one topic."""
        return self.function(topic[0] if self.reads == "qrels" else topic, arguments)

    def arguments(self, text: str | None, n_collection: int) -> Arguments:
        """The parameters that stand after the dot.

        Raises
        ------
        ArgumentError
            Parameters that the measure cannot take.
        """
        if self.takes in ("cutoffs", "levels"):
            numbers = self.default if text is None else self._cutoffs(text)
            style = "{:.0f}" if self.takes == "cutoffs" else "{:4.2f}"
            labels = tuple(f"{self.name}_{style.format(number)}" for number in numbers)
            return Arguments(labels, numbers, {}, {}, n_collection)
        if text is None or self.takes == "nothing":
            return Arguments((self.name,), self.default, {}, {}, n_collection)
        if self.takes == "numbers":
            numbers = tuple(leading_number(part) for part in text.split(","))
            if self.name == "utility" and len(numbers) != 4:
                raise ArgumentError(f"measure 'utility.{text}': four numbers were expected, as in utility.1,-1,0,0")
            return Arguments((f"{self.name}_{text}",), numbers, {}, {}, n_collection)
        pairs = [part.split("=") for part in text.split(",")]
        if any(len(pair) != 2 for pair in pairs):
            raise ArgumentError(f"measure '{self.name}.{text}': pairs were expected, as in {self.name}.1=3,2=7")
        gains = {
            float(level): leading_number(gain) for level, gain in reversed(pairs) if re.fullmatch(r"[+-]?\d+", level)
        }
        named = {key: leading_number(value) for key, value in pairs}
        return Arguments((f"{self.name}_{text}",), (), gains, named, n_collection)

    def _cutoffs(self, text: str) -> tuple[float, ...]:
        numbers = [leading_number(part) for part in text.split(",")]
        if self.takes == "cutoffs":
            numbers = [float(int(number)) for number in numbers]
            if min(numbers) <= 0:
                raise ArgumentError(f"measure '{self.name}.{text}': cut-offs from 1 were expected")
        if len(set(numbers)) < len(numbers):
            raise ArgumentError(f"measure '{self.name}.{text}': a cut-off stands there twice")
        return tuple(sorted(numbers))


def leading_number(text: str) -> float:
    """The number with which the text begins, 0 where there is none, as C's atof reads it."""
    match = re.match(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text)
    return float(match[0]) if match else 0.0


# ---------------------------------------------------------------------- how values are made


def one(function: Callable[[Any], float]) -> Callable[[Any, Arguments], Sequence[float]]:
    """A value without parameters."""
    return lambda topic, _: [function(topic)]


def at_cutoffs(function: Callable[[RankedList, int], float]) -> Callable[[RankedList, Arguments], Sequence[float]]:
    """A value for each cut-off."""
    return lambda ranked, arguments: [function(ranked, int(cutoff)) for cutoff in arguments.numbers]


def of_gains(function: Callable[[Floats, Floats], float]) -> Callable[[RankedList, Arguments], Sequence[float]]:
    """A value of the gains at each rank and the ideal ones."""

    def values(ranked: RankedList, arguments: Arguments) -> Sequence[float]:
        gains = arguments.gains
        return [function(gains_of(ranked.grades, gains), programs_ideal_of(ranked.judged, gains))]

    return values


def mean_of_groups(
    function: Callable[[RankedList, Arguments], Sequence[float]],
) -> Callable[[Sequence[RankedList], Arguments], Sequence[float]]:
    """The mean over judgment groups."""

    def values(groups: Sequence[RankedList], arguments: Arguments) -> Sequence[float]:
        by_group = np.array([function(group, arguments) for group in groups])
        return (np.cumsum(by_group, axis=0)[-1] / len(groups)).tolist()  # type: ignore[no-any-return]

    return values


def r_levels(ranked: RankedList, arguments: Arguments) -> Sequence[float]:
    """Precision at each multiple of the number of relevant documents."""
    return [ranked_list.precision_at_multiple(ranked, multiple) for multiple in arguments.numbers]


def relevance_string(ranked: RankedList, arguments: Arguments) -> Sequence[str]:
    """The grades of the first documents, one character each."""
    n = max(int(arguments.numbers[0]), 0)
    letters = []
    for grade, pooled in zip(ranked.grades[:n].tolist(), ranked.pooled[:n].tolist(), strict=True):
        letters.append(("." if pooled else "-") if grade != grade else ">" if grade > 9 else str(int(grade)))
    return [f"'{''.join(letters)}'"]


def by_level(ranked: RankedList, arguments: Arguments) -> Sequence[float]:
    """Rndcg, which is 0 without relevant documents."""
    if not ranked.n_relevant:
        return [0.0]
    return of_gains(ranked_list.normalised_by_level)(ranked, arguments)


def cut_ndcg(ranked: RankedList, cutoff: int) -> float:
    """nDCG of grades at a cut-off."""
    gains, ideal = gains_of(ranked.grades, {}), programs_ideal_of(ranked.judged, {})
    return ranked_list.normalised(gains[:cutoff], ideal[:cutoff])


def rbp(ranked: RankedList, arguments: Arguments) -> Sequence[float]:
    """Rank-biased precision of gains between 0 and 1."""
    gains = gains_to_one(ranked.grades, ranked.judged, arguments.gains)
    return [ranked_list.rank_biased_precision(gains, arguments.named.get("p", 0.9))]


def geometric(function: Callable[[RankedList], float]) -> Callable[[RankedList, Arguments], Sequence[float]]:
    """The logarithm of a value, of which the geometric mean is made."""
    return one(lambda ranked: ranked_list.geometric(function(ranked)))


def preferences(name: str, function: Callable[..., float], **options: Any) -> TrecMeasure:
    """A measure of preferences."""
    number = name.startswith("prefs_num")
    summary: Literal["sum", "mean"] = "sum" if number else "mean"
    return TrecMeasure(name, one(partial(function, **options)), reads="prefs", summary=summary, whole=number)


def count(name: str, function: Callable[[RankedList], float]) -> TrecMeasure:
    """A number that is summed over topics."""
    return TrecMeasure(name, one(function), summary="sum", whole=True)


MEASURES: dict[str, TrecMeasure] = {
    measure.name: measure
    for measure in (
        TrecMeasure("runid", one(lambda _: 0.0), reads="", summary="none", per_topic=False),
        TrecMeasure("num_q", one(lambda _: 1.0), reads="", summary="none", per_topic=False),
        count("num_ret", lambda ranked: ranked.n_retrieved),
        count("num_rel", lambda ranked: ranked.n_relevant),
        count("num_rel_ret", lambda ranked: ranked.n_relevant_retrieved),
        TrecMeasure("map", one(ranked_list.average_precision)),
        TrecMeasure("gm_map", geometric(ranked_list.average_precision), summary="geometric", per_topic=False),
        TrecMeasure("Rprec", one(ranked_list.r_precision)),
        TrecMeasure("bpref", one(ranked_list.binary_preference)),
        TrecMeasure("recip_rank", one(ranked_list.reciprocal_rank)),
        TrecMeasure(
            "iprec_at_recall",
            lambda ranked, arguments: ranked_list.interpolated_precisions(ranked, arguments.numbers),
            "levels",
            RECALLS,
        ),
        TrecMeasure("P", at_cutoffs(ranked_list.precision_at), "cutoffs", CUTOFFS),
        TrecMeasure("relstring", relevance_string, "numbers", (10.0,), summary="none"),
        TrecMeasure("recall", at_cutoffs(ranked_list.recall_at), "cutoffs", CUTOFFS),
        TrecMeasure("infAP", one(ranked_list.inferred_ap)),
        TrecMeasure("gm_bpref", geometric(ranked_list.binary_preference), summary="geometric", per_topic=False),
        TrecMeasure("Rprec_mult", r_levels, "levels", MULTIPLES),
        TrecMeasure(
            "utility",
            lambda ranked, arguments: [ranked_list.utility(ranked, arguments.numbers, arguments.n_collection)],
            "numbers",
            (1.0, -1.0, 0.0, 0.0),
        ),
        TrecMeasure(
            "11pt_avg",
            lambda ranked, arguments: [ranked_list.interpolated_average(ranked, arguments.numbers)],
            "numbers",
            RECALLS,
        ),
        TrecMeasure("binG", one(ranked_list.binary_gain)),
        TrecMeasure("G", of_gains(ranked_list.normalised_gain), "gains"),
        TrecMeasure("dcg", of_gains(lambda gains, ideal: float(ranked_list.discounted(gains)[-1])), "gains"),
        TrecMeasure("ideal_dcg", of_gains(lambda gains, ideal: float(ranked_list.discounted(ideal)[-1])), "gains"),
        TrecMeasure("ndcg", of_gains(ranked_list.normalised), "gains"),
        TrecMeasure("ndcg_rel", of_gains(ranked_list.normalised_by_relevant), "gains"),
        TrecMeasure("Rndcg", by_level, "gains"),
        TrecMeasure("ndcg_cut", at_cutoffs(cut_ndcg), "cutoffs", CUTOFFS),
        TrecMeasure("map_cut", at_cutoffs(ranked_list.average_precision), "cutoffs", CUTOFFS),
        TrecMeasure("relative_P", at_cutoffs(ranked_list.relative_precision_at), "cutoffs", CUTOFFS),
        TrecMeasure("success", at_cutoffs(ranked_list.success_at), "cutoffs", (1.0, 5.0, 10.0)),
        TrecMeasure("set_P", one(ranked_list.set_p)),
        TrecMeasure("set_relative_P", one(ranked_list.set_relative_p)),
        TrecMeasure("set_recall", one(ranked_list.set_recall)),
        TrecMeasure("set_map", one(ranked_list.set_map)),
        TrecMeasure(
            "set_F",
            lambda ranked, arguments: [ranked_list.set_f(ranked, arguments.numbers[0])],
            "numbers",
            (1.0,),
        ),
        count("num_nonrel_judged_ret", ranked_list.num_nonrel_judged_ret),
        preferences("prefs_num_prefs_poss", preference_groups.num_prefs_poss),
        preferences("prefs_num_prefs_ful", preference_groups.num_prefs_ful),
        preferences("prefs_num_prefs_ful_ret", preference_groups.num_prefs_ful, pairs="ret"),
        preferences("prefs_simp", preference_groups.simple),
        preferences("prefs_pair", preference_groups.by_pair),
        preferences("prefs_avgjg", preference_groups.average_of_groups),
        preferences("prefs_avgjg_Rnonrel", preference_groups.average_with_as_many_bad),
        preferences("prefs_simp_ret", preference_groups.simple, pairs="ret"),
        preferences("prefs_pair_ret", preference_groups.by_pair, pairs="ret"),
        preferences("prefs_avgjg_ret", preference_groups.average_of_groups, pairs="ret"),
        preferences("prefs_avgjg_Rnonrel_ret", preference_groups.average_with_as_many_bad, retrieved=True),
        preferences("prefs_simp_imp", preference_groups.simple, pairs="imp"),
        preferences("prefs_pair_imp", preference_groups.by_pair, pairs="imp"),
        preferences("prefs_avgjg_imp", preference_groups.average_of_groups, pairs="imp"),
        TrecMeasure("map_avgjg", mean_of_groups(one(ranked_list.average_precision)), reads="qrels_jg"),
        TrecMeasure(
            "P_avgjg", mean_of_groups(at_cutoffs(ranked_list.precision_at)), "cutoffs", CUTOFFS, reads="qrels_jg"
        ),
        TrecMeasure("Rprec_mult_avgjg", mean_of_groups(r_levels), "levels", MULTIPLES, reads="qrels_jg"),
        TrecMeasure("yaap", one(ranked_list.yaap)),
        TrecMeasure("rbp", rbp, "gains"),
        TrecMeasure(
            "rbp_resid",
            lambda ranked, arguments: [ranked_list.rank_biased_residual(ranked, arguments.named.get("p", 0.9))],
            "gains",
        ),
        TrecMeasure("unj", at_cutoffs(ranked_list.unjudged_at), "cutoffs", (5.0, 10.0, 20.0)),
    )
}


_SIZES = "runid num_q num_ret num_rel num_rel_ret"
_OFFICIAL = f"{_SIZES} map gm_map Rprec bpref recip_rank iprec_at_recall P"
_SETS = "set_P set_recall set_relative_P set_map set_F"
_PREFERENCES = "runid num_q prefs_num_prefs_poss prefs_num_prefs_ful prefs_num_prefs_ful_ret"
GROUPS: dict[str, list[str]] = {
    "official": str.split(_OFFICIAL),
    "set": str.split(f"{_SIZES} utility {_SETS}"),
    "all_trec": str.split(
        f"{_OFFICIAL} relstring recall unj rbp rbp_resid infAP gm_bpref utility 11pt_avg ndcg relative_P Rprec_mult "
        f"success map_cut ndcg_cut ndcg_rel Rndcg binG G {_SETS} num_nonrel_judged_ret"
    ),
    "all_prefs": [*str.split("runid num_q"), *(name for name in MEASURES if name.startswith("prefs_"))],
    "prefs": str.split(f"{_PREFERENCES} prefs_simp prefs_pair prefs_avgjg"),
    "qrels_jg": str.split("runid num_q map_avgjg P_avgjg Rprec_mult_avgjg"),
}
"""Names that stand for several measures."""
