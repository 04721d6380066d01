"""Everyone's numbers come onto one scale, and nothing else about them changes."""

from dataclasses import FrozenInstanceError
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import magnitude as oracle
from qrowd.errors import ArgumentError, InputError, QrowdError, ScaleError
from qrowd.magnitude import normalise, units_of
from qrowd.model.judgments import Judgments, concatenate_judgments

approx = pytest.approx

SCHEMES = ("geometric_mean", "median", "extremes", "checks")
CENTRED = ("geometric_mean", "median")  # these set the centre that they measure
fewer = settings(max_examples=settings.default.max_examples // 2)
CHECKS = {"t1": ("H", "N"), "t2": ("H", "N")}

magnitudes = st.one_of(
    st.sampled_from([0.5, 1.0, 2.0, 5.0, 10.0, 100.0]), st.floats(1e-6, 1e6, allow_nan=False, allow_infinity=False)
)


@st.composite
def crowds(draw):
    """Rows (topic, document, assessor, unit, value), shuffled; every unit holds H and N.

    Unit names come back under other topics and assessors, and some units say the same of everything.
    """
    rows = []
    for topic in draw(st.sampled_from([["t1"], ["t1", "t2"]])):
        for number in range(draw(st.integers(1, 4))):
            documents = ["H", "N", *draw(st.lists(st.sampled_from("abcd"), max_size=4, unique=True))]
            who, unit = f"w{number % 3}", f"u{number}"
            value = draw(magnitudes) if draw(st.integers(0, 5)) == 0 else None
            rows += [(topic, document, who, unit, value or draw(magnitudes)) for document in documents]
    return draw(st.permutations(rows))


def judgments_of(rows):
    columns = dict(zip(("topic", "document", "assessor", "unit", "value"), zip(*rows, strict=True), strict=True))
    return Judgments.from_frame(columns, scales={"*": "magnitude"})


def normalised(judgments, scheme):
    return normalise(judgments, scheme=scheme, checks=CHECKS if scheme == "checks" else None)


def pairs_of(units):
    """Places of the earlier and the later judgment of each pair of a unit."""
    of_units = (units.rows[start:end] for start, end in pairwise(units.starts))
    return np.array([pair for rows in of_units for pair in combinations(rows, 2)], np.int64).reshape(-1, 2).T


def by_topic(judgments, statistic):
    logs = np.log(judgments.value)
    return [statistic(logs[judgments.topic == t]) for t in range(len(judgments.topics))]


# ---- printed numbers, and the slow oracle


@pytest.mark.parametrize("scheme", ["geometric_mean", "median", "extremes"])
def test_one_to_four_and_ten_to_forty_come_out_the_same(scheme):
    """Section 4.3; the numbers follow from equations 1 and 2."""
    rows = [("q", f"d{i}", who, "u", i * by) for who, by in (("ann", 1), ("bob", 10)) for i in (1, 2, 3, 4)]
    value = normalise(judgments_of(rows), scheme=scheme).value
    assert value[:4] == approx(value[4:], rel=1e-15)
    if scheme == "geometric_mean":
        assert value[:4].round(3).tolist() == [3.162, 6.325, 9.487, 12.649]


@fewer
@given(crowds())
def test_every_scheme_is_what_its_equation_says(rows):
    for scheme in SCHEMES:
        expected = oracle.normalised(rows, scheme, CHECKS)
        assert normalised(judgments_of(rows), scheme).value == approx(expected, rel=1e-6), scheme


def test_the_topic_mean_runs_over_the_check_documents_too():
    rows = [("t1", "H", "ann", "u", 100.0), ("t1", "N", "ann", "u", 1.0), ("t1", "a", "ann", "u", 1.0)]
    assert normalised(judgments_of(rows), "checks").value == approx(
        [100 ** (5 / 6), 100 ** (-1 / 6), 100 ** (-1 / 6)]  # centre 10, geometric mean of the topic 100^(1/3)
    )


# ---- laws


@fewer
@given(crowds(), st.floats(0.01, 100), st.data())
def test_who_multiplies_a_whole_unit_moves_the_topic_and_nothing_within_it(rows, by, data):
    """The topic's geometric mean, and nothing else, knows of it: it grows by `by` to the unit's share of the scores."""
    unit = oracle.unit_of(data.draw(st.sampled_from(rows)))
    multiplied = [(*row[:4], row[4] * by) if oracle.unit_of(row) == unit else row for row in rows]
    in_topic = [oracle.unit_of(row) for row in rows if row[0] == unit[0]]
    share = in_topic.count(unit) / len(in_topic)
    factor = np.array([by**share if row[0] == unit[0] else 1.0 for row in rows])
    before, after = (normalised(judgments_of(some), "geometric_mean") for some in (rows, multiplied))
    assert after.value == approx(before.value * factor, rel=1e-6)


@fewer
@given(crowds())
def test_normalising_twice_changes_nothing_or_by_ends_multiplies_each_topic_by_one_number(rows):
    for scheme in SCHEMES:
        once = normalised(judgments_of(rows), scheme)
        ratio = normalised(once, scheme).value / once.value
        for t in range(len(once.topics)):
            here = ratio[once.topic == t]
            assert here == approx(np.full(here.size, here[0]), rel=1e-9), scheme
        assert scheme not in CENTRED or ratio == approx(np.ones(len(rows)), rel=1e-6), scheme


@fewer
@given(crowds())
def test_order_and_ratios_within_a_unit_are_kept(rows):
    judgments = judgments_of(rows)
    first, second = pairs_of(units_of(judgments))
    before = judgments.value
    for scheme in SCHEMES:
        after = normalised(judgments, scheme).value
        assert (after[first] <= after[second])[before[first] <= before[second]].all(), scheme
        assert (after[first] == after[second])[before[first] == before[second]].all(), scheme
        assert after[first] / after[second] == approx(before[first] / before[second], rel=1e-12), scheme


@fewer
@given(crowds())
def test_geometric_means_and_medians_of_a_topic_are_kept_by_their_schemes(rows):
    judgments = judgments_of(rows)
    for scheme, statistic in (("geometric_mean", np.mean), ("median", np.median)):
        after = normalised(judgments, scheme)
        assert by_topic(after, statistic) == approx(by_topic(judgments, statistic), abs=1e-8)


@fewer
@given(crowds(), st.data())
def test_nobodys_name_or_turn_matters(rows, data):
    names = {"w0": "z", "w1": "y", "w2": "x"}
    turned = data.draw(st.permutations(range(len(rows))))
    again = [(rows[i][0], rows[i][1], names[rows[i][2]], "unit " + rows[i][3], rows[i][4]) for i in turned]
    for scheme in SCHEMES:
        before = normalised(judgments_of(rows), scheme).value
        assert normalised(judgments_of(again), scheme).value == approx(before[turned], rel=1e-12), scheme


def test_a_unit_is_of_one_assessor_and_topic_where_all_units_have_the_same_name():
    rows = [(f"t{topic}", "d", who, "u", 1.0) for topic in range(3) for who in ("ann", "bob")]
    assert len(units_of(judgments_of(rows))) == 6


@fewer
@given(crowds())
def test_units_by_assessor_are_those_of_a_column_that_says_so(rows):
    one_each = [(*row[:3], row[2], row[4]) for row in rows]
    judgments = judgments_of(one_each)
    assert normalise(judgments, by="assessor").value.tolist() == normalise(judgments).value.tolist()


# ---- on a crowd whose truth is known


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_truth_is_better_recovered_after_normalising_in_every_topic(crowd, truth, checks, scheme):
    """Correlation of each document's mean log, over its first three judgments, with its relevance."""
    relevance = dict(zip([truth.pool.documents[i] for i in truth.pool.document], truth.relevance, strict=True))
    after = normalise(crowd, scheme=scheme, checks=checks if scheme == "checks" else None)
    for before, better in zip(recovery(crowd, relevance), recovery(after, relevance), strict=True):
        assert better > before


def recovery(judgments, relevance):
    panel = judgments.slots(3).panel()
    logs = np.log(panel.values).mean(axis=1)
    true = np.array([relevance[panel.pool.documents[i]] for i in panel.pool.document])
    topics = [panel.pool.rows(t) for t in range(len(panel.pool.topics))]
    return [float(np.corrcoef(logs[rows], true[rows])[0, 1]) for rows in topics]


def test_people_agree_more_on_a_document_after_normalising(crowd):
    before, after = (
        np.nanvar(np.log(judgments.slots(10).panel().values), axis=1).mean() for judgments in (crowd, normalise(crowd))
    )
    assert after < 0.7 * before


def test_all_but_the_values_and_scales_stays_and_the_input_is_untouched(crowd):
    recorded = [name for name in crowd.OPTIONAL if getattr(crowd, name) is not None]
    before = {name: getattr(crowd, name).copy() for name in ("topic", "document", "assessor", "value", *recorded)}
    after = normalise(crowd)
    assert after.value is not crowd.value
    for name, column in before.items():
        assert (getattr(crowd, name) == column).all()
        assert name == "value" or (getattr(after, name) == column).all()
    assert {str(scale) for scale in after.scales} == {"magnitude normalised by geometric-mean"}
    assert (after.topics, after.documents, after.assessors) == (crowd.topics, crowd.documents, crowd.assessors)
    with pytest.raises(FrozenInstanceError):
        after.value = before["value"]


def test_the_same_input_gives_the_same_bits(crowd):
    assert normalise(crowd).value.tobytes() == normalise(crowd).value.tobytes()


def test_the_first_ten_responses_per_document_are_slots(crowd, checks):
    ten = normalise(crowd).slots(10).panel()
    assert not np.isnan(ten.values).any()  # redundancy 10: every document has ten, check documents have more
    high = {topic: pair[0] for topic, pair in checks.items()}
    row = [i for i in range(len(crowd)) if crowd.documents[crowd.document[i]] == high["q01"]]
    first = ten.pool.rows(ten.pool.topics.index("q01"))
    at = [ten.pool.documents[d] for d in ten.pool.document[first]].index(high["q01"])
    assert ten.values[first][at].tolist() == normalise(crowd).value[row[:10]].tolist()


# ---- what cannot be normalised

GOOD = (("t1", "H", "ann", "u1", 8.0), ("t1", "N", "ann", "u1", 2.0), ("t1", "H", "bob", "u2", 3.0))


def with_value(value):
    return judgments_of([*GOOD, ("t1", "a", "bob", "u2", 1.0)]).recode({1.0: value})


REFUSED = {
    "zero": (
        lambda: normalise(with_value(0.0)),
        InputError,
        "unit u2 of assessor bob, topic t1, document a: magnitude 0; a magnitude is above 0; leave out "
        "unjudged documents",
    ),
    "negative": (
        lambda: normalise(with_value(-1.0)),
        InputError,
        "unit u2 of assessor bob, topic t1, document a: magnitude -1; a magnitude is above 0; leave out "
        "unjudged documents",
    ),
    "no unit column": (
        lambda: normalise(Judgments.from_rows([("t1", "a", "ann", 2.5)])),
        ArgumentError,
        "judgments: there is no unit column; add one, or use by='assessor' if assessors judged a topic in one go",
    ),
    "a unit missing": (
        lambda: normalise(concatenate_judgments([judgments_of(GOOD), Judgments.from_rows([("t1", "a", "cid", 20.0)])])),
        InputError,
        "assessor cid, topic t1, document a: the unit is missing",
    ),
    "no check document in a unit": (
        lambda: normalise(judgments_of(GOOD), scheme="checks", checks=CHECKS),
        InputError,
        "unit u2 of assessor bob, topic t1: the check document N, N, is missing; correct checks, or leave out such "
        "units",
    ),
    "check documents in no unit": (
        lambda: normalise(judgments_of(GOOD), scheme="checks", checks={"t1": ("nowhere", "N")}),
        InputError,
        "unit u1 of assessor ann, topic t1: the check document H, nowhere, is missing (and 1 more); correct checks, "
        "or leave out such units",
    ),
    "no checks": (
        lambda: normalise(judgments_of(GOOD), scheme="checks"),
        ArgumentError,
        "checks: name the check documents, as {topic: (H, N)} or by gold judgments",
    ),
    "no checks for a topic": (
        lambda: normalise(judgments_of(GOOD), scheme="checks", checks={"t2": ("H", "N")}),
        ArgumentError,
        "checks: topic t1 has none; give {'t1': (H, N)}",
    ),
    "one check document twice": (
        lambda: normalise(judgments_of(GOOD), scheme="checks", checks={"t1": ("H", "H")}),
        ArgumentError,
        "checks: topic t1 has H as both H and N; give two documents",
    ),
    "checks for another scheme": (
        lambda: normalise(judgments_of(GOOD), checks=CHECKS),
        ArgumentError,
        "checks: scheme='geometric_mean' does not use them; omit them, or use scheme='checks'",
    ),
    "another scale": (
        lambda: normalise(judgments_of(GOOD).with_scales({"bob": "0-3"})),
        ScaleError,
        "assessor bob: scale 0-3; select the assessors who gave magnitudes",
    ),
    "no judgments": (
        lambda: normalise(Judgments.from_rows([])),
        ArgumentError,
        "judgments: there are none",
    ),
    "an unknown scheme": (
        lambda: normalise(judgments_of(GOOD), scheme="mean"),
        ArgumentError,
        "scheme='mean': choose one of geometric_mean, median, extremes, checks",
    ),
    "an unknown unit": (
        lambda: normalise(judgments_of(GOOD), by="topic"),
        ArgumentError,
        "by='topic': choose one of unit, assessor",
    ),
    "beyond double precision": (
        lambda: normalise(
            judgments_of(
                [("t1", d, "ann", "u1", v) for d, v in (("a", 1e-300), ("b", 1e300), ("c", 1e-300))]
                + [("t1", "a", "bob", "u2", 1e300)]
            )
        ),
        InputError,
        "unit u1 of assessor ann, topic t1: its magnitudes are too far from the others for double precision",
    ),
}


@pytest.mark.parametrize(("call", "error", "line"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_normalised_is_named_in_one_line(call, error, line):
    with pytest.raises(QrowdError) as caught:
        call()
    assert type(caught.value) is error
    assert str(caught.value) == line
