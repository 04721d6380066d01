"""Preferences as documents: how consistent each assessor is, whether assessors agree, and log-worths of documents."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from qrowd.errors import NoOverlapError
from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences
from qrowd.model.signature import with_signature
from qrowd.preferences import (
    BradleyTerry,
    Closure,
    PairwisePreferences,
    PositionBias,
    Transitivity,
    agreement_with_grades,
    closure,
    cycles,
    pairwise_preferences,
    position_bias,
    preference_table,
    transitivity,
)
from qrowd.reports.document import Document, Note, Table
from qrowd.reports.order_effect import order_effects, order_notes, order_table
from qrowd.reports.phrases import cells, count, interval, number, percent
from qrowd.reports.table import columns_of

SHOWN = 30  # rows of a table that could be as long as there are topics or assessors
CYCLES_SHOWN = 2


@with_signature("transitivity")
def preference_document(
    preferences: Preferences,
    judgments: Judgments | None = None,
    *,
    confidence: float = 0.95,
) -> Document:
    """Show whether the assessors are consistent, and whether they agree.

    judgments : grades that the preferences are compared with.
    confidence : of the intervals of order effects.
    """
    own = transitivity(preferences)
    with warnings.catch_warnings(action="ignore"):  # a note says how many preferences are for a Bad document
        closed = closure(preferences)
    shared = _shared(preferences)
    tables = [_assessors(preferences, own)]
    effects = order_effects(preferences, confidence=confidence)
    if effects is not None:
        tables.append(order_table(effects))
    if shared is not None:
        table = preference_table(preferences)
        columns: dict[str, Any] = {"answer": table.states, **dict(zip(table.states, table.probability.T, strict=True))}
        columns["judgments"] = cells("{:,.0f}".format, table.total)
        title = "probability that another assessor answers the column where one assessor answers the row"
        tables += [Table.of(title, columns, 3), _pairs(shared)]
    if judgments is not None:
        tables.append(_grades_table(preferences, judgments))
    notes = tuple(_notes(preferences, own, closed, effects, confidence))
    return Document(_sentence(preferences, own, shared), tuple(tables), notes, own.to_frame)


def _shared(preferences: Preferences) -> PairwisePreferences | None:
    """None where no two assessors ordered a pair in common."""
    try:
        return pairwise_preferences(preferences)
    except NoOverlapError:
        return None


def _sentence(preferences: Preferences, own: Transitivity, shared: PairwisePreferences | None) -> str:
    n = len(preferences.assessors)
    source = f"by {count(n, 'assessor')} on {count(len(preferences.topics), 'topic')}"
    parts = [f"{count(len(preferences), 'preference')} {source}"]
    if not np.isnan(own.rate):
        parts.append(_consistency(own))
    if shared is not None:
        parts.append(f"two assessors order {100 * shared.mean_agreement:.0f} % of the pairs that both ordered alike")
    elif n > 1:
        parts.append("no two assessors ordered a pair in common")
    return "; ".join(parts) + "."


def _consistency(own: Transitivity) -> str:
    """The share of chains kept, where an answer could break one."""
    if np.isnan(own.consistency):
        return "no answer could break a chain, because pairs that earlier answers imply were not asked"
    share = f"{100 * own.consistency:.1f} %"
    if own.tested is not None and own.tested_only:
        return f"{share} of the {count(own.tested.sum(), 'chain')} that an answer could break are kept"
    by_construction = own.tested is None and own.consistency == 1 and own.implied.any()
    return f"{share} of chains are kept" + (", which may be so by construction" if by_construction else "")


def _assessors(preferences: Preferences, own: Transitivity) -> Table:
    """One row per assessor, of a crowd those with most preferences."""
    rows: list[dict[str, Any]] = []
    for a, name in enumerate(preferences.assessors):
        mine = preferences.assessor == a
        kept = own.consistency_by_assessor.get(name, np.nan)
        cyclic, triples = (int(column[own.assessor == a].sum()) for column in (own.cyclic, own.triples))
        rows.append(
            {
                "assessor": name,
                "preferences": int(mine.sum()),
                "strong": int((preferences.strength[mine] > 1).sum()),
                "Bad": int((preferences.bad_assessor == a).sum()),
                "topics": np.unique(preferences.topic[mine]).size,
                "chains kept": kept,
                "cyclic triples": f"{cyclic:,} of {triples:,}" if not np.isnan(kept) or not triples else "-",
            }
        )
    rows = sorted(rows, key=lambda row: -row["preferences"])[:SHOWN]
    title = "assessors" if len(preferences.assessors) <= SHOWN else f"the {SHOWN} assessors with most preferences"
    return Table.of(title, columns_of(rows), 3)


def _pairs(shared: PairwisePreferences) -> Table:
    frame = shared.to_frame().sort_values("n_pairs", ascending=False, kind="stable").head(SHOWN)
    pairs = cells("{}, {}".format, frame["first"], frame["second"])
    columns = {"assessor": pairs, "pairs both ordered": frame["n_pairs"], "agreement": frame["agreement"]}
    return Table.of("pairs of assessors", columns, 3)


def _grades_table(preferences: Preferences, judgments: Judgments) -> Table:
    agreement = agreement_with_grades(preferences, judgments)
    rows = []
    for p, preferring in enumerate(agreement.assessors):
        for g, grading in enumerate(agreement.graders):
            here = (agreement.assessor == p) & (agreement.grader == g)
            ordered = here & (agreement.difference > 0)
            n = int(agreement.n[ordered].sum())
            row = {
                "assessor": f"{preferring}, {grading}",
                "pairs that grades order": n,
                "agreement": float(agreement.concordant[ordered].sum() / n) if n else np.nan,
                "pairs of equal grade": int(agreement.n[here & (agreement.difference == 0)].sum()),
            }
            rows += [row] if here.any() else []
    return Table.of("preferences compared with grades", columns_of(rows), 3)


def _notes(
    preferences: Preferences, own: Transitivity, closed: Closure, effects: PositionBias | None, confidence: float
) -> Iterator[Note]:
    judged, chains, bad = (int(column.sum()) for column in (closed.judged, closed.by_chain, closed.by_bad))
    yield Note(
        "pairs",
        f"{count(judged, 'was', 'were')} asked and ordered; {count(chains, 'follows', 'follow')} from chains and "
        f"{bad:,} from Bad marks, "
        f"{percent(closed.implied_share, 1)} of all these; chains kept and cycles use the asked ones alone",
    )
    yield Note("chains kept", _kept_chains(own))
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
    if circles := cycles(preferences):
        examples = "; ".join(map(str, circles[:CYCLES_SHOWN]))
        yield Note("cycles", f"{len(circles):,}, as {examples}{' ...' if len(circles) > CYCLES_SHOWN else ''}")
    if effects is not None:
        everyone = position_bias(preferences.pooled(), confidence=confidence)
        n = count(everyone.n[0], "preference")
        share = percent(everyone.share[0], 1)
        yield Note("shown first", f"preferred in {share} {interval(everyone.low[0], everyone.high[0])} of {n}")
        yield from order_notes(confidence)


def _kept_chains(own: Transitivity) -> str:
    """What the column of chains kept counts."""
    text = "share of i over k where i over j and j over k, all three pairs judged"
    return f"{text}; of tested chains alone, because pairs that chains imply were left out" if own.tested_only else text


def _tested(own: Transitivity) -> str:
    """What the share of chains that are kept says about consistency."""
    chains = own.chains.sum()
    if own.tested is None or own.tested_kept is None:
        return (
            "not known, since no order of judging is recorded; random answers keep half of the chains, unless pairs "
            "were left out because earlier answers implied them: then no chain can be broken"
        )
    n_tested = own.tested.sum()
    if not n_tested:
        return (
            f"0 of {chains:,}; no pair was judged whose answer earlier ones implied, so no chain could be broken, and "
            "chains kept say nothing about consistency"
        )
    return (
        f"in {n_tested:,} of {chains:,} i over k was judged last, and the answer could break the chain; "
        f"{own.tested_kept.sum():,} of these were kept, where random answers keep half"
    )


# ---------------------------------------------------------------------- log-worths


def worth_document(worths: BradleyTerry) -> Document:
    """The documents with the highest worth of each topic, with intervals, and the weights of the assessors."""
    highest = list(_highest_worths(worths))
    first = f" (the first {SHOWN})" if len(highest) > SHOWN else ""
    title = f"the document with the highest worth of each topic{first}"
    tables = [Table.of(title, columns_of(highest[:SHOWN]), 2)]
    if len(worths.assessors) > 1:
        order = np.argsort(-worths.assessor_weight, kind="stable")[:SHOWN]
        low = worths.assessor_weight_low[order]
        high = worths.assessor_weight_high[order]
        columns: dict[str, Any] = {
            "assessor": [worths.assessors[a] for a in order],
            "weight": worths.assessor_weight[order],
            "interval": zip(low, high, strict=True),
            "preference for the first shown": worths.intercept[order],
        }
        tables.append(Table.of("assessors", columns, 3))
    ended = "converged" if worths.converged else "DID NOT CONVERGE"
    adversaries = [name for name, r in zip(worths.assessors, worths.assessor_weight, strict=True) if r < 0]
    sentence = (
        f"Bradley-Terry log-worths of {count((~np.isnan(worths.log_worth)).sum(), 'document')} on "
        f"{count(len(worths.pool.topics), 'topic')} from {count(worths.n_comparisons, 'preference')}, {ended} in "
        f"{count(worths.iterations, 'iteration')}"
        + (f"; {', '.join(adversaries)} tend to prefer the worse document." if adversaries else ".")
    )
    notes = [Note("method", worths.method), Note("log-likelihood", f"{worths.log_likelihood:.1f}")]
    if worths.n_resamples:
        n = count(worths.n_resamples, "resample")
        notes.append(Note("intervals", f"{percent(worths.confidence)}, {n} of {worths.resample}; seed: {worths.seed}"))
    parts = int(sum(worths.component[worths.pool.rows(t)].max(initial=-1) for t in range(len(worths.pool.topics))))
    if parts:
        text = f"{parts:,} groups of documents are linked to the rest of their topic by the ridge alone"
        notes.append(Note("components", text))
    return Document(sentence, tuple(tables), tuple(notes), worths.to_frame, signature=worths.signature)


def _highest_worths(worths: BradleyTerry) -> Iterator[dict[str, Any]]:
    for t, topic in enumerate(worths.pool.topics):
        rows = worths.pool.rows(t)
        log_worth = worths.log_worth[rows]
        judged = np.flatnonzero(~np.isnan(log_worth))
        if judged.size < 2:
            continue
        names = worths.documents_of(topic)
        first, second = judged[np.argsort(-log_worth[judged], kind="stable")[:2]]
        yield {
            "topic": topic,
            "documents": judged.size,
            "first": names[first],
            "log-worth": log_worth[first],
            "interval": (worths.low[rows][first], worths.high[rows][first]),
            "second": names[second],
            "P(first over second)": number(worths.probability(topic, names[first], names[second]), 3),
        }
