"""The answer of an evaluation as plain data: the sentence, the systems, the assessors, what was assumed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.comparison.baseline import AgainstBaseline, against_baseline
from qrowd.comparison.correlation import leave_one_out
from qrowd.comparison.rank_intervals import RankIntervals
from qrowd.comparison.resampling import Over
from qrowd.comparison.system_ranking import SystemRanking, rank_systems
from qrowd.errors import ArgumentError
from qrowd.model.chance import Seed
from qrowd.model.labels import closest
from qrowd.model.scores import Floats, Scores
from qrowd.reports.best_set import REPLICATES, SEED, may_be_best, ranks_note, ranks_of
from qrowd.reports.notes import is_residual, notes

if TYPE_CHECKING:
    import pandas
    import xarray


@dataclass(frozen=True, eq=False)
class MeasureSummary:
    """One measure: the systems in order of their rank, and each assessor's agreement with the others.

    against : wins, ties and losses against the baseline. ranks : of all systems together, which gives the adjusted p
        against the baseline and says which systems may be the best; None where nobody asked, and where too little is
        shared.
    agreement : (assessors,) tau-b with the panel without the assessor; nan where there is nothing to compare with.
    """

    measure: str
    systems: tuple[str, ...]
    ranking: SystemRanking
    baseline: str | None
    against: AgainstBaseline | None
    ranks: RankIntervals | None
    agreement: Floats

    @property
    def order(self) -> list[int]:
        """System numbers, best first; a system without any score comes last."""
        rank = np.where(self.ranking.rank == 0, len(self.systems) + 1, self.ranking.rank)
        return [int(s) for s in np.argsort(rank, kind="stable")]

    def columns(self) -> dict[str, Any]:
        """The table of systems, best first, as columns."""
        place = self.ranking
        known = np.where(place.rank_by_assessor == 0, np.nan, place.rank_by_assessor)
        columns: dict[str, Any] = {
            "system": self.systems,
            "mean": place.mean.tolist(),
            "standard_error": place.standard_error.tolist(),
            "lowest": np.fmin.reduce(place.by_assessor).tolist(),
            "highest": np.fmax.reduce(place.by_assessor).tolist(),
            "rank": place.rank.tolist(),
            "best_rank": np.fmin.reduce(known).tolist(),
            "worst_rank": np.fmax.reduce(known).tolist(),
        }
        if self.against is not None:
            against, baseline = self.against, self.baseline or ""
            p = self.ranks.against(baseline).p if self.ranks else np.full(len(self.systems), np.nan)
            columns |= {
                "difference": against.difference.tolist(),
                "wins": against.wins.tolist(),
                "ties": against.ties.tolist(),
                "losses": against.losses.tolist(),
                "p": p.tolist(),
            }
        return {name: [column[s] for s in self.order] for name, column in columns.items()}

    def rows(self) -> list[dict[str, Any]]:
        """The same as one dictionary per system."""
        columns = self.columns()
        return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]

    def frame(self) -> pandas.DataFrame:
        """The same as a data frame."""
        import pandas as pd

        return pd.DataFrame(self.columns())


@dataclass(frozen=True, eq=False)
class Summary:
    """What an evaluation says.

    sentence : who leads, and whose places depend on the assessor.
    measures : one summary each, in the order asked for.
    assessors : names, in the order of every assessor axis. noun : what they are: "assessor", or "method" where each
        stands for one way of putting a panel together.
    notes : one line per convention that mattered.
    """

    sentence: str
    measures: tuple[MeasureSummary, ...]
    assessors: tuple[str, ...]
    notes: tuple[str, ...]
    noun: str = "assessor"

    def agreement(self) -> pandas.DataFrame:
        """(assessor x measure) tau-b of each assessor's ranking of the systems with the panel without that assessor."""
        import pandas as pd

        columns = {m.measure: m.agreement for m in self.measures}
        return pd.DataFrame(columns, index=pd.Index(self.assessors, name="assessor"))


