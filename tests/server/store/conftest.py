"""Tests of the store run on both databases; one that says otherwise names its own."""

import pytest


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    named = {mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")}
    if "address" in metafunc.fixturenames and "address" not in named:
        metafunc.parametrize("address", ["sqlite", "postgresql"], indirect=True)
