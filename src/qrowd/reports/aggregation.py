"""Merged judgments as a document: the merged grades, and how reliable the method estimates each assessor to be."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from qrowd.aggregation import Aggregate
from qrowd.reports.document import Document, Note, Table
from qrowd.reports.phrases import count, number, percent


def aggregate_document(merged: Aggregate) -> Document:
    """A sentence, the merged grades, and each assessor's confusion or competence where the method has one."""
    n_pairs = merged.pool.document.size
    sentence = (
        f"{count(merged.n_judgments, 'judgment')} of {count(n_pairs, 'document')} by "
        f"{count(len(merged.assessors), 'assessor')}, merged by {merged.name}{_convergence(merged)}."
    )
    return Document(sentence, tuple(_tables(merged)), tuple(_notes(merged)), merged.to_frame)


def _convergence(merged: Aggregate) -> str:
    if merged.iterations is None:
        return ""
    return (
        f", which {'converged' if merged.converged else 'DID NOT CONVERGE'} in {count(merged.iterations, 'iteration')}"
    )


def _tables(merged: Aggregate) -> list[Table]:
    value = merged.judgments.value
    if not merged.grades.size:
        quartiles = np.quantile(value, [0, 0.25, 0.5, 0.75, 1])
        header = ["lowest", "lower quartile", "median", "upper quartile", "highest"]
        return [Table("merged values", header, [[f"{q:.4g}" for q in quartiles]])]
    rows = [
        [
            f"{grade:g}",
            f"{int((value == grade).sum()):,}",
            percent(float((value == grade).mean()), 1),
            percent(float(p.mean()), 1),
        ]
        for grade, p in zip(merged.grades, merged.posterior.T, strict=True)
    ]
    tables = [Table("merged grades", ["grade", "documents", "share", "expected share"], rows)]
    if merged.competence is not None:
        order = np.argsort(-merged.competence, kind="stable")
        shown = [[merged.assessors[a], number(merged.competence[a], 3)] for a in order]
        tables.append(
            Table(
                "probability that each assessor knows the grade rather than guesses", ["assessor", "competence"], shown
            )
        )
    if merged.confusion is not None:
        correct = np.diagonal(merged.confusion, axis1=1, axis2=2)
        header = ["assessor", *(f"correct on {grade:g}" for grade in merged.grades)]
        shown = [[name, *(number(p, 3) for p in row)] for name, row in zip(merged.assessors, correct, strict=True)]
        tables.append(Table("probability that each assessor gives the merged grade", header, shown))
    return tables


def _notes(merged: Aggregate) -> Iterator[Note]:
    yield Note("method", merged.method)
    if merged.n_ties:
        yield Note("ties", f"several grades were equally likely for {count(merged.n_ties, 'document')}")
    if merged.n_repeats:
        n = count(merged.n_repeats, "judgment repeats", "judgments repeat")
        yield Note("repeats", f"{n} one by the same assessor")
    if merged.log_likelihood is not None:
        yield Note("log-likelihood", f"{merged.log_likelihood:.1f}")
