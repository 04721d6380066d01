"""`qrowd magnitude`: units, levels, gains, effort and one scale, from a user's own files."""

import asyncio
import json
import shutil

import numpy as np
import pandas as pd
import pytest

import qrowd as library
from qrowd.magnitude import assessors_needed, check_documents, gain_profile, level_tests, normalise
from qrowd.simulation import simulate_magnitudes, simulate_pool, simulate_runs
from qrowd_server.campaigns.running.judging import JudgingService
from qrowd_server.protocols.events import GoOn, Judge
from qrowd_server.protocols.views import DocumentView
from qrowd_server.store.engine import open_store
from simulated import write_files

TRUTH = simulate_pool(8, 40, rng=3)
GOLD = TRUTH.judgments()


@pytest.fixture(scope="module")
def crowd():
    return library.Judgments.from_frame(simulate_magnitudes(TRUTH, 90, rng=3).to_frame())  # labels as in a file


@pytest.fixture(scope="module")
def files(crowd, tmp_path_factory):
    """A user's magnitudes and gold grades, as files."""
    return write_files(tmp_path_factory.mktemp("files"), crowd, GOLD, simulate_runs(TRUTH, 10, rng=3))


@pytest.fixture
def mine(files, tmp_path):
    """Those files in the folder where commands run."""
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    return ["--judgments", "mine.csv"]


def test_units_levels_gains_and_effort_are_the_library_s(qrowd, mine, crowd, tmp_path):
    outcome = qrowd("magnitude", *mine, "--gold", "levels.csv", "-o", "out.json")
    assert outcome.status == 0, outcome.err
    parts = json.loads((tmp_path / "out.json").read_text())
    assert all(row["passed"] for row in parts["units: rows"])
    assert "0 units fail the checks" in outcome.out
    t = [row["t"] for row in parts["levels: tests"]]
    np.testing.assert_allclose(t, level_tests(normalise(crowd), GOLD).t)
    medians = [row["median"] for row in parts["gains: gains"]]
    np.testing.assert_allclose(medians, gain_profile(crowd, GOLD).gains.median)
    sds = pd.DataFrame({"pair": crowd.pair_numbers, "value": normalise(crowd).value}).groupby("pair")["value"].std()
    assert f"{assessors_needed(float(sds.median()), margin=2.0)} assessors on" in outcome.out
    for row in parts["effort: rows"]:
        assert row["median"] == assessors_needed(float(sds.median()), margin=row["margin"])


def test_without_gold_the_rest_is_shown_and_the_output_says_what_is_left_out(qrowd, mine):
    outcome = qrowd("magnitude", *mine)
    assert outcome.status == 0, outcome.err
    assert "left out: levels: this needs gold grades; give --gold NAME or FILE" in outcome.out
    assert "assessors on" in outcome.out


def test_gold_that_implies_no_check_documents_is_named(qrowd, mine, tmp_path):
    GOLD.recode(1).to_frame().to_csv(tmp_path / "binary.csv", index=False)
    frame = pd.read_csv(tmp_path / "mine.csv")
    of_two = frame.groupby(["topic", "document"])["unit"].transform("count") == 10  # without the check documents
    frame[of_two].to_csv(tmp_path / "unchecked.csv", index=False)
    outcome = qrowd("magnitude", "--judgments", "unchecked.csv", "--gold", "binary.csv")
    assert outcome.status == 0
    assert "give --checks FILE, a table of topic, H and N\n" in outcome.out


def test_gold_may_be_an_assessor_of_the_judgments(qrowd, mine, tmp_path):
    both = pd.concat([pd.read_csv(tmp_path / name) for name in ("mine.csv", "levels.csv")])
    both.to_csv(tmp_path / "both.csv", index=False)
    files = qrowd("magnitude", *mine, "--gold", "levels.csv")
    column = qrowd("magnitude", "--judgments", "both.csv", "--gold", "gold")
    assert column.status == 0
    assert column.out.splitlines()[0] == files.out.splitlines()[0]


def test_check_documents_may_come_from_a_table(qrowd, mine, crowd, tmp_path):
    checks = check_documents(crowd, GOLD)
    rows = [(topic, *both) for topic, both in checks.items()]
    pd.DataFrame(rows, columns=["topic", "H", "N"]).to_csv(tmp_path / "checks.csv", index=False)
    parts = []
    for source in (("--checks", "checks.csv"), ("--gold", "levels.csv")):
        assert qrowd("magnitude", *mine, *source, "-o", "out.json").status == 0
        parts.append(json.loads((tmp_path / "out.json").read_text())["units: rows"])
    assert parts[0] == parts[1]


def test_normalised_magnitudes_are_judgments_again(qrowd, mine, crowd, tmp_path):
    arguments = ("--gold", "levels.csv", "--normalise", "checks", "-o", "normalised.csv")
    outcome = qrowd("magnitude", *mine, *arguments)
    assert outcome.status == 0
    expected = normalise(crowd, scheme="checks", checks=GOLD)
    again = library.read_judgments(tmp_path / "normalised.csv")
    np.testing.assert_allclose(again.value, expected.value)
    assert again.unit.tolist() == crowd.unit.tolist()


