"""How often somebody may do something: never more than n times in any minute.

Crowd workers share addresses, so what is counted is what one assessor does. Counts are kept in memory, by each process
for itself. What is refused is not counted, and loses nothing: the answer stays in the page and can be sent again.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Hashable

MINUTE = 60.0


class Limiter:
    """At most `n` times in any `seconds`, for each key.

    clock : seconds from anywhere, never going back.
    """

    def __init__(self, n: int, *, seconds: float = MINUTE, clock: Callable[[], float] = time.monotonic) -> None:
        self.n, self.seconds, self.clock = n, seconds, clock
        self._times: dict[Hashable, deque[float]] = {}
        self._swept = clock()

    def take(self, key: Hashable) -> float:
        """Count one more and return 0; or count nothing and return the seconds until one more is possible."""
        now = self.clock()
        if now - self._swept > self.seconds:
            self._sweep(now)
        times = self._times.setdefault(key, deque(maxlen=self.n))
        if len(times) == self.n and now - times[0] < self.seconds:
            return self.seconds - (now - times[0])
        times.append(now)
        return 0.0

    def _sweep(self, now: float) -> None:
        """Forget who was not here for a while."""
        self._times = {key: times for key, times in self._times.items() if times and now - times[-1] < self.seconds}
        self._swept = now

    def __len__(self) -> int:
        """How many keys are remembered."""
        return len(self._times)
