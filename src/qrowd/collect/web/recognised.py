"""English lines of the library and the store, for the catalogues.

The library, the store and the commands raise errors and give reasons in English, as one line each. Pages that show
such a line recognise it here, and say it in their language. A line that is not known stays as it is. A test compares
the lines with those that are raised.
"""

from __future__ import annotations

import re
from functools import cache, reduce
from typing import Final

from qrowd.collect.protocols.messages import N_, Message

LONGEST: Final = 2000  # characters of a line that is looked at
PLACEHOLDER: Final = re.compile(r"%\((\w+)\)s")

# Refusals of forms. A placeholder stands for what is different each time, with the quotes around it.
REFUSALS: Final = (
    # accounts and names
    N_("a password needs %(shortest)s to %(longest)s characters, this one has %(n)s"),
    N_("account %(name)s: there is none of this name; qrowd account list shows all"),
    N_("account %(name)s: give a name of 1 to 100 characters without blanks"),
    N_("account %(name)s: there is one of this name already; qrowd account password changes its password"),
    N_("account %(name)s: there is one of this name already"),
    N_("role=%(role)s: choose one of %(choices)s"),
    N_("This sign-in belongs to another account of this server."),
    N_("Your account is disabled. Ask an administrator of this server."),
    N_("name: give 1 to %(longest)s characters"),
    N_("name: the character %(code)s cannot be seen, or changes how others look; leave it out"),
    N_("name: %(first)s and %(second)s letters are mixed; write it in one script"),
    N_("name: %(name)s looks like %(earlier)s, who takes part already; choose another name"),
    N_("%(name)s is invited already; make a further link for them in the table below"),
    N_("most: give a whole number from 1 to %(most)s"),
    N_("expires: give a time that is still to come"),
    N_("give 1 to %(longest)s characters"),
    N_("the character %(code)s cannot be seen, or changes how others look; leave it out"),
    N_("%(first)s and %(second)s letters are mixed; write it in one script"),
    N_("%(name)s looks like %(earlier)s, who takes part already; choose another name"),
    N_("This link is closed: ask the person who gave it to you for another one."),
    N_("Somebody else has this name: choose another name. If it was you, open your own link."),
    N_(
        "Somebody else has the name %(name)s, which looks like it: choose another name. If it was you, open your own "
        "link."
    ),
    # people and units of a campaign
    N_("status=%(status)s: choose one of %(choices)s"),
    N_("reason: say why; it is kept with the exclusion"),
    N_("days=%(days)s: expected a number above 0, and at most %(most)s"),
    N_("units: name at least one, as TOPIC or TOPIC/UNIT"),
    N_("%(unit)s: %(name)s has this topic already; nobody gets two units of a topic"),
    N_("%(unit)s: the topic %(topic)s has %(n)s units, from 0"),
    N_("%(unit)s: no slot of it is free; somebody has each, or it is kept for them"),
    N_("unit: there is none of this number"),
    N_("%(campaign)s: its question draws documents one by one; there are no units to assign"),
    N_("%(campaign)s: units cannot be assigned, since its arms are balanced over assessors"),
    N_("%(unit)s: expected TOPIC or TOPIC/UNIT of this campaign"),
    N_("%(name)s: nobody of this name came or was invited; invite them first"),
    N_("%(name)s: a language model; choose a person who judges"),
    N_("%(name)s: excluded; choose a person who judges"),
    N_("reply: write 1 to %(longest)s characters; the assessor reads it"),
    # review
    N_("topic=%(topic)s: the campaign %(campaign)s has none of this name"),
    N_("reason: say why, in at most %(longest)s characters; the assessor reads it"),
    N_("%(name)s is a language model; only people can be asked to consider an answer again"),
    N_("%(name)s is excluded; reinstate them first"),
    N_("this unit is %(status)s; only answers of open and completed units can be opened again"),
    N_("there is no such answer; answers to gold questions and Bad marks cannot be opened again"),
    N_("the campaign %(campaign)s has no document %(document)s of a topic %(topic)s"),
    N_("reason: say why in at most %(longest)s characters; it is exported as the comment"),
    N_("document %(document)s: a pair is of two documents"),
    N_("answer: choose one of %(choices)s"),
    N_("%(campaign)s: it collects %(kind)s; final answers for %(other)s are not possible"),
    N_("the campaign %(campaign)s has no such gold question of a topic %(topic)s"),
    N_("reason: say why, in at most %(longest)s characters"),
    # coding
    N_("%(field)s: use at most %(longest)s characters, and none that cannot be stored"),
    N_("codes: %(n)s are more than %(most)s; leave some out"),
    N_("item: the campaign %(campaign)s has no item %(item)s to code"),
    N_("min_ratio=%(ratio)s: expected a number above 1"),
    N_("%(campaign)s: a ratio needs magnitudes, and this campaign collects %(protocols)s"),
    N_("%(campaign)s: no judgment counts yet"),
)

