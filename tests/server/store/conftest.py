"""Tests of the store run on both databases; one that says otherwise names its own.

In `make test` only those do whose promises each database keeps in its own way; the others wait for `make nightly`.
"""

import pytest

ON_BOTH = ("test_laws.py", "test_migrations.py")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    named = {mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")}
    if "address" in metafunc.fixturenames and "address" not in named:
        marks = [pytest.mark.nightly] * (metafunc.definition.path.name not in ON_BOTH)
        databases = ["sqlite", pytest.param("postgresql", marks=marks)]
        metafunc.parametrize("address", databases, indirect=True)
