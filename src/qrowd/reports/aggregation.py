"""Merged judgments: the merged grades, and how reliable the method estimates each assessor to be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings

import numpy as np

from qrowd import aggregation
from qrowd.aggregation import Aggregate
from qrowd.errors import ArgumentError
from qrowd.model.judgments import Judgments
from qrowd.model.one_scale import Combined, CombineScales
from qrowd.reports.document import Document, Note, Table, repeats_note
from qrowd.reports.phrases import cells, count, number, percent
from qrowd.reports.scales import scale_note, scale_rules

if TYPE_CHECKING:
    import pandas as pd

METHODS: dict[str, Any] = {
    "majority": aggregation.majority_vote,
    "dawid-skene": aggregation.dawid_skene,
    "mace": aggregation.mace,
    "mean": aggregation.mean,
    "sum": aggregation.total,
    "median": aggregation.median,
    "geometric-mean": aggregation.geometric_mean,
}


def merge(judgments: Judgments, method: str, settings: Mapping[str, str], **options: Any) -> Aggregate:
    """The judgments, merged by the method of that name.

    settings : options of single methods; one that differs from its default must belong to the method.
    options : those of all methods (`repeats`, `combine_scales`, `rng`), used where the method takes them.

    Raises
    ------
    ArgumentError
        A setting that the method does not take.
    """
    parameters = {name: signature(function).parameters for name, function in METHODS.items()}
    for name, value in settings.items():
        defaults = {other: own[name].default for other, own in parameters.items() if name in own}
        if method not in defaults and value not in defaults.values():
            raise ArgumentError(f"{name}={value!r}: not an option of the method {method}, but of {', '.join(defaults)}")
    own = {name: value for name, value in {**settings, **options}.items() if name in parameters[method]}
    with catch_warnings(action="ignore"):  # the document says what did not converge
        merged: Aggregate = METHODS[method](judgments, **own)
    return merged


def aggregation_document(
    merged: Aggregate, judgments: Judgments, combine_scales: CombineScales = "auto", *, words: Sequence[str] = ()
) -> Document:
    """A sentence, the merged grades, and each assessor's confusion or competence where the method has one.

    judgments : what was merged, for the scales they were given on. words : for the grades 0, 1, ...; the table for
        files has them in a column where all merged values are grades.
    """
    ended = ""
    if merged.iterations is not None:
        state = "converged" if merged.converged else "DID NOT CONVERGE"
        ended = f", which {state} in {count(merged.iterations, 'iteration')}"
    sentence = (
        f"{count(merged.n_judgments, 'judgment')} of {count(merged.pool.document.size, 'document')} by "
        f"{count(len(merged.assessors), 'assessor')}, merged by {merged.name}{ended}."
    )
    unlike: dict[str, Combined] = {merged.name: "relevant" if merged.grades.size else "rescaled"}
    scale = scale_note(judgments, scale_rules(judgments.scales, combine_scales, unlike))
    return Document(sentence, tuple(_tables(merged)), (scale, *_notes(merged)), lambda: _frame(merged, words))


def _frame(merged: Aggregate, words: Sequence[str]) -> pd.DataFrame:
    """One row per document, with the word of the merged grade."""
    frame: pd.DataFrame = merged.to_frame()
    if words and bool(frame["value"].isin(range(len(words))).all()):
        frame.insert(list(frame.columns).index("value") + 1, "word", [words[int(value)] for value in frame["value"]])
    return frame


def _tables(merged: Aggregate) -> Iterator[Table]:
    value = merged.judgments.value
    if not merged.grades.size:
        quartiles = cells("{:.4g}".format, np.quantile(value, [0, 0.25, 0.5, 0.75, 1]))
        yield Table("merged values", ["lowest", "lower quartile", "median", "upper quartile", "highest"], [quartiles])
        return
    equal = value[:, None] == merged.grades
    columns = {
        "grade": cells("{:g}".format, merged.grades),
        "documents": cells("{:,}".format, equal.sum(axis=0)),
        "share": cells(percent, equal.mean(axis=0), digits=1),
        "expected share": cells(percent, merged.posterior.mean(axis=0), digits=1),
    }
    yield Table.of("merged grades", columns)
    if merged.competence is not None:
        order = np.argsort(-merged.competence, kind="stable")
        names, competence = [merged.assessors[a] for a in order], cells(number, merged.competence[order], digits=3)
        title = "probability that each assessor knows the grade rather than guesses"
        yield Table.of(title, {"assessor": names, "competence": competence})
    if merged.confusion is not None:
        correct = zip(merged.grades, np.diagonal(merged.confusion, axis1=1, axis2=2).T, strict=True)
        columns = {f"correct on {grade:g}": cells(number, column, digits=3) for grade, column in correct}
        title = "probability that each assessor gives the merged grade"
        yield Table.of(title, {"assessor": list(merged.assessors), **columns})


def _notes(merged: Aggregate) -> Iterator[Note]:
    yield Note("method", merged.method)
    if merged.n_ties:
        yield Note("ties", f"several grades were equally likely for {count(merged.n_ties, 'document')}")
    yield from repeats_note(merged.n_repeats)
    if merged.log_likelihood is not None:
        yield Note("log-likelihood", f"{merged.log_likelihood:.1f}")
