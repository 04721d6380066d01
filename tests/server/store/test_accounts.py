"""Who may run campaigns."""

from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError

from qrowd.errors import ArgumentError
from qrowd_server.store import accounts, schema, sessions
from qrowd_server.store import invitation_links as invitations
from qrowd_server.store.accounts import ATTEMPTS, WITHIN, TooManyAttemptsError, check_login
from qrowd_server.store.base import Store
from server.soak.store import campaign

AT = 1_700_000_000.0
GOOD = "correct horse"


@pytest.fixture
def house(store: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store with ann's account, whose passwords are checked in no time."""
    hasher = accounts._hasher(True)
    monkeypatch.setattr(accounts, "_hasher", lambda fast: hasher)
    hashed = accounts.hash_password(GOOD, fast=True)
    store.write(lambda c: accounts.add_account(c, "ann", hashed, AT))
    return store


def test_name_and_password_together_give_the_account(house: Store) -> None:
    number = check_login(house, "ann", GOOD, "1.2.3.4", AT)
    assert number is not None
    assert house.read(lambda c: accounts.read_account(c, number)).name == "ann"
    assert accounts.check_login(house, "ann", GOOD, "1.2.3.4", AT) == number


@pytest.mark.parametrize(("name", "password"), [("ann", "wrong horse"), ("bob", GOOD), ("ann", ""), ("", "x" * 2000)])
def test_anything_else_gives_none(house: Store, name: str, password: str) -> None:
    assert check_login(house, name, password, "1.2.3.4", AT) is None


@pytest.mark.parametrize("by", ["name", "address"])
def test_ten_failures_in_fifteen_minutes_close_the_door_even_to_the_right_password(house: Store, by: str) -> None:
    def who(i: int) -> tuple[str, str]:
        return ("ann", f"10.0.0.{i}") if by == "name" else (f"ann{i}", "10.0.0.1")

    for i in range(ATTEMPTS):
        assert check_login(house, who(i)[0], "wrong horse", who(i)[1], AT + i) is None
    for _ in range(3):  # who knocks at a closed door does not keep it closed
        with pytest.raises(TooManyAttemptsError) as caught:
            check_login(house, "ann", GOOD, who(0)[1], AT + 100)
        assert caught.value.retry_after == WITHIN - 100
    assert check_login(house, "ann", GOOD, who(0)[1], AT + WITHIN) is not None


def test_other_people_at_other_addresses_are_let_in_meanwhile(house: Store) -> None:
    for _ in range(ATTEMPTS):
        check_login(house, "bob", "wrong horse", "10.0.0.1", AT)
    assert check_login(house, "ann", GOOD, "10.0.0.2", AT) is not None


def test_logins_that_succeed_are_not_counted(house: Store) -> None:
    for _ in range(ATTEMPTS + 5):
        assert check_login(house, "ann", GOOD, "1.2.3.4", AT) is not None
    assert house.read(lambda c: c.scalar(select(func.count(schema.login_attempt.c.id)))) == 0


def test_an_account_s_name_is_taken_once(house: Store) -> None:
    with pytest.raises(ArgumentError, match="there is one of this name already"):
        house.write(lambda c: accounts.add_account(c, "ann", "h", AT))
    with pytest.raises(IntegrityError):  # the database says so, too
        house.write(lambda c: c.execute(schema.account.insert(), {
            "id": 7, "name": "ann", "password_hash": "h", "created": AT, "role": "member"}))  # fmt: skip


def test_passwords_are_hashed_with_argon2id_salted_and_not_too_short() -> None:
    one, two = (accounts.hash_password(GOOD) for _ in range(2))
    assert one != two
    assert one.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert accounts.verify(one, GOOD)
    assert not accounts.verify("not a hash", GOOD)
    assert not accounts.verify(None, GOOD)
    for password in ("x" * 9, "x" * 1001):
        with pytest.raises(ArgumentError, match="10 to 1000 characters"):
            accounts.hash_password(password)


@pytest.fixture
def two(store: Store) -> Store:
    store.write(campaign)
    return store


def test_a_key_opens_what_it_was_made_for_until_it_is_revoked(two: Store) -> None:
    one, all_ = two.write(
        lambda c: [sessions.make_api_key(c, f"{n}", AT, campaign_id=n) for n in (1, None)]
    )  # fmt: skip
    found = [two.read(lambda c, key=key: sessions.find_api_key(c, key)) for key in (one, all_)]
    assert [key and (key.name, key.campaign_id) for key in found] == [("1", 1), ("None", None)]
    assert one.startswith("qrowd_")
    assert one not in str(two.read(lambda c: c.execute(select(schema.api_key)).all()))
    assert two.read(sessions.api_keys) == found
    assert found[0] is not None
    number = found[0].id
    assert [two.write(lambda c: sessions.revoke_api_key(c, number)) for _ in range(2)] == [True, False]
    assert two.read(lambda c: sessions.find_api_key(c, one)) is None
    assert two.read(lambda c: sessions.find_api_key(c, "qrowd_guess")) is None


def test_a_key_opens_nothing_once_its_maker_could_not_make_it_any_more(two: Store) -> None:
    number = two.write(lambda c: accounts.add_account(c, "ann", "", AT))
    admin = two.write(lambda c: accounts.add_account(c, "root", "", AT, role="administrator"))

    def good(key: str) -> str | None:
        found = two.read(lambda c: sessions.find_api_key(c, key))
        return None if found is None else found.maker

    def role(name: Any) -> None:
        two.write(lambda c: accounts.set_member(c, 1, number, name))

    role("owner")
    mine = two.write(lambda c: sessions.make_api_key(c, "mine", AT, campaign_id=1, account_id=number))
    all_ = two.write(lambda c: sessions.make_api_key(c, "all", AT, account_id=admin))
    assert (good(mine), good(all_)) == ("ann", "root")
    for lost in ("viewer", None):
        role(lost)
        assert good(mine) is None
        assert [key.name for key in two.read(sessions.api_keys)] == ["all"]
        role("owner")
        assert good(mine) == "ann"
    two.write(lambda c: accounts.disable_account(c, number, AT))
    assert good(mine) is None
    two.write(lambda c: accounts.disable_account(c, number, None))
    two.write(lambda c: accounts.remove_account(c, number))
    two.write(lambda c: accounts.set_server_role(c, admin, "member"))
    assert (good(mine), good(all_)) == (None, None)


def test_an_invitation_is_good_until_it_is_revoked_and_another_one_leaves_it(two: Store) -> None:
    def good(token: str) -> invitations.Invitation | None:
        return two.read(lambda c: invitations.find_invitation(c, token))

    first, other = (two.write(lambda c, n=n: invitations.invite(c, 1, n, AT)) for n in ("ann", "bob"))
    assert (good(first), good(other)) == tuple(invitations.Invitation(1, "c", n) for n in ("ann", "bob"))
    second = two.write(lambda c: invitations.invite(c, 1, "ann", AT))
    assert good(first) == good(second) == invitations.Invitation(1, "c", "ann")
    assert [(one.name, one.revoked) for one in two.read(lambda c: invitations.invitations(c, 1))] == [
        ("ann", False),
        ("bob", False),
    ]
    assert [two.write(lambda c: invitations.revoke_invitation(c, 1, "ann")) for _ in range(2)] == [True, False]
    assert (good(first), good(second)) == (None, None)
    assert good(other) is not None
    assert [one.revoked for one in two.read(lambda c: invitations.invitations(c, 1))] == [True, False]


ODD = ["' or 1=1 --", 'a"; drop table account; --', "%", "_", "\\", "é", "\u202e", "x" * 5000]


@pytest.mark.parametrize("where", ["login", "key", "invitation"])
def test_odd_text_is_only_text(house: Store, where: str) -> None:
    find = sessions.find_api_key if where == "key" else invitations.find_invitation
    for text in ODD:
        if where == "login":
            assert check_login(house, text, text, text, AT) is None, text
        else:
            assert house.read(lambda c, text=text: find(c, text)) is None, text
    assert house.read(lambda c: c.scalar(select(func.count(schema.account.c.id)))) == 1
