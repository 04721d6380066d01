"""A campaign from the short form in the browser: its fields and files become a folder, which is read as any other."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from qrowd.errors import ArgumentError
from qrowd.texts import read_documents, read_topics
from qrowd_server.campaigns.plan.folder import TOML, plan_from_parts
from qrowd_server.campaigns.plan.plan import Plan
from qrowd_server.campaigns.plan.template import PROTOCOLS

FILES = ("topics", "documents", "runs", "gold")  # fields that hold files; several of runs
MAX_POOL = 100_000  # pairs of a topic and a document that the form makes without runs
FORM = """\
[campaign]
name = {name}
title = {title}

[{protocol}]
redundancy = {redundancy}

[files]
topics = {topics}
documents = {documents}
"""


@dataclass(frozen=True)
class SentFile:
    """A file that was sent. field : of the form. name : as it was sent."""

    field: str
    name: str
    content: bytes = dataclasses.field(repr=False)


def plan_from_form(values: Mapping[str, str], files: Iterable[SentFile]) -> Plan:
    """The plan of the form: title, protocol, redundancy, topics as text or a file, documents, runs, gold.

    Without runs, every document is judged for every topic. The gold file holds gold questions; of magnitudes, the check
    documents of each topic.
    """
    sent = [one for one in files if one.field in FILES]
    title, protocol = values.get("title", "").strip(), values.get("protocol", "")
    if not (name := name_of_title(title)):
        raise ArgumentError("title: write a title that has letters or digits")
    if protocol not in PROTOCOLS:
        raise ArgumentError(f"choose one of {', '.join(PROTOCOLS)}", "protocol", protocol[:40])
    redundancy = values.get("redundancy", "").strip()
    if not (redundancy.isascii() and redundancy.isdecimal() and len(redundancy) < 5):
        raise ArgumentError("people per document: write a whole number")
    topics = _only_file(sent, "topics") or _pasted_topics(values.get("topics", ""))
    documents = _only_file(sent, "documents")
    if documents is None:
        raise ArgumentError("documents: choose a file")
    with TemporaryDirectory(prefix="qrowd-") as temporary:
        root = Path(temporary).resolve()
        names = {one.field: _write(root, one) for one in (topics, documents)}
        texts = {key: json.dumps(value) for key, value in {"name": name, "title": title, **names}.items()}
        toml = FORM.format(protocol=protocol, redundancy=int(redundancy), **texts)
        if gold := _only_file(sent, "gold"):
            toml += f"{'checks' if protocol == 'magnitude' else 'gold'} = {json.dumps(_write(root, gold))}\n"
        if runs := [one for one in sent if one.field == "runs"]:
            for one in runs:
                _write(root, one, folder="runs")
            toml += 'runs = "runs/*"\n'
        else:
            (root / "pool.txt").write_text(_whole_pool(topics, documents), encoding="utf-8")
            toml += 'pool = "pool.txt"\n'
        (root / TOML).write_text(toml, encoding="utf-8")
        return plan_from_parts(root)


def name_of_title(title: str) -> str:
    """A name for addresses from a title.

    >>> name_of_title("How relevant is it?")
    'how-relevant-is-it'
    """
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:64].strip("-")


def _only_file(sent: list[SentFile], name: str) -> SentFile | None:
    """The file of a field; None without one."""
    return next((one for one in sent if one.field == name), None)


def _pasted_topics(text: str) -> SentFile:
    """The topics that were written into the form, one title on each line."""
    titles = [line.strip() for line in text.splitlines() if line.strip()]
    if not titles:
        raise ArgumentError("topics: write a title on each line, or choose a file")
    rows = (json.dumps({"topic": f"t{i}", "title": title}) + "\n" for i, title in enumerate(titles, start=1))
    return SentFile("topics", "topics.jsonl", "".join(rows).encode())


def _write(root: Path, file: SentFile, *, folder: str = "") -> str:
    """Write a file into the folder; its name there, which keeps the ending that says how it is read."""
    sent = PurePosixPath(file.name.replace("\\", "/")).name
    endings = "".join(PurePosixPath(sent).suffixes[-2:])
    name = f"{folder}/{re.sub(r'[^A-Za-z0-9._-]', '_', sent)}" if folder else f"{file.field}{endings}"
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).write_bytes(file.content)
    return name


def _whole_pool(topics: SentFile, documents: SentFile) -> str:
    """Every document for every topic."""
    labels = [row["label"] for _, row in read_topics(topics.content, topics.name)]
    names = [row["label"] for _, row in read_documents(documents.content, documents.name)]
    if len(labels) * len(names) > MAX_POOL:
        raise ArgumentError(f"documents: {len(names)} for each of {len(labels)} topics are too many; choose runs, too")
    return "".join(f"{topic} {name}\n" for topic in labels for name in names)
