"""Numbers, times and states as an owner reads them. Templates call this module `f`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from math import isfinite
from typing import Any, Final
from urllib.parse import quote

from babel.dates import format_timedelta
from markupsafe import Markup

from qrowd.model.labels import plural

NOTHING: Final = "–"
MINUS: Final = "\u2212"

# States and names that the pages call otherwise than the program does.
STATUSES: Final = (  # of assessors, in the order of their way
    "invited", "reading", "judging", "idle", "finished", "stopped", "declined", "excluded", "deleted",
)  # fmt: skip
WORDS: Final = {  # what a page says otherwise than the program: of assessors, of how they came, of events
    "api": "program",
    "link": "an invitation",
    "changed": "changed the campaign",
    "imported": "imported the campaign",
}
PROTOCOL: Final = {"magnitude": "magnitudes", "grades": "grades", "preference": "preferences"}
ANSWERS: Final = {"preference": "preference", "": "answer"}  # by protocol; else judgment
TABLE: Final = {"duplicates": "Documents called the same", "gold": "Gold questions", "final": "Final answers"}


def base_of(campaign: str) -> str:
    """The address of a campaign's pages."""
    return f"/owner/c/{quote(campaign, safe='')}"


def count(n: int) -> str:
    """A whole number, by thousands.

    >>> count(12345)
    '12,345'
    """
    return f"{int(n):,}"


def percent(share: float | None) -> str:
    """A share in whole percent; never 0 or 100 unless it is that.

    >>> percent(0.5), percent(0.999), percent(None)
    ('50 %', '99 %', '–')
    """
    if share is None:
        return NOTHING
    return f"{min(max(round(100 * share), 1 if share > 0 else 0), 99 if share < 1 else 100)} %"


def decimal(value: float | None, digits: int = 2) -> str:
    """A number with so many digits, or a dash.

    >>> decimal(0.1234), decimal(-0.001)
    ('0.12', '0.00')
    """
    if value is None or not isfinite(value):
        return NOTHING
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", MINUS)


def signed(value: float) -> str:
    """A difference, with its sign.

    >>> signed(0.5), signed(-0.25)
    ('+0.500', '−0.250')
    """
    return f"{value:+.3f}".replace("-", MINUS)


def value(number: float | None) -> str:
    """A judgment: as short as it can be written.

    >>> value(2.0), value(0.125)
    ('2', '0.125')
    """
    return NOTHING if number is None else f"{number:.6g}".replace("-", MINUS)


# ---- times


def stamp(at: float) -> str:
    """A time for programs, as `<time datetime>` holds it."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds(value: float | None) -> str:
    """A time that something took.

    >>> seconds(4.3), seconds(75), seconds(3 * 3600 + 60), seconds(86400)
    ('4.3 s', '1 min 15 s', '3 h 1 min', '1 d')
    """
    if value is None:
        return NOTHING
    if value < 60:
        return f"{decimal(value, 1)} s"
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = [(days, "d"), (hours, "h"), (minutes, "min"), (rest, "s")]
    first = next(i for i, (n, _) in enumerate(parts) if n)
    return " ".join(f"{n} {unit}" for n, unit in parts[first : first + 2] if n)


def moment(at: float) -> str:
    """A time, in UTC, for people.

    >>> moment(0)
    '1 Jan 1970, 00:00'
    """
    then = datetime.fromtimestamp(at, UTC)
    return f"{then.day} {then:%b %Y, %H:%M}"


def ago(at: float, now: float) -> str:
    """How long ago, roughly.

    >>> ago(100, 130), ago(0, 7200)
    ('just now', '2 hours ago')
    """
    return "just now" if now - at < 60 else format_timedelta(int(at - now), add_direction=True, locale="en")


# ---- what is counted


def answers(protocol: str, n: int) -> str:
    """A number of answers by their name; "" is for several protocols.

    >>> answers("grades", 1), answers("", 2)
    ('1 judgment', '2 answers')
    """
    return plural(n, ANSWERS.get(protocol, "judgment"))


def answers_title(protocol: str) -> str:
    """The name of the answers as a title."""
    return f"{ANSWERS.get(protocol, 'judgment').capitalize()}s"


def arm(name: str, protocol: str) -> str:
    """An arm and what it collects.

    >>> arm("", "grades"), arm("absolute", "grades")
    ('grades', 'absolute (grades)')
    """
    return f"{name} ({PROTOCOL[protocol]})" if name else PROTOCOL[protocol]


# ---- words for what the program calls otherwise


def words(name: str) -> str:
    """A state, an event, or a way to come."""
    return WORDS.get(name, name.replace("_", " "))


def table(name: str) -> str:
    """A table that can be exported."""
    return TABLE.get(name, name.capitalize())


def key(name: str) -> str:
    """A setting: of `campaign.toml` by its name there, any other in words."""
    if not name.islower():
        return name
    parts = Markup("_<wbr>").join(name.split("_"))  # a line may break after each
    return Markup('<code class="plain" dir="ltr">{}</code>').format(parts)


def in_words(setting: Any) -> str:
    """A setting in words.

    >>> in_words(True), in_words(["a", "b"]), in_words(20.0)
    ('yes', 'a, b', '20')
    """
    if isinstance(setting, bool):
        return "yes" if setting else "no"
    if isinstance(setting, list | tuple):
        return ", ".join(map(in_words, setting)) or NOTHING
    if isinstance(setting, Mapping):
        return "; ".join(f"{name}: {in_words(one)}" for name, one in setting.items()) or NOTHING
    if isinstance(setting, float):
        return value(setting)
    return str(setting) or NOTHING


def sentence(text: str) -> str:
    """A line of the library as a sentence: a capital letter first, and a full stop."""
    return text if not text or text.endswith((".", "!", "?")) else f"{text[:1].upper()}{text[1:]}."
