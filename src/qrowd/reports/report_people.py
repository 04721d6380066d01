"""The report's second half: the assessors one by one, topics, and the documents on which judges split."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan

import numpy as np
from numpy.typing import NDArray

from qrowd.agreement.alpha import krippendorff_alpha
from qrowd.agreement.assessors import AssessorProfiles, assessor_profiles
from qrowd.agreement.by_topic import ease_correlation
from qrowd.aware import DEFAULT, Similarities, assessor_weights, reasons_to_doubt
from qrowd.errors import ArgumentError, NoOverlapError, QrowdError, ScaleError
from qrowd.model.alignment import align
from qrowd.model.chance import Seed
from qrowd.model.conventions import Conventions
from qrowd.model.inferred_scales import alike
from qrowd.model.judgments import Judgments
from qrowd.model.one_scale import on_one_scale
from qrowd.model.panel import Pool
from qrowd.model.runs import Runs
from qrowd.model.scores import Floats, Scores, known_mean
from qrowd.reports.aware import weight_notes
from qrowd.reports.comparison import MeasureComparison

SPLIT_DOCUMENTS = 8  # shown, a few of each topic at most
OF_ONE_TOPIC = 2
TOP = 10  # ranks that make a split matter


@dataclass(frozen=True)
class AssessorRow:
    """One assessor; nan where nothing is known.

    coverage : mean share of a topic's pool, over the topics judged. severity, agreement, and their standard errors,
    consistency, drift, seconds, outlying : as in `AssessorProfiles`. tau_b : of the ranking of systems with the
    panel's without this assessor, or with the reference's. best : the system with the highest mean. accuracy : AWARE's
    share of the weight, mean over the topics judged.
    """

    assessor: str
    scale: str
    n_judgments: int
    n_topics: int
    coverage: float
    severity: float
    severity_standard_error: float
    agreement: float
    agreement_standard_error: float
    n_repeated: int
    consistency: float
    drift: float
    seconds: float
    tau_b: float
    best: str
    accuracy: float
    outlying: str


@dataclass(frozen=True)
class Assessors:
    """rows : in the judgments' order; compared : how values were brought together, or why they could not be.

    aware : how AWARE's weights came about; weight_notes : on assessors with much weight who stand out.
    """

    rows: tuple[AssessorRow, ...]
    alpha: float
    alpha_low: float
    alpha_high: float
    level: str
    compared: str
    aware: str
    weight_notes: tuple[str, ...]


@dataclass(frozen=True)
class TopicRow:
    """alpha : of the topic's judgments; ease : mean score of all systems; n_documents : in the pool; n_assessors."""

    topic: str
    alpha: float
    ease: float
    n_documents: int
    n_assessors: int


@dataclass(frozen=True)
class Said:
    """What one assessor gave, in their own units; share : of the scale's maximum, nan for magnitudes."""

    assessor: str
    value: float
    share: float


@dataclass(frozen=True)
class SplitRow:
    """A document on which judges split.

    split : standard deviation of the values, in shares of the scale (of natural logarithms for magnitudes). retrieved :
    systems that have it among their first 10.
    """

    topic: str
    document: str
    split: float
    retrieved: int
    said: tuple[Said, ...]


@dataclass(frozen=True)
class Topics:
    """correlation, p : Pearson's, of ease with agreement over topics."""

    rows: tuple[TopicRow, ...]
    correlation: float
    p: float
    n: int
    splits: tuple[SplitRow, ...]


def comparable(judgments: Judgments) -> tuple[Judgments | None, str]:
    """The judgments so that distances can be compared, and how that was reached; None where it cannot be."""
    try:
        shared = on_one_scale(judgments, "auto", "unit")
    except ScaleError as error:
        return None, str(error)
    if alike(judgments.scales):
        return shared, f"values as given, scale {shared.shared_scale()}"
    return shared, "every value divided by its scale's maximum, as scales differ"


def assessors_of(
    judgments: Judgments,
    scores: Scores,
    part: MeasureComparison,
    similarities: Similarities | None,
    aware: str,
    *,
    conventions: Conventions,
    reference_tau: dict[str, float] | None,
    replicates: int,
    seed: Seed,
) -> Assessors:
    """similarities : of the assessors to random ones, in the scores' order, or None; `aware` says how or why not."""
    shared, compared = comparable(judgments)
    profiles: AssessorProfiles | None = None
    alpha, low, high, level = nan, nan, nan, ""
    if shared is not None:
        try:
            profiles = assessor_profiles(shared, repeats=conventions.repeats)
            found = krippendorff_alpha(shared, bootstrap=replicates, rng=seed, repeats=conventions.repeats)
            alpha, low, high, level = found.value, found.low, found.high, found.level
        except (NoOverlapError, ScaleError) as error:
            compared = str(error)
    tau = dict(zip(part.correlations.assessors, part.correlations.tau_b.tolist(), strict=True))
    tau |= reference_tau or {}
    weights = None if similarities is None else assessor_weights(similarities, DEFAULT)
    weight = np.full(len(scores.assessors), nan) if weights is None else weights.share[0]
    doubts = [] if weights is None else weight_notes(weights, reasons_to_doubt(judgments, profiles))
    covered = np.where(scores.coverage > 0, scores.coverage, nan)
    coverage = known_mean(covered, axis=1)
    of = {} if profiles is None else {name: i for i, name in enumerate(profiles.assessors)}
    count = np.bincount(judgments.assessor[judgments.value >= 0], minlength=len(judgments.assessors))
    said = dict(zip(judgments.assessors, count.tolist(), strict=True))
    scale = dict(zip(judgments.assessors, map(str, judgments.scales), strict=True))
    rows = []
    for a, name in enumerate(scores.assessors):
        i, top = of.get(name), part.tops[a]

        def figure(field: str, i: int | None = i) -> float:
            return nan if i is None or profiles is None else float(getattr(profiles, field)[i])

        rows.append(
            AssessorRow(
                assessor=name,
                scale=scale.get(name, ""),
                n_judgments=int(said.get(name, 0)),
                n_topics=int((scores.coverage[a] > 0).sum()),
                coverage=float(coverage[a]),
                **{
                    field: figure(field)
                    for field in ("severity", "severity_standard_error", "agreement", "agreement_standard_error")
                },
                n_repeated=0 if i is None or profiles is None else int(profiles.n_repeated[i]),
                **{field: figure(field) for field in ("consistency", "drift", "seconds")},
                tau_b=tau.get(name, nan),
                best=top.best if top else "",
                accuracy=float(weight[a]),
                outlying="" if i is None or profiles is None else profiles.reasons[i],
            )
        )
    return Assessors(tuple(rows), alpha, low, high, level, compared, aware, tuple(doubts))


