"""Nothing that an assessor must not know is in anything that the server ever says to one."""

import asyncio
import json
import re
from collections.abc import Iterator
from importlib import resources
from random import Random
from typing import Any

import pytest

from qrowd_server.campaigns.running.judging import JudgingService
from qrowd_server.protocols import PROTOCOLS
from qrowd_server.protocols.events import Consent
from qrowd_server.protocols.protocol import Material, Question
from qrowd_server.protocols.settings import GradesSettings, MagnitudeSettings, PreferenceSettings
from qrowd_server.protocols.views import PairView
from server.web.siege import CAMPAIGNS, CODES, PROVIDERS, WITH_GOLD, Fort, N, Walker, everything, fort
from webserver import Browser

NEVER = re.compile(
    r"LBLDOC|LBLTOPIC|SYSONE|SYSTWO|ZZ(other|reason)|\bgold\b|\bqrels?\b|correct|expected answer", re.IGNORECASE
)
NUMBERS = re.compile(r"\b94\d{5}\b")  # of documents, topics and units
CODE = re.compile(r"CODE(?:COMPLETED|FAILED|SCREENEDOUT)|externalSubmit|/submissions/complete|panel\.test/back")
NOTES = re.compile(r"<!--|/\*#|sourceMappingURL")

ENDS: dict[str, dict[str, Any]] = {
    "completed": {},
    "failed": {"number": lambda tale: str(tale + 1)},  # the worst document above the best
    "hurried": {"seconds": 2.0},
    "screened_out": {"option": "nothing of the kind"},
    "practice_failed": {"line": lambda width: str(2000 - width)},
    "declined": {"agreed": "0"},
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fort]:
    with fort(tmp_path_factory.mktemp("leaks")) as made:
        yield made


def check(walker: Walker, codes: set[str]) -> None:
    """No answer says what nobody may know; codes are on the last pages only, and only those that were earned."""
    for answer in walker.seen:
        text = everything(answer)
        found = NEVER.search(text) or NOTES.search(text)
        assert not found, text[max(0, found.start() - 200) : found.end() + 200]
        assert not NUMBERS.search(text), "the number of a row would tell the order of the file"
        at_end = 'data-view="end"' in text or 'data-view="noneleft"' in text
        assert {one for one in CODE.findall(text) if one.startswith("CODE")} <= (codes if at_end else set())
        assert at_end or not CODE.search(text)


# ---- whole units, at every door


@pytest.mark.parametrize(
    ("end", "provider"),
    [
        *((end, "panel") for end in ENDS),
        *(pytest.param(end, "link", marks=pytest.mark.nightly) for end in ("completed", "failed")),
    ],
)
def test_a_magnitude_unit_says_nothing_however_it_ends(place: Fort, end: str, provider: str) -> None:
    walker = place.walker("sizes", provider, f"{end}-{provider}" if provider != "link" else "ann", **ids(end, provider))
    if provider == "link":
        walker.who = invited(place, "sizes", end)
    walker.come().walk(**ENDS[end])
    outcome = "failed" if end == "hurried" else end
    assert walker.view == "end"
    has_code = provider == "panel" and outcome in CODES
    codes = {CODES[outcome]} if has_code else set()
    check(walker, codes)
    assert (CODES.get(outcome, "CODE") in walker.page.text) == has_code
    if end in ("failed", "hurried"):
        assert any('data-view="revision"' in answer.text for answer in walker.seen)


@pytest.mark.parametrize(
    "provider", [pytest.param(one, marks=[pytest.mark.nightly] * (one == "link")) for one in PROVIDERS]
)
@pytest.mark.parametrize("campaign", CAMPAIGNS[1:])
def test_grades_and_pairs_say_nothing(place: Fort, campaign: str, provider: str) -> None:
    walker = place.walker(campaign, provider, f"{campaign}-{provider}", **ids(campaign, provider))
    if provider == "link":
        walker.who = invited(place, campaign, "leaks")
    walker.come().walk()
    assert walker.view == "end"
    check(walker, {CODES["completed"]} if provider == "panel" else set())


