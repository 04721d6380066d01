"""What judgments, preferences, runs and scores show of themselves: their counts, who gave them, and the first rows.

Their modules import this one, so that their types are not named here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from qrowd.display import N_ROWS, Display, Rows
from qrowd.kernels.arrays import Codes, Floats, Ints
from qrowd.model.labels import plural

FIRST = 5  # rows of the data, below the table of assessors or systems


def sizes(data: Any, noun: str, extra: str = "") -> str:
    """How many rows, topics, documents and assessors there are, as in `2 judgments: 1 topic, 1 document, 2 assessors`.

    extra : counts beside that of the rows.
    """
    counts = ((data.topics, "topic"), (data.documents, "document"), (data.assessors, "assessor"))
    return f"{plural(len(data), noun)}{extra}: {', '.join(plural(len(labels), word) for labels, word in counts)}"


def judgments_display(judgments: Any) -> Display:
    """The assessors with their scales, and the first judgments."""
    n = len(judgments.assessors)
    by_assessor = {
        "assessor": judgments.assessors,
        "judgments": np.bincount(judgments.assessor[judgments.value >= 0], minlength=n),
        "topics": _topics_by(judgments.assessor, judgments.topic, n),
        "scale": list(map(str, judgments.scales)),
    }
    recorded = [name for name in judgments.OPTIONAL if getattr(judgments, name) is not None]
    return _display(judgments, "judgments", by_assessor, ("topic", "document", "assessor"), ("value", *recorded))


def preferences_display(preferences: Any) -> Display:
    """The assessors with their numbers of preferences, and the first preferences."""
    n = len(preferences.assessors)
    by_assessor = {
        "assessor": preferences.assessors,
        "preferences": np.bincount(preferences.assessor, minlength=n),
        "topics": _topics_by(preferences.assessor, preferences.topic, n),
        "Bad marks": np.bincount(preferences.bad_assessor, minlength=n),
    }
    labels = ("topic", "preferred", "other", "assessor")
    return _display(preferences, "preferences", by_assessor, labels, ("strength",))


def runs_display(runs: Any) -> Display:
    """The systems with their numbers of documents, and the first rows."""
    n = len(runs.systems)
    count = np.bincount(runs.system, minlength=n)
    topics = _topics_by(runs.system, runs.topic, n)
    by_system = {
        "system": runs.systems,
        "topics": topics,
        "documents per topic": np.divide(count, topics, out=np.full(n, np.nan), where=topics > 0),
    }
    return _display(runs, "retrieved documents", by_system, ("system", "topic", "document"), ("score",))


def _display(
    data: Any, noun: str, by_whom: dict[str, Any], labels: tuple[str, ...], others: tuple[str, ...]
) -> Display:
    """A table of assessors or systems, and the first rows. labels, others : columns of codes, and of anything else."""
    columns: dict[str, Any] = {}
    for name in labels:
        words = data.documents if name in ("preferred", "other") else getattr(data, f"{name}s")
        columns[name] = [words[code] for code in getattr(data, name)[:FIRST].tolist()]
    columns |= {name: getattr(data, name)[:FIRST] for name in others}
    sentence = repr(data).removesuffix(")").partition("(")[2]
    return Display(f"{sentence}.", (Rows.of(f"{next(iter(by_whom))}s", by_whom), Rows(noun, columns, len(data))))


def scores_display(scores: Any, means: Floats) -> Display:
    """The systems by the panel's mean of the first measure. means : (measures, systems)."""
    first_means = means[0] if means.size else np.empty(0)
    order = np.argsort(-np.where(np.isnan(first_means), -np.inf, first_means), kind="stable")
    systems = [scores.systems[s] for s in order]
    columns = {"system": systems[:N_ROWS]}
    columns |= {name: mean[order][:N_ROWS] for name, mean in zip(scores.measures, means, strict=True)}
    labels = ((scores.systems, "system"), (scores.topics, "topic"), (scores.assessors, "assessor"))
    counts = ", ".join(plural(len(names), noun) for names, noun in labels)
    table = Rows("mean over assessors and topics", columns, len(systems))
    return Display(f"{', '.join(scores.measures)}: {counts}.", (table,))


def _topics_by(who: Codes, topic: Codes, n: int) -> Ints:
    """(n,) the number of different topics among the rows of each assessor or system."""
    width = int(topic.max(initial=0)) + 1
    pairs = np.unique(who.astype(np.int64) * width + topic)
    return np.bincount(pairs // width, minlength=n)
