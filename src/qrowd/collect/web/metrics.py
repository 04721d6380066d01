"""Metrics for Prometheus, at /metrics behind a token: requests, the event loop, the store, and what campaigns hold.

    qrowd_requests_total{method, route, status}     qrowd_request_seconds{route}       of this server
    qrowd_event_loop_lag_seconds                    how late the event loop was
    qrowd_store_queue                               transactions that wait for the store
    qrowd_disk_free_bytes                           beside a SQLite file
    qrowd_answers, qrowd_open_units, qrowd_free_slots {campaign, arm, protocol}        from the store

Several processes of one server (--workers) add up what they counted, in files of PROMETHEUS_MULTIPROC_DIR.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from qrowd.collect.store.base import Store
from qrowd.collect.store.totals import ArmTotals, arm_totals
from qrowd.collect.web.health import free_bytes
from qrowd.collect.web.problems import Problem
from qrowd.collect.web.security import same
from qrowd.collect.web.server import server_of

TICK = 0.5  # seconds between two looks at the event loop
SECONDS = 15.0  # for which the totals of campaigns are kept
LATENCIES = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
LAGS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)
LABELS = ("campaign", "arm", "protocol")
SHARED = "PROMETHEUS_MULTIPROC_DIR"


class Metrics:
    """The metrics of a server process over a store. clock : seconds, never going back."""

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.store, self.clock = store, clock
        self.registry = CollectorRegistry()
        labels = ["method", "route", "status"]
        self.requests = Counter("qrowd_requests", "Requests that were answered.", labels, registry=self.registry)
        meaning = "Time to the end of the answer."
        self.seconds = Histogram("qrowd_request_seconds", meaning, ["route"], buckets=LATENCIES, registry=self.registry)
        self.lag = Histogram(
            "qrowd_event_loop_lag_seconds", "How late the event loop was.", buckets=LAGS, registry=self.registry
        )
        self._totals: list[ArmTotals] = []
        self._until = float("-inf")
        self._reading = asyncio.Lock()

    def observe(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count an answer. route : "" where no route took the request."""
        route = route or "none"
        self.requests.labels(method if method in ("GET", "POST", "HEAD") else "other", route, str(status)).inc()
        self.seconds.labels(route).observe(seconds)

    async def watch_the_event_loop(self) -> None:
        """Measure its lag, until cancelled."""
        while True:
            due = time.monotonic() + TICK
            await asyncio.sleep(TICK)
            self.lag.observe(max(0.0, time.monotonic() - due))

    async def text(self) -> bytes:
        """All metrics in Prometheus' text format."""
        async with self._reading:
            if self.clock() >= self._until:
                self._totals = await self.store.read_async(arm_totals)
                self._until = self.clock() + SECONDS
        registry: Any = self.registry
        if os.environ.get(SHARED):
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        now = CollectorRegistry()
        now.register(_Now(self.store, self._totals))
        return generate_latest(registry) + generate_latest(now)


class _Now:
    """What is so at this moment, and is not counted by processes."""

    def __init__(self, store: Store, totals: Iterable[ArmTotals]) -> None:
        self.store, self.totals = store, totals

    def collect(self) -> Iterator[GaugeMetricFamily]:
        yield GaugeMetricFamily("qrowd_store_queue", "Transactions that wait for the store.", self.store.waiting())
        if (free := free_bytes(self.store)) is not None:
            yield GaugeMetricFamily("qrowd_disk_free_bytes", "Space beside the SQLite file.", free)
        families = {
            "answers": GaugeMetricFamily("qrowd_answers", "Answers that the store holds.", labels=LABELS),
            "open_units": GaugeMetricFamily("qrowd_open_units", "Units that are being judged.", labels=LABELS),
            "free_slots": GaugeMetricFamily("qrowd_free_slots", "Slots that wait for an assessor.", labels=LABELS),
        }
        for one in self.totals:
            for name, family in families.items():
                family.add_metric([one.campaign, one.arm, one.protocol], getattr(one, name))
        yield from families.values()


async def show(request: Request) -> Response:
    """The metrics, for who sends the token as `Authorization: Bearer TOKEN`."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not same(token.strip(), server_of(request).settings.metrics_token):
        raise Problem(403, "token", "The metrics need their token, as Authorization: Bearer TOKEN.")
    return Response(await request.app.state.metrics.text(), media_type=CONTENT_TYPE_LATEST)


ROUTES = [Route("/metrics", show)]
