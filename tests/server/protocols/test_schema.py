"""What a dataclass says is what is read, what is refused, and what the JSON Schema describes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import pytest
from annotated_types import Ge, Le, MaxLen
from hypothesis import given
from hypothesis import strategies as st

from qrowd_server.protocols.setting_fields import SchemaError, plain, read


@dataclass(frozen=True)
class Part:
    """A part."""

    label: Annotated[str, MaxLen(5)]
    checks: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        if self.label == "bad":
            raise ValueError("'bad' is taken; choose another")


@dataclass(frozen=True)
class Whole:
    """All of it.

    parts : in order.

    Raises
    ------
    ValueError
        Never.
    """

    parts: tuple[Part, ...]
    n: Annotated[int, Ge(3), Le(50)] = 8
    share: Annotated[float, Ge(0), Le(1)] = 0.5
    order: Literal["first", "last"] = "first"
    checks: bool = True
    about: dict[str, Any] = field(default_factory=dict)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({}, "parts: is missing"),
        ({"parts": [], "m": 1}, "m: there is no such key; choose from parts, n, share, order, checks, about"),
        ({"parts": [{"label": "a", "x": 1}]}, "parts[0].x: there is no such key; choose from label, checks"),
        ({"parts": [{"label": "a"}, {}]}, "parts[1].label: is missing"),
        ({"parts": [{"label": "letters"}]},
         "parts[0].label: 'letters' cannot be used; give a text of at most 5 characters"),
        ({"parts": [{"label": "a", "checks": ["b", 1]}]}, "parts[0].checks[1]: 1 cannot be used; give a text"),
        ({"parts": [{"label": "bad"}]}, "parts[0]: 'bad' is taken; choose another"),
        ({"parts": "abc"}, "parts: 'abc' cannot be used; give a list"),
        ({"parts": [], "n": 2}, "n: 2 cannot be used; give at least 3"),
        ({"parts": [], "n": "8"}, "n: '8' cannot be used; give a whole number"),
        ({"parts": [], "n": 8.0}, "n: 8.0 cannot be used; give a whole number"),
        ({"parts": [], "n": True}, "n: True cannot be used; give a whole number"),
        ({"parts": [], "share": float("nan")}, "share: nan cannot be used; give at most 1"),
        ({"parts": [], "order": "both"}, "order: 'both' cannot be used; choose 'first' or 'last'"),
        ({"parts": [], "checks": 1}, "checks: 1 cannot be used; write true or false"),
        ([], "[] cannot be used; give a table of keys and values"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_by_its_place(table: Any, message: str) -> None:
    with pytest.raises(SchemaError) as refused:
        read(Whole, table)
    assert str(refused.value) == message


parts = st.builds(Part, st.text("abc", max_size=2), st.none() | st.tuples(st.text(), st.text()))
wholes = st.builds(
    Whole, st.lists(parts).map(tuple), st.integers(3, 50), st.floats(0, 1), st.sampled_from(("first", "last"))
)


@given(wholes)
def test_a_dataclass_is_the_same_after_json(whole: Whole) -> None:
    assert read(Whole, plain(Whole, whole)) == whole
