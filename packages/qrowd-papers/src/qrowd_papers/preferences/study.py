"""Here or There, recomputed: are preferences consistent, do they rank systems as grades do, and how few are enough?

Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd import files
from qrowd.comparison.rankings import kendall_tau_b
from qrowd.errors import InputError
from qrowd.evaluation import evaluate
from qrowd.model.chance import Chance, Rng, seed_of
from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences
from qrowd.model.runs import Runs
from qrowd.model.scores import known_mean
from qrowd.preferences import (
    agreement_with_grades,
    bradley_terry,
    cycles,
    pairwise_preferences,
    transitivity,
)
from qrowd.reports.document import Document, Table
from qrowd.reports.phrases import interval, number
from qrowd_papers.frames import stacked
from qrowd_papers.preferences import claims as printed
from qrowd_papers.preferences.grades import grades_needed, savings_table
from qrowd_papers.preferences.missing import Missing, missing_preferences
from qrowd_papers.preferences.replays import (
    FIGURE_2,
    PROVEN,
    Condition,
    Curves,
    Topic,
    judgments_needed,
    real_topics,
    simulate_topic,
)

MEASURES = ("ppref@10", "wpref@10", "wpref", "APpref", "compatibility", "compatibility@10")
GRADED = "nDCG@10"
CONDITIONS = (
    *FIGURE_2,
    Condition("random, Bad, stop", "random", stop=PROVEN),
    Condition("kept, Bad, stop", "kept", stop=PROVEN),
    Condition("settled, Bad, stop", "settled", stop=PROVEN),
    Condition("utility, Bad, stop at 95 %", "utility", stop={**PROVEN, "stop_probability": 0.95}),
    Condition("top 5, no stop", "top"),
)
"""Figure 2's curves, and other orders and stops beside them."""
ENGINES = 3
CANDIDATES = 100  # of which three engines return 11.9 different ones a topic, as in section 3.1
QUICK: dict[str, Any] = {"n_topics": 12, "n_systems": 8, "n_resamples": 3}
PAPER_SIZE = "as many documents as in the paper, 20 % Bad"
SIMULATED = (
    ("20 % Bad", 3, 30, 0.2),
    ("no Bad", 3, 30, 0.0),
    ("two engines, 20 % Bad", 2, 30, 0.2),
    (PAPER_SIZE, 3, CANDIDATES, 0.2),
)
"""Names, engines, candidates, share of Bad documents."""


def rank_systems(
    runs: Runs, preferences: Preferences, judgments: Judgments, measures: Sequence[str] = MEASURES
) -> dict[str, dict[str, float]]:
    """{measure: {assessor: tau-b}} of the systems' ranking by preferences with that by graded nDCG@10.

    judgments : of one assessor. Both sides are means over the topics that the preferences cover.
    """
    compared = evaluate(runs, preferences, list(measures))
    graded = evaluate(runs, judgments, [GRADED])
    place = {topic: t for t, topic in enumerate(graded.topics)}
    results: dict[str, dict[str, float]] = {}
    for name in measures:
        results[name] = {}
        for a, assessor in enumerate(preferences.assessors):
            table = compared.of(name)[a]
            shared = [t for t, topic in enumerate(compared.topics) if topic in place and not np.isnan(table[t]).all()]
            ours = known_mean(table[shared], axis=0)
            theirs = known_mean(graded.of(GRADED)[0][[place[compared.topics[t]] for t in shared]], axis=0)
            results[name][assessor] = kendall_tau_b(ours, theirs)
    return results


def log_worths_and_grades(preferences: Preferences, judgments: Judgments) -> tuple[float, int]:
    """Mean over topics of tau-b of Bradley-Terry log-worths and one assessor's grades, and the number of topics."""
    fitted = bradley_terry(preferences)
    single = judgments.single(repeats="first")
    grade = {
        (single.topics[t], single.documents[d]): value
        for t, d, value in zip(single.topic.tolist(), single.document.tolist(), single.value.tolist(), strict=True)
    }
    taus = []
    for t, topic in enumerate(fitted.pool.topics):
        log_worth = fitted.log_worth[fitted.pool.rows(t)]
        grades = [grade.get((topic, name), np.nan) for name in fitted.documents_of(topic)]
        known = ~np.isnan(log_worth) & ~np.isnan(grades)
        if known.sum() > 1:
            tau = kendall_tau_b(log_worth[known], np.array(grades)[known])
            if not np.isnan(tau):
                taus.append(tau)
    return float(np.mean(taus)), len(taus)


