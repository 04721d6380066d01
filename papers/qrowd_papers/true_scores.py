"""How often does the spread over draws of the labels hold the true score? Simulated, with the truth known.

Six systems, twelve topics of forty documents, relevance yes or no, five assessors of accuracy .65 to .85. Draws of
Dawid and Skene's posterior, from labels alone, beside draws given labels and ranks. `true_scores_page` is the page
docs/papers/true_scores.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.aggregation import Aggregate, dawid_skene
from qrowd.evaluation import evaluate
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Chance, Rng, seed_of
from qrowd.reports.document import Document
from qrowd.simulation.assessors import Behaviour, Confused, Lenient
from qrowd.simulation.judgments import simulate_judgments
from qrowd.simulation.runs import simulate_runs
from qrowd.simulation.truth import simulate_pool
from qrowd.uncertainty.label_uncertainty import LabelUncertainty, under_label_uncertainty
from qrowd.uncertainty.relevance_given_ranks import RelevanceGivenRanks, relevance_given_ranks
from qrowd_papers.simulations import Progress, each, table_of

if TYPE_CHECKING:
    import pandas

Design = tuple[tuple[float, float], Sequence[Behaviour]]
FIVE = tuple(Confused.of_accuracy(accuracy) for accuracy in (0.65, 0.7, 0.75, 0.8, 0.85))
DESIGNS: Mapping[str, Design] = {
    "quality 0": ((0.0, 0.0), FIVE),
    "quality 0.9": ((0.9, 0.9), FIVE),
    "quality 1.5": ((1.5, 1.5), FIVE),
    "quality 0.3 to 1.5": ((0.3, 1.5), FIVE),
    "three assessors, 0.3 to 1.5": ((0.3, 1.5), tuple(Confused.of_accuracy(a) for a in (0.7, 0.75, 0.8))),
    "errors alike, 0.3 to 1.5": ((0.3, 1.5), (Lenient(noise=0.7),) * 5),
}
"""Lowest and highest quality of the systems, and the assessors; the last err where relevance is close to the cut."""
MEASURES = ("P@10", "nDCG@10", "AP")
LABELS = ("labels alone", "labels and ranks")


def true_scores(
    designs: Mapping[str, Design] = DESIGNS,
    *,
    n_simulations: int = 60,
    n_topics: int = 12,
    n: int = 1000,
    rng: Rng = None,
    progress: Progress | None = None,
) -> pandas.DataFrame:
    """Coverage of the true mean scores by draws from labels alone, and from labels and ranks. n : draws.

    One row per design, measure and kind of labels. Columns `coverage`: share of systems whose true mean score lies
    within the 95 % of draws; `error`: its standard error over simulations; `bias`: mean of the draws less the true
    score; `independent`: share of simulations whose own check lets assessors err independently, nan for labels alone,
    which have no check; `said`, `true_share`: of pairs of systems of which the draws put one ahead in 50 to 70 %, the
    mean of that share and how often that one is truly ahead.
    """
    import pandas as pd

    chance = Chance.of(rng)
    simulations = [(name, i) for name in designs for i in range(n_simulations)]
    outcomes: dict[tuple[str, str], list[Floats]] = {cell: [] for cell in product(designs, LABELS)}
    pairs: dict[tuple[str, str], list[Floats]] = {cell: [] for cell in product(designs, LABELS)}
    for name, i in each(simulations, "true scores", progress):
        quality, behaviours = designs[name]
        random = chance.stream(name, i)
        truth = simulate_pool(n_topics, 40, n_grades=2, prevalence=0.3, topic_variance=0.0, rng=random)
        runs = simulate_runs(truth, 6, quality=quality, rng=random)
        assessors = {f"assessor{a}": behaviour for a, behaviour in enumerate(behaviours)}
        judgments = simulate_judgments(truth, assessors, rng=random)
        true = evaluate(runs, truth.judgments(), MEASURES).values[:, 0].mean(axis=1)
        posterior = dawid_skene(judgments, per="all", rng=random)
        given_ranks = relevance_given_ranks(runs, judgments, n_resamples=n, rng=random)
        sources: Sequence[Aggregate | RelevanceGivenRanks] = (posterior, given_ranks)
        for labels, source, independent in zip(LABELS, sources, (np.nan, given_ranks.independent), strict=True):
            draws = under_label_uncertainty(runs, source, MEASURES, n_resamples=n, rng=random)
            covers = (draws.low - 1e-9 <= true) & (true <= draws.high + 1e-9)
            bias = (draws.mean - true).mean(axis=1)
            outcomes[name, labels].append(np.stack([covers.mean(axis=1), bias, np.full(bias.size, independent)]))
            pairs[name, labels].append(_pairs(draws, true))
    rows: list[tuple[Any, ...]] = []
    for (name, labels), tables in outcomes.items():
        coverage, bias, independent = np.mean(tables, axis=0)
        error = np.std(tables, axis=0, ddof=1)[0] / np.sqrt(n_simulations)
        ahead = np.concatenate(pairs[name, labels], axis=1)
        for m, measure in enumerate(MEASURES):
            both = ahead[:2, ahead[2] == m]
            shares = [float(row.mean()) if row.size else np.nan for row in both]
            rows.append((name, measure, labels, coverage[m], error[m], bias[m], independent[m], *shares))
    columns = ["design", "measure", "labels", "coverage", "error", "bias", "independent", "said", "true_share"]
    return pd.DataFrame(rows, columns=columns)


def _pairs(draws: LabelUncertainty, true: Floats) -> Floats:
    """(3, pairs) of pairs that the draws leave open: share of draws ahead, whether truly ahead, number of measure."""
    m, a, b = np.nonzero((draws.above >= 0.5) & (draws.above < 0.7))
    apart = true[m, a] != true[m, b]
    return np.stack([draws.above[m, a, b], (true[m, a] > true[m, b]).astype(np.float64), m])[:, apart]


def true_scores_page(*, quick: bool = False, rng: Rng = None, progress: Progress | None = None) -> Document:
    """The study as a page. quick : 2 simulations of 100 draws instead of 60 of 1,000."""
    seed, (simulations, draws) = seed_of(rng), (2, 100) if quick else (60, 1000)
    frame = true_scores(n_simulations=simulations, n=draws, rng=seed, progress=progress)
    five = frame[frame.design.str.startswith("quality")]
    alone, by_ranks = (100 * five.coverage[five.labels == labels] for labels in LABELS)
    sentence = (
        f"95 % of the draws given labels and ranks hold the true score of {by_ranks.min():.1f} to "
        f"{by_ranks.max():.1f} % of systems where five assessors err independently; draws from labels alone that of "
        f"{alone.min():.1f} to {alone.max():.1f} %."
    )
    columns = (
        ("runs", "design", ""), ("measure", "measure", ""), ("labels", "labels", ""), ("coverage", "coverage", 3),
        ("error", "error", 3), ("bias", "bias", "+.3f"), ("independent", "independent", 2),
        ("ahead by draws", "said", 2), ("truly ahead", "true_share", 2),
    )  # fmt: skip
    notes = (
        "labels alone: draws of Dawid and Skene's posterior; labels and ranks: of relevance_given_ranks",
        "12 topics of 40 documents, 30 % relevant; 6 systems, 20 documents a list; assessors of accuracy .65 to .85",
        "three assessors: accuracy .7 to .8; errors alike: five see relevance with an error of .7 s.d., so that all "
        "of them err where a document is close to the cut",
        "independent: share of simulations in which p_independent is .05 or more; elsewhere no interval is offered",
        "ahead by draws: mean over pairs of systems of which the draws put one ahead in 50 to 70 %",
        f"simulations: {simulations:,} of each; error: standard error over simulations; seed: {seed}",
    )
    table = table_of("the true score within 95 % of draws", frame.itertuples(), columns)
    return Document(sentence, (table,), notes, lambda: frame)
