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


def test_a_paragraph_on_a_terminal_ends_its_lines_between_words(monkeypatch, capsys):
    text = "the words of a sentence and a-name-with-hyphens-longer-than-a-line"
    show.say(text)
    assert capsys.readouterr().out == f"{text}\n"
    monkeypatch.setattr(show, "line_width", lambda: 12)
    show.say(text, bold=True)
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["the words of", "a sentence", "and", "a-name-with-hyphens-longer-than-a-line"]


def test_a_bar_is_shown_once_the_work_has_taken_a_second(monkeypatch, capsys):
    monkeypatch.setattr(show.sys.stderr, "isatty", lambda: True)
    times = iter([0.0, 0.5, 1.5, 1.6])
    monkeypatch.setattr(show.time, "monotonic", lambda: next(times, 2.0))
    with show.progress("counting") as advance:
        advance(1, 10)
        assert capsys.readouterr().err == ""
        advance(5, 10)
    assert "counting" in capsys.readouterr().err
