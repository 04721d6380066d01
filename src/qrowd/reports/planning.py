"""What to judge next as a document: where scores vary, what other designs would find, what a budget buys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from math import nan
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from qrowd.comparison.designs import BestDesign, DesignStudy, MarginalGain, Target, best_design, d_study, marginal_gain
from qrowd.comparison.differences import Difference, difference
from qrowd.comparison.effort import EqualCost
from qrowd.comparison.generalizability import VarianceComponents, error_parts, variance_components
from qrowd.comparison.power import POWER, DifferenceComponents, detectable_difference, topics_needed
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.model.judgments import Judgments
from qrowd.model.scores import Floats, Scores
from qrowd.reports.differences import ADVICE_NOTE, advice_of, topics_or_assessor
from qrowd.reports.document import Document, Table
from qrowd.reports.notes import scoring_notes
from qrowd.reports.phrases import count, number
from qrowd.reports.report_systems import leading_pair

if TYPE_CHECKING:
    import pandas
    import xarray

TOPICS = (25, 50, 100, 200)  # shown, beside the number there is
ASSESSORS = (1, 2, 3, 5, 8)
FEW = 4  # assessors: their components rest on so few degrees of freedom that a reader is warned


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

    def of(self, n_topics: float, n_assessors: float) -> float:
        """What a design costs; the number of topics judged by an assessor where nothing costs anything."""
        if not self.given or self.documents is None:
            return n_topics * n_assessors
        return n_topics * (self.topic_cost + n_assessors * self.documents * self.judgment_cost)

    def topics_or_assessor(self, found: Difference) -> EqualCost | None:
        """One more assessor against as many topics as that costs; None where nothing is left to be made surer."""
        if not self.given or self.documents is None:
            return topics_or_assessor(found)
        prices = {"topic_cost": self.topic_cost, "judgment_cost": self.judgment_cost, "documents": self.documents}
        return topics_or_assessor(found, **prices)


@dataclass(frozen=True, eq=False)
class PairPlan:
    """Two systems: what is known of them, and what it takes to find a difference of `size`.

    size : nan where none was asked for and the two differ significantly. n_topics : with the assessors at hand; None
    where max_topics are too few. cheapest : then the cheapest design with more assessors, as (topics, assessors); None
    where max_assessors are too few, too. equal : one more assessor against as many topics as that costs; None where the
    two differ significantly, or assessors cannot be told apart.
    """

    found: Difference
    size: float
    n_topics: int | None
    cheapest: tuple[int, int] | None
    max_topics: int
    max_assessors: int
    equal: EqualCost | None


@dataclass(frozen=True, eq=False)
class Plan:
    """The answer to `qrowd plan` as plain data; best is None without a budget.

    detectable : the smallest difference that each design of `study` finds with the probability `power`. pair : None
    where no two systems share enough.
    """

    sentence: str
    measure: str
    components: VarianceComponents
    study: DesignStudy
    best: BestDesign | None
    marginal_gain: MarginalGain
    detectable: Floats
    pair: PairPlan | None
    power: float
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
    pair: tuple[str, str] | None = None,
    size: float | None = None,
    power: float = POWER,
    target: Target = "generalizability",
    max_topics: int = 1000,
    max_assessors: int = 20,
) -> Plan:
    """What more topics and more assessors would give, and what is best for a budget, by one measure.

    measure : None: the first. design : of the scores; study_as : of what is planned, None: the same.
    topics, assessors : of the table of designs; None: some usual numbers and those there are. pair : two systems to
    plan for; None: the two that lead. size : of their difference that is to be found; None: the one observed. power :
    with which probability.
    """
    if not 0 < power < 1:
        raise ArgumentError(f"power={power!r}: a probability between 0 and 1 was expected")
    if size is not None and not 0 < size < np.inf:
        raise ArgumentError(f"difference={size!r}: a number above 0 was expected")
    plain = scores if isinstance(scores, Scores) else Scores.from_xarray(scores)
    name = plain.measures[0] if measure is None else measure
    if name not in plain.measures:
        raise ArgumentError(f"measure {name!r}: choose from {', '.join(plain.measures)}")
    one = plain.sel(measure=name)
    components = variance_components(one, design=design)
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
    two = _pair_plan(one, pair, size, power, costs, max_topics, max_assessors)
    plan = Plan(
        "", name, components, study, best, marginal_gain(components, design=study_as),
        _detectable(components, study, power), two, power, costs, (), plain.attributes.get("conventions", {}),
    )  # fmt: skip
    return replace(plan, sentence=_sentence(plan), notes=(*_notes(plan), *scoring_notes(plain)))


def plan_document(plan: Plan) -> Document:
    """Components, designs and what the budget buys; .csv and .parquet hold one row per design of the table."""
    tables = [_component_table(plan), _study_table(plan)]
    if plan.best is not None:
        tables.append(_best_table(plan, plan.best))

    def frame() -> pandas.DataFrame:
        made: pandas.DataFrame = plan.study.to_frame()
        made["detectable_difference"] = plan.detectable
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
            "generalizability": components.generalizability(),
            "dependability": components.dependability(),
            "designs": frame().to_dict("records"),
            "marginal_gain": asdict(plan.marginal_gain),
            "power": plan.power,
            "pair": plan.pair and _pair_content(plan.pair),
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


# ---------------------------------------------------------------------- computing


def _pair_plan(
    scores: Scores, pair: tuple[str, str] | None, size: float | None, power: float, costs: Costs, max_topics: int,
    max_assessors: int,
) -> PairPlan | None:  # fmt: skip
    """What two systems take, by the components of their own difference."""
    first, second = pair or leading_pair(scores)
    try:
        found = difference(scores, first, second)
    except NoOverlapError:
        if pair is not None:
            raise
        return None
    wanted = size if size is not None else nan if found.excludes_zero else abs(found.difference)
    n_topics = cheapest = None
    if wanted > 0:
        if found.mean_squares:
            own, at_hand = DifferenceComponents(found.v_topic, found.v_assessor, found.v_error), found.n_assessors
        else:  # topics are all there is to go by, judged as they are now
            own, at_hand = DifferenceComponents(found.standard_error**2 * found.n_topics, 0, 0, crossed=False), 1
        n_topics = topics_needed(own, wanted, at_hand, power=power, max_topics=max_topics)
        if n_topics is None and own.crossed:
            more = range(at_hand + 1, max_assessors + 1)
            needed = ((topics_needed(own, wanted, a, power=power, max_topics=max_topics), a) for a in more)
            designs = [(t, a) for t, a in needed if t is not None]
            cheapest = min(designs, key=lambda design: costs.of(*design), default=None)
    return PairPlan(found, wanted, n_topics, cheapest, max_topics, max_assessors, costs.topics_or_assessor(found))


def _parts(components: VarianceComponents, study: DesignStudy) -> DifferenceComponents:
    """Components of the difference of two systems, on average over all pairs."""
    design, (v_t, v_a, v_e, *_) = error_parts(components, study.design)
    return DifferenceComponents(2 * v_t, 2 * v_a, 2 * v_e, crossed=design == "crossed")


def _detectable(components: VarianceComponents, study: DesignStudy, power: float) -> Floats:
    """(designs,) nan for one assessor of all topics, whose interval would say nothing of other assessors."""
    parts, designs = _parts(components, study), zip(study.n_topics.tolist(), study.n_assessors.tolist(), strict=True)
    return np.array(
        [nan if a == 1 and parts.crossed else detectable_difference(parts, t, a, power=power) for t, a in designs]
    )


def _pair_content(pair: PairPlan) -> dict[str, Any]:
    equal = asdict(pair.equal) | {"answer": pair.equal.answer} if pair.equal else None
    return vars(pair) | {"found": vars(pair.found), "equal": equal}


# ---------------------------------------------------------------------- in words


def _sentence(plan: Plan) -> str:
    """What the budget buys, where one stands, what the two systems take, and what helps more."""
    components, best = plan.components, plan.best
    now = components.n_topics, max(1, round(components.n_assessors))
    told = (
        f"now, {_of(*now, components.design)} rank systems with generalizability {number(components.generalizability(), 3)}"
        f"{_finding(plan, *now)}"
    )
    if best is not None:
        told = (
            f"{_money(best.budget)} is best spent on {_of(best.n_topics, best.n_assessors, best.design)} "
            f"({_money(best.cost)}): that would rank systems with generalizability {number(best.generalizability, 3)}"
            f"{_finding(plan, best.n_topics, best.n_assessors)}; {told}"
        )
    sentences = [f"By {plan.measure}, {told}", *pair_in_words(plan.pair, plan.power)]
    return " ".join(f"{sentence}." for sentence in sentences)


def _finding(plan: Plan, n_topics: int, n_assessors: int) -> str:
    design = d_study(plan.components, [n_topics], [n_assessors], design=plan.study.design)
    found = float(_detectable(plan.components, design, plan.power)[0])
    if np.isnan(found):
        return ""
    return f" and find a difference of {number(found, 3)} between two systems with probability {plan.power:g}"


def pair_in_words(pair: PairPlan | None, power: float) -> Iterator[str]:
    """Whether the two already differ significantly, what a difference of the wanted size takes, and what helps."""
    if pair is None:
        return
    one = pair.found
    told = one.sentence().split("; another")[0]
    yield f"{told}: {'they already differ significantly' if one.excludes_zero else 'that is not significant'}"
    if pair.size > 0:
        aim = f"To find a true difference of {pair.size:.3g} between them with probability {power:g}"
        if pair.n_topics is None and pair.cheapest is None:
            yield f"{aim}, {pair.max_topics:,} topics and {pair.max_assessors} assessors are too few"
        elif pair.n_topics is None and pair.cheapest is not None:
            too_few = f"with {_with_whom(one)}, {pair.max_topics:,} topics are too few"
            yield f"{aim}, judge {_of(*pair.cheapest, 'crossed')}: {too_few}"
        elif pair.n_topics is not None:
            topics = count(pair.n_topics, "topic")
            verb = "judge {}" if pair.n_topics > one.n_topics else "{} are enough"
            yield f"{aim}, {verb.format(f'{topics} with {_with_whom(one)}')}"
    if pair.equal is not None and (told := advice_of(pair.equal)):
        yield told[0].upper() + told[1:]


def _with_whom(found: Difference) -> str:
    if not found.mean_squares:
        return "one assessor" if found.n_assessors == 1 else "assessors of their own, as many as now"
    return f"these {found.n_assessors} assessors"


def _money(value: float) -> str:
    """Two decimals, none where they are 0."""
    return f"{value:,.2f}".removesuffix(".00")


def _of(n_topics: int, n_assessors: int, design: str) -> str:
    """18 topics with the same 5 assessors; 43 topics with 2 assessors each."""
    topics = count(n_topics, "topic")
    if n_assessors == 1:
        return f"{topics} with one assessor {'for all' if design == 'crossed' else 'each'}"
    return (
        f"{topics} with "
        + (f"the same {n_assessors}" if design == "crossed" else f"{n_assessors}")
        + (" assessors" if design == "crossed" else " assessors each")
    )


def _notes(plan: Plan) -> Iterator[str]:
    components, study, best, costs = plan.components, plan.study, plan.best, plan.costs
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
        "generalizability: E rho squared, how well means over new topics and new assessors order these systems; "
        "dependability: Phi, how well they tell the scores themselves. Both are higher among systems that differ more"
    )
    if crossed and components.n_assessors <= FEW:
        yield (
            f"uncertain: what assessors do rests on {components.n_assessors:g} of them; take the designs with more or "
            "fewer, and numbers of topics needed, as rough"
        )
    yield (
        "finds: the smallest true difference that the recommended interval of `qrowd compare` (95 %) finds with "
        f"probability {plan.power:g}, on average over pairs of systems; -: with one assessor for all topics, it says "
        "nothing of other assessors"
    )
    if plan.pair is not None:
        first = plan.pair.found
        yield (
            f"pair: {first.first} and {first.second}, by the components of their own difference ({first.reason}); a "
            "leader's lead is larger than what it will be, since it was chosen for being largest"
        )
        if plan.pair.equal is not None:
            yield ADVICE_NOTE
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


DESIGN_HEADER = ["topics", "assessors", "generalizability", "dependability", "s.e. of a mean", "finds"]


def _study_table(plan: Plan) -> Table:
    title = "what other numbers of topics, and of assessors for each, would give"
    return _design_table(title, plan.study, plan.detectable)


def _best_table(plan: Plan, best: BestDesign) -> Table:
    study = best.by_assessors
    title = "what the budget buys, by the number of assessors for each topic"
    return _design_table(title, study, _detectable(plan.components, study, plan.power))


def _design_table(title: str, study: DesignStudy, detectable: Floats) -> Table:
    priced = not np.isnan(study.cost).all()
    columns: tuple[Floats, ...] = (study.generalizability, study.dependability, study.standard_error)
    rows = []
    for i in range(study.n_topics.size):
        row = [f"{study.n_topics[i]:,}", str(study.n_assessors[i]), *(number(column[i]) for column in columns)]
        row.append(number(detectable[i]))
        rows.append([*row, f"{study.cost[i]:,.2f}"] if priced else row)
    return Table(title, [*DESIGN_HEADER, "cost"] if priced else DESIGN_HEADER, rows)
