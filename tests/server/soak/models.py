"""A job that asks a model is killed again and again under load: nothing is asked twice, and no answer is lost.

python -m soak.models [KILLS] [PAIRS]       50 kills and 5,000 pairs by default: about a minute
"""

from __future__ import annotations

import dataclasses
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from judge.model_server import ModelServer, completion
from qrowd.judge.record import Record

CONCURRENCY = 8
JOB = """
import sys
from qrowd.judge.chat import ChatModel
from qrowd.judge.exchange import Message, Request
from qrowd.judge.record import Record
from qrowd.judge.running import AskOptions, ask_all

path, url, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
requests = [Request(url, "small", (Message("user", f"pair {i}"),)) for i in range(n)]
ask_all(requests, [ChatModel(url, "small")], Record(path), AskOptions(concurrency=8))
print("done")
"""


def kill_and_resume(path: Path, n: int, kills: int, *, delay: float) -> tuple[list[str], list[str]]:
    """Kill a job again and again, then let it end; (requests that the server got, attempts that the record holds).

    delay : seconds that the server takes for an answer. A kill comes after a random number of requests, so few that the
    job still runs at the last, however fast it is.
    """
    chance = random.Random(0)
    with ModelServer(lambda number, body: dataclasses.replace(completion("2"), delay=delay)) as served:
        command = [sys.executable, "-c", JOB, str(path), served.url, str(n)]
        for _ in range(kills):
            with Record(path) as record:
                complete = {attempt.request.messages[0].content for attempt in record.attempts()}
            start = len(served.bodies)
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as job:
                until = start + chance.randint(1, n // (2 * kills))
                deadline = time.monotonic() + 20
                while len(served.bodies) < until and time.monotonic() < deadline and job.poll() is None:
                    time.sleep(0.001)
                os.kill(job.pid, signal.SIGKILL)
                job.wait()
            assert complete.isdisjoint(served.contents[start:])  # nothing that was recorded is asked again
        final = subprocess.run(command, capture_output=True, text=True, check=True)
        assert final.stdout == "done\n"
        with Record(path, read_only=True) as record:
            return list(served.contents), [attempt.request.messages[0].content for attempt in record.attempts()]


def main(kills: int = 50, n: int = 5000) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asked, recorded = kill_and_resume(Path(folder) / "judge.sqlite", n, kills, delay=0.002)
    distinct = len(set(recorded))
    print(f"{kills} kills, {n} pairs: {len(asked)} requests, {len(recorded)} answers, {distinct} of them distinct")
    if sorted(recorded) != sorted(f"pair {i}" for i in range(n)) or len(asked) > n + CONCURRENCY * kills:
        raise SystemExit("an answer was lost, or something was asked twice")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
