"""The magnitude paper as a page: Tables I to IV and the numbers of its text, beside ours.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.agreement import krippendorff_alpha
from qrowd.magnitude import (
    assessors_needed,
    judging_cost,
    ratio_digits,
    select_units_by_agreement,
    topic_units,
    unit_checks,
    units_needed,
)
from qrowd.model.chance import Rng
from qrowd.reports.document import Document, Table
from qrowd.reports.phrases import number, probability
from qrowd_papers.claims import MATCH, NOT_PUBLIC, Claim, claims_table, verdict
from qrowd_papers.magnitude.figures import Findings, find
from qrowd_papers.magnitude.study import MAPPINGS, MEASURES, TOPICS, TwoRankings, mapping_rankings

if TYPE_CHECKING:
    import pandas


TABLE_II = {
    0.5: (27, 107, 239, 425, 664, 956),
    1.0: (7, 27, 60, 107, 166, 239),
    1.5: (3, 12, 27, 48, 74, 107),
    2.0: (2, 7, 15, 27, 42, 60),
    2.5: (2, 5, 10, 17, 27, 39),
    3.0: (1, 3, 7, 12, 19, 27),
    3.5: (1, 3, 5, 9, 14, 20),
    4.0: (1, 2, 4, 7, 11, 15),
    4.5: (1, 2, 3, 6, 9, 12),
    5.0: (1, 2, 3, 5, 7, 10),
}
"""{E: workers for sigma 1 ... 6}."""
TABLE_III = {
    "C": (1.000, 1.000, 100, 100),
    "100 C": (1.000, 0.698, 100, 100),
    "1 + C": (0.989, 0.969, 98, 95),
    "10 + C": (0.961, 0.939, 95, 91),
    "100 + C": (0.957, 0.939, 95, 100),
    "10^(1+C)": (0.720, 0.698, 66, 100),
    "2^(1+C)": (0.870, 0.702, 42, 73),
}
"""{gain of grade C: tau by nDCG@10 and ERR@10, overlap of the top sets in %}."""
TABLE_IV = {
    ("TREC", "nDCG@10"): ((0.679, 0.744, 0.677), (63.64, 72.73, 81.82)),
    ("TREC", "ERR@10"): ((0.361, 0.247, 0.222), (20.00, 60.00, 20.00)),
    ("Sormunen", "nDCG@10"): ((0.036, 0.382, 0.147), (9.76, 68.29, 31.71)),
    ("Sormunen", "ERR@10"): ((0.017, 0.323, 0.060), (68.18, 100.00, 68.18)),
}
"""{grades, measure: (tau, overlap in %) of narrow, wide and all units}."""
UNITS = ("narrow", "wide", "all")
FIGURE_7 = {"NH": 92, "NR": 82, "Sormunen ME": 80, "TREC ME": 86, "TREC Sormunen": 85}
FIGURE_15 = ((1.00, 48), (1.00, 22), (1.14, 24))


def magnitude_page(
    data: str | None = None,
    *,
    quick: bool = False,
    rng: Rng = 1,
    progress: Callable[[str, int, int], None] | None = None,
) -> Document:
    """Tables I to IV and what the text says of the figures: printed, ours, and whether they match.

    data : folder with trec-rf10, dl21 and dl19, as far as there; None for the simulated campaign alone.
    quick : 100 draws for Figure 12 instead of 1,000.

    Raises
    ------
    InputError
        A folder without dl21 and dl19.
    """
    return page_of(find(data, quick=quick, rng=rng), progress)


def page_of(found: Findings, progress: Callable[[str, int, int], None] | None = None) -> Document:
    """The page of what `find` found."""
    parts: list[tuple[str, Callable[[Findings], Iterator[Table]]]] = [
        ("Tables I and II", _planning),
        ("Tables III and IV", _rankings),
        ("text", _text),
        ("Figure 12", _draws),
        ("real panels", _real),
    ]
    tables: list[Table] = []
    for i, (what, make) in enumerate(parts, start=1):
        tables += make(found)
        if progress is not None:
            progress(what, i, len(parts))
    both = {kind: found.rankings[kind, "all"] for kind in ("TREC", "Sormunen")}
    told = "; ".join(
        f"{kind}: {rankings['nDCG@10'].tau:.3f} and {rankings['ERR@10'].tau:.3f}" for kind, rankings in both.items()
    )
    sentence = (
        "Relevance magnitudes, recomputed. All that needs no data matches: the units of Table I and the 60 cells of "
        "Table II, which are those of 99 % confidence, not of the 95 % they are said to be. The rest stands beside a "
        "simulated campaign of the same size. There too the order of systems depends on the gains: Kendall's tau of "
        f"rankings by magnitudes and by official grades, with nDCG@10 and ERR@10, is {told}."
    )

    def frame() -> pandas.DataFrame:
        import pandas as pd

        rows = [
            (table.title, row[0], name, cell)
            for table in tables
            for row in table.rows
            for name, cell in zip(table.header[1:], row[1:], strict=True)
        ]
        return pd.DataFrame(rows, columns=["table", "row", "column", "value"])

    return Document(sentence, tuple(tables), tuple(_notes(found)), frame)


def _notes(found: Findings) -> Iterator[str]:
    campaign = found.campaign
    yield (
        f"simulated: 18 topics with the numbers of documents of Table I, {len(campaign.written):,} magnitudes of "
        f"{len(campaign.written.assessors):,} workers, {len(campaign.runs.systems)} runs; q01 has the size of 402, q02 "
        "of 403, and so on. The crowd's noise was chosen so that alpha comes near the paper's; nothing else was fitted"
    )
    yield (
        f"official grades, simulated too: of {len(campaign.binary):,} documents, yes or no, for TREC's and of "
        f"{len(campaign.levels)}, 0-3, for Sormunen's: those that most runs retrieve, check documents included"
    )
    yield (
        "nDCG@10 with the original discount (none at rank 1, log2(r) below); ERR@10 with R = (2^G - 1) / 2^max, where "
        "max is the scale's, and for magnitudes the topic's highest, since they have no end; the paper does not say"
    )
    yield (
        "tau: tau-b of means over topics. Top set: not told from the best by a paired Wilcoxon test, p < .05. Overlap: "
        "which part of the top set by official grades is in the other; the paper's percentages are parts of 11, 5, 41 "
        "and 22 systems, whatever the units, so they are such parts too"
    )
    topics = len(campaign.merged_runs.topics)
    yield f"merged systems: 100, over the {topics} topics where two lists or more were judged in full (the paper: 12)"
    yield from (f"{panel.name}: {panel.about}" for panel in found.real)
    yield f"Figure 12: {found.n:,} draws; seed: {campaign.seed}"


# ---------------------------------------------------------------------- Tables I and II


def _planning(found: Findings) -> Iterator[Table]:
    campaign = found.campaign
    counted = topic_units(campaign.written, checks=campaign.checks)
    first = unit_checks(campaign.unchecked, campaign.checks)
    failed = np.bincount(first.units.topic[~first.ordered], minlength=len(TOPICS))
    rows = []
    for t, (topic, (documents, units)) in enumerate(TOPICS.items()):
        ours = int(units_needed(documents))
        same = (documents, units) == (int(counted.n_documents[t]), ours) and ours == counted.n_units[t]
        rows.append([topic, f"{documents}", f"{units}", f"{ours}", f"{failed[t]}", _counts(same)])
    total = [int(column.sum()) for column in (counted.n_documents, counted.n_units, failed)]
    rows.append(
        [
            "sum",
            "4269",
            "7059",
            f"{total[1]}",
            f"{total[2]}",
            _counts(total[:2] == [4269, 7059]),
        ]
    )
    header = [
        "topic",
        "documents",
        "units, printed",
        "units, ours",
        "units failing check (c), simulated",
        "verdict",
    ]
    yield Table("Table I: units for ten judgments of each document", header, rows)
    share = 100 * total[2] / total[1]
    yield Table(
        "Table I: back button and failed checks, units with 0, 1, 2 or more",
        ["what", "printed", "ours", "verdict"],
        [
            ["steps back", "6944, 106, 9", "-", NOT_PUBLIC],
            [
                "checks (c) and (d) failed",
                "6389, 329, 341 (9.5 % at least once)",
                f"{share:.1f} % (c) before revision",
                NOT_PUBLIC,
            ],
        ],
    )
    sigmas = np.arange(1, 7)
    rows = []
    for error, printed in TABLE_II.items():
        ours = assessors_needed(sigmas, margin=error, confidence=0.99).tolist()
        stated = assessors_needed(sigmas, margin=error).tolist()
        rows.append([f"{error:g}", _listed(printed), _listed(ours), _counts(list(printed) == ours), _listed(stated)])
    header = ["E", "printed, sigma 1 to 6", "ours with 99 %", "verdict", "ours with the 95 % of its title"]
    yield Table("Table II: workers needed for a mean within E of the true one", header, rows)


def _listed(counts: Any) -> str:
    return ", ".join(map(str, counts))


def _counts(same: bool) -> str:
    return verdict(same, "our counts are others")


# ---------------------------------------------------------------------- Tables III and IV


def _rankings(found: Findings) -> Iterator[Table]:
    simulated = mapping_rankings(found.campaign.merged_runs, found.campaign.levels)
    real = {panel.name: mapping_rankings(panel.runs, panel.nist) for panel in found.real}
    rows = []
    for name in MAPPINGS:
        tau_ndcg, tau_err, top_ndcg, top_err = TABLE_III[name]
        printed = [f"{tau_ndcg:.3f}", f"{tau_err:.3f}", f"{top_ndcg} %", f"{top_err} %"]
        rows.append(
            [
                name,
                *printed,
                *_cells(simulated[name]),
                *(c for panel in real.values() for c in _cells(panel[name])),
                NOT_PUBLIC,
            ]
        )
    columns = [f"{figure} {measure}" for figure in ("tau", "top set") for measure in MEASURES]
    sources = ["printed", "simulated", *(f"{name}, real" for name in real)]
    header = ["gain of grade C", *(f"{source}: {column}" for source in sources for column in columns), "verdict"]
    yield Table("Table III: gains made of grades otherwise, against the grades themselves", header, rows)

    rows = []
    for (kind, measure), (taus, tops) in TABLE_IV.items():
        ours = {name: found.rankings[kind, name][measure] for name in UNITS}
        rows.append(
            [
                f"{kind}, tau, {measure}",
                *(f"{tau:.3f}" for tau in taus),
                *(f"{ours[name].tau:.3f}" for name in UNITS),
                NOT_PUBLIC,
            ]
        )
        rows.append(
            [
                f"{kind}, top set, {measure}",
                *(f"{top:.2f} %" for top in tops),
                *(f"{100 * ours[name].overlap:.2f} %" for name in UNITS),
                NOT_PUBLIC,
            ]
        )
    header = [
        "gains against grades",
        *(f"{name}, printed" for name in UNITS),
        *(f"{name}, ours" for name in UNITS),
        "verdict",
    ]
    yield Table("Table IV: magnitudes of narrow, wide and all units as gains (all: Figures 10 and 11)", header, rows)


def _cells(both: dict[str, TwoRankings]) -> list[str]:
    return [*(f"{one.tau:.3f}" for one in both.values()), *(f"{100 * one.overlap:.0f} %" for one in both.values())]


# ---------------------------------------------------------------------- the text


def _text(found: Findings) -> Iterator[Table]:
    yield claims_table("what the text says of the figures", _claims(found))


def _claims(found: Findings) -> Iterator[Claim]:
    campaign = found.campaign
    sizes = [documents for documents, _ in TOPICS.values()]
    cost, fewer = (judging_cost(sizes, pay=0.2, fee=0.2, redundancy=n) for n in (10, 7))
    yield Claim("4.1", "judgments", "more than 50,000", f"{cost.n_judgments:,}", MATCH)
    yield Claim(
        "4.1",
        "cost, if the platform takes 20 % of the pay",
        "around $1,700; $0.4 a document",
        f"${cost.total:,.0f}; ${cost.per_document:.2f}",
        MATCH,
    )
    yield Claim("6.3", "cost with seven workers", "$0.3 a document", f"${fewer.per_document:.2f}", MATCH)

    topics = found.distributions[False][2]
    ends = (topics.mean.min(), topics.mean.max(), topics.sd.min(), topics.sd.max())
    yield Claim(
        "Figure 1",
        "means and deviations of topics",
        "7.9-12.9; 17.5-23.2",
        "{:.1f}-{:.1f}; {:.1f}-{:.1f}".format(*ends),
    )
    distances = [float(np.max(found.distributions[normalised][2].distance)) for normalised in (False, True)]
    yield Claim(
        "Figures 1, 2",
        "largest distance to the log-normal curve, by topic, as written and normalised",
        "smaller after",
        "{:.3f}; {:.3f}".format(*distances),
    )

    for kind, printed in (("Sormunen", "< .002"), ("TREC", "< .001")):
        worst = float(np.nanmax(found.tests[kind].p))
        yield Claim("Figure 3", f"adjacent levels of {kind}, largest p", printed, probability(worst))
    adjacent = [len(found.tests[kind].exceptions(adjacent=True)) for kind in ("Sormunen", "TREC")]
    further = [len(found.tests[kind].exceptions()) for kind in ("Sormunen", "TREC")]
    cases = [sum(found.tests[kind].comparable(adjacent=near) for kind in found.tests) for near in (True, False)]
    yield Claim(
        "Figure 4",
        "exceptions to the order of levels: adjacent, any two",
        "6 of 72; 6 of 126",
        f"{sum(adjacent)} of {cases[0]}; {sum(further)} of {cases[1]}",
    )

    spread, few = found.geometric_sd, ~found.is_check
    alike = np.corrcoef(np.log(spread.ratio[few]), np.log(spread.geometric_sd[few]))[0, 1]
    yield Claim(
        "Figure 5",
        "Pearson of ratio and geometric deviation",
        ".999",
        f"{alike:.3f} (logs, without checks)",
    )
    yield Claim(
        "Figure 5", "documents with a ratio of 10,000 or more", "23", str(int((spread.ratio >= 1e4).sum())), NOT_PUBLIC
    )
    alpha = krippendorff_alpha(campaign.judgments, slots=10).item().value
    yield Claim("6.1.1", "alpha (ratio) of ten judgments a document", ".323", f"{alpha:.3f}")

    for name, one in found.by_unit.items():
        value = one.value[~np.isnan(one.value)]
        shares = [100 * float(np.mean(inside)) for inside in (value == 1, value > 0.8, value > 0.6)]
        real = not name.endswith("simulated")
        yield Claim(
            "Figure 6",
            f"units with full agreement, above .8, above .6: {name}",
            "-" if real else "around 50, 70, 86 %",
            "{:.0f}, {:.0f}, {:.0f} %".format(*shares),
            "differs: real labels of another crowd" if real else NOT_PUBLIC,
        )
    single = int((found.by_unit["Sormunen, simulated"].n_pairs == 1).sum())
    yield Claim("Figure 6", "units with a single pair on Sormunen's scale", "2376", f"{single}")
    for name, values in found.by_levels.items():
        plain = name.replace("\n", " ")
        printed = f"{FIGURE_7[plain]} %" if plain in FIGURE_7 else "-"
        yield Claim("Figure 7", f"mean agreement, {plain}", printed, f"{100 * np.nanmean(values):.0f} %")
    best = max(found.schemes, key=lambda pair: float(np.nanmean(found.schemes[pair])))
    yield Claim(
        "Figure 8",
        "best normalisation and merging",
        "geometric mean, with median or geometric mean",
        f"{best[0]}, with {best[1]}".replace("\n", " "),
    )
    yield Claim(
        "Figure 9",
        "deviations above 6; most frequent",
        "53; around 2",
        f"{(found.deviations > 6).sum()}; median {np.median(found.deviations):.1f}",
    )

    rare = found.widths.to_frame(what="counts")
    yield Claim("Figure 13", "median of H / N", "5", f"{found.widths.threshold:.1f}")
    yield Claim(
        "Figure 13",
        "units with a ratio that fewer than 4 have",
        "37",
        f"{rare.loc[rare['n_units'] < 4, 'n_units'].sum()}",
    )
    for kind, printed in (("TREC", "12 %"), ("Sormunen", "7 %")):
        official = found.official(kind)
        judged = campaign.judgments.select(documents=list(official.documents))
        outside = sum(
            select_units_by_agreement(judged, official, preferred=wish).n_outside
            for wish in (campaign.wide, ~campaign.wide)
        )
        yield Claim(
            "Table IV",
            f"documents without a narrow or wide unit ({kind})",
            printed,
            f"{100 * outside / len(official):.1f} %",
            NOT_PUBLIC,
        )
    profile = found.gains
    yield Claim(
        "Figure 14",
        "distance of medians to linear and exponential gains, in logs",
        "linear is closer",
        f"{profile.linear_error:.2f}; {profile.exponential_error:.2f}",
    )
    medians = ", ".join(f"{one:.2f}" for one, _ in FIGURE_15)
    means = ", ".join(f"{one}" for _, one in FIGURE_15)
    ratios = found.ratios.ratios
    yield Claim(
        "Figure 15",
        "medians of the three ratios",
        medians,
        ", ".join(f"{one:.2f}" for one in ratios.median),
    )
    yield Claim(
        "Figure 15", "means of the three ratios", means, ", ".join(f"{one:.1f}" for one in ratios.mean), NOT_PUBLIC
    )
    figures = ratio_digits(campaign.written)
    yield Claim(
        "9.2",
        "units with ratios of two figures at most; of one",
        "4806; 3591",
        f"{figures.n_within(2)}; {figures.n_within(1)}",
    )


# ---------------------------------------------------------------------- draws, and real panels


def _draws(found: Findings) -> Iterator[Table]:
    rows = []
    for name, (drawn, mark) in found.taus.items():
        kind, measure = name.split("\n")
        if kind in ("TREC", "Sormunen"):
            low, middle, high = np.quantile(drawn, [0.05, 0.5, 0.95])
            printed = TABLE_IV[kind, measure][0][2]
            rows.append(
                [
                    kind,
                    measure,
                    f"{printed:.3f}",
                    f"{mark:.3f}",
                    f"{middle:.3f}",
                    f"{low:.3f} to {high:.3f}",
                    NOT_PUBLIC,
                ]
            )
    header = ["grades", "measure", "merged, printed", "merged, ours", "draws, median", "5 to 95 %", "verdict"]
    yield Table("Figure 12: tau when each document's gain is one magnitude drawn at random", header, rows)


def _real(found: Findings) -> Iterator[Table]:
    if not found.real:
        return
    rows = []
    for name, both in found.real_rankings.items():
        for measure, one in both.items():
            drawn, _ = found.taus[f"{name}\n{measure}"]
            low, middle, high = np.quantile(drawn, [0.05, 0.5, 0.95])
            rows.append(
                [
                    name,
                    measure,
                    number(one.tau, 3),
                    f"{100 * one.overlap:.0f} %",
                    number(float(middle), 3),
                    f"{low:.3f} to {high:.3f}",
                ]
            )
    header = ["panel", "measure", "judges' median: tau", "top set", "one judge a document: median tau", "5 to 95 %"]
    yield Table("Figures 10 and 12 on real runs and judges, against NIST's grades", header, rows)
