"""Whether a model is biased towards a group of systems, beyond the differences among assessors.

A model that judges may prefer systems made of the same model. The bias is a difference of differences: how much further
the group is ahead of the other systems by the model's judgments than by the assessors'. Assessors prefer systems too,
which more topics do not average out: the interval therefore tests whether the model differs more from the assessors
than another assessor would. It is a prediction interval for one more assessor (Student's t, assessors - 1 degrees of
freedom or fewer).

A lenient or severe assessor changes the scores of good systems by more, or less, than those of bad ones. To separate
this from a preference for a group of systems, each assessor is compared with a shuffled version: the judgments are
permuted among documents that the other assessors judged alike, and scored again. The shuffled assessor is as lenient
and uses the grades as often, but knows nothing of the systems beyond the others' judgments.

Card & Krueger (1994), Minimum Wages and Employment, Am. Econ. Rev. 84(4), for the contrast.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.interval_widths import check_confidence
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.evaluation import evaluate
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Chance, Rng
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.labels import Selection, closest, matching
from qrowd.model.panel import Panel
from qrowd.model.result import Result
from qrowd.model.runs import Runs
from qrowd.model.scores import Scores, known_mean, one_measure

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores


SEVERITY_ERROR = 0.05  # standard error of the part due to severity, as a share of it (docs/papers/assessor_bias.md)


@dataclass(frozen=True, eq=False)
class AssessorBias(Result):
    """The bias of a model towards groups of systems; arrays are (groups,) and (groups, assessors).

    bias : mean over topics of (group - other systems) by the model, minus the same by the assessors; above 0 the model
        scores the group higher. low, high : prediction interval: 0 outside of it means that the model differs more than
        one more assessor would. p : two-sided. All three are nan, which is no verdict, with fewer than three assessors.
    severity : the part of the difference in the scores that is due to the model's severity, and not contained in
        `bias`; 0 without expected scores. n_topics : with scores of model and assessors.
    assessor_bias, assessor_n_topics : the same for each assessor compared with the others; nan where they share fewer
        than two topics with others.
    df : degrees of freedom: assessors - 1 if all judged all topics; fewer where some judged only with each other, or
        where assessors judged fewer topics than the model.
    n_systems : in each group, of n_systems_in_all.
    adjusted : whether severity was taken into account.
    """

    summary = "The bias of a model towards groups of systems"

    model: str
    assessors: tuple[str, ...]
    groups: tuple[str, ...]
    n_systems: NDArray[np.int64]
    n_systems_in_all: int
    bias: Floats
    low: Floats
    high: Floats
    p: Floats
    severity: Floats
    n_topics: NDArray[np.int64]
    assessor_bias: Floats
    assessor_n_topics: NDArray[np.int64]
    df: Floats
    confidence: float
    adjusted: bool

    def _columns(self) -> dict[str, Any]:
        """One row per group and assessor, the model first; the others have no interval."""
        names = (self.model, *self.assessors)
        n_groups, n_names = len(self.groups), len(names)
        unknown = np.full(self.assessor_bias.shape, np.nan)

        def column(of_model: NDArray[Any], of_assessors: NDArray[Any]) -> NDArray[Any]:
            return np.column_stack([of_model, of_assessors]).ravel()

        return {
            "group": np.repeat(np.array(self.groups, object), n_names),
            "n_systems": np.repeat(self.n_systems, n_names),
            "assessor": np.tile(np.array(names, object), n_groups),
            "bias": column(self.bias, self.assessor_bias),
            "low": column(self.low, unknown),
            "high": column(self.high, unknown),
            "p": column(self.p, unknown),
            "n_topics": column(self.n_topics, self.assessor_n_topics),
        }


def assessor_bias(
    scores: AnyScores,
    groups: Mapping[str, Selection],
    model: str,
    *,
    assessors: Selection | None = None,
    expected: AnyScores | None = None,
    confidence: float = 0.95,
) -> AssessorBias:
    """Estimate the bias of a model towards groups of systems, compared with assessors, by one measure.

    On topic t, D_t = [mean of the group - mean of the other systems] by the model's scores minus the same by the mean
    of the assessors who have scores there; the bias is the mean of D_t. Each assessor's is that relative to the other
    assessors. Their biases show how much assessors differ: if all judged all topics, the interval is bias +- t(n - 1) s
    sqrt(1 + 1 / n), where s is the standard deviation of the n assessors' mean contrasts. In incomplete tables,
    preferences of assessors and errors by topic are estimated separately, and combined for the model's topics. Where
    the model's contrasts vary more from topic to topic than the assessors', the difference of the two variances over T
    is added.

    Parameters
    ----------
    groups : the systems of each group, by name, shell pattern or list of those, as in {"neural": "neural_*"}; each is
        compared with all systems outside it.
    model : the assessor that is tested. assessors : the human assessors, by name, pattern or list; default: all others.
    expected : the result of `expected_scores` for the same assessors, topics and systems. It is subtracted, so that a
        lenient or severe model does not seem biased towards a group of better or worse systems; 5 % of the change is
        added to the standard error. Without it, severity counts as bias where the group is better or worse than the
        other systems.

    Raises
    ------
    ArgumentError
        A group without systems, or with all of them; an unknown name; expected scores of other systems or assessors.
    NoOverlapError
        Fewer than two topics with scores of model and assessors.
    """
    check_confidence(confidence)
    if not groups:
        raise ArgumentError("groups: none were given; name one, as in {'neural': 'neural_*'}")
    values, (names, topics, systems) = one_measure(scores)
    selected = selected_assessors(names, model, assessors, "scores")
    members = {name: matching(systems, pattern, "system") for name, pattern in groups.items()}
    for name, inside in members.items():
        if inside.all():
            raise ArgumentError(f"group {name!r} holds all {len(systems)} systems; there are no others to compare with")
        if not inside.any():
            raise ArgumentError(f"group {name!r} holds no system")
    rows = [names.index(name) for name in (*selected, model)]
    own = values[rows]
    adjusted = own if expected is None else own - _same(expected, (*selected, model), topics, systems)
    biases = [_bias(_contrast(own, i), _contrast(adjusted, i), confidence) for i in members.values()]
    fewest = min(one.n_topics for one in biases)
    if fewest < 2:
        raise NoOverlapError(
            f"{model!r} and the assessors have scores on {fewest} topics together; an interval needs 2 "
            "(an assessor who judged less of a topic's pool than the minimal coverage has no score there)"
        )

    def column(name: str, kind: type = float) -> NDArray[Any]:
        return np.array([getattr(one, name) for one in biases], kind)

    return AssessorBias(
        model,
        selected,
        tuple(members),
        np.array([inside.sum() for inside in members.values()]),
        len(systems),
        column("bias"),
        column("bias") - column("half"),
        column("bias") + column("half"),
        column("p"),
        column("severity"),
        column("n_topics", np.int64),
        column("assessor_bias"),
        column("assessor_n_topics", np.int64),
        column("df"),
        confidence,
        expected is not None,
    )


def selected_assessors(names: tuple[str, ...], model: str, assessors: Selection | None, what: str) -> tuple[str, ...]:
    """The human assessors among the names.

    Raises
    ------
    ArgumentError
        An unknown model; no assessor but the model.
    """
    if model not in names:
        raise ArgumentError(f"model {model!r} has no {what}; {closest(model, names, 'assessor')}")
    is_selected = np.ones(len(names), bool) if assessors is None else matching(names, assessors, "assessor")
    selected = tuple(name for name, belongs in zip(names, is_selected, strict=True) if belongs and name != model)
    if not selected:
        raise ArgumentError("assessors: none but the model; assessors to compare it with are needed")
    return selected


def _same(expected: AnyScores, assessors: tuple[str, ...], topics: tuple[str, ...], systems: tuple[str, ...]) -> Floats:
    """Expected scores in the order of the scores."""
    values, names = one_measure(expected)
    if names[1:] != (topics, systems) or not set(assessors) <= set(names[0]):
        raise ArgumentError(
            "expected: scores of other assessors, topics or systems; give expected_scores the runs, judgments, model "
            "and assessors of the scores"
        )
    return values[[names[0].index(name) for name in assessors]]


def _contrast(values: Floats, inside: NDArray[np.bool_]) -> Floats:
    """(assessors, topics) mean of the group minus mean of the other systems."""
    return known_mean(values[..., inside], axis=2) - known_mean(values[..., ~inside], axis=2)


@dataclass(frozen=True, eq=False)
class _Bias:
    bias: float
    half: float
    p: float
    severity: float
    n_topics: int
    assessor_bias: Floats
    assessor_n_topics: NDArray[np.int64]
    df: float


def _bias(plain: Floats, contrasts: Floats, confidence: float) -> _Bias:
    """From (assessors, topics) contrasts, the model last, as they are and adjusted for severity."""
    from scipy.special import stdtr, stdtrit

    weights = _weights(~np.isnan(contrasts))
    values = (weights * np.nan_to_num(contrasts)).sum(axis=(1, 2))
    n_topics = (weights != 0).any(axis=1).sum(axis=1)
    severity = float((weights[-1] * np.nan_to_num(plain)).sum() - values[-1])
    reliable = n_topics[:-1] >= 2
    variance, df = _variance(contrasts, weights, values, reliable) if n_topics[-1] > 1 else (np.nan, 0.0)
    error = np.sqrt(variance + (SEVERITY_ERROR * severity) ** 2)
    value = float(values[-1])
    with np.errstate(divide="ignore", invalid="ignore"):
        p = float(2 * stdtr(max(df, 1.0), -abs(value) / error)) if value or np.isnan(error) else 1.0
    return _Bias(
        value,
        float(stdtrit(max(df, 1.0), (1 + confidence) / 2) * error),
        p,
        severity,
        int(n_topics[-1]),
        np.where(reliable, values[:-1], np.nan),
        np.where(reliable, n_topics[:-1], 0),
        df,
    )


def _weights(known: NDArray[np.bool_]) -> Floats:
    """(assessors, assessors, topics): a bias is the sum of weights times contrasts; the model comes last."""
    n_assessors, n_topics = known.shape
    weights = np.zeros((n_assessors, n_assessors, n_topics))
    for j in range(n_assessors):
        others = known.copy()
        others[[j, -1]] = False
        count = others.sum(axis=0)
        both = known[j] & (count > 0)
        if both.any():
            weights[j] = np.where(others & both, -1.0 / np.maximum(count, 1), 0.0)
            weights[j, j] = both
            weights[j] /= both.sum()
    return weights


def _variance(contrasts: Floats, weights: Floats, values: Floats, reliable: NDArray[np.bool_]) -> tuple[float, float]:
    """Variance of the model's bias if it were one more assessor, and its degrees of freedom.

    A contrast is topic + preference of the assessor + error; a bias has the variance preference x (sum of squared sums
    of weights over topics) + error x (sum of squared weights). Where all judged all topics, the two parts have the same
    proportion for all assessors, and their squared biases determine the variance.
    """
    preferences = weights.sum(axis=2)
    of_preference, of_error = (preferences**2).sum(axis=1), (weights**2).sum(axis=(1, 2))
    df = int(np.linalg.matrix_rank(preferences[:-1][reliable])) if reliable.any() else 0
    if df < 2:
        return np.nan, float(df)
    rows = np.flatnonzero(reliable)
    error, own_error = _errors(contrasts)
    ratio = of_preference[-1] / of_preference[rows].sum()
    total = ratio * float((values[rows] ** 2).sum())
    correction = float(of_error[-1] - ratio * of_error[rows].sum()) * error
    # The variance of preferences may be estimated below 0; the errors of the model's topics are the least.
    variance = max(total + correction, min(float(of_error[-1]) * error, total))
    freedom = df * min(1.0, (variance / total) ** 2) if total > 0 else df  # Satterthwaite; `error` has many of its own
    return variance + max(own_error - error, 0.0) / int((weights[-1, -1] != 0).sum()), max(freedom, 2.0)


def _errors(contrasts: Floats) -> tuple[float, float]:
    """Error variance of an assessor's contrast of one topic, and of the model's; the rest by least squares."""
    known = ~np.isnan(contrasts[:-1])
    shared = known.any(axis=0)
    here = known[:, shared].astype(np.float64)
    share = here / here.sum(axis=0)
    values = np.nan_to_num(contrasts[:-1, shared])
    matrix = np.diag(here.sum(axis=1)) - here @ share.T
    preferences = np.linalg.pinv(matrix, hermitian=True) @ (values - here * (share * values).sum(axis=0)).sum(axis=1)
    rest = values - preferences[:, None]
    by_topic = (share * rest).sum(axis=0)
    df = here.sum() - here.shape[1] - np.linalg.matrix_rank(matrix)
    error = float((here * (rest - by_topic) ** 2).sum() / max(df, 1))
    difference = contrasts[-1, shared] - by_topic
    both = ~np.isnan(difference)
    return error, float(difference[both].var(ddof=1) - error * (share**2).sum(axis=0)[both].mean())


CONVENTIONS = Conventions()
LEAST = 10  # documents that are shuffled together, roughly the fewest
SHUFFLES = 720  # each assessor is shuffled SHUFFLES / assessors times, at least FEWEST
FEWEST = 6
EXTRAPOLATED_FROM = 1.5  # others per document from which on the number of others is extrapolated
LEAST_CORRELATION = 0.25  # used where assessors agree less, since the extrapolation would be mostly noise


def expected_scores(
    runs: Runs,
    judgments: Judgments,
    measure: object,
    model: str,
    *,
    assessors: Selection | None = None,
    conventions: Conventions = CONVENTIONS,
    n_resamples: int | None = None,
    rng: Rng = 1,
) -> Scores:
    """Scores of each assessor's shuffled judgments, (assessor, topic, system): the `expected` of `assessor_bias`.

    Documents are grouped by the mean judgment of the other assessors, all but one of whom count for the model, so that
    assessor and model are treated alike; documents that no other assessor judged are a group of their own. A few
    judgments describe a document imprecisely, and a good system's documents are better than they indicate: with m
    others, the expected difference is too small by a share of 1 / (m + c), with c = (1 - r) / r and the mean
    correlation r of two assessors' judgments (the error of a mean of m, as in the Spearman-Brown formula). The same is
    therefore computed with one random other per document, and extrapolated to infinitely many: ((m + c) E_m - (1 + c)
    E_1) / (m - 1), where m is the harmonic mean of the numbers of others. Where m is below 1.5, E_m is used.

    assessors : the human assessors, by name, shell pattern or list of those; default: all but the model.
    conventions : those of the scores that are compared.
    n_resamples : shuffles of each assessor and kind; default: 720 / assessors, at least 6.

    Raises
    ------
    ArgumentError
        An unknown model, no assessors.
    NoOverlapError
        Runs and judgments share no topic.
    """
    selected = selected_assessors(judgments.assessors, model, assessors, "judgments")
    values, topics = expected_values(runs, judgments, [measure], selected, [model], conventions, n_resamples, rng)
    return Scores.from_array(
        values[0], measure=str(measure), assessors=(*selected, model), topics=topics, systems=runs.systems
    )


def expected_values(
    runs: Runs,
    judgments: Judgments,
    measures: Sequence[object],
    assessors: Sequence[str],
    models: Sequence[str],
    conventions: Conventions,
    n: int | None,
    rng: Rng,
) -> tuple[Floats, tuple[str, ...]]:
    """(measures, assessors and models, topics, systems) expected scores, and the topics."""
    panel = conventions.graded(judgments).panel(repeats=conventions.repeats)
    if n is not None and n < 1:
        raise ArgumentError("1 or more were expected", "n_resamples", n)
    count = max(FEWEST, -(-SHUFFLES // len(assessors))) if n is None else n
    scaled = panel.values / np.where(np.isfinite(panel.maximum), panel.maximum, 1.0)
    columns = {name: panel.assessors.index(name) for name in (*assessors, *models)}
    chance = Chance.of(rng)
    blocks = [
        _shuffled(panel, column, scaled[:, [columns[a] for a in assessors if a != name]], name in models, count, chance)
        for name, column in columns.items()
    ]
    scores = evaluate(runs, blocks, measures, conventions=replace(conventions, grades="as-is"))
    shape = (len(scores.measures), len(blocks), 2, count, *scores.values.shape[2:])
    by_one, by_all = np.moveaxis(scores.values.reshape(shape).mean(axis=3), 2, 0)
    of_assessors = scaled[:, [columns[name] for name in assessors]]
    others = _typical_others(~np.isnan(of_assessors))
    if others >= EXTRAPOLATED_FROM:
        r = max(_correlation(of_assessors), LEAST_CORRELATION)
        c = (1 - r) / r
        by_all = ((others + c) * by_all - (1 + c) * by_one) / (others - 1)
    return np.asarray(by_all), scores.topics


def _typical_others(known: NDArray[np.bool_]) -> float:
    """Number of other assessors on a document, of (documents, assessors) who judged; harmonic mean, at least 1."""
    count = known.sum(axis=1)
    count = count[count > 1]  # each of `count` assessors has count - 1 others
    return float(count.sum() / (count / (count - 1)).sum()) if count.size else 1.0


def _correlation(judgments: Floats) -> float:
    """Mean correlation of two assessors' judgments of the documents both judged; 0 where there is none."""
    coefficients = []
    for first, second in combinations(judgments.T, 2):
        both = ~np.isnan(first) & ~np.isnan(second)
        x, y = first[both], second[both]
        if x.size and x.std() > 0 and y.std() > 0:
            coefficients.append(float(np.corrcoef(x, y)[0, 1]))
    return float(np.mean(coefficients)) if coefficients else 0.0


