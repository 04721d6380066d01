"""Which system is better by the answers so far: what `qrowd compare --campaign` and the report say, for a page.

People see some of the gold documents, each other ones. So where runs rank gold documents, rankings are condensed to
what each assessor judged: else a system would lose by those gold documents that an assessor did not see.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from qrowd.errors import QrowdError
from qrowd_server.campaigns.running.collected import counts_gold, judgments, kept_runs
from qrowd_server.campaigns.running.creation import newest_event
from qrowd_server.store.progress_counts import leases
from qrowd_server.web.owner.context import OWNER_OF, OwnerContext

if TYPE_CHECKING:
    from qrowd.model.judgments import Judgments
    from qrowd.model.runs import Runs

FRESH = 60.0  # seconds that a decision is shown without being worked out again, if units are open or nothing happens
PATIENCE = 1.0  # seconds that a page waits for it
MOST_SHOWN = 5  # documents
OF_OTHER_TABLES = ("agreement of rankings", "AP correlation", "AP-b", "same sign")  # notes on what is not on the page


@dataclass(frozen=True)
class Decision:
    """What can be said of the systems.

    sentence : of `qrowd compare`. conditions : its notes, and its signature. answer : of the report, about the leader
    and the next. disagreement : of `qrowd disagreements`; disputed : topic, document and grades of its first rows.
    """

    sentence: str
    conditions: tuple[str, ...] = ()
    answer: str = ""
    disagreement: str = ""
    disputed: tuple[tuple[str, str, str], ...] = ()


WAITING = Decision("The systems are being compared. This page shows the answer in a few seconds.")


async def decision_of(context: OwnerContext) -> Decision | None:
    """The decision, of up to a minute ago while units are open; None without runs or comparable judgments."""
    row, arm = context.campaign, context.arm
    if row.settings.get("question"):
        return None  # its own statement is on the page
    name, names = f"{row.name}/{arm}".rstrip("/"), context.may(OWNER_OF)  # others see pseudonyms
    newest = 0 if await context.read(leases, row.id) else await context.read(newest_event, row.id)

    async def work() -> Decision | None:
        try:
            runs, judged = await context.read(kept_runs, name), await context.read(judgments, name, names=names)
            if runs is None:
                return None
            return await asyncio.to_thread(decide, runs, judged, await context.read(counts_gold, name))
        except QrowdError:  # preferences, or too few judgments to compare them
            return None

    try:
        return await asyncio.wait_for(
            context.memory.get(("decision", row.name, arm, names, newest), lambda _: FRESH, work), PATIENCE
        )
    except TimeoutError:
        return WAITING


def decide(runs: Runs, judged: Judgments, condensed: bool) -> Decision:
    """What these judgments say of the systems. condensed : whether only what each assessor judged is ranked."""
    from qrowd.comparison.head_to_head import head_to_head  # slow to import
    from qrowd.influence.disputed_documents import disagreements
    from qrowd.model.conventions import Conventions
    from qrowd.reports.comparison import compare
    from qrowd.reports.difference_tables import intervals
    from qrowd.reports.disagreement_tables import DisagreementsReport
    from qrowd.reports.report_systems import answer_of, leading_pair

    comparison = compare(runs, judged, conventions=Conventions(unjudged="condensed" if condensed else "nonrelevant"))
    scores, confidence = comparison.scores, comparison.choices.confidence
    pair = leading_pair(scores)
    part = replace(
        comparison.measures[0],
        pair=head_to_head(scores, *pair),
        intervals=intervals(scores, *pair, confidence=confidence),
    )
    answer = answer_of(part, scores, confidence)
    notes = (str(note) for note in comparison.notes if note.kind not in OF_OTHER_TABLES)
    decision = Decision(
        comparison.sentence,
        (*notes, *runs.notes, *judged.notes, comparison.signature),
        f"{answer.verdict}. {answer.sentence}",  # its caution is in the sentence of `qrowd compare`
    )
    if len(judged.assessors) == 1:
        return decision
    disputed = disagreements(runs, judged)
    return replace(
        decision,
        disagreement=DisagreementsReport(disputed).sentence,
        disputed=tuple(zip(disputed.topics, disputed.documents, disputed.grades, strict=True))[:MOST_SHOWN],
    )
