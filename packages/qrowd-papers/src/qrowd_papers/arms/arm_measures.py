"""A study with several arms: agreement, feedback and the use of context, compared across its interfaces.

An arm is one way of judging (grades, preferences, preferences with degrees) applied to the same topics.

Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR, section 3.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.kernels.arrays import Floats, Ints
from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences
from qrowd.model.result import Result
from qrowd.preferences.preference_agreement import PreferenceTable, preference_table
from qrowd_papers.preferences.inferred_tables import (
    AgreementDifference,
    agreement_difference,
    inferred_table,
    redistributed,
)


@dataclass(frozen=True, eq=False)
class ArmAgreement(Result):
    """How often two assessors of an arm agree on a pair of documents.

    tables : {arm: its table}, strong preferences pooled, equal grades dealt out. inferred : arms whose preferences are
    inferred from grades. tie_rate : at which equal grades agree. differences : {(arm, arm): chi-square test}.
    """

    tables: dict[str, PreferenceTable]
    inferred: tuple[str, ...]
    tie_rate: float
    differences: dict[tuple[str, str], AgreementDifference]

    def _tables(self) -> Mapping[str, Callable[[], Mapping[str, Any]]]:
        return {"arms": self._arms, "differences": self._differences}

    def _arms(self) -> dict[str, Any]:
        return {
            "arm": list(self.tables),
            "source": ["grades" if arm in self.inferred else "preferences" for arm in self.tables],
            "n_pairs": [table.n_pairs for table in self.tables.values()],
            "agreement": [table.agreement for table in self.tables.values()],
        }

    def _differences(self) -> dict[str, Any]:
        tests = self.differences.values()
        return {
            "first": [first for first, _ in self.differences],
            "second": [second for _, second in self.differences],
            "difference": [test.agreement[0] - test.agreement[1] for test in tests],
            "chi_square": [test.chi_square for test in tests],
            "p": [test.p for test in tests],
        }


def arm_agreement(
    arms: Mapping[str, Judgments | Preferences], *, bad: float | None = 0.0, tie_rate: float = 0.5
) -> ArmAgreement:
    """Agreement on pairs of documents in each arm, and a chi-square test for each pair of arms.

    arms : {name: what was collected in it}. Grades imply preferences; strong preferences count as ordinary ones.
    bad : grades up to this one count as marked Bad, as in `inferred_table`. tie_rate : at which pairs of equal grade
    agree: .5 for a coin, as in Table 2(b). Arms in which no two assessors share a pair are left out.

    Raises
    ------
    NoOverlapError
        There is no arm in which two assessors share a pair of documents.
    """
    tables: dict[str, PreferenceTable] = {}
    inferred = []
    for name, answers in arms.items():
        try:
            if isinstance(answers, Preferences):
                tables[name] = preference_table(answers)
            else:
                tables[name] = redistributed(inferred_table(answers, bad=bad), rate=tie_rate)
                inferred.append(name)
        except NoOverlapError:
            continue
    if not tables:
        raise NoOverlapError("no two assessors of an arm judged a pair of documents in common")
    tests = {(a, b): agreement_difference(tables[a], tables[b]) for a, b in combinations(tables, 2)}
    return ArmAgreement(tables, tuple(inferred), tie_rate, tests)


# ---------------------------------------------------------------------- units: feedback and context


@dataclass(frozen=True, eq=False)
class ArmUnits(Result):
    """What is known of each completed unit, (units,): its arm, time, feedback and whether the context was looked up.

    arms : names; arm : numbers into them. seconds, confidence, understanding : nan where nobody recorded them.
    looked_up : how often the context was opened.
    """

    arms: tuple[str, ...]
    arm: Ints
    seconds: Floats
    confidence: Floats
    understanding: Floats
    looked_up: Ints

    @classmethod
    def from_frame(cls, units: Any, *, arms: Sequence[str] | None = None) -> ArmUnits:
        """From the columns of a campaign's units: arm, status, seconds, confidence, understanding and looked_up.

        units : a data frame or {column: cells}. Only completed units that count are taken.
        arms : names, in order; default: all, in the order of the units.

        Raises
        ------
        ArgumentError
            A column is missing; no unit is completed.
        """
        missing = [name for name in ("arm", "seconds", "confidence", "understanding", "looked_up") if name not in units]
        if missing:
            raise ArgumentError(f"units: the column {missing[0]!r} is missing; export them with --what units")
        labels = np.array([str(name) for name in units["arm"]], object)
        complete = np.ones(labels.size, bool)
        if "status" in units:
            complete &= np.array([status == "completed" for status in units["status"]], bool)
        if "counts" in units:
            complete &= np.array([str(counts).lower() in ("true", "1") for counts in units["counts"]], bool)
        names = tuple(dict.fromkeys(labels[complete].tolist())) if arms is None else tuple(arms)
        complete &= np.isin(labels, names)
        if not complete.any():
            raise ArgumentError("units: none is completed in an arm, so there is nothing to compare")
        place = {name: i for i, name in enumerate(names)}
        seconds, confidence, understanding, looked_up = (
            np.array([np.nan if cell is None or cell == "" else float(cell) for cell in units[name]])[complete]
            for name in ("seconds", "confidence", "understanding", "looked_up")
        )
        return cls(
            names,
            np.array([place[name] for name in labels[complete]], np.int64),
            seconds,
            confidence,
            understanding,
            np.nan_to_num(looked_up).astype(np.int64),
        )


@dataclass(frozen=True, eq=False)
class ArmFeedback(Result):
    """What assessors said after their units, one row per arm and question, and over all arms ("all").

    n : units with an answer. median : of the answers, from 1 to 5. spearman : rank correlation of answer and seconds of
    the unit, over units that have both; p, low, high : of the correlation (t distribution; Fisher's z with the standard
    error of Bonett and Wright). nan where fewer than 4 units have both, or either is constant.
    """

    arms: tuple[str, ...]
    questions: tuple[str, ...]
    n: Ints
    median: Floats
    spearman: Floats
    low: Floats
    high: Floats
    p: Floats
    confidence: float

    def _columns(self) -> dict[str, Any]:
        columns = ("n", "median", "spearman", "low", "high", "p")
        return {
            "question": list(self.questions),
            "arm": list(self.arms),
            **{name: getattr(self, name) for name in columns},
        }


def arm_feedback(units: ArmUnits, *, confidence: float = 0.95) -> ArmFeedback:
    """Medians of confidence and understanding in each arm, and their correlation with the time of the unit.

    confidence : level of the intervals of the correlations. The correlations of an arm are over its units; those of
    "all" mix arms that differ in time.
    """
    rows: list[tuple[Any, ...]] = []
    for question, answers in (("confidence", units.confidence), ("understanding", units.understanding)):
        for number in (*range(len(units.arms)), None):
            here = np.ones(answers.size, bool) if number is None else units.arm == number
            here = here & ~np.isnan(answers)
            timed = here & ~np.isnan(units.seconds)
            median = float(np.median(answers[here])) if here.any() else np.nan
            test = _rank_correlation(answers[timed], units.seconds[timed], confidence)
            arm = "all" if number is None else units.arms[number]
            rows.append((arm, question, int(here.sum()), median, *test))
    names, questions, n, medians, rho, low, high, p = zip(*rows, strict=True)
    correlation = np.array(rho), np.array(low), np.array(high), np.array(p)
    return ArmFeedback(names, questions, np.array(n), np.array(medians), *correlation, confidence=confidence)


def _rank_correlation(x: Floats, y: Floats, confidence: float) -> tuple[float, float, float, float]:
    """Spearman's correlation, its interval and its p."""
    from scipy.special import ndtri
    from scipy.stats import spearmanr

    n = x.size
    if n < 4 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return np.nan, np.nan, np.nan, np.nan
    test = spearmanr(x, y)
    rho = float(test.statistic)
    if abs(rho) >= 1:
        return rho, rho, rho, float(test.pvalue)
    margin = ndtri(0.5 + confidence / 2) * np.sqrt((1 + rho**2 / 2) / (n - 3))
    low, high = np.tanh(np.arctanh(rho) - margin), np.tanh(np.arctanh(rho) + margin)
    return rho, float(low), float(high), float(test.pvalue)


