"""Many workers at one service, all at once, for places that are too few, while time flies and the owner interferes.

python -m soak.races sqlite|postgresql [WORKERS] [ACTIONS]
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from typing import TypeVar

from sqlalchemy import text

from judging import Clock
from qrowd_server.campaigns.running.admin import CampaignAdmin
from qrowd_server.campaigns.running.judging import JudgingService
from qrowd_server.protocols.events import (
    Action,
    Consent,
    GoOn,
    Judge,
    MarkBad,
    Postpone,
    Prefer,
    Refusal,
    Undo,
)  # fmt: skip
from qrowd_server.protocols.views import (
    ConsentView,
    DocumentView,
    EndView,
    ExcludedView,
    LostView,
    NoneLeftView,
    PairView,
    RevisionView,
    View,
)  # fmt: skip
from qrowd_server.store.base import Store, StoreBusyError, StoreError
from qrowd_server.store.engine import open_store
from server.soak import checks, made
from servers import postgres_server

T = TypeVar("T")
LEASE = 3600.0
NAMES = ("grades", "magnitude", "own", "shared", "doubled")


def plans() -> list[made.Plan]:
    """Places for about a third of the workers."""
    return [
        made.plan("grades", topics=3, documents=4, k=4, redundancy=5),
        made.plan("magnitude", topics=3, documents=5, k=3, redundancy=2, min_seconds=1.0, revisions=0),
        made.plan("preference", name="own", topics=3, documents=5, redundancy=4),
        made.plan("preference", name="shared", topics=3, documents=7, redundancy=5, sharing="shared"),
        made.plan(
            "preference", name="doubled", topics=2, documents=6, redundancy=6, sharing="shared", pair_redundancy=2
        ),
    ]


def _action(view: View, rng: random.Random) -> Action | None:
    match view:
        case ConsentView():
            return Consent(True)
        case DocumentView():
            if view.may_postpone and rng.random() < 0.1:
                return Postpone(view.position)
            text = str(rng.choice(view.grades).value) if view.grades else str(rng.randrange(1, 100))
            return Judge(view.position, text, "because")
        case PairView():
            if view.may_undo and rng.random() < 0.15:
                return Undo(view.pair)
            if view.may_mark_bad and rng.random() < 0.15:
                return MarkBad(view.pair, rng.choice(("left", "right")))
            return Prefer(view.pair, rng.choice(("left", "right")))
        case RevisionView() | LostView() | NoneLeftView():
            return GoOn()
        case EndView() if view.another:
            return GoOn()
    return None


async def _work(
    service: JudgingService,
    campaign: str,
    name: str,
    actions: int,
    rng: random.Random,
    seen: Counter[str],
    done: asyncio.Queue[str],
) -> None:
    who = await service.arrive(campaign, "link", name)
    left = actions
    while left > 0:
        page = await service.page(who)
        action = _action(page.view, rng)
        if action is None:
            return
        # The same form twice at once, as an impatient finger does; now and then under the same key.
        keys = {page.key, page.key if rng.random() < 0.5 else page.key + "again"} if rng.random() < 0.2 else {page.key}
        told = await asyncio.gather(
            *(service.act(who, action, shown=page.shown, key=key) for key in keys), return_exceptions=True
        )
        for one in told:
            if isinstance(one, Refusal):
                seen[f"refused: {one.code}"] += 1
            elif isinstance(one, StoreError):
                seen[f"{type(one).__name__}: {one}"] += 1
            elif isinstance(one, BaseException):
                raise one
            else:
                seen["late" if one.late else "taken"] += 1
        left -= 1
        done.put_nowait(name)
        if isinstance(page.view, ExcludedView):
            return
        for _ in range(rng.randrange(4)):  # let others in between
            await asyncio.sleep(0)


async def _interfere(
    admin: CampaignAdmin, clock: Clock, rng: random.Random, done: asyncio.Queue[str], seen: Counter[str]
) -> None:
    """After every so many actions: time passes, so that leases end; assessors are excluded, reinstated and reset."""
    n, known = 0, set[tuple[str, str]]()
    out: list[tuple[str, str]] = []

    async def patiently(what: Callable[..., Awaitable[T]], *arguments: str) -> T:
        """Done, after as many refusals as there are while others are in the way."""
        while True:
            try:
                return await what(*arguments)
            except StoreBusyError:
                seen["the owner tried again"] += 1

    while True:
        name = await done.get()
        if not name:
            return
        n += 1
        campaign = name.rpartition("-")[0]
        known.add((campaign, name))
        if n % 20 == 0:
            clock.now += (LEASE + 1, 30.0, LEASE / 2)[(n // 20 - 1) % 3]
        if n % 25 == 0:
            out.append(rng.choice(sorted(known)))
            await patiently(admin.exclude, *out[-1], "a bad day")
            seen["excluded"] += 1
        if n % 60 == 0:
            seen["lost by others meanwhile"] += await patiently(admin.reinstate, *out.pop(rng.randrange(len(out))))
            seen["reinstated"] += 1
        if n % 90 == 0:
            await patiently(admin.reset, *rng.choice(sorted(known)))
        if n % 150 == 0:
            for status in ("paused", "running"):
                await patiently(admin.set_status, campaign, status)


async def race(store: Store, workers: int, actions: int) -> Counter[str]:
    """Workers at a service; what was seen."""
    # No two things happen at the same moment.
    clock, rng, seen = Clock(step=0.001), random.Random(3), Counter[str]()
    service = JudgingService(store, clock=clock)
    done: asyncio.Queue[str] = asyncio.Queue()
    admin = CampaignAdmin(store, clock=clock)
    interfering = asyncio.gather(*(_interfere(admin, clock, rng, done, seen) for _ in range(4)))
    await asyncio.gather(
        *(
            _work(service, NAMES[i % 5], f"{NAMES[i % 5]}-{i}", actions, random.Random(i), seen, done)
            for i in range(workers)
        )
    )
    for _ in range(4):
        done.put_nowait("")
    await interfering  # to its end: what is cancelled halfway may still be written
    return seen


def run(url: str, *, workers: int, actions: int) -> tuple[Counter[str], list[str]]:
    """What was seen, and what is wrong afterwards."""
    with open_store(url) as store:
        store.write(lambda connection: made.create(connection, plans()))
        seen = asyncio.run(race(store, workers, actions))
        kinds = "select kind, count(*) from event group by kind"
        seen.update(dict(store.read(lambda connection: connection.execute(text(kinds)).fetchall())))  # type: ignore[arg-type]
        wrong = store.read(checks.violations) + store.read(checks.bad_offers)
        return seen, wrong + checks.rebuilt_differently(store, NAMES)


def main(which: str, workers: int = 200, actions: int = 60) -> int:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        url = f"sqlite:///{folder}/judgments.db"
        if which == "postgresql":
            url = stack.enter_context(postgres_server()).database()
        seen, wrong = run(url, workers=workers, actions=actions)
    print(f"{which}: {workers} workers: {dict(seen)}; wrong: {len(wrong)}")
    print("\n".join(wrong[:20]))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
