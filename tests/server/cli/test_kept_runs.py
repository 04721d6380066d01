"""Commands that compare systems by a campaign without --runs: the runs that the campaign was made from."""

import asyncio
import json
import shutil
from random import Random

import pytest

from judging import Clock, seeded, work
from qrowd_server.campaigns.running.collected import kept_runs
from qrowd_server.protocols.events import Judge
from qrowd_server.protocols.views import DocumentView
from qrowd_server.store.engine import open_store

CAMPAIGN = """
[campaign]
name = "pilot"
title = "How relevant is it?"
seed = 20170301
[grades]
scale = "0-3"
redundancy = 2
[gold]
every = 3
[files]
depth = 4
"""
TOPICS = ("t9", "t1", "t5")
KEPT = "of each run it keeps up to 4 documents of a topic, ties broken; what stands below is missing"
NOTE = f"note: campaign pilot: {KEPT}\n"


def write_folder(folder, *, runs):
    """A campaign from two runs of six documents, and a topic of which the first has nothing."""
    place = folder / "runs" if runs else folder
    place.mkdir(parents=True)
    (folder / "campaign.toml").write_text(CAMPAIGN if runs else CAMPAIGN.partition("[gold]")[0])
    (folder / "topics.tsv").write_text("".join(f"{t}\twhat is {t}?\n" for t in TOPICS))
    (folder / "gold.qrels").write_text("t1 0 d1 3\nt5 0 d2 0\n")
    rows = [{"docid": f"d{i}", "text": f"Bread number {i}."} for i in range(6)]
    (folder / "documents.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name, order, topics in (("b", (0, 1, 2, 3, 4, 5), TOPICS[1:]), ("a", (3, 4, 1, 5, 0, 2), TOPICS)):
        lines = [f"{t} Q0 d{d} {k + 1} {9 - k} x\n" for t in topics for k, d in enumerate(order)]
        (place / f"{name}.run").write_text("".join(lines))
    if not runs:
        (folder / "pool.txt").write_text("".join(f"{t} d0\n" for t in TOPICS))


def test_documents_of_gold_questions_are_not_among_those_to_judge(qrowd, tmp_path):
    write_folder(tmp_path / "pilot", runs=True)
    (tmp_path / "pilot" / "topics.tsv").write_text("t1\twhat is t1?\nt5\twhat is t5?\n")
    with (tmp_path / "pilot" / "documents.jsonl").open("a") as file:
        file.writelines(json.dumps({"docid": f"g{i}", "text": "Bread."}) + "\n" for i in range(3))
    (tmp_path / "pilot" / "gold.qrels").write_text("t1 0 g0 3\nt1 0 g1 0\nt5 0 g2 0\n")
    outcome = qrowd("campaign", "create", "pilot", "--check")
    assert outcome.out.endswith("pilot (grades: 2 topics, 6 documents) can be created\n")
    assert "Gold questions: 3 in 2 of 2 topics." in outcome.out


async def judge(store):
    service, rng = seeded(store, Clock(step=5.0)), Random(1)
    for name in ("ann", "bob"):
        who = await service.arrive("pilot", "link", name, name=name)
        for _ in range(60):
            page = await service.page(who)
            if isinstance(page.view, DocumentView):
                action = Judge(page.view.position, str(rng.randrange(4)))
                await service.act(who, action, shown=page.shown, key=page.key)
            else:
                await work(service, who, rng, steps=1)


@pytest.fixture(scope="module")
def judged(exit_status, tmp_path_factory):
    place = tmp_path_factory.mktemp("kept")
    write_folder(place / "pilot", runs=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        assert exit_status("campaign", "create", "pilot") == 0
    with open_store(place / "judgments.db") as store:
        asyncio.run(judge(store))
    return place


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["compare", "-m", "nDCG@4", "--n-resamples", 200], marks=pytest.mark.nightly),
        ["evaluate", "-m", "nDCG@4"],
        ["predict", "-m", "nDCG@4", "--rel", 1, "--cutoff", 4, "--n-resamples", 10],
        ["replace", "--model", "a2", "-m", "nDCG@4"],
        *(
            pytest.param(command, marks=pytest.mark.nightly)
            for command in (
                ["plan", "-m", "nDCG@4"],
                ["disagreements", "-m", "nDCG@4"],
                ["report", "-m", "nDCG@4", "--n-resamples", 50, "--random-assessors", 2],
                ["table", "-m", "nDCG@4", "--n-resamples", 50],
                ["aware", "-m", "nDCG@4", "--n-resamples", 50],
                ["plot", "ranks", "-m", "nDCG@4", "--n-resamples", 50, "-o", "-.csv"],
            )
        ),
        ["plot", "systems", "-m", "nDCG@4", "-o", "-.csv"],
    ],
    ids=lambda command: " ".join(command[:2]).partition(" -")[0],
)
def test_a_command_without_run_files_says_what_it_says_with_them(qrowd, tmp_path, judged, command):
    shutil.copytree(judged, tmp_path, dirs_exist_ok=True)
    with_files = qrowd(*command, "--campaign", "pilot", "--runs", "pilot/runs/*.run")
    kept = qrowd(*command, "--campaign", "pilot")
    assert (with_files.status, kept.status) == (0, 0), kept.err
    assert "6" in with_files.out
    assert kept.out == with_files.out
    assert NOTE not in with_files.err
    assert kept.err.replace(NOTE, "").replace("replaced ", "wrote ") == with_files.err
    assert NOTE in kept.err


