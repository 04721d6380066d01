"""One list's gain as curves."""

from itertools import pairwise
from math import log2, sqrt
from statistics import NormalDist

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
MADE = gain_distributions(JUDGMENTS)
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


def kernel(documents, edges):
    """Probability of each bin, where each of (grade, count) is a normal curve of Scott's width, or a point."""
    total = sum(count for _, count in documents) or 1
    parts = [(grade, count / total) for grade, count in documents] or [(0.0, 1.0)]
    mean = sum(grade * share for grade, share in parts)
    sd = sqrt(sum(share * (grade - mean) ** 2 for grade, share in parts))
    width = sd * sum(share**2 for _, share in oracle.shares(documents)) ** 0.2 if documents else 0
    bins = []
    for b, (low, high) in enumerate(pairwise(edges)):
        last = b == len(edges) - 2
        mass = 0.0
        for grade, share in parts:
            if width > 1e-12:
                mass += share * (NormalDist(grade, width).cdf(high) - NormalDist(grade, width).cdf(low))
            else:
                mass += share * (low <= grade < high or (last and grade == high))
        bins.append(mass)
    return np.array(bins)


@given(GRADED, st.integers(1, 5))
def test_a_mixtures_bins_hold_what_assessors_said_by_the_weight_of_its_rank(world, k):
    system = world.systems[0]
    found = density(world.runs, gain_distributions(world.judgments), "t1", system=system, cutoff=k)
    documents = atoms(world, system, k)
    weights = [1 if rank <= 2 else 1 / log2(rank) for rank in range(1, k + 1)]
    alone = [kernel(documents[r] if r < len(documents) else [], list(found.edges)) for r in range(k)]
    for r in range(k):
        assert shown(found, "gain")[r] == pytest.approx(alone[r], abs=1e-6)
        mixture = sum(w * part for w, part in zip(weights[: r + 1], alone, strict=False)) / sum(weights[: r + 1])
        assert shown(found, "cumulated")[r] == pytest.approx(mixture, abs=1e-6)
    assert shown(found, "discounted").sum(axis=0) == pytest.approx(shown(found, "cumulated")[-1], abs=1e-12)


def test_mean_and_spread_at_each_rank_are_those_of_uncertain_dcg():
    found = density(RUNS, MADE, "q", system="s", cutoff=6)
    for r in range(1, 7):
        here = uncertain_dcg(RUNS, JUDGMENTS, cutoff=r, cumulate="mixture", dcg="original")
        assert (found.mean[r - 1], found.sd[r - 1]) == pytest.approx((here.mean[0, 0], here.sd[0, 0]))


def test_curves_have_an_area_of_1_and_the_mean_and_more_than_the_spread_of_gains():
    found = density(RUNS, MADE, "q", system="s", cutoff=5)
    for name in ("gain", "cumulated"):
        assert shown(found, name).sum(axis=1) == pytest.approx(np.ones(5), abs=1e-5)
    mean, sd = moments_of(found.edges, shown(found, "cumulated")[-1])
    assert mean == pytest.approx(found.mean[-1], abs=0.03)
    assert sd > found.sd[-1]


def test_a_kernel_is_as_wide_as_scotts_rule_says():
    runs = Runs.from_dict({"s": {"q": {"a": 1}}})
    found = density(runs, MADE, "q", system="s", cutoff=1)
    _, sd = moments_of(found.edges, shown(found, "gain")[0])
    spread = sqrt(2 / 3)
    assert sd == pytest.approx(spread * sqrt(1 + 3 ** (-2 / 5)), rel=1e-2)


def test_documents_and_ranks_are_those_of_the_list_or_of_the_ideal_ranking():
    found = density(RUNS, MADE, "q", system="s", cutoff=5)
    assert found.documents == ("c", "new", "a", "", "")
    best = density(RUNS, MADE, "q", cutoff=5)
    assert best.system is None
    assert best.documents[2] == "c"
    assert set(best.documents[:2]) == {"a", "b"}
    assert best.documents[0] == "b"  # the same mean, less disagreement
    idle = density(RUNS, MADE, "q", system="idle", cutoff=2)
    assert idle.documents == ("", "")
    assert (idle.mean == 0).all()


def test_a_frame_has_one_row_per_curve_rank_and_bin():
    found = density(RUNS, MADE, "q", system="s", cutoff=3)
    frame = found.to_frame()
    assert len(frame) == 3 * 3 * 100
    part = frame[(frame["curve"] == "cumulated") & (frame["rank"] == 3)]
    assert part["density"].to_numpy() == pytest.approx(found.cumulated[-1])
    assert part["high"].to_numpy() == pytest.approx(found.edges[1:])


@pytest.mark.parametrize(("options", "message"), [
    ({"topic": "q7"}, "topic='q7': nobody judged it"),
    ({"system": "t"}, "system='t': no such run"),
])  # fmt: skip
def test_a_curve_that_cannot_be_drawn_is_named(options, message):
    arguments = {"runs": RUNS, "topic": "q", "system": "s", **options}
    with pytest.raises(ArgumentError, match=message):
        density(distributions=MADE, **arguments)
