"""The magnitude paper as a page: Tables I to IV and the numbers of its text, beside ours.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from qrowd.agreement import krippendorff_alpha
from qrowd.kernels.arrays import Floats
from qrowd.magnitude import assessors_needed, unit_checks, units_needed
from qrowd.model.chance import Rng
from qrowd.reports.document import Document
from qrowd.reports.phrases import probability
from qrowd_papers.claims import MATCH, NOT_PUBLIC, Claim, Claims, claims_frame, printed_numbers, verdict
from qrowd_papers.magnitude.analysis import MEASURES
from qrowd_papers.magnitude.digits import ratio_digits, round_numbers
from qrowd_papers.magnitude.figures import KINDS, Findings, find
from qrowd_papers.magnitude.gold_conflicts import scale_conflicts
from qrowd_papers.magnitude.order_agreement import order_agreement
from qrowd_papers.magnitude.participation import answer_times, fit_power_law
from qrowd_papers.magnitude.selection import select_units_by_agreement
from qrowd_papers.magnitude.study import MAPPINGS, TOPICS, mapping_rankings
from qrowd_papers.magnitude.two_rankings import TwoRankings
from qrowd_papers.magnitude.unit_counts import assessor_units, topic_units
from qrowd_papers.simulations import Progress, each

BINARY = "TREC\nSormunen"  # the column of Figure 7 that compares two binary scales
PRINTED = printed_numbers("magnitude")
TABLE_II: dict[float, list[int]] = {float(error): workers for error, workers in PRINTED["workers"].items()}
TABLE_III: dict[str, list[float]] = PRINTED["mappings"]
TABLE_IV: dict[tuple[str, str], list[list[float]]] = {
    (kind, measure): values for kind, row in PRINTED["units"].items() for measure, values in row.items()
}
UNITS = ("narrow", "wide", "all")
NO_LOG = "not simulated"
CONTRADICTS = "differs: the simulated crowd, fitted to other figures, contradicts the paper"
FIGURE_7 = {"NH": 92, "NR": 82, "Sormunen ME": 80, "TREC ME": 86, "TREC Sormunen": 85}
FIGURE_15 = {"medians": (1.00, 1.00, 1.14), "means": (48, 22, 24)}


def magnitude_page(
    data: str | None = None,
    *,
    quick: bool = False,
    rng: Rng = 1,
    progress: Progress | None = None,
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


def page_of(findings: Findings, progress: Progress | None = None) -> Document:
    """The page of what `find` found."""
    parts = (_planning, _rankings, _text, _draws, _real)
    tables = [table for make in each(parts, "tables", progress) for table in make(findings)]
    taus = "; ".join(
        f"{kind}: {' and '.join(f'{one.tau:.3f}' for one in findings.rankings[kind, 'all'].values())}"
        for kind in ("TREC", "Sormunen")
    )
    sentence = (
        "Relevance magnitudes, recomputed. All that needs no data matches: the units of Table I and the 60 cells of "
        "Table II, which are those of 99 % confidence, not of the 95 % they are said to be. The rest stands beside a "
        "simulated campaign of the same size. There too the order of systems depends on the gains: Kendall's tau of "
        f"rankings by magnitudes and by official grades, with nDCG@10 and ERR@10, is {taus}."
    )
    return Document(
        sentence, tuple(one.table() for one in tables), tuple(_notes(findings)), lambda: claims_frame(tables)
    )


def _notes(findings: Findings) -> Iterator[str]:
    campaign = findings.campaign
    yield (
        f"simulated: 18 topics with the numbers of documents of Table I, {len(campaign.written):,} magnitudes of "
        f"{len(campaign.written.assessors):,} workers, {len(campaign.runs.systems)} runs; q01 has the size of 402, q02 "
        "of 403, and so on. The crowd and the noise of the official grades were fitted together to the printed numbers "
        "of Figures 1, 4 to 7, 9, 13, 15, of alpha and of section 9.2"
    )
    yield (
        "what the fit cannot match: Figure 9 (deviations above 6), unless numbers as written become smaller than in "
        "Figure 1, since the deviation grows with the number; Figure 6 (units in full agreement), because simulated "
        "grades differ from each other less than TREC's and Sormunen's do (Figure 7); the means of Figure 15 rest on a "
        "few units of assessors who write tiny numbers, and change by a factor of 50 between seeds"
    )
    yield (
        f"{NO_LOG}: steps back, checks that fail again and sessions happen on a server; of a campaign, qrowd campaign "
        "units counts them"
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
    topics = len(campaign.complete_runs.topics)
    yield f"merged systems: 100, over the {topics} topics where two lists or more were judged in full (the paper: 12)"
    yield from (f"{panel.name}: {panel.about}" for panel in findings.real)
    yield f"Figure 12: {findings.n:,} draws; seed: {campaign.seed}"


# ---------------------------------------------------------------------- Tables I and II


def _planning(findings: Findings) -> Iterator[Claims]:
    campaign = findings.campaign
    counted = topic_units(campaign.written)
    first = unit_checks(campaign.unchecked, campaign.checks)
    failed = np.bincount(first.units.topic[~first.ordered], minlength=len(TOPICS))
    claims = []
    for t, (topic, (documents, units)) in enumerate(TOPICS.items()):
        ours = int(units_needed(documents))
        same = (documents, units) == (int(counted.n_documents[t]), ours) and ours == counted.n_units[t]
        claims.append(_counts("Table I", topic, (f"{documents}", f"{units}"), (f"{ours}", f"{failed[t]}"), same))
    documents, units, failing = (int(column.sum()) for column in (counted.n_documents, counted.n_units, failed))
    same = (documents, units) == (4269, 7059)
    claims.append(_counts("Table I", "sum", ("4269", "7059"), (f"{units}", f"{failing}"), same))
    header = ["topic", "documents", "units, printed", "units, ours", "units failing check (c), simulated"]
    yield Claims("Table I: units for ten judgments of each document", header, claims)
    printed = "6389, 329, 341 (9.5 % at least once)"
    share = f"{100 * failing / units:.1f} % (c) before revision"
    yield Claims(
        "Table I: back button and failed checks, units with 0, 1, 2 or more",
        ["what", "printed", "ours"],
        [
            Claim("Table I", "steps back", "6944, 106, 9", NO_LOG),
            Claim("Table I", "checks (c) and (d) failed", printed, share),
        ],
    )
    claims = []
    for error, workers in TABLE_II.items():
        needed = {
            level: [assessors_needed(sigma, margin=error, confidence=level) for sigma in range(1, 7)]
            for level in (0.99, 0.95)
        }
        texts = [", ".join(map(str, row)) for row in (workers, *needed.values())]
        claims.append(_counts("Table II", f"{error:g}", texts[0], texts[1:], workers == needed[0.99]))
    header = ["E", "printed, sigma 1 to 6", "ours with 99 %", "ours with the 95 % of its title"]
    yield Claims("Table II: workers needed for a mean within E of the true one", header, claims)


def _counts(where: str, what: str, printed: str | Sequence[str], ours: Sequence[str], same: bool) -> Claim:
    return Claim(where, what, printed, ours, verdict(same, "our counts are others"))


# ---------------------------------------------------------------------- Tables III and IV


def _rankings(findings: Findings) -> Iterator[Claims]:
    panels = {"simulated": mapping_rankings(findings.campaign.complete_runs, findings.campaign.levels)}
    panels |= {f"{panel.name}, real": mapping_rankings(panel.runs, panel.nist) for panel in findings.real}
    claims = []
    for name in MAPPINGS:
        tau_ndcg, tau_err, top_ndcg, top_err = TABLE_III[name]
        printed = [f"{tau_ndcg:.3f}", f"{tau_err:.3f}", f"{top_ndcg} %", f"{top_err} %"]
        claims.append(Claim("Table III", name, printed, [c for panel in panels.values() for c in _cells(panel[name])]))
    columns = [f"{figure} {measure}" for figure in ("tau", "top set") for measure in MEASURES]
    header = ["gain of grade C", *(f"{source}: {column}" for source in ("printed", *panels) for column in columns)]
    yield Claims("Table III: gains made of grades otherwise, against the grades themselves", header, claims)

    claims = []
    for (kind, measure), (taus, tops) in TABLE_IV.items():
        ours = [findings.rankings[kind, name][measure] for name in UNITS]
        same = (taus[0] < taus[1]) == (ours[0].tau < ours[1].tau)
        claims += [
            Claim(
                "Table IV", f"{kind}, tau, {measure}", [f"{tau:.3f}" for tau in taus], [f"{x.tau:.3f}" for x in ours],
                _simulated(same),
            ),
            Claim(
                "Table IV", f"{kind}, top set, {measure}", [f"{top:.2f} %" for top in tops],
                [f"{100 * x.overlap:.2f} %" for x in ours],
            ),
        ]  # fmt: skip
    header = ["gains against grades", *(f"{name}, {side}" for side in ("printed", "ours") for name in UNITS)]
    title = "Table IV: magnitudes of narrow, wide and all units as gains (all: Figures 10 and 11)"
    yield Claims(title, header, claims)


def _cells(both: dict[str, TwoRankings]) -> list[str]:
    return [*(f"{one.tau:.3f}" for one in both.values()), *(f"{100 * one.overlap:.0f} %" for one in both.values())]


# ---------------------------------------------------------------------- the text


def _text(findings: Findings) -> Iterator[Claims]:
    claims = [*_participation(findings), *_distributions(findings), *_agreement(findings), *_gains(findings)]
    yield Claims("what the text says of the figures", ["where", "what", "printed", "ours"], claims)


def _participation(findings: Findings) -> Iterator[Claim]:
    written = findings.campaign.written
    n_units = assessor_units(written).n_units
    law = fit_power_law(n_units, highest=len(TOPICS))
    units = sum(n for _, n in TOPICS.values())
    yield Claim("4.1", "judgments, of all units of Table I", "more than 50,000", f"{8 * units:,}", MATCH)
    yield Claim("4.1", "assessors", "1481", f"{n_units.size}")
    shares = (100 * float(np.mean(n_units == n)) for n in (1, len(TOPICS)))
    yield Claim(
        "4.1", "assessors with one unit; with all 18", "around 30 %; < 1 %", "{:.0f} %; {:.1f} %".format(*shares)
    )
    ours = f"exponent {law.exponent:.2f}, standard error {law.standard_error:.2f}"
    yield Claim("4.1", "units per assessor", "resemble a power law", ours)
    yield Claim("4.1", "what follows a unit", "more often another one or none than a later return", NO_LOG)
    times = answer_times(written)
    ours = f"{times.mean:.0f}; {times.sd:.0f}; median {times.median:.0f}"
    yield Claim("9.2", "seconds per document: mean; standard deviation", "78; 86", ours)


def _distributions(findings: Findings) -> Iterator[Claim]:
    """Of Figures 1 to 5, and alpha."""
    topics = findings.distributions[False][2]
    ends = (topics.mean.min(), topics.mean.max(), topics.sd.min(), topics.sd.max())
    ours = "{:.1f}-{:.1f}; {:.1f}-{:.1f}".format(*ends)
    yield Claim("Figure 1", "means and deviations of topics", "7.9-12.9; 17.5-23.2", ours)
    whole, common = findings.distributions[False][0], round_numbers(findings.campaign.written)
    often = ", ".join(f"{value:g}" for value in common.value[:4])
    what = "numbers written most often; share that are 1, 2 or 5 times a power of ten"
    yield Claim("4.2", what, "1, 2, 5, 10", f"{often}; {100 * common.one_two_five:.0f} %")
    low = 100 * findings.distributions[False][2].share_up_to(1)
    ours = f"{low.min():.0f}-{low.max():.0f} %; all: {100 * whole.share_up_to(1)[0]:.0f} %"
    yield Claim("4.2", "share of numbers up to 1, by topic", "44 % in 418, 23 % in 421", ours)
    distances = [float(np.max(findings.distributions[normalised][2].distance)) for normalised in (False, True)]
    what = "largest distance to the log-normal curve, by topic, as written and normalised"
    ours = "{:.3f}; {:.3f}".format(*distances)
    yield Claim("Figures 1, 2", what, "smaller after", ours, _simulated(distances[1] < distances[0]))

    for kind, printed in (("Sormunen", "< .002"), ("TREC", "< .001")):
        worst = float(np.nanmax(findings.tests[kind].p))
        yield Claim("Figure 3", f"adjacent levels of {kind}, largest p", printed, probability(worst))
    exceptions = [
        sum(len(test.exceptions(adjacent=near)) for test in findings.tests.values()) for near in (True, False)
    ]
    pairs = [sum(test.comparable(adjacent=near) for test in findings.tests.values()) for near in (True, False)]
    ours = "; ".join(f"{n} of {of}" for n, of in zip(exceptions, pairs, strict=True))
    yield Claim("Figure 4", "exceptions to the order of levels: adjacent, any two", "6 of 72; 6 of 126", ours)

    spread, few = findings.of_levels.dispersion, ~findings.of_levels.is_check
    alike = np.corrcoef(np.log(spread.ratio[few]), np.log(spread.geometric_sd[few]))[0, 1]
    what = "Pearson of ratio and geometric deviation"
    yield Claim("Figure 5", what, ".999", f"{alike:.3f} (logs, without checks)")
    yield Claim("Figure 5", "documents with a ratio of 10,000 or more", "23", str(int((spread.ratio >= 1e4).sum())))
    alpha = krippendorff_alpha(findings.campaign.judgments, slots=10).item().value
    yield Claim("6.1.1", "alpha (ratio) of ten judgments a document", ".323", f"{alpha:.3f}")


def _agreement(findings: Findings) -> Iterator[Claim]:
    """Of Figures 6 to 9, and section 6.2."""
    campaign = findings.campaign
    for name, one in findings.by_unit.items():
        value = one.value[~np.isnan(one.value)]
        shares = [100 * float(np.mean(inside)) for inside in (value == 1, value > 0.8, value > 0.6)]
        real = not name.endswith("simulated")
        yield Claim(
            "Figure 6",
            f"units with full agreement, above .8, above .6: {name}",
            "-" if real else "around 50, 70, 86 %",
            "{:.0f}, {:.0f}, {:.0f} %".format(*shares),
            verdict(False, "real labels of another crowd") if real else NOT_PUBLIC,
        )
    single = int((findings.by_unit["Sormunen, simulated"].n_pairs == 1).sum())
    yield Claim("Figure 6", "units with a single pair on Sormunen's scale", "2376", f"{single}")
    for name, values in findings.by_levels.items():
        plain = name.replace("\n", " ")
        printed = f"{FIGURE_7[plain]} %" if plain in FIGURE_7 else "-"
        ours = f"{100 * np.nanmean(values):.0f} %"
        if name == BINARY:
            strict = order_agreement(campaign.binary, campaign.levels.recode(1), by="topic", strict=True).value
            ours += f" ({100 * np.nanmean(strict):.0f} % if equal grades are disagreement)"
        yield Claim("Figure 7", f"mean agreement, {plain}", printed, ours)
    best = max(findings.of_levels.schemes, key=lambda pair: float(np.nanmean(findings.of_levels.schemes[pair])))
    ours = f"{best[0]}, with {best[1]}".replace("\n", " ")
    printed = "geometric mean, with median or geometric mean"
    yield Claim("Figure 8", "best normalisation and merging", printed, ours, _simulated(best[0] == "geometric mean"))
    conflicts = scale_conflicts(campaign.judgments, campaign.levels)
    ours = f"{len(conflicts)} of {conflicts.n_documents}"
    yield Claim("6.2", "documents nearest to a level of Sormunen two or more away", "-", ours)
    ours = f"{(findings.of_levels.deviations > 6).sum()}; median {np.median(findings.of_levels.deviations):.1f}"
    yield Claim("Figure 9", "deviations above 6; most frequent", "53; around 2", ours)


def _gains(findings: Findings) -> Iterator[Claim]:
    """Of Table IV, Figures 13 to 15 and section 9.2."""
    campaign, n_units = findings.campaign, findings.of_levels.widths.to_frame(what="counts")["n_units"]
    yield Claim("Figure 13", "median of H / N", "5", f"{findings.of_levels.widths.threshold:.1f}")
    yield Claim("Figure 13", "units with a ratio that fewer than 4 have", "37", f"{n_units[n_units < 4].sum()}")
    for kind, printed in (("TREC", "12 %"), ("Sormunen", "7 %")):
        official = findings.official(kind)
        judged = campaign.judgments.select(documents=list(official.documents))
        outside = sum(
            select_units_by_agreement(judged, official, preferred=preferred).n_outside
            for preferred in (campaign.wide, ~campaign.wide)
        )
        what = f"documents without a narrow or wide unit ({kind})"
        yield Claim("Table IV", what, printed, f"{100 * outside / len(official):.1f} %")
    errors = f"{findings.of_levels.gains.linear_error:.2f}; {findings.of_levels.gains.exponential_error:.2f}"
    what = "distance of medians to linear and exponential gains, in logs"
    yield Claim("Figure 14", what, "linear is closer", errors)
    ratios = findings.ratios.ratios
    printed, ours = (", ".join(f"{one:.2f}" for one in side) for side in (FIGURE_15["medians"], ratios.median))
    yield Claim("Figure 15", "medians of the three ratios", printed, ours)
    ours = ", ".join(f"{one:.1f}" for one in ratios.mean)
    yield Claim("Figure 15", "means of the three ratios", ", ".join(map(str, FIGURE_15["means"])), ours)
    digits = ratio_digits(campaign.written)
    ours = f"{digits.n_within(2)}; {digits.n_within(1)}"
    yield Claim("9.2", "units with ratios of two figures at most; of one", "4806; 3591", ours)


# ---------------------------------------------------------------------- draws, and real panels


def _draws(findings: Findings) -> Iterator[Claims]:
    claims = []
    for name, (taus, merged) in findings.taus.items():
        kind, measure = name.split("\n")
        if kind in KINDS:
            printed = f"{TABLE_IV[kind, measure][0][2]:.3f}"
            low, high = np.quantile(taus, [0.05, 0.95])
            ours, agreement = (f"{merged:.3f}", *_quantiles(taus)), _simulated(low <= merged <= high)
            claims.append(Claim("Figure 12", (kind, measure), printed, ours, agreement))
    header = ["grades", "measure", "merged, printed", "merged, ours", "draws, median", "5 to 95 %"]
    yield Claims("Figure 12: tau when each document's gain is one magnitude drawn at random", header, claims)


def _simulated(agrees: object) -> str:
    """The verdict on the simulated crowd: what agrees with the paper confirms nothing, since the crowd was fitted."""
    return NOT_PUBLIC if agrees else CONTRADICTS


def _quantiles(taus: Floats) -> tuple[str, str]:
    low, middle, high = np.quantile(taus, [0.05, 0.5, 0.95])
    return f"{middle:.3f}", f"{low:.3f} to {high:.3f}"


def _real(findings: Findings) -> Iterator[Claims]:
    claims = []
    for name, both in findings.real_rankings.items():
        for measure, one in both.items():
            ours = (f"{one.tau:.3f}", f"{100 * one.overlap:.0f} %", *_quantiles(findings.taus[f"{name}\n{measure}"][0]))
            claims.append(Claim("Figures 10 and 12", (name, measure), (), ours, "ours, real"))
    header = ["panel", "measure", "assessors' median: tau", "top set"]
    header += ["one assessor a document: median tau", "5 to 95 %"]
    if claims:
        yield Claims("Figures 10 and 12 on real runs and assessors, against NIST's grades", header, claims)
