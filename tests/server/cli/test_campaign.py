"""Campaigns on the command line, from a folder to an export; and commands that read them."""

import asyncio
import json
import shutil
from random import Random

import pandas as pd
import pytest

from qrowd.files import read_checks
from qrowd.reports.document import RENDERERS

CAMPAIGN = """
[campaign]
name = "pilot"
title = "How relevant is it?"
seed = 20170301

[grades]
scale = "0-3"
redundancy = 2
rating = false

[journey]
consent = false
"""


@pytest.fixture(scope="module")
def judged(exit_status, tmp_path_factory):
    """The folder of a campaign of two topics that ann and bob have judged, in which no test runs."""
    from qrowd_server.campaigns.running.judging import JudgingService
    from qrowd_server.protocols.events import GoOn, Judge
    from qrowd_server.protocols.views import DocumentView
    from qrowd_server.store.engine import open_store

    place = tmp_path_factory.mktemp("judged")
    folder = place / "pilot"
    folder.mkdir()
    (folder / "campaign.toml").write_text(CAMPAIGN)
    (folder / "topics.tsv").write_text("t1\tkeeping bees in a city\nt2\tbread that stays flat\n")
    (folder / "pool.qrels").write_text("".join(f"t{t} 0 d{i} 0\n" for t in (1, 2) for i in range(4)))
    documents = ({"docid": f"d{i}", "title": f"Document {i}", "text": f"Bread number {i}, and bees."} for i in range(4))
    (folder / "documents.jsonl").write_text("".join(json.dumps(document) + "\n" for document in documents))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        assert exit_status("campaign", "create", "pilot") == 0

    async def judge(service, name, grades):
        assessor = await service.arrive("pilot", "api", name)
        await service.act(assessor, GoOn())
        page = await service.page(assessor)
        while isinstance(page.view, DocumentView) or getattr(page.view, "another", False):
            seen = isinstance(page.view, DocumentView)
            action = Judge(page.view.position, grades[page.view.position % 2]) if seen else GoOn()
            await service.act(assessor, action, shown=page.shown, key=page.key)
            page = await service.page(assessor)

    # Orders are drawn from these numbers: drawn anew each time, both said the same of every document in 1 of 36 runs.
    chance = Random(1)
    with open_store(place / "judgments.db") as store:
        service = JudgingService(store, number=lambda: chance.getrandbits(62))
        asyncio.run(judge(service, "ann", "21"))
        asyncio.run(judge(service, "bob", "12"))
    return place


@pytest.fixture
def pilot(qrowd, tmp_path, judged):
    """That campaign in the folder where commands run."""
    shutil.copytree(judged, tmp_path, dirs_exist_ok=True)
    return "pilot"


def test_check_notes_incomplete_quality_checks_and_creates_nothing(qrowd, pilot, tmp_path):
    outcome = qrowd("campaign", "create", "pilot", "--check", "--database", "new.db")
    assert outcome.status == 0, outcome.err
    assert outcome.out.splitlines() == [
        "note: Quality checks that are not used: no topic has a question.",
        "pilot (grades: 2 topics, 4 documents) can be created",
    ]
    assert not (tmp_path / "new.db").exists()


def test_the_progress_of_a_campaign_is_printed_and_written(qrowd, pilot, tmp_path):
    outcome = qrowd("campaign", "status", pilot, "--per-assessor", "-o", "topics.csv")
    assert outcome.status == 0, outcome.err
    assert outcome.out.startswith("pilot is running: 4 of 4 units done, 0 under way, 16 answers count.")
    assert "Krippendorff's alpha" in outcome.out
    assert pd.read_csv(tmp_path / "topics.csv")["topic"].tolist() == ["t1", "t2"]
    assert qrowd("campaign", "status").out.startswith("1 campaign.")


def test_the_status_of_a_campaign_is_set(qrowd, pilot):
    for status in ("paused", "running", "stopped"):
        assert qrowd("campaign", "status", pilot, "--set", status).out.startswith(f"{pilot} is {status}: ")


