"""What a terminal shows while a command works."""

from functools import partial
from io import StringIO
from itertools import count
from types import SimpleNamespace

import pytest

from qrowd.cli import output, progress
from qrowd.threads import in_threads, watched


def test_a_paragraph_on_a_terminal_ends_its_lines_between_words(monkeypatch, capsys):
    text = "the words of a sentence and a-name-with-hyphens-longer-than-a-line"
    output.say(text)
    assert capsys.readouterr().out == f"{text}\n"
    monkeypatch.setattr(output, "line_width", lambda: 12)
    output.say(text, bold=True)
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["the words of", "a sentence", "and", "a-name-with-hyphens-longer-than-a-line"]


@pytest.fixture
def terminal(monkeypatch):
    """A terminal, whose clock shows these seconds, one after the other."""

    def start(seconds):
        class Terminal(StringIO):
            def isatty(self):
                return True

            def text(self):
                """What was written since the last look."""
                text = self.getvalue()
                self.seek(0)
                self.truncate()
                return text

        times = iter(seconds)
        monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: next(times)))
        monkeypatch.setattr(progress.sys, "stderr", Terminal())
        return progress.sys.stderr

    return start


def test_a_bar_is_shown_once_the_work_has_taken_a_second(terminal):
    shown = terminal([0.0, 0.5, 1.5]).text
    with progress.progress("counting") as advance:
        advance(1, 10)
        assert shown() == ""
        advance(5, 10)
    assert "counting" in shown()


def test_a_note_stands_beside_the_bar(terminal):
    shown = terminal(count(0, 2)).text
    with progress.progress("asking") as advance:
        advance(1, 10, "0.25 USD")
        assert "asking, 0.25 USD" in shown()


def test_parts_of_work_that_has_a_bar_have_none_until_it_is_done(terminal):
    shown = terminal(count(0, 2)).text
    with progress.progress("scoring") as advance:
        with progress.progress("computing") as inner:
            inner(1, 10)
        assert shown() == ""
        advance(1, 10)
        assert "scoring" in shown()
        advance(10, 10)
        shown()
        with progress.progress("computing") as inner:
            inner(1, 10)
            advance(1, 10)
    assert "computing" in (text := shown())
    assert "scoring" not in text


def test_blocks_of_work_in_threads_move_a_bar_of_their_own(terminal):
    shown = terminal(count(0, 2)).text
    with watched(partial(progress.progress, "computing")):
        assert list(in_threads(abs, [-1, -2, -3])) == [1, 2, 3]
    assert "computing" in shown()
    assert list(in_threads(abs, [-1, -2, -3])) == [1, 2, 3]
    assert shown() == ""
