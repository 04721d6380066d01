"""Agreement of assessors as documents: alpha overall or by group, kappa of each pair, and one row per assessor."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from qrowd.agreement.alpha import Alpha, Alphas
from qrowd.agreement.assessors import AssessorProfiles
from qrowd.agreement.pairwise import PairwiseAgreement
from qrowd.reports.document import Document, Note, Table
from qrowd.reports.phrases import count, interval, listed, number, percent, probability, signed

ASSESSORS_SHOWN = 12  # as a matrix; of a larger panel the pairs with the lowest and highest kappa
PAIRS_SHOWN = 8
DOCUMENTS_SHARED = 10  # by a pair of a large panel; on fewer, kappa is mostly chance


def agreement_document(overall: Alphas, by: Alphas | None, pairs: PairwiseAgreement | None) -> Document:
    """Alpha in a sentence; a row per group; Cohen's kappa of each pair of assessors."""
    alpha = overall.item()
    tables = []
    if by is not None:
        tables.append(Table(f"alpha by {by.by}", [by.by, *ALPHA_HEADER], [[label, *_alpha_row(a)] for label, a in by]))
    if pairs is not None:
        tables.append(_pair_table(pairs))
    frame = overall.to_frame if by is None else by.to_frame
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
    """Alpha with its interval, and the judgments it is computed from."""
    judgments = f"{count(alpha.n_judgments, 'judgment')} of {count(alpha.n_documents, 'document')}"
    if np.isnan(alpha.value):
        return f"All {judgments} have the same value, so agreement beyond chance is not defined."
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
    if alpha.n_repeats:
        repeated = count(alpha.n_repeats, "judgment repeats", "judgments repeat")
        yield Note("repeats", f"{repeated} one by the same assessor; counted: {alpha.repeats}")
    if alpha.n_resamples:
        alone = ", of the only topic" if alpha.n_topics == 1 and alpha.resample == "documents" else ""
        n = count(alpha.n_resamples, "resample")
        yield Note("bootstrap", f"{n} of {alpha.resample}{alone}; seed: {alpha.seed!r}")


def _pair_table(pairs: PairwiseAgreement) -> Table:
    """A matrix of kappas; of a large panel the pairs at both ends."""
    names = pairs.assessors
    if len(names) <= ASSESSORS_SHOWN:
        rows = [
            [name, *("" if i == j else number(pairs.kappa[i, j], 3) for j in range(len(names)))]
            for i, name in enumerate(names)
        ]
        return Table("Cohen's kappa of each pair of assessors", ["assessor", *names], rows)
    enough = ~np.isnan(pairs.kappa) & (pairs.n >= DOCUMENTS_SHARED)
    first, second = np.nonzero(np.triu(enough, 1))
    order = np.argsort(pairs.kappa[first, second], kind="stable")
    shown = order if order.size <= 2 * PAIRS_SHOWN else np.append(order[:PAIRS_SHOWN], order[-PAIRS_SHOWN:])
    rows = [
        [names[i], names[j], number(pairs.kappa[i, j], 3), number(pairs.agreement[i, j], 3), f"{pairs.n[i, j]:,}"]
        for i, j in zip(first[shown], second[shown], strict=True)
    ]
    pairs_shown = f"the {len(rows)} pairs with the lowest and highest kappa, of {order.size:,}"
    title = f"Cohen's kappa: {pairs_shown} pairs that share {DOCUMENTS_SHARED} documents or more"
    return Table(title, ["assessor", "other assessor", "kappa", "agreement", "documents"], rows)


def assessors_document(profiles: AssessorProfiles) -> Document:
    """One row per assessor; those who stand out are named with the reason."""
    header = ["assessor", "judgments", "topics", *(f"{grade:g}" for grade in profiles.grades)]
    header += ["severity", "agreement", "same again"]
    drift = bool(profiles.order_from)
    header += ["drift"] if drift else []
    seconds, gold = not np.isnan(profiles.seconds).all(), profiles.gold is not None
    header += (["seconds"] if seconds else []) + (["gold", "with gold"] if gold else [])
    rows = []
    for a, name in enumerate(profiles.assessors):
        row = [name, f"{profiles.n_judgments[a]:,}", str(profiles.n_topics[a])]
        row += [percent(share, 0) for share in profiles.share[a]]
        row += [signed(profiles.severity[a], 3), number(profiles.agreement[a], 3), number(profiles.consistency[a], 2)]
        row += [signed(profiles.drift[a], 3)] if drift else []
        row += [number(profiles.seconds[a], 1)] if seconds else []
        row += [number(profiles.gold_share[a], 2), number(profiles.gold_agreement[a], 3)] if gold else []
        rows.append(row)
    outlying = {name: "; ".join(why) for name, why in zip(profiles.assessors, profiles.reasons, strict=True) if why}
    of_all = f"of {count(len(profiles.assessors), 'assessor')}"
    verb = "stands" if len(outlying) == 1 else "stand"
    sentence = f"None {of_all} stands out."
    if outlying:
        sentence = f"{len(outlying)} {of_all} {verb} out: {listed(list(outlying), 8)}."
    notes = [
        *(Note(name, reasons) for name, reasons in outlying.items()),
        Note(
            "agreement, severity",
            f"compared with the others on documents that both judged ({profiles.level}); above 0: lower grades",
        ),
        Note(
            "drift",
            f"change of leniency from the first judgment to the last, by {profiles.order_from}"
            if drift
            else "not shown, since no order of judging is recorded (a column order or time of a table)",
        ),
    ]
    return Document(sentence, (Table("assessors", header, rows),), tuple(notes), profiles.to_frame)
