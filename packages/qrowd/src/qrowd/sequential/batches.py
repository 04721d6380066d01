"""A batch of documents as a file: a table, tasks for Label Studio, or the folder of a campaign."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from qrowd import files
from qrowd.errors import ArgumentError
from qrowd.paths import PathLike
from qrowd.sequential.next_judgments import NextJudgments

Texts = Mapping[str, Mapping[str, str]]
"""{topic or document: {"title": ..., "text": ...}}."""

ENDINGS = (".csv", ".jsonl", ".json")


def check_batch_file(path: PathLike, *, topics: bool, documents: bool) -> None:
    """Refuse a file in which no batch could be written, before any work is done.

    topics, documents : whether there are texts.
    """
    ending = Path(path).suffix.lower()
    if ending and ending not in ENDINGS:
        raise ArgumentError(
            f"output {path}: expected .csv or .jsonl for a table, .json for Label Studio, or no ending for the folder "
            "of a campaign"
        )
    if not ending and not (topics and documents):
        raise ArgumentError(
            f"output {path}: a name without ending is the folder of a campaign, whose pages show texts; give topics "
            "and documents, or a name that ends in .csv"
        )


def batch_rows(batch: NextJudgments, *, topics: Texts | None = None, documents: Texts | None = None) -> list[Any]:
    """A row for each document of the batch: topic, document, order and probability, and the texts where there are any.

    Raises
    ------
    ArgumentError
        A topic or document without a text.
    """
    rows: list[dict[str, Any]] = batch.to_frame().to_dict("records")
    if topics is not None:
        check_texts("topics", topics, batch.topics)
    if documents is not None:
        check_texts("documents", documents, batch.documents)
    for row in rows:
        if topics is not None:
            row["query"] = topics[row["topic"]].get("title", "")
        if documents is not None:
            row |= {name: documents[row["document"]].get(name, "") for name in ("title", "text")}
    return rows


def batch_content(
    batch: NextJudgments, ending: str, *, topics: Texts | None = None, documents: Texts | None = None
) -> str:
    """The content of a file with this ending: .csv, .jsonl, or .json for Label Studio.

    The tasks of Label Studio hold topic and document in their data, so that its export can be read as judgments.
    """
    import pandas  # slow to import

    rows = batch_rows(batch, topics=topics, documents=documents)
    if ending == ".json":
        return json.dumps([{"data": row} for row in rows], ensure_ascii=False, indent=1) + "\n"
    if ending == ".jsonl":
        return _lines(rows)
    text: str = (pandas.DataFrame(rows) if rows else batch.to_frame()).to_csv(index=False)
    return text


def write_batch(
    path: PathLike, batch: NextJudgments, *, topics: Texts | None = None, documents: Texts | None = None
) -> tuple[Path, ...]:
    """Write a batch by the ending of the name; without ending it is a new folder for `qrowd campaign create`.

    Returns
    -------
        The files that were written.
    """
    check_batch_file(path, topics=topics is not None, documents=documents is not None)
    ending = Path(path).suffix.lower()
    if ending:
        files.write_whole(path, batch_content(batch, ending, topics=topics, documents=documents))
        return (Path(path),)
    assert topics is not None
    assert documents is not None
    rows = batch_rows(batch, topics=topics, documents=documents)
    return write_campaign(path, rows, topics, scale=batch.design.scale)


def write_campaign(path: PathLike, rows: list[Any], topics: Texts, *, scale: str) -> tuple[Path, ...]:
    """Write a new folder for `qrowd campaign create`, of a campaign in which one person judges each document.

    rows : one for each document: topic, document, title and text.

    Returns
    -------
        The files that were written.
    """
    label = re.sub(r"[^a-z0-9_-]+", "-", Path(path).resolve().name.lower()).strip("-") or "batch"
    settings = (
        f'[campaign]\nname = "{label}"\ntitle = "How relevant is it?"\nseed = 1\n\n'
        f'[grades]\nscale = "{scale}"\nredundancy = 1                  # people who judge each document\n'
        "k = 8                           # documents that a person judges in one go\n\n"
        '[files]\ntopics = "topics.jsonl"\ndocuments = "documents.jsonl"\npool = "pool.txt"\n'
    )
    of_topics = [{"topic": topic, **_kept(topics[topic])} for topic in dict.fromkeys(row["topic"] for row in rows)]
    by_document = {row["document"]: {"docid": row["document"], **_kept(row)} for row in rows}
    content = {
        "campaign.toml": settings,
        "topics.jsonl": _lines(of_topics),
        "documents.jsonl": _lines(by_document.values()),
        "pool.txt": "".join(f"{row['topic']} {row['document']}\n" for row in rows),
    }
    root = files.new_folder(path)
    for name, text in content.items():
        files.write_whole(root / name, text)
    return tuple(root / name for name in content)


def _kept(texts: Mapping[str, str]) -> dict[str, str]:
    return {name: texts[name] for name in ("title", "description", "narrative", "text") if texts.get(name)}


def _lines(rows: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def check_texts(what: str, texts: Texts, labels: Iterable[str]) -> None:
    """Refuse texts that lack one of the labels. what : the name of the texts."""
    missing = [label for label in dict.fromkeys(labels) if label not in texts]
    if missing:
        others = f" and {len(missing) - 1:,} others" if len(missing) > 1 else ""
        verb = "have" if others else "has"
        raise ArgumentError(f"{what}: {missing[0]!r}{others} of the batch {verb} no text; give the texts of all")
