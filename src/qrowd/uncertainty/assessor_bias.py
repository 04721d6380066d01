"""Whether a judge favours a group of systems, beyond what people differ among themselves.

A model that judges may like systems made of the same model. A difference in differences tells: how much further the
group stands above the other systems by the model's judgments than by the people's. People have tastes among systems as
well, which more topics do not remove: the interval therefore asks whether the model lies further from the people than
another person would. It is a prediction interval for one more assessor (Student's t, people - 1 degrees of freedom).

Card & Krueger (1994), Minimum Wages and Employment, Am. Econ. Rev. 84(4), for the contrast.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.model.frames import make_frame
from qrowd.model.labels import Selection, closest, matching
from qrowd.model.scores import Floats, known_mean, one_measure

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores

SEVERITY_ERROR = 0.05  # standard error of what severity explains, as a share of it; from docs/papers/favour.md


@dataclass(frozen=True, eq=False)
class AssessorBias:
    """How far a judge favours groups of systems; arrays are (groups,) and (groups, people).

    value : mean over topics of (group - other systems) by the model, less the same by the people; above 0 favours the
        group. low, high : where it lies for 0 to be outside what one more person would show; p : two-sided, of the
        model being one more person. All three are nan, which is no verdict, with fewer than three people.
    severity : what of the difference in the scores as they are was put down to the model's severity, and is not in
        value; 0 where expected scores were not given. n_topics : with scores of model and people.
    people_value, people_n_topics : the same of each person against the other people; nan where they share fewer than
        two topics with others.
    df : degrees of freedom: people - 1 if all judged all topics; fewer where some only judged with each other, or where
        people judged fewer topics than the model.
    n_systems : in each group, of n_systems_in_all.
    adjusted : whether severity was taken into account.
    """

    model: str
    people: tuple[str, ...]
    groups: tuple[str, ...]
    n_systems: NDArray[np.int64]
    n_systems_in_all: int
    value: Floats
    low: Floats
    high: Floats
    p: Floats
    severity: Floats
    n_topics: NDArray[np.int64]
    people_value: Floats
    people_n_topics: NDArray[np.int64]
    df: Floats
    confidence: float
    adjusted: bool

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per group and judge, the model first; people have no interval."""
        judges = (self.model, *self.people)
        shape = len(self.groups), len(judges)
        unknown = np.full(self.people_value.shape, np.nan)

        def column(own: NDArray[Any], people: NDArray[Any]) -> NDArray[Any]:
            return np.column_stack([own, people]).ravel()

        return make_frame(
            {
                "group": np.repeat(np.array(self.groups, object), shape[1]),
                "systems": np.repeat(self.n_systems, shape[1]),
                "judge": np.tile(np.array(judges, object), shape[0]),
                "favour": column(self.value, self.people_value),
                "low": column(self.low, unknown),
                "high": column(self.high, unknown),
                "p": column(self.p, unknown),
                "topics": column(self.n_topics, self.people_n_topics),
            },
            backend,
        )


def assessor_bias(
    scores: AnyScores,
    groups: Mapping[str, Selection],
    humans: Selection | None,
    model: str,
    *,
    expected: AnyScores | None = None,
    confidence: float = 0.95,
) -> AssessorBias:
    """Whether a model favours groups of systems, compared with people.

    On topic t, D_t = [mean of the group - mean of the other systems] by the model's scores less the same by the mean of
    the people who have scores there; the favour is the mean of D_t. Each person's is that against the other people. The
    people's favours say how far judges differ without kinship: if all people judged all topics, the interval is value
    +- t(n - 1) s sqrt(1 + 1 / n), s being the standard deviation of the n people's mean contrasts. With holes, tastes
    and errors by topic are estimated apart, and put together as the model's topics ask. Where the model's contrasts
    vary more from topic to topic than people's, the difference of the two variances over T is added.

    scores : (assessor, topic, system) of one measure. groups : the systems of each, by name, shell pattern or list of
        those, as in {"neural": "neural_*"}; each is held against all systems outside it.
    humans : assessors, likewise; None is everyone but the model. model : an assessor.
    expected : what `expected_scores` gives for the same judges, topics and systems. It is subtracted, so that a judge
        who is merely lenient or severe does not seem to favour or disfavour a group of better systems; 5 % of what it
        changes is added to the standard error. Without it severity counts as favour wherever the group is better or
        worse than the other systems.

    Raises
    ------
    ArgumentError
        A group without systems, or with all of them; nobody of that name; expected scores of other systems or judges.
    NoOverlapError
        Fewer than two topics with scores of model and people.
    """
    if not 0 < confidence < 1:
        raise ArgumentError(f"confidence={confidence!r}: a level between 0 and 1 was expected")
    if not groups:
        raise ArgumentError("groups: none were given; name one, as in {'neural': 'neural_*'}")
    values, names = one_measure(scores)
    assessors, topics, systems = names
    if model not in assessors:
        raise ArgumentError(f"model {model!r} has no scores; {closest(model, assessors, 'assessor')}")
    chosen = np.ones(len(assessors), bool) if humans is None else matching(assessors, humans, "assessor")
    people = [a for a, wanted in enumerate(chosen) if wanted and assessors[a] != model]
    if not people:
        raise ArgumentError("humans: nobody but the model was chosen; people to compare it with are needed")
    members = {name: matching(systems, wanted, "system") for name, wanted in groups.items()}
    for name, inside in members.items():
        if inside.all():
            raise ArgumentError(f"group {name!r} holds all {len(systems)} systems; there are no others to compare with")
        if not inside.any():
            raise ArgumentError(f"group {name!r} holds no system")
    judges = [*people, assessors.index(model)]
    own = values[judges]
    at_own_severity = own
    if expected is not None:
        at_own_severity = own - _same(expected, tuple(assessors[a] for a in judges), topics, systems)
    found = [_favour(_contrast(own, i), _contrast(at_own_severity, i), confidence) for i in members.values()]
    fewest = min(one.n_topics for one in found)
    if fewest < 2:
        raise NoOverlapError(
            f"{model!r} and the people have scores on {fewest} topics together; an interval needs 2 "
            "(somebody who judged less of a topic's pool than min_coverage has no score there)"
        )

    def column(name: str, kind: type = float) -> NDArray[Any]:
        return np.array([getattr(one, name) for one in found], kind)

    return AssessorBias(
        model,
        tuple(assessors[a] for a in people),
        tuple(members),
        np.array([inside.sum() for inside in members.values()]),
        len(systems),
        column("value"),
        column("value") - column("half"),
        column("value") + column("half"),
        column("p"),
        column("severity"),
        column("n_topics", np.int64),
        column("people_value"),
        column("people_n_topics", np.int64),
        column("df"),
        confidence,
        expected is not None,
    )


