"""Pairs and gold questions in review, by requests: final answers, a preference that goes to its author and back."""

import html
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from collect.web.owner.estate import PASSWORD, Estate, estate, text_of
from collect.web.owner.test_review_pages import logged_in
from qrowd.collect.campaigns.adjudication import adjudications
from qrowd.collect.campaigns.creation import create_campaign
from qrowd.collect.campaigns.plan_tables import plan_from_table
from qrowd.collect.store.accounts import add_account, hash_password, set_member
from qrowd.collect.store.invitations import invite
from qrowd.collect.store.materials import find_campaign
from webserver import Answer, Browser

REVIEW = "/owner/c/pairs/review"
BAD_LABEL = "<b>d0</b>"
PLAN = {
    "campaign": {"name": "pairs", "title": "Bread", "protocol": "preference", "seed": 3},
    "preference": {"definitely": False, "order": "keep-preferred", "stop": False, "redundancy": 2, "duplicates": True},
    "journey": {"consent": False},
    "topics": [{"label": "t", "title": "bread"}],
    "documents": [{"label": label, "text": f"Text of {label}."} for label in (BAD_LABEL, "d1", "d2")],
}


class Pairs:
    """A campaign of three documents, which ann has compared; ann's browser and an owner's."""

    def __init__(self, made: Estate) -> None:
        self.made, self.olga, self.ann = made, logged_in(made), Browser(made.app)
        self.number = made.store.write(lambda c: create_campaign(c, plan_from_table(PLAN), made.clock()))
        token = made.store.write(lambda c: invite(c, self.number, "ann", 1.0))
        assert self.ann.post(f"/join/{token}", {"csrf": self.ann.get(f"/join/{token}").field("csrf")}).status == 303
        assert self.act(do="go_on").status == 303
        while 'name="pair"' in (page := self.ann.get("/c/pairs").text):
            pair = re.findall(r'name="pair" value="(\d+)"', page)[0]
            assert self.act(do="prefer", pair=pair, choice="left").status == 303

    def act(self, **fields: str) -> Answer:
        page = self.ann.get("/c/pairs")
        hidden = {name: page.field(name) for name in ("csrf", "key", "shown") if f'name="{name}"' in page.text}
        return self.ann.post("/c/pairs/act", {**hidden, **fields})

    def send(self, **fields: str) -> Answer:
        return self.olga.post(f"{REVIEW}/item", {"csrf": self.olga.get(REVIEW).field("csrf"), "arm": "", **fields})

    def said(self) -> list[tuple[str, str, str]]:
        """(left, right, choice) of every preference."""
        query = (
            "select a.label, b.label, choice from preference join document a on a.id = left_id "
            "join document b on b.id = right_id order by number"
        )
        return [tuple(row) for row in self.made.store.read(lambda c: list(c.exec_driver_sql(query)))]  # type: ignore[misc]


@pytest.fixture
def pairs(tmp_path: Path) -> Iterator[Pairs]:
    with estate(tmp_path) as made:
        yield Pairs(made)


def item(pairs: Pairs, document: str, other: str) -> Answer:
    return pairs.olga.get(f"{REVIEW}/item?{urlencode({'topic': 't', 'document': document, 'other': other})}")


def test_the_final_answer_for_a_pair_is_given_shown_exported_and_taken_back(pairs: Pairs) -> None:
    left, right, _ = pairs.said()[0]
    assert "They say the same" in text_of(item(pairs, left, right).text)  # which this campaign allows
    fields = {"topic": "t", "document": left, "other": right}
    answer = pairs.send(do="adjudicate", text="second", reason="", **fields)
    assert answer.status == 303, text_of(answer.text)
    page = pairs.olga.get(answer.header("location") or "")
    assert BAD_LABEL not in page.text
    assert re.search(r"by\s+olga", text_of(page.text))
    turned = item(pairs, right, left).text  # the same pair, the other way round
    assert re.search(r'value="first" checked', turned)
    listed = text_of(pairs.olga.get(REVIEW).text)
    assert "1 final answer" in listed
    assert f"{len(pairs.said()) - 1} pairs" in text_of(pairs.olga.get(f"{REVIEW}?open=1").text)
    assert ",adjudicated," in pairs.olga.get("/owner/c/pairs/export/preferences/csv?adjudicated=add").text
    assert ",adjudicated," not in pairs.olga.get("/owner/c/pairs/export/preferences/csv").text
    assert "adjudicated=replace" in pairs.olga.get("/owner/c/pairs/export").text
    refused = pairs.send(do="adjudicate", text="definitely second", **fields)
    assert refused.status == 422
    assert "choose one of" in refused.text
    assert pairs.send(do="withdraw", **fields).status == 303
    assert pairs.made.store.read(lambda c: adjudications(c, pairs.number)) == {}
    log = text_of(html.unescape(re.sub(r"</?b>", "", pairs.olga.get("/owner/c/pairs/log").text)))
    assert "gave the final answer for" in log
    assert f"{right} is better" in log


def test_a_preference_goes_to_its_author_and_back(pairs: Pairs) -> None:
    left, right, choice = pairs.said()[0]
    assert choice == "left"
    page = item(pairs, left, right)
    assignment, position = (
        re.findall(rf'name="{name}" value="(\w+)"', page.text)[0] for name in ("assignment", "position")
    )
    fields = {"topic": "t", "document": left, "other": right, "assignment": assignment, "position": position}
    answer = pairs.send(do="reopen", why="<i>Look</i> at the right one.", **fields)
    assert answer.status == 303, text_of(answer.text)
    assert "Close without an answer" in pairs.olga.get(answer.header("location") or "").text
    page = pairs.ann.get("/c/pairs")
    assert "<i>Look</i>" not in page.text
    words = text_of(page.text)
    assert "The organisers ask you to look at this answer once more." in words
    assert "You chose: Left" in words
    assert "Keep my answer" in words
    assert "more pair" not in words
    assert 'id="undo"' not in page.text
    assert pairs.act(do="prefer", pair=position, choice="right").status == 303
    assert pairs.said()[0] == (left, right, "right")
    assert "The organisers ask" not in pairs.ann.get("/c/pairs").text
    row = re.search(r"(?s)<tbody>.*?</tbody>", item(pairs, left, right).text)
    assert row is not None
    assert re.search(r'<td class="n">1</td>', row[0])  # changed once


@pytest.mark.parametrize(
    "fields",
    [
        {"do": "adjudicate", "text": "first", "other": "nothing"},
        {"do": "adjudicate", "text": "first", "other": "d1"},
        {"do": "adjudicate", "text": "1"},
        {"do": "reopen", "why": "x", "other": "d2", "assignment": "1", "position": "0"},
    ],
)
def test_a_form_that_names_no_pair_of_the_campaign_is_refused(pairs: Pairs, fields: dict[str, str]) -> None:
    answer = pairs.send(**{"topic": "t", "document": "d1", **fields})
    assert answer.status in (404, 422)
    assert pairs.made.store.read(lambda c: adjudications(c, pairs.number)) == {}


# ---- gold questions that are withdrawn


def reviewer_of(made: Estate, campaign: str) -> Browser:
    def work(connection: object) -> None:
        number = add_account(connection, "rita", hash_password(PASSWORD, fast=True), 0.0, role="member")  # type: ignore[arg-type]
        set_member(connection, find_campaign(connection, campaign).id, number, "reviewer")  # type: ignore[arg-type,union-attr]

    made.store.write(work)
    return logged_in(made, "rita")
