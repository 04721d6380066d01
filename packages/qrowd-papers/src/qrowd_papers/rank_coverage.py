"""How often do rank intervals and the set of the best systems err? Simulated, with the truth known.

Where all systems are equal, any significant difference is an error: it excludes a best system, and a true rank. Where
they are not, the share of simulations in which every system's true rank lies in its interval.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.mean_squares import Panel
from qrowd.comparison.rank_intervals import PairStatistics, critical_t, largest_of, pair_statistics
from qrowd.executors import AnyExecutor
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Chance, Rng, Seed, seed_of
from qrowd.reports.document import Table
from qrowd.reports.phrases import number
from qrowd_papers.simulations import Progress, binomial_error, each_result, table_of

if TYPE_CHECKING:
    import pandas

Draw = Callable[[np.random.Generator, int, int, int], Floats]

N_SYSTEMS, N_ASSESSORS, N_TOPICS = (5, 20, 83), (1, 2, 3, 5, 8, 18), (25, 54, 200)
ALPHA = 0.05
N_REPLICATES = 400
IN_FAMILIES = (3, 4, 5, 6, 8, 18)  # assessors of equal systems in families
BLOCK = 40  # replicates, after which it is known whether p can still be below the level

V_SYSTEM_TOPIC, V_SYSTEM_ASSESSOR, V_REST = 0.0134572, 0.000427, 0.0062715  # nDCG@10 of dl20's 83 systems, 5 assessors


# ---------------------------------------------------------------------- systems that are all equal


def normal(random: np.random.Generator, n_topics: int, n_assessors: int, n_systems: int) -> Floats:
    """(topics, assessors, systems) with dl20's components; one assessor has no taste, which would be a difference."""
    taste = 0.0 if n_assessors == 1 else V_SYSTEM_ASSESSOR
    return np.asarray(
        random.normal(0, np.sqrt(V_SYSTEM_TOPIC), (n_topics, 1, n_systems))
        + random.normal(0, np.sqrt(taste), (1, n_assessors, n_systems))
        + random.normal(0, np.sqrt(V_REST), (n_topics, n_assessors, n_systems))
    )


def skewed(random: np.random.Generator, n_topics: int, n_assessors: int, n_systems: int) -> Floats:
    """The same between 0 and 1, on a logistic scale.

    Easy topics are more frequent than hard ones, topics differ in how far they separate systems, and assessors are
    severe or lenient with a taste of .3 on that scale.
    """
    topic = random.normal(0, 1.1, n_topics) + 0.6 * (random.exponential(1, n_topics) - 1)
    spread = np.exp(random.normal(0, 0.6, n_topics))[:, None, None]
    logit = (
        0.5
        + topic[:, None, None]
        + random.normal(0, 0.7, (1, n_assessors, 1))
        + spread * random.normal(0, 0.6, (n_topics, 1, n_systems))
        + random.normal(0, 0.0 if n_assessors == 1 else 0.3, (1, n_assessors, n_systems))
        + spread * random.normal(0, 0.35, (n_topics, n_assessors, n_systems))
        + random.normal(0, 0.4, (n_topics, n_assessors, 1))
    )
    return np.asarray(1 / (1 + np.exp(-logit)))


