"""Plots fit their canvas, however long the names of systems and assessors are."""

import warnings
from dataclasses import replace

import pytest

from qrowd.reports.plots.registry import PLOTS, Options
from qrowd.reports.plots.style import drawn, styled
from qrowd.simulation import Lenient, simulate_judgments, simulate_pool, simulate_runs

NAMES = tuple(f"colbert_rankgpt4o_msmarco-v2_passage_full_rerank{k:03d}_2020-judged" for k in range(16))
PEOPLE = {f"umbrela-llama-3.1-{k}b-instruct-graded-prompt-with-a-long-name": Lenient(noise=k / 9) for k in range(5)}
TRUTH = simulate_pool(8, 20, rng=1)
RUNS = replace(simulate_runs(TRUTH, len(NAMES), rng=1), systems=NAMES)
JUDGMENTS = simulate_judgments(TRUTH, PEOPLE, rng=1)
METHODS = ("uniform", "majority", "sgl_rmse_msd(n_resamples=5)")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name, marks=[pytest.mark.nightly] * (name in ("fragility", "components", "differences", "coverage"))
        )
        for name in PLOTS
    ],
)
def test_everything_drawn_is_on_the_canvas_and_the_axes_keep_their_room(name):
    with warnings.catch_warnings(), styled():
        warnings.simplefilter("error")
        canvas = drawn(PLOTS[name](RUNS, JUDGMENTS, Options(n_resamples=20, methods=METHODS)))
        canvas.draw_without_rendering()
        ends = canvas.get_tightbbox()
    width, height = canvas.get_size_inches()
    assert -0.01 <= ends.x0 < ends.x1 <= width + 0.01
    assert -0.01 <= ends.y0 < ends.y1 <= height + 0.01
    inside = canvas.axes[0].get_window_extent()
    assert inside.width >= 1.2 * canvas.dpi
    assert inside.height >= 0.5 * canvas.dpi


@pytest.mark.parametrize("name", ["systems", "ranks"])
def test_rows_are_named_so_that_they_stay_different(name):
    labels = [text.get_text() for text in drawn(PLOTS[name](RUNS, JUDGMENTS)).axes[0].get_yticklabels()]
    assert len(set(labels)) == len(NAMES)
    assert all(len(label) <= 44 for label in labels)


def test_short_names_leave_out_what_all_systems_share():
    figure = PLOTS["ranks"](RUNS, JUDGMENTS, Options(short_names=True, top=3, n_resamples=20))
    labels = [text.get_text() for text in drawn(figure).axes[0].get_yticklabels()]
    assert set(labels) <= {f"rerank{k:03d}" for k in range(16)}
