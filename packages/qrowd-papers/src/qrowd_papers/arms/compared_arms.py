"""The arms of a study side by side: agreement, time, feedback and use of context.

Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR, section 3.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from qrowd.agreement.pairwise import LabelTable, label_table
from qrowd.comparison.p_values import holm
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.kernels.arrays import Floats
from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences
from qrowd.preferences import PreferenceTable, preference_table
from qrowd.reports.document import Document, Note, Reported, Table
from qrowd.reports.phrases import cells, count, interval, number, percent, probability, signed
from qrowd_papers.arms.arm_measures import (
    ArmAgreement,
    ArmFeedback,
    ArmUnits,
    ContextUse,
    arm_agreement,
    arm_feedback,
    context_use,
)
from qrowd_papers.arms.arm_times import ArmTimes, arm_times

LABELS_SHOWN = 12  # of a table of labels; magnitudes have more
TIMES = ("median", "first sight", "later")


@dataclass(frozen=True, eq=False)
class ArmsReport(Reported):
    """The arms of a study compared.

    agreement : on pairs of documents; None where no two assessors share one. labels : {arm: table of grades}.
    strong : {arm: table with strong preferences apart}. times : None where nobody recorded seconds. feedback, context :
    None without the campaign's units.
    """

    n_answers: dict[str, int]
    agreement: ArmAgreement | None
    labels: dict[str, LabelTable]
    strong: dict[str, PreferenceTable]
    times: ArmTimes | None
    feedback: ArmFeedback | None
    context: ContextUse | None

    @property
    def sentence(self) -> str:
        """How far each arm agrees, and how long a judgment takes in it."""
        parts = [f"{len(self.n_answers)} arms, {count(sum(self.n_answers.values()), 'judgment')}"]
        if self.agreement is not None:
            shares = (f"{arm} {table.agreement:.3f}" for arm, table in self.agreement.tables.items())
            parts.append(f"agreement on pairs of documents: {', '.join(shares)}")
        if self.times is not None:
            seconds = zip(self.times.arms[:-1], self.times.median[-1], strict=False)
            parts.append(f"median seconds: {', '.join(f'{arm} {value:.2f}' for arm, value in seconds)}")
        return "; ".join(parts) + "."

    @property
    def p_holm(self) -> Floats:
        """(pairs of arms,) p of the differences of agreement after Holm's correction."""
        if self.agreement is None:
            return np.empty(0)
        return holm(np.array([test.p for test in self.agreement.differences.values()], np.float64))

    def _tables(self) -> Mapping[str, Callable[[], Mapping[str, Any]]]:
        tables = self._tables_of(agreement=self.agreement)
        if self.agreement is not None:
            tables["differences"] = lambda: {**self.agreement._differences(), "p_holm": self.p_holm}  # type: ignore[union-attr]
        return {**tables, **self._tables_of(times=self.times, feedback=self.feedback, context=self.context)}

    def _document(self) -> Document:
        """The tables of the study, as far as there are data for them."""
        tables = [*_agreement_tables(self)]
        if self.times is not None:
            tables += _time_tables(self.times)
        if self.feedback is not None:
            tables.append(_feedback_table(self.feedback))
        if self.context is not None:
            tables.append(_context_table(self.context))
        return Document(self.sentence, tuple(tables), tuple(_notes(self)), self.to_frame, self.records)


def compare_arms(
    arms: Mapping[str, Judgments | Preferences],
    units: Any = None,
    *,
    tie_rate: float = 0.5,
    confidence: float = 0.95,
) -> ArmsReport:
    """Compare the arms of a study.

    arms : {name: judgments or preferences}. units : a campaign's export `units`, as a data frame or {column: cells};
    None: no feedback and no use of context. tie_rate : as in `arm_agreement`. confidence : of the intervals.

    Raises
    ------
    ArgumentError
        Fewer than two arms; an arm without answers; columns missing in the units.
    """
    if len(arms) < 2:
        raise ArgumentError("a comparison needs two arms or more; give --arm NAME=FILE for each")
    for name, answers in arms.items():
        if not len(answers):
            raise ArgumentError(f"arm {name}: it holds no judgment yet")
    labels, strong = {}, {}
    for name, answers in arms.items():
        if isinstance(answers, Preferences):
            if (answers.strength > 1).any() and (table := _or_none(_strong_table, answers)) is not None:
                strong[name] = table
        elif (grades := _or_none(label_table, answers)) is not None and len(grades.values) <= LABELS_SHOWN:
            labels[name] = grades
    timed = all(one.seconds is not None and not np.isnan(one.seconds).all() for one in arms.values())
    of_units = None if units is None else ArmUnits.from_frame(units, arms=tuple(arms))
    return ArmsReport(
        {name: len(answers) for name, answers in arms.items()},
        _or_none(lambda: arm_agreement(arms, tie_rate=tie_rate)),
        labels,
        strong,
        arm_times(arms) if timed else None,
        None if of_units is None else arm_feedback(of_units, confidence=confidence),
        None if of_units is None else context_use(of_units),
    )


def _strong_table(preferences: Preferences) -> PreferenceTable:
    return preference_table(preferences, separate_strong=True)


