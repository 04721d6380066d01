"""Which of AWARE's estimators to trust: the tables beside aware.md, recomputed by simulation.

python docs/aware_trust.py    writes them into the folder aware, some rows into aware.md (half a minute)
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from qrowd.aware import NAMES, similarity_to_random
from qrowd.aware.similarity import Polarity, Similarities
from qrowd.evaluation import evaluate
from qrowd.model.conventions import Conventions
from qrowd.model.runs import Runs, concatenate_runs
from qrowd.model.scores import known_mean
from qrowd.simulation import (
    Behaviour,
    Confused,
    Inverted,
    Lazy,
    Random,
    Truth,
    simulate_judgments,
    simulate_pool,
    simulate_runs,
)

Floats = NDArray[np.float64]
PAGE = Path(__file__).parent / "aware.md"
FOLDER = Path(__file__).parent / "aware"
SHOWN = ("sgl_rmse_md", "sgl_rmse_med", "sgl_tau_md", "tpc_kld_md")
"""The estimators that the page shows; the files beside it have all thirty."""
POLARITIES: tuple[Polarity, ...] = get_args(Polarity)
SYSTEMS = 30
ACCURACIES = tuple(round(0.55 + 0.05 * i, 2) for i in range(9))
HONEST: dict[str, Behaviour] = {f"{accuracy:.2f}": Confused.of_accuracy(accuracy) for accuracy in ACCURACIES}
TROUBLE: dict[str, Behaviour] = {
    "lazy": Lazy(),
    "all relevant": Random(1.0),
    "inverted": Inverted(Confused.of_accuracy(0.9)),
    "p = .3": Random(0.3),
}


def uneven(truth: Truth, seed: int) -> Runs:
    """Lists as deep as the pool; systems differ in how much of theirs is judged, whatever their quality."""
    return _systems(truth, seed, np.random.default_rng(seed).permutation(np.linspace(0.3, 0.7, SYSTEMS)), 60)


def favoured(truth: Truth, seed: int) -> Runs:
    """The same, but the better a system, the more of its list is judged."""
    return _systems(truth, seed, np.linspace(0.7, 0.3, SYSTEMS), 60)


def judged(truth: Truth, seed: int) -> Runs:
    """The first twenty of each system, all judged."""
    return _systems(truth, seed, np.zeros(SYSTEMS), 20)


def _systems(truth: Truth, seed: int, unjudged: Floats, depth: int) -> Runs:
    """From worst to best."""
    return concatenate_runs(
        [
            simulate_runs(truth, 1, quality=[q], names=[f"sys{i}"], unjudged_share=u, depth=depth, rng=[seed, i])
            for i, (q, u) in enumerate(zip(np.linspace(0.3, 1.5, SYSTEMS), unjudged.tolist(), strict=True))
        ]
    )


@dataclass(frozen=True)
class Draw:
    """One simulated collection: similarities of its panel, and what the systems truly score on average."""

    similarities: Similarities
    truth: Floats

    @classmethod
    def of(
        cls, runs: Callable[[Truth, int], Runs], panel: Mapping[str, Behaviour], seed: int, n: int, topics: int = 25
    ) -> Draw:
        truth = simulate_pool(topics, 60, prevalence=0.3, rng=seed)
        systems = runs(truth, seed)
        judgments = simulate_judgments(truth, panel, rng=seed)
        true = evaluate(systems, truth.judgments(binary=True), "AP", conventions=Conventions(empty="nan"))
        similarities = similarity_to_random(systems, judgments, "AP", n_resamples=n, rng=seed)
        return cls(similarities, known_mean(true.values[0, 0], 0))

    def weights(self, name: str, polarity: Polarity) -> Floats:
        """(assessors,) mean accuracy over topics."""
        return known_mean(self.similarities.accuracy(name, polarity=polarity)[0], 1)

    def follows_accuracy(self, name: str, polarity: Polarity) -> float:
        """Spearman's correlation of weights with the true accuracies of an honest panel."""
        return float(np.corrcoef(_ranks(self.weights(name, polarity)), _ranks(np.array(ACCURACIES)))[0, 1])

    def outweighed(self, name: str, polarity: Polarity) -> Floats:
        """(troublemakers,) which share of the honest assessors each outweighs."""
        weights = self.weights(name, polarity)
        honest, others = weights[: len(HONEST)], weights[len(HONEST) :]
        return np.asarray((others[:, None] > honest).mean(axis=1))

    def result(self, name: str, polarity: Polarity) -> tuple[float, float]:
        """Kendall's tau and root mean square error of AWARE's means against the true ones."""
        return self.against_truth(known_mean(self.similarities.average(name, polarity=polarity).values[0, 0], 0))

    def of_assessors(self) -> Floats:
        """(assessors, 2) the same of everyone alone."""
        return np.array([self.against_truth(known_mean(table, 0)) for table in self.similarities.scores.values[0]])

    def against_truth(self, means: Floats) -> tuple[float, float]:
        order = np.sign(np.subtract.outer(means, means)) * np.sign(np.subtract.outer(self.truth, self.truth))
        tau = order.sum() / (means.size * (means.size - 1))
        return float(tau), float(np.sqrt(np.mean((means - self.truth) ** 2)))