def test_an_unknown_status_is_refused_in_one_line(qrowd, pilot):
    outcome = qrowd("campaign", "status", pilot, "--set", "steered")
    assert outcome.status == 2
    assert "'running', 'paused', 'stopped'" in outcome.err
    assert outcome.err.count("\n") == 1


def test_an_export_in_qrels_format_is_read_as_the_campaign_is(qrowd, pilot):
    assert qrowd("campaign", "export", pilot, "--format", "qrels", "-o", "pilot.qrels").status == 0
    options = ["--level", "nominal", "--n-resamples", 0]
    files = qrowd("agree", "--judgments", "pilot.qrels", "--assessor", "column", "--scale", "*=0-3", *options)
    assert files.out.splitlines()[0] == qrowd("agree", "--campaign", pilot, *options).out.splitlines()[0]


@pytest.mark.parametrize(
    ("ending", "format"),
    [("csv", "csv"), ("parquet", "parquet"), ("qrels", "qrels"), ("jsonl", "jsonl"), ("lines", "jsonl")],
)
def test_the_ending_of_the_file_says_the_format_of_an_export(qrowd, pilot, tmp_path, ending, format):
    for more in (["-o", f"a.{ending}"], ["-o", "b", "--format", format], ["-o", "c.csv", "--format", format]):
        assert qrowd("campaign", "export", pilot, *more).status == 0
    first, *others = ((tmp_path / name).read_bytes() for name in (f"a.{ending}", "b", "c.csv"))
    assert first
    assert others == [first, first]


def test_an_invited_name_has_hyphens_for_blanks_and_is_found_again_with_blanks(qrowd, pilot):
    assert qrowd("campaign", "invite", pilot, "Anna Lee").out.startswith("Anna-Lee\thttp")
    for name in ("Anna Lee", "Anna-Lee"):
        again = qrowd("campaign", "invite", pilot, name)
        assert (again.status, again.err.startswith("qrowd: Anna-Lee is invited already; ")) == (2, True)
    assert qrowd("campaign", "invite", pilot, "Anna Lee", "--further").out.startswith("Anna-Lee\thttp")


@pytest.mark.parametrize("ending", [".XLSX", *sorted(RENDERERS.keys() - {".csv", ".parquet"})])
def test_an_ending_of_another_format_is_refused_before_an_export_is_written(qrowd, pilot, tmp_path, ending):
    outcome = qrowd("campaign", "export", pilot, "--names", "-o", f"e{ending}")
    choices = ".jsonl, .csv, .parquet, .qrels; or name a --format"
    assert (outcome.status, outcome.err) == (2, f"qrowd: --output e{ending}: the ending must be one of {choices}\n")
    assert not (tmp_path / f"e{ending}").exists()


def test_an_archive_may_be_called_json(qrowd, pilot, tmp_path):
    assert qrowd("campaign", "export", pilot, "--what", "archive", "-o", "e.json").status == 0
    assert json.loads((tmp_path / "e.json").read_text().splitlines()[0])["format"] == "qrowd campaign"


def test_without_gold_questions_the_payment_table_has_units_and_no_accuracy(qrowd, pilot):
    outcome = qrowd("campaign", "export", pilot, "--what", "payment")
    assert outcome.status == 0, outcome.err
    people = [json.loads(line) for line in outcome.out.splitlines()]
    assert len(people) > 1
    for person in people:
        assert person["answers"] > 0
        assert [person[name] for name in ("gold_answers", "accuracy", "bonus")] == [0, None, 0.0]


def test_an_archive_brings_the_campaign_into_another_database(qrowd, pilot):
    assert qrowd("campaign", "export", pilot, "--what", "archive", "-o", "pilot.jsonl").status == 0
    assert qrowd("campaign", "create", "pilot.jsonl", "--database", "other.db").status == 0
    before, after = (
        qrowd("campaign", "status", pilot, "--database", name).out for name in ("judgments.db", "other.db")
    )
    assert before.splitlines()[0] == after.splitlines()[0]


