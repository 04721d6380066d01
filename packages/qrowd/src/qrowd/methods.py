"""Methods: every way of making one score of many assessors, by name, so that they can be compared.

Some merge labels and score the result (majority, dawid-skene ...), some score every assessor and merge the scores
(uniform, AWARE's estimators), some turn disagreement into gains (predicted-relevance, agreement-aware). They are
written as measures are: `majority`, `dawid-skene(per=all)`, `sgl_rmse_msd(n_resamples=200)`,
`predicted-relevance(rel=2)`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, simplefilter

import numpy as np

from qrowd.aware.estimators import NAMES
from qrowd.errors import ArgumentError
from qrowd.evaluation import DEFAULT_MEASURES, evaluate, measure, with_probabilities
from qrowd.executors import AnyExecutor
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Rng, Seed, seed_of
from qrowd.model.conventions import Conventions, Repeats
from qrowd.model.inferred_scales import alike
from qrowd.model.judgments import Judgments
from qrowd.model.measure import Definition, Measure, Parameter, number, one_of, parse_measure
from qrowd.model.objects import AnyJudgments, AnyRuns, as_judgments, as_runs
from qrowd.model.one_scale import Combined, CombineScales, combined_how, on_one_scale
from qrowd.model.runs import Runs
from qrowd.model.scores import Scores
from qrowd.model.signature import with_signature
from qrowd.plugins import instances

if TYPE_CHECKING:
    from qrowd.aggregation import Aggregate
    from qrowd.aware.similarity import Similarities

Progress = Callable[[int, int], None] | None
REPEATS = ("first", "last", "error")


@dataclass(frozen=True, eq=False)
class Task:
    """What every method receives."""

    runs: Runs
    judgments: Judgments
    measures: tuple[Measure, ...]
    conventions: Conventions
    seed: Seed
    progress: Progress = None
    combine_scales: CombineScales = "auto"
    executor: AnyExecutor = None

    @cached_property
    def panel(self) -> Scores:
        """Scores by each assessor, without the topics in which nothing was relevant to them."""
        return self.score(self.judgments, replace(self.conventions, empty="nan"))

    def similarities(self, n_resamples: int) -> Similarities:
        """Similarities to random assessors, computed once for all estimators."""
        if n_resamples not in self._similarities:
            from qrowd.aware import similarity_to_random

            self._similarities[n_resamples] = similarity_to_random(
                self.runs,
                self.judgments,
                list(self.measures),
                n_resamples=n_resamples,
                conventions=replace(self.conventions, empty="nan"),
                rng=self.seed,
                executor=self.executor,
                progress=self.progress,
            )
        return self._similarities[n_resamples]

    @cached_property
    def _similarities(self) -> dict[int, Similarities]:
        return {}

    def score(self, judgments: Judgments, conventions: Conventions | None = None) -> Scores:
        """Scores by the given judgments."""
        return evaluate(self.runs, judgments, self.measures, conventions=conventions or self.conventions)


class Method(Definition, ABC):
    """A method, with its options; the docstring says what it does and where it was published.

    unlike : what becomes of values on unlike scales; None where each assessor's scores are on the assessor's own.
    """

    cutoff = "none"
    unlike: Combined | None = None

    @abstractmethod
    def scores(self, options: dict[str, Any], task: Task) -> Scores:
        """Scores of one assessor; values may be nan where nobody's judgments say anything."""


class LabelMerging(Method):
    """A method that merges labels first, by a function of `qrowd.aggregation`."""

    function = ""
    unlike: Combined | None = "rescaled"

    def merge(
        self,
        judgments: Judgments,
        options: Mapping[str, Any],
        repeats: Repeats,
        combine_scales: CombineScales,
        rng: Rng,
    ) -> Aggregate:
        """The merged judgments. options : of this method."""
        from inspect import signature

        from qrowd import aggregation

        method = getattr(aggregation, self.function)
        takes = signature(method).parameters
        others: dict[str, Any] = {"combine_scales": combine_scales}
        if "repeats" in takes and repeats in REPEATS:
            others["repeats"] = repeats
        if "rng" in takes:
            others["rng"] = rng
        merged: Aggregate = method(judgments, **options, **others)
        return merged

    def scores(self, options: dict[str, Any], task: Task) -> Scores:
        judgments = task.conventions.graded(task.judgments)
        conventions = task.conventions
        merged = self.merge(judgments, options, conventions.repeats, task.combine_scales, task.seed)
        return task.score(merged.judgments, replace(conventions, grades="as-is"))


