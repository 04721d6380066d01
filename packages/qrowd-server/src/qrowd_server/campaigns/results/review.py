"""Review: everybody's answers to a document, and what an owner does about them.

Every decision is an event in the log, under the account of whoever took it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from qrowd.errors import ArgumentError
from qrowd_server.campaigns.results import adjudication
from qrowd_server.campaigns.running import messages, reopening
from qrowd_server.campaigns.running.admin import Change, Decisions
from qrowd_server.campaigns.running.campaign_settings import NotFoundError, find, protocols_of
from qrowd_server.campaigns.running.current_state import AssignmentState
from qrowd_server.campaigns.running.transaction import Transaction
from qrowd_server.protocols.registry import PREFERENCE
from qrowd_server.store import review as rows
from qrowd_server.store import state
from qrowd_server.store.materials import CampaignRow
from qrowd_server.store.review import Summary
from qrowd_server.store.state import AssessorRow

MOST_SHOWN = 50  # documents of a page


@dataclass(frozen=True)
class ReviewRow:
    """A document in the list. topic, title : label and title of the topic. final : the final answer."""

    topic: str
    title: str
    document: str
    summary: Summary
    final: adjudication.Adjudication | None


def summaries(
    connection: Connection, campaign: str, *, arm: str = "", topic: str = "", open: bool = False
) -> list[Summary]:
    """The documents that a page can list, most disagreement first; none of an arm with preferences.

    arm : "" without arms. topic : only of the one with this label. open : only those without a final answer.

    Raises
    ------
    ArgumentError
        There is no such campaign, arm or topic.
    """
    row = find(connection, campaign)
    protocols, labels = protocols_of(row), rows.topic_labels(connection, row.id)
    if arm not in protocols:
        raise ArgumentError(f"choose one of {', '.join(protocols)}", "arm", arm[:40])
    numbers = {label: number for number, (label, _) in labels.items()}
    if topic and topic not in numbers:
        raise ArgumentError(f"the campaign {campaign} has none of this name", "topic", topic[:40])
    if protocols[arm] == PREFERENCE:
        return []
    ratios = protocols[arm] == "magnitude"
    found = rows.document_summaries(connection, row.id, arm=arm, topic_id=numbers.get(topic), ratios=ratios)
    if open:
        final, documents = adjudication.adjudications(connection, row.id), rows.all_labels(connection, row.id)
        found = [one for one in found if (labels[one.topic][0], documents[one.document], arm) not in final]
    return sorted(found, key=lambda one: -one.disagreement)  # stable: otherwise as in the campaign


def review_rows(connection: Connection, campaign_id: int, part: Sequence[Summary], arm: str) -> list[ReviewRow]:
    """Some of the documents as a page shows them."""
    topics, documents = rows.topic_labels(connection, campaign_id), rows.all_labels(connection, campaign_id)
    final = adjudication.adjudications(connection, campaign_id)
    table = []
    for one in part:
        (label, title), document = topics[one.topic], documents[one.document]
        table.append(ReviewRow(label, title, document, one, final.get((label, document, arm))))
    return table


class CampaignReview(Decisions):
    """What an owner does in a review, over one store; campaigns, topics and documents are named by their labels."""

    async def adjudicate(
        self, campaign: str, topic: str, document: str, text: str, reason: str
    ) -> adjudication.Adjudication | None:
        """Give the final answer for a document; see `adjudicate`."""
        at = self.clock()
        return await self.store.write_async(
            lambda c: adjudication.adjudicate(c, campaign, topic, document, text, reason, at, account=self.account)
        )

    async def reopen(self, campaign: str, assignment: int, position: int, reason: str) -> None:
        """Open a judgment again for its author; see `reopening.reopen`."""
        await self._for_assignment(
            campaign, assignment, lambda t, a, unit: reopening.reopen(t, a, unit, position, reason)
        )

    async def close(self, campaign: str, assignment: int, position: int) -> None:
        """Take it back that a judgment was opened again."""
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
