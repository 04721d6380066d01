"""What was typed and not yet sent: nobody's answer, kept so that a reload loses nothing."""

from __future__ import annotations

from sqlalchemy import Connection, bindparam, select
from sqlalchemy.dialects import postgresql, sqlite

from qrowd.collect.store.schema import draft

_FIND = select(draft.c.text, draft.c.reason).where(
    draft.c.assignment_id == bindparam("assignment"), draft.c.position == bindparam("place")
)
_SAVE = {
    name: (insert := dialect.insert(draft)).on_conflict_do_update(
        index_elements=[draft.c.assignment_id, draft.c.position],
        set_={column: insert.excluded[column] for column in ("text", "reason", "time")},
    )
    for name, dialect in (("sqlite", sqlite), ("postgresql", postgresql))
}


def find(connection: Connection, assignment_id: int, position: int) -> tuple[str, str] | None:
    """The text and the reason typed at a position, if any."""
    row = connection.execute(_FIND, {"assignment": assignment_id, "place": position}).first()
    return None if row is None else (row.text, row.reason)


def save(connection: Connection, assignment_id: int, position: int, text: str, reason: str, at: float) -> None:
    """Keep them, in place of what was kept before."""
    row = {"assignment_id": assignment_id, "position": position, "text": text, "reason": reason, "time": at}
    connection.execute(_SAVE[connection.dialect.name], row)
