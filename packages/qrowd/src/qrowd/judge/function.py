"""Any Python callable as a model, so that other clients can be used."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from qrowd.judge.exchange import Reply, Request

Answer = str | Reply | None


@dataclass(frozen=True)
class FunctionModel:
    """A function of a `Request` that returns the text of the answer, or a `Reply`.

    A function that is not async runs in threads, as many at once as requests are in flight. What it raises becomes an
    error of that request, which is tried again where it is an OSError, as those of connections and timeouts are; only
    the name of the exception is kept, since its message may hold a key.

    >>> model = FunctionModel(lambda request: "2", name="two")
    """

    function: Callable[[Request], Answer | Awaitable[Answer]]
    name: str
    endpoint: str = "function"

    async def ask(self, request: Request) -> Reply:
        """Call the function once; what it raises becomes an error of the reply."""
        start = time.monotonic()
        try:
            if inspect.iscoroutinefunction(self.function):
                answer = await self.function(request)
            else:
                answer = await asyncio.to_thread(self.function, request)
                if inspect.isawaitable(answer):
                    answer = await answer
        except Exception as error:
            return Reply(
                error=f"{type(error).__name__} in the function",
                timed_out=isinstance(error, TimeoutError),
                lasting=not isinstance(error, OSError),
                seconds=time.monotonic() - start,
            )
        seconds = time.monotonic() - start
        if isinstance(answer, Reply):
            return replace(answer, seconds=answer.seconds or seconds, model=answer.model or self.name)
        if answer is None or isinstance(answer, str):
            return Reply(text=answer, model=self.name, seconds=seconds)
        wrong = f"the function returned {type(answer).__name__}, not a text or a Reply"
        return Reply(error=wrong, lasting=True, seconds=seconds)
