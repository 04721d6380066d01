"""`qrowd magnitude`: everything that the magnitude paper computes, from a user's own files."""

import asyncio
import json
import shutil

import numpy as np
import pandas as pd
import pytest

import qrowd as library
from qrowd.agreement import geometric_sd, krippendorff_alpha, order_agreement, scale_conflicts
from qrowd.collect.campaigns.judging import JudgingService
from qrowd.collect.protocols.events import GoOn, Judge
from qrowd.collect.protocols.views import DocumentView
from qrowd.collect.store.engine import open_store
from qrowd.magnitude import (
    assessors_needed,
    check_documents,
    distribution,
    gain_profile,
    judging_cost,
    level_ratios,
    level_tests,
    normalise,
    round_numbers,
    topic_units,
    unit_widths,
)
from qrowd.reports.magnitude import SECTIONS
from qrowd.simulation import simulate_magnitudes, simulate_pool, simulate_runs
from simulated import write_files

approx = pytest.approx
TRUTH = simulate_pool(8, 40, rng=3)
RUNS = simulate_runs(TRUTH, 10, rng=3)
GOLD = TRUTH.judgments()
WITHOUT_GOLD = ("distribution", "units", "agreement", "effort")
WITH_GOLD = ("levels", "gains", "conflicts")


@pytest.fixture(scope="module")
def crowd():
    return library.Judgments.from_frame(simulate_magnitudes(TRUTH, 90, rng=3).to_frame())  # labels as in a file


@pytest.fixture(scope="module")
def files(crowd, tmp_path_factory):
    """A user's magnitudes, gold grades and runs, as files."""
    return write_files(tmp_path_factory.mktemp("files"), crowd, GOLD, RUNS)


@pytest.fixture
def mine(files, tmp_path):
    """Those files in the folder where commands run."""
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    return ["--judgments", "mine.csv"]


@pytest.fixture
def tables(qrowd, mine, tmp_path):
    """{table: frame} that a command writes."""

    def call(command, *arguments):
        outcome = qrowd("magnitude", command, *mine, *arguments, "-o", "out.json")
        assert outcome.status == 0, outcome.err
        content = json.loads((tmp_path / "out.json").read_text())
        assert content["sentence"] in outcome.out
        return {name: pd.DataFrame(rows) for name, rows in content.items() if name not in ("sentence", "notes")}

    return call


def test_distributions_are_the_library_s(tables, crowd):
    written = tables("distribution")
    np.testing.assert_allclose(written["topics"]["log_sd"], distribution(crowd, by="topic").log_sd)
    np.testing.assert_allclose(written["all normalised"]["sd"], distribution(normalise(crowd)).sd)
    assert written["values"]["n"].tolist() == round_numbers(crowd).n.tolist()


def test_units_are_those_of_table_i_with_checks_and_widths(tables, crowd):
    written = tables("units", "--gold", "levels.csv")
    expected = topic_units(crowd, checks=GOLD)
    assert written["topics"]["n_units"].tolist() == expected.n_units.tolist()
    assert written["topics"]["H"].tolist() == list(expected.high)
    assert written["checks"]["passed"].all()
    assert written["widths"]["wide"].tolist() == unit_widths(crowd, GOLD).wide.tolist()


def test_agreement_is_stated_before_and_after_normalisation(tables, crowd):
    written = tables("agreement", "--gold", "levels.csv", "--slots", 10, "--n-resamples", 0)
    alphas = [krippendorff_alpha(each, slots=10, level="ratio").item().value for each in (crowd, normalise(crowd))]
    assert [written[name]["alpha"][0] for name in ("alpha", "alpha normalised")] == approx(alphas)
    np.testing.assert_allclose(written["documents"]["ratio"], geometric_sd(normalise(crowd)).ratio)
    shares = order_agreement(normalise(crowd), GOLD, by="unit").value
    np.testing.assert_allclose(written["units"]["agreement"].astype(float), shares)
    assert len(written["schemes"]) == 4 * 3


def test_effort_follows_from_the_documents_standard_deviations_and_the_pay(tables, crowd):
    written = tables("effort", "--pay", 0.2, "--fee", 0.1)
    sds = pd.DataFrame({"pair": crowd.pair_numbers, "value": normalise(crowd).value}).groupby("pair")["value"].std()
    np.testing.assert_allclose(written["documents"]["sd"], sds)
    needed = assessors_needed(float(sds.median()), margin=[0.5, 1.0])
    assert written["margins"]["assessors"][:2].tolist() == needed.tolist()
    assert written["cost"]["total"][0] == approx(judging_cost([40] * 8, pay=0.2, fee=0.1).total)


