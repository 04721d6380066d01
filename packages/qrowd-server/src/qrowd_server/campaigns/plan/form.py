"""A campaign from the short form in the browser: its fields and files become a folder, which is read as any other."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from qrowd.errors import ArgumentError, FileError
from qrowd.texts import read_documents, read_topics
from qrowd_server.campaigns.plan.campaign_files import CHECK_HEADER
from qrowd_server.campaigns.plan.folder import TOML, plan_from_parts
from qrowd_server.campaigns.plan.plan import Plan
from qrowd_server.campaigns.plan.template import PROTOCOLS

FILES = ("topics", "documents", "runs", "gold")  # fields that hold files; several of runs
USUAL = {"ask": "", "systems": "", "depth": "10", "first": "10", "topics": "", "title": "", "protocol": ""}
OF_PAIRS = 0.95  # accuracy of assessors on gold pairs, at least: a guess gets half of them right
LABELS = {  # what the page calls a key of campaign.toml
    "redundancy": "people per document",
    "depth": "ranks of each run",
    "first": "entry test",
    "gold": "gold questions",
    "question": "protocol",
    "text": "systems",
}
POOL = "ids of topics and documents"  # a file that is named where these hold blanks
MAX_POOL = 100_000  # pairs of a topic and a document that the form makes without runs


@dataclass(frozen=True)
class SentFile:
    """A file that was sent. field : of the form. name : as it was sent."""

    field: str
    name: str
    content: bytes = dataclasses.field(repr=False)

    @property
    def place(self) -> str:
        """Its name in the folder, which errors repeat: with the field, and the ending that says how it is read."""
        name = re.sub(r"[^\w. -]", "_", PurePosixPath(self.name.replace("\\", "/")).name)[-100:]
        return f"runs/{name}" if self.field == "runs" else f"{self.field} {name}"


def plan_from_form(values: Mapping[str, str], files: Iterable[SentFile]) -> Plan:
    """The plan of the form: title, protocol, redundancy, topics as text or a file, documents, runs, gold.

    ask : "" for all documents that runs retrieve on the first `depth` ranks; "best" or "two" for what decides which
    system is best, or a question about two `systems`. Without runs, every document is judged for every topic. The gold
    file holds gold questions, the `first` of which are an entry test; of magnitudes, grades or checks.
    """
    values = USUAL | dict(values)
    title, protocol = values["title"].strip(), values["protocol"]
    if not (name := name_of_title(title)):
        raise ArgumentError("title: write a title that has letters or digits")
    if protocol not in PROTOCOLS:
        raise ArgumentError(f"choose one of {', '.join(PROTOCOLS)}", "protocol", protocol[:40])
    sent = [one for one in files if one.field in FILES]
    by_field = {one.field: one for one in sent}
    if "topics" not in by_field:
        by_field["topics"] = _typed_topics(values["topics"])
        sent.append(by_field["topics"])
    if "documents" not in by_field:
        raise ArgumentError("documents: choose a file")
    if protocol == "magnitude" and "gold" not in by_field:
        raise ArgumentError("gold questions: magnitudes need a relevant document of each topic and one that is not")
    if values["ask"] and "gold" in by_field:
        raise ArgumentError("gold questions: a question about systems takes none; leave the file out")
    if values["ask"] == "two" and ">" not in values["systems"]:
        raise ArgumentError("systems: write both with > between them, as in bm25 > dense")
    named: dict[str, Any] = {key: "runs" if key == "runs" else one.place for key, one in by_field.items()}
    tables: dict[str, dict[str, Any]] = {
        "campaign": {"name": name, "title": title},
        protocol: {"redundancy": _number(values, "redundancy")},
        "files": named,
    }
    if protocol == "magnitude":
        # Any other file holds grades, from which checks follow.
        if CHECK_HEADER.match(by_field["gold"].content) or named["gold"].endswith(".txt"):
            named["checks"] = named.pop("gold")
    elif "gold" in named:
        tables["gold"] = {"first": _number(values, "first"), "exclude": "exclude" in values}
        tables["gold"] |= {"accuracy": OF_PAIRS} if protocol == "preference" else {}
    if values["ask"]:
        tables["question"] = {"text": values["systems"].strip() if values["ask"] == "two" else values["ask"]}
    elif "runs" in named:
        named["depth"] = _number(values, "depth")
    with TemporaryDirectory(prefix="qrowd-") as temporary:
        root = Path(temporary).resolve()
        for one in sent:
            place = root / one.place
            place.parent.mkdir(exist_ok=True)
            if place.exists():
                raise ArgumentError(f"{one.field}: two files are called {one.name}; rename one")
            place.write_bytes(one.content)
        if not values["ask"] and "runs" not in named:
            named["pool"] = POOL
            (root / POOL).write_text(_whole_pool(by_field["topics"], by_field["documents"]), encoding="utf-8")
        (root / TOML).write_text(_toml(tables), encoding="utf-8")
        try:
            return plan_from_parts(root)
        except FileError as error:
            if error.path != TOML:
                raise
            where, _, problem = error.problem.partition(": ")
            key = where.rpartition(".")[2]
            raise ArgumentError(f"{LABELS.get(key, key)}: {problem}") from None


def name_of_title(title: str) -> str:
    """A name for addresses from a title.

    >>> name_of_title("How relevant is it?")
    'how-relevant-is-it'
    """
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:64].strip("-")


def _number(values: Mapping[str, str], field: str) -> int:
    text = values.get(field, "").strip()
    if not (text.isascii() and text.isdecimal() and len(text) < 5):
        raise ArgumentError(f"{LABELS[field]}: write a whole number")
    return int(text)


def _toml(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """Tables as TOML, whose texts and numbers are written as in JSON."""
    lines = []
    for name, table in tables.items():
        lines.append(f"[{name}]\n")
        lines += [f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in table.items()]
    return "".join(lines)


def _typed_topics(text: str) -> SentFile:
    """The topics that were written into the form, one title on each line."""
    titles = [line.strip() for line in text.splitlines() if line.strip()]
    if not titles:
        raise ArgumentError("topics: write a title on each line, or choose a file")
    rows = (json.dumps({"topic": f"t{i}", "title": title}) + "\n" for i, title in enumerate(titles, start=1))
    return SentFile("topics", "in the form.jsonl", "".join(rows).encode())


def _whole_pool(topics: SentFile, documents: SentFile) -> str:
    """Every document for every topic."""
    labels = [row["label"] for _, row in read_topics(topics.content, topics.place)]
    names = [row["label"] for _, row in read_documents(documents.content, documents.place)]
    if len(labels) * len(names) > MAX_POOL:
        raise ArgumentError(f"documents: {len(names)} for each of {len(labels)} topics are too many; choose runs, too")
    return "".join(f"{topic} {name}\n" for topic in labels for name in names)