def _or_none(make: Callable[..., Any], *data: Any) -> Any:
    """None where no two assessors share anything."""
    try:
        return make(*data)
    except NoOverlapError:
        return None


# ---------------------------------------------------------------------- tables


def _agreement_tables(report: ArmsReport) -> Iterator[Table]:
    agreement = report.agreement
    if agreement is None:
        return
    pairs = agreement.tables.values()
    columns = {
        "arm": list(agreement.tables),
        "source": ["grades" if arm in agreement.inferred else "preferences" for arm in agreement.tables],
        "pairs": cells("{:,}".format, [table.n_pairs for table in pairs]),
        "agreement": cells(number, [table.agreement for table in pairs], digits=3),
    }
    yield Table.of("agreement of two assessors on a pair of documents", columns)
    if agreement.differences:
        tests = agreement.differences.values()
        columns = {
            "arms": [f"{first}, {second}" for first, second in agreement.differences],
            "difference": cells(signed, [test.agreement[0] - test.agreement[1] for test in tests], digits=3),
            "chi-square": cells(number, [test.chi_square for test in tests], digits=1),
            "p": cells(probability, [test.p for test in tests]),
            "p (Holm)": cells(probability, report.p_holm),
        }
        yield Table.of("differences of agreement between arms", columns)
    for arm, labels in report.labels.items():
        yield _conditional(f"{arm}: grade", [f"{value:g}" for value in labels.values], labels.probability, labels.total)
    for arm, table in agreement.tables.items():
        kind = "preferences inferred from grades" if arm in agreement.inferred else "preference"
        yield _conditional(f"{arm}: {kind}", table.states, table.probability, table.total)
    for arm, table in report.strong.items():
        yield _conditional(f"{arm}: strong preferences apart", table.states, table.probability, table.total)


def _conditional(title: str, states: Any, shares: Floats, total: Floats) -> Table:
    columns = {
        "answer": list(states),
        **{state: cells(number, column, digits=3) for state, column in zip(states, shares.T, strict=True)},
        "judgments": cells("{:,.0f}".format, total),
    }
    return Table.of(f"{title}: answer of another assessor (column) given that of one (row)", columns)


def _time_tables(times: ArmTimes) -> Iterator[Table]:
    seconds = {arm: cells(number, times.median[:, i], digits=2) for i, arm in enumerate(times.arms)}
    yield Table.of("median seconds per judgment", {"assessor": list(times.assessors), **seconds})
    overall = {
        "arm": list(times.arms),
        "judgments": cells("{:,}".format, times.n[-1]),
        "at first sight": cells("{:,}".format, times.n_first[-1]),
        **{
            name: cells(number, values[-1], digits=2)
            for name, values in zip(TIMES, (times.median, times.first_sight, times.later), strict=True)
        },
    }
    yield Table.of("median seconds by whether a document was seen for the first time", overall)


def _feedback_table(feedback: ArmFeedback) -> Table:
    columns = {
        "question": list(feedback.questions),
        "arm": list(feedback.arms),
        "units": cells("{:,}".format, feedback.n),
        "median": cells(number, feedback.median, digits=1),
        "Spearman with seconds": cells(number, feedback.spearman, digits=3),
        "interval": cells(interval, feedback.low, feedback.high),
        "p": cells(probability, feedback.p),
    }
    return Table.of("feedback after a unit, from 1 to 5", columns)


def _context_table(context: ContextUse) -> Table:
    columns = {
        "arm": list(context.arms),
        "units": cells("{:,}".format, context.n),
        "with context": cells("{:,}".format, context.with_context),
        "times": cells("{:,}".format, context.times),
    }
    return Table.of("units in which the context was looked up", columns)


def _notes(report: ArmsReport) -> Iterator[Note]:
    if report.agreement is not None:
        if report.agreement.inferred:
            rate = report.agreement.tie_rate
            yield Note("ties", f"pairs of equal grade agree at the rate {rate:g}; .5 is the toss of a coin")
        yield Note("chi-square", "pairs of judgments that share a document are not independent, so p is too small")
    else:
        yield Note("agreement", "no two assessors of an arm judged a pair of documents in common")
    if report.times is None:
        yield Note("seconds", "not recorded in every arm, so times are not compared")
    else:
        yield Note("seconds", "medians; of preferences, a judgment is at first sight if one document is new")
    if report.feedback is None:
        yield Note("feedback", "no units are given, so feedback and use of context are not compared")
    else:
        yield Note("feedback", f"rank correlation with the seconds of the unit; {percent(report.feedback.confidence)} "
                   "intervals by Fisher's z")  # fmt: skip
    if (context := report.context) is not None:
        if np.isnan(context.p):
            yield Note("context", "in no unit, or in each unit, of the arms compared: there is nothing to test")
        else:
            rough = "; expected counts below 5 make it rough" if context.least_expected < 5 else ""
            test = f"chi-square {context.chi_square:.2f}, df {context.df}, p {probability(context.p)}"
            yield Note("context", f"{context.times.sum():,} times; independent of the arm: {test}{rough}")
