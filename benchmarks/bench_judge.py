"""Asking a server that takes 20 ms for each of 10,828 pairs: how much of the concurrency is used, and the memory.

python bench_judge.py [PAIRS]

The server runs in a process of its own and shares the machine. A place is used while its request waits for the server;
it is not while a reply is read, recorded and counted. The peer is httpx2 alone: as many requests from as many tasks,
whose replies nobody reads. The promise is on processor time, because the time on the clock is the server's: at 20 ms
and 8 places both sides wait for most of it, whatever they do in between.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from side_by_side import finish, promise, times

from qrowd.judge.chat import ChatModel, body
from qrowd.judge.exchange import Message, Request
from qrowd.judge.record import Record
from qrowd.judge.running import AskOptions, ask_all

PAIRS = 10_828
LATENCY = 0.02
CONCURRENCY = 8
SERVER = f"""
import dataclasses, sys
from judge.model_server import ModelServer, completion
answer = dataclasses.replace(completion("2"), delay={LATENCY})
with ModelServer(lambda number, body: answer) as served:
    print(served.url, flush=True)
    sys.stdin.read()
"""


def requests(url: str, n: int) -> list[Request]:
    return [
        Request(url, "small", (Message("user", f"Query {i}: " + "words of a passage " * 105),), {"temperature": 0})
        for i in range(n)
    ]


def peak_megabytes() -> float:
    """The most memory that this process had; getrusage also counts what started it."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


async def bare(questions: list[Request]) -> None:
    """httpx2 alone."""
    import httpx2

    queue = [json.dumps(body(question, False)).encode() for question in questions]
    async with httpx2.AsyncClient() as client:

        async def work() -> None:
            while queue:
                await client.post(f"{questions[0].endpoint}/chat/completions", content=queue.pop())

        await asyncio.gather(*(work() for _ in range(CONCURRENCY)))


def start() -> tuple[subprocess.Popen[str], str]:
    """A server in a process of its own, and its URL."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def main(n: int = PAIRS) -> None:
    process, url = start()
    with process, tempfile.TemporaryDirectory() as folder:
        questions = requests(url, n)
        with Record(Path(folder) / "judge.sqlite") as record:
            started, cpu = time.perf_counter(), time.process_time()
            ask_all(questions, [ChatModel(url, "small")], record, AskOptions(CONCURRENCY))
            ours, ours_cpu = time.perf_counter() - started, time.process_time() - cpu
            busy = sum(attempt.reply.seconds for attempt in record.attempts())
            memory = peak_megabytes()
            assert len(record) == n
        started, cpu = time.perf_counter(), time.process_time()
        asyncio.run(bare(questions))
        theirs, theirs_cpu = time.perf_counter() - started, time.process_time() - cpu
        process.communicate("")
    promise(
        "places in use, of 8",
        busy / (ours * CONCURRENCY),
        at_least=0.9,
        beside=f"{n} requests of 2,000 characters in {ours:.1f} s",
        limit="instructions: a reply is recorded before the next request is sent",
    )
    promise(
        "processor time, in that of httpx2 alone",
        ours_cpu / theirs_cpu,
        at_most=2,
        beside=times("httpx2", theirs_cpu, ours_cpu) + f" of processor time, in {theirs:.1f} s and {ours:.1f} s",
        limit="instructions: two canonical forms and a SHA-256 of each request, a parsed reply, a commit of SQLite",
    )
    promise("megabytes at most", memory, at_most=200, beside="all requests and replies are held", limit="bytes")
    finish()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
