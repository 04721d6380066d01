"""Review: everybody's answers to a document or a pair, and what a reviewer does about them.

Every decision is an event in the log, under the account of whoever took it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from sqlalchemy import Connection

from qrowd.collect.campaigns import adjudication, messages, reopening
from qrowd.collect.campaigns.assignment_state import AssignmentState
from qrowd.collect.campaigns.decisions import Change, Decisions
from qrowd.collect.campaigns.lookup import NotFoundError, find
from qrowd.collect.campaigns.transaction import Transaction
from qrowd.collect.protocols.registry import PREFERENCE
from qrowd.collect.store import review as rows
from qrowd.collect.store import state
from qrowd.collect.store.materials import CampaignRow
from qrowd.collect.store.review import Summary
from qrowd.collect.store.state import AssessorRow
from qrowd.errors import ArgumentError

Kind = Literal["answers", "gold"]
Order = Literal["campaign", "disagreement"]
ORDERS: tuple[Order, ...] = get_args(Order)
MOST_SHOWN = 50  # documents or pairs of a page


# ---- looking


@dataclass(frozen=True)
class Filters:
    """Which documents or pairs are listed.

    arm : "" without arms. kind : judgments, or answers to gold questions. topic : a label, "" for all.
    assessor : only what this one judged, by name if `names`, else by pseudonym. comments : only with a reason.
    open : only those without a final answer.
    order : as in the campaign, or most disagreement first.
    """

    arm: str = ""
    kind: Kind = "answers"
    topic: str = ""
    assessor: str = ""
    comments: bool = False
    open: bool = False
    order: Order = "disagreement"
    names: bool = False


@dataclass(frozen=True)
class ReviewRow:
    """A document or a pair in the list.

    topic, title : label and title of the topic. documents : labels, two of a pair. titles : likewise.
    final : the final answer.
    """

    topic: str
    title: str
    documents: tuple[str, ...]
    titles: tuple[str, ...]
    summary: Summary
    final: adjudication.Adjudication | None


def summaries(connection: Connection, campaign: str, filters: Filters) -> list[Summary]:
    """The documents or pairs that a page can list, in its order, most disagreement first by default.

    Raises
    ------
    ArgumentError
        There is no such campaign, arm or topic.
    """
    row = find(connection, campaign)
    protocols = {one["name"]: one["protocol"] for one in row.settings["arms"]}
    if filters.arm not in protocols:
        raise ArgumentError(f"arm={filters.arm[:40]!r}: choose one of {', '.join(protocols)}")
    topics = {label: id for id, (label, _) in rows.topic_labels(connection, row.id).items()}
    if filters.topic and filters.topic not in topics:
        raise ArgumentError(f"topic={filters.topic[:40]!r}: the campaign {campaign} has none of this name")
    protocol = protocols[filters.arm]
    options: dict[str, Any] = {"arm": filters.arm, "name": filters.assessor, "names": filters.names}
    topic_id = topics.get(filters.topic)
    if filters.kind == "gold":
        found = rows.gold_summaries(connection, row.id, topic_id=topic_id, **options)
    elif protocol == PREFERENCE:
        found = rows.pair_summaries(connection, row.id, topic_id=topic_id, **options)
    else:
        found = rows.document_summaries(
            connection, row.id, topic_id=topic_id, comments=filters.comments, ratios=protocol == "magnitude", **options
        )
    if filters.open:
        found = _without_final(connection, row.id, found, filters.arm)
    if filters.order == "disagreement":
        found.sort(key=lambda one: -one.disagreement)  # stable: otherwise as in the campaign
    return found


def _without_final(connection: Connection, campaign_id: int, found: list[Summary], arm: str) -> list[Summary]:
    """Only what has no final answer."""
    topics, labels = rows.topic_labels(connection, campaign_id), rows.all_labels(connection, campaign_id)
    final = adjudication.adjudications(connection, campaign_id)

    def place(summary: Summary) -> adjudication.Place:
        documents = [labels[id] for id in (summary.document, summary.other) if id]
        return adjudication.place_of(topics[summary.topic][0], documents, arm)

    return [summary for summary in found if place(summary) not in final]


def review_rows(connection: Connection, campaign_id: int, part: Sequence[Summary], arm: str) -> list[ReviewRow]:
    """Some of the documents or pairs as a page shows them."""
    topics = rows.topic_labels(connection, campaign_id)
    names = rows.labels_of(connection, {id for one in part for id in (one.document, one.other)})
    final = adjudication.adjudications(connection, campaign_id)
    table = []
    for one in part:
        label, title = topics[one.topic]
        own = [names[id] for id in (one.document, one.other) if id]
        documents, titles = tuple(name for name, _ in own), tuple(words for _, words in own)
        answer = final.get(adjudication.place_of(label, documents, arm))
        table.append(ReviewRow(label, title, documents, titles, one, answer))
    return table


# ---- deciding


class CampaignReview(Decisions):
    """Everything a reviewer can do, over one store; names of campaigns, assessors, topics and documents are labels."""

    async def adjudicate(
        self, campaign: str, topic: str, document: str, text: str, reason: str, *, other: str = ""
    ) -> adjudication.Adjudication | None:
        """Give the final answer for a document, or a pair with the other document; see `adjudicate`."""
        at = self.clock()
        return await self.store.write_async(
            lambda c: adjudication.adjudicate(
                c, campaign, topic, document, text, reason, at, other=other, account=self.account
            )
        )

    async def reopen(self, campaign: str, assignment: int, position: int, reason: str) -> None:
        """Open an answer again for its author; see `reopening.reopen`."""
        await self._for_assignment(
            campaign, assignment, lambda t, a, unit: reopening.reopen(t, a, unit, position, reason)
        )

    async def close(self, campaign: str, assignment: int, position: int) -> None:
        """Take it back that an answer was opened again."""
        await self._for_assignment(campaign, assignment, lambda t, a, unit: reopening.close(t, a, unit, position))

    async def reply(self, campaign: str, assessor: int, number: int, text: str) -> None:
        """Answer a question of an assessor. number : of the question, from 0."""

        def change(transaction: Transaction, person: AssessorRow) -> None:
            messages.reply(transaction, person, number, text)

        await self._for(campaign, assessor, change)

    async def _for_assignment(
        self, campaign: str, number: int, change: Callable[[Transaction, AssessorRow, AssignmentState], None]
    ) -> None:
        holder = await self.store.read_async(lambda connection: state.find_assignment(connection, number))
        if holder is None:
            raise NotFoundError(f"the campaign {campaign} has no such unit")

        def with_assignment(transaction: Transaction, assessor: AssessorRow) -> None:
            unit = transaction.reader.assignment(number)
            if unit is None:
                raise NotFoundError(f"the campaign {campaign} has no such unit")
            change(transaction, assessor, unit)

        await self._for(campaign, holder.assessor_id, with_assignment)

    async def _for(self, campaign: str, number: int, change: Change) -> None:
        def found(connection: Connection, row: CampaignRow) -> AssessorRow:
            assessor = state.find_assessor(connection, number)
            if assessor is None or assessor[0].campaign_id != row.id:
                raise NotFoundError(f"the campaign {campaign} has no such assessor")
            return assessor[0]

        await self._change(campaign, found, change)
