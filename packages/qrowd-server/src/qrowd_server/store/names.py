"""Names of assessors: one form for each name, and a skeleton that is the same for names that look alike.

Unicode Technical Standard 39, Unicode Security Mechanisms, section 4 (confusable characters) and 5.1 (one script). Its
table of confusable characters comes with the package confusable-homoglyphs.
"""

from __future__ import annotations

import unicodedata
from functools import cache

from qrowd.errors import ArgumentError
from qrowd_server.translatable import Message

LONGEST = 100  # characters of a name
_FREE = frozenset({"COMMON", "INHERITED"})  # scripts that go with every other
# Scripts that are written together: Japanese, Korean, Chinese (UTS 39, section 5.1).
_TOGETHER = (
    frozenset({"HAN", "HIRAGANA", "KATAKANA", "LATIN"}),
    frozenset({"HAN", "HANGUL", "LATIN"}),
    frozenset({"HAN", "BOPOMOFO", "LATIN"}),
)


def normal_name(text: str) -> str:
    """The name as it is kept: Unicode form NFC, no blanks around it, one blank at a time inside.

    >>> normal_name("  Zoe\\u0308  Müller ")
    'Zoë Müller'

    Raises
    ------
    ArgumentError
        No name, a name that is too long, or one with a character that cannot be seen or changes the direction.
    """
    name = " ".join(part for part in unicodedata.normalize("NFC", text).split(" ") if part)
    if not 1 <= len(name) <= LONGEST:
        raise ArgumentError(Message("Give a name of 1 to %(longest)s characters.", longest=LONGEST))
    for character in name:
        if character != " " and unicodedata.category(character)[0] in "CZ":
            code = f"U+{ord(character):04X}"
            raise ArgumentError(
                Message(
                    "The name holds %(code)s, which cannot be seen or changes how others look; leave it out.",
                    code=code,
                )
            )
    return name


def check_script(name: str) -> None:
    """Refuse a name of several scripts, such as Latin with a Cyrillic letter.

    Raises
    ------
    ArgumentError
        Its letters come from scripts that are not written together.
    """
    scripts = scripts_of(name)
    if len(scripts) > 1 and not any(scripts <= together for together in _TOGETHER):
        several = ", ".join(sorted(script.capitalize() for script in scripts))
        raise ArgumentError(
            Message("The name mixes letters of several scripts (%(scripts)s); write it in one.", scripts=several)
        )


def scripts_of(name: str) -> set[str]:
    """The scripts of a name's letters."""
    from confusable_homoglyphs.categories import alias

    return {alias(character) for character in name} - _FREE


def skeleton(name: str) -> str:
    """The same text for all names that look alike: capitals, compatible and confusable characters make no difference.

    >>> skeleton("Аnn") == skeleton("ann"), skeleton("ann") == skeleton("anne")
    (True, False)
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return "".join(map(_prototype, folded)).replace("rn", "m")


@cache
def _prototype(character: str) -> str:
    """One character for all that look like this one."""
    if character.isascii() and character.isalnum():
        return _ASCII.get(character, character)
    from confusable_homoglyphs.confusables import confusables_data

    alike = [one["c"] for one in confusables_data.get(character, ()) if len(one["c"]) == 1]
    plain = sorted(one for one in alike if one.isascii() and one.isalnum())
    if plain:
        return _prototype(plain[0].casefold())
    # The table names one prototype for a character that is none itself; a prototype lists all that look like it.
    return min([*alike, character]) if len(alike) == 1 else character


_ASCII = {"0": "o", "1": "l", "i": "l"}  # in most fonts, as capitals or small letters