def test_levels_are_tested_and_exceptions_named(tables, crowd):
    written = tables("levels", "--gold", "levels.csv")
    tests = level_tests(normalise(crowd), GOLD)
    np.testing.assert_allclose(written["tests"]["t"], tests.t)
    assert len(written["exceptions"]) == len(tests.exceptions())
    student = tables("levels", "--gold", "levels.csv", "--values", "magnitudes", "--variances", "equal")
    expected = level_tests(normalise(crowd), GOLD, values="magnitudes", variances="equal")
    np.testing.assert_allclose(student["tests"]["t"], expected.t)


def test_gains_and_ratios_of_levels_are_the_library_s(tables, crowd):
    written = tables("gains", "--gold", "levels.csv")
    np.testing.assert_allclose(written["gains"]["median"], gain_profile(crowd, GOLD).gains.median)
    np.testing.assert_allclose(written["ratios"]["median"], level_ratios(crowd, GOLD).ratios.median)


def test_conflicts_come_with_every_judgment_and_its_comment(tables, crowd):
    written = tables("conflicts", "--gold", "levels.csv", "--min-distance", 1, "--merge", "geometric-mean")
    expected = scale_conflicts(normalise(crowd), GOLD, min_distance=1, merge="geometric_mean")
    assert written["documents"]["document"].tolist() == list(expected.document)
    assert written["judgments"]["comment"].tolist() == expected.to_frame(what="judgments")["comment"].tolist()


def test_rankings_by_magnitudes_are_compared_with_gold_s_for_all_narrow_and_wide_units(tables):
    written = tables("rankings", "--runs", "runs", "--gold", "levels.csv", "--n-resamples", 20)
    kinds = set(written["systems"]["magnitudes"])
    assert {"all units", "narrow units", "wide units"} <= kinds
    assert set(written["systems"]["measure"]) == {"nDCG@10", "ERR@10"}
    assert len(written["draws"]) == 2 * 20
    ease = library.evaluate(RUNS, GOLD, "nDCG(dcg='original')@10").values[0, 0].mean(axis=1)
    np.testing.assert_allclose(sorted(written["topics"]["ease"]), sorted(ease))


def test_the_summary_has_every_table_of_the_other_commands(tables):
    arguments = ("--gold", "levels.csv")
    whole = tables("summary", *arguments, "--runs", "runs", "--n-resamples", 20)
    assert {name.split(": ")[0] for name in whole} == set(SECTIONS)
    for command in WITH_GOLD:
        assert {f"{command}: {name}" for name in tables(command, *arguments)} <= set(whole)


def test_the_summary_says_what_it_leaves_out_and_why(qrowd, mine):
    outcome = qrowd("magnitude", "summary", *mine)
    assert outcome.status == 0
    assert "left out: levels: this needs gold grades; give --gold NAME or FILE" in outcome.out
    assert "left out: rankings: this needs runs; give --runs FILES" in outcome.out


def test_gold_that_implies_no_check_documents_leaves_out_only_what_needs_them(qrowd, mine, tmp_path):
    gold = GOLD.recode(1).to_frame()
    gold.to_csv(tmp_path / "binary.csv", index=False)
    frame = pd.read_csv(tmp_path / "mine.csv")
    of_two = frame.groupby(["topic", "document"])["unit"].transform("count") == 10  # without the check documents
    frame[of_two].to_csv(tmp_path / "unchecked.csv", index=False)
    data = ("--judgments", "unchecked.csv", "--gold", "binary.csv")
    for command, shown in (("units", "units by topic"), ("agreement", "in the order of gold"), ("levels", "adjacent")):
        outcome = qrowd("magnitude", command, *data)
        assert outcome.status == 0, outcome.err
        assert shown in outcome.out
        assert (command == "levels") or "left out: what needs check documents: " in outcome.out
    outcome = qrowd("magnitude", "gains", *data)
    assert outcome.status == 2
    assert outcome.err.endswith("give --checks FILE, a table of topic, H and N\n")


def test_gold_may_be_an_assessor_of_the_judgments(qrowd, mine, tmp_path):
    both = pd.concat([pd.read_csv(tmp_path / name) for name in ("mine.csv", "levels.csv")])
    both.to_csv(tmp_path / "both.csv", index=False)
    files = qrowd("magnitude", "gains", *mine, "--gold", "levels.csv")
    column = qrowd("magnitude", "gains", "--judgments", "both.csv", "--gold", "gold")
    assert column.status == 0
    assert column.out.splitlines()[0] == files.out.splitlines()[0]


def test_check_documents_may_come_from_a_table(qrowd, mine, crowd, tmp_path):
    checks = check_documents(crowd, GOLD)
    rows = [(topic, *both) for topic, both in checks.items()]
    pd.DataFrame(rows, columns=["topic", "H", "N"]).to_csv(tmp_path / "checks.csv", index=False)
    by_table = qrowd("magnitude", "units", *mine, "--checks", "checks.csv")
    assert by_table.status == 0
    assert by_table.out == qrowd("magnitude", "units", *mine, "--gold", "levels.csv").out


