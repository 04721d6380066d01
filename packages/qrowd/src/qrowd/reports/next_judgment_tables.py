"""What to judge next: the statement so far, the differences behind it, and what is expected to go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from qrowd.model.result import Tables
from qrowd.reports.document import Document, Note, Reported, Table
from qrowd.reports.phrases import cells, count, is_or_are, mean_of, signed
from qrowd.sequential.next_judgments import NextJudgments
from qrowd.sequential.question import Statement

SHOWN = 20  # differences


@dataclass(frozen=True, eq=False, repr=False)
class NextJudgmentsReport(Reported):
    """The answer of `qrowd next`. n_judgments, n_assessors : of people so far."""

    result: NextJudgments
    n_judgments: int = 0
    n_assessors: int = 0

    @property
    def signature(self) -> str:
        """That of the result."""
        return self.result.signature

    @property
    def sentence(self) -> str:
        """What can be said now, what is expected to go, and the next batch."""
        one = self.result
        if one.statement.decided:
            return f"{one.sentence} Nothing more needs to be judged for it."
        if not one.topics:
            return f"{one.sentence} {_nothing_left(one.statement)}"
        return f"{one.sentence} {self._to_go()} {self._batch()}"

    def _to_go(self) -> str:
        one = self.result
        left = one.statement.n_documents_in_all - one.statement.n_judged_in_all
        low, middle, high = (min(value, left) for value in (one.n_low, one.n_expected, one.n_high))
        if one.n_expected > left:
            hint = "" if one.statement.tolerance else "; with a tolerance fewer could"
            return f"Even the {count(left, 'document')} that are left are not expected to decide it{hint}."
        end = f"{high:,.0f}" if one.n_high <= left else f"undecided after all {left:,}"
        return (
            f"About {count(middle, 'more document')} {is_or_are(middle)} expected to decide it "
            f"({low:,.0f} to {end} in 80 % of simulations; {left:,} are left)."
        )

    def _batch(self) -> str:
        one = self.result
        waiting = f", {min(one.n_waiting, len(one.topics)):,} of them drawn before" if one.n_waiting else ""
        n_topics = len(set(one.topics))
        return f"Next: {count(len(one.topics), 'document')} of {count(n_topics, 'topic')}{waiting}."

    def _tables(self) -> Tables:
        """One row per document of the batch; the differences; the documents drawn so far."""
        one = self.result
        return self._tables_of(batch=one, differences=one.statement, design=one.design)

    def _document(self) -> Document:
        """The differences that are open or decide; .csv holds the batch."""
        table = differences_table(self.result.statement)
        return Document(self.sentence, (table,), tuple(_notes(self)), self.to_frame, self.records)


def _nothing_left(one: Statement) -> str:
    """Why a question is open although there is nothing more to judge for it."""
    if (one.n_documents[(one.low <= 0) & (one.high >= 0)] == 0).all():
        return "No judgment can decide it: the systems that remain return the same documents at the same ranks."
    if one.target != "these topics":
        return "All documents of these systems are judged; only more topics could decide it."
    return (
        "All documents of these systems are judged; what is open is the normaliser of the measure, which depends on "
        "other documents of the topics: ask with DCG, or judge further documents of these topics."
    )


def differences_table(one: Statement) -> Table:
    """The differences that are open, or those that decide the question, the smallest first; the title counts all."""
    is_open = (one.low <= 0) & (one.high >= 0)
    decides = is_open != one.decided
    numbers = np.flatnonzero(decides | ~decides.any())  # all, where the tolerance decides
    shown = numbers[np.argsort(np.abs(one.estimate[numbers]), kind="stable")][:SHOWN]
    title = f"{one.measure}: differences {'that decide the question' if one.decided else 'that are open'}"
    title += f" ({shown.size} of {numbers.size:,}, the smallest)" if numbers.size > SHOWN else ""
    title += f", of {len(one.first):,} pairs of systems" if numbers.size < len(one.first) else ""
    low = np.where(np.isfinite(one.low) & np.isfinite(one.high), one.low, np.nan)
    columns = {
        "system": [one.first[i] for i in shown],
        "other system": [one.second[i] for i in shown],
        "difference": cells(signed, one.estimate[shown]),
        "interval of difference": zip(low[shown], one.high[shown], strict=True),
        "judged": one.n_judged[shown],
        "documents": one.n_documents[shown],
    }
    return Table.of(title, columns)


def _notes(report: NextJudgmentsReport) -> Iterator[Note]:
    """The conventions in force, and what was left out or waits."""
    one = report.result
    statement = one.statement
    design = one.design
    out = (
        f"; {count(one.n_topics_out, 'other')} of the runs, which no model judged, left out" if one.n_topics_out else ""
    )
    others = "not on others like them (compare, plan and --new-topics are about those)"
    which = others if statement.target == "these topics" else "and on others like them"
    yield Note("target", f"{mean_of(statement.measure)} on these {count(one.n_topics, 'topic')}, {which}{out}")
    each = statement.question.confidence_of_each(statement.confidence)
    several = f"; each of {len(statement.first):,} intervals alone: {each:.4g}" if len(statement.first) > 1 else ""
    yield Note("confidence", f"{statement.confidence:g} that the answer is right, however often one looks{several}")
    of_others = "other people may prefer another system, which no interval counts"
    yield Note("people", f"scale {design.scale}; a gain is the mean of those who judge the document; {of_others}")
    models = f"judgments of {count(len(one.models), 'model')} and " if one.models else ""
    yield Note(
        "unjudged documents",
        f"what people would say is predicted from {models}their judgments so far; wrong predictions cost judgments, "
        "but do not bias the differences",
    )
    if statement.measure.startswith("nDCG") and not statement.certain:
        yield Note("normaliser", "of each topic is predicted until all is judged; its error widens the intervals")
    yield Note("tolerance", f"{statement.tolerance:g}: differences of up to this much count as none")
    if statement.n_unjudgeable:
        verb = "counts" if statement.n_unjudgeable == 1 else "count"
        yield Note(
            "unjudgeable",
            f"{count(statement.n_unjudgeable, 'document')} that nobody can judge {verb} as not relevant, as documents "
            "that nobody judged do in trec_eval",
        )
    if one.n_held:
        first = f"{one.documents[0]} of topic {one.topics[0]}" if one.topics else "one"
        yield Note(
            "held back",
            f"{count(one.n_held, 'judgment')} of documents drawn after {first}, which is not judged; they count when "
            "it is, because who answers late is not random",
        )
    if one.n_others:
        yield Note("not drawn", f"{count(one.n_others, 'judged document')}: used for predictions only")
    yield Note(
        "seed",
        f"{design.seed}; {count(one.n_before, 'document')} drawn before this call; "
        f"the batch holds what nobody judged of these and of {len(design.draws) - one.n_before:,} more",
    )
    if report.n_judgments:
        yield Note("so far", f"{count(report.n_judgments, 'judgment')} by {count(report.n_assessors, 'assessor')}")
