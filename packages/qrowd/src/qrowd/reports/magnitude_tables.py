"""Magnitudes as documents: their units and checks, gold levels, gains, assessors needed, and one scale for all.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from qrowd.errors import ArgumentError, QrowdError
from qrowd.kernels.arrays import Floats
from qrowd.magnitude import (
    GainProfile,
    LevelTests,
    assessors_needed,
    check_documents,
    gain_profile,
    level_tests,
    normalise,
    unit_checks,
)
from qrowd.magnitude.normalisation import Scheme
from qrowd.magnitude.units import By, Units, default_by, units_of
from qrowd.model.judgments import Judgments
from qrowd.model.signature import signature_of
from qrowd.reports.document import Document, Note, Table
from qrowd.reports.phrases import cells, count, number, percent
from qrowd.reports.scale_notes import scale_note
from qrowd.reports.table import Columns

MARGINS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0)  # of Table II
CONFIDENCE = 0.95  # of the intervals of the effort
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
            raise ArgumentError(
                "this needs the check documents H and N; give --checks FILE, or --gold NAME or FILE; of a campaign, "
                "the file of checks or gold that it was made from"
            )
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
    def deviations(self) -> Floats:
        """(documents,) standard deviation, n - 1, of the normalised magnitudes of documents judged twice or more."""
        values = self.judgments.value
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


def units_document(data: Magnitudes) -> Document:
    """The units of each topic, and how many of them pass the checks."""
    checked = unit_checks(data.written, data.check_documents, by=data.units_by)
    topics = data.written.topics

    def units_of_topics(which: Any) -> Any:
        return np.bincount(checked.units.topic[which], minlength=len(topics))

    columns = {
        "topic": topics,
        "units": units_of_topics(slice(None)),
        "H": [data.check_documents[topic][0] for topic in topics],
        "N": [data.check_documents[topic][1] for topic in topics],
        "H above N": units_of_topics(checked.ordered),
    }
    sentence = (
        f"{count(len(checked.units), 'unit')} by {count(len(data.written.assessors), 'assessor')}; "
        f"{count(int((~checked.passed).sum()), 'unit fails', 'units fail')} the checks."
    )
    return Document(sentence, (Table.of("units by topic, and those that pass", columns),), data.notes, checked.to_frame)


def levels_document(data: Magnitudes) -> Document:
    """Whether higher gold levels have higher magnitudes: t-tests, and topics that are exceptions (section 5)."""
    tests = data.tests
    exceptions, frame = tests.exceptions(), tests.to_frame()
    adjacent = {
        "level": [f"{low:g} and {high:g}" for low, high in pairwise(tests.levels)],
        "documents": cells("{:,} and {:,}".format, frame["n_lower"], frame["n_upper"]),
        "median": cells("{:.4g} and {:.4g}".format, frame["median_lower"], frame["median_upper"]),
        "t": cells(number, frame["t"], digits=2),
        "df": cells(number, frame["df"], digits=1),
        "p": frame["p"],
    }
    table = Table.of("adjacent gold levels", adjacent)
    sentence = (
        f"{int((tests.p < 0.05).sum())} of {count(tests.p.size, 'pair')} of adjacent gold levels differ in their "
        f"magnitudes (p < .05, not corrected); in {len(exceptions)} of {tests.comparable()} cases of a topic and two "
        "levels the higher level has the lower median."
    )
    notes = (*data.notes, Note("t-test", "Welch's, of logarithms, two-sided"))
    content = {"tests": frame.to_dict("records"), "exceptions": exceptions.to_dict("records")}
    return Document(sentence, (table,), notes, tests.to_frame, lambda: content)


def gains_document(data: Magnitudes) -> Document:
    """The gain of each gold level, as a multiple of the low check document's magnitude (section 8)."""
    profile = data.gains
    names = cells("{:g}".format, profile.levels)
    statistics = ("lower_quartile", "median", "upper_quartile", "mean", "geometric_mean")
    columns = {
        "level": names,
        "judgments": profile.gains.n,
        **{name.replace("_", " "): getattr(profile.gains, name) for name in statistics},
        "linear": cells("{:g}".format, profile.linear),
        "exponential": cells("{:g}".format, profile.exponential),
    }
    linear = profile.linear_error
    exponential = profile.exponential_error
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
    table = Table.of("magnitude of each gold level, divided by that of N in the unit", columns, 2)
    return Document(
        sentence, (table,), tuple(notes), profile.to_frame, lambda: {"gains": profile.to_frame().to_dict("records")}
    )


