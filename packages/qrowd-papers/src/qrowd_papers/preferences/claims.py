"""What Here or There prints, what follows from its own numbers, and what a panel of its size says beside it.

Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR: Tables 1-5 and
Figure 2. Numbers only; its judgments are not public.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2

import numpy as np

from qrowd.agreement.pairwise import label_table
from qrowd.evaluation import evaluate
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Chance, Rng
from qrowd.model.judgments import Judgments
from qrowd.model.panel import Pool
from qrowd.model.preferences import Preferences
from qrowd.model.runs import Runs
from qrowd.preferences import (
    PreferenceTable,
    from_grades,
    preference_table,
    transitivity,
)
from qrowd.reports.phrases import number
from qrowd.simulation import Lenient, Truth, simulate_judgments, simulate_pool, simulate_preferences, simulate_runs
from qrowd_papers.claims import NOT_PUBLIC, Claim, Claims, printed_numbers, verdict
from qrowd_papers.preferences.inferred_tables import agreement_difference, inferred_table, redistributed

NOT_PRINTED = "not printed"
LABELS = ("Bad", "Fair", "Good", "Excellent", "Perfect")
PRINTED = printed_numbers("preferences")
TABLES: Mapping[str, tuple[tuple[str, ...], Sequence[Sequence[float]], Sequence[int]]] = {
    name: (tuple(table["states"]), table["shares"], table["totals"]) for name, table in PRINTED["tables"].items()
}
GRADED = {"DCG": "DCG(dcg=exp-log2)@5", "NDCG": "nDCG(dcg=exp-log2)@5"}
PREFERRED = {"ppref": "ppref@5", "wpref": "wpref@5", "wpref, upper": "wpref(weight=upper)@5"}
"""wpref weighs a pair by the lower of its ranks, as section 4 says, or by the upper, as the utility of section 5.3."""
MEASURE_PAIRS: dict[tuple[str, str], list[float]] = {
    (first, second): values for first, row in PRINTED["measures"].items() for second, values in row.items()
}
OTHER_WEIGHTS = {pair: found for pair, found in MEASURE_PAIRS.items() if "wpref" in pair}


def printed(name: str) -> PreferenceTable:
    """Table 2(a), 2(b) or 3 as printed: counts are shares times totals."""
    states, rows, totals = TABLES[name]
    return PreferenceTable(states, np.array(rows) * np.array(totals)[:, None], sum(totals) // 2)


# ---------------------------------------------------------------------- a panel of the paper's size


@dataclass(frozen=True, eq=False)
class Study:
    """A simulated study of the paper's design: two assessors a query for each kind of judgment.

    runs : three engines' first five. graded : five grades. preferred : two ways. strong : with strong preferences.
    """

    runs: Runs
    graded: Judgments
    preferred: Preferences
    strong: Preferences


def simulated_study(n_queries: int = 51, n_candidates: int = 100, *, rng: Rng) -> Study:
    """51 queries, the union of the first five of three engines (section 3.1), six assessors.

    Assessors see a document's relevance through taste of their own. Graders and those who compare have the same taste;
    graders also cut it into five grades at boundaries of their own. One document in four is marked as Bad.
    """
    chance = Chance.of(rng)
    shares = (0.45, 0.30, 0.15, 0.095, 0.005)  # of candidates; engines find the better ones
    whole = simulate_pool(n_queries, n_candidates, n_grades=5, prevalence=shares, rng=chance.stream("pool"))
    runs = simulate_runs(whole, 3, depth=5, quality=(0.6, 0.9), rng=chance.stream("runs"))
    truth = retrieved(whole, runs)
    graders = {"grader-1": Lenient(0.15, 0.75), "grader-2": Lenient(-0.15, 0.75)}
    graded = simulate_judgments(truth, graders, rng=chance.stream("grades"))
    asked = {
        kind: simulate_preferences(
            truth, 2, taste=0.6, noise=0.05, strong_margin=1.8, bad_share=0.25, rng=chance.stream(kind)
        )
        for kind in ("two", "four")
    }
    return Study(runs, graded, asked["two"], asked["four"])


def retrieved(truth: Truth, runs: Runs) -> Truth:
    """The documents that some run retrieved."""
    results = {runs.documents[d] for d in runs.document.tolist()}
    kept = np.array([truth.pool.documents[d] in results for d in truth.pool.document.tolist()])
    starts = np.append(0, np.cumsum(kept))[truth.pool.starts]
    pool = Pool(truth.pool.topics, truth.pool.documents, starts, truth.pool.document[kept])
    return Truth(pool, truth.relevance[kept], truth.appeal[kept], truth.cuts)


# ---------------------------------------------------------------------- tables 1 to 3


def statements(study: Study) -> Claims:
    """What section 3.2 says of its tables, from the printed cells; and the same of the simulated panel.

    The verdict is on the paper alone: whether its text follows from its tables. How often each label, Bad and strong
    preferences occur in the simulation was set near the printed shares.
    """
    actual, inferred, strong = printed("2(a)"), printed("2(b)"), printed("3").pooled()
    ours = preference_table(study.preferred), inferred_table(study.graded), preference_table(study.strong)
    coin = redistributed(ours[1])
    labels = np.array(TABLES["1"][2])
    shares = 100 * labels / labels.sum()
    here = 100 * label_table(study.graded).share
    chi = 2 * agreement_difference(actual, inferred).chi_square
    rows = (
        (
            "% of pages with each label", "20, 28, 25, 25, 2", ", ".join(f"{share:.1f}" for share in shares),
            ", ".join(f"{share:.1f}" for share in here), _follows(np.rint(shares).tolist() == [20, 28, 25, 25, 2]),
        ),
        (
            "chi-square of Tables 2(a) and 2(b), each pair of assessors twice", "143", number(chi, 1),
            number(2 * agreement_difference(ours[0], coin).chi_square, 1), _follows(abs(chi - 143) < 1.43),
        ),
        (
            "the same, each pair of assessors once", "-", number(chi / 2, 1),
            number(agreement_difference(ours[0], coin).chi_square, 1), NOT_PRINTED,
        ),
        (
            "agreement: inferred, pooled strong, two ways", "in this order", _chain((inferred, strong, actual)),
            _chain((coin, ours[2], ours[0])), _follows(inferred.agreement < strong.agreement < actual.agreement),
        ),
        (
            "preferences agree more up to this agreement on ties", "about .7", "-", _rate(ours[0], ours[1]), NOT_PUBLIC,
        ),
        (
            "% of chains kept (transitivity)", "over 99", "-", number(100 * transitivity(study.preferred).rate, 1),
            NOT_PUBLIC,
        ),
    )  # fmt: skip
    claims = [Claim("3.2, 5.1", what, theirs, cells, agreement) for what, theirs, *cells, agreement in rows]
    header = ["section 3.2 and 5.1", "printed", "from the printed tables", "simulated"]
    return Claims("what the text says of Tables 1-3", header, claims)


def _follows(agrees: object) -> str:
    return "the text follows from the tables" if agrees else "the text does not follow from the tables"


def _chain(tables: Sequence[PreferenceTable]) -> str:
    return ", ".join(number(table.agreement, 3) for table in tables)


def _rate(actual: PreferenceTable, inferred: PreferenceTable) -> str:
    """The highest rate of agreement on ties at which preferences still agree significantly more."""
    for rate in np.linspace(1, 0, 101):
        other = redistributed(inferred, rate=float(rate))
        if other.agreement < actual.agreement and agreement_difference(actual, other).p < 0.05:
            return f"{rate:.2f}"
    return "never"


# ---------------------------------------------------------------------- table 5


def measure_scores(runs: Runs, judgments: Judgments) -> dict[str, Floats]:
    """{DCG, NDCG, ppref, wpref (twice): (assessors, topics, systems)} by grades and by the preferences they imply.

    Gains 2^g - 1, first five documents (section 4.1). nan where a measure has no score.
    """
    graded = evaluate(runs, judgments, list(GRADED.values()))
    preferred = evaluate(runs, from_grades(judgments), list(PREFERRED.values()))
    shared = [topic for topic in graded.topics if topic in preferred.topics]
    results = {}
    for scores, names in ((graded, GRADED), (preferred, PREFERRED)):
        places = [
            [mine.index(label) for label in labels]
            for mine, labels in (
                (scores.assessors, graded.assessors), (scores.topics, shared), (scores.systems, graded.systems),
            )
        ]  # fmt: skip
        for values, name in zip(scores.values, names, strict=True):
            results[name] = values[np.ix_(*places)]
    return results


def beside(first: Floats, second: Floats) -> tuple[float, float]:
    """Pearson correlation of two measures' scores, and how often they agree which of two systems is better on a topic.

    first, second : (assessors, topics, systems). Two systems that one of the measures holds equal are left out.
    """
    known = ~np.isnan(first) & ~np.isnan(second)
    pearson = float(np.corrcoef(first[known], second[known])[0, 1])
    a, b = np.triu_indices(first.shape[2], 1)
    signs = [np.sign(np.round(table[..., a] - table[..., b], 12)) for table in (first, second)]
    decided = (signs[0] * signs[1] != 0) & ~np.isnan(signs[0]) & ~np.isnan(signs[1])
    return pearson, float((signs[0] == signs[1])[decided].mean())


def measures_claims(panels: Mapping[str, dict[str, Floats]]) -> Claims:
    """Table 5 beside panels: {name: what `measure_scores` gives}. wpref stands in it with either of its weights."""
    pairs = {**MEASURE_PAIRS, **{(first, "wpref, upper"): values for (first, _), values in OTHER_WEIGHTS.items()}}
    ours = {
        (first, second): [beside(scores[first], scores[second]) for scores in panels.values()]
        for first, second in pairs
    }
    claims = [
        Claim("Table 5", [what, " and ".join(pair)], theirs[i], [one[i] for one in ours[pair]])
        for i, what in enumerate(("correlation", "agreement"))
        for pair, theirs in pairs.items()
    ]
    header = ["Table 5", "measures", "printed", *panels]
    return Claims("Table 5: measures by grades and by the preferences that these imply", header, claims, 3)


# ---------------------------------------------------------------------- figure 2


def figure_claims(needed: Mapping[str, float], at_most: tuple[int, Mapping[str, float]]) -> Claims:
    """What is said of Figure 2, beside a simulated panel of the paper's size.

    needed : {condition: judgments / documents}. at_most : the largest number of documents, and judgments there.
    """
    n, judgments = at_most
    pairs, sorting = judgments["all pairs"], judgments["sorting, Bad"]
    exact = verdict(pairs == n * (n - 1) / 2 and n == 15, f"because n is {n}")
    reason = "because the stop is proven for three engines at once, later marks included"
    per_document = number(needed["utility, Bad, stop"], 2)
    claims = [
        Claim("5", "all pairs at n = 15", "105", f"{pairs:.0f} (n = {n})", exact),
        Claim("5", "sorting with Bad marks at n = 15", "about 40",
              f"{sorting:.1f} (n = {n}); n log2 n is {n * log2(n):.1f}"),
        Claim("5", "utility, Bad marks and stopping, per document", "about 1", per_document, verdict(False, reason)),
    ]  # fmt: skip
    return Claims("Figure 2: judgments", ["section 5", "printed", "simulated"], claims)
