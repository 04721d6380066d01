"""The OpenAPI document says what the server does, no more and no less."""

import json
import re
from dataclasses import fields
from typing import Any, get_args

import httpx
import jsonschema_rs
import pytest
from starlette.routing import Route

from qrowd_server.campaigns.demo import demo_plans
from qrowd_server.campaigns.plan.plan import DocumentPlan, TopicPlan
from qrowd_server.campaigns.plan.plan_tables import HeadTable, PlanTable, table_from_plan
from qrowd_server.protocols import events, settings, views
from qrowd_server.web.api import ROUTES
from qrowd_server.web.api.document import OPERATIONS, document, document_text
from server.web.api.worlds import World


def validator(name: str) -> Any:
    """Of one component."""
    whole = {"$ref": f"#/components/schemas/{name}", "components": document()["components"]}
    return jsonschema_rs.Draft202012Validator(whole)


def get(served: World, path: str) -> httpx.Response:
    async def work() -> httpx.Response:
        async with served.client(key="") as client:
            return await client.http.get(path)

    return served.run(work())


def test_every_route_is_in_the_document_and_everything_in_it_is_a_route() -> None:
    routed = {
        (method.lower(), route.path)
        for route in ROUTES
        if isinstance(route, Route) and route.path.startswith("/api/v1")
        for method in route.methods or ()
        if method != "HEAD"
    }
    assert routed == {(method, path) for path, item in document()["paths"].items() for method in item}
    assert len({one.name for one in OPERATIONS}) == len(OPERATIONS)


def test_every_reference_leads_somewhere() -> None:
    for reference in re.findall(r'"(#/[^"]+)"', document_text()):
        found: Any = document()
        for part in reference.removeprefix("#/").split("/"):
            found = found[part]
        assert found


@pytest.mark.parametrize("kind", [*get_args(views.View), *get_args(events.Action), *settings.SETTINGS.values()])
def test_every_view_action_and_setting_is_described_field_by_field(kind: type) -> None:
    schema = document()["components"]["schemas"][kind.__name__]
    own = set(schema["properties"]) - {"kind", "do", "shown", "key"}
    assert own == {one.name for one in fields(kind)}
    assert schema["additionalProperties"] is False


def test_a_plan_has_the_keys_that_plans_have() -> None:
    schemas = document()["components"]["schemas"]
    for kind in (PlanTable, HeadTable, TopicPlan, DocumentPlan):
        assert set(schemas[kind.__name__]["properties"]) == {one.name for one in fields(kind)}


def test_plans_as_the_program_writes_them_fit_the_document() -> None:
    for plan in demo_plans():
        validator("PlanTable").validate(json.loads(json.dumps(table_from_plan(plan))))


def test_examples_fit_what_they_are_examples_of() -> None:
    n = 0
    for one in OPERATIONS:
        for example in one.examples.values():
            assert one.body
            validator(one.body).validate(example)
            n += 1
    assert n >= 3


def test_the_document_and_its_page_are_there_without_a_key_and_ask_nobody_else(served: World) -> None:
    assert get(served, "/api/openapi.json").json() == document()
    page = get(served, "/api")
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
    assert not re.search(r"https?://|//\w|<script|style=", page.text)
    for one in OPERATIONS:
        assert one.path in page.text
