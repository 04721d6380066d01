"""Table I, and which units are narrow, wide or fail their checks."""

from collections import Counter

import numpy as np
import pytest

from qrowd.errors import ArgumentError, InputError, NoOverlapError, ScaleError
from qrowd.magnitude import assessor_units, check_documents, topic_units, unit_checks, unit_widths, units_of
from qrowd.model.judgments import Judgments
from qrowd.simulation import simulate_magnitudes

approx = pytest.approx

TABLE_I = (  # documents, units, units with 0, 1, 2+ steps back, with 0, 1, 2+ failed checks
    (278, 460, 452, 8, 0, 426, 18, 16), (111, 182, 178, 4, 0, 120, 19, 43), (214, 354, 347, 6, 1, 322, 20, 12),
    (212, 350, 346, 3, 1, 324, 9, 17), (188, 310, 306, 4, 0, 266, 16, 28), (212, 350, 346, 4, 0, 326, 10, 14),
    (179, 295, 289, 4, 2, 255, 23, 17), (174, 287, 286, 1, 0, 267, 12, 8), (243, 402, 394, 8, 0, 372, 15, 15),
    (164, 270, 266, 4, 0, 256, 4, 10), (342, 567, 554, 11, 2, 537, 16, 14), (195, 322, 315, 7, 0, 214, 52, 56),
    (253, 419, 412, 6, 1, 396, 13, 10), (203, 335, 333, 2, 0, 296, 27, 12), (264, 437, 427, 10, 0, 397, 19, 21),
    (408, 677, 672, 5, 0, 629, 25, 23), (210, 347, 334, 11, 2, 334, 10, 3), (419, 695, 687, 8, 0, 652, 21, 22),
)  # fmt: skip


def crowd_of(*rows):
    """Judgments of (unit, document, value) rows: unit u1 is ann's, u2 bob's, u3 cid's."""
    unit, document, value = zip(*rows, strict=True)
    who = [{"u1": "ann", "u2": "bob", "u3": "cid"}[name] for name in unit]
    columns = {"topic": ["q"] * len(rows), "document": document, "assessor": who, "unit": unit, "value": value}
    return Judgments.from_frame(columns, scales={"*": "magnitude"})


def gold_of(**grades):
    return Judgments.from_rows([("q", document, "gold", grade) for document, grade in grades.items()])


HN = {"q": ("h", "n")}


# ---- Table I


def test_a_crowd_that_went_like_the_papers_gives_table_i(crowd, checks):
    """Page 5: all 18 rows, with their sums."""
    units = units_of(crowd)
    assert units.to_frame()["n_judgments"].sum() == len(crowd)
    backs, fails = {}, {}
    for t, (_, _, *counts) in enumerate(TABLE_I):
        labels = [units.labels[u] for u in np.flatnonzero(units.topic == t)]
        for times, three in ((backs, counts[:3]), (fails, counts[3:])):
            often = np.repeat([0, 1, 4], three).tolist()
            times |= {label: count for label, count in zip(labels, often, strict=True) if count}
    found = topic_units(crowd, checks=checks, backs=backs, fails=fails)
    columns = ["n_documents", "n_units", "back 0", "back 1", "back 2+", "fail 0", "fail 1", "fail 2+"]
    frame = found.to_frame()
    assert frame[columns].to_numpy().tolist() == [list(row) for row in TABLE_I]
    assert frame[columns].sum().tolist() == [4269, 7059, 6944, 106, 9, 6389, 329, 341]
    assert (frame[columns[2:]].sum() / 7059 * 100).round().tolist() == [98, 2, 0, 91, 5, 5]  # printed: 90 for 90.5
    assert dict(zip(frame["topic"], zip(frame["H"], frame["N"], strict=True), strict=True)) == checks
    assert (found.n_assessors == found.n_units).all()  # nobody judged a topic twice
    assert (found.n_judgments == 8 * found.n_units).all()
    assert found.backs.shape == found.fails.shape == (18, 3)


