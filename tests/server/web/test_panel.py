"""Any panel: an id in, a link or a code out."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from qrowd_server.protocols.views import EndView
from qrowd_server.store.schema import campaign
from server.web.fakes import PANEL, World, world


@pytest.fixture
def served(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path) as made:
        yield made


def configure(served: World, **changes: Any) -> None:
    statement = update(campaign).where(campaign.c.name == "one").values(settings={"panel": PANEL | changes})
    served.store.write(lambda connection: connection.execute(statement))


def test_an_id_comes_in_and_goes_out_in_the_link(served: World) -> None:
    browser = served.browser()
    page = browser.get("/panel/one?id=a%26b%3D%2F1")
    assert browser.post("/panel/one", {"csrf": page.field("csrf")}).header("location") == "/c/one"
    assert served.service.arrived == [("one", "panel", "a&b=/1", None)]
    served.service.views[1] = EndView("completed")
    end = browser.get("/c/one")
    assert end.field("link") == "https://panel.test/done?who=a%26b%3D%2F1&code=P1"
    assert end.field("code") == "P1"


def test_the_parameter_has_the_name_the_campaign_gives_it(served: World) -> None:
    configure(served, parameter="worker", links={})
    assert served.browser().get("/panel/one?id=x").status == 400
    browser = served.browser()
    browser.post("/panel/one", {"csrf": browser.get("/panel/one?worker=x").field("csrf")})
    served.service.views[1] = EndView("completed")
    assert (browser.get("/c/one").field("link"), browser.get("/c/one").field("code")) == ("", "P1")


@pytest.mark.parametrize("query", ["", "id=", "id=a&id=a", "id=a%20b", "id=%00", "id=%ff", "id=é", "id=" + "x" * 201])
def test_an_id_that_is_doubled_missing_or_odd_is_refused(served: World, query: str) -> None:
    assert served.browser().get(f"/panel/one?{query}").status == 400


def test_the_button_of_one_campaign_opens_no_other(served: World) -> None:
    browser = served.browser()
    token = browser.get("/panel/one?id=x").field("csrf")
    for path in ("/panel/two", f"/join/{served.links['ann']}"):
        assert browser.post(path, {"csrf": token}).status == 403
    assert served.service.arrived == []
