"""How many judgments does `qrowd next` need to decide which system is better, and how often is it wrong?

Replays of real panels, beside draws without labels and uniform draws; `next_judgments_page` is the page
docs/papers/next_judgments.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.executors import AnyExecutor
from qrowd.model.chance import Rng, seed_of
from qrowd.model.result import Result
from qrowd.reports.document import Document, Table
from qrowd.reports.phrases import cells, interval, number, percent
from qrowd.sequential.candidates import is_linear
from qrowd.sequential.question import Question
from qrowd_papers.next_judgments_null import GUESSES, Guesses, null_errors
from qrowd_papers.next_judgments_replays import (
    AP_MEASURE,
    LATER,
    MEASURE,
    ReplayPanel,
    Step,
    real,
    replay,
    simulated,
)
from qrowd_papers.simulations import Progress, each_result

if TYPE_CHECKING:
    import pandas

BANDS = ((0.05, 1.0), (0.02, 0.05), (0.01, 0.02), (0.005, 0.01), (0.0, 0.005))  # of the true difference
SMALL, N_LARGE = 0.01, 3  # differences that matter: at least this, in the first so many bands
NEXT = "qrowd next"
DESIGNS: dict[str, dict[str, Any]] = {
    NEXT: {"with_labels": True},
    "qrowd next, no labels": {"with_labels": False},
    "uniform documents": {"with_labels": False, "sizes": "uniform"},
}
N_SEEDS, QUICK_EVERY, AP_EVERY = 20, 12, 6  # seeds; pairs if quick, and of AP, whose replays take ten times as long
N_PATHS = (20, 10_000)  # of equal systems, quick and not
N_NULL = 30  # documents of each
PATHS_AT_ONCE = 250  # simulations of equal systems that are one task


@dataclass(frozen=True)
class Replay:
    """One question, asked until it was decided.

    difference : of the true mean scores, 0 or more. n_asked : documents judged. n_documents : that can change the
    difference. decided, wrong : whether a system was called better, and whether that was the other one.
    """

    panel: str
    design: str
    better: str
    worse: str
    seed: int
    difference: float
    n_asked: int
    n_documents: int
    decided: bool
    wrong: bool

    @property
    def share(self) -> float:
        return self.n_asked / self.n_documents


@dataclass(frozen=True)
class Replays(Result):
    """Questions of pairs of systems, asked until they were decided; each row is a replay."""

    rows: tuple[Replay, ...]

    def _columns(self) -> dict[str, Any]:
        names = ("panel", "design", "better", "worse", "seed", "difference", "n_asked", "n_documents", "share",
                 "decided", "wrong")  # fmt: skip
        return {name: np.array([getattr(row, name) for row in self.rows]) for name in names}

    def of(self, panel: str) -> Replays:
        """The replays of a panel."""
        return Replays(tuple(row for row in self.rows if row.panel == panel))

    def bands(self) -> pandas.DataFrame:
        """A row for each panel, design and band of differences.

        Columns `median`, `q1` and `q3`: of the share of the documents that were judged; `saved`: share of all
        judgments saved; `n_wrong`, `wrong`, `wrong_low`, `wrong_high`: wrong decisions, their share, and its exact
        binomial interval (Clopper & Pearson 1934), as if replays were independent.
        """
        import pandas as pd

        frame, rows = self.to_frame(), []
        for (panel, design), group in frame.groupby(["panel", "design"], sort=False):
            for low, high in BANDS:
                part = group[(group.difference >= low) & (group.difference < high)]
                if not len(part):
                    continue
                n_wrong = int(part.wrong.sum())
                exact = wrong_interval(n_wrong, len(part))
                quartiles = np.quantile(part.share, (0.5, 0.25, 0.75))
                saved = 1 - part.n_asked.sum() / part.n_documents.sum()
                of_wrong = (n_wrong, n_wrong / len(part), *exact)
                rows.append((panel, design, low, high, len(part), *quartiles, saved, *of_wrong))
        names = ["panel", "design", "low", "high", "n", "median", "q1", "q3", "saved", "n_wrong", "wrong", "wrong_low",
                 "wrong_high"]  # fmt: skip
        return pd.DataFrame(rows, columns=names)


def wrong_interval(n_wrong: int, n: int) -> tuple[float, float]:
    """The exact interval of a share (Clopper & Pearson 1934), at 95 %."""
    from scipy.stats import binomtest

    exact = binomtest(n_wrong, n).proportion_ci(method="exact")
    return float(exact.low), float(exact.high)


def pairs_of(panel: ReplayPanel, *, every: int = 1) -> list[tuple[str, str]]:
    """Pairs of systems whose true scores differ, the better one first; every so many of them."""
    differences = panel.differences()
    pairs = [(i, j) for i, j in combinations(range(len(panel.systems)), 2) if differences[i, j] > 0]
    return [(panel.systems[i], panel.systems[j]) for i, j in pairs[::every]]


def replays(
    panel: ReplayPanel,
    *,
    seeds: Sequence[int],
    every: int = 1,
    executor: AnyExecutor = None,
    progress: Progress | None = None,
) -> Replays:
    """Each pair of systems by each design and seed. every : leave out pairs, all but every so many.

    executor : whose workers replay pairs.
    """
    pairs = pairs_of(panel, every=every)
    shared, what = (panel, tuple(seeds)), f"pairs of {panel.name}"
    rows = list(chain(*each_result(_replays_of_pair, pairs, what, progress, executor, shared=shared)))
    return Replays(tuple(rows))


def _replays_of_pair(shared: tuple[ReplayPanel, Sequence[int]], pair: tuple[str, str]) -> list[Replay]:
    panel, seeds = shared
    return list(_of_documents(panel, pair, seeds))


def _of_documents(panel: ReplayPanel, pair: tuple[str, str], seeds: Iterable[int]) -> Iterator[Replay]:
    i, j = (panel.systems.index(system) for system in pair)
    difference = float(panel.differences()[i, j])
    for design, options in DESIGNS.items():
        if (panel.labels_only and not options["with_labels"]) or (
            options.get("sizes") and not is_linear(panel.measure)
        ):
            continue
        problem, gains = panel.problem(Question("better", pair), with_labels=options["with_labels"])
        for seed in seeds:
            *_, last = replay(problem, gains, seed=seed, sizes=options.get("sizes", "expected"))
            sign = _sign(last, pair)
            yield Replay(
                panel.name, design, *pair, seed, difference, last.n_asked, problem.matters.size, sign != 0, sign < 0
            )


def _sign(step: Step, pair: tuple[str, str]) -> int:
    """1 where the first system was called better, -1 the second, 0 where the question is open."""
    if not step.look.answer:
        return 0
    return 1 if step.look.low[0] > 0 else -1


# ---------------------------------------------------------------------- the page


def next_judgments_page(
    data: str | None = None,
    *,
    quick: bool = False,
    n_seeds: int | None = None,
    rng: Rng = None,
    executor: AnyExecutor = None,
    progress: Progress | None = None,
) -> Document:
    """The study as a page. Without data, a simulated panel alone.

    quick : every twelfth pair of systems. n_seeds : of each question; default: 20, or 1 if quick. executor : whose
    workers replay questions, each from its seed.
    """
    seed = seed_of(rng)
    first = int(np.atleast_1d(seed)[0])
    seeds = range(first, first + (n_seeds or (1 if quick else N_SEEDS)))
    every = QUICK_EVERY if quick else 1
    panels = [(panel, every) for panel in ([simulated(first)] if data is None else real(data))]
    if data is not None:
        panels += [(panel, max(every, AP_EVERY)) for panel in real(data, AP_MEASURE)]
    n_paths = N_PATHS[0] if quick else N_PATHS[1]
    results = {
        panel.name: replays(panel, seeds=seeds, every=some, executor=executor, progress=progress)
        for panel, some in panels
    }
    equal_systems = null_table(n_paths, first, progress, executor)
    return page_of(results, equal_systems, seeds=seeds, every=every)


def page_of(results: Mapping[str, Replays], equal_systems: Table, *, seeds: Sequence[int], every: int) -> Document:
    """The page of these results."""
    together = Replays(tuple(row for replayed in results.values() for row in replayed.rows))
    bands = together.bands()
    tables = [_summary_table(name, replayed) for name, replayed in results.items()]
    tables += [_band_table(f"{name}: by difference", bands[bands.panel == name]) for name in results]
    tables.append(equal_systems)
    of_next = bands[(bands.panel == next(iter(results))) & (bands.design == NEXT)]
    shares = ", ".join(
        f"{number(median, 2)} for {band}" for median, band in zip(of_next["median"], _band_names(of_next), strict=True)
    )
    sentence = f"Of the documents that can change a difference in {MEASURE}, qrowd next asks for (median): {shares}."
    notes = [
        f"questions: {'each' if every == 1 else f'every {every}th'} pair of the best systems by "
        f"people (AP: every {max(every, AP_EVERY)}th), {len(seeds)} seed(s); systems with the same score are left out",
        f"qrowd next: a batch of 15, then of {LATER} or 5 % of the answers, a look after each; nDCG's normaliser is "
        "estimated, as for users, and a decision is wrong where the true scores say otherwise",
        "open: of these, those that stay open when all documents that matter are judged: the normaliser is in doubt",
        f"wrong, 95 %: exact binomial interval, as if replays were independent; seed: {seeds[0]}",
    ]
    return Document(sentence, tuple(tables), tuple(notes), together.to_frame)


def _band(low: float, high: float) -> str:
    return f">= {low:g}" if high >= 1 else f"{low:g}-{high:g}"


def _band_names(rows: pandas.DataFrame) -> list[str]:
    return [_band(low, high) for low, high in zip(rows.low, rows.high, strict=True)]


def _summary_table(panel: str, replayed: Replays) -> Table:
    """A row for each design: the median share by band, and wrong decisions where the difference is .01 or more."""
    frame, bands = replayed.to_frame(), replayed.bands()
    columns: dict[str, list[str]] = {"design": list(bands.design.unique())}
    for low, high in BANDS[:N_LARGE]:
        medians = bands[bands.low == low].set_index("design")["median"]
        columns[_band(low, high)] = [number(float(medians.get(design, np.nan)), 3) for design in columns["design"]]
    parts = [frame[(frame.design == design) & (frame.difference >= SMALL)] for design in columns["design"]]
    columns["wrong"] = [f"{int(part.wrong.sum())} of {len(part)}" for part in parts]
    columns["wrong, 95 %"] = [interval(*wrong_interval(int(part.wrong.sum()), len(part))) for part in parts]
    columns["open"] = [str(int((~part.decided).sum())) for part in parts]
    columns["saved"] = [percent(1 - part.n_asked.sum() / part.n_documents.sum(), 0) for part in parts]
    return Table.of(f"{panel}: median share judged", columns)


def _band_table(title: str, rows: pandas.DataFrame) -> Table:
    columns = {
        "design": list(rows.design),
        "difference": _band_names(rows),
        "replays": cells(str, rows.n),
        "median": cells(number, rows["median"], digits=3),
        "quartiles": cells(interval, rows.q1, rows.q3),
        "saved": cells(percent, rows.saved, digits=0),
        "wrong": cells(str, rows.n_wrong),
        "wrong, 95 %": cells(interval, rows.wrong_low, rows.wrong_high),
    }
    return Table.of(title, columns)


def null_table(n_paths: int, seed: int, progress: Progress | None, executor: AnyExecutor = None) -> Table:
    """Equal systems: how often a difference is found that is not there."""
    grid = [(guesses, heavy) for guesses in GUESSES for heavy in (False, True)]
    paths = [range(first, min(first + PATHS_AT_ONCE, n_paths)) for first in range(0, n_paths, PATHS_AT_ONCE)]
    blocks = list(product(grid, paths))
    found = each_result(_null_block, blocks, "equal systems", progress, executor, shared=seed)
    by_cell = dict.fromkeys(grid, 0)
    for (at, _), n_errors in zip(blocks, found, strict=True):
        by_cell[at] += n_errors
    counts = list(by_cell.values())
    columns: dict[str, list[str]] = {
        "labels": [guesses for guesses, _ in grid],
        "weights": ["of few documents" if heavy else "equal" for _, heavy in grid],
        "simulations": [str(n_paths)] * len(grid),
        "errors": [str(count) for count in counts],
        "errors, 95 %": [interval(*wrong_interval(count, n_paths)) for count in counts],
    }
    return Table.of(f"equal systems of {N_NULL} documents, a look after every answer", columns)


def _null_block(seed: int, block: tuple[tuple[Guesses, bool], range]) -> int:
    """Errors among some of the simulations of a cell. block : the cell, and numbers of simulations."""
    (guesses, heavy), paths = block
    return null_errors(len(paths), n_documents=N_NULL, guesses=guesses, heavy=heavy, seed=seed, first=paths.start)
