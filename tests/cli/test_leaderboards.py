"""`qrowd leaderboards`: judges' leaderboards compared with people's."""

import json
import shlex

import pytest

from qrowd.cli.commands import examples


@pytest.fixture
def boards(tmp_path, monkeypatch):
    """Leaderboards of three judges: gpt and nist agree on the two systems, llama does not."""
    grades = {"gpt": (2, 1), "nist": (3, 1), "llama": (0, 2)}
    for judge, (first, second) in grades.items():
        rows = [
            {"run_id": system, "topic_id": topic, "measure": "GRADE", "value": grade + (topic == "t1") / 10}
            for system, grade in (("a", first), ("b", second))
            for topic in ("t1", "t2", "t3")
        ]
        (tmp_path / f"{judge}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("line", examples()["leaderboards"])
def test_an_example_runs(qrowd, boards, line):
    outcome = qrowd(*shlex.split(line)[1:])
    assert outcome.status == 0, outcome.err
    assert outcome.out


def test_judges_are_compared_with_the_reference(qrowd, boards):
    out = qrowd("leaderboards", "gpt.jsonl", "llama.jsonl", "nist.jsonl", "--reference", "nist").out
    tau = {line.split()[0]: float(line.split()[1]) for line in out.splitlines() if line.startswith(("gpt ", "llama "))}
    assert tau == {"gpt": 1.0, "llama": -1.0}