@pytest.mark.parametrize("campaign", list(WITH_GOLD))
def test_nothing_says_which_document_or_pair_is_a_gold_question(place: Fort, campaign: str) -> None:
    walker = place.walker(campaign, "link", "ann").come().walk()
    assert walker.view == "end"
    check(walker, set())
    words: dict[bool, set[str]] = {True: set(), False: set()}
    tales = set()
    for one in walker.seen:
        if numbers := [int(number) for number in re.findall(r"Tale number (\d+) speaks", one.text)]:
            tales.update(numbers)
            words[max(numbers) >= N] |= vocabulary(one.text)
    assert max(tales) >= N, "no gold question came"
    assert words[True] <= words[False]


def vocabulary(text: str) -> set[str]:
    """Elements, attributes and classes of a page, and its words, without numbers and tokens."""
    plain = re.sub(r"value=\"[^\"]*\"|data-shown=\"[^\"]*\"|\d+", "", text[text.index("<main") : text.index("</main>")])
    return set(re.findall(r"[\w-]+", plain))


def ids(seed: str, provider: str) -> dict[str, str]:
    """A taking of the task that is nobody else's."""
    return {"taking": f"{seed}-1"} if provider == "panel" else {}


def invited(place: Fort, campaign: str, name: str) -> str:
    """Another link."""
    from qrowd_server.store.invitation_links import invite
    from qrowd_server.store.materials import find_campaign

    row = place.store.read(lambda c: find_campaign(c, campaign))
    place.links[f"{campaign} {name}"] = place.store.write(lambda c: invite(c, row.id, name, 0.0))
    return name


def test_the_number_of_a_row_would_be_found() -> None:
    assert NUMBERS.search('data-left="9400003"')


# ---- everything else that anybody can ask for


def test_nothing_that_comes_with_the_program_tells(place: Fort) -> None:
    nobody = Browser(place.app)
    folder = resources.files("qrowd_server.web").joinpath("static")
    names = [file.name for file in folder.iterdir() if file.is_file()]
    assert len(names) >= 3
    for name in names:
        answer = nobody.get(f"/static/{name}")
        assert answer.status == 200
        text = everything(answer)
        assert not re.search(r"LBLDOC|LBLTOPIC|SYSONE|ZZ|CODE[A-Z]|sourceMappingURL|\bgold\b|qrels", text)


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/c/sizes",
        "/c/none",
        "/join/none",
        "/panel/sizes",
        "/panel/none",
        "/static/none",
        "/health",
        "/owner",
        "/owner/login",
        "/api/v1/campaigns",
        "/api/v1/campaigns/sizes",
    ],
)
def test_nobody_learns_anything_from_an_error_or_a_door(place: Fort, path: str) -> None:
    for headers in ({}, {"x-qrowd": "fragment"}):
        text = everything(Browser(place.app).get(path, headers))
        assert not re.search(r"LBLDOC|LBLTOPIC|SYSONE|SYSTWO|ZZ|CODE[A-Z]|Traceback|sqlalchemy|\.py\b", text)
        assert not NUMBERS.search(text)


def test_a_campaign_that_is_there_looks_to_strangers_like_one_that_is_not(place: Fort) -> None:
    nobody = Browser(place.app)
    for there, not_there in (("/c/sizes", "/c/none"), ("/api/v1/campaigns/sizes", "/api/v1/campaigns/none")):
        assert nobody.get(there).text.replace("sizes", "none") == nobody.get(not_there).text
    refused = [nobody.post(f"/c/{name}/act", {"do": "go_on", "csrf": "x"}) for name in ("sizes", "none")]
    assert refused[0].text.replace("sizes", "none") == refused[1].text


def test_refusals_say_nothing_either(place: Fort) -> None:
    walker = place.walker("sizes", "panel", "clumsy").come().walk(until="question")
    walker.send("reply", option="")
    walker.send("reply", option="9")
    walker.get("/c/sizes")
    walker.walk(until="document", option="the right one")
    for text in ("", "0", "-1", "1e999", "much", "9" * 300):
        walker.get("/c/sizes")
        walker.send("judge", position=walker.value("position"), text=text, reason="so")
        assert walker.page.status in (422, 400)
    check(walker, set())