def two_kinds(random: np.random.Generator, n_topics: int, n_assessors: int, n_systems: int) -> Floats:
    """`normal`, but three quarters of the assessors' tastes are for one kind of system (half of them) or the other."""
    kind = np.where(np.arange(n_systems) < n_systems // 2, 1.0, -1.0)
    own = random.normal(0, np.sqrt(0.25 * V_SYSTEM_ASSESSOR), (1, n_assessors, n_systems))
    shared = random.normal(0, np.sqrt(0.75 * V_SYSTEM_ASSESSOR), (1, n_assessors, 1)) * kind
    return np.asarray(
        random.normal(0, np.sqrt(V_SYSTEM_TOPIC), (n_topics, 1, n_systems))
        + own
        + shared
        + random.normal(0, np.sqrt(V_REST), (n_topics, n_assessors, n_systems))
    )


EQUAL: dict[str, Draw] = {"normal": normal, "skewed": skewed, "two kinds of systems": two_kinds}


def family_wise_error(
    designs: Sequence[str] = tuple(EQUAL),
    n_systems: Sequence[int] = N_SYSTEMS,
    n_assessors: Sequence[int] = N_ASSESSORS,
    n_topics: Sequence[int] = N_TOPICS,
    *,
    n_simulations: int = 2000,
    n_replicates: int = N_REPLICATES,
    rng: Rng = None,
    executor: AnyExecutor = None,
    progress: Progress | None = None,
) -> pandas.DataFrame:
    """How often `qrowd.comparison.rank_intervals` finds a difference among equal systems, a row per cell.

    Column `share`: of simulations in which any two systems come out significantly different, so that a best system is
    left out of the set and a rank interval misses; at most .05 is stated. `error`: its standard error.

    Every cell has a stream of its own. Replicates stop as soon as p cannot be below .05 any more, which changes no
    answer.
    """
    import pandas as pd

    grid = list(product(designs, n_systems, n_assessors, n_topics))
    settings = (Chance.of(rng), n_simulations, n_replicates)
    shares = each_result(_share_of_errors, grid, "equal systems", progress, executor, shared=settings)
    rows = [(*cell, share, binomial_error(share, n_simulations)) for cell, share in zip(grid, shares, strict=True)]
    return pd.DataFrame(rows, columns=["design", "n_systems", "n_assessors", "n_topics", "share", "error"])


def _share_of_errors(settings: tuple[Chance, int, int], cell: tuple[str, int, int, int]) -> float:
    """Share of the simulations of a cell that find a difference. settings : chance, simulations, replicates."""
    chance, n_simulations, n_replicates = settings
    design, systems, assessors, topics = cell
    random = chance.stream(f"{design} {systems} {assessors} {topics}")
    draws = (EQUAL[design](random, topics, assessors, systems) for _ in range(n_simulations))
    return float(np.mean([_differs(_pairs(values), random, n_replicates) for values in draws]))


# ---------------------------------------------------------------------- systems that differ


@dataclass(frozen=True, eq=False)
class Collection:
    """Normal scores with covariances between systems as in a real collection.

    mean : (systems,) true means. topic, assessor, rest : (systems, any) roots of the covariances of what a topic, an
        assessor and their cell add to the systems' scores.
    """

    mean: Floats
    topic: Floats
    assessor: Floats
    rest: Floats

    @classmethod
    def in_families(cls, random: np.random.Generator, n_systems: int, spread: float = 0.1) -> Collection:
        """Like dl21's nDCG@10: 63 systems have the components .0110, .0009, .0084; variants of one system, five at a
        time, share three quarters of what topics do to them; tastes of assessors lie along one axis by three quarters.
        """
        family = np.repeat(np.eye(-(-n_systems // 5)), 5, axis=0)[:n_systems]
        axis = random.normal(0, 1, (n_systems, 1))

        def root(variance: float, shared: Floats) -> Floats:
            parts = [np.sqrt(0.75 * variance) * shared, np.sqrt(0.25 * variance) * np.eye(n_systems)]
            return np.concatenate(parts, axis=1)

        of_family, own = random.normal(0, 0.9, (family.shape[1], 1)), random.normal(0, 0.45, (n_systems, 1))
        mean = spread * (family @ of_family + own)[:, 0]
        return cls(mean, root(0.0110, family), root(0.0009, axis), root(0.0084, family))

    def draw(self, random: np.random.Generator, n_topics: int, n_assessors: int, *, equal: bool = False) -> Floats:
        """(topics, assessors, systems); equal : all true means are."""
        values = random.normal(size=(n_topics, 1, self.topic.shape[1])) @ self.topic.T
        values = values + random.normal(size=(n_topics, n_assessors, self.rest.shape[1])) @ self.rest.T
        values = values + random.normal(size=(1, n_assessors, self.assessor.shape[1])) @ self.assessor.T
        return np.asarray(values if equal else values + self.mean)


def error_in_families(
    n_assessors: int, *, n_simulations: int = 1000, n_replicates: int = N_REPLICATES, rng: Rng = None
) -> float:
    """Share of simulations that find a difference among 63 equal systems of `Collection.in_families`, 53 topics."""
    chance = Chance.of(rng)
    collection = Collection.in_families(chance.stream("dl21"), 63)
    random = chance.stream(f"fam {n_assessors}")
    draws = (collection.draw(random, 53, n_assessors, equal=True) for _ in range(n_simulations))
    return float(np.mean([_differs(_pairs(values), random, n_replicates) for values in draws]))


@dataclass(frozen=True)
class RanksHeld:
    """Systems that differ: how often all true ranks lie in their intervals, and the true best in the set of the best.

    set_size : mean number of systems in the set of the best. errors are binomial standard errors.
    """

    n_systems: int
    n_assessors: int
    n_topics: int
    ranks: float
    ranks_error: float
    best: float
    set_size: float


def ranks_held(
    n_systems: int,
    n_assessors: int,
    n_topics: int,
    *,
    n_simulations: int = 500,
    n_replicates: int = N_REPLICATES,
    rng: Rng = None,
) -> RanksHeld:
    """With new true means in every simulation, in families of five (`Collection.in_families`)."""
    random = Chance.of(rng).stream(f"ranks {n_systems} {n_assessors} {n_topics}")
    covered, best, size = [], [], []
    for _ in range(n_simulations):
        collection = Collection.in_families(random, n_systems)
        pairs = _pairs(collection.draw(random, n_topics, n_assessors))
        better = (pairs.mean[:, None] > pairs.mean) & _significant(pairs, largest_of(pairs, n_replicates, random))
        truth = (collection.mean > collection.mean[:, None]).sum(axis=1)
        low, high = better.sum(axis=0), n_systems - 1 - better.sum(axis=1)
        covered.append(((low <= truth) & (truth <= high)).all())
        best.append(low[np.argmax(collection.mean)] == 0)
        size.append((low == 0).sum())
    share = float(np.mean(covered))
    return RanksHeld(
        n_systems, n_assessors, n_topics, share, float(binomial_error(share, n_simulations)),
        float(np.mean(best)), float(np.mean(size)),
    )  # fmt: skip


def _pairs(values: Floats) -> PairStatistics:
    topics, assessors, systems = (tuple(map(str, range(size))) for size in values.shape)
    panel = Panel(topics, assessors, systems, values, np.ones(values.shape[:2], bool), 0)
    return pair_statistics(panel, "both" if len(assessors) > 1 else "topics")


def _differs(pairs: PairStatistics, random: np.random.Generator, n: int) -> bool:
    """Whether p of any pair is below the level, given up as soon as it cannot be."""
    most, parts = pairs.t.max(axis=(1, 2)), []
    for start in range(0, n, BLOCK):
        parts.append(pairs.replicates(random, min(BLOCK, n - start)))
        reached = sum((part >= most[:, None]).sum(axis=1) for part in parts)
        if np.any(1 + reached >= ALPHA * (1 + n)):
            return False
    return bool(_significant(pairs, np.sort(np.concatenate(parts, axis=1))).any())


def _significant(pairs: PairStatistics, largest: Floats) -> NDArray[np.bool_]:
    plain, corrected = (t > critical_t(of_all, ALPHA) for t, of_all in zip(pairs.t, largest, strict=True))
    return np.asarray(plain & corrected)


# ---------------------------------------------------------------------- the tables


@dataclass(frozen=True, eq=False)
class RankStudy:
    """What the simulations of rank intervals found.

    alike : equal systems. kinds : assessors who favour one kind of system. families : by the number of assessors,
    error among equal systems in families. n_equal, n_families, n : simulations of equal systems, of families, of the
    others.
    """

    alike: pandas.DataFrame
    kinds: pandas.DataFrame
    families: dict[int, float]
    n_equal: int
    n_families: int
    held: tuple[RanksHeld, ...]
    n: int


def rank_study(
    *, quick: bool = False, rng: Rng = None, executor: AnyExecutor = None, progress: Progress | None = None
) -> RankStudy:
    """quick : 100 simulations instead of 2,000, and none of 83 systems. executor : whose workers simulate cells."""
    seed = seed_of(rng)
    simulations, n = (100, 40) if quick else (2000, 200)
    systems = N_SYSTEMS[:2] if quick else N_SYSTEMS
    options: dict[str, Any] = {"rng": seed, "executor": executor, "progress": progress}
    alike = family_wise_error(("normal", "skewed"), systems, n_simulations=simulations, **options)
    kinds = family_wise_error(("two kinds of systems",), (20,), N_ASSESSORS[1:], n_simulations=simulations, **options)
    tasks = [
        *(partial(error_in_families, a, n_simulations=simulations // 2) for a in IN_FAMILIES),
        *(partial(ranks_held, *cell, n_simulations=n) for cell in product(systems, (3, 5, 18), (25, 54))),
    ]
    parts = list(each_result(_of_seed, tasks, "systems that differ", progress, executor, shared=seed))
    held = tuple(part for part in parts if isinstance(part, RanksHeld))
    families = dict(zip(IN_FAMILIES, parts, strict=False))
    return RankStudy(alike, kinds, families, simulations, simulations // 2, held, n)


def _of_seed(seed: Seed, simulate: Callable[..., Any]) -> Any:
    return simulate(rng=seed)


def rank_sentence(study: RankStudy) -> str:
    """How often one errs, at most."""
    enough = study.alike.n_assessors != 2
    most, few = study.alike.share[enough].max(), study.alike.share[~enough].max()
    return (
        f"Of equal systems, one is wrongly left out of the set of the best in at most {100 * most:.1f} % of "
        f"simulations (5 % is stated; with 2 assessors, of which the result warns, up to {100 * few:.1f} %). Of "
        f"systems that differ, all true ranks lie in their intervals in "
        f"{100 * min(x.ranks for x in study.held):.1f} % or more."
    )


def rank_tables(study: RankStudy) -> list[Table]:
    """Errors among equal systems by design, and ranks of systems that differ."""
    return [
        *(_equal_table(study.alike, design) for design in ("normal", "skewed")),
        _equal_table(study.kinds, "two kinds of systems"),
        Table(
            "63 equal systems in families, 53 topics: share of simulations in which a best system is left out",
            ["assessors", "share", "s.e."],
            [
                [str(a), number(share, 3), number(binomial_error(share, study.n_families), 3)]
                for a, share in study.families.items()
            ],
        ),
        table_of(
            "systems that differ: all true ranks in their intervals, and the true best in the set of the best",
            study.held,
            (
                ("systems", "n_systems", ""), ("assessors", "n_assessors", ""), ("topics", "n_topics", ""),
                ("all ranks", "ranks", 3), ("s.e.", "ranks_error", 3), ("best in the set", "best", 3),
                ("size of the set", "set_size", 1),
            ),
        ),
    ]  # fmt: skip


def rank_notes(study: RankStudy) -> list[str]:
    """How it was simulated."""
    n = f"{study.n_equal:,}"
    each_cell = ", ".join(
        f"{n} of {size} systems ({binomial_error(0.05, study.n_equal):.3f})" for size in study.alike.n_systems.unique()
    )
    return [
        f"equal systems: simulations of each cell, and the standard error of a share of .05: {each_cell}; "
        f"{N_REPLICATES} replicates; one assessor: equal to that assessor",
        "normal: dl20's components by nDCG@10 (system by topic .0135, system by assessor .0004, rest .0063); skewed: "
        "logistic, between 0 and 1, tastes of .3; two kinds: three quarters of tastes are for half of the systems",
        "families: five variants of one system share three quarters of what topics do to them; three quarters of all "
        f"tastes lie along one axis; {study.n_families:,} simulations of each",
        f"systems that differ: {study.n} simulations of each, families of five variants, true means anew every time",
    ]


def _equal_table(frame: pandas.DataFrame, design: str) -> Table:
    cells = frame[frame.design == design].pivot(index=["n_systems", "n_topics"], columns="n_assessors", values="share")
    rows = [
        [str(systems), str(topics), *(number(share, 3) for share in shares)]
        for (systems, topics), shares in zip(cells.index, cells.to_numpy(), strict=True)
    ]
    title = f"equal systems, {design}: share of simulations in which a best system is left out, by assessors"
    return Table(title, ["systems", "topics", *map(str, cells.columns)], rows)
