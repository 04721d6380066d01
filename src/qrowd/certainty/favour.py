"""Whether a judge favours a group of systems, beyond what people differ among themselves.

A model that judges may like systems made of the same model. A difference in differences tells: how much further the
group stands above the other systems by the model's judgments than by the people's, topic by topic. A judge who is
merely lenient or severe does not show in it. Beside it stands what each person has against the other people.

Card & Krueger (1994), Minimum Wages and Employment, Am. Econ. Rev. 84(4), for the contrast; its interval is Student's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.labelled import labelled
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.model.frames import make_frame
from qrowd.model.labels import Selection, closest, matching
from qrowd.model.scores import Floats, known_error, known_mean

if TYPE_CHECKING:
    from qrowd.comparison.labelled import OneMeasure


@dataclass(frozen=True, eq=False)
class Favour:
    """How far a judge favours groups of systems; arrays are (groups,) and (groups, people).

    value : mean over topics of (group - other systems) by the model, less the same by the people; above 0 favours the
        group. low, high : Student's interval over topics; p : two-sided, of no favour. n_topics : with both.
    people_value ... people_n_topics : the same of each person against the other people; nan where they share fewer than
        two topics with others.
    n_systems : in each group, of n_systems_in_all.
    standardised : scores were divided by the judge's own spread over systems, topic by topic.
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
    n_topics: NDArray[np.int64]
    people_value: Floats
    people_low: Floats
    people_high: Floats
    people_p: Floats
    people_n_topics: NDArray[np.int64]
    confidence: float
    standardised: bool

    @property
    def beyond_people(self) -> NDArray[np.bool_]:
        """(groups,) whether the model's favour is larger, either way, than any person's; False without any person's."""
        most = np.fmax.reduce(np.abs(self.people_value), axis=1)
        return np.asarray(np.abs(self.value) > np.where(np.isnan(most), np.inf, most))

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per group and judge, the model first."""
        judges = (self.model, *self.people)
        shape = len(self.groups), len(judges)

        def column(own: NDArray[Any], people: NDArray[Any]) -> NDArray[Any]:
            return np.column_stack([own, people]).ravel()

        return make_frame(
            {
                "group": np.repeat(np.array(self.groups, object), shape[1]),
                "systems": np.repeat(self.n_systems, shape[1]),
                "judge": np.tile(np.array(judges, object), shape[0]),
                "favour": column(self.value, self.people_value),
                "low": column(self.low, self.people_low),
                "high": column(self.high, self.people_high),
                "p": column(self.p, self.people_p),
                "topics": column(self.n_topics, self.people_n_topics),
            },
            backend,
        )


def favours(
    scores: OneMeasure,
    groups: Mapping[str, Selection],
    humans: Selection | None,
    model: str,
    *,
    standardise: bool = False,
    confidence: float = 0.95,
) -> Favour:
    """Whether a model favours groups of systems, compared with people.

    On topic t, D_t = [mean of the group - mean of the other systems] by the model's scores less the same by the mean of
    the people who have scores there; the favour is the mean of D_t, with Student's interval over topics.

    scores : (assessor, topic, system) of one measure. groups : the systems of each, by name, shell pattern or list of
        those, as in {"neural": "neural_*"}; each is held against all systems outside it.
    humans : assessors, likewise; None is everyone but the model. model : an assessor.
    standardise : divide each judge's scores of a topic by their standard deviation over systems first. A judge who
        spreads all systems further apart stretches the gap of a good group too, which is no favour.

    Raises
    ------
    ArgumentError
        A group without systems, or with all of them; nobody of that name.
    NoOverlapError
        Fewer than two topics with scores of model and people.
    """
    if not 0 < confidence < 1:
        raise ArgumentError(f"confidence={confidence!r}: a level between 0 and 1 was expected")
    if not groups:
        raise ArgumentError("groups: none were given; name one, as in {'neural': 'neural_*'}")
    values, (assessors, _, systems) = labelled(scores, "assessor", "topic", "system")
    if model not in assessors:
        raise ArgumentError(f"model {model!r} has no scores; {closest(model, assessors, 'assessor')}")
    chosen = np.ones(len(assessors), bool) if humans is None else matching(assessors, humans, "assessor")
    numbers = [a for a, wanted in enumerate(chosen) if wanted and assessors[a] != model]
    if not numbers:
        raise ArgumentError("humans: nobody but the model was chosen; people to compare it with are needed")
    members = {name: matching(systems, wanted, "system") for name, wanted in groups.items()}
    for name, inside in members.items():
        if inside.all():
            raise ArgumentError(f"group {name!r} holds all {len(systems)} systems; there are no others to compare with")
        if not inside.any():
            raise ArgumentError(f"group {name!r} holds no system")
    if standardise:
        values = _standardised(values)
    contrast = np.array(
        [known_mean(values[..., i], axis=2) - known_mean(values[..., ~i], axis=2) for i in members.values()]
    )
    own, people = contrast[:, assessors.index(model)], contrast[:, numbers]
    told = _interval(own - known_mean(people, axis=1), confidence)
    if (told.n < 2).any():
        raise NoOverlapError(
            f"{model!r} and the people have scores on {int(told.n.min())} topics together; an interval needs 2 "
            "(somebody who judged less of a topic's pool than min_coverage has no score there)"
        )
    among = [
        _interval(people[:, j] - known_mean(np.delete(people, j, axis=1), axis=1), confidence)
        if len(numbers) > 1
        else _interval(np.full_like(own, np.nan), confidence)
        for j in range(len(numbers))
    ]
    return Favour(
        model,
        tuple(assessors[a] for a in numbers),
        tuple(members),
        np.array([inside.sum() for inside in members.values()]),
        len(systems),
        told.mean,
        told.low,
        told.high,
        told.p,
        told.n,
        np.column_stack([one.mean for one in among]),
        np.column_stack([one.low for one in among]),
        np.column_stack([one.high for one in among]),
        np.column_stack([one.p for one in among]),
        np.column_stack([one.n for one in among]),
        confidence,
        standardise,
    )


@dataclass(frozen=True, eq=False)
class _Interval:
    mean: Floats
    low: Floats
    high: Floats
    p: Floats
    n: NDArray[np.int64]


def _interval(differences: Floats, confidence: float) -> _Interval:
    """Of the means of (groups, topics): Student's interval and p; all nan below two topics."""
    from scipy.special import stdtr, stdtrit

    n = (~np.isnan(differences)).sum(axis=1)
    mean = np.where(n > 1, known_mean(differences, axis=1), np.nan)
    error = known_error(differences, axis=1)
    freedom = np.maximum(n - 1, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(mean == 0, 1.0, 2 * stdtr(freedom, -np.abs(mean / error)))
    half = stdtrit(freedom, (1 + confidence) / 2) * error
    return _Interval(mean, mean - half, mean + half, np.where(np.isnan(mean), np.nan, p), n)


def _standardised(values: Floats) -> Floats:
    """(assessors, topics, systems) over their standard deviation over systems; nan where they do not vary."""
    mean = known_mean(values, axis=2)[..., None]
    n = (~np.isnan(values)).sum(axis=2, keepdims=True)
    spread = np.sqrt(np.nansum((values - mean) ** 2, axis=2, keepdims=True) / np.maximum(n, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(spread > 1e-12, values / spread, np.nan))
