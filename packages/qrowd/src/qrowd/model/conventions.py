"""The conventions that change scores, with their defaults.

No numerical package is imported here, so that the command line knows the choices at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, Literal, Protocol, Self, TypeVar

from qrowd.errors import ArgumentError, check_choice

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
class Duplicates:
    """Groups of documents of a topic that say the same, of which a ranking is rewarded for one.

    Demeester, Aly, Hiemstra, Nguyen & Develder (2016), Predicting Relevance Based on Assessor Disagreement. Inf. Retr.
    J. 19, section 7.3.

    groups : (topic, its documents that say the same), two documents or more.
    """

    groups: tuple[tuple[str, tuple[str, ...]], ...]

    @classmethod
    def from_groups(cls, rows: Iterable[tuple[str, str, str]]) -> Duplicates:
        """From (topic, document, group); a group belongs to one topic, and groups that share a document are one.

        >>> Duplicates.from_groups([("q", "a", "1"), ("q", "b", "1"), ("q", "c", "2")])
        Duplicates(groups=(('q', ('a', 'b')),))
        """
        first: dict[tuple[str, str], str] = {}
        return cls.from_pairs((topic, first.setdefault((topic, group), doc), doc) for topic, doc, group in rows)

    @classmethod
    def from_pairs(cls, rows: Iterable[tuple[str, str, str]]) -> Duplicates:
        """From (topic, document, another that says the same); what is the same as the same document is the same.

        >>> Duplicates.from_pairs([("q", "a", "b"), ("q", "c", "b"), ("r", "a", "c")])
        Duplicates(groups=(('q', ('a', 'b', 'c')), ('r', ('a', 'c'))))
        """
        group_of: dict[tuple[str, str], list[str]] = {}
        for topic, one, other in rows:
            group = group_of.setdefault((topic, one), [one])
            joined = group_of.setdefault((topic, other), [other])
            if joined is not group:
                group += joined
                group_of.update({(topic, document): group for document in joined})
        distinct = {
            id(group): (topic, tuple(sorted(group))) for (topic, _), group in group_of.items() if len(group) > 1
        }
        return cls(tuple(distinct.values()))

    def __str__(self) -> str:
        n_documents = sum(len(documents) for _, documents in self.groups)
        return f"{len(self.groups):,} group{'' if len(self.groups) == 1 else 's'} of {n_documents:,} documents"


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