@pytest.mark.parametrize(
    "command",
    [
        ["agree", "--n-resamples", 0],
        ["assessors"],
        ["aggregate"],
        ["plot", "assessors", "-o", "a.csv"],
        ["evaluate", "--runs", "a.run", "b.run", "-m", "AP"],
        *(
            pytest.param(command, marks=pytest.mark.nightly)
            for command in (
                ["predict", "--rel", 2, "--n-resamples", 0],
                ["compare", "--runs", "a.run", "b.run", "-m", "AP", "--n-resamples", 50],
                ["plan", "--runs", "a.run", "b.run", "-m", "nDCG@3"],
                ["aware", "--runs", "a.run", "b.run", "-m", "nDCG@3", "--n-resamples", 5],
                ["report", "--runs", "a.run", "b.run", "-m", "AP", "--n-resamples", 50, "--random-assessors", 2],
            )
        ),
    ],
    ids=lambda command: command[0],
)
def test_commands_read_what_a_campaign_has_collected(qrowd, pilot, tmp_path, command):
    for name, order in (("a", (0, 1, 2, 3)), ("b", (3, 1, 0, 2))):
        lines = (f"t{t} Q0 d{d} {rank} {9 - rank} {name}\n" for t in (1, 2) for rank, d in enumerate(order, start=1))
        (tmp_path / f"{name}.run").write_text("".join(lines))
    outcome = qrowd(*command, "--campaign", pilot)
    assert outcome.status == 0, outcome.err
    mixed = qrowd(*command, "--campaign", pilot, "--judgments", "pilot/pool.qrels")
    assert "give either files or a campaign" in mixed.err


def test_assessors_of_a_campaign_with_too_few_documents_with_gold_are_named(qrowd, pilot, tmp_path):
    (tmp_path / "gold.qrels").write_text("".join(f"t{t} 0 d{i} {3 * (i > 1)}\n" for t in (1, 2) for i in range(4)))
    outcome = qrowd("assessors", "--campaign", pilot, "--gold", "gold.qrels")
    assert outcome.status == 0, outcome.err
    assert "gold: share of grades equal to gold's" in outcome.out
    assert outcome.out.startswith(
        "Whether any of 2 assessors stands out is not tested: 8 of 10 shared documents needed; gold "
    )
    names = outcome.out.partition("not tested, because fewer than 10 documents have gold: ")[2].partition("\n")[0]
    assert sorted(names.split(" and ")) == ["a1", "a2"]  # in the order in which they came


def test_the_units_of_a_campaign_with_arms_have_times_by_arm(qrowd, pilot, tmp_path):
    (tmp_path / "pilot" / "campaign.toml").write_text(
        CAMPAIGN.replace("pilot", "arms").replace("[grades]\n", "[arms.stars.grades]\n")
        + "[arms.pairs.preference]\nrating = false\n"
    )
    assert qrowd("campaign", "create", "pilot").err == ""

    from judging import work
    from qrowd_server.campaigns.running.judging import JudgingService
    from qrowd_server.store.engine import open_store

    async def judge(service):
        for name in ("ann", "bob", "eve"):
            await work(service, await service.arrive("arms", "link", name), Random(1))

    with open_store("judgments.db") as store:
        asyncio.run(judge(JudgingService(store)))
    units = qrowd("campaign", "export", "arms/pairs", "--what", "units").out.splitlines()
    assert {json.loads(line)["arm"] for line in units} == {"pairs"}


def invited_by(line):
    """The name that a link belongs to, None where it is not, or no longer, good."""
    from qrowd_server.store.engine import open_store
    from qrowd_server.store.invitation_links import find_invitation

    with open_store("judgments.db", read_only=True) as store:
        invitation = store.read(lambda connection: find_invitation(connection, line.strip().rpartition("/")[2]))
    return None if invitation is None else invitation.name


