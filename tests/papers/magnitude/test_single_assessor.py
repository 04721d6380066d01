"""One judgment per document: how far the ranking of systems strays, draw by draw."""

import numpy as np
import pandas as pd
import pytest

from oracles import label_uncertainty as oracle
from qrowd.aggregation import median
from qrowd.errors import NoOverlapError
from qrowd.evaluation import evaluate
from qrowd.files import read_judgments
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.simulation import simulate_pool, simulate_runs
from qrowd_papers.magnitude.single_assessor import JudgmentSamples, simulate_single_assessor
from real_runs import runs_of

approx = pytest.approx


@pytest.fixture(scope="module")
def truth():
    return simulate_pool(5, 12, rng=4)


@pytest.fixture(scope="module")
def runs(truth):
    return simulate_runs(truth, 6, rng=4)


@pytest.fixture(scope="module")
def gold(truth):
    return truth.judgments()


@pytest.fixture(scope="module")
def judgments(gold):
    random = np.random.default_rng(4)
    known = gold.to_frame()
    rows = [
        (topic, document, assessor, int(np.clip(value + random.integers(-1, 2), 0, 3)))
        for topic, document, value in zip(known["topic"], known["document"], known["value"], strict=True)
        for assessor in ("ann", "bob", "cat")
    ]
    return Judgments.from_rows(rows, scales={"*": "0-3"})


def means_of(runs, judgments, measure, **conventions):
    """[system] over the topics, of one assessor."""
    return oracle.average(
        evaluate(runs, judgments, measure, conventions=Conventions(**conventions)).values[0, 0].tolist()
    )


@pytest.mark.parametrize(
    ("against", "measure"),
    [
        ("gold", "nDCG@10"),
        ("median", "AP"),
        *(
            pytest.param(*case, marks=pytest.mark.nightly)
            for case in [("gold", "P@5"), ("gold", "AP"), ("median", "nDCG@10"), ("median", "P@5")]
        ),
    ],
)
def test_every_draw_is_held_against_the_reference_as_the_oracle_does(runs, judgments, gold, measure, against):
    reference = {"gold": gold, "median": median(judgments).judgments}[against]
    found = simulate_single_assessor(runs, judgments, [measure], reference, n_resamples=25, rng=9)
    theirs = means_of(runs, reference, measure)
    draws = [
        {
            (topic, panel.pool.documents[d]): column[i]
            for t, topic in enumerate(panel.pool.topics)
            for i, d in zip(range(*panel.pool.rows(t).indices(column.size)), panel.pool.document[panel.pool.rows(t)],
                            strict=True)
        }
        for panel in JudgmentSamples(judgments, 25, rng=9)
        for column in panel.values.T
    ]  # fmt: skip
    for row, tau in zip(oracle.means_of_draws(runs, draws, "0-3", measure), found.tau_b[0], strict=True):
        assert tau == approx(oracle.tau_b(row, theirs), abs=1e-12, nan_ok=True)


def test_a_single_assessor_s_draws_rank_as_the_assessor_does(runs, judgments):
    alone = judgments.select(assessors="ann")
    found = simulate_single_assessor(runs, alone, ["AP", "nDCG@10"], alone, n_resamples=10, rng=1)
    np.testing.assert_allclose(found.tau_b, 1, atol=1e-12)


def test_only_topics_that_both_know_are_compared(runs, judgments, gold):
    some = gold.select(topics=list(gold.topics[:3]))
    found = simulate_single_assessor(runs, judgments, ["AP"], some, n_resamples=20, rng=2)
    both = judgments.select(topics=list(gold.topics[:3]))
    np.testing.assert_array_equal(
        found.tau_b, simulate_single_assessor(runs, both, ["AP"], some, n_resamples=20, rng=2).tau_b
    )


def test_the_frame_holds_every_draw(runs, judgments, gold):
    found = simulate_single_assessor(runs, judgments, ["AP", "P@5"], gold, n_resamples=30, rng=3)
    frame = found.to_frame()
    assert list(frame.columns) == ["measure", "draw", "tau_b"]
    assert frame["tau_b"].tolist() == found.tau_b.ravel().tolist()
    assert frame["draw"].tolist() == [*range(1, 31)] * 2


def test_what_cannot_be_compared_is_said(runs, judgments, gold):
    elsewhere = Judgments.from_rows([("elsewhere", "d", "ann", 1)])
    with pytest.raises(NoOverlapError, match="share no topic"):
        simulate_single_assessor(runs, judgments, ["AP"], elsewhere, rng=1)


@pytest.mark.parametrize(("n", "tolerance"), [(100, 0.005), pytest.param(1000, 5e-5, marks=pytest.mark.nightly)])
def test_dl21_one_of_three_judges_per_document_against_nist(dl21, n, tolerance):
    runs = runs_of(dl21)
    judges = read_judgments([str(p) for p in sorted((dl21 / "judges").glob("umbrela-*.qrels.gz"))])
    nist = read_judgments(str(dl21 / "qrels.nist.txt"))
    found = simulate_single_assessor(runs, judges, ["nDCG@10"], nist, n_resamples=n, rng=1)
    assert found.quantiles([0.025, 0.5, 0.975])[0].tolist() == approx([0.9015, 0.9231, 0.9436], abs=tolerance)


@pytest.mark.nightly
@pytest.mark.parametrize(("n", "tolerance"), [(100, 0.02), pytest.param(1000, 5e-4, marks=pytest.mark.nightly)])
def test_dl19_one_person_per_passage_ranks_systems_less_like_nist_than_both_and_err_suffers_most(dl19, n, tolerance):
    frame = pd.read_csv(dl19 / "humans" / "main.tsv", sep="\t", dtype={"topic": str, "document": str})
    people = Judgments.from_frame(frame).with_scales({"*": "0-3"})
    runs = runs_of(dl19)
    nist = read_judgments(str(dl19 / "qrels.nist.txt"))
    found = simulate_single_assessor(runs, people, ["nDCG@10", "ERR@10"], nist, n_resamples=n, rng=1)
    expected = [[0.840, 0.872, 0.906], [0.656, 0.729, 0.802]]
    np.testing.assert_allclose(found.quantiles([0.025, 0.5, 0.975]), expected, atol=tolerance)
