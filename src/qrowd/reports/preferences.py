"""Preferences as documents: how consistent assessors are, how far they agree, how strong documents are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.errors import NoOverlapError
from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences
from qrowd.preferences import (
    BradleyTerry,
    PairwisePreferences,
    Transitivity,
    agreement_with_grades,
    cycles,
    judging_time,
    pairwise_preferences,
    position_bias,
    preference_table,
    transitivity,
)
from qrowd.reports.document import Document, Table
from qrowd.reports.phrases import count, number, probability

if TYPE_CHECKING:
    import pandas

SHOWN = 30  # rows of a table that could be as long as there are topics or assessors
CYCLES_SHOWN = 2


def preference_document(
    preferences: Preferences, judgments: Judgments | None = None, *, separate_strong: bool = False, chains: bool = False
) -> Document:
    """How consistent each assessor is with himself or herself, and with the others; and preferences beside grades.

    judgments : grades to compare with. separate_strong, chains : see `qrowd.preferences.preference_table`.
    """
    own = transitivity(preferences)
    shared = _shared(preferences, chains)
    tables = [_assessors(preferences, own)]
    if shared is not None:
        table = preference_table(preferences, separate_strong=separate_strong, chains=chains)
        rows = [
            [state, *(number(p, 3) for p in shares), f"{total:,.0f}"]
            for state, shares, total in zip(table.states, table.probability, table.total, strict=True)
        ]
        title = "what another assessor says (column) of a pair of which one says the row"
        tables.append(Table(title, ["one says", *table.states, "judgments"], rows))
        tables.append(_pairs(shared))
    if judgments is not None:
        tables.append(_beside_grades(preferences, judgments))

    def frame() -> pandas.DataFrame:
        made: pandas.DataFrame = own.to_frame()
        return made

    return Document(_sentence(preferences, own, shared), tuple(tables), tuple(_notes(preferences, own)), frame)


def _shared(preferences: Preferences, chains: bool) -> PairwisePreferences | None:
    """None where no two assessors ordered a pair in common."""
    try:
        return pairwise_preferences(preferences, chains=chains)
    except NoOverlapError:
        return None


def _sentence(preferences: Preferences, own: Transitivity, shared: PairwisePreferences | None) -> str:
    n = len(preferences.assessors)
    of_whom = f"of {count(n, 'assessor')} on {count(len(preferences.topics), 'topic')}"
    parts = [f"{count(len(preferences), 'preference')} {of_whom}"]
    if not np.isnan(own.rate):
        parts.append(f"{100 * own.rate:.1f} % of chains are kept")
    if shared is not None:
        parts.append(f"two assessors order {100 * shared.mean_agreement:.0f} % of the pairs that both ordered alike")
    elif n > 1:
        parts.append("no two assessors ordered a pair in common")
    return "; ".join(parts) + "."


def _assessors(preferences: Preferences, own: Transitivity) -> Table:
    rows = []
    kept = own.by_assessor
    marks = np.bincount(preferences.bad_assessor, minlength=len(preferences.assessors))
    said = np.bincount(preferences.assessor, minlength=len(preferences.assessors))
    strong = np.bincount(preferences.assessor[preferences.strength > 1], minlength=len(preferences.assessors))
    for a in np.argsort(-said, kind="stable")[:SHOWN]:
        mine = own.assessor == a
        name = preferences.assessors[a]
        triples = own.triples[mine].sum()
        rows.append(
            [
                name,
                f"{said[a]:,}",
                f"{strong[a]:,}",
                f"{marks[a]:,}",
                f"{np.unique(preferences.topic[preferences.assessor == a]).size:,}",
                number(kept.get(name, np.nan), 3),
                f"{own.cyclic[mine].sum():,} of {triples:,}",
            ]
        )
    header = ["assessor", "preferences", "strong", "Bad", "topics", "chains kept", "cyclic triples"]
    title = "assessors" if len(preferences.assessors) <= SHOWN else f"the {SHOWN} assessors who said most"
    return Table(title, header, rows)


def _pairs(shared: PairwisePreferences) -> Table:
    frame = shared.to_frame().sort_values("n_pairs", ascending=False, kind="stable").head(SHOWN)
    rows = [[f"{r.first}, {r.second}", f"{r.n_pairs:,}", number(r.agreement, 3)] for r in frame.itertuples()]
    return Table("two by two", ["assessor", "pairs both ordered", "alike"], rows)


def _beside_grades(preferences: Preferences, judgments: Judgments) -> Table:
    found = agreement_with_grades(preferences, judgments)
    rows = []
    for p, preferring in enumerate(found.assessors):
        for g, grading in enumerate(found.graders):
            here = (found.assessor == p) & (found.grader == g)
            told = here & (found.difference > 0)
            n, tied = found.n[told].sum(), found.n[here & (found.difference == 0)].sum()
            if here.any():
                share = found.concordant[told].sum() / n if n else np.nan
                rows.append([f"{preferring}, {grading}", f"{n:,}", number(share, 3), f"{tied:,}"])
    header = ["assessor", "pairs that grades order", "alike", "pairs of equal grade"]
    return Table("preferences beside grades", header, rows)


def _notes(preferences: Preferences, own: Transitivity) -> Iterator[str]:
    yield "chains kept: of i over j over k, all three pairs judged, how often i over k"
    yield f"tested chains: {_tested(own)}"
    if own.n_repeats:
        repeated = count(own.n_repeats, "preference repeats", "preferences repeat")
        yield f"repeats: {repeated} a pair of the same assessor; what most of them say holds"
    if own.n_contradictions:
        yield (
            f"contradictions: {count(own.n_contradictions, 'pair was', 'pairs were')} ordered both ways by the same "
            f"assessor, {own.n_undecided:,} of them as often one way as the other (no order)"
        )
    found = cycles(preferences)
    if found:
        shown = "; ".join(map(str, found[:CYCLES_SHOWN]))
        yield f"cycles: {len(found):,}, as {shown}{' ...' if len(found) > CYCLES_SHOWN else ''}"
    if preferences.seconds is not None and not np.isnan(preferences.seconds).all():
        times = judging_time(preferences.pooled()).to_frame().iloc[0].to_dict()
        yield "seconds: " + ", ".join(f"{key} {value:g}" for key, value in times.items() if _is_number(value))
    if preferences.first is not None and not np.isnan(preferences.first).all():
        bias = position_bias(preferences.pooled())
        yield (
            f"shown first: preferred in {100 * bias.share[0]:.1f} % of {count(bias.n[0], 'preference')} "
            f"(p {probability(bias.p[0])})"
        )


def _tested(own: Transitivity) -> str:
    """What the share of chains that are kept says about consistency."""
    chains = own.chains.sum()
    if own.tested is None or own.tested_kept is None:
        return (
            "not known, since no order of judging is given; random answers keep half of the chains, unless pairs were "
            "left out because earlier answers implied them: then no chain can be broken"
        )
    tested = own.tested.sum()
    if not tested:
        return (
            f"0 of {chains:,}; no pair was judged whose answer earlier ones implied, so no chain could be broken, and "
            "chains kept say nothing about consistency"
        )
    return (
        f"in {tested:,} of {chains:,} i over k was judged last, and the answer could break the chain; "
        f"{own.tested_kept.sum():,} of these were kept, where random answers keep half"
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, float | int) and not np.isnan(value)


def worth_document(found: BradleyTerry) -> Document:
    """Which documents are the strongest of each topic, how sure that is, and whom the model believes."""
    strongest = list(_strongest(found))
    tables = [
        Table(
            "the strongest document of each topic" + (f" (the first {SHOWN})" if len(strongest) > SHOWN else ""),
            ["topic", "documents", "first", "log-worth", "interval", "second", "P(first over second)"],
            strongest[:SHOWN],
        )
    ]
    if len(found.assessors) > 1:
        order = np.argsort(-found.assessor_weight, kind="stable")[:SHOWN]
        rows = [
            [
                found.assessors[a],
                number(found.assessor_weight[a], 3),
                _interval(found.assessor_weight_low[a], found.assessor_weight_high[a]),
                number(found.intercept[a], 3),
            ]
            for a in order
        ]
        tables.append(Table("assessors", ["assessor", "weight", "interval", "favours the first shown"], rows))

    def frame() -> pandas.DataFrame:
        made: pandas.DataFrame = found.to_frame()
        return made

    ended = "converged" if found.converged else "DID NOT CONVERGE"
    adversaries = [name for name, r in zip(found.assessors, found.assessor_weight, strict=True) if r < 0]
    sentence = (
        f"Bradley-Terry log-worths of {count((~np.isnan(found.log_worth)).sum(), 'document')} on "
        f"{count(len(found.pool.topics), 'topic')} from {count(found.n_comparisons, 'preference')}, {ended} in "
        f"{count(found.iterations, 'iteration')}"
        + (f"; {', '.join(adversaries)} would rather prefer the worse document." if adversaries else ".")
    )
    notes = [f"method: {found.method}", f"log-likelihood: {found.log_likelihood:.1f}"]
    if found.n_resamples:
        notes.append(
            f"intervals: {100 * found.confidence:g} %, {count(found.n_resamples, 'resample')} of {found.resample}; "
            f"seed: {found.seed}"
        )
    parts = int(sum(found.component[found.pool.rows(t)].max(initial=-1) for t in range(len(found.pool.topics))))
    if parts:
        notes.append(f"parts: {parts:,} groups of documents are linked to the rest of their topic by the ridge alone")
    return Document(sentence, tuple(tables), tuple(notes), frame)


def _strongest(found: BradleyTerry) -> Iterator[list[str]]:
    for t, topic in enumerate(found.pool.topics):
        rows = found.pool.rows(t)
        log_worth = found.log_worth[rows]
        known = np.flatnonzero(~np.isnan(log_worth))
        if known.size < 2:
            continue
        names = found.documents_of(topic)
        first, second = known[np.argsort(-log_worth[known], kind="stable")[:2]]
        yield [
            topic,
            str(known.size),
            names[first],
            number(log_worth[first], 2),
            _interval(found.low[rows][first], found.high[rows][first], 2),
            names[second],
            number(found.probability(topic, names[first], names[second]), 3),
        ]


def _interval(low: float, high: float, digits: int = 3) -> str:
    return "-" if np.isnan(low) else f"{low:.{digits}f} to {high:.{digits}f}"
