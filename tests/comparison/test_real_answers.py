"""Real answers under several people: MTRAG by criterion and REALSumm by slot, against loops over the files.

The loops read the files a second time, without a reader of qrowd.
MTRAG: Katsis et al. (2025), arXiv 2501.03468. REALSumm: Bhandari et al. (2020), EMNLP.
"""

import ast
import csv
import gzip
import json
from itertools import combinations
from math import fsum, nan

import numpy as np
import pytest
import scipy.stats

import qrowd
from conftest import data
from oracles import agreement, certainty, generalizability
from oracles.comparison import error_without_one_cluster, plain_error
from qrowd import Judgments, Runs, Scores
from qrowd.aggregation import majority_vote
from qrowd.comparison import difference, rank_intervals, rank_systems, variance_components
from qrowd.files import read_judgments, read_runs
from qrowd.reports.agreement_tables import agree

CRITERIA = ("naturalness", "appropriateness", "completeness", "faithfulness")
N_RESAMPLES = 300


def mean(values):
    return fsum(values) / len(list(values))


# ---------------------------------------------------------------------- MTRAG


@pytest.fixture(scope="module")
def mtrag():
    return data("answers") / "mtrag" / "reference_subset_with_human_evaluations.json.gz"


@pytest.fixture(scope="module")
def grades(mtrag):
    """{criterion: {(topic, system): {person: grade}}}."""
    with gzip.open(mtrag) as file:
        evaluations = json.load(file)["evaluations"]
    return {
        criterion: {
            (one["task_id"], one["model_id"]): {
                who: float(given["value"])
                for who, given in one["annotations"][criterion].items()
                if given["value"] is not None
            }
            for one in evaluations
        }
        for criterion in CRITERIA
    }


@pytest.fixture(scope="module")
def scores_of_mtrag(mtrag):
    measures = [f"Mean(criterion={criterion})" for criterion in CRITERIA]
    return qrowd.evaluate(read_runs(mtrag), read_judgments(mtrag), measures)


def of_criterion(scores, m):
    """The scores of one measure."""
    axes = {"topics": scores.topics, "systems": scores.systems, "assessors": scores.assessors}
    return Scores.from_array(scores.values[m], **axes)


def least_squares(table):
    """{system: mean} by regression on an indicator of each (topic, person) and each system, from {(t, s): {a: x}}.

    Each (topic, person) weighs 1 / the number of people of the topic, so that each topic weighs the same.
    """
    cells = sorted({(topic, who) for (topic, _), said in table.items() for who in said})
    systems = sorted({system for _, system in table})
    share = [1 / sum(other == topic for other, _ in cells) for topic, _ in cells]
    rows, right = [], []
    for (topic, system), said in table.items():
        for who, grade in said.items():
            cell = cells.index((topic, who))
            row = np.zeros(len(cells) + len(systems))
            row[cell] = row[len(cells) + systems.index(system)] = 1
            rows.append(row * share[cell] ** 0.5)
            right.append(grade * share[cell] ** 0.5)
    fit = np.linalg.lstsq(np.array(rows), np.array(right), rcond=None)[0]
    centre = np.average(fit[: len(cells)], weights=share)
    return {system: centre + effect for system, effect in zip(systems, fit[len(cells) :].tolist(), strict=True)}


