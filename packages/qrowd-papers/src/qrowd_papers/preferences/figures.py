"""The figures of Here or There, from a simulated study of its size or with the real preferences of 2021.

Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd import files
from qrowd.errors import InputError
from qrowd.model.chance import Chance, Rng, seed_of
from qrowd.reports.plots.style import Figure
from qrowd_papers.frames import frame_of, stacked
from qrowd_papers.preferences import plots as draw
from qrowd_papers.preferences.claims import (
    MEASURE_PAIRS,
    Study,
    beside,
    measure_scores,
    simulated_study,
)
from qrowd_papers.preferences.replays import Curves, judgments_needed, real_topics, simulate_topic
from qrowd_papers.preferences.study import CANDIDATES, CONDITIONS, ENGINES

if TYPE_CHECKING:
    from pandas import DataFrame

SHOWN = tuple(condition for condition in CONDITIONS if condition.name != "kept, Bad, stop")[:6]
"""Figure 2's conditions, and random and settled order beside them."""


def preferences_figures(
    data: str | None = None,
    *,
    quick: bool = False,
    n_topics: int = 200,
    rng: Rng = 1,
    progress: Callable[[str, int, int], None] | None = None,
) -> tuple[Figure, ...]:
    """preferences-2, and preferences-measures for Table 5.

    data : folder that holds dl21, whose preferences then give a second panel of Figure 2. quick, n_topics : of
    simulated topics, 20 or this many. progress : called with (what is done, steps done, steps in all).
    """
    seed = seed_of(rng)
    chance = Chance.of(seed)
    n = 20 if quick else n_topics
    steps = 2 + (data is not None)
    topics = [
        simulate_topic(n_systems=ENGINES, n_candidates=CANDIDATES, rng=chance.stream("topics", i)) for i in range(n)
    ]
    curves = {"simulated": judgments_needed(topics, SHOWN, rng=seed)}
    if progress:
        progress("Figure 2, simulated", 1, steps)
    if data is not None:
        curves["TREC 2021, GPT-4o"] = _real(data, seed)
        if progress:
            progress("Figure 2, dl21", 2, steps)
    study = simulated_study(rng=chance.stream("study"))
    made = (_needed(curves, n), _measures(study))
    if progress:
        progress("tables", steps, steps)
    return made


def _real(data: str, seed: Any) -> Curves:
    folder = Path(data) / "dl21"
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder; --data wants one that holds dl21")
    runs = files.read_runs([str(folder / "runs")])
    judgments = files.read_preferences([str(folder / "preferences")]).select(assessors=["gpt4o"])
    some = runs.systems[:: -(-len(runs.systems) // ENGINES)][:ENGINES]
    return judgments_needed(real_topics(judgments, runs, systems=some, depth=10, rng=seed), SHOWN, rng=seed)


def _needed(curves: Mapping[str, Curves], n: int) -> Figure:
    def drawn(axes: Any) -> None:
        panels = np.atleast_1d(axes)
        for ax, (name, curve) in zip(panels, curves.items(), strict=True):
            draw.plot_judgments_needed(curve, [condition.name for condition in SHOWN], ax=ax)
            legend = ax.get_legend()
            if len(panels) > 1:
                ax.set_title(name)
                legend.remove()
        if len(panels) > 1:
            lines = panels[0].get_legend_handles_labels()
            panels[0].figure.legend(*lines, loc="outside upper left", ncols=3)

    return Figure(
        "preferences-2",
        "Judgments that a topic takes, by its number of documents, in several orders of asking; marks grow with the "
        f"number of topics. Simulated: {n:,} topics of {ENGINES} engines' first five.",
        drawn,
        lambda: stacked({name: curve.to_frame() for name, curve in curves.items()}, "panel"),
        (1, len(curves)),
        (5.2 if len(curves) == 1 else 9.4, 4.0),
    )


def _measures(study: Study) -> Figure:
    scores = measure_scores(study.runs, study.graded)

    def drawn(axes: Any) -> None:
        for ax, (first, second) in zip(axes.ravel(), MEASURE_PAIRS, strict=True):
            draw.plot_measures_beside(scores[first], scores[second], names=(first, second), ax=ax)

    def frame() -> DataFrame:
        rows = [
            (first, second, pearson, agreement, *beside(scores[first], scores[second]))
            for (first, second), (pearson, agreement) in MEASURE_PAIRS.items()
        ]
        columns = ["first", "second", "printed_r", "printed_agreement", "r", "agreement"]
        return frame_of(rows, columns)

    return Figure(
        "preferences-measures",
        "Measures by grades and by the preferences that these imply, a dot per assessor, query and engine; simulated "
        "study of the paper's size (Table 5).",
        drawn,
        frame,
        (2, 3),
        (8.4, 5.0),
    )