def test_a_second_invitation_leaves_the_first_link_alone_and_another_link_needs_a_word(qrowd, pilot):
    first = qrowd("campaign", "invite", pilot, "zoe").out
    again = qrowd("campaign", "invite", pilot, "zoe", "yan")
    assert again.status == 2
    assert again.err == ("qrowd: zoe is invited already; leave the name out, or make a further link with --further\n")
    assert invited_by(first) == "zoe"
    further = qrowd("campaign", "invite", pilot, "zoe", "yan", "--further").out.splitlines()
    assert [invited_by(line) for line in further] == ["zoe", "yan"]
    assert invited_by(first) == "zoe"


def test_links_are_made_while_a_server_holds_the_database_and_lead_to_its_address(qrowd, pilot):
    from qrowd_server.store.engine import open_store
    from qrowd_server.store.sessions import BASE_URL, put_setting

    with open_store("judgments.db") as server:
        server.write(lambda connection: put_setting(connection, BASE_URL, "http://127.0.0.1:8123"))
        outcome = qrowd("campaign", "invite", pilot, "zoe")
        assert outcome.status == 0, outcome.err
        assert outcome.out.startswith("zoe\thttp://127.0.0.1:8123/join/")
        server.write(lambda connection: put_setting(connection, "another", "one"))  # the server writes on
    assert invited_by(outcome.out) == "zoe"


def test_all_commands_work_beside_a_server(qrowd, pilot, tmp_path):
    from qrowd_server.store.engine import open_store

    (tmp_path / "gold.qrels").write_text("".join(f"t1 0 d{i} 0\n" for i in range(4)))
    qrowd("campaign", "init", "kitchen")
    with open_store("judgments.db"):
        for command in (
            ("create", "kitchen"),
            ("export", pilot),
            ("status", pilot, "--set", "stopped"),
            ("status",),
            ("delete", pilot, "--output", "pilot.archive"),
            ("create", "pilot.archive"),
        ):
            outcome = qrowd("campaign", *command)
            assert (outcome.status, outcome.err) == (0, ""), command
        topics = tmp_path / "kitchen" / "topics.tsv"
        topics.write_text(f"{topics.read_text()}t9\ta ninth topic\n")
        pool = tmp_path / "kitchen" / "pool.txt"
        pool.write_text(f"{pool.read_text()}t9 t1-d1\n")
        outcome = qrowd("campaign", "change", "kitchen", "--check")
        assert outcome.out == "1 topic added\n1 unit added\n"
        assert qrowd("campaign", "change", "kitchen").out.endswith("kitchen is changed\n")
        outcome = qrowd("campaign", "change", "kitchen")
        assert (outcome.status, outcome.out) == (0, "kitchen: nothing would change\n")
    assert "pilot is stopped" in qrowd("campaign", "status", pilot, "--set", "stopped").out
    assert qrowd("campaign", "delete", pilot).status == 0


def test_a_file_of_check_documents_is_refused_where_nobody_would_see_them(qrowd, pilot, tmp_path):
    key = "checks"
    toml = tmp_path / "pilot" / "campaign.toml"
    toml.write_text(f'{CAMPAIGN}\n[files]\n{key} = "gold.qrels"\n')
    (tmp_path / "pilot" / "gold.qrels").write_text("t1 0 d0 1\n")
    outcome = qrowd("campaign", "create", "pilot", "--check")
    assert outcome.status == 2
    assert f"files.{key}: 'gold.qrels' would do nothing: checks are of magnitudes" in outcome.err
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize("protocol", ["grades", "magnitude", "preference"])
def test_the_folder_of_a_new_campaign_can_be_created_as_it_is(qrowd, tmp_path, protocol):
    outcome = qrowd("campaign", "init", "My Kitchen", "--protocol", protocol)
    assert outcome.status == 0, outcome.err
    assert "wrote My Kitchen/campaign.toml, My Kitchen/topics.tsv, My Kitchen/documents.jsonl" in outcome.out
    checked = qrowd("campaign", "create", "My Kitchen", "--check")
    assert checked.status == 0, checked.err
    assert checked.out.splitlines()[-1].startswith(f"my-kitchen ({protocol}: 2 topics, 16 documents")
    again = qrowd("campaign", "init", "My Kitchen")
    assert again.status == 2
    assert again.err == "qrowd: My Kitchen: is not empty; name a new folder\n"


