"""How people are called in what leaves the database: by pseudonyms, and by their names where those are asked for.

A pseudonym is "a1" for the first person who came to a campaign, "a2" for the second, and so on. Models keep their
names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, func

from qrowd_server.store.schema import assessor


def assessor_label(names: bool = False) -> ColumnElement[str]:
    """The column that names an assessor. names : by name, not by pseudonym."""
    return assessor.c.name if names else func.coalesce(assessor.c.pseudonym, assessor.c.name)


def pseudonymised(kind: str, data: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The data of an event without names, platform ids and what a platform said. name : the pseudonym."""
    return {**data, "about": {}, "name": name, "external_id": name} if kind == "arrived" else dict(data)
