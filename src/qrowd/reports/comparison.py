"""Systems against systems as a document: which may be the best, and do the assessors agree on that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.baseline import Correction
from qrowd.comparison.correlation import means_of_others
from qrowd.comparison.differences import Difference
from qrowd.comparison.head_to_head import PANEL, HeadToHead, head_to_head
from qrowd.comparison.rank_intervals import RankIntervals
from qrowd.comparison.rankings import KINDS, Correlations, correlations
from qrowd.comparison.signs import SignAgreement, sign_agreement
from qrowd.comparison.signs import Ties as SignTies
from qrowd.comparison.system_ranking import rank_systems
from qrowd.comparison.top_set import TopSet, TopSetOverlap, Zeros, top_set, top_set_overlap
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.evaluation import bounds_of
from qrowd.model.chance import Seed
from qrowd.model.labels import closest, number_of
from qrowd.model.scores import Floats, Scores, known_mean
from qrowd.reports import certainty
from qrowd.reports.advice import advice
from qrowd.reports.best_set import listed, may_be_best, ranks_note, ranks_of
from qrowd.reports.document import Document, Table
from qrowd.reports.evaluation import ASSESSORS_SHOWN
from qrowd.reports.notes import notes
from qrowd.reports.phrases import number, probability, span

if TYPE_CHECKING:
    import pandas
    import xarray

TOP_SET = "Wilcoxon top set"


@dataclass(frozen=True)
class Choices:
    """What changes the answer of a comparison.

    alpha : systems with p below it are significantly different; intervals hold with probability 1 - alpha.
    zeros, correction : of `top_set`. sign_ties : of `sign_agreement`. replicates, seed : of the test of all pairs of
        systems, and of the bootstrap of a difference.
    """

    alpha: float = 0.05
    zeros: Zeros = "wilcox"
    correction: Correction = "none"
    sign_ties: SignTies = "ignore"
    replicates: int = 10_000
    seed: Seed = 1

    def __post_init__(self) -> None:
        for name, kind in (("zeros", Zeros), ("correction", Correction), ("sign_ties", SignTies)):
            if getattr(self, name) not in get_args(kind):
                raise ArgumentError(f"{name}={getattr(self, name)!r}: choose from {', '.join(get_args(kind))}")
        if not 0 < self.alpha < 1:
            raise ArgumentError(f"alpha={self.alpha!r}: a level between 0 and 1 was expected")
        if self.replicates < 1:
            raise ArgumentError(f"replicates={self.replicates}: 1 or more were expected")


@dataclass(frozen=True, eq=False)
class MeasureComparison:
    """One measure. Everyone is compared with the reference where there is one, else with the panel.

    ranks : of all systems together, by the reference or the panel: which may be the best, and the adjusted p of each
        pair; None for fewer than two topics.
    correlations, signs : of every assessor with the reference, or with the panel without that assessor.
    top : Wilcoxon top set of the reference or the panel. tops, overlaps : of every assessor, and with that one; None
        for an assessor to whom all systems are equal or who has no score.
    first_for : (systems,) assessors, the reference left out, who have the system first, alone or tied. n_ranking :
        those who have a ranking.
    certainty : of the pair's difference, the recommended interval first.
    """

    measure: str
    correlations: Correlations
    signs: tuple[SignAgreement | None, ...]
    top: TopSet
    tops: tuple[TopSet | None, ...]
    overlaps: tuple[TopSetOverlap | None, ...]
    first_for: NDArray[np.int64]
    n_ranking: int
    pair: HeadToHead | None
    certainty: tuple[Difference, ...]
    ranks: RankIntervals | None

    def system_rows(self) -> list[dict[str, Any]]:
        """One row per system, best mean first; p against the first of them."""
        top, ranks = self.top, self.ranks
        others = [t for t in self.judging() if t is not None]
        order = np.argsort(-top.mean, kind="stable")
        p = ranks.against(top.systems[order[0]]).p if ranks else np.full(order.size, np.nan)
        return [
            {
                "system": top.systems[s],
                "mean": float(top.mean[s]),
                "rank_low": int(ranks.rank_low[s]) if ranks else 0,
                "rank_high": int(ranks.rank_high[s]) if ranks else 0,
                "p": float(p[s]),
                "may_be_best": ranks is not None and bool(ranks.rank_low[s] == 1),
                "first_for": int(self.first_for[s]),
                "top_set": bool(top.member[s]),
                "top_set_for": sum(top.systems[s] in other.members for other in others),
            }
            for s in order
        ]

    def judging(self) -> list[TopSet | None]:
        """The top sets of all assessors but the reference."""
        reference = self.correlations.reference
        return [t for name, t in zip(self.correlations.assessors, self.tops, strict=True) if name != reference]

    def assessor_rows(self) -> list[dict[str, Any]]:
        """One row per assessor, the reference left out."""
        rows = []
        parts = zip(self.correlations.assessors, self.signs, self.tops, self.overlaps, strict=True)
        for a, (name, sign, top, overlap) in enumerate(parts):
            if name == self.correlations.reference:
                continue
            row: dict[str, Any] = {"assessor": name}
            row |= {kind: float(getattr(self.correlations, kind)[a]) for kind in KINDS}
            row["same_sign"] = sign.value if sign else np.nan
            row["best"] = top.best if top else ""
            row["top_set"] = len(top.members) if top else 0
            row["jaccard"] = overlap.jaccard if overlap else np.nan
            row["n_topics"], row["n_systems"] = (
                int(getattr(self.correlations, n)[a]) for n in ("n_topics", "n_systems")
            )
            rows.append(row)
        return rows

    def pair_rows(self) -> list[dict[str, Any]]:
        """One row for the panel and one per assessor; none without a pair. The panel's p is that of its interval."""
        pair = self.pair
        if pair is None:
            return []
        names = ("difference", "wins", "ties", "losses", "p")
        columns = [getattr(pair, name).tolist() for name in names]
        rows = [
            {"assessor": who, **dict(zip(names, values, strict=True))}
            for who, *values in zip((PANEL, *pair.assessors), *columns, strict=True)
        ]
        if self.certainty:
            rows[0]["p"] = self.certainty[0].p
        return rows


