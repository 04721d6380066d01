"""Data sets of ir_datasets by their identifier: judgments, scored documents, topics and texts.

`iteration` of a judgment is no assessor: an ir_datasets qrels set is one assessor's, whoever judged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from qrowd.errors import FileError

PREFIX = "irds:"


def judgments(name: str) -> Any:
    """The judgments of "irds:ID", as named tuples.

    Raises
    ------
    FileError
        A data set that there is not, or one without judgments; or ir_datasets is not installed.
    """
    return list(_part(name, "qrels", "judgments").qrels_iter())


def scored_documents(name: str) -> Any:
    """The scored documents of "irds:ID": the run that a data set brings. Errors as in `judgments`."""
    return list(_part(name, "scoreddocs", "scored documents").scoreddocs_iter())


def topics(name: str) -> Iterator[dict[str, str]]:
    """Topics of "irds:ID" as {"label", "title", "description", "narrative"}. Errors as in `judgments`."""
    for query in _part(name, "queries", "topics").queries_iter():
        title = getattr(query, "title", None) or getattr(query, "text", None) or query.default_text()
        texts = {key: getattr(query, key, None) or "" for key in ("description", "narrative")}
        yield {"label": query.query_id, "title": title, **texts}


def documents(name: str, labels: Collection[str] | None) -> Iterator[dict[str, str]]:
    """Documents of "irds:ID" as {"label", "title", "text"}: those of the labels, or all. Errors as in `judgments`."""
    dataset = _part(name, "docs", "documents")
    documents = dataset.docs_iter() if labels is None else dataset.docs_store().get_many_iter(sorted(labels))
    for document in documents:
        text = next((t for key in ("text", "body", "abstract") if (t := getattr(document, key, None))), None)
        title = getattr(document, "title", None) or ""
        yield {"label": document.doc_id, "title": title, "text": text or document.default_text()}


def _part(name: str, part: str, noun: str) -> Any:
    """The data set, which has such a part."""
    try:
        import ir_datasets  # type: ignore[import-untyped]
    except ModuleNotFoundError as error:
        raise FileError(name, f"this needs {error.name}; pip install 'qrowd[irds]'") from None
    identifier = name.removeprefix(PREFIX)
    try:
        dataset = ir_datasets.load(identifier)
    except KeyError:
        raise FileError(name, _no_data_set(identifier, ir_datasets)) from None
    if not dataset.has(part):
        parts = ", ".join(word for key, word in PARTS.items() if dataset.has(key)) or "nothing of that kind"
        raise FileError(name, f"this data set has no {noun}; it has {parts}")
    return dataset


PARTS = {"qrels": "judgments", "scoreddocs": "scored documents", "queries": "topics", "docs": "documents"}


def _no_data_set(identifier: str, ir_datasets: Any) -> str:
    from difflib import get_close_matches

    near = get_close_matches(identifier, list(ir_datasets.registry), n=1)
    return "ir_datasets has no such data set; " + (
        f"did you mean irds:{near[0]}?" if near else "https://ir-datasets.com lists them"
    )
