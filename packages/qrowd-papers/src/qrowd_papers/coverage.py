"""How often do intervals for a difference of two systems hold the truth? Simulated, with the truth known.

Rank intervals and the set of the best systems: `qrowd_papers.rank_coverage`, on the same page.

D[t, a] = topic + assessor + error, normal, the true difference 0; T topics and A assessors are drawn anew every time.
The table decides which method `qrowd.comparison.difference` recommends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.comparison.interval_widths import half_widths, recommended
from qrowd.executors import AnyExecutor
from qrowd.kernels.arrays import Floats
from qrowd.kernels.two_way import two_way
from qrowd.model.chance import Chance, Rng, seed_of
from qrowd.reports.document import Document, Table
from qrowd.reports.phrases import number
from qrowd_papers.rank_coverage import rank_notes, rank_sentence, rank_study, rank_tables
from qrowd_papers.simulations import Progress, binomial_error, each_result

if TYPE_CHECKING:
    import pandas

PANELS: Mapping[str, tuple[float, float, float]] = {
    "human-like": (1.0, 0.02, 0.5),
    "judge-heavy": (1.0, 0.25, 1.4),
    "judges above all": (1.0, 0.5, 1.0),
    "no judge effect": (1.0, 0.0, 2.0),
}
"""v_t, v_a, v_e: of topics, of assessors (how far each favours one of the two systems on all topics), of the rest.