# Why there is no agreement, what makes assessors stand out, and what is said of a preset.
REASONS: Final = (
    N_("Nobody has judged yet."),
    N_("Agreement needs at least two assessors; there are no judgments."),
    N_("Agreement needs at least two assessors; there is only %(name)s."),
    N_("Agreement needs at least two assessors."),
    N_("No two assessors ordered a pair of documents in common, so agreement cannot be told."),
    N_("severe: %(value)s in logarithms relative to the others (panel median %(median)s, %(n)s documents)"),
    N_("lenient: %(value)s in logarithms relative to the others (panel median %(median)s, %(n)s documents)"),
    N_("severe: %(value)s of the scale relative to the others (panel median %(median)s, %(n)s documents)"),
    N_("lenient: %(value)s of the scale relative to the others (panel median %(median)s, %(n)s documents)"),
    N_("low agreement with the others: %(value)s (panel median %(median)s, %(n)s documents)"),
    N_("inconsistent: same grade for %(share)s of %(n)s documents judged again (panel median %(median)s)"),
    N_("fast: %(seconds)s s per judgment (panel median %(median)s s)"),
    N_("drift: %(value)s more lenient at the last judgment than at the first (p = %(p)s)"),
    N_("drift: %(value)s more severe at the last judgment than at the first (p = %(p)s)"),
    N_("always grade %(grade)s: others gave it to %(share)s of the same documents"),
    N_("%(share)s of answers came faster than %(n)s words a minute, which is not reading"),
    N_("Preset %(preset)s: all %(n)s settings are in force."),
    N_("Preset %(preset)s: %(n)s of %(of)s settings are in force; changed: %(changes)s."),
    N_("Arm %(arm)s: Preset %(preset)s: all %(n)s settings are in force."),
    N_("Arm %(arm)s: Preset %(preset)s: %(n)s of %(of)s settings are in force; changed: %(changes)s."),
    N_("gold questions: %(right)s of %(of)s right"),
    N_("entry test: %(right)s of %(of)s right"),
)

