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


def test_a_system_that_lacks_a_topic_has_no_score_there_or_zero_and_a_note_says_so(qrowd, boards):
    lines = (boards / "gpt.jsonl").read_text().splitlines(keepends=True)
    third = [line.replace('"run_id": "b"', '"run_id": "c"') for line in lines if '"b"' in line]
    (boards / "gpt.jsonl").write_text("".join([*lines[1:], *third]))  # without the first system's first topic
    out = qrowd("leaderboards", "gpt.jsonl", "--format", "jsonl").out
    assert (
        "1 of 9 scores, in 1 of 3 systems, most of a (33.3 %); means, ranks, correlations and the test of all pairs"
        in out
    )
    zero = qrowd("leaderboards", "gpt.jsonl", "--missing", "zero", "-o", "zero.csv")
    assert "1 of 9 scores count as 0" in qrowd("leaderboards", "gpt.jsonl", "--missing", "zero").out
    assert zero.status == 0, zero.err