def _word(name: str, meaning: str, *words: str) -> Parameter:
    return Parameter(name, words[0], meaning, one_of(*words))


class Majority(LabelMerging):
    """The grade that most assessors gave, scored.

    Source: Ferrante, Ferro & Maistro (2017), ACM TOIS 36(2), section 2.2.
    """

    name = "majority"
    aliases = ("mv",)
    function = "majority_vote"
    unlike = "relevant"
    parameters = (_word("ties", "between grades given equally often", "coin", "lowest", "highest", "fractional"),)


class DawidSkene(LabelMerging):
    """The most probable grades, weighing every assessor by the confusions this implies, scored.

    Source: Dawid & Skene (1979), Applied Statistics 28(1).
    """

    name = "dawid-skene"
    aliases = ("em",)
    function = "dawid_skene"
    unlike = "relevant"
    parameters = (
        _word("start", "where it starts", "majority", "shares", "honest"),
        _word("per", "what is fitted together", "topic", "all"),
        Parameter("smoothing", 0.0, "added to every count of a confusion", number(0.0)),
    )


class Mace(LabelMerging):
    """The most probable grades if every assessor knows or guesses, scored.

    Source: Hovy, Berg-Kirkpatrick, Vaswani & Hovy (2013), NAACL-HLT.
    """

    name = "mace"
    function = "mace"
    unlike = "relevant"
    parameters = (
        _word("prior", "how frequent grades are before anyone judges", "fitted", "uniform"),
        Parameter("restarts", 10, "starts, the best of which counts", number(1)),
    )


class Mean(LabelMerging):
    """The arithmetic mean of what assessors gave, scored."""

    name = "mean"
    function = "mean"


class Sum(LabelMerging):
    """The sum of what assessors gave, scored: five levels from two judgments on three.

    Source: Demeester, Aly, Hiemstra, Nguyen & Develder (2016), Inf. Retr. J. 19, section 4.1, of NTCIR's INTENT-2.
    """

    name = "sum"
    function = "total"


class Median(LabelMerging):
    """The middle of what assessors gave, scored."""

    name = "median"
    function = "median"


class GeometricMean(LabelMerging):
    """exp of the mean logarithm of what assessors gave, scored: for magnitudes, once they are normalised.

    The source normalises first (`qrowd.magnitude.normalise`, --normalise): magnitudes as written are dominated by the
    assessors who use the largest numbers.

    Source: Maddalena, Mizzaro, Scholer & Turpin (2017), ACM TOIS 35(3), section 4.3.
    """

    name = "geometric-mean"
    function = "geometric_mean"


class Uniform(Method):
    """The mean of the assessors' scores: AWARE with equal weights.

    An assessor without a relevant document in a topic is left out there.

    Source: Ferrante, Ferro & Maistro (2017), ACM TOIS 36(2), section 3.
    """

    name = "uniform"
    aliases = ("uni",)

    def scores(self, options: dict[str, Any], task: Task) -> Scores:
        from qrowd.aware.averages import averaged

        return averaged(task.panel, np.where(task.panel.known, 1.0, np.nan), self.name, {})


class _Estimated(Method):
    """The mean of the assessors' scores, each weighted by how far it is from random assessors: AWARE.

    Source: Ferrante, Ferro & Maistro (2017), ACM TOIS 36(2), section 4.
    """

    parameters = (
        Parameter("n_resamples", 1000, "random assessors of each level", number(1)),
        _word("polarity", "what weighs: distance from random ones, or as printed", "dissimilarity", "printed"),
        _word("across", "accuracies of each measure's own, or one for all", "own", "all"),
    )

    def scores(self, options: dict[str, Any], task: Task) -> Scores:
        similarities = task.similarities(int(options["n_resamples"]))
        return similarities.average(self.name, polarity=options["polarity"], across=options["across"])


