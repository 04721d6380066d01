"""The interval of alpha and its p: what is drawn, and whether it covers."""

from math import isnan

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles import agreement as oracle
from panels import ASSESSORS, GRADES, LEVELS, judgments_of, judgments_of_rows, pairable, panels
from qrowd.agreement.alpha import krippendorff_alpha
from qrowd.model.judgments import Judgments
from qrowd.simulation import Confused, Lenient, Random, simulate_judgments, simulate_pool

RESAMPLE = ("topics", "documents", "deviations")


def alpha_of(judgments, level=None, **options):
    """Alpha of all judgments together."""
    return krippendorff_alpha(judgments, level=level, **options).item()


def simulated(n_documents, rng, noise=0.5):
    truth = simulate_pool(1, n_documents, rng=rng)
    return simulate_judgments(truth, {name: Lenient(noise=noise) for name in ASSESSORS}, rng=rng)


def tenths(magnitude):
    """Rounded, since the oracle's time grows with the number of distinct values."""
    return max(float(np.round(magnitude, 1)), 0.1)


def some(*chosen):
    """Every level with grades and with magnitudes, of which `make test` takes those that are chosen."""
    cases = [(level, grades) for grades in (True, False) for level in LEVELS]
    return [pytest.param(*case, marks=[pytest.mark.nightly] * (case not in chosen)) for case in cases]


@pytest.mark.parametrize(("level", "grades"), some(("nominal", True), ("interval", False)))
def test_replicates_are_alphas_of_documents_drawn_with_replacement(level, grades):
    rng = np.random.default_rng(5)
    centre = rng.normal(size=40)
    said = {f"d{i}": {who: tenths(np.exp(centre[i] + 0.7 * rng.normal())) for who in ASSESSORS} for i in range(40)}
    if grades:
        said = {d: {who: float(min(int(v), 3)) for who, v in row.items()} for d, row in said.items()}
    judgments = judgments_of(said)
    ours = alpha_of(judgments, level, n_resamples=1000, resample="documents", rng=1).resamples
    rows = list(said.values())
    slow = []
    for _ in range(30):
        drawn = {f"d{i}": rows[k] for i, k in enumerate(rng.integers(40, size=40))}
        slow.append(oracle.krippendorff_alpha(drawn, level))
    assert np.mean(ours) == pytest.approx(np.mean(slow), abs=4 * np.std(slow) / np.sqrt(30) + 1e-9)
    assert np.std(ours) == pytest.approx(np.std(slow), rel=0.35, abs=1e-9)


@pytest.mark.parametrize(("level", "grades"), some(("ordinal", True), ("ratio", False)))
def test_replicates_are_by_default_alphas_of_topics_drawn_with_replacement(level, grades):
    rng = np.random.default_rng(8)
    topics = []
    for _ in range(12):
        noise = rng.uniform(0.1, 1.5)
        rows = np.exp(rng.normal(size=(rng.integers(2, 5), 1)) + noise * rng.normal(size=(1, len(ASSESSORS))))
        topics.append(np.minimum(rows.astype(int), 3) if grades else np.vectorize(tenths)(rows))
    judgments = Judgments.from_rows(
        (f"t{t}", f"d{d}", who, float(value))
        for t, rows in enumerate(topics)
        for d, row in enumerate(rows)
        for who, value in zip(ASSESSORS, row, strict=True)
    )
    found = alpha_of(judgments, level, n_resamples=1000, rng=1)
    slow = []
    for _ in range(40):
        drawn = [row for t in rng.integers(12, size=12) for row in topics[t]]
        panel = {f"d{i}": dict(zip(ASSESSORS, map(float, row), strict=True)) for i, row in enumerate(drawn)}
        slow.append(oracle.krippendorff_alpha(panel, level))
    assert (found.resample, found.n_topics) == ("topics", 12)
    assert np.mean(found.resamples) == pytest.approx(np.mean(slow), abs=4 * np.std(slow) / np.sqrt(40) + 1e-9)
    assert np.std(found.resamples) == pytest.approx(np.std(slow), rel=0.25, abs=1e-9)