def test_what_nobody_recorded_is_no_column(crowd):
    assert topic_units(crowd).to_frame().columns.tolist() == [
        "topic", "n_documents", "n_units", "n_assessors", "n_judgments",
    ]  # fmt: skip


def test_units_per_assessor_are_counted_one_by_one(crowd):
    found = assessor_units(crowd)
    expected = Counter(name for _, name in {*zip(crowd.unit.tolist(), crowd.assessor.tolist(), strict=True)})
    assert found.n_units.tolist() == [expected[a] for a in range(len(crowd.assessors))]
    assert (found.n_topics == found.n_units).all()
    assert found.to_frame()["n_judgments"].sum() == len(crowd)
    counts = found.to_frame(what="counts")
    assert (counts["n_units"] * counts["n_assessors"]).sum() == 7059
    assert counts["share"].sum() == approx(1)
    assert counts["n_units"].max() <= 18


# ---- narrow and wide


def test_wide_units_put_the_check_documents_at_least_the_median_ratio_apart():
    judgments = crowd_of(
        ("u1", "h", 6), ("u1", "n", 3), ("u2", "h", 0.6), ("u2", "n", 0.2), ("u3", "n", 1), ("u3", "h", 9)
    )
    found = unit_widths(judgments, HN)
    assert (found.ratio.tolist(), found.threshold) == ([2, 3, 9], 3)
    assert found.wide.tolist() == [False, True, True]  # 0.6 / 0.2 is 3, whatever doubles make of it
    assert unit_widths(judgments, HN, threshold=5).wide.tolist() == [False, False, True]
    assert found.to_frame()["wide"].tolist() == [False, True, True]
    assert found.to_frame(what="counts").to_dict("list") == {"ratio": [2, 3, 9], "n_units": [1, 1, 1]}


def test_half_of_a_crowd_is_wide(crowd, checks):
    found = unit_widths(crowd, checks)
    assert 0.4 < found.wide.mean() < 0.6
    assert found.to_frame(what="counts")["n_units"].sum() == 7059


# ---- the checks


def test_equal_check_documents_fail_unless_they_may_pass():
    judgments = crowd_of(("u1", "h", 6), ("u1", "n", 3), ("u2", "h", 5), ("u2", "n", 5), ("u3", "h", 1), ("u3", "n", 2))
    assert unit_checks(judgments, HN).passed.tolist() == [True, False, False]
    assert unit_checks(judgments, HN, equal="passes").passed.tolist() == [True, True, False]
    assert unit_checks(judgments, HN).judgments.assessors == ("ann",)


def test_who_hurries_over_one_document_fails():
    rows = crowd_of(("u1", "h", 6), ("u1", "n", 3), ("u2", "h", 6), ("u2", "n", 5), ("u3", "h", 3), ("u3", "n", 2))
    columns = rows.to_frame().to_dict("list") | {"seconds": [20, 30, 19.9, 60, float("nan"), 25]}
    judgments = Judgments.from_frame(columns, scales={"*": "magnitude"})
    found = unit_checks(judgments, HN, min_seconds=20)
    assert found.slow_enough.tolist() == [True, False, True]  # no time recorded, no fault
    assert found.to_frame()["passed"].tolist() == [True, False, True]


def test_only_a_crowd_that_was_made_to_revise_passes_throughout(truth, crowd, checks):
    assert unit_checks(crowd, checks, min_seconds=20).passed.all()
    first = unit_checks(simulate_magnitudes(truth, 1481, checked=False, rng=3), checks)
    assert 0.02 < 1 - first.passed.mean() < 0.5


# ---- which documents are the checks


def test_gold_shows_the_check_documents_that_were_dealt(crowd, gold, checks):
    assert check_documents(crowd, gold) == checks
    assert unit_widths(crowd, gold).ratio.tolist() == unit_widths(crowd, checks).ratio.tolist()


def test_a_check_document_judged_twice_counts_with_its_geometric_mean():
    judgments = crowd_of(("u1", "h", 2), ("u1", "h", 8), ("u1", "n", 1))
    assert unit_widths(judgments, HN).ratio.tolist() == [4]


