"""Preferences as documents: consistency and agreement of assessors, worth of documents, judgments that orders need."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

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
from qrowd.preferences.scheduling import Curves
from qrowd.reports.document import Document, Note, Table
from qrowd.reports.phrases import count, interval, number, percent, probability

SHOWN = 30  # rows of a table that could be as long as there are topics or assessors
CYCLES_SHOWN = 2


def preference_document(
    preferences: Preferences, judgments: Judgments | None = None, *, separate_strong: bool = False, chains: bool = False
) -> Document:
    """How consistent each assessor is, how far assessors agree, and preferences compared with grades.

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
        title = "probability that another assessor answers the column where one assessor answers the row"
        tables.append(Table(title, ["answer", *table.states, "judgments"], rows))
        tables.append(_pairs(shared))
    if judgments is not None:
        tables.append(_grades_table(preferences, judgments))
    return Document(_sentence(preferences, own, shared), tuple(tables), tuple(_notes(preferences, own)), own.to_frame)


def _shared(preferences: Preferences, chains: bool) -> PairwisePreferences | None:
    """None where no two assessors ordered a pair in common."""
    try:
        return pairwise_preferences(preferences, chains=chains)
    except NoOverlapError:
        return None


def _sentence(preferences: Preferences, own: Transitivity, shared: PairwisePreferences | None) -> str:
    n = len(preferences.assessors)
    source = f"by {count(n, 'assessor')} on {count(len(preferences.topics), 'topic')}"
    parts = [f"{count(len(preferences), 'preference')} {source}"]
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
    title = "assessors" if len(preferences.assessors) <= SHOWN else f"the {SHOWN} assessors with most preferences"
    return Table(title, header, rows)


def _pairs(shared: PairwisePreferences) -> Table:
    frame = shared.to_frame().sort_values("n_pairs", ascending=False, kind="stable").head(SHOWN)
    rows = [[f"{r.first}, {r.second}", f"{r.n_pairs:,}", number(r.agreement, 3)] for r in frame.itertuples()]
    return Table("pairs of assessors", ["assessor", "pairs both ordered", "agreement"], rows)


def _grades_table(preferences: Preferences, judgments: Judgments) -> Table:
    found = agreement_with_grades(preferences, judgments)
    rows = []
    for p, preferring in enumerate(found.assessors):
        for g, grading in enumerate(found.graders):
            here = (found.assessor == p) & (found.grader == g)
            ordered = here & (found.difference > 0)
            n, tied = found.n[ordered].sum(), found.n[here & (found.difference == 0)].sum()
            if here.any():
                share = found.concordant[ordered].sum() / n if n else np.nan
                rows.append([f"{preferring}, {grading}", f"{n:,}", number(share, 3), f"{tied:,}"])
    header = ["assessor", "pairs that grades order", "agreement", "pairs of equal grade"]
    return Table("preferences compared with grades", header, rows)


def _notes(preferences: Preferences, own: Transitivity) -> Iterator[Note]:
    yield Note("chains kept", "share of i over k where i over j and j over k, all three pairs judged")
    yield Note("tested chains", _tested(own))
    if own.n_repeats:
        repeated = count(own.n_repeats, "preference repeats", "preferences repeat")
        yield Note("repeats", f"{repeated} a pair of the same assessor; the majority counts")
    if own.n_contradictions:
        pairs = count(own.n_contradictions, "pair was", "pairs were")
        yield Note(
            "contradictions",
            f"{pairs} ordered both ways by the same assessor, {own.n_undecided:,} of them equally often (no order)",
        )
    found = cycles(preferences)
    if found:
        shown = "; ".join(map(str, found[:CYCLES_SHOWN]))
        yield Note("cycles", f"{len(found):,}, as {shown}{' ...' if len(found) > CYCLES_SHOWN else ''}")
    if preferences.seconds is not None and not np.isnan(preferences.seconds).all():
        times = judging_time(preferences.pooled()).to_frame().iloc[0].to_dict()
        yield Note("seconds", ", ".join(f"{key} {value:g}" for key, value in times.items() if _is_number(value)))
    if preferences.first is not None and not np.isnan(preferences.first).all():
        bias = position_bias(preferences.pooled())
        n = count(bias.n[0], "preference")
        yield Note("shown first", f"preferred in {percent(bias.share[0], 1)} of {n} (p {probability(bias.p[0])})")


