"""The predicted relevance paper's figures, redrawn from the panels at hand; and some of its tables as pictures.

Demeester, Aly, Hiemstra, Nguyen & Develder (2016), Inf. Retr. J. 19. The paper's judgments are not public: simulated
ones of its size stand in, and real panels where their folder is given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.comparison.system_ranking import RankChanges, ranks
from qrowd.model.chance import Rng, seed_of
from qrowd.predicted_relevance import PredictedRelevance, RelevantResults, predicted_relevance, relevant_results
from qrowd.reports.plots.style import Figure
from qrowd.reports.plots.system_plots import plot_bump
from qrowd_papers.frames import stacked
from qrowd_papers.predicted_relevance.cases import DEPTH, Case, load, runs_of
from qrowd_papers.predicted_relevance.plots import (
    plot_against,
    plot_relevance_by_grade,
    plot_relevance_by_rank,
    plot_relevance_by_sample_size,
    plot_relevance_by_topics,
)
from qrowd_papers.predicted_relevance.printed import GRADES, TABLE_3
from qrowd_papers.predicted_relevance.sensitivity import (
    SensitivityToSampleSize,
    SensitivityToTopics,
    sensitivity_to_rank,
    sensitivity_to_sample_size,
    sensitivity_to_topics,
)
from qrowd_papers.predicted_relevance.study import means_by_gains

if TYPE_CHECKING:
    from pandas import DataFrame

FEDWEB = {float(3 - i): grade for i, grade in enumerate(GRADES)}


def predicted_relevance_figures(
    data: str | None = None,
    *,
    quick: bool = False,
    rng: Rng = 1,
    progress: Callable[[str, int, int], None] | None = None,
) -> tuple[Figure, ...]:
    """Figures 1 to 3 (`prm-1` to `prm-3`), and Tables 3, 5 and 7 as pictures (`prm-table-3` and so on).

    data : folder that holds dl19, dl21 and trec-rf10, or None for simulated panels alone. quick : smaller ones.
    """
    seed = seed_of(rng)
    cases = load(data, quick, seed, progress)
    return figures_of(cases, 100 if quick else 300, seed)


def figures_of(cases: Mapping[str, Case], bootstrap: int, rng: Rng) -> tuple[Figure, ...]:
    """The same from panels that are already there."""
    main = cases.get("dl19", cases["pages"])
    second = cases.get("dl21", cases["snippets"])
    return (
        _by_quality(main),
        _by_topics((main, second), bootstrap, rng),
        _by_number([cases[name] for name in ("rf10", "dl19", "dl21", "pages") if name in cases], rng),
        _by_grade(cases["pages"], main, bootstrap, rng),
        _counts(main),
        _places(main),
    )


def _by_quality(case: Case) -> Figure:
    results = {
        f"theta = {_grade(case, theta)}": sensitivity_to_rank(case.doubles, runs_of(case), rel=theta)
        for theta in _thetas(case)
    }

    def draw(axes: Any) -> None:
        for ax, (title, one) in zip(np.ravel(axes), results.items(), strict=True):
            plot_relevance_by_rank(one, grades=_names(case), ax=ax).set_title(title)

    return Figure(
        "prm-1",
        "The probability that a random user finds a result relevant, by the assessor's grade, learnt from the results "
        "that systems rank best (left) to all of their first hundred (right). In the paper's Figure 1 it is higher "
        f"for good results, whatever the grade says. {case.name}: {case.about}.",
        draw,
        lambda: _joined(results, "theta"),
        panels=(1, 2),
        size=(7.4, 3.2),
    )


def _by_topics(cases: Sequence[Case], bootstrap: int, rng: Rng) -> Figure:
    results: dict[str, SensitivityToTopics] = {
        case.name: sensitivity_to_topics(case.doubles, rel=case.top, n_resamples=bootstrap, rng=rng) for case in cases
    }

    def draw(axes: Any) -> None:
        for ax, case, (title, one) in zip(np.ravel(axes), cases, results.items(), strict=True):
            plot_relevance_by_topics(one, grades=_names(case), ax=ax).set_title(f"{title}, {one.n_topics} topics")

    return Figure(
        "prm-2",
        f"The probability of relevance by grade if other topics had been judged: {bootstrap} draws of topics; above "
        "each box its standard error. In the paper's Figure 2 topics matter more than the number of documents "
        f"suggests. A user is satisfied from the highest grade on. {_about(cases)}.",
        draw,
        lambda: _joined(results, "panel"),
        panels=(1, len(cases)),
        size=(7.4, 3.2),
    )


def _by_number(cases: Sequence[Case], rng: Rng) -> Figure:
    results: dict[str, SensitivityToSampleSize] = {
        case.name: sensitivity_to_sample_size(case.doubles, rel=case.top, rng=rng) for case in cases
    }
    rows = 1 if len(cases) == 1 else 2
    panels = (rows, -(-len(cases) // rows))

    def draw(axes: Any) -> None:
        for ax, case, (title, one) in zip(np.ravel(axes), cases, results.items(), strict=True):
            plot_relevance_by_sample_size(one, grades=_names(case), ax=ax).set_title(title)

    return Figure(
        "prm-3",
        "The probability of relevance by grade, learnt from more and more double judgments: the mean of 50 simulated "
        "rounds of judging and one standard deviation above and below. In the paper's Figure 3 some thousand results "
        f"judged twice tell the grades apart, unless assessors hardly agree. {_about(cases)}.",
        draw,
        lambda: _joined(results, "panel"),
        panels=panels,
        size=(7.4, 5.4) if rows == 2 else None,
    )


def _by_grade(pages: Case, case: Case, bootstrap: int, rng: Rng) -> Figure:
    shown = [pages] if case is pages else [pages, case]
    thetas = (3, 2, 1)
    results: dict[str, dict[str, PredictedRelevance]] = {
        one.name: {
            f"from {_grade(one, theta)} on": predicted_relevance(
                one.doubles, rel=theta, n_resamples=bootstrap, resample="topics", rng=rng
            )
            for theta in thetas
        }
        for one in shown
    }
    lowest_first = {f"from {_grade(pages, t)} on": p[::-1] for t, p in zip(thetas, TABLE_3.values(), strict=True)}

    def draw(axes: Any) -> None:
        for ax, one, (title, models) in zip(np.ravel(axes), shown, results.items(), strict=True):
            printed = None if one.real else lowest_first
            plot_relevance_by_grade(models, grades=_names(one), printed=printed, ax=ax).set_title(title)

    def frame() -> DataFrame:
        return _joined({f"{panel}: {rule}": m for panel, models in results.items() for rule, m in models.items()}, "of")

    return Figure(
        "prm-table-3",
        "The probability that a random user finds a result relevant, by the assessor's grade and for users who are "
        "satisfied from three grades on, with 95 % intervals over topics. Grey bars: the paper's Table 3, whose shares "
        f"of grades the simulated panel has. {_about(shown)}.",
        draw,
        frame,
        panels=(1, len(shown)),
        size=(7.4, 3.4) if len(shown) > 1 else None,
    )


def _counts(case: Case) -> Figure:
    results: dict[str, RelevantResults] = {}
    for theta in _thetas(case):
        model = predicted_relevance(case.doubles, rel=theta, n_resamples=0)
        results[f"from {_grade(case, theta)} on"] = relevant_results(
            model, case.whole, runs=runs_of(case), cutoff=DEPTH
        )
    tables = {title: one.to_frame() for title, one in results.items()}

    def draw(axes: Any) -> None:
        for ax, (title, table) in zip(np.ravel(axes), tables.items(), strict=True):
            plot_against(
                table["binary"],
                table["predicted"],
                x_error=table["binary_standard_error"],
                y_error=table["predicted_standard_error"],
                names=("counted by the assessor", "expected by a random user"),
                ax=ax,
            ).set_title(title)

    return Figure(
        "prm-table-5",
        f"Relevant results among the first {DEPTH} of every system, as one assessor counts them and as a random user "
        "expects them, with standard errors over topics; dashed: as many of both. The paper's Table 5. "
        f"{case.name}: {case.about}.",
        draw,
        lambda: _joined(tables, "relevant"),
        panels=(1, 2),
        size=(7.4, 3.9),
    )


def _places(case: Case) -> Figure:
    model = predicted_relevance(case.doubles, rel=case.top, n_resamples=0)
    means = means_by_gains(runs_of(case), case.whole, model, "nDCG@20")
    table = np.array(list(means.values()))
    best = np.argsort(-means["predicted"], kind="stable")[:15]
    names = tuple(runs_of(case).systems[s] for s in best)
    results = RankChanges(tuple(means), names, table[:, best], ranks(table[:, best]), ranks(table)[:, best])

    return Figure(
        "prm-table-7",
        "Ranks, among themselves, of the systems that are best by predicted gains, by nDCG@20 with four kinds of "
        "gains; users are satisfied with the highest grade alone. Those that move most stand out. What the paper's "
        "Table 7 tells in one number. "
        f"{case.name}: {case.about}.",
        lambda ax: plot_bump(results, ax=ax),
        results.to_frame,
        size=(7.4, 3.8),
    )


# ------------------------------------------------------------------ parts


def _names(case: Case) -> dict[float, str] | None:
    """What the paper calls the grades of its own panel."""
    return None if case.real else FEDWEB


def _grade(case: Case, theta: float) -> str:
    return f"{theta:g}" if case.real else FEDWEB[float(theta)]


def _thetas(case: Case) -> tuple[float, float]:
    return case.top, case.any_


def _about(cases: Sequence[Case]) -> str:
    return ". ".join(f"{case.name}: {case.about}" for case in cases)


def _joined(results: Mapping[str, Any], name: str) -> DataFrame:
    """Their rows, and which they belong to."""
    frames = {title: one.to_frame() if hasattr(one, "to_frame") else one for title, one in results.items()}
    return stacked(frames, name)
