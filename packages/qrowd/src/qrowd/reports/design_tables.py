"""What to judge next: where scores vary, what other designs would detect, and what a budget buys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from math import nan
from typing import Any

import numpy as np

from qrowd.comparison.differences import Difference
from qrowd.comparison.differences import difference as difference_of
from qrowd.comparison.generalizability import (
    MAX_ASSESSORS,
    MAX_TOPICS,
    BestDesign,
    DesignStudy,
    VarianceComponents,
    best_design,
    d_study,
    error_parts,
    variance_components,
)
from qrowd.comparison.power import POWER, DifferenceComponents, EqualCost, detectable_difference, topics_needed
from qrowd.errors import ArgumentError, NoOverlapError, QrowdError
from qrowd.evaluation import evaluate
from qrowd.evaluation import measure as parse
from qrowd.kernels.arrays import Floats
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.objects import AnyJudgments, AnyRuns, as_judgments, as_runs
from qrowd.model.result import Tables
from qrowd.model.scores import Scores
from qrowd.model.signature import with_signature
from qrowd.reports.difference_tables import ADVICE_NOTE, advice_of, topics_or_assessor
from qrowd.reports.document import Document, Note, Reported, Table
from qrowd.reports.notes import cautions, scoring_notes
from qrowd.reports.phrases import cells, count, number, percent, sentence_case
from qrowd.reports.report_systems import leading_pair
from qrowd.threads import Progress

TOPICS = (25, 50, 100, 200)  # in the table of designs, beside the present number
ASSESSORS = (1, 2, 3, 5, 8)
OTHER_DESIGNS = "other numbers of topics, and of assessors for each topic"
BEST_DESIGNS = "the best designs within the budget, by the number of assessors for each topic"
FEW = 4  # assessors, with whom components have so few degrees of freedom that a reader is warned


@dataclass(frozen=True)
class Costs:
    """The budget, and the costs in the same currency.

    budget : None: designs are compared without a best one. topic_cost : fixed cost of one topic, before judging.
    judgment_cost : of one judgment. documents : that each assessor judges per topic.
    """

    budget: float | None = None
    topic_cost: float = 0.0
    judgment_cost: float = 0.0
    documents: float = nan

    @property
    def known(self) -> bool:
        """Whether anything costs anything."""
        return self.topic_cost > 0 or self.judgment_cost > 0

    def of(self, n_topics: Any, n_assessors: Any) -> Any:
        """Cost of a design; the number of topics times assessors where no costs are known."""
        if not self.known:
            return n_topics * n_assessors
        return n_topics * (self.topic_cost + n_assessors * self.documents * self.judgment_cost)

    @property
    def prices(self) -> dict[str, float]:
        """The arguments of `topics_or_assessor`."""
        if not self.known:
            return {}
        return {"topic_cost": self.topic_cost, "judgment_cost": self.judgment_cost, "documents": self.documents}


@dataclass(frozen=True, eq=False)
class PairPlan:
    """Two systems: their difference, and the design that detects a difference of `size`.

    size : nan where none was asked for and the two differ significantly. n_topics : needed with the assessors at hand;
    None where 1,000 are too few. cheapest : then the cheapest design with more assessors, as (topics, assessors);
    None where 20 are too few, too. equal : one more assessor compared with as many topics as that costs;
    None where the two differ significantly, or where the effect of assessors is not known.
    """

    difference: Difference
    size: float
    n_topics: int | None
    cheapest: tuple[int, int] | None
    equal: EqualCost | None


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Reported):
    """The answer of `qrowd plan`.

    study : the designs of the table. best : for the budget; None without one. pair : None where no two systems share
    enough.
    """

    sentence: str
    measure: str
    components: VarianceComponents
    study: DesignStudy
    best: BestDesign | None
    pair: PairPlan | None
    power: float
    costs: Costs
    notes: tuple[Note, ...]
    conventions: dict[str, Any]

    def _tables(self) -> Tables:
        """One row per design, component of variance, or (with a budget) best design per number of assessors."""
        tables: Tables = {
            "designs": partial(self._designs, self.study),
            "components": lambda: dict(self.components.to_frame()),
        }
        return tables if self.best is None else tables | {"best": partial(self._designs, self.best.by_assessors)}

    def _designs(self, study: DesignStudy) -> dict[str, Any]:
        """The smallest difference that a design detects with the probability `power` stands behind its precision."""
        return {**study.to_frame(), "detectable_difference": _detectable(self.components, study, self.power)}

    def _document(self) -> Document:
        """Components, designs and what the budget buys; .csv and .parquet hold one row per design of the table."""
        tables = [_component_table(self), _design_table(OTHER_DESIGNS, self._designs(self.study))]
        if self.best is not None:
            tables.append(_design_table(BEST_DESIGNS, self._designs(self.best.by_assessors)))
        return Document(self.sentence, tuple(tables), self.notes, self.to_frame, self._content)

    def _content(self) -> dict[str, Any]:
        content = {
            **self.records(),
            "measure": self.measure,
            "generalizability": self.components.generalizability(),
            "dependability": self.components.dependability(),
            "power": self.power,
            "pair": self.pair and asdict(self.pair),
            "costs": asdict(self.costs),
            "conventions": self.conventions,
        }
        if self.best is None:
            return content
        return content | {"best": self.best.to_frame().to_dict("records")[0], "by_assessors": content["best"]}


@dataclass(frozen=True, eq=False, repr=False)
class TopicsPlan(Reported):
    """The answer of `qrowd plan` where no two assessors judged the same topics, so that only topics are planned.

    detectable_difference : true difference of the two systems that n_topics detect.
    """

    sentence: str
    measure: str
    n_topics: int
    detectable_difference: float
    notes: tuple[Note, ...]
    conventions: dict[str, Any]
    not_computed: tuple[str, ...] = ("variance-components",)

    def _document(self) -> Document:
        return Document(self.sentence, (), self.notes, self.to_frame)


@with_signature("variance-components")
def plan(
    runs: AnyRuns,
    judgments: AnyJudgments,
    measure: object = "nDCG@10",
    *,
    conventions: Conventions = Conventions(),
    systems: tuple[str, str] | None = None,
    difference: float | None = None,
    power: float = POWER,
    budget: float | None = None,
    topic_cost: float = 0.0,
    judgment_cost: float = 0.0,
    progress: Progress | None = None,
) -> Plan | TopicsPlan:
    """Plan how many topics and assessors to judge, and how to spend a budget.

    Parameters
    ----------
    systems : two systems to plan for; default: the two that lead.
    difference : difference between the two systems that is to be detected; default: the observed one.
    power : probability with which the difference is to be detected.
    budget : total budget, in the currency of the costs.
    topic_cost : fixed cost of one topic, before judging.
    judgment_cost : cost of one judgment; each assessor judges as many documents of a topic as are in its pool.
    progress : called with (topics done, topics in all) of the scoring.

    Raises
    ------
    ArgumentError
        A system that does not exist; an option outside its range; a budget without any cost.
    NoOverlapError
        Runs and judgments share no topic; the two systems share fewer than two topics.

    >>> print(qrowd.plan(runs, judgments, budget=2000, topic_cost=30, judgment_cost=0.4))  # doctest: +SKIP
    """
    runs, judgments = as_runs(runs), as_judgments(judgments)
    if not 0 < power < 1:
        raise ArgumentError("a probability between 0 and 1 was expected", "power", power)
    if difference is not None and not 0 < difference < np.inf:
        raise ArgumentError("a number above 0 was expected", "difference", difference)
    if budget is not None and topic_cost == judgment_cost == 0:
        raise ArgumentError("give the cost of a topic, of a judgment, or both", "budget", budget)
    costs = Costs(budget, topic_cost, judgment_cost, pool_size(judgments.by_cluster()))
    scores = evaluate(runs, judgments, [parse(measure)], conventions=conventions, progress=progress)
    try:
        components = variance_components(scores)
    except QrowdError:
        pair = None if len(scores.systems) < 2 else _pair_plan(scores, systems, difference, power, costs)
        if pair is None or budget is not None:
            raise
        return _plan_of_topics(scores, pair, power)
    present = components.n_topics, max(1, round(components.n_assessors))
    study = d_study(components, sorted({*TOPICS, present[0]}), sorted({*ASSESSORS, present[1]}))
    if costs.known:
        study = replace(study, cost=costs.of(study.n_topics, study.n_assessors))
    best = None
    if budget is not None:
        best = best_design(
            components,
            budget,
            topic_cost=topic_cost,
            judgment_cost=judgment_cost,
            documents_per_topic=costs.documents,
        )
    result = Plan(
        "",
        scores.measures[0],
        components,
        study,
        best,
        _pair_plan(scores, systems, difference, power, costs),
        power,
        costs,
        (),
        scores.attributes["conventions"],
    )
    notes = (*_notes(result), *scoring_notes(scores))
    return replace(result, sentence=_sentence(result) + cautions(scores), notes=notes)


def pool_size(judgments: Judgments) -> float:
    """Documents that anyone judged per topic, on average over topics: what a new assessor would be given."""
    judged = judgments.value >= 0
    pairs = judgments.pair_numbers[judged]
    n_topics = np.unique(judgments.topic[judged]).size
    return float(np.unique(pairs).size / n_topics) if n_topics else nan


# ---------------------------------------------------------------------- computing


def _plan_of_topics(scores: Scores, pair: PairPlan, power: float) -> TopicsPlan:
    one = pair.difference
    measure = scores.measures[0]
    size = detectable_difference(_components_of(one)[0], one.n_topics, 1, power=power)
    text = (
        f"By {measure}, {'. '.join(pair_sentences(pair, power))}. A new evaluation of as many {one.sampled}s by one "
        f"assessor detects a true difference of {number(size, 3)} with probability {power:g}. What other assessors "
        "would change is not known; let a second one judge some of these topics, and plan again."
        f"{cautions(scores)}"
    )
    notes = tuple(scoring_notes(scores))
    return TopicsPlan(text, measure, one.n_topics, size, notes, scores.attributes["conventions"])


def _pair_plan(
    scores: Scores,
    pair: tuple[str, str] | None,
    size: float | None,
    power: float,
    costs: Costs,
) -> PairPlan | None:
    """The design that two systems need, by the components of their own difference."""
    first, second = pair or leading_pair(scores)
    try:
        one = difference_of(scores, first, second)
    except NoOverlapError:
        if pair is not None:
            raise
        return None
    goal = size if size is not None else nan if one.excludes_zero else abs(one.difference)
    n_topics = cheapest = None
    if goal > 0:
        own, at_hand = _components_of(one)
        n_topics = topics_needed(own, goal, at_hand, power=power)
        if n_topics is None and own.crossed:
            more = range(at_hand + 1, MAX_ASSESSORS + 1)
            needed = ((topics_needed(own, goal, a, power=power), a) for a in more)
            designs = [(t, a) for t, a in needed if t is not None]
            cheapest = min(designs, key=lambda design: costs.of(*design), default=None)
    equal = topics_or_assessor(one, **costs.prices)
    return PairPlan(one, goal, n_topics, cheapest, equal)


def _components_of(one: Difference) -> tuple[DifferenceComponents, int]:
    """The components of a difference, and the number of assessors."""
    if one.mean_squares:
        return DifferenceComponents(one.v_topic, one.v_assessor, one.v_error), one.n_assessors
    # only topics are sampled, judged as they are now
    return DifferenceComponents(one.standard_error**2 * one.n_topics, 0, 0, crossed=False), 1


def smallest_difference(scores: Scores) -> tuple[float, bool]:
    """The true difference of two systems that is detected with the usual power, and whether by other assessors, too.

    It is an average over all pairs of systems. Where the variance of assessors is not known, it is that of the two
    systems that lead, on other topics with the same assessors; nan where that is not known either.
    """
    try:
        components = variance_components(scores)
    except QrowdError:
        try:
            one = difference_of(scores, *leading_pair(scores))
        except QrowdError:
            return nan, False
        return detectable_difference(_components_of(one)[0], one.n_topics, 1), False
    return _smallest(components, components.n_topics, max(1, round(components.n_assessors)), POWER), True


def _smallest(components: VarianceComponents, n_topics: int, n_assessors: int, power: float) -> float:
    return float(_detectable(components, d_study(components, [n_topics], [n_assessors]), power)[0])


def _parts(components: VarianceComponents, study: DesignStudy) -> DifferenceComponents:
    """Components of the difference of two systems, on average over all pairs."""
    design, (v_t, v_a, v_e, *_) = error_parts(components, study.design)
    return DifferenceComponents(2 * v_t, 2 * v_a, 2 * v_e, crossed=design == "crossed")


def _detectable(components: VarianceComponents, study: DesignStudy, power: float) -> Floats:
    """(designs,) nan for one assessor of all topics, whose interval would say nothing of other assessors."""
    parts = _parts(components, study)
    designs = zip(study.n_topics.tolist(), study.n_assessors.tolist(), strict=True)
    return np.array(
        [nan if a == 1 and parts.crossed else detectable_difference(parts, t, a, power=power) for t, a in designs]
    )


# ---------------------------------------------------------------------- in words


def _sentence(plan: Plan) -> str:
    """What the budget buys, how good the present design is, what the two systems need, and what helps more."""
    components, best, noun = plan.components, plan.best, plan.components.sampled
    present = components.n_topics, max(1, round(components.n_assessors))
    text = (
        f"now, {_design(*present, components.design, noun)} rank systems with generalizability "
        f"{number(components.generalizability(), 3)}{_detecting(plan, *present)}"
    )
    if best is not None:
        text = (
            f"{_money(best.budget)} is best spent on {_design(best.n_topics, best.n_assessors, best.design, noun)} "
            f"({_money(best.cost)}): that would rank systems with generalizability {number(best.generalizability, 3)}"
            f"{_detecting(plan, best.n_topics, best.n_assessors)}; {text}"
        )
    sentences = [f"By {plan.measure}, {text}", *pair_sentences(plan.pair, plan.power)]
    return " ".join(f"{sentence}." for sentence in sentences)


def _detecting(plan: Plan, n_topics: int, n_assessors: int) -> str:
    size = _smallest(plan.components, n_topics, n_assessors, plan.power)
    if np.isnan(size):
        return ""
    return f" and detect a difference of {number(size, 3)} between two systems with probability {plan.power:g}"


def pair_sentences(pair: PairPlan | None, power: float) -> Iterator[str]:
    """Whether the two already differ significantly, what a difference of this size needs, and what helps."""
    if pair is None:
        return
    one = pair.difference
    lead = one.sentence().split("; another")[0]
    yield f"{lead}: {'they already differ significantly' if one.excludes_zero else 'that is not significant'}"
    if pair.size > 0:
        aim = f"To detect a true difference of {pair.size:.3g} between them with probability {power:g}"
        if pair.n_topics is not None:
            needed = f"{count(pair.n_topics, one.sampled)} with {_assessors(one)}"
            more = f"{pair.n_topics - one.n_topics:,} more than the {one.n_topics:,} with scores of both"
            yield f"{aim}, judge {needed}, {more}" if pair.n_topics > one.n_topics else f"{aim}, {needed} are enough"
        elif pair.cheapest is not None:
            needed = f"{_design(*pair.cheapest, 'crossed', one.sampled)} (each on all {one.sampled}s)"
            yield f"{aim}, judge {needed}: with {_assessors(one)}, {MAX_TOPICS:,} {one.sampled}s are too few"
        else:
            yield f"{aim}, {MAX_TOPICS:,} {one.sampled}s and {MAX_ASSESSORS} assessors are too few"
    if pair.equal is not None:
        single = "" if pair.n_topics else ", though no such step is enough by itself"
        yield from (f"{sentence_case(advice)}{single}" for advice in filter(None, [advice_of(pair.equal, one.sampled)]))


def _assessors(one: Difference) -> str:
    if not one.mean_squares:
        return "one assessor" if one.n_assessors == 1 else "assessors of their own, as many as now"
    return f"these {one.n_assessors} assessors (each on all {one.sampled}s)"


def _money(value: float) -> str:
    """Two decimals, none where they are 0."""
    return f"{value:,.2f}".removesuffix(".00")


def _design(n_topics: int, n_assessors: int, design: str, noun: str) -> str:
    """18 topics with the same 5 assessors; 43 topics with 2 assessors each."""
    topics = count(n_topics, noun)
    if n_assessors == 1:
        return f"{topics} with one assessor {'for all' if design == 'crossed' else 'each'}"
    same = f"the same {n_assessors} assessors" if design == "crossed" else f"{n_assessors} assessors each"
    return f"{topics} with {same}"


def _notes(plan: Plan) -> Iterator[Note]:
    components = plan.components
    best = plan.best
    costs = plan.costs
    crossed = components.design == "crossed"
    noun = components.sampled
    assessors = f"assessors are the same in all {noun}s" if crossed else f"each {noun} has assessors of its own"
    yield Note("design", f"{components.design}, {assessors}; {components.handling}")
    if noun != "topic":
        yield Note("topic", f"in the tables and costs it is a {noun} of topics, of the sizes that they have now")
    if components.negative:
        yield Note("negative", f"estimated below 0 and set to 0: {', '.join(components.negative)}")
    yield Note(
        "generalizability",
        "E rho squared, how well means over new topics and new assessors order these systems; dependability: Phi, how "
        "well they estimate the scores themselves. Both are higher among systems that differ more",
    )
    if crossed and components.n_assessors <= FEW:
        yield Note(
            "uncertain",
            f"the variance due to assessors is estimated from {components.n_assessors:g} of them; designs with other "
            "numbers of assessors, and numbers of topics needed, are rough",
        )
    yield Note(
        "detectable difference",
        "the smallest true difference that the recommended 95 % interval of `qrowd compare` detects with probability "
        f"{plan.power:g}, on average over pairs of systems; -: with one assessor for all topics, nothing is known "
        "about other assessors",
    )
    if plan.pair is not None:
        one = plan.pair.difference
        yield Note(
            "pair",
            f"{one.first} and {one.second}, by the components of their own difference ({one.reason}); the lead of a "
            "leader is expected to shrink, since it was chosen for being largest",
        )
        yield Note(
            "question",
            "plan says what a new evaluation needs, compare and report what these topics and assessors say of others, "
            "and next what is left to judge until the order on exactly these topics is clear, which needs the least",
        )
        if plan.pair.equal is not None:
            yield ADVICE_NOTE
    if costs.known:
        yield Note(
            "cost",
            f"topics x {_money(costs.topic_cost)} + topics x assessors x {costs.documents:,.5g} documents x "
            f"{costs.judgment_cost:,.10g}",
        )
    if best is not None:
        yield Note(
            "designs",
            f"{best.n_designs:,} of at most {MAX_TOPICS:,} topics and {MAX_ASSESSORS} assessors are within the budget; "
            "the best has the largest generalizability",
        )


# ---------------------------------------------------------------------- tables


def _component_table(plan: Plan) -> Table:
    components = plan.components
    columns = {
        "source": components.sources,
        "df": components.df,
        "mean square": components.ms,
        "component": cells(number, components.component, digits=6),
        "share": cells(percent, components.share, digits=1),
    }
    return Table.of(f"{plan.measure}: components of the variance of scores", columns, 5)


def _design_table(title: str, designs: dict[str, Any]) -> Table:
    names = ("n_topics", "n_assessors", "generalizability", "dependability", "standard_error", "detectable_difference")
    columns = {name.removeprefix("n_").replace("_", " "): designs[name] for name in names}
    if not np.isnan(designs["cost"]).all():
        columns["cost"] = cells("{:,.2f}".format, designs["cost"])
    return Table.of(title, columns)
