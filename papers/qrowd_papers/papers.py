"""The papers by name: the page of each, and its figures."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from qrowd import files
from qrowd.errors import ArgumentError
from qrowd.reports.document import Document
from qrowd.reports.plots.style import FORMATS, Figure, render
from qrowd_papers.tables import write_tables as write_tables

Told = Callable[[str, int, int], None]

# The module and the function of each page, and of its figures; these begin with a word that may be shorter.
PAGES = {
    "magnitude": ("magnitude.claims", "magnitude_page"),
    "agreement": ("agreement.claims", "agreement_page"),
    "predicted-relevance": ("predicted_relevance.claims", "predicted_relevance_page"),
    "aware": ("aware.claims", "aware_page"),
    "aware-weights": ("aware_weights", "aware_weights_page"),
    "preferences": ("preferences.study", "preferences_page"),
    "coverage": ("coverage", "coverage_page"),
    "advice": ("advice", "advice_page"),
    "annotator-test": ("annotator_errors", "annotator_errors_page"),
    "skewed-grades": ("skewed_grades", "skewed_grades_page"),
    "topic-intervals": ("topic_intervals", "topic_intervals_page"),
    "assessor-bias": ("assessor_bias", "assessor_bias_page"),
    "true-scores": ("true_scores", "true_scores_page"),
    "evaluated-ranks": ("evaluated_ranks", "evaluated_ranks_page"),
}
FIGURES = {
    "magnitude": ("magnitude.figures", "magnitude_figures"),
    "agreement": ("agreement.figures", "agreement_figures"),
    "predicted-relevance": ("predicted_relevance.figures", "predicted_relevance_figures"),
    "aware": ("aware.figures", "aware_figures"),
    "preferences": ("preferences.figures", "preferences_figures"),
}
# Pages that read no data.
SIMULATED = ("coverage", "advice", "annotator-test", "skewed-grades", "topic-intervals", "assessor-bias", "true-scores")


def check(name: str, *, figures: bool = False, format: str = "svg") -> None:
    """Refuse a paper or a format that does not exist, before any work is done.

    Raises
    ------
    ArgumentError
        There is no such study, it has no figures, or pictures cannot be written so.
    """
    if name not in PAGES:
        raise ArgumentError(f"study {name!r}: choose one of {', '.join(PAGES)}")
    if figures and name not in FIGURES:
        raise ArgumentError(f"study {name!r}: it has no figures; {', '.join(FIGURES)} have")
    if format not in FORMATS:
        raise ArgumentError(f"format={format!r}: a picture is written as {', '.join(FORMATS)}")


def page(name: str, data: str | None = None, *, quick: bool = False, rng: int = 1, progress: Told | None = None,
         **further: Any) -> Document:  # fmt: skip
    """A paper's page, recomputed.

    data : the folder of the real panels; without it a simulated one alone. further : what only this page takes.

    Raises
    ------
    ArgumentError
        There is no such paper.
    """
    check(name)
    make = _function(*PAGES[name])
    given = () if name in SIMULATED else (data,)
    made: Document = make(*given, quick=quick, rng=rng, progress=progress, **further)
    return made


def figures(
    paper: str, data: str | None = None, *, quick: bool = False, rng: int = 1, progress: Told | None = None
) -> tuple[Figure, ...]:
    """All figures of a paper.

    Raises
    ------
    ArgumentError
        There is no such paper, or it has none.
    """
    check(paper, figures=True)
    made: tuple[Figure, ...] = _function(*FIGURES[paper])(data, quick=quick, rng=rng, progress=progress)
    return made


def figure(paper: str, name: str, data: str | None = None, *, quick: bool = False, rng: int = 1) -> Figure:
    """One figure of a paper, such as "magnitude-5".

    Raises
    ------
    ArgumentError
        The paper has no such figure.
    """
    by_name = {one.name: one for one in figures(paper, data, quick=quick, rng=rng)}
    if name not in by_name:
        raise ArgumentError(f"figure {name!r}: choose one of {', '.join(by_name)}")
    return by_name[name]


def write_figures(
    paper: str, data: str | None, folder: str, *, format: str = "svg", quick: bool = False, rng: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> int:  # fmt: skip
    """Write every figure of a paper into a folder, each with its data as CSV beside it; how many."""
    results = figures(paper, data, quick=quick, rng=rng)
    Path(folder).mkdir(parents=True, exist_ok=True)
    for done, one in enumerate(results, start=1):
        files.write_whole(Path(folder) / f"{one.name}.{format}", render(one, format))
        files.write_whole(Path(folder) / f"{one.name}.csv", one.frame().to_csv(index=False, lineterminator="\n"))
        if progress is not None:
            progress(done, len(results))
    return len(results)


def _function(module: str, name: str) -> Any:
    return getattr(import_module(f"qrowd_papers.{module}"), name)
