"""What must be true of a store whatever happened to it, asked in SQL."""

from __future__ import annotations

import json
from collections.abc import Iterable

from sqlalchemy import Connection, select, text

from qrowd_server.campaigns.running.rebuild import rebuild
from qrowd_server.store import materials
from qrowd_server.store.base import Store
from qrowd_server.store.schema import STATE

Forms = dict[str, dict[str, str]]

# Each finds what must not be there.
NEVER = {
    "more assignments of a unit than it has slots": """
        select u.id, count(*), (select count(*) from slot where slot.unit_id = u.id)
        from unit u join assignment a on a.unit_id = u.id where a.status in ('open', 'completed') and a.slot >= 0
        group by u.id having count(*) > (select count(*) from slot where slot.unit_id = u.id)""",
    "a slot whose holder does not hold it": """
        select s.unit_id, s.number, s.assignment_id from slot s left join assignment a on a.id = s.assignment_id
        where s.assignment_id >= 0
        and (a.id is null or a.status not in ('open', 'completed') or a.unit_id <> s.unit_id or a.slot <> s.number)""",
    "a closed slot of a unit that nobody completed": """
        select s.unit_id, s.number, s.assignment_id from slot s left join assignment a on a.id = -s.assignment_id
        where s.assignment_id < 0 and (a.id is null or a.status <> 'completed' or a.unit_id <> s.unit_id)""",
    "an assignment that holds a slot which says otherwise": """
        select a.id from assignment a join slot s on s.unit_id = a.unit_id and s.number = a.slot
        where a.status in ('open', 'completed') and (s.assignment_id is null or s.assignment_id <> a.id)""",
    "a topic twice for one assessor, or a document where each is drawn": """
        select assessor_id, topic_id from assignment group by assessor_id, topic_id, drawn_id having count(*) > 1""",
    "two open units of one assessor": """
        select assessor_id from assignment where status = 'open' group by assessor_id having count(*) > 1""",
    "a document judged twice by one assessor": """
        select a.assessor_id, j.document_id from judgment j join assignment a on a.id = j.assignment_id
        group by a.assessor_id, j.document_id having count(*) > 1""",
    "a judgment of a document that is not in the unit": """
        select j.assignment_id from judgment j join assignment a on a.id = j.assignment_id
        join document d on d.id = j.document_id where d.campaign_id <> a.campaign_id""",
    "the same key twice": "select idem_key from event where idem_key is not null group by idem_key having count(*) > 1",
    "a pair before somebody who has no open unit": """
        select p.assignment_id from pair_lease p join assignment a on a.id = p.assignment_id
        where a.status <> 'open'""",
    "a pair before two people, or two pairs before one": """
        select board, low_id, high_id, count(*) from pair_lease group by board, low_id, high_id, seat
        having count(*) > 1 union all
        select assignment_id, 0, 0, count(*) from pair_lease group by assignment_id having count(*) > 1""",
    "a pair on offer with a document that is Bad": """
        select p.assignment_id, b.document_id from pair_lease p join assignment a on a.id = p.assignment_id
        join bad_mark b on b.document_id in (p.low_id, p.high_id)
        join assignment m on m.id = b.assignment_id
        where m.id = a.id or (p.board = a.unit_id and b.unit_id = a.unit_id and m.counts)""",
    "an excluded assessor who holds a unit": """
        select a.id from assignment a join assessor p on p.id = a.assessor_id
        where p.excluded is not null and a.status in ('open', 'completed')""",
}


def violations(connection: Connection) -> list[str]:
    """What is there and must not be."""
    found = [(what, connection.execute(text(query)).fetchall()) for what, query in NEVER.items()]
    return [f"{what}: {[tuple(row) for row in rows[:5]]}" for what, rows in found if rows]


def bad_offers(connection: Connection) -> list[str]:
    """Pairs that were put before somebody although a document of them had been removed on the same board."""
    wrong = []
    rows = connection.execute(
        text(
            "select e.id, e.unit_id, e.assignment_id, e.kind, e.data from event e where e.kind in ('offered', "
            "'marked_bad', 'undone', 'assignment_withdrawn', 'assignment_restored') and not e.late order by e.id"
        )
    )
    shared = {row.id for row in materials.campaigns(connection) if _shared(row.settings)}
    units = dict(connection.execute(text("select id, campaign_id from unit")).fetchall())
    bad: dict[tuple[str, int], dict[tuple[int, int], int]] = {}
    away: set[int] = set()
    for _, unit, assignment, kind, data in rows:
        said = json.loads(data) if isinstance(data, str) else data
        board = ("unit", unit) if units[unit] in shared else ("assignment", assignment)
        marks = bad.setdefault(board, {})
        if kind.startswith("assignment"):  # nothing counts of what was taken away
            (away.add if kind == "assignment_withdrawn" else away.discard)(assignment)
            continue
        pair = (said["left"], said["right"])
        if kind == "marked_bad":
            marks[assignment, said["pair"]] = said["document"]
        elif kind == "undone":
            marks.pop((assignment, said["pair"]), None)
        elif kind == "offered" and (hit := set(pair) & {d for (of, _), d in marks.items() if of not in away}):
            wrong.append(f"{board}: {kind} {pair} to {assignment} after {hit} was Bad")
    return wrong


def _shared(settings: dict[str, object]) -> bool:
    arms = settings["arms"]
    return isinstance(arms, list) and any(arm["settings"].get("sharing") == "shared" for arm in arms)


def unsaved(connection: Connection, forms: Forms) -> list[str]:
    """Acknowledged forms that the log does not hold exactly once, or holds with other words."""
    rows = connection.execute(text("select idem_key, kind, data from event where idem_key is not null"))
    stored: dict[str, list[tuple[str, dict[str, object]]]] = {}
    for key, kind, data in rows:
        stored.setdefault(key.partition(":")[2], []).append((kind, json.loads(data) if isinstance(data, str) else data))
    wrong = []
    for key, form in forms.items():
        found = stored.get(key, [])
        if len(found) != 1:
            wrong.append(f"{key}: {len(found)} times, {form}")
            continue
        kind, data = found[0]
        if form["do"] == "judge" and (kind, data.get("text"), data.get("reason")) != (
            "judged", form["text"], form["reason"],
        ) and kind != "late_action":  # fmt: skip
            wrong.append(f"{key}: {kind} {data} for {form}")
        if form["do"] == "prefer" and kind == "preferred" and data.get("choice") != form["choice"]:
            wrong.append(f"{key}: {kind} {data} for {form}")
    return wrong


def tables(connection: Connection) -> dict[str, list[str]]:
    """All that the events add up to."""
    # On which of a pair's seats somebody sits depends on who sat there before them, and means nothing.
    columns = {table.name: [column for column in table.c if column.name != "seat"] for table in STATE}
    return {name: sorted(map(repr, connection.execute(select(*these)).all())) for name, these in columns.items()}


def rebuilt_differently(store: Store, campaigns: Iterable[str]) -> list[str]:
    """Tables that are not what the events add up to."""
    before = store.read(tables)
    for name in campaigns:
        store.write(lambda connection, name=name: rebuild(connection, name))  # type: ignore[misc]
    after = store.read(tables)
    return [
        f"{name}: {sorted(set(before[name]) ^ set(after[name]))[:4]}" for name in before if before[name] != after[name]
    ]


def intact(store: Store) -> bool:
    """What SQLite says of its own file."""
    return (
        store.dialect != "sqlite" or store.read(lambda c: c.exec_driver_sql("pragma integrity_check").scalar()) == "ok"
    )
