"""Agreement of preferences as a document: how consistent each assessor is, and whether assessors agree."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from qrowd.errors import NoOverlapError
from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences
from qrowd.preferences import (
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

SHOWN = 30  # rows of a table that could be as long as there are topics or assessors
CYCLES_SHOWN = 2


def preference_document(
    preferences: Preferences,
    judgments: Judgments | None = None,
    *,
    separate_strong: bool = False,
    chains: bool = False,
    confidence: float = 0.95,
) -> Document:
    """How consistent each assessor is, how far assessors agree, and preferences compared with grades.

    judgments : grades to compare with. separate_strong, chains : see `qrowd.preferences.preference_table`. confidence :
    of the intervals of order effects.
    """
    own = transitivity(preferences)
    with warnings.catch_warnings(action="ignore"):  # a note says how many preferences are for a Bad document
        closed = closure(preferences)
    shared = _shared(preferences, chains)
    tables = [_assessors(preferences, own)]
    effects = order_effects(preferences, confidence=confidence)
    if effects is not None:
        tables.append(order_table(effects))
    if shared is not None:
        table = preference_table(preferences, separate_strong=separate_strong, chains=chains)
        columns = {
            "answer": list(table.states),
            **{s: cells(number, p, digits=3) for s, p in zip(table.states, table.probability.T, strict=True)},
            "judgments": cells("{:,.0f}".format, table.total),
        }
        title = "probability that another assessor answers the column where one assessor answers the row"
        tables.append(Table.of(title, columns))
        tables.append(_pairs(shared))
    if judgments is not None:
        tables.append(_grades_table(preferences, judgments))
    notes = tuple(_notes(preferences, own, closed, effects, confidence))
    return Document(_sentence(preferences, own, shared), tuple(tables), notes, own.to_frame)


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
    n_assessors = len(preferences.assessors)
    bad = np.bincount(preferences.bad_assessor, minlength=n_assessors)
    counts = np.bincount(preferences.assessor, minlength=n_assessors)
    strong = np.bincount(preferences.assessor[preferences.strength > 1], minlength=n_assessors)
    order = np.argsort(-counts, kind="stable")[:SHOWN]
    names = [preferences.assessors[a] for a in order]
    topics = [np.unique(preferences.topic[preferences.assessor == a]).size for a in order]
    consistency = [own.consistency_by_assessor.get(name, np.nan) for name in names]
    cyclic, triples = ([column[own.assessor == a].sum() for a in order] for column in (own.cyclic, own.triples))
    circles = [
        f"{part:,} of {whole:,}" if not np.isnan(kept) or not whole else "-"
        for part, whole, kept in zip(cyclic, triples, consistency, strict=True)
    ]
    columns = {
        "assessor": names,
        "preferences": cells("{:,}".format, counts[order]),
        "strong": cells("{:,}".format, strong[order]),
        "Bad": cells("{:,}".format, bad[order]),
        "topics": cells("{:,}".format, topics),
        "chains kept": cells(number, consistency, digits=3),
        "cyclic triples": circles,
    }
    title = "assessors" if n_assessors <= SHOWN else f"the {SHOWN} assessors with most preferences"
    return Table.of(title, columns)


def _pairs(shared: PairwisePreferences) -> Table:
    frame = shared.to_frame().sort_values("n_pairs", ascending=False, kind="stable").head(SHOWN)
    rows = [[f"{r.first}, {r.second}", f"{r.n_pairs:,}", number(r.agreement, 3)] for r in frame.itertuples()]
    return Table("pairs of assessors", ["assessor", "pairs both ordered", "agreement"], rows)


def _grades_table(preferences: Preferences, judgments: Judgments) -> Table:
    agreement = agreement_with_grades(preferences, judgments)
    rows = []
    for p, preferring in enumerate(agreement.assessors):
        for g, grading in enumerate(agreement.graders):
            here = (agreement.assessor == p) & (agreement.grader == g)
            ordered = here & (agreement.difference > 0)
            n, tied = agreement.n[ordered].sum(), agreement.n[here & (agreement.difference == 0)].sum()
            if here.any():
                share = agreement.concordant[ordered].sum() / n if n else np.nan
                rows.append([f"{preferring}, {grading}", f"{n:,}", number(share, 3), f"{tied:,}"])
    header = ["assessor", "pairs that grades order", "agreement", "pairs of equal grade"]
    return Table("preferences compared with grades", header, rows)


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
    if closed.n_against_marks:
        against = count(closed.n_against_marks, "pair has", "pairs have")
        yield Note("Bad marks", f"{against} a document preferred that the same assessor marked as Bad")
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
    if preferences.seconds is not None and not np.isnan(preferences.seconds).all():
        yield Note("seconds", f"median {np.nanmedian(preferences.seconds):.1f}")
    if effects is not None:
        everyone = position_bias(preferences.pooled(), confidence=confidence)
        n, share = count(everyone.n[0], "preference"), percent(everyone.share[0], 1)
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