def summarise(
    scores: xarray.DataArray | Scores,
    *,
    baseline: str | None = None,
    also: tuple[str, ...] = (),
    replicates: int = REPLICATES,
    seed: Seed = SEED,
) -> Summary:
    """Sum up an evaluation.

    baseline : a system all others are compared with: wins, ties and losses over topics, and p adjusted for all pairs of
        systems.
    also : measures in `scores` that only serve the notes (such as the residual of RBP) and get no table.
    replicates, seed : of the test of all pairs of systems, by the first measure, or by all of them with a baseline.
    """
    plain = scores if isinstance(scores, Scores) else Scores.from_xarray(scores)
    systems = plain.systems
    if baseline is not None and baseline not in systems:
        raise ArgumentError(f"baseline {baseline!r} is not among the systems; {closest(baseline, systems, 'system')}")
    noun = "method" if "approaches" in plain.attributes else "assessor"
    names = [name for name in plain.measures if name not in also]
    first = next((name for name in names if not is_residual(name)), None)
    summaries = []
    for name in names:
        array = plain.of(name)
        against = None if baseline is None else against_baseline(array, systems.index(baseline))
        ranks = None
        if name == first or (baseline is not None and not is_residual(name)):
            # Methods are no sample of methods: topics alone could have been others.
            over: Over = "topics" if noun == "method" else "both"
            ranks = ranks_of(plain.sel(measure=name), replicates=replicates, seed=seed, over=over)
        summaries.append(
            MeasureSummary(name, systems, rank_systems(array), baseline, against, ranks, leave_one_out(array))
        )
    tested = next((summary.ranks for summary in summaries if summary.ranks is not None), None)
    shown = f"{'' if baseline is None else 'p, '}systems that may be the best"
    told = [*([] if tested is None else [ranks_note(tested, shown)]), *notes(plain)]
    return Summary(_sentence(summaries, noun), tuple(summaries), plain.assessors, tuple(told), noun)


def _sentence(summaries: list[MeasureSummary], noun: str) -> str:
    """Who leads by the first measure and who may be the best; who changes places; who leads by the others."""
    ranking = [summary for summary in summaries if not is_residual(summary.measure)]
    if not ranking:
        return "A residual says how uncertain scores are, not which system is better; ask for a measure besides."
    first = ranking[0]
    if np.isnan(first.ranking.mean).all():
        return f"No {noun} has a score, so no system can be said to lead."
    if len(first.systems) == 1:
        return f"{first.systems[0]} is the only system: mean {first.measure} {first.ranking.mean[0]:.4f}."
    n = int(first.ranking.has_ranking.sum())
    if n == 0:
        return f"By {first.measure} all systems are equal for every {noun}."
    leader = first.order[0]
    parts = [f"By {first.measure}, {_leads(first, n, noun)}"]
    if first.ranks is not None:
        parts.append(may_be_best(first.ranks))
    swap = _changing_places(first)
    if swap:
        parts.append(f"{swap} change places with the {noun}")
    elif n > 1 and int(first.ranking.leads()[leader]) == n:
        parts.append("no two of the first five change places")
    others = Counter(s.systems[s.order[0]] for s in ranking[1:] if s.order[0] != leader)
    for system in others:
        by = [s.measure for s in ranking[1:] if s.systems[s.order[0]] == system]
        parts.append(f"by {_listed(by)} it is {system}")
    return "; ".join(parts) + "."


def _leads(summary: MeasureSummary, n: int, noun: str) -> str:
    """Who leads the panel, alone or together, and for how many of the n assessors with a ranking that is so."""
    first = np.flatnonzero(summary.ranking.rank == 1)
    count = int((summary.ranking.rank_by_assessor[:, first] == 1).all(axis=1).sum())
    who = _listed([summary.systems[s] for s in first])
    verb = "leads" if first.size == 1 else "share the lead"
    if n == 1:
        return f"{who} {verb} for the only {noun}"
    if n == count == 2:
        return f"{who} {verb} for both {noun}s"
    many = "all" if count == n else f"{count or 'none'} of"
    return f"{who} {verb} for {many} {n} {noun}s"


def _changing_places(summary: MeasureSummary) -> str:
    """Of the first five systems, the pair whose order most assessors see differently; empty if all agree."""
    top = summary.order[:5]
    place = summary.ranking
    contested = [
        (min(place.above(a, b), place.above(b, a)), -(i + j), a, b)
        for i, a in enumerate(top)
        for j, b in enumerate(top)
        if i < j
    ]
    minority, _, a, b = max(contested)
    return f"{summary.systems[a]} and {summary.systems[b]}" if minority else ""


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
