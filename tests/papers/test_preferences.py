"""Here or There, recomputed: the orders of its Figure 2, and what real preferences are like."""

from functools import partial

import numpy as np
import pytest

from qrowd import read_judgments, read_preferences
from qrowd.comparison.rankings import kendall_tau_b
from qrowd.errors import InputError, NoOverlapError
from qrowd.evaluation import evaluate
from qrowd.model.preferences import Preferences
from qrowd.model.runs import Runs
from qrowd.simulation import simulate_demo, simulate_preferences
from qrowd_papers.preferences import study
from qrowd_papers.preferences.missing import missing_preferences
from qrowd_papers.preferences.replays import real_topics
from qrowd_papers.preferences.study import log_worths_and_grades, preferences_page, rank_systems
from real_runs import runs_of


@pytest.fixture(scope="module")
def page():
    """The page with a tenth of the topics that a quick page has."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study, "missing_preferences", partial(missing_preferences, **study.QUICK))
        return preferences_page(n_topics=2, rng=2)


@pytest.fixture(scope="module")
def quick():
    return preferences_page(quick=True, rng=2)


def test_a_quick_page_has_twenty_topics_of_each_kind(monkeypatch):
    class Counted(Exception):
        pass

    def count(topics, *_, **__):
        raise Counted(len(topics))

    monkeypatch.setattr(study, "judgments_needed", count)
    with pytest.raises(Counted, match=r"^20$"):
        preferences_page(quick=True, rng=2)


@pytest.mark.nightly
def test_utility_with_stopping_needs_fewer_judgments_than_random_order_and_than_sorting(quick):
    frame = quick.frame()
    for name in frame["topics_of"].unique():
        mine = frame[frame["topics_of"] == name]
        needed = {
            condition: np.average(rows["per_document"], weights=rows["topics"])
            for condition, rows in mine.groupby("condition")
        }
        assert needed["utility, Bad, stop"] < needed["random, Bad, stop"]
        assert needed["utility, Bad, stop"] < needed["sorting, Bad"] < needed["all pairs"]


def test_a_proven_stop_makes_no_error_where_answers_follow_one_order(page):
    frame = page.frame()
    proven = frame["condition"].isin(["utility, Bad, stop", "random, Bad, stop", "kept, Bad, stop", "all pairs"])
    assert (frame.loc[proven, "error"] == 0).all()


def test_the_page_names_the_paper_s_claim_and_its_own_figures(page):
    assert page.sentence.startswith("Here or There, recomputed.")
    assert page.sentence.endswith("The paper reports about n.")
    assert page.tables[0].rows[0][0] == "all pairs"
    with pytest.raises(InputError, match="there is no such folder"):
        preferences_page("nowhere", quick=True, rng=1)


def test_each_row_about_the_paper_has_a_verdict(page):
    verdicts = ("the text follows", "not printed", "not reachable", "match", "differs: because")
    for name in ("what the text", "Table 5", "Figure 2"):
        table = next(table for table in page.tables if table.title.startswith(name))
        assert all(row[table.header.index("verdict")].startswith(verdicts) for row in table.rows)


def test_rankings_are_compared_over_the_topics_that_the_assessor_covers():
    runs, _, truth = simulate_demo()
    said = simulate_preferences(truth, 2, rng=1).select(topics=list(truth.pool.topics[:6]))
    gold = truth.judgments()
    found = rank_systems(runs, said, gold, ["ppref"])
    scores = evaluate(runs, said, ["ppref"]).to_xarray().isel(measure=0, assessor=1)
    grades = evaluate(runs, gold, ["nDCG@10"]).to_xarray().isel(measure=0, assessor=0).sel(topic=scores.topic)
    expected = kendall_tau_b(scores.mean("topic").values, grades.mean("topic").values)
    assert found["ppref"][said.assessors[1]] == pytest.approx(expected)


def test_strengths_follow_the_grades_that_preferences_were_made_from():
    _, _, truth = simulate_demo()
    tau, n = log_worths_and_grades(simulate_preferences(truth, 3, rng=1), truth.judgments())
    assert n == 25
    assert tau > 0.6


def test_a_real_topic_holds_the_first_documents_that_were_compared():
    runs = Runs.from_dict(
        {"x": {"q": {"a": 3, "b": 2, "c": 1, "z": 0.5}}, "y": {"q": {"c": 9, "u": 8, "a": 7}}, "w": {"q": {"z": 1}}}
    )
    said = Preferences.from_rows([("q", "a", "b", "ann"), ("q", "c", "a", "ann"), ("q", "z", "a", "ann")])
    topic = next(real_topics(said, runs, systems=["x", "y"], depth=3))
    assert topic.answers.n_documents == 3  # a, b, c: u was not compared, z stands below the first three
    assert topic.systems.names == ("x", "y")
    ranks = topic.systems.ranks.tolist()
    assert sorted(ranks[0]) == [1, 2, 3]
    assert sorted(ranks[1]) == [1, 2, 3]  # c, a; b is unranked, at n + 1
    assert topic.answers.coverage == pytest.approx(2 / 3)
    with pytest.raises(NoOverlapError, match="no topic has 3 documents"):
        next(real_topics(said, runs, systems=["x", "y"], depth=1))


@pytest.mark.nightly
def test_preferences_rank_the_systems_of_2021_much_as_nist_s_grades_do(dl21):
    runs = runs_of(dl21)
    said = read_preferences([str(dl21 / "preferences")])
    gold = read_judgments([str(dl21 / "qrels.nist.txt")])
    taus = rank_systems(runs, said, gold, ["ppref@10", "wpref@10", "compatibility"])
    for measure in taus.values():
        assert all(0.7 < tau < 0.9 for tau in measure.values())
    assert taus["compatibility"]["gpt4o"] == pytest.approx(0.83, abs=0.01)


# ---- grades, and missing pairs


def test_grades_and_what_preferences_save_of_them_are_on_the_page_beside_what_is_printed(page):
    table = next(table for table in page.tables if table.title.startswith("section 5.3"))
    assert [row[-1] for row in table.rows] == ["1-2"] * 3
    for _, grades, *_, needed, fewer, _ in table.rows:
        assert float(fewer) == pytest.approx(float(grades) - float(needed), abs=0.011)


@pytest.mark.nightly
def test_by_utility_with_a_stop_two_engines_need_one_to_two_grades_fewer_as_printed(quick):
    table = next(table for table in quick.tables if table.title.startswith("section 5.3"))
    fewer = {row[0]: float(row[-2]) for row in table.rows}
    assert [row[-1] for row in table.rows] == ["1-2"] * 3
    assert 1 <= fewer["2 engines' first five of 30"] <= 2
    assert all(float(row[1]) >= float(row[2]) >= float(row[3]) - 0.5 for row in table.rows)


@pytest.fixture(scope="module")
def incomplete():
    frame = missing_preferences(n_topics=12, n_systems=8, n_resamples=4, shares=(0.2, 0.5, 0.9), rng=3).to_frame()
    return frame.set_index(["measure", "inferred", "missing"]).sort_index()


@pytest.mark.nightly
@pytest.mark.parametrize("measure", ["ppref@10", "wpref@10"])
def test_scores_do_not_change_on_average_when_pairs_are_missing_at_random_but_scatter_more(incomplete, measure):
    rows = incomplete.loc[measure, False]
    assert rows["bias"].abs().max() < 0.01
    assert rows["sd"].is_monotonic_increasing
    assert rows["tau"].is_monotonic_decreasing
    assert (rows["low"] <= rows["tau"]).all()
    assert (rows["tau"] <= rows["high"]).all()


@pytest.mark.nightly
@pytest.mark.parametrize("measure", ["ppref@10", "wpref@10"])
def test_pairs_inferred_by_chains_are_the_easy_ones_and_raise_scores(incomplete, measure):
    assert (incomplete.loc[measure, True]["bias"] > incomplete.loc[measure, False]["bias"]).all()


def test_without_missing_pairs_nothing_changes():
    result = missing_preferences(n_topics=4, n_systems=4, n_resamples=2, shares=(0.0,), rng=1)
    plain = ~np.array(result.inferred)
    assert result.bias[plain] == pytest.approx([0, 0], abs=1e-12)
    assert result.tau[plain].tolist() == [1, 1]
