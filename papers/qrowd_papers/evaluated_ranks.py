"""Do expected and counted relevant results agree? p(R|i) from bands of ranks beside p(R|i) from the whole pool.

Where both assessors judged everything, the number of results in the first ranks of a system that p(R|i) expects another
assessor to find relevant can be set against the number that the two count. They agree if the mean difference over
topics is within two of its standard errors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from qrowd import files
from qrowd.comparison.correlation import kendall_tau_b
from qrowd.model.chance import Chance, Rng, seed_of
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.model.runs import Runs
from qrowd.predicted_relevance import predicted_relevance, relevant_results
from qrowd.predicted_relevance.bands import Ranks
from qrowd.reports.document import Document
from qrowd.simulation import Lenient, simulate_judgments, simulate_pool, simulate_runs
from qrowd_papers.frames import frame_of
from qrowd_papers.simulations import Progress, each, table_of

Learnt = Literal["everything", "other topics", "10 documents a topic"]
"""What p(R|i) is learnt from: all double judgments; those of the other half of the topics; so many of every topic,
while the first assessor alone judged the rest."""
REAL = (("dl21", "umbrela-gpt4o"), ("dl21", "umbrela-gpt4"), ("dl19", "umbrela-gpt4o"))
RANKS: tuple[Ranks, ...] = get_args(Ranks)
SAMPLE = 10
COLUMNS = (
    ("panel", "panel", ""), ("from grade", "theta", "g"), ("ranks", "depths", ""), ("bands or pool", "ranks", ""),
    ("counted", "counted", 2), ("mean difference", "mean", "+.2f"), ("largest", "largest", 2),
    ("within 2 s.e.", "percent_within", ""), ("largest / s.e.", "worst", 1), ("tau-b", "tau", 3),
)  # fmt: skip


@dataclass(frozen=True)
class Calibration:
    """Expected minus counted relevant results of systems, in the first `depth` ranks.

    mean, largest : of the systems' mean differences over topics, the latter without sign. within : share of systems
        whose mean difference is within two standard errors; worst : the largest difference in standard errors.
    counted : mean number that is counted. tau : tau-b of the systems by expected and by counted results.
    """

    panel: str
    theta: float
    depth: int
    learnt: Learnt
    ranks: Ranks
    n_systems: int
    counted: float
    mean: float
    largest: float
    within: float
    worst: float
    tau: float

    @property
    def depths(self) -> str:
        return f"1-{self.depth}"

    @property
    def percent_within(self) -> str:
        return f"{100 * self.within:.0f} %"


def calibration(
    judgments: Judgments,
    runs: Runs,
    theta: float,
    *,
    ranks: Ranks,
    learnt: Learnt = "everything",
    depth: int = 10,
    panel: str = "",
    rng: Rng = None,
) -> Calibration:
    """How far expected and counted relevant results lie apart; judgments : of two assessors who judged everything."""
    random = Chance.of(rng).stream("evaluated ranks")
    if learnt == "other topics":
        one, other = ([str(t) for t in half] for half in np.array_split(random.permutation(judgments.topics), 2))
        parts = [(judgments.select(topics=a), judgments.select(topics=b)) for a, b in ((one, other), (other, one))]
    else:
        parts = [(judgments if learnt == "everything" else _sampled(judgments, random), judgments)]
    expected_counted = []
    for taught, tested in parts:
        model = predicted_relevance(taught, rel=theta, runs=runs, ranks=ranks, cutoff=depth, n_resamples=0)
        results = relevant_results(model, tested, runs=runs, cutoff=depth)
        expected_counted.append((results.predicted, results.binary))
    expected, counted = (np.concatenate(part) for part in zip(*expected_counted, strict=True))
    difference = expected - counted
    means = difference.mean(axis=0)
    errors = np.abs(means) / (difference.std(axis=0, ddof=1) / np.sqrt(len(difference)))
    return Calibration(
        panel,
        theta,
        depth,
        learnt,
        ranks,
        len(runs.systems),
        counted=float(counted.mean()),
        mean=float(means.mean()),
        largest=float(np.abs(means).max()),
        within=float(np.mean(errors <= 2)),
        worst=float(errors.max()),
        tau=float(kendall_tau_b(expected.mean(axis=0), counted.mean(axis=0))),
    )


def _sampled(judgments: Judgments, random: np.random.Generator) -> Judgments:
    """All judgments of the first assessor, and the others' of `SAMPLE` documents of each topic."""
    pair = judgments.pair_numbers
    samples = []
    for topic in range(len(judgments.topics)):
        pairs = np.unique(pair[judgments.topic == topic])
        samples.append(random.choice(pairs, min(SAMPLE, pairs.size), replace=False))
    judged = (judgments.assessor == 0) | np.isin(pair, np.concatenate(samples))
    return replace(judgments, value=np.where(judged, judgments.value, -1.0))


