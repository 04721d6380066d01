"""The figures of Here or There, from a simulated study of its size or with the real preferences of 2021.

Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd import files
from qrowd.agreement.pairwise import label_table
from qrowd.errors import InputError
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Chance, Rng, seed_of
from qrowd.preferences import preference_table
from qrowd.reports.plots.style import Figure
from qrowd_papers.arms.compared_arms import ArmsReport
from qrowd_papers.frames import frame_of, stacked
from qrowd_papers.preferences import plots as draw
from qrowd_papers.preferences.arms import ASSESSORS, three_arms
from qrowd_papers.preferences.claims import (
    LABELS,
    MEASURE_PAIRS,
    SECONDS,
    TABLES,
    Study,
    beside,
    measure_scores,
    simulated_study,
)
from qrowd_papers.preferences.inferred_tables import inferred_table, redistributed
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
    """preferences-2, and preferences-tables, -ties, -times and -measures for Tables 1 to 5.

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
    made = (_needed(curves, n), _tables(study), _ties(study), _times(three_arms(study, rng=seed)), _measures(study))
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


def _tables(study: Study) -> Figure:
    titles = {"1": "grades", "2(a)": "preferences", "2(b)": "inferred from grades", "3": "with strong ones"}
    graded = label_table(study.graded)
    ours: dict[str, tuple[Sequence[str], Floats, Floats]] = {
        "1": ([LABELS[round(value)] for value in graded.values], graded.probability, graded.total)
    }
    made = {
        "2(a)": preference_table(study.preferred),
        "2(b)": redistributed(inferred_table(study.graded)),
        "3": preference_table(study.strong, separate_strong=True),
    }
    ours |= {name: (table.states, table.probability, table.total) for name, table in made.items()}
    paper: dict[str, tuple[Sequence[str], Floats, Floats]] = {
        name: (states, np.array(rows), np.array(total, float)) for name, (states, rows, total) in TABLES.items()
    }
    sources = {"printed": paper, "simulated": ours}

    def drawn(axes: Any) -> None:
        for row, (source, tables) in zip(axes, sources.items(), strict=True):
            for ax, (name, title) in zip(row, titles.items(), strict=True):
                states, probability, total = tables[name]
                draw.plot_what_others_say(states, probability, total=total, ax=ax)
                ax.set_title(f"{source}, {name}: {title}")
                if name != "1":
                    ax.set_ylabel("")

    def frame() -> DataFrame:
        parts = [
            (source, name, one, other, probability[i, j])
            for source, tables in sources.items()
            for name, (states, probability, _) in tables.items()
            for i, one in enumerate(states)
            for j, other in enumerate(states)
        ]
        return frame_of(parts, ["source", "table", "one_says", "other_says", "share"])

    return Figure(
        "preferences-tables",
        "Tables 1, 2 and 3, printed and from a simulated study of the paper's size: what one assessor says of a "
        "document, or of two, given what another does.",
        drawn,
        frame,
        (2, 4),
        (13.4, 5.8),
    )


def _ties(study: Study) -> Figure:
    preferred, inferred = preference_table(study.preferred), inferred_table(study.graded)

    def frame() -> DataFrame:
        rates = np.linspace(0, 1, 41).tolist()
        rows = ((rate, redistributed(inferred, rate=rate).agreement, preferred.agreement) for rate in rates)
        return frame_of(rows, ["rate", "grades", "preferences"])

    return Figure(
        "preferences-ties",
        "Agreement on preferences, and on preferences inferred from grades by how often assessors agree where two "
        "grades are equal (section 3.2); simulated study of the paper's size.",
        lambda ax: draw.plot_tie_rates(preferred, inferred, ax=ax),
        frame,
    )


def _times(report: ArmsReport) -> Figure:
    assessors, times = [*ASSESSORS, "Overall"], report.times
    assert times is not None
    ours = {arm: times.median[:, times.arms.index(arm)].tolist() for arm in SECONDS}

    def drawn(axes: Any) -> None:
        for ax, medians, title in zip(axes, (ours, SECONDS), ("simulated", "printed"), strict=True):
            draw.plot_judging_times(medians, assessors, ax=ax)
            ax.set_title(title, pad=18)

    def frame() -> DataFrame:
        names = [*(f"{arm}_printed" for arm in SECONDS), *SECONDS]
        return frame_of(zip(assessors, *SECONDS.values(), *ours.values(), strict=True), ["assessor", *names])

    return Figure(
        "preferences-times",
        "Median seconds per judgment of six assessors by kind of judgment: from the judgments of a simulated study, "
        "whose paces are set near the printed medians, and as printed in Table 4.",
        drawn,
        frame,
        (1, 2),
        (9.0, 3.2),
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
