"""The picture of differences and of the changes of judgments that would reverse them."""

import numpy as np
import pytest

import qrowd
from qrowd.errors import ScaleError
from qrowd.model.judgments import Judgments
from qrowd.reports.plots.registry import PLOTS, Options
from qrowd.reports.plots.system_plots import plot_fragility
from qrowd.simulation import simulate_demo

RUNS, DEMO, _ = simulate_demo()
PANEL = DEMO.select(assessors=["ann", "bob", "sven"])


def groups(ax):
    """{label: points}"""
    return {line.get_label(): line.get_xydata() for line in ax.lines}


def test_every_pair_is_a_mark_that_says_whether_its_interval_includes_0():
    runs = RUNS.select(systems=RUNS.systems[::2])
    result = qrowd.fragility(runs, PANEL)
    ax = plot_fragility(result, runs.systems)
    apart = (result.low > 0) | (result.high < 0)
    points = np.column_stack([np.abs(result.difference), result.n_changes_high])
    np.testing.assert_array_equal(groups(ax)["interval excludes 0"], points[apart])
    np.testing.assert_array_equal(groups(ax)["95 % interval includes 0"], points[~apart])
    assert ax.get_yscale() == "log"
    assert len({line.get_marker() for line in ax.lines}) == 2  # nothing is shown by colour alone


def test_pairs_that_no_change_reverses_stand_above_all_others_and_equal_systems_are_left_out():
    runs = {
        "a": {"t": {"d": 1.0}},
        "b": {"t": {"unjudged": 1.0}},
        "c": {"t": {"e": 1.0}},
        "twin": {"t": {"unjudged": 1.0}},
    }
    result = qrowd.fragility(runs, {"t": {"d": 2, "e": 1}}, "DCG@1")
    marks = groups(plot_fragility(result, ["a", "c", "b", "twin"]))
    highest = result.n_changes_fixed[np.isfinite(result.n_changes_fixed)].max()
    never = marks.pop("no changes found that reverse it")
    assert len(never) == np.isinf(result.n_changes_fixed).sum()
    assert (never[:, 1] > highest).all()
    assert sum(map(len, marks.values())) == np.isfinite(result.n_changes_fixed).sum()
    assert np.isnan(result.n_changes_fixed).sum() == 1  # b and its twin


def test_the_caption_names_the_change_and_the_systems_behind_the_ranks():
    figure = PLOTS["fragility"](RUNS, PANEL, Options(top=3))
    assert "3 pairs of systems by nDCG@10" in figure.caption
    assert "moves one judgment by one grade, or between yes and no" in figure.caption
    assert figure.caption.endswith("Ranks: 1 rerank-large, 2 rerank-llm, 3 rerank-small.")
    expected = qrowd.fragility(RUNS, PANEL, systems=["rerank-large", "rerank-llm", "rerank-small"])
    assert figure.frame().equals(expected.to_frame())


def test_by_default_the_pairs_are_those_of_the_best_twelve_systems():
    runs = {f"s{i}": {t: {f"d{i}": 1.0} for t in "tu"} for i in range(14)}
    judgments = {who: {t: {f"d{i}": i for i in range(14)} for t in "tu"} for who in ("ann", "bob")}
    figure = PLOTS["fragility"](qrowd.Runs.from_dict(runs), qrowd.Judgments.from_dict(judgments), Options(("DCG@1",)))
    assert set(figure.frame()["first"]) | set(figure.frame()["second"]) == {f"s{i}" for i in range(2, 14)}


def test_without_whole_grades_a_change_is_what_another_assessor_gave():
    fractions = Judgments.from_rows(
        [
            ("t", d, a, v)
            for d, *values in (("d1", 0.2, 0.9), ("d2", 0.5, 0.4))
            for a, v in zip("xy", values, strict=True)
        ],
        scales={"*": "0..1"},
    )
    runs = qrowd.Runs.from_dict({"a": {"t": {"d1": 2, "d2": 1}}, "b": {"t": {"d2": 2, "d1": 1}}})
    figure = PLOTS["fragility"](runs, fractions, Options(measures=("DCG@1",)))
    assert "replaces one judgment by what another assessor gave" in figure.caption


def test_assessors_on_several_scales_are_refused_with_what_to_do():
    with pytest.raises(ScaleError, match="judge on different scales; rescale or recode them"):
        PLOTS["fragility"](RUNS, DEMO, Options())


def test_of_average_precision_the_upper_bounds_are_drawn_and_called_so():
    result = qrowd.fragility(RUNS, PANEL, "AP", systems=["rerank-large", "rerank-llm", "bm25"])
    marks = groups(plot_fragility(result, ["rerank-large", "rerank-llm", "bm25"]))
    assert sorted(y for points in marks.values() for y in points[:, 1]) == sorted(result.n_changes_high)
    figure = PLOTS["fragility"](RUNS, PANEL, Options(measures=("AP",), top=3))
    assert "the number is an upper bound" in figure.caption
