"""Facts that a reader of scores must know of the runs, as counts, so that those of several parts can be added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from qrowd.model.alignment import unjudged_share


@dataclass(frozen=True)
class Facts:
    """Counts over the lists of judged topics.

    retrieved_and_judged : {cutoff: (documents among the first `cutoff` of each list, those of them that are judged)};
        None: whole lists.
    lists, tied_lists : lists, and those with equal scores. missing_lists : (system, topic) without a list.
    unjudged_topics : topics of the runs that nobody judged. later_duplicates : retrieved duplicates of a document
        further up. rank_contradictions : lists whose stated ranks contradict their scores.
    """

    retrieved_and_judged: Mapping[int | None, tuple[int, int]]
    lists: int
    tied_lists: int
    missing_lists: int
    unjudged_topics: int
    later_duplicates: int
    rank_contradictions: int

    def attributes(self) -> dict[str, Any]:
        """As `Scores.attributes` name them; the share of unjudged documents for each cut-off."""
        shares = {cutoff: unjudged_share(*counts) for cutoff, counts in self.retrieved_and_judged.items()}
        counts = {one.name: getattr(self, one.name) for one in fields(self)[1:]}
        return {"unjudged_shares": shares, **counts}


def total(parts: Sequence[Facts]) -> Facts:
    """The facts of all parts together, which have no list in common."""
    cuts = {
        cutoff: (
            sum(part.retrieved_and_judged[cutoff][0] for part in parts),
            sum(part.retrieved_and_judged[cutoff][1] for part in parts),
        )
        for cutoff in parts[0].retrieved_and_judged
    }
    return Facts(cuts, *(sum(getattr(part, one.name) for part in parts) for one in fields(Facts)[1:]))
