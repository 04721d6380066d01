"""Duplicate documents: groups of documents of a topic that say the same, of which a ranking is rewarded for one.

Demeester, Aly, Hiemstra, Nguyen & Develder (2016), Predicting Relevance Based on Assessor Disagreement. Inf. Retr. J.
19, section 7.3. No numerical package is imported here, since the conventions hold duplicates.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Duplicates:
    """groups : (topic, its documents that say the same), two documents or more."""

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
