"""Agreement of preferences: against loops, against printed tables, and on real preferences."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles import preference_agreement as oracle
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.files import read_judgments, read_preferences
from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences, concatenate_preferences
from qrowd.preferences import (
    PreferenceTable,
    agreement_with_grades,
    from_grades,
    pairwise_preferences,
    preference_table,
)
from qrowd_papers.preferences.inferred_tables import agreement_difference, inferred_table, redistributed

DOCUMENTS = ("a", "b", "c", "d")
WHO = ("ann", "bob", "cy")


@st.composite
def panels(draw):
    """{assessor: ([(preferred, other, strength)], marked)}; marked documents are in no preference."""
    panel = {}
    for who in WHO[: draw(st.integers(2, 3))]:
        bad = draw(st.sets(st.sampled_from(DOCUMENTS), max_size=2))
        good = [d for d in DOCUMENTS if d not in bad]
        said = []
        for pair in oracle.all_pairs(good):
            if draw(st.booleans()):
                one, two = pair if draw(st.booleans()) else pair[::-1]
                said.append((one, two, draw(st.sampled_from([1, 2]))))
        panel[who] = (said, bad)
    return panel


def preferences_of(panel):
    rows = [("q", one, two, who, n) for who, (said, _) in panel.items() for one, two, n in said]
    return Preferences.from_rows(rows, bad=[("q", d, who) for who, (_, bad) in panel.items() for d in sorted(bad)])


def states_of(panel, strong=False):
    return {
        (one, two): [oracle.state(said, bad, one, two, strong) for said, bad in panel.values()]
        for one, two in oracle.all_pairs(DOCUMENTS)
    }


def as_counts(table):
    return {
        (one, two): table.counts[i, j]
        for i, one in enumerate(table.states)
        for j, two in enumerate(table.states)
        if table.counts[i, j]
    }


# ---- against the oracle


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(panels(), st.booleans())
def test_the_table_counts_every_two_assessors_of_a_pair_in_both_directions(panel, strong):
    wanted = oracle.table(states_of(panel, strong))
    assume(wanted)
    found = preference_table(preferences_of(panel), separate_strong=strong)
    assert as_counts(found) == wanted
    assert (found.counts == found.counts.T).all()
    known = found.total > 0
    assert found.probability[known].sum(axis=1) == pytest.approx(1)


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(panels())
def test_two_by_two_says_how_often_any_two_order_a_pair_alike(panel):
    states = states_of(panel)
    wanted = {
        (i, j): oracle.pairs_ordered_alike(states, i, j) for i in range(len(panel)) for j in range(len(panel)) if i != j
    }
    said = preferences_of(panel)
    assume(any(n for _, n in wanted.values()) and len(said.assessors) == len(panel))
    found = pairwise_preferences(said)
    place = [found.assessors.index(who) for who in panel]
    for (i, j), (alike, n) in wanted.items():
        assert found.n[place[i], place[j]] == n
        assert found.agreement[place[i], place[j]] == pytest.approx(alike / n if n else np.nan, nan_ok=True)
    total = sum(n for _, n in wanted.values())
    assert found.mean_agreement == pytest.approx(sum(alike for alike, _ in wanted.values()) / total)


grade_panels = st.dictionaries(
    st.sampled_from(DOCUMENTS), st.lists(st.integers(0, 2), min_size=2, max_size=2), min_size=2
)


@given(grade_panels, st.sampled_from([0.0, 0.5, 0.7, 1.0]))
def test_equal_grades_are_dealt_out_at_any_rate(panel, rate):
    rows = [("q", d, who, grade) for d, grades in panel.items() for who, grade in zip(WHO, grades, strict=False)]
    found = inferred_table(Judgments.from_rows(rows))
    states = {
        (one, two): [oracle.grade_state(x, y, 0) for x, y in zip(panel[one], panel[two], strict=True)]
        for one, two in oracle.all_pairs(panel)
    }
    assert as_counts(found) == oracle.table(states)
    dealt = redistributed(found, rate=rate)
    wanted = {key: n for key, n in oracle.dealt_out(oracle.table(states), rate).items() if n}
    assert as_counts(dealt) == pytest.approx(wanted)
    assert dealt.counts.sum() == pytest.approx(found.counts.sum())


def test_a_coin_for_every_tie_comes_to_the_redistributed_table_in_the_long_run():
    random = np.random.default_rng(1)
    rows = [("q", f"d{i}", who, int(random.integers(3))) for i in range(30) for who in ("ann", "bob")]
    judgments = Judgments.from_rows(rows)
    wanted = redistributed(inferred_table(judgments)).agreement
    said = from_grades(judgments)
    ties = [(one[1], two[1], one[2]) for one, two in combinations(rows, 2) if one[2:] == two[2:] and one[3] > 0]

    def with_coins():
        coins = random.random(len(ties)) < 0.5
        tossed = [("q", i, j, who) if coin else ("q", j, i, who) for (i, j, who), coin in zip(ties, coins, strict=True)]
        return Preferences.from_rows([*(row[:4] for row in said.to_rows()), *tossed], bad=said.bad)

    drawn = [preference_table(with_coins()).agreement for _ in range(60)]
    assert np.mean(drawn) == pytest.approx(wanted, abs=4 * np.std(drawn) / np.sqrt(60))


# ---- printed tables


TABLE_2A = ([[0.752, 0.033, 0.215], [0.208, 0.567, 0.225], [0.201, 0.034, 0.765]], [2580, 413, 2757])
TABLE_2B = ([[0.657, 0.051, 0.292], [0.297, 0.380, 0.323], [0.278, 0.053, 0.669]], [2530, 437, 2654])
TABLE_3 = (
    [
        [0.247, 0.621, 0.000, 0.132, 0.000],
        [0.059, 0.661, 0.043, 0.221, 0.015],
        [0.000, 0.244, 0.453, 0.300, 0.002],
        [0.012, 0.212, 0.051, 0.670, 0.055],
        [0.000, 0.180, 0.005, 0.680, 0.134],
    ],
    [219, 2288, 406, 2389, 194],
)


def printed(table, states):
    rows, totals = table
    return PreferenceTable(states, np.array(rows) * np.array(totals)[:, None], int(sum(totals)) // 2)


def test_chi_square_of_the_papers_table_2_comes_out_as_printed():
    # Carterette et al. (2008), Table 2 and section 3.2: 143, counting every two assessors in both directions.
    actual, inferred = (printed(table, ("A < B", "A, B bad", "A > B")) for table in (TABLE_2A, TABLE_2B))
    once = agreement_difference(actual, inferred)
    assert 2 * once.chi_square == pytest.approx(143, rel=0.01)
    assert once.p < 1e-15
    assert once.n == pytest.approx((2875, 2810.5))


def test_definite_preferences_pooled_agree_slightly_less_than_table_2a_and_more_than_table_2b():
    # Carterette et al. (2008), section 3.2, on Table 3.
    states = ("A << B", "A < B", "A, B bad", "A > B", "A >> B")
    pooled = printed(TABLE_3, states).pooled()
    assert pooled.states == ("A < B", "A, B bad", "A > B")
    actual, inferred = (printed(table, pooled.states) for table in (TABLE_2A, TABLE_2B))
    assert inferred.agreement < pooled.agreement < actual.agreement
    assert printed(TABLE_3, states).agreement < pooled.agreement


# ---- beside grades


def test_preferences_agree_with_grades_by_how_far_these_lie_apart():
    said = Preferences.from_rows([("q", "a", "b", "ann"), ("q", "c", "a", "ann"), ("q", "a", "d", "ann")])
    grades = Judgments.from_rows(
        [("q", "a", "nist", 2), ("q", "b", "nist", 1), ("q", "c", "nist", 1), ("q", "d", "nist", 2)]
    )
    found = agreement_with_grades(said, grades)
    frame = found.to_frame()
    assert frame["difference"].tolist() == [0, 1]
    assert frame["n_pairs"].tolist() == [1, 2]
    assert (found.agreement, found.tied) == (0.5, pytest.approx(1 / 3))


def test_preferences_inferred_from_grades_agree_with_these_grades():
    random = np.random.default_rng(5)
    grades = Judgments.from_rows([(t, f"d{i}", "ann", int(random.integers(4))) for t in "qu" for i in range(12)])
    found = agreement_with_grades(from_grades(grades), grades)
    assert (found.agreement, found.tied) == (1, 0)


# ---- real preferences


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("n_topics", "n_pairs", "agreement"), [(12, 310, 0.5355), pytest.param(57, 1308, 0.5917, marks=pytest.mark.nightly)]
)
def test_gpt4o_sides_with_the_crowd_little_and_with_nist_much(dl21, n_topics, n_pairs, agreement):
    crowd, gpt = (read_preferences(dl21 / "preferences" / f"{name}.txt.gz") for name in ("crowd", "gpt4o"))
    both = concatenate_preferences([crowd, gpt])
    both = both.select(topics=both.topics[:n_topics])
    table = preference_table(both)
    assert (table.n_pairs, round(table.agreement, 4)) == (n_pairs, agreement)
    frame = pairwise_preferences(both).to_frame()
    assert frame["n_pairs"].tolist() == [n_pairs]
    assert frame["agreement"].tolist() == pytest.approx([table.agreement])
    nist = read_judgments(dl21 / "qrels.nist.txt")
    crowds, gpts = agreement_with_grades(crowd, nist), agreement_with_grades(gpt, nist)
    assert (crowds.agreement, gpts.agreement) == pytest.approx((0.6573, 0.7400), abs=1e-4)
    by_gap = gpts.to_frame().set_index("difference")["agreement"]
    assert by_gap[1] < by_gap[2]
    assert crowds.tied > 0.9  # the crowd compared the best documents of each topic


# ---- bad input


def test_bad_input_gets_one_clear_line():
    said = Preferences.from_rows([("q", "a", "b", "ann"), ("q", "c", "d", "bob")])
    with pytest.raises(NoOverlapError, match="no two assessors judged a pair of documents in common"):
        preference_table(said)
    with pytest.raises(NoOverlapError, match="no two assessors ordered a pair"):
        pairwise_preferences(said)
    with pytest.raises(NoOverlapError, match="agreement needs at least two assessors"):
        pairwise_preferences(said.select(assessors="ann"))
    table = PreferenceTable(("A < B", "A = B", "A > B"), np.ones((3, 3)), 4)
    with pytest.raises(ArgumentError, match="rate=2: expected a share"):
        redistributed(table, rate=2)
    with pytest.raises(ArgumentError, match="take pooled"):
        redistributed(PreferenceTable(("A << B", "A = B"), np.ones((2, 2)), 4))
    with pytest.raises(NoOverlapError, match="check that topic and document ids match"):
        agreement_with_grades(said, Judgments.from_rows([("z", "a", "ann", 1)]))
