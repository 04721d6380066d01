"""The papers by name: the page of each, and its figures."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from qrowd.errors import ArgumentError
from qrowd.executors import AnyExecutor
from qrowd.reports.document import Document
from qrowd.reports.plots.style import Figure
from qrowd_papers.simulations import Progress

# The module with the page of each, and the one with its figures; the function is named after the study.
PAGES = {
    "magnitude": "magnitude.claims",
    "agreement": "agreement.claims",
    "predicted-relevance": "predicted_relevance.claims",
    "aware": "aware.claims",
    "aware-weights": "aware_weights",
    "preferences": "preferences.study",
    "coverage": "coverage",
    "advice": "advice",
    "annotator-test": "annotator_test",
    "skewed-grades": "skewed_grades",
    "topic-intervals": "topic_intervals",
    "assessor-bias": "assessor_bias",
    "prompt-panels": "prompt_panels",
    "next-judgments": "next_judgments",
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
        raise ArgumentError(f"study {name!r}: choose one of {', '.join(PAGES)}")
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
    make = _function(PAGES[name], f"{name}-page")
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
