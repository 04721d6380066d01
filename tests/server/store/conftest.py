"""Tests of the store run on both databases."""

import pytest


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "address" in metafunc.fixturenames:
        metafunc.parametrize("address", ["sqlite", "postgresql"], indirect=True)
