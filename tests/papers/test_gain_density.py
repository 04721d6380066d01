"""One list's gain as curves."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import gain_distributions as oracle
from oracles.measures import rank
from qrowd.errors import ArgumentError
from qrowd.gain_distributions import gain_distributions, uncertain_dcg
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd_papers.agreement.gain_density import density
from strategies import worlds

GRADED = worlds(scales=("0-3",), n_documents=5).filter(
    lambda world: any(topic == "t1" and value >= 0 for topic, _, _, value in world.rows)
)
ROWS = [("q", d, who, g) for d, gains in (("a", (3, 1, 2)), ("b", (2, 2, 2)), ("c", (0, 1, 0))) for who, g in
        zip("xyz", gains, strict=True)]  # fmt: skip
JUDGMENTS = Judgments.from_rows(ROWS)
RUNS = Runs.from_dict({"s": {"q": {"c": 3, "new": 2, "a": 1}}, "idle": {"other": {"a": 1}}})


def shown(found, curve):
    """(ranks, bins) probabilities of a curve."""
    return getattr(found, curve) * np.diff(found.edges)


def moments_of(edges, masses):
    middle = (edges[1:] + edges[:-1]) / 2
    mean = masses @ middle
    return mean, np.sqrt(np.maximum(masses @ middle**2 - mean**2, 0))


def atoms(world, system, k):
    pool = {}
    for who in world.assessors:
        for document, grade in world.opinions[who, "t1"].grades.items():
            pool.setdefault(document, []).append((grade, 1.0))
    listed = rank(world.scores(system, "t1"))[:k]
    return [pool.get(document, []) for document in listed]


@given(GRADED, st.integers(1, 5), st.sampled_from(("log2", "original")))
def test_a_mixtures_bins_hold_what_assessors_said_by_the_weight_of_its_rank(world, k, dcg):
    system = world.systems[0]
    found = density(world.runs, world.judgments, "t1", system=system, cutoff=k, dcg=dcg, curve="as-is", bins=7)
    documents = atoms(world, system, k)
    for r in range(1, k + 1):
        expected = oracle.histogram(oracle.the_mixture(documents, r, dcg), list(found.edges))
        assert shown(found, "cumulated")[r - 1] == pytest.approx(expected, abs=1e-12)
        alone = oracle.shares(documents[r - 1] if r <= len(documents) else [])
        assert shown(found, "gain")[r - 1] == pytest.approx(oracle.histogram(alone, list(found.edges)), abs=1e-12)
    assert shown(found, "discounted").sum(axis=0) == pytest.approx(shown(found, "cumulated")[-1], abs=1e-12)


def test_mean_and_spread_at_each_rank_are_those_of_uncertain_dcg():
    found = density(RUNS, JUDGMENTS, "q", system="s", cutoff=6, dcg="log2")
    for r in range(1, 7):
        here = uncertain_dcg(RUNS, JUDGMENTS, cutoff=r, cumulate="mixture")
        assert (found.mean[r - 1], found.sd[r - 1]) == pytest.approx((here.mean[0, 0], here.sd[0, 0]))


@pytest.mark.parametrize("curve", ["as-is", "kde"])
@pytest.mark.parametrize("shape", ["sample", "interval"])
def test_curves_have_an_area_of_1_and_the_mean_and_spread_they_stand_for(curve, shape):
    if (curve, shape) == ("kde", "interval"):
        return
    found = density(RUNS, gain_distributions(JUDGMENTS, shape=shape), "q", system="s", cutoff=5, bins=400, curve=curve)
    for name in ("gain", "cumulated"):
        assert shown(found, name).sum(axis=1) == pytest.approx(np.ones(5), abs=1e-5)
    mean, sd = moments_of(found.edges, shown(found, "cumulated")[-1])
    assert mean == pytest.approx(found.mean[-1], abs=0.03)
    assert sd > found.sd[-1] if curve == "kde" else sd == pytest.approx(found.sd[-1], abs=0.02)


def test_a_kernel_is_as_wide_as_scotts_rule_says():
    runs = Runs.from_dict({"s": {"q": {"a": 1}}})
    found = density(runs, JUDGMENTS, "q", system="s", cutoff=1, curve="kde", bins=2000)
    _, sd = moments_of(found.edges, shown(found, "gain")[0])
    spread = sqrt(2 / 3)
    assert sd == pytest.approx(spread * sqrt(1 + 3 ** (-2 / 5)), rel=1e-3)


def test_an_even_interval_is_flat():
    made = gain_distributions(JUDGMENTS, shape="interval")
    found = density(Runs.from_dict({"s": {"q": {"a": 1}}}), made, "q", system="s", cutoff=1, curve="as-is", bins=8)
    assert found.documents == ("a",)
    assert found.gain[0] == pytest.approx(np.full(8, 0.5))


def test_a_pooled_document_is_normal():
    made = gain_distributions(Judgments.from_rows([*ROWS, ("q", "d", "x", 3)]), single="pooled")
    found = density(Runs.from_dict({"s": {"q": {"d": 1}}}), made, "q", system="s", cutoff=1, curve="as-is", bins=500)
    mean, sd = moments_of(found.edges, shown(found, "gain")[0])
    assert (mean, sd) == pytest.approx((3, found.sd[0]), rel=1e-3)


def test_documents_and_ranks_are_those_of_the_list_or_of_the_ideal_ranking():
    found = density(RUNS, JUDGMENTS, "q", system="s", cutoff=5)
    assert found.documents == ("c", "new", "a", "", "")
    assert found.judged.tolist() == [True, False, True, False, False]
    best = density(None, JUDGMENTS, "q", cutoff=5)
    assert best.system is None
    assert best.documents[2] == "c"
    assert set(best.documents[:2]) == {"a", "b"}
    assert best.documents[0] == "b"  # the same mean, less disagreement
    idle = density(RUNS, JUDGMENTS, "q", system="idle", cutoff=2)
    assert idle.documents == ("", "")
    assert (idle.mean == 0).all()


def test_a_frame_has_one_row_per_curve_rank_and_bin():
    found = density(RUNS, JUDGMENTS, "q", system="s", cutoff=3, bins=4)
    frame = found.to_frame()
    assert len(frame) == 3 * 3 * 4
    part = frame[(frame["curve"] == "cumulated") & (frame["rank"] == 3)]
    assert part["density"].to_numpy() == pytest.approx(found.cumulated[-1])
    assert part["high"].to_numpy() == pytest.approx(found.edges[1:])


@pytest.mark.parametrize(("options", "message"), [
    ({"topic": "q7"}, "topic='q7': nobody judged it"),
    ({"system": "t"}, "system='t': no such run"),
    ({"runs": None}, "system='s': runs are needed"),
    ({"bins": 0}, "bins=0: at least 1"),
    ({"curve": "spline"}, "curve='spline': choose one of as-is, kde"),
])  # fmt: skip
def test_a_curve_that_cannot_be_drawn_is_named(options, message):
    arguments = {"runs": RUNS, "topic": "q", "system": "s", **options}
    with pytest.raises(ArgumentError, match=message):
        density(judgments=JUDGMENTS, **arguments)


def test_an_interval_has_no_kernel():
    with pytest.raises(ArgumentError, match="curve='kde': an interval has no sample to smooth"):
        density(RUNS, gain_distributions(JUDGMENTS, shape="interval"), "q", system="s")
