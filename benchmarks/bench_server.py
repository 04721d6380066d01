"""How long an answer takes while 1,000 assessors judge, how many can be answered in a second, and the next pair.

python bench_server.py [load|saturation|pairs|pages|bomb|worst|keys] [SECONDS]   all, 15 seconds each, by default

Clients run in this process and share the machine with the server; everything stays on the loopback. Machines differ
fourfold in speed: throughput is promised beside the commits of the database alone and stated per calibration loop (ten
million additions in a Python loop); the load has as many assessors as this machine can hold, which is said, up to
1,000. Promised times are of a machine whose calibration loop takes 0.3 s; on a slower one they grow with it. No other
tool judges in this way: the peer is SQLite or PostgreSQL alone, one row and one commit after the other.
"""

from __future__ import annotations

import asyncio
import io
import os
import random
import sqlite3
import sys
import tempfile
import time
import zipfile
import zlib
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import psycopg
import uvloop
from calibration import loop_seconds
from side_by_side import finish, median_ratio, promise
from soak import checks, made
from soak.client import Assessor, Log, at_random

from qrowd_server.campaigns.plan.plan_tables import plan_from_table, table_from_plan
from qrowd_server.store.engine import open_store
from servers import postgres_server
from webserver import ServerProcess

ASSESSORS = 1000
THINK = 5.0  # seconds on average
LETTERS = 2000
ORDERS = ("utility", "keep-preferred")
CLIENTS = 64  # without time to think
USUAL_LOOP = 0.3  # seconds of the calibration loop for which times are promised
SHARE = 0.6  # of the answers a second that the machine manages at most: what the load asks for


