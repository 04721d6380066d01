"""How many judgments a question will take, before the first answer or from a pilot: a distribution, by simulation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, check_choice
from qrowd.evaluation import measure as parsed_measure
from qrowd.kernels.arrays import Floats
from qrowd.model.arguments import converting
from qrowd.model.chance import Rng, seed_of
from qrowd.model.judgments import Judgments
from qrowd.model.objects import AnyJudgments, AnyRuns, as_judgments, as_runs
from qrowd.model.result import Result
from qrowd.model.scales import Scale
from qrowd.sequential.candidates import candidates_of, gain_variances, label_shares, mean_gains, possible_gains
from qrowd.sequential.costs import CostTable, DocumentCosts, JudgmentCost
from qrowd.sequential.draws import Draws
from qrowd.sequential.expectation import learned_spread, starting_point
from qrowd.sequential.gain_errors import GainErrors
from qrowd.sequential.inputs import judged_by_models, on_scale
from qrowd.sequential.looks import Problem
from qrowd.sequential.predictions import label_features
from qrowd.sequential.question import Question
from qrowd.sequential.simulated_differences import simulate_differences
from qrowd.sequential.simulated_paths import Start
from qrowd.sequential.variances import Target

if TYPE_CHECKING:
    from qrowd.executors import AnyExecutor

DIFFERENCES = (0.01, 0.02, 0.05, 0.1)
N_SIMULATIONS = 200
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
FEWEST = 6  # judged documents, from which the variance of people's gains is that of the pilot
GAIN_SD = 1 / 3  # of people's gains before anybody judged, as a share of their range
LEAST_SHARE = 0.1  # of the variance of an error that stays, however many people judge a document


@dataclass(frozen=True, eq=False)
class QuestionPlan(Result):
    """What a question is expected to take: simulated judgments until it is decided.

    differences : (rows,) true size of the difference that decides; nan in the first row, where each simulation has its
    own, from what models and people said. n_documents : (rows, simulations) documents to be judged until the question
    is decided; one more than `n_left` where all documents do not decide it. cost : (rows, simulations) of these.
    n_left : documents that can change the answer and are not judged; n_judged : those that are. people_per_document :
    each judges the document. budget : nan: none. judgment_cost : of one judgment by one person; 0: not known.
    correlation : between predictions and people's gains; declared, or nan. spread : root mean square of the error of a
    prediction, in gains. expected_difference, difference_sd : of the contrast of two systems; nan of several.
    """

    question: Question
    measure: str
    scale: str
    confidence: float
    tolerance: float
    target: Target
    differences: Floats
    n_documents: NDArray[np.int64]
    cost: Floats
    n_left: int
    n_judged: int
    n_topics: int
    people_per_document: int = 1
    budget: float = nan
    judgment_cost: JudgmentCost = field(default_factory=JudgmentCost)
    correlation: float = nan
    spread: float = nan
    expected_difference: float = nan
    difference_sd: float = nan
    models: tuple[str, ...] = ()
    n_topics_out: int = 0
    n_costs: int = 0
    disagreement: bool = False
    seed: Any = 1

    @property
    def n_simulations(self) -> int:
        return int(self.n_documents.shape[1])

    @property
    def undecided(self) -> Floats:
        """(rows,) share of simulations in which all documents do not decide the question."""
        return np.asarray((self.n_documents > self.n_left).mean(axis=1))

    @property
    def all_judged(self) -> Floats:
        """(rows,) share of simulations in which all documents must be judged, whether that decides it or not."""
        return np.asarray((self.n_documents >= self.n_left).mean(axis=1))

    @property
    def within_budget(self) -> Floats:
        """(rows,) share of simulations in which the budget decides the question; nan without a budget."""
        if np.isnan(self.budget):
            return np.full(self.differences.size, nan)
        return np.asarray(((self.cost <= self.budget) & (self.n_documents <= self.n_left)).mean(axis=1))

    @property
    def sentence(self) -> str:
        """The median and an 80 % interval of the judgments, with the difference as it is expected."""
        low, middle, high = self.quantiles((0.1, 0.5, 0.9))[0]
        return (
            f"{self.question} by {self.measure}: {middle:,.0f} documents ({low:,.0f} to {high:,.0f}) of "
            f"{self.n_left:,} are expected to decide it."
        )

    def quantiles(self, of: Iterable[float]) -> Floats:
        """(rows, quantiles) of the documents to be judged; one more than there are: all do not decide it."""
        return np.asarray(np.quantile(self.n_documents, list(of), axis=1, method="closest_observation").T, np.float64)

    def costs(self, of: Iterable[float]) -> Floats:
        """(rows, quantiles) of the cost."""
        return np.asarray(np.quantile(self.cost, list(of), axis=1, method="closest_observation").T)

    def decided_by(self, n_documents: Iterable[int]) -> Floats:
        """(rows, numbers) share of simulations in which so many documents decide the question."""
        numbers = np.array(list(n_documents))
        decided = (self.n_documents[:, :, None] <= numbers) & (self.n_documents <= self.n_left)[:, :, None]
        return np.asarray(decided.mean(axis=1))

    def _sentence(self) -> str:
        return self.sentence

    def _tables(self) -> Mapping[str, Callable[[], Mapping[str, Any]]]:
        return {"differences": self._by_difference, "simulations": self._simulations}

    def _by_difference(self) -> dict[str, Any]:
        documents, cost = self.quantiles(QUANTILES), self.costs(QUANTILES)
        columns: dict[str, Any] = {"difference": self.differences}
        columns |= {f"documents_{100 * q:.0f}": documents[:, i] for i, q in enumerate(QUANTILES)}
        if self.judgment_cost.mean or self.n_costs:
            columns |= {f"cost_{100 * q:.0f}": cost[:, i] for i, q in enumerate(QUANTILES)}
        return columns | {
            "within_budget": self.within_budget,
            "all_judged": self.all_judged,
            "undecided": self.undecided,
            "n_left": self.n_left,
            "people_per_document": self.people_per_document,
        }

    def _simulations(self) -> dict[str, Any]:
        n = self.n_simulations
        return {
            "difference": np.repeat(self.differences, n),
            "simulation": np.tile(np.arange(1, n + 1), self.differences.size),
            "documents": self.n_documents.ravel(),
            "cost": self.cost.ravel(),
            "decided": (self.n_documents <= self.n_left).ravel(),
        }


@converting
def plan_question(
    runs: AnyRuns,
    judgments: AnyJudgments | None,
    *,
    question: str | Question,
    models: AnyJudgments | None = None,
    measure: object = "nDCG@10",
    scale: Scale | str | None = None,
    differences: Iterable[float] | None = None,
    correlation: float | None = None,
    people_per_document: int = 1,
    budget: float | None = None,
    judgment_cost: float | Mapping[str, float] = 0.0,
    document_costs: CostTable | None = None,
    confidence: float = 0.95,
    tolerance: float = 0.0,
    target: Target = "these topics",
    disagreement: bool = False,
    n_simulations: int = N_SIMULATIONS,
    rng: Rng = 1,
    executor: AnyExecutor = None,
    progress: Callable[[int, int], None] | None = None,
) -> QuestionPlan:
    """How many judgments `next_judgments` is expected to ask for until a question is decided, and what they cost.

    Parameters
    ----------
    runs, question, models, measure, scale, confidence, tolerance, target, disagreement, document_costs
        As in `next_judgments`.
    judgments
        A pilot: what people judged so far; None: nothing. It says how well models predict people, and these documents
        are not judged again.
    differences
        True sizes of the difference that decides the question, a row each: of the two systems; of the two best; of the
        system of `among` and the one next to it across the border. Default: .01, .02, .05 and .1; a ranking has none.
    correlation
        Between what is predicted and what people say, instead of what the pilot or the declared error says.
    people_per_document
        People who judge each document; their mean is its gain, and each is paid.
    budget
        Total budget; the result says how probable it is that it decides the question.
    judgment_cost
        Of one judgment, or {assessor: cost}.
    n_simulations
        Of each row.
    executor
        Whose workers simulate: any `concurrent.futures.Executor`, a Dask client, or a function that makes an executor,
        which is called again where workers die. Default: this process. The result is the same.
    progress
        Called with (simulations done, simulations in all).

    Raises
    ------
    ArgumentError
        What `next_judgments` refuses; a question that the judgments decide; a budget without costs; a difference,
        correlation or number outside its range.

    >>> print(qrowd.plan_question(runs, None, question="bm25 > dense", models=models, scale="0-3"))  # doctest: +SKIP
    """
    if correlation is not None and not 0 <= correlation < 1:
        raise ArgumentError(f"correlation={correlation:g}: a number from 0 to below 1 was expected")
    for name, value in (("people_per_document", people_per_document), ("n_simulations", n_simulations)):
        if value < 1:
            raise ArgumentError(f"{name}={value}: at least 1 was expected")
    if budget is not None and not 0 < budget < np.inf:
        raise ArgumentError(f"budget={budget:g}: a number above 0 was expected")
    if budget is not None and not judgment_cost:
        raise ArgumentError(f"budget={budget:g}: give judgment_cost")
    if not 0 < confidence < 1:
        raise ArgumentError(f"confidence={confidence:g}: a number between 0 and 1 was expected")
    if tolerance < 0:
        raise ArgumentError(f"tolerance={tolerance:g}: 0 or more was expected")
    check_choice("target", target, Target)
    retrieved, parsed = as_runs(runs), parsed_measure(measure)
    pilot = None if judgments is None else as_judgments(judgments)
    by_models = None if models is None else as_judgments(models, argument="models")
    asked = question if isinstance(question, Question) else Question.read(question, retrieved.systems)
    sizes = _checked_differences(asked, differences)
    used = judged_by_models(retrieved, by_models)
    people, people_scale = on_scale(pilot, scale)
    candidates = candidates_of(used, asked.systems, [one for one in (people, by_models) if one is not None], parsed)
    levels, own_costs = possible_gains(parsed, people_scale), None
    if document_costs is not None:
        pairs = [candidates.topics[t] for t in candidates.topic], [candidates.documents[d] for d in candidates.document]
        own_costs = DocumentCosts.of(document_costs).array(*pairs)
    costs = None if own_costs is None else np.where(np.isnan(own_costs), 1.0, own_costs)
    labels = label_features(label_shares(by_models, candidates))
    problem = Problem(asked, parsed, candidates, labels, levels, costs)
    matters, gains = problem.matters, mean_gains(people, candidates, parsed)
    judged = ~np.isnan(gains[matters])
    of_people, spread = _errors(problem, gains, people, people_per_document)
    look = problem.look(
        gains,
        Draws.none(matters.size),
        known=judged,
        confidence=confidence,
        tolerance=tolerance,
        target=target,
        of_people=of_people if disagreement else None,
    )
    if look.answer:
        raise ArgumentError(f"question: these judgments decide it: {look.answer}; there is nothing to plan")
    own = learned_spread(look.predictions, matters[~judged])[matters]
    if correlation is not None:
        sd = float(np.std(gains[matters][judged])) if judged.sum() >= FEWEST else GAIN_SD * (levels[-1] - levels[0])
        own = np.full(matters.size, sd * np.sqrt(1 - correlation**2))
    own = np.sqrt(np.maximum(own**2 + spread, LEAST_SHARE * own**2))
    start, errors = starting_point(
        problem,
        look,
        gains,
        waiting=np.zeros(0, np.int64),
        n_counting=0,
        confidence=confidence,
        tolerance=tolerance,
        spread=own,
    )
    price = JudgmentCost.of(judgment_cost, pilot)
    seed = seed_of(rng)
    rows = simulate_differences(start, errors, sizes, n_simulations, seed=seed, executor=executor, progress=progress)
    is_pair = asked.kind == "better"
    return QuestionPlan(
        asked,
        str(parsed),
        str(people_scale),
        confidence,
        tolerance,
        target,
        sizes,
        np.array([row.n_judgments for row in rows]),
        np.array([row.cost for row in rows]) * people_per_document * (price.mean or 1.0),
        int(start.open.size),
        int(judged.sum()),
        len(used.topics),
        people_per_document,
        nan if budget is None else budget,
        price,
        nan if correlation is None else correlation,
        float(np.sqrt(np.mean(own[~judged] ** 2))) if not judged.all() else nan,
        expected_difference(start, errors) if is_pair else nan,
        float(errors.sd(start.weights)[0]) if is_pair else nan,
        () if by_models is None else by_models.assessors,
        len(retrieved.topics) - len(used.topics),
        0 if own_costs is None else int((~np.isnan(own_costs[matters])).sum()),
        disagreement,
        seed,
    )


def _checked_differences(question: Question, differences: Iterable[float] | None) -> Floats:
    """(rows,) nan, and the differences."""
    if question.kind == "ranking":
        if differences is not None:
            raise ArgumentError("differences: a ranking has no one difference that decides it; leave them out")
        return np.array([nan])
    differences = DIFFERENCES if differences is None else differences
    sizes = np.array([nan, *differences], np.float64)
    wrong = sizes[1:][~((sizes[1:] > 0) & (sizes[1:] < np.inf))]
    if wrong.size:
        raise ArgumentError(f"differences={wrong[0]:g}: a number above 0 was expected")
    return sizes


def _errors(
    problem: Problem, gains: Floats, people: Judgments | None, people_per_document: int
) -> tuple[Floats, float]:
    """(candidates,) variance of each gain around the mean of all people; and what the variance of an error grows by.

    People who judge a document differ, so that the mean of several is predicted better than the grade of one.
    """
    variances = gain_variances(people, problem.candidates, problem.measure, problem.levels)
    is_open = np.isnan(gains)
    if not is_open.any():
        return variances, 0.0
    usual = 1.0
    if people is not None and (people.value >= 0).any():
        judged = people.value >= 0
        usual = float(judged.sum() / np.unique(people.pair_numbers[judged]).size)
    before = float(variances[is_open][0])
    after = before * usual / people_per_document
    return np.where(is_open, after, variances), after - before


def expected_difference(start: Start, errors: GainErrors) -> float:
    """The expected difference of two systems, by what was judged, predicted, and is known of such predictions."""
    return float(start.total[0] + start.weights[0] @ (errors.spread * (errors.mean @ errors.basis)))
