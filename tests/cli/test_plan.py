"""`qrowd plan`."""

import json
import re

import pandas as pd
import pytest

from qrowd.comparison.power import EqualCost
from qrowd.reports.difference_tables import advice_of


@pytest.fixture
def panel(folder):
    return ["--runs", folder / "runs", "--judgments", folder / "judges"]


COSTS = ["--budget", 2000, "--topic-cost", 30, "--judgment-cost", 0.4]
FEW = ["--budget", 300, *COSTS[2:]]


def test_plan_says_first_what_the_budget_buys_and_what_helps_more(qrowd, panel):
    outcome = qrowd("plan", *panel, *COSTS)
    assert outcome.status == 0
    assert outcome.out.startswith(
        "By nDCG@10, 2,000 is best spent on 18 topics with the same 5 assessors (1,980): that would rank systems with "
        "generalizability 0.859 and detect a difference of 0.124 between two systems with probability 0.8; now, 25 "
        "topics with the same 8 assessors rank systems with generalizability 0.906 and detect a difference of 0.093 "
        "between two systems with probability 0.8. rerank-large is ahead of rerank-llm by 0.007 [-0.049, 0.062]: that "
        "is not significant. To detect a true difference of 0.0067 between them with probability 0.8, 1,000 topics and "
        "20 assessors are too few. Judging about 3 more topics costs as much as one more assessor for all topics and "
        "helps about as much, though no such step is enough by itself.\n"
    )
    for part in (
        "nDCG@10: components of the variance of scores",
        "other numbers of topics, and of assessors for each topic",
        "the best designs within the budget, by the number of assessors for each topic",
        "design: crossed, assessors are the same in all topics; every assessor has a score in every topic",
        "cost: topics x 30 + topics x assessors x 40 documents x 0.4",
        "designs: 269 of at most 1,000 topics and 20 assessors are within the budget; the best has the largest "
        "generalizability",
        "scale: ",
    ):
        assert part in outcome.out


@pytest.mark.usefixtures("coarse")
def test_without_a_budget_designs_are_only_looked_at(qrowd, panel):
    out = qrowd("plan", *panel, "-m", "AP").out
    assert out.startswith("By AP, now, 25 topics with the same 8 assessors rank systems with generalizability ")
    assert "within the budget" not in out
    assert "cost: " not in out
    table = out.split("for each topic\n")[1].split("\n\n")[0].splitlines()
    assert [line.split()[:2] for line in table[1:4]] == [["25", "1"], ["25", "2"], ["25", "3"]]


@pytest.mark.usefixtures("coarse")
def test_plan_is_the_library_s(qrowd, panel, folder, tmp_path):
    import qrowd as library
    from qrowd.comparison import best_design, d_study, variance_components

    assert qrowd("plan", *panel, *FEW, "--output", "p.json").status == 0
    assert qrowd("plan", *panel, *FEW, "--output", "p.csv").status == 0
    scores = library.evaluate(library.read_runs(folder / "runs"), library.read_judgments(folder / "judges"), "nDCG@10")
    found = variance_components(scores.sel(measure="nDCG@10"))
    written = json.loads((tmp_path / "p.json").read_text())
    assert [row["component"] for row in written["components"]] == pytest.approx(found.component.tolist())
    best = best_design(found, 300, topic_cost=30, judgment_cost=0.4, documents_per_topic=40)
    assert [written["best"][name] for name in ("n_topics", "n_assessors")] == [best.n_topics, best.n_assessors]
    assert written["best"]["generalizability"] == pytest.approx(best.generalizability)
    table = pd.read_csv(tmp_path / "p.csv")
    study = d_study(found, [25, 50, 100, 200], [1, 2, 3, 5, 8])
    assert table["generalizability"].tolist() == pytest.approx(study.generalizability.tolist())
    assert table["cost"][:2].tolist() == pytest.approx([25 * (30 + 16), 25 * (30 + 2 * 16)])


@pytest.mark.usefixtures("coarse")
def test_slots_of_a_crowd_are_planned_as_a_panel(qrowd, folder):
    out = qrowd("plan", "--runs", folder / "runs", "--judgments", folder / "magnitudes.csv", "--slots", 3).out
    assert "with the same 3 assessors" in out
    assert "uncertain: the variance due to assessors is estimated from 3 of them" in out