@dataclass(frozen=True, eq=False)
class Comparison:
    """The answer to `qrowd compare` as plain data."""

    sentence: str
    measures: tuple[MeasureComparison, ...]
    choices: Choices
    notes: tuple[str, ...]
    conventions: dict[str, Any]


def compare_systems(
    scores: xarray.DataArray | Scores,
    *,
    reference: str | None = None,
    pair: tuple[str, str] | None = None,
    choices: Choices = Choices(),
) -> Comparison:
    """Compare all systems, for the panel and for every assessor.

    reference : an assessor all others are held against; None: the panel, without the assessor where these two are held
        against each other.
    pair : two systems to look at by themselves.
    """
    plain = scores if isinstance(scores, Scores) else Scores.from_xarray(scores)
    for name in (reference,) if reference is not None else ():
        number_of(name, plain.assessors, "assessor")
    for name in pair or ():
        if name not in plain.systems:
            raise ArgumentError(f"system {name!r} is not among the systems; {closest(name, plain.systems, 'system')}")
    if len(plain.systems) < 2:
        raise ArgumentError(f"runs: {plain.systems[0]} is the only system; comparing needs 2")
    parts = tuple(_of_measure(plain, name, reference, pair, choices) for name in plain.measures)
    told = (*_notes(parts, choices), *notes(plain))
    return Comparison(_sentence(parts[0], choices), parts, choices, told, plain.attributes.get("conventions", {}))


def comparison_document(comparison: Comparison) -> Document:
    """The comparison's tables, and all numbers in full: .csv and .parquet hold one row per measure and assessor."""
    tables = [table for part in comparison.measures for table in _tables(part, comparison.choices)]

    def frame() -> pandas.DataFrame:
        import pandas as pd

        return pd.DataFrame([{"measure": p.measure, **row} for p in comparison.measures for row in p.assessor_rows()])

    def content() -> dict[str, Any]:
        return {
            "choices": vars(comparison.choices),
            "conventions": comparison.conventions,
            "systems": {p.measure: p.system_rows() for p in comparison.measures},
            "may_be_best": {p.measure: p.ranks.may_be_best if p.ranks else None for p in comparison.measures},
            "assessors": {p.measure: p.assessor_rows() for p in comparison.measures},
            "pair": {p.measure: p.pair_rows() for p in comparison.measures if p.pair},
            "certainty": {p.measure: [vars(one) for one in p.certainty] for p in comparison.measures if p.pair},
        }

    return Document(comparison.sentence, tuple(tables), comparison.notes, frame, content)


# ---------------------------------------------------------------------- computing


