"""Measures and methods of another distribution: the code of docs/extending.md, installed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import qrowd
from qrowd.cli.main import app
from qrowd.errors import ArgumentError, MeasureError
from qrowd.evaluation import added_measures
from qrowd.methods import added_methods

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
CODE = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1]
ENTRY_POINTS = re.sub(r'project\.entry-points\."([\w.]+)"', r"\1", re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)[1])

JUDGMENTS = qrowd.Judgments.from_rows(
    [("q1", "d1", "ann", 1), ("q1", "d2", "ann", 3), ("q1", "d1", "bob", 2), ("q1", "d2", "bob", 0)]
)
RUNS = qrowd.Runs.from_dict({"bm25": {"q1": {"d1": 2.0, "d2": 1.0}}, "dense": {"q1": {"d2": 1.0}}})


def install(folder, entry_points, code=CODE):
    info = folder / "my_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entry_points.replace('"', ""))
    (folder / "my_package.py").write_text(code)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    for added in (added_measures, added_methods):
        added.cache_clear()
    yield tmp_path
    for added in (added_measures, added_methods):
        added.cache_clear()
    sys.modules.pop("my_package", None)


def test_a_measure_of_another_distribution_is_used_by_its_name(folder):
    install(folder, ENTRY_POINTS)
    scores = qrowd.evaluate(RUNS, JUDGMENTS, ["AP", "highestgrade@1"])
    assert scores.measures == ("AP", "HighestGrade@1")
    np.testing.assert_array_equal(scores.of("HighestGrade@1")[:, 0], [[1.0, 3.0], [2.0, 0.0]])


def test_a_method_of_another_distribution_is_used_by_its_name(folder):
    install(folder, ENTRY_POINTS)
    scores = qrowd.evaluate_methods(RUNS, JUDGMENTS, "P@1", methods=["mean", "strictest"])
    np.testing.assert_array_equal(scores.of("P@1")[1, 0], [1.0, 0.0])


def test_the_command_line_lists_and_describes_added_measures(folder):
    install(folder, ENTRY_POINTS)
    listed = CliRunner().invoke(app, ["measures"]).stdout
    assert "HighestGrade@10: The highest grade among the first k documents.\n" in listed
    assert "HighestGrade@k = max over r <= k of g_r" in CliRunner().invoke(app, ["measures", "HighestGrade"]).stdout


def test_a_measure_that_states_neither_formula_nor_source_is_listed(folder):
    install(folder, ENTRY_POINTS, re.sub(r'documents\.\n.*?"""', 'documents."""', CODE, count=1, flags=re.DOTALL))
    assert "HighestGrade@10: The highest grade" in CliRunner().invoke(app, ["measures"]).stdout
    assert "Source: not stated" in CliRunner().invoke(app, ["measures", "HighestGrade"]).stdout


def test_other_distributions_are_imported_only_for_names_that_qrowd_lacks(folder):
    install(folder, ENTRY_POINTS, CODE)
    script = (
        "import sys, qrowd, qrowd.methods\n"
        "qrowd.measure('AP'), qrowd.measure('ndcg_cut_10'), qrowd.methods.parse_method('majority')\n"
        "print('my_package' in sys.modules)\n"
        "qrowd.measure('HighestGrade@5')\n"
        "print('my_package' in sys.modules)\n"
    )
    variables = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run([sys.executable, "-c", script], env=variables, capture_output=True, text=True, check=True)
    assert done.stdout == "False\nTrue\n"


def test_an_unknown_name_may_be_near_to_an_added_one(folder):
    install(folder, ENTRY_POINTS)
    with pytest.raises(MeasureError, match="did you mean 'HighestGrade@5'"):
        qrowd.measure("HighestGrad@5")


def test_an_entry_point_that_is_no_measure_is_refused(folder):
    install(folder, "[qrowd.measures]\nstrictest = my_package:STRICTEST\n")
    message = (
        r"qrowd\.measures: 'strictest' is Strictest; an instance of qrowd\.measures\.measure_kinds\.Scored was expected"
    )
    with pytest.raises(ArgumentError, match=message):
        qrowd.measure("nowhere@5")
