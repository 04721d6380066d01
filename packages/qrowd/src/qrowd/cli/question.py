"""Options of commands that are asked a question about systems, and how they read people and models."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from qrowd.cli import options
from qrowd.cli.options import option
from qrowd.errors import ArgumentError

if TYPE_CHECKING:
    from qrowd.model.judgments import Judgments


@dataclass(frozen=True)
class People(options.Data):
    """Where the people's judgments come from; there may be none yet."""

    scale: Annotated[
        list[str] | None,
        option(
            help="Scale of the people, as in 0-3, which the first call needs; PATTERN=SCALE of models, as elsewhere.",
            panel="Data",
            metavar="SCALE",
            show_default="that of the design",
        ),
    ] = None

    @staticmethod
    def _show_notes(notes: Iterable[str]) -> None:
        """Nothing: the note of a campaign says that it has a question, which is being asked."""


Model = Annotated[
    list[str] | None,
    option(
        help="Cheap judgments: files, or assessors of the judgments who are models.",
        panel="Data",
        metavar="NAMES|FILES",
    ),
]
QUESTION = option(
    help="Question: 'A > B', 'best', 'best of A, B*', 'C among best 3' or 'ranking of A, B*'.", metavar="TEXT"
)
Tolerance = Annotated[float, option(help="Differences of up to this much count as none.", min=0)]
NewTopics = Annotated[
    bool, option("--new-topics", help="Ask about all topics of which those of the runs are a sample.")
]
Disagreement = Annotated[
    bool,
    option(
        "--disagreement",
        help="Take the gain of a document as the mean of all people like those who judged; their variance counts.",
    ),
]


def read_pairs(path: str | None) -> list[tuple[str, str]]:
    """The pairs of --unjudgeable."""
    from qrowd import files

    if path is None:
        return []
    topics, documents = files.read_labels(path, "topic", "document")
    return list(zip(topics, documents, strict=True))


def people_and_models(data: People, model: list[str]) -> tuple[Judgments | None, Judgments | None, str | None]:
    """The judgments of people and of models, None where there are none, and the scale of the people."""
    from qrowd import files
    from qrowd.cli.reading import show_notes, table_settings
    from qrowd.model.judgments import concatenate_judgments
    from qrowd.model.labels import closest

    own = [text for text in data.scale or () if "=" not in text]
    if len(own) > 1:
        raise ArgumentError(f"--scale {' '.join(own)}: people judge on one scale; give one")
    patterns = [text for text in data.scale or () if "=" in text]
    collected = None
    if data.judgments or data.campaign is not None:
        collected = replace(data, scale=patterns).read()
    names = () if collected is None else collected.assessors
    of_panel, paths = [name for name in model if name in names], [name for name in model if name not in names]
    parts = [] if collected is None or not of_panel else [collected.select(assessors=of_panel)]
    for path in paths:
        where = path.rpartition("=")[2]
        if where != "-" and not any(letter in where for letter in "*?[:") and not Path(where).exists():
            near = f"; {closest(path, names, 'assessor')}" if names else ""
            raise ArgumentError(f"--model {path}: neither an assessor of the judgments nor a file{near}")
    if paths:
        labels = files.read_judgments(paths, assessor=data.assessor, **table_settings(data, "judgments"))
        show_notes(labels.notes)
        scaled = labels.with_scales(dict(map(options.pattern_and_scale, patterns))) if patterns else labels
        parts.append(scaled)
    models = concatenate_judgments(parts) if parts else None
    people = collected
    if collected is not None and of_panel:
        others = [name for name in names if name not in of_panel]
        people = collected.select(assessors=others) if others else None
    return people, models, own[0] if own else None
