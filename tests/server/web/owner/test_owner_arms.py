"""The owner's pages, and the API, of a campaign with several arms: each arm shown for itself."""

import asyncio
import json
import re
from collections.abc import Iterator
from random import Random
from threading import Thread

import pytest

from judging import created, seeded, three_arms, work
from qrowd_server.campaigns.results.exports import export_rows
from qrowd_server.store.sessions import make_api_key
from server.web.api.client import PREFIX
from server.web.owner.estate import Browser, Estate, estate
from webserver import Answer

ARMS = {"absolute": "grades", "preference": "preferences", "degrees": "preferences"}
BASE = "/owner/c/study"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Estate]:
    with estate(tmp_path_factory.mktemp("arms")) as place:
        created(place.store, three_arms(), place.clock.now)
        service = seeded(place.store, place.clock, 3)

        async def study() -> None:
            for i in range(6):
                await work(service, await service.arrive("study", "link", f"person-{i}"), Random(i))

        filling = Thread(target=lambda: asyncio.run(study()))
        filling.start()
        filling.join()
        yield place


def asked(made: Estate, path: str) -> Answer:
    """What the API answers to a program."""
    key = made.store.write(lambda c: make_api_key(c, "all", made.clock.now))
    return Browser(made.app, made.base).get(PREFIX + path, {"authorization": f"Bearer {key}"})


def test_every_page_names_the_arms_and_what_they_collect(made: Estate) -> None:
    owner = made.owner()
    for page in ("", "/results", "/setup"):
        text = owner.get(BASE + page).text
        assert "absolute (grades), preference (preferences), degrees (preferences)" in text, page
    assert "absolute (grades), preference (preferences), degrees (preferences)" in owner.get("/owner").text


def test_progress_has_a_row_for_each_topic_in_each_arm(made: Estate) -> None:
    topics = made.owner().get(BASE).text.partition('id="topics-title"')[2]
    assert re.findall(r'data-label="Arm">([a-z]+)</td>', topics) == [arm for arm in ARMS for _ in range(3)]
    assert topics.count("2 / 2") == 9


def test_assessors_and_their_agreement_are_shown_arm_by_arm(made: Estate) -> None:
    owner = made.owner()
    number = made.assessor("person-0", "study").rpartition("/")[2]
    for page in ("", "/results", f"/assessors/{number}"):
        for arm, nouns in ARMS.items():
            text = owner.get(f"{BASE}{page}?arm={arm}").text
            assert f'?arm={arm}" aria-current="page">{arm} ({nouns})' in text
        assert owner.get(f"{BASE}{page}?arm=nobody").text.count('aria-current="page">absolute') == 1
    text = owner.get(f"{BASE}/assessors/{number}").text
    assert all(f" · {arm}</span>" in text for arm in ARMS)


def test_the_settings_of_all_arms_are_shown(made: Estate) -> None:
    text = made.owner().get(f"{BASE}/setup").text
    assert all(f"{arm.capitalize()} ({nouns})" in text for arm, nouns in ARMS.items())
    assert "practice attempts" not in text, "only magnitudes have a practice"
    assert "check documents" not in text


def test_files_are_of_all_arms_or_of_one(made: Estate) -> None:
    owner = made.owner()
    for name, query in (("study", ""), ("study/degrees", "?arm=degrees")):
        expected = made.store.read(lambda c: b"".join(export_rows(c, name, "preferences", "jsonl")))  # noqa: B023
        assert owner.get(f"{BASE}/export/preferences/jsonl{query}").body == expected
        assert asked(made, f"/campaigns/study/preferences{query}").body == expected
        assert {json.loads(line)["arm"] for line in expected.splitlines()} == (
            {"degrees"} if query else {"preference", "degrees"}
        )
    assert owner.get(f"{BASE}/export/judgments/jsonl?arm=degrees").status == 404
    listed = owner.get(f"{BASE}/results?arm=preference").text
    assert "export/preferences/csv?arm=preference" in listed
    assert "export/judgments/qrels" not in listed
    assert "export/judgments/qrels?arm=absolute" in owner.get(f"{BASE}/results").text


def test_programs_are_told_the_arms_and_refused_others(made: Estate) -> None:
    campaign = json.loads(asked(made, "/campaigns/study").text)
    protocols = {"absolute": "grades", "preference": "preference", "degrees": "preference"}
    assert (campaign["protocol"], campaign["arms"]) == ("", protocols)
    single = json.loads(asked(made, "/campaigns/small").text)
    assert (single["protocol"], single["arms"]) == ("grades", {})
    for name, arm, message in (
        ("study", "x", "arm: choose one of absolute, preference, degrees"),
        ("small", "x", "arm: this campaign has no arms"),
    ):
        answer = asked(made, f"/campaigns/{name}/judgments?arm={arm}")
        assert (answer.status, json.loads(answer.text)["message"]) == (422, message)
    assert asked(made, "/campaigns/study/judgments?arm=degrees").status == 409
