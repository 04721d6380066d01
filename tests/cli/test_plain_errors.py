"""An error on the command line is one line that names options and files, not functions of Python."""

import re

import pytest

PANEL = "--runs panel/runs --judgments panel/judges"
MAGNITUDES = "--judgments panel/magnitudes.csv"
PYTHON = re.compile(
    r"\w\(\)|\b[a-z]+_(?!id\b)[a-z_]+\b|Errno|\bError\b|Traceback|\bNone\b|\bTrue\b|(?<![\w-])[a-z_]+='"
)
WRONG = [
    f"evaluate {PANEL} --slots 0",
    f"evaluate {PANEL} --ties expected -m RR",
    f"evaluate {PANEL} --min-coverage 2",
    f"evaluate {PANEL} --seed -1",
    f"evaluate {PANEL} --scale ann=x",
    f"evaluate {PANEL} --scale ann=0-1",
    f"evaluate {PANEL} --normalise median",
    f"evaluate {PANEL} --method majorty",
    f"evaluate {PANEL} -m nDGC@10",
    "evaluate --runs panel/runs --judgments panel/preferences.csv",
    "evaluate --runs panel/judges --judgments panel/runs",
    f"compare {PANEL} --confidence 95",
    f"compare {PANEL} --n-resamples 1",
    f"compare {PANEL} --systems bm25 bm25",
    f"plan {PANEL} --difference -1",
    f"plan {PANEL} --power 2",
    "plan --runs panel/runs --judgments panel/gold.qrels --budget 10 --judgment-cost 1",
    "agree --judgments panel/gold.qrels",
    "agree --judgments panel/judges --combine-scales as-is",
    "aggregate --judgments panel/judges --method sum",
    f"aggregate {MAGNITUDES} --method majority",
    "replace --judgments panel/judges --model nobody",
    "replace --judgments panel/gold.qrels --model llm-a",
    "predict --judgments panel/judges",
    "predict --judgments panel/gold.qrels --rel 1",
    "aware --runs panel/runs --judgments panel/gold.qrels",
    "plot nope",
    f"plot ranks {PANEL} -o ranks.doc",
    f"magnitude {MAGNITUDES} --gold nobody",
    "study recompute aware --data nowhere",
    "campaign status pilot --database none.db",
    "campaign backup nowhere/copy.db --database none.db",
    "measures nope",
    "help nope",
    "check nowhere",
    "simulate panel",
]


@pytest.fixture(scope="module")
def simulated(eight_topics):
    return eight_topics


@pytest.mark.parametrize("command", WRONG)
def test_an_error_speaks_the_language_of_the_command_line(qrowd, folder, command):
    outcome = qrowd(*command.split())
    assert outcome.status == 2
    assert outcome.err.count("\n") == 1
    assert outcome.err.startswith("qrowd: ")
    assert PYTHON.findall(outcome.err.replace("panel/", "")) == []
