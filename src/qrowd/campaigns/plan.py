"""What a campaign is created from: its topics, documents and settings, checked as a whole.

Everything that could not work is refused here, before anything is written: nobody should meet it while judging.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any

from qrowd.campaigns.crowd import crowd_of
from qrowd.errors import ArgumentError
from qrowd.protocols.protocol import Question
from qrowd.protocols.settings import (
    SETTINGS,
    GradesSettings,
    JourneySettings,
    MagnitudeSettings,
    PreferenceSettings,
    Settings,
    journey_of,
    settings_of,
    to_table,
)

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
UNFIT = re.compile("[\x00\ud800-\udfff]")  # no database can hold these
BLANK = re.compile(r"[\s\x00-\x1f\x7f]")

MAX_TOPICS = 10_000
MAX_DOCUMENTS = 1_000_000
MAX_IN_POOL = 10_000
MAX_CHARACTERS = 1_000_000  # of one text
MAX_LABEL = 200
MAX_SLOTS = 1_000_000

About = tuple[str | int, ...]


class PlanError(ArgumentError):
    """Something in a plan that cannot work.

    about : what it concerns, such as ("documents", 3) or ("pool", "t1", "d7"). problem : what is wrong, and what to do.
    """

    def __init__(self, about: About, problem: str) -> None:
        self.about, self.problem = about, problem
        super().__init__(f"{_words(about)}: {problem}")

    def __reduce__(self) -> tuple[type[PlanError], tuple[About, str]]:
        return type(self), (self.about, self.problem)


@dataclass(frozen=True)
class TopicPlan:
    """A topic and what is judged for it.

    pool : labels of its documents, check documents included; kept in the order of the plan's documents.
    checks : the documents of which everybody must find the first more relevant than the second (H, N).
    context : stored snippets. systems : (name, documents of the pool, best first), for schedulers.
    """

    label: str
    title: str
    pool: tuple[str, ...]
    description: str = ""
    narrative: str = ""
    question: Question | None = None
    checks: tuple[str, str] | None = None
    context: tuple[str, ...] = ()
    systems: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True)
class DocumentPlan:
    """A document. html : whether `text` is HTML. language : a tag such as "en" or "pt-BR", or ""."""

    label: str
    text: str
    title: str = ""
    html: bool = False
    language: str = ""


@dataclass(frozen=True)
class Plan:
    """A campaign that can be created.

    name : as it stands in addresses. seed : of all that chance decides, from 0 below 2**63.
    checks : whether magnitude units hold two check documents; without them nobody's order is checked.
    crowd : one table per platform, as `crowd_of` makes it.

    Raises
    ------
    PlanError
        Whatever could not work.
    """

    name: str
    title: str
    protocol: str
    settings: Settings
    topics: tuple[TopicPlan, ...]
    documents: tuple[DocumentPlan, ...]
    seed: int
    journey: JourneySettings = field(default_factory=JourneySettings)
    lease_minutes: float = 60.0
    consent: str = ""
    instructions: str = ""
    checks: bool = True
    crowd: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for about, problem in _problems(self):
            raise PlanError(about, problem)
        place = {document.label: i for i, document in enumerate(self.documents)}
        ordered = (replace(t, pool=tuple(sorted(t.pool, key=place.__getitem__))) for t in self.topics)
        object.__setattr__(self, "topics", tuple(ordered))

    def __repr__(self) -> str:
        counts = ((len(self.topics), "topic"), (len(self.documents), "document"))
        listed = ", ".join(f"{n} {noun}{'s' * (n != 1)}" for n, noun in counts)
        return f"Plan({self.name}, {self.protocol}: {listed})"


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
        raise PlanError(about, f"expected a table of keys and values, found {_short(value)}")
    if keys is not None:
        _known(value, keys, about)
    return dict(value)


def _known(value: Mapping[str, Any], keys: Sequence[str], about: About) -> None:
    for key in value:
        if key not in keys:
            raise PlanError((*about, str(key)), f"there is no key {key!r}; choose from {', '.join(keys)}")


def _list(value: Any, about: About) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise PlanError(about, f"expected a list, found {_short(value)}")
    return list(value)


def _text(row: Mapping[str, Any], key: str, about: About) -> str:
    value = row.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise PlanError(about, f"{key}: expected a text, found {_short(value)}; write it in quotes")
    return value


def _texts(value: Any, about: About) -> tuple[str, ...]:
    for item in _list(value, about):
        if not isinstance(item, str):
            raise PlanError(about, f"expected a list of texts, found {_short(item)} in it; write it in quotes")
    return tuple(value)


def _switch(row: Mapping[str, Any], key: str, about: About, default: bool) -> bool:
    value = row.get(key, default)
    if value is None or value == "":
        return default
    if not isinstance(value, bool):
        raise PlanError(about, f"{key}: {_short(value)} cannot be used; write true or false")
    return value


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def _words(about: About) -> str:
    """What an error is about, for people: `documents[3]`, `pool of topic 't1'`."""
    match about:
        case ():
            return "plan"
        case (str(part), int(i), *rest):
            return ".".join([f"{part}[{i}]", *map(str, rest)])
        case ("pool" | "question" | "checks" | "context" | "systems" as part, topic, *_):
            return f"{part} of topic {topic!r}"
        case _:
            return ".".join(map(str, about))


# ---- what cannot work


def _problems(plan: Plan) -> Iterator[tuple[About, str]]:
    yield from _head_problems(plan)
    yield from _label_problems("topics", plan.topics, MAX_TOPICS)
    yield from _label_problems("documents", plan.documents, MAX_DOCUMENTS)
    for i, document in enumerate(plan.documents):
        if not document.text.strip():
            yield ("documents", i), f"document {document.label!r} has no text; add it, or leave the document out"
        yield from _text_problems(("documents", i), title=document.title, text=document.text)
        if document.language and not LANGUAGE.fullmatch(document.language):
            yield ("documents", i), f"language {_short(document.language)} is no tag; write one such as en or pt-BR"
    known = {document.label for document in plan.documents}
    for i, topic in enumerate(plan.topics):
        yield from _topic_problems(plan, topic, ("topics", i), known)
    if (n := _n_slots(plan)) > MAX_SLOTS:
        yield (plan.protocol, "redundancy"), f"{n} units to judge are more than {MAX_SLOTS}; lower it"


def _n_slots(plan: Plan) -> int:
    """How many units there will be for somebody to judge, without making them."""
    settings, n_slots = plan.settings, 0
    for topic in plan.topics:
        n = len(topic.pool)
        if isinstance(settings, MagnitudeSettings):
            fixed = 0 if topic.checks is None else 2
            rounds = settings.redundancy * (n - fixed) / (settings.k - fixed)
            n_slots += settings.redundancy if n <= settings.k else ceil(rounds)
        else:
            batches = ceil(n / settings.k) if isinstance(settings, GradesSettings) else 1
            n_slots += batches * settings.redundancy
    return n_slots


def _head_problems(plan: Plan) -> Iterator[tuple[About, str]]:
    about = ("campaign",)
    name: Any = plan.name
    seed: Any = plan.seed
    lease: Any = plan.lease_minutes
    if not isinstance(name, str) or not NAME.fullmatch(name):
        yield (
            (*about, "name"),
            f"{_short(name)} cannot stand in an address; write a-z, 0-9, - and _, at most 64, such as pilot-1",
        )
    if plan.protocol not in SETTINGS or not isinstance(plan.settings, SETTINGS[plan.protocol]):
        yield (*about, "protocol"), f"{plan.protocol!r} does not go with {type(plan.settings).__name__}; match the two"
    if not plan.title.strip():
        yield (*about, "title"), "is empty; say what assessors take part in"
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**63:
        yield (*about, "seed"), f"{_short(seed)} cannot be used; give a whole number from 0 below 2**63"
    if isinstance(lease, bool) or not isinstance(lease, int | float) or not 1 <= lease <= 100_000:
        yield (*about, "lease_minutes"), f"{_short(lease)} cannot be used; give minutes from 1 to 100000"
    yield from _text_problems(about, title=plan.title, consent=plan.consent, instructions=plan.instructions)


def _label_problems(key: str, items: Sequence[TopicPlan | DocumentPlan], most: int) -> Iterator[tuple[About, str]]:
    if not items:
        yield (key,), f"there are none; add at least one {key[:-1]}"
    if len(items) > most:
        yield (key,), f"{len(items)} are more than {most}; make several campaigns of them"
    seen: set[str] = set()
    for i, item in enumerate(items):
        label = item.label
        if not label or BLANK.search(label) or UNFIT.search(label) or len(label) > MAX_LABEL or label.startswith("#"):
            yield (
                (key, i),
                f"label {_short(label)} cannot be used; give 1 to {MAX_LABEL} characters without blanks, not # first",
            )
        if label in seen:
            yield (key, i), f"label {label!r} is there already; every {key[:-1]} needs its own"
        seen.add(label)


def _text_problems(about: About, **texts: str) -> Iterator[tuple[About, str]]:
    for key, text in texts.items():
        if len(text) > MAX_CHARACTERS:
            yield about, f"{key}: {len(text)} characters are more than {MAX_CHARACTERS}; shorten it"
        if found := UNFIT.search(text):
            yield about, f"{key}: holds {found[0]!r}, which no database can keep; remove it"


def _topic_problems(plan: Plan, topic: TopicPlan, about: About, known: set[str]) -> Iterator[tuple[About, str]]:
    label = topic.label
    if not topic.title.strip():
        yield about, f"topic {label!r} has no title; say what is looked for"
    yield from _text_problems(about, title=topic.title, description=topic.description, narrative=topic.narrative)
    for snippet in topic.context:
        yield from _text_problems(("context", label), snippet=snippet)
        if not snippet.strip():
            yield ("context", label), "holds an empty snippet; remove it"
    pool = set(topic.pool)
    for document in topic.pool:
        if document not in known:
            yield ("pool", label, document), f"document {document!r} has no text; add it to the documents"
    if len(pool) < len(topic.pool):
        twice = next(document for document in topic.pool if topic.pool.count(document) > 1)
        yield ("pool", label, twice), f"document {twice!r} is there twice; remove one"
    if len(pool) > MAX_IN_POOL:
        yield ("pool", label), f"{len(pool)} documents are more than {MAX_IN_POOL}; lower the depth"
    yield from _check_problems(plan, topic, pool)
    least, why = _least(plan)
    if len(pool) < least:
        yield ("pool", label), f"{len(pool)} documents, but {why}; add documents or lower k"
    if topic.question is not None:
        yield from _question_problems(topic.question, ("question", label))
    names = [name for name, _ in topic.systems]
    for i, (name, listed) in enumerate(topic.systems):
        yield from _text_problems(("systems", label), name=name)
        if name in names[:i] or len(set(listed)) < len(listed):
            yield ("systems", label, name), f"system {name!r} or a document of it is there twice; remove one"
        if stranger := next((d for d in listed if d not in pool), None):
            yield ("systems", label, name), f"{name!r} found {stranger!r}, which is not in the pool; leave it out"


def _least(plan: Plan) -> tuple[int, str]:
    """How many documents a topic needs, and why."""
    if isinstance(plan.settings, MagnitudeSettings):
        return plan.settings.k, f"a unit needs {plan.settings.k}"
    return (2, "a pair needs 2") if isinstance(plan.settings, PreferenceSettings) else (1, "a unit needs 1")


def _check_problems(plan: Plan, topic: TopicPlan, pool: set[str]) -> Iterator[tuple[About, str]]:
    about = ("checks", topic.label)
    if topic.checks is None:
        if plan.protocol == "magnitude" and plan.checks:
            yield about, "are missing; name one document of H and one of N, or write checks = false in [campaign]"
        return
    if plan.protocol != "magnitude" or not plan.checks:
        reason = "checks = false" if plan.protocol == "magnitude" else f"{plan.protocol} judging has none"
        yield about, f"are given, but {reason}; remove them"
    if missing := next((document for document in topic.checks if document not in pool), None):
        yield about, f"document {missing!r} is not in the pool; add it there, or choose one that is"
    if topic.checks[0] == topic.checks[1]:
        yield about, f"{topic.checks[0]!r} cannot be both the better and the worse one; choose two"


def _question_problems(question: Question, about: About) -> Iterator[tuple[About, str]]:
    options = question.options
    if not question.text.strip():
        yield about, "has no text; write what is asked"
    if not 2 <= len(options) <= 8:
        yield about, f"has {len(options)} options; give 4 (2 to 8 are possible)"
    if not all(map(str.strip, options)) or len({option.strip() for option in options}) < len(options):
        yield about, "has an option that is empty or there twice; give each its own words"
    if not 0 <= question.correct < len(options):
        yield about, f"correct: there is no option {question.correct}; they count from 0 to {len(options) - 1}"
    for text in (question.text, *options):
        yield from _text_problems(about, text=text)
