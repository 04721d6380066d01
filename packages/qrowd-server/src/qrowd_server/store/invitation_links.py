"""Invitations of assessors: personal links, and sign-up links for many people.

A person may have several links, each good until it is revoked. In one campaign there are no two names that look alike:
Unicode Technical Standard 39, Unicode Security Mechanisms, section 4 (confusable characters) and 5.1 (one script). Its
table of confusable characters comes with the package confusable-homoglyphs.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from sqlalchemy import Connection, Row, and_, exists, func, insert, select, update

from qrowd.errors import ArgumentError
from qrowd_server.store.base import upsert
from qrowd_server.store.schema import assessor, campaign, invitation, invited, sign_up
from qrowd_server.store.sessions import hashed, new_token
from qrowd_server.translatable import N_, Message

TAKEN = N_("The name %(name)s is taken: choose another name. If it was you, open your own link.")
SIMILAR = N_("The name %(name)s looks like %(earlier)s, who takes part already; choose another name.")
MOST = 5000  # people who may come by one sign-up link


@dataclass(frozen=True)
class Invitation:
    """What a link says: this assessor, in this campaign."""

    campaign_id: int
    campaign: str
    name: str


# A person with links: name, created (the newest link), revoked (none is good any more), assessor_id (None before the
# first visit).
InvitedAssessor: TypeAlias = Row[Any]


def invitations(connection: Connection, campaign_id: int) -> Sequence[InvitedAssessor]:
    """Everybody who was invited, the first first."""
    same = and_(
        assessor.c.campaign_id == invited.c.campaign_id,
        assessor.c.provider == "link",
        assessor.c.external_id == invited.c.name,
    )
    links = and_(invitation.c.campaign_id == invited.c.campaign_id, invitation.c.name == invited.c.name)
    query = (
        select(
            invited.c.name,
            select(func.max(invitation.c.created)).where(links).scalar_subquery().label("created"),
            (~exists().where(links, ~invitation.c.revoked)).label("revoked"),
            assessor.c.id.label("assessor_id"),
        )
        .select_from(invited.outerjoin(assessor, same))
        .where(invited.c.campaign_id == campaign_id)
        .order_by(invited.c.created, invited.c.name)
    )
    return connection.execute(query).all()


def invite(connection: Connection, campaign_id: int, name: str, at: float, *, sign_up_id: int | None = None) -> str:
    """The token of a further link for an assessor, to be seen only now; earlier links stay good.

    name : as by `normal_name`. sign_up_id : of the link by which they came.
    """
    _take_name(connection, campaign_id, name, at, sign_up_id)
    token = new_token()
    row = {"hash": hashed(token), "campaign_id": campaign_id, "name": name, "created": at, "revoked": False}
    connection.execute(insert(invitation), row)
    return token


def _take_name(connection: Connection, campaign_id: int, name: str, at: float, sign_up_id: int | None) -> None:
    """Note the name; refuse it where another one looks like it, and where it is mixed from scripts."""
    key = {"campaign_id": campaign_id, "skeleton": skeleton(name)}
    mine = invited.c.campaign_id == campaign_id, invited.c.skeleton == key["skeleton"]
    if (earlier := connection.scalar(select(invited.c.name).where(*mine))) is None:
        check_script(name)
        upsert(connection, invited, [{**key, "name": name, "sign_up_id": sign_up_id, "created": at}], keep=True)
        earlier = connection.scalar(select(invited.c.name).where(*mine))  # of who was faster
    if earlier != name:
        raise ArgumentError(Message(SIMILAR, name=name, earlier=str(earlier)))


def invite_all(
    connection: Connection, campaign_id: int, names: Sequence[str], at: float, *, again: bool = False, remedy: str
) -> list[tuple[str, str]]:
    """(name, token) of a link for each name.

    again : also for names that have a good link, which stays good. remedy : what to do about such names otherwise.
    """
    names = [normal_name(name) for name in names]
    earlier = {one.name for one in invitations(connection, campaign_id) if not one.revoked}
    if not again and (repeated := next((name for name in names if name in earlier), None)):
        raise ArgumentError(f"{repeated} is invited already; {remedy}")
    return [(name, invite(connection, campaign_id, name, at)) for name in names]


def find_invitation(connection: Connection, token: str) -> Invitation | None:
    """Whom a link invites to what; None where it is not, or no longer, good."""
    joined = invitation.join(campaign, campaign.c.id == invitation.c.campaign_id)
    query = select(invitation.c.campaign_id, campaign.c.name, invitation.c.name).select_from(joined)
    row = connection.execute(query.where(invitation.c.hash == hashed(token), ~invitation.c.revoked)).one_or_none()
    return None if row is None else Invitation(*row)


def revoke_invitation(connection: Connection, campaign_id: int, name: str) -> bool:
    """Make all links of a person useless; whether one was good before."""
    good = invitation.c.campaign_id == campaign_id, invitation.c.name == name, ~invitation.c.revoked
    return connection.execute(update(invitation).where(*good).values(revoked=True)).rowcount > 0


# ---- sign-up links


@dataclass(frozen=True)
class SignUp:
    """A link for many people. most : of them; n : how many came. closed : when it was closed, None while it is open."""

    id: int
    campaign_id: int
    campaign: str
    most: int
    created: float
    expires: float
    closed: float | None
    n: int

    def is_open(self, at: float) -> bool:
        """Whether somebody may still come by it."""
        return self.closed is None and at < self.expires and self.n < self.most


def add_sign_up(connection: Connection, campaign_id: int, most: int, expires: float, at: float) -> str:
    """The token of a new link for many people, to be seen only now."""
    if not 1 <= most <= MOST:
        raise ArgumentError(f"most: give a whole number from 1 to {MOST}")
    if not expires > at:
        raise ArgumentError("expires: give a time that is still to come")
    token = new_token()
    row = {"campaign_id": campaign_id, "hash": hashed(token), "most": most, "created": at, "expires": expires}
    connection.execute(insert(sign_up), row)
    return token


def sign_ups(connection: Connection, campaign_id: int) -> list[SignUp]:
    """The sign-up links of a campaign, the newest first."""
    rows = connection.execute(_SIGN_UPS.where(sign_up.c.campaign_id == campaign_id).order_by(sign_up.c.id.desc()))
    return [SignUp(*row) for row in rows]


def find_sign_up(connection: Connection, token: str) -> SignUp | None:
    """The sign-up link of a token, also where it is closed or has expired; None for a token that never was one."""
    row = connection.execute(_SIGN_UPS.where(sign_up.c.hash == hashed(token))).one_or_none()
    return None if row is None else SignUp(*row)


def close_sign_up(connection: Connection, campaign_id: int, number: int, at: float) -> bool:
    """Close a sign-up link; whether it was open. Who came by it stays."""
    mine = sign_up.c.campaign_id == campaign_id, sign_up.c.id == number, sign_up.c.closed.is_(None)
    return connection.execute(update(sign_up).where(*mine).values(closed=at)).rowcount == 1


def come_by_sign_up(connection: Connection, token: str, name: str, at: float) -> tuple[Invitation, str]:
    """A person takes a name by a sign-up link: their invitation, and the token of a link of their own."""
    link = find_sign_up(connection, token)
    if link is None or not link.is_open(at):
        raise ArgumentError(Message("This link is closed: ask the person who gave it to you for another one."))
    name = normal_name(name)
    invited_names = select(invited.c.name).where(invited.c.campaign_id == link.campaign_id)
    own_names = select(assessor.c.name).where(assessor.c.campaign_id == link.campaign_id)  # also from platforms
    names, key = connection.scalars(invited_names.union(own_names)).all(), skeleton(name)
    if (earlier := next((one for one in names if skeleton(one) == key), None)) is not None:
        raise ArgumentError(
            Message(TAKEN, name=name) if earlier == name else Message(SIMILAR, name=name, earlier=earlier)
        )
    own = invite(connection, link.campaign_id, name, at, sign_up_id=link.id)
    return Invitation(link.campaign_id, link.campaign, name), own


_SIGN_UPS = select(
    sign_up.c.id,
    sign_up.c.campaign_id,
    campaign.c.name,
    sign_up.c.most,
    sign_up.c.created,
    sign_up.c.expires,
    sign_up.c.closed,
    select(func.count()).select_from(invited).where(invited.c.sign_up_id == sign_up.c.id).scalar_subquery(),
).select_from(sign_up.join(campaign, campaign.c.id == sign_up.c.campaign_id))


# ---- names


LONGEST = 100  # characters of a name
# Default_Ignorable_Code_Point of Unicode 16 that is in other categories than C and Z; and the blank of Braille.
IGNORABLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_FREE = frozenset({"COMMON", "INHERITED"})  # scripts that go with every other
# Scripts that are written together: Japanese, Korean, Chinese (UTS 39, section 5.1).
_TOGETHER = (
    frozenset({"HAN", "HIRAGANA", "KATAKANA", "LATIN"}),
    frozenset({"HAN", "HANGUL", "LATIN"}),
    frozenset({"HAN", "BOPOMOFO", "LATIN"}),
)


def normal_name(text: str) -> str:
    """The name as it is kept: Unicode form NFC, hyphens for blanks, which the format of qrels does not allow in it.

    >>> normal_name("  Zoe\\u0308  Müller ")
    'Zoë-Müller'
    """
    name = "-".join(part for part in unicodedata.normalize("NFC", text).split(" ") if part)
    if not 1 <= len(name) <= LONGEST:
        raise ArgumentError(Message("Give a name of 1 to %(longest)s characters.", longest=LONGEST))
    if hidden := hidden_characters(name):
        code = f"U+{ord(hidden[0]):04X}"
        raise ArgumentError(
            Message(
                "The name holds %(code)s, which cannot be seen or changes how others look; leave it out.", code=code
            )
        )
    return name


def hidden_characters(text: str) -> list[str]:
    """What cannot be seen or changes how others look: categories C and Z but for the blank, and `IGNORABLE`."""
    return [c for c in text if c != " " and (unicodedata.category(c)[0] in "CZ" or IGNORABLE.match(c))]


def check_script(name: str) -> None:
    """Refuse a name of several scripts, such as Latin with a Cyrillic letter."""
    scripts = scripts_of(name)
    if len(scripts) > 1 and not any(scripts <= together for together in _TOGETHER):
        several = ", ".join(sorted(script.capitalize() for script in scripts))
        raise ArgumentError(
            Message("The name mixes letters of several scripts (%(scripts)s); write it in one.", scripts=several)
        )


def scripts_of(name: str) -> set[str]:
    """The scripts of a name's letters."""
    from confusable_homoglyphs.categories import alias

    return {alias(character) for character in name} - _FREE


def skeleton(name: str) -> str:
    """The same text for all names that look alike: capitals, compatible and confusable characters make no difference.

    >>> skeleton("Аnn") == skeleton("ann"), skeleton("ann") == skeleton("anne")
    (True, False)
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return "".join(map(_prototype, folded)).replace("rn", "m")


@cache
def _prototype(character: str) -> str:
    """One character for all that look like this one."""
    if character.isascii() and character.isalnum():
        return _ASCII.get(character, character)
    from confusable_homoglyphs.confusables import confusables_data

    alike = [one["c"] for one in confusables_data.get(character, ()) if len(one["c"]) == 1]
    plain = sorted(one for one in alike if one.isascii() and one.isalnum())
    if plain:
        return _prototype(plain[0].casefold())
    # The table names one prototype for a character that is none itself; a prototype lists all that look like it.
    return min([*alike, character]) if len(alike) == 1 else character


_ASCII = {"0": "o", "1": "l", "i": "l"}  # in most fonts, as capitals or small letters
