"""The plan of a question: how many documents and how much money until it is decided, as a distribution."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from math import isnan
from typing import Any

import numpy as np

from qrowd.display import Dots
from qrowd.evaluation import measure
from qrowd.reports.document import Document, Note, Reported, Table
from qrowd.reports.phrases import cells, chance, count, is_or_are, signed
from qrowd.sequential.costs import JudgmentCost
from qrowd.sequential.planning import QUANTILES, QuestionPlan
from qrowd.sequential.score_forms import is_linear

STEPS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)  # shares of the documents in the second table


@dataclass(frozen=True, eq=False, repr=False)
class QuestionPlanReport(Reported):
    """The answer of `qrowd plan --question`."""

    result: QuestionPlan

    @property
    def sentence(self) -> str:
        """What the question is expected to take, what the budget buys, and when judging would not be enough."""
        one = self.result
        low, middle, high = one.quantiles((0.1, 0.5, 0.9))[0]
        n = one.n_left
        if not n:
            return f"{one.question}: {_nothing(one)}"
        people = "" if one.people_per_document == 1 else f" by {one.people_per_document} people each"
        if middle > n:
            expected = f"even all {n:,} documents that are left{people} are not expected to decide it"
        else:
            end = f"{high:,.0f}" if high <= n else f"undecided after all {n:,}"
            expected = (
                f"{count(middle, 'document')} of {n:,} judged{people} {is_or_are(middle)} expected to decide it "
                f"({low:,.0f} to {end} in 80 % of simulations)"
            )
        return f"{one.question} by {one.measure}: {expected}{self._cost()}.{self._budget()}{self._all()}"

    def _cost(self) -> str:
        one = self.result
        if not one.judgment_cost.mean and not one.n_costs:
            return ""
        low, middle, high = one.costs((0.1, 0.5, 0.9))[0]
        return f", at a cost of {middle:,.6g} ({low:,.6g} to {high:,.6g})"

    def _budget(self) -> str:
        one = self.result
        if isnan(one.budget):
            return ""
        return f" A budget of {one.budget:,.6g} decides it with a probability of {chance(float(one.within_budget[0]))}."

    def _all(self) -> str:
        one = self.result
        everything, undecided = float(one.all_judged[0]), float(one.undecided[0])
        if not everything:
            return ""
        rest = f"; in {chance(undecided)} of simulations that does not decide it either" if undecided else ""
        return f" All documents must be judged with a probability of {chance(everything)}{rest}."

    def _tables(self) -> dict[str, Callable[[], dict[str, Any]]]:
        """A row per difference; a row per difference and simulation."""
        tables = self.result._tables()
        return {name: _made(make) for name, make in tables.items()}

    def to_document(self) -> Document:
        """Documents by the true difference, and how probable it is that so many decide; .csv holds the first."""
        tables = (_quantile_table(self.result), _chance_table(self.result))
        return Document(self.sentence, tables, tuple(_notes(self.result)), self.to_frame, lambda: _content(self))

    def _dots(self) -> Dots:
        low, middle, high = self.result.quantiles((0.1, 0.5, 0.9)).T
        title = "documents until the question is decided, by the true difference; bars: 80 % of simulations"
        return Dots(title, _names(self.result), middle.tolist(), low.tolist(), high.tolist())


def _made(make: Callable[[], Any]) -> Callable[[], dict[str, Any]]:
    return lambda: dict(make())


def _nothing(one: QuestionPlan) -> str:
    return (
        "no judgment can decide it: the systems return the same documents at the same ranks."
        if not one.n_judged
        else "all documents of these systems are judged."
    )


def _content(report: QuestionPlanReport) -> dict[str, Any]:
    """Everything but the simulations, one by one, which `to_frame(what="simulations")` has."""
    one = report.result
    left_out = ("n_documents", "cost", "differences", "question", "judgment_cost")
    fields = {name: value for name, value in vars(one).items() if name not in left_out}
    question, cost = asdict(one.question) | {"text": str(one.question)}, asdict(one.judgment_cost)
    numbers = _steps(one)
    decided = [
        {"difference": difference, "documents": number, "decided": share}
        for difference, row in zip(one.differences.tolist(), one.decided_by(numbers).tolist(), strict=True)
        for number, share in zip(numbers, row, strict=True)
    ]
    return {
        "question": question,
        **fields,
        "n_simulations": one.n_simulations,
        "judgment_cost": cost,
        "differences": report.to_frame().to_dict("records"),
        "decided_by": decided,
    }


def _names(one: QuestionPlan) -> list[str]:
    """The first row is that of the difference as it is expected."""
    return ["as expected" if np.isnan(size) else f"{size:g}" for size in one.differences.tolist()]


def _quantile_table(one: QuestionPlan) -> Table:
    documents, cost, n = one.quantiles(QUANTILES), one.costs((0.5, 0.9)), one.n_left
    columns: dict[str, list[str]] = {"true difference": _names(one)}
    for place, share in enumerate(QUANTILES):
        name = "median" if share == 0.5 else f"{100 * share:.0f} %"
        columns[name] = [f"{value:,.0f}" if value <= n else f">{n:,}" for value in documents[:, place].tolist()]
    if one.judgment_cost.mean or one.n_costs:
        columns["median cost"] = cells("{:,.6g}".format, cost[:, 0].tolist())
        columns["90 % cost"] = cells("{:,.6g}".format, cost[:, 1].tolist())
    if not isnan(one.budget):
        columns["within budget"] = cells(chance, one.within_budget.tolist())
    columns["all judged"] = cells(chance, one.all_judged.tolist())
    columns["undecided"] = cells(chance, one.undecided.tolist())
    return Table.of(f"documents until the question is decided, of {n:,}", columns)


def _steps(one: QuestionPlan) -> list[int]:
    """Numbers of documents, rounded to two digits, and all."""
    numbers = {int(float(f"{share * one.n_left:.2g}")) for share in STEPS[:-1]}
    return sorted(number for number in numbers | {one.n_left} if 0 < number <= one.n_left)


def _chance_table(one: QuestionPlan) -> Table:
    numbers = _steps(one)
    shares = one.decided_by(numbers)
    columns = {"true difference": _names(one)}
    columns |= {f"{number:,}": cells(chance, shares[:, i].tolist()) for i, number in enumerate(numbers)}
    return Table.of("probability that the question is decided, by the number of documents judged", columns)


def _notes(one: QuestionPlan) -> Iterator[Note]:
    """The conventions in force, and what the simulations suppose."""
    out = (
        f"; {count(one.n_topics_out, 'other')} of the runs, which no model judged, left out" if one.n_topics_out else ""
    )
    which = "not on others like them" if one.target == "these topics" else "and on others like them"
    yield Note("target", f"mean {one.measure} on these {count(one.n_topics, 'topic')}, {which}{out}")
    yield Note("confidence", f"{one.confidence:g} of the answer, at all times together, as in `qrowd next`")
    yield Note("tolerance", f"{one.tolerance:g}: differences of up to this much count as none")
    who = "all people like those who judge" if one.disagreement else "those who judge it"
    people = count(one.people_per_document, "person judges", "people judge")
    yield Note("people", f"scale {one.scale}; {people} a document, and its gain is the mean of {who}")
    yield Note("errors", _error_note(one))
    if not isnan(one.expected_difference):
        yield Note(
            "difference",
            f"{one.question.systems[0]} - {one.question.systems[1]} is expected to be "
            f"{signed(one.expected_difference, 3)}, with a standard deviation of {one.difference_sd:.3f}; other "
            "rows: a difference of this size",
        )
    elif one.differences.size > 1:
        what = (
            "the two best systems"
            if one.question.kind == "best"
            else (f"{one.question.systems[0]} and the next system across the border")
        )
        yield Note("difference", f"as expected: each simulation has its own; other rows: that between {what}")
    if not is_linear(measure(one.measure)):
        yield Note(
            "measure",
            f"{one.measure} is no weighted sum of gains: the simulations take it as one, by what is expected now, so "
            "that these numbers are rough",
        )
    yield from cost_notes(one.judgment_cost, one.n_costs)
    yield Note("simulations", f"{one.n_simulations:,} of each row, seed {one.seed}; documents drawn as by `qrowd next`")


def _error_note(one: QuestionPlan) -> str:
    models = f"judgments of {count(len(one.models), 'model')}" if one.models else "no model"
    pilot = f" and {count(one.n_judged, 'document')} that people judged" if one.n_judged else ""
    source = (
        f"by the correlation of {one.correlation:g}"
        if not isnan(one.correlation)
        else ("by these judgments" if one.n_judged else "declared")
    )
    return (
        f"predictions from {models}{pilot} differ from people by {one.spread:.2f} in gains ({source}), root mean square"
    )


def cost_notes(cost: JudgmentCost, n_costs: int) -> Iterator[Note]:
    """What a judgment costs: by assessor, and by document."""
    if cost.assessors:
        each = ", ".join(f"{name} {value:g}" for name, value in zip(cost.assessors, cost.costs, strict=True))
        how = "by their judgments so far" if cost.by_judgments else "as though all judged the same number"
        yield Note("cost", f"{cost.mean:.6g} for a judgment, the mean of {each}, {how}")
    elif cost.mean:
        yield Note("cost", f"{cost.mean:.6g} for a judgment")
    if n_costs:
        times = "times that" if cost.mean else "as they are"
        yield Note(
            "costs of documents",
            f"{count(n_costs, 'document has', 'documents have')} a cost of their own, {times}; the others 1; documents "
            "are drawn in proportion to one over the square root of their cost",
        )