@pytest.mark.usefixtures("coarse")
def test_every_choice_and_convention_is_written_down(qrowd, panel, tmp_path):
    conventions = {
        "unjudged": "condensed",
        "missing": "skip",
        "empty": "nan",
        "min-coverage": "0.2",
        "grades": "rescaled",
    }
    options = [word for name, value in conventions.items() for word in (f"--{name}", value)]
    outcome = qrowd("plan", *panel, *FEW, *options, "--output", "p.json")
    assert outcome.status == 0
    written = json.loads((tmp_path / "p.json").read_text())
    told = {name.replace("_", "-"): str(value) for name, value in written["conventions"].items()}
    assert conventions.items() <= told.items()
    assert written["costs"] == {"budget": 300.0, "topic_cost": 30.0, "judgment_cost": 0.4, "documents": 40.0}


def test_for_a_pair_plan_says_what_a_difference_takes(qrowd, panel, tmp_path):
    more = qrowd("plan", *panel, "--systems", "splade", "bm25", "--difference", ".05", "--output", "p.json").out
    assert " To detect a true difference of 0.05 between them with probability 0.8, judge 336 topics with " in more
    assert "these 8 assessors (each on all topics), 311 more than the 25 with scores of both.\n" in more
    pair = json.loads((tmp_path / "p.json").read_text())["pair"]
    assert (pair["n_topics"], pair["size"], pair["cheapest"], pair["equal"]) == (336, 0.05, None, None)


def test_topics_beyond_those_of_the_pair_are_counted_where_fewer_make_the_complete_block():
    import qrowd as library
    from qrowd.simulation import simulate_demo

    runs, judgments, _ = simulate_demo()
    rows = judgments.select(assessors=["ann", "bob", "sven"]).to_frame()
    rows = rows[(rows["assessor"] != "ann") | (rows["topic"] != judgments.topics[0])]
    sentence = library.plan(runs, rows, systems=("splade", "bm25"), difference=0.1).sentence
    assert "now, 24 topics with the same 3 assessors" in sentence
    needed, more, now = map(int, re.findall(r"judge (\d+) topics .*, (\d+) more than the (\d+) with", sentence)[0])
    assert (needed - more, now) == (25, 25)


@pytest.mark.usefixtures("coarse")
def test_for_a_pair_plan_says_what_is_known_and_whether_it_is_enough(qrowd, panel):
    clear = qrowd("plan", *panel, "--systems", "splade", "bm25").out
    assert " splade beats bm25 by 0.101 [0.033, 0.168]: they already differ significantly.\n" in clear
    less = qrowd("plan", *panel, "--systems", "splade", "bm25", "--difference", ".05", "--power", ".5").out
    assert int(less.split("0.5, judge ")[1].split()[0]) < 336
    enough = qrowd("plan", *panel, "--systems", "splade", "bm25", "--difference", ".3").out
    assert " topics with these 8 assessors (each on all topics) are enough.\n" in enough


@pytest.mark.usefixtures("coarse")
def test_topics_needed_are_those_of_the_pair_s_own_components(qrowd, panel, folder, tmp_path):
    import qrowd as library
    from qrowd.comparison import difference, topics_needed
    from qrowd.comparison.power import DifferenceComponents

    options = ["--systems", "rerank-large", "dense-large", "--difference", ".1", "--output", "p.json"]
    assert qrowd("plan", *panel, *options).status == 0
    scores = library.evaluate(library.read_runs(folder / "runs"), library.read_judgments(folder / "judges"), "nDCG@10")
    one = difference(scores.sel(measure="nDCG@10"), "rerank-large", "dense-large")
    own = DifferenceComponents(one.v_topic, one.v_assessor, one.v_error)
    assert json.loads((tmp_path / "p.json").read_text())["pair"]["n_topics"] == topics_needed(own, 0.1, 8)


