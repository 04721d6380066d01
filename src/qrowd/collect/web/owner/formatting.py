"""Numbers, times and the words of columns and states, as an owner reads them in a language; bars of small charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from math import isfinite
from typing import Any, Final
from urllib.parse import quote

from babel.dates import format_skeleton
from babel.numbers import format_decimal, format_percent
from markupsafe import Markup, escape

from qrowd.collect.protocols.messages import Message
from qrowd.collect.web.languages import ENGLISH, language
from qrowd.collect.web.owner import words
from qrowd.collect.web.recognised import recognised

NOTHING: Final = "–"
MINUS: Final = "\u2212"


def base_of(campaign: str) -> str:
    """The address of a campaign's pages."""
    return f"/owner/c/{quote(campaign, safe='')}"


def stamp(at: float) -> str:
    """A time for programs, as `<time datetime>` holds it."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def bars(heights: Sequence[int], height: int = 48) -> list[tuple[int, float, float]]:
    """(x, y, height) of a bar for each number, the highest filling the drawing.

    >>> bars([0, 2, 4], 10)
    [(0, 10.0, 0.0), (10, 5.0, 5.0), (20, 0.0, 10.0)]
    """
    most = max(heights, default=0) or 1
    return [(10 * i, round(height - height * n / most, 2), round(height * n / most, 2)) for i, n in enumerate(heights)]


class Formats:
    """What is written in the way of a language; templates call it `f`. tag : of the language."""

    base_of = staticmethod(base_of)
    stamp = staticmethod(stamp)
    bars = staticmethod(bars)
    STATUSES: Final = tuple(words.STATUS)

    def __init__(self, tag: str = ENGLISH) -> None:
        self.language = language(tag)

    # ---- numbers

    def count(self, n: int) -> str:
        """A whole number, by thousands.

        >>> english.count(12345)
        '12,345'
        """
        return self.language.number(int(n))

    def percent(self, share: float | None) -> str:
        """A share in whole percent; never 0 or 100 unless it is that.

        >>> english.percent(0.5), english.percent(0.999), english.percent(None)
        ('50 %', '99 %', '–')
        """
        if share is None or not isfinite(share):
            return NOTHING
        whole = min(max(round(100 * share), 1 if share > 0 else 0), 99 if share < 1 else 100)
        if self.language.tag == ENGLISH:
            return f"{whole} %"  # as our documentation writes it
        return str(format_percent(whole / 100, locale=self.language.locale))

    def decimal(self, value: float | None, digits: int = 2) -> str:
        """A number with so many digits, or a dash.

        >>> english.decimal(0.1234), english.decimal(-0.001)
        ('0.12', '0.00')
        """
        if value is None or not isfinite(value):
            return NOTHING
        return self._written(round(value, digits) + 0.0, f"0.{'0' * digits}")

    def signed(self, value: float, digits: int = 3) -> str:
        """A difference, with its sign.

        >>> english.signed(0.5), english.signed(-0.25)
        ('+0.500', '−0.250')
        """
        pattern = f"0.{'0' * digits}" if digits else "0.####"
        return self._written(value, f"+{pattern};-{pattern}")

    def value(self, number: float | None) -> str:
        """A judgment: as short as it can be written.

        >>> english.value(2.0), english.value(0.125)
        ('2', '0.125')
        """
        if number is None:
            return NOTHING
        text = f"{number:.6g}"
        return text if "e" in text or not isfinite(number) else self._written(float(text), "0.###########")

    def _written(self, value: float, pattern: str) -> str:
        return str(format_decimal(value, pattern, locale=self.language.locale)).replace("-", MINUS)

    # ---- times

    def seconds(self, value: float | None) -> str:
        """A time that something took.

        >>> english.seconds(4.3), english.seconds(75), english.seconds(3 * 3600 + 60)
        ('4.3 s', '1 min 15 s', '3 h 1 min')
        """
        if value is None or not isfinite(value):
            return NOTHING
        if value < 60:
            return self._said(Message("%(seconds)s s", seconds=self.decimal(value, 1)))
        minutes, rest = divmod(round(value), 60)
        if minutes < 60 and rest:
            return self._said(Message("%(minutes)s min %(seconds)s s", minutes=minutes, seconds=rest))
        if minutes < 60:
            return self._said(Message("%(minutes)s min", minutes=minutes))
        hours, minutes = divmod(minutes, 60)
        days, hours = divmod(hours, 24)
        if days and hours:
            return self._said(Message("%(days)s d %(hours)s h", days=days, hours=hours))
        if days:
            return self._said(Message("%(days)s d", days=days))
        if minutes:
            return self._said(Message("%(hours)s h %(minutes)s min", hours=hours, minutes=minutes))
        return self._said(Message("%(hours)s h", hours=hours))

    def moment(self, at: float | None) -> str:
        """A time, in UTC, for people.

        >>> english.moment(0)
        '1 Jan 1970, 00:00'
        """
        if at is None:
            return NOTHING
        then = datetime.fromtimestamp(at, UTC)
        if self.language.tag == ENGLISH:
            return f"{then.day} {then:%b %Y, %H:%M}"  # the order of days and months is not that of the United States
        day = format_skeleton("yMMMd", then, locale=self.language.locale)
        return self._said(Message("%(day)s, %(time)s", day=day, time=self.language.clock(then)))

    def clock(self, at: float) -> str:
        """The hour and minute of a time, in UTC."""
        return self.language.clock(datetime.fromtimestamp(at, UTC))

    def ago(self, at: float | None, now: float) -> str:
        """How long ago, roughly.

        >>> english.ago(100, 130), english.ago(0, 7200), english.ago(None, 0)
        ('just now', '2 h ago', 'never')
        """
        if at is None:
            return self._said(Message("never"))
        passed = now - at
        if passed < 60:
            return self._said(Message("just now"))
        if passed >= 2 * 86400:
            return self._said(Message("%(n)s d ago", n=round(passed // 86400)))
        if passed >= 3600:
            return self._said(Message("%(n)s h ago", n=round(passed // 3600)))
        return self._said(Message("%(n)s min ago", n=round(passed // 60)))

    def ahead(self, at: float, now: float) -> str:
        """How long until then, roughly.

        >>> str(english.ahead(7200, 0)), str(english.ahead(10, 0))
        ('in about 2 hours', 'in less than an hour')
        """
        hours, ngettext = (at - now) / 3600, self.language.ngettext
        if hours < 1:
            return self._said(Message("in less than an hour"))
        if hours < 48:
            return ngettext("in about %(num)s hour", "in about %(num)s hours", round(hours))
        return ngettext("in about %(num)s day", "in about %(num)s days", round(hours / 24))

    # ---- what is counted

    def answers(self, protocol: str, n: int) -> str:
        """A number of answers by their name; "" is for several protocols.

        >>> str(english.answers("grades", 1)), str(english.answers("", 2))
        ('1 judgment', '2 answers')
        """
        ngettext = self.language.ngettext
        if protocol == "preference":
            return ngettext("%(num)s preference", "%(num)s preferences", n)
        if not protocol:
            return ngettext("%(num)s answer", "%(num)s answers", n)
        return ngettext("%(num)s judgment", "%(num)s judgments", n)

    def answers_title(self, protocol: str) -> str:
        """The name of the answers as a title."""
        return self._said(words.ANSWERS.get(protocol, words.JUDGMENTS))

    def arm(self, name: str, protocol: str) -> str:
        """An arm and what it collects.

        >>> english.arm("", "grades"), english.arm("absolute", "grades")
        ('grades', 'absolute (grades)')
        """
        collected = self._said(words.PROTOCOL[protocol])
        return f"{name} ({collected})" if name else collected

    def arms(self, protocols: Mapping[str, str]) -> str:
        """What a campaign collects, from {arm: protocol}."""
        return ", ".join(self.arm(name, protocol) for name, protocol in protocols.items())

    # ---- words for what the program knows by a name

    def status(self, name: str) -> str:
        """The state of a person, a unit or a campaign."""
        return self._named(words.STATUS, name)

    def role(self, name: str) -> str:
        """A role of an account."""
        return self._named(words.ROLE, name)

    def account(self, name: str) -> str:
        """The name of an account, or of what has none."""
        return self._said(words.ACCOUNT[name]) if name in words.ACCOUNT else name

    def level(self, name: str) -> str:
        """A level of measurement."""
        return self._named(words.LEVEL, name)

    def provider(self, name: str) -> str:
        """How an assessor came: a platform, or a link."""
        return self._named(words.PROVIDER, name)

    def identified(self, name: str) -> str:
        """What showed who an assessor is."""
        return self._named(words.IDENTIFIED, name)

    def table(self, name: str) -> str:
        """A table that can be exported."""
        return self._named(words.TABLE, name)

    def outcome(self, name: str) -> str:
        """How a unit can end, of which platforms are told."""
        return self._named(words.OUTCOME, name)

    def event(self, name: str) -> str:
        """What happened, where there is no sentence about it."""
        return self._named(words.EVENT, name)

    def key(self, name: str) -> str:
        """A setting: ours in words; one of `campaign.toml` by its name there."""
        if isinstance(name, Message):
            return self._said(name)
        parts = Markup("_<wbr>").join(name.split("_"))  # a line may break after each
        return Markup('<code class="plain" dir="ltr">{}</code>').format(parts)

    def deleted(self, name: str, answers: str, texts: str) -> str:
        """That a person was deleted, and what became of answers and texts."""
        values = {"name": name, "answers": self._named(words.FATE, answers), "texts": self._named(words.FATE, texts)}
        return self._said(Message("deleted the name of %(name)s; answers: %(answers)s, texts: %(texts)s", **values))

    def in_words(self, value: Any) -> str:
        """A setting in words.

        >>> english.in_words(True), english.in_words(["a", "b"]), english.in_words(20.0)
        ('yes', 'a, b', '20')
        """
        if isinstance(value, bool):
            return self._said(words.YES if value else words.NO)
        if isinstance(value, list | tuple):
            return ", ".join(map(self.in_words, value)) or NOTHING
        if isinstance(value, Mapping):
            return "; ".join(f"{key}: {self.in_words(one)}" for key, one in value.items()) or NOTHING
        if isinstance(value, float):
            return self.value(value)
        return self._said(value) if isinstance(value, Message) else str(value) or NOTHING

    # ---- lines of the library

    def line(self, text: str) -> str:
        """A line of the library in the language; one that is not known there is marked as English."""
        message = recognised(text)
        said = self._said(message)
        if isinstance(message, Message) or said != text:
            return said
        return text if self.language.tag == ENGLISH or not text else Markup('<span lang="en">{}</span>').format(text)

    def sentence(self, text: str) -> str:
        """The same as a sentence: a capital letter first, and a full stop."""
        whole = text if text.endswith((".", "!", "?")) else f"{text[:1].upper()}{text[1:]}."
        return self.line(whole) if text else ""

    def reasons(self, text: str) -> str:
        """What makes an assessor stand out: several lines, parted by semicolons."""
        lines = [self.line(one) for one in text.split("; ")] if text else []
        return Markup("; ").join(escape(line) for line in lines)

    def exclusion(self, text: str) -> str:
        """Why somebody was excluded: by the server in the language, by a person as it was written."""
        message = recognised(text)
        return self._said(message) if isinstance(message, Message) else text

    def _named(self, names: Mapping[str, str], name: str) -> str:
        return self._said(names[name]) if name in names else name.replace("_", " ")

    def _said(self, text: str) -> str:
        return self.language.text(text)


@lru_cache(maxsize=64)
def formats_of(tag: str) -> Formats:
    """The formats of a language."""
    return Formats(tag)


english = Formats()
