"""Preferences as documents: consistency of assessors, agreement, log-worths of documents, and battles of systems."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from qrowd.comparison import correlations, rank_intervals
from qrowd.comparison.mean_squares import Over
from qrowd.errors import NoOverlapError, check_choice
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Rng
from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences
from qrowd.model.signature import signature_of, with_signature
from qrowd.preferences import (
    BradleyTerry,
    Closure,
    PairwisePreferences,
    Transitivity,
    agreement_with_grades,
    closure,
    cycles,
    pairwise_preferences,
    position_bias,
    preference_table,
    system_worths,
    transitivity,
)
from qrowd.preferences.bradley_terry import Ties
from qrowd.preferences.system_worths import worths_by_assessor
from qrowd.reports.document import Document, Note, Table
from qrowd.reports.order_effect import order_effects, order_notes, order_table
from qrowd.reports.phrases import cells, count, interval, number, percent, span
from qrowd.reports.system_tables import differences_to, may_be_best, ranks_note
from qrowd.reports.table import Records, columns_of

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
    if not preferences.assessors:
        raise NoOverlapError("agreement needs at least two assessors; there are no preferences")
    own = transitivity(preferences)
    with warnings.catch_warnings(action="ignore"):  # a note says how many preferences are for a Bad document
        closed = closure(preferences)
    shared = _shared(preferences)
    tables = [_assessors(preferences, own)]
    order_tables, notes_on_order = _order_effect(preferences, confidence)
    tables += order_tables
    if shared is not None:
        table = preference_table(preferences)
        columns: dict[str, Any] = {"answer": table.states, **dict(zip(table.states, table.probability.T, strict=True))}
        columns["judgments"] = cells("{:,.0f}".format, table.total)
        title = "probability that another assessor answers the column where one assessor answers the row"
        tables += [Table.of(title, columns, 3), _pairs(shared)]
    if judgments is not None:
        tables.append(_grades_table(preferences, judgments))
    notes = (*_notes(preferences, own, closed), *notes_on_order)
    return Document(_sentence(preferences, own, shared), tuple(tables), notes, own.to_frame)


def _order_effect(preferences: Preferences, confidence: float) -> tuple[list[Table], list[Note]]:
    """What being shown first does to each assessor and to all together; nothing where nobody recorded it."""
    effects = order_effects(preferences, confidence=confidence)
    if effects is None:
        return [], []
    everyone = position_bias(preferences.pooled(), confidence=confidence)
    shown_first = (
        f"preferred in {percent(everyone.share[0], 1)} of {count(everyone.n[0], 'preference')} by all, "
        f"{interval(everyone.low[0], everyone.high[0])} by itself"
    )
    return [order_table(effects)], [Note("shown first", shown_first), *order_notes(confidence)]


def _shared(preferences: Preferences) -> PairwisePreferences | None:
    """None where no two assessors ordered a pair in common."""
    try:
        return pairwise_preferences(preferences)
    except NoOverlapError:
        return None


def _sentence(preferences: Preferences, own: Transitivity, shared: PairwisePreferences | None) -> str:
    n = len(preferences.assessors)
    source = f"by {count(n, 'assessor')} on {count(len(preferences.topics), 'topic')}"
    parts = [f"{count(_counts(preferences).sum(), 'preference')} {source}"]
    if not np.isnan(own.rate):
        parts.append(_consistency(own))
    if shared is not None:
        parts.append(f"two assessors order {100 * shared.mean_agreement:.0f} % of the pairs that both ordered alike")
    elif n > 1:
        parts.append("no two assessors ordered a pair in common")
    return "; ".join(parts) + "."


def _counts(preferences: Preferences) -> Floats:
    """(assessors,) preferences of each; a tie, which is half a preference each way, is one."""
    return np.asarray(np.bincount(preferences.assessor, preferences.weight, len(preferences.assessors)), np.float64)


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
    rows: Records = []
    counts = _counts(preferences).round().astype(int)
    for a, name in enumerate(preferences.assessors):
        mine = preferences.assessor == a
        kept = own.consistency_by_assessor.get(name, np.nan)
        cyclic, triples = (int(column[own.assessor == a].sum()) for column in (own.cyclic, own.triples))
        rows.append(
            {
                "assessor": name,
                "preferences": counts[a],
                "strong": int((preferences.strength[mine] > 1).sum()),
                "Bad": int((preferences.bad_assessor == a).sum()),
                "topics": np.unique(preferences.topic[mine]).size,
                "chains kept": kept,
                "cyclic triples": f"{cyclic:,} of {triples:,}" if not np.isnan(kept) or not triples else "-",
            }
        )
    rows.sort(key=lambda row: -row["preferences"])
    return Table.of("assessors", columns_of(rows), 3).first(SHOWN)


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


def _notes(preferences: Preferences, own: Transitivity, closed: Closure) -> Iterator[Note]:
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
    title = "the document with the highest worth of each topic"
    tables = [Table.of(title, columns_of(highest), 2).first(SHOWN)]
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


# ---------------------------------------------------------------------- battles of systems


def battle_document(
    preferences: Preferences,
    *,
    ties: Ties = "davidson",
    resample: Over = "both",
    confidence: float = 0.95,
    n_resamples: int = 10_000,
    rng: Rng = 1,
) -> Document:
    """Show which systems may be the best by battles on all topics, and whether the assessors agree on that.

    resample : "both" topics and assessors, or "topics" with the assessors as they are.
    """
    check_choice("resample", resample, Over)
    worths = system_worths(preferences if resample == "both" else preferences.pooled(), ties=ties)
    ranks = rank_intervals(worths.scores, over=resample, confidence=confidence, n_resamples=n_resamples, rng=rng)
    frame = worths.to_frame().sort_values("log_worth", ascending=False, kind="stable")
    against = differences_to(ranks, frame["system"].iloc[0], worths.scores).to_frame()
    against = against.assign(system=ranks.systems, rank_low=ranks.rank_low, rank_high=ranks.rank_high)
    frame = frame.merge(against, "left", "system")
    columns: dict[str, Any] = {
        "system": frame["system"],
        "log-worth": frame["log_worth"],
        "rank interval": cells(span, frame["rank_low"], frame["rank_high"]),
        "difference": frame["difference"],
        "interval": zip(frame["low"], frame["high"], strict=True),
        "p": frame["p"],
        "wins/ties/losses": cells("{:g}/{:g}/{:g}".format, frame["wins"], frame["ties"], frame["losses"]),
    }
    tables = [Table.of("systems, and their differences to the first", columns, 3)]
    if len(preferences.assessors) > 1:
        tables.append(_judges(preferences))
    if (shared := _shared(preferences)) is not None:
        tables.append(_pairs(shared))
    order_tables, notes = _order_effect(preferences, confidence)
    if order_tables:
        notes.append(Note("log-worths", "do not allow for which of two answers was shown first"))
    if np.isnan(worths.log_worth).any():
        text = "for systems that won, or lost, all battles against the others, or met none of them"
        notes.append(Note("no log-worth", f"{text}: it has no bound until there are more battles"))
    if worths.nu:
        notes.append(Note("ties", f"a third outcome (Davidson), nu {worths.nu:.3f}; both bad counts as a tie"))
    notes.append(ranks_note(ranks, "rank intervals, p and intervals of differences to the first"))
    n_tied = worths.ties.sum() / 2
    sentence = (
        f"{count(worths.wins.sum() + n_tied, 'battle')} ({count(n_tied, 'tie')}, {preferences.bad_topic.size // 2:,} "
        f"of them both bad) of {count(len(frame), 'system')} by {count(len(preferences.assessors), 'assessor')} on "
        f"{count(len(preferences.topics), 'topic')}: {may_be_best(ranks)}."
    )
    signature = signature_of(ranks, ["bradley-terry"], preferences=preferences, ties=ties)
    return Document(sentence, (*tables, *order_tables), tuple(notes), lambda: frame, signature=signature)


def _judges(preferences: Preferences) -> Table:
    """Each assessor's ranking, and how it agrees with that of the others; of a crowd those with most battles."""
    battles = _counts(preferences)
    order = np.argsort(-battles, kind="stable")
    scores = worths_by_assessor(preferences)
    worths = scores.values[0, :, 0]
    first = np.argsort(-worths, axis=1, kind="stable")[:, :3]
    columns: dict[str, Any] = {
        "assessor": [preferences.assessors[a] for a in order],
        "battles": battles[order].astype(int),
        "tau-b with the others": correlations(scores).tau_b[order],
        "first systems": [" > ".join(scores.systems[s] for s in first[a] if not np.isnan(worths[a, s])) for a in order],
    }
    return Table.of("assessors", columns, 3).first(SHOWN)
