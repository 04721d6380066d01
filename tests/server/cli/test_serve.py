"""`qrowd serve`: its settings, from options and from the environment, and what it prints before it serves."""

import shlex
import socket

import pytest

from qrowd_server.cli.serve import _addresses
from qrowd_server.store.engine import open_store
from qrowd_server.store.sessions import get_setting
from qrowd_server.web import serving


@pytest.fixture
def started(monkeypatch):
    """The settings with which servers were started, which serve nothing here."""
    found = []
    monkeypatch.setattr(serving, "serve", lambda settings, store: found.append(settings))
    return found


@pytest.mark.parametrize(
    ("arguments", "environment", "words"),
    [
        ("--base-url https://h/a?b", {}, "--base-url https://h/a?b: expected http:// or https:// and a host"),
        ("--base-url https://h/judge", {}, "--base-url https://h/judge: expected http:// or https:// and a host"),
        ("--base-url judge.example.org", {}, "--base-url judge.example.org"),
        ("", {"QROWD_BASE_URL": "ftp://h"}, "--base-url ftp://h"),
        ("--trusted-proxy proxy", {}, "trusted_proxies 'proxy'"),
        ("", {"QROWD_PORT": "tcp://10.0.0.1:80"}, "QROWD_PORT"),
        ("", {"QROWD_SECRET": "no digits"}, "secret: expected 64 or more hexadecimal digits"),
        ("", {"QROWD_SECRET": "00" * 32}, "secret: expected at least 32 random bytes"),
        ("--host 203.0.113.9", {}, "--host 203.0.113.9"),
        ("--demo --database mine.db", {}, "--demo has a database of its own, in the folder qrowd-demo; leave out"),
    ],
)
def test_a_wrong_setting_is_one_line_before_anything_is_printed_or_stored(
    qrowd, tmp_path, monkeypatch, started, arguments, environment, words
):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    outcome = (
        qrowd("serve", "--port", "0", *shlex.split(arguments)) if "QROWD_PORT" not in environment else qrowd("serve")
    )
    assert (outcome.status, outcome.out, started) == (2, "", [])
    assert outcome.err.count("\n") == 1
    assert words in outcome.err
    assert list(tmp_path.iterdir()) == []


def test_a_port_that_is_taken_is_one_line_before_anything_is_printed(qrowd, tmp_path, started):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        outcome = qrowd("serve", "--port", port)
    assert (outcome.status, outcome.out, started) == (2, "", [])
    assert outcome.err == f"qrowd: --host 127.0.0.1 --port {port}: address already in use; name others\n"
    assert list(tmp_path.iterdir()) == []


def test_every_setting_comes_from_the_environment_and_an_option_goes_first(qrowd, monkeypatch, started, tmp_path):
    secret = bytes(range(32)).hex()
    environment = {
        "QROWD_DATABASE": str(tmp_path / "own.db"),
        "QROWD_HOST": "127.0.0.1",
        "QROWD_PORT": "0",
        "QROWD_BASE_URL": "https://example.org/",
        "QROWD_TRUSTED_HOST": "a.example b.example:81",
        "QROWD_TRUSTED_PROXY": "10.0.0.0/8 ::1",
        "QROWD_PER_MINUTE": "7",
        "QROWD_SECRET": secret,
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    outcome = qrowd("serve", "--per-minute", "9")
    assert outcome.status == 0, outcome.err
    (settings,) = started
    assert settings.base_url == "https://example.org"
    assert settings.trusted_hosts == ("a.example", "b.example:81")
    assert settings.trusted_proxies == ("10.0.0.0/8", "::1")
    assert (settings.per_minute, settings.secret) == (9, secret)
    assert "https://example.org/owner/enter/" in outcome.out
    assert secret not in outcome.out + outcome.err + repr(settings)
    with open_store(tmp_path / "own.db", read_only=True) as store:
        assert store.read(lambda c: get_setting(c, "base_url")) == "https://example.org"


def test_a_server_whose_output_others_read_prints_no_link(qrowd, monkeypatch, started):
    monkeypatch.setenv("QROWD_OWNER_LINK", "false")
    outcome = qrowd("serve", "--port", "0")
    assert (outcome.status, len(started)) == (0, 1)
    assert "/owner/enter/" not in outcome.out
    assert "/owner/enter/" in qrowd("serve", "--port", "0", "--owner-link").out


def test_a_server_on_all_addresses_is_asked_for_by_local_names_until_one_is_given():
    address, hosts, notes = _addresses("0.0.0.0", 8000, None)
    assert (address, hosts) == ("http://127.0.0.1:8000", ["localhost:8000"])
    assert "--base-url" in notes[0]


@pytest.mark.parametrize(
    ("host", "base_url", "warned"),
    [
        ("127.0.0.1", None, False),
        ("localhost", None, False),
        ("::1", None, False),
        ("192.0.2.5", None, True),
        ("127.0.0.1", "http://judge.example.org", True),
        ("0.0.0.0", "https://judge.example.org", False),
        ("0.0.0.0", "http://localhost:8000", False),
    ],
)
def test_plain_http_for_others_is_warned_of(host, base_url, warned):
    notes = _addresses(host, 8000, base_url)[2]
    assert any("plain http" in note for note in notes) == warned


def test_addresses_of_version_6_are_in_brackets():
    assert _addresses("::1", 8000, None)[0] == "http://[::1]:8000"
    assert _addresses("localhost", 80, None)[0] == "http://localhost"
