"""The conventions that change scores, with their defaults.

No numerical package is imported here, so that the command line knows the choices at once.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal, Protocol, Self, TypeVar

from qrowd.errors import ArgumentError, check_choice
from qrowd.model.duplicates import Duplicates

Ties = Literal["document", "expected"]
ScoreDtype = Literal["float64", "float32"]
Unjudged = Literal["nonrelevant", "condensed"]
Missing = Literal["zero", "skip", "interpolate"]
Empty = Literal["zero", "nan"]
Repeats = Literal["first", "last", "mean", "error"]
Grades = Literal["as-is", "rescaled"]
CHOICES = {
    "ties": Ties,
    "score_dtype": ScoreDtype,
    "unjudged": Unjudged,
    "missing": Missing,
    "empty": Empty,
    "repeats": Repeats,
    "grades": Grades,
}


class Rescalable(Protocol):
    """Judgments, whose values can be divided by their scale's maximum."""

    def rescaled(self) -> Self: ...


Graded = TypeVar("Graded", bound=Rescalable)


@dataclass(frozen=True)
class Conventions:
    """The options that change numbers, with their defaults.

    ties : "document" breaks equal scores by document id, highest first (trec_eval); "expected" gives tied documents
        their mean gain (McSherry & Najork 2008; measures linear in gains only).
    score_dtype : "float64" compares scores as doubles (trec_eval 10.0); "float32" in single precision (before 10.0).
    unjudged : "nonrelevant" lets documents without a judgment gain 0; "condensed" takes them out of each assessor's
        rankings first (Sakai 2007).
    missing : a judged topic that a run lacks scores 0 ("zero"), nothing ("skip": nan), or the mean of the system's
        other topics and the topic's other systems ("interpolate"; Maddalena et al., ICTIR 2017, section 3.3).
    empty : a topic without a relevant document for an assessor scores 0 ("zero", trec_eval) or nothing ("nan").
    min_coverage : an assessor who judged less than this share of a topic's pool has no score there (nan).
    repeats : which of an assessor's repeated judgments counts: "first", "last", "mean", or "error".
    grades : "as-is", or "rescaled": every value divided by its scale's maximum.
    duplicates : groups of documents that count as one, whose grade is the highest of the group by each assessor. The
        first of them in a ranking gains; later ones keep their rank and are treated as documents without a judgment.
        The ideal ranking, and the number of relevant documents, hold each group once. None: there are none.
    """

    ties: Ties = "document"
    score_dtype: ScoreDtype = "float64"
    unjudged: Unjudged = "nonrelevant"
    missing: Missing = "zero"
    empty: Empty = "zero"
    min_coverage: float = 0.1
    repeats: Repeats = "first"
    grades: Grades = "as-is"
    duplicates: Duplicates | None = None

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            check_choice(name, getattr(self, name), choices)
        if not 0 <= self.min_coverage <= 1:
            raise ArgumentError("a share from 0 to 1 was expected", "min_coverage", self.min_coverage)

    def graded(self, judgments: Graded) -> Graded:
        """The judgments with their values as `grades` has them."""
        return judgments.rescaled() if self.grades == "rescaled" else judgments

    def as_dict(self) -> dict[str, Any]:
        """{option: value in force}, as results state them; the duplicates in words."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**values, "duplicates": None if self.duplicates is None else str(self.duplicates)}
