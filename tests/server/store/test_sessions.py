"""Who a browser is: random, hashed, and over after twelve idle hours."""

from typing import Any

import pytest
from sqlalchemy import Row, select

from qrowd_server.store import schema, sessions
from qrowd_server.store.base import Store
from qrowd_server.store.sessions import get_setting, put_setting, secret

NOON = 1_700_000_000.0
HOUR = 3600.0


def opened(store: Store, at: float = NOON) -> tuple[str, str]:
    return store.write(lambda c: sessions.open_session(c, "assessor", 7, at))


def found(store: Store, token: str, at: float) -> Row[Any] | None:
    return store.read(lambda c: sessions.find_session(c, token, at))


def test_a_session_is_found_by_its_id_only_and_the_id_is_not_stored(store: Store) -> None:
    token, csrf = opened(store)
    row = found(store, token, NOON)
    assert row is not None
    assert (row.kind, row.subject_id, row.csrf, row.created, row.seen) == ("assessor", 7, csrf, NOON, NOON)
    [stored] = store.read(lambda c: list(c.scalars(select(schema.session.c.hash))))
    assert found(store, stored, NOON) is found(store, csrf, NOON) is found(store, "", NOON) is None
    assert token not in stored
    assert len(token) == len(csrf) == 43  # 256 bits, 6 to a character


def test_a_thousand_ids_are_all_different() -> None:
    assert len({sessions.new_token() for _ in range(1000)}) == 1000


@pytest.mark.parametrize(("hours", "alive"), [(11.999, True), (12, False), (13, False)])
def test_a_session_ends_after_twelve_idle_hours(store: Store, hours: float, alive: bool) -> None:
    token, _ = opened(store)
    assert (found(store, token, NOON + hours * HOUR) is not None) is alive
    assert store.write(lambda c: sessions.purge(c, NOON + hours * HOUR)) == (not alive)


def test_looking_does_not_prolong_a_session_and_noting_its_use_does(store: Store) -> None:
    token, _ = opened(store)
    session = found(store, token, NOON + 11 * HOUR)
    assert session is not None
    assert session.seen == NOON
    store.write(lambda c: sessions.note_use(c, token, NOON + 11 * HOUR))
    store.write(lambda c: sessions.note_use(c, token, NOON))  # a slower request does not turn the clock back
    assert found(store, token, NOON + 22 * HOUR) is not None


def test_a_login_makes_a_new_id_and_ends_the_old_one(store: Store) -> None:
    old, old_csrf = opened(store)
    new, new_csrf = store.write(lambda c: sessions.renew(c, old, "owner", 1, NOON))
    assert len({old, new, old_csrf, new_csrf}) == 4
    assert found(store, old, NOON) is None
    session = found(store, new, NOON)
    assert session is not None
    assert (session.kind, session.subject_id) == ("owner", 1)


def test_logging_out_ends_one_session_or_all_of_somebody(store: Store) -> None:
    tokens = [opened(store)[0] for _ in range(3)]
    store.write(lambda c: sessions.close_session(c, tokens[0]))
    assert [found(store, token, NOON) is None for token in tokens] == [True, False, False]
    assert store.write(lambda c: sessions.close_sessions(c, "owner", 7)) == 0
    assert store.write(lambda c: sessions.close_sessions(c, "assessor", 7)) == 2


def test_the_secret_is_made_once_and_stays(store: Store) -> None:
    made = store.write(secret)
    assert len(made) == 32
    assert store.write(secret) == store.read(secret) == made


def test_a_setting_is_what_was_set_last(store: Store) -> None:
    assert store.read(lambda c: get_setting(c, "x")) is None
    for value in ("one", "two"):
        store.write(lambda c, value=value: put_setting(c, "x", value))
    assert store.read(lambda c: get_setting(c, "x")) == "two"
