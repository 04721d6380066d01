"""How people are called in what leaves the database: by pseudonyms, and by their names where those are asked for.

A pseudonym is "a1" for the first person who came to a campaign, "a2" for the second, and so on. Models keep their
names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, func

from qrowd_server.store.schema import assessor

#: Events that say who somebody is, and under which name a platform knows their submission.
IDENTIFYING = ("arrived", "returned")


def assessor_label(names: bool = False) -> ColumnElement[str]:
    """The column that names an assessor. names : by name, not by pseudonym."""
    return assessor.c.name if names else func.coalesce(assessor.c.pseudonym, assessor.c.name)


class Pseudonymiser:
    """Takes out of events who somebody is. Submissions are numbered by person, in the order in which they come."""

    def __init__(self) -> None:
        self._submissions: dict[str, dict[str, str]] = {}

    def data(self, kind: str, data: Mapping[str, Any], name: str) -> dict[str, Any]:
        """The data of an event without names, platform ids and what a platform said.

        name : takes their place; the pseudonym.
        """
        if kind not in IDENTIFYING:
            return dict(data)
        new = {**data, "about": {}}
        for key in ("name", "external_id"):
            if key in new:
                new[key] = name
        if submission := new.get("submission"):
            mine = self._submissions.setdefault(name, {})
            new["submission"] = mine.setdefault(submission, f"{name}-{len(mine) + 1}")
        return new
