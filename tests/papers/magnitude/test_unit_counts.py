"""Table I, units by assessor, and which units are narrow or wide."""

from collections import Counter

import pytest

from qrowd.magnitude import units_of
from qrowd.model.judgments import Judgments
from qrowd_papers.magnitude.study import TOPICS
from qrowd_papers.magnitude.unit_counts import assessor_units, topic_units, unit_widths

approx = pytest.approx
HN = {"q": ("h", "n")}


def crowd_of(*rows):
    """Judgments of (unit, document, value) rows: unit u1 is ann's, u2 bob's, u3 cid's."""
    unit, document, value = zip(*rows, strict=True)
    who = [{"u1": "ann", "u2": "bob", "u3": "cid"}[name] for name in unit]
    columns = {"topic": ["q"] * len(rows), "document": document, "assessor": who, "unit": unit, "value": value}
    return Judgments.from_frame(columns, scales={"*": "magnitude"})


# ---- Table I


def test_a_crowd_that_went_like_the_papers_gives_table_i(crowd):
    """Page 5: all 18 rows, with their sums."""
    units = units_of(crowd)
    assert units.to_frame()["n_judgments"].sum() == len(crowd)
    found = topic_units(crowd)
    frame = found.to_frame()
    assert frame[["n_documents", "n_units"]].to_numpy().tolist() == [list(row) for row in TOPICS.values()]
    assert frame[["n_documents", "n_units"]].sum().tolist() == [4269, 7059]
    assert (found.n_assessors == found.n_units).all()  # nobody judged a topic twice
    assert (found.n_judgments == 8 * found.n_units).all()


def test_units_per_assessor_are_counted_one_by_one(crowd):
    found = assessor_units(crowd)
    expected = Counter(name for _, name in {*zip(crowd.unit.tolist(), crowd.assessor.tolist(), strict=True)})
    assert found.n_units.tolist() == [expected[a] for a in range(len(crowd.assessors))]
    assert (found.n_topics == found.n_units).all()
    assert found.to_frame()["n_judgments"].sum() == len(crowd)
    assert found.n_units.sum() == 7059
    assert found.n_units.max() <= 18


# ---- narrow and wide


def test_wide_units_put_the_check_documents_at_least_the_median_ratio_apart():
    judgments = crowd_of(
        ("u1", "h", 6), ("u1", "n", 3), ("u2", "h", 0.6), ("u2", "n", 0.2), ("u3", "n", 1), ("u3", "h", 9)
    )
    found = unit_widths(judgments, HN)
    assert (found.ratio.tolist(), found.threshold) == ([2, 3, 9], 3)
    assert found.wide.tolist() == [False, True, True]  # 0.6 / 0.2 is 3, whatever doubles make of it
    assert found.to_frame()["wide"].tolist() == [False, True, True]
    assert found.to_frame(what="counts").to_dict("list") == {"ratio": [2, 3, 9], "n_units": [1, 1, 1]}


def test_half_of_a_crowd_is_wide(crowd, checks):
    found = unit_widths(crowd, checks)
    assert 0.4 < found.wide.mean() < 0.6
    assert found.to_frame(what="counts")["n_units"].sum() == 7059


def test_a_check_document_judged_twice_counts_with_its_geometric_mean():
    judgments = crowd_of(("u1", "h", 2), ("u1", "h", 8), ("u1", "n", 1))
    assert unit_widths(judgments, HN).ratio.tolist() == [4]
