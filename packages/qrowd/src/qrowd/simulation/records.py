"""What a judging system writes down beside the grade: how long, when, and in what words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FIRST_DAY = np.datetime64("2024-01-08T08:00:00", "ms")
CAMPAIGN_SECONDS = 5 * 24 * 3600.0
WORDS = (
    ("off topic", "wrong subject", "mentions the words only", "does not help"),
    ("related, but no answer", "some background", "answers a part of it", "useful as a start"),
    ("answers it", "exactly what was asked", "complete and to the point", "clear and detailed"),
)


def seconds_spent(n: int, random: np.random.Generator, *, least: float = 2.0) -> NDArray[np.float64]:
    """(n,) seconds per document in tenths: log-normal above `least`, 15 in the median beyond it."""
    return np.round(least + 15.0 * np.exp(0.6 * random.standard_normal(n)), 1)


def clock(elapsed: NDArray[np.float64]) -> NDArray[np.object_]:
    """(n,) ISO 8601 times, UTC, of so many seconds after the campaign began."""
    when = FIRST_DAY + np.round(1000 * elapsed).astype("timedelta64[ms]")
    return np.char.add(np.datetime_as_string(when), "Z").astype(object)


def comments(level: NDArray[np.float64], random: np.random.Generator) -> NDArray[np.object_]:
    """(n,) a few words that fit the level, from 0 (not relevant) to 1."""
    words = np.array(WORDS, object)
    kind = np.digitize(level, [0.25, 0.75])
    return np.asarray(words[kind, random.integers(words.shape[1], size=level.size)], object)
