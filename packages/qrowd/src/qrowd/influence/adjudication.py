"""Documents on which assessors disagree as the folder of a campaign, in which one more assessor judges each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from qrowd.errors import ArgumentError
from qrowd.influence.disagreements import Disagreements
from qrowd.paths import PathLike
from qrowd.sequential.batches import check_texts, write_campaign


def write_adjudication(
    path: PathLike,
    disagreements: Disagreements,
    *,
    topics: Mapping[str, Mapping[str, str]],
    documents: Mapping[str, Mapping[str, str]],
    n_documents: int = 20,
) -> tuple[Path, ...]:
    """Write a new folder for `qrowd campaign create`, in which one person judges the first documents again.

    Its pages show neither the grades nor the comments so far. Read together with the judgments, what the campaign
    collects is one more assessor of the panel.

    Parameters
    ----------
    topics, documents
        Texts: {label: {"title": ..., "text": ...}}.
    n_documents
        The first so many.

    Returns
    -------
        The files that were written.

    Raises
    ------
    ArgumentError
        No disagreement, a scale without grades, a topic or document without a text, or a folder that exists.
    """
    if not disagreements.documents:
        raise ArgumentError("disagreements: there are none, so there is nothing to adjudicate")
    if n_documents < 1:
        raise ArgumentError("at least one document was expected", "n_documents", n_documents)
    scale = disagreements.judgments.shared_scale()
    if scale.kind not in ("binary", "graded"):
        raise ArgumentError(f"disagreements: a campaign collects grades, not values of the scale {scale}")
    pairs = list(zip(disagreements.topics, disagreements.documents, strict=True))[:n_documents]
    check_texts("topics", topics, (topic for topic, _ in pairs))
    check_texts("documents", documents, (document for _, document in pairs))
    rows = [{**documents[document], "topic": topic, "document": document} for topic, document in pairs]
    return write_campaign(path, rows, topics, scale=str(scale))
