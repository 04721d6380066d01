"""One judgment per document: how far the ranking of systems strays, draw by draw."""

import numpy as np
import pandas as pd
import pytest

from oracles import aware as aware_oracle
from oracles import label_uncertainty as oracle
from qrowd.aggregation import median
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.evaluation import evaluate
from qrowd.files import read_judgments, read_runs
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.simulation import simulate_pool, simulate_runs
from qrowd.uncertainty import simulate_single_assessor
from qrowd.uncertainty.label_samples import JudgmentSamples

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


@pytest.mark.parametrize("measure", ["nDCG@10", "P@5", "AP"])
@pytest.mark.parametrize("against", ["gold", "panel", "median"])
def test_every_draw_is_held_against_the_reference_as_the_oracle_does(runs, judgments, gold, measure, against):
    reference = {"gold": gold, "panel": None, "median": median(judgments).judgments}[against]
    found = simulate_single_assessor(runs, judgments, measure, gold=reference, n_resamples=25, rng=9)
    if reference is None:
        theirs = oracle.average(evaluate(runs, judgments, measure).values[0].mean(axis=0).tolist())
    else:
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
    for row, tau, ap in zip(
        oracle.means_of_draws(runs, draws, "0-3", measure), found.tau_b[0], found.ap[0], strict=True
    ):
        assert tau == approx(oracle.tau_b(row, theirs), abs=1e-12, nan_ok=True)
        walked, decides = (np.round(side, 12).tolist() for side in (row, theirs))
        assert ap == approx(aware_oracle.tau_ap(walked, decides), abs=1e-12)
    assert (found.n_topics[0], found.n_systems[0]) == (5, 6)


def test_all_judgments_together_are_held_against_the_gold_too(runs, judgments, gold):
    found = simulate_single_assessor(runs, judgments, "AP", gold=gold, n_resamples=2, rng=1)
    panel = oracle.average(evaluate(runs, judgments, "AP").values[0].mean(axis=0).tolist())
    assert found.all_tau_b[0] == approx(oracle.tau_b(panel, means_of(runs, gold, "AP")))
    assert found.reference == gold.assessors[0]
    alone = simulate_single_assessor(runs, judgments, "AP", n_resamples=2, rng=1)
    assert np.isnan(alone.all_tau_b).all()
    assert np.isnan(alone.all_ap).all()
    assert alone.reference == "panel"


@pytest.mark.parametrize("draw", ["document", "topic"])
def test_a_single_assessor_s_draws_rank_as_the_assessor_does(runs, judgments, draw):
    alone = judgments.select(assessors="ann")
    found = simulate_single_assessor(runs, alone, ["AP", "nDCG@10"], n_resamples=10, draw=draw, rng=1)
    np.testing.assert_allclose(found.tau_b, 1, atol=1e-12)
    np.testing.assert_allclose(found.ap, 1, atol=1e-12)


def test_only_topics_that_both_know_are_compared(runs, judgments, gold):
    some = gold.select(topics=list(gold.topics[:3]))
    found = simulate_single_assessor(runs, judgments, "AP", gold=some, n_resamples=20, rng=2)
    both = judgments.select(topics=list(gold.topics[:3]))
    np.testing.assert_array_equal(
        found.tau_b, simulate_single_assessor(runs, both, "AP", gold=some, n_resamples=20, rng=2).tau_b
    )
    assert found.n_topics[0] == 3


def test_a_topic_without_a_score_in_a_draw_is_left_out_on_both_sides():
    runs = Runs.from_dict(
        {"a": {"q": {"d": 2.0}, "r": {"x": 1.0}}, "b": {"q": {"e": 1.0}, "r": {"y": 1.0}}}
    )  # a is right about q, b about r
    gold = Judgments.from_rows(
        [("q", "d", "nist", 1), ("q", "e", "nist", 0), ("r", "x", "nist", 0), ("r", "y", "nist", 1)]
    )
    rows = [
        ("q", "d", "ann", 1),
        ("q", "e", "ann", 0),
        ("r", "x", "ann", 0),
        ("r", "y", "ann", 0),
        ("r", "y", "bob", 1),
    ]
    found = simulate_single_assessor(
        runs, Judgments.from_rows(rows, scales={"*": "binary"}), "RR", gold=gold, n_resamples=60, rng=1,
        conventions=Conventions(empty="nan"),
    )  # fmt: skip
    drawn = [
        int(panel.values[3, i]) for panel in JudgmentSamples(Judgments.from_rows(rows), 60, rng=1) for i in range(60)
    ]
    assert set(drawn) == {0, 1}
    # With y irrelevant only q counts, where both put a first; else both tie everything.
    np.testing.assert_array_equal(found.tau_b[0], [np.nan if y else 1.0 for y in drawn])


