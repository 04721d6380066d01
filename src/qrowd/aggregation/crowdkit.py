"""Conversion to and from crowd-kit, whose aggregators take a frame of task, worker and label and return labels by task.

crowd-kit has no topics, so a task is the topic and the document joined by a tab.
"""

from __future__ import annotations

from typing import Any

from qrowd.errors import ArgumentError, InputError
from qrowd.model.judgments import Judgments
from qrowd.model.scales import Scale
from qrowd.model.tabular import described

SEPARATOR = "\t"


def to_crowdkit(judgments: Judgments) -> Any:
    """A pandas frame with the columns task, worker and label; "not judged" (negative values) are left out.

    >>> to_crowdkit(Judgments.from_rows([("q", "d", "ann", 2)])).to_dict("records")
    [{'task': 'q\\td', 'worker': 'ann', 'label': 2.0}]
    """
    import pandas as pd

    for label in (*judgments.topics, *judgments.documents):
        if SEPARATOR in label:
            raise InputError(f"label {label!r} contains a tab, which joins topic and document in a task; rename it")
    topics, documents = judgments.topics, judgments.documents
    rows = [
        (f"{topics[t]}{SEPARATOR}{documents[d]}", judgments.assessors[a], value)
        for t, d, a, value in zip(
            judgments.topic.tolist(),
            judgments.document.tolist(),
            judgments.assessor.tolist(),
            judgments.value.tolist(),
            strict=True,
        )
        if value >= 0
    ]
    return pd.DataFrame(rows, columns=["task", "worker", "label"])


def from_crowdkit(labels: Any, name: str, *, scale: Scale | str | None = None) -> Judgments:
    """Judgments of one merged assessor from the result of a crowd-kit aggregator: a pandas Series of labels by task.

    Parameters
    ----------
    labels : {task: label} or a pandas Series, with tasks as `to_crowdkit` makes them.
    name : of the merged assessor.
    scale : of its labels (default: inferred).

    >>> import pandas as pd
    >>> from_crowdkit(pd.Series({"q\\td": 2}), "glad").value
    array([2.])
    """
    if not hasattr(labels, "items"):
        raise ArgumentError(f"labels: expected a pandas Series or {{task: label}}, found {described(labels)}")
    rows = []
    for task, label in labels.items():
        topic, tab, document = str(task).partition(SEPARATOR)
        if not tab:
            raise InputError(f"task {task!r} has no tab between topic and document; make tasks with to_crowdkit")
        rows.append((topic, document, name, float(label)))
    return Judgments.from_rows(rows, scales=None if scale is None else {name: scale})
