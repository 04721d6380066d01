"""Bands of ranks: which documents each holds, what is learnt from it, and that expected and counted results agree."""

from collections import defaultdict
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from merging import judgments_of
from qrowd.errors import ArgumentError, NoOverlapError, ScaleError
from qrowd.model.runs import Runs
from qrowd.predicted_relevance import bands, predicted_relevance, relevant_results
from qrowd.predicted_relevance.doubles import graded

DEPTH = 3


def collection(n_topics=8, n_documents=30, seed=1, twice=0.8):
    """Runs of four systems, the later the better, and the grades of two people, the second of whom skips some."""
    random = Random(seed)
    labels, lists = {}, {f"s{s}": {} for s in range(4)}
    for t in range(n_topics):
        merit = {f"d{t}-{i}": random.gauss(0, 1) for i in range(n_documents)}
        for document, x in merit.items():
            grade = [min(2, max(0, int(1 + x + random.gauss(0, 0.6)))) for _ in range(2)]
            labels[f"t{t}", document] = {"ann": grade[0], **({"bob": grade[1]} if random.random() < twice else {})}
        for s in range(4):
            lists[f"s{s}"][f"t{t}"] = {d: 0.4 * s * x + random.gauss(0, 1) for d, x in merit.items()}
    return labels, Runs.from_dict(lists)


LABELS, RUNS = collection()
JUDGMENTS = judgments_of(LABELS, "0-2")


def ranked(runs_of_topic):
    return sorted(runs_of_topic, key=runs_of_topic.get, reverse=True)


