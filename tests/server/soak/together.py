"""The worst documents at once: `python -m server.soak.together [PEOPLE [TIMES]]`.

So many people ask for a page, and then judge, at the same moment; each has a document of a million characters that is
hard to read. Beside them the same server is asked for /health and for an ordinary page, one after another, and a server
that nobody else uses is asked for /health: what that one waits longer than before is the machine's doing. First as many
people ask for ordinary pages. The people are a process of their own. A server is started anew before the first look, so
that nothing is in its memory.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, quantiles

from qrowd_server.campaigns.plan.plan_tables import plan_from_table
from qrowd_server.store.engine import open_store
from server.soak import made
from server.soak.client import Connection, Screen
from webserver import ServerProcess

N = 1_000_000  # characters of a text
MOST_WAIT = 0.1  # seconds above the idle time
IDLE = 5.0  # seconds for which it is measured
PAUSE = 0.005  # seconds between two requests of a probe


def repeated(piece: str) -> str:
    return f"x {piece * (N // len(piece) + 1)}"[:N]


TEXTS = {  # (text, whether it is HTML) by what is hard
    "< without end": (repeated("<"), True),
    "tags of one letter": (repeated("<b>"), True),
    "tags that end": (repeated("<b>x</b>"), True),
    "paragraphs": (repeated("<p>x"), True),
    "divisions, 99 deep": (repeated("<div>" * 99 + "x" + "</div>" * 99), True),
    "divisions, 190 deep": (repeated("<div>" * 190 + "x" + "</div>" * 190), True),
    "divisions without end": (repeated("<div>"), True),
    "tables": (repeated("<table><tr><td>x</table>"), True),
    "tables in tables": (repeated("<table><tr><td>" * 30 + "x"), True),
    "wrong order": (repeated("<b><i><p>x</b></i>"), True),
    "lists": (repeated("<ul><li>x</ul>"), True),
    "items": (repeated("<li>water"), True),
    "comments": (repeated("<!-- x -->"), True),
    "a comment without end": (repeated("<!--"), True),
    "scripts": (repeated("<script>x</script>"), True),
    "attributes": (repeated("<p a='b' c=d e>x"), True),
    "entities": (repeated("&amp;"), True),
    "entities of one sign": (repeated("&#1;"), True),
    "headings": (repeated("<h1>water</h1>"), True),
    "a word of a million letters": (repeated("x"), False),
    "the topic's word": (repeated("water "), False),
    "forms of a word": (repeated("waters watering watered "), False),
    "all words differ": ("".join(f"w{i} " for i in range(N))[:N], False),
    "lines": (repeated("x\n"), False),
    "paragraphs of a letter": (repeated("x\n\n"), False),
    "signs that are escaped": (repeated("<&>"), False),
    "right to left": (repeated("\u202eא\u202c "), False),
    "combining signs": (repeated("e\u0301\u0302\u0303"), False),
    "blanks": (repeated(" "), False),
    "characters of four bytes": (repeated("𝔘 "), False),
}


def prepare(url: str, people: int) -> tuple[list[made.Invited], made.Invited]:
    """A campaign of topics with two hard documents each, for as many people, and one of ordinary documents."""
    texts = list(TEXTS.values())
    topics = [{"label": f"t{i}", "title": "running water", "pool": [f"d{i}", f"e{i}"]} for i in range(people)]
    documents = []
    for i in range(people):
        for label, (text, html) in zip(
            (f"d{i}", f"e{i}"), (texts[i % len(texts)], texts[-1 - i % len(texts)]), strict=True
        ):
            documents.append({"label": label, "text": text, "html": html, "title": label})
    campaign = {"name": "worst", "protocol": "grades"}
    grades = {"k": 2, "redundancy": 1, "reason": "none", "rating": False}
    table = {
        "campaign": campaign,
        "grades": grades,
        "topics": topics,
        "documents": documents,
        "journey": {"consent": False},
    }
    with open_store(url) as store:
        plans = [plan_from_table(table), made.plan("grades", topics=1, documents=20, redundancy=1, name="usual")]
        store.write(lambda connection: made.create(connection, plans))
        invited = store.write(lambda c: made.invite(c, "worst", [f"p{i}" for i in range(people)]))
        (one,) = store.write(lambda c: made.invite(c, "usual", ["one"]))
    return invited, one


# ---- the people, a process of their own


async def crowd(address: tuple[str, int], cookies: list[str], one_cookie: str) -> None:
    """Does what each line of standard input says, everybody at once, and prints how long it took."""
    connections = [Connection(address) for _ in cookies]
    for connection, cookie in zip(connections, cookies, strict=True):
        connection.cookie = cookie
    usual = [Connection(address) for _ in cookies]
    for connection in usual:
        connection.cookie = one_cookie
    screens: list[Screen] = []
    for line in iter(sys.stdin.readline, ""):
        began = time.perf_counter()
        if (what := line.strip()) == "usual":
            asked = [one.get("/c/usual") for one in usual]
        elif what == "look":
            asked = [one.get("/c/worst") for one in connections]
        else:
            said = {"do": "go_on"} if what == "begin" else {"do": "judge", "text": "2", "position": "0"}
            forms = [{name: screen.fields[name] for name in ("csrf", "shown", "key")} | said for screen in screens]
            posts = zip(connections, forms, strict=True)
            asked = [one.post("/c/worst/act", form, ["X-Qrowd: fragment"]) for one, form in posts]
        answers = await asyncio.gather(*asked)
        took = time.perf_counter() - began
        assert {answer.status for answer in answers} == {200}, answers[0].text[:500]
        if what == "begin":  # the server is started anew
            for one in connections:
                one.close()
        if what != "usual":
            screens = [Screen.read(answer.text) for answer in answers]
        print(
            json.dumps([took, sum(len(answer.body) for answer in answers), sorted({s.view for s in screens})]),
            flush=True,
        )


# ---- what others wait


@dataclass
class Waits:
    """Seconds of requests, by what was asked for."""

    seconds: dict[str, list[float]] = field(default_factory=dict)

    async def probe(self, name: str, address: tuple[str, int], path: str, cookie: str, until: asyncio.Event) -> None:
        connection = Connection(address)
        connection.cookie = cookie
        while not until.is_set():
            began = time.perf_counter()
            answer = await connection.get(path)
            self.seconds.setdefault(name, []).append(time.perf_counter() - began)
            assert answer.status == 200, answer
            await asyncio.sleep(PAUSE)
        connection.close()


async def asked_beside(server: ServerProcess, peer: ServerProcess, cookie: str, work: asyncio.Future[str]) -> Waits:
    """What probes wait until some work is done."""
    waits, until = Waits(), asyncio.Event()
    probes = [
        asyncio.create_task(waits.probe(name, address, path, cookie, until))
        for name, address, path in (
            ("/health", server.address, "/health"),
            ("an ordinary page", server.address, "/c/usual"),
            ("another server", peer.address, "/health"),
        )
    ]
    await work
    until.set()
    await asyncio.gather(*probes)
    return waits


def said(name: str, seconds: list[float], idle: list[float]) -> str:
    above = max(seconds) - fmean(idle)
    p99 = quantiles(seconds, n=100)[98] if len(seconds) > 1 else seconds[0]
    return (
        f"  {name}: mean {1000 * fmean(seconds):.1f}, 99 % {1000 * p99:.1f}, worst of {len(seconds)}"
        f" {1000 * max(seconds):.1f} ms; {1000 * above:.1f} above the idle mean"
    )


async def measure(server: ServerProcess, peer: ServerProcess, people: list[made.Invited], one: made.Invited) -> int:
    """Print what the probes wait; how many kinds of probe of the server waited too long."""
    command = [sys.executable, "-m", "server.soak.together", "crowd", json.dumps(server.address)]
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(
        *command, json.dumps([p.cookie for p in people]), one.cookie, stdin=pipe, stdout=pipe
    )
    assert child.stdin is not None
    assert child.stdout is not None
    for what in ("look", "begin"):
        child.stdin.write(f"{what}\n".encode())
        await child.stdout.readline()
    server.kill(signal.SIGTERM)
    server.start()
    server.wait_ready()
    await asked_beside(server, peer, one.cookie, asyncio.ensure_future(asyncio.sleep(1, "")))  # templates are compiled
    idle = (await asked_beside(server, peer, one.cookie, asyncio.ensure_future(asyncio.sleep(IDLE, "")))).seconds
    print(f" idle for {IDLE:.0f} s")
    for name, seconds in idle.items():
        print(said(name, seconds, seconds))
    too_long = 0
    for what in ("usual", "usual", "look", "judge", "look"):
        child.stdin.write(f"{what}\n".encode())
        work = asyncio.ensure_future(child.stdout.readline())
        waits = await asked_beside(server, peer, one.cookie, work)
        took, n_bytes, views = json.loads(work.result())
        print(f" {what}: {took:.1f} s for {n_bytes / 1e6:.0f} MB, {', '.join(views)}")
        for name, seconds in waits.seconds.items():
            print(said(name, seconds, idle[name]), flush=True)
            too_long += name != "another server" and max(seconds) > fmean(idle[name]) + MOST_WAIT
    child.stdin.close()
    await child.wait()
    return too_long


def main(people: int = 26, times: int = 3) -> int:
    too_long = 0
    with tempfile.TemporaryDirectory() as folder:
        for n in range(times):
            url = f"{folder}/{n}.db"
            invited, one = prepare(url, people)
            servers = [ServerProcess(at, log=Path(folder) / "log", fresh=True) for at in (url, f"{folder}/peer.db")]
            for server in servers:
                server.start()
                server.wait_ready()
            print(f"{n + 1}: {people} people", flush=True)
            too_long += asyncio.run(measure(*servers, invited, one))
            for server in servers:
                server.kill()
    print(f"{too_long} of {6 * times} waited more than {1000 * MOST_WAIT:.0f} ms above the idle mean")
    return too_long


if __name__ == "__main__":
    if sys.argv[1:2] == ["crowd"]:
        asyncio.run(crowd(tuple(json.loads(sys.argv[2])), json.loads(sys.argv[3]), sys.argv[4]))
    else:
        sys.exit(main(*map(int, sys.argv[1:])) > 0)
