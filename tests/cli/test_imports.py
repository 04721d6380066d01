"""What a command and an evaluation may load: a package that takes long to import, only where it is needed."""

import shlex
import subprocess
import sys

import pytest

HEAVY = {
    *("jinja2", "matplotlib", "numba", "openpyxl", "pandas", "polars", "pyarrow", "pydantic", "rich", "sqlalchemy"),
    *("importlib.metadata", "numpy.ma", "scipy.optimize", "scipy.sparse", "scipy.special", "scipy.stats", "xarray"),
    *("qrowd.agreement", "qrowd.aware", "qrowd.magnitude", "qrowd.methods", "qrowd.preferences", "qrowd.simulation"),
    *("concurrent.futures.process", "distributed", "multiprocessing"),
    *("qrowd.evaluation.parts", "qrowd.executors", "qrowd.partitioning", "qrowd.partitions"),
}
EXECUTORS = {"concurrent.futures.process", "multiprocessing", "qrowd.executors"}  # AWARE may use them
SCIPY = {"importlib.metadata", "numpy.ma", "scipy.special"}  # SciPy loads the others
STATS = SCIPY | {"scipy.optimize", "scipy.sparse", "scipy.stats"}  # Wilcoxon's test
FILES = "--runs panel/runs --judgments panel/judges -m AP"
ALLOWED = {
    f"evaluate {FILES}": {"importlib.metadata"},  # for the version in the signature
    f"evaluate {FILES} -o scores.csv": {"importlib.metadata", "numpy.ma", "pandas", "pyarrow"},
    f"compare {FILES}": STATS,
    f"report {FILES} -o report.html": STATS
    | {"jinja2", "qrowd.agreement", "qrowd.aware", "qrowd.methods", "qrowd.simulation", "scipy.sparse"}
    | EXECUTORS,
    "check panel/runs panel/judges": SCIPY,
    "trec-eval panel/gold.qrels panel/runs/bm25.run": set(),
}  # fmt: skip


@pytest.fixture(scope="module")
def simulated(eight_topics):
    return eight_topics


@pytest.mark.parametrize(
    "command",
    [pytest.param(one, marks=[pytest.mark.nightly] * (len(ALLOWED[one]) > 1)) for one in ALLOWED],
)
def test_a_command_loads_no_heavy_package_that_it_does_not_need(command, folder, loaded_modules):
    assert loaded_modules(*shlex.split(command)) & HEAVY <= ALLOWED[command]


EVALUATION = """
import sys, qrowd
runs = {"a": {"topic": {"d": 2.0, "e": 1.0}}, "b": {"topic": {"e": 1.0}}}
judgments = {"ann": {"topic": {"d": 1}}, "bob": {"topic": {"e": 1}}}
qrowd.evaluate(runs, judgments, ["nDCG@10", "AP"])
print(*sys.modules)
"""
FOR_EVALUATION = {"display", "errors", "evaluation", "kernels", "measures", "model", "plugins", "threads"}


def test_an_evaluation_in_memory_loads_nothing_for_files_parts_or_workers():
    done = subprocess.run([sys.executable, "-c", EVALUATION], capture_output=True, text=True, check=True)
    names = set(done.stdout.split())
    assert {name.split(".")[1] for name in names if name.startswith("qrowd.")} <= FOR_EVALUATION
    assert not names & HEAVY
