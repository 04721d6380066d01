"""The second half of the report: each assessor, and each topic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from math import isnan, nan
from typing import Annotated, Any

import numpy as np

from qrowd.agreement.alpha import krippendorff_alpha
from qrowd.agreement.assessor_profiles import AssessorProfiles, assessor_profiles
from qrowd.agreement.by_topic import ease_correlation
from qrowd.errors import ArgumentError, NoOverlapError, ScaleError
from qrowd.model.chance import Seed
from qrowd.model.conventions import Conventions
from qrowd.model.inferred_scales import alike
from qrowd.model.judgments import Judgments
from qrowd.model.one_scale import on_one_scale
from qrowd.model.preferences import Preferences
from qrowd.model.scores import Scores, known_mean
from qrowd.reports.comparison import MeasureComparison
from qrowd.reports.document import Section
from qrowd.reports.phrases import count, interval, listed, number, or_dash, percent, probability, signed, yes
from qrowd.reports.table import Column, table_of

SEVERITY = "above 0: gives lower grades than the others, in shares of the scale (magnitudes: in logarithms)"
TITLE = "Assessors, and how they differ"


@dataclass(frozen=True)
class AssessorRow:
    """One assessor; nan where nothing is known.

    coverage : mean share of a topic's pool, over the topics judged. severity, agreement, outlying : as in
    `AssessorProfiles`. tau_b : of the ranking of systems with the panel's without this assessor, or with the
    reference's. best : the system with the highest mean.
    """

    assessor: Annotated[str, Column("assessor")]
    outlying: Annotated[str, Column("stands out", yes, "why: below the table")]
    n_judgments: Annotated[int, Column("judgments", "{:,}".format, "repeats included")]
    n_topics: Annotated[int, Column("topics", meaning="with any judgment")]
    coverage: Annotated[float, Column("coverage", partial(percent, digits=0), "mean share of a topic's pool")]
    agreement: Annotated[
        float, Column("agreement", partial(number, digits=3), "with the others, beyond chance: 1 is perfect, 0 chance")
    ]
    severity: Annotated[float, Column("severity", partial(signed, digits=3), SEVERITY)]
    tau_b: Annotated[float, Column("tau-b", partial(number, digits=3))]
    best: Annotated[str, Column("best system", or_dash, "by this assessor alone")]


@dataclass(frozen=True)
class TopicRow:
    """alpha : of the topic's judgments; ease : mean score of all systems; n_documents : in the pool; n_assessors."""

    topic: Annotated[str, Column("topic")]
    text: Annotated[str | None, Column("text")]
    alpha: Annotated[float, Column("alpha", partial(number, digits=3), "Krippendorff's alpha of the topic's judgments")]
    ease: Annotated[float, Column("mean score", partial(number, digits=3), "of all systems")]
    n_documents: Annotated[int, Column("documents", meaning="in the pool")]
    n_assessors: Annotated[int, Column("assessors")]


def _comparable(judgments: Judgments) -> tuple[Judgments | None, str]:
    """The judgments so that distances can be compared, and how that was reached; None where it cannot be."""
    try:
        shared = on_one_scale(judgments, "auto", "rescaled")
    except ScaleError as error:
        return None, str(error)
    if alike(judgments.scales):
        return shared, f"values as given, scale {shared.shared_scale()}"
    return shared, "every value divided by its scale's maximum, as scales differ"


