"""Merged judgments: the merged grades, and how reliable the method estimates each assessor to be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from warnings import catch_warnings

import numpy as np

from qrowd.aggregation import Aggregate
from qrowd.errors import ArgumentError
from qrowd.methods import DEFINITIONS, LabelMerging, parse_method
from qrowd.model.chance import Rng
from qrowd.model.conventions import Repeats
from qrowd.model.judgments import Judgments
from qrowd.model.one_scale import Combined, CombineScales
from qrowd.model.signature import with_signature
from qrowd.reports.document import Document, Note, Reported, Table, repeats_note
from qrowd.reports.phrases import cells, count, percent
from qrowd.reports.scale_notes import scale_note, scale_rules


@dataclass(frozen=True, eq=False, repr=False)
class Aggregation(Reported):
    """The answer of `qrowd aggregate`. merged : the result of the method. scale : how scales were brought together."""

    merged: Aggregate
    scale: Note

    @property
    def judgments(self) -> Judgments:
        """The merged judgments."""
        return self.merged.judgments

    @property
    def sentence(self) -> str:
        """What was merged, how, and whether that converged."""
        merged = self.merged
        ended = ""
        if merged.iterations is not None:
            state = "converged" if merged.converged else "DID NOT CONVERGE"
            ended = f", which {state} in {count(merged.iterations, 'iteration')}"
        return (
            f"{count(merged.n_judgments, 'judgment')} of {count(merged.pool.document.size, 'document')} by "
            f"{count(len(merged.assessors), 'assessor')}, merged by {merged.name}{ended}."
        )

    def _columns(self) -> dict[str, Any]:
        return dict(self.merged.to_frame())

    def _document(self) -> Document:
        """The merged grades, and each assessor's confusion or competence where the method has one."""
        return Document(
            self.sentence, tuple(_tables(self.merged)), (self.scale, *_notes(self.merged)), self.merged.to_frame
        )


@with_signature("method")
def aggregate(
    judgments: Judgments,
    *,
    method: str = "majority",
    repeats: Repeats = "first",
    combine_scales: CombineScales = "auto",
    rng: Rng = 1,
) -> Aggregation:
    """Merge the judgments of several assessors into one judgment per document.

    method : method that merges the judgments of a document, as in dawid-skene(per=all): majority, dawid-skene, mace,
        mean, sum, median or geometric-mean.

    Raises
    ------
    ArgumentError
        A method that merges scores, not judgments.
    """
    parsed = parse_method(method)
    definition = parsed.definition
    if not isinstance(definition, LabelMerging):
        names = ", ".join(each.name for each in DEFINITIONS if isinstance(each, LabelMerging))
        problem = f"it merges scores of systems; of those that merge judgments choose {names}"
        raise ArgumentError(problem, "method", method)
    with catch_warnings(action="ignore"):  # the sentence says what did not converge
        merged = definition.merge(judgments, parsed.values, repeats, combine_scales, rng)
    unlike: dict[str, Combined] = {merged.name: "relevant" if merged.grades.size else "rescaled"}
    return Aggregation(merged, scale_note(judgments, scale_rules(judgments.scales, combine_scales, unlike)))


def _tables(merged: Aggregate) -> Iterator[Table]:
    value = merged.judgments.value
    if not merged.grades.size:
        names = ("lowest", "lower quartile", "median", "upper quartile", "highest")
        quartiles = np.quantile(value, [0, 0.25, 0.5, 0.75, 1])
        yield Table.of("merged values", {name: [f"{q:.4g}"] for name, q in zip(names, quartiles, strict=True)})
        return
    equal = value[:, None] == merged.grades
    columns: dict[str, Any] = {
        "grade": cells("{:g}".format, merged.grades),
        "documents": equal.sum(axis=0),
        "share": cells(percent, equal.mean(axis=0), digits=1),
        "expected share": cells(percent, merged.posterior.mean(axis=0), digits=1),
    }
    yield Table.of("merged grades", columns)
    if merged.competence is not None:
        order = np.argsort(-merged.competence, kind="stable")
        columns = {"assessor": [merged.assessors[a] for a in order], "competence": merged.competence[order]}
        yield Table.of("probability that each assessor knows the grade rather than guesses", columns, 3)
    if merged.confusion is not None:
        correct = np.diagonal(merged.confusion, axis1=1, axis2=2)
        columns = {f"correct on {grade:g}": column for grade, column in zip(merged.grades, correct.T, strict=True)}
        title = "probability that each assessor gives the merged grade"
        yield Table.of(title, {"assessor": merged.assessors, **columns}, 3)


def _notes(merged: Aggregate) -> Iterator[Note]:
    yield Note("method", merged.method)
    if merged.n_ties:
        yield Note("ties", f"several grades were equally likely for {count(merged.n_ties, 'document')}")
    yield from repeats_note(merged.n_repeats)
    if merged.log_likelihood is not None:
        yield Note("log-likelihood", f"{merged.log_likelihood:.1f}")
