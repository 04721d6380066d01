"""What to judge next as a document: where scores vary, what other designs would give, what a budget buys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from qrowd.comparison.designs import BestDesign, DesignStudy, Growth, Target, best_design, d_study, growth
from qrowd.comparison.generalizability import VarianceComponents, variance_components
from qrowd.comparison.labelled import Named
from qrowd.errors import ArgumentError
from qrowd.model.judgments import Judgments
from qrowd.model.scores import Floats, Scores
from qrowd.reports.document import Document, Table, number
from qrowd.reports.notes import notes

if TYPE_CHECKING:
    import pandas
    import xarray

TOPICS = (25, 50, 100, 200)  # shown, beside the number there is
ASSESSORS = (1, 2, 3, 5, 8)
FEW = 4  # assessors: their components rest on so few degrees of freedom that a reader is warned
Z = 1.96  # a difference of so many standard errors is taken for real


@dataclass(frozen=True)
class Costs:
    """What there is and what things cost, in one currency.

    budget : None: nothing is bought, designs are only looked at. topic_cost : of one more topic before anyone judges.
    judgment_cost : of one judgment. documents : that an assessor judges in a topic.
    """

    budget: float | None = None
    topic_cost: float = 0.0
    judgment_cost: float = 0.0
    documents: float | None = None

    @property
    def given(self) -> bool:
        """Whether anything costs anything."""
        return self.topic_cost > 0 or self.judgment_cost > 0


@dataclass(frozen=True, eq=False)
class Plan:
    """The answer to `qrowd plan` as plain data; best is None without a budget."""

    sentence: str
    measure: str
    components: VarianceComponents
    study: DesignStudy
    best: BestDesign | None
    growth: Growth
    costs: Costs
    notes: tuple[str, ...]
    conventions: dict[str, Any]


def pool_size(judgments: Judgments) -> float:
    """Documents anyone judged per topic, on average over topics: what a new assessor would be given."""
    judged = judgments.value >= 0
    pairs = judgments.topic[judged].astype(np.int64) * len(judgments.documents) + judgments.document[judged]
    n_topics = np.unique(judgments.topic[judged]).size
    return float(np.unique(pairs).size / n_topics) if n_topics else float("nan")


def plan_judging(
    scores: xarray.DataArray | Scores,
    *,
    measure: str | None = None,
    design: Literal["crossed", "nested", "auto"] = "auto",
    study_as: Literal["crossed", "nested"] | None = None,
    costs: Costs = Costs(),
    topics: Iterable[int] | None = None,
    assessors: Iterable[int] | None = None,
    target: Target = "reliability",
    max_topics: int = 1000,
    max_assessors: int = 20,
) -> Plan:
    """What more topics and more assessors would give, and what is best for a budget, by one measure.

    measure : None: the first. design : of the scores; study_as : of what is planned, None: the same.
    topics, assessors : of the table of designs; None: some usual numbers and those there are.
    """
    plain = scores if isinstance(scores, Scores) else Scores.from_xarray(scores)
    name = plain.measures[0] if measure is None else measure
    if name not in plain.measures:
        raise ArgumentError(f"measure {name!r}: choose from {', '.join(plain.measures)}")
    names = {"assessor": plain.assessors, "topic": plain.topics, "system": plain.systems}
    components = variance_components(Named(plain.of(name), names), design=design)
    now = components.n_topics, max(1, round(components.n_assessors))
    rows = sorted({*TOPICS, now[0]}) if topics is None else list(topics)
    columns = sorted({*ASSESSORS, now[1]}) if assessors is None else list(assessors)
    study = d_study(components, rows, columns, design=study_as)
    if costs.given and costs.documents is not None:
        each = costs.topic_cost + study.n_assessors * costs.documents * costs.judgment_cost
        study = replace(study, cost=study.n_topics * each)
    best = None
    if costs.budget is not None:
        if costs.documents is None:
            raise ArgumentError("documents=None: say how many documents an assessor judges in a topic")
        best = best_design(
            components,
            costs.budget,
            topic_cost=costs.topic_cost,
            judgment_cost=costs.judgment_cost,
            documents_per_topic=costs.documents,
            target=target,
            design=study_as,
            max_topics=max_topics,
            max_assessors=max_assessors,
        )
    grown = growth(components, design=study_as)
    told = (*_notes(components, study, best, costs), *notes(plain))
    conventions = plain.attributes.get("conventions", {})
    sentence = _sentence(name, components, best, grown)
    return Plan(sentence, name, components, study, best, grown, costs, told, conventions)


def plan_document(plan: Plan) -> Document:
    """Components, designs and what the budget buys; .csv and .parquet hold one row per design of the table."""
    tables = [_component_table(plan), _study_table(plan)]
    if plan.best is not None:
        tables.append(_best_table(plan.best))

    def frame() -> pandas.DataFrame:
        made: pandas.DataFrame = plan.study.to_frame()
        return made

    def content() -> dict[str, Any]:
        components = plan.components
        data: dict[str, Any] = {
            "measure": plan.measure,
            "design": components.design,
            "components": components.to_frame().to_dict("records"),
            "negative": components.negative,
            "n": {"systems": components.n_systems, "topics": components.n_topics, "assessors": components.n_assessors},
            "handling": components.handling,
            "reliability": components.reliability(),
            "dependability": components.dependability(),
            "designs": plan.study.to_frame().to_dict("records"),
            "growth": asdict(plan.growth),
            "costs": asdict(plan.costs),
            "conventions": plan.conventions,
        }
        if plan.best is not None:
            numbers = (n for n in vars(plan.best) if n not in ("frontier", "by_assessors"))
            data["best"] = {name: getattr(plan.best, name) for name in numbers}
            data["frontier"] = plan.best.frontier.to_frame().to_dict("records")
            data["by_assessors"] = plan.best.by_assessors.to_frame().to_dict("records")
        return data

    return Document(plan.sentence, tuple(tables), plan.notes, frame, content)


# ---------------------------------------------------------------------- in words


def _sentence(measure: str, components: VarianceComponents, best: BestDesign | None, grown: Growth) -> str:
    """What the budget buys, where one stands, and what helps more."""
    now = _of(grown.n_topics, grown.n_assessors, components.design)
    reached = f"now, {now} rank systems with reliability {number(components.reliability(), 3)}"
    if best is not None:
        each = _of(best.n_topics, best.n_assessors, best.design)
        told = (
            f"By {measure}, {_money(best.budget)} is best spent on {each} ({_money(best.cost)}): that would rank "
            f"systems with reliability {number(best.reliability, 3)} and tell two apart that differ by "
            f"{number(Z * best.standard_error_of_difference, 3)}; {reached}"
        )
    else:
        error = components.standard_error_of_difference()
        told = f"By {measure}, {reached} and tell two apart that differ by {number(Z * error, 3)}"
    return f"{told}; {advice(grown)}."


def advice(grown: Growth) -> str:
    """More topics against more assessors in words: 20 more topics help more than a fourth assessor."""
    topics = _more(grown.topics, "topic")
    assessors = _more(grown.assessors, "assessor") if grown.assessors > 1 else _ordinal(grown.n_assessors + 1)
    how = {"same": "as much as", "topics": "more than", "assessors": "less than"}[grown.better]
    told = f"{topics} help{'' if grown.topics > 1 else 's'} {how} {assessors}"
    if grown.same_as_assessors is None:
        return f"{told}, which no number of topics makes up for"
    if grown.better == "same":
        return told
    if grown.same_as_assessors == 0:
        return f"{told}, which would change nothing"
    return f"{told}, which {_more(grown.same_as_assessors, 'topic')} would match"


def _money(value: float) -> str:
    """Two decimals, none where they are 0."""
    return f"{value:,.2f}".removesuffix(".00")


def _more(n: int, what: str) -> str:
    return f"{n:,} more {what}{'' if n == 1 else 's'}"


def _of(n_topics: int, n_assessors: int, design: str) -> str:
    """18 topics with the same 5 assessors; 43 topics with 2 assessors each."""
    topics = f"{n_topics:,} topic{'' if n_topics == 1 else 's'}"
    if n_assessors == 1:
        return f"{topics} with one assessor {'for all' if design == 'crossed' else 'each'}"
    return (
        f"{topics} with "
        + (f"the same {n_assessors}" if design == "crossed" else f"{n_assessors}")
        + (" assessors" if design == "crossed" else " assessors each")
    )


_ORDINALS = ("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def _ordinal(n: int) -> str:
    """A fourth assessor, an eighth, a 21st; from the second on."""
    if n <= 10:
        said = _ORDINALS[n - 2]
    else:
        end = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
        said = f"{n}{end}"
    return f"{'an' if said == 'eighth' or said[0] == '8' or said in ('11th', '18th') else 'a'} {said} assessor"


def _notes(components: VarianceComponents, study: DesignStudy, best: BestDesign | None, costs: Costs) -> Iterator[str]:
    crossed = components.design == "crossed"
    yield (
        f"design: {components.design}, "
        f"{'assessors are the same in all topics' if crossed else 'every topic has assessors of its own'}; "
        f"{components.handling}"
    )
    if study.design != components.design:
        yield f"planned: {study.design}, with assessors of its own for every topic"
    if components.negative:
        yield f"negative: estimated below 0 and set to 0: {', '.join(components.negative)}"
    yield (
        "reliability: E rho squared, how well means over new topics and new assessors order these systems; "
        "dependability: Phi, how well they tell the scores themselves. Both are higher among systems that differ more"
    )
    if crossed and components.n_assessors <= FEW:
        yield (
            f"uncertain: what assessors do rests on {components.n_assessors:g} of them; take the designs with more or "
            "fewer as rough"
        )
    yield f"apart: {Z} standard errors of a difference of two systems; topics and assessors both drawn anew"
    if costs.given and costs.documents is not None:
        yield (
            f"cost: topics x {_money(costs.topic_cost)} + topics x assessors x {costs.documents:,.5g} documents x "
            f"{costs.judgment_cost:,.10g}"
        )
    if best is not None:
        yield f"designs: {best.n_designs:,} are within the budget; the best has the largest {best.target}"
        for limit in best.at_limit:
            yield f"limit: the best design reaches {limit}; a higher one may do better"


# ---------------------------------------------------------------------- tables


def _component_table(plan: Plan) -> Table:
    c = plan.components
    rows = [
        [source, str(c.df[i]), number(c.ms[i], 5), f"{c.component[i]:.6f}", _share(c.share[i])]
        for i, source in enumerate(c.sources)
    ]
    title = f"{plan.measure}: what makes scores vary"
    return Table(title, ["source", "df", "mean square", "component", "share"], rows)


def _share(value: float) -> str:
    return "-" if np.isnan(value) else f"{100 * value:.1f} %"


DESIGN_HEADER = ["topics", "assessors", "reliability", "dependability", "s.e. of a mean", "apart"]


def _study_table(plan: Plan) -> Table:
    return _design_table("what other numbers of topics, and of assessors for each, would give", plan.study)


def _best_table(best: BestDesign) -> Table:
    return _design_table("what the budget buys, by the number of assessors for each topic", best.by_assessors)


def _design_table(title: str, study: DesignStudy) -> Table:
    priced = not np.isnan(study.cost).all()
    columns: tuple[Floats, ...] = (study.reliability, study.dependability, study.standard_error)
    rows = []
    for i in range(study.n_topics.size):
        row = [f"{study.n_topics[i]:,}", str(study.n_assessors[i]), *(number(column[i]) for column in columns)]
        row.append(number(Z * study.standard_error_of_difference[i]))
        rows.append([*row, f"{study.cost[i]:,.2f}"] if priced else row)
    return Table(title, [*DESIGN_HEADER, "cost"] if priced else DESIGN_HEADER, rows)
