"""How often do intervals for a difference of two systems hold the truth? Simulated, with the truth known.

Rank intervals and the set of the best systems: `qrowd_papers.rank_coverage`, on the same page.

D[t, a] = topic + assessor + error, normal, the true difference 0; T topics and A assessors are drawn anew every time.
The table decides which method `qrowd.comparison.difference` recommends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.interval_widths import half_widths, recommended
from qrowd.comparison.resampling import bootstrap_counts
from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats
from qrowd.kernels.two_way import two_way
from qrowd.model.chance import Chance, Rng, seed_of
from qrowd.model.frames import make_frame
from qrowd.reports.document import Document, Table
from qrowd.reports.phrases import number
from qrowd_papers.rank_coverage_page import rank_notes, rank_sentence, rank_study, rank_tables

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
LLM judges of dl21 1 : .09 : .76 and 1 : .23 : 1.4. The last two panels are further than either.
"""
N_TOPICS = (25, 50, 200)
N_ASSESSORS = (2, 3, 5, 8, 18)
METHODS = ("topics", "pigeonhole", "satterthwaite", "banerjee")
AT_ONCE = 250  # simulations; a stream each
WANTED = (0.925, 0.975)


@dataclass(frozen=True, eq=False)
class Coverage:
    """One row per panel, number of topics, number of assessors and method.

    coverage : share of simulations whose interval holds the true difference. error : its standard error.
    width : mean width, relative to twice the true standard error times the normal quantile (1: as wide as if the
        components were known).
    """

    panel: NDArray[np.object_]
    n_topics: NDArray[np.int64]
    n_assessors: NDArray[np.int64]
    method: NDArray[np.object_]
    coverage: Floats
    error: Floats
    width: Floats
    confidence: float
    n_simulations: int
    n_replicates: int
    seed: int | tuple[int, ...]

    def to_frame(self, backend: str = "pandas") -> Any:
        """The rows."""
        columns = ("panel", "n_topics", "n_assessors", "method", "coverage", "error", "width")
        return make_frame({name: getattr(self, name) for name in columns}, backend)

    def of(self, panel: str, n_topics: int, n_assessors: int, method: str) -> tuple[float, float]:
        """Coverage and width of one row."""
        rows = (self.panel == panel) & (self.n_topics == n_topics) & (self.n_assessors == n_assessors)
        found = np.flatnonzero(rows & (self.method == method))
        if found.size != 1:
            raise ArgumentError(f"no row of {panel!r}, {n_topics} topics, {n_assessors} assessors, {method!r}")
        return float(self.coverage[found[0]]), float(self.width[found[0]])


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
    progress: Callable[[str, int, int], None] | None = None,
) -> Coverage:
    """Coverage and width of intervals over simulated panels.

    panels : {name: (v_t, v_a, v_e)}. n_replicates : of the pigeonhole bootstrap; 250 simulations share their draws,
        which are independent of the scores.

    Raises
    ------
    ArgumentError
        A method that is not of the study; fewer than 2 topics or assessors.
    """
    from scipy.special import ndtri

    for name in methods:
        if name not in METHODS:
            raise ArgumentError(f"method {name!r}: choose from {', '.join(METHODS)}")
    if min(*n_topics, *n_assessors) < 2:
        raise ArgumentError("n_topics and n_assessors: 2 of each are the fewest that can be simulated")
    seed = seed_of(rng)
    chance = Chance.of(seed)
    rows: list[tuple[Any, ...]] = []
    designs = list(product(panels, n_topics, n_assessors))
    for done, (panel, topics, assessors) in enumerate(designs):
        v_t, v_a, v_e = panels[panel]
        truth = 2 * ndtri((1 + confidence) / 2) * np.sqrt(v_t / topics + v_a / assessors + v_e / topics / assessors)
        held: dict[str, list[Floats]] = {name: [] for name in methods}
        wide: dict[str, list[Floats]] = {name: [] for name in methods}
        for block in range(-(-n_simulations // AT_ONCE)):
            random = chance.stream(f"{panel} {topics} {assessors}", block)
            size = min(AT_ONCE, n_simulations - block * AT_ONCE)
            simulated = (
                random.normal(0, np.sqrt(v_t), (topics, 1, size))
                + random.normal(0, np.sqrt(v_a), (1, assessors, size))
                + random.normal(0, np.sqrt(v_e), (topics, assessors, size))
            )
            for name in methods:
                low, high = _interval(simulated, name, confidence, n_replicates, random)
                held[name].append(((low <= 0) & (high >= 0)).astype(np.float64))
                wide[name].append((high - low) / truth)
        for name in methods:
            means = (float(np.concatenate(parts[name]).mean()) for parts in (held, wide))
            rows.append((panel, topics, assessors, name, *means))
        if progress is not None:
            progress("coverage", done + 1, len(designs))
    names, t, a, which, shares, widths = zip(*rows, strict=True)
    share = np.array(shares)
    return Coverage(
        np.array(names, object),
        np.array(t),
        np.array(a),
        np.array(which, object),
        share,
        np.asarray(np.sqrt(share * (1 - share) / n_simulations)),
        np.array(widths),
        confidence,
        n_simulations,
        n_replicates,
        seed,
    )


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
        topics = bootstrap_counts(n_topics, n_replicates, random) / n_topics
        assessors = bootstrap_counts(n_assessors, n_replicates, random) / n_assessors
        part = (topics @ simulated.reshape(n_topics, -1)).reshape(n_replicates, n_assessors, size)
        replicates = np.einsum("ra,ras->rs", assessors, part)
        low, high = np.quantile(replicates, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
        return low, high
    squares = two_way(simulated)
    half = half_widths(squares, "banerjee" if method == "banerjee" else "satterthwaite", confidence)
    return squares.mean - half, squares.mean + half


def coverage_page(
    *, quick: bool = False, rng: Rng = None, progress: Callable[[str, int, int], None] | None = None
) -> Document:
    """The study as a page: coverage and width by panel, what is recommended for how many assessors, and rank intervals.

    quick : 400 simulations of 200 replicates instead of 4,000 of 1,000, and fewer of ranks.
    """
    simulations, replicates = (400, 200) if quick else (4000, 1000)
    found = coverage(
        PANELS, N_TOPICS, N_ASSESSORS, n_simulations=simulations, n_replicates=replicates, rng=rng, progress=progress
    )
    ranks = rank_study(quick=quick, rng=found.seed, progress=progress)
    tables = [_summary(found), *rank_tables(ranks), *(_of_panel(found, name) for name in PANELS)]
    least, most = _span(found, [a for a in N_ASSESSORS if a >= 3])
    few, _ = _span(found, [2])
    verdict = "within" if WANTED[0] <= least and most <= WANTED[1] else "not always within"
    sentence = (
        f"The recommended intervals hold the truth {100 * least:.1f} to {100 * most:.1f} % of the time from 3 "
        f"assessors on, which is {verdict} the 92.5 to 97.5 % wanted of a nominal 95 %; with 2 assessors down to "
        f"{100 * few:.1f} %. Topics alone fall to {100 * found.coverage[found.method == 'topics'].min():.1f} %. "
        f"{rank_sentence(ranks)}"
    )
    notes = (
        *(f"{name}: v_t : v_a : v_e = {' : '.join(f'{v:g}' for v in parts)}" for name, parts in PANELS.items()),
        "D[topic, assessor] = topic + assessor + error, normal and crossed, the true difference 0",
        f"simulations: {found.n_simulations:,} of each; standard error of a coverage near 95 %: "
        f"{100 * np.sqrt(0.95 * 0.05 / found.n_simulations):.2f} points; seed: {found.seed}",
        f"pigeonhole: percentiles of {found.n_replicates:,} replicates (Owen 2007)",
        "satterthwaite: one t for the whole error; banerjee: sqrt of the sum of t^2 times each part of the error",
        "width: mean width over that of an interval with known components (1 is as narrow as can be)",
        *rank_notes(ranks),
    )

    def frame() -> pandas.DataFrame:
        whole: pandas.DataFrame = found.to_frame()
        return whole

    return Document(sentence, tuple(tables), notes, frame)


def _span(found: Coverage, n_assessors: Sequence[int]) -> tuple[float, float]:
    """Lowest and highest coverage of what is recommended for so many assessors."""
    values = [found.of(panel, t, a, recommended(a))[0] for panel, t, a in product(PANELS, N_TOPICS, n_assessors)]
    return min(values), max(values)


def _summary(found: Coverage) -> Table:
    rows = []
    for a in N_ASSESSORS:
        cells = [str(a), recommended(a)]
        for name in METHODS:
            mine = found.coverage[(found.n_assessors == a) & (found.method == name)]
            cells.append(f"{number(float(mine.min()), 3)} to {number(float(mine.max()), 3)}")
        rows.append(cells)
    return Table("coverage over all panels and numbers of topics", ["assessors", "recommended", *METHODS], rows)


def _of_panel(found: Coverage, panel: str) -> Table:
    header = ["topics", "assessors", *METHODS, *(f"width, {name}" for name in METHODS)]
    rows = []
    for t, a in product(N_TOPICS, N_ASSESSORS):
        cells = [found.of(panel, t, a, name) for name in METHODS]
        rows.append([str(t), str(a), *(number(c, 3) for c, _ in cells), *(number(w, 2) for _, w in cells)])
    v_t, v_a, v_e = PANELS[panel]
    return Table(f"{panel} (v_t : v_a : v_e = {v_t:g} : {v_a:g} : {v_e:g})", header, rows)
