"""The alternative annotator test: may a model stand in for the people who judge?

Each person is left out in turn, and the others say who is closer to them: the person or the model. The model may stand
in for somebody if it is closer about as often, a person's cost of `eps` granted. Documents of one topic are alike, so
topics are what counts as independent; in the paper it is documents.

Calderon, Reichart & Dror (2025), The Alternative Annotator Test for LLM-as-a-Judge. ACL, section 3. Benjamini &
Yekutieli (2001), The Control of the False Discovery Rate in Multiple Testing under Dependency. Ann. Stat. 29(4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.corrections import benjamini_yekutieli
from qrowd.errors import ArgumentError, NoOverlapError, ScaleError
from qrowd.model.frames import make_frame
from qrowd.model.judgments import Judgments, Repeats, concatenate_judgments
from qrowd.model.labels import Selection, closest, matching
from qrowd.model.panel import Pool
from qrowd.model.scales import Scale
from qrowd.uncertainty.one_sided_t import documents_t, topics_t

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Closeness = Literal["accuracy", "rmse", "difference"]
Clusters = Literal["topics", "documents"]
"""What counts as independent of each other."""

ROUNDING = 1e-12  # of the scale's maximum: how much further apart counts as further apart
PASSES = 0.5  # winning rate
FEWEST_PEOPLE = 3
FEWEST_TOPICS = 5  # that a person needs where topics are clusters


@dataclass(frozen=True, eq=False)
class AnnotatorTest:
    """A model held against each person by what the others said; arrays are (people,).

    people : who was tested; n_documents : of theirs that the model and at least one other judged; n_topics : of these
        documents.
    model_share : rho_l, share of them on which the model agrees with the others at least as well as the person.
    person_share : rho_h, the converse; ties count for both.
    difference : person_share - model_share, the mean of W_h - W_l; t, p : of the one-sided test that it is eps or more,
        as `one_sided_t` makes it for `clusters`.
    adjusted : p by Benjamini and Yekutieli over the people tested; replaceable : adjusted <= q.
    winning_rate : share of the people tested who are replaceable; passes : it is .5 or more.
    advantage : mean of model_share, the chance that the model is at least as good as a person drawn at random.
    untested : people with fewer than `fewest` such documents, or on too few topics. n_repeats : judgments that repeat
        one by the same assessor, of which `repeats` says what counts.
    """

    model: str
    people: tuple[str, ...]
    n_documents: Ints
    n_topics: Ints
    model_share: Floats
    person_share: Floats
    difference: Floats
    t: Floats
    p: Floats
    adjusted: Floats
    replaceable: NDArray[np.bool_]
    winning_rate: float
    advantage: float
    closeness: Closeness
    clusters: Clusters
    eps: float
    q: float
    fewest: int
    untested: tuple[str, ...]
    repeats: Repeats
    n_repeats: int

    @property
    def passes(self) -> bool:
        """Whether the model may stand in for half of the people or more."""
        return self.winning_rate >= PASSES

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per person tested."""
        n = len(self.people)
        return make_frame(
            {
                "model": np.array([self.model] * n, object),
                "person": np.array(self.people, object),
                "documents": self.n_documents,
                "topics": self.n_topics,
                "model_share": self.model_share,
                "person_share": self.person_share,
                "difference": self.difference,
                "t": self.t,
                "p": self.p,
                "adjusted": self.adjusted,
                "replaceable": self.replaceable,
            },
            backend,
        )


