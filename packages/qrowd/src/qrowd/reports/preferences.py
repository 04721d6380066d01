"""Log-worths of documents as a document."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from qrowd.preferences import BradleyTerry
from qrowd.reports.document import Document, Note, Table
from qrowd.reports.phrases import cells, count, interval, number, percent

SHOWN = 30  # rows of a table that could be as long as there are topics or assessors


def worth_document(worths: BradleyTerry) -> Document:
    """The documents with the highest worth of each topic, with intervals, and the weights of the assessors."""
    highest = list(_highest_worths(worths))
    first = f" (the first {SHOWN})" if len(highest) > SHOWN else ""
    header = ["topic", "documents", "first", "log-worth", "interval", "second", "P(first over second)"]
    tables = [Table(f"the document with the highest worth of each topic{first}", header, highest[:SHOWN])]
    if len(worths.assessors) > 1:
        order = np.argsort(-worths.assessor_weight, kind="stable")[:SHOWN]
        low, high = worths.assessor_weight_low[order], worths.assessor_weight_high[order]
        columns = {
            "assessor": [worths.assessors[a] for a in order],
            "weight": cells(number, worths.assessor_weight[order], digits=3),
            "interval": cells(interval, low, high),
            "preference for the first shown": cells(number, worths.intercept[order], digits=3),
        }
        tables.append(Table.of("assessors", columns))

    ended = "converged" if worths.converged else "DID NOT CONVERGE"
    adversaries = [name for name, r in zip(worths.assessors, worths.assessor_weight, strict=True) if r < 0]
    sentence = (
        f"Bradley-Terry log-worths of {count((~np.isnan(worths.log_worth)).sum(), 'document')} on "
        f"{count(len(worths.pool.topics), 'topic')} from {count(worths.n_comparisons, 'preference')}, {ended} in "
        f"{count(worths.iterations, 'iteration')}"
        + (f"; {', '.join(adversaries)} tend to prefer the worse document." if adversaries else ".")
    )
    notes = [Note("method", worths.method), Note("log-likelihood", f"{worths.log_likelihood:.1f}")]
    if worths.n_resamples:
        n = count(worths.n_resamples, "resample")
        notes.append(Note("intervals", f"{percent(worths.confidence)}, {n} of {worths.resample}; seed: {worths.seed}"))
    parts = int(sum(worths.component[worths.pool.rows(t)].max(initial=-1) for t in range(len(worths.pool.topics))))
    if parts:
        text = f"{parts:,} groups of documents are linked to the rest of their topic by the ridge alone"
        notes.append(Note("components", text))
    return Document(sentence, tuple(tables), tuple(notes), worths.to_frame)


def _highest_worths(worths: BradleyTerry) -> Iterator[list[str]]:
    for t, topic in enumerate(worths.pool.topics):
        rows = worths.pool.rows(t)
        log_worth = worths.log_worth[rows]
        judged = np.flatnonzero(~np.isnan(log_worth))
        if judged.size < 2:
            continue
        names = worths.documents_of(topic)
        first, second = judged[np.argsort(-log_worth[judged], kind="stable")[:2]]
        yield [
            topic,
            str(judged.size),
            names[first],
            number(log_worth[first], 2),
            interval(worths.low[rows][first], worths.high[rows][first], 2),
            names[second],
            number(worths.probability(topic, names[first], names[second]), 3),
        ]