def topics_of(runs: Runs, judgments: Judgments, scores: Scores, array: Floats, conventions: Conventions) -> Topics:
    """Ease and agreement of every topic, and where judges split."""
    by_topic = known_mean(array, axis=0)
    ease = dict(zip(scores.topics, known_mean(by_topic, axis=1).tolist(), strict=True))
    panel = judgments.panel(conventions.repeats)
    alpha: dict[str, float] = {}
    correlation, p, n = nan, nan, 0
    shared, _ = comparable(judgments)
    if shared is not None:
        try:
            found = krippendorff_alpha(shared, by="topic", bootstrap=0, repeats=conventions.repeats)
            alpha = dict(zip(found.labels, found.value.tolist(), strict=True))
            (((of_topics,),)) = ease_correlation(by_topic, alpha, bins=(), topics=scores.topics).correlations
            correlation, p, n = of_topics.r, of_topics.p, of_topics.n
        except (NoOverlapError, ScaleError, ArgumentError):
            pass
    known = ~np.isnan(panel.values)
    rows = tuple(
        TopicRow(
            topic,
            alpha.get(topic, nan),
            ease.get(topic, nan),
            int(panel.pool.starts[t + 1] - panel.pool.starts[t]),
            int(known[panel.pool.rows(t)].any(axis=0).sum()),
        )
        for t, topic in enumerate(panel.pool.topics)
    )
    return Topics(rows, correlation, p, n, _splits(runs, judgments, conventions))


def _splits(runs: Runs, judgments: Judgments, conventions: Conventions) -> tuple[SplitRow, ...]:
    """The retrieved documents that two or more judged most differently; of those alike, what more systems retrieve."""
    panel = judgments.panel(conventions.repeats)
    maximum = panel.maximum
    magnitudes = np.isinf(maximum)
    ends = np.where(magnitudes, nan, maximum)
    with np.errstate(divide="ignore", invalid="ignore"):
        if magnitudes.all():
            shares = np.log(panel.values)
            shares[np.isinf(shares)] = nan
        else:
            shares = np.where(magnitudes, nan, panel.values / maximum)
    known = ~np.isnan(shares)
    n = known.sum(axis=1)
    mean = known_mean(shares, axis=1)[:, None]
    split = np.sqrt(known_mean(np.where(known, (shares - mean) ** 2, nan), axis=1))
    try:
        retrieved = _retrieved(runs, panel.pool, conventions)
    except QrowdError:  # no topic in common: nothing was retrieved
        retrieved = np.zeros(n.size, np.int64)
    split = np.where(n > 1, np.round(split, 9), 0.0)
    if retrieved.any():
        split[retrieved == 0] = 0.0
    order = np.lexsort((-retrieved, -split))
    topic = np.repeat(np.arange(len(panel.pool.topics)), np.diff(panel.pool.starts))
    taken: dict[int, int] = {}
    rows: list[SplitRow] = []
    for pair in order.tolist():
        t = int(topic[pair])
        if split[pair] == 0 or len(rows) == SPLIT_DOCUMENTS:
            break
        if taken.get(t, 0) == OF_ONE_TOPIC:
            continue
        taken[t] = taken.get(t, 0) + 1
        said = [
            Said(panel.assessors[a], float(panel.values[pair, a]), float(panel.values[pair, a] / ends[a]))
            for a in np.flatnonzero(known[pair])
        ]
        said.sort(key=lambda one: (-(one.value if isnan(one.share) or magnitudes.all() else one.share), one.assessor))
        document = panel.pool.documents[panel.pool.document[pair]]
        rows.append(
            SplitRow(panel.pool.topics[t], document, float(split[pair]), int(retrieved[pair]), tuple(said))
        )  # fmt: skip
    return tuple(rows)


def _retrieved(runs: Runs, pool: Pool, conventions: Conventions) -> NDArray[np.int64]:
    """(pairs,) how many systems have the pooled document among their first 10."""
    counts = np.zeros(pool.document.size, np.int64)
    for t, ranked in enumerate(align(runs, pool, conventions.score_dtype).topics):
        first = ranked.rows[:, :TOP]
        here = counts[pool.rows(t)]
        here += np.bincount(first[first >= 0], minlength=here.size)
    return counts
