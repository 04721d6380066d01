"""`qrowd replace` without a model: each assessor in place of the model, tested against the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from qrowd.errors import ArgumentError
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.one_scale import CombineScales
from qrowd.reports.document import Document, Note, Reported, Table
from qrowd.reports.phrases import cells, count, listed, number
from qrowd.reports.scales import scale_note, scale_rules
from qrowd.uncertainty.annotator_test import (
    MIN_ASSESSORS,
    PASSES,
    LeaveOneOutAnnotatorTests,
    leave_one_out_annotator_tests,
    unlike_in_test,
)


@dataclass(frozen=True, eq=False, repr=False)
class InTurn(Reported):
    """Each assessor tested in place of the model. tests : the results. eps, q : of the test. scale : of the values."""

    tests: LeaveOneOutAnnotatorTests
    eps: float
    q: float
    scale: Note

    @property
    def sentence(self) -> str:
        """Which assessors would pass the test."""
        tested = self.tests.n_tested > 0
        names = [
            name for name, rate in zip(self.tests.assessors, self.tests.winning_rate, strict=True) if rate >= PASSES
        ]
        n = count(len(self.tests.assessors), "assessor")
        if not tested.any():
            return f"No model is named, and none of {n} shares enough documents with two others to be tested instead."
        verdict = f"{listed(names, 8)} would" if names else "none would"
        return f"No model is named, so each of {n} was tested in place of the model: {verdict} pass the test."

    def _tables(self) -> dict[str, Callable[[], dict[str, Any]]]:
        return self._tables_of(assessors=self.tests)

    def to_document(self) -> Document:
        """A row per assessor."""
        tests = self.tests
        columns = {
            "assessor": list(tests.assessors),
            "others tested": cells(str, tests.n_tested),
            "winning rate": cells(number, tests.winning_rate, digits=2),
            "advantage": cells(number, tests.advantage_probability, digits=3),
            "passes": ["-" if np.isnan(rate) else "yes" if rate >= PASSES else "no" for rate in tests.winning_rate],
        }
        table = Table.of("each assessor in place of the model, compared with the others", columns)
        return Document(self.sentence, (table,), tuple(self._notes()), self.to_frame)

    def _notes(self) -> Iterator[Note]:
        yield Note("model", "--model NAME tests one of them as the model, against all others as assessors")
        yield Note(
            "test",
            f"alternative annotator test; eps {self.eps:g}; false discovery rate {self.q:g}; an assessor passes from a "
            f"winning rate of {PASSES:.2f}",
        )
        yield Note("winning rate", "share of the others whom the assessor may replace")
        yield Note(
            "advantage", "share of documents on which the assessor is at least as close to the rest as the one left out"
        )
        yield self.scale


def in_turn(
    judgments: Judgments,
    *,
    eps: float = 0.2,
    q: float = 0.05,
    combine_scales: CombineScales = "auto",
    conventions: Conventions = Conventions(),
    **options: Any,
) -> InTurn:
    """Test each assessor in place of the model. options : of `leave_one_out_annotator_tests`.

    Raises
    ------
    ArgumentError
        Fewer than three assessors.
    """
    graded = conventions.graded(judgments)
    if len(graded.assessors) < MIN_ASSESSORS:
        raise ArgumentError(
            f"assessors: {listed(graded.assessors)}; testing each in place of a model needs at least {MIN_ASSESSORS}; "
            "name the model with replacement(judgments, model)"
        )
    options |= {"eps": eps, "q": q, "combine_scales": combine_scales, "repeats": conventions.repeats}
    tests = leave_one_out_annotator_tests(graded, **options)
    unlike = unlike_in_test(graded.scales, options.get("closeness"))
    scale = scale_note(graded, scale_rules(graded.scales, combine_scales, {"test": unlike}))
    return InTurn(tests, eps, q, scale)
