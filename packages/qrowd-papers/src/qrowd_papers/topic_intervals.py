"""How often do intervals of alpha and of p(R|i) hold the truth? Simulated, with topics on which people agree unequally.

A document's relevance is x ~ N(m, 1) on its topic, m ~ N(0, .7 c). An assessor reads x + d + s e, with e ~ N(0, 1) anew
each time, d ~ N(0, .35 c) an assessor's own reading of the topic, and s = .5 exp(N(0, .4 c)) how hard the topic is to
judge; cuts make grades 0 to 3 of it. c = 0: documents are independent of each other, whatever their topic.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.agreement.alpha import krippendorff_alpha
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Chance, Rng, seed_of
from qrowd.model.judgments import Judgments
from qrowd.model.scales import Scale
from qrowd.predicted_relevance import predicted_relevance
from qrowd.reports.document import Document, Table
from qrowd.reports.phrases import number
from qrowd_papers.simulations import Progress, binomial_error, each

if TYPE_CHECKING:
    import pandas

CUTS = (0.3, 1.0, 1.7)  # 60 % of documents are 0
CLUSTERING = (0.0, 1.0)
N_TOPICS = (5, 10, 25, 50, 100)
N_DOCUMENTS = (20, 100)
RESAMPLE = ("topics", "documents")
N_ASSESSORS, THETA = 3, 2
TRUTH_TOPICS, TRUTH_DOCUMENTS = 6000, 50


def judged_topics(clustering: float, n_topics: int, n_documents: int, random: np.random.Generator) -> Judgments:
    """Judgments of `N_ASSESSORS` people on so many topics with so many documents each."""
    topic, who = np.repeat(np.arange(n_topics), n_documents), np.arange(N_ASSESSORS)
    x = random.normal(size=topic.size) + 0.7 * clustering * random.normal(size=n_topics)[topic]
    reading = 0.35 * clustering * random.normal(size=(n_topics, N_ASSESSORS))
    hard = 0.5 * np.exp(0.4 * clustering * random.normal(size=n_topics))
    seen = x[:, None] + reading[topic] + hard[topic, None] * random.normal(size=(topic.size, N_ASSESSORS))
    documents = np.arange(topic.size)
    return Judgments(
        tuple(f"t{t}" for t in range(n_topics)),
        tuple(f"d{d}" for d in documents),
        tuple(f"a{a}" for a in who),
        np.repeat(topic, N_ASSESSORS).astype(np.int32),
        np.repeat(documents, N_ASSESSORS).astype(np.int32),
        np.tile(who, topic.size).astype(np.int32),
        np.searchsorted(CUTS, seen).astype(np.float64).ravel(),
        (Scale("graded", 3.0, declared=True),) * N_ASSESSORS,
    )


def topic_intervals(
    clustering: Sequence[float] = CLUSTERING,
    n_topics: Sequence[int] = N_TOPICS,
    n_documents: Sequence[int] = N_DOCUMENTS,
    *,
    n_simulations: int = 400,
    n_resamples: int = 400,
    rng: Rng = None,
    progress: Progress | None = None,
) -> pandas.DataFrame:
    """Coverage and width of 95 % intervals; alpha is ordinal, p(R|i) of users satisfied from grade 2 on.

    One row per clustering, number of topics and of documents a topic, what was estimated, and what was drawn. Columns
    `coverage`: share of simulations whose interval holds the truth; `error`: its standard error; `width`: mean width.
    """
    import pandas as pd

    chance = Chance.of(rng)
    rows: list[tuple[Any, ...]] = []
    names = ["alpha", *(f"p(R|{grade})" for grade in range(len(CUTS) + 1))]
    truth = {c: _truth(c, chance.stream(f"truth {c}")) for c in clustering}
    for c, topics, documents in each(product(clustering, n_topics, n_documents), "intervals", progress):
        ends = np.empty((len(RESAMPLE), n_simulations, 2, len(names)))
        random = chance.stream(f"{c} {topics} {documents}")
        for simulation in range(n_simulations):
            judged = judged_topics(c, topics, documents, random)
            for r, resample in enumerate(RESAMPLE):
                options: dict[str, Any] = {"resample": resample, "rng": simulation}
                alpha = krippendorff_alpha(judged, n_resamples=n_resamples, **options).item()
                model = predicted_relevance(judged, rel=THETA, n_resamples=n_resamples, **options)
                ends[r, simulation] = [[alpha.low, *model.low], [alpha.high, *model.high]]
        covers = (ends[:, :, 0] <= truth[c]) & (ends[:, :, 1] >= truth[c])
        width = ends[:, :, 1] - ends[:, :, 0]
        for r, resample in enumerate(RESAMPLE):
            for e, estimate in enumerate(names):
                share = covers[r, :, e].mean()
                error = binomial_error(share, n_simulations)
                rows.append((c, topics, documents, estimate, resample, share, error, np.nanmean(width[r, :, e])))
    columns = ["clustering", "n_topics", "n_documents", "estimate", "resample", "coverage", "error", "width"]
    return pd.DataFrame(rows, columns=columns)


def _truth(clustering: float, random: np.random.Generator) -> Floats:
    """Alpha and p(R|i) of very many topics."""
    judged = judged_topics(clustering, TRUTH_TOPICS, TRUTH_DOCUMENTS, random)
    model = predicted_relevance(judged, rel=THETA, n_resamples=0)
    return np.array([krippendorff_alpha(judged).item().value, *model.probability])


def topic_intervals_page(*, quick: bool = False, rng: Rng = None, progress: Progress | None = None) -> Document:
    """The study as a page.

    quick : 50 simulations of 25 topics instead of 400 of 5 to 100.
    """
    seed = seed_of(rng)
    n_topics, n_simulations, n_resamples = ((25,), 50, 200) if quick else (N_TOPICS, 400, 400)
    frame = topic_intervals(
        CLUSTERING, n_topics, N_DOCUMENTS, n_simulations=n_simulations, n_resamples=n_resamples, rng=seed,
        progress=progress,
    )  # fmt: skip
    enough = frame[(frame.clustering > 0) & (frame.n_topics >= 25)]
    topics, documents = (enough.coverage[enough["resample"] == name] for name in RESAMPLE)
    sentence = (
        f"Where people agree unequally on topics, intervals that draw topics hold the truth in "
        f"{_span(topics)} of cases from 25 topics on, and those that draw documents in "
        f"{_span(documents)}, of 95 wanted."
    )
    notes = (
        "clustering: how much topics differ in relevance and in how far people agree; 0 is documents independent of "
        "each other",
        f"{N_ASSESSORS} assessors, grades 0-3; alpha is ordinal, p(R|i) from grade {THETA} on, of all documents",
        f"simulations: {n_simulations:,} of each, {n_resamples} replicates; s.e. of a coverage near "
        f"95 %: {100 * binomial_error(0.95, n_simulations):.1f} points; seed: {seed}",
        f"truth: {TRUTH_TOPICS:,} topics of {TRUTH_DOCUMENTS} documents",
    )
    tables = (_table(part, c) for c, part in reversed(list(frame.groupby("clustering"))))
    return Document(sentence, tuple(tables), notes, lambda: frame)


def _span(shares: pandas.Series[float]) -> str:
    return f"{100 * shares.min():.0f} to {100 * shares.max():.0f} %"


def _table(frame: pandas.DataFrame, clustering: Any) -> Table:
    header = ["topics", "documents a topic", "estimate"]
    header += ["drawing topics", "drawing documents", "width, topics", "width, documents"]
    rows = []
    for (topics, documents, name), part in frame.groupby(["n_topics", "n_documents", "estimate"], sort=False):
        by = part.set_index("resample").loc[list(RESAMPLE)]
        rows.append([str(topics), str(documents), str(name), *(number(x, 3) for x in (*by.coverage, *by.width))])
    return Table(f"coverage of nominal 95 % intervals, clustering {clustering:g}", header, rows)
