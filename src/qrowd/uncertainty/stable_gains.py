"""Gains of relevance grades that make the ranking of systems as stable as possible over topics.

Kanoulas, Aslam (2009), Empirical Justification of the Gain and Discount Function for nDCG. CIKM, 611-620: gains that
maximise the generalizability or the dependability of nDCG. Compared with magnitudes by Maddalena, Mizzaro, Scholer,
Turpin (2017), ACM TOIS 35(3), section 8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from qrowd import evaluation
from qrowd.errors import ArgumentError, NoOverlapError, check_choice
from qrowd.kernels.arrays import Floats
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.measure import Measure
from qrowd.model.result import Result
from qrowd.model.runs import Runs
from qrowd.model.scores import known_mean

Target = Literal["generalizability", "dependability"]
WIDTHS = (0.5, 0.1, 0.02)  # half the range of a gain's share of the next one that is searched, round by round
POINTS = 21  # shares tried at once
ROUNDS = 20  # over all grades, at most, for each width


@dataclass(frozen=True, eq=False)
class StableGains(Result):
    """Gains of the grades above 0 that maximise a coefficient; every array is (grades,), ascending.

    grades : that occur. gains : of each; that of the highest is fixed.
    linear, exponential : the two usual gains, g and 2^g - 1, with the highest one as in `gains`.
    value, linear_value, exponential_value : the coefficient with each of the three.
    measure, target : as given.
    """

    grades: Floats
    gains: Floats
    linear: Floats
    exponential: Floats
    value: float
    linear_value: float
    exponential_value: float
    measure: str
    target: Target

    def _columns(self) -> dict[str, Any]:
        return {"grade": self.grades, "gain": self.gains, "linear": self.linear, "exponential": self.exponential}


def stable_gains(
    runs: Runs,
    judgments: Judgments,
    *,
    measure: object = "nDCG@10",
    target: Target = "generalizability",
    conventions: Conventions = Conventions(),
) -> StableGains:
    """The gains of grades with which a measure orders systems most stably over topics.

    Gains are 0 or more and never fall from a grade to the next. The highest grade gains its own value, since nDCG
    depends on ratios only. Scores are means over the assessors. The search starts from the better of linear and
    exponential gains and changes one gain after the other, so the maximum may be a local one.

    Parameters
    ----------
    judgments : in whole grades, of one assessor or several.
    measure : a measure that takes gains and depends on their ratios only: a form of nDCG.
    target : coefficient that is maximised, for the topics there are.

    Raises
    ------
    ArgumentError
        Fewer than two grades above 0; a measure without gains.
    """
    check_choice("target", target, Target)
    parsed = evaluation.measure(measure)
    if "gains" not in parsed.values:
        raise ArgumentError(f"measure={str(parsed)!r}: it takes no gains; choose a form of nDCG")
    grades = np.unique(judgments.value[judgments.value > 0])
    if grades.size < 2 or (grades % 1 != 0).any():
        raise ArgumentError("judgments: gains can be chosen for two or more whole grades above 0")

    def coefficients(shares: Sequence[Floats]) -> Floats:
        """The coefficient with each of several gains."""
        forms = [_with_gains(parsed, grades, _gains(one, grades[-1])) for one in shares]
        distinct = list(dict.fromkeys(map(str, forms)))
        scores = evaluation.evaluate(runs, judgments, distinct, conventions=conventions)
        tables = known_mean(scores.values, axis=1)
        values = {name: coefficient(table, target) for name, table in zip(distinct, tables, strict=True)}
        return np.asarray(np.nan_to_num(np.array([values[str(form)] for form in forms]), nan=-1.0), np.float64)

    linear, exponential = (values[:-1] / values[1:] for values in (grades, np.exp2(grades) - 1))
    usual = coefficients([linear, exponential])
    best, value = (linear, usual[0]) if usual[0] >= usual[1] else (exponential, usual[1])
    for width in WIDTHS:
        for _ in range(ROUNDS):
            before = value
            for k in range(best.size):
                tried = np.clip(best[k] + np.linspace(-width, width, POINTS), 0.0, 1.0)
                candidates = [np.where(np.arange(best.size) == k, share, best) for share in np.unique(tried)]
                found = coefficients(candidates)
                if found.max() > value + 1e-9:
                    best, value = candidates[int(found.argmax())], float(found.max())
            if value <= before:
                break
    return StableGains(
        grades,
        _gains(best, grades[-1]),
        _gains(linear, grades[-1]),
        _gains(exponential, grades[-1]),
        float(value),
        float(usual[0]),
        float(usual[1]),
        str(parsed),
        target,
    )


def coefficient(table: Floats, target: Target) -> float:
    """Generalizability or dependability of the systems' means over the topics of a (topics, systems) table.

        v_s / (v_s + v_e / n_t)   and   v_s / (v_s + (v_t + v_e) / n_t)

    Components from the mean squares of a two-way table; negative ones count as 0. Topics that lack a score are left
    out. nan where nothing varies.
    """
    whole = table[~np.isnan(table).any(axis=1)]
    n_topics, n_systems = whole.shape
    if min(whole.shape) < 2:
        raise NoOverlapError(f"runs: {n_systems} systems share {n_topics} topics with scores; two of each are needed")
    topics, systems = (whole.mean(axis=axis, keepdims=True) - whole.mean() for axis in (1, 0))
    error = ((whole - whole.mean() - topics - systems) ** 2).sum() / ((n_topics - 1) * (n_systems - 1))
    of_topics = max(0.0, n_systems * float((topics**2).sum()) / (n_topics - 1) - error) / n_systems
    of_systems = max(0.0, n_topics * float((systems**2).sum()) / (n_systems - 1) - error) / n_topics
    noise = (error + (of_topics if target == "dependability" else 0.0)) / n_topics
    return float(of_systems / (of_systems + noise)) if of_systems + noise > 0 else np.nan


def _gains(shares: Floats, highest: float) -> Floats:
    """(grades,) gains from each one's share of the next one; the last is `highest`."""
    return np.append(highest * np.cumprod(shares[::-1])[::-1], highest)


def _with_gains(parsed: Measure, grades: Floats, gains: Floats) -> Measure:
    table = {float(grade): round(float(gain), 9) for grade, gain in zip(grades, gains, strict=True)}
    return Measure(parsed.definition, {**parsed.values, "gains": table}, parsed.cutoff)
