"""The human ceiling of a measure: what rankings of the whole pool by people's grades score by gold judgments.

Parry et al. (2025), Variations in Relevance Judgments and the Shelf Life of Test Collections. SIGIR.
"""

from __future__ import annotations

import numpy as np

from qrowd.evaluation import evaluate
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.model.runs import Runs
from qrowd.model.scores import known_mean


def human_ceiling(people: Judgments, gold: Judgments, measure: object = "nDCG@10") -> dict[str, float]:
    """{"max", "mean": mean score over topics} of the documents that gold judged, ranked by the people's grades.

    Documents are ranked by the highest, and by the mean, grade of the topic's people; a document that nobody saw has
    grade 0, and ties are scored in expectation. Topics that nobody judged are left out.
    """
    panel = concatenate_judgments([people, gold]).panel()
    gold_column = panel.assessors.index(gold.assessors[0])
    grades = np.delete(panel.values, gold_column, axis=1)
    topic = np.repeat(np.arange(len(panel.pool.topics)), np.diff(panel.pool.starts))
    in_gold, seen = ~np.isnan(panel.values[:, gold_column]), ~np.isnan(grades).all(axis=1)
    rows = np.flatnonzero(in_gold & np.isin(topic, topic[in_gold & seen]))
    lines = {"max": np.fmax.reduce(grades[rows], axis=1), "mean": known_mean(grades[rows], axis=1)}
    runs = Runs(
        tuple(lines),
        panel.pool.topics,
        panel.pool.documents,
        np.repeat(np.arange(len(lines), dtype=np.int32), rows.size),
        np.tile(topic[rows].astype(np.int32), len(lines)),
        np.tile(panel.pool.document[rows], len(lines)),
        np.nan_to_num(np.concatenate(list(lines.values()))),
    )
    ranked = {panel.pool.topics[t] for t in np.unique(topic[rows])}
    conventions = Conventions(ties="expected", min_coverage=0.0)
    scores = evaluate(runs, gold.select(topics=ranked.__contains__), measure, conventions=conventions)
    means = scores.values[0, 0].mean(axis=0)
    return {name: float(means[scores.systems.index(name)]) for name in lines}
