"""Merged judgments as a document: what grades came out, how sure they are, and whom the method trusts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qrowd.aggregation import Aggregate
from qrowd.reports.document import Document, Table
from qrowd.reports.phrases import count, number

if TYPE_CHECKING:
    import pandas


def aggregate_document(merged: Aggregate) -> Document:
    """A sentence, the merged grades, and each assessor's confusion or competence where the method has one."""

    def frame() -> pandas.DataFrame:
        made: pandas.DataFrame = merged.to_frame()
        return made

    n_pairs = merged.pool.document.size
    sentence = (
        f"{count(merged.n_judgments, 'judgment')} of {count(n_pairs, 'document')} by "
        f"{count(len(merged.assessors), 'assessor')}, merged by {merged.name}{_ended(merged)}."
    )
    return Document(sentence, tuple(_tables(merged)), tuple(_notes(merged)), frame)


def _ended(merged: Aggregate) -> str:
    if merged.iterations is None:
        return ""
    return (
        f", which {'converged' if merged.converged else 'DID NOT CONVERGE'} in {count(merged.iterations, 'iteration')}"
    )


def _tables(merged: Aggregate) -> list[Table]:
    value = merged.judgments.value
    if not merged.grades.size:
        quartiles = np.quantile(value, [0, 0.25, 0.5, 0.75, 1])
        header = ["lowest", "quartile", "median", "quartile ", "highest"]
        return [Table("merged values", header, [[f"{q:.4g}" for q in quartiles]])]
    rows = [
        [
            f"{grade:g}",
            f"{int((value == grade).sum()):,}",
            f"{100 * (value == grade).mean():.1f} %",
            f"{100 * p.mean():.1f} %",
        ]
        for grade, p in zip(merged.grades, merged.posterior.T, strict=True)
    ]
    tables = [Table("merged grades", ["grade", "documents", "share", "expected share"], rows)]
    if merged.competence is not None:
        order = np.argsort(-merged.competence, kind="stable")
        shown = [[merged.assessors[a], number(merged.competence[a], 3)] for a in order]
        tables.append(Table("how often each assessor knows rather than guesses", ["assessor", "competence"], shown))
    if merged.confusion is not None:
        right = np.diagonal(merged.confusion, axis1=1, axis2=2)
        header = ["assessor", *(f"right on {grade:g}" for grade in merged.grades)]
        shown = [[name, *(number(p, 3) for p in row)] for name, row in zip(merged.assessors, right, strict=True)]
        tables.append(Table("how often each assessor gives the merged grade", header, shown))
    return tables


def _notes(merged: Aggregate) -> list[str]:
    told = [f"method: {merged.method}"]
    if merged.n_ties:
        told.append(f"ties: in {count(merged.n_ties, 'document')} grades had equal claims")
    if merged.n_repeats:
        told.append(
            f"repeats: {count(merged.n_repeats, 'judgment repeats', 'judgments repeat')} one by the same assessor"
        )
    if merged.log_likelihood is not None:
        told.append(f"log-likelihood: {merged.log_likelihood:.1f}")
    return told
