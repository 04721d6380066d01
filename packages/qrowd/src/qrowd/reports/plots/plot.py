"""What the plots of `qrowd plot` are made of: their options, the data that they read, and the plot itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from qrowd.comparison.mean_ranks import PairTest
from qrowd.errors import ArgumentError
from qrowd.evaluation import evaluate
from qrowd.kernels.disagreement import Level
from qrowd.model.chance import Rng
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.model.scores import Scores
from qrowd.reports.plots.style import Figure
from qrowd.reports.short_names import short_names

if TYPE_CHECKING:
    import pandas

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Options:
    """The options of plots; each plot has its own defaults for measures, top and methods.

    measures : as in `evaluate`; a plot of one measure takes the first. conventions : of the scores.
    top : number of systems, topics, documents or, in `kappa` and `correlation`, assessors shown. cutoff : number of
        documents of each ranking that `coverage` looks at.
    test : of pairs of systems, for `critical-difference`: "nemenyi" or "max-t", as in `mean_ranks`.
    methods : that combine the assessors, for `bump`. level : of measurement, for alpha. confidence : of intervals.
    short_names : whether words that all systems begin or end with are left out.
    n_resamples, rng : where intervals are computed by resampling. progress : called with (topics done, topics in all)
        of the scoring.
    """

    measures: tuple[str, ...] = ()
    conventions: Conventions = field(default_factory=Conventions)
    top: int | None = None
    cutoff: int = 10
    test: PairTest = "nemenyi"
    methods: tuple[str, ...] = ()
    level: Level | None = None
    confidence: float = 0.95
    short_names: bool = False
    n_resamples: int = 2000
    rng: Rng = 1
    progress: Progress | None = None

    def __post_init__(self) -> None:
        for name, least in (("top", 1), ("cutoff", 1), ("n_resamples", 2)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise ArgumentError(f"at least {least} was expected", name, value)
        if not 0 < self.confidence < 1:
            raise ArgumentError("a number between 0 and 1 was expected", "confidence", self.confidence)


@dataclass(frozen=True, eq=False)
class Plot:
    """A plot of `qrowd plot`.

    sentence : the question it answers. needs : of "runs" and "judgments". measures : the default ones; empty
        where it shows no scores. make : computes it.
    """

    name: str
    sentence: str
    needs: tuple[str, ...]
    measures: tuple[str, ...]
    make: Callable[[PlotData], Figure]

    def __call__(self, runs: Runs | None, judgments: Judgments, options: Options | None = None) -> Figure:
        """Compute what the plot shows; it is drawn when it is rendered.

        Raises
        ------
        ArgumentError
            No runs where the plot needs them, or fewer measures than it shows.
        """
        options = options or Options()
        measures = options.measures or self.measures
        if "runs" in self.needs and runs is None:
            raise ArgumentError(f"plot {self.name}: it needs runs; give --runs FILES")
        if runs is not None and options.short_names:
            runs = replace(runs, systems=short_names(runs.systems))
        return self.make(PlotData(self.name, runs, judgments, measures, options))


@dataclass(frozen=True, eq=False)
class PlotData:
    """What a plot is made from."""

    name: str
    runs: Runs | None
    judgments: Judgments
    measures: tuple[str, ...]
    options: Options

    @property
    def measure(self) -> str:
        return self.measures[0]

    @property
    def graded(self) -> Judgments:
        return self.options.conventions.graded(self.judgments)

    def scores(self, measures: tuple[str, ...] | None = None) -> Scores:
        assert self.runs is not None
        names = list(self.measures[:1] if measures is None else measures)
        return evaluate(
            self.runs, self.judgments, names, conventions=self.options.conventions, progress=self.options.progress
        )

    def figure(
        self,
        caption: str,
        draw: Callable[[Any], object],
        frame: Callable[[], pandas.DataFrame],
        size: tuple[float, float] | None = None,
    ) -> Figure:
        return Figure(self.name, caption, draw, frame, size=size)
