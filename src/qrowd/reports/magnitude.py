"""Magnitudes without gold: their distribution, the units, agreement of the assessors, effort; and all parts in one.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), sections 3 to 6.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from qrowd.agreement import krippendorff_alpha
from qrowd.agreement.alpha import Alpha
from qrowd.errors import ArgumentError, QrowdError
from qrowd.magnitude import (
    Distribution,
    answer_times,
    assessor_units,
    assessors_needed,
    assessors_needed_for_ratio,
    fit_power_law,
    judging_cost,
    normalise,
    ratio_digits,
    round_numbers,
    topic_units,
    unit_checks,
    units_needed,
)
from qrowd.magnitude import distribution as distribution_of
from qrowd.magnitude.collection import Equal
from qrowd.reports.document import Document, Note, Table
from qrowd.reports.magnitude_data import MagnitudeData, Section, notes_of, rows_of, without_checks
from qrowd.reports.magnitude_gold import conflicts, gains, levels, rankings
from qrowd.reports.phrases import cells, count, interval, number, percent

VALUES_SHOWN = 10  # of the numbers that assessors write most often
DOCUMENTS_SHOWN = 10
RATIOS = (10.0, 100.0, 1000.0, 10_000.0)  # of highest to lowest magnitude, as Figure 5 counts them
MARGINS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0)  # of Table II
RATIO_MARGINS = (0.1, 0.2, 0.5, 1.0)


def distribution(data: MagnitudeData) -> Section:
    """How magnitudes are distributed: log-normal fit, by topic, round numbers, digits of ratios (section 4.2)."""
    (written, by_topic), (one_scale, normalised) = (data.distributions(each) for each in (data.written, data.judgments))
    common = round_numbers(data.written)
    digits = ratio_digits(data.written, by=data.units_by)
    both = {"as written": written, "normalised": one_scale}
    topics = {
        "topic": list(by_topic.groups),
        **_statistics(by_topic),
        "distance, normalised": cells(number, normalised.distance, digits=3),
    }
    whole = {name: [_statistics(one)[name][0] for one in both.values()] for name in _statistics(written)}
    shown = slice(VALUES_SHOWN)
    values = {
        "value": cells("{:g}".format, common.value[shown]),
        "judgments": cells("{:,}".format, common.n[shown]),
        "share": cells(percent, common.share[shown], digits=1),
        "assessors": cells("{:,}".format, common.n_assessors[shown]),
    }
    n_units = len(digits.units)
    within = {
        "significant digits at most": ["1", "2", "3"],
        "units": [f"{digits.n_within(most):,}" for most in (1, 2, 3)],
        "share": [percent(digits.n_within(most) / n_units, 1) for most in (1, 2, 3)],
    }
    sentence = (
        f"{count(len(data.written), 'magnitude')} of {count(len(data.written.assessors), 'assessor')} have the median "
        f"{written.median[0]:.4g} and the geometric mean {written.geometric_mean[0]:.4g}; "
        f"{percent(written.share_up_to(1)[0], 1)} are at most 1, and {percent(common.one_two_five, 1)} are 1, 2 or 5 "
        "times a power of ten."
    )
    fit = (
        "distance: the largest difference between the share of magnitudes up to a value and a log-normal curve with "
        "the mean and standard deviation of the logarithms"
    )
    return Section(
        "distribution",
        sentence,
        (
            Table.of("all magnitudes", {"magnitudes": list(both), **whole}),
            Table.of("magnitudes as written, by topic", topics),
            Table.of(f"the {min(VALUES_SHOWN, common.value.size)} values written most often", values),
            Table.of("units whose ratios of magnitudes have few significant digits", within),
        ),
        (*notes_of(data), Note("fit", fit)),
        {
            "all": rows_of(written),
            "all normalised": rows_of(one_scale),
            "topics": rows_of(by_topic),
            "topics normalised": rows_of(normalised),
            "values": rows_of(common),
            "digits": rows_of(digits, "counts"),
        },
    )


def _statistics(one: Distribution) -> dict[str, list[str]]:
    return {
        "judgments": cells("{:,}".format, one.n),
        "mean": cells("{:.4g}".format, one.mean),
        "sd": cells("{:.4g}".format, one.sd),
        "median": cells("{:.4g}".format, one.median),
        "geometric mean": cells("{:.4g}".format, one.geometric_mean),
        "geometric standard deviation": cells("{:.4g}".format, one.geometric_sd),
        "share up to 1": cells(percent, one.share_up_to(1), digits=1),
        "distance": cells(number, one.distance, digits=3),
    }


def units(data: MagnitudeData, *, min_seconds: float | None = None, equal: Equal = "fails") -> Section:
    """Table I, units by assessor, time, and, with check documents, the checks and the narrow and wide units.

    min_seconds, equal : of `unit_checks`.
    """
    with_checks = data.lack_of_checks is None
    by_topic = topic_units(data.written, checks=data.check_documents if with_checks else None, by=data.units_by)
    by_assessor = assessor_units(data.written, by=data.units_by)
    counts = by_assessor.to_frame(what="counts")
    law = fit_power_law(by_assessor.n_units, highest=max(len(data.written.topics), int(by_assessor.n_units.max())))
    columns = {
        "topic": list(by_topic.topics),
        "documents": cells("{:,}".format, by_topic.n_documents),
        "units": cells("{:,}".format, by_topic.n_units),
        "assessors": cells("{:,}".format, by_topic.n_assessors),
        "judgments": cells("{:,}".format, by_topic.n_judgments),
    }
    if by_topic.high is not None and by_topic.low is not None:
        columns |= {"H": list(by_topic.high), "N": list(by_topic.low)}
    participation = {
        "units judged": cells("{:,}".format, counts["n_units"]),
        "assessors": cells("{:,}".format, counts["n_assessors"]),
        "share": cells(percent, counts["share"], digits=1),
    }
    n_units = int(by_topic.n_units.sum())
    sentence = f"{count(n_units, 'unit')} by {count(len(by_assessor.assessors), 'assessor')}"
    tables = [Table.of("units by topic", columns), Table.of("assessors by number of units", participation)]
    notes = [*notes_of(data), *without_checks(data)]
    rows = {"topics": rows_of(by_topic), "assessors": rows_of(by_assessor), "participation": rows_of(law)}
    if not np.isnan(law.exponent):
        text = (
            f"exponent {law.exponent:.2f} of the number of units per assessor, standard error {law.standard_error:.2f}"
        )
        notes.append(Note("power law", text))
    if with_checks:
        checked = unit_checks(
            data.written, data.check_documents, equal=equal, min_seconds=min_seconds, by=data.units_by
        )
        widths = data.widths
        n_wide = int(widths.wide.sum())
        n_fewer = count(int((~checked.passed).sum()), "unit")
        sentence += (
            f"; {n_fewer} fail the checks; units are narrow below {widths.threshold:.4g}, the median ratio of the "
            f"magnitudes of H and N, and wide from there on ({n_wide:,} of {n_units:,})"
        )
        names = ["H above N" if equal == "fails" else "H not below N"]
        passing = [checked.ordered]
        if min_seconds is not None:
            names.append(f"at least {min_seconds:g} s for each document")
            passing.append(checked.slow_enough)
        failing = {
            "check": names,
            "units that pass": cells("{:,}".format, [int(one.sum()) for one in passing]),
            "share": cells(percent, [float(one.mean()) for one in passing], digits=1),
        }
        tables.append(Table.of("checks", failing))
        rows |= {"checks": rows_of(checked), "widths": rows_of(widths, "units"), "ratios": rows_of(widths, "counts")}
    if data.written.seconds is not None and not np.isnan(data.written.seconds).all():
        times = answer_times(data.written)
        each = f"mean {times.mean[0]:.1f}, sd {times.sd[0]:.1f}, median {times.median[0]:.1f}"
        notes.append(Note("seconds per judgment", each))
        rows["seconds"] = rows_of(times)
    return Section("units", f"{sentence}.", tuple(tables), tuple(notes), rows)


def agreement(
    data: MagnitudeData, *, slots: int | None = None, n_resamples: int = 1000, confidence: float = 0.95
) -> Section:
    """Alpha as written and normalised, dispersion of each document, and with gold the agreement of units (section 6.1).

    slots : judgments of each document that alpha takes, as the paper took ten; None: all.
    """
    options: dict[str, Any] = {"level": "ratio", "slots": slots, "n_resamples": n_resamples, "rng": data.rng}
    pairs = {"as written": data.written, "normalised": data.judgments}
    alphas = {name: krippendorff_alpha(one, confidence=confidence, **options) for name, one in pairs.items()}
    dispersion = data.dispersion
    order = np.argsort(-dispersion.ratio, kind="stable")[:DOCUMENTS_SHOWN]
    quartiles = np.quantile(dispersion.ratio, [0.25, 0.5, 0.75])
    beyond = {
        "highest / lowest from": [f"{ratio:,.0f}" for ratio in RATIOS],
        "documents": [f"{int((dispersion.ratio >= ratio).sum()):,}" for ratio in RATIOS],
    }
    most = {
        "topic": dispersion.topic[order].tolist(),
        "document": dispersion.document[order].tolist(),
        "judgments": cells("{:,}".format, dispersion.n[order]),
        "geometric mean": cells("{:.4g}".format, dispersion.geometric_mean[order]),
        "geometric standard deviation": cells("{:.4g}".format, dispersion.geometric_sd[order]),
        "highest / lowest": cells("{:,.4g}".format, dispersion.ratio[order]),
    }
    tables = [
        Table.of("Krippendorff's alpha (ratio)", _alpha_columns({name: one.item() for name, one in alphas.items()})),
        Table.of(f"documents by dispersion of their magnitudes, of {dispersion.ratio.size:,}", beyond),
        Table.of(f"the {order.size} documents with the largest ratio of highest to lowest magnitude", most),
    ]
    rows = {name: rows_of(one) for name, one in zip(("alpha", "alpha normalised"), alphas.values(), strict=True)}
    rows["documents"] = rows_of(dispersion)
    sentence = (
        f"Krippendorff's alpha is {alphas['as written'].item().value:.3f} as written and "
        f"{alphas['normalised'].item().value:.3f} normalised; the highest magnitude of a document is in the median "
        f"{quartiles[1]:.1f} times the lowest (quartiles {quartiles[0]:.1f} and {quartiles[2]:.1f})."
    )
    notes = [*notes_of(data)]
    if data.gold is not None:
        table, note, unit_rows = _with_gold(data)
        tables += table
        notes += [note, *without_checks(data)]
        rows |= unit_rows
    pearson = dispersion.correlation
    notes.append(Note("dispersion", f"Pearson's r of log ratio and log geometric sd: {number(pearson.r, 3)}"))
    return Section("agreement", sentence, tuple(tables), tuple(notes), rows)


def _alpha_columns(alphas: dict[str, Alpha]) -> dict[str, list[str]]:
    return {
        "magnitudes": list(alphas),
        "alpha": [number(one.value, 3) for one in alphas.values()],
        "interval": [interval(one.low, one.high) if one.n_resamples else "-" for one in alphas.values()],
        "documents": [f"{one.n_documents:,}" for one in alphas.values()],
        "judgments": [f"{one.n_judgments:,}" for one in alphas.values()],
    }


def _with_gold(data: MagnitudeData) -> tuple[list[Table], Note, dict[str, Callable[[], dict[str, Any]]]]:
    """The share of units that follow gold, and the mean over topics under each normalisation (Figures 6 and 8)."""
    by_unit, schemes = data.by_unit, data.schemes
    shares = by_unit.value[~np.isnan(by_unit.value)]
    full = {
        "pairs in the order of gold": ["all", "above 80 %", "above 60 %"],
        "units": [f"{int(some.sum()):,}" for some in (shares == 1, shares > 0.8, shares > 0.6)],
        "share": [percent(float(some.mean()), 1) for some in (shares == 1, shares > 0.8, shares > 0.6)],
    }
    normalisations = list(dict.fromkeys(scheme for scheme, _ in schemes))
    mergings = list(dict.fromkeys(merging for _, merging in schemes))
    means = {
        "normalisation": normalisations,
        **{
            name: [percent(float(np.nanmean(schemes[scheme, name])), 1) for scheme in normalisations]
            for name in mergings
        },
    }
    tables = [
        Table.of(f"units by agreement with the order of gold, of {shares.size:,} with a pair", full),
        Table.of("pairs of documents in the order of gold, mean over topics, by normalisation and aggregation", means),
    ]
    strict = by_unit.same.sum() / max(int(by_unit.n_pairs.sum()), 1)
    note = Note(
        "equal values",
        f"count as agreement: {percent(by_unit.overall, 1)} of all pairs within units; {percent(float(strict), 1)} if "
        "they count as disagreement",
    )
    records = {
        "normalisation": [scheme for scheme, _ in schemes],
        "aggregation": [merging for _, merging in schemes],
        "agreement": [float(np.nanmean(one)) for one in schemes.values()],
    }
    return tables, note, {"units": rows_of(by_unit), "schemes": lambda: records}


def effort(
    data: MagnitudeData,
    *,
    pay: float | None = None,
    fee: float = 0.0,
    redundancy: int = 10,
    unit_size: int = 8,
    n_checks: int = 2,
    confidence: float = 0.95,
) -> Section:
    """How many assessors and units the documents need, given how far their magnitudes vary, and at what cost (6.3).

    pay : for one unit; None: no cost. fee, redundancy, unit_size, n_checks : of `judging_cost`.
    """
    sds, log_sds = data.deviations, np.log(data.dispersion.geometric_sd)
    if not sds.size:
        raise ArgumentError("judgments: no document was judged twice, so nothing says how far its magnitudes vary")
    (sd, sd_90), (log_sd, log_sd_90) = (np.quantile(values, [0.5, 0.9]) for values in (sds, log_sds))
    needed = {
        "margin": [f"{margin:g}" for margin in MARGINS],
        f"assessors, median sd {sd:.2f}": cells(str, assessors_needed(sd, margin=MARGINS, confidence=confidence)),
        f"assessors, 90 % of documents (sd {sd_90:.2f})": cells(
            str, assessors_needed(sd_90, margin=MARGINS, confidence=confidence)
        ),
    }
    ratio = {
        "margin": [f"{percent(margin, 0)}" for margin in RATIO_MARGINS],
        f"assessors, median sd {log_sd:.2f}": cells(
            str, assessors_needed_for_ratio(log_sd, margin=RATIO_MARGINS, confidence=confidence)
        ),
        f"assessors, 90 % of documents (sd {log_sd_90:.2f})": cells(
            str, assessors_needed_for_ratio(log_sd_90, margin=RATIO_MARGINS, confidence=confidence)
        ),
    }
    sizes = topic_units(data.written, by=data.units_by).n_documents
    plan = {"redundancy": redundancy, "unit_size": unit_size, "n_checks": n_checks}
    cost = judging_cost(sizes, pay=pay or 0.0, fee=fee, **plan)
    numbers = {
        "documents": [f"{cost.n_documents:,}"],
        "units": [f"{cost.n_units:,}"],
        "judgments": [f"{cost.n_judgments:,}"],
    }
    if pay is not None:
        numbers |= {"cost": [f"{cost.total:,.2f}"], "cost per document": [f"{cost.per_document:.3f}"]}
    spent = "" if pay is None else f", which cost {cost.total:,.2f}"
    sentence = (
        f"The mean of a document's magnitudes is within 2 of the true one from "
        f"{count(int(assessors_needed(float(sd), margin=2.0, confidence=confidence)), 'assessor')} on, at the median "
        f"standard deviation {sd:.2f}; {redundancy} judgments of each of {cost.n_documents:,} documents take "
        f"{cost.n_units:,} units{spent}."
    )
    return Section(
        "effort",
        sentence,
        (
            Table.of("assessors for a mean within the margin of the true one", needed),
            Table.of("assessors for a geometric mean within a factor of 1 + margin", ratio),
            Table.of(f"units of {unit_size} documents, {n_checks} of them checks", numbers),
        ),
        (
            *notes_of(data),
            Note("confidence", f"{percent(confidence)} intervals; Table II of the paper used 99 %"),
            Note(
                "sd", "standard deviation, n - 1, of each document's normalised magnitudes; for ratios, of their logs"
            ),
        ),
        {
            "documents": lambda: {"sd": sds},
            "margins": lambda: {"margin": MARGINS, "assessors": assessors_needed(sd, margin=MARGINS)},
            "units": lambda: {
                "topic": data.written.topics,
                "n_documents": sizes,
                "n_units": units_needed(sizes, **plan),
            },
            "cost": rows_of(cost),
        },
    )


def normalised(data: MagnitudeData, *, standardise: bool = False) -> Document:
    """The normalised magnitudes as judgments, for other tools; the tables compare them with those as written."""
    checks = data.check_documents if data.scheme == "checks" else None
    judgments = normalise(data.written, scheme=data.scheme, checks=checks, standardise=standardise, by=data.units_by)
    both = {"as written": distribution_of(data.written), "normalised": distribution_of(judgments)}
    columns = {name: [_statistics(one)[name][0] for one in both.values()] for name in _statistics(both["normalised"])}
    sentence = (
        f"{count(len(judgments), 'magnitude')} of {count(len(judgments.assessors), 'assessor')} are on one scale: "
        f"{judgments.scales[0]}."
    )
    table = Table.of("all magnitudes", {"magnitudes": list(both), **columns})
    return Document(sentence, (table,), notes_of(data), judgments.to_frame)


# ---------------------------------------------------------------------- all parts

SECTIONS: dict[str, Callable[[MagnitudeData], Section]] = {
    "distribution": distribution,
    "units": units,
    "agreement": agreement,
    "effort": effort,
    "levels": levels,
    "gains": gains,
    "conflicts": conflicts,
    "rankings": rankings,
}


def summary(data: MagnitudeData, names: Sequence[str] = tuple(SECTIONS)) -> Section:
    """All parts that the data allow; notes say what is left out, and why."""
    sections, reasons = [], {}
    for name in names:
        try:
            sections.append(SECTIONS[name](data))
        except QrowdError as error:
            reasons[name] = str(error)
    tables = [table for section in sections for table in section.tables]
    notes = list(dict.fromkeys(note for section in sections for note in section.notes))
    rows = {f"{section.name}: {name}": part for section in sections for name, part in section.rows.items()}
    sentence = " ".join(section.sentence for section in sections)
    if not sections:
        raise ArgumentError(f"nothing can be computed: {'; '.join(dict.fromkeys(reasons.values()))}")
    left_out = [Note("left out", f"{name}: {reason}") for name, reason in reasons.items()]
    return Section("summary", sentence, tuple(tables), (*notes, *left_out), rows)
