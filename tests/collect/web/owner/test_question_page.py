"""The owner's page of a campaign with a question: the statement, what is left, and how the interval closed."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from sqlalchemy import Connection

from browsers import axe_faults
from collect.campaigns.test_question import Live
from collect.web.owner.test_owner_in_browser import LOOKS
from judging import Clock
from qrowd.collect.campaigns.lookup import find
from qrowd.collect.campaigns.progress import progress
from qrowd.collect.campaigns.question_progress import Difference, EarlierLook, QuestionProgress
from qrowd.collect.store import draws, events
from qrowd.collect.store.engine import open_store
from qrowd.collect.store.events import LogEntry
from qrowd.collect.web.owner import owner_link
from qrowd.collect.web.owner.question_plot import HEIGHT, WIDTH, question_plot
from qrowd.sequential.stored import read_design
from questions import make_world
from webserver import Place, listening, serving


def content(folder: Path, *, decided: bool) -> bytes:
    """A database with a question that people have judged for a while; in a thread, as a browser has a loop here."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(_content, folder, decided, "best").result()


def _content(folder: Path, decided: bool, question: str) -> bytes:
    folder.mkdir(parents=True)
    with open_store(folder / "q.db") as store:
        world = make_world(noises=(0.5, 1.5, 2.0), documents=20)
        live = Live(store, folder / "f", world=world, people=4, question=question, simulate=True)  # type: ignore[no-untyped-call]
        if decided:
            live.until_decided()  # type: ignore[no-untyped-call]
            assert live.status == "decided"
        else:
            for _ in range(20):
                live.answer(live.rng.choice(live.people), wrong=0.4)  # type: ignore[no-untyped-call]
    return (folder / "q.db").read_bytes()


@pytest.fixture(scope="module", params=[False, True], ids=["open", "decided"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("question")
    with serving(folder, content(folder / "made", decided=request.param), Clock()) as place:
        yield place


def test_the_page_shows_the_statement_what_is_left_and_the_plot(made: Place) -> None:
    p = made.store.read(lambda connection: progress(connection, "live", made.clock()))
    owner, question = made.owner(), p.question
    for path in ("/owner/c/live", "/owner/c/live/live"):
        page = owner.get(path)
        assert page.status == 200
        assert question.sentence in page.text
        assert f'data-figure="judged">{question.n_judged}<' in page.text
        assert "<polygon" in page.text
        assert ("about" in page.text) == (not question.answer)
        for one in question.differences:
            assert f"{one.first}</th><td>{one.second}</td>" in page.text


def test_a_decided_campaign_can_be_resumed_on_the_page(made: Place) -> None:
    page = made.owner().get("/owner/c/live").text
    is_decided = made.store.read(lambda connection: progress(connection, "live", made.clock())).status == "decided"
    assert ('value="resume"' in page) == is_decided
    assert ("no further document is handed out" in page) == is_decided


def test_a_decision_stands_on_the_page_though_later_answers_would_leave_the_question_open(tmp_path: Path) -> None:
    with serving(tmp_path, content(tmp_path / "made", decided=True), Clock()) as place:

        def reopen(connection: Connection) -> None:
            number = find(connection, "live").id
            last = draws.last_of_kind(connection, number, "looked")
            assert last is not None
            looked = {**last.data["looked"], "answer": "", "sentence": "Open: 2 of 3 systems may be the best."}
            row = LogEntry(place.clock(), number, None, None, None, "server", "looked", {**last.data, "looked": looked})
            events.append(connection, [row])

        place.store.write(reopen)
        question = place.store.read(lambda connection: progress(connection, "live", place.clock())).question
        page = place.owner().get("/owner/c/live").text
    assert f'data-figure="sentence">{question.decision}<' in page
    assert "With the answers that came after the decision: Open: 2 of 3 systems may be the best." in page
    assert "<b>none</b>" in page


def test_the_design_is_downloaded_as_qrowd_next_reads_it(made: Place, tmp_path: Path) -> None:
    owner = made.owner()
    assert "/owner/c/live/export/design/json" in owner.get("/owner/c/live/export").text
    file = owner.get("/owner/c/live/export/design/json")
    assert file.status == 200
    (tmp_path / "next.json").write_bytes(file.body)
    design = read_design(tmp_path / "next.json")
    p = made.store.read(lambda connection: progress(connection, "live", made.clock()))
    assert len(design.draws) == p.question.n_drawn


def test_axe_finds_nothing_and_nothing_is_wider_than_the_window(browser: Browser, tmp_path: Path) -> None:
    made_content = content(tmp_path / "made", decided=False)

    def make(base: str):  # type: ignore[no-untyped-def]
        return serving(tmp_path, made_content, Clock(), base_url=base)

    with listening(partial(make)) as place:
        tab, faults = browser.new_page(), {}
        tab.goto(place.store.write(lambda c: owner_link(c, place.base, place.clock())))
        tab.get_by_role("button", name="Log in").click()
        tab.goto(f"{place.base}/owner/c/live")
        expect(tab.get_by_role("img", name="interval")).to_be_visible()
        for scheme, width, options in LOOKS:
            tab.set_viewport_size({"width": width, "height": 900})
            tab.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            faults[scheme, width] = axe_faults(tab, options)
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
        tab.context.close()
    assert not {look: broken for look, broken in faults.items() if broken}


def looks(*ends: tuple[int, float, float]) -> QuestionProgress:
    shown = tuple(EarlierLook(n, Difference("a", "b", (low + high) / 2, low, high)) for n, low, high in ends)
    differences = tuple(one.difference for one in shown[-1:])
    return QuestionProgress(
        "a > b", "P@10", 0.95, 0.0, "these topics", True, "", "", 0, 0, 100, 0, None, differences, shown
    )


def test_there_is_no_plot_before_two_looks() -> None:
    assert question_plot(looks()) is None
    assert question_plot(looks((0, -1.0, 1.0))) is None


def test_the_plot_stays_in_its_drawing_and_wide_first_intervals_are_cut_off() -> None:
    plot = question_plot(looks((0, -1.0, 1.0), (20, -0.4, 0.6), (40, -0.08, 0.12), (60, -0.04, 0.09), (80, 0.01, 0.06)))
    assert plot is not None
    corners = [tuple(map(float, corner.split(","))) for corner in plot.band.split()]
    assert len(corners) == 10
    assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in corners)
    assert plot.up[0][1] == "\u22120.2"  # not 1
    assert corners[4][1] < plot.zero  # the last interval lies above 0
    assert corners[5][1] < plot.zero
    assert plot.label.startswith("a minus b by P@10: +0.035, interval +0.010 to +0.060 after 80 documents")
