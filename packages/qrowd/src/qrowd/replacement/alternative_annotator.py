"""The alternative annotator test: may a model replace the assessors?

Each assessor is left out in turn, and it is tested whether the model or the assessor is closer to the others'
judgments. The model may replace the assessor if it is at least as close often enough, with a margin `eps` for the
assessor's higher cost. Documents of one topic are correlated, so topics are the independent units here; in the paper
documents are.

The t-test is one-sided. Over topics, the standard error is that of leaving out one topic at a time, a
transformation takes out the skewness that few topics leave, and the degrees of freedom are those of as many topics of
equal size: Hall (1992), On the Removal of Skewness by Transformation. J. R. Statist. Soc. B 54(1); Carter, Schnepel &
Steigerwald (2017), Asymptotic Behavior of a t-Test Robust to Cluster Heterogeneity. Rev. Econ. Stat. 99(4).

Calderon, Reichart & Dror (2025), The Alternative Annotator Test for LLM-as-a-Judge. ACL, section 3. Benjamini &
Yekutieli (2001), The Control of the False Discovery Rate in Multiple Testing under Dependency. Ann. Stat. 29(4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.p_values import benjamini_yekutieli
from qrowd.errors import ArgumentError, NoOverlapError, ScaleError, check_choice
from qrowd.kernels.arrays import Floats, Ints
from qrowd.kernels.max_t import without_skewness
from qrowd.model.inferred_scales import alike
from qrowd.model.judgments import Judgments, Repeats
from qrowd.model.labels import Selection, plural
from qrowd.model.one_scale import Combined, CombineScales, on_one_scale
from qrowd.model.result import Result
from qrowd.model.scales import Scale
from qrowd.replacement.assessor_bias import selected_assessors


def documents_t(n: Floats, total: Floats, squares: Floats, limit: float) -> tuple[Floats, Floats]:
    """t and p of "the mean is `limit` or more", documents independent of each other.

    n, total, squares : (..., topics) documents, sum of their values, sum of the values' squares.

    Where the values do not vary there is no t; p is its limit, 0 where the mean is below `limit`.
    """
    from scipy.special import stdtr

    n, total, squares = (x.sum(axis=-1) for x in (n, total, squares))
    mean = total / n
    spread = squares - n * mean**2
    variance = np.where(np.abs(spread) < ROUNDING * n, 0.0, np.maximum(spread, 0.0) / np.maximum(n - 1, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(mean == limit, 0.0, (mean - limit) / np.sqrt(variance / n))
    return t, np.where(variance > 0, stdtr(np.maximum(n - 1, 1), t), np.where(mean < limit, 0.0, 1.0))


def topics_t(n: Floats, total: Floats, squares: Floats, limit: float) -> tuple[Floats, Floats]:
    """t and p of "the mean over documents is `limit` or more", topics drawn at random and their documents alike.

    Arguments as of `documents_t`; a topic without documents is none. Needs two topics.

    Leaving out each of G topics in turn gives pseudo-values G mean - (G - 1) mean without the topic, of standard
    deviation s and skewness g (population moments). With t = (mean - limit) / s, Hall's transformation is
    t + g t^2 / 3 + g^2 t^3 / 27 + g / (6 G); sqrt(G - 1) times it is held against Student's t with
    (sum n)^2 / sum n^2 - 1 degrees of freedom: G - 1 where all topics have as many documents. Where topics do not vary,
    documents are taken to be independent.
    """
    from scipy.special import stdtr

    there = n > 0
    n_topics = there.sum(axis=-1)
    documents, mean = n.sum(axis=-1), total.sum(axis=-1) / n.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        without = (total.sum(axis=-1, keepdims=True) - total) / (documents[..., None] - n)
        pseudo = n_topics[..., None] * mean[..., None] - (n_topics[..., None] - 1) * without
        centre = np.where(there, pseudo, 0.0).sum(axis=-1) / n_topics
        apart = np.where(there, pseudo - centre[..., None], 0.0)
        variance = (apart**2).sum(axis=-1) / n_topics
        skewness = (apart**3).sum(axis=-1) / n_topics / variance**1.5
        t = (mean - limit) / np.sqrt(variance)
        root = np.sqrt(n_topics)
        t = np.sqrt(n_topics - 1) / root * without_skewness(root * t, skewness / root)
        freedom = documents**2 / (n**2).sum(axis=-1) - 1
        p = stdtr(freedom, t)
    alike = variance < ROUNDING
    by_document = documents_t(n, total, squares, limit)
    return np.where(alike, by_document[0], t), np.where(alike, by_document[1], p)


Closeness = Literal["accuracy", "rmse"]
Independent = Literal["topics", "documents"]
"""What counts as independent of each other."""

ROUNDING = 1e-12  # of the scale's maximum: larger differences of distances count
PASSES = 0.5  # winning rate from which on the model passes
MIN_ASSESSORS = 3
MIN_DOCUMENTS = 30  # per assessor, as the paper asks
MIN_TOPICS = 5  # per assessor where topics are independent


class TooFewError(ArgumentError):
    """Too few assessors, documents or topics for the test."""


@dataclass(frozen=True, eq=False)
class AnnotatorTest(Result):
    """A model compared with each assessor by the judgments of the others; arrays are (assessors,).

    assessors : those tested. n_documents : of theirs that the model and at least one other judged. n_topics : of these
        documents.
    model_share : rho_l, share of them on which the model agrees with the others at least as well as the assessor.
    assessor_share : rho_h, the converse; ties count for both.
    difference : assessor_share - model_share, the mean of W_h - W_l; t, p : of the one-sided test that it is eps or
        more, of what is `independent`.
    p_adjusted : p by Benjamini and Yekutieli over the assessors tested. replaceable : p_adjusted <= q.
    winning_rate : share of the assessors tested who are replaceable. passes : it is .5 or more.
    advantage_probability : mean of model_share, the probability that the model is at least as good as a random
        assessor.
    untested : assessors with fewer than `min_documents` such documents, or on too few topics.
    n_repeats : judgments that repeat one by the same assessor; `repeats` says which of them count.
    """

    summary = "A model compared with each assessor by the judgments of the others"

    model: str
    assessors: tuple[str, ...]
    n_documents: Ints
    n_topics: Ints
    model_share: Floats
    assessor_share: Floats
    difference: Floats
    t: Floats
    p: Floats
    p_adjusted: Floats
    replaceable: NDArray[np.bool_]
    winning_rate: float
    advantage_probability: float
    closeness: Closeness
    independent: Independent
    eps: float
    q: float
    min_documents: int
    untested: tuple[str, ...]
    repeats: Repeats
    n_repeats: int

    @property
    def passes(self) -> bool:
        """Whether the model may replace half of the assessors or more."""
        return self.winning_rate >= PASSES

    _COLUMNS = (
        "model",
        "assessors",
        "n_documents",
        "n_topics",
        "model_share",
        "assessor_share",
        "difference",
        "t",
        "p",
        "p_adjusted",
        "replaceable",
    )


def alternative_annotator_test(
    judgments: Judgments,
    model: str,
    *,
    assessors: Selection | None = None,
    eps: float = 0.2,
    q: float = 0.05,
    closeness: Closeness | None = None,
    independent: Independent = "topics",
    min_documents: int = MIN_DOCUMENTS,
    repeats: Repeats = "first",
    combine_scales: CombineScales = "auto",
) -> AnnotatorTest:
    """Test whether a model agrees with assessors as well as each of them agrees with the others.

    For assessor j and a document that j, the model and at least one other assessor judged, S(x) is how close x is to
    the others, W_l = [S(model) >= S(j)] and W_h = [S(j) >= S(model)]. The hypothesis mean(W_h - W_l) >= eps is tested
    by a t-test for each j; q is the false discovery rate over all of them.

    Parameters
    ----------
    model : name of an assessor of `judgments`. assessors : the human assessors, by name, shell pattern or list of
        those; default: all others.
    eps : margin for the higher cost of an assessor, as a share of documents: .2 for experts, .15 for skilled people, .1
        for a crowd.
    closeness : "accuracy", the share of the others who gave the same grade; "rmse", minus the root of the mean squared
        difference to the others. Accuracy by default for binary judgments, of which both say the same, and rmse for
        grades and fractions.
    independent : "topics": documents of one topic may be correlated, topics (or their clusters) are not (`topics_t`);
        "documents": all documents are independent, as in the paper. Where a model fails on whole topics, the latter
        rejects far too often, the more so the more documents a topic has.
    min_documents : number of documents that an assessor needs to be tested, on at least five topics where these are
        independent. The paper asks for 30 documents and three assessors.
    combine_scales : what becomes of unlike scales; "auto" counts relevant or not where closeness is "accuracy" or, by
        default, where somebody's judgments are binary, and else divides values by the maximum of their scale.

    Raises
    ------
    NoOverlapError
        The model judged no document that two assessors judged.
    ArgumentError
        Fewer than three assessors with that many documents and topics; an option outside its range.
    ScaleError
        Magnitudes; "as-is" of scales that cannot be one, or of a binary model beside assessors who give grades.
    """
    _check(eps, q, closeness, independent, min_documents)
    names = selected_assessors(judgments.assessors, model, assessors, "judgments")
    together = judgments.select(assessors={*names, model}.__contains__)
    if len(names) < MIN_ASSESSORS:
        raise TooFewError(_too_few(names))
    if combine_scales == "as-is":
        _check_as_is(together, model)
    elif combine_scales == "auto":
        together = with_scale_of_model(together, model)
    together = on_one_scale(together, combine_scales, unlike_in_test(together.scales, closeness))
    shared = _not_magnitude(together)
    panel = together.by_cluster().panel(repeats=repeats)
    numbers = [panel.assessors.index(who) for who in names]
    table = panel.values[:, numbers]
    topic = panel.pool.topic
    models = panel.values[:, panel.assessors.index(model)]
    counts = _counts(table, models, topic, _kind(closeness, shared), shared.maximum)
    if not counts.n.any():
        raise NoOverlapError(
            f"{model!r} judged no document that two of the assessors judged, so its distance to the others is unknown; "
            " check that topics and documents have the same names"
        )
    tested = counts.enough(min_documents, independent)
    untested = tuple(who for who, enough in zip(names, tested, strict=True) if not enough)
    if tested.sum() < MIN_ASSESSORS:
        raise TooFewError(_too_little(counts, names, model, min_documents, independent))
    result = counts.only(tested)
    t, p = result.t_test(eps, independent)
    p_adjusted = benjamini_yekutieli(p)
    replaceable = p_adjusted <= q
    return AnnotatorTest(
        model,
        tuple(who for who, enough in zip(names, tested, strict=True) if enough),
        result.n_documents,
        result.n_topics,
        result.model_share,
        result.assessor_share,
        result.assessor_share - result.model_share,
        t,
        p,
        p_adjusted,
        replaceable,
        float(replaceable.mean()),
        float(result.model_share.mean()),
        _kind(closeness, shared),
        independent,
        eps,
        q,
        min_documents,
        untested,
        repeats,
        together.n_repeats(),
    )


def unlike_in_test(scales: Sequence[Scale], closeness: Closeness | None) -> Combined:
    """What "auto" compares on unlike scales."""
    by_category = closeness is None and any(scale.kind == "binary" for scale in scales)
    return "relevant" if closeness == "accuracy" or by_category else "rescaled"


def with_scale_of_model(judgments: Judgments, model: str) -> Judgments:
    """The judgments with a scale of its own for a model whose values cannot be on the assessors' scale.

    That is a model of the same table that gives 0 and 1 only beside grades, or more than any assessor; a declared scale
    stays.
    """
    scales = judgments.own_scales()
    own = scales.pop(model)
    if not scales or any(scale.declared for scale in (own, *scales.values())) or not alike(judgments.scales):
        return judgments
    widest = max(scales.values(), key=lambda scale: scale.maximum)
    if own.kind == "magnitude" or not (_binary_beside_grades(own, widest) or own.maximum > widest.maximum):
        return judgments
    return replace(judgments, scales=tuple(own if name == model else widest for name in judgments.assessors))


# ---------------------------------------------------------------------- how it is computed


@dataclass(frozen=True, eq=False)
class _Counts:
    """(assessors, topics) number of documents, sums of W_l, W_h and of (W_h - W_l)^2."""

    n: Floats
    model_wins: Floats
    assessor_wins: Floats
    squares: Floats

    def only(self, which: NDArray[np.bool_]) -> _Counts:
        return _Counts(self.n[which], self.model_wins[which], self.assessor_wins[which], self.squares[which])

    def enough(self, min_documents: int, independent: Independent) -> NDArray[np.bool_]:
        """(assessors,) whether there are enough documents, and enough topics where these are independent."""
        topics = self.n_topics >= (MIN_TOPICS if independent == "topics" else 1)
        return np.asarray((self.n_documents >= min_documents) & topics)

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
    def assessor_share(self) -> Floats:
        return np.asarray(self.assessor_wins.sum(axis=1) / self.n_documents)

    def t_test(self, eps: float, independent: Independent) -> tuple[Floats, Floats]:
        """t and the one-sided p of mean(W_h - W_l) >= eps."""
        test = topics_t if independent == "topics" else documents_t
        return test(self.n, self.assessor_wins - self.model_wins, self.squares, eps)


def _counts(judgments: Floats, model: Floats, topic: Ints, kind: Closeness, maximum: float) -> _Counts:
    """Counts from (documents, assessors) and (documents,) judgments; nan is not judged.

    topic : (documents,) numbered from 0, ascending.

    Each judged document is compared for each ordered pair of its assessors: time grows with the pairs of judgments, not
    with documents x assessors x assessors.
    """
    count = (~np.isnan(judgments)).sum(axis=1)
    rows = np.flatnonzero((count >= 2) & ~np.isnan(model))
    who = np.nonzero(~np.isnan(judgments[rows]))
    size = count[rows]
    starts = np.cumsum(size) - size
    value, document, assessor = judgments[rows][who], who[0], who[1]
    # Each judgment with all other judgments of its document.
    repeat = size[document]
    first = np.repeat(np.arange(value.size), repeat)
    second = np.arange(first.size) - np.repeat(np.cumsum(repeat) - repeat, repeat) + starts[document[first]]
    apart = first != second
    first, second = first[apart], second[apart]
    own = _apart(value[first], value[second], kind)
    models = _apart(model[rows][document[first]], value[second], kind)
    n_others = size[document] - 1
    gap = (np.bincount(first, own, value.size) - np.bincount(first, models, value.size)) / n_others
    least = ROUNDING * (maximum**2 if kind == "rmse" else 1.0)
    model_wins, assessor_wins = (gap >= -least).astype(float), (gap <= least).astype(float)
    shape = judgments.shape[1], int(topic.max(initial=-1)) + 1
    cell = assessor * shape[1] + topic[rows][document]
    return _Counts(
        *(
            np.bincount(cell, of, shape[0] * shape[1]).astype(np.float64).reshape(shape)
            for of in (np.ones(assessor.size), model_wins, assessor_wins, (assessor_wins - model_wins) ** 2)
        )
    )


def _apart(value: Floats, other: Floats, kind: Closeness) -> Floats:
    """Distance of two grades; for rmse its square, which has the same order."""
    if kind == "accuracy":
        return np.asarray(value != other, np.float64)
    return np.asarray((value - other) ** 2)


def _kind(closeness: Closeness | None, scale: Scale) -> Closeness:
    return closeness or ("accuracy" if scale.kind == "binary" else "rmse")


def _not_magnitude(judgments: Judgments) -> Scale:
    shared = judgments.shared_scale()
    if shared.kind == "magnitude":
        raise ScaleError(
            "magnitudes have no common scale, so their differences mean nothing; normalise and recode them to grades "
            "first"
        )
    return shared


def _binary_beside_grades(own: Scale, widest: Scale) -> bool:
    return own.kind == "binary" and widest.kind != "binary"


def _check_as_is(judgments: Judgments, model: str) -> None:
    """Refuse values as they are where none was declared and the model uses another scale than the assessors."""
    scales = judgments.own_scales()
    own = scales.pop(model)
    widest = max(scales.values(), key=lambda scale: scale.maximum, default=own)
    if any(scale.declared for scale in (own, *scales.values())):
        return
    if _binary_beside_grades(own, widest):
        raise ScaleError(
            f"model {model} gives 0 and 1 only, the assessors judge on {widest}; take auto as combine_scales, or "
            f"declare the scale (--scale '*={widest}') if the model could have given more"
        )
    if own.maximum > widest.maximum:
        raise ScaleError(
            f"model {model} goes up to {own.maximum:g}, the assessors only to {widest.maximum:g}; take auto "
            f"as combine_scales, or declare the scale they share (--scale '*=0-{own.maximum:g}')"
        )


def _check(eps: float, q: float, closeness: Closeness | None, independent: Independent, min_documents: int) -> None:
    if not 0 <= eps < 1:
        raise ArgumentError("a share from 0 to below 1 was expected (.2 experts, .15 skilled, .1 crowd)", "eps", eps)
    if not 0 < q < 1:
        raise ArgumentError("a false discovery rate between 0 and 1 was expected", "q", q)
    if closeness is not None:
        check_choice("closeness", closeness, Closeness)
    check_choice("independent", independent, Independent)
    if min_documents < 2:
        raise ArgumentError("a t-test needs at least 2 documents", "min_documents", min_documents)


def _too_few(assessors: tuple[str, ...]) -> str:
    number = plural(len(assessors), "assessor")
    return f"assessors: {number}; the alternative annotator test needs at least {MIN_ASSESSORS}; add judgments of more"


def _too_little(
    counts: _Counts, assessors: tuple[str, ...], model: str, min_documents: int, independent: Independent
) -> str:
    """Which assessors lack documents or topics, and what to do."""
    documents = counts.n_documents >= min_documents
    if documents.sum() >= MIN_ASSESSORS:
        most = ", ".join(f"{name} {n}" for name, n in list(zip(assessors, counts.n_topics.tolist(), strict=True))[:8])
        return (
            f"{int(counts.enough(min_documents, independent).sum())} of {len(assessors)} assessors have {MIN_TOPICS} "
            f"topics that {model!r} and another assessor judged too ({most}), the fewest for a test over topics; judge "
            "more topics, or treat documents as independent (--independent documents), which "
            "rejects too often where a model fails on whole topics"
        )
    most = ", ".join(f"{name} {n:,}" for name, n in list(zip(assessors, counts.n_documents.tolist(), strict=True))[:8])
    return (
        f"{int(documents.sum())} of {len(assessors)} assessors have {min_documents} documents that {model!r} and "
        f"another assessor judged too ({most}); {MIN_ASSESSORS} with {min_documents} documents each are needed"
    )
