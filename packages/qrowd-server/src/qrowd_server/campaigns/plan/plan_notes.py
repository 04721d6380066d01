"""What an owner should know of a campaign that can be created: its preset, quality checks that it lacks, its effort."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from math import ceil
from statistics import fmean
from typing import Any

from qrowd_server.campaigns.plan.plan import Plan
from qrowd_server.protocols.gold_checks import entry_test
from qrowd_server.protocols.settings import (
    PRESETS,
    GradesSettings,
    JourneySettings,
    MagnitudeSettings,
    PreferenceSettings,
    Settings,
    overrides,
    protocol_of,
    to_table,
)


def plan_notes(plan: Plan) -> tuple[str, ...]:
    """Sentences about a plan; none is an error."""
    notes: list[str] = []
    if plan.preset:
        head = {"checks": plan.checks, "questions": plan.questions}
        notes += preset_notes(plan.preset, head, plan.journey, plan.arms)
    if len(plan.arms) > 1 and not plan.instructions:
        notes.append("There are no instructions; write some, because a campaign with arms has none of ours.")
    if plan.question is not None:
        question = plan.question
        return (
            *notes,
            f"Question: {question.text}, by {question.measure}. {len(question.pairs)} documents can change the answer; "
            f"they are drawn in batches of {question.batch} until it is decided.",
        )
    if missing := list(_missing_checks(plan)):
        notes.append(f"Quality checks that are not used: {'; '.join(missing)}.")
    notes += _gold_notes(plan)
    notes += _assessors_needed(plan)
    return tuple(notes)


def _assessors_needed(plan: Plan) -> Iterator[str]:
    """How many people a topic of several batches takes, which is more than its documents have judgments."""
    if len(plan.arms) > 1 or not isinstance(settings := plan.arms.get(""), GradesSettings):
        return
    label, size = max(((topic.label, len(topic.pool)) for topic in plan.topics), key=lambda topic: topic[1])
    if size > settings.k:
        n_units = -(-size // settings.k)
        yield (
            f"At least {n_units * settings.redundancy} assessors are needed: nobody gets two units of a topic, and "
            f"topic {label!r} has {n_units} units of at most {settings.k} documents for {settings.redundancy} "
            f"assessors each. With k = {size} in [grades], {settings.redundancy} are enough."
        )


def _gold_notes(plan: Plan) -> Iterator[str]:
    """What an owner should know of the gold questions."""
    gold = plan.gold
    if gold is None:
        return
    n = sum(len(topic.gold) for topic in plan.topics)
    yield f"Gold questions: {n} in {len([t for t in plan.topics if t.gold])} of {len(plan.topics)} topics."
    if not gold.exclude:
        yield "Nobody is excluded by gold questions (exclude = false in [gold])."
    if without := [topic.label for topic in plan.topics if not topic.gold]:
        yield (
            f"There is no gold question for {len(without)} of the topics, {without[0]!r} first; "
            "nobody is checked there."
        )
    if gold.first and gold.exclude:
        if least_right := entry_test(gold.first, gold.accuracy, gold.risk).least_right:
            yield f"Entry test: {least_right} of {gold.first} right answers."
        else:
            yield f"{gold.first} answers are too few for an entry test with this accuracy and risk; raise first."
    if short := [topic for topic in plan.topics if 0 < len(topic.gold) < gold.first]:
        yield (
            f"{len(short)} topics have fewer gold questions than the entry test, {short[0].label!r} first "
            f"({len(short[0].gold)}); who begins there has the rest of it in the next unit."
        )


def preset_notes(
    preset: str, head: Mapping[str, Any], journey: JourneySettings, arms: Mapping[str, Settings]
) -> Iterator[str]:
    """Whether a campaign, or each of its arms of the preset's protocol, follows its preset.

    head : `checks` and `questions`. arms : settings by arm; a campaign without arms has one, called "".
    """
    for arm, settings in arms.items():
        if (protocol := protocol_of(settings)) == PRESETS[preset].protocol:
            note = _preset_note(preset, {"campaign": head, "journey": to_table(journey), protocol: to_table(settings)})
            yield f"Arm {arm}: {note}" if arm else note


def _preset_note(preset: str, tables: Mapping[str, Mapping[str, Any]]) -> str:
    changes = [f"{key} = {_toml(value)} (preset: {_toml(usual)})" for key, value, usual in overrides(preset, tables)]
    n = sum(map(len, PRESETS[preset].tables.values()))
    if not changes:
        return f"Preset {preset}: all {n} settings are in force."
    return f"Preset {preset}: {n - len(changes)} of {n} settings are in force; changed: {', '.join(changes)}."


def _missing_checks(plan: Plan) -> Iterator[str]:
    """The quality checks that nobody has to pass."""
    settings = next((one for one in plan.arms.values() if isinstance(one, MagnitudeSettings)), None)
    if settings is not None and not plan.journey.practice:
        yield "there is no practice (practice = false)"
    without = [topic.label for topic in plan.topics if topic.question is None]
    if len(without) == len(plan.topics):
        yield "no topic has a question"
    elif without:
        yield f"{len(without)} of {len(plan.topics)} topics have no question, {without[0]!r} first"
    if settings is not None:
        if not plan.checks:
            yield "there are no check documents (checks = false)"
        if settings.min_seconds == 0:
            yield "no time is required on a document (min_seconds = 0)"


def _toml(value: Any) -> str:
    """A value as TOML has it."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "not given"}[value]
    return f'"{value}"' if isinstance(value, str) else f"{value:g}"


