"""How often rank intervals and the set of the best systems err, as tables: part of the page on coverage."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, get_args

import numpy as np

from qrowd.comparison.resampling import Over
from qrowd.model.chance import Chance, Rng, seed_of
from qrowd.reports.document import Table
from qrowd.reports.phrases import number
from qrowd_papers.rank_coverage import (
    N_ASSESSORS,
    N_SYSTEMS,
    Collection,
    FamilyWise,
    Power,
    RanksHeld,
    Told,
    error_in_families,
    family_wise_error,
    power,
    ranks_held,
)


@dataclass(frozen=True, eq=False)
class RankStudy:
    """What the simulations of rank intervals found.

    alike : equal systems. kinds : assessors who favour one kind of system. families : by the number of assessors,
    error among equal systems in families. n : simulations of the others.
    """

    alike: FamilyWise
    kinds: FamilyWise
    families: dict[int, float]
    n_families: int
    held: tuple[RanksHeld, ...]
    powers: tuple[Power, ...]
    n: int


def rank_study(*, quick: bool = False, rng: Rng = None, progress: Told | None = None) -> RankStudy:
    """quick : 100 simulations instead of 2,000, and none of 83 systems."""
    seed = seed_of(rng)
    simulations, n = (100, 40) if quick else (2000, 200)
    systems = N_SYSTEMS[:2] if quick else N_SYSTEMS
    dl21 = Collection.in_families(Chance.of(seed).stream("dl21"), 63)
    options: dict[str, Any] = {"rng": seed, "progress": progress}
    alike = family_wise_error(("normal", "skewed"), systems, n_simulations=simulations, **options)
    return RankStudy(
        alike,
        family_wise_error(("two kinds of systems",), (20,), N_ASSESSORS[1:], n_simulations=simulations, **options),
        {a: error_in_families(a, n_simulations=simulations // 2, rng=seed) for a in (3, 4, 5, 6, 8, 18)},
        simulations // 2,
        tuple(ranks_held(*cell, n_simulations=n, rng=seed) for cell in product(systems, (3, 5, 18), (25, 54))),
        tuple(power(dl21, a, 53, o, n_simulations=n, rng=seed) for o, a in product(get_args(Over), (5, 18))),
        n,
    )


def rank_sentence(found: RankStudy) -> str:
    """How often one errs, at most."""
    enough = found.alike.n_assessors != 2
    most, few = found.alike.share[enough].max(), found.alike.share[~enough].max()
    return (
        f"Of equal systems, one is wrongly left out of the set of the best in at most {100 * most:.1f} % of "
        f"simulations (5 % is stated; with 2 assessors, of which the result warns, up to {100 * few:.1f} %). Of "
        f"systems that differ, all true ranks lie in their intervals in "
        f"{100 * min(x.ranks for x in found.held):.1f} % or more."
    )


def rank_tables(found: RankStudy) -> list[Table]:
    """Errors among equal systems by design, ranks of systems that differ, and the size of the set of the best."""
    held = [
        [str(x.n_systems), str(x.n_assessors), str(x.n_topics), number(x.ranks, 3), number(x.ranks_error, 3),
         number(x.best, 3), number(x.set_size, 1)]
        for x in found.held
    ]  # fmt: skip
    powers = [
        [_OVER[x.over], str(x.n_assessors), number(x.error, 3), number(x.tukey_error, 3), number(x.set_size, 1),
         number(x.tukey_set_size, 1), number(x.tukey_at_level, 1)]
        for x in found.powers
    ]  # fmt: skip
    return [
        *(_equal_table(found.alike, design) for design in ("normal", "skewed")),
        _equal_table(found.kinds, "two kinds of systems"),
        Table(
            "63 equal systems in families, 53 topics: share of simulations in which a best system is left out",
            ["assessors", "share", "s.e."],
            [
                [str(a), number(share, 3), number(np.sqrt(share * (1 - share) / found.n_families), 3)]
                for a, share in found.families.items()
            ],
        ),
        Table(
            "systems that differ: all true ranks in their intervals, and the true best in the set of the best",
            ["systems", "assessors", "topics", "all ranks", "s.e.", "best in the set", "size of the set"],
            held,
        ),
        Table(
            "63 systems like those of dl21, 53 topics: the set of the best and Tukey's",
            ["over", "assessors", "error", "error, Tukey", "size", "size, Tukey", "size, Tukey at equal level"],
            powers,
        ),
    ]


def rank_notes(found: RankStudy) -> list[str]:
    """How it was simulated."""
    sizes = dict(zip(found.alike.n_systems.tolist(), found.alike.n_simulations.tolist(), strict=True))
    each = ", ".join(f"{n:,} of {size} systems ({np.sqrt(0.05 * 0.95 / n):.3f})" for size, n in sizes.items())
    return [
        f"equal systems: simulations of each cell, and the standard error of a share of .05: {each}; "
        f"{found.alike.n_replicates} replicates; one assessor: equal to that assessor",
        "normal: dl20's components by nDCG@10 (system by topic .0135, system by assessor .0004, rest .0063); skewed: "
        "logistic, between 0 and 1, tastes of .3; two kinds: three quarters of tastes are for half of the systems",
        "families: five variants of one system share three quarters of what topics do to them; three quarters of all "
        f"tastes lie along one axis; {found.n_families:,} simulations of each",
        f"systems that differ: {found.n} simulations of each, families of five variants, true means anew every time",
        f"Tukey: {found.n} simulations with equal systems for the error, {found.n // 2} with unequal ones for the size",
    ]


_OVER = {"topics": "topics", "both": "topics and assessors"}


def _equal_table(found: FamilyWise, design: str) -> Table:
    assessors = sorted(set(found.n_assessors.tolist()))
    rows = [
        [str(s), str(t), *(number(found.of(design, s, a, t), 3) for a in assessors)]
        for s in sorted(set(found.n_systems.tolist()))
        for t in sorted(set(found.n_topics.tolist()))
    ]
    title = f"equal systems, {design}: share of simulations in which a best system is left out, by assessors"
    return Table(title, ["systems", "topics", *map(str, assessors)], rows)