def _ranks(values: Floats) -> Floats:
    """Ranks from 1, ties sharing theirs."""
    return np.asarray((values[:, None] > values).sum(axis=1) + (values[:, None] == values).sum(axis=1) / 2)


def draws(
    runs: Callable[[Truth, int], Runs], panel: Mapping[str, Behaviour], n_draws: int = 10, n: int = 200
) -> list[Draw]:
    """So many collections, each from a seed of its own."""
    return [Draw.of(runs, panel, seed, n) for seed in range(1, n_draws + 1)]


# ---- tables


def accuracy_rows() -> list[list[str]]:
    """Does weight follow accuracy? For every estimator, on three kinds of collection."""
    kinds = {"uneven": draws(uneven, HONEST), "favoured": draws(favoured, HONEST), "all judged": draws(judged, HONEST)}
    rows = [["estimator", *kinds]]
    for names in _alike():
        cells = []
        for collections in kinds.values():
            usual, printed = (
                np.array([draw.follows_accuracy(names[0], polarity) for draw in collections]) for polarity in POLARITIES
            )
            cells.append(f"{_short(usual.mean())} ({_short(usual.min())}) / {_short(printed.mean())}")
        rows.append([", ".join(names), *cells])
    return rows


def trouble_rows() -> list[list[str]]:
    """How many honest assessors do careless ones outweigh, and what is the effect on the result?"""
    collections = draws(uneven, HONEST | TROUBLE)
    without = draws(uneven, {name: who for name, who in (HONEST | TROUBLE).items() if name != "lazy"})
    alone = np.mean([draw.of_assessors() for draw in collections], axis=0)[len(HONEST) :]
    rows = [["estimator", *TROUBLE, "tau", "RMSE", "tau, no lazy", "RMSE, no lazy"]]
    rows.append(["their own tau", *(_short(tau) for tau, _ in alone), *[""] * 4])
    rows.append(["their own RMSE", *(_short(rmse, 3) for _, rmse in alone), *[""] * 4])
    rows.append(["uniform", *[""] * len(TROUBLE), *_results([collections, without], "uniform", POLARITIES[:1])])
    for name in NAMES:
        outweighed = [np.mean([draw.outweighed(name, p) for draw in collections], axis=0) for p in POLARITIES]
        cells = [f"{_short(usual)} / {_short(printed)}" for usual, printed in zip(*outweighed, strict=True)]
        rows.append([name, *cells, *_results([collections, without], name, POLARITIES)])
    return rows


def _results(kinds: Sequence[Sequence[Draw]], name: str, polarities: Sequence[Polarity]) -> list[str]:
    """Tau and RMSE of each kind of collection, by each polarity."""
    cells = []
    for collections in kinds:
        means = [np.mean([draw.result(name, polarity) for draw in collections], axis=0) for polarity in polarities]
        cells += [" / ".join(_short(mean[i], digits) for mean in means) for i, digits in ((0, 2), (1, 3))]
    return cells


def _alike() -> list[Sequence[str]]:
    """Names, those together that order assessors alike: a single score and its square."""
    single = [(f"sgl_{gap}_md", f"sgl_{gap}_msd") for gap in ("fro", "rmse", "kld", "tau", "apc")]
    grouped = {name: names for names in single for name in names}
    return list(dict.fromkeys(grouped.get(name, (name,)) for name in NAMES))


def _short(value: float, digits: int = 2) -> str:
    """.93, -.07, 1.00."""
    return re.sub(r"^(-?)0\.", r"\1.", f"{value + 0.0:.{digits}f}").replace("-." + "0" * digits, "." + "0" * digits)


def as_markdown(rows: Sequence[Sequence[str]]) -> str:
    """The rows of `SHOWN` estimators, with their names as code."""
    header, *others = rows
    lines = [header, ["---", *["---:"] * (len(header) - 1)]]
    for names, *cells in others:
        if not set(names.split(", ")).isdisjoint(SHOWN):
            lines.append([re.sub(r"\w+", r"`\g<0>`", names), *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


SIMULATED = {"accuracy": accuracy_rows, "trouble": trouble_rows}


def with_tables(page: str, tables: Mapping[str, str]) -> str:
    """The page with each table between its marks."""
    for name, table in tables.items():
        marks = re.compile(rf"(<!--table {name}-->\n\n).*?(<!--end of table {name}-->)", re.DOTALL)
        page = marks.sub(lambda found, table=table: f"{found[1]}{table}\n\n{found[2]}", page)
    return page


if __name__ == "__main__":
    tables = {name: make() for name, make in SIMULATED.items()}
    for name, rows in tables.items():
        with (FOLDER / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    page = with_tables(PAGE.read_text(encoding="utf-8"), {"accuracy": as_markdown(tables["accuracy"])})
    PAGE.write_text(page, encoding="utf-8")