def _tested(own: Transitivity) -> str:
    """What the share of chains that are kept says about consistency."""
    chains = own.chains.sum()
    if own.tested is None or own.tested_kept is None:
        return (
            "not known, since no order of judging is recorded; random answers keep half of the chains, unless pairs "
            "were left out because earlier answers implied them: then no chain can be broken"
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
    """The documents with the highest worth of each topic, with intervals, and the weights of the assessors."""
    highest = list(_highest_worths(found))
    tables = [
        Table(
            "the document with the highest worth of each topic"
            + (f" (the first {SHOWN})" if len(highest) > SHOWN else ""),
            ["topic", "documents", "first", "log-worth", "interval", "second", "P(first over second)"],
            highest[:SHOWN],
        )
    ]
    if len(found.assessors) > 1:
        order = np.argsort(-found.assessor_weight, kind="stable")[:SHOWN]
        rows = [
            [
                found.assessors[a],
                number(found.assessor_weight[a], 3),
                interval(found.assessor_weight_low[a], found.assessor_weight_high[a]),
                number(found.intercept[a], 3),
            ]
            for a in order
        ]
        tables.append(Table("assessors", ["assessor", "weight", "interval", "preference for the first shown"], rows))

    ended = "converged" if found.converged else "DID NOT CONVERGE"
    adversaries = [name for name, r in zip(found.assessors, found.assessor_weight, strict=True) if r < 0]
    sentence = (
        f"Bradley-Terry log-worths of {count((~np.isnan(found.log_worth)).sum(), 'document')} on "
        f"{count(len(found.pool.topics), 'topic')} from {count(found.n_comparisons, 'preference')}, {ended} in "
        f"{count(found.iterations, 'iteration')}"
        + (f"; {', '.join(adversaries)} tend to prefer the worse document." if adversaries else ".")
    )
    notes = [Note("method", found.method), Note("log-likelihood", f"{found.log_likelihood:.1f}")]
    if found.n_resamples:
        n = count(found.n_resamples, "resample")
        notes.append(Note("intervals", f"{percent(found.confidence)}, {n} of {found.resample}; seed: {found.seed}"))
    parts = int(sum(found.component[found.pool.rows(t)].max(initial=-1) for t in range(len(found.pool.topics))))
    if parts:
        text = f"{parts:,} groups of documents are linked to the rest of their topic by the ridge alone"
        notes.append(Note("components", text))
    return Document(sentence, tuple(tables), tuple(notes), found.to_frame)


def _highest_worths(found: BradleyTerry) -> Iterator[list[str]]:
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
            interval(found.low[rows][first], found.high[rows][first], 2),
            names[second],
            number(found.probability(topic, names[first], names[second]), 3),
        ]


# ---------------------------------------------------------------------- orders of asking


def curves_document(curves: Curves, about: str) -> Document:
    """Judgments that each order needs, over all numbers of documents and for each number.

    about : the topics that were replayed, for a note.
    """
    names = list(dict.fromkeys(curves.condition.tolist()))
    overall = {name: _overall(curves, curves.condition == name) for name in names}
    fewest = min(overall, key=lambda name: overall[name][0])
    rows = [[name, *(number(v, d) for v, d in zip(overall[name], (2, 2, 3, 3), strict=True))] for name in names]
    sizes = sorted(set(curves.documents.tolist()))
    by_size = [[str(n), *(_cell(curves, name, n) for name in names)] for n in sizes]
    n_topics = int(curves.topics[curves.condition == names[0]].sum())

    sentence = (
        f"Of {len(names)} orders of asking, {fewest} needs the fewest judgments: {overall[fewest][0]:.2f} times the "
        f"number of documents over {count(n_topics, 'topic')}, and leaves {percent(overall[fewest][2], 1)} of pairs of "
        "systems in another order than all judgments would."
    )
    return Document(
        sentence,
        (
            Table("all topics", ["order", "judgments / documents", "judgments", "error", "regret"], rows),
            Table("judgments by number of documents", ["documents", *names], by_size),
        ),
        (
            Note("topics", about),
            Note("error", "share of pairs of systems whose order differs from that by all judgments"),
            Note("regret", "score of the best system minus that of the system chosen"),
            Note("seed", f"{curves.seed}"),
        ),
        curves.to_frame,
    )


def _overall(curves: Curves, here: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> tuple[float, float, float, float]:
    """Mean judgments per document, judgments, error and regret over topics."""
    weights = curves.topics[here]
    columns = (curves.per_document, curves.judgments, curves.error, curves.regret)
    first, second, third, fourth = (float(np.average(column[here], weights=weights)) for column in columns)
    return first, second, third, fourth


def _cell(curves: Curves, name: str, n: int) -> str:
    rows = np.flatnonzero((curves.condition == name) & (curves.documents == n))
    return number(float(curves.judgments[rows[0]]), 1) if rows.size else "-"
