"""Tests whether magnitudes follow the gold levels: between adjacent levels, and exceptions by topic.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), section 5, Figures 3 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats
from qrowd.magnitude.checks import with_grades
from qrowd.magnitude.units import Rows, medians, positive
from qrowd.model.frames import make_frame
from qrowd.model.gold import Gold
from qrowd.model.judgments import Judgments
from qrowd.model.result import Result, Tables


@dataclass(frozen=True, eq=False)
class LevelTests(Result):
    """Tests between adjacent levels, over the documents of all topics, and the exceptions by topic.

    levels : (levels,) gold grades that occur, ascending.
    t, df, p : (levels - 1,) two-sided t-test of each level against the next, degrees of freedom, p-value (not corrected
        for the number of tests); nan if nothing varies or a level has one document.
    n_documents : (levels,) number of documents of each level.
    medians : (levels,) their median magnitude.
    topic_medians : (topics, levels) the same by topic; nan if the topic has no document of that level.
    topic, document, level, magnitude : (pairs,) every document with its median magnitude; level is nan without a gold
        grade (the U of Figures 3 and 4).
    """

    topics: tuple[str, ...]
    documents: tuple[str, ...]
    levels: Floats
    t: Floats
    df: Floats
    p: Floats
    n_documents: Rows
    medians: Floats
    topic_medians: Floats
    topic: Rows
    document: Rows
    level: Floats
    magnitude: Floats

    def _tables(self) -> Tables:
        return {"tests": self._adjacent, "points": self._points}

    def _adjacent(self) -> dict[str, Any]:
        return {
            "lower": self.levels[:-1],
            "upper": self.levels[1:],
            "n_lower": self.n_documents[:-1],
            "n_upper": self.n_documents[1:],
            "median_lower": self.medians[:-1],
            "median_upper": self.medians[1:],
            "t": self.t,
            "df": self.df,
            "p": self.p,
        }

    def comparable(self, *, adjacent: bool = False) -> int:
        """Number of (topic, pair of levels) where the topic has documents of both levels; `adjacent` levels only."""
        return self._cases(adjacent)[0].size

    def exceptions(self, *, adjacent: bool = False) -> Any:
        """One row per topic and pair of levels (`adjacent` ones only) where the upper level has the lower median."""
        topic, low, high = self._cases(adjacent)
        below = self.topic_medians[topic, low]
        above = self.topic_medians[topic, high]
        reverse = above < below
        return make_frame(
            {
                "topic": np.array(self.topics, object)[topic[reverse]],
                "lower": self.levels[low[reverse]],
                "upper": self.levels[high[reverse]],
                "median_lower": below[reverse],
                "median_upper": above[reverse],
            },
            "pandas",
        )

    def _points(self) -> dict[str, Any]:
        return {
            "topic": np.array(self.topics, object)[self.topic],
            "document": np.array(self.documents, object)[self.document],
            "level": self.level,
            "magnitude": self.magnitude,
        }

    def _cases(self, adjacent: bool) -> tuple[Rows, Rows, Rows]:
        """Topic and the places of two levels, lower first, for each pair of levels that the topic has."""
        cases = [
            (topic, low, high)
            for topic, row in enumerate(~np.isnan(self.topic_medians))
            for low, high in combinations(range(self.levels.size), 2)
            if row[low] and row[high] and (high == low + 1 or not adjacent)
        ]
        topics, lows, highs = np.array(cases, np.int64).reshape(-1, 3).T
        return topics, lows, highs


def level_tests(judgments: Judgments, gold: Gold) -> LevelTests:
    """Test whether documents of a higher gold level have higher magnitudes: over all topics, and by topic.

    The magnitude of a document is the median of its judgments; normalise first. An aggregate, with one value per
    document, is used as it is. Welch's t-test compares the logarithms, which are nearly normal.

    Parameters
    ----------
    gold : the name of an assessor of the judgments (who is then left out), the judgments of one assessor, or
        {(topic, document): grade}.

    Raises
    ------
    ArgumentError
        Fewer than two levels among the judged documents.
    InputError
        A magnitude of 0 or below.
    NoOverlapError
        No judged document has a gold grade.
    """
    with_gold = with_grades(judgments, gold)
    judgments = with_gold.judgments
    grades = with_gold.grades()
    value = positive(judgments)
    pair = judgments.pair_numbers
    pairs, first, of_row = np.unique(pair, return_index=True, return_inverse=True)
    magnitude = medians(value, of_row, pairs.size)
    level = grades[first]
    topic, document = (codes[first].astype(np.int64) for codes in (judgments.topic, judgments.document))
    levels = np.unique(level[~np.isnan(level)])
    if levels.size < 2:
        raise ArgumentError(f"gold: all judged documents have grade {levels[0]:g}, so there are no two levels")
    logs = np.log(magnitude)
    tests = [_t_test(logs[level == low], logs[level == high]) for low, high in pairwise(levels)]
    t, df, p = np.array(tests).T
    graded = np.flatnonzero(~np.isnan(level))
    cell = topic[graded] * levels.size + np.searchsorted(levels, level[graded])
    by_topic = medians(magnitude[graded], cell, len(judgments.topics) * levels.size)
    return LevelTests(
        judgments.topics,
        judgments.documents,
        levels,
        t,
        df,
        p,
        n_documents=np.array([(level == one).sum() for one in levels], np.int64),
        medians=np.array([np.median(magnitude[level == one]) for one in levels]),
        topic_medians=by_topic.reshape(len(judgments.topics), levels.size),
        topic=topic,
        document=document,
        level=level,
        magnitude=magnitude,
    )


def _t_test(low: Floats, high: Floats) -> tuple[float, float, float]:
    """Welch's t, degrees of freedom and two-sided p of mean(high) - mean(low); nan if it cannot be tested."""
    from scipy.special import stdtr

    sizes: Floats = np.array([low.size, high.size], np.float64)
    if sizes.min() < 2:
        return np.nan, np.nan, np.nan
    variance = np.array([low.var(ddof=1), high.var(ddof=1)])
    of_means = variance / sizes
    total = (of_means**2 / (sizes - 1)).sum()
    df = of_means.sum() ** 2 / total if total > 0 else np.nan
    standard_error = float(np.sqrt(of_means.sum()))
    # Differences due to rounding do not count as variation.
    if not standard_error > 1e-12 * max(abs(float(low.mean())), abs(float(high.mean()))):
        return np.nan, np.nan, np.nan
    t = float(high.mean() - low.mean()) / standard_error
    return t, float(df), float(2 * stdtr(df, -abs(t)))
