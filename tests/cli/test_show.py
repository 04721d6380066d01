"""What a terminal shows while a command works."""

import numba

from qrowd.cli import show


def test_the_first_compilation_is_announced_once(capsys):
    show.announce_compiling.cache_clear()
    show.announce_compiling()
    for add in (numba.njit(lambda x: x + 1), numba.njit(lambda x: x + 2)):
        assert add(1) > 1
    assert capsys.readouterr().err == f"{show.COMPILING}\n"


def test_a_function_that_is_compiled_already_is_not_announced(capsys):
    add = numba.njit(lambda x: x + 3)
    add(1)
    show.announce_compiling.cache_clear()
    show.announce_compiling()
    assert add(2) == 5
    assert capsys.readouterr().err == ""
