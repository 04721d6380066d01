"""A plot by name, drawn and written to a file, as `qrowd plot` does it."""

from __future__ import annotations

from pathlib import Path

from qrowd.errors import ArgumentError
from qrowd.model.judgments import Judgments
from qrowd.model.one_scale import Combined, CombineScales, on_one_scale
from qrowd.model.runs import Runs
from qrowd.reports.document import Note
from qrowd.reports.plots.registry import Options, plot_named
from qrowd.reports.plots.style import Figure, render, styled
from qrowd.reports.scales import SCALE_RULES, scale_note, scale_rules

ENDINGS = (".svg", ".pdf", ".png", ".csv")


def draw(
    name: str, runs: Runs | None, judgments: Judgments, options: Options, *, combine_scales: CombineScales = "auto"
) -> tuple[Figure, Note]:
    """The plot, and on which scales its judgments were made."""
    scaled = judgments if combine_scales == "auto" else on_one_scale(judgments, combine_scales, "rescaled")
    rules = ""
    if options.conventions.grades == "rescaled":
        rules = SCALE_RULES["rescaled"]
    elif name in ("kappa", "alpha", "assessors") or combine_scales != "auto":
        unlike: dict[str, Combined] = {"kappa": "relevant"} if name == "kappa" else {"values": "rescaled"}
        rules = scale_rules(judgments.scales, combine_scales, unlike)
    return plot_named(name)(runs, scaled, options), scale_note(judgments, rules)


def check_plot_file(path: str) -> None:
    """Refuse a file that could not be written in the end, before any work is done.

    Raises
    ------
    ArgumentError
        An ending that stands for no format.
    QrowdError
        Matplotlib is not installed.
    """
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise ArgumentError(f"output {path}: the ending must be one of {', '.join(ENDINGS)}")
    if ending != ".csv":
        with styled():
            pass


def plot_content(figure: Figure, path: str) -> bytes:
    """The picture as a file of this ending, or the data behind it where the ending is .csv."""
    ending = Path(path).suffix.lower()
    if ending == ".csv":
        return figure.frame().to_csv(index=False, lineterminator="\n").encode()
    return render(figure, ending[1:])