def test_the_check_documents_of_a_new_campaign_are_read_by_qrowd_magnitude(qrowd):
    qrowd("campaign", "init", "numbers", "--protocol", "magnitude")
    assert read_checks("numbers/checks.txt") == {"t1": ("t1-d1", "t1-d8"), "t2": ("t2-d1", "t2-d8")}


def test_a_new_campaign_has_a_folder_where_none_is_named(qrowd, tmp_path):
    outcome = qrowd("campaign", "init")
    assert outcome.status == 0, outcome.err
    assert outcome.out.splitlines()[-1] == "change them, then: qrowd campaign create my-campaign --check"
    settings = tmp_path / "my-campaign" / "campaign.toml"
    settings.write_text("mine")
    again = qrowd("campaign", "init")
    assert (again.status, again.err) == (2, "qrowd: my-campaign: is not empty; name a new folder\n")
    assert settings.read_text() == "mine"


def test_a_deleted_campaign_is_gone_and_comes_back_from_its_archive(qrowd, pilot):
    from sqlalchemy import func, select

    from qrowd_server.store.engine import open_store
    from qrowd_server.store.schema import metadata

    def sizes():
        with open_store("judgments.db", read_only=True) as store, store.reading() as connection:
            return {
                table.name: connection.scalar(select(func.count()).select_from(table))
                for table in metadata.sorted_tables
                if table.name not in ("setting", "account", "session", "login_attempt")
            }

    before = qrowd("campaign", "status", pilot).out
    assert qrowd("campaign", "invite", pilot, "zoe").status == 0  # links end with the campaign
    assert "2 finished, 1 invited." in qrowd("campaign", "status", pilot).out
    refused = qrowd("campaign", "delete", pilot, "--output", "pilot.jsonl")
    assert (refused.status, refused.err) == (
        2, "qrowd: pilot is running; stop it first: qrowd campaign status pilot --set stopped\n"
    )  # fmt: skip
    qrowd("campaign", "status", pilot, "--set", "stopped")
    assert sizes()["event"] > 0
    assert qrowd("campaign", "delete", pilot, "--output", "pilot.jsonl").status == 0
    assert set(sizes().values()) == {0}
    assert qrowd("campaign", "status", pilot).status == 2
    assert qrowd("campaign", "create", "pilot.jsonl").status == 0
    assert qrowd("campaign", "status", pilot).out.split(":")[1:] == before.split(":")[1:]


def test_no_command_prints_the_password_of_a_database(qrowd, postgres, tmp_path):
    url = postgres.database()
    assert qrowd("campaign", "init", "campaign").status == 0
    outcome = qrowd("campaign", "create", "campaign", "--database", url.replace("qrowd@", "qrowd:hunter2@"))
    assert outcome.status == 0, outcome.err
    assert "is in postgresql" in outcome.out
    assert "hunter2" not in outcome.out + outcome.err
    postgres.drop(url)


def test_a_campaign_is_deleted_into_an_archive_of_its_name_and_the_day(qrowd, pilot, tmp_path):
    qrowd("campaign", "status", pilot, "--set", "stopped")
    outcome = qrowd("campaign", "delete", pilot)
    assert outcome.status == 0, outcome.err
    [archive] = tmp_path.glob("pilot-*.archive")
    wrote, remedy = outcome.out.splitlines()
    assert wrote == f"wrote {archive.name}; pilot is deleted from {tmp_path / 'judgments.db'}"
    assert remedy == f"qrowd campaign create {archive.name} brings it back"
    assert qrowd("campaign", "create", archive.name).status == 0
    again = qrowd("campaign", "delete", pilot)
    assert (again.status, again.err) == (2, f"qrowd: {archive.name}: exists; name a new file: --output FILE\n")
    assert qrowd("campaign", "status", pilot).status == 0
