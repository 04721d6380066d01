"""What a command may load: a package that takes long to import is loaded by those who need it alone."""

import shlex

import pytest

HEAVY = {
    *("jinja2", "matplotlib", "numba", "openpyxl", "pandas", "polars", "pyarrow", "pydantic", "rich", "sqlalchemy"),
    *("importlib.metadata", "numpy.ma", "scipy.optimize", "scipy.sparse", "scipy.special", "scipy.stats", "xarray"),
    *("qrowd.agreement", "qrowd.aware", "qrowd.magnitude", "qrowd.methods", "qrowd.preferences", "qrowd.simulation"),
}
SCIPY = {"importlib.metadata", "numpy.ma", "scipy.special"}  # SciPy loads the others
FILES = "--runs panel/runs --judgments panel/judges -m AP"
ALLOWED = {
    f"evaluate {FILES}": set(),
    f"evaluate {FILES} -o scores.csv": {"numpy.ma", "pandas", "pyarrow"},
    f"compare {FILES}": SCIPY,
    f"report {FILES} -o report.html": SCIPY
    | {"jinja2", "qrowd.agreement", "qrowd.aware", "qrowd.methods", "qrowd.simulation", "scipy.sparse"},
    f"explore {FILES} -o explore.html": SCIPY
    | {"qrowd.agreement", "qrowd.aware", "qrowd.methods", "qrowd.simulation", "scipy.sparse"},
    "check panel/runs panel/judges": {"numpy.ma"},
    "trec-eval panel/gold.qrels panel/runs/bm25.run": set(),
}  # fmt: skip


@pytest.mark.parametrize("command", ALLOWED)
def test_a_command_loads_no_heavy_package_that_it_does_not_need(command, folder, loaded_modules):
    assert loaded_modules(*shlex.split(command)) & HEAVY <= ALLOWED[command]
