"""What a terminal shows while a command works."""

from functools import partial
from itertools import count
from types import SimpleNamespace

import numba
import pytest

from qrowd.cli import show
from qrowd.threads import in_threads, watched


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


def test_a_paragraph_on_a_terminal_ends_its_lines_between_words(monkeypatch, capsys):
    text = "the words of a sentence and a-name-with-hyphens-longer-than-a-line"
    show.say(text)
    assert capsys.readouterr().out == f"{text}\n"
    monkeypatch.setattr(show, "line_width", lambda: 12)
    show.say(text, bold=True)
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["the words of", "a sentence", "and", "a-name-with-hyphens-longer-than-a-line"]


@pytest.fixture
def late(monkeypatch, capsys):
    """A terminal, where two seconds pass at each look at the clock; what stands on it."""
    monkeypatch.setattr(show.sys.stderr, "isatty", lambda: True)
    clock = count(0, 2)
    monkeypatch.setattr(show, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    return lambda: capsys.readouterr().err


def test_a_bar_is_shown_once_the_work_has_taken_a_second(late, monkeypatch):
    times = iter([0.0, 0.5, 1.5])
    monkeypatch.setattr(show, "time", SimpleNamespace(monotonic=lambda: next(times)))
    with show.progress("counting") as advance:
        advance(1, 10)
        assert late() == ""
        advance(5, 10)
    assert "counting" in late()


def test_parts_of_work_that_has_a_bar_have_none_until_it_is_done(late):
    with show.progress("scoring") as advance:
        with show.progress("computing") as inner:
            inner(1, 10)
        assert late() == ""
        advance(1, 10)
        assert "scoring" in late()
        advance(10, 10)
        late()
        with show.progress("computing") as inner:
            inner(1, 10)
            advance(1, 10)
    assert "computing" in (text := late())
    assert "scoring" not in text


def test_blocks_of_work_in_threads_move_a_bar_of_their_own(late):
    with watched(partial(show.progress, "computing")):
        assert list(in_threads(abs, [-1, -2, -3])) == [1, 2, 3]
    assert "computing" in late()
    assert list(in_threads(abs, [-1, -2, -3])) == [1, 2, 3]
    assert late() == ""
