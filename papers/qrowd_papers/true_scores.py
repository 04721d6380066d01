"""How often does the spread over draws of the labels hold the true score? Simulated, with the truth known.

Six systems, twelve topics of forty documents, relevance yes or no, five assessors of accuracy .65 to .85. Draws of
Dawid and Skene's posterior, from labels alone, beside draws given labels and ranks. `true_scores_page` is the page
docs/papers/true_scores.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qrowd.aggregation import Aggregate, dawid_skene
from qrowd.evaluation import evaluate
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Chance, Rng, seed_of
from qrowd.model.frames import make_frame
from qrowd.reports.document import Document, Table
from qrowd.reports.phrases import number
from qrowd.simulation.assessors import Behaviour, Confused, Lenient
from qrowd.simulation.judgments import simulate_judgments
from qrowd.simulation.runs import simulate_runs
from qrowd.simulation.truth import simulate_pool
from qrowd.uncertainty.label_uncertainty import LabelUncertainty, under_label_uncertainty
from qrowd.uncertainty.relevance_given_ranks import RelevanceGivenRanks, relevance_given_ranks

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


@dataclass(frozen=True, eq=False)
class TrueScores:
    """One row per design, measure and kind of labels.

    coverage : share of systems whose true mean score lies within the 95 % of draws; error : its standard error over
        simulations. bias : mean of the draws less the true score. independent : share of
        simulations whose own check lets assessors err independently; nan for labels alone, which have no check.
    said, true_share : of pairs of systems of which the draws put one ahead in 50 to 70 %, the mean of that share and
        how often that one is truly ahead.
    """

    design: NDArray[np.object_]
    measure: NDArray[np.object_]
    labels: NDArray[np.object_]
    coverage: Floats
    error: Floats
    bias: Floats
    independent: Floats
    said: Floats
    true_share: Floats
    n_simulations: int
    seed: int | tuple[int, ...]

    def to_frame(self, backend: str = "pandas") -> Any:
        """The rows."""
        columns = ("design", "measure", "labels", "coverage", "error", "bias", "independent", "said", "true_share")
        return make_frame({name: getattr(self, name) for name in columns}, backend)


def true_scores(
    designs: Mapping[str, Design] = DESIGNS,
    *,
    n_simulations: int = 60,
    n_topics: int = 12,
    n: int = 1000,
    rng: Rng = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> TrueScores:
    """Coverage of the true mean scores by draws from labels alone, and from labels and ranks. n : draws."""
    seed = seed_of(rng)
    chance = Chance.of(seed)
    rows: list[tuple[Any, ...]] = []
    for place, (name, (quality, behaviours)) in enumerate(designs.items()):
        independent = 0
        outcomes: dict[str, list[Floats]] = {labels: [] for labels in LABELS}
        pairs: dict[str, list[Floats]] = {labels: [] for labels in LABELS}
        for i in range(n_simulations):
            random = chance.stream(name, i)
            truth = simulate_pool(n_topics, 40, grades=2, prevalence=0.3, topic_spread=0.0, rng=random)
            runs = simulate_runs(truth, 6, quality=quality, rng=random)
            judges = {f"assessor{a}": behaviour for a, behaviour in enumerate(behaviours)}
            judgments = simulate_judgments(truth, judges, rng=random)
            true = evaluate(runs, truth.judgments(), MEASURES).values[:, 0].mean(axis=1)
            posterior = dawid_skene(judgments, per="all", rng=random)
            given_ranks = relevance_given_ranks(runs, judgments, n_resamples=n, rng=random)
            independent += given_ranks.independent
            sources: Sequence[Aggregate | RelevanceGivenRanks] = (posterior, given_ranks)
            for labels, drawn in zip(LABELS, sources, strict=True):
                found = under_label_uncertainty(runs, drawn, MEASURES, n_resamples=n, rng=random)
                held = (found.low - 1e-9 <= true) & (true <= found.high + 1e-9)
                outcomes[labels].append(np.stack([held.mean(axis=1), (found.mean - true).mean(axis=1)]))
                pairs[labels].append(_pairs(found, true))
            if progress is not None:
                progress("true scores", place * n_simulations + i + 1, len(designs) * n_simulations)
        for labels in LABELS:
            accepted = independent / n_simulations if labels == LABELS[1] else np.nan
            table = np.array(outcomes[labels])
            mean = table.mean(axis=0)
            spread = table[:, 0].std(axis=0, ddof=1) / np.sqrt(n_simulations)
            ahead = np.concatenate(pairs[labels], axis=1)
            for m, measure in enumerate(MEASURES):
                said = ahead[:, ahead[2] == m]
                share = (np.nan, np.nan) if not said.size else (float(said[0].mean()), float(said[1].mean()))
                rows.append((name, measure, labels, mean[0, m], spread[m], mean[1, m], accepted, *share))
    columns = list(zip(*rows, strict=True))
    names, of, kind = (np.array(column, object) for column in columns[:3])
    coverage, error, bias, independent_share, put_ahead, truly = (
        np.array(column, np.float64) for column in columns[3:]
    )
    return TrueScores(names, of, kind, coverage, error, bias, independent_share, put_ahead, truly, n_simulations, seed)


def _pairs(found: LabelUncertainty, true: Floats) -> Floats:
    """(3, pairs) of pairs that the draws leave open: share of draws ahead, whether truly ahead, number of measure."""
    m, a, b = np.nonzero((found.above >= 0.5) & (found.above < 0.7))
    apart = true[m, a] != true[m, b]
    return np.stack([found.above[m, a, b], (true[m, a] > true[m, b]).astype(np.float64), m])[:, apart]


def true_scores_page(
    *, quick: bool = False, rng: Rng = None, progress: Callable[[str, int, int], None] | None = None
) -> Document:
    """The study as a page. quick : 2 simulations of 100 draws instead of 60 of 1,000."""
    simulations, draws = (2, 100) if quick else (60, 1000)
    found = true_scores(n_simulations=simulations, n=draws, rng=rng, progress=progress)
    five = np.array([name.startswith("quality") for name in found.design])
    by_ranks = found.labels == LABELS[1]
    least, most = (found.coverage[five & by_ranks].min(), found.coverage[five & by_ranks].max())
    sentence = (
        f"95 % of the draws given labels and ranks hold the true score of {100 * least:.1f} to {100 * most:.1f} % of "
        "systems where five assessors err independently; draws from labels alone that of "
        f"{100 * found.coverage[five & ~by_ranks].min():.1f} to {100 * found.coverage[five & ~by_ranks].max():.1f} %."
    )
    header = ["runs", "measure", "labels", "coverage", "error", "bias", "independent", "ahead by draws", "truly ahead"]
    rows = [
        [
            str(found.design[i]),
            str(found.measure[i]),
            str(found.labels[i]),
            *(number(float(x[i]), 3) for x in (found.coverage, found.error)),
            f"{found.bias[i]:+.3f}",
            number(float(found.independent[i]), 2),
            *(number(float(x[i]), 2) for x in (found.said, found.true_share)),
        ]
        for i in range(found.design.size)
    ]
    notes = (
        "labels alone: draws of Dawid and Skene's posterior; labels and ranks: of relevance_given_ranks",
        "12 topics of 40 documents, 30 % relevant; 6 systems, 20 documents a list; assessors of accuracy .65 to .85",
        "three assessors: accuracy .7 to .8; errors alike: five see relevance with an error of .7 s.d., so that all "
        "of them err where a document is close to the cut",
        "independent: share of simulations in which p_independent is .05 or more; elsewhere no interval is offered",
        "ahead by draws: mean over pairs of systems of which the draws put one ahead in 50 to 70 %",
        f"simulations: {found.n_simulations:,} of each; error: standard error over simulations; seed: {found.seed}",
    )

    def frame() -> pandas.DataFrame:
        whole: pandas.DataFrame = found.to_frame()
        return whole

    return Document(sentence, (Table("the true score within 95 % of draws", header, rows),), notes, frame)