def test_the_archive_keeps_the_runs(qrowd, tmp_path, judged):
    shutil.copytree(judged, tmp_path, dirs_exist_ok=True)
    assert qrowd("campaign", "export", "pilot", "--what", "archive", "-o", "pilot.archive.jsonl").status == 0
    assert qrowd("campaign", "create", "pilot.archive.jsonl", "--database", "other.db").status == 0
    command = ["evaluate", "-m", "nDCG@4", "--campaign", "pilot"]
    assert qrowd(*command, "--database", "other.db").out == qrowd(*command).out != ""


def test_a_campaign_without_runs_asks_for_files(qrowd, tmp_path):
    write_folder(tmp_path / "pilot", runs=False)
    (tmp_path / "pilot" / "gold.qrels").unlink()
    assert qrowd("campaign", "create", "pilot").status == 0
    outcome = qrowd("compare", "--campaign", "pilot")
    assert outcome.status == 2
    assert outcome.err == "qrowd: campaign pilot: it keeps no runs; give their files by --runs\n"


def test_a_deeper_pool_brings_more_of_each_run(qrowd, tmp_path):
    write_folder(tmp_path / "pilot", runs=True)
    assert qrowd("campaign", "create", "pilot").status == 0
    toml = tmp_path / "pilot" / "campaign.toml"
    toml.write_text(toml.read_text().replace("depth = 4", "depth = 5"))
    outcome = qrowd("campaign", "change", "pilot")
    assert outcome.status == 0, outcome.err
    assert kept_in(tmp_path).to_dict(system="a")["t9"] == {"d3": -1, "d4": -2, "d1": -3, "d5": -4, "d0": -5}


@pytest.mark.parametrize("tables", ["[preference]", "[arms.absolute.grades]\n[arms.degrees.preference]"])
def test_preferences_keep_the_first_documents_too_and_none_further_down_that_the_pool_has_by_another_run(
    qrowd, tmp_path, tables
):
    write_folder(tmp_path / "pilot", runs=True)
    (tmp_path / "pilot" / "gold.qrels").unlink()
    toml = f"[campaign]\nname = 'pilot'\nseed = 1\n{tables}\n[files]\ndepth = 2\n"
    (tmp_path / "pilot" / "campaign.toml").write_text(toml)
    outcome = qrowd("campaign", "create", "pilot")
    assert outcome.status == 0, outcome.err
    runs = kept_in(tmp_path)
    for topic in ("t1", "t5"):  # pool: d0, d1, d3, d4; run a has d1 on rank 3 and d0 on rank 5
        assert runs.to_dict(system="a")[topic] == {"d3": -1, "d4": -2}
        assert runs.to_dict(system="b")[topic] == {"d0": -1, "d1": -2}


def kept_in(folder):
    with open_store(folder / "judgments.db", read_only=True) as store:
        return store.read(lambda connection: kept_runs(connection, "pilot"))
