"""What a question is expected to take, before the first answer."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from pools import Backwards, spawned
from qrowd.errors import ArgumentError
from qrowd.executors import processes
from qrowd.reports.question_plan import QuestionPlanReport
from qrowd.sequential.planning import QuestionPlan, plan_question
from qrowd.simulation import simulate_demo

RUNS, JUDGMENTS, TRUTH = simulate_demo()
MODELS = JUDGMENTS.select(assessors=["sven"])


def planned(question: str = "bm25 > hybrid", judgments: object = None, **settings: object) -> QuestionPlan:
    options: dict[str, object] = {"n_simulations": 30, "models": MODELS, "scale": "0-3"}
    return plan_question(RUNS, judgments, question=question, **(options | settings))  # type: ignore[arg-type]


def test_a_smaller_difference_takes_more_documents() -> None:
    plan = planned(differences=[0.02, 0.05, 0.1, 0.2])
    medians = plan.quantiles([0.5])[1:, 0]
    assert (np.diff(medians) < 0).all()
    assert np.isnan(plan.differences[0])


def test_models_that_predict_people_better_save_judgments() -> None:
    means = [planned(differences=[0.08], correlation=r).n_documents[1].mean() for r in (0.0, 0.6, 0.95)]
    assert means[0] > means[1] > means[2]


def test_several_people_per_document_cost_more_and_err_less() -> None:
    one, three = (planned(differences=[0.08], people_per_document=n, judgment_cost=2.0, budget=400) for n in (1, 3))
    assert three.spread < one.spread
    assert three.n_documents[1].mean() < one.n_documents[1].mean()
    for plan, cost in ((one, 2), (three, 6)):  # a question that all documents do not decide costs all of them
        np.testing.assert_allclose(plan.cost, cost * np.minimum(plan.n_documents, plan.n_left))


def test_the_shares_are_counted_from_the_simulations() -> None:
    plan = planned(differences=[0.03], judgment_cost=1.0, budget=250)
    rows = plan.to_frame(what="simulations")
    for place, (_, one) in enumerate(rows.groupby("difference", dropna=False, sort=False)):
        decided = one["documents"] <= plan.n_left
        assert plan.within_budget[place] == (decided & (one["cost"] <= 250)).mean()
        assert plan.undecided[place] == (~one["decided"]).mean()
        assert plan.all_judged[place] == (one["documents"] >= plan.n_left).mean()
        assert plan.decided_by([100])[place, 0] == (one["documents"] <= 100).mean()


def test_a_pilot_is_not_judged_again_and_says_how_models_err() -> None:
    people = TRUTH.judgments()
    some = people.select(topics=people.topics[:10])
    plan, before = planned(judgments=some), planned()
    assert plan.n_judged > 0
    assert plan.n_left + plan.n_judged >= before.n_left
    assert plan.spread != before.spread


def test_the_same_seed_gives_the_same_plan_whatever_rows_there_are() -> None:
    first, second = planned(differences=[0.02, 0.05]), planned(differences=[0.05])
    np.testing.assert_array_equal(first.n_documents[[0, 2]], second.n_documents)
    assert (planned(rng=2).n_documents[0] != first.n_documents[0]).any()


def test_dear_documents_make_a_question_dear() -> None:
    table = {"topic": list(RUNS.topics), "cost": [10] * len(RUNS.topics)}
    cheap, dear = planned(judgment_cost=1.0), planned(judgment_cost=1.0, document_costs=table)
    np.testing.assert_allclose(dear.cost, 10 * cheap.cost)  # all cost the same, so that the sizes stay
    assert dear.n_costs == cheap.n_left


@pytest.mark.parametrize("question", ["best", "bm25 among best 3", "ranking"])
def test_questions_about_several_systems_are_planned(question: str) -> None:
    plan = planned(question, n_simulations=5)
    assert plan.n_documents.shape == (1 if question == "ranking" else 5, 5)
    assert (plan.n_documents > 0).all()
    assert (plan.n_documents <= plan.n_left + 1).all()
    assert np.isnan(plan.expected_difference)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"differences": [0.0]}, "differences=0: a number above 0"),
        ({"correlation": 1.0}, "correlation=1: a number from 0 to below 1"),
        ({"people_per_document": 0}, "people_per_document=0: at least 1"),
        ({"n_simulations": 0}, "n_simulations=0: at least 1"),
        ({"budget": 100.0}, "budget=100: give judgment_cost"),
        ({"budget": -1.0, "judgment_cost": 1.0}, "budget=-1: a number above 0"),
        ({"confidence": 1.0}, "confidence=1: a number between 0 and 1"),
        ({"tolerance": -1.0}, "tolerance=-1: 0 or more"),
        ({"target": "all"}, "target"),
        ({"scale": None}, "scale: which values people may still give"),
        ({"question": "ranking", "differences": [0.1]}, "differences: a ranking has no one difference"),
        ({"judgments": TRUTH.judgments()}, "question: these judgments decide it: "),
    ],
)
def test_what_means_nothing_is_refused(settings: dict[str, object], said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        planned(**settings)  # type: ignore[arg-type]


def test_progress_counts_the_simulations_of_all_rows() -> None:
    steps: list[tuple[int, int]] = []
    planned(differences=[0.05], n_simulations=4, progress=lambda done, total: steps.append((done, total)))
    assert steps == [(i, 8) for i in range(1, 9)]


def test_the_report_says_the_median_the_interval_the_money_and_the_budget() -> None:
    plan = planned(differences=[0.05], judgment_cost={"ann": 3, "bob": 1}, budget=100)
    report = QuestionPlanReport(plan)
    low, middle, high = plan.quantiles([0.1, 0.5, 0.9])[0]
    end = f"{high:,.0f}" if high <= plan.n_left else f"undecided after all {plan.n_left}"
    assert f"({low:,.0f} to {end} in 80 % of simulations)" in report.sentence
    assert f"at a cost of {2 * middle:,.6g} (" in report.sentence
    assert "A budget of 100 decides it with a probability of " in report.sentence
    first, second = report.to_document().tables
    assert [row[0] for row in first.rows] == ["as expected", "0.05"]
    assert [row[0] for row in second.rows] == ["as expected", "0.05"]
    assert "cost: 2 for a judgment, the mean of ann 3, bob 1" in str(report)
    assert report.to_frame().equals(plan.to_frame())
    assert "<svg" in report._repr_html_()


def test_systems_that_return_the_same_documents_have_nothing_to_plan() -> None:
    one = {"q1": {f"d{i}": 10.0 - i for i in range(5)}}
    plan = plan_question({"a": one, "b": one}, None, question="best", scale="0-3", measure="DCG@5", n_simulations=3)
    assert "no judgment can decide it" in QuestionPlanReport(plan).sentence


def test_threads_processes_and_any_order_give_the_same_simulations() -> None:
    options = {"question": "best of bm25, hybrid, dense-large", "differences": [0.05], "n_simulations": 4, "rng": 3}
    alone = planned(**options)
    with spawned(1) as one:
        for executor in (lambda: ThreadPoolExecutor(3), processes(2), one, Backwards(8)):
            together = planned(**options, executor=executor)
            assert together.n_documents.tobytes() == alone.n_documents.tobytes()
            assert together.cost.tobytes() == alone.cost.tobytes()
    assert len(np.unique(alone.n_documents)) > 1


def test_a_simulation_does_not_depend_on_the_number_of_simulations_or_rows() -> None:
    few, many = planned(differences=[0.05], n_simulations=3), planned(differences=[0.02, 0.05], n_simulations=6)
    assert (few.n_documents[0] == many.n_documents[0, :3]).all()
    assert (few.n_documents[1] == many.n_documents[2, :3]).all()
