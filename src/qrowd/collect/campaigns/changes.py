"""What changes a campaign after its start, and what may not change any more: two plans of one name, compared.

Whatever would change the meaning of answers that were given is refused: another protocol, scale or size of units,
documents that are gone, other words of a document that somebody has had. What is left adds (topics, documents,
assessors of a unit) or corrects words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from qrowd.collect.campaigns.plan import Plan, TopicPlan, table_of
from qrowd.collect.protocols.assembly import units_of_topic
from qrowd.collect.protocols.protocol import Question
from qrowd.collect.protocols.schema import LISTED, listed, path
from qrowd.collect.protocols.settings import GradesSettings, MagnitudeSettings, PreferenceSettings, Settings
from qrowd.errors import ArgumentError
from qrowd.model.chance import Chance

TEXTS = ("title", "consent", "instructions", "practice_instructions", "guidelines", "language")
WORDS = ("labels", "guidelines")  # of grades
OF_TOPIC = ("title", "description", "narrative", "context", "checks", "systems")
BEFORE_ANSWERS = "make a campaign of another name, or, as long as there is no answer, qrowd campaign create --replace"


@dataclass(frozen=True)
class Judged:
    """What assessors have had of a campaign so far, by label.

    topics : of which somebody had a unit. documents : of these units. gold : topics of which somebody had gold
    questions. assessors : {topic: how many had a unit of it}.
    """

    topics: frozenset[str] = frozenset()
    documents: frozenset[str] = frozenset()
    gold: frozenset[str] = frozenset()
    assessors: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class NewUnit:
    """A unit that is added. latin_row : as for slots."""

    topic: str
    arm: str
    documents: tuple[str, ...]
    latin_row: int


@dataclass(frozen=True)
class Changes:
    """What is to be written. plan : the campaign afterwards, what was there before first.

    version : of the campaign afterwards. topics, documents : labels of new ones. units : new ones, in this order.
    redundancy : {arm: (assessors of each unit before, and afterwards)} where units get more.
    reworded : (what, before, after) of texts and numbers. topics_reworded, documents_reworded : labels. gold : topics
    whose gold questions are others. lease_minutes : before, and afterwards. judged : {topic: assessors who had it}.
    """

    plan: Plan
    version: int
    topics: tuple[str, ...]
    documents: tuple[str, ...]
    units: tuple[NewUnit, ...]
    redundancy: Mapping[str, tuple[int, int]]
    reworded: tuple[tuple[str, str, str], ...]
    topics_reworded: tuple[str, ...]
    documents_reworded: tuple[str, ...]
    gold: tuple[str, ...]
    lease_minutes: tuple[float, float]
    judged: Mapping[str, int]

    @property
    def is_empty(self) -> bool:
        """Whether nothing is different."""
        of_material = self.topics or self.documents or self.units or self.redundancy
        return not (of_material or self.reworded or self.topics_reworded or self.documents_reworded or self.gold)


def changes_between(old: Plan, new: Plan, judged: Judged, version: int) -> Changes:
    """What turns a campaign of the plan `old` into one of the plan `new`. version : of the campaign afterwards.

    The seed stays that of the campaign, whatever the new plan has.

    Raises
    ------
    ArgumentError
        What cannot change any more, one line each.
    """
    problems = list(_problems(old, new, judged))
    if problems:
        raise ArgumentError(listed([f"{old.name}: {one}" for one in problems[:LISTED]], len(problems)))
    plan = _merged(old, new)
    before = {topic.label: topic for topic in old.topics}
    documents = {document.label: document for document in old.documents}
    redundancy = {
        arm: (settings.redundancy, plan.arms[arm].redundancy)
        for arm, settings in old.arms.items()
        if plan.arms[arm].redundancy > settings.redundancy
    }
    topics_reworded = [
        topic.label for topic in plan.topics if topic.label in before and _words(topic) != _words(before[topic.label])
    ]
    return Changes(
        plan=plan,
        version=version,
        topics=tuple(topic.label for topic in plan.topics if topic.label not in before),
        documents=tuple(document.label for document in plan.documents if document.label not in documents),
        units=tuple(_new_units(old, plan, version)),
        redundancy=redundancy,
        reworded=tuple(_reworded(old, plan)),
        topics_reworded=tuple(topics_reworded),
        documents_reworded=tuple(d.label for d in plan.documents if documents.get(d.label, d) != d),
        gold=tuple(t.label for t in plan.topics if t.label in before and t.gold != before[t.label].gold),
        lease_minutes=(old.lease_minutes, plan.lease_minutes),
        judged=judged.assessors,
    )


# ---- what cannot change


def _fixed_of_gold(plan: Plan) -> tuple[int, bool] | None:
    """What cannot change of [gold] once it was used."""
    return None if plan.gold is None else (plan.gold.first, plan.gold.feedback)


def _problems(old: Plan, new: Plan, judged: Judged) -> Iterator[str]:
    yield from _arm_problems(old, new)
    for name in (one.name for one in fields(old.journey)):
        one, other = getattr(old.journey, name), getattr(new.journey, name)
        if one != other and name != "max_units":
            yield f"journey.{name} is {one!r}, not {other!r}: assessors are on their way; {BEFORE_ANSWERS}"
    if old.checks != new.checks:
        yield f"campaign.checks is {old.checks!r}: units were made with it; {BEFORE_ANSWERS}"
    if old.question != new.question:
        yield f"[question] decides what is judged and cannot change; {BEFORE_ANSWERS}"
    if judged.gold and _fixed_of_gold(new) != _fixed_of_gold(old):
        yield "[gold] cannot be removed, nor `first` or `feedback` in it be changed: assessors have had gold questions"
    known = {topic.label: topic for topic in new.topics}
    for topic in old.topics:
        if topic.label not in known:
            yield f"topic {topic.label!r} is missing; topics cannot be removed, so put it back"
        else:
            yield from _topic_problems(old, topic, known[topic.label], judged)
    if old.question is not None:
        before = {topic.label for topic in old.topics}
        if further := [topic.label for topic in new.topics if topic.label not in before]:
            yield f"topic {further[0]!r} is new, but the question says what is judged; {BEFORE_ANSWERS}"
    documents = {document.label: document for document in new.documents}
    for document in old.documents:
        if document.label in judged.documents and documents.get(document.label, document) != document:
            yield (
                f"document {document.label!r} reads otherwise, but somebody has had it; put it back, or give the new "
                "text another label"
            )


def _arm_problems(old: Plan, new: Plan) -> Iterator[str]:
    if list(old.arms) != list(new.arms):
        names = ", ".join(filter(None, old.arms)) or "none"
        yield f"[arms] cannot change: the arms are {names}; {BEFORE_ANSWERS}"
        return
    for arm, one in old.arms.items():
        other, where = new.arms[arm], path(table_of(arm, one))
        if type(one) is not type(other):
            yield f"the protocol cannot change: {where} became {path(table_of(arm, other))}; {BEFORE_ANSWERS}"
            continue
        for name in (setting.name for setting in fields(one)):
            before, after = getattr(one, name), getattr(other, name)
            if before == after:
                continue
            if name == "redundancy" and (after < before or old.question is not None):
                reason = "a question draws by it" if old.question is not None else "units cannot be taken back"
                yield f"{where}.redundancy is {before} and cannot become {after}: {reason}"
            elif (
                name in WORDS and len(after) != len(before) and getattr(one, "scale", "") != getattr(other, "scale", "")
            ):
                continue  # which is said of the scale
            elif name == "labels":
                moved = [label for grade, label in enumerate(after) if label in before and before.index(label) != grade]
                if moved or len(after) != len(before):
                    word = moved[0] if moved else f"{len(after)} names"
                    yield f"{where}.labels: {word!r} named another grade before; keep the order of the grades"
            elif name not in ("redundancy", *WORDS):
                yield f"{where}.{name} is {before!r} and cannot become {after!r}; {BEFORE_ANSWERS}"


def _topic_problems(plan: Plan, old: TopicPlan, new: TopicPlan, judged: Judged) -> Iterator[str]:
    where, had = f"topic {old.label!r}", old.label in judged.topics
    if missing := [label for label in old.pool if label not in set(new.pool)]:
        yield f"{where}: document {missing[0]!r} is not in its pool any more; documents cannot be removed"
    if old.checks != new.checks:
        yield f"{where}: the check documents are in its units and cannot change"
    for name in OF_TOPIC:
        used = name != "systems" or any(map(_uses_systems, plan.arms.values()))
        if name != "checks" and had and used and getattr(old, name) != getattr(new, name):
            yield f"{where}: its {name} cannot change, because somebody has had a unit of it"
    one, other = old.question, new.question
    if had and (one is None or other is None) and one != other:
        yield f"{where}: its question cannot be added or removed, because somebody has had a unit of it"
    elif had and one is not None and other is not None and _form(one) != _form(other):
        yield f"{where}: only the words of its question can change, not the number of options or which is correct"
    if old.gold != new.gold and old.label in judged.gold:
        yield f"{where}: its gold questions cannot change, because somebody has had one of them"
    further = [label for label in new.pool if label not in set(old.pool)]
    if not further:
        return
    if plan.question is not None:
        yield f"{where}: document {further[0]!r} is new, but the question says what is judged; {BEFORE_ANSWERS}"
        return
    for settings in plan.arms.values():
        if isinstance(settings, PreferenceSettings) or (isinstance(settings, GradesSettings) and settings.compares):
            yield f"{where}: document {further[0]!r} is new, but all documents are in one unit; make a topic of them"
        elif isinstance(settings, MagnitudeSettings):
            least = settings.k - (0 if old.checks is None else 2)
            if len(further) < least:
                yield f"{where}: {len(further)} new documents make no unit of {settings.k}; add at least {least}"


def _form(question: Question) -> tuple[int, int]:
    return question.correct, len(question.options)


def _uses_systems(settings: Settings) -> bool:
    return isinstance(settings, PreferenceSettings) or (isinstance(settings, GradesSettings) and settings.compares)


# ---- what changes


def _merged(old: Plan, new: Plan) -> Plan:
    """The new plan with the seed of the old one, and with what was there before first, in its order."""
    documents = {document.label: document for document in new.documents}
    topics = {topic.label: topic for topic in new.topics}
    before = {document.label for document in old.documents}
    known = {topic.label for topic in old.topics}
    return replace(
        new,
        seed=old.seed,
        documents=(
            *(documents.get(document.label, document) for document in old.documents),
            *(document for document in new.documents if document.label not in before),
        ),
        topics=(
            *(topics[topic.label] for topic in old.topics),
            *(topic for topic in new.topics if topic.label not in known),
        ),
    )


def _words(topic: TopicPlan) -> tuple[Any, ...]:
    return *(getattr(topic, name) for name in OF_TOPIC), topic.question


def _new_units(old: Plan, plan: Plan, version: int) -> Iterator[NewUnit]:
    """Units of new topics; of new documents of topics that were there; and of magnitudes that more people give."""
    chance, before = Chance.of(plan.seed), {topic.label: topic for topic in old.topics}
    if plan.question is not None:
        return
    for i, topic in enumerate(plan.topics):
        for j, (arm, settings) in enumerate(plan.arms.items()):
            rng = chance.stream(f"units {arm} of version {version}", i)
            parts = [(topic.pool, settings)]
            if (earlier := before.get(topic.label)) is not None:
                parts = []
                more = settings.redundancy - old.arms[arm].redundancy
                if isinstance(settings, MagnitudeSettings) and more:
                    parts.append((earlier.pool, replace(settings, redundancy=more)))
                further = set(topic.pool) - set(earlier.pool)
                if further:
                    checks = topic.checks if isinstance(settings, MagnitudeSettings) and topic.checks else ()
                    parts.append((tuple(label for label in topic.pool if label in {*further, *checks}), settings))
            for pool, with_settings in parts:
                for unit in _assembled(topic, pool, with_settings, rng):
                    yield NewUnit(topic.label, arm, unit, (j - i) % len(plan.arms))


def _assembled(topic: TopicPlan, pool: tuple[str, ...], settings: Settings, rng: Any) -> Iterator[tuple[str, ...]]:
    has_checks = isinstance(settings, MagnitudeSettings) and topic.checks is not None
    places = tuple(map(pool.index, topic.checks)) if has_checks and topic.checks is not None else ()
    try:
        units = units_of_topic(range(len(pool)), (places[0], places[1]) if places else None, settings, rng)
    except ArgumentError as error:
        raise ArgumentError(f"topic {topic.label!r}: {error}") from None
    yield from (tuple(pool[place] for place in unit) for unit in units)


def _reworded(old: Plan, new: Plan) -> Iterator[tuple[str, str, str]]:
    """Texts and numbers of the whole campaign that are others now."""
    for name in (*TEXTS, "lease_minutes", "retention_days"):
        if (before := getattr(old, name)) != (after := getattr(new, name)):
            yield f"campaign.{name}", _text(before), _text(after)
    if dict(old.pictures) != dict(new.pictures):
        yield "campaign.pictures", ", ".join(old.pictures), ", ".join(new.pictures)
    if old.journey.max_units != new.journey.max_units:
        yield "journey.max_units", _text(old.journey.max_units), _text(new.journey.max_units)
    for arm, one in old.arms.items():
        other, where = new.arms[arm], path(table_of(arm, one))
        for name in ("redundancy", *WORDS):
            before, after = getattr(one, name, None), getattr(other, name, None)
            if before != after:
                yield f"{where}.{name}", _text(before), _text(after)
    if dict(old.crowd) != dict(new.crowd):
        names = sorted(
            {*old.crowd, *new.crowd} - {name for name in old.crowd if old.crowd[name] == new.crowd.get(name)}
        )
        for name in names:
            yield name, "", ""  # links and codes of a platform are not for a log
    if old.gold != new.gold:
        yield "gold", _text(old.gold), _text(new.gold)


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else "" if value is None else str(value)
