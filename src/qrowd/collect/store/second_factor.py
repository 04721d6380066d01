"""The second factor of accounts: time-based one-time codes (RFC 6238), and recovery codes that work once.

The secret of the codes has to be kept so that it can be read: encrypted where there is a key outside of the database,
else as it is. Recovery codes have 80 random bits, and only their hashes are kept.
"""

from __future__ import annotations

import base64
import secrets

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update

from qrowd.collect.store.base import upsert
from qrowd.collect.store.schema import recovery_code, second_factor
from qrowd.collect.store.sessions import hashed

STEP = 30  # seconds for which a code is shown
AROUND = 1  # steps before and after now whose codes are taken: clocks differ
N_RECOVERY_CODES = 10
SEALED = "sealed:"  # before a secret that is encrypted


def new_secret() -> str:
    """160 random bits in base 32, as authenticator apps take them."""
    from pyotp import random_base32

    return random_base32()


def address_of(secret: str, name: str, issuer: str) -> str:
    """The address that an authenticator app reads from a QR code."""
    from pyotp import TOTP

    return TOTP(secret).provisioning_uri(name=name, issuer_name=issuer)


def step_of(secret: str, code: str, at: float) -> int | None:
    """The number of the step whose code it is, counted from 1970; None where it is no code of now."""
    from pyotp import TOTP

    digits = "".join(code.split())
    if not (digits.isascii() and digits.isdigit() and len(digits) == 6):
        return None
    now, totp = int(at // STEP), TOTP(secret)
    steps = (now, *(now + i for n in range(1, AROUND + 1) for i in (-n, n)))
    return next((step for step in steps if secrets.compare_digest(totp.generate_otp(step), digits)), None)


def has_second_factor(connection: Connection, account_id: int) -> bool:
    """Whether an account has a second factor."""
    return connection.scalar(select(second_factor.c.account_id).where(_of(account_id))) is not None


def add_second_factor(
    connection: Connection, account_id: int, secret: str, step: int, at: float, key: bytes | None = None
) -> None:
    """Switch the second factor on, in place of an earlier one.

    step : whose code confirmed it, and is used up. key : 32 bytes, with which the secret is encrypted.
    """
    row = {"account_id": account_id, "secret": _seal(secret, key), "last_step": step, "created": at}
    upsert(connection, second_factor, [row])


def remove_second_factor(connection: Connection, account_id: int) -> None:
    """Switch it off; the recovery codes go with it."""
    connection.execute(delete(second_factor).where(_of(account_id)))
    connection.execute(delete(recovery_code).where(recovery_code.c.account_id == account_id))


def use_code(connection: Connection, account_id: int, code: str, at: float, key: bytes | None = None) -> bool:
    """Whether a code is good, which uses it up: no code is taken twice, nor one older than the last.

    key : as for `add_second_factor`. A secret that was kept as it is gets encrypted; with another key than that of an
    encrypted one, only recovery codes are good.
    """
    stored = connection.scalar(select(second_factor.c.secret).where(_of(account_id)))
    if stored is None:
        return False
    secret = _opened(stored, key)
    if secret is not None and (step := step_of(secret, code, at)) is not None:
        newer = update(second_factor).where(_of(account_id), second_factor.c.last_step < step)
        sealed = stored if stored.startswith(SEALED) else _seal(secret, key)
        return connection.execute(newer.values(last_step=step, secret=sealed)).rowcount == 1
    mine = recovery_code.c.account_id == account_id, recovery_code.c.hash == _hash(code), recovery_code.c.used.is_(None)
    return connection.execute(update(recovery_code).where(*mine).values(used=at)).rowcount == 1


def new_recovery_codes(connection: Connection, account_id: int) -> list[str]:
    """New recovery codes, to be seen only now; the earlier ones become useless."""
    connection.execute(delete(recovery_code).where(recovery_code.c.account_id == account_id))
    codes = [base64.b32encode(secrets.token_bytes(10)).decode().lower() for _ in range(N_RECOVERY_CODES)]
    connection.execute(insert(recovery_code), [{"account_id": account_id, "hash": _hash(code)} for code in codes])
    return ["-".join(code[i : i + 4] for i in range(0, 16, 4)) for code in codes]


def recovery_codes_left(connection: Connection, account_id: int) -> int:
    """How many recovery codes are good."""
    good = recovery_code.c.account_id == account_id, recovery_code.c.used.is_(None)
    return int(connection.execute(select(func.count()).select_from(recovery_code).where(*good)).scalar_one())


def _seal(secret: str, key: bytes | None) -> str:
    """The secret as it is stored."""
    if key is None:
        return secret
    from cryptography.fernet import Fernet

    return SEALED + Fernet(base64.urlsafe_b64encode(key)).encrypt(secret.encode()).decode()


def _opened(stored: str, key: bytes | None) -> str | None:
    """The secret of what is stored; None where it is encrypted with another key."""
    if not stored.startswith(SEALED):
        return stored
    if key is None:
        return None
    from cryptography.fernet import Fernet, InvalidToken

    try:
        return Fernet(base64.urlsafe_b64encode(key)).decrypt(stored.removeprefix(SEALED)).decode()
    except InvalidToken:
        return None


def _of(account_id: int) -> ColumnElement[bool]:
    return second_factor.c.account_id == account_id


def _hash(code: str) -> str:
    return hashed("".join(character for character in code.lower() if character.isalnum()))
