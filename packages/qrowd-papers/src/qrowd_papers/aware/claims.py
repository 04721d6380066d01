"""The AWARE study as a page: every table of the paper's sections 6 and 7 on the panels at hand, beside what it printed.

Ferrante, Ferro, Maistro (2017), ACM TOIS 36(2).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, get_args

from qrowd import files
from qrowd.aware import NAMES
from qrowd.aware.similarity import Polarity
from qrowd.errors import InputError
from qrowd.executors import AnyExecutor
from qrowd.model.chance import Rng, seed_of
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.model.runs import Runs
from qrowd.reports.document import Document, Table
from qrowd.reports.phrases import number, probability
from qrowd_papers.analysis_of_variance import Anova
from qrowd_papers.aware.printed import BEST, from_print, on_panels
from qrowd_papers.aware.study import BASELINES, METHODS, PRINTED, AwareStudy, anova_tables, aware_study
from qrowd_papers.frames import stacked
from qrowd_papers.panels import crowdsourcing_tracks, relevant_from
from qrowd_papers.tukey import Tukey, tukey_hsd

MEASURES = {"AP": "AP", "nDCG@20": "nDCG@20", "ERR(gains={1: 5}, max_rel=5)@20": "ERR@20"}
"""Section 5.5: gains 0 and 5, so that ERR's R of a relevant document is 31/32."""
PANELS = ("simulated", "dl21", "dl19")
SHOWN = (3, 5, 10)
NIST: dict[float, float] = {0: 0, 1: 0, 2: 1, 3: 1}  # relevant from grade 2 on
PLACES = {"ap_correlation": "AP correlation", "relative_rmse": "RMSE relative to the measure's highest"}
TITLES = {"ap_correlation": "AP correlation", "relative_rmse": "RMSE, relative to the measure's highest"}


@dataclass(frozen=True, eq=False)
class Case:
    """A panel with its systems and its gold.

    about : where it is from and what was cut how. runs : systems by the name of their set.
    """

    name: str
    about: str
    runs: Mapping[str, Runs]
    judgments: Judgments
    gold: Judgments


def cases(data: str | None, quick: bool, rng: Rng, names: Collection[str] = PANELS) -> Iterator[Case]:
    """A simulated panel of the paper's size, and the real ones where their folder is given.

    names : of the panels wanted.
    """
    size: Mapping[str, Any] = {"n_assessors": 8, "n_systems": (20, 16), "n_documents": 200} if quick else {}
    if "simulated" in names:
        yield Case(
            "simulated",
            "simulated in the size of the TREC 2012 Crowdsourcing track (not its data, which would need TREC's runs)",
            *crowdsourcing_tracks(**size, rng=rng),
        )
    if data is None:
        return
    for year, who in (("dl21", ["judges"]), ("dl19", ["judges", "humans/main.tsv"])):
        if year not in names:
            continue
        folder = Path(data) / year
        if not folder.is_dir():
            raise InputError(f"{folder}: there is no such folder; --data wants one that holds dl19 and dl21")
        panels = [files.read_judgments([str(folder / part)]) for part in who]
        gold = files.read_judgments([str(folder / "qrels.nist.txt")]).recode(NIST)
        judgments = relevant_from(concatenate_judgments(panels))
        about = (
            f"TREC 20{year[2:]} Deep Learning, passages; {len(judgments.assessors)} assessors, relevant from half of "
            "each scale's maximum on; gold: NIST's grades, relevant from 2 on"
        )
        yield Case(year, about, {year: files.read_runs([str(folder / "runs")])}, judgments, gold)


