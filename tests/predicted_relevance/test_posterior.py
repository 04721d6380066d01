"""Relevance after several judgments, against loops, in worlds whose truth is known, and on real assessors."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from merging import judgments_of, panels
from oracles import predicted_relevance as oracle
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.model.judgments import Judgments
from qrowd.predicted_relevance import posterior_relevance, predicted_relevance


def by_document(result):
    frame = result.to_frame()
    return dict(zip(zip(frame["topic"], frame["document"], strict=True), frame["probability"], strict=True))


def listed(labels):
    return {pair: list(said.items()) for pair, said in labels.items()}


@settings(max_examples=settings.default.max_examples // 2)
@given(
    labels=panels(),
    smoothing=st.sampled_from([0.5, 4.0]),
    own=st.sampled_from([None, 1, 3]),
    theta=st.sampled_from([1, 2]),
)
def test_it_is_what_the_formula_says(labels, smoothing, own, theta):
    assume(any(len(said) > 1 for said in labels.values()))
    grades = sorted({grade for said in labels.values() for grade in said.values()})
    relevant = {grade for grade in grades if grade >= theta}
    judgments = judgments_of(labels, "0-2")
    found = posterior_relevance(judgments, rel=theta, smoothing=smoothing, own=own)
    expected = oracle.linear_posterior(listed(labels), grades, relevant, smoothing, own)
    assert by_document(found) == {pair: pytest.approx(p, abs=1e-9) for pair, p in expected.items()}
    assert found.n.tolist() == [len(labels[pair]) for pair in by_document(found)]


@settings(max_examples=settings.default.max_examples // 2)
@given(labels=panels())
def test_after_a_single_judgment_it_is_the_predicted_relevance(labels):
    grades_of_doubles = {g for said in labels.values() if len(said) > 1 for g in said.values()}
    assume(grades_of_doubles)
    judgments = judgments_of(labels, "0-2")
    model = predicted_relevance(judgments, rel=2, n_resamples=0)
    posterior = by_document(posterior_relevance(judgments, rel=2, own=None, smoothing=0))
    for pair, said in labels.items():
        if len(said) == 1 and set(said.values()) <= grades_of_doubles:
            assert posterior[pair] == pytest.approx(model[next(iter(said.values()))], abs=1e-12)


def brier(found, truth):
    """Mean square of p - truth; truth : {document: what a random user says, or how many do}."""
    return np.mean([(p - truth[document]) ** 2 for (_, document), p in by_document(found).items()])


def test_assessors_whose_confusions_are_known_are_joined_better():
    """A fact and three assessors of different skill, independent given the fact."""
    random = np.random.default_rng(1)
    n = 5000
    fact = random.random(n) < 0.3
    rows = []
    for name, right in (("a", 0.95), ("b", 0.75), ("c", 0.6)):
        said = np.where(random.random(n) < right, fact, ~fact).astype(float)
        rows += [("q", f"d{i}", name, value) for i, value in enumerate(said.tolist())]
    judgments = Judgments.from_rows(rows)
    truth = {f"d{i}": float(f) for i, f in enumerate(fact)}
    own, pooled = (posterior_relevance(judgments, rel=1, own=least) for least in (50, None))
    assert own.own.all()
    assert not pooled.own.any()
    assert brier(own, truth) < brier(pooled, truth) - 0.01


def test_where_users_differ_it_is_the_best_linear_prediction():
    """Each document pleases a share of everyone, Beta(2, 3): (2 + s) / (5 + k) after s of k, which is linear."""
    random = np.random.default_rng(2)
    share = random.beta(2, 3, size=3000)
    said = random.random((3000, 6)) < share[:, None]
    rows = [("q", f"d{i}", f"a{a}", float(v)) for i, row in enumerate(said.tolist()) for a, v in enumerate(row)]
    judgments = Judgments.from_rows(rows)
    truth = {f"d{i}": p for i, p in enumerate(share.tolist())}
    linear = posterior_relevance(judgments, rel=1)
    yes = {f"d{i}": int(row.sum()) for i, row in enumerate(said)}
    for (_, document), p in by_document(linear).items():
        assert p == pytest.approx((2 + yes[document]) / 11, abs=0.03)
    # What remains is the variance of a Beta posterior, 2 * 3 / (5 * 6) / 11 = .0182 on average.
    assert brier(linear, truth) == pytest.approx(0.2 / 11, rel=0.05)


def test_of_real_assessors_the_one_left_out_is_foretold_better_than_by_the_share_of_all(dl19):
    """Eight people judged 188 passages: what seven say, joined, against what the eighth says."""
    frame = pd.read_csv(dl19 / "humans" / "agreement-round.tsv", sep="\t", dtype={"topic": str, "document": str})
    losses = {}
    for name in sorted(set(frame["assessor"])):
        others = Judgments.from_frame(frame[frame["assessor"] != name])
        own = frame[frame["assessor"] == name]
        truth = dict(zip(own["document"], own["grade"] >= 2, strict=True))
        losses.setdefault("linear", []).append(brier(posterior_relevance(others, rel=2), truth))
        losses.setdefault("share", []).append(np.mean((np.mean(list(truth.values())) - list(truth.values())) ** 2))
    mean = {name: np.mean(values) for name, values in losses.items()}
    assert mean["linear"] < mean["share"] - 0.03


def test_more_of_the_same_makes_it_surer():
    labels = {("q", f"d{i}"): {"a": i % 2, "b": (i // 3) % 2, "c": i % 2} for i in range(30)}
    labels |= {("q", f"x{k}"): dict.fromkeys("abc"[:k], 1) for k in (1, 2, 3)}
    p = by_document(posterior_relevance(judgments_of(labels), rel=1, own=None))
    assert p["q", "x1"] < p["q", "x2"] < p["q", "x3"]


def test_it_makes_judgments_of_one_assessor_that_every_measure_takes():
    labels = {("q", "d"): {"a": 1, "b": 0}, ("r", "e"): {"a": 1, "b": 1}}
    found = posterior_relevance(judgments_of(labels), rel=1)
    assert found.judgments.assessors == ("posterior",)
    assert str(found.judgments.scales[0]) == "0..1"
    assert found.judgments.value.tolist() == found.probability.tolist()


def test_what_makes_no_sense_is_refused():
    one = judgments_of({("q", "d"): {"a": 1}})
    with pytest.raises(NoOverlapError, match="judged by two"):
        posterior_relevance(one, rel=1)
    for options, message in (
        ({"own": 0}, "own=0"),
        ({"smoothing": -1}, "smoothing=-1"),
    ):
        with pytest.raises(ArgumentError, match=message):
            posterior_relevance(one, rel=1, **options)
