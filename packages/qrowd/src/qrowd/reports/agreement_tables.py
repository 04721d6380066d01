"""Agreement of assessors: coefficients overall and by topic, kappa of each pair, and one row per assessor."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from qrowd.agreement.alpha import Alpha, Alphas, Resample, krippendorff_alpha
from qrowd.agreement.assessor_profiles import AssessorProfiles, assessor_profiles
from qrowd.agreement.document_counts import unlike_at
from qrowd.agreement.pairwise import PairwiseAgreement, pairwise_agreement
from qrowd.errors import NoOverlapError
from qrowd.kernels.disagreement import Level
from qrowd.model.chance import Rng
from qrowd.model.conventions import Repeats
from qrowd.model.judgments import Judgments
from qrowd.model.one_scale import Combined, CombineScales
from qrowd.model.signature import with_signature
from qrowd.reports.document import Document, Note, Table, repeats_note
from qrowd.reports.phrases import MODEL_NAME, cells, count, interval, listed, number, percent, probability, signed
from qrowd.reports.scale_notes import scale_note, scale_rules

MATRIX_WIDTH = 80  # letters of the columns of a matrix
ASSESSORS_SHOWN = 12  # as a matrix; of a larger panel the pairs with the lowest and highest kappa
PAIRS_SHOWN = 8
DOCUMENTS_SHARED = 10  # by a pair of a large panel; on fewer, kappa is mostly chance


@with_signature("alpha", "kappa")
def agree(
    judgments: Judgments,
    *,
    per_topic: bool = False,
    level: Level | None = None,
    repeats: Repeats = "first",
    combine_scales: CombineScales = "auto",
    resample: Resample = "topics",
    n_resamples: int = 1000,
    confidence: float = 0.95,
    rng: Rng = 1,
) -> Document:
    """Measure how well assessors agree: Krippendorff's alpha, and Cohen's kappa of each pair.

    per_topic : whether each topic is shown, too.
    resample : what is resampled: topics, documents, or deviations (Hayes and Krippendorff).
    """
    shared: dict[str, Any] = {"repeats": repeats, "combine_scales": combine_scales}
    options: dict[str, Any] = {"level": level, "resample": resample, **shared}
    options |= {"n_resamples": n_resamples, "confidence": confidence, "rng": rng}
    overall = krippendorff_alpha(judgments, **options)
    by_topic = krippendorff_alpha(judgments, by="topic", **options) if per_topic else None
    pairs = kappas(judgments, "magnitude", **shared)
    alpha = overall.item()
    unlike: dict[str, Combined] = {"alpha": unlike_at(alpha.level if level else None), "kappa": "relevant"}
    scale = scale_note(judgments, scale_rules(judgments.scales, combine_scales, unlike))
    tables = [] if by_topic is None else [_alpha_table(by_topic)]
    if judgments.criterion is not None and len(set(judgments.criterion)) > 1:
        by_criterion = krippendorff_alpha(judgments, by=judgments.criterion, **options)
        tables.append(_alpha_table(replace(by_criterion, by="criterion")))
    tables += [] if pairs is None else [_pair_table(pairs)]
    notes = (scale, *_notes(alpha, pairs is not None))
    if judgments.clusters and alpha.resample == "topics":
        sampled = f"{alpha.n_topics} clusters of {count(len(judgments.topics), 'topic')} are resampled, not the topics"
        notes = (*notes, Note("clusters", sampled))
    without = ("kappa",) if pairs is None else ()
    frame = (by_topic or overall).to_frame
    document = Document(_sentence(alpha), tuple(tables), notes, frame, not_computed=without)
    return document.shown(units=judgments.criterion is not None)


def kappas(judgments: Judgments, *without: str, **options: Any) -> PairwiseAgreement | None:
    """Kappa of each pair of assessors; None where no pair shares a document, and on scales of the kinds `without`."""
    if any(scale.kind in without for scale in judgments.scales):
        return None
    try:
        return pairwise_agreement(judgments, **options)
    except NoOverlapError:
        return None


def _alpha_table(by: Alphas) -> Table:
    columns: dict[str, Any] = {by.by: by.labels, "alpha": by.value}
    names = {"low": "low", "high": "high", "p": "p", "n_documents": "documents", "n_judgments": "judgments"}
    columns |= {heading: [getattr(alpha, name) for alpha in by.alphas] for name, heading in names.items()}
    return Table.of(f"alpha by {by.by}", columns, 3)


def _sentence(alpha: Alpha) -> str:
    """Alpha with its interval, and the judgments it is computed from."""
    judgments = f"{count(alpha.n_judgments, 'judgment')} of {count(alpha.n_documents, 'document')}"
    if np.isnan(alpha.value):
        return f"All values are the same ({judgments}), so agreement beyond chance is not defined."
    inference = ""
    if alpha.n_resamples:
        p = probability(alpha.p)
        bounds = interval(alpha.low, alpha.high)
        inference = f", {percent(alpha.confidence)} interval {bounds}, p {p if p.startswith('<') else '= ' + p}"
    return f"Krippendorff's alpha is {alpha.value:.3f} ({alpha.level}{inference}), from {judgments}."


def _notes(alpha: Alpha, with_kappa: bool) -> Iterator[Note]:
    kappa = "; kappa counts whether values are equal" if with_kappa else ""
    yield Note("level", f"{alpha.level}; alpha weighs differences of values by this level of measurement{kappa}")
    if alpha.n_left_out:
        yield Note("left out", f"{count(alpha.n_left_out, 'document')} with fewer than two judgments")
    yield from repeats_note(alpha.n_repeats, f"; counted: {alpha.repeats}")
    if alpha.n_resamples:
        alone = ", of the only topic" if alpha.n_topics == 1 and alpha.resample == "documents" else ""
        n = count(alpha.n_resamples, "resample")
        yield Note("bootstrap", f"{n} of {alpha.resample}{alone}; seed: {alpha.seed!r}")


def _pair_table(pairs: PairwiseAgreement) -> Table:
    """A matrix of kappas; of a large panel, or of long names, the pairs at both ends."""
    names = pairs.assessors
    if len(names) <= ASSESSORS_SHOWN and sum(max(len(name), 6) + 2 for name in names) <= MATRIX_WIDTH:
        columns = {
            name: ["" if i == j else number(kappa, 3) for i, kappa in enumerate(pairs.kappa[:, j])]
            for j, name in enumerate(names)
        }
        return Table.of("Cohen's kappa of each pair of assessors", {"assessor": names, **columns})
    frame = pairs.to_frame()
    frame = frame[frame["kappa"].notna() & (frame["n_documents"] >= DOCUMENTS_SHARED)].sort_values(
        "kappa", kind="stable"
    )
    n = len(frame)
    ends = frame if n <= 2 * PAIRS_SHOWN else frame.iloc[[*range(PAIRS_SHOWN), *range(n - PAIRS_SHOWN, n)]]
    title = (
        f"Cohen's kappa: the {len(ends)} pairs with the lowest and highest kappa, of {n:,} pairs that share "
        f"{DOCUMENTS_SHARED} documents or more"
    )
    headings = {"first": "assessor", "second": "other assessor", "n_documents": "documents"}
    shown = ends[["first", "second", "kappa", "agreement", "n_documents"]].rename(columns=headings)
    return Table.of(title, shown.to_dict("list"), 3)


# ---------------------------------------------------------------------- one row per assessor


@with_signature("assessor-profiles")
def assessors(
    judgments: Judgments,
    *,
    gold: str | None = None,
    level: Level | None = None,
    repeats: Repeats = "first",
    combine_scales: CombineScales = "auto",
) -> Document:
    """Describe each assessor: grades, severity, agreement with others, drift and speed."""
    profiles = assessor_profiles(judgments, gold=gold, level=level, repeats=repeats, combine_scales=combine_scales)
    unlike: dict[str, Combined] = {"severity and agreement": unlike_at(profiles.level if level else None)}
    scale = scale_note(judgments, scale_rules(judgments.scales, combine_scales, unlike))
    return assessors_document(profiles, scale)


def _gold(profiles: AssessorProfiles) -> Iterator[Note]:
    """What the two columns of gold are, and for whom they are too uncertain to say that somebody stands out."""
    if profiles.gold is None:
        return
    few = [a for a, n in zip(profiles.assessors, profiles.n_gold, strict=True) if n < profiles.min_documents]
    text = "share of grades equal to gold's; with gold: agreement with gold beyond chance"
    if few:
        text += f"; not tested, because fewer than {profiles.min_documents} documents have gold: {listed(few, 8)}"
    yield Note("gold", text)


def assessors_document(profiles: AssessorProfiles, *notes: Note) -> Document:
    """One row per assessor; those who stand out are named with the reason. notes : that come first."""
    grades = zip(profiles.grades, profiles.share.T, strict=True)
    columns = {
        "assessor": profiles.assessors,
        "judgments": profiles.n_judgments,
        "topics": profiles.n_topics,
        **{f"{grade:g}": cells(percent, share, digits=0) for grade, share in grades},
        "severity": cells(signed, profiles.severity, digits=3),
        "agreement": profiles.agreement,
    }
    again = []
    if not np.isnan(profiles.consistency).all():
        columns["same again"] = cells(number, profiles.consistency, digits=2)
        again = [Note("same again", "share of the documents judged more than once that got the same value every time")]
    drift = "not shown, since no order of judging is recorded (a column order or time of a table)"
    if profiles.order_from:
        columns["drift"] = cells(signed, profiles.drift, digits=3)
        drift = f"change of leniency from the first judgment to the last, by {profiles.order_from}"
    if not np.isnan(profiles.seconds).all():
        columns["seconds"] = cells(number, profiles.seconds, digits=1)
    if profiles.gold is not None:
        columns["gold"] = cells(number, profiles.gold_share, digits=2)
        columns["with gold"] = profiles.gold_agreement
    outlying = {name: "; ".join(why) for name, why in zip(profiles.assessors, profiles.reasons, strict=True) if why}
    n = len(profiles.assessors)
    of_all = f"of {count(n, 'assessor')}"
    sentence = f"None {of_all} stands out." if n > 1 else f"{profiles.assessors[0]} is the only assessor."
    most_shared = int(profiles.n_shared.max(initial=0))
    if n > 1 and most_shared < profiles.min_documents:
        few = f"{most_shared} of {profiles.min_documents} shared documents needed"
        sentence = f"Whether any {of_all} stands out is not tested: {few}."
    if outlying:
        verb = "stands" if len(outlying) == 1 else "stand"
        sentence = f"{len(outlying)} {of_all} {verb} out: {listed(list(outlying), 8)}."
    if profiles.gold is not None and (most := int(profiles.n_gold.max(initial=0))) < profiles.min_documents:
        sentence = f"{sentence[:-1]}; gold not tested: {most} of {profiles.min_documents} documents needed."
    compared = f"compared with the others on documents that both judged ({profiles.level}); above 0: lower grades"
    reasons = [Note(name, reasons) for name, reasons in outlying.items()]
    if outlying:
        names = " ".join(map(shlex.quote, outlying))
        text = f"--exclude {names} leaves out who stands out, in each command that has it"
        if 2 * len(list(filter(MODEL_NAME.search, profiles.assessors))) > n:
            text += "; caution: most assessors are models by name, who may err alike: leave out no person for that"
        reasons.append(Note("exclude", text))
    all_notes = (
        *notes,
        *reasons,
        Note("agreement, severity", compared),
        *again,
        *_gold(profiles),
        Note("drift", drift),
    )
    return Document(sentence, (Table.of("assessors", columns, 3),), all_notes, profiles.to_frame)