def prepare(url: str, assessors: int, answers_each: int) -> list[made.Invited]:
    """Half of the assessors give grades, half magnitudes; there is enough for everybody to do."""
    half = assessors // 2
    plans = [
        made.plan("grades", topics=answers_each // 20 + 2, documents=20, letters=LETTERS, redundancy=half),
        made.plan("magnitude", topics=answers_each // 8 + 2, documents=8, letters=LETTERS, redundancy=half),
    ]
    with open_store(url) as store:
        store.write(lambda connection: made.create(connection, plans))
        people = [
            store.write(lambda c, p=p: made.invite(c, p, [f"{p}{i}" for i in range(half)]))  # type: ignore[misc]
            for p in ("grades", "magnitude")
        ]
    return [one for pair in zip(*people, strict=True) for one in pair]


def quantile(took: list[float], q: float) -> float:
    """In milliseconds."""
    return 1000 * sorted(took)[min(len(took) - 1, int(q * len(took)))] if took else float("nan")


def report(what: str, server: ServerProcess, log: Log, seconds: float, cpu: float) -> None:
    print(
        f"{what}: {len(log.acknowledged)} answers in {seconds:.0f} s ({len(log.acknowledged) / seconds:.0f}/s), "
        f"p50 {quantile(log.took, 0.5):.1f} ms, p99 {quantile(log.took, 0.99):.1f} ms, "
        f"p99.9 {quantile(log.took, 0.999):.1f} ms, most {quantile(log.took, 1):.1f} ms; "
        f"processor {cpu / seconds:.2f} (clients {time.process_time() / seconds:.2f}), "
        f"memory {server.memory():.0f} MB, load {os.getloadavg()[0]:.1f}; "
        f"broken {log.broken}, waited {log.waited}, refused {log.refused}, failed {log.failed[:3]}"
    )


def clients_of(server: ServerProcess, people: list[made.Invited], log: Log, bad: float = 0.0) -> list[Assessor]:
    made_ = []
    for i, one in enumerate(people):
        choose = at_random(random.Random(i), bad=bad)
        made_.append(Assessor(one.campaign, [server.address], choose, log))
        made_[-1].cookie = one.cookie
    return made_


async def everybody(
    server: ServerProcess, people: list[made.Invited], seconds: float, think: float, bad: float = 0.0
) -> tuple[Log, float, float]:
    """All answer for so long; the log, the seconds it took and processor time of the server. The first page and the
    consent are not measured."""
    rng, log = random.Random(7), Log()
    clients = clients_of(server, people, log, bad)

    async def begin(client: Assessor) -> None:
        if think:
            await asyncio.sleep(rng.uniform(0, 2 * think))
        await client.step()

    await asyncio.gather(*map(begin, clients))
    log.took.clear()
    log.acknowledged.clear()
    before, start = server.cpu(), time.perf_counter()
    end = start + seconds

    async def judge(client: Assessor) -> None:
        while True:
            if think:
                await asyncio.sleep(rng.expovariate(1 / think))
            if time.perf_counter() > end or not await client.step():
                return

    await asyncio.gather(*map(judge, clients))
    took = time.perf_counter() - start
    for client in clients:
        client.close()
    return log, min(took, seconds) if think else took, server.cpu() - before


def sound(url: str, log: Log) -> None:
    """Nothing that must not be, and all that was acknowledged."""
    with open_store(url) as store:
        wrong = store.read(checks.violations) + store.read(lambda c: checks.unsaved(c, log.acknowledged))
    print("\n".join(wrong[:10]))
    promise(
        "things wrong in the store",
        len(wrong),
        at_most=0,
        beside=f"{len(log.acknowledged):,} answers that the server acknowledged",
        limit="invariants of the store, read after the servers ended",
    )


def measured(what: str, run: Callable[[ServerProcess], Awaitable[tuple[Log, float, float]]], url: str) -> Log:
    with tempfile.TemporaryDirectory() as folder, ServerProcess(url, log=Path(folder) / "log") as server:
        log, seconds, cpu = uvloop.run(run(server))  # type: ignore[arg-type]
        report(what, server, log, seconds, cpu)
    # A pair that somebody else's Bad mark took away is refused as stale, and is no error.
    refused = sum(n for code, n in log.refused.items() if code != "stale" or not what.endswith(ORDERS))
    promise(
        f"{what}: errors",
        log.broken + log.waited + refused + len(log.failed),
        at_most=0,
        beside=f"{len(log.acknowledged):,} answers",
        limit="connections that broke, requests that waited, refusals, pages that failed",
    )
    return log


def throughput(dialect: str, seconds: float) -> tuple[float, float]:
    """Answers a second that clients get who do not think; and commits a second of the database alone."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        url = f"sqlite:///{folder}/judgments.db"
        if dialect == "postgresql":
            url = stack.enter_context(postgres_server(fsync=True)).database()
        people = prepare(url, CLIENTS, int(seconds * 1000 / CLIENTS) + 20)
        log = measured(f"saturation, {dialect}", lambda server: everybody(server, people, seconds, 0), url)
        sound(url, log)
        return len(log.acknowledged) / seconds, commits(dialect, url, Path(folder))


def commits(dialect: str, url: str, folder: Path, n: int = 500) -> float:
    """Rows a second that the database takes from one client, each with a commit of its own."""
    if dialect == "sqlite":
        opened, sign = sqlite3.connect(folder / "peer.db"), "?"
        opened.execute("PRAGMA journal_mode = WAL")
        opened.execute("PRAGMA synchronous = FULL")
    else:
        opened, sign = psycopg.connect(url.replace("postgresql+psycopg", "postgresql")), "%s"
    with closing(opened) as connection:
        connection.execute("CREATE TABLE peer_of_the_benchmark (answer TEXT)")
        connection.commit()
        start = time.perf_counter()
        for i in range(n):
            connection.execute(f"INSERT INTO peer_of_the_benchmark VALUES ({sign})", (f"answer {i}",))
            connection.commit()
        return n / (time.perf_counter() - start)


def slowness(loop: float) -> float:
    """How many times longer than the usual one a calibration loop takes here; 1 on faster machines."""
    return max(1.0, loop / USUAL_LOOP)


def load(seconds: float) -> None:
    loop = loop_seconds()
    slow = slowness(loop)
    per_second, alone = throughput("sqlite", min(seconds, 15.0))
    holds = max(20, int(SHARE * per_second * THINK) // 20 * 20)
    assessors = min(ASSESSORS, holds)
    beside = (
        f"{per_second:.0f} answers a second ({per_second * loop:.0f} in a calibration loop) are the most here, so this "
        f"machine can hold {holds:,} assessors; SQLite alone {alone:.0f} commits a second"
    )
    print(f"{beside}; the load has {assessors:,}")
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/judgments.db"
        people = prepare(url, assessors, int(seconds / THINK * 1.6) + 20)
        what = f"{assessors} assessors, {THINK:g} s to think"
        log = measured(what, lambda server: everybody(server, people, seconds, THINK), url)
        limit = f"instructions of Python: clients share the cores; {SHARE:.0%} of the most is asked for"
        for name, q, most in (("p50", 0.5, 20), ("p99", 0.99, 100), ("p99.9", 0.999, 500), ("most", 1, 2000)):
            promise(
                f"{what}: {name}, ms", quantile(log.took, q), at_most=round(most * slow), beside=beside, limit=limit
            )
        sound(url, log)


def saturation(seconds: float) -> None:
    loop = loop_seconds()
    for dialect in ("sqlite", "postgresql"):
        per_second, alone = throughput(dialect, seconds)
        per_loop = f"{per_second * loop:.0f} in a calibration loop of {loop:.2f} s"
        promise(
            f"saturation, {dialect}: answers for each commit that the database alone can make",
            per_second / alone,
            at_least=0.1,
            beside=f"{per_second:.0f} answers a second, {per_loop}; {dialect} alone {alone:.0f} commits",
            limit="instructions of Python: server and clients share the cores",
        )


def pairs(seconds: float, assessors: int = 50, documents: int = 200) -> None:
    slow = slowness(loop_seconds())
    for order, systems in (("utility", 8), ("keep-preferred", 0)):
        with tempfile.TemporaryDirectory() as folder:
            url = f"sqlite:///{folder}/judgments.db"
            plan = made.plan(
                "preference", topics=1, documents=documents, letters=LETTERS, redundancy=assessors, sharing="shared",
                order=order, systems=systems,
            )  # fmt: skip
            with open_store(url) as store:
                store.write(lambda connection, plan=plan: made.create(connection, [plan]))  # type: ignore[misc]
                people = store.write(
                    lambda connection: made.invite(connection, "preference", [f"p{i}" for i in range(assessors)])
                )
            what = f"{assessors} assessors, one topic of {documents} documents, {order}"
            log = measured(what, lambda server, p=people: everybody(server, p, seconds, THINK, 0.02), url)  # type: ignore[misc]
            promise(
                f"{what}: p99, ms",
                quantile(log.took, 0.99),
                at_most=round(50 * slow),
                beside=f"median {quantile(log.took, 0.5):.1f} ms, {len(log.acknowledged)} answers in {seconds:.0f} s",
                limit="instructions: the next pair is chosen while everybody adds to one topic",
            )
            sound(url, log)


def pages(seconds: float) -> None:
    """A page whose document was rendered before, against one whose document comes for the first time."""
    from qrowd_server.web.document_pages import render_document
    from qrowd_server.web.rendering import render_main
    from server.web.gallery import GALLERY

    def once(name: str) -> None:
        render_main(GALLERY[name], csrf="t", base="/c/birds")

    def anew(name: str) -> None:
        render_document.cache_clear()
        once(name)

    slow = slowness(loop_seconds())
    for name in ("magnitude", "grades", "pair"):
        first, again, ratio = median_ratio(partial(anew, name), partial(once, name), rounds=200)
        beside = f"{1000 * first:.2f} ms with a new document, {1000 * again:.2f} ms with one rendered before"
        limit = "instructions: Jinja's template"
        promise(
            f"page {name}: ms with a document rendered before", 1000 * again, at_most=0.4 * slow, beside=beside,
            limit=limit,
        )  # fmt: skip
        promise(f"page {name}: times as fast as with a new document", ratio, at_least=1, beside=beside, limit=limit)


def bomb(seconds: float) -> None:
    """A zip of 40 MB of zeros is refused before it is unpacked."""
    from qrowd.errors import QrowdError
    from qrowd_server.campaigns.plan.folder import plan_from_zip

    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("campaign.toml", '[campaign]\nname = "fine"\n[grades]\nk = 1\n')
        archive.writestr("documents.jsonl", b"\x00" * (40 << 20))
    began = time.perf_counter()
    with suppress(QrowdError):
        plan_from_zip(buffer.getvalue())
    took = time.perf_counter() - began
    packed = zlib.compress(b"\x00" * (40 << 20))
    began = time.perf_counter()
    zlib.decompress(packed)
    promise(
        "zip bomb: seconds until it is refused",
        took,
        at_most=5,
        beside=f"unpacking it would take zlib {time.perf_counter() - began:.3f} s and 40 MB",
        limit="bytes: the sizes that the zip declares are read, and no document",
    )


def hostile() -> list[str]:
    """Texts of a million characters, the longest that a campaign may hold, that are hard to read."""
    n = 1_000_000
    pieces = ("<div>", "<", " ", "\n \t", "<p>", "<b><p>", "<table><tr><td>", "<!-- ", "&a", '<a href="', "x", "bee ")
    return [*(f"bees {(piece * n)[: n - 10]}> x" for piece in pieces), " ".join(map(str, range(150_000)))]


async def waits(server: ServerProcess, people: list[made.Invited], seconds: float) -> tuple[list[float], list[float]]:
    """Milliseconds that a request for a small page took: while nothing happened, and while hostile pages were drawn."""
    *readers, bystander = clients_of(server, people, Log())
    await bystander.step()
    quiet, busy, reading = list[float](), list[float](), asyncio.Event()
    path = f"/c/{people[-1].campaign}"

    async def look() -> None:
        start = time.perf_counter()
        await bystander.connection.get(path)
        (busy if reading.is_set() else quiet).append(1000 * (time.perf_counter() - start))

    async def read(client: Assessor) -> None:
        while await client.step():
            pass

    for _ in range(int(seconds / 5 / 0.01)):
        await look()
        await asyncio.sleep(0.01)
    reading.set()
    tasks = [asyncio.ensure_future(read(client)) for client in readers]
    while not all(task.done() for task in tasks):
        await look()
        await asyncio.sleep(0.01)
    await asyncio.gather(*tasks)
    for client in (*readers, bystander):
        client.close()
    return quiet, busy


def worst(seconds: float) -> None:
    """How long others wait while pages with the worst documents within the limits are drawn for the first time."""
    texts = hostile()
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/judgments.db"
        plans = []
        for name, html in (("plain", False), ("html", True)):
            plain = made.plan("grades", name=name, topics=len(texts), documents=1, redundancy=1)
            documents = [replace(one, text=text, html=html) for one, text in zip(plain.documents, texts, strict=True)]
            plans.append(plan_from_table(table_from_plan(replace(plain, documents=tuple(documents)))))
        plans.append(made.plan("grades", name="small", topics=1, documents=2, redundancy=1))
        with open_store(url) as store:
            store.write(lambda connection: made.create(connection, plans))
            people = [store.write(lambda c, p=p: made.invite(c, p.name, [p.name]))[0] for p in plans]  # type: ignore[misc]
        with ServerProcess(url, log=Path(folder) / "log") as server:
            quiet, busy = asyncio.run(waits(server, people, seconds))
    promise(
        "worst documents: longest wait of others, ms",
        max(busy),
        at_most=100 * slowness(loop_seconds()),
        beside=f"p50 {quantile(busy, 0.5) / 1000:.1f}, p99 {quantile(busy, 0.99) / 1000:.1f} of {len(busy):,}; "
        f"without such pages at most {max(quiet):.1f} ms; {2 * len(texts)} documents of a million characters",
        limit="the thread that draws and the event loop take turns",
    )


CLOCK = """() => {
    let pressed = 0;
    window.times = [];
    addEventListener("keydown", (event) => { pressed = event.timeStamp; }, true);
    new MutationObserver((changes) => {
        if (!changes.some((one) => [...one.addedNodes].some((node) => node.id === "main"))) return;
        requestAnimationFrame(() => setTimeout(() => window.times.push(performance.now() - pressed)));
    }).observe(document.body, { childList: true });
}"""


def keys(seconds: float) -> None:
    """From a key to the next document on the screen, in Chromium."""
    from browsers import chromium
    from server.web.journeys import application, enter, grades

    with tempfile.TemporaryDirectory() as folder, application(Path(folder)) as app, chromium() as browser:
        context = browser.new_context()
        context.add_init_script("localStorage.setItem('qrowd:swift', 'on')")
        tab = context.new_page()
        enter(tab, grades(app, 41, reason="none", cannot_tell=False, postpone=False))
        tab.reload()
        tab.evaluate(CLOCK)
        for i in range(40):
            tab.keyboard.press(str(i % 4))
            tab.wait_for_function("n => window.times.length === n", arg=i + 1)
        times = sorted(tab.evaluate("window.times"))
        promise(
            "key to next document: p95, ms",
            times[37],
            at_most=round(150 * slowness(loop_seconds())),
            beside=f"median {times[20]:.0f} ms, most {times[39]:.0f} ms; a frame of the screen takes 17 ms",
            limit="instructions: Chromium lays out and paints the next document",
        )


if __name__ == "__main__":
    chosen = {
        "load": load,
        "saturation": saturation,
        "pairs": pairs,
        "pages": pages,
        "bomb": bomb,
        "worst": worst,
        "keys": keys,
    }
    names = sys.argv[1:2] or list(chosen)
    for name in names:
        chosen[name](float(sys.argv[2]) if len(sys.argv) > 2 else 15.0)
    finish()