Means over all pairs of systems: the eight people of dl19 have 1 : .006 : .45 by nDCG@10 and 1 : .02 : .40 by AP; the 18
model assessors of dl21 1 : .09 : .76 and 1 : .23 : 1.4. The last two panels are further than either.
"""
N_TOPICS = (25, 50, 200)
N_ASSESSORS = (2, 3, 5, 8, 18)
CELL = ["panel", "n_topics", "n_assessors", "method"]
METHODS = ("topics", "pigeonhole", "satterthwaite", "banerjee")
AT_ONCE = 250  # simulations; a stream each
NOMINAL = (0.925, 0.975)


def coverage(
    panels: Mapping[str, tuple[float, float, float]] = PANELS,
    n_topics: Sequence[int] = N_TOPICS,
    n_assessors: Sequence[int] = N_ASSESSORS,
    *,
    methods: Sequence[str] = METHODS,
    confidence: float = 0.95,
    n_simulations: int = 4000,
    n_replicates: int = 1000,
    rng: Rng = None,
    executor: AnyExecutor = None,
    progress: Progress | None = None,
) -> pandas.DataFrame:
    """Coverage and width of intervals over simulated panels, a row per panel, topics, assessors and method.

    Columns `coverage`: share of simulations whose interval holds the true difference; `error`: its standard error;
    `width`: mean width, relative to twice the true standard error times the normal quantile (1: as wide as if the
    components were known).

    panels : {name: (v_t, v_a, v_e)}. n_replicates : of the pigeonhole bootstrap; 250 simulations share their draws,
        which are independent of the scores. executor : whose workers simulate cells, each with streams of its own.
    """
    import pandas as pd

    settings = _Settings(dict(panels), tuple(methods), confidence, n_simulations, n_replicates, Chance.of(rng))
    grid = product(panels, n_topics, n_assessors)
    cells = each_result(_Settings.cell, grid, "coverage", progress, executor, shared=settings)
    rows = [row for cell in cells for row in cell]
    return pd.DataFrame(rows, columns=[*CELL, "coverage", "error", "width"])


@dataclass(frozen=True)
class _Settings:
    """What all cells of the study have in common."""

    panels: dict[str, tuple[float, float, float]]
    methods: tuple[str, ...]
    confidence: float
    n_simulations: int
    n_replicates: int
    chance: Chance

    def cell(self, cell: tuple[str, int, int]) -> list[tuple[Any, ...]]:
        """The rows of one panel, number of topics and number of assessors, a row for each method."""
        from scipy.special import ndtri

        panel, topics, assessors = cell
        v_t, v_a, v_e = self.panels[panel]
        truth = (
            2 * ndtri((1 + self.confidence) / 2) * np.sqrt(v_t / topics + v_a / assessors + v_e / topics / assessors)
        )
        outcomes: dict[str, list[Floats]] = {name: [] for name in self.methods}
        for block in range(-(-self.n_simulations // AT_ONCE)):
            random = self.chance.stream(f"{panel} {topics} {assessors}", block)
            size = min(AT_ONCE, self.n_simulations - block * AT_ONCE)
            simulated = (
                random.normal(0, np.sqrt(v_t), (topics, 1, size))
                + random.normal(0, np.sqrt(v_a), (1, assessors, size))
                + random.normal(0, np.sqrt(v_e), (topics, assessors, size))
            )
            for name in self.methods:
                low, high = _interval(simulated, name, self.confidence, self.n_replicates, random)
                outcomes[name].append(np.stack([(low <= 0) & (high >= 0), (high - low) / truth]))
        rows = []
        for name in self.methods:
            share, width = (float(values.mean()) for values in np.concatenate(outcomes[name], axis=1))
            rows.append((*cell, name, share, binomial_error(share, self.n_simulations), width))
        return rows


def _interval(
    simulated: Floats, method: str, confidence: float, n_replicates: int, random: np.random.Generator
) -> tuple[Floats, Floats]:
    """(simulations,) ends of the interval of (topics, assessors, simulations)."""
    from scipy.special import stdtrit

    n_topics, n_assessors, size = simulated.shape
    if method == "topics":
        by_topic = simulated.mean(axis=1)
        half = stdtrit(n_topics - 1, (1 + confidence) / 2) * by_topic.std(axis=0, ddof=1) / np.sqrt(n_topics)
        return by_topic.mean(axis=0) - half, by_topic.mean(axis=0) + half
    if method == "pigeonhole":
        topics = _bootstrap_counts(n_topics, n_replicates, random) / n_topics
        assessors = _bootstrap_counts(n_assessors, n_replicates, random) / n_assessors
        part = (topics @ simulated.reshape(n_topics, -1)).reshape(n_replicates, n_assessors, size)
        replicates = np.einsum("ra,ras->rs", assessors, part)
        low, high = np.quantile(replicates, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
        return low, high
    squares = two_way(simulated)
    half = half_widths(squares, "banerjee" if method == "banerjee" else "satterthwaite", confidence)
    return squares.mean - half, squares.mean + half


def _bootstrap_counts(kinds: int, rows: int, random: np.random.Generator) -> Floats:
    """(rows, kinds) how often each is drawn in a bootstrap sample."""
    which = random.integers(kinds, size=(rows, kinds)) + kinds * np.arange(rows)[:, None]
    return np.bincount(which.ravel(), minlength=rows * kinds).reshape(rows, kinds).astype(np.float64)


def coverage_page(
    *, quick: bool = False, rng: Rng = None, executor: AnyExecutor = None, progress: Progress | None = None
) -> Document:
    """The study as a page: coverage and width by panel, what is recommended for how many assessors, and rank intervals.

    quick : 400 simulations of 200 replicates instead of 4,000 of 1,000, and fewer of ranks. executor : whose workers
    simulate cells.
    """
    seed, (simulations, replicates) = seed_of(rng), (400, 200) if quick else (4000, 1000)
    frame = coverage(
        PANELS, N_TOPICS, N_ASSESSORS, n_simulations=simulations, n_replicates=replicates, rng=seed,
        executor=executor, progress=progress,
    )  # fmt: skip
    ranks = rank_study(quick=quick, rng=seed, executor=executor, progress=progress)
    cells = frame.set_index(CELL)[["coverage", "width"]]
    least, most = _span(cells, [a for a in N_ASSESSORS if a >= 3])
    few, _ = _span(cells, [2])
    verdict = "within" if NOMINAL[0] <= least and most <= NOMINAL[1] else "not always within"
    sentence = (
        f"The recommended intervals hold the truth {100 * least:.1f} to {100 * most:.1f} % of the time from 3 "
        f"assessors on, which is {verdict} the 92.5 to 97.5 % wanted of a nominal 95 %; with 2 assessors down to "
        f"{100 * few:.1f} %. Topics alone fall to {100 * frame.coverage[frame.method == 'topics'].min():.1f} %. "
        f"{rank_sentence(ranks)}"
    )
    notes = (
        *(f"{name}: v_t : v_a : v_e = {' : '.join(f'{v:g}' for v in parts)}" for name, parts in PANELS.items()),
        "D[topic, assessor] = topic + assessor + error, normal and crossed, the true difference 0",
        f"simulations: {simulations:,} of each; standard error of a coverage near 95 %: "
        f"{100 * binomial_error(0.95, simulations):.2f} points; seed: {seed}",
        f"pigeonhole: percentiles of {replicates:,} replicates (Owen 2007)",
        "satterthwaite: one t for the whole error; banerjee: sqrt of the sum of t^2 times each part of the error",
        "width: mean width over that of an interval with known components (1 is as narrow as can be)",
        *rank_notes(ranks),
    )
    tables = (_summary(frame), *rank_tables(ranks), *(_of_panel(cells, name) for name in PANELS))
    return Document(sentence, tables, notes, lambda: frame)


def _span(cells: Any, n_assessors: Sequence[int]) -> tuple[float, float]:
    """Lowest and highest coverage of what is recommended for so many assessors."""
    designs = product(PANELS, N_TOPICS, n_assessors)
    values = [float(cells.loc[(panel, t, a, recommended(a)), "coverage"]) for panel, t, a in designs]
    return min(values), max(values)


def _summary(frame: pandas.DataFrame) -> Table:
    rows = []
    for a in N_ASSESSORS:
        shares = [frame.coverage[(frame.n_assessors == a) & (frame.method == name)] for name in METHODS]
        rows.append([str(a), recommended(a), *(f"{number(s.min(), 3)} to {number(s.max(), 3)}" for s in shares)])
    return Table("coverage over all panels and numbers of topics", ["assessors", "recommended", *METHODS], rows)


def _of_panel(cells: pandas.DataFrame, panel: str) -> Table:
    header = ["topics", "assessors", *METHODS, *(f"width, {name}" for name in METHODS)]
    rows = []
    for t, a in product(N_TOPICS, N_ASSESSORS):
        shares, widths = (cells[column].loc[panel, t, a][list(METHODS)] for column in ("coverage", "width"))
        rows.append([str(t), str(a), *(number(share, 3) for share in shares), *(number(width, 2) for width in widths)])
    v_t, v_a, v_e = PANELS[panel]
    return Table(f"{panel} (v_t : v_a : v_e = {v_t:g} : {v_a:g} : {v_e:g})", header, rows)
