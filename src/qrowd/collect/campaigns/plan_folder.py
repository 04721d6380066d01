"""A campaign as the folder that it could have been made from, to be changed and given back."""

from __future__ import annotations

import io
import json
import re
import zipfile
from base64 import b64decode
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from qrowd.collect.campaigns.documents import DocumentPlan
from qrowd.collect.campaigns.form_fields import toml_text
from qrowd.collect.campaigns.plan import Plan
from qrowd.collect.campaigns.plan_tables import HeadTable, table_from_plan
from qrowd.collect.campaigns.web_pages import STARTS, image_from_text
from qrowd.collect.protocols.instructions import PRACTICE
from qrowd.errors import ArgumentError

HEADING = """\
# The campaign {name} as it is on the server. What can be changed: "Changing a campaign" in the documentation.
# Check:  qrowd campaign change FOLDER --check
# Change: qrowd campaign change FOLDER
"""
MATERIAL = ("topics", "documents", "question")
FILE = re.compile(r"[\w][\w.-]{0,99}")


def plan_zip(plan: Plan) -> bytes:
    """The folder of a plan, in a zip.

    Raises
    ------
    ArgumentError
        It holds what no folder can say: a question about systems, pages of PDF files.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in plan_files(plan):
            archive.writestr(name, content)
    return buffer.getvalue()


def plan_files(plan: Plan) -> Iterator[tuple[str, str | bytes]]:
    """(name, content) of the files of the folder; see `plan_zip`."""
    if plan.question is not None:
        raise ArgumentError("a campaign with a question is changed in the folder with its runs; it cannot be written")
    if pdf := next((one.label for one in plan.documents if one.pages), None):
        raise ArgumentError(f"document {pdf!r} was a PDF file, which is not kept; change the folder that holds it")
    names = {"topics": "topics.jsonl", "documents": "documents.jsonl", "pool": "pool.txt"}
    yield names["topics"], _lines(_topics(plan))
    rows = []
    for i, document in enumerate(plan.documents):
        image = _image_name(i, document)
        if image:
            yield image, image_from_text(document.image).content
        rows.append(_document(document, image))
    yield names["documents"], _lines(rows)
    yield names["pool"], "".join(f"{topic.label} {label}\n" for topic in plan.topics for label in topic.pool)
    for key, lines in _further(plan).items():
        if lines:
            names[key] = f"{key}.jsonl"
            yield names[key], _lines(lines)
    checks = [f"{one.label} {' '.join(one.checks)}\n" for one in plan.topics if one.checks is not None]
    if checks:
        names["checks"] = "checks.txt"
        yield names["checks"], "".join(checks)
    runs = dict(_runs(plan))
    for name, lines_of_run in runs.items():
        yield f"runs/{name}.run", lines_of_run
    if plan.guidelines:
        yield "guidelines.md", plan.guidelines
    for name, content in plan.pictures.items():
        yield name, b64decode(content)
    more = {"runs": "runs/*.run", "depth": 1} if runs else {}
    yield (
        "campaign.toml",
        f"{HEADING.format(name=plan.name)}\n{toml_text({**_tables(plan), 'files': {**names, **more}})}",
    )


def _lines(rows: Iterator[dict[str, Any]] | list[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)


def _topics(plan: Plan) -> Iterator[dict[str, Any]]:
    for one in plan.topics:
        texts = {"title": one.title, "description": one.description, "narrative": one.narrative}
        yield {"topic": one.label, **{key: text for key, text in texts.items() if text}}


def _document(document: DocumentPlan, image: str) -> dict[str, Any]:
    keys = ("title", "text", "language", "url")
    row = {"docid": document.label, **{key: text for key in keys if (text := getattr(document, key))}}
    row |= {"text": document.text} if not image else {}
    sandbox = document.layout == "sandbox"
    row |= {"html": "sandbox" if sandbox else True} if document.html else {}
    row |= {"layout": document.layout} if document.layout and not sandbox else {}
    return {**row, **({"image": image} if image else {}), **({"frame": True} if document.frame else {})}


def _image_name(i: int, document: DocumentPlan) -> str:
    """The name of the file of a document's image, "" without one."""
    if not document.image:
        return ""
    media_type = image_from_text(document.image).media_type
    assert media_type in STARTS
    return f"images/{i}.{media_type.removeprefix('image/').replace('jpeg', 'jpg')}"


def _further(plan: Plan) -> dict[str, list[dict[str, Any]]]:
    """Rows of questions, context and gold questions."""
    rows: dict[str, list[dict[str, Any]]] = {"questions": [], "context": [], "gold": []}
    for topic in plan.topics:
        label = {"topic": topic.label}
        if (asked := topic.question) is not None:
            rows["questions"].append(
                {**label, "text": asked.text, "options": list(asked.options), "correct": asked.correct}
            )
        if topic.context:
            rows["context"].append({**label, "snippets": list(topic.context)})
        for one in topic.gold:
            reason = {"reason": one.reason} if one.reason else {}
            pair = {"better": one.document, "worse": one.worse}
            row = pair if one.worse else {"document": one.document, "accepted": list(one.accepted)}
            rows["gold"].append({**label, **row, **reason})
    return rows


def _runs(plan: Plan) -> Iterator[tuple[str, str]]:
    """(system, its run) from the rankings of the topics; the pool file has their documents."""
    systems = dict.fromkeys(name for topic in plan.topics for name in topic.systems)
    for name in systems:
        if not FILE.fullmatch(name):
            raise ArgumentError(f"system {name!r} cannot name a file; change the folder that holds its run")
        lines = [
            f"{topic.label} Q0 {label} {rank} {len(topic.pool) - rank} {name}\n"
            for topic in plan.topics
            for rank, label in enumerate(topic.systems.get(name, ()), start=1)
        ]
        yield name, "".join(lines)


def _tables(plan: Plan) -> dict[str, Any]:
    """The tables of campaign.toml; values that are as by default are left out of [campaign]."""
    tables = {key: _given(table) for key, table in table_from_plan(plan).items() if key not in MATERIAL}
    defaults = {one.name: one.default for one in fields(HeadTable)}
    built_in = {plan.built_in_instructions(settings) for settings in plan.arms.values()}
    head = {key: value for key, value in tables["campaign"].items() if key != "pictures" and value != defaults[key]}
    if plan.instructions in built_in:
        head.pop("instructions", None)
    if plan.practice_instructions == PRACTICE:
        head.pop("practice_instructions", None)
    if plan.guidelines:
        head["guidelines"] = "guidelines.md"
    return {**tables, "campaign": head}


def _given(value: Any) -> Any:
    """Without keys whose value is None, which TOML cannot say."""
    if isinstance(value, Mapping):
        return {key: _given(one) for key, one in value.items() if one is not None}
    return [_given(one) for one in value] if isinstance(value, list | tuple) else value