def preferences_page(
    data: str | None = None,
    *,
    quick: bool = False,
    n_topics: int = 200,
    rng: Rng = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Document:
    """Figure 2's curves on simulated topics and, where there is data, on real ones; and what real preferences are like.

    data : folder that holds dl21, or None for simulated topics alone. quick : a minute's version.
    n_topics : simulated, of three engines' first five; as many again without Bad documents.
    """
    folder = Path(data or "") / "dl21"
    if data is not None and not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder; --data wants one that holds dl21")
    seed = seed_of(rng)
    chance = Chance.of(seed)
    n = 20 if quick else n_topics
    steps = len(SIMULATED) + 1 + (0 if data is None else 3)
    finished: list[str] = []

    def advance(what: str) -> None:
        finished.append(what)
        if progress:
            progress(what, len(finished), steps)

    curves: dict[str, Curves] = {}
    graded: dict[str, NDArray[np.float64]] = {}
    for name, engines, candidates, bad in SIMULATED:
        topics = [
            simulate_topic(n_systems=engines, n_candidates=candidates, bad_share=bad, rng=chance.stream(name, i))
            for i in range(n)
        ]
        curves[f"simulated, {name}"] = judgments_needed(topics, CONDITIONS, rng=seed)
        if bad:  # grades are the same without Bad marks
            graded[f"{engines} engines' first five of {candidates}"] = grades_needed(topics, rng=seed)
        advance(name)
    study = printed.simulated_study(rng=chance.stream("study"))
    measured = {"simulated": printed.measure_scores(study.runs, study.graded)}
    incomplete = missing_preferences(rng=chance.stream("missing"), **(QUICK if quick else {}))
    advance("missing pairs")
    tables: list[Table] = []
    notes = [
        f"simulated: {n:,} topics each, {ENGINES} engines' first five of 30 candidates unless it says two engines; as "
        f"many documents as in the paper (11.9 a topic): of {CANDIDATES}"
    ]
    if data is not None:
        runs = files.read_runs([str(folder / "runs")])
        judgments = files.read_preferences([str(folder / "preferences")])
        gold = files.read_judgments([str(folder / "qrels.nist.txt")])
        some = runs.systems[:: -(-len(runs.systems) // ENGINES)][:ENGINES]
        for assessor in judgments.assessors:
            asked = list(real_topics(judgments.select(assessors=[assessor]), runs, systems=some, depth=10, rng=seed))
            curves[f"dl21, {assessor}"] = judgments_needed(asked, CONDITIONS, rng=seed)
            notes.append(_about(f"dl21, {assessor}", asked, some))
            advance(assessor)
        tables += [_consistency(judgments, gold), _rankings(rank_systems(runs, judgments, gold), judgments)]
        measured["dl21, NIST's grades"] = printed.measure_scores(runs, gold)
        advance("rankings")
    tables = [
        _needed(curves),
        _beside_figure(curves),
        savings_table(graded),
        _robustness(incomplete),
        *tables,
        printed.statements(study).table(),
        printed.measures_claims(measured).table(),
        *(_figure(curve, name) for name, curve in curves.items()),
    ]
    notes += [
        "judgments: preferences and Bad marks; a stop is proven unless it says 95 %: no completion of what is unknown, "
        "later marks included, changes the order of two systems by ppref",
        f"tau-b: of the systems' ranking with that by NIST's {GRADED}, over the topics that the assessor covers",
        f"what the text says, and Table 5: simulated are {len(study.runs.topics)} queries, the first five of {ENGINES} "
        "engines, two assessors a query for each kind of judgment; how often each label and Bad are said was set near "
        "the printed shares",
        "Table 5: gains 2^g - 1, the first five documents, preferences implied by the same assessor's grades; systems "
        "that a measure holds equal on a topic are left out of agreement",
        "grades: as many of each as in section 3.2, along the order of the same simulated topics; DCG@5 with gains "
        "2^g - 1; without a grade for a document that cannot change which engine is better",
        f"missing pairs: {incomplete.n_topics} simulated topics, first ten of {incomplete.n_systems} systems, one "
        f"assessor; {incomplete.n_resamples} draws for each share; sd of a system's mean score, 95 % interval of tau-b",
        f"seed: {seed}",
    ]

    frames = {name: curve.to_frame() for name, curve in curves.items()}
    return Document(_sentence(curves), tuple(tables), tuple(notes), lambda: stacked(frames, "topics_of"))


def _beside_figure(curves: Mapping[str, Curves]) -> Table:
    curve = curves[f"simulated, {PAPER_SIZE}"]
    n = int(curve.documents.max())
    there = {
        name: float(curve.judgments[(curve.documents == n) & (curve.condition == name)][0])
        for name in ("all pairs", "sorting, Bad")
    }
    needed = {condition.name: _mean(curve, condition.name, curve.per_document) for condition in FIGURE_2}
    return printed.figure_claims(needed, (n, there)).table()


def _about(name: str, asked: Sequence[Topic], engines: Sequence[str]) -> str:
    covered = np.mean([topic.answers.coverage for topic in asked])
    return (
        f"{name}: {len(asked)} topics, first ten of {', '.join(engines)}; {100 * covered:.0f} % of pairs were really "
        "judged, the others go by the share of pairs that a document won"
    )


def _mean(curve: Curves, name: str, column: NDArray[np.float64]) -> float:
    here = curve.condition == name
    return float(np.average(column[here], weights=curve.topics[here]))


def _sentence(curves: Mapping[str, Curves]) -> str:
    times = {name: _mean(curve, "utility, Bad, stop", curve.per_document) for name, curve in curves.items()}
    judgments = ", ".join(f"{value:.2f} n ({name})" for name, value in times.items())
    return (
        f"Here or There, recomputed. Asking by utility and stopping when the order of systems is proven takes "
        f"{judgments} judgments for n documents. The paper reports about n."
    )


def _needed(curves: Mapping[str, Curves]) -> Table:
    rows = []
    for condition in CONDITIONS:
        cells = []
        for curve in curves.values():
            cells += [
                number(_mean(curve, condition.name, curve.per_document), 2),
                number(100 * _mean(curve, condition.name, curve.error), 1),
            ]
        rows.append([condition.name, *cells])
    header = ["order", *(title for name in curves for title in (f"{name}: judgments / n", "error %"))]
    return Table("judgments needed, and pairs of systems in another order than by all judgments", header, rows)


def _robustness(incomplete: Missing) -> Table:
    """Section 6: measures and order of systems where pairs are missing at random."""
    rows = [
        [
            f"{row.measure}, {100 * row.missing:.0f} % missing{', chains inferred' if row.inferred else ''}",
            number(round(row.bias, 3) + 0.0, 3),  # without a sign of zero
            number(row.sd, 3),
            number(row.tau, 2),
            interval(row.low, row.high, 2),
        ]
        for row in incomplete.to_frame().itertuples()
    ]
    header = ["pairs", "change of scores", "sd", "tau-b with all pairs", "interval"]
    return Table("section 6: measures when pairs are missing at random", header, rows)


def _figure(curve: Curves, name: str) -> Table:
    """Figure 2: mean judgments by number of documents."""
    sizes = sorted(set(curve.documents.tolist()))
    rows = []
    for n in sizes:
        row = [str(n), str(int(curve.topics[(curve.documents == n) & (curve.condition == CONDITIONS[0].name)].sum()))]
        for condition in CONDITIONS:
            at = np.flatnonzero((curve.documents == n) & (curve.condition == condition.name))
            row.append(number(float(curve.judgments[at[0]]), 1))
        rows.append(row)
    return Table(
        f"{name}: judgments by number of documents", ["documents", "topics", *(one.name for one in CONDITIONS)], rows
    )


def _consistency(preferences: Preferences, gold: Judgments) -> Table:
    own = transitivity(preferences)
    rows = []
    pairs = pairwise_preferences(preferences)
    for a, name in enumerate(preferences.assessors):
        one = preferences.select(assessors=[name])
        beside = agreement_with_grades(one, gold)
        tau, n = log_worths_and_grades(one, gold)
        mine = own.assessor == a
        rows.append(
            [
                name,
                f"{len(one):,}",
                number(own.by_assessor[name], 3),
                f"{own.cyclic[mine].sum():,} of {own.triples[mine].sum():,}",
                str(len(cycles(one))),
                number(float(np.nanmean(np.delete(pairs.agreement[a], a))), 3),
                number(beside.agreement, 3),
                f"{tau:.3f} ({n} topics)",
            ]
        )
    header = [
        "assessor", "preferences", "chains kept", "cyclic triples", "sets with a cycle", "alike with the other",
        "alike with NIST's grades", "tau-b of log-worths with grades",
    ]  # fmt: skip
    return Table("dl21: what the preferences are like (the paper: over 99 % of triples are transitive)", header, rows)


def _rankings(taus: Mapping[str, Mapping[str, float]], preferences: Preferences) -> Table:
    rows = [[name, *(number(taus[name][assessor], 3) for assessor in preferences.assessors)] for name in taus]
    return Table(f"dl21: tau-b of 63 systems' ranking with NIST's {GRADED}", ["measure", *preferences.assessors], rows)
