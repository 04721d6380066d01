"""`make quick` leaves out modules by name: each name is that of a module."""

from pathlib import Path

from conftest import SLOW


def test_every_module_that_quick_leaves_out_exists():
    assert SLOW
    assert all((Path(__file__).parent / name).is_file() for name in SLOW)
