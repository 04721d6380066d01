"""Languages of the pages: catalogues of gettext, and how numbers, times and lists are written in them.

`locale/LANGUAGE.po` holds the texts of a language and is read as it is when the language is first asked for; English
stands in the code. Numbers, times and directions are those of the CLDR, by Babel.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from gettext import GNUTranslations, NullTranslations
from importlib import resources
from importlib.resources.abc import Traversable
from io import BytesIO
from typing import Any

from babel import Locale
from babel.dates import format_time
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import format_decimal
from markupsafe import Markup, escape

from qrowd_server.translatable import Block, Instructions, Message, joined

ENGLISH = "en"
CAMPAIGN_LANGUAGE = "qrowd.language"  # in the scope of a request: the campaign's, once it is known
TAG = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")
RANGE = re.compile(r"\s*([A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*|\*)\s*(?:;\s*q\s*=\s*([01](?:\.[0-9]{0,3})?)\s*)?")
MAX_ACCEPTED = 1000  # characters of the header that are read
WITHOUT_SPACES = frozenset({"ja", "zh", "th", "lo", "km", "my"})  # between two sentences

FOLDERS: list[Traversable] = [resources.files("qrowd_server.web").joinpath("locale")]


class Language:
    """A language of the pages.

    tag : as in HTML. direction : "ltr" or "rtl". name : of the language, in itself.
    """

    def __init__(self, tag: str, catalogue: NullTranslations) -> None:
        self.tag, self.catalogue = tag, catalogue
        self.locale = Locale.parse(tag, sep="-")
        self.direction = self.locale.text_direction
        self.name = (self.locale.get_display_name() or tag).capitalize()
        self.space = "" if self.locale.language in WITHOUT_SPACES else " "

    def number(self, value: float) -> str:
        """A number as it is written in this language."""
        return str(format_decimal(value, locale=self.locale))

    def clock(self, time: datetime) -> str:
        """The time of a day."""
        return str(format_time(time, "HH:mm", tzinfo=time.tzinfo, locale=self.locale))

    def text(self, message: str) -> str:
        """A text of ours in this language; what has no translation stays English, what is not ours stays as it is."""
        if isinstance(message, Instructions):
            return self.blocks(message.blocks)
        if not isinstance(message, Message):
            return self._looked_up(message)
        template = self._looked_up(message.template)
        return template % {name: self._value(v) for name, v in message.values.items()} if message.values else template

    def own(self, text: str) -> str:
        """A text of a campaign: built-in ones in this language, those that the owner wrote as they are."""
        return self.text(text) if isinstance(text, Message | Instructions) else text

    def blocks(self, blocks: tuple[Block, ...]) -> str:
        """Paragraphs and lists as plain text."""
        return joined(blocks, self.text, self.space)

    def gettext(self, text: str, /, **values: Any) -> Markup:
        """For templates: the translated text, in which the values are escaped."""
        return Markup(self._looked_up(text)) % self._escaped(values)

    def ngettext(self, one: str, other: str, n: int, /, **values: Any) -> Markup:
        """Likewise, in the form for a number of things."""
        return Markup(self.catalogue.ngettext(one, other, n)) % self._escaped({"num": n, **values})

    def _looked_up(self, text: str) -> str:
        return self.catalogue.gettext(text) if text else ""

    def _value(self, value: Any) -> Any:
        if isinstance(value, Message):
            return self.text(value)
        return self.number(value) if isinstance(value, int | float) and not isinstance(value, bool) else value

    def _escaped(self, values: Mapping[str, Any]) -> dict[str, Markup]:
        return {name: escape(self._value(value)) for name, value in values.items()}


@lru_cache(maxsize=64)
def language(tag: str) -> Language:
    """A language of which there is a catalogue; English for any other."""
    for folder in FOLDERS:
        file = folder.joinpath(f"{tag}.po")
        if tag != ENGLISH and TAG.fullmatch(tag) and file.is_file():
            return Language(tag, read_catalogue(file.read_bytes()))
    return Language(ENGLISH, NullTranslations())


def read_catalogue(content: bytes) -> NullTranslations:
    """The catalogue of a .po file; texts that are marked as fuzzy stay English."""
    compiled = BytesIO()
    write_mo(compiled, read_po(BytesIO(content)))
    compiled.seek(0)
    return GNUTranslations(compiled)


@lru_cache(maxsize=1)
def tags() -> tuple[str, ...]:
    """The languages that there are, English first."""
    files = (file.name for folder in FOLDERS if folder.is_dir() for file in folder.iterdir())
    return (ENGLISH, *sorted(name[:-3] for name in files if name.endswith(".po") and TAG.fullmatch(name[:-3])))


def matching(wanted: str) -> str:
    """The language that there is for a tag: of the same name, or the same language elsewhere; "" for none.

    >>> matching("en-GB"), matching("xx")
    ('en', '')
    """
    if not TAG.fullmatch(wanted):
        return ""
    by_name, name = {tag.lower(): tag for tag in tags()}, wanted.lower()
    return by_name.get(name) or by_name.get(name.partition("-")[0], "")


def accepted(header: str) -> list[str]:
    """The tags of a header Accept-Language, the most wanted first; without those of weight 0.

    >>> accepted("fr;q=0.3, de-AT, ja;q=0.9, en;q=0")
    ['de-AT', 'ja', 'fr']
    """
    weights: dict[str, float] = {}
    for part in header[:MAX_ACCEPTED].split(","):
        if (match := RANGE.fullmatch(part)) is not None and match[1] != "*":
            weights.setdefault(match[1], 1.0 if match[2] is None else min(float(match[2]), 1.0))
    return [tag for tag, weight in sorted(weights.items(), key=lambda one: -one[1]) if weight > 0]


@lru_cache(maxsize=4096)
def choose(chosen: str, campaign: str, header: str) -> str:
    """The language of a page: what the person chose, else the campaign's, else the browser's, else English.

    header : Accept-Language.
    """
    for wanted in (chosen, campaign, *accepted(header)):
        if tag := matching(wanted):
            return tag
    return ENGLISH
