"""Which systems may be the best: the one answer that `evaluate`, `compare` and `report` give alike."""

from __future__ import annotations

from collections.abc import Sequence

from qrowd.comparison.rank_intervals import RankIntervals, rank_intervals
from qrowd.comparison.resampling import Over
from qrowd.errors import NoOverlapError
from qrowd.model.chance import Seed
from qrowd.model.scores import Scores

CONFIDENCE, REPLICATES, SEED = 0.95, 10_000, 1
NAMED = 5  # systems or assessors in a sentence


def ranks_of(
    scores: Scores,
    *,
    confidence: float = CONFIDENCE,
    replicates: int = REPLICATES,
    seed: Seed = SEED,
    over: Over = "both",
) -> RankIntervals | None:
    """Rank intervals of all systems together; None for one system, or where they share fewer than two topics."""
    if len(scores.systems) < 2:
        return None
    try:
        return rank_intervals(scores, over=over, confidence=confidence, n_resamples=replicates, rng=seed)
    except NoOverlapError:
        return None


def may_be_best(ranks: RankIntervals) -> str:
    """How many systems may be the best, by what, and which they are; without a full stop."""
    best, n = ranks.may_be_best, len(ranks.systems)
    over = "topics and assessors" if ranks.over == "both" else "topics"
    few = "; with 2 assessors it may be too small" if ranks.too_few_assessors else ""
    level = f"({100 * ranks.confidence:g} % simultaneous confidence set over {over}{few})"
    if len(best) == 1:
        return f"{best[0]} alone may be the best of {n} systems {level}"
    return f"{len(best)} of {n} systems may be the best {level}: {listed(best)}"


def ranks_note(ranks: RankIntervals, what: str = "ranks, p, systems that may be the best") -> str:
    """What ranks, adjusted p-values and the set of the best rest on; `what` : those of them that are shown."""
    told = {"both": "random signs of topics and normal assessors", "topics": "random signs of topics"}[ranks.over]
    reason = "" if ranks.reason == "asked for" else f" ({ranks.reason.removeprefix('asked for; ')})"
    n = len(ranks.systems)
    return (
        f"{what}: one test of all {n * (n - 1) // 2:,} pairs of systems by the largest "
        f"|t|, {100 * ranks.confidence:g} % for all together; {ranks.n_resamples:,} replicates "
        f"with {told}{reason}; cautious where systems differ: in simulations all true ranks were held in 98 % or more; "
        f"seed: {ranks.seed}"
    )


def listed(names: Sequence[str]) -> str:
    """Up to five names, and how many more."""
    shown = list(names) if len(names) <= NAMED else [*names[: NAMED - 1], f"{len(names) - NAMED + 1} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