def _shuffled(panel: Panel, assessor: int, others: Floats, is_model: bool, n: int, chance: Chance) -> Panel:
    """2 n assessors: the judgments of one, shuffled n times by one other's judgments, and n times by all others'."""
    name = panel.assessors[assessor]
    random = chance.stream(f"shuffle {name}")
    own = panel.values[:, assessor]
    judged = np.flatnonzero(~np.isnan(own))
    values = np.full((own.size, 2 * n), np.nan)
    judgments, by_all = others[judged], None
    for column in range(2 * n):
        if is_model:  # it has as many others as an assessor has: one less than judged the document
            judgments, by_all = _one_left_out(others[judged], random), None
        if column < n:
            group = _groups(_one_left_in(judgments, random))
        else:
            by_all = _groups(judgments) if by_all is None else by_all
            group = by_all
        order = random.permutation(judged.size)
        there = order[np.argsort(group[order], kind="stable")]
        values[judged[np.argsort(group, kind="stable")], column] = own[judged[there]]
    names = tuple(f"{name} {i}" for i in range(1, 2 * n + 1))
    return Panel(panel.pool, names, (panel.scales[assessor],) * (2 * n), values)


def _drawn(judgments: Floats, random: np.random.Generator) -> NDArray[np.bool_]:
    """(documents, others) a random one of those who judged, for each document."""
    lots = np.where(np.isnan(judgments), 0.0, 1.0 - random.random(judgments.shape))
    return np.asarray((lots > 0) & (lots == lots.max(axis=1, keepdims=True, initial=0.0)))


def _one_left_in(judgments: Floats, random: np.random.Generator) -> Floats:
    return np.where(_drawn(judgments, random), judgments, np.nan)


def _one_left_out(judgments: Floats, random: np.random.Generator) -> Floats:
    return np.where(_drawn(judgments, random), np.nan, judgments)


def _groups(judgments: Floats) -> NDArray[np.integer[Any]]:
    """(documents,) number of the group: documents of equal mean over (documents, others), joined where they are few.

    Documents that no other assessor judged are a group of their own.
    """
    levels, level, counts = np.unique(
        np.round(known_mean(judgments, axis=1), 9), return_inverse=True, return_counts=True
    )
    groups = (np.cumsum(counts) - counts) // LEAST
    groups[np.isnan(levels)] = groups[-1:] + 1
    return np.asarray(groups[level].astype(np.min_scalar_type(int(groups[-1:].sum()))))  # small numbers sort faster