def test_systems_that_lack_a_topic_are_left_out_where_it_is_skipped(runs, judgments, gold):
    less = runs.to_frame()
    less = Runs.from_frame(less[(less["system"] != runs.systems[0]) | (less["topic"] != runs.topics[0])])
    found = simulate_single_assessor(
        less, judgments, "AP", gold=gold, n_resamples=5, rng=1, conventions=Conventions(missing="skip")
    )
    assert found.n_systems[0] == 5
    without = runs.select(systems=list(runs.systems[1:]))
    again = simulate_single_assessor(without, judgments, "AP", gold=gold, n_resamples=5, rng=1)
    np.testing.assert_allclose(found.tau_b, again.tau_b)


def test_threads_and_blocks_do_not_matter(runs, judgments, gold):
    one = simulate_single_assessor(runs, judgments, "AP", gold=gold, n_resamples=70, rng=3)
    other = simulate_single_assessor(runs, judgments, "AP", gold=gold, n_resamples=70, rng=3, block=9, threads=1)
    np.testing.assert_array_equal(one.tau_b, other.tau_b)
    np.testing.assert_array_equal(one.ap, other.ap)


def test_quantiles_and_the_frame_are_of_the_draws(runs, judgments, gold):
    found = simulate_single_assessor(runs, judgments, ["AP", "P@5"], gold=gold, n_resamples=30, rng=3)
    for kind in ("tau_b", "ap"):
        values = sorted(getattr(found, kind)[1])
        assert found.quantiles([0.1, 0.5], kind=kind)[1].tolist() == approx(
            [oracle.quantile(values, 0.1), oracle.quantile(values, 0.5)]
        )
    frame = found.to_frame()
    assert list(frame.columns) == ["measure", "draw", "tau_b", "ap"]
    assert frame["ap"].tolist() == found.ap.ravel().tolist()
    assert frame["draw"].tolist() == [*range(1, 31)] * 2
    with pytest.raises(ArgumentError, match="kind='tau_a'"):
        found.quantiles(kind="tau_a")
    with pytest.raises(ArgumentError, match="shares="):
        found.quantiles([2])


def test_what_cannot_be_compared_is_said(runs, judgments, gold):
    with pytest.raises(ArgumentError, match="n_resamples=0"):
        simulate_single_assessor(runs, judgments, "AP", n_resamples=0)
    with pytest.raises(ArgumentError, match="gold: 3 assessors"):
        simulate_single_assessor(runs, judgments, "AP", gold=judgments)
    with pytest.raises(ArgumentError, match="two are needed"):
        simulate_single_assessor(runs.select(systems=runs.systems[0]), judgments, "AP", gold=gold)
    elsewhere = Judgments.from_rows([("elsewhere", "d", "ann", 1)])
    with pytest.raises(NoOverlapError, match="share no topic"):
        simulate_single_assessor(runs, judgments, "AP", gold=elsewhere)
    with pytest.raises(NoOverlapError, match="share no topic"):
        simulate_single_assessor(runs, elsewhere, "AP")
    crowd = Judgments.from_rows([("q", f"d{i}", f"w{i}", 1) for i in range(20)])
    few = Runs.from_dict({"a": {"q": {"d1": 1.0}}, "b": {"q": {"d2": 1.0}}})
    with pytest.raises(ArgumentError, match="the reference has no score in any topic; give gold=median"):
        simulate_single_assessor(few, crowd, "AP")


def test_dl21_one_of_three_judges_per_document_against_nist(dl21):
    runs = read_runs(str(dl21 / "runs" / "*.gz"))
    judges = read_judgments([str(p) for p in sorted((dl21 / "judges").glob("umbrela-*.qrels.gz"))])
    nist = read_judgments(str(dl21 / "qrels.nist.txt"))
    found = simulate_single_assessor(runs, judges, "nDCG@10", gold=nist, n_resamples=1000, rng=1)
    assert found.quantiles([0.025, 0.5, 0.975])[0].tolist() == approx([0.9015, 0.9231, 0.9436], abs=5e-5)
    assert found.all_tau_b[0] == approx(0.9364, abs=5e-5)
    assert (found.n_topics[0], found.n_systems[0]) == (53, 63)


def test_dl19_one_person_per_passage_ranks_systems_less_like_nist_than_both_and_err_suffers_most(dl19):
    frame = pd.read_csv(dl19 / "humans" / "main.tsv", sep="\t", dtype={"topic": str, "document": str})
    people = Judgments.from_frame(frame).with_scales({"*": "0-3"})
    runs = read_runs(str(dl19 / "runs" / "*"))
    nist = read_judgments(str(dl19 / "qrels.nist.txt"))
    found = simulate_single_assessor(runs, people, ["nDCG@10", "ERR@10"], gold=nist, rng=1)
    expected = [[0.840, 0.872, 0.906], [0.656, 0.729, 0.802]]
    np.testing.assert_allclose(found.quantiles([0.025, 0.5, 0.975]), expected, atol=5e-4)
    np.testing.assert_allclose(found.all_tau_b, [0.892, 0.762], atol=5e-4)
