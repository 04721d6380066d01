"""The analyses of the paper of any magnitudes, as tables: distribution, units, agreement, conflicts, rankings.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), sections 4 to 9. Levels, gains and assessors needed are those of `qrowd magnitude`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.agreement import krippendorff_alpha
from qrowd.errors import NoOverlapError
from qrowd.model.result import Result
from qrowd.reports.document import Document, Note, Table
from qrowd.reports.magnitude_tables import effort_document, gains_document, levels_document
from qrowd.reports.phrases import cells, count, interval, number, percent
from qrowd_papers.magnitude.analysis import MEASURES, MagnitudeAnalysis
from qrowd_papers.magnitude.digits import ratio_digits, round_numbers
from qrowd_papers.magnitude.distribution import Distribution
from qrowd_papers.magnitude.gold_conflicts import scale_conflicts
from qrowd_papers.magnitude.order_agreement import order_agreement
from qrowd_papers.magnitude.participation import answer_times, fit_power_law
from qrowd_papers.magnitude.unit_counts import assessor_units, topic_units

ROWS_SHOWN = 10
RATIOS = (10.0, 100.0, 1000.0, 10_000.0)  # of highest to lowest magnitude, as Figure 5 counts them


def distribution(data: MagnitudeAnalysis) -> Document:
    """How magnitudes are distributed: log-normal fit, by topic, round numbers, digits of ratios (section 4.2)."""
    (written, by_topic), (normalised, _) = (data.distributions(part) for part in (data.written, data.judgments))
    common = round_numbers(data.written)
    digits = ratio_digits(data.written, by=data.units_by)
    both = {name: _statistics(part) for name, part in (("as written", written), ("normalised", normalised))}
    whole = {name: [part[name][0] for part in both.values()] for name in both["as written"]}
    shown = slice(ROWS_SHOWN)
    values = {
        "value": cells("{:g}".format, common.value[shown]),
        "judgments": cells("{:,}".format, common.n[shown]),
        "share": cells(percent, common.share[shown], digits=1),
        "assessors": cells("{:,}".format, common.n_assessors[shown]),
    }
    most = (1, 2, 3)
    within = {
        "significant digits at most": [f"{n}" for n in most],
        "units": [f"{digits.n_within(n):,}" for n in most],
        "share": [percent(digits.n_within(n) / len(digits.units), 1) for n in most],
    }
    sentence = (
        f"{count(len(data.written), 'magnitude')} of {count(len(data.written.assessors), 'assessor')} have the median "
        f"{written.median[0]:.4g} and the geometric mean {written.geometric_mean[0]:.4g}; "
        f"{percent(written.share_up_to(1)[0], 1)} are at most 1, and {percent(common.one_two_five, 1)} are 1, 2 or 5 "
        "times a power of ten."
    )
    tables = (
        Table.of("all magnitudes", {"magnitudes": list(both), **whole}),
        Table.of("magnitudes as written, by topic", {"topic": list(by_topic.groups), **_statistics(by_topic)}),
        Table.of("the values written most often", values),
        Table.of("units whose ratios of magnitudes have few significant digits", within),
    )
    fit = Note("distance", "largest difference between the share of magnitudes up to a value and the log-normal curve")
    return _document(sentence, tables, (*data.notes, fit), all=written, topics=by_topic, values=common, digits=digits)


def _statistics(part: Distribution) -> dict[str, list[str]]:
    return {
        "judgments": cells("{:,}".format, part.n),
        "mean": cells("{:.4g}".format, part.mean),
        "sd": cells("{:.4g}".format, part.sd),
        "median": cells("{:.4g}".format, part.median),
        "geometric mean": cells("{:.4g}".format, part.geometric_mean),
        "geometric standard deviation": cells("{:.4g}".format, part.geometric_sd),
        "share up to 1": cells(percent, part.share_up_to(1), digits=1),
        "distance": cells(number, part.distance, digits=3),
    }


def units(data: MagnitudeAnalysis) -> Document:
    """Table I, units by assessor, time, and, with check documents, narrow and wide units."""
    by_topic = topic_units(data.written, by=data.units_by)
    by_assessor = assessor_units(data.written, by=data.units_by)
    n_judged, n_assessors = np.unique(by_assessor.n_units, return_counts=True)
    law = fit_power_law(by_assessor.n_units, highest=max(len(data.written.topics), int(by_assessor.n_units.max())))
    columns = {
        "topic": list(by_topic.topics),
        **{
            name: cells("{:,}".format, getattr(by_topic, f"n_{name}"))
            for name in ("documents", "units", "assessors", "judgments")
        },
    }
    participation = {
        "units judged": cells("{:,}".format, n_judged),
        "assessors": cells("{:,}".format, n_assessors),
        "share": cells(percent, n_assessors / n_assessors.sum(), digits=1),
    }
    n_units = int(by_topic.n_units.sum())
    sentence = f"{count(n_units, 'unit')} by {count(len(by_assessor.assessors), 'assessor')}"
    notes = [*data.notes, *_without_checks(data)]
    results: dict[str, Result] = {"topics": by_topic, "assessors": by_assessor}
    if not np.isnan(law.exponent):
        text = (
            f"exponent {law.exponent:.2f} of the number of units per assessor, standard error {law.standard_error:.2f}"
        )
        notes.append(Note("power law", text))
    if data.lack_of_checks is None:
        results["widths"] = data.widths
        sentence += (
            f"; units are narrow below {data.widths.threshold:.4g}, the median ratio of the magnitudes of H and N, and "
            f"wide from there on ({int(data.widths.wide.sum()):,} of {n_units:,})"
        )
    if data.written.seconds is not None and not np.isnan(data.written.seconds).all():
        times = answer_times(data.written)
        text = f"mean {times.mean:.1f}, sd {times.sd:.1f}, median {times.median:.1f}"
        notes.append(Note("seconds per judgment", text))
    tables = Table.of("units by topic", columns), Table.of("assessors by number of units", participation)
    return _document(f"{sentence}.", tables, tuple(notes), **results)


def agreement(data: MagnitudeAnalysis) -> Document:
    """Alpha as written and normalised, dispersion of each document, and with gold the order of units (section 6.1)."""
    written, normalised = (
        krippendorff_alpha(part, level="ratio", n_resamples=data.n_resamples, rng=data.rng)
        for part in (data.written, data.judgments)
    )
    alphas = {"as written": written.item(), "normalised": normalised.item()}
    coefficients = {
        "magnitudes": list(alphas),
        "alpha": [number(alpha.value, 3) for alpha in alphas.values()],
        "interval": [interval(alpha.low, alpha.high) if alpha.n_resamples else "-" for alpha in alphas.values()],
    }
    dispersion = data.dispersion
    order = np.argsort(-dispersion.ratio, kind="stable")[:ROWS_SHOWN]
    quartiles = np.quantile(dispersion.ratio, [0.25, 0.5, 0.75])
    beyond = {
        "highest / lowest from": [f"{ratio:,.0f}" for ratio in RATIOS],
        "documents": [f"{int((dispersion.ratio >= ratio).sum()):,}" for ratio in RATIOS],
    }
    most = {
        "topic": dispersion.topic[order].tolist(),
        "document": dispersion.document[order].tolist(),
        "judgments": cells("{:,}".format, dispersion.n[order]),
        "geometric standard deviation": cells("{:.4g}".format, dispersion.geometric_sd[order]),
        "highest / lowest": cells("{:,.4g}".format, dispersion.ratio[order]),
    }
    tables = [
        Table.of("Krippendorff's alpha (ratio)", coefficients),
        Table.of(f"documents by dispersion of their magnitudes, of {dispersion.ratio.size:,}", beyond),
        Table.of("the documents with the largest ratio of highest to lowest magnitude", most),
    ]
    results: dict[str, Result] = {"alpha": written, "alpha normalised": normalised, "documents": dispersion}
    notes = [*data.notes]
    if data.gold is not None:
        results["units"] = data.by_unit
        tables += _order_tables(data)
        notes += [Note("equal values", "of two documents count as agreement with the order of gold")]
        notes += _without_checks(data)
    notes.append(Note("dispersion", f"Pearson's r of log ratio and log geometric sd: {dispersion.correlation.r:.3f}"))
    sentence = (
        f"Krippendorff's alpha is {alphas['as written'].value:.3f} as written and {alphas['normalised'].value:.3f} "
        f"normalised; the highest magnitude of a document is in the median {quartiles[1]:.1f} times the lowest "
        f"(quartiles {quartiles[0]:.1f} and {quartiles[2]:.1f})."
    )
    return _document(sentence, tuple(tables), tuple(notes), **results)


def _order_tables(data: MagnitudeAnalysis) -> list[Table]:
    """Agreement with the order of gold: of units, under each normalisation, by levels (Figures 6, 7 and 8)."""
    shares = data.by_unit.value[~np.isnan(data.by_unit.value)]
    masks = {"all": shares == 1, "above 80 %": shares > 0.8, "above 60 %": shares > 0.6}
    full = {
        "pairs in the order of gold": list(masks),
        "units": [f"{int(mask.sum()):,}" for mask in masks.values()],
        "share": [percent(float(mask.mean()), 1) for mask in masks.values()],
    }
    schemes = data.schemes
    normalisations = list(dict.fromkeys(scheme for scheme, _ in schemes))
    means = {
        "normalisation": normalisations,
        **{
            name: [percent(float(np.nanmean(schemes[scheme, name])), 1) for scheme in normalisations]
            for name in dict.fromkeys(merging for _, merging in schemes)
        },
    }
    plain, strict = (order_agreement(data.merged, data.grades, by="levels", strict=one) for one in (False, True))
    by_levels = [name for name in data.by_levels if name != "all"]
    levels = {
        "level": by_levels,
        "pairs": cells("{:,}".format, plain.n_pairs),
        "agreement": cells(percent, plain.value, digits=1),
        "equal values as disagreement": cells(percent, strict.value, digits=1),
        "mean over topics": [percent(float(np.nanmean(data.by_levels[name])), 1) for name in by_levels],
    }
    return [
        Table.of(f"units by agreement with the order of gold, of {shares.size:,} with a pair", full),
        Table.of("pairs of documents in the order of gold, mean over topics, by normalisation and aggregation", means),
        Table.of("pairs of documents in the order of gold, by their levels", levels),
    ]


def conflicts(data: MagnitudeAnalysis) -> Document:
    """Documents whose merged magnitude is nearest to another gold level than their own, with comments (section 6.2)."""
    conflicting = scale_conflicts(data.judgments, data.grades)
    n, shown = len(conflicting), slice(ROWS_SHOWN)
    columns = {
        "topic": conflicting.topic[shown].tolist(),
        "document": conflicting.document[shown].tolist(),
        "level": cells("{:g}".format, conflicting.level[shown]),
        "nearest level": cells("{:g}".format, conflicting.nearest[shown]),
        "magnitude": cells("{:.4g}".format, conflicting.value[shown]),
        "judgments": cells("{:,}".format, conflicting.n[shown]),
    }
    sentence = (
        f"{count(n, 'document')} of {conflicting.n_documents:,} {'has' if n == 1 else 'have'} a merged magnitude that "
        "is nearest to a gold level 2 or more levels from their own."
    )
    tables = (Table.of(f"conflicts with gold, the largest {min(n, ROWS_SHOWN)} of {n:,}", columns),) if n else ()
    merged = Note("merged", "median of the normalised magnitudes; centres by topic, in logarithms")
    return _document(sentence, tables, (*data.notes, merged), conflicts=conflicting)


def rankings(data: MagnitudeAnalysis) -> Document:
    """The ranking of systems with magnitudes and with gold grades as gains (section 7)."""
    runs = data.systems
    preferred: dict[str, NDArray[np.bool_] | None] = {"all units": None}
    if data.lack_of_checks is None:
        preferred |= {"narrow units": ~data.widths.wide, "wide units": data.widths.wide}
    rows = [
        (name, measure, both)
        for name, mask in preferred.items()
        for measure, both in data.rankings(runs, preferred=mask).items()
    ]
    notes = [*data.notes, *_measure_notes(), *_without_checks(data)]
    try:
        rows += [("complete lists", *pair) for pair in data.rankings(data.complete_runs).items()]
    except NoOverlapError as error:
        notes.append(Note("complete lists", f"none: {error}"))
    draws = data.draws
    quantiles = draws.quantiles()
    drawn = {
        "measure": list(MEASURES),
        "tau, median": cells(number, quantiles[:, 1], digits=3),
        "5 %": cells(number, quantiles[:, 0], digits=3),
        "95 %": cells(number, quantiles[:, 2], digits=3),
    }
    columns = {
        "magnitudes of": [name for name, _, _ in rows],
        "measure": [measure for _, measure, _ in rows],
        "tau": [number(both.tau, 3) for _, _, both in rows],
        "top set by magnitudes": [f"{int(both.top_x.sum())}" for _, _, both in rows],
        "by gold": [f"{int(both.top_y.sum())}" for _, _, both in rows],
        "overlap": [percent(both.overlap, 0) for _, _, both in rows],
    }
    notes.append(Note("draws", f"{draws.n_resamples:,}; seed: {data.rng!r}"))
    taus = [f"{both.tau:.3f} with {measure}" for _, measure, both in rows[:2]]
    sentence = (
        f"Kendall's tau between the rankings of {count(len(runs.systems), 'system')} by magnitudes and by gold grades "
        f"is {' and '.join(taus)}; with one magnitude drawn for each document it is {quantiles[0, 1]:.3f} and "
        f"{quantiles[1, 1]:.3f} in the median."
    )
    tables = (
        Table.of("systems by magnitudes and by gold grades as gains", columns),
        Table.of("one magnitude drawn for each document, rankings compared with gold's", drawn),
    )
    results: dict[str, Result] = {f"{name}, {measure}": both for name, measure, both in rows}
    return _document(sentence, tables, tuple(notes), **results, draws=draws)


def _measure_notes() -> list[Note]:
    return [
        Note(
            "measures",
            "nDCG@10 with the original discount (none at rank 1, log2(r) below); ERR@10 with R = (2^g - 1) / 2^max, "
            "where max is that of the scale, and for magnitudes the highest of the topic",
        ),
        Note("magnitudes", "of a document: the median over the three units that order documents most as gold does"),
        Note("top set", "the best and those not significantly below it (paired Wilcoxon test, p >= .05)"),
        Note("overlap", "share of the top set by gold that is in the other"),
    ]


def _without_checks(data: MagnitudeAnalysis) -> tuple[Note, ...]:
    """What is left out for want of check documents, and why."""
    if data.lack_of_checks is None:
        return ()
    return (Note("left out", f"what needs check documents: {data.lack_of_checks}"),)


def _document(sentence: str, tables: tuple[Table, ...], notes: tuple[Note | str, ...], **results: Result) -> Document:
    """A document whose numbers are those of the results, the first of which is its frame."""

    def content() -> dict[str, Any]:
        return {name: result.to_frame().to_dict("records") for name, result in results.items()}

    return Document(sentence, tables, notes, next(iter(results.values())).to_frame, content)


SECTIONS: dict[str, Callable[[MagnitudeAnalysis], Document]] = {
    "distribution": distribution,
    "units": units,
    "agreement": agreement,
    "effort": effort_document,
    "levels": levels_document,
    "gains": gains_document,
    "conflicts": conflicts,
    "rankings": rankings,
}