def effort_document(data: Magnitudes) -> Document:
    """How many assessors the documents need, given how far their magnitudes vary (section 6.3)."""
    sds = data.deviations
    if not sds.size:
        raise ArgumentError("judgments: no document was judged twice, so nothing says how far its magnitudes vary")
    median, high = np.quantile(sds, [0.5, 0.9]).tolist()
    needed = {
        sd: [assessors_needed(sd, margin=margin, confidence=CONFIDENCE) for margin in MARGINS] for sd in (median, high)
    }
    columns: Columns = {
        "margin": cells("{:g}".format, MARGINS),
        f"assessors, median sd {median:.2f}": needed[median],
        f"assessors, 90 % of documents, sd {high:.2f}": needed[high],
    }
    n_documents = np.unique(data.written.pair_numbers).size
    at_2 = assessors_needed(median, margin=2.0, confidence=CONFIDENCE)
    sentence = (
        f"The mean of a document's magnitudes is within 2 of the true one from {count(at_2, 'assessor')} on, at the "
        f"median standard deviation {median:.2f} of {count(n_documents, 'document')}."
    )
    notes = (
        *data.notes,
        Note("confidence", f"{percent(CONFIDENCE)} intervals; Table II of the paper used 99 %"),
        Note("sd", "standard deviation, n - 1, of each document's normalised magnitudes"),
    )

    def frame() -> Any:
        import pandas as pd

        return pd.DataFrame({"margin": MARGINS, "median": needed[median], "quantile_90": needed[high]})

    table = Table.of("assessors for a mean within the margin of the true one", columns)
    return Document(sentence, (table,), notes, frame)


def normalised_document(data: Magnitudes) -> Document:
    """The normalised magnitudes as judgments, for other tools; the table compares them with those as written."""
    values = data.written.value, data.judgments.value
    logs = [np.log(value) for value in values]
    columns = {
        "magnitudes": ["as written", "normalised"],
        "median": cells("{:.4g}".format, [np.median(value) for value in values]),
        "geometric mean": cells("{:.4g}".format, [np.exp(log.mean()) for log in logs]),
        "geometric standard deviation": cells("{:.4g}".format, [np.exp(log.std(ddof=1)) for log in logs]),
    }
    sentence = (
        f"{count(len(data.written), 'magnitude')} of {count(len(data.written.assessors), 'assessor')} are on one "
        f"scale: {data.judgments.scales[0]}."
    )
    return Document(sentence, (Table.of("all magnitudes", columns),), data.notes, data.judgments.to_frame)


Section = Callable[[Any], Document]
SECTIONS: Mapping[str, Section] = {
    "magnitudes": normalised_document,
    "units": units_document,
    "levels": levels_document,
    "gains": gains_document,
    "effort": effort_document,
}


def magnitude_document(data: Magnitudes, sections: Mapping[str, Section] = SECTIONS) -> Document:
    """All parts that the data allow; notes say what is left out, and why. The frame holds each judgment, normalised."""
    parts, reasons = {}, {}
    for name, section in sections.items():
        try:
            parts[name] = section(data)
        except QrowdError as error:
            reasons[name] = str(error)
    if not parts:
        raise ArgumentError(f"nothing can be computed: {'; '.join(dict.fromkeys(reasons.values()))}")
    notes = list(dict.fromkeys(note for part in parts.values() for note in part.notes))
    left_out = [Note("left out", f"{name}: {reason}") for name, reason in reasons.items()]

    def content() -> dict[str, Any]:
        return {
            f"{section}: {name}": rows
            for section, part in parts.items()
            for name, rows in (part.content() if part.content else {"rows": part.frame().to_dict("records")}).items()
        }

    return Document(
        " ".join(part.sentence for part in parts.values()),
        tuple(table for part in parts.values() for table in part.tables),
        (*notes, *left_out),
        data.judgments.to_frame,
        content,
        signature=signature_of(data.written, ("magnitude", data.scheme), gold=data.gold and data.gold.assessors),
    )
