"""Whatever programs send, in whatever order: an answer, or one line that says why not; never a failure of ours."""

from random import Random
from typing import Any

import pytest

from qrowd_server.protocols.events import ACTIONS
from qrowd_server.web.api_requests import PREFIX
from server.web.api.client import Json
from server.web.api.worlds import SMALL, World, sensible

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


@pytest.mark.parametrize(
    "campaign", ["pairs", *(pytest.param(one, marks=pytest.mark.nightly) for one in SMALL if one != "pairs")]
)
def test_odd_actions_at_every_step_are_taken_or_refused_in_one_line(served: World, campaign: str) -> None:
    rng = Random(11)

    async def work() -> dict[int, int]:
        found: dict[int, int] = {}
        async with served.client() as client:
            for number in range(2):
                assessor = await client.arrive(campaign, f"model-{number}")
                page = await assessor.page()
                for turn in range(60):
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
