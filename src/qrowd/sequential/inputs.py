"""What a question needs besides its text: runs on the topics that models judged, and people on their scale."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.model.judgments import Judgments
from qrowd.model.labels import closest
from qrowd.model.runs import Runs
from qrowd.model.scales import Scale, parse_scale
from qrowd.sequential.candidates import Candidates
from qrowd.sequential.design import Design


def judged_by_models(runs: Runs, models: Judgments | None) -> Runs:
    """The runs on the topics that models judged."""
    if models is None:
        return runs
    labelled = set(models.topics)
    topics = [topic for topic in runs.topics if topic in labelled]
    if not topics:
        raise ArgumentError(
            f"models: they judged no topic of the runs, such as {runs.topics[0]!r}, but {models.topics[0]!r}; give "
            "judgments of these topics"
        )
    return runs if len(topics) == len(runs.topics) else runs.select(topics=topics)


def on_scale(
    judgments: Judgments | None, scale: Scale | str | None, design: Design | None = None
) -> tuple[Judgments | None, Scale]:
    """The people's judgments on their scale, and that scale: the one that is given, of the design, or declared."""
    declared = parse_scale(scale) if isinstance(scale, str) else scale
    if declared is None and design is not None:
        declared = design.people_scale
    if declared is None and judgments is not None and all(one.declared for one in judgments.scales):
        declared = max(judgments.scales, key=lambda one: one.maximum)
    if declared is None:
        highest = "" if judgments is None else f" (the highest so far is {judgments.value.max():g})"
        raise ArgumentError(
            f"scale: which values people may still give is not known{highest}; declare their scale, as in scale='0-3'"
        )
    if judgments is None:
        return None, declared
    names = [name for name, one in zip(judgments.assessors, judgments.scales, strict=True) if not one.declared]
    return judgments.with_scales(dict.fromkeys(names, declared)) if names else judgments, declared


def rows_of_pairs(pairs: Iterable[tuple[str, str]], runs: Runs, candidates: Candidates) -> NDArray[np.int64]:
    """Numbers of the candidates that these pairs of topic and document are; other documents of the runs are left out.

    Raises
    ------
    ArgumentError
        A topic or document that the runs do not have.
    """
    labels = [(str(topic), str(document)) for topic, document in pairs]
    topics, documents = set(runs.topics), set(runs.documents)
    for topic, document in labels:
        if topic not in topics:
            raise ArgumentError(f"unjudgeable: there is no topic {topic!r}; {closest(topic, runs.topics, 'topic')}")
        if document not in documents:
            near = closest(document, runs.documents, "document")
            raise ArgumentError(f"unjudgeable: no run has the document {document!r} of topic {topic}; {near}")
    numbers = np.arange(len(labels))
    rows = candidates.rows([topic for topic, _ in labels], [document for _, document in labels], numbers, numbers)
    return np.unique(rows[rows >= 0])