def _of_measure(
    plain: Scores, name: str, reference: str | None, pair: tuple[str, str] | None, choices: Choices
) -> MeasureComparison:
    array, assessors = plain.of(name), plain.assessors
    gold = None if reference is None else assessors.index(reference)

    def everyone(rows: list[int]) -> Scores:
        return plain.sel(measure=name, assessor=[assessors[a] for a in rows])

    def top_of(scores: Floats) -> TopSet:
        options = {"confidence": 1 - choices.alpha, "zeros": choices.zeros, "correction": choices.correction}
        return top_set(Scores.from_array(scores, topics=plain.topics, systems=plain.systems), **options)  # type: ignore[arg-type]

    try:
        top = top_of(known_mean(array, axis=0) if gold is None else array[gold])
    except NoOverlapError:
        who = "no assessor has a score" if reference is None else f"{reference} has no score"
        raise NoOverlapError(f"{name}: {who}, so no system is the best; min_coverage may leave all out") from None
    places = rank_systems(array)
    tops = tuple(top_of(array[a]) if places.has_ranking[a] else None for a in range(len(assessors)))
    judging = [a for a in range(len(assessors)) if a != gold]
    others = [a for a in range(len(assessors)) if a != gold] or list(range(len(assessors)))
    options = {"confidence": 1 - choices.alpha, "replicates": choices.replicates, "seed": choices.seed}
    bounds = bounds_of(name)
    return MeasureComparison(
        name,
        correlations(everyone(list(range(len(assessors)))), gold),
        tuple(_signs(array, gold, choices.sign_ties)),
        top,
        tops,
        tuple(None if one is None else top_set_overlap(top, one) for one in tops),
        np.asarray((places.rank_by_assessor[judging] == 1).sum(axis=0)),
        int(places.has_ranking[judging].sum()),
        None if pair is None else head_to_head(everyone(others), *pair, zeros=choices.zeros),
        () if pair is None else certainty.intervals(everyone(others), *pair, bounds=bounds, **options),  # type: ignore[arg-type]
        ranks_of(everyone(others if gold is None else [gold]), **options),  # type: ignore[arg-type]
    )


def _signs(array: Floats, gold: int | None, ties: SignTies) -> Iterator[SignAgreement | None]:
    """Of each assessor with the reference or with the panel without the assessor; None where there is no other."""
    others = means_of_others(array) if gold is None else repeat(array[gold], array.shape[0])
    for a, other in enumerate(others):
        yield None if a == gold or array.shape[0] == 1 else sign_agreement(array[a], other, ties=ties)


# ---------------------------------------------------------------------- in words


def _sentence(part: MeasureComparison, choices: Choices) -> str:
    """Of a pair, who is ahead; who has the highest mean, who may be the best, and for how many assessors it is so."""
    top, whom = part.top, f" for {part.correlations.reference}" if part.correlations.reference else ""
    told = [f"By {part.measure}{whom}, {top.best} has the highest mean"]
    if part.ranks is not None:
        told.append(may_be_best(part.ranks))
    if len(part.judging()) > 1 or whom:
        first = int(part.first_for[top.systems.index(top.best)])
        many = "the other assessor" if len(part.judging()) == 1 else f"{part.n_ranking} assessors"
        told.append(f"{top.best} has the highest mean for {first} of {many}")
    if part.pair is not None:  # what was asked for comes first
        by = f"By {part.measure}, "
        told = [by + _duel(part.pair, part.certainty), told[0].removeprefix(by), *told[1:]]
    return "; ".join(told) + "."


def _duel(pair: HeadToHead, sure: tuple[Difference, ...]) -> str:
    """Who of the two is ahead for the panel, how surely, and who sees it the other way."""
    lead = float(pair.difference[0])
    if np.isnan(lead):
        return f"{pair.first} and {pair.second} share no topic with a score"
    (ahead, behind), names = (pair.ahead, pair.behind), (pair.first, pair.second)
    if lead < 0:
        (ahead, behind), names = (behind, ahead), names[::-1]
    against = f", not for {listed(behind)}" if behind else ""
    n = int((~np.isnan(pair.difference[1:])).sum())
    if pair.wins[0] == pair.losses[0] == 0:
        tied = f"{names[0]} and {names[1]} are equal for the panel"
        return f"{tied}; {names[0]} is ahead for {len(ahead)}, {names[1]} for {len(behind)} of {n} assessors"
    told = f"for {len(ahead)} of {n} assessors{against}" if n > 1 else "for the only assessor"
    if not sure:
        return f"{names[0]} is ahead of {names[1]} by {abs(lead):.4f}, {told}"
    more = advice(sure[0])
    return f"{sure[0].sentence()}; {told}" + (f"; {more}" if more else "")