def evaluated_ranks_page(
    data: str | None = None,
    *,
    quick: bool = False,
    rng: Rng = None,
    progress: Progress | None = None,
) -> Document:
    """The study as a page, on a simulated panel and, where their folder is given, on real ones.

    quick : a smaller simulated panel.
    """
    seed = seed_of(rng)
    rows: list[Calibration] = []
    for name, runs, judgments, theta, depth in each(_panels(data, quick, seed), "evaluated ranks", progress):
        rows += [
            calibration(judgments, runs, theta, ranks=ranks, learnt=learnt, depth=depth, panel=name, rng=seed)
            for learnt in get_args(Learnt)
            for ranks in RANKS
        ]
    whole = [row for row in rows if row.learnt == "everything"]
    strict, any_ = (
        {name: _span([row.within for row in whole if row.ranks == name and (row.theta > 1) == high]) for name in RANKS}
        for high in (True, False)
    )
    sentence = (
        "Where both assessors judged everything, expected and counted relevant results agree within two standard "
        f"errors for {strict['bands']} of systems with p(R|i) by bands of ranks, and for {strict['pool']} with p(R|i) "
        f"of the whole pool (users satisfied from grade 2 or 3 on; from grade 1 on {any_['bands']} and "
        f"{any_['pool']})."
    )
    notes = (
        "difference: expected minus counted relevant results in the first ranks, the mean over topics and assessors",
        "other topics: learnt from one half of the topics, counted on the other, and the reverse",
        f"{SAMPLE} documents a topic: drawn from all that were judged; the first assessor alone judged the rest",
        f"simulated: 20 systems, two assessors, one of them lenient; seed: {seed!r}",
    )

    tables = (
        table_of(
            f"expected and counted relevant results; p(R|i) learnt from {learnt}",
            [row for row in rows if row.learnt == learnt],
            COLUMNS,
        )
        for learnt in get_args(Learnt)
    )
    return Document(sentence, tuple(tables), notes, lambda: frame_of(rows))


def _panels(data: str | None, quick: bool, rng: Rng) -> Iterator[tuple[str, Runs, Judgments, float, int]]:
    """Name, runs, judgments, theta and depth."""
    small = {"n_topics": 20, "n_documents": 60} if quick else {}
    runs, judgments = simulated(rng, **small)
    for theta in (2, 1):
        yield "simulated", runs, judgments, theta, 10
    if data is not None:
        for track, judge in REAL:
            runs, judgments = real(Path(data) / track, judge)
            for theta, depth in ((2, 10), (2, 5), (2, 20), (3, 10), (1, 10)):
                yield f"{track}, NIST and {judge}", runs, judgments, theta, depth


def _span(shares: list[float]) -> str:
    return f"{100 * min(shares):.0f} to {100 * max(shares):.0f} %"


def simulated(rng: Rng, *, n_topics: int = 50, n_documents: int = 150, n_systems: int = 20) -> tuple[Runs, Judgments]:
    """Systems of unequal quality, and two assessors who judged everything."""
    truth = simulate_pool(n_topics, n_documents, rng=rng)
    runs = simulate_runs(truth, n_systems, depth=50, rng=rng)
    people = {"first": Lenient(noise=0.7), "second": Lenient(shift=0.3, noise=0.7)}
    return runs, simulate_judgments(truth, people, rng=rng)


def real(folder: Path, judge: str) -> tuple[Runs, Judgments]:
    """The runs of a track, with NIST's judgments and a model's, of the documents both judged."""
    nist = files.read_judgments({"NIST": folder / "qrels.nist.txt"}, scales={"NIST": "0-3"})
    model = files.read_judgments({judge: folder / "judges" / f"{judge}.qrels.gz"}, scales={judge: "0-3"})
    return files.read_runs(folder / "runs"), concatenate_judgments([nist, model])
