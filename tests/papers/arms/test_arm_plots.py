"""The picture that compares the arms of a study."""

import pytest

from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences
from qrowd.reports.plots.style import render
from qrowd_papers.arms.arm_plots import arms_figure, plot_arm_agreement, plot_arm_feedback, plot_arm_times
from qrowd_papers.arms.compared_arms import compare_arms

UNITS = {
    "arm": ["grades", "pairs", "pairs"],
    "status": ["completed"] * 3,
    "seconds": [30, 9, 10],
    "confidence": [4, 5, 3],
    "understanding": [2, 5, 5],
    "looked_up": [0, 1, 0],
}


@pytest.fixture
def report():
    grades = [("q", d, who, v, 5 + v) for who in ("ann", "bob") for v, d in enumerate("abc")]
    pairs = [("q", *pair, who, s) for who, s in (("cyd", 2), ("dan", 4)) for pair in ("ab", "bc", "ac")]
    return compare_arms(
        {
            "grades": Judgments.from_frame(
                dict(zip(("topic", "document", "assessor", "value", "seconds"), zip(*grades, strict=True), strict=True))
            ),
            "pairs": Preferences.from_frame(
                dict(zip(("topic", "preferred", "other", "assessor", "seconds"), zip(*pairs, strict=True), strict=True))
            ),
        },
        UNITS,
    )


def names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def test_each_arm_has_a_row_with_its_agreement(report):
    ax = plot_arm_agreement(report.agreement)
    assert names(ax) == ["grades", "pairs"]
    assert [line.get_xdata()[0] for line in ax.lines] == [1, 1]
    assert [line.get_markerfacecolor() == "none" for line in ax.lines] == [True, False]


def test_times_are_shown_for_each_assessor_for_all_and_at_first_sight(report):
    ax = plot_arm_times(report.times)
    ticks, median, first = ax.lines[3:]
    assert sorted(x for x in ticks.get_xdata() if x == x) == [2, 4]
    assert (median.get_xdata()[0], first.get_xdata()[0]) == (3, 3)


def test_feedback_stands_on_a_scale_from_1_to_5(report):
    ax = plot_arm_feedback(report.feedback)
    assert [line.get_xdata()[0] for line in ax.lines] == [4, 4, 2, 5]
    assert ax.get_xlim() == (0.8, 5.2)


def test_a_panel_without_data_is_left_out_and_the_picture_is_the_same_each_time(report):
    assert arms_figure(report).panels == (1, 3)
    without = compare_arms(
        {
            "a": Preferences.from_rows([("q", "a", "b", w) for w in "xy"]),
            "b": Preferences.from_rows([("q", "a", "b", w) for w in "xy"]),
        }
    )
    assert arms_figure(without).panels == (1, 1)
    assert render(arms_figure(report), "svg") == render(arms_figure(report), "svg")