def test_without_a_unit_column_an_assessor_s_judgments_of_a_topic_are_a_unit_and_the_output_says_so(qrowd, tmp_path):
    rows = [(t, d, who, 10.5 * (d + 1) * k) for t in "pq" for d in range(6) for k, who in enumerate("abc", start=1)]
    frame = pd.DataFrame(rows, columns=["topic", "document", "assessor", "value"])
    frame.to_csv(tmp_path / "mine.csv", index=False)
    outcome = qrowd("magnitude", "--judgments", "mine.csv")
    assert outcome.status == 0
    assert "units: all judgments of an assessor for a topic" in outcome.out


@pytest.mark.parametrize(
    "ending", ["csv", "md", *(pytest.param(one, marks=pytest.mark.nightly) for one in ("json", "tex"))]
)
def test_every_kind_of_file_is_written(qrowd, mine, tmp_path, ending):
    assert qrowd("magnitude", *mine, "--gold", "levels.csv", "-o", f"of.{ending}").status == 0
    assert (tmp_path / f"of.{ending}").stat().st_size > 50


@pytest.mark.parametrize(("arguments", "expected"), [
    (("--gold", "nobody"), "--gold nobody: neither an assessor nor a file"),
    (("--checks", "levels.csv"), "levels.csv: there is no column 'H' among topic"),
    (("--checks", "twice.csv"), "twice.csv: topic q1 stands twice"),
    (("--gold", "mine.csv"), "one assessor was expected"),
    (("--slots", "3"), "--slots 3: slots have no units, which magnitudes need; leave it out"),
    (("--normalise", "checks"), "this needs the check documents H and N; give --checks FILE, or --gold"),
])  # fmt: skip
def test_a_mistake_is_one_line_with_the_culprit_and_exit_status_2(qrowd, mine, tmp_path, arguments, expected):
    (tmp_path / "twice.csv").write_text("topic,H,N\nq1,a,b\nq1,a,c\n")
    outcome = qrowd("magnitude", *arguments, *mine)
    assert outcome.status == 2
    assert outcome.err.startswith("qrowd: ")
    assert outcome.err.count("\n") == 1
    assert expected in outcome.err


def test_a_magnitude_of_0_is_refused_with_its_place(qrowd, tmp_path):
    frame = pd.DataFrame({"topic": "q", "document": ["a", "b"], "assessor": "ann", "value": [0, 20.5], "unit": "u"})
    frame.to_csv(tmp_path / "zero.csv", index=False)
    outcome = qrowd("magnitude", "--judgments", "zero.csv")
    assert outcome.status == 2
    assert "document a: magnitude 0" in outcome.err


CAMPAIGN = """
[campaign]
name = "pilot"
title = "How relevant is it?"
seed = 20170301
checks = false

[magnitude]
k = 4
redundancy = 2
min_seconds = 0
reason = "none"
rating = false

[journey]
consent = false
practice = false
"""


@pytest.fixture
def pilot(qrowd, tmp_path):
    """A campaign of two topics that two assessors have judged, one with numbers ten times as large."""
    folder = tmp_path / "pilot"
    folder.mkdir()
    (folder / "campaign.toml").write_text(CAMPAIGN)
    (folder / "topics.tsv").write_text("t1\tkeeping bees in a city\nt2\tbread that stays flat\n")
    (folder / "pool.qrels").write_text("".join(f"t{t} 0 d{i} 0\n" for t in (1, 2) for i in range(4)))
    documents = ({"docid": f"d{i}", "title": f"Document {i}", "text": f"Bread number {i}, and bees."} for i in range(4))
    (folder / "documents.jsonl").write_text("".join(json.dumps(document) + "\n" for document in documents))
    made = qrowd("campaign", "create", "pilot")
    assert made.status == 0, made.err

    async def judge(service, name, factor):
        assessor = await service.arrive("pilot", "api", name)
        await service.act(assessor, GoOn())
        page = await service.page(assessor)
        while isinstance(page.view, DocumentView) or getattr(page.view, "another", False):
            seen = isinstance(page.view, DocumentView)
            action = Judge(page.view.position, str(factor * (page.view.position + 1))) if seen else GoOn()
            await service.act(assessor, action, shown=page.shown, key=page.key)
            page = await service.page(assessor)

    with open_store("judgments.db") as store:
        asyncio.run(judge(JudgingService(store), "ann", 1.5))
        asyncio.run(judge(JudgingService(store), "bob", 15))
    return "pilot"


def test_the_magnitudes_of_a_campaign_are_analysed_like_those_of_files(qrowd, pilot):
    outcome = qrowd("magnitude", "--campaign", pilot)
    assert outcome.status == 0, outcome.err
    assert "units: the unit column" in outcome.out
    assert "of a campaign, the file of checks or gold that it was made from" in outcome.out
    assert qrowd("study", "magnitude", "--campaign", pilot).out.startswith("16 magnitudes of 2 assessors")
    merged = qrowd("aggregate", "--campaign", pilot, "--method", "geometric-mean", "--normalise", "geometric-mean")
    assert "magnitude normalised by geometric-mean" in merged.out
