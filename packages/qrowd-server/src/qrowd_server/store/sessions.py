"""Sessions of browsers, and tokens of 256 random bits. The store holds only hashes of tokens."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, get_args

from sqlalchemy import BindParameter, Connection, bindparam, delete, insert, select, update

from qrowd.errors import ArgumentError
from qrowd_server.store.schema import session

Kind = Literal["assessor", "owner"]
IDLE = 12 * 3600.0  # seconds after which a session that nobody used ends
SELDOM = 60.0  # seconds: using a session is noted this often, not with every page


def hashed(token: str) -> str:
    """What the store keeps of a token that has 256 random bits: nobody can guess it, so no slow hash is needed."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def new_token() -> str:
    """256 random bits, as 43 letters, digits, - and _."""
    return secrets.token_urlsafe(32)


@dataclass(frozen=True)
class Session:
    """An open session. csrf : what every form of it must carry. seen : when it was last used, up to a minute ago."""

    kind: Kind
    subject_id: int  # an assessor or an account
    csrf: str
    created: float
    seen: float

    def worth_noting(self, at: float) -> bool:
        """Whether `note_use` should be called."""
        return at - self.seen >= SELDOM


_HASH: BindParameter[str] = bindparam("of")
_FIND = select(
    session.c.kind, session.c.subject_id, session.c.csrf, session.c.created, session.c.seen
).where(session.c.hash == _HASH, session.c.seen > bindparam("since"))  # fmt: skip
_NOTE = update(session).where(session.c.hash == _HASH, session.c.seen < bindparam("at")).values(seen=bindparam("at"))
_CLOSE = delete(session).where(session.c.hash == _HASH)


def open_session(connection: Connection, kind: Kind, subject_id: int, at: float) -> tuple[str, str]:
    """A new session; the id for the cookie, and the token for its forms."""
    if kind not in get_args(Kind):
        raise ArgumentError(f"choose {' or '.join(get_args(Kind))}", "kind", kind)
    token, csrf = new_token(), new_token()
    row = {"hash": hashed(token), "kind": kind, "subject_id": subject_id, "csrf": csrf, "created": at, "seen": at}
    connection.execute(insert(session), row)
    return token, csrf


def find_session(connection: Connection, token: str, at: float) -> Session | None:
    """The session of a cookie, None where there is none or it was idle too long. Writes nothing: see `note_use`."""
    row = connection.execute(_FIND, {"of": hashed(token), "since": at - IDLE}).one_or_none()
    return None if row is None else Session(*row)


def note_use(connection: Connection, token: str, at: float) -> None:
    """A session was used; it ends `IDLE` seconds after the last time."""
    connection.execute(_NOTE, {"of": hashed(token), "at": at})


def renew(connection: Connection, token: str | None, kind: Kind, subject_id: int, at: float) -> tuple[str, str]:
    """A new id for somebody who logs in or changes roles; the old one is worth nothing any more."""
    if token is not None:
        close_session(connection, token)
    return open_session(connection, kind, subject_id, at)


def close_session(connection: Connection, token: str) -> None:
    """Log out."""
    connection.execute(_CLOSE, {"of": hashed(token)})


def close_sessions(connection: Connection, kind: Kind, subject_id: int) -> int:
    """Log somebody out everywhere, such as after a new password; how many sessions that were."""
    mine = session.c.kind == kind, session.c.subject_id == subject_id
    return connection.execute(delete(session).where(*mine)).rowcount


def purge(connection: Connection, at: float) -> int:
    """Forget sessions that were idle too long; how many that were."""
    return connection.execute(delete(session).where(session.c.seen <= at - IDLE)).rowcount