# What an owner should know of a campaign before it is created, and what a change of it would change.
NOTES: Final = (
    N_("There are no instructions; write some, because a campaign with arms has none of ours."),
    N_("1 document is shown as plain text, because more than %(depth)s elements of the HTML are nested."),
    N_("%(n)s documents are shown as plain text, because more than %(depth)s elements of the HTML are nested."),
    N_("The quality checks are incomplete: %(missing)s."),
    N_("there is no practice (practice = false)"),
    N_("no topic has a question"),
    N_("%(n)s of %(of)s topics have no question, %(topic)s first"),
    N_("there are no check documents (checks = false)"),
    N_("no time is required on a document (min_seconds = 0)"),
    N_(
        "At least %(n)s assessors are needed: nobody gets two units of a topic, and topic %(topic)s has %(units)s "
        "units of at most %(k)s documents for %(redundancy)s assessors each. With k = %(size)s in [grades], %(enough)s "
        "are enough."
    ),
    N_(
        "%(n)s of %(of)s topics have fewer than two systems to compare: there the preferred document stays, and "
        "judging goes on until all pairs are known."
    ),
    N_("A topic has no more assessors than a pair (%(n)s): what they disagree about may stay open; raise redundancy."),
    N_("Gold questions: %(n)s in %(topics)s of %(of)s topics; %(how)s."),
    N_("1 in %(every)s"),
    N_("1 in %(first)s in the first unit of an assessor, then 1 in %(every)s"),
    N_("the first %(n)s answers of an assessor, then %(how)s"),
    N_(
        "Assessors are excluded whose answers to at least %(n)s gold questions show an accuracy below %(accuracy)s "
        "(risk %(risk)s)."
    ),
    N_("Nobody is excluded by gold questions (exclude = false in [gold])."),
    N_("%(n)s topics have no gold question, %(topic)s first; nobody is checked there."),
    N_("%(n)s answers are too few for an entry test with this accuracy and risk; raise first in [gold]."),
    N_(
        "Entry test: %(least)s of %(n)s right answers. Guessing passes with probability %(guess)s, an accuracy of "
        "%(accuracy)s fails with probability %(risk)s."
    ),
    N_(
        "%(n)s topics have fewer gold questions than the entry test, %(topic)s first (%(gold)s); who begins there has "
        "the rest of it in the next unit."
    ),
    N_(
        "%(n)s topics have fewer gold questions than places for them, %(topic)s first (%(gold)s); when they run out, a "
        "unit goes on without."
    ),
    N_(
        "One grade is right in more than 70 %% of the gold questions of topic %(topic)s: whoever always gives it "
        "passes; add some of other grades."
    ),
    N_("1 new topic: %(labels)s"),
    N_("%(n)s new topics: %(labels)s"),
    N_("1 new document: %(labels)s"),
    N_("%(n)s new documents: %(labels)s"),
    N_("1 corrected topic: %(labels)s"),
    N_("%(n)s corrected topics: %(labels)s"),
    N_("1 corrected document: %(labels)s"),
    N_("%(n)s corrected documents: %(labels)s"),
    N_("1 topic with other gold questions: %(labels)s"),
    N_("%(n)s topics with other gold questions: %(labels)s"),
    N_("1 new unit"),
    N_("%(n)s new units"),
    N_("topic %(topic)s: 1 assessor had a unit of it and get no further one"),
    N_("topic %(topic)s: %(n)s assessors had a unit of it and get no further one"),
)
NESTED: Final = frozenset({"missing", "how"})  # placeholders whose values are lines themselves


def recognised(line: str) -> str:
    """The line as a `Message`, if it is one of these; else as it is.

    >>> recognised("account 'ann': there is one of this name already").values
    {'name': "'ann'"}
    """
    if isinstance(line, Message) or len(line) > LONGEST:
        return line
    for template, names, literals in _templates():
        if (values := _between(line, literals)) is not None:
            return Message(template, **{name: _value(name, one) for name, one in zip(names, values, strict=True)})
    return line


def _value(name: str, value: str) -> str:
    """A value; lines in it, parted by semicolons, are recognised, too."""
    if name not in NESTED:
        return value
    first, *others = (recognised(part) for part in value.split("; "))
    return reduce(lambda before, one: Message("%(before)s; %(line)s", before=before, line=one), others, first)


def line_of(error: Exception) -> str:
    """What an error says: its `Message`, or its line where that is recognised."""
    first = error.args[0] if error.args else ""
    return first if isinstance(first, Message) else recognised(str(error))


@cache
def _templates() -> tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]:
    """(template, names of placeholders, texts around them), those with the most own text first."""
    parts = ((template, PLACEHOLDER.split(template.replace("%%", "%"))) for template in (*REFUSALS, *REASONS, *NOTES))
    found = [(template, tuple(split[1::2]), tuple(split[::2])) for template, split in parts]
    return tuple(sorted(found, key=lambda one: -sum(map(len, one[2]))))


def _between(line: str, literals: tuple[str, ...]) -> tuple[str, ...] | None:
    """What stands between these texts, one after another, in time linear in the line; None where they are not there."""
    first, *middle, last = literals if len(literals) > 1 else (*literals, "")
    if len(literals) == 1:
        return () if line == first else None
    if not line.startswith(first) or not line.endswith(last):
        return None
    values, at, end = [], len(first), len(line) - len(last)
    for literal in middle:
        place = line.find(literal, at, end)
        if place < 0:
            return None
        values.append(line[at:place])
        at = place + len(literal)
    return (*values, line[at:end]) if at <= end and all(values) and at < end else None