def by_hand(labels, theta, few):
    """{(topic, document): (band, weight)}, in loops; few : documents judged twice that a band needs."""
    lists = {
        (system, topic): ranked(dict(zip(documents, scores, strict=True)))
        for system, topic, documents, scores in listed()
    }
    relevance = {pair: np.mean([grade >= theta for grade in said.values()]) for pair, said in labels.items()}
    quality = defaultdict(float)
    for (system, topic), documents in lists.items():
        quality[system] += sum(relevance.get((topic, d), 0) for d in documents[:DEPTH])
    systems, best = defaultdict(list), {}
    for (system, topic), documents in lists.items():
        for rank, d in enumerate(documents, 1):
            best[topic, d] = min(rank, best.get((topic, d), rank))
            if rank <= DEPTH:
                systems[topic, d].append(quality[system])
    mean = {pair: np.mean(of) for pair, of in systems.items()}
    doubles = [pair for pair, said in labels.items() if len(said) > 1]
    top = [mean[pair] for pair in doubles if pair in mean]
    n = min(5, max(1, len(top) // few))
    edges = [edge for edge in sorted(set(np.quantile(top, np.arange(1, n) / n))) if edge > min(top)]
    placed = {}
    for pair in labels:
        if pair in mean:
            placed[pair] = (sum(mean[pair] < edge for edge in edges), len(systems[pair]))
        else:
            placed[pair] = (len(edges) + 1, 1)
    return placed, best


def listed():
    frame = RUNS.to_frame()
    for (system, topic), part in frame.groupby(["system", "topic"]):
        yield system, topic, part["document"].tolist(), part["score"].tolist()


@pytest.fixture
def small_bands(monkeypatch):
    monkeypatch.setattr(bands, "LEAST_DOCUMENTS", 10)
    monkeypatch.setattr(bands, "LEAST_JUDGMENTS", 1)
    monkeypatch.setattr(bands, "FURTHER", ())


def test_first_ranks_are_divided_by_how_good_the_systems_are_that_retrieve_the_document(small_bands):
    model = predicted_relevance(JUDGMENTS, rel=2, runs=RUNS, cutoff=DEPTH, n_resamples=0)
    placed, _ = by_hand(LABELS, 2, few=10)
    data = graded(JUDGMENTS)
    band, weight = model.by_band.bands.of(data.pairs)
    found = {
        (data.topics[t], data.documents[d]): (int(b), float(w))
        for t, d, b, w in zip(data.topic, data.document, band, weight, strict=True)
    }
    assert model.by_band.bands.n_top == 4  # of five: few systems have few different means
    assert found == placed


def test_each_band_has_the_p_of_its_documents_each_weighing_as_many_systems_as_retrieve_it(small_bands):
    model = predicted_relevance(JUDGMENTS, rel=2, runs=RUNS, cutoff=DEPTH, n_resamples=0)
    placed, _ = by_hand(LABELS, 2, few=10)
    given, agreed = np.zeros((5, 3)), np.zeros((5, 3))
    for pair, said in LABELS.items():
        if len(said) == 2:
            band, weight = placed[pair]
            for one, other in (("ann", "bob"), ("bob", "ann")):
                given[band, said[one]] += weight
                agreed[band, said[one]] += weight * (said[other] >= 2)
    known = given > 0
    assert model.by_band.probability[known] == pytest.approx((agreed / np.where(known, given, 1))[known])
    assert model.probability == pytest.approx(agreed[:4].sum(axis=0) / given[:4].sum(axis=0))
    assert model.n == pytest.approx(given[:4].sum(axis=0))


def test_further_ranks_are_divided_where_enough_documents_were_judged_twice(monkeypatch):
    monkeypatch.setattr(bands, "LEAST_DOCUMENTS", 20)
    model = predicted_relevance(JUDGMENTS, rel=2, runs=RUNS, cutoff=2, n_resamples=0)
    _, best = by_hand(LABELS, 2, few=20)
    labels = model.by_band.bands.labels
    assert labels[-3:] == ("ranks 3-4", "ranks 5-10", "after rank 10, or not retrieved")
    for label, low, high in zip(labels[-3:], (3, 5, 11), (4, 10, np.inf), strict=True):
        n = sum(len(said) > 1 and low <= best[pair] <= high for pair, said in LABELS.items())
        assert model.by_band.n_documents[labels.index(label)] == n


@given(st.lists(st.integers(0, 120), min_size=1, max_size=8), st.integers(1, 8))
def test_bands_whose_judgments_are_taken_together_are_neighbours_and_have_enough(judgments, n_top):
    n, n_top = np.array(judgments, np.float64), min(n_top, len(judgments))
    (same,) = bands.sharing(n[:, None], n_top)
    first_are_enough = n[:n_top].sum() >= bands.LEAST_JUDGMENTS
    for part in (range(n_top), range(n_top, n.size)):
        enough = n[list(part)].sum() >= bands.LEAST_JUDGMENTS
        for band in part:
            group = np.flatnonzero(same[band])
            assert band in group
            assert (np.diff(group) == 1).all()
            if not first_are_enough:
                assert group.size == n.size
            elif enough:
                assert set(group) <= set(part)
                assert n[group].sum() >= bands.LEAST_JUDGMENTS
                assert np.array_equal(same[group], np.tile(same[band], (group.size, 1)))
            else:
                assert set(group) == set(np.flatnonzero(same[n_top - 1])) | set(part)
    assert bands.shared(n[:, None], same[None])[:, 0] == pytest.approx(same @ n)


def test_a_band_with_few_judgments_of_a_grade_shares_the_estimate_of_its_neighbour():
    labels, _ = collection(n_topics=8)
    labels = {pair: {who: min(grade, 1) for who, grade in said.items()} for pair, said in labels.items()}
    labels["t0", "d0-0"] = {"ann": 2, "bob": 2}
    found = predicted_relevance(judgments_of(labels, "0-2"), rel=2, runs=RUNS, cutoff=DEPTH, n_resamples=0).by_band
    assert len(set(found.probability[:, 2].tolist())) == 1
    assert (found.to_frame()["ranks"].drop_duplicates() == list(found.bands.labels)).all()
    assert found.n_judgments[:, 2].sum() == 2


@pytest.mark.parametrize("method", ["symmetric", "one-sided"])
def test_of_everything_judged_twice_as_many_results_are_expected_as_counted(method):
    """Over all systems, whatever the bands: their sums over the judgments they were learnt from are those counted."""
    labels, runs = collection(n_topics=40, twice=1)
    judgments = judgments_of(labels, "0-2")
    options = {"method": method, "first": "ann"} if method == "one-sided" else {}
    model = predicted_relevance(judgments, rel=2, runs=runs, cutoff=DEPTH, n_resamples=0, **options)
    found = relevant_results(model, judgments, runs=runs, cutoff=DEPTH)
    if method == "symmetric":
        assert found.predicted.sum() == pytest.approx(found.binary.sum())
    else:
        first, second = (relevant_results(model, judgments.select(assessors=who), runs=runs, cutoff=DEPTH)
                         for who in ("ann", "bob"))  # fmt: skip
        assert first.predicted.sum() == pytest.approx(second.binary.sum())


def test_gains_of_judgments_are_those_of_their_bands_in_any_part_and_any_order():
    model = predicted_relevance(JUDGMENTS, rel=2, runs=RUNS, cutoff=DEPTH, n_resamples=0)
    whole = model.with_gains(JUDGMENTS).to_frame().set_index(["topic", "document", "assessor"])["value"]
    part = model.with_gains(JUDGMENTS.select(topics=["t5", "t2"], assessors="bob")).to_frame()
    for row in part.itertuples():
        assert row.value == whole[row.topic, row.document, row.assessor]
    elsewhere = model.with_gains(judgments_of({("new", "x"): {"ann": 1}}, "0-2"))
    assert elsewhere.value.tolist() == [model.by_band.probability[-1, 1]]
    with pytest.raises(ScaleError, match=r"p\(R\|3\) is not known"):
        model.with_gains(judgments_of({("t0", "d0-0"): {"ann": 3}}, "0-3"))


def test_the_pool_is_an_option_and_what_there_is_without_runs():
    pool, plain = (predicted_relevance(JUDGMENTS, rel=2, rng=1, **o) for o in ({"runs": RUNS, "ranks": "pool"}, {}))
    assert pool.ranks == plain.ranks == "pool"
    assert np.array_equal(pool.replicates, plain.replicates)
    assert predicted_relevance(JUDGMENTS, rel=2, runs=RUNS, rng=1).ranks == "bands"


@pytest.mark.parametrize("resample", ["topics", "documents"])
def test_standard_errors_of_bands_are_those_of_drawing_again_by_hand(resample, small_bands):
    model = predicted_relevance(JUDGMENTS, rel=2, runs=RUNS, cutoff=DEPTH, resample=resample, n_resamples=3000, rng=1)
    placed, _ = by_hand(LABELS, 2, few=10)
    doubles = {pair: said for pair, said in LABELS.items() if len(said) == 2}
    units = defaultdict(list)
    for pair in doubles:
        units[pair[0] if resample == "topics" else pair].append(pair)
    units, random, drawn = list(units.values()), Random(4), []
    for _ in range(500):
        sums = np.zeros((2, 3))
        for pair in (pair for unit in random.choices(units, k=len(units)) for pair in unit):
            band, weight = placed[pair]
            if band < 4:
                for one, other in (("ann", "bob"), ("bob", "ann")):
                    sums[:, doubles[pair][one]] += weight * np.array([doubles[pair][other] >= 2, 1])
        drawn.append(sums[0] / sums[1])
    assert model.standard_error == pytest.approx(np.std(drawn, axis=0, ddof=1), rel=0.15)
    assert model.by_band.standard_error.shape == (5, 3)
    assert (model.by_band.low <= model.by_band.probability).all()


def test_binomial_errors_count_a_document_of_many_systems_as_one():
    heavy = predicted_relevance(JUDGMENTS, rel=2, runs=RUNS, cutoff=DEPTH, resample="binomial")
    n = heavy.by_band.n_judgments[: heavy.by_band.bands.n_top].sum(axis=0)
    p = heavy.probability
    assert (heavy.standard_error >= np.sqrt(p * (1 - p) / n)).all()
    assert (heavy.n > n).all()


def test_what_cannot_be_is_refused():
    with pytest.raises(ArgumentError, match="cutoff=0"):
        predicted_relevance(JUDGMENTS, rel=2, runs=RUNS, cutoff=0)
    away = Runs.from_dict({"one": {"t0": {"x": 1.0}}})
    with pytest.raises(NoOverlapError, match=r"first 10 ranks of any run.*--ranks pool"):
        predicted_relevance(JUDGMENTS, rel=2, runs=away)
    labels = {("t0", "d0-0"): {"ann": 1, "bob": 1}, ("t0", "zz"): {"ann": 1, "cyd": 1}}
    one = Runs.from_dict({"one": {"t0": {"d0-0": 1.0}}})
    with pytest.raises(NoOverlapError, match=r"first='cyd'.*choose another"):
        predicted_relevance(judgments_of(labels, "0-2"), rel=2, runs=one, method="one-sided", first="cyd")