def assessors_section(
    judgments: Judgments,
    scores: Scores,
    part: MeasureComparison,
    reference_tau: Mapping[str, float],
    reference: str | None,
    *,
    conventions: Conventions,
    n_resamples: int,
    seed: Seed,
) -> Section:
    """How far the assessors agree, and which of them stand out.

    reference_tau : tau-b of each ranking with the reference's.
    """
    shared, compared = _comparable(judgments)
    profiles: AssessorProfiles | None = None
    sentence = ""
    values = dict[str, Any]()
    if shared is not None:
        try:
            profiles = assessor_profiles(shared, repeats=conventions.repeats)
            alpha = krippendorff_alpha(shared, n_resamples=n_resamples, rng=seed, repeats=conventions.repeats).item()
        except (NoOverlapError, ScaleError) as error:
            compared = str(error)
        else:
            values = {"alpha": alpha.value, "low": alpha.low, "high": alpha.high, "level": alpha.level}
            sentence = (
                f"Krippendorff's alpha is {alpha.value:.2f} {interval(alpha.low, alpha.high, 2)} "
                f"({alpha.level}; 95 % interval; 1 is agreement, 0 chance)."
            )
    if not values or isnan(values["alpha"]):
        sentence = f"The agreement of the assessors is not known: {compared}."
    tau = dict(zip(part.correlations.assessors, part.correlations.tau_b.tolist(), strict=True)) | dict(reference_tau)
    coverage = known_mean(np.where(scores.coverage > 0, scores.coverage, nan), axis=1)
    n_judgments = np.bincount(judgments.assessor[judgments.value >= 0], minlength=len(judgments.assessors))
    rows = []
    for a, name in enumerate(scores.assessors):
        severity, agreement, reasons = _profile(profiles, name)
        rows.append(
            AssessorRow(
                assessor=name,
                outlying="; ".join(reasons),
                n_judgments=int(n_judgments[judgments.assessors.index(name)]),
                n_topics=int((scores.coverage[a] > 0).sum()),
                coverage=float(coverage[a]),
                agreement=agreement,
                severity=severity,
                tau_b=tau.get(name, nan),
                best=listed(part.best[a], 3),
            )
        )
    outlying = [row for row in rows if row.outlying]
    if profiles is not None:
        names = [row.assessor for row in outlying]
        sentence += f" {listed(names)} {'stands' if len(names) == 1 else 'stand'} out." if names else ""
    others = reference or "the other assessors together"
    meaning = f"of the ranking of systems with that of {others}, over the topics where both have a score"
    table = table_of("Assessors", rows, meanings={"tau_b": meaning})
    notes = (f"Agreement and severity: {compared}", *(f"{row.assessor} stands out: {row.outlying}" for row in outlying))
    return Section("assessors", TITLE, sentence, {"assessors": table}, notes, values=values)


def _profile(profiles: AssessorProfiles | None, name: str) -> tuple[float, float, tuple[str, ...]]:
    """Severity, agreement, and why the assessor stands out; nan where that is not known."""
    if profiles is None or name not in profiles.assessors:
        return nan, nan, ()
    i = profiles.assessors.index(name)
    return float(profiles.severity[i]), float(profiles.agreement[i]), tuple(profiles.reasons[i])


def preferring_section(preferences: Preferences, confidence: float) -> Section:
    """How consistent assessors who prefer are, and how far they agree, as `qrowd prefer agree` says it."""
    from qrowd.reports.preference_tables import preference_document  # slow to import, and most reports do without

    document = preference_document(preferences, confidence=confidence)
    tables = {f"agreement-{n}": table for n, table in enumerate(document.tables, start=1)}
    return Section("assessors", TITLE, document.sentence, tables, document.notes)


def topics_section(judgments: Judgments, scores: Scores, texts: Mapping[str, str], conventions: Conventions) -> Section:
    """Ease and agreement of each topic, and whether systems score higher where assessors agree."""
    by_topic = known_mean(scores.values[0], axis=0)
    ease = dict(zip(scores.topics, known_mean(by_topic, axis=1).tolist(), strict=True))
    alpha: dict[str, float] = {}
    values: dict[str, Any] = {}
    shared, _ = _comparable(judgments)
    if shared is not None:
        try:
            alphas = krippendorff_alpha(shared, by="topic", repeats=conventions.repeats)
            alpha = dict(zip(alphas.labels, alphas.value.tolist(), strict=True))
            table = Scores.from_array(by_topic, topics=scores.topics)
            (((of_topics,),)) = ease_correlation(table, alpha, bins=()).correlations
            values = {"r": of_topics.r, "p": of_topics.p, "n": of_topics.n}
        except (NoOverlapError, ScaleError, ArgumentError):
            pass
    panel = judgments.panel(repeats=conventions.repeats)
    rows = [
        TopicRow(
            topic,
            texts.get(topic),
            alpha.get(topic, nan),
            ease.get(topic, nan),
            int(panel.pool.starts[t + 1] - panel.pool.starts[t]),
            int((~np.isnan(panel.values[panel.pool.rows(t)])).any(axis=0).sum()),
        )
        for t, topic in enumerate(panel.pool.topics)
    ]
    return Section("topics", "Topics", _on_topics(**values), {"topics": table_of("Topics", rows)}, values=values)


def _on_topics(r: float = nan, p: float = nan, n: int = 0) -> str:
    if isnan(r):
        return "Too few topics have a known agreement to compare it with scores."
    if isnan(p) or p >= 0.05:
        verdict = "There is no sign that topics on which assessors agree are easier or harder for systems"
    else:
        verdict = f"Topics on which assessors agree are {'easier' if r > 0 else 'harder'} for systems"
    return f"{verdict}: r = {signed(r, 2)}, p = {probability(p)}, {count(n, 'topic')}."