def aware_page(
    data: str | None = None,
    *,
    quick: bool = False,
    n_tuples: int = 500,
    n_resamples: int = 1000,
    folder: str | None = None,
    rng: Rng = None,
    executor: AnyExecutor = None,
    threads: int | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Document:
    """Every method on every panel, with the tables that the paper has of its own.

    data : folder that holds dl21 and dl19, or None for the simulated panel alone.
    quick : a minute's version: two sizes, 30 tuples of each, 50 random assessors, a small simulated panel.
    n_tuples, n_resamples, folder, rng, executor, threads, progress : see `aware_study`.
    """
    seed = seed_of(rng)
    tables: list[Table] = []
    notes: list[str] = []
    best: list[str] = []
    studies: dict[str, AwareStudy] = {}
    printed = tuple(f"{name}{PRINTED}" for name in NAMES)
    for case in cases(data, quick, seed):
        study = aware_study(
            case.runs,
            case.judgments,
            case.gold,
            tuple(MEASURES),
            methods=(*METHODS, *printed),
            sizes=(2, 3) if quick else None,
            n_tuples=30 if quick else n_tuples,
            n_resamples=50 if quick else n_resamples,
            rng=seed,
            folder=folder,
            executor=executor,
            threads=threads,
            progress=progress,
        )
        studies[case.name] = study
        tables += _tables(study, case)
        notes.append(f"{case.name}: {case.about}")
        by_correlation, by_rmse = _best(study, "ap_correlation"), _best(study, "relative_rmse")
        best.append(f"on {case.name} {by_correlation} by AP correlation, {by_rmse} by RMSE")
    notes += [
        f"random assessors: {50 if quick else n_resamples:,} of each level; tuples: up to "
        f"{30 if quick else n_tuples:,} of each size, none twice; seed: {seed}",
        "systems: the simulated panel has two sets, as the paper's T@8 and T13, the second of closer quality; the real "
        "ones have one, so that there is no effect of systems; scores in tables are means over sets",
        "polarity: weights are dissimilarities to random assessors; those marked :printed are as in equations 25-27",
        "methods: mv is the vote, with coins for ties; emmv and emneu are Dawid-Skene, topic by topic, from the "
        "vote and from honest assessors; uniform is AWARE with equal weights",
        "figures: of the systems' mean scores, against the gold's, averaged over tuples; AP correlation with the gold "
        "as reference, tau is tau-a; nothing was tuned on any of these panels",
        "relative RMSE: divided by the highest RMSE of its measure among the 34 methods of the paper with weights by "
        "dissimilarity; weights as printed have no part in the divisor",
        "empty: a merged assessor without a relevant document scores 0, an assessor of AWARE is left out of that topic",
    ]

    places = [_places(studies, figure, what) for figure, what in PLACES.items()]
    claims = (one.table() for one in (*from_print(), *on_panels(studies)))
    tables = [*places, *claims, *tables]
    sentence = (
        f"AWARE, recomputed. Closest to the gold: {'; '.join(best)}. The paper's best were sgl_tau_msd by AP "
        "correlation and sgl_rmse_med by RMSE, both ahead of mv, emmv and emneu; the first two tables say where they "
        "stand here."
    )
    return Document(
        sentence, tuple(tables), tuple(notes),
        lambda: stacked({name: study.to_frame() for name, study in studies.items()}, "panel"),
    )  # fmt: skip


def _places(studies: Mapping[str, AwareStudy], figure: str, what: str) -> Table:
    """Where the baselines, the paper's best and each panel's best stand among all methods."""
    places = {}
    for name, study in studies.items():
        mean = _mean(study, figure) * (-1 if figure == "relative_rmse" else 1)
        places[name] = {a: int((mean > value).sum()) + 1 for a, value in zip(study.methods, mean, strict=True)}
    paper = ("sgl_tau_msd", "sgl_rmse_med", "sgl_rmse_msd")
    winners = [_best(study, figure) for study in studies.values()]
    shown = dict.fromkeys([*BASELINES, "uniform", *paper, *(f"{name}{PRINTED}" for name in paper), *winners])
    rows = [[method, *(str(places[name][method]) for name in studies)] for method in shown]
    n = len(next(iter(places.values())))
    return Table(f"places by {what} among {n} methods, over all measures and sizes", ["method", *studies], rows)


def _tables(study: AwareStudy, case: Case) -> Iterator[Table]:
    """Scores of all methods, the two analyses of variance, the groups."""
    sizes = [k for k in SHOWN if k in study.sizes] or list(study.sizes)
    for measure, short in MEASURES.items():
        for ending, what in (("", ""), (PRINTED, ", weights as printed")):
            yield _figures(study, measure, f"{case.name}: {short}{what}", sizes, ending)
    if len(study.sizes) < 2:
        return
    for figure, polarity in product(TITLES, get_args(Polarity)):
        whole, parts = anova_tables(study, figure, polarity)
        by_correlation, start = figure == "ap_correlation", f"{case.name}: {TITLES[figure]}"
        start += ", weights as printed" if polarity == "printed" else ""
        yield _anova(whole, f"{start}, methods (as the paper's Table {1 if by_correlation else 2})")
        yield _anova(parts, f"{start}, parts of estimators (as Table {3 if by_correlation else 4})")
        for factor in ("granularity", "gap", "weight"):
            yield _groups(tukey_hsd(parts, factor, best=BEST[figure]), f"{start}, Tukey HSD groups of {factor}")
        best = tukey_hsd(whole, "method", best=BEST[figure])
        yield _groups(best, f"{start}, the best methods", only_top=True)


def _figures(study: AwareStudy, measure: str, title: str, sizes: list[int], ending: str) -> Table:
    m = study.measures.index(measure)
    places = [study.sizes.index(k) for k in sizes]
    header = ["method", *(f"{figure} {k}" for figure in ("AP corr.", "tau", "RMSE") for k in sizes)]
    rows, figures = [], (study.ap_correlation, study.tau, study.rmse)
    for e, name in enumerate(study.methods):
        estimated = name.removesuffix(PRINTED) in NAMES
        if not estimated or name.endswith(PRINTED) == bool(ending):
            cells = [number(table[:, m, e, p].mean(), 3) for table in figures for p in places]
            rows.append([name.removesuffix(PRINTED), *cells])
    return Table(f"{title}; tuples of {', '.join(map(str, sizes))}", header, rows)


def _anova(table: Anova, title: str) -> Table:
    rows = []
    for i, source in enumerate(table.sources):
        cells = (number(table.ms[i]), number(table.f[i], 2), probability(table.p[i]), number(table.omega_squared[i]))
        rows.append([source, f"{table.ss[i]:.4f}", str(int(table.df[i])), *cells])
    return Table(title, ["source", "SS", "DF", "MS", "F", "p", "omega squared"], rows)


def _groups(tukey: Tukey, title: str, only_top: bool = False) -> Table:
    frame = tukey.to_frame()
    level = frame.columns[0]
    rows = [
        [str(row[level]), number(row["mean"]), row["groups"]]
        for row in frame.to_dict("records")
        if row["top"] or not only_top
    ]
    return Table(title, [level, "mean", "groups"], rows)


def _mean(study: AwareStudy, figure: str) -> Any:
    """(methods,) over sets of systems, measures and sizes; RMSE relative to the measure's highest."""
    return getattr(study, figure).mean(axis=(0, 1, 3))


def _best(study: AwareStudy, figure: str) -> str:
    mean = _mean(study, figure)
    return study.methods[int(mean.argmin() if figure == "relative_rmse" else mean.argmax())]
