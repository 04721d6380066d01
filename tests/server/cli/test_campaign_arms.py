"""A campaign with several arms on the command line."""

import asyncio
import csv
import shutil
from random import Random

import pytest

from judging import Clock, created, seeded, three_arms, work
from qrowd_server.store.engine import open_store

STUDY = """
[campaign]
name = "study"

[arms.absolute.grades]
scale = "0-4"

[arms.degrees.preference]
definitely = true
"""


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """The database of three arms that six assessors have judged."""
    database = tmp_path_factory.mktemp("judged") / "judgments.db"
    with open_store(database) as store:
        created(store, three_arms(documents=3, rating=True))
        service = seeded(store, Clock(step=1.0))

        async def judge():
            for i in range(6):
                await work(service, await service.arrive("study", "link", f"person-{i}"), Random(i))

        asyncio.run(judge())
    return database


@pytest.fixture
def study(qrowd, tmp_path, judged):
    """That study in the folder where commands run."""
    shutil.copy(judged, tmp_path)
    return "study"


def test_create_with_check_summarises_the_arms(qrowd, tmp_path):
    (tmp_path / "campaign.toml").write_text(STUDY)
    (tmp_path / "topics.tsv").write_text("t1\tbread\n")
    (tmp_path / "documents.jsonl").write_text('{"docid": "d1", "text": "one"}\n{"docid": "d2", "text": "two"}\n')
    outcome = qrowd("campaign", "create", tmp_path, "--check")
    assert "study (absolute (grades), degrees (preference): 1 topic, 2 documents) can be created\n" in outcome.out


def test_status_counts_by_arm_and_prints_the_assessors_of_each(qrowd, study):
    out = qrowd("campaign", "status", study, "--per-assessor").out
    assert "study is running: 18 of 18 units done" in out
    assert all(f"assessors of {arm}" in out for arm in ("absolute", "preference", "degrees"))
    assert "absolute: Krippendorff's alpha" in out
    assert "degrees: Pairs ordered alike by two assessors" in out
    assert "absolute (grades), preference (preference), degrees (preference)" in qrowd("campaign", "status").out


@pytest.mark.parametrize(
    ("command", "status"),
    [
        (("agree", "--campaign", "study"), 0),  # one arm has judgments
        (("agree", "--campaign", "study/absolute"), 0),
        (("prefer", "bradley-terry", "--campaign", "study/degrees"), 0),
        (("study", "arms", "--campaign", "study"), 0),
        (("campaign", "export", "study/degrees", "--what", "preferences", "--format", "csv"), 0),
        (("prefer", "bradley-terry", "--campaign", "study"), 2),
        (("agree", "--campaign", "study/other"), 2),
        (("agree", "--campaign", "study/degrees"), 2),
    ],
)
def test_a_command_reads_the_arm_that_is_meant_or_names_the_arms(qrowd, study, command, status):
    outcome = qrowd(*command)
    assert outcome.status == status, outcome.err
    if status:
        assert outcome.err.count("\n") == 1
        assert "study/degrees" in outcome.err or "it has absolute, preference, degrees" in outcome.err


@pytest.mark.parametrize(
    ("arm", "kind"), [("degrees", "preferences"), pytest.param("absolute", "judgments", marks=pytest.mark.nightly)]
)
def test_a_report_takes_the_grades_or_the_preferences_of_an_arm(qrowd, study, tmp_path, arm, kind):
    rows = qrowd("campaign", "export", f"study/{arm}", "--what", kind, "--format", "csv").out.splitlines()
    topic, document, other = next(iter(csv.DictReader(rows)))["topic"], "d0", "d1"
    for name, (first, second) in {"a": (document, other), "b": (other, document)}.items():
        (tmp_path / f"{name}.run").write_text(f"{topic} Q0 {first} 1 2 {name}\n{topic} Q0 {second} 2 1 {name}\n")
    outcome = qrowd(
        "report", "--runs", "a.run", "b.run", "--campaign", f"study/{arm}", "--n-resamples", 50,
        "--random-assessors", 2, "-o", "-"
    )  # fmt: skip
    assert outcome.status == 0, outcome.err
    assert f"By {'ppref' if kind == 'preferences' else 'nDCG'}@10" in outcome.err
