"""Magnitudes as documents: their units and checks, gold levels, gains, assessors needed, and one scale for all.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats
from qrowd.magnitude import (
    GainProfile,
    LevelRatios,
    LevelTests,
    assessors_needed,
    assessors_needed_for_ratio,
    check_documents,
    gain_profile,
    level_ratios,
    level_tests,
    normalise,
    unit_checks,
    units_needed,
)
from qrowd.magnitude.gains import Ratios
from qrowd.magnitude.normalisation import Scheme
from qrowd.magnitude.units import By, Units, default_by, units_of
from qrowd.model.judgments import Judgments
from qrowd.reports.document import Document, Note, Table
from qrowd.reports.phrases import cells, count, number, percent, probability
from qrowd.reports.scales import scale_note

MARGINS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0)  # of Table II
RATIO_MARGINS = (0.1, 0.2, 0.5, 1.0)
EXCEPTIONS_SHOWN = 20
Checks = Mapping[str, tuple[str, str]]


@dataclass(frozen=True, eq=False)
class Magnitudes:
    """Magnitudes of several assessors, and what they are compared with; each result is computed when first asked for.

    written : magnitudes as assessors wrote them, without those of gold.
    gold : judgments of one assessor in grades.
    checks : {topic: (H, N)}; None: the check documents that gold implies.
    scheme : of normalisation. by : what a unit is; None: "unit" if there is a unit column, else "assessor".
    """

    written: Judgments
    gold: Judgments | None = None
    checks: Checks | None = None
    scheme: Scheme = "geometric_mean"
    by: By | None = None

    @classmethod
    def of(cls, judgments: Judgments, gold: str | None = None, **options: Any) -> Any:
        """From one panel. gold : the assessor whose judgments are gold; options : the other fields.

        A scheme may be written with hyphens.

        Raises
        ------
        ArgumentError
            Nobody but the gold assessor judged.
        """
        options["scheme"] = options.get("scheme", "geometric_mean").replace("-", "_")
        written = judgments if gold is None else judgments.select(assessors=lambda name: name != gold)
        if not len(written):
            raise ArgumentError("judgments: there are no magnitudes, or nobody but the gold assessor judged")
        return cls(written, None if gold is None else judgments.select(assessors=[gold]), **options)

    @property
    def units_by(self) -> By:
        """What a unit is."""
        return self.by or default_by(self.written)

    @property
    def grades(self) -> Judgments:
        """The gold grades."""
        if self.gold is None:
            raise ArgumentError("this needs gold grades; give --gold NAME or FILE")
        return self.gold

    @cached_property
    def units(self) -> Units:
        return units_of(self.written, by=self.units_by)

    @cached_property
    def check_documents(self) -> Checks:
        """{topic: (H, N)}, given or implied by gold."""
        if self.checks is not None:
            return self.checks
        if self.gold is None:
            raise ArgumentError("no check documents H and N are known; give --checks FILE, or --gold NAME or FILE")
        try:
            return check_documents(self.written, self.gold, by=self.units_by)
        except ArgumentError as error:
            reason = str(error).partition("; name")[0]
            raise ArgumentError(f"{reason}; give --checks FILE, a table of topic, H and N") from None

    @cached_property
    def judgments(self) -> Judgments:
        """The magnitudes on one scale."""
        return self.normalised(self.scheme)

    def normalised(self, scheme: Scheme) -> Judgments:
        """The magnitudes on one scale, by this scheme."""
        checks = self.check_documents if scheme == "checks" else None
        return normalise(self.written, scheme=scheme, checks=checks, by=self.units_by)

    @cached_property
    def tests(self) -> LevelTests:
        return level_tests(self.judgments, self.grades)

    @cached_property
    def gains(self) -> GainProfile:
        return gain_profile(self.written, self.grades, checks=self.check_documents, by=self.units_by)

    @cached_property
    def ratios(self) -> LevelRatios:
        return level_ratios(self.written, self.grades, by=self.units_by)

    @cached_property
    def deviations(self) -> Floats:
        """(documents,) standard deviation, n - 1, of the normalised magnitudes of documents judged twice or more."""
        return self._deviations(self.judgments.value)

    @cached_property
    def log_deviations(self) -> Floats:
        """(documents,) the same of their natural logarithms."""
        return self._deviations(np.log(self.judgments.value))

    def _deviations(self, values: Floats) -> Floats:
        _, pair, n = np.unique(self.judgments.pair_numbers, return_inverse=True, return_counts=True)
        centre = np.bincount(pair, values) / n
        squares = np.bincount(pair, (values - centre[pair]) ** 2)[n > 1]
        return np.asarray(np.sqrt(squares / (n[n > 1] - 1)))

    @property
    def notes(self) -> tuple[Note, ...]:
        """The normalisation in force, what a unit is, and the scales."""
        unit = "units: the unit column"
        if self.units_by == "assessor":
            unit = "units: all judgments of an assessor for a topic, as there is no unit column"
        return Note("normalisation", f"{self.scheme.replace('_', '-')}; {unit}"), scale_note(self.judgments)


def units_document(data: Magnitudes, *, min_seconds: float | None = None) -> Document:
    """The units of each topic, and how many of them pass the checks. min_seconds : of `unit_checks`."""
    checked = unit_checks(data.written, data.check_documents, min_seconds=min_seconds, by=data.units_by)
    topics = data.written.topics
    n_units = np.bincount(checked.units.topic, minlength=len(topics))
    columns = {
        "topic": list(topics),
        "units": cells("{:,}".format, n_units),
        "H": [data.check_documents[topic][0] for topic in topics],
        "N": [data.check_documents[topic][1] for topic in topics],
        "H above N": cells("{:,}".format, np.bincount(checked.units.topic[checked.ordered], minlength=len(topics))),
    }
    if min_seconds is not None:
        slow = np.bincount(checked.units.topic[checked.slow_enough], minlength=len(topics))
        columns[f"at least {min_seconds:g} s for each document"] = cells("{:,}".format, slow)
    sentence = (
        f"{count(len(checked.units), 'unit')} by {count(len(data.written.assessors), 'assessor')}; "
        f"{count(int((~checked.passed).sum()), 'unit fails', 'units fail')} the checks."
    )
    return Document(sentence, (Table.of("units by topic, and those that pass", columns),), data.notes, checked.to_frame)


def levels_document(data: Magnitudes) -> Document:
    """Whether higher gold levels have higher magnitudes: t-tests, and topics that are exceptions (section 5)."""
    tests = data.tests
    exceptions, frame = tests.exceptions(), tests.to_frame()
    names = cells("{:g}".format, tests.levels)
    adjacent = {
        "level": [f"{low} and {high}" for low, high in pairwise(names)],
        "documents": cells("{:,} and {:,}".format, frame["n_lower"], frame["n_upper"]),
        "median": cells("{:.4g} and {:.4g}".format, frame["median_lower"], frame["median_upper"]),
        "t": cells(number, frame["t"], digits=2),
        "df": cells(number, frame["df"], digits=1),
        "p": cells(probability, frame["p"]),
    }
    tables = [Table.of("adjacent gold levels", adjacent)]
    if len(exceptions):
        shown = exceptions.head(EXCEPTIONS_SHOWN)
        reverse = {
            "topic": shown["topic"].tolist(),
            "level": cells("{:g} and {:g}".format, shown["lower"], shown["upper"]),
            "median": cells("{:.4g} and {:.4g}".format, shown["median_lower"], shown["median_upper"]),
        }
        tables.append(Table.of("topics in which the higher level has the lower median magnitude", reverse))
    sentence = (
        f"{int((tests.p < 0.05).sum())} of {count(tests.p.size, 'pair')} of adjacent gold levels differ in their "
        f"magnitudes (p < .05, not corrected); in {len(exceptions)} of {tests.comparable()} cases of a topic and two "
        "levels the higher level has the lower median."
    )
    notes = (*data.notes, Note("t-test", "Welch's, of logarithms, two-sided"))
    content = {"tests": frame.to_dict("records"), "exceptions": exceptions.to_dict("records")}
    return Document(sentence, tuple(tables), notes, tests.to_frame, lambda: content)


def gains_document(data: Magnitudes) -> Document:
    """The gain of each gold level, as a multiple of the low check document's magnitude (section 8)."""
    profile = data.gains
    names = cells("{:g}".format, profile.levels)
    columns = {
        "level": names,
        **_ratio_columns(profile.gains),
        "linear": cells("{:g}".format, profile.linear),
        "exponential": cells("{:g}".format, profile.exponential),
    }
    linear, exponential = profile.linear_error, profile.exponential_error
    closer = "linear" if linear <= exponential else "exponential"
    values = ", ".join(f"{name}: {gain:.2f}" for name, gain in zip(names, profile.gains.median, strict=True))
    sentence = (
        f"In multiples of the magnitude of N in the same unit, the median gains of the gold levels are {values}; "
        f"{closer} gains are closer to them (root mean square difference of logarithms: linear {linear:.2f}, "
        f"exponential {exponential:.2f})."
    )
    notes = [*data.notes]
    if profile.n_without_gold:
        left_out = count(profile.n_without_gold, "judgment")
        notes.append(Note("gold", f"{left_out} of documents without gold are left out"))
    notes.append(Note("ratios", "within units, of the magnitudes as written; normalisation does not change them"))
    pairs = {"level": list(data.ratios.pairs), **_ratio_columns(data.ratios.ratios)}
    tables = (
        Table.of("magnitude of each gold level, divided by that of N in the unit", columns),
        Table.of("ratios of the magnitudes of two gold levels within a unit", pairs),
    )

    def content() -> dict[str, Any]:
        return {"gains": profile.to_frame().to_dict("records"), "ratios": data.ratios.to_frame().to_dict("records")}

    return Document(sentence, tables, tuple(notes), profile.to_frame, content)


