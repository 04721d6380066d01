"""The papers by name: the page of each, and its figures."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from qrowd.errors import ArgumentError
from qrowd.executors import AnyExecutor
from qrowd.model.labels import closest
from qrowd.reports.document import Document
from qrowd.reports.plots.style import Figure
from qrowd_papers.simulations import Progress

# {study: (the module with its page, what it is about)}; the functions of the page and the figures are named after it.
PAGES = {
    "magnitude": ("magnitude.claims", "Magnitude estimation: distribution, units, agreement, gains and rankings."),
    "agreement": ("agreement.claims", "Agreement of assessors by topic, and measures that use it."),
    "predicted-relevance": (
        "predicted_relevance.claims",
        "Probability that a user finds relevant what an assessor graded.",
    ),
    "aware": ("aware.claims", "AWARE: assessors weighted by their distance from random ones."),
    "aware-weights": ("aware_weights", "AWARE with weights and with equal weights."),
    "preferences": (
        "preferences.study",
        "Preference judgments: agreement, transitivity, and how few answers are enough.",
    ),
    "coverage": ("coverage", "Coverage of the intervals of differences and of ranks."),
    "advice": ("advice", "Prediction of another panel, advice and power, in simulations."),
    "annotator-test": ("annotator_test", "Error of the annotator test if a model fails on whole topics."),
    "skewed-grades": ("skewed_grades", "Aggregation methods where some grades are rare."),
    "topic-intervals": ("topic_intervals", "Intervals of alpha and of p(R|i): drawing topics or documents."),
    "assessor-bias": ("assessor_bias", "Bias of a model assessor towards a group of systems."),
    "prompt-panels": ("prompt_panels", "Disagreement of 27 prompts of three models, and what they are worth."),
    "next-judgments": ("next_judgments", "Replays of `qrowd next` on real panels, beside other designs."),
}
FIGURES = ("magnitude", "agreement", "predicted-relevance", "aware", "preferences")
# Pages that workers of an executor share.
SHARED = ("aware", "coverage", "advice", "skewed-grades", "next-judgments")
# Pages that read no data.
SIMULATED = ("coverage", "advice", "annotator-test", "skewed-grades", "topic-intervals", "assessor-bias")


def check(name: str, *, figures: bool = False) -> None:
    """Refuse a study or figures that do not exist, before any work is done.

    Raises
    ------
    ArgumentError
        There is no such study, or it has no figures.
    """
    if name not in PAGES:
        raise ArgumentError(f"study {name!r}: {closest(name, tuple(PAGES), 'study')}")
    if figures and name not in FIGURES:
        raise ArgumentError(f"study {name!r}: it has no figures; {', '.join(FIGURES)} have")


def page(
    name: str, data: str | None = None, *, quick: bool = False, rng: int = 1, executor: AnyExecutor = None,
    progress: Progress | None = None, **further: Any,
) -> Document:  # fmt: skip
    """A paper's page, recomputed.

    data : the folder of the real panels; without it a simulated one alone. executor : whose workers compute parts of
        the page, for those of `SHARED`. further : what only this page takes.

    Raises
    ------
    ArgumentError
        There is no such paper, or it is computed in one process.
    """
    check(name)
    if executor is not None:
        if name not in SHARED:
            raise ArgumentError(f"study {name!r}: it is computed in one process; {', '.join(SHARED)} can use several")
        further["executor"] = executor
    where = () if name in SIMULATED else (data,)
    make = _function(PAGES[name][0], f"{name}-page")
    document: Document = make(*where, quick=quick, rng=rng, progress=progress, **further)
    return document


def figures(
    paper: str, data: str | None = None, *, quick: bool = False, rng: int = 1, progress: Progress | None = None
) -> tuple[Figure, ...]:
    """All figures of a paper.

    Raises
    ------
    ArgumentError
        There is no such paper, or it has none.
    """
    check(paper, figures=True)
    make = _function(f"{paper}.figures", f"{paper}-figures")
    made: tuple[Figure, ...] = make(data, quick=quick, rng=rng, progress=progress)
    return made


def _function(module: str, name: str) -> Any:
    return getattr(import_module(f"qrowd_papers.{module}".replace("-", "_")), name.replace("-", "_"))
