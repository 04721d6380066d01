"""explore: a page on which a reader chooses assessors, topics, measures and methods, and sees what that changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from qrowd.display import Display, Displayed
from qrowd.errors import ArgumentError
from qrowd.model.chance import Rng
from qrowd.model.conventions import Conventions
from qrowd.model.objects import AnyJudgments, AnyRuns, as_judgments, as_runs
from qrowd.model.one_scale import CombineScales
from qrowd.model.preferences import Preferences
from qrowd.reports.explorer_data import DEPTH, ExplorerData, explorer_data
from qrowd.reports.explorer_documents import Texts
from qrowd.reports.explorer_page import explorer_page
from qrowd.reports.phrases import count, listed

if TYPE_CHECKING:
    from qrowd.executors import AnyExecutor

ENDINGS = (".html", ".htm")


@dataclass(frozen=True, eq=False, repr=False)
class Explorer(Displayed):
    """The page of `qrowd explore`: `write("explore.html")` writes it."""

    data: ExplorerData

    def to_html(self) -> str:
        """The page."""
        return explorer_page(self.data)

    def write(self, path: str | Path) -> None:
        """Write the page, whole or not at all.

        Raises
        ------
        ArgumentError
            A name that does not end in .html.
        FileError
            A file that cannot be written.
        """
        from qrowd.files import write_whole

        check_page_name(path)
        write_whole(path, self.to_html())

    @property
    def sentence(self) -> str:
        """What the page holds."""
        scores = self.data.scores
        sizes = [
            count(len(names), noun)
            for names, noun in ((scores.systems, "system"), (scores.assessors, "assessor"), (scores.topics, "topic"))
        ]
        return f"{listed(sizes)} by {', '.join(scores.measures)}."

    def __repr__(self) -> str:
        return f"Explorer({self.sentence.removesuffix('.')})"

    def _display(self) -> Display:
        return Display("Explorer", f"{self.sentence} .write('explore.html') writes the page.", ())


def check_page_name(path: str | Path) -> None:
    """Refuse a name that is not that of a page.

    Raises
    ------
    ArgumentError
        Another ending than .html.
    """
    if not str(path).lower().endswith(ENDINGS):
        raise ArgumentError(f"output {path}: the page is HTML; give a name that ends in .html")


def explore(
    runs: AnyRuns,
    judgments: AnyJudgments | Preferences,
    measures: object | Sequence[object] | None = None,
    *,
    rel: Sequence[float] | None = None,
    methods: Sequence[str] | None = None,
    topics: Texts | None = None,
    documents: Texts | None = None,
    depth: int = DEPTH,
    conventions: Conventions = Conventions(),
    combine_scales: CombineScales = "auto",
    confidence: float = 0.95,
    rng: Rng = None,
    short_names: bool = False,
    title: str = "",
    command: str = "",
    executor: AnyExecutor = None,
    progress: Callable[[int, int], None] | None = None,
) -> Explorer:
    """Make a page on which a reader chooses assessors, topics, measure and method, and sees what that changes.

    The page holds the scores by every measure, assessor, topic and system, and computes means, ranks and intervals as
    `qrowd.evaluate(...).panel_mean()` does. It needs no server and no network. It also holds the names of the assessors
    and, where they are given, texts and comments: whoever has the page can read them.

    Parameters
    ----------
    measures : default: nDCG@10, AP and P@10; of preferences ppref@10, wpref and compatibility.
    rel : thresholds; each measure that takes one, and does not state it, is on the page once for each.
    methods : methods that put the assessors together, as in `evaluate_methods`, beside the mean over assessors;
        default: the majority vote, where assessors grade on one scale.
    topics, documents : {label: its title, description or text}, to show.
    depth : documents in a top `depth` of any system can be looked at, with their grades; 0: none.
    conventions, combine_scales : the conventions of scoring, and of methods that merge judgments.
    confidence : of intervals of differences, over topics.
    rng : of methods that draw. short_names : whether words that all systems begin or end with are left out.
    title, command : shown on the page. executor : of methods, as in `evaluate_methods`.
    progress : called with (steps done, steps in all) of each part.

    Raises
    ------
    ArgumentError
        One system only; thresholds that no measure takes; methods for preferences; texts of other topics or documents.
    NoOverlapError
        Runs and judgments share no topic.

    >>> qrowd.explore(runs, judgments, ["nDCG@10", "AP"], rel=[1, 2]).write("explore.html")  # doctest: +SKIP
    """
    data = explorer_data(
        as_runs(runs),
        judgments if isinstance(judgments, Preferences) else as_judgments(judgments),
        measures,
        rel=rel,
        methods=methods,
        topics=topics,
        documents=documents,
        depth=depth,
        conventions=conventions,
        combine_scales=combine_scales,
        confidence=confidence,
        rng=rng,
        short_names=short_names,
        title=title,
        command=command,
        executor=executor,
        progress=progress,
    )
    return Explorer(data)
