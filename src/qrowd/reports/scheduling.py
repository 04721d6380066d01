"""How many judgments orders and stops need, as a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qrowd.preferences.scheduling import Curves
from qrowd.reports.document import Document, Table
from qrowd.reports.phrases import count, number

if TYPE_CHECKING:
    import pandas


def curves_document(curves: Curves, about: str) -> Document:
    """Judgments needed by every order, over all numbers of documents, and number by number.

    about : what was replayed, for a note.
    """
    names = list(dict.fromkeys(curves.condition.tolist()))
    overall = {name: _overall(curves, curves.condition == name) for name in names}
    fewest = min(overall, key=lambda name: overall[name][0])
    rows = [[name, *(number(v, d) for v, d in zip(overall[name], (2, 2, 3, 3), strict=True))] for name in names]
    sizes = sorted(set(curves.documents.tolist()))
    by_size = [[str(n), *(_cell(curves, name, n) for name in names)] for n in sizes]
    n_topics = int(curves.topics[curves.condition == names[0]].sum())

    def frame() -> pandas.DataFrame:
        made: pandas.DataFrame = curves.to_frame()
        return made

    sentence = (
        f"Of {len(names)} ways to ask, {fewest} needs the fewest judgments: {overall[fewest][0]:.2f} times the number "
        f"of documents over {count(n_topics, 'topic')}, and leaves {100 * overall[fewest][2]:.1f} % of pairs of "
        "systems in another order than all judgments would."
    )
    return Document(
        sentence,
        (
            Table("all topics", ["order", "judgments / documents", "judgments", "error", "regret"], rows),
            Table("judgments by number of documents", ["documents", *names], by_size),
        ),
        (
            about,
            "error: share of pairs of systems whose order differs from full judgments'; regret: how far the chosen "
            "system falls short of the best",
            f"seed: {curves.seed}",
        ),
        frame,
    )


def _overall(curves: Curves, here: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> tuple[float, float, float, float]:
    """Mean judgments per document, judgments, error and regret over topics."""
    weights = curves.topics[here]
    columns = (curves.per_document, curves.judgments, curves.error, curves.regret)
    first, second, third, fourth = (float(np.average(column[here], weights=weights)) for column in columns)
    return first, second, third, fourth


def _cell(curves: Curves, name: str, n: int) -> str:
    found = np.flatnonzero((curves.condition == name) & (curves.documents == n))
    return number(float(curves.judgments[found[0]]), 1) if found.size else "-"
