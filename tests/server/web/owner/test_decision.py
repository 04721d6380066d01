"""The decision on the owner's page: what the commands say of the same campaign."""

import asyncio
import html
import re
import sys
from collections.abc import Iterator
from threading import Thread

import pytest

from command_line import qrowd
from judging import Clock
from qrowd import Judgments, compare
from qrowd_server.campaigns.plan.folder import read_folder
from qrowd_server.campaigns.results.exports import note_names
from qrowd_server.campaigns.running.collected import kept_runs
from qrowd_server.campaigns.running.creation import create_campaign
from qrowd_server.store.accounts import add_account, hash_password, set_member
from qrowd_server.store.materials import find_campaign
from qrowd_server.store.progress_counts import leases
from qrowd_server.web.owner.decision import Decision, decide
from server.cli.test_kept_runs import judge, write_folder
from server.web.owner.estate import PASSWORD, text_of
from stores import empty_file
from webserver import Browser, Place, serving, streaming

PAGE = "/owner/c/pilot"
RESULTS = f"{PAGE}/results"

__all__ = ["qrowd"]  # a fixture


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Campaigns from two runs, of grades and of preferences, and one from a list of documents."""
    folder = tmp_path_factory.mktemp("decision")
    write_folder(folder / "pilot", runs=True)
    write_folder(folder / "pairs", runs=True)
    pairs = (folder / "pairs" / "campaign.toml").read_text().replace('"pilot"', '"pairs"')
    for text, other in (("[grades]", "[preference]"), ('scale = "0-3"\n', ""), ("[gold]\nevery = 3\n", "")):
        pairs = pairs.replace(text, other)
    (folder / "pairs" / "campaign.toml").write_text(pairs)
    (folder / "pairs" / "gold.qrels").unlink()
    write_folder(folder / "listed", runs=False)
    (folder / "listed" / "gold.qrels").unlink()
    toml = folder / "listed" / "campaign.toml"
    toml.write_text(toml.read_text().replace('"pilot"', '"listed"'))
    with serving(folder, empty_file(), Clock()) as place:
        for name in ("pilot", "listed", "pairs"):
            place.store.write(lambda c, name=name: create_campaign(c, read_folder(folder / name), place.clock()))
        yield place


@pytest.fixture(scope="module")
def judged(made: Place) -> Place:
    """The same, after two assessors judged in the first of them."""
    assert "Which system is better?" not in made.owner().get(PAGE).text, "nobody has judged"
    filling = Thread(target=lambda: asyncio.run(judge(made.store)))
    filling.start()
    filling.join()
    made.clock.now += 100
    return made


def decided(owner: Browser, path: str) -> str:
    """The page once the systems are compared."""
    for _ in range(60):
        page = owner.get(path)
        assert page.status == 200
        if "are being compared" not in page.text:
            return page.text
    raise AssertionError("the systems are not compared after a minute")


def test_the_page_holds_the_sentences_and_conditions_of_the_commands(judged: Place, qrowd) -> None:
    def said(command: str) -> list[str]:
        outcome = qrowd(*command.split(), "--campaign", "pilot", "--names", "--database", judged.store.url.database)
        assert outcome.status == 0, outcome.err
        return outcome.out.splitlines()

    page = decided(judged.owner(), RESULTS)
    assert page.count("Which system is better?") == 1
    words = html.unescape(text_of(page))
    compared = said("compare --unjudged condensed")
    assert compared[0] in words
    for path in (PAGE, f"{PAGE}/live"):
        assert compared[0].partition(" Caution:")[0] in html.unescape(text_of(decided(judged.owner(), path)))
    assert "qrowd compare --campaign pilot --unjudged condensed --names says the same" in words, "its gold questions"
    conditions = compared[compared.index(next(line for line in compared if line.startswith("test of all pairs"))) :]
    left_out = ("agreement of rankings: ", "AP correlation: ", "AP-b: ", "same sign: ")
    assert len(conditions) == 8
    assert [line for line in conditions if line not in words] == [
        line for line in conditions if line.startswith(left_out)
    ]
    disputed = said("disagreements")
    assert disputed[0] in words
    reported = said("report --unjudged condensed")[0]
    assert reported.partition(" It would take ")[0] in words
    of_document = words.partition("The first of them, with the grade of each assessor:")[2].partition("Document")[2]
    assert re.search(r"\b(ann|bob) \d", of_document), "owners read names, as on other pages"
    first = disputed[4].split()
    assert f"Document {first[1]} of topic {first[0]}" in words
    item = judged.owner().get(f"{PAGE}/review/item?topic={first[0]}&document={first[1]}")
    assert item.status == 200
    assert f'href="{PAGE}/review/item?topic={first[0]}&amp;document={first[1]}"' in page


def test_a_decision_is_kept_for_a_minute_while_units_are_open_and_without_them_until_something_happens(
    judged: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, computed = "qrowd_server.web.owner.decision", []
    monkeypatch.setattr(f"{module}.decide", lambda *_: computed.append(1) or Decision(f"Answer {len(computed)}."))
    assert judged.store.read(lambda c: leases(c, find_campaign(c, "pilot").id)) == {}
    owner = judged.owner()

    def happens() -> None:
        judged.store.write(lambda c: note_names(c, "pilot", "judgments", "csv", judged.clock.now))

    def shown() -> str:
        for path in (PAGE, RESULTS):
            page = decided(owner, path)
        return re.findall(r"Answer \d+", page)[0]

    happens()
    assert shown() == "Answer 1"
    assert shown() == "Answer 1"
    happens()
    assert shown() == "Answer 2"
    monkeypatch.setattr(f"{module}.leases", lambda *_: {1: 0.0})  # somebody has a unit
    while_judging = shown()
    happens()
    assert shown() == while_judging


def test_the_decision_of_one_assessor_is_that_of_compare_without_disagreements(judged: Place) -> None:
    runs = judged.store.read(lambda c: kept_runs(c, "pilot"))
    grades = [(topic, f"d{d}", "ann", float(d % 4)) for topic in ("t1", "t5", "t9") for d in range(6)]
    grades_of_ann = Judgments.from_rows(grades, scales={"*": "0-3"})
    decision = decide(runs, grades_of_ann, condensed=False)
    assert decision.sentence == compare(runs, grades_of_ann).sentence
    assert decision.answer
    assert decision.conditions
    assert (decision.disagreement, decision.disputed) == ("", ())


def test_a_gold_document_is_called_so_and_shown_with_its_answers(judged: Place) -> None:
    sql = "select raw, is_right from gold_answer join document on document.id = document_id where label = 'd1'"
    answers = judged.store.read(lambda c: c.exec_driver_sql(sql).all())
    assert answers, "nobody answered it"
    page = judged.owner().get(f"{PAGE}/review/item?topic=t1&document=d1").text
    words = " ".join(html.unescape(text_of(page)).split())
    assert "A gold document" in words
    assert "Right is 3." in words
    assert "tables of judgments and scores have them only if a run ranks the document" in words
    assert "No answer yet" not in words
    assert page.count('data-label="Answer"') == len(answers)
    for raw, right in answers:
        assert f"{raw} {'right' if right else 'wrong'}" in words
    assert "Open the answer again" not in words
    assert "A gold document" not in judged.owner().get(f"{PAGE}/review/item?topic=t1&document=d0").text


def test_parquet_is_offered_where_it_can_be_written(made: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    for spare in (False, True):
        if spare:
            monkeypatch.setitem(sys.modules, "pyarrow", None)
        page = made.owner().get(RESULTS).text
        assert ("/export/judgments/parquet" in page, 'value="judgments/parquet"' in page) == (not spare, not spare)
        assert ("Parquet is written once pyarrow is installed" in page) == spare
        assert "/export/judgments/jsonl" in page


def test_the_table_of_judgments_is_said_to_hold_gold_documents_that_a_run_ranks_where_there_are_runs(
    made: Place,
) -> None:
    assert "also of gold documents that a run ranks, with their order" in made.owner().get(RESULTS).text
    assert "also of gold documents, with their order" in made.owner().get("/owner/c/listed/results").text


def test_viewers_see_no_grades_of_single_assessors(judged: Place) -> None:
    number = judged.store.write(
        lambda c: add_account(c, "vera", hash_password(PASSWORD), judged.clock.now, role="member")
    )
    campaign = judged.store.read(lambda c: find_campaign(c, "pilot")).id
    judged.store.write(lambda c: set_member(c, campaign, number, "viewer"))
    viewer = Browser(streaming(judged.app), judged.base)
    token = viewer.get("/owner/login").field("csrf")
    viewer.post("/owner/login", {"csrf": token, "name": "vera", "password": PASSWORD}, origin=judged.base)
    page = decided(viewer, RESULTS)
    assert "What assessors disagree about" in page
    assert not {"ann", "bob"} & set(re.findall(r"\w+", text_of(page)))
    assert "/review/item" not in page
    assert "/review/item" in decided(judged.owner(), RESULTS)


def test_a_campaign_without_runs_has_no_decision(made: Place) -> None:
    assert "Which system is better?" not in decided(made.owner(), "/owner/c/listed")


def test_of_preferences_the_page_names_commands_that_take_them(made: Place, qrowd) -> None:
    words = " ".join(html.unescape(text_of(made.owner().get("/owner/c/pairs/results").text)).split())
    assert "Which system is better? By preferences, commands on the computer of the server answer this" in words
    database = ("--campaign", "pairs", "--database", made.store.url.database)
    for command in ("report", "evaluate"):
        assert f"qrowd {command} --campaign pairs" in words
        assert "no such option" not in qrowd(command, *database).err
    refused = qrowd("compare", *database)
    assert refused.status == 2
    assert refused.err == (
        "qrowd: --campaign pairs: it collects preferences; qrowd evaluate and qrowd report score systems by them, "
        "and qrowd prefer agree compares assessors\n"
    )
    assert qrowd("prefer", "agree", *database).err == (
        "qrowd: agreement needs at least two assessors; there are no preferences\n"
    )