@pytest.mark.parametrize(
    "m", [pytest.param(m, marks=[pytest.mark.nightly] * (m > 0), id=CRITERIA[m]) for m in range(4)]
)
def test_scores_and_ranks_of_mtrag_are_those_of_loops(scores_of_mtrag, grades, m):
    scores, table = scores_of_mtrag, grades[CRITERIA[m]]
    assert (len(scores.assessors), len(scores.topics), len(scores.systems)) == (7, 159, 3)
    for a, who in enumerate(scores.assessors):
        for t, topic in enumerate(scores.topics):
            expected = [table[topic, system].get(who, nan) for system in scores.systems]
            np.testing.assert_array_equal(scores.values[m, a, t], expected)
    means = least_squares(table)
    ranking = rank_systems(of_criterion(scores, m))
    assert ranking.mean == pytest.approx([means[system] for system in scores.systems])
    assert ranking.rank.tolist() == [
        1 + sum(other > means[system] for other in means.values()) for system in scores.systems
    ]
    intervals = rank_intervals(of_criterion(scores, m), n_resamples=N_RESAMPLES)
    expected = certainty.rank_sets(intervals.mean.tolist(), intervals.p.tolist(), 0.05)
    assert list(zip(intervals.rank_low.tolist(), intervals.rank_high.tolist(), strict=True)) == expected


@pytest.mark.parametrize("m", range(4), ids=CRITERIA)
def test_intervals_of_mtrag_over_turns_and_over_conversations_are_those_of_loops(scores_of_mtrag, grades, m):
    panel = of_criterion(scores_of_mtrag, m).panel_mean()
    plain = Scores.from_array(panel.values[0], topics=panel.topics, systems=panel.systems)
    clusters = [topic.split("<::>")[0] for topic in panel.topics]
    clustered = plain.with_clusters(clusters)
    table = grades[CRITERIA[m]]
    for first, second in combinations(panel.systems, 2):
        values = [
            mean(list(table[topic, first].values())) - mean(list(table[topic, second].values()))
            for topic in panel.topics
        ]
        for scores, error, n in (
            (plain, plain_error(values), 159),
            (clustered, error_without_one_cluster(values, clusters), 20),
        ):
            result = difference(scores, first, second)
            half = scipy.stats.t.ppf(0.975, n - 1) * error
            assert result.difference == pytest.approx(mean(values))
            assert (result.low, result.high) == (
                pytest.approx(mean(values) - half),
                pytest.approx(mean(values) + half),
            )


@pytest.mark.parametrize("m", range(4), ids=CRITERIA)
def test_components_of_mtrag_with_people_nested_in_turns_are_those_of_loops(scores_of_mtrag, grades, m):
    table, whole = grades[CRITERIA[m]], scores_of_mtrag.values[m].copy()
    whole[np.isnan(whole).any(axis=2)] = nan  # the people of a turn who judged all three systems
    topics = [topic for t, topic in enumerate(scores_of_mtrag.topics) if not np.isnan(whole[:, t]).all()]
    kept = [scores_of_mtrag.topics.index(topic) for topic in topics]
    expected = generalizability.nested(
        {
            (system, topic, who): table[topic, system][who]
            for topic in topics
            for system in scores_of_mtrag.systems
            for who in scores_of_mtrag.assessors
            if all(who in table[topic, other] for other in scores_of_mtrag.systems)
        }
    )
    found = variance_components(Scores.from_array(whole[:, kept]), design="nested")
    for i, (squares, df, component) in enumerate(expected.values()):
        assert (found.ss[i], found.df[i]) == (pytest.approx(squares, abs=1e-9), df)
        assert found.estimate[i] == pytest.approx(component, abs=1e-9)


@pytest.mark.nightly
def test_agreement_on_each_criterion_of_mtrag_is_that_of_loops(mtrag, grades):
    shown = agree(read_judgments(mtrag), n_resamples=0).tables[0]
    assert shown.title == "alpha by criterion"
    rows = {row[0]: dict(zip(shown.header, row, strict=True)) for row in shown.rows}
    for criterion in CRITERIA:
        panel = {f"{topic} {system}": said for (topic, system), said in grades[criterion].items()}
        row = rows[criterion]
        assert row["alpha"] == f"{agreement.krippendorff_alpha(panel, 'ordinal'):.3f}"
        assert row["judgments"].replace(",", "") == str(sum(len(said) for said in panel.values() if len(said) > 1))
        assert row["units"] == "477"


# ---------------------------------------------------------------------- REALSumm

