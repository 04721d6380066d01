"""How far assessors agree, as documents: alpha overall or by group, pairs of assessors, and one row an assessor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qrowd.agreement.alpha import Alpha, Alphas
from qrowd.agreement.assessors import AssessorProfiles
from qrowd.agreement.pairwise import PairwiseAgreement
from qrowd.reports.document import Document, Table
from qrowd.reports.phrases import count, number, probability

if TYPE_CHECKING:
    import pandas

ASSESSORS_SHOWN = 12  # as a matrix; of a larger panel the pairs that agree least and most
PAIRS_SHOWN = 8
DOCUMENTS_SHARED = 10  # by a pair of a large panel; on fewer, kappa is mostly chance


def agreement_document(overall: Alphas, by: Alphas | None, pairs: PairwiseAgreement | None) -> Document:
    """Alpha in a sentence; a row per group; Cohen's kappa of every two assessors."""
    alpha = overall.item()
    tables = []
    if by is not None:
        tables.append(Table(f"alpha by {by.by}", [by.by, *ALPHA_HEADER], [[label, *_alpha_row(a)] for label, a in by]))
    if pairs is not None:
        tables.append(_pair_table(pairs))

    def frame() -> pandas.DataFrame:
        made: pandas.DataFrame = by.to_frame() if by is not None else overall.to_frame()
        return made

    return Document(_sentence(alpha), tuple(tables), tuple(_notes(alpha, pairs is not None)), frame)


ALPHA_HEADER = ["alpha", "low", "high", "p", "documents", "judgments"]


def _alpha_row(alpha: Alpha) -> list[str]:
    return [
        number(alpha.value, 3),
        number(alpha.low, 3),
        number(alpha.high, 3),
        probability(alpha.p),
        f"{alpha.n_documents:,}",
        f"{alpha.n_judgments:,}",
    ]


def _sentence(alpha: Alpha) -> str:
    """What alpha is, how sure, and on what."""
    rests = f"{count(alpha.n_judgments, 'judgment')} of {count(alpha.n_documents, 'document')}"
    if np.isnan(alpha.value):
        return f"All {rests} say the same, so nothing can be said of agreement beyond chance."
    sure = ""
    if alpha.n_resamples:
        low, high = number(alpha.low, 3), number(alpha.high, 3)
        p = probability(alpha.p)
        sure = f", {100 * alpha.confidence:g} % {low} to {high}, p {p if p.startswith('<') else '= ' + p}"
    return f"Krippendorff's alpha is {alpha.value:.3f} ({alpha.level}{sure}), from {rests}."


def _notes(alpha: Alpha, with_kappa: bool) -> list[str]:
    kappa = ", kappa whether they are equal" if with_kappa else ""
    told = [f"level: {alpha.level}; alpha counts differences of values as on that level{kappa}"]
    if alpha.n_left_out:
        told.append(f"left out: {count(alpha.n_left_out, 'document')} that too few judged")
    if alpha.n_repeats:
        repeated = count(alpha.n_repeats, "judgment repeats", "judgments repeat")
        told.append(f"repeats: {repeated} one by the same assessor; counted: {alpha.repeats}")
    if alpha.n_resamples:
        alone = ", of the only topic" if alpha.n_topics == 1 and alpha.resample == "documents" else ""
        told.append(
            f"bootstrap: {count(alpha.n_resamples, 'replicate')}, drawing {alpha.resample}{alone}; rng={alpha.seed!r}"
        )
    return told


def _pair_table(pairs: PairwiseAgreement) -> Table:
    """A matrix of kappas; of a large panel the pairs at both ends."""
    names = pairs.assessors
    if len(names) <= ASSESSORS_SHOWN:
        rows = [
            [name, *("" if i == j else number(pairs.kappa[i, j], 3) for j in range(len(names)))]
            for i, name in enumerate(names)
        ]
        return Table("Cohen's kappa of every two assessors", ["assessor", *names], rows)
    enough = ~np.isnan(pairs.kappa) & (pairs.n >= DOCUMENTS_SHARED)
    first, second = np.nonzero(np.triu(enough, 1))
    order = np.argsort(pairs.kappa[first, second], kind="stable")
    shown = order if order.size <= 2 * PAIRS_SHOWN else np.append(order[:PAIRS_SHOWN], order[-PAIRS_SHOWN:])
    rows = [
        [names[i], names[j], number(pairs.kappa[i, j], 3), number(pairs.agreement[i, j], 3), f"{pairs.n[i, j]:,}"]
        for i, j in zip(first[shown], second[shown], strict=True)
    ]
    ends = f"the {len(rows)} pairs of assessors at both ends, of {order.size:,}"
    title = f"Cohen's kappa: {ends} who share {DOCUMENTS_SHARED} documents or more"
    return Table(title, ["assessor", "with", "kappa", "agreement", "documents"], rows)


def assessors_document(profiles: AssessorProfiles) -> Document:
    """One row an assessor; those who stand out are named with the reason."""
    header = ["assessor", "judgments", "topics", *(f"{grade:g}" for grade in profiles.grades)]
    header += ["severity", "agreement", "same again"]
    drift = bool(profiles.order_from)
    header += ["drift"] if drift else []
    seconds, gold = not np.isnan(profiles.seconds).all(), profiles.gold is not None
    header += (["seconds"] if seconds else []) + (["gold", "with gold"] if gold else [])
    rows = []
    for a, name in enumerate(profiles.assessors):
        row = [name, f"{profiles.n_judgments[a]:,}", str(profiles.n_topics[a])]
        row += ["-" if np.isnan(share) else f"{100 * share:.0f} %" for share in profiles.share[a]]
        row += [_signed(profiles.severity[a]), number(profiles.agreement[a], 3), number(profiles.consistency[a], 2)]
        row += [_signed(profiles.drift[a])] if drift else []
        row += [number(profiles.seconds[a], 1)] if seconds else []
        row += [number(profiles.gold_share[a], 2), number(profiles.gold_agreement[a], 3)] if gold else []
        rows.append(row)
    outlying = [(name, "; ".join(why)) for name, why in zip(profiles.assessors, profiles.reasons, strict=True) if why]
    named = ", ".join(name for name, _ in outlying[:8]) + (" and more" if len(outlying) > 8 else "")
    of_all = f"of {count(len(profiles.assessors), 'assessor')}"
    verb = "stands" if len(outlying) == 1 else "stand"
    sentence = f"{len(outlying)} {of_all} {verb} out: {named}." if outlying else f"None {of_all} stands out."
    notes = [
        *(f"{name}: {why}" for name, why in outlying),
        f"agreement, severity: with the others on documents both judged ({profiles.level}); above 0 is severe",
        f"drift: change of leniency from first judgment to last, by {profiles.order_from}"
        if drift
        else "drift: not shown, since no order of judging was recorded (a column order or time of a table)",
    ]

    def frame() -> pandas.DataFrame:
        made: pandas.DataFrame = profiles.to_frame()
        return made

    return Document(sentence, (Table("assessors", header, rows),), tuple(notes), frame)


def _signed(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:+.3f}"
