"""Agreement of assessors: coefficients overall and by topic, kappa of each pair, and one row per assessor."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from qrowd.agreement.alpha import Alpha, Alphas, Resample, krippendorff_alpha
from qrowd.agreement.assessors import AssessorProfiles, assessor_profiles
from qrowd.agreement.dispersion import document_dispersion
from qrowd.agreement.document_counts import unlike_at
from qrowd.agreement.icc import FORMS, intraclass_correlation
from qrowd.agreement.kappa import fleiss_kappa
from qrowd.agreement.pairwise import PairwiseAgreement, pairwise_agreement
from qrowd.errors import NoOverlapError, check_choice
from qrowd.kernels.arrays import Floats
from qrowd.kernels.disagreement import Level
from qrowd.model.chance import Rng
from qrowd.model.conventions import Repeats
from qrowd.model.judgments import Judgments
from qrowd.model.one_scale import Combined, CombineScales
from qrowd.reports.document import Document, Note, Table, repeats_note
from qrowd.reports.phrases import cells, count, interval, listed, number, percent, probability, signed
from qrowd.reports.scales import scale_note, scale_rules

if TYPE_CHECKING:
    import pandas


Coefficient = Literal["alpha", "kappa", "fleiss", "icc", "dispersion"]

MATRIX_WIDTH = 80  # letters of the columns of a matrix whose columns have names
ASSESSORS_SHOWN = 12  # as a matrix; of a larger panel the pairs with the lowest and highest kappa
PAIRS_SHOWN = 8
DOCUMENTS_SHARED = 10  # by a pair of a large panel; on fewer, kappa is mostly chance


def agree(
    judgments: Judgments,
    *,
    coefficients: Sequence[str] = ("alpha", "kappa"),
    per_topic: bool = False,
    level: Level | None = None,
    repeats: Repeats = "first",
    combine_scales: CombineScales = "auto",
    resample: Resample = "topics",
    n_resamples: int = 1000,
    confidence: float = 0.95,
    rng: Rng = None,
) -> Document:
    """Measure how well assessors agree: Krippendorff's alpha, Cohen's kappa of each pair, and other coefficients.

    coefficients : coefficients besides alpha: kappa (Cohen's, of each pair), fleiss (kappa of all), icc (intraclass
        correlation), dispersion (variance, standard deviation and entropy of documents); default: kappa.
    per_topic : whether each topic is shown, too.
    resample : what is resampled: topics, documents, or deviations (Hayes and Krippendorff).
    """
    for coefficient in coefficients:
        check_choice("coefficients", coefficient, Coefficient)
    shared: dict[str, Any] = {"repeats": repeats, "combine_scales": combine_scales}
    options: dict[str, Any] = {"level": level, "resample": resample, **shared}
    options |= {"n_resamples": n_resamples, "confidence": confidence, "rng": rng}
    overall = krippendorff_alpha(judgments, **options)
    by_topic = krippendorff_alpha(judgments, by="topic", **options) if per_topic else None
    pairs = kappas(judgments, "magnitude", **shared) if "kappa" in coefficients else None
    alpha = overall.item()
    further = list(_further(judgments, coefficients, None, options))
    further_by_topic = [] if by_topic is None else list(_further(judgments, coefficients, by_topic.labels, options))
    unlike: dict[str, Combined] = {"alpha": unlike_at(alpha.level if level else None)}
    if {"kappa", "fleiss"}.intersection(coefficients):
        unlike["kappa"] = "relevant"
    if {"icc", "dispersion"}.intersection(coefficients):
        unlike["icc and dispersion"] = "rescaled"
    scale = scale_note(judgments, scale_rules(judgments.scales, combine_scales, unlike))
    tables = [_coefficient_table(further)] if further else []
    tables += [] if by_topic is None else [_alpha_table(by_topic, further_by_topic)]
    tables += [] if pairs is None else [_pair_table(pairs)]
    notes = (scale, *_notes(alpha, pairs is not None), *_coefficient_notes(coefficients))
    shown = further_by_topic if per_topic else further

    def frame() -> pandas.DataFrame:
        columns = {one.name.replace("'", "").replace(" ", "_").replace("-", "_").lower(): one.value for one in shown}
        rows: pandas.DataFrame = (by_topic or overall).to_frame().assign(**columns)
        return rows

    return Document(_sentence(alpha), tuple(tables), notes, frame)


@dataclass(frozen=True, eq=False)
class _Values:
    """A coefficient beside alpha; value, low, high : (groups,), the bounds nan where there are none."""

    name: str
    value: Floats
    low: Floats
    high: Floats


def _further(
    judgments: Judgments, coefficients: Collection[str], topics: tuple[str, ...] | None, options: dict[str, Any]
) -> Iterator[_Values]:
    """The coefficients besides alpha and kappa of pairs, of all judgments or by topic."""
    n = 1 if topics is None else len(topics)
    blank = np.full(n, np.nan)
    shared = {name: options[name] for name in ("repeats", "combine_scales")}
    if "fleiss" in coefficients:
        groups = [judgments] if topics is None else [judgments.select(topics=[topic]) for topic in topics]
        yield _Values("Fleiss' kappa", np.array([_fleiss(group, shared) for group in groups]), blank, blank)
    if "icc" in coefficients:
        sampling = {name: options[name] for name in ("n_resamples", "confidence", "rng") if name in options}
        resample: Literal["topics", "documents"] = "documents" if options.get("resample") == "documents" else "topics"
        found = intraclass_correlation(
            judgments, by=None if topics is None else "topic", resample=resample, **sampling, **shared
        )
        for form, *columns in zip(FORMS, found.value.T, found.low.T, found.high.T, strict=True):
            yield _Values(f"ICC {form}", *columns)
    if "dispersion" in coefficients:
        dispersion = document_dispersion(judgments, **shared)
        for name in ("variance", "sd", "entropy"):
            if topics is None:
                value = np.array([getattr(dispersion, name).mean()])
            else:
                means = dict(zip(dispersion.by_topic.topics, getattr(dispersion.by_topic, name).tolist(), strict=True))
                value = np.array([means.get(topic, np.nan) for topic in topics])
            yield _Values(name, value, blank, blank)


def _fleiss(judgments: Judgments, options: dict[str, Any]) -> float:
    try:
        return fleiss_kappa(judgments, **options).value
    except NoOverlapError:
        return float("nan")


def _coefficient_table(values: list[_Values]) -> Table:
    columns = {
        "coefficient": [one.name for one in values],
        "value": [number(one.value[0], 3) for one in values],
        "low": [number(one.low[0], 3) for one in values],
        "high": [number(one.high[0], 3) for one in values],
    }
    return Table.of("further coefficients", columns)


def _coefficient_notes(coefficients: Collection[str]) -> Iterator[Note]:
    if "icc" in coefficients:
        yield Note(
            "ICC",
            "share of the variance between documents: one-way, assessors' severity is error; two-way, it is estimated; "
            "average: of the mean of all judgments of a document",
        )
    if "dispersion" in coefficients:
        yield Note("variance, sd, entropy", "means over documents; they do not correct for chance; entropy in bits")


def kappas(judgments: Judgments, *without: str, **options: Any) -> PairwiseAgreement | None:
    """Kappa of each pair of assessors; None where no pair shares a document, and on scales of the kinds `without`."""
    if any(scale.kind in without for scale in judgments.scales):
        return None
    try:
        return pairwise_agreement(judgments, **options)
    except NoOverlapError:
        return None


def _alpha_table(by: Alphas, further: list[_Values]) -> Table:
    columns = {
        by.by: list(by.labels),
        "alpha": [number(alpha.value, 3) for alpha in by.alphas],
        "low": [number(alpha.low, 3) for alpha in by.alphas],
        "high": [number(alpha.high, 3) for alpha in by.alphas],
        "p": [probability(alpha.p) for alpha in by.alphas],
        **{one.name: cells(number, one.value, digits=3) for one in further if "average" not in one.name},
        "documents": [f"{alpha.n_documents:,}" for alpha in by.alphas],
        "judgments": [f"{alpha.n_judgments:,}" for alpha in by.alphas],
    }
    return Table.of(f"{'agreement' if further else 'alpha'} by {by.by}", columns)


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
    """A matrix of kappas; of a large panel the pairs at both ends."""
    names = pairs.assessors
    if len(names) <= ASSESSORS_SHOWN:
        rows, heads = list(names), list(names)
        if sum(max(len(name), 6) + 2 for name in names) > MATRIX_WIDTH:  # names stand once, and numbers above
            heads = [str(j) for j in range(1, len(names) + 1)]
            rows = [f"{head} {name}" for head, name in zip(heads, names, strict=True)]
        columns = {head: cells(number, pairs.kappa[:, j], digits=3) for j, head in enumerate(heads)}
        for j, head in enumerate(heads):
            columns[head][j] = ""
        return Table.of("Cohen's kappa of each pair of assessors", {"assessor": rows, **columns})
    enough = ~np.isnan(pairs.kappa) & (pairs.n >= DOCUMENTS_SHARED)
    first, second = np.nonzero(np.triu(enough, 1))
    order = np.argsort(pairs.kappa[first, second], kind="stable")
    ends = order if order.size <= 2 * PAIRS_SHOWN else np.append(order[:PAIRS_SHOWN], order[-PAIRS_SHOWN:])
    a, b = first[ends], second[ends]
    title = (
        f"Cohen's kappa: the {ends.size} pairs with the lowest and highest kappa, of {order.size:,} pairs that share "
        f"{DOCUMENTS_SHARED} documents or more"
    )
    columns = {
        "assessor": [names[i] for i in a],
        "other assessor": [names[i] for i in b],
        "kappa": cells(number, pairs.kappa[a, b], digits=3),
        "agreement": cells(number, pairs.agreement[a, b], digits=3),
        "documents": cells("{:,}".format, pairs.n[a, b]),
    }
    return Table.of(title, columns)


# ---------------------------------------------------------------------- one row per assessor


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
    scale = scale_note(judgments, scale_rules(judgments.scales, combine_scales, unlike), gold=profiles.gold)
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
    columns = {
        "assessor": list(profiles.assessors),
        "judgments": cells("{:,}".format, profiles.n_judgments),
        "topics": cells(str, profiles.n_topics),
        **{
            f"{grade:g}": cells(percent, share, digits=0)
            for grade, share in zip(profiles.grades, profiles.share.T, strict=True)
        },
        "severity": cells(signed, profiles.severity, digits=3),
        "agreement": cells(number, profiles.agreement, digits=3),
        "same again": cells(number, profiles.consistency, digits=2),
    }
    drift = "not shown, since no order of judging is recorded (a column order or time of a table)"
    if profiles.order_from:
        columns["drift"] = cells(signed, profiles.drift, digits=3)
        drift = f"change of leniency from the first judgment to the last, by {profiles.order_from}"
    if not np.isnan(profiles.seconds).all():
        columns["seconds"] = cells(number, profiles.seconds, digits=1)
    if profiles.gold is not None:
        columns["gold"] = cells(number, profiles.gold_share, digits=2)
        columns["with gold"] = cells(number, profiles.gold_agreement, digits=3)
    outlying = {name: "; ".join(why) for name, why in zip(profiles.assessors, profiles.reasons, strict=True) if why}
    n = len(profiles.assessors)
    of_all = f"of {count(n, 'assessor')}"
    sentence = f"None {of_all} stands out." if n > 1 else f"{profiles.assessors[0]} is the only assessor."
    if outlying:
        verb = "stands" if len(outlying) == 1 else "stand"
        sentence = f"{len(outlying)} {of_all} {verb} out: {listed(list(outlying), 8)}."
    if profiles.gold is not None and (most := int(profiles.n_gold.max(initial=0))) < profiles.min_documents:
        sentence = f"{sentence[:-1]}; gold not tested: {most} of {profiles.min_documents} documents needed."
    compared = f"compared with the others on documents that both judged ({profiles.level}); above 0: lower grades"
    reasons = [Note(name, reasons) for name, reasons in outlying.items()]
    if outlying:
        name = shlex.quote(next(iter(outlying)))
        reasons.append(
            Note("exclude", f"--exclude {name} leaves the assessor out, in each command that reads judgments")
        )
    all_notes = (*notes, *reasons, Note("agreement, severity", compared), *_gold(profiles), Note("drift", drift))
    return Document(sentence, (Table.of("assessors", columns),), all_notes, profiles.to_frame)