SLOTS = ("1", "2", "3")


@pytest.fixture(scope="module")
def presence():
    """{(document, system, fact): [whether each person says that the summary has the fact]}; BLANK is no fact."""
    said = {}
    for path in sorted((data("answers") / "realsumm").glob("SCU_rating*/*.csv.gz")):
        with gzip.open(path, "rt") as file:
            for row in csv.DictReader(file):
                for k, fact in enumerate(ast.literal_eval(row["Input.qIdList"]), start=1):
                    if row[f"Input.statement_{k}"] != "BLANK":
                        key = row["Input.eventId"], path.name.split(".")[0], fact
                        said.setdefault(key, []).append(row[f"Answer.S{k}Answer"] == "p")
    return said


@pytest.fixture(scope="module")
def frame(presence):
    """The table of answers of the first three people of each summary."""
    rows = [(*key, slot, int(votes[int(slot) - 1])) for key, votes in presence.items() for slot in SLOTS]
    return dict(zip(("topic", "system", "unit", "assessor", "value"), map(list, zip(*rows, strict=True)), strict=True))


def means_of(presence, says):
    """{system: [share of the facts that its summary of each document has]} by says(votes)."""
    shares = {}
    for (document, system, _), votes in presence.items():
        shares.setdefault((system, document), []).append(float(says(votes)))
    systems = sorted({system for system, _ in shares})
    documents = sorted({document for _, document in shares})
    return {system: [mean(shares[system, document]) for document in documents] for system in systems}


def of_slot(scores, a):
    return Scores.from_array(scores.values[0, a], topics=scores.topics, systems=scores.systems)


@pytest.mark.nightly
def test_each_slot_and_the_majority_rank_the_25_systems_of_realsumm_as_loops_do(presence, frame):
    assert len(presence) == 25 * 1056
    assert sum(map(len, presence.values())) == 81581
    runs, judgments = Runs.from_frame(frame), Judgments.from_frame(frame)
    majority = majority_vote(judgments).judgments
    scores = qrowd.evaluate(runs, judgments, "Mean")
    merged = qrowd.evaluate(runs, majority, "Mean")
    for of, says in (
        *((of_slot(scores, int(slot) - 1), lambda votes, k=int(slot) - 1: votes[k]) for slot in SLOTS),
        (merged, lambda votes: sum(votes[:3]) >= 2),
    ):
        expected = {system: mean(values) for system, values in means_of(presence, says).items()}
        ranking = rank_systems(of)
        assert len(ranking.systems) == 25
        assert ranking.mean == pytest.approx([expected[system] for system in ranking.systems])
        ranks = [1 + sum(other > expected[name] + 1e-12 for other in expected.values()) for name in ranking.systems]
        assert ranking.rank.tolist() == ranks


@pytest.mark.nightly
def test_all_300_intervals_of_differences_on_realsumm_and_the_ranks_are_those_of_loops(presence, frame):
    scores = qrowd.evaluate(Runs.from_frame(frame), Judgments.from_frame(frame), "Mean")
    by_slot = [means_of(presence, lambda votes, k=k: votes[k]) for k in range(3)]
    n = 0
    for first, second in combinations(sorted(scores.systems), 2):
        table = [[one[first][t] - one[second][t] for one in by_slot] for t in range(100)]
        half = certainty.banerjee(table, lambda df: scipy.stats.t.ppf(0.975, df))
        centre = mean([x for row in table for x in row])
        result = difference(scores, first, second)
        assert (result.low, result.high) == (pytest.approx(centre - half), pytest.approx(centre + half))
        n += 1
    assert n == 300
    intervals = rank_intervals(scores, n_resamples=N_RESAMPLES)
    expected = certainty.rank_sets(intervals.mean.tolist(), intervals.p.tolist(), 0.05)
    assert list(zip(intervals.rank_low.tolist(), intervals.rank_high.tolist(), strict=True)) == expected
