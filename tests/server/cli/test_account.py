"""`qrowd account`: one clear line whatever is asked, also beside a server."""

import io
import shlex

import pytest

from qrowd.cli.commands import examples
from qrowd_server.store.accounts import accounts, check_login
from qrowd_server.store.engine import open_store
from qrowd_server.store.sessions import find_session, open_session

PASSWORD = "correct horse battery"


@pytest.fixture
def database(qrowd, monkeypatch):
    monkeypatch.setenv("QROWD_PASSWORD", PASSWORD)
    assert qrowd("campaign", "init", "pilot").status == 0
    assert qrowd("campaign", "create", "pilot").status == 0
    return "judgments.db"


def rows(database):
    with open_store(database, read_only=True) as store:
        return {one.name: one for one in store.read(accounts)}


def test_accounts_are_added_listed_and_removed(qrowd, database):
    assert qrowd("account", "list").out.strip() == "No account yet; qrowd account add NAME adds one."
    assert qrowd("account", "add", "zoe").out == "zoe can log in at /owner/login\n"
    assert qrowd("account", "add", "ann", "--role", "administrator").status == 0
    listed = qrowd("account", "list").out
    assert listed.splitlines()[0] == "2 accounts."
    assert {name: one.role for name, one in rows(database).items()} == {"zoe": "member", "ann": "administrator"}
    assert qrowd("account", "remove", "zoe").out == "zoe is removed\n"
    assert list(rows(database)) == ["ann"]


def test_a_name_that_exists_is_one_line_and_no_hash(qrowd, database):
    assert qrowd("account", "add", "zoe").status == 0
    again = qrowd("account", "add", "zoe")
    assert again.status == 2
    assert again.err == ("qrowd: account 'zoe': there is one of this name already; choose another name\n")


def test_another_password_ends_sessions_and_works_while_a_server_holds_the_database(qrowd, database, monkeypatch):
    assert qrowd("account", "add", "zoe").status == 0
    with open_store(database) as server:
        number = server.read(accounts)[0].id
        cookie, _ = server.write(lambda c: open_session(c, "owner", number, 5.0))
        monkeypatch.setenv("QROWD_PASSWORD", "another password")
        outcome = qrowd("account", "change", "zoe")
        assert (outcome.status, outcome.out) == (0, "zoe has another password; sessions of this account have ended\n")
        assert server.read(lambda c: find_session(c, cookie, 5.0)) is None
        assert check_login(server, "zoe", PASSWORD, "", 5.0) is None
        assert check_login(server, "zoe", "another password", "", 5.0) == number
        assert qrowd("account", "change", "zoe", "--disable").out == "zoe is disabled\n"
        assert check_login(server, "zoe", "another password", "", 5.0) is None
        assert qrowd("account", "change", "zoe", "--enable").out == "zoe may log in\n"
        assert check_login(server, "zoe", "another password", "", 5.0) == number


def test_a_link_to_set_a_password_is_printed(qrowd, database):
    assert qrowd("account", "add", "zoe", "--link").out.startswith("http://127.0.0.1:8000/owner/password/")
    assert not rows(database)["zoe"].has_password
    assert qrowd("account", "change", "zoe", "--link").out.startswith("http://127.0.0.1:8000/owner/password/")


NOBODY = "account 'nobody': there is none of this name; qrowd account list shows all"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("add", "two words"), "account 'two words': give a name of 1 to 100 visible characters without blanks"),
        (("change", "nobody"), NOBODY),
        (("remove", "nobody"), NOBODY),
    ],
)
def test_mistakes_are_one_line(qrowd, database, arguments, line):
    outcome = qrowd("account", *arguments)
    assert (outcome.status, outcome.err) == (2, f"qrowd: {line}\n")


def test_a_short_password_is_refused_before_anything_is_written(qrowd, database, monkeypatch):
    monkeypatch.setenv("QROWD_PASSWORD", "short")
    outcome = qrowd("account", "add", "zoe")
    assert outcome.status == 2
    assert outcome.err == "qrowd: a password needs 10 to 1000 characters, this one has 5\n"
    assert rows(database) == {}


class Typed(io.StringIO):
    """Standard input that is a terminal."""

    def isatty(self):
        return True


def test_without_a_terminal_one_line_says_where_the_password_comes_from(qrowd, database, monkeypatch):
    assert qrowd("account", "add", "olga").status == 0
    monkeypatch.delenv("QROWD_PASSWORD")
    monkeypatch.setattr("sys.stdin", io.StringIO())
    for arguments in (("add", "zoe"), ("change", "olga")):
        outcome = qrowd("account", *arguments)
        line = "no terminal asks for the password; set QROWD_PASSWORD, or print a link by --link"
        assert (outcome.status, outcome.err) == (2, f"qrowd: {line}\n")


def test_ctrl_c_at_the_prompt_interrupts_the_command(qrowd, database, monkeypatch):
    def interrupt(prompt):
        raise KeyboardInterrupt

    def end(status):
        raise SystemExit(status)

    monkeypatch.delenv("QROWD_PASSWORD")
    monkeypatch.setattr("sys.stdin", Typed())
    monkeypatch.setattr("getpass.getpass", interrupt)
    monkeypatch.setattr("os._exit", end)
    outcome = qrowd("account", "add", "zoe")
    assert (outcome.status, outcome.err) == (130, "qrowd: interrupted; no output was written\n")
    assert rows(database) == {}


def test_the_examples_run_one_after_the_other(qrowd, database):
    for command, lines in examples().items():
        if command.startswith("account"):
            for line in lines:
                outcome = qrowd(*shlex.split(line)[1:])
                assert outcome.status == 0, (line, outcome.err)
