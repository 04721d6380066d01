"""The data of events: every kind has a schema, and what does not fit it is named."""

import ast
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from qrowd_server.protocols.events import EVENT_DATA, Event, check_event
from qrowd_server.protocols.setting_fields import SchemaError

JUDGED = {"position": 0, "text": "40", "value": 40.0, "reason": "", "active": None}


def kinds_in_the_source() -> set[str]:
    """The kinds of all events that are made under their name."""
    kinds = set()
    with resources.as_file(resources.files("qrowd_server")) as folder:
        for file in Path(folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Event":
                    kinds |= {one.value for one in ast.walk(node.args[0]) if isinstance(one, ast.Constant)}
    return {kind for kind in kinds if isinstance(kind, str)}


def test_every_event_that_is_made_has_a_schema() -> None:
    kinds = kinds_in_the_source()
    assert len(kinds) > 30
    assert kinds <= set(EVENT_DATA)


def test_an_event_that_fits_its_schema_passes() -> None:
    check_event(Event("judged", JUDGED))
    check_event(Event("stopped"))


@pytest.mark.parametrize(
    ("kind", "data", "message"),
    [
        ("guessed", {}, "kind: there is no event 'guessed'"),
        ("judged", {"position": 0}, "data.text: is missing"),
        ("judged", JUDGED | {"colour": "red"}, "data.colour: there is no such key; choose from position, text, value"),
        ("judged", JUDGED | {"position": -1}, "data.position: -1 cannot be used; give at least 0"),
        ("judged", JUDGED | {"value": "40"}, "data.value: '40' cannot be used; give a number"),
        ("stopped", {"why": ""}, "data.why: no key is allowed"),
        ("assigned", {"slot": 1, "topic": 1, "seed": None}, "data.seed: None cannot be used; give a whole number"),
    ],
)
def test_an_event_that_does_not_fit_names_the_key(kind: str, data: dict[str, Any], message: str) -> None:
    with pytest.raises(SchemaError) as refused:
        check_event(Event(kind, data))
    assert str(refused.value).startswith(message)
