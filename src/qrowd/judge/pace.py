"""How fast an endpoint is asked: waits that all requests to it share, and what a server's headers ask for."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from random import Random
from typing import Protocol

FIRST_WAIT = 1.0  # seconds
LONGEST_WAIT = 60.0
_PARTS = re.compile(r"(\d+(?:\.\d+)?)(ms|d|h|m|s)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


class Clock(Protocol):
    """What the time is and how to wait; tests bring their own."""

    def now(self) -> float:
        """Seconds that only grow."""
        ...

    async def sleep(self, seconds: float) -> None: ...


class SystemClock:
    """The clock of the machine."""

    def now(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


@dataclass
class Pace:
    """The waits of one endpoint. A wait that one reply asks for holds back every request to it.

    random : of the jitter, by which requests that wait together start one after another.
    """

    clock: Clock
    random: Random
    ready: float = field(default=0.0, init=False)  # when the next request may go out

    def hold(self, seconds: float) -> None:
        """Send nothing for so many seconds from now."""
        self.ready = max(self.ready, self.clock.now() + seconds)

    def remaining(self) -> float:
        """Seconds until a request may go out; 0 or less when it may."""
        return self.ready - self.clock.now()

    def backoff(self, failures: int) -> float:
        """Seconds to wait after so many failures in a row: doubled each time, less up to a half by chance."""
        return min(FIRST_WAIT * 2.0 ** min(failures - 1, 30), LONGEST_WAIT) * self.random.uniform(0.5, 1)

    def jitter(self) -> float:
        """Seconds by which a request starts after a shared wait has ended."""
        return self.random.uniform(0, FIRST_WAIT / 2)


def requested_wait(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds that a server asks to wait; None where it does not.

    Retry-After counts, in seconds or as a date, before retry-after-ms and x-ratelimit-reset-*; the latter where
    x-ratelimit-remaining-* is 0. A date is compared with the server's own Date, so that a wrong clock here does no
    harm; now : where the server sends none.
    """
    lines = {name.lower(): value.strip() for name, value in headers.items()}
    server_time = _date(lines.get("date", "")) or now
    if (value := lines.get("retry-after")) is not None:
        if (seconds := _number(value)) is not None:
            return max(seconds, 0.0)
        if (date := _date(value)) is not None:
            return max((date - server_time).total_seconds(), 0.0)
    if (milliseconds := _number(lines.get("retry-after-ms", ""))) is not None:
        return max(milliseconds / 1000, 0.0)
    waits = []
    for name, value in lines.items():
        if name.startswith("x-ratelimit-remaining") and _number(value) is not None and float(value) <= 0:
            seconds = _reset(lines.get(name.replace("remaining", "reset"), ""), server_time)
            waits += [] if seconds is None else [max(seconds, 0.0)]
    return max(waits, default=None)


def _reset(text: str, server_time: datetime) -> float | None:
    """Seconds of "1s", "6m0s", "120ms", "12.5", of seconds or milliseconds since 1970, or of a date."""
    if (number := _number(text)) is not None:
        if number > 1e11:
            number /= 1000
        return number - server_time.timestamp() if number > 1e8 else number
    if text and not _PARTS.sub("", text):
        return sum(float(value) * _SECONDS[unit] for value, unit in _PARTS.findall(text))
    date = _date(text)
    return None if date is None else (date - server_time).total_seconds()


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) else None


def _date(text: str) -> datetime | None:
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            date = read(text)
        except (ValueError, TypeError, IndexError):
            continue
        if date.tzinfo is not None:
            return date
    return None
