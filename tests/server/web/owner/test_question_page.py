"""The owner's page of a campaign with a question: the statement, and what is left."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from judging import Clock
from qrowd.sequential.design import read_design
from qrowd_server.campaigns.results.campaign_progress import progress
from qrowd_server.store.engine import open_store
from questions import make_world
from server.campaigns.test_question import Live
from webserver import Place, serving


def content(folder: Path, *, decided: bool) -> bytes:
    """A database with a question that people have judged for a while; in a thread, as a browser has a loop here."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(_content, folder, decided).result()


def _content(folder: Path, decided: bool) -> bytes:
    folder.mkdir(parents=True)
    with open_store(folder / "q.db") as store:
        world = make_world(noises=(0.5, 1.5, 2.0), documents=10)
        live = Live(store, folder / "f", world=world, question="best")  # type: ignore[no-untyped-call]
        if decided:
            live.until_decided()  # type: ignore[no-untyped-call]
            assert live.row.status == "decided"
        else:
            for _ in range(15):
                live.answer(wrong=0.4)  # type: ignore[no-untyped-call]
    return (folder / "q.db").read_bytes()


@pytest.fixture(scope="module", params=[False, True], ids=["open", "decided"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("question")
    with serving(folder, content(folder / "made", decided=request.param), Clock()) as place:
        yield place


def test_the_page_shows_the_statement_and_what_is_left(made: Place) -> None:
    p = made.store.read(lambda connection: progress(connection, "live", made.clock()))
    owner, question = made.owner(), p.question
    assert question is not None
    for path in ("/owner/c/live", "/owner/c/live/live"):
        page = owner.get(path)
        assert page.status == 200
        assert question.sentence in page.text
        assert f'data-figure="judged">{question.n_judged}<' in page.text
        assert ("about" in page.text) == (not question.answer)
    results = owner.get("/owner/c/live/results").text
    assert question.sentence in results
    assert question.differences
    for one in question.differences:
        assert f'{one.first}</th><td role="cell" data-label="against">{one.second}</td>' in results


def test_documents_are_counted_where_units_do_not_say_how_far_a_question_is(made: Place) -> None:
    p = made.store.read(lambda connection: progress(connection, "live", made.clock()))
    assert p.question is not None
    listed = " ".join(made.owner().get("/owner").text.split())
    assert f"{p.question.n_judged} of {p.question.n_documents} documents judged" in listed
    assert f"{p.completed} of {p.slots} unit" not in listed


def test_nobody_is_advised_to_ask_a_second_assessor_of_a_question_that_has_one(made: Place) -> None:
    results = made.owner().get("/owner/c/live/results").text
    assert "there is nothing to agree on." in results
    assert "let a second assessor judge some of the same documents" not in results


def test_a_decided_campaign_can_be_resumed_on_the_page(made: Place) -> None:
    page = made.owner().get("/owner/c/live").text
    is_decided = made.store.read(lambda connection: progress(connection, "live", made.clock())).status == "decided"
    assert ('value="resume"' in page) == is_decided
    assert ("no further document is handed out" in page) == is_decided


def test_the_design_is_downloaded_as_qrowd_next_reads_it(made: Place, tmp_path: Path) -> None:
    owner = made.owner()
    assert "/owner/c/live/export/design/json" in owner.get("/owner/c/live/results").text
    file = owner.get("/owner/c/live/export/design/json")
    assert file.status == 200
    (tmp_path / "next.json").write_bytes(file.body)
    design = read_design(tmp_path / "next.json")
    p = made.store.read(lambda connection: progress(connection, "live", made.clock()))
    assert p.question is not None
    assert len(design.draws) == p.question.n_drawn
