"""The operations as an OpenAPI 3.1 document, made from what the routes are made of, and as a page for people."""

from __future__ import annotations

import json
import re
from functools import cache
from html import escape
from typing import Any

from qrowd_server.protocols.schema import Schema
from qrowd_server.web.api import campaigns, exports, judging
from qrowd_server.web.api.bodies import JSON
from qrowd_server.web.api.operations import PREFIX, Answer, Operation
from qrowd_server.web.api.schemas import all_components, reference

OPERATIONS: tuple[Operation, ...] = (*campaigns.OPERATIONS, *judging.OPERATIONS, *exports.OPERATIONS)
ABOUT = """\
Collect relevance judgments by program: create a campaign, let an assessor arrive, then again and again get its page and
send an action, until the view is an EndView without `another`, or a NoneLeftView; at last export what counts.

Every request carries a key: `Authorization: Bearer qrowd_...`. A key opens all campaigns, or one; what it does not open
is answered like what does not exist. Pages of other sites cannot use this. What is wrong is said as a Problem: `code`
is for programs, `message` is one line for people, `field` names what it is about, `reference` where the log has more.
Names that are not known, in bodies and addresses, are refused."""
MEANINGS = {
    400: "The request makes no sense",
    401: "No key, or one that is not good",
    403: "The key opens too little for this, or the request comes from a page of another site",
    404: "Not there, or not for this key",
    409: "`code` says which: the page has gone (stale), the form's key was used for another action (changed), a name "
    "is taken, or the campaign's protocol collects something else",
    413: "Too long",
    415: "Not the media type that is expected",
    422: "It cannot be taken as it is; nothing happened",
    503: "It could not be done now; the same may be sent again",
}
PARAMETERS: dict[str, Schema] = {
    "campaign": {"type": "string", "pattern": "^[a-z0-9][a-z0-9_-]{0,63}$"},
    "assessor": {"type": "string", "pattern": "^[0-9a-f]{1,16}$"},
}
TEXT: Schema = {"type": "string"}
RETRY: Schema = {"Retry-After": {"description": "seconds", "schema": {"type": "integer"}}}


@cache
def document(path: str = "") -> dict[str, Any]:
    """The whole of it; one value, not to be changed. path : of the server's address."""
    paths: dict[str, dict[str, Any]] = {}
    for one in OPERATIONS:
        paths.setdefault(PREFIX + one.path, {})[one.method.lower()] = _described(one)
    return {
        "openapi": "3.1.0",
        "info": {"title": "qrowd", "version": "1", "description": ABOUT, "license": {"name": "Apache-2.0"}},
        "servers": [{"url": path or "/"}],
        "security": [{"key": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer", "description": "qrowd_ and 43 characters"}},
            "schemas": all_components(),
            "responses": {str(status): _problem(status) for status in MEANINGS},
        },
    }


@cache
def document_text(path: str = "") -> str:
    """The document as JSON."""
    return json.dumps(document(path), indent=1, ensure_ascii=False) + "\n"


def _described(one: Operation) -> dict[str, Any]:
    names = re.findall(r"\{(\w+)\}", one.path)
    in_path = [{"name": n, "in": "path", "required": True, "schema": PARAMETERS[n]} for n in names]
    in_query = [
        {"name": name, "in": "query", "required": False, "description": schema["description"],
         "schema": {key: value for key, value in schema.items() if key != "description"}}
        for name, schema in one.query.items()
    ]  # fmt: skip
    has_body = one.body or one.media_type != JSON
    statuses = {400, 401, 403, 422, 503, *([404] if names else []), *([413, 415] if has_body else []), *one.problems}
    answers = {str(answer.status): _answer(answer) for answer in one.answers}
    problems = {str(status): {"$ref": f"#/components/responses/{status}"} for status in sorted(statuses)}
    described: dict[str, Any] = {"operationId": one.name, "summary": one.summary}
    if one.description:
        described["description"] = one.description
    if in_path or in_query:
        described["parameters"] = in_path + in_query
    if has_body:
        content: dict[str, Any] = {"schema": reference(one.body) if one.body else TEXT}
        if one.examples:
            content["examples"] = {name: {"value": value} for name, value in one.examples.items()}
        described["requestBody"] = {"required": True, "content": {one.media_type: content}}
    return described | {"responses": answers | problems}


def _answer(answer: Answer) -> dict[str, Any]:
    content = {JSON: {"schema": reference(answer.of)}} if answer.of else {}
    return {
        "description": answer.description,
        "content": content | {kind: {"schema": TEXT} for kind in answer.files},
    }


def _problem(status: int) -> dict[str, Any]:
    content: dict[str, Any] = {JSON: {"schema": reference("Problem")}}
    if status in {400, 413}:  # told before anything else is looked at
        content["text/plain"] = {"schema": TEXT}
    headers: Schema = {}
    if status == 401:
        headers = {"WWW-Authenticate": {"schema": {"type": "string"}}}
    elif status == 503:
        headers = RETRY
    return {"description": MEANINGS[status], "content": content, **({"headers": headers} if headers else {})}


@cache
def page(path: str = "") -> str:
    """The operations on one page, for people. path : of the server's address."""
    rows = "\n".join(
        f"<tr><td><code>{one.method}</code></td><td><code>{escape(path + PREFIX + one.path)}</code></td>"
        f"<td>{escape(one.summary)}</td></tr>"
        for one in OPERATIONS
    )
    about = "".join(f"<p>{escape(part)}</p>" for part in ABOUT.split("\n\n"))
    return f"""<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>qrowd for programs</title>
<link rel="stylesheet" href="/static/qrowd.css"><link rel="icon" href="/static/icon.svg"></head>
<body><main><h1>qrowd for programs</h1>
{about}
<p>All of it, for machines: <a href="/api/openapi.json">{path}/api/openapi.json</a> (OpenAPI 3.1).</p>
<table><caption>Operations</caption>
<thead><tr><th scope="col">Method</th><th scope="col">Address</th><th scope="col">What it does</th></tr></thead>
<tbody>
{rows}
</tbody></table></main></body></html>
"""