# ---- how long a unit takes

CHARACTERS_PER_SECOND = 20.0  # 240 English words a minute
DECIDING = 10.0  # seconds for each judgment, beside the reading
LONGEST = 120.0  # seconds of reading one document: nobody reads a long one to its end
WITHOUT_TEXT = 30.0  # seconds of looking at a page in a frame, or at an image with few words


def effort_of(plan: Plan) -> tuple[int, int]:
    """Documents of a unit, and minutes that it takes; means over the units, of the arm that takes longest.

    Reading takes one second for 20 characters, at most two minutes a document; each decision takes ten seconds. Half of
    the pairs of a unit are judged. Gold questions are part of a unit, those of an entry test of an assessor's first.
    Of a campaign with a question, the units of the first batch are meant.
    """
    sizes, gold = [len(topic.pool) for topic in plan.topics], plan.gold
    if plan.question is not None:
        drawn, documents = plan.question.content["design"]["batches"][0]["drawn"], plan.question.pairs
        sizes = list(Counter(documents[number][0] for number in drawn).values())
    reading = fmean(_reading(len(document.text), not document.html) for document in plan.documents)
    n_of_topic = fmean(len(topic.gold) for topic in plan.topics)
    units = []
    for settings in plan.arms.values():
        n, pairs = fmean(sizes), isinstance(settings, PreferenceSettings)
        if isinstance(settings, MagnitudeSettings):
            n = settings.k
        elif isinstance(settings, GradesSettings):
            n = sum(sizes) / sum(ceil(size / settings.k) for size in sizes)
        n_asked = n * (n - 1) / 4 if pairs else n
        n_gold = 0.0 if gold is None else min(gold.first + int(n_asked / (gold.every - 1)), n_of_topic)
        n += n_gold * (1 + pairs)
        units.append((n * reading + (n_asked + n_gold) * DECIDING, round(n)))
    longest, size = max(units)
    return size, max(1, ceil(longest / 60))


def _reading(n_characters: int, plain: bool) -> float:
    """Seconds; of HTML, a third of the characters are taken for tags."""
    if not n_characters:
        return WITHOUT_TEXT
    return min(LONGEST, n_characters * (1.0 if plain else 2 / 3) / CHARACTERS_PER_SECOND)
