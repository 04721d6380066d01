"""Numbers and times as an owner reads them, and the bars of small charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from math import isfinite
from urllib.parse import quote

NOTHING = "–"


def base_of(campaign: str) -> str:
    """The address of a campaign's pages."""
    return f"/owner/c/{quote(campaign, safe='')}"


def count(n: int) -> str:
    """A whole number, by thousands.

    >>> count(12345)
    '12,345'
    """
    return f"{n:,}"


def plural(n: int, one: str, many: str = "") -> str:
    """A number and what it counts.

    >>> plural(1, "unit"), plural(2, "unit")
    ('1 unit', '2 units')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def percent(share: float | None) -> str:
    """A share in whole percent; never 0 or 100 unless it is that.

    >>> percent(0.5), percent(0.999), percent(None)
    ('50 %', '99 %', '–')
    """
    if share is None or not isfinite(share):
        return NOTHING
    whole = min(max(round(100 * share), 1 if share > 0 else 0), 99 if share < 1 else 100)
    return f"{whole} %"


def decimal(value: float | None, digits: int = 2) -> str:
    """A number with so many digits, or a dash.

    >>> decimal(0.1234), decimal(-0.001)
    ('0.12', '0.00')
    """
    if value is None or not isfinite(value):
        return NOTHING
    return f"{value:.{digits}f}".replace("-0." + "0" * digits, "0." + "0" * digits).replace("-", "\u2212")


def value(number: float | None) -> str:
    """A judgment: as short as it can be written.

    >>> value(2.0), value(0.125)
    ('2', '0.125')
    """
    return NOTHING if number is None else f"{number:.6g}"


def seconds(value: float | None) -> str:
    """A time that something took.

    >>> seconds(4.3), seconds(75), seconds(3 * 3600 + 60)
    ('4.3 s', '1 min 15 s', '3 h 1 min')
    """
    if value is None or not isfinite(value):
        return NOTHING
    if value < 60:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours} h" if hours else f"{days} d"
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def moment(at: float | None) -> str:
    """A time, in UTC, for people.

    >>> moment(0)
    '1 Jan 1970, 00:00'
    """
    if at is None:
        return NOTHING
    then = datetime.fromtimestamp(at, UTC)
    return f"{then.day} {then:%b %Y, %H:%M}"


def stamp(at: float) -> str:
    """The same for programs, as `<time datetime>` holds it."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def clock(at: float) -> str:
    """The hour and minute of a time, in UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%H:%M")


def ago(at: float | None, now: float) -> str:
    """How long ago, roughly.

    >>> ago(100, 130), ago(0, 7200), ago(None, 0)
    ('just now', '2 h ago', 'never')
    """
    if at is None:
        return "never"
    passed = now - at
    if passed < 60:
        return "just now"
    for name, length in (("d", 86400), ("h", 3600)):
        if passed >= 2 * length or (name == "h" and passed >= length):
            return f"{passed // length:.0f} {name} ago"
    return f"{passed // 60:.0f} min ago"


def ahead(at: float, now: float) -> str:
    """How long until then, roughly.

    >>> ahead(7200, 0), ahead(10, 0)
    ('about 2 hours', 'less than an hour')
    """
    hours = (at - now) / 3600
    if hours < 1:
        return "less than an hour"
    return f"about {plural(round(hours), 'hour')}" if hours < 48 else f"about {plural(round(hours / 24), 'day')}"


def bars(heights: Sequence[int], height: int = 48) -> list[tuple[int, float, float]]:
    """(x, y, height) of a bar for each number, the highest filling the drawing.

    >>> bars([0, 2, 4], 10)
    [(0, 10.0, 0.0), (10, 5.0, 5.0), (20, 0.0, 10.0)]
    """
    most = max(heights, default=0) or 1
    return [(10 * i, round(height - height * n / most, 2), round(height * n / most, 2)) for i, n in enumerate(heights)]


STATUS = {
    "arrived": "arrived",
    "consented": "consented",
    "practised": "ready to judge",  # also where no practice is asked for
    "qualified": "qualified",
    "working": "working",
    "check_failed_once": "looking again",
    "completed": "completed",
    "ended": "ended",
    "screened_out": "screened out",
    "submitted_to_platform": "submitted",
    "paid": "paid",
    "excluded": "excluded",
    "open": "open",
    "failed": "failed",
    "expired": "expired",
    "withdrawn": "withdrawn",
    "running": "running",
    "paused": "paused",
    "stopped": "stopped",
    "decided": "decided",
}
PROTOCOL = {"magnitude": "magnitudes", "grades": "grades", "preference": "preferences"}


def answers_of(protocol: str) -> str:
    """The name of its answers; "" is for several protocols.

    >>> answers_of("grades"), answers_of("")
    ('judgments', 'answers')
    """
    return {"preference": "preferences", "": "answers"}.get(protocol, "judgments")


def arm(name: str, protocol: str) -> str:
    """An arm and what it collects.

    >>> arm("", "grades"), arm("absolute", "grades")
    ('grades', 'absolute (grades)')
    """
    return f"{name} ({PROTOCOL[protocol]})" if name else PROTOCOL[protocol]


def arms(protocols: Mapping[str, str]) -> str:
    """What a campaign collects, from {arm: protocol}."""
    return ", ".join(arm(name, protocol) for name, protocol in protocols.items())
