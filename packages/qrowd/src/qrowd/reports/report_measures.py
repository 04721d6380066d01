"""The report on other measures: whether the system that leads by the first one leads by them, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from qrowd.comparison.correlation import kendall_tau_b
from qrowd.comparison.system_ranking import rank_systems
from qrowd.evaluation import evaluate
from qrowd.evaluation import measure as parse
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences
from qrowd.model.runs import Runs
from qrowd.model.scores import Scores
from qrowd.reports.document import Note
from qrowd.reports.notes import scoring_notes
from qrowd.reports.phrases import count, listed
from qrowd.reports.systems import system_order


@dataclass(frozen=True)
class MeasureRanking:
    """means, ranks : one per system, in the order of `ByMeasure.systems`; rank 0 without a score.

    tau_b : of the ranking with that by the first measure.
    """

    measure: str
    means: tuple[float, ...]
    ranks: tuple[int, ...]
    tau_b: float


@dataclass(frozen=True)
class ByMeasure:
    """Means and ranks by each measure, the one of the headline first. notes : conventions of the other measures."""

    systems: tuple[str, ...]
    rankings: tuple[MeasureRanking, ...]
    notes: tuple[Note, ...]

    def records(self) -> list[dict[str, Any]]:
        """One dictionary per system and measure."""
        return [
            {"system": system, "measure": one.measure, "mean": one.means[s], "rank": one.ranks[s]}
            for one in self.rankings
            for s, system in enumerate(self.systems)
        ]

    def sentence(self, first: str, equals: Sequence[str] = ()) -> str:
        """By which measures a system leads, and where it stands by the others. equals : systems equal to it."""
        place = self.systems.index(first)
        leads, parts = [], []
        for one in self.rankings:
            rank = one.ranks[place]
            best = [name for name, r in zip(self.systems, one.ranks, strict=True) if r == 1]
            level = [name for name in best if name != first and name not in equals]
            if rank == 1 and not level:
                leads.append(one.measure)
            elif rank == 1:
                parts.append(f"by {one.measure} it is level with {listed(level, 3)}")
            elif rank == 0:
                parts.append(f"by {one.measure} it has no score")
            else:
                n = sum(r > 0 for r in one.ranks)
                parts.append(f"by {one.measure} {listed(best, 3)} is first, and it has rank {rank} of {n}")
        if not parts:
            return f"{first} leads by each of the {count(len(self.rankings), 'measure')}."
        return f"{first} leads by {listed(leads)}; {'; '.join(parts)}." if leads else f"Of {first}: {'; '.join(parts)}."


def several_measures(measures: object | Sequence[object]) -> list[str]:
    """The names of one or several measures, each once.

    >>> several_measures("AP"), several_measures(["ndcg_cut_10", "nDCG@10", "P@5"])
    (['AP'], ['nDCG@10', 'P@5'])
    """
    listed_measures = measures if isinstance(measures, list | tuple) else [measures]
    return list(dict.fromkeys(str(parse(one)) for one in listed_measures))


def by_measure(
    runs: Runs,
    judgments: Judgments | Preferences,
    scores: Scores,
    others: Sequence[str],
    *,
    conventions: Conventions,
) -> ByMeasure | None:
    """Rankings by further measures; None without any. scores : by the measure of the headline."""
    if not others:
        return None
    more = evaluate(runs, judgments, others, conventions=conventions)
    rankings = [rank_systems(scores), *(rank_systems(more.sel(measure=name)) for name in more.measures)]
    order, means = system_order(rankings[0].mean), rankings[0].mean
    of_headline = {str(note) for note in scoring_notes(scores)}
    return ByMeasure(
        tuple(scores.systems[s] for s in order),
        tuple(
            MeasureRanking(
                name,
                tuple(one.mean[order].tolist()),
                tuple(one.rank[order].tolist()),
                kendall_tau_b(one.mean, means),
            )
            for name, one in zip((*scores.measures, *more.measures), rankings, strict=True)
        ),
        tuple(note for note in scoring_notes(more) if str(note) not in of_headline),
    )
