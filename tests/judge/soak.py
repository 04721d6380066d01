"""`qrowd judge ask` is killed while its server fails in every way: no answer is lost or asked for again.

python -m judge.soak [KILLS] [QUESTIONS]       10 kills and 5,000 questions by default: some minutes

Each question that the server answers is judged with the right grade or counted as unread; the others are counted as
failed. The judgments are there after each kill (`qrowd judge status -o`) and at the end, and the exit status is 1.
"""

from __future__ import annotations

import csv
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from judge.failing_server import CASES, PROMPT, Failing, expected, shown, text_of
from judge.model_server import ModelServer
from qrowd.judge.asking import answers_in

CONCURRENCY = 32


@dataclass(frozen=True)
class Soaked:
    """What was found.

    asked : {number: requests that the server got}. attempts : that the record holds. statuses : {number: (status,
    values)} in the end. again : answered questions that were asked again. kills : that hit a running job. exits : exit
    statuses of the jobs that ended by themselves. judged : {number: grade} of the file of judgments.
    """

    asked: Counter[int]
    statuses: dict[int, tuple[str, tuple[float, ...]]]
    again: list[int]
    kills: int
    exits: list[int]
    judged: dict[int, float]


def write_job(folder: Path, n: int) -> list[str]:
    """The files of a job of n questions, and the command without its model."""
    (folder / "topics.tsv").write_text("1\tgreen tea\n")
    (folder / "documents.tsv").write_text("".join(f"d{i}\t{text_of(i)}\n" for i in range(n)))
    (folder / "pool.csv").write_text("topic,document,assessor,value\n" + "".join(f"1,d{i},a,1\n" for i in range(n)))
    (folder / "scored.toml").write_text(PROMPT)
    return [
        *(sys.executable, "-m", "qrowd", "judge", "ask", "--topics", "topics.tsv", "--documents", "documents.tsv"),
        *("--pool", "pool.csv", "--as", "scored.toml", "-o", "judges", "--timeout", "2"),
        *("--concurrency", str(CONCURRENCY)),
    ]


def judged_in(folder: Path) -> dict[int, float]:
    """{number: grade} of the files of judgments, each question once."""
    texts = [path.read_text(encoding="utf-8") for path in folder.glob("*.csv")]
    rows = [row for text in texts for row in csv.DictReader(text.splitlines())]
    judged = {int(row["document"].removeprefix("d")): float(row["value"]) for row in rows}
    assert len(judged) == len(rows)
    return judged


def statuses_in(record: Path) -> dict[int, tuple[str, tuple[float, ...]]]:
    """{number: (status, values)} of the questions that a record holds."""
    outcomes = answers_in(record).outcomes
    return {int(one.question.documents[0].removeprefix("d")): (shown(one.status), one.values) for one in outcomes}


def kill_and_resume(folder: Path, kills: int, n: int) -> Soaked:
    """Kill the job, start it again, and let the last one end; then once more, which asks the failed ones again."""
    chance, failing, again, killed = random.Random(0), Failing(), list[int](), 0
    command, record = write_job(folder, n), folder / "judge.sqlite"
    with ModelServer(failing) as served:
        command += ["--model", f"{served.url}#small"]
        for _ in range(kills):
            answered = answered_in(record)
            before, start = Counter(failing.asked), len(served.bodies)
            with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as job:
                until = start + chance.randint(n // (3 * kills), n // kills)
                while len(served.bodies) < until and job.poll() is None:
                    time.sleep(0.001)
                if job.poll() is None:
                    killed += 1
                    job.kill()
            again += [i for i in answered if failing.asked[i] > before[i]]
            export = [*command[:4], "status", "judge.sqlite", "-o", "judges"]
            subprocess.run(export, cwd=folder, check=True, capture_output=True)
            assert all(expected(i) == ("ok", (grade,)) for i, grade in judged_in(folder / "judges").items())
        exits = list[int]()
        for _ in range(2):
            answered, before = answered_in(record), Counter(failing.asked)
            exits.append(subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode)
            again += [i for i in answered if failing.asked[i] > before[i]]
    return Soaked(failing.asked, statuses_in(record), again, killed, exits, judged_in(folder / "judges"))


def answered_in(record: Path) -> list[int]:
    """The questions that have an answer, whether or not it can be read."""
    if not record.exists():
        return []
    return [i for i, (status, _) in statuses_in(record).items() if status != "failed"]


def main(kills: int = 10, n: int = 5000) -> None:
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        soaked = kill_and_resume(Path(folder), kills, n)
    wrong = [i for i in range(n) if soaked.statuses.get(i) != expected(i)]
    right = {i: values[0] for i in range(n) if (values := expected(i)[1])}
    counts = Counter(status for status, _ in soaked.statuses.values())
    print(
        f"{n} questions of {len(CASES)} cases, {soaked.kills} kills, {time.monotonic() - start:.0f} s: "
        f"{soaked.asked.total()} requests; " + ", ".join(f"{count} {status}" for status, count in counts.items())
    )
    print(f"{len(wrong)} questions with a wrong status or grade, {len(soaked.again)} answered questions asked again")
    print(
        f"{len(soaked.judged)} of {len(right)} judgments written; exit statuses of the jobs that ended {soaked.exits}"
    )
    if wrong or soaked.again or soaked.judged != right or soaked.exits != [1, 1]:
        for i in wrong[:20]:
            print(text_of(i), soaked.statuses.get(i), "expected", expected(i))
        raise SystemExit(1)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