def test_of_a_single_topic_documents_are_drawn_and_the_result_says_so():
    asked, plain = (alpha_of(simulated(30, rng=5), n_resamples=40, resample=r, rng=1) for r in RESAMPLE[:2])
    assert asked.resample == plain.resample == "documents"
    assert np.array_equal(asked.resamples, plain.resamples)
    truth = simulate_pool(2, 30, rng=6)
    both = simulate_judgments(truth, {name: Lenient(noise=0.5) for name in ASSESSORS}, rng=6)
    assert alpha_of(both, n_resamples=40, rng=1).resample == "topics"
    by_topic = krippendorff_alpha(both, by="topic", n_resamples=40, rng=1)
    assert {alpha.resample for _, alpha in by_topic} == {"documents"}


@settings(max_examples=settings.default.max_examples * 3 // 5)
@given(panels(GRADES), st.sampled_from(LEVELS), st.sampled_from(RESAMPLE))
def test_replicates_stay_in_order_with_their_interval_and_below_one(panel, level, resample):
    assume(pairable(panel))
    found = alpha_of(judgments_of(panel), level, n_resamples=50, resample=resample, rng=1)
    defined = found.resamples[~np.isnan(found.resamples)]
    assert found.n_undefined == found.resamples.size - defined.size
    if defined.size:
        assert defined.min() - 1e-12 <= found.low <= found.high <= defined.max() + 1e-12 <= 1 + 1e-9
        assert found.p == pytest.approx((1 + (defined <= 0).sum()) / (1 + defined.size))
    else:
        assert isnan(found.value)
        assert isnan(found.low)
        assert isnan(found.p)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("n_values", [4, 5000])
def test_deviations_vary_as_many_independent_pairs_do(level, n_values):
    # alpha* = 1 - mean of M draws / expected: its standard deviation is that of one deviation over sqrt(M).
    rng = np.random.default_rng(6)
    centre = rng.random(80)
    said = {
        f"d{i}": {w: float(1 + int(n_values * (0.5 * centre[i] + 0.5 * rng.random()))) for w in ASSESSORS[: 2 + i % 3]}
        for i in range(80)
    }
    found = alpha_of(judgments_of(said), level, n_resamples=3000, resample="deviations", rng=2)
    counts = {}
    for row in said.values():
        for value in row.values():
            counts[value] = counts.get(value, 0) + 1
    values, weights = [], []
    for row in said.values():
        listed = list(row.values())
        for i, x in enumerate(listed):
            for y in listed[:i]:
                values.append(oracle.difference(level, x, y, counts))
                weights.append(1 / (len(listed) - 1))
    mean = np.average(values, weights=weights)
    deviation = np.sqrt(np.average((np.array(values) - mean) ** 2, weights=weights))
    assert found.n_pairs == len(values)
    assert 1 - mean / found.expected == pytest.approx(found.value)
    assert found.resamples.mean() == pytest.approx(found.value, abs=0.01)
    assert found.resamples.std() == pytest.approx(deviation / found.expected / np.sqrt(len(values)), rel=0.1, abs=1e-9)


@pytest.mark.parametrize(
    ("n", "least", "most"), [(80, 0.86, 1), pytest.param(200, 0.88, 0.985, marks=pytest.mark.nightly)]
)
def test_an_interval_of_95_percent_covers_the_true_alpha_about_as_often(n, least, most):
    # Documents are a sample of very many that the same assessors might judge.
    population = simulated(5000, rng=1)
    true = alpha_of(population).value
    covered = 0
    names = np.array(population.documents)
    rng = np.random.default_rng(2)
    values = population.panel().values
    for repetition in range(n):
        rows = values[rng.choice(names.size, 60, replace=False)]
        sample = judgments_of({f"d{i}": dict(zip(ASSESSORS, row, strict=True)) for i, row in enumerate(rows)}, "0-3")
        found = alpha_of(sample, n_resamples=300, rng=repetition)
        covered += found.low <= true <= found.high
    assert least <= covered / n <= most  # binomial error .024 of 80, .015 of 200


@pytest.mark.parametrize(("n", "most"), [(60, 0.2), pytest.param(200, 0.17, marks=pytest.mark.nightly)])
def test_where_nobody_looks_at_the_document_p_is_small_no_more_often_than_it_says(n, most):
    truth = simulate_pool(1, 50, rng=3)
    p = []
    for seed in range(n):
        judgments = simulate_judgments(truth, {name: Random(0.4) for name in ASSESSORS}, rng=seed)
        p.append(alpha_of(judgments, n_resamples=200, rng=seed).p)
    assert np.mean(np.array(p) <= 0.1) <= most  # binomial error .04 of 60, .02 of 200
    assert 0.3 <= np.mean(np.array(p) <= 0.5) <= 0.7


def test_agreement_has_a_small_p():
    judgments = simulate_judgments(
        simulate_pool(1, 100, rng=4), {name: Confused.of_accuracy(0.9) for name in ASSESSORS}, rng=4
    )
    assert alpha_of(judgments, n_resamples=999, rng=1).p == pytest.approx(0.001)


def test_the_same_seed_gives_the_same_replicates_and_a_result_says_its_seed():
    judgments = simulated(30, rng=5)
    for given_rng in (7, [7, 8], np.random.default_rng(7), None):
        first = alpha_of(judgments, n_resamples=20, rng=given_rng)
        again = alpha_of(judgments, n_resamples=20, rng=first.seed)
        assert np.array_equal(first.resamples, again.resamples)
    assert alpha_of(judgments).seed is None


def test_a_topics_interval_does_not_depend_on_the_other_topics():
    truth = simulate_pool(3, 30, rng=6)
    judgments = simulate_judgments(truth, {name: Lenient(noise=0.5) for name in ASSESSORS}, rng=6)
    whole = krippendorff_alpha(judgments, by="topic", n_resamples=50, rng=1)
    part = krippendorff_alpha(judgments.select(topics=judgments.topics[1:]), by="topic", n_resamples=50, rng=1)
    for topic, alpha in part:
        assert np.array_equal(alpha.resamples, whole[topic].resamples)


def test_replicates_of_a_single_value_are_left_out_and_counted():
    nearly = judgments_of_rows(ann="00000001", bob="00000001")
    found = alpha_of(nearly, n_resamples=500, rng=1)
    assert found.n_undefined / 500 == pytest.approx((7 / 8) ** 8, abs=0.08)
    assert (found.low, found.high) == (1, 1)


def test_nothing_is_drawn_unless_asked():
    found = alpha_of(simulated(20, rng=7))
    assert (found.n_resamples, found.resample, found.resamples.size) == (0, None, 0)
    assert isnan(found.low)
    assert isnan(found.p)


def test_a_result_is_a_row_of_any_data_frame():
    found = alpha_of(simulated(20, rng=8), n_resamples=20, rng=1)
    for backend in ("pandas", "polars", "pyarrow"):
        frame = found.to_frame(backend)
        names = list(frame.columns) if backend != "pyarrow" else frame.column_names
        assert {"alpha", "low", "high", "p", "n_documents", "level", "resample"} <= set(names)


def test_judgments_stay_as_they_were():
    judgments = simulated(20, rng=9)
    before = judgments.value.copy(), judgments.topic.copy(), judgments.assessor.copy()
    krippendorff_alpha(judgments, by="topic", n_resamples=10, rng=1)
    assert all(
        np.array_equal(a, b)
        for a, b in zip(before, (judgments.value, judgments.topic, judgments.assessor), strict=True)
    )
    assert isinstance(judgments, Judgments)


def test_values_that_never_met_are_never_drawn_as_a_pair():
    """Their coincidences come out a rounding below 0 here, which a draw of shares would refuse."""
    panel = {"d0": {"c": 0, "d": 0}, "d1": {"c": 0, "d": 1}, "d2": {"c": 1, "d": 3}}
    panel["d3"] = {"a": 0, "b": 0, "c": 1, "d": 2}
    found = alpha_of(judgments_of(panel), "nominal", n_resamples=50, resample="deviations", rng=1)
    assert (found.resamples <= 1).all()