def _notes(parts: tuple[MeasureComparison, ...], choices: Choices) -> Iterator[str]:
    if parts[0].ranks is not None:
        yield ranks_note(parts[0].ranks)
    level = f"{choices.alpha:g}".removeprefix("0")
    corrected = (
        "Holm's correction for the number of systems, not for choosing the highest mean"
        if choices.correction == "holm"
        else "uncorrected: of 20 equal systems on 54 topics it wrongly left one out in 9 of 10 simulations"
    )
    yield (
        f"{TOP_SET}: the highest mean and all systems with p >= {level} against it, paired signed-rank test over "
        f"topics, zeros={choices.zeros}, {corrected} (Maddalena et al. 2017)"
    )
    reference = parts[0].correlations.reference
    other = reference or "the panel without the assessor"
    yield f"alike: each assessor with {other}, over the topics where both have a score"
    yield "AP correlation: down the assessor's list, by the order of the other; tied systems in expectation"
    yield f"same sign: of all differences of two systems on a topic; sign_ties={choices.sign_ties}"
    yield from certainty.certainty_notes(parts[0].certainty)
    if parts[0].pair is not None:
        without = f" without {reference}" if reference else ""
        tested = "the panel's p is that of its interval, an assessor's that of Wilcoxon over topics"
        if not parts[0].certainty:
            tested = "p by Wilcoxon over topics"
        yield f"pair: the panel is the mean over assessors{without}, topic by topic; {tested}"


# ---------------------------------------------------------------------- tables


def _tables(part: MeasureComparison, choices: Choices) -> list[Table]:
    tables = [_system_table(part)]
    if len(part.correlations.assessors) > 1:
        tables.append(_assessor_table(part))
    if part.pair is not None:
        header = ["assessor", "difference", "w/t/l", "p"]
        rows = [
            [
                row["assessor"],
                _signed(row["difference"]),
                f"{row['wins']}/{row['ties']}/{row['losses']}",
                probability(row["p"]),
            ]
            for row in _shown(part.pair_rows())
        ]
        title = f"{part.measure}: {part.pair.first} minus {part.pair.second}"
        if part.certainty:
            tables.append(certainty.certainty_table(f"{title}, how surely", part.certainty))
        tables.append(Table(title, header, rows))
    return tables


def _system_table(part: MeasureComparison) -> Table:
    n = sum(top is not None for top in part.judging())
    against = f"p against {part.top.best}" if part.ranks else "p"
    header = ["system", "mean", "ranks", against, "may be the best", f"first for, of {part.n_ranking}"]
    header += [TOP_SET, f"in top sets, of {n}"]
    rows = [
        [
            row["system"],
            number(row["mean"]),
            span(row["rank_low"], row["rank_high"]) if row["rank_low"] else "-",
            probability(row["p"]),
            "yes" if row["may_be_best"] else "",
            str(row["first_for"]),
            "yes" if row["top_set"] else "",
            str(row["top_set_for"]),
        ]
        for row in part.system_rows()
    ]
    return Table(f"{part.measure}: systems, by {part.correlations.reference or 'the panel'}", header, rows)


def _assessor_table(part: MeasureComparison) -> Table:
    """All assessors; of a crowd those whose rankings are least alike."""
    other = part.correlations.reference or "the panel without the assessor"
    title = f"{part.measure}: how alike the assessors rank systems to {other}"
    rows = part.assessor_rows()
    if len(rows) > ASSESSORS_SHOWN:
        title += f" (the {ASSESSORS_SHOWN} lowest of {len(rows)})"
        rows = sorted(rows, key=lambda row: (np.isnan(row["tau_b"]), row["tau_b"]))[:ASSESSORS_SHOWN]
    header = ["assessor", "tau-b", "tau-a", "AP corr.", "Pearson", "RMSE", "same sign"]
    header += ["best", TOP_SET, "Jaccard"]
    cells = [
        [
            row["assessor"],
            *(number(row[kind], 3) for kind in KINDS),
            number(row["same_sign"], 3),
            row["best"] or "-",
            str(row["top_set"] or "-"),
            number(row["jaccard"], 2),
        ]
        for row in rows
    ]
    return Table(title, header, cells)


def _shown(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The panel's row and, of a crowd, the assessors at both ends."""
    panel, assessors = rows[0], sorted(rows[1:], key=lambda row: (np.isnan(row["difference"]), -row["difference"]))
    if len(assessors) > ASSESSORS_SHOWN:
        assessors = assessors[: ASSESSORS_SHOWN // 2] + assessors[-ASSESSORS_SHOWN // 2 :]
    return [panel, *assessors]


def _signed(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:+.4f}"
