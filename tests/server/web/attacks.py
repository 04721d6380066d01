"""What the tests of threats share: routes, forms, counts, invitations."""

import re
from typing import Any

from sqlalchemy import func, select
from starlette.routing import Route

from qrowd_server.store.invitation_links import invite
from qrowd_server.store.materials import find_campaign
from qrowd_server.store.schema import event
from server.web.siege import Fort
from webserver import Browser

PASSWORD = "correct horse battery"


def told(place: Fort, kind: str) -> list[dict[str, Any]]:
    """What the log holds of that kind."""
    return list(place.store.read(lambda c: c.scalars(select(event.c.data).where(event.c.kind == kind)).all()))


def count(place: Fort, table: Any) -> int:
    return int(place.store.read(lambda c: c.execute(select(func.count()).select_from(table)).scalar_one()))


PARAMETERS = {
    "campaign": "sizes", "token": "none", "name": "icon.svg", "number": "1", "what": "judgments", "format": "csv",
    "assessor": "1", "kind": "judgments", "protocol": "grades",
}  # fmt: skip


def routes(place: Fort) -> list[tuple[str, str]]:
    """(method, path) of everything that is served, the path as it is written."""
    found = []
    for route in place.app.routes:
        assert isinstance(route, Route), "a route of another kind is not tried here"
        found += [(method, route.path) for method in sorted((route.methods or {"GET"}) - {"HEAD"})]
    assert len(found) >= 50
    return found


def filled(path: str, **changes: str) -> str:
    return re.sub(r"\{(\w+)(:\w+)?\}", lambda found: {**PARAMETERS, **changes}[found[1]], path)


TAKE_FILES = (  # forms of owners
    "/owner/new",
    "/owner/lists/{campaign}",
    "/owner/review/{campaign}",
    "/owner/change/{campaign}",
)
FORM = {"do": "go_on", "position": "0", "name": "x", "password": "x"}


def invited(place: Fort, name: str, campaign: str = "sizes") -> str:
    number = place.store.read(lambda c: find_campaign(c, campaign)).id
    return str(place.store.write(lambda c: invite(c, number, name, 0.0)))


def owner_login(place: Fort) -> str:
    return Browser(place.app).get("/owner/login").field("csrf")
