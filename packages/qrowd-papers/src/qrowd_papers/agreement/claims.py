"""Considering Assessor Agreement as a page: its tables and what its figures show, the printed numbers beside ours.

Maddalena, Roitero, Demartini, Mizzaro (2017), Considering Assessor Agreement in IR Evaluation. ICTIR.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.agreement.by_topic import SIGNIFICANCE
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Rng
from qrowd.reports.document import Document, Table
from qrowd.reports.phrases import number, probability
from qrowd_papers.agreement.scatter import Scatter
from qrowd_papers.agreement.study import (
    MISSING,
    UNBROKEN,
    AgreementStudy,
    CollectionFound,
    Progress,
    TopicRemoval,
    agreement_study,
    table_2,
)
from qrowd_papers.claims import MATCH, NOT_PUBLIC, Claim, Claims, printed_numbers, verdict

if TYPE_CHECKING:
    import pandas

SETS = ("0", "1", "2", "01", "02", "12", "012")
PRINTED = printed_numbers("agreement")
PRINTED_2: dict[str, list[float]] = PRINTED["table_2"]
MARKED_2 = {(first, second) for first, others in PRINTED["marked_2"].items() for second in others}
PRINTED_3: dict[int, list[str]] = {int(bins): row for bins, row in PRINTED["table_3"].items()}
NO_DATA = "not reachable: this page was made without rf10"
INSIDE = verdict(False, "no reading that was tried gives it; other choices of five labels come as near")
OTHER_READING = verdict(False, "another reading gives it")
SIZES = (5, 10, 20, 30, 40, 50)


def agreement_page(
    data: str | None = None, *, quick: bool = False, rng: Rng = 1, progress: Progress | None = None
) -> Document:
    """Tables 2 and 3 and what the figures show, with a verdict on every printed number.

    data, quick, rng, progress : see `agreement_study`.
    """
    return page_of(agreement_study(data, quick=quick, rng=rng, progress=progress))


def page_of(study: AgreementStudy) -> Document:
    """The same from a study that was computed before."""
    second = _table_2(study)
    tables = (
        _statements(study).table(),
        second.table(),
        _readings(study),
        _table_3(study).table(),
        _levels(study),
        _removed(study),
        _scatters(study),
    )
    equal, other, inside = (
        sum(claim.verdict.startswith(one) for claim in second.claims) for one in (MATCH, OTHER_READING, INSIDE)
    )
    outcome = "the paper's labels were not at hand, so nothing of it could be checked"
    if study.crowd.public:
        outcome = (
            f"of Table 2's {len(second.claims)} correlations {equal} agree with print to two digits, {other} more "
            f"under another reading of section 3.1.1, and {inside} lie within what other choices of five labels change"
        )
    value = study.in_crowd.by_gold.of(study.in_crowd.by_gold.names[-1])
    sentence = (
        f"Considering Assessor Agreement, recomputed. Alpha differs by topic, from {np.nanmin(value):.2f} to "
        f"{np.nanmax(value):.2f} ({study.crowd.name}); {outcome}."
    )
    return Document(sentence, tables, _notes(study), lambda: _frame(study))


# ---------------------------------------------------------------------- tables


def _table_2(study: AgreementStudy) -> Claims:
    results = study.in_crowd
    pairs, value = table_2(results.by_gold)
    strict = table_2(results.strict)[1]
    readings = {name: table_2(one)[1] for name, one in results.readings.items()}
    frame = results.by_gold.correlations()
    low, high = np.quantile(results.orders, [0.025, 0.975], axis=0)
    claims = []
    for i, (first, second) in enumerate(pairs):
        printed = printed_2(first, second)
        text = f"{printed:.2f}{'*' * ((first, second) in MARKED_2)}"
        agreement = NO_DATA
        if study.crowd.public:
            others = {name: float(column[i]) for name, column in readings.items()}
            agreement = verdict_2(printed, float(value[i]), others, low[i], high[i])
        star = "*" * int(frame["significant"][i])
        ours = (
            f"{value[i]:.2f}{star}",
            float(readings[UNBROKEN][i]),
            f"{low[i]:.2f} to {high[i]:.2f}",
            float(strict[i]),
        )
        claims.append(Claim("Table 2", f"{_set(first)}, {_set(second)}", text, ours, agreement))
    n, n_strict = (int(one.complete.sum()) for one in (results.by_gold, results.strict))
    header = [
        "alpha of", "printed", f"two labels or more ({n} topics)", UNBROKEN, "other first five labels, 95 %",
        f"five labels ({n_strict} topics)",
    ]  # fmt: skip
    title = (
        f"Table 2 on {study.crowd.name}: correlation over topics of alpha on documents of some gold levels (* p < .005)"
    )
    return Claims(title, header, claims)


def _readings(study: AgreementStudy) -> Table:
    """How far other readings of section 3.1.1 are from the printed Table 2."""
    rows = []
    for name, results in study.in_crowd.readings.items():
        pairs, value = table_2(results)
        away = np.array([value[i] - printed_2(*pair) for i, pair in enumerate(pairs)])
        alpha = results.of(results.names[-1])[results.complete]
        cells = [
            number(float(each), 3) for each in (alpha.min(), alpha.max(), np.sqrt(np.mean(away**2)), np.abs(away).max())
        ]
        rows.append([name, str(int(results.complete.sum())), *cells])
    away = study.in_crowd.orders - [printed_2(*pair) for pair in study.in_crowd.pairs]
    cells = [number(float(np.median(each)), 3) for each in (np.sqrt((away**2).mean(axis=1)), np.abs(away).max(axis=1))]
    rows.append(["other first five labels (median)", rows[0][1], "-", "-", *cells])
    header = ["reading", "topics", "lowest alpha", "highest", "rms difference from print", "largest"]
    return Table(f"Table 2 on {study.crowd.name} under other readings of section 3.1.1", header, rows)


def printed_2(first: str, second: str) -> float:
    """The correlation that Table 2 prints for two sets."""
    return PRINTED_2[first][SETS.index(second) - SETS.index(first) - 1]


def verdict_2(printed: float, ours: float, readings: Mapping[str, float], low: float, high: float) -> str:
    """readings : {what was done otherwise: value}. low, high : other choices of five labels give, in 95 % of them."""
    if round(float(ours), 2) == printed:
        return MATCH
    others = [name for name, value in readings.items() if round(value, 2) == printed]
    if others:
        return f"{OTHER_READING}: {'; '.join(others)}"
    if low - 0.005 <= printed <= high + 0.005:
        return INSIDE
    return verdict(False, "more than 95 % of other choices of five labels do; the reason is not known")


def _set(name: str) -> str:
    return "A" if name == SETS[-1] else name


def _table_3(study: AgreementStudy) -> Claims:
    claims = []
    for bins, printed in PRINTED_3.items():
        shown = f"{bins} bins" if bins else "no bins"
        claims.append(Claim("Table 3", f"{shown}, printed", printed))
        for collection, results in zip(study.collections, study.in_collections, strict=True):
            table = results.ease.to_frame().set_index(["bins", "agreement"]).loc[bins]
            ours = [_starred(table.loc[name]) if name in results.ease.names else "-" for name in SETS]
            claims.append(Claim("Table 3", f"{shown}, {collection.name}", (), ours, "other data"))
    title = "Table 3: correlation of alpha with ease (mean nDCG), by gold level (* p < .005)"
    return Claims(title, ["topics", *(f"alpha {_set(name)}" for name in SETS)], claims)


def _starred(one: Any) -> str:
    return number(float(one["pearson"]), 2) + "*" * bool(one["significant"])


def _levels(study: AgreementStudy) -> Table:
    """Figure 3 in numbers."""
    rows = []
    for title, results in (
        (f"{study.crowd.name}, two labels or more", study.in_crowd.by_gold),
        (f"{study.crowd.name}, five labels", study.in_crowd.strict),
        ("magnitudes, simulated", study.in_magnitudes.by_gold),
    ):
        value = results.value[results.complete]
        for column, name in enumerate(results.names):
            known = value[~np.isnan(value[:, column]), column]
            shown = "A" if column == len(results.names) - 1 else name
            cells = [number(float(each), 3) for each in (known.min(), np.median(known), known.mean(), known.max())]
            rows.append([title, shown, str(known.size), *cells])
    header = ["judgments", "gold levels", "topics", "lowest", "median", "mean", "highest"]
    return Table("Figures 1 and 3: alpha of topics, by the gold level of the documents", header, rows)


def _removed(study: AgreementStudy) -> Table:
    """Figures 4 and 5 in numbers."""
    rows = []
    for collection, results in zip(study.collections, study.in_collections, strict=True):
        sizes = results.removal.n_topics
        for size in (*(size for size in SIZES if size < sizes.max()), int(sizes.max())):
            at = int(np.flatnonzero(sizes == size)[0])
            left = (*results.removal.score[:, at], *results.removal.tau[:, at])
            cells = [number(float(value), 3) for value in left]
            rows.append([collection.name, str(size), *cells])
    kinds = ("low agreement", "high agreement", "random")
    header = ["data", "topics left", *(f"{what}: {kind}" for what in ("nDCG", "tau") for kind in kinds)]
    return Table("Figures 4 and 5: mean nDCG, and tau with the ranking on all topics, of the topics left", header, rows)


def _scatters(study: AgreementStudy) -> Table:
    rows = []
    for name, results in _against(study):
        for side, of in enumerate(("systems", "topics")):
            n = (len(results.systems), len(results.topics))[side]
            rows.append(
                [name, of, str(n), number(float(results.pearson[side]), 3), number(float(results.tau[side]), 3)]
            )
    header = ["data", "means of", "n", "Pearson", "tau-b"]
    return Table("Figure 8: agreement-aware nDCG@10 against average precision", header, rows)


def _against(study: AgreementStudy) -> Iterator[tuple[str, Scatter]]:
    yield "magnitudes, simulated", study.in_magnitudes.against
    for collection, results in zip(study.collections, study.in_collections, strict=True):
        yield collection.name, results.aware


# ---------------------------------------------------------------------- what text and figures say


def _statements(study: AgreementStudy) -> Claims:
    """Everything that the text says in numbers or words and that can be looked at here."""
    columns = ["where", "what", "printed", "ours", "data", "holds here"]
    return Claims("What the text and the figures say", columns, [*_crowd_claims(study), *_other_claims(study)])


def _statement(where: str, what: str, printed: str, ours: str, data: str, holds: bool | None, agreement: str) -> Claim:
    """holds : whether the statement is true of these data; None if they were simulated so that it is."""
    return Claim(where, what, printed, (ours, data, "-" if holds is None else "yes" if holds else "no"), agreement)


def _crowd_claims(study: AgreementStudy) -> list[Claim]:
    results, name = study.in_crowd, study.crowd.name
    whole = results.by_gold.names[-1]
    value = results.by_gold.of(whole)
    value = np.sort(value[~np.isnan(value)])
    above = int((value >= 0.35).sum())
    rest = f"{above} topic{'s' * (above != 1)} above .35, the others up to {value[value < 0.35].max():.3f}"
    levels = [
        float(np.nanmedian(results.by_gold.of(level)[results.by_gold.complete])) for level in results.by_gold.names[:3]
    ]
    ordered = levels[2] < levels[0] <= levels[1] + 0.005 and levels[2] < levels[1]
    n = int(results.by_gold.complete.sum())
    strict = results.strict
    other = strict.of(whole)[strict.complete]
    near = f"[{value[0]:.3f}, {value[-1]:.3f}]; all with five labels: [{other.min():.3f}, {other.max():.3f}]"
    rows = [
        ("", "labels of documents with gold, five at most", "around 15,000",
         f"{results.n_labels[0]:,}; of documents with five: {results.n_labels[1]:,}",
         14_500 < results.n_labels[0] < 15_600, "another number of labels"),
        ("3.1.1", "topics with documents of every gold level", "89",
         f"{n}; with five labels: {int(strict.complete.sum())}", n == 89, "another number of topics"),
        ("Figure 1", f"range of alpha over {value.size} topics", "about [-0.1, 0.3]", near,
         (round(value[0], 1), round(value[-1], 1)) == (-0.1, 0.3), rest),
        ("3.2", "interval and ordinal alpha", "equivalent", f"correlation {results.ordinal:.3f}",
         results.ordinal > 0.99, "they are not alike here"),
        ("Figure 3", "median alpha where gold is 0, 1, 2", "lowest where 2; 1 not below 0",
         ", ".join(number(level, 3) for level in levels), ordered, "the levels stand in another order"),
    ]  # fmt: skip
    if not study.crowd.public:
        return [_statement(*row[:4], name, None, NO_DATA) for row in rows]
    return [_statement(*row[:4], name, bool(row[4]), verdict(*row[4:])) for row in rows]


def _other_claims(study: AgreementStudy) -> list[Claim]:
    both = list(zip((one.name for one in study.collections), study.in_collections, strict=True))
    magnitudes = study.in_magnitudes
    alpha = magnitudes.by_gold
    whole = alpha.of(alpha.names[-1])
    level = [float(np.nanmedian(alpha.of(name))) for name in alpha.names[:2]]
    moved = float(np.nanmax(np.abs(magnitudes.matched.mean - magnitudes.matched.whole)))
    apart = float(np.nanmedian(magnitudes.matched.whole[:, 1] - alpha.of(alpha.names[1])))
    ease = magnitudes.ease.correlations[-1][0]
    systems, topics = magnitudes.against.pearson
    listed, ideal = (f"{one.mean[-1]:.2f}, s.d. {one.sd[-1]:.2f}" for one in (magnitudes.listed, magnitudes.ideal))
    shares = [above_share(high, low) for high, low in magnitudes.checks.values()]
    rows: list[tuple[str, str, str, str, str, bool | None]] = []

    def each(where: str, what: str, printed: str, ours: Callable[[CollectionFound], tuple[str, bool]]) -> None:
        for name, one in both:
            text, holds = ours(one)
            rows.append((where, what, printed, text, name, holds))

    each("3.3", "scores filled in give the same means", "correlations around .98", _filled)
    each("Figure 2", "topics of high agreement are easier, p < .005", "r = .48*, more in bins", _easier)
    rows += [
        ("4.2", "the same on magnitudes", "around 0", f"r = {ease.r:.2f} (p {_p(ease.p)})", "simulated", ease.p > 0.05),
        ("Figure 3", "range of alpha", "about [0.25, 0.45]", f"[{np.nanmin(whole):.2f}, {np.nanmax(whole):.2f}]",
         "simulated", None),
        ("Figure 3", "median alpha where gold is 0, 1", "lower where 1", ", ".join(number(one, 2) for one in level),
         "simulated", level[1] < level[0]),
        ("Figure 3", "subsets of documents have the same alpha", "in practice overlapping",
         f"means move by {moved:.2f} at most; relevant documents lie {apart:.2f} lower", "simulated",
         moved < max(apart, 0.05)),
    ]  # fmt: skip
    each("Figure 4", "nDCG on the half of the topics with high, low agreement", "higher, lower", _halves)
    each("5.1", "the same when 16 bins of topics are removed", "similar patterns", _binned_halves)
    each("Figure 5", "mean tau on topics of high, low agreement", "higher, lower", _taus)
    rows += [
        ("Figure 6", "a magnitude of H is above one of N", "as expected",
         f"{min(shares):.0%} to {max(shares):.0%} of pairs", "simulated", min(shares) > 0.5),
        ("Figure 7", "gains spread, and more or less so by document", "as drawn",
         f"a list: mean {listed}; the ideal: {ideal}", "simulated", None),
        ("Figure 8", "related to MAP but different", "systems and topics", f"r = {systems:.2f} and {topics:.2f}",
         "simulated", 0 < systems < 1 and 0 < topics < 1),
    ]  # fmt: skip
    for name, one in both:
        text = f"r = {one.aware.pearson[0]:.2f} and {one.aware.pearson[1]:.2f}"
        rows.append(("Figure 8", "the same", "systems and topics", text, name, bool((one.aware.pearson > 0).all())))
    return [_statement(*row, NOT_PUBLIC) for row in rows]


def _filled(results: CollectionFound) -> tuple[str, bool]:
    by_system, by_topic = results.interpolated
    return f"{by_system:.3f} by system, {by_topic:.3f} by topic", min(by_system, by_topic) >= 0.97


def _easier(results: CollectionFound) -> tuple[str, bool]:
    single = results.ease.correlations[-1][-1]
    bins = results.ease.correlations[-1][results.ease.bins.index(16)]
    return (
        f"r = {single.r:.2f} (p {_p(single.p)}); in 16 bins {bins.r:.2f}",
        single.r > 0 and single.p < SIGNIFICANCE,
    )


def _p(value: float) -> str:
    text = probability(value)
    return text if text.startswith("<") else f"= {text}"


def _halves(results: CollectionFound) -> tuple[str, bool]:
    return _half_of(results.removal)


def _binned_halves(results: CollectionFound) -> tuple[str, bool]:
    return _half_of(results.in_bins)


def _half_of(removal: TopicRemoval) -> tuple[str, bool]:
    half = int(np.flatnonzero(removal.n_topics == removal.n_topics.max() // 2)[0])
    low, high, chance = removal.score[:, half]
    sides = removal.low[0, half], removal.high[0, half]
    text = f"{high:.3f}, {low:.3f}; random {chance:.3f}, 95 % in [{sides[0]:.3f}, {sides[1]:.3f}]"
    return text, bool(low < sides[0] and high > sides[1])


def _taus(results: CollectionFound) -> tuple[str, bool]:
    some = results.removal.n_topics < results.removal.n_topics.max()
    low, high, chance = np.nanmean(results.removal.tau[:, some], axis=1).tolist()
    return f"{high:.3f}, {low:.3f}; random {chance:.3f}", high > low


def above_share(high: Floats, low: Floats) -> float:
    """Share of pairs whose first is above the second; half of those that tie."""
    ordered = np.sort(low)
    below = np.searchsorted(ordered, high, side="left") + np.searchsorted(ordered, high, side="right")
    return float(below.mean() / (2 * low.size))


# ---------------------------------------------------------------------- notes and numbers


def _notes(study: AgreementStudy) -> tuple[str, ...]:
    scores = "nDCG by gold grades, alpha of all documents that the panel judged"
    return (
        f"{study.crowd.name}: {study.crowd.about}; interval alpha, the first five labels of every document in the "
        "order of the file, gold 0, 1 or 2",
        "five labels: documents with fewer are left out, as section 3.1.1 says; but then fewer topics than the printed "
        "89 have documents of all levels, so Table 2 is set beside documents with two labels or more",
        f"other first five labels: {len(study.in_crowd.orders)} times the labels of every document were shuffled "
        "before the first five were taken",
        *(f"{one.name}: {one.about}; {scores}" for one in study.collections),
        f"magnitudes: {study.magnitudes.about}; units brought together by geometric means, the first ten magnitudes of "
        "every document for alpha; their noise was chosen so that alpha is about as high as the paper's",
        "AANDCG@10: section 6.1.2 with the original discount and the mixture; on magnitudes gains are logarithms, "
        "elsewhere shares of each assessor's scale",
        f"scores filled in: {MISSING:.0%} of the scores were taken out at random first, as many as the paper missed",
        "holds here: whether what the paper says is so on these data; - where the data were made so",
        f"seed: {study.seed}" + ("; quick: fewer repetitions, a smaller panel of magnitudes" if study.quick else ""),
    )


def _frame(study: AgreementStudy) -> pandas.DataFrame:
    """One row per correlation of Tables 2 and 3 and of Figure 8."""
    import pandas as pd

    second = study.in_crowd.by_gold.correlations().rename(columns={"n_topics": "n"})
    second["printed"] = [printed_2(*pair) for pair in study.in_crowd.pairs]
    parts: list[pandas.DataFrame] = [second.assign(table="Table 2", data=study.crowd.name)]
    for collection, results in zip(study.collections, study.in_collections, strict=True):
        third = results.ease.to_frame().rename(columns={"agreement": "first"})
        third["printed"] = [_printed_3(bins, name) for bins, name in zip(third["bins"], third["first"], strict=True)]
        parts.append(third.assign(table="Table 3", second="ease", data=collection.name))
    for name, against in _against(study):
        eighth = against.to_frame().rename(columns={"of": "first"})
        parts.append(eighth.assign(table="Figure 8", data=name))
    columns = ["table", "data", "first", "second", "bins", "n", "pearson", "p", "significant", "tau_b", "printed"]
    return pd.concat([part.reindex(columns=columns).astype(object) for part in parts], ignore_index=True)


def _printed_3(bins: int, name: str) -> float:
    return float(PRINTED_3[bins][SETS.index(name)].rstrip("*")) if name in SETS else np.nan
