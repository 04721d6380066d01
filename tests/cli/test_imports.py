"""What a command may load: a package that takes long to import is loaded by those who need it alone."""

import shlex

import pytest

HEAVY = {
    *("jinja2", "matplotlib", "numba", "openpyxl", "pandas", "polars", "pyarrow", "pydantic", "rich", "sqlalchemy"),
    *("scipy.optimize", "scipy.sparse", "scipy.special", "scipy.stats", "xarray"),
    *("qrowd.agreement", "qrowd.aware", "qrowd.magnitude", "qrowd.methods", "qrowd.preferences", "qrowd.simulation"),
}
FILES = "--runs panel/runs --judgments panel/judges -m AP"
ALLOWED = {
    f"evaluate {FILES}": set(),
    f"evaluate {FILES} -o scores.csv": {"pandas", "pyarrow"},
    f"compare {FILES}": {"scipy.special"},
    f"report {FILES} -o report.html": {"jinja2", "qrowd.agreement", "qrowd.aware", "qrowd.methods", "qrowd.simulation"}
    | {"scipy.sparse", "scipy.special"},
    "check panel/runs panel/judges": set(),
    "trec-eval panel/gold.qrels panel/runs/bm25.run": set(),
}  # fmt: skip


@pytest.mark.parametrize("command", ALLOWED)
def test_a_command_loads_no_heavy_package_that_it_does_not_need(command, folder, loaded_modules):
    assert loaded_modules(*shlex.split(command)) & HEAVY <= ALLOWED[command]
