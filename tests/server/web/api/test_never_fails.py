"""Whatever programs send, in whatever order: an answer, or one line that says why not; never a failure of ours."""

import copy
import json
from random import Random
from typing import Any

import pytest

from qrowd_server.protocols.events import ACTIONS
from qrowd_server.web.api.operations import PREFIX
from server.web.api.client import Json
from server.web.api.test_judging import judge_all
from server.web.api.worlds import SMALL, World, plan, sensible

ODD: list[Any] = [
    None, True, False, 0, 1, -1, 7, 2**31, 2**62, 0.5, -0.0, 1e300, "", "0", "1", "left", "both", "40", "1e999", "nan",
    "0,5", "１２", "\u202e", "x" * 300, [], [1], {}, {"a": 1}, "t0", "d0", "arrived", "judged",
]  # fmt: skip
NAMES = ("position", "text", "reason", "active", "pair", "choice", "side", "option", "line", "agreed", "definitely",
         "confidence", "understanding", "comment", "shown", "key")  # fmt: skip


def odd_action(page: Json, rng: Random) -> Json:
    """What the page asks for with something wrong in it, or something that it does not ask for."""
    step = sensible(page, rng)
    if step is None or rng.random() < 0.4:
        some = {name: rng.choice([*range(7), *ODD]) for name in rng.sample(NAMES, rng.randrange(5))}
        return {"do": rng.choice(list(ACTIONS)), **some}
    body = {"do": step[0], **step[1], "shown": page["shown"], "key": page["key"]}
    for name in rng.sample(list(body), rng.choice([0, 1, 1, 2])):
        body[name] = rng.choice(ODD)
    return body


@pytest.mark.parametrize("campaign", SMALL)
def test_odd_actions_at_every_step_are_taken_or_refused_in_one_line(served: World, campaign: str) -> None:
    rng = Random(11)

    async def work() -> dict[int, int]:
        found: dict[int, int] = {}
        async with served.client() as client:
            for number in range(3):
                assessor = await client.arrive(campaign, f"model-{number}")
                page = await assessor.page()
                for turn in range(120):
                    if turn % 2 and (step := sensible(page, rng)) is not None:
                        body = {"do": step[0], **step[1]}
                    else:
                        body = odd_action(page, rng)
                    response = await client.http.post(f"{PREFIX}{assessor.path}/act", json=body)
                    found[response.status_code] = found.get(response.status_code, 0) + 1
                    said = response.json()
                    if response.status_code == 200:
                        page = said["page"]
                    else:
                        assert set(said) == {"code", "message", "field", "reference"}, said
                        assert "\n" not in said["message"]
        return found

    found = served.run(work())
    assert set(found) == {200, 409, 422}, found


def damaged(value: Any, rng: Random) -> Any:
    """The same JSON with one thing in it taken away or replaced."""
    value = copy.deepcopy(value)
    inside = value
    while True:
        keys: list[Any] = list(inside) if isinstance(inside, dict) else list(range(len(inside)))
        if not keys:
            return value
        key = rng.choice(keys)
        if isinstance(inside[key], dict | list) and inside[key] and rng.random() < 0.8:
            inside = inside[key]
            continue
        if rng.random() < 0.3:
            del inside[key]
        else:
            inside[key] = rng.choice(ODD)
        return value


@pytest.mark.parametrize("protocol", ["magnitude", "grades", "preference"])
def test_a_damaged_archive_is_taken_whole_or_not_at_all(served: World, protocol: str) -> None:
    rng = Random(13)
    settings = {"magnitude": {"k": 6, "redundancy": 1}, "grades": {"k": 3, "redundancy": 1}, "preference": {}}[protocol]

    async def work() -> set[int]:
        found = set()
        async with served.client() as client:
            await client.create(plan("moving", protocol, topics=1, **settings))
            await judge_all(await client.arrive("moving", "model"), 1)
            archive = [json.loads(line) for line in (await client.export("moving", "archive")).splitlines()]
            for number in range(40):
                for event in archive[1:]:  # another campaign and other people each time
                    event["assessor_id"], event["assignment_id"] = (
                        None if event[name] is None else event[name] + 1 for name in ("assessor_id", "assignment_id")
                    )
                    event["idem_key"] = None
                archive[0]["plan"]["campaign"]["name"] = f"moving-{number}"
                place = rng.choice([0, 0, *range(len(archive))])
                lines = [damaged(one, rng) if i == place else one for i, one in enumerate(archive)]
                response = await client.http.post(
                    f"{PREFIX}/archives",
                    content="\n".join(map(json.dumps, lines)).encode(),
                    headers={"content-type": "application/jsonl"},
                )
                found.add(response.status_code)
                assert response.status_code in {201, 409, 422}, (lines[place], response.text)
                there = {one["name"] for one in await client.campaigns()}
                assert (f"moving-{number}" in there) == (
                    response.status_code == 201 and response.json()["name"] == f"moving-{number}"
                )
        return found

    assert served.run(work()) >= {201, 422}


def test_a_damaged_plan_is_refused_or_makes_a_campaign(served: World) -> None:
    rng = Random(17)

    async def work() -> set[int]:
        found = set()
        async with served.client() as client:
            for number in range(150):
                protocol = rng.choice(["magnitude", "grades", "preference"])
                given = plan(f"made-{number}", protocol, **({"k": 6} if protocol == "magnitude" else {}))
                response = await client.http.post(f"{PREFIX}/campaigns", json=damaged(given, rng))
                found.add(response.status_code)
                assert response.status_code in {201, 409, 422}, response.text
        return found

    assert served.run(work()) >= {201, 422}
