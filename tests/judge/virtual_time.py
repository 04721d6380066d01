"""An event loop whose time passes only when nothing can run: hours of waits take no time, in one order every time."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any

from qrowd.judge.exchange import Reply, Request


class _Selector(selectors.DefaultSelector):
    """Moves the time on instead of waiting; somebody must be waiting for a time."""

    passed = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        events = super().select(0)
        if not events:
            assert timeout is not None, "everything waits, and nothing will ever happen"
            self.passed += max(timeout, 0)
        return events


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.selector = _Selector()
        super().__init__(self.selector)

    def time(self) -> float:
        return self.selector.passed


def run(main: Coroutine[Any, Any, Any]) -> Any:
    """As `asyncio.run`."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


class LoopClock:
    """The time of the running loop."""

    def now(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


@dataclass
class Served:
    """A server that takes `seconds` for a reply, which its script decides from the text and the time.

    asked : (text, time) of each request.
    """

    endpoint: str
    script: Callable[[str, float], Reply]
    seconds: float = 1.0
    name: str = "small"

    def __post_init__(self) -> None:
        self.asked: list[tuple[str, float]] = []
        self.open = self.most = 0

    async def ask(self, request: Request) -> Reply:
        assert request.endpoint == self.endpoint
        text, now = request.messages[-1].content, asyncio.get_running_loop().time()
        self.asked.append((text, now))
        self.open += 1
        self.most = max(self.most, self.open)
        await asyncio.sleep(self.seconds)
        self.open -= 1
        return self.script(text, now)


OK = Reply(finish_reason="stop", http_status=200, tokens_in=100, tokens_out=10)
DOWN = Reply(error="ConnectError", tokens_in=0, tokens_out=0)


def answer(text: str, now: float) -> Reply:
    return replace(OK, text=f"answer to {text}")


def failure(status: int, **fields: Any) -> Reply:
    return Reply(error=f"HTTP {status}", http_status=status, **fields)
