"""What p(R|i) of any judgments depends on, and the gains of other models of users."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from qrowd.model.chance import Rng
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.predicted_relevance import PredictedRelevance, predicted_relevance
from qrowd.reports.document import Document, Table
from qrowd.reports.phrases import cells, number
from qrowd_papers.predicted_relevance.sensitivity import (
    SensitivityToRank,
    SensitivityToSampleSize,
    predicted_relevance_by_type,
    sensitivity_to_rank,
    sensitivity_to_sample_size,
)
from qrowd_papers.predicted_relevance.users import fractional_utility, relevance_to_users, user_disagreement

RANKS_SHOWN = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def sensitivity_document(
    judgments: Judgments, rel: float, *, runs: Runs | None = None, types: Mapping[str, str] | None = None, rng: Rng = 1
) -> Document:
    """Gains by model of user, p(R|i) by type of topic, by rank, and by number of double judgments.

    rel : lowest grade that is relevant. types : {topic: type}.
    """
    model = predicted_relevance(judgments, rel=rel, rng=rng)
    sizes = sensitivity_to_sample_size(judgments, rel=rel, rng=rng)
    tables = [_users(model), _sample_sizes(sizes)]
    if types is not None:
        tables.append(_by_type(predicted_relevance_by_type(judgments, types, rel=rel, n_resamples=0)))
    if runs is not None:
        tables.append(_ranks(sensitivity_to_rank(judgments, runs, rel=rel)))
    needed = ["more" if np.isnan(n) else f"{n:,.0f}" for n in sizes.size_needed]
    sentence = (
        f"p(R|i) ({model.rule}) rests on {sizes.size[-1]:,} documents judged twice; to separate neighbouring grades, "
        f"{', '.join(needed)} are enough, from the lowest grade up."
    )
    return Document(sentence, tuple(tables), (), model.to_frame)


def _users(model: PredictedRelevance) -> Table:
    columns = {
        "p(R|i)": model.probability,
        "2 of 3 users": relevance_to_users(model, 2, 3),
        "user disagreement": user_disagreement(model),
        "fractional utility": fractional_utility(model),
    }
    grades = cells("{:g}".format, model.grades[::-1])
    shown = {name: cells(number, values[::-1], digits=3) for name, values in columns.items()}
    return Table.of("gain of each grade, by model of user", {"grade": grades, **shown})


def _sample_sizes(curve: SensitivityToSampleSize) -> Table:
    """For each two neighbouring grades, how many double judgments separate them."""
    last, sd = curve.mean[-1], curve.sd[-1]
    pairs = range(len(last) - 1, 0, -1)
    columns = {
        "grades": [f"{curve.grades[i - 1]:g} and {curve.grades[i]:g}" for i in pairs],
        "difference": [number(last[i] - last[i - 1], 3) for i in pairs],
        "sd of both": [number(sd[i] + sd[i - 1], 3) for i in pairs],
        "double judgments needed": [
            "more" if np.isnan(curve.size_needed[i - 1]) else f"{curve.size_needed[i - 1]:,.0f}" for i in pairs
        ],
    }
    return Table.of("double judgments that separate two grades", columns)


def _by_type(models: Mapping[str, PredictedRelevance]) -> Table:
    grades = next(iter(models.values())).grades[::-1]
    shown = {label: cells(number, model.probability[::-1], digits=3) for label, model in models.items()}
    return Table.of("p(R|i) by type of topic", {"grade": cells("{:g}".format, grades), **shown})


def _ranks(curve: SensitivityToRank) -> Table:
    """p(R|i) of the documents down to some ranks."""
    rows = [int(np.flatnonzero(curve.rank <= rank)[-1]) for rank in RANKS_SHOWN if (curve.rank <= rank).any()]
    rows = sorted({*rows, len(curve.rank) - 1})
    by_grade = zip(curve.grades[::-1], curve.probability.T[::-1], strict=True)
    columns = {
        "down to rank": [f"{curve.rank[row]:g}" for row in rows],
        **{f"p(R|{grade:g})": cells(number, values[rows], digits=3) for grade, values in by_grade},
        "documents judged twice": [f"{curve.n_documents[row]:,}" for row in rows],
    }
    return Table.of("p(R|i) of documents down to the best rank by any system", columns)