def _ratio_columns(ratios: Ratios) -> dict[str, list[str]]:
    """Statistics of groups of ratios, as printed."""
    return {
        "judgments": cells("{:,}".format, ratios.n),
        "lower quartile": cells(number, ratios.lower_quartile, digits=2),
        "median": cells(number, ratios.median, digits=2),
        "upper quartile": cells(number, ratios.upper_quartile, digits=2),
        "mean": cells(number, ratios.mean, digits=2),
        "geometric mean": cells(number, ratios.geometric_mean, digits=2),
    }


def effort_document(
    data: Magnitudes, *, redundancy: int = 10, unit_size: int = 8, n_checks: int = 2, confidence: float = 0.95
) -> Document:
    """How many assessors and units the documents need, given how far their magnitudes vary (section 6.3).

    redundancy, unit_size, n_checks : of `units_needed`. confidence : of `assessors_needed`.
    """
    sds, log_sds = data.deviations, data.log_deviations
    if not sds.size:
        raise ArgumentError("judgments: no document was judged twice, so nothing says how far its magnitudes vary")
    needed: dict[str, list[Any]] = {"margin": [f"{margin:g}" for margin in MARGINS]}
    ratio: dict[str, list[Any]] = {"margin": [f"{percent(margin, 0)}" for margin in RATIO_MARGINS]}
    for share, which in ((0.5, "median"), (0.9, "90 % of documents,")):
        sd, log_sd = float(np.quantile(sds, share)), float(np.quantile(log_sds, share))
        needed[f"assessors, {which} sd {sd:.2f}"] = [
            str(assessors_needed(sd, margin=margin, confidence=confidence)) for margin in MARGINS
        ]
        ratio[f"assessors, {which} sd {log_sd:.2f}"] = [
            str(assessors_needed_for_ratio(log_sd, margin=margin, confidence=confidence)) for margin in RATIO_MARGINS
        ]
    topics = data.written.topics
    pairs = np.unique(data.written.pair_numbers) // len(data.written.documents)
    n_documents = np.bincount(pairs, minlength=len(topics)).tolist()
    plan = {"redundancy": redundancy, "unit_size": unit_size, "n_checks": n_checks}
    n_units = [units_needed(n, **plan) for n in n_documents]
    units = {
        "topic": list(topics),
        "documents": cells("{:,}".format, n_documents),
        "units": cells("{:,}".format, n_units),
    }
    sd = float(np.median(sds))
    sentence = (
        f"The mean of a document's magnitudes is within 2 of the true one from "
        f"{count(assessors_needed(sd, margin=2.0, confidence=confidence), 'assessor')} on, at the median standard "
        f"deviation {sd:.2f}; {redundancy} judgments of each of {sum(n_documents):,} documents take "
        f"{sum(n_units):,} units."
    )
    deviations = "standard deviation, n - 1, of each document's normalised magnitudes; for ratios, of their logs"
    tables = (
        Table.of("assessors for a mean within the margin of the true one", needed),
        Table.of("assessors for a geometric mean within a factor of 1 + margin", ratio),
        Table.of(f"units of {unit_size} documents, {n_checks} of them checks", units),
    )
    notes = (
        *data.notes,
        Note("confidence", f"{percent(confidence)} intervals; Table II of the paper used 99 %"),
        Note("sd", deviations),
    )

    def frame() -> Any:
        import pandas as pd

        return pd.DataFrame({"topic": topics, "n_documents": n_documents, "n_units": n_units})

    return Document(sentence, tables, notes, frame)


def normalised_document(data: Magnitudes) -> Document:
    """The normalised magnitudes as judgments, for other tools; the table compares them with those as written."""
    both = {"as written": data.written, "normalised": data.judgments}
    columns = {
        "magnitudes": list(both),
        "median": cells("{:.4g}".format, [np.median(judgments.value) for judgments in both.values()]),
        "geometric mean": cells(
            "{:.4g}".format, [np.exp(np.log(judgments.value).mean()) for judgments in both.values()]
        ),
        "geometric standard deviation": cells(
            "{:.4g}".format, [np.exp(np.log(judgments.value).std(ddof=1)) for judgments in both.values()]
        ),
    }
    sentence = (
        f"{count(len(data.written), 'magnitude')} of {count(len(data.written.assessors), 'assessor')} are on one "
        f"scale: {data.judgments.scales[0]}."
    )
    return Document(sentence, (Table.of("all magnitudes", columns),), data.notes, data.judgments.to_frame)