class PredictedRelevance(Method):
    """Every grade of those who judged all documents replaced by the chance that a random user finds it relevant.

    Source: Demeester, Aly, Hiemstra, Nguyen & Develder (2016), Information Retrieval Journal 19(3).
    """

    name = "predicted-relevance"
    aliases = ("prm",)
    unlike = "relevant"
    parameters = (
        Parameter("rel", None, "lowest grade that satisfies the user; required", number(0.0)),
        Parameter("smoothing", 0.0, "prior counts added to each grade", number(0.0)),
    )

    def scores(self, options: dict[str, Any], task: Task) -> Scores:
        from qrowd.aware.averages import averaged
        from qrowd.predicted_relevance import predicted_relevance

        if options["rel"] is None:
            raise ArgumentError("method predicted-relevance: needs the lowest relevant grade: prm(rel=2)")
        labels = on_one_scale(task.conventions.graded(task.judgments), task.combine_scales, "relevant")
        model = predicted_relevance(labels, rel=options["rel"], smoothing=options["smoothing"], n_resamples=0)
        expected = tuple(map(with_probabilities, task.measures))
        plain = replace(task.conventions, grades="as-is")
        scores = evaluate(task.runs, model.evaluated_gains(labels), expected, conventions=plain)
        merged = averaged(scores, np.where(scores.known, 1.0, np.nan), self.name, {})
        return replace(merged, measures=tuple(map(str, task.measures)))


class AgreementAware(Method):
    """nDCG of gain distributions: the mean gain of every document, divided by the ideal ranking's.

    Source: Maddalena, Roitero, Demartini & Mizzaro (2017), ICTIR, section 6.
    """

    name = "agreement-aware"
    unlike = "rescaled"
    parameters = (
        _word("gains", "what a value gains", "as-is", "rescaled", "log"),
        _word("cumulate", "how gains of ranks are put together; as printed: mixture", "sum", "mixture", "assessors"),
    )

    def scores(self, options: dict[str, Any], task: Task) -> Scores:
        from qrowd.gain_distributions import agreement_aware_ndcg, gain_distributions, interval_dcg

        gains = options["gains"]
        labels = task.judgments
        if task.conventions.grades == "rescaled":
            gains = "rescaled"
        elif gains == "as-is":
            labels = on_one_scale(labels, task.combine_scales, "rescaled")
        distributions = gain_distributions(labels, gains=gains)
        parts = []
        disagreement = {}
        own = Conventions(score_dtype=task.conventions.score_dtype, duplicates=task.conventions.duplicates)
        for each in task.measures:
            if each.definition.name != "nDCG" or each.cutoff is None:
                raise ArgumentError(f"method agreement-aware: it is a form of nDCG@k, not of {each}")
            form: dict[str, Any] = {"cutoff": each.cutoff, "dcg": each["dcg"], "conventions": own}
            found = agreement_aware_ndcg(
                task.runs, distributions, normalise="divide", cumulate=options["cumulate"], **form
            )
            disagreement[str(each)] = found.by_system(interval_dcg(task.runs, distributions, **form))
            scores = found.scores()
            parts.append(replace(scores.sel(measure=scores.measures[0]), measures=(str(each),)))
        first = parts[0]
        return replace(
            first,
            measures=tuple(part.measures[0] for part in parts),
            values=np.concatenate([part.values for part in parts]),
            relevant=np.concatenate([part.relevant for part in parts]),
            attributes={**first.attributes, "disagreement": disagreement},
        )


DEFINITIONS: tuple[Method, ...] = (
    Majority(),
    DawidSkene(),
    Mace(),
    Mean(),
    Sum(),
    Median(),
    GeometricMean(),
    Uniform(),
    *(type("Estimated", (_Estimated,), {"name": name, "__doc__": _Estimated.__doc__})() for name in NAMES),
    PredictedRelevance(),
    AgreementAware(),
)


def parse_method(text: str) -> Measure:
    """Read a method from its notation.

    Raises
    ------
    MeasureError
        An unknown name, option or value.
    """
    return parse_measure(text, DEFINITIONS, noun="method", added=added_methods)


@cache
def added_methods() -> tuple[Method, ...]:
    """The methods that other distributions declare as entry points of the group "qrowd.methods".

    Raises
    ------
    ArgumentError
        An entry point that cannot be imported or is no method.
    """
    return instances("qrowd.methods", Method)


