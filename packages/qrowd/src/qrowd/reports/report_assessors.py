"""The report's second half: each assessor, each topic, and the documents on which assessors disagree most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from math import nan
from typing import Annotated, Any

import numpy as np

from qrowd.agreement.alpha import krippendorff_alpha
from qrowd.agreement.assessors import AssessorProfiles, assessor_profiles
from qrowd.agreement.by_topic import ease_correlation
from qrowd.agreement.split_documents import SplitDocument, split_documents
from qrowd.aware import assessor_weights
from qrowd.aware.estimators import DEFAULT
from qrowd.aware.similarity import Similarities
from qrowd.aware.weights import reasons_to_doubt
from qrowd.errors import ArgumentError, NoOverlapError, ScaleError
from qrowd.model.chance import Seed
from qrowd.model.conventions import Conventions
from qrowd.model.inferred_scales import alike
from qrowd.model.judgments import Judgments
from qrowd.model.one_scale import on_one_scale
from qrowd.model.runs import Runs
from qrowd.model.scores import Scores, known_mean
from qrowd.reports.aware import weight_notes
from qrowd.reports.comparison import MeasureComparison
from qrowd.reports.document import Note
from qrowd.reports.phrases import number, percent, signed
from qrowd.reports.table import Column

SEVERITY = "above 0: gives lower grades than the others, in shares of the scale (magnitudes: in logarithms)"


def _or_dash(name: str) -> str:
    return name or "-"


def _yes(reason: str) -> str:
    return "yes" if reason else ""


@dataclass(frozen=True)
class AssessorRow:
    """One assessor; nan where nothing is known.

    coverage : mean share of a topic's pool, over the topics judged. severity, agreement, and their standard errors,
    consistency, drift, seconds, outlying : as in `AssessorProfiles`. tau_b : of the ranking of systems with the
    panel's without this assessor, or with the reference's. best : the system with the highest mean. accuracy : AWARE's
    share of the weight, mean over the topics judged.
    """

    assessor: Annotated[str, Column("assessor")]
    scale: str
    n_judgments: Annotated[int, Column("judgments", "{:,}".format, "repeats included")]
    n_topics: Annotated[int, Column("topics", meaning="with any judgment")]
    coverage: Annotated[float, Column("coverage", partial(percent, digits=0), "mean share of a topic's pool")]
    severity: Annotated[float, Column("severity", partial(signed, digits=3), SEVERITY)]
    severity_standard_error: float
    agreement: Annotated[
        float, Column("agreement", partial(number, digits=3), "with the others, beyond chance: 1 is perfect, 0 chance")
    ]
    agreement_standard_error: float
    n_repeated: int
    consistency: Annotated[
        float, Column("same again", partial(number, digits=2), "share of repeated documents with the same value")
    ]
    drift: float
    seconds: Annotated[float, Column("seconds", partial(number, digits=1), "median of a judgment")]
    tau_b: Annotated[float, Column("tau-b", partial(number, digits=3))]
    best: Annotated[str, Column("best system", _or_dash, "by this assessor alone")]
    accuracy: Annotated[
        float,
        Column("AWARE", partial(percent, digits=1), "mean share of the weight that AWARE gives, on the topics judged"),
    ]
    outlying: Annotated[str, Column("stands out", _yes, "why: below the table")]


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
    weight_notes: tuple[Note, ...]


@dataclass(frozen=True)
class TopicRow:
    """alpha : of the topic's judgments; ease : mean score of all systems; n_documents : in the pool; n_assessors."""

    topic: Annotated[str, Column("topic")]
    alpha: Annotated[float, Column("alpha", partial(number, digits=3), "Krippendorff's alpha of the topic's judgments")]
    ease: Annotated[float, Column("mean score", partial(number, digits=3), "of all systems")]
    n_documents: Annotated[int, Column("documents", meaning="in the pool")]
    n_assessors: Annotated[int, Column("assessors")]
    text: Annotated[str | None, Column("text")] = None