ONE = crowd_of(("u1", "h", 6), ("u1", "n", 3), ("u1", "a", 2), ("u2", "h", 6), ("u2", "n", 3))
REFUSED = {
    "one gold grade": (
        lambda: check_documents(ONE, gold_of(h=1, n=1)),
        ArgumentError,
        "topic q: its judged documents have fewer than two different gold grades, which do not determine the check "
        "documents; name them, as checks={'q': (H, N)}",
    ),
    "two that would serve": (
        lambda: check_documents(ONE, gold_of(h=3, n=3, a=0)),
        ArgumentError,
        "topic q: 2 documents with the same extreme gold grade are in equally many units; name the check documents, "
        "as checks={'q': (H, N)}",
    ),
    "gold check missing": (
        lambda: unit_widths(ONE, gold_of(h=3, n=2, a=0)),
        InputError,
        "unit u2 of assessor bob, topic q: the check document N, a, is missing; correct checks, or leave out such "
        "units",
    ),
    "two gold assessors": (
        lambda: check_documents(ONE, Judgments.from_rows([("q", "h", "x", 1), ("q", "n", "y", 0)])),
        ArgumentError,
        "gold: one assessor was expected, found 2 (x, y ...); select one, or merge them first",
    ),
    "gold in magnitudes": (
        lambda: check_documents(ONE, ONE.select(assessors="ann")),
        ScaleError,
        "gold: assessor ann is on scale magnitude; levels need whole grades",
    ),
    "gold twice": (
        lambda: check_documents(ONE, Judgments.from_rows([("q", "h", "x", 1), ("q", "h", "x", 0)])),
        InputError,
        "assessor x, topic q, document h: judged more than once (1 repeated judgments in all); choose repeats='first', "
        "'last' or 'mean', here or beforehand with .single(repeats=...)",
    ),
    "gold of others": (
        lambda: check_documents(ONE, Judgments.from_rows([("other", "h", "x", 1)])),
        NoOverlapError,
        "gold 'x' has no grade for any document that the others judged; check that both are of the same "
        "collection",
    ),
    "gold that says nothing": (
        lambda: check_documents(ONE, gold_of(h=-1, n=-2)),
        NoOverlapError,
        "gold 'gold' has no grade for any document that the others judged; check that both are of the same "
        "collection",
    ),
    "an unknown unit": (
        lambda: topic_units(ONE, backs={"u9": 1}),
        ArgumentError,
        "backs: no unit is called 'u9'; there are 2 units: u1, u2",
    ),
    "units of one name": (
        lambda: topic_units(crowd_of(("u1", "h", 1), ("u2", "h", 1)).select(), fails={"ann": 1, "x": 1}, by="assessor"),
        ArgumentError,
        "fails: no unit is called 'x'; there are 2 units: ann, bob",
    ),
    "fewer than none": (
        lambda: topic_units(ONE, fails={"u1": -1}),
        ArgumentError,
        "fails: unit u1 has -1; a count is 0 or more",
    ),
    "no seconds": (
        lambda: unit_checks(ONE, HN, min_seconds=20),
        ArgumentError,
        "min_seconds=20: the judgments have no seconds column",
    ),
    "equal": (lambda: unit_checks(ONE, HN, equal="maybe"), ArgumentError, "equal='maybe': choose one of fails, passes"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "error", "line"), REFUSED.values(), ids=REFUSED)
def test_what_is_amiss_is_named_in_one_line(call, error, line):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == line


def test_a_count_for_one_of_several_units_of_a_name_is_refused():
    columns = {
        "topic": ["q", "r"],
        "document": ["d", "e"],
        "assessor": ["ann", "ann"],
        "unit": ["1", "1"],
        "value": [2, 3],
    }
    judgments = Judgments.from_frame(columns)
    assert len(units_of(judgments)) == 2  # a name means something within its topic only
    with pytest.raises(ArgumentError, match="2 units are called '1'; give every unit a name of its own"):
        topic_units(judgments, backs={"1": 1})