def test_the_fragment_and_the_page_say_the_same(place: Fort) -> None:
    walker = place.walker("stars", "panel", "both").come().walk(until="document")
    place.clock.now += 5
    page = walker.browser.get("/c/stars").text
    main = walker.browser.get("/c/stars", {"x-qrowd": "fragment"}).text

    def still(text: str) -> str:
        return re.sub(r'name="key" value="[^"]*"', "", text[text.index("<main") : text.index("</main>")])

    assert still(page) == still(main)


def test_the_api_says_no_more_than_the_page(place: Fort) -> None:
    browser, key = Browser(place.app), {"authorization": f"Bearer {place.links['key sizes']}"}

    def ask(method: str, path: str, table: dict[str, Any] | None = None) -> Any:
        body = b"" if table is None else json.dumps(table).encode()
        headers = {**key, "content-length": str(len(body)), **({"content-type": "application/json"} if body else {})}
        answer = browser.send(method, f"/api/v1/campaigns/sizes{path}", body, headers)
        text = everything(answer)
        assert not re.search(r"LBLDOC|LBLTOPIC|SYSONE|SYSTWO|ZZ(other|reason)|CODE[A-Z]|\"correct\"", text), text[:2000]
        return json.loads(answer.text)

    who = ask("POST", "/assessors", {"name": "model"})["assessor"]
    page = ask("GET", f"/assessors/{who}/page")
    for action in ({"do": "consent", "agreed": True}, {"do": "line", "line": 0, "text": "5"}):
        page = ask("POST", f"/assessors/{who}/act", {**action, "shown": page["shown"]})["page"]
    assert page["view"]["kind"] == "LineView"
    assert (page["link"], page["code"]) == (None, None)


# ---- order


SEEDS = 1000


def even(counts: list[int]) -> None:
    """Chi-square of equal shares, within six standard deviations of what chance gives; seeds are fixed."""
    expected, free = sum(counts) / len(counts), len(counts) - 1
    square = sum((n - expected) ** 2 / expected for n in counts)
    assert square < free + 6 * (2 * free) ** 0.5, counts


MATERIAL = Material(
    tuple(range(N)), high=0, low=N - 1, question=Question("?", ("a", "b", "c", "d"), 2), n_snippets=3
)  # fmt: skip


@pytest.mark.parametrize(
    ("protocol", "settings"),
    [("magnitude", MagnitudeSettings(k=N)), ("grades", GradesSettings(k=N)), ("preference", PreferenceSettings())],
)
def test_the_right_answer_stands_anywhere(protocol: str, settings: Any) -> None:
    tasks = [PROTOCOLS[protocol].task(settings, MATERIAL, seed) for seed in range(SEEDS)]
    even([sum(task.options.index(2) == place for task in tasks) for place in range(4)])


@pytest.mark.parametrize(
    ("protocol", "settings"), [("magnitude", MagnitudeSettings(k=N)), ("grades", GradesSettings(k=N))]
)
def test_the_best_and_the_worst_document_stand_anywhere(protocol: str, settings: Any) -> None:
    tasks = [PROTOCOLS[protocol].task(settings, MATERIAL, seed) for seed in range(SEEDS)]
    for document in range(N):
        even([sum(task.documents.index(document) == place for task in tasks) for place in range(N)])
    even([sum(task.documents.index(0) < task.documents.index(N - 1) for task in tasks), SEEDS // 2])


@pytest.mark.nightly
def test_the_better_document_is_as_often_on_the_left(place: Fort) -> None:
    asyncio.run(draw_sides(place))


async def draw_sides(place: Fort) -> None:
    chance = Random(11)
    service = JudgingService(place.store, clock=place.clock, number=lambda: chance.getrandbits(62))
    left, firsts = 0, []
    for i in range(40):
        who = await service.arrive("pairs", "link", f"side{i}")
        view = (await service.page(who)).view
        await service.act(who, Consent(True))
        view = (await service.page(who)).view
        assert isinstance(view, PairView)
        left += view.left < view.right  # numbers are in the order of the file, the best first
        firsts += [view.left, view.right]
    assert abs(left - 20) <= 12  # four standard deviations
    assert len(set(firsts)) == N
