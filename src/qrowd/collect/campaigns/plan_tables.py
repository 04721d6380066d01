"""A plan from and to one table of JSON or TOML that holds everything itself."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from qrowd.collect.campaigns.crowd import crowd_of
from qrowd.collect.campaigns.plan import About, DocumentPlan, Plan, PlanError, TopicPlan, in_short
from qrowd.collect.protocols.protocol import Question
from qrowd.collect.protocols.settings import SETTINGS, journey_of, settings_of, to_table
from qrowd.errors import ArgumentError


def plan_from_table(table: Mapping[str, Any]) -> Plan:
    """A plan from one table of JSON or TOML that holds everything itself.

    {"campaign": {"name", "title", "protocol", "seed", "lease_minutes", "consent", "instructions", "checks"},
     "magnitude" | "grades" | "preference": {...}, "journey": {...}, "prolific" | "panel" | "mturk": {...},
     "topics": [{"label", "title", "description", "narrative", "pool": [...], "checks": [H, N], "context": [...],
                 "question": {"text", "options", "correct"}, "systems": {name: [...]}}],
     "documents": [{"label", "title", "text", "html", "language"}]}

    A topic without a pool has all documents in it. Documents in nobody's pool are left out.

    Raises
    ------
    PlanError
        A key that does not exist, a value of the wrong kind, or whatever could not work.
    """
    _known(table, ("campaign", *SETTINGS, "journey", *CROWDS, "topics", "documents"), ())
    head = _table(table.get("campaign", {}), ("campaign",), HEAD)
    protocol = _protocol(table, head)
    try:
        crowd = crowd_of({name: table[name] for name in CROWDS if name in table})
    except ArgumentError as error:
        key, _, problem = str(error).partition(": ")
        raise PlanError(tuple(key.split(".")), problem) from None
    settings = _read(protocol, table.get(protocol, {}), lambda part: settings_of(protocol, part))
    journey = _read("journey", table.get("journey", {}), journey_of)
    documents = tuple(_document(row, i) for i, row in enumerate(_list(table.get("documents", []), ("documents",))))
    everything = [document.label for document in documents]
    topics = tuple(_topic(row, i, everything) for i, row in enumerate(_list(table.get("topics", []), ("topics",))))
    wanted = {label for topic in topics for label in topic.pool}
    kept = [i for i, document in enumerate(documents) if document.label in wanted or not document.label]
    name = _text(head, "name", ("campaign",))
    try:
        return Plan(
            name=name,
            title=_text(head, "title", ("campaign",)) or name,
            protocol=protocol,
            settings=settings,
            topics=topics,
            documents=tuple(documents[i] for i in kept),
            seed=secrets.randbits(62) if head.get("seed") is None else head["seed"],
            journey=journey,
            lease_minutes=60.0 if head.get("lease_minutes") is None else head["lease_minutes"],
            consent=_text(head, "consent", ("campaign",)),
            instructions=_text(head, "instructions", ("campaign",)),
            checks=_switch(head, "checks", ("campaign",), True),
            crowd=crowd,
        )
    except PlanError as error:
        match error.about:
            case ("documents", int(i)):  # counted among those kept
                raise PlanError(("documents", kept[i]), error.problem) from None
        raise


def table_from_plan(plan: Plan) -> dict[str, Any]:
    """The table that `plan_from_table` reads as this plan."""
    return {
        "campaign": {key: getattr(plan, key) for key in HEAD},
        plan.protocol: to_table(plan.settings),
        "journey": to_table(plan.journey),
        **{name: dict(part) for name, part in plan.crowd.items()},
        "topics": [
            {
                "label": t.label,
                "title": t.title,
                "description": t.description,
                "narrative": t.narrative,
                "pool": list(t.pool),
                "checks": None if t.checks is None else list(t.checks),
                "context": list(t.context),
                "question": question_table(t.question),
                "systems": {name: list(documents) for name, documents in t.systems},
            }
            for t in plan.topics
        ],
        "documents": [{key: getattr(d, key) for key in DOCUMENT} for d in plan.documents],
    }


def question_table(question: Question | None) -> dict[str, Any] | None:
    """A question as JSON values."""
    if question is None:
        return None
    return {"text": question.text, "options": list(question.options), "correct": question.correct}


# ---- from tables

HEAD = ("name", "title", "protocol", "seed", "lease_minutes", "consent", "instructions", "checks")
CROWDS = ("prolific", "panel", "mturk")
DOCUMENT = ("label", "title", "text", "html", "language")
TOPIC = ("label", "title", "description", "narrative", "pool", "checks", "context", "question", "systems")


def _protocol(table: Mapping[str, Any], head: Mapping[str, Any]) -> str:
    """The protocol named, or else the one that has a table."""
    given = [name for name in SETTINGS if name in table]
    protocol = head.get("protocol", given[0] if len(given) == 1 else None)
    if not isinstance(protocol, str) or protocol not in SETTINGS:
        found = "is missing" if protocol is None else f"{protocol!r} is none"
        raise PlanError(("campaign", "protocol"), f"{found}; choose one of {', '.join(SETTINGS)}")
    if other := [name for name in given if name != protocol]:
        raise PlanError((other[0],), f"is the table of another protocol than {protocol}; remove it")
    return str(protocol)


def _read(key: str, part: Any, make: Any) -> Any:
    try:
        return make(_table(part, (key,)))
    except PlanError:
        raise
    except ArgumentError as error:
        raise PlanError((key,), str(error)) from None


def _document(row: Any, i: int) -> DocumentPlan:
    about = ("documents", i)
    row = _table(row, about, DOCUMENT)
    label, title, text, language = (_text(row, key, about) for key in ("label", "title", "text", "language"))
    return DocumentPlan(label, text, title, _switch(row, "html", about, False), language)


def _topic(row: Any, i: int, everything: Sequence[str]) -> TopicPlan:
    about = ("topics", i)
    row = _table(row, about, TOPIC)
    label = _text(row, "label", about)
    pool = tuple(everything) if row.get("pool") is None else _texts(row["pool"], (*about, "pool"))
    checks = None if row.get("checks") in (None, []) else _texts(row["checks"], ("checks", label))
    if checks is not None and len(checks) != 2:
        raise PlanError(("checks", label), f"expected two documents, H and N, found {len(checks)}")
    systems = _table(row.get("systems") or {}, (*about, "systems"))
    return TopicPlan(
        label,
        _text(row, "title", about),
        pool,
        _text(row, "description", about),
        _text(row, "narrative", about),
        _question(row.get("question"), label),
        None if checks is None else (checks[0], checks[1]),
        _texts(row.get("context") or [], ("context", label)),
        tuple((str(name), _texts(listed, (*about, "systems", str(name)))) for name, listed in systems.items()),
    )


def _question(part: Any, topic: str) -> Question | None:
    if part is None:
        return None
    about = ("question", topic)
    part = _table(part, about, ("text", "options", "correct"))
    correct = part.get("correct")
    if isinstance(correct, bool) or not isinstance(correct, int):
        raise PlanError(about, f"correct: {correct!r} cannot be used; give the right option's number, from 0")
    return Question(_text(part, "text", about), _texts(part.get("options", []), about), correct)


def _table(value: Any, about: About, keys: Sequence[str] | None = None) -> dict[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise PlanError(about, f"expected a table of keys and values, found {in_short(value)}")
    if keys is not None:
        _known(value, keys, about)
    return dict(value)


def _known(value: Mapping[str, Any], keys: Sequence[str], about: About) -> None:
    for key in value:
        if key not in keys:
            raise PlanError((*about, str(key)), f"there is no key {key!r}; choose from {', '.join(keys)}")


def _list(value: Any, about: About) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise PlanError(about, f"expected a list, found {in_short(value)}")
    return list(value)


def _text(row: Mapping[str, Any], key: str, about: About) -> str:
    value = row.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise PlanError(about, f"{key}: expected a text, found {in_short(value)}; write it in quotes")
    return value


def _texts(value: Any, about: About) -> tuple[str, ...]:
    for item in _list(value, about):
        if not isinstance(item, str):
            raise PlanError(about, f"expected a list of texts, found {in_short(item)} in it; write it in quotes")
    return tuple(value)


def _switch(row: Mapping[str, Any], key: str, about: About, default: bool) -> bool:
    value = row.get(key, default)
    if value is None or value == "":
        return default
    if not isinstance(value, bool):
        raise PlanError(about, f"{key}: {in_short(value)} cannot be used; write true or false")
    return value
