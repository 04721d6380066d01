"""Requests made from the OpenAPI document, right and wrong: the server never fails, and answers as it says.

Everything is drawn from fixed seeds. A request that fits the document may still be refused (422): no schema knows which
labels a plan has, or whether a text is a number; all other checks are as Schemathesis has them.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from schemathesis.config import SchemathesisConfig

from qrowd_server.web.api.document import document
from server.web.api.client import Json
from server.web.api.test_judging import judge_all
from server.web.api.worlds import World, plan, world

CONFIG: dict[str, Any] = {
    "checks": {"positive_data_acceptance": {"expected-statuses": ["2xx", "403", "404", "409", "415", "422"]}},
    "generation": {"deterministic": True, "max-examples": 8, "database": "none"},
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, Json]]:
    """A server with something in every table, and names that are there."""
    with world(tmp_path_factory.mktemp("drawn")) as made:

        async def fill() -> Json:
            async with made.client() as client:
                await client.create(plan("whole", "grades", k=6, redundancy=2))
                assessor = await client.arrive("whole", "model")
                await judge_all(assessor, 1)
                return {"campaign": "whole", "assessor": (await client.arrive("whole", "other")).id}

        yield made, made.run(fill())


async def asked(scope: Any, receive: Any, send: Any) -> None:
    """The server that there is while these tests run; requests are collected before it is made."""
    await CURRENT[0](scope, receive, send)


@schemathesis.serializer("application/jsonl")
def as_text(context: Any, value: Any) -> bytes:
    """Whatever was drawn for an archive."""
    return (value if isinstance(value, str) else json.dumps(value)).encode("utf-8", "replace")


CURRENT: list[Any] = []
DESCRIBED = schemathesis.openapi.from_dict(document(), config=SchemathesisConfig.from_dict(CONFIG))
DESCRIBED.app = asked


@DESCRIBED.parametrize()
def test_every_request_is_answered_as_the_document_says(case: Any, filled: tuple[World, Json]) -> None:
    served, names = filled
    for name, pattern in (("campaign", "[a-z0-9][a-z0-9_-]{0,63}"), ("assessor", "[0-9a-f]{1,16}")):
        if re.fullmatch(pattern, str(case.path_parameters.get(name, ""))):
            case.path_parameters[name] = names[name]
    CURRENT[:] = [served.app]
    case.call_and_validate(headers={"Authorization": f"Bearer {served.keys['all']}", "host": "judge.test"})
