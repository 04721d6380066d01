"""Replays: answers are revealed only when asked for, and what is measured is what users get."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

import qrowd
import qrowd_papers.next_judgments as study
from qrowd.errors import InputError
from qrowd.reports.document import render
from qrowd.sequential.next_judgments import next_judgments
from qrowd.sequential.question import Question
from qrowd_papers.next_judgments import NEXT, Replay, Replays, next_judgments_page, pairs_of, replays
from qrowd_papers.next_judgments_replays import MEASURE, PEOPLE, ReplayPanel, real, replay, simulated


@pytest.fixture(scope="module")
def panel() -> ReplayPanel:
    return simulated(1, n_topics=12, n_systems=5)


@pytest.fixture(scope="module")
def published(dl21: Path) -> ReplayPanel:
    return next(real(dl21.parent))


@pytest.mark.nightly
def test_a_replay_is_what_next_judgments_says_step_by_step(panel: ReplayPanel) -> None:
    pair = (panel.systems[1], panel.systems[2])
    problem, gains = panel.problem(Question("better", pair))
    design = None
    answers: dict[str, dict[str, float]] = {}
    steps = list(islice(replay(problem, gains, seed=3), 5))
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        n = 1 if following is None else following.n_asked - step.n_asked
        people = qrowd.Judgments.from_dict({"people": answers}, scales={"people": PEOPLE}) if answers else None
        result = next_judgments(
            panel.runs, people, question=f"{pair[0]} > {pair[1]}", models=panel.labels, measure=MEASURE, scale=PEOPLE,
            design=design, n_documents=n, rng=3,
        )  # fmt: skip
        statement, design = result.statement, result.design
        assert statement.n_judged[0] == step.n_asked
        np.testing.assert_allclose(statement.estimate, step.look.estimates.estimate, atol=1e-12)
        np.testing.assert_allclose([statement.low, statement.high], [step.look.low, step.look.high], atol=1e-12)
        assert statement.answer == step.look.answer
        if following is not None:
            rows = problem.matters[following.draws.document[step.n_asked :]]
            names = [
                (problem.candidates.topics[problem.candidates.topic[i]],
                 problem.candidates.documents[problem.candidates.document[i]]) for i in rows
            ]  # fmt: skip
            assert list(zip(result.topics, result.documents, strict=True)) == names
            for (topic, document), gain in zip(names, gains[rows], strict=True):
                answers.setdefault(topic, {})[document] = float(gain)
    assert steps[-1].n_asked > 25


def test_answers_that_were_not_asked_for_change_nothing(panel: ReplayPanel) -> None:
    problem, gains = panel.problem(Question("better", (panel.systems[0], panel.systems[-1])))
    steps = list(replay(problem, gains, seed=1))
    asked = problem.matters[steps[-1].draws.document]
    others = 3 - gains
    others[asked] = gains[asked]
    again = list(replay(problem, others, seed=1))
    assert steps[-1].n_asked < problem.matters.size
    assert [step.look.low[0] for step in again] == [step.look.low[0] for step in steps]


def test_the_scores_of_a_panel_are_those_of_evaluate(panel: ReplayPanel) -> None:
    people = qrowd.Judgments.from_dict({"people": _grades(panel)}, scales={"people": PEOPLE})
    scores = qrowd.evaluate(panel.runs, people, MEASURE)
    columns = [scores.systems.index(system) for system in panel.systems]
    rows = [scores.topics.index(topic) for topic in panel.runs.topics]
    np.testing.assert_allclose(panel.scores, scores.values[0, 0][np.ix_(rows, columns)], atol=1e-12)


def test_wrong_decisions_are_counted_with_an_exact_interval() -> None:
    rows = tuple(
        Replay("panel", "design", "a", "b", seed, 0.03, 10 + seed, 100, decided=True, wrong=seed == 0)
        for seed in range(20)
    )
    band = Replays(rows).bands().iloc[0]
    assert (band.low, band.high, band.n, band.n_wrong) == (0.02, 0.05, 20, 1)
    assert (band["median"], band.saved) == (pytest.approx(0.195), pytest.approx(0.805))
    # Clopper & Pearson (1934): 1 of 20
    assert (band.wrong_low, band.wrong_high) == (pytest.approx(0.00127, abs=1e-5), pytest.approx(0.24873, abs=1e-5))


@pytest.mark.nightly
def test_labels_save_judgments_and_large_differences_are_decided_rightly(panel: ReplayPanel) -> None:
    result = replays(panel, seeds=[1], every=3)
    assert len(result.rows) == 3 * len(pairs_of(panel, every=3)) == 12
    bands = result.bands().set_index(["design", "low"])
    assert bands.loc[(NEXT, 0.05), "median"] < bands.loc[("uniform documents", 0.05), "median"]
    assert bands.loc[(NEXT, 0.05), "n_wrong"] == 0


def test_a_panel_with_the_people_of_another_is_replayed_by_the_designs_that_use_labels(panel: ReplayPanel) -> None:
    result = replays(replace(panel, labels_only=True), seeds=[1], every=12)
    assert {row.design for row in result.rows} == {NEXT}


@pytest.mark.nightly
def test_of_dl21_a_large_difference_needs_a_fifth_of_the_documents(published: ReplayPanel) -> None:
    assert len(published.systems) == 24
    assert len(published.candidates) >= 10_828
    shares = []
    for first, second in ((3, 20), (6, 22)):
        pair = (published.systems[first], published.systems[second])
        problem, gains = published.problem(Question("better", pair))
        *_, last = replay(problem, gains, seed=1)
        assert last.look.answer == f"{pair[0]} is better than {pair[1]}"
        shares.append(last.n_asked / problem.matters.size)
    assert np.median(shares) < 0.3


def test_the_page_has_the_tables_and_refuses_a_folder_without_the_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(study, "N_PATHS", (1, 1))
    monkeypatch.setattr(study, "N_NULL", 16)
    monkeypatch.setattr(study, "simulated", lambda seed: simulated(seed, n_topics=8, n_systems=6))
    page = next_judgments_page(quick=True, rng=1)
    assert page.sentence.startswith("Of the documents that can change a difference in nDCG@10, qrowd next asks for")
    assert page.tables[0].title == "simulated: median share judged"
    assert b"uniform documents" in render(page, "page.md")
    with pytest.raises(InputError, match="there is neither a folder dl21 nor dl19"):
        next_judgments_page(str(tmp_path))


def _grades(panel: ReplayPanel) -> dict[str, dict[str, float]]:
    grades: dict[str, dict[str, float]] = {}
    for t, d, gain in zip(panel.candidates.topic, panel.candidates.document, panel.gains, strict=True):
        grades.setdefault(panel.candidates.topics[t], {})[panel.candidates.documents[d]] = float(gain)
    return grades