@with_signature()
def evaluate_methods(
    runs: AnyRuns,
    judgments: AnyJudgments,
    measures: object | Sequence[object] = DEFAULT_MEASURES,
    *,
    methods: str | Sequence[str],
    conventions: Conventions = Conventions(),
    combine_scales: CombineScales = "auto",
    rng: Rng = 1,
    executor: AnyExecutor = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Scores:
    """The scores of every method, each as if it were an assessor.

    methods : as "majority", "dawid-skene(per=all)", "sgl_rmse_msd", "predicted-relevance(rel=2)".
    combine_scales : what becomes of unlike scales in methods that merge labels: "auto" counts relevant or not in votes,
        Dawid-Skene, MACE and predicted relevance, and averages values divided by their scale's maximum.
    rng : of ties, starting points and random assessors; all methods use the same seed.
    executor : whose workers draw and score random assessors, as in `qrowd.aware.similarity_to_random`.
    progress : called with (method, steps done, steps in all).
    The rest as in `evaluate`. Warnings of a method become the attribute "warnings" of the scores.

    Raises
    ------
    MeasureError
        An unknown method.
    QrowdError
        Judgments that a method cannot use.
    """
    runs, judgments = as_runs(runs), as_judgments(judgments)
    parsed = list(dict.fromkeys(map(parse_method, [methods] if isinstance(methods, str) else methods)))
    if not parsed:
        raise ArgumentError("methods: none was given; name one, such as 'majority'")
    texts = measures if isinstance(measures, list | tuple) else [measures]
    distinct = tuple(dict.fromkeys(measure(text) for text in texts))
    parts = []
    warnings = []
    name = ""

    def advance(done: int, total: int) -> None:
        if progress:
            progress(name, done, total)

    seed = seed_of(rng)
    combined: dict[str, Combined] = {}
    task = Task(runs, judgments, distinct, conventions, seed, advance, combine_scales, executor)
    facts = {**task.panel.attributes, "conventions": conventions.as_dict()}  # of the panel, which all start from
    for one in parsed:
        name = str(one)
        definition = one.definition
        assert isinstance(definition, Method)
        if definition.unlike is not None:
            how = combined_how(judgments.scales, combine_scales, definition.unlike)
            if how != "as-is" or not alike(judgments.scales):
                combined[name] = how
        part, messages = scores_by_method(one, task)
        parts.append(part)
        warnings += messages
        advance(1, 1)
    names = tuple(map(str, parsed))
    disagreement = {
        name: part.attributes["disagreement"]
        for name, part in zip(names, parts, strict=True)
        if "disagreement" in part.attributes
    }
    about = {
        **facts,
        "methods": names,
        "disagreement": disagreement,
        "seed": seed,
        "combined": combined,
        "warnings": tuple(warnings),
    }
    return _side_by_side(names, parts, about)


def scores_by_method(method: Measure, task: Task) -> tuple[Scores, list[str]]:
    """The scores of one method, which `parse_method` gave, and its warnings."""
    definition = method.definition
    assert isinstance(definition, Method)
    with catch_warnings(record=True) as caught:
        simplefilter("always")
        scores = definition.scores(dict(method.values), task)
    return scores, [f"{method}: {warning.message}" for warning in caught]


def _side_by_side(names: tuple[str, ...], parts: Sequence[Scores], about: Mapping[str, Any]) -> Scores:
    """One assessor each; topics in the order of the first that has them."""
    topics = tuple(dict.fromkeys(topic for part in parts for topic in part.topics))
    first = parts[0]
    shape = (len(first.measures), len(parts), len(topics), len(first.systems))
    values = np.full(shape, np.nan)
    relevant = np.zeros(shape[:3])
    coverage: Floats = np.zeros(shape[1:3])
    for a, part in enumerate(parts):
        place = [topics.index(topic) for topic in part.topics]
        values[:, a, place] = part.values[:, 0]
        relevant[:, a, place] = part.relevant[:, 0]
        coverage[a, place] = part.coverage[0]
    return Scores(first.measures, names, topics, first.systems, values, relevant, coverage, about)
