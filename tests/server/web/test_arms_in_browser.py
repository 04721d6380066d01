"""The three-arm study of Carterette et al. (2008), section 3, from its design file to its Table 4, in a browser."""

import json
from collections import Counter, defaultdict
from pathlib import Path
from random import Random

import pytest
from playwright.sync_api import Browser, Page, expect
from typer.testing import CliRunner

from qrowd.cli.main import app as commands
from qrowd_server.protocols.settings import GradesSettings, PreferenceSettings, Settings
from qrowd_server.store import schema
from server.web.journeys import Application, Running, click, enter, no_faults, pair, title_of

ARMS: dict[str, Settings] = {
    "absolute": GradesSettings(scale="0-4", k=3, redundancy=2),
    "preference": PreferenceSettings(redundancy=2, stop=False, definitely=False, order="keep-preferred"),
    "degrees": PreferenceSettings(redundancy=2, stop=False, definitely=True, order="keep-preferred"),
}


def goodness(title: str) -> int:
    """The first document of a topic is the best."""
    return 4 - 2 * int(title.split()[1])


def qrowd(*arguments: str) -> str:
    """What a command prints."""
    result = CliRunner().invoke(commands, list(arguments))
    assert result.exit_code == 0, result.output
    return result.output


def step(tab: Page, rng: Random) -> bool:
    """Whatever the page asks for; False at the end."""
    match tab.locator("main").get_attribute("data-view"):
        case "document":
            expect(tab.locator("input[type=radio]")).to_have_count(5)
            grade = tab.locator(f"input[type=radio][value='{goodness(title_of(tab))}']").get_attribute("id")
            tab.locator(f"label[for={grade}]").click()
            click(tab, "Save and continue")
        case "pair":
            left, right = map(goodness, pair(tab))
            side = "left" if left > right else "right"
            sure = f"Definitely {side}"
            if tab.get_by_role("button", name=sure).count() and abs(left - right) > 2:
                click(tab, sure)
            else:
                tab.evaluate("document.getElementById('main').dataset.old = ''")
                tab.locator(f"button[form=prefer][value={side}]").click()
                tab.wait_for_selector("#main:not([data-old])", state="attached")
        case "rating":
            tab.locator(f"label[for=confidence-{rng.randint(3, 5)}]").click()
            tab.locator(f"label[for=understanding-{rng.randint(3, 5)}]").click()
            click(tab, "Finish")
        case "end" if tab.get_by_role("button", name="Judge another topic").count():
            click(tab, "Judge another topic")
        case _:
            return False
    return True


@pytest.mark.nightly
def test_six_assessors_judge_three_arms_and_the_owner_reads_table_4_from_it(
    app: Application, browser: Browser, tmp_path: Path
) -> None:
    campaign: Running = app.campaign(app.plan(ARMS, n_documents=3, n_topics=3))
    rng, tabs = Random(3), []
    for i in range(6):
        tab = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
        enter(tab, campaign, f"person-{i}")
        tabs.append(tab)
    views = {tab.locator("main").get_attribute("data-view") for tab in tabs}
    assert views == {"document", "pair"}  # every arm is somebody's first
    sure = [tab for tab in tabs if tab.get_by_role("button", name="Definitely left").count()]
    assert len(sure) == 2
    for tab in (sure[0], next(one for one in tabs if one.locator("#left-title").count() and one not in sure)):
        no_faults(tab)
    at_work = list(tabs)
    while at_work:
        tab = rng.choice(at_work)
        if not step(tab, rng):
            at_work.remove(tab)

    labels = {row.id: row.label for row in campaign.rows(schema.topic)}
    units = campaign.rows(schema.assignment)
    assert {row.status for row in units} == {"completed"}
    assert len({(row.assessor_id, row.topic_id) for row in units}) == len(units) == 18  # nobody sees a topic twice
    assert set(Counter((labels[row.topic_id], row.arm) for row in units).values()) == {2}
    order = defaultdict(list)
    for row in sorted(units, key=lambda row: float(row.created)):
        order[row.assessor_id].append(row.arm)
    assert all(set(arms) == set(ARMS) for arms in order.values())
    for place in range(3):
        assert Counter(arms[place] for arms in order.values()) == dict.fromkeys(ARMS, 2)

    database = str(app.folder / "qrowd.db")
    table = tmp_path / "units.jsonl"
    qrowd("campaign", "export", campaign.plan.name, "--database", database, "--what", "units", "-o", str(table))
    exported = [json.loads(line) for line in table.read_text().splitlines()]
    assert Counter(row["arm"] for row in exported) == dict.fromkeys(ARMS, 6)
    assert all(row["confidence"] in range(3, 6) and row["seconds"] > 0 for row in exported)
    for arm in ("preference", "degrees"):
        assert "preferences by 6 assessors" in qrowd(
            "prefer", "agree", "--campaign", f"{campaign.plan.name}/{arm}", "--database", database
        )
    for tab in tabs:
        tab.context.close()