@dataclass(frozen=True, eq=False)
class ContextUse(Result):
    """In how many units of each arm the context was looked up, and a chi-square test of independence.

    n, with_context, times : (arms,) units, those of them with the context looked up, and how often in all.
    chi_square, df, p : units with and without by arm; nan where nobody, or everybody, looked. least_expected : smallest
    expected count; below 5 the approximation is rough.
    """

    arms: tuple[str, ...]
    n: Ints
    with_context: Ints
    times: Ints
    chi_square: float
    df: int
    p: float
    least_expected: float

    _COLUMNS = ("arms", "n", "with_context", "times")


def context_use(units: ArmUnits) -> ContextUse:
    """Does the use of the context depend on the arm?"""
    from scipy.stats import chi2_contingency

    width = len(units.arms)
    n = np.bincount(units.arm, minlength=width)
    used = np.bincount(units.arm, units.looked_up > 0, minlength=width).astype(np.int64)
    times = np.bincount(units.arm, units.looked_up, minlength=width).astype(np.int64)
    counts = np.stack([used, n - used], axis=1)[n > 0]
    test: tuple[float, int, float, float] = (np.nan, max(len(counts) - 1, 0), np.nan, np.nan)
    if len(counts) > 1 and counts.sum(axis=0).all():
        result = chi2_contingency(counts, correction=False)
        test = float(result.statistic), int(result.dof), float(result.pvalue), float(result.expected_freq.min())
    return ContextUse(units.arms, n, used, times, *test)