def _same(expected: AnyScores, judges: tuple[str, ...], topics: tuple[str, ...], systems: tuple[str, ...]) -> Floats:
    """Expected scores in the order of the scores."""
    values, names = one_measure(expected)
    if names[1:] != (topics, systems) or not set(judges) <= set(names[0]):
        raise ArgumentError(
            "expected: scores of other judges, topics or systems; give expected_scores the runs, judgments, model and "
            "humans that the scores are of"
        )
    return values[[names[0].index(judge) for judge in judges]]


def _contrast(values: Floats, inside: NDArray[np.bool_]) -> Floats:
    """(judges, topics) mean of the group less mean of the other systems."""
    return known_mean(values[..., inside], axis=2) - known_mean(values[..., ~inside], axis=2)


@dataclass(frozen=True, eq=False)
class _Found:
    value: float
    half: float
    p: float
    severity: float
    n_topics: int
    people_value: Floats
    people_n_topics: NDArray[np.int64]
    df: float


def _favour(plain: Floats, contrasts: Floats, confidence: float) -> _Found:
    """Of (judges, topics) contrasts, people first and the model last, as they are and with severity accounted for."""
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
    return _Found(
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
    """(judges, judges, topics): a favour is the sum of weights times contrasts; people first, the model last."""
    n_judges, n_topics = known.shape
    weights = np.zeros((n_judges, n_judges, n_topics))
    for j in range(n_judges):
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
    """Variance of the model's favour, were it one more person, and its degrees of freedom.

    A contrast is topic + taste of the judge + error; a favour has the variance taste x (sum of squared sums of weights
    over topics) + error x (sum of squared weights). Where all judged all topics, the two parts stand in the same
    proportion for everybody, and people's squared favours alone decide.
    """
    tastes = weights.sum(axis=2)
    of_taste, of_error = (tastes**2).sum(axis=1), (weights**2).sum(axis=(1, 2))
    df = int(np.linalg.matrix_rank(tastes[:-1][reliable])) if reliable.any() else 0
    if df < 2:
        return np.nan, float(df)
    people = np.flatnonzero(reliable)
    error, own_error = _errors(contrasts)
    ratio = of_taste[-1] / of_taste[people].sum()
    total = ratio * float((values[people] ** 2).sum())
    correction = float(of_error[-1] - ratio * of_error[people].sum()) * error
    # What is left for tastes may be estimated below 0: then the model's favour has at least the errors of its topics.
    variance = max(total + correction, min(float(of_error[-1]) * error, total))
    freedom = df * min(1.0, (variance / total) ** 2) if total > 0 else df  # Satterthwaite; `error` has many of its own
    return variance + max(own_error - error, 0.0) / int((weights[-1, -1] != 0).sum()), max(freedom, 2.0)


def _errors(contrasts: Floats) -> tuple[float, float]:
    """Error variance of a person's contrast of one topic, and of the model's; tastes and topics by least squares."""
    known = ~np.isnan(contrasts[:-1])
    shared = known.any(axis=0)
    here = known[:, shared].astype(np.float64)
    share = here / here.sum(axis=0)
    values = np.nan_to_num(contrasts[:-1, shared])
    matrix = np.diag(here.sum(axis=1)) - here @ share.T
    tastes = np.linalg.pinv(matrix, hermitian=True) @ (values - here * (share * values).sum(axis=0)).sum(axis=1)
    rest = values - tastes[:, None]
    by_topic = (share * rest).sum(axis=0)
    df = here.sum() - here.shape[1] - np.linalg.matrix_rank(matrix)
    error = float((here * (rest - by_topic) ** 2).sum() / max(df, 1))
    difference = contrasts[-1, shared] - by_topic
    both = ~np.isnan(difference)
    return error, float(difference[both].var(ddof=1) - error * (share**2).sum(axis=0)[both].mean())
