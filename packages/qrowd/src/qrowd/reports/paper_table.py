"""The table for a paper: systems by measures, or by assessors, with the best in bold and marks of significance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from qrowd.comparison.interval_widths import check_confidence
from qrowd.comparison.rank_intervals import rank_intervals
from qrowd.comparison.system_ranking import first_systems, rank_systems
from qrowd.errors import ArgumentError, NoOverlapError, check_choice
from qrowd.evaluation import DEFAULT_MEASURES, evaluate
from qrowd.kernels.arrays import Bools, Floats
from qrowd.model.chance import Rng, Seed, seed_of
from qrowd.model.conventions import Conventions
from qrowd.model.labels import number_of
from qrowd.model.objects import AnyJudgments, AnyRuns
from qrowd.model.scores import PANEL_MEAN, Names, Scores, one_measure, scores_of
from qrowd.model.signature import with_signature
from qrowd.reports.document import Document, Note, Reported, render
from qrowd.reports.latex import PACKAGES, latex_table
from qrowd.reports.notes import cautions, parameter_of, scoring_notes
from qrowd.reports.phrases import count, lead, listed, mean_of, number, sentence_case
from qrowd.reports.system_tables import system_order
from qrowd.reports.table import Table, markdown_table
from qrowd.threads import Progress

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores

Marks = Literal["baseline", "pairs", "none"]
DIGITS = 3  # decimals of means
LETTERS = "abcdefghijklmnopqrstuvwxyz"
BETTER, WORSE = "†", "‡"


@dataclass(frozen=True, eq=False, repr=False)
class PaperTable(Reported):
    """Systems by measures or by assessors.

    table : as it is printed; its title is the caption. columns : measures, or assessors. systems : rows,
    best first. Arrays are (systems, columns). best : whether the mean is the highest of its column, as far as digits
    are shown. p : of the difference from the baseline, after the correction; nan without a baseline. worse : (columns,
    systems, systems), whether the last is significantly worse; of pairs that were tested. notes : the test, and the
    conventions of scoring. over, n_resamples : of the test, of topics or of both topics and assessors; 0 without one.
    """

    sentence: str
    table: Table
    noun: str
    columns: Names
    systems: Names
    mean: Floats
    best: Bools
    p: Floats
    worse: Bools
    notes: tuple[Note, ...]
    over: str
    n_resamples: int

    def _columns(self) -> dict[str, Any]:
        """One row per column of the table and system."""
        labels = {
            self.noun: np.repeat(np.array(self.columns, object), len(self.systems)),
            "system": np.tile(np.array(self.systems, object), len(self.columns)),
        }
        worse = [" ".join(compress(self.systems, row)) or None for rows in self.worse for row in rows]
        numbers = {name: getattr(self, name).T.ravel() for name in ("mean", "best", "p")}
        return labels | numbers | {"significantly_worse": worse}

    def _document(self) -> Document:
        return Document(self.sentence, (self.table,), self.notes, self.to_frame, self.records)

    def content(self, path: str | Path) -> bytes:
        """What `write` writes: .tex and .md hold the table alone, other endings what `render` says."""
        texts = {".tex": self.to_latex, ".md": self.to_markdown}
        text = texts.get(Path(path).suffix.lower())
        return render(self.to_document(), str(path)) if text is None else text().encode()

    def to_latex(self, *, label: str = "tab:systems") -> str:
        r"""LaTeX for \\input, in booktabs' style; it needs \\usepackage{booktabs,graphicx}.

        label : of the table. A table too wide is scaled down.
        """
        comments = [f"% {note}" for note in (*self.notes, self.signature)]
        return "\n".join([PACKAGES, *comments, *latex_table(self.table, label=label)]) + "\n"

    def to_markdown(self) -> str:
        """The table in Markdown, its caption above it, the signature as a comment below."""
        return "\n".join(markdown_table(self.table)) + f"\n\n<!-- {self.signature} -->\n"


def systems_table(
    runs: AnyRuns,
    judgments: AnyJudgments,
    measures: object | Sequence[object] = DEFAULT_MEASURES,
    *,
    per_assessor: bool = False,
    baseline: str | None = None,
    marks: Marks | None = None,
    conventions: Conventions = Conventions(),
    confidence: float = 0.95,
    n_resamples: int = 10_000,
    rng: Rng = 1,
    top: int | None = None,
    progress: Progress | None = None,
) -> PaperTable:
    """Print systems by measures or by assessors as a paper does: the best in bold, with marks of significance.

    measures : columns of the table; of a table of assessors the one measure.
    per_assessor : show one measure by each assessor and by the panel, not several measures.
    marks : marks of significant differences: from the baseline, of all pairs of at most 26 systems, or none; default:
        from the baseline, where one is named.
    top : number of systems that are shown, the best first, and the baseline.
    progress : called with (topics done, topics in all).
    """
    several = list(measures) if isinstance(measures, list | tuple) else [measures]
    if per_assessor and len(several) > 1:
        if measures is not DEFAULT_MEASURES:
            raise ArgumentError(f"one measure fits, not {len(several)}; make a table of each", "per_assessor", True)
        several = several[:1]
    scores = evaluate(runs, judgments, several, conventions=conventions, progress=progress)
    return paper_table(
        scores,
        per_assessor=per_assessor,
        baseline=baseline,
        marks=marks,
        confidence=confidence,
        n_resamples=n_resamples,
        rng=rng,
        top=top,
    )


@with_signature()
def paper_table(
    scores: AnyScores,
    *,
    per_assessor: bool = False,
    baseline: str | None = None,
    marks: Marks | None = None,
    confidence: float = 0.95,
    n_resamples: int = 10_000,
    rng: Rng = 1,
    top: int | None = None,
) -> PaperTable:
    """The table that a paper prints: the mean scores of systems, the best in bold, with marks of significance.

    Parameters
    ----------
    scores : several measures by the panel's mean, or one measure by each assessor.
    per_assessor : columns are each assessor and the panel mean; default: the measures.
    baseline : the system that the others are compared with.
    marks : "baseline": a dagger where a system is significantly better than the baseline, a double dagger where it is
        worse; "pairs": each system has a letter, and a superscript lists the systems that are significantly worse;
        "none". Default: "baseline" where there is one, else "none".
    confidence, n_resamples, rng : of the test, whose level is 1 - confidence: all pairs of systems
        together, over topics and assessors (see `rank_intervals`).
    top : number of systems shown, the best of the first column (the panel mean, if
        there is one) and the baseline; tests are of all systems. With pairs there are 26 at most.

    Raises
    ------
    ArgumentError
        An option that does not fit the others; several measures in a table of assessors.

    >>> print(paper_table(scores, baseline="bm25").to_latex())  # doctest: +SKIP
    """
    plain = scores_of(scores)
    names = plain.systems
    n_systems = len(names)
    parts = _parts(plain, per_assessor)
    kind = marks or ("none" if baseline is None else "baseline")
    test = _Test(kind, baseline, _over(parts), confidence, n_resamples, seed_of(rng))
    test.check(names)
    main = parts.get(PANEL_MEAN, next(iter(parts.values())))
    ranking = rank_systems(main)
    order = system_order(ranking.mean)
    if kind == "pairs":
        most = len(LETTERS) - (baseline is not None)
        top = top or most
        if top > most:
            raise ArgumentError(f"marks of pairs are letters, for {most} systems at most", "top", top)
    shown = [s for s in order if s in order[:top] or names[s] == baseline]
    n_shown = len(shown)
    means = np.column_stack([rank_systems(part).mean for part in parts.values()])
    ranked = np.array([not parameter_of(part.measures[0], "residual") for part in parts.values()])
    rounded = np.round(means, DIGITS)
    best = ((rounded == np.nanmax(rounded, axis=0, initial=-np.inf)) & ranked)[shown]
    p = np.stack([test.p_values(part) for part in parts.values()])[:, shown][:, :, shown]
    systems = tuple(names[s] for s in shown)
    mean = means[shown]
    among = "" if n_shown == n_systems else f", of all {n_systems} systems"
    bold = [f"Bold: highest mean of the column{among}."] if best.any() else []
    first = ["#", "system"] if kind == "pairs" else ["system"]
    worse = (p < test.level) & (mean.T[:, :, None] > mean.T[:, None])
    marked = test.marks_of(worse, systems, len(first))
    rows = [
        [*([LETTERS[i]] if kind == "pairs" else []), system, *(number(value, DIGITS) for value in mean[i])]
        for i, system in enumerate(systems)
    ]
    table = Table(
        _caption(plain, per_assessor, n_shown),
        [*first, *parts],
        rows,
        frozenset((int(i), int(j) + len(first)) for i, j in zip(*np.nonzero(best), strict=True)),
        marked,
        " ".join([*bold, *test.legend(bool(marked))]),
    )
    against = np.full(mean.shape, np.nan) if baseline is None else p[:, :, systems.index(baseline)].T
    return PaperTable(
        f"By {main.measures[0]}, {lead(first_systems(names, ranking.rank))}.{cautions(plain)}",
        table,
        "assessor" if per_assessor else "measure",
        tuple(parts),
        systems,
        mean,
        best,
        against,
        worse,
        (*test.notes(), *scoring_notes(plain)),
        "both" if len(main.assessors) > 1 else "topics",
        0 if kind == "none" else n_resamples,
    )


# ---------------------------------------------------------------------- tests


@dataclass(frozen=True)
class _Test:
    """How systems are compared. over : what the test allows for in most columns."""

    marks: Marks
    baseline: str | None
    over: str
    confidence: float
    n_resamples: int
    seed: Seed

    @property
    def level(self) -> float:
        return round(1 - self.confidence, 12)

    @property
    def name(self) -> str:
        return f"test of all pairs of systems by the largest |t| over {self.over}"

    def check(self, systems: Names) -> None:
        check_choice("marks", self.marks, Marks)
        check_confidence(self.confidence)
        if self.baseline is not None:
            number_of(self.baseline, systems, "system")
        elif self.marks == "baseline":
            raise ArgumentError(
                "it needs a baseline, the system that the others are compared with", "marks", "baseline"
            )

    def p_values(self, scores: Scores) -> Floats:
        """(systems, systems) p of each pair by one measure, or of the pairs with the baseline; nan where not tested."""
        n = len(scores.systems)
        unknown = np.full((n, n), np.nan)
        if self.marks == "none" or n < 2 or parameter_of(scores.measures[0], "residual"):
            return unknown
        options: dict[str, Any] = {"confidence": self.confidence, "n_resamples": self.n_resamples}
        try:
            p = np.array(rank_intervals(scores, rng=self.seed, **options).p)
        except NoOverlapError:
            return unknown
        np.fill_diagonal(p, np.nan)
        if self.marks == "pairs":
            return p
        b = number_of(str(self.baseline), scores.systems, "system")
        unknown[b], unknown[:, b] = p[b], p[:, b]
        return unknown

    def legend(self, marked: bool) -> list[str]:
        """What the marks mean, or that there are none."""
        by = f"p < {f'{self.level:g}'.removeprefix('0')}, {self.name}"
        if self.marks == "none":
            return []
        text = f"{BETTER}: significantly better than {self.baseline}, {WORSE}: significantly worse"
        if self.marks == "pairs":
            text = "Superscripts: the systems that are significantly worse"
        return [f"{text if marked else 'No difference between these systems is significant'} ({by})."]

    def notes(self) -> list[Note]:
        if self.marks == "none":
            return []
        return [
            Note("test", f"{self.name}, in each column by itself; {self.n_resamples:,} resamples; seed: {self.seed}")
        ]

    def marks_of(self, worse: Bools, systems: Names, n_before: int) -> dict[tuple[int, int], str]:
        """{(row, column): what stands behind the mean}. worse : of `PaperTable`. n_before : columns before means."""
        marks: dict[tuple[int, int], str] = {}
        for place, i, other in np.argwhere(worse).tolist():
            j = n_before + place
            if self.marks == "pairs":
                marks[i, j] = marks.get((i, j), "") + LETTERS[other]
            elif systems[other] == self.baseline:
                marks[i, j] = BETTER
            else:
                marks[other, j] = WORSE
        return marks


def _parts(scores: Scores, per_assessor: bool) -> dict[str, Scores]:
    """{header: scores of one measure whose panel mean stands in the column}."""
    if not per_assessor:
        return {name: scores.sel(measure=name) for name in scores.measures}
    one_measure(scores)
    parts = {name: scores.sel(assessor=name) for name in scores.assessors}
    return parts | {PANEL_MEAN: scores} if len(parts) > 1 else parts


def _over(parts: Mapping[str, Scores]) -> str:
    """What the tests and intervals of most columns allow for."""
    if PANEL_MEAN in parts:
        return "topics (of the panel mean: over topics and assessors)"
    return "topics and assessors" if len(next(iter(parts.values())).assessors) > 1 else "topics"


def _caption(scores: Scores, per_assessor: bool, n_shown: int) -> str:
    systems = count(len(scores.systems), "system")
    which = systems if n_shown == len(scores.systems) else f"{n_shown} of {systems}"
    about = f"{count(len(scores.topics), 'topic')}, {count(len(scores.assessors), 'assessor')}"
    by = "by assessor" if per_assessor else "by the panel" if len(scores.assessors) > 1 else ""
    means = sentence_case(mean_of(listed(scores.measures, 8)))
    return f"{means} of {which} {by}".strip() + f" ({about})"