def test_normalised_magnitudes_are_judgments_again(qrowd, mine, crowd, tmp_path):
    arguments = ("--gold", "levels.csv", "--normalise", "checks", "-o", "normalised.csv")
    outcome = qrowd("magnitude", "normalise", *mine, *arguments)
    assert outcome.status == 0
    expected = normalise(crowd, scheme="checks", checks=GOLD)
    again = library.read_judgments(tmp_path / "normalised.csv")
    np.testing.assert_allclose(again.value, expected.value)
    assert again.unit.tolist() == crowd.unit.tolist()
    assert qrowd("magnitude", "normalise", *mine, "--standardise", "-o", "normalised.csv").status == 0
    np.testing.assert_allclose(pd.read_csv("normalised.csv")["value"], normalise(crowd, standardise=True).value)


def test_without_a_unit_column_an_assessor_s_judgments_of_a_topic_are_a_unit_and_the_output_says_so(qrowd, tmp_path):
    rows = [(t, d, who, 10.5 * (d + 1) * k) for t in "pq" for d in range(6) for k, who in enumerate("abc", start=1)]
    frame = pd.DataFrame(rows, columns=["topic", "document", "assessor", "value"])
    frame.to_csv(tmp_path / "mine.csv", index=False)
    outcome = qrowd("magnitude", "agreement", "--judgments", "mine.csv", "--n-resamples", 0)
    assert outcome.status == 0
    assert "units: all judgments of an assessor for a topic" in outcome.out
    assert "1.000 normalised" in outcome.out


@pytest.mark.parametrize("ending", ["csv", "md", "tex"])
def test_every_command_writes_every_kind_of_file(qrowd, mine, tmp_path, ending):
    for command in (*WITHOUT_GOLD, *WITH_GOLD):
        gold = () if command in ("distribution", "effort") else ("--gold", "levels.csv")
        assert qrowd("magnitude", command, *mine, *gold, "-o", f"of-{command}.{ending}").status == 0
        assert (tmp_path / f"of-{command}.{ending}").stat().st_size > 50


@pytest.mark.parametrize(("arguments", "expected"), [
    (("levels",), "this needs gold grades; give --gold NAME or FILE"),
    (("gains", "--gold", "nobody"), "--gold nobody: neither an assessor nor a file"),
    (("units", "--checks", "levels.csv"), "levels.csv: there is no column 'H' among topic"),
    (("units", "--checks", "twice.csv"), "twice.csv: topic q1 stands twice"),
    (("units", "--checks", "one.csv"), "checks: topic q4 has none"),
    (("levels", "--gold", "mine.csv"), "one assessor was expected"),
    (("normalise", "--normalise", "checks"), "no check documents H and N are known; give --checks FILE, or --gold"),
    (("distribution", "--by", "document"), "'document'"),
    (("effort", "--pay", -1), "--pay -1"),
    (("rankings", "--gold", "levels.csv"), "--runs"),
])  # fmt: skip
def test_a_mistake_is_one_line_with_the_culprit_and_exit_status_2(qrowd, mine, tmp_path, arguments, expected):
    (tmp_path / "twice.csv").write_text("topic,H,N\nq1,a,b\nq1,a,c\n")
    (tmp_path / "one.csv").write_text("topic,H,N\nq1,a,b\n")
    outcome = qrowd("magnitude", *arguments, *mine)
    assert outcome.status == 2
    assert outcome.err.startswith("qrowd: ")
    assert outcome.err.count("\n") == 1
    assert expected in outcome.err


def test_a_magnitude_of_0_is_refused_with_its_place(qrowd, tmp_path):
    frame = pd.DataFrame({"topic": "q", "document": ["a", "b"], "assessor": "ann", "value": [0, 20.5], "unit": "u"})
    frame.to_csv(tmp_path / "zero.csv", index=False)
    outcome = qrowd("magnitude", "distribution", "--judgments", "zero.csv")
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
        page = (await service.act(assessor, GoOn())).page
        while isinstance(page.view, DocumentView) or getattr(page.view, "another", False):
            seen = isinstance(page.view, DocumentView)
            action = Judge(page.view.position, str(factor * (page.view.position + 1))) if seen else GoOn()
            page = (await service.act(assessor, action, shown=page.shown, key=page.key)).page

    with open_store("judgments.db") as store:
        asyncio.run(judge(JudgingService(store), "ann", 1.5))
        asyncio.run(judge(JudgingService(store), "bob", 15))
    return "pilot"


def test_the_magnitudes_of_a_campaign_are_analysed_like_those_of_files(qrowd, pilot):
    outcome = qrowd("magnitude", "units", "--campaign", pilot)
    assert outcome.status == 0, outcome.err
    assert outcome.out.startswith("4 units by 2 assessors")
    assert "units: the unit column" in outcome.out
    assert qrowd("plot", "magnitude-1", "--campaign", pilot).status == 0
    merged = qrowd("aggregate", "--campaign", pilot, "--method", "geometric-mean", "--normalise", "geometric-mean")
    assert "magnitude normalised by geometric-mean" in merged.out
