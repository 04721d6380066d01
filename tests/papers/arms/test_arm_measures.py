"""Arms of a study: times, agreement, feedback and use of context."""

from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, chi2_contingency, spearmanr

from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences
from qrowd.preferences import from_grades, preference_table
from qrowd_papers.arms.arm_measures import ArmUnits, arm_agreement, arm_feedback, context_use
from qrowd_papers.arms.arm_times import arm_times
from qrowd_papers.preferences.inferred_tables import agreement_difference, inferred_table, redistributed

ASSESSORS = [f"a{i}" for i in range(1, 7)]


def grades_frame(rng, topics=4, documents=5):
    """Two assessors per topic grade each document, in an order of their own."""
    rows = {name: [] for name in ("topic", "document", "assessor", "value", "order", "seconds")}
    for t in range(topics):
        for who in rng.choice(ASSESSORS, 2, replace=False):
            for order, d in enumerate(rng.permutation(documents)):
                values = (f"t{t}", f"d{d}", str(who), int(rng.integers(0, 5)), order, float(rng.gamma(2, 3)))
                for column, value in zip(rows.values(), values, strict=True):
                    column.append(value)
    return rows


def preference_frame(rng, topics=4, documents=5, strong=False):
    """Two assessors per topic compare each pair of documents."""
    rows = {name: [] for name in ("topic", "preferred", "other", "assessor", "strength", "order", "seconds")}
    pairs = [(i, j) for i in range(documents) for j in range(i)]
    for t in range(topics):
        for who in rng.choice(ASSESSORS, 2, replace=False):
            for order, p in enumerate(rng.permutation(len(pairs))):
                one, other = (f"d{d}" for d in rng.permutation(pairs[p]))
                strength = int(rng.integers(1, 3)) if strong else 1
                values = (f"t{t}", one, other, str(who), strength, order, float(rng.gamma(2, 1.5)))
                for column, value in zip(rows.values(), values, strict=True):
                    column.append(value)
    return rows


def three_arms(seed=1):
    rng = np.random.default_rng(seed)
    return {
        "absolute": grades_frame(rng),
        "preference": preference_frame(rng),
        "definite": preference_frame(rng, strong=True),
    }


def read(frames):
    return {
        name: Judgments.from_frame(frame) if "document" in frame else Preferences.from_frame(frame)
        for name, frame in frames.items()
    }


def slow_table_4(frames):
    """{(assessor, arm): (n, median, median at first sight, median later)} in plain loops; "all" for either."""
    cells = {}
    for arm, frame in frames.items():
        seen = set()
        rows = sorted(range(len(frame["topic"])), key=lambda row: frame["order"][row])
        for row in rows:
            who, topic = frame["assessor"][row], frame["topic"][row]
            names = [frame[column][row] for column in ("document", "preferred", "other") if column in frame]
            new = any((who, topic, name) not in seen for name in names)
            seen |= {(who, topic, name) for name in names}
            for key in [(who, arm), (who, "all"), ("all", arm), ("all", "all")]:
                cells.setdefault(key, []).append((frame["seconds"][row], new))

    def middle(values):
        return median(values) if values else np.nan

    return {
        key: (
            len(values),
            middle([s for s, _ in values]),
            middle([s for s, new in values if new]),
            middle([s for s, new in values if not new]),
        )
        for key, values in cells.items()
    }


# ---- times


@given(st.integers(0, 10_000))
def test_table_4_equals_a_slow_computation_row_by_row(seed):
    frames = three_arms(seed)
    found = arm_times(read(frames)).to_frame()
    slow = slow_table_4(frames)
    assert len(found) == (found.assessor.nunique()) * 4
    for row in found.itertuples():
        expected = slow.get((row.assessor, row.arm), (0, np.nan, np.nan, np.nan))
        ours = (row.n, row.median, row.first_sight, row.later)
        assert ours == pytest.approx(expected, nan_ok=True)


def test_each_grade_is_given_at_first_sight_so_both_medians_are_equal():
    found = arm_times(read(three_arms())).to_frame()
    rows = found[(found.arm == "absolute") & (found.n > 0)]
    assert rows["median"].tolist() == rows["first_sight"].tolist()


def test_an_arm_without_times_is_named():
    arms = {"absolute": Judgments.from_rows([("q", "d", "ann", 1)])}
    with pytest.raises(ArgumentError, match=r"^arm absolute: the judgments carry no seconds"):
        arm_times(arms)


# ---- agreement


def test_agreement_of_an_arm_is_that_of_its_table_and_grades_become_preferences():
    arms = read(three_arms())
    found = arm_agreement(arms)
    assert found.inferred == ("absolute",)
    assert found.tables["absolute"].agreement == redistributed(inferred_table(arms["absolute"])).agreement
    assert found.tables["definite"].agreement == preference_table(arms["definite"]).agreement
    frame = found.to_frame(what="differences")
    assert list(zip(frame["first"], frame["second"], strict=True)) == [
        ("absolute", "preference"),
        ("absolute", "definite"),
        ("preference", "definite"),
    ]
    test = agreement_difference(found.tables["absolute"], found.tables["preference"])
    assert (frame.chi_square[0], frame.p[0]) == (test.chi_square, test.p)


