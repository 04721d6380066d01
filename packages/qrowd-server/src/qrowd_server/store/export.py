"""What was said, row by row, for `store.writers`: as much as there is, in little memory, and always in the same order.

People appear under their pseudonyms, and under their names where `names` asks for them.

Rows come topic by topic in the order of the campaign, then by unit, slot, assessor and position. The columns are those
that `qrowd.read_judgments` and `qrowd.read_preferences` look for, and a few more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, Table, and_, bindparam, case, literal, null, select, union_all

from qrowd_server.store.event_log import CHUNK
from qrowd_server.store.persons import assessor_label
from qrowd_server.store.schema import (
    MODEL,
    PERSON,
    assessor,
    assignment,
    bad_mark,
    document,
    judgment,
    preference,
    topic,
    unit,
)

Tuple = tuple[Any, ...]
Arms = Sequence[str] | None

JUDGMENTS = (
    "topic", "document", "assessor", "value", "order", "unit", "seconds", "time", "comment",
    "raw", "active", "visits", "revisions", "assignment", "kind",
)  # fmt: skip
PREFERENCES = (
    "topic", "preferred", "other", "assessor", "strength", "first", "order", "seconds", "time",
    "active", "unit", "assignment", "kind",
)  # fmt: skip
DUPLICATES = ("topic", "one", "same_as", "assessor", "order", "seconds", "time", "active", "unit", "assignment", "kind")
SCALE = ("scale",)  # a further column of judgments in files
ARM = ("arm",)  # a further column in a campaign with several arms
STATUS = ("counted", "status", "excluded")  # further columns where rows are exported that do not count

_left, _right = document.alias("one"), document.alias("other")
_kind = case((assessor.c.provider == MODEL, MODEL), else_=PERSON).label("kind")
_counted = and_(assignment.c.counts, assessor.c.excluded.is_(None))
_topics = select(topic.c.id, topic.c.label).where(topic.c.campaign_id == bindparam("of")).order_by(topic.c.id)
_order = (unit.c.number, assignment.c.slot, assessor.c.created, assignment.c.id)


def judgments(connection: Connection, campaign_id: int, *, arms: Arms = None, names: bool = False) -> Iterator[Tuple]:
    """Judgments as they stand, as tuples of the columns JUDGMENTS and STATUS.

    "Cannot tell" has no value, and a judgment of a model no seconds.
    arms : those that are read, with the further column ARM; None in a campaign without arms.
    names : people by name, not by pseudonym.
    """
    columns: list[ColumnElement[Any]] = [
        document.c.label, assessor_label(names), judgment.c.value, judgment.c.position, unit.c.number,
        case((assessor.c.provider != MODEL, judgment.c.seconds)), judgment.c.time, judgment.c.reason,
        judgment.c.raw, judgment.c.active, judgment.c.visits, judgment.c.revisions, assignment.c.id, _kind,
    ]  # fmt: skip
    query = _answers(judgment, columns, arms, True).join(document, document.c.id == judgment.c.document_id)
    for label, row in _by_topic(connection, campaign_id, query.order_by(*_order, judgment.c.position)):
        yield label, *row[:4], f"{label}/{row[4]}", *row[5:]


def preferences(
    connection: Connection, campaign_id: int, *, arms: Arms = None, everything: bool = False, names: bool = False
) -> Iterator[Tuple]:
    """Preferences and Bad marks as they stand, as tuples of the columns PREFERENCES.

    A Bad mark is a row without a preferred document. Pairs that were called duplicates prefer nothing: `duplicates`.
    arms, names : as in `judgments`. everything : also those that do not count (a unit not finished or failed, an
    excluded assessor); then the columns STATUS follow.
    """
    choice, left = preference.c.choice, preference.c.choice == "left"
    pairs = _answers(
        preference,
        [
            case((left, _left.c.label), else_=_right.c.label), case((left, _right.c.label), else_=_left.c.label),
            assessor_label(names), preference.c.strength, case((left, 1), else_=0), preference.c.number,
            preference.c.seconds, preference.c.time, preference.c.active, unit.c.number.label("unit"),
            assignment.c.id, _kind,
        ],
        arms, everything,
        (assignment.c.slot.label("slot"), literal(0).label("mark")),
    ).where(choice != "duplicates")  # fmt: skip
    pairs = pairs.join(_left, _left.c.id == preference.c.left_id).join(_right, _right.c.id == preference.c.right_id)
    marks = _answers(
        bad_mark,
        [
            null(), document.c.label, assessor_label(names), literal(1), null(), bad_mark.c.number, bad_mark.c.seconds,
            bad_mark.c.time, null(), unit.c.number.label("unit"), assignment.c.id, _kind,
        ],
        arms, everything,
        (assignment.c.slot.label("slot"), literal(1).label("mark")),
    ).join(document, document.c.id == bad_mark.c.document_id)  # fmt: skip
    both = union_all(pairs, marks).subquery()
    c = list(both.c)
    # unit, slot, assessor, assignment, number, preferences before marks, and what else may differ
    query = select(both).order_by(c[9], both.c.slot, c[2], c[10], c[5], both.c.mark, c[1])
    for label, row in _by_topic(connection, campaign_id, query):
        yield label, *row[:9], f"{label}/{row[9]}", *row[10:-2]


def duplicates(
    connection: Connection, campaign_id: int, *, arms: Arms = None, everything: bool = False, names: bool = False
) -> Iterator[Tuple]:
    """Pairs of documents that say the same, as tuples of the columns DUPLICATES.

    arms, everything, names : as in `preferences`.
    """
    columns: list[ColumnElement[Any]] = [
        _left.c.label, _right.c.label, assessor_label(names), preference.c.number, preference.c.seconds,
        preference.c.time, preference.c.active, unit.c.number, assignment.c.id, _kind,
    ]  # fmt: skip
    query = _answers(preference, columns, arms, everything).where(preference.c.choice == "duplicates")
    query = query.join(_left, _left.c.id == preference.c.left_id).join(_right, _right.c.id == preference.c.right_id)
    for label, row in _by_topic(connection, campaign_id, query.order_by(*_order, preference.c.number)):
        yield label, *row[:7], f"{label}/{row[7]}", *row[8:]


def _answers(
    table: Table,
    columns: list[ColumnElement[Any]],
    arms: Arms,
    everything: bool,
    further: Sequence[ColumnElement[Any]] = (),
) -> Select[Any]:
    """What one topic's assignments hold in a table, with ARM where there are arms, with STATUS or only what counts."""
    if arms is not None:
        columns = [*columns, assignment.c.arm]
    if everything:
        columns = [*columns, _counted.label("counted"), assignment.c.status, assessor.c.excluded]
    query = (
        select(*columns, *further)
        .select_from(assignment)
        .join(table, table.c.assignment_id == assignment.c.id)
        .join(unit, unit.c.id == assignment.c.unit_id)
        .join(assessor, assessor.c.id == assignment.c.assessor_id)
        .where(assignment.c.campaign_id == bindparam("of"), assignment.c.topic_id == bindparam("topic"))
    )
    if arms is not None:
        query = query.where(assignment.c.arm.in_(list(arms)))
    return query if everything else query.where(_counted)


def _by_topic(connection: Connection, campaign_id: int, query: Select[Any]) -> Iterator[tuple[str, Tuple]]:
    """The rows of each topic, with its label: no sort is ever larger than a topic."""
    # Only numbers are kept of the topics, since one cursor at a time is all that a server's connection has.
    labels = [(row.id, row.label) for row in connection.execute(_topics, {"of": campaign_id})]
    for number, label in labels:
        values = {"of": campaign_id, "topic": number}
        with connection.execute(query, values, execution_options={"yield_per": CHUNK}) as rows:
            for row in rows:
                yield label, tuple(row)