@pytest.mark.parametrize(("n", "topics", "chances", "expected"), [
    (5, 10.8, (0.9, 0.85, 0.75), "judging about 11 more topics costs as much as one more assessor for all topics and "
     "helps at least as much"),
    (5, 10.8, (0.81, 0.85, 0.75), "one more assessor for all topics costs as much as judging about 11 more topics and "
     "helps at least as much"),
    (5, 10.0, (0.9, 0.95, 0.85), "judging 10 more topics costs as much as one more assessor for all topics and helps "
     "about as much"),
    (5, 1.0, (0.79, 0.79, 0.6), "judging 1 more topic costs as much as one more assessor for all topics; 5 assessors "
     "are too few to say which helps more"),
    (2, 25.0, (1.0, 0.3, 0.3), "judging 25 more topics costs as much as one more assessor for all topics; 2 assessors "
     "are too few to say which helps more"),
    (5, 0.4, (0.9, 0.3, 0.3), ""),
])  # fmt: skip
def test_advice_says_what_is_likely_enough_and_no_more(n, topics, chances, expected):
    assert advice_of(EqualCost(50, n, topics, 0.5, 0.4, 0.4, *chances)) == expected


@pytest.mark.parametrize(("extra", "expected"), [
    (["--budget", "100"], ["--budget 100", "cost of a topic"]),
    (["--budget", "-1", "--topic-cost", "1"], ["--budget -1:"]),
    (["--budget", "10", "--topic-cost", "11"], ["--budget 10", "costs 11"]),
    (["--systems", "bm25"], ["--systems bm25: two systems"]),
    (["--difference", "-1"], ["--difference -1:"]),
    (["--power", "80"], ["--power 80:"]),
    (["--ties", "x"], ["'--ties': 'x'"]),
    (["-m", "nDGC"], ["did you mean 'nDCG'"]),
    (["--output", "c.xls"], ["c.xls", ".csv"]),
])  # fmt: skip
def test_a_mistake_is_one_line_with_the_culprit_and_exit_status_2(qrowd, panel, extra, expected):
    outcome = qrowd("plan", *panel, *extra)
    assert outcome.status == 2
    assert outcome.out == ""
    assert outcome.err.startswith("qrowd: ")
    assert outcome.err.count("\n") == 1
    for text in expected:
        assert text in outcome.err


def test_with_one_assessor_topics_alone_are_planned(qrowd, folder, tmp_path):
    import qrowd as library
    from qrowd.comparison import difference, topics_needed
    from qrowd.comparison.power import DifferenceComponents, detectable_difference

    ann = folder / "judges" / "ann.qrels"
    options = ["--runs", folder / "runs", "--judgments", ann, "--systems", "splade", "bm25", "--difference", ".05"]
    outcome = qrowd("plan", *options, "--output", "p.json")
    assert outcome.status == 0
    scores = library.evaluate(library.read_runs(folder / "runs"), library.read_judgments(ann), "nDCG@10")
    one = difference(scores.sel(measure="nDCG@10"), "splade", "bm25")
    of_topics = DifferenceComponents(25 * one.standard_error**2, 0, 0, crossed=False)
    now, needed = detectable_difference(of_topics, 25, 1), topics_needed(of_topics, 0.05, 1)
    sentences = outcome.out.partition("\n\n")[0].split(". ")
    assert sentences[0] == f"By nDCG@10, {one.sentence().split('; another')[0]}: that is not significant"
    assert sentences[1].endswith(
        f"0.8, judge {needed} topics with one assessor, {needed - 25} more than the 25 with scores of both"
    )
    assert f"as many topics by one assessor detects a true difference of {now:.3f} with" in sentences[2]
    assert sentences[3].startswith("What other assessors would change is not known; let a second one judge")
    assert "| topics 25 | assessors 1 | systems splade bm25" in outcome.out.splitlines()[-1]
    (row,) = json.loads((tmp_path / "p.json").read_text())["rows"]
    assert (row["n_topics"], row["detectable_difference"]) == (25, pytest.approx(now))


def test_a_budget_needs_two_assessors(qrowd, folder):
    outcome = qrowd("plan", "--runs", folder / "runs", "--judgments", folder / "judges" / "ann.qrels", *COSTS)
    assert outcome.status == 2
    assert "1 assessor with scores of all systems; variance among assessors needs 2; without a budget, " in outcome.err


def test_one_system_is_none_to_tell_apart(qrowd, folder):
    outcome = qrowd("plan", "--runs", folder / "runs" / "bm25.run", "--judgments", folder / "judges")
    assert outcome.status == 2
    assert "1 system; variance among systems needs 2" in outcome.err