def test_grades_and_the_preferences_they_imply_agree_alike_where_no_grades_are_equal():
    rng = np.random.default_rng(3)
    rows = [
        (f"t{t}", f"d{d}", who, int(g) + 1) for t in range(3) for who in "ab" for d, g in enumerate(rng.permutation(5))
    ]
    judgments = Judgments.from_rows(rows)
    found = arm_agreement({"grades": judgments, "implied": from_grades(judgments)}, bad=None)
    assert found.tables["grades"].agreement == pytest.approx(found.tables["implied"].agreement)
    assert found.to_frame(what="differences").chi_square[0] == pytest.approx(0, abs=1e-9)


def test_without_two_assessors_of_a_pair_there_is_no_agreement():
    with pytest.raises(NoOverlapError, match="no two assessors of an arm"):
        arm_agreement({"alone": Preferences.from_rows([("q", "a", "b", "ann")])})


# ---- feedback and context


def units_frame(seed=1, n=60):
    rng = np.random.default_rng(seed)
    return {
        "arm": rng.choice(["absolute", "preference", "definite"], n).tolist(),
        "status": ["completed"] * n,
        "seconds": rng.gamma(3, 40, n).tolist(),
        "confidence": [None if rng.random() < 0.1 else int(rng.integers(1, 6)) for _ in range(n)],
        "understanding": rng.integers(1, 6, n).tolist(),
        "looked_up": rng.poisson(0.3, n).tolist(),
    }


def test_feedback_equals_medians_and_rank_correlations_taken_by_hand():
    frame = units_frame()
    found = arm_feedback(ArmUnits.from_frame(frame)).to_frame()
    assert len(found) == 2 * 4
    for row in found.itertuples():
        rows = [
            (frame[row.question][i], frame["seconds"][i])
            for i in range(60)
            if row.arm in ("all", frame["arm"][i]) and frame[row.question][i] is not None
        ]
        answers, seconds = zip(*rows, strict=True)
        expected = spearmanr(answers, seconds)
        assert (row.n, row.median) == (len(rows), median(answers))
        assert (row.spearman, row.p) == pytest.approx((expected.statistic, expected.pvalue))
        assert row.low < row.spearman < row.high


@pytest.mark.nightly
@pytest.mark.parametrize("n", [60, pytest.param(300, marks=pytest.mark.nightly)])
def test_the_interval_of_a_correlation_covers_zero_in_95_of_100_units_drawn_at_random(n):
    covered = 0
    for seed in range(n):
        found = arm_feedback(ArmUnits.from_frame(units_frame(seed))).to_frame()
        row = found[(found.arm == "all") & (found.question == "understanding")].iloc[0]
        covered += row.low <= 0 <= row.high
    assert binom.ppf(0.01, n, 0.95) <= covered <= binom.ppf(0.99, n, 0.95)


def test_use_of_context_is_tested_for_independence_of_the_arm():
    frame = units_frame()
    found = context_use(ArmUnits.from_frame(frame))
    table = [
        [
            sum(1 for i in range(60) if frame["arm"][i] == arm and (frame["looked_up"][i] > 0) == used)
            for used in (True, False)
        ]
        for arm in found.arms
    ]
    expected = chi2_contingency(table, correction=False)
    assert (found.chi_square, found.df, found.p) == pytest.approx((expected.statistic, 2, expected.pvalue))
    assert found.with_context.tolist() == [row[0] for row in table]
    assert found.times.sum() == sum(frame["looked_up"])


def test_units_that_were_not_completed_are_left_out_and_a_missing_column_is_named():
    frame = units_frame(n=4)
    frame["status"] = ["completed", "expired", "failed", "completed"]
    assert len(ArmUnits.from_frame(frame).arm) == 2
    del frame["looked_up"]
    with pytest.raises(ArgumentError, match="the column 'looked_up' is missing"):
        ArmUnits.from_frame(frame)


def test_nobody_looking_leaves_the_test_undefined():
    frame = units_frame()
    frame["looked_up"] = [0] * 60
    assert np.isnan(context_use(ArmUnits.from_frame(frame)).p)


def test_time_is_split_by_first_sight_of_a_document():
    said = Preferences.from_frame(
        {
            "topic": ["q", "q", "q", "u", "q"],
            "preferred": ["a", "a", "b", "a", "a"],
            "other": ["b", "c", "c", "b", "b"],
            "assessor": ["ann", "ann", "ann", "ann", "bob"],
            "seconds": [8, 6, 2, 10, 4],
            "order": [1, 2, 3, 4, 5],
        }
    )
    times = arm_times({"pairs": said})
    assert (times.n[:, 0].tolist(), times.n_first[:, 0].tolist()) == ([4, 1, 5], [3, 1, 4])
    assert (times.median[:, 0].tolist(), times.first_sight[:2, 0].tolist()) == ([7, 4, 6], [8, 4])
    assert times.later[:2, 0].tolist() == pytest.approx([2, np.nan], nan_ok=True)


def test_order_says_what_was_seen_before_not_the_place():
    rows = {"topic": ["q"] * 2, "preferred": ["a", "a"], "other": ["b", "b"], "seconds": [2, 9], "order": [2, 1]}
    times = arm_times({"pairs": Preferences.from_frame(rows, assessor="ann")})
    assert (times.first_sight[0, 0], times.later[0, 0]) == (9, 2)