@dataclass(frozen=True)
class Topics:
    """correlation, p : Pearson's, of ease with agreement over topics."""

    rows: tuple[TopicRow, ...]
    correlation: float
    p: float
    n: int
    splits: tuple[SplitDocument, ...]


def comparable(judgments: Judgments) -> tuple[Judgments | None, str]:
    """The judgments so that distances can be compared, and how that was reached; None where it cannot be."""
    try:
        shared = on_one_scale(judgments, "auto", "rescaled")
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
    reference_tau: Mapping[str, float],
    n_resamples: int,
    seed: Seed,
) -> Assessors:
    """similarities : of the assessors to random ones, in the scores' order, or None; `aware` says how or why not."""
    shared, scale_note = comparable(judgments)
    profiles: AssessorProfiles | None = None
    alpha, low, high, level = nan, nan, nan, ""
    if shared is not None:
        try:
            profiles = assessor_profiles(shared, repeats=conventions.repeats)
            overall = krippendorff_alpha(shared, n_resamples=n_resamples, rng=seed, repeats=conventions.repeats).item()
            alpha, low, high, level = overall.value, overall.low, overall.high, overall.level
        except (NoOverlapError, ScaleError) as error:
            scale_note = str(error)
    tau = dict(zip(part.correlations.assessors, part.correlations.tau_b.tolist(), strict=True))
    tau |= reference_tau
    weights = None if similarities is None else assessor_weights(similarities, DEFAULT)
    weight = np.full(len(scores.assessors), nan) if weights is None else weights.share[0]
    doubts = [] if weights is None else weight_notes(weights, reasons_to_doubt(judgments, profiles=profiles))
    coverage = known_mean(np.where(scores.coverage > 0, scores.coverage, nan), axis=1)
    n_judgments = np.bincount(judgments.assessor[judgments.value >= 0], minlength=len(judgments.assessors)).tolist()
    rows = []
    for a, name in enumerate(scores.assessors):
        place = judgments.assessors.index(name)
        rows.append(
            AssessorRow(
                assessor=name,
                scale=str(judgments.scales[place]),
                n_judgments=n_judgments[place],
                n_topics=int((scores.coverage[a] > 0).sum()),
                coverage=float(coverage[a]),
                tau_b=tau.get(name, nan),
                best=part.best[a],
                accuracy=float(weight[a]),
                **_profile(profiles, name),
            )
        )
    return Assessors(tuple(rows), alpha, low, high, level, scale_note, aware, tuple(doubts))


def _profile(profiles: AssessorProfiles | None, name: str) -> dict[str, Any]:
    """What the profiles say of an assessor; nan where they say nothing."""
    errors = ("severity_standard_error", "agreement_standard_error")
    fields = ("severity", "agreement", *errors, "consistency", "drift", "seconds")
    if profiles is None or name not in profiles.assessors:
        return {"n_repeated": 0, "outlying": "", **dict.fromkeys(fields, nan)}
    i = profiles.assessors.index(name)
    values = {field: float(getattr(profiles, field)[i]) for field in fields}
    return {"n_repeated": int(profiles.n_repeated[i]), "outlying": "; ".join(profiles.reasons[i]), **values}


def topics_of(runs: Runs, judgments: Judgments, scores: Scores, conventions: Conventions) -> Topics:
    """Ease and agreement of every topic, and where assessors disagree."""
    by_topic = known_mean(scores.values[0], axis=0)
    ease = dict(zip(scores.topics, known_mean(by_topic, axis=1).tolist(), strict=True))
    panel = judgments.panel(repeats=conventions.repeats)
    alpha: dict[str, float] = {}
    correlation, p, n = nan, nan, 0
    shared, _ = comparable(judgments)
    if shared is not None:
        try:
            alphas = krippendorff_alpha(shared, by="topic", repeats=conventions.repeats)
            alpha = dict(zip(alphas.labels, alphas.value.tolist(), strict=True))
            table = Scores.from_array(by_topic, topics=scores.topics)
            (((of_topics,),)) = ease_correlation(table, alpha, bins=()).correlations
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
    return Topics(rows, correlation, p, n, split_documents(runs, panel, conventions.score_dtype))