@dataclass(frozen=True, eq=False)
class LeaveOneOutAnnotatorTests:
    """The human reference line: each person tested as if they were the model; arrays are (people,).

    n_tested : colleagues they could be held against; 0 where nobody shared enough documents that a third had judged.
    winning_rate, advantage : as of a model; nan where n_tested is 0. The rate of few colleagues is coarse.
    """

    people: tuple[str, ...]
    n_tested: Ints
    winning_rate: Floats
    advantage: Floats

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per person."""
        return make_frame(
            {
                "person": np.array(self.people, object),
                "tested": self.n_tested,
                "winning_rate": self.winning_rate,
                "advantage": self.advantage,
            },
            backend,
        )


def alternative_annotator_test(
    judgments: Judgments,
    model: str | Judgments,
    humans: Selection | None = None,
    *,
    eps: float = 0.2,
    q: float = 0.05,
    closeness: Closeness | None = None,
    clusters: Clusters = "topics",
    fewest: int = 30,
    repeats: Repeats = "first",
) -> AnnotatorTest:
    """Whether a model agrees with people as well as each of them agrees with the others.

    For person j and a document that j, the model and at least one other person judged, S(x) is how close x is to the
    others, W_l = [S(model) >= S(j)] and W_h = [S(j) >= S(model)]. A t-test of mean(W_h - W_l) >= eps is made for every
    j; q is the false discovery rate over all of them.

    model : the name of an assessor of `judgments`, or the judgments of one. humans : which of the others are the
        people, by name, shell pattern or list of those; all of them by default.
    eps : what a person costs more than the model, as a share of documents: .2 for experts, .15 for skilled people, .1
        for a crowd.
    closeness : "accuracy", the share of the others who gave the same grade; "rmse", minus the root of the mean squared
        difference to the others; "difference", minus the mean absolute difference. Accuracy by default for binary
        judgments, of which all three say the same, and rmse for grades and fractions.
    clusters : "topics", documents of one topic may be alike, and topics are independent of each other (`topics_t`);
        "documents", all documents are independent, as in the paper. Where a model fails on whole topics, the latter
        rejects far too often, and the more so the more documents a topic has.
    fewest : documents that a person needs to be tested, on five topics at least where these are the clusters. The paper
        asks for 30 documents and three people.

    Raises
    ------
    NoOverlapError
        The model judged no document that two people did.
    ArgumentError
        Fewer than three people with that many documents and topics; an option outside its range.
    ScaleError
        Scales that cannot be one; a model that only says yes or no beside people who give grades; magnitudes.
    """
    _check(eps, q, closeness, clusters, fewest)
    given, name, people = model_and_people(judgments, model, humans)
    if len(people) < FEWEST_PEOPLE:
        raise ArgumentError(_too_few(people))
    shared = _shared_scale(given, name)
    panel = given.panel(repeats)
    numbers = [panel.assessors.index(who) for who in people]
    table = panel.values[:, numbers]
    topic = _topics(panel.pool)
    models = panel.values[:, panel.assessors.index(name)]
    found = _held_against(table, models, topic, _kind(closeness, shared), shared.maximum)
    if not found.n.any():
        raise NoOverlapError(
            f"{name!r} judged no document that two of the people judged, so nobody can say who is closer to the "
            "others; check that topics and documents have the same names"
        )
    tested = found.enough(fewest, clusters)
    untested = tuple(who for who, enough in zip(people, tested, strict=True) if not enough)
    if tested.sum() < FEWEST_PEOPLE:
        raise ArgumentError(_too_little(found, people, name, fewest, clusters))
    result = found.only(tested)
    t, p = result.t_test(eps, clusters)
    adjusted = benjamini_yekutieli(p)
    replaceable = adjusted <= q
    return AnnotatorTest(
        name,
        tuple(who for who, enough in zip(people, tested, strict=True) if enough),
        result.n_documents,
        result.n_topics,
        result.model_share,
        result.person_share,
        result.person_share - result.model_share,
        t,
        p,
        adjusted,
        replaceable,
        float(replaceable.mean()),
        float(result.model_share.mean()),
        _kind(closeness, shared),
        clusters,
        eps,
        q,
        fewest,
        untested,
        repeats,
        given.n_repeats(),
    )


def leave_one_out_annotator_tests(
    judgments: Judgments,
    humans: Selection | None = None,
    *,
    eps: float = 0.2,
    q: float = 0.05,
    closeness: Closeness | None = None,
    clusters: Clusters = "topics",
    fewest: int = 30,
    repeats: Repeats = "first",
) -> LeaveOneOutAnnotatorTests:
    """The human reference line: every person tested as if they were the model, against all others.

    It needs documents that three people judged: the one who plays the model, the one who is left out, and another. What
    a model reaches is to be read beside what the people reach under the same rules. Arguments as in
    `alternative_annotator_test`; two colleagues are enough here.
    """
    _check(eps, q, closeness, clusters, fewest)
    given = judgments if humans is None else judgments.select(assessors=humans)
    shared = _not_magnitude(given)
    panel = given.panel(repeats)
    topic = _topics(panel.pool)
    n = len(panel.assessors)
    n_tested, rate, advantage = np.zeros(n, np.int64), np.full(n, np.nan), np.full(n, np.nan)
    for who in range(n):
        judged = ~np.isnan(panel.values[:, who])
        theirs = panel.values[judged]
        others = np.delete(theirs, who, axis=1)
        found = _held_against(others, theirs[:, who], topic[judged], _kind(closeness, shared), shared.maximum)
        tested = found.only(found.enough(fewest, clusters))
        n_tested[who] = len(tested.n)
        if n_tested[who]:
            rate[who] = (benjamini_yekutieli(tested.t_test(eps, clusters)[1]) <= q).mean()
            advantage[who] = tested.model_share.mean()
    return LeaveOneOutAnnotatorTests(panel.assessors, n_tested, rate, advantage)


def model_and_people(
    judgments: Judgments, model: str | Judgments, humans: Selection | None
) -> tuple[Judgments, str, tuple[str, ...]]:
    """All judgments in one, the name of the model and those of the people.

    Raises
    ------
    ArgumentError
        A model that is nobody, or several; a name that people and model share.
    """
    if isinstance(model, Judgments):
        if len(model.assessors) != 1:
            raise ArgumentError(f"model: {len(model.assessors)} assessors ({_listed(model.assessors)}); give one")
        name = model.assessors[0]
        if name in judgments.assessors:
            raise ArgumentError(f"model {name!r} is also one of the people; rename it, or name it among the judgments")
        judgments = concatenate_judgments([judgments, model])
    elif model not in judgments.assessors:
        raise ArgumentError(f"model {model!r} judged nothing; {closest(model, judgments.assessors, 'assessor')}")
    else:
        name = model
    others = tuple(who for who in judgments.assessors if who != name)
    if humans is not None:
        chosen = matching(others, humans, "assessor")
        others = tuple(who for who, wanted in zip(others, chosen, strict=True) if wanted)
    keep = {name, *others}
    return judgments.select(assessors=lambda who: who in keep), name, others


# ---------------------------------------------------------------------- how it is computed


@dataclass(frozen=True, eq=False)
class _Held:
    """(people, topics) n documents, sums of W_l, W_h and of (W_h - W_l)^2."""

    n: Floats
    model_wins: Floats
    person_wins: Floats
    squares: Floats

    def only(self, which: NDArray[np.bool_]) -> _Held:
        return _Held(self.n[which], self.model_wins[which], self.person_wins[which], self.squares[which])

    def enough(self, fewest: int, clusters: Clusters) -> NDArray[np.bool_]:
        """(people,) who has as many documents, and topics where they are the clusters, as a test needs."""
        topics = self.n_topics >= (FEWEST_TOPICS if clusters == "topics" else 1)
        return np.asarray((self.n_documents >= fewest) & topics)

    @property
    def n_documents(self) -> Ints:
        return np.asarray(self.n.sum(axis=1), np.int64)

    @property
    def n_topics(self) -> Ints:
        return np.asarray((self.n > 0).sum(axis=1), np.int64)

    @property
    def model_share(self) -> Floats:
        return np.asarray(self.model_wins.sum(axis=1) / self.n_documents)

    @property
    def person_share(self) -> Floats:
        return np.asarray(self.person_wins.sum(axis=1) / self.n_documents)

    def t_test(self, eps: float, clusters: Clusters) -> tuple[Floats, Floats]:
        """t and the one-sided p of mean(W_h - W_l) >= eps."""
        test = topics_t if clusters == "topics" else documents_t
        return test(self.n, self.person_wins - self.model_wins, self.squares, eps)


def _held_against(people: Floats, model: Floats, topic: Ints, kind: Closeness, maximum: float) -> _Held:
    """Who is closer to the others, over the documents of (documents, people) and (documents,), nan not judged.

    topic : (documents,) numbered from 0, rising.

    Only documents with people who judged them are looked at, each with every ordered two of its people: time goes with
    the pairs of judgments, not with documents x people x people.
    """
    count = (~np.isnan(people)).sum(axis=1)
    rows = np.flatnonzero((count >= 2) & ~np.isnan(model))
    who = np.nonzero(~np.isnan(people[rows]))
    size = count[rows]
    starts = np.cumsum(size) - size
    value, document, person = people[rows][who], who[0], who[1]
    # Each judgment beside all judgments of its document; its own is taken out.
    repeat = size[document]
    first = np.repeat(np.arange(value.size), repeat)
    second = np.arange(first.size) - np.repeat(np.cumsum(repeat) - repeat, repeat) + starts[document[first]]
    apart = first != second
    first, second = first[apart], second[apart]
    own = _apart(value[first], value[second], kind)
    models = _apart(model[rows][document[first]], value[second], kind)
    n_others = size[document] - 1
    gap = (np.bincount(first, own, value.size) - np.bincount(first, models, value.size)) / n_others
    least = ROUNDING * maximum ** (2 if kind == "rmse" else 1 if kind == "difference" else 0)
    model_wins, person_wins = (gap >= -least).astype(float), (gap <= least).astype(float)
    shape = people.shape[1], int(topic.max(initial=-1)) + 1
    cell = person * shape[1] + topic[rows][document]
    return _Held(
        *(
            np.bincount(cell, of, shape[0] * shape[1]).astype(np.float64).reshape(shape)
            for of in (np.ones(person.size), model_wins, person_wins, (person_wins - model_wins) ** 2)
        )
    )


def _topics(pool: Pool) -> Ints:
    """(pairs,) the topic of every pooled document."""
    return np.repeat(np.arange(len(pool.topics)), np.diff(pool.starts))


def _apart(value: Floats, other: Floats, kind: Closeness) -> Floats:
    """How far apart two grades are; of squared differences the root can wait, since it keeps the order."""
    if kind == "accuracy":
        return np.asarray(value != other, np.float64)
    return np.asarray((value - other) ** 2 if kind == "rmse" else np.abs(value - other))


def _kind(closeness: Closeness | None, scale: Scale) -> Closeness:
    return closeness or ("accuracy" if scale.kind == "binary" else "rmse")


def _not_magnitude(judgments: Judgments) -> Scale:
    shared = judgments.shared_scale()
    if shared.kind == "magnitude":
        raise ScaleError(
            "magnitudes have no common unit, so nobody's numbers are close to anybody's; normalise and recode them "
            "to grades first"
        )
    return shared


def _shared_scale(judgments: Judgments, model: str) -> Scale:
    """The one scale of all; where none was declared, the model must use as much of it as the people do, and no more."""
    scales = judgments.own_scales()
    own = scales.pop(model)
    widest = max(scales.values(), key=lambda scale: scale.maximum, default=own)
    if not any(scale.declared for scale in (own, *scales.values())):
        if own.kind == "binary" and widest.kind != "binary":
            raise ScaleError(
                f"model {model} says 0 and 1 only, the people judge on {widest}; make the people's grades binary with "
                f"recode, or declare the scale (--scale '*={widest}') if the model could have said more"
            )
        if own.maximum > widest.maximum:
            raise ScaleError(
                f"model {model} goes up to {own.maximum:g}, the people only to {widest.maximum:g}; bring them together "
                "with recode or rescaled() (--unit), or declare the scale they share "
                f"(--scale '*=0-{own.maximum:g}')"
            )
    return _not_magnitude(judgments)


def _check(eps: float, q: float, closeness: Closeness | None, clusters: Clusters, fewest: int) -> None:
    if not 0 <= eps < 1:
        raise ArgumentError(f"eps={eps!r}: a share from 0 to below 1 was expected (.2 experts, .15 skilled, .1 crowd)")
    if not 0 < q < 1:
        raise ArgumentError(f"q={q!r}: a false discovery rate between 0 and 1 was expected")
    if closeness is not None and closeness not in get_args(Closeness):
        raise ArgumentError(f"closeness={closeness!r}: choose one of {', '.join(get_args(Closeness))}")
    if clusters not in get_args(Clusters):
        raise ArgumentError(f"clusters={clusters!r}: choose one of {', '.join(get_args(Clusters))}")
    if fewest < 2:
        raise ArgumentError(f"fewest={fewest!r}: a t-test needs at least 2 documents")


def _too_few(people: tuple[str, ...]) -> str:
    """What to do with one person or two."""
    number = f"{len(people)} {'person' if len(people) == 1 else 'people'} ({_listed(people)})"
    told = f"humans: {number}; the alternative annotator test needs at least {FEWEST_PEOPLE}, so add judgments of more"
    if not people:
        return told
    return (
        f"{told} people, or ask `qrowd compare --reference {people[0]}` whether systems rank alike by {people[0]} and "
        "by the model"
    )


def _too_little(found: _Held, people: tuple[str, ...], model: str, fewest: int, clusters: Clusters) -> str:
    """Which people lack documents or topics, and what to do."""
    documents = found.n_documents >= fewest
    if documents.sum() >= FEWEST_PEOPLE:
        most = ", ".join(f"{who} {n}" for who, n in list(zip(people, found.n_topics.tolist(), strict=True))[:8])
        return (
            f"{int(found.enough(fewest, clusters).sum())} of {len(people)} people have {FEWEST_TOPICS} topics that "
            f"{model!r} and another person judged too ({most}), the fewest that can be clusters; judge more topics, or "
            "take documents for independent with clusters='documents' (--clusters documents), which rejects too often "
            "where a model fails on whole topics"
        )
    most = ", ".join(f"{who} {n:,}" for who, n in list(zip(people, found.n_documents.tolist(), strict=True))[:8])
    return (
        f"{int(documents.sum())} of {len(people)} people have {fewest} documents that {model!r} and another person "
        f"judged too ({most}); {FEWEST_PEOPLE} people with {fewest} documents each are needed"
    )


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names[:4]) + (", ..." if len(names) > 4 else "") if names else "none"
