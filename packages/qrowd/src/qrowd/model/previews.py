"""What judgments, preferences, runs and scores show of themselves: their counts, who gave them, and the first rows.

These modules import this one, so that their types are not named here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.display import N_ROWS, Display, Rows
from qrowd.model.labels import plural

FIRST = 5  # rows of the data, below the table of assessors or systems


def sizes(data: Any, noun: str, extra: str = "") -> str:
    """How many rows, topics, documents and assessors there are, as in `2 judgments: 1 topic, 1 document, 2 assessors`.

    extra : counts beside that of the rows.
    """
    counts = ((data.topics, "topic"), (data.documents, "document"), (data.assessors, "assessor"))
    return f"{plural(len(data), noun)}{extra}: {', '.join(plural(len(labels), word) for labels, word in counts)}"


def judgments_display(judgments: Any) -> Display:
    """The assessors with their scales and mean values, and the first judgments."""
    n = len(judgments.assessors)
    judged = judgments.value >= 0
    count = np.bincount(judgments.assessor[judged], minlength=n)
    total = np.bincount(judgments.assessor[judged], weights=judgments.value[judged], minlength=n)
    by_assessor = {
        "assessor": judgments.assessors,
        "judgments": count,
        "topics": _topics_by(judgments.assessor, judgments.topic, n),
        "mean value": np.divide(total, count, out=np.full(n, np.nan), where=count > 0),
        "scale": [str(scale) for scale in judgments.scales],
    }
    columns = {
        "topic": _first(judgments.topics, judgments.topic),
        "document": _first(judgments.documents, judgments.document),
        "assessor": _first(judgments.assessors, judgments.assessor),
        "value": judgments.value[:FIRST],
    }
    columns |= {
        name: getattr(judgments, name)[:FIRST] for name in judgments.OPTIONAL if getattr(judgments, name) is not None
    }
    tables = Rows.of("assessors", by_assessor), Rows("judgments", columns, len(judgments))
    return Display(f"{sizes(judgments, 'judgment')}.", tables)


def preferences_display(preferences: Any) -> Display:
    """The assessors with their numbers of preferences, and the first preferences."""
    n = len(preferences.assessors)
    by_assessor = {
        "assessor": preferences.assessors,
        "preferences": np.bincount(preferences.assessor, minlength=n),
        "topics": _topics_by(preferences.assessor, preferences.topic, n),
        "Bad marks": np.bincount(preferences.bad_assessor, minlength=n),
    }
    columns = {
        "topic": _first(preferences.topics, preferences.topic),
        "preferred": _first(preferences.documents, preferences.preferred),
        "other": _first(preferences.documents, preferences.other),
        "assessor": _first(preferences.assessors, preferences.assessor),
        "strength": preferences.strength[:FIRST],
    }
    tables = Rows.of("assessors", by_assessor), Rows("preferences", columns, len(preferences))
    return Display(f"{repr(preferences).removeprefix('Preferences(').removesuffix(')')}.", tables)


def runs_display(runs: Any) -> Display:
    """The systems with their numbers of documents, and the first rows."""
    n = len(runs.systems)
    count, topics = np.bincount(runs.system, minlength=n), _topics_by(runs.system, runs.topic, n)
    by_system = {
        "system": runs.systems,
        "topics": topics,
        "documents per topic": np.divide(count, topics, out=np.full(n, np.nan), where=topics > 0),
    }
    columns = {
        "system": _first(runs.systems, runs.system),
        "topic": _first(runs.topics, runs.topic),
        "document": _first(runs.documents, runs.document),
        "score": runs.score[:FIRST],
    }
    tables = Rows.of("systems", by_system), Rows("retrieved documents", columns, len(runs))
    return Display(f"{repr(runs).removeprefix('Runs(').removesuffix(')')}.", tables)


def scores_display(scores: Any, means: NDArray[np.float64]) -> Display:
    """The systems by the panel's mean of the first measure. means : (measures, systems)."""
    first_means = means[0] if means.size else np.empty(0)
    order = np.argsort(-np.where(np.isnan(first_means), -np.inf, first_means), kind="stable")
    systems = [scores.systems[s] for s in order]
    columns = {"system": systems[:N_ROWS]}
    columns |= {name: mean[order][:N_ROWS] for name, mean in zip(scores.measures, means, strict=True)}
    labels = ((scores.systems, "system"), (scores.topics, "topic"), (scores.assessors, "assessor"))
    counts = ", ".join(plural(len(names), noun) for names, noun in labels)
    defined = not np.isnan(first_means).all()
    first = f" {systems[0]} has the highest mean {scores.measures[0]}." if defined else ""
    sentence = f"{', '.join(scores.measures)}: {counts}.{first}"
    table = Rows("mean over assessors and topics", columns, len(systems))
    return Display(sentence, (table,))


def _first(labels: tuple[str, ...], codes: NDArray[np.int32]) -> list[str]:
    return [labels[code] for code in codes[:FIRST].tolist()]


def _topics_by(who: NDArray[np.int32], topic: NDArray[np.int32], n: int) -> NDArray[np.int64]:
    """(n,) the number of different topics among the rows of each assessor or system."""
    width = int(topic.max(initial=0)) + 1
    pairs = np.unique(who.astype(np.int64) * width + topic)
    return np.bincount(pairs // width, minlength=n)
