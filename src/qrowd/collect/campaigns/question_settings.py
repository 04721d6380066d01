"""The question that a campaign carries: its settings, and what `next_judgments` needs from the files of a folder."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Le

from qrowd import files
from qrowd.collect.protocols.schema import SchemaError, Where, check, read
from qrowd.collect.protocols.settings import GradesSettings, Settings, protocol_of
from qrowd.errors import ArgumentError, FileError, MeasureError
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs

if TYPE_CHECKING:
    from qrowd.collect.campaigns.campaign_files import CampaignFiles
    from qrowd.collect.campaigns.folder_files import Folder
    from qrowd.sequential.next_judgments import NextJudgments

Problems = Iterator[tuple[Where, str]]
WHERE = ("question",)
FILES = ("runs", "models")  # keys of [question] that name files
NUMBERS = ("system", "topic", "document", "score")  # columns of runs


@dataclass(frozen=True)
class QuestionSettings:
    """The table `question` of a plan.

    text, measure, confidence, tolerance, target, disagreement : as for `qrowd next`.
    batch : documents that are drawn at once; the next batch is drawn when half of one is judged.
    content : the runs, the judgments of models and the design with its first batch; qrowd writes it from the files.
    """

    text: str
    measure: str = "nDCG@10"
    confidence: float = 0.95
    tolerance: Annotated[float, Ge(0)] = 0.0
    target: Literal["these topics", "new topics"] = "these topics"
    disagreement: bool = False
    batch: Annotated[int, Ge(2), Le(10_000)] = 20
    content: dict[str, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        check(self)
        if not 0 < self.confidence < 1:
            raise SchemaError(
                ("confidence",), f"{self.confidence:g} cannot be used; give a number between 0 and 1, such as 0.95"
            )

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """(topic, document) of each document that can change the answer.

        Raises
        ------
        SchemaError
            The content is missing, or not of a question.
        """
        try:
            return [(str(topic), str(document)) for topic, document in self.content["design"]["documents"]]
        except (KeyError, TypeError, ValueError):
            problem = "is missing; create the campaign from a folder with its runs"
            raise SchemaError((*WHERE, "content"), problem) from None

    def short(self) -> dict[str, Any]:
        """The settings without the content."""
        return {key: value for key, value in asdict(replace(self, content={})).items() if key != "content"}

    def next_judgments(self, judgments: Judgments | None, **options: Any) -> NextJudgments:
        """What can be said by these judgments, and the next batch. options : `design`, or `scale` and `rng` at first.

        Raises
        ------
        ArgumentError, MeasureError
            As `next_judgments`.
        """
        from qrowd.sequential.next_judgments import next_judgments  # slow to import, and needed with a question alone

        return next_judgments(
            _runs_of(self.content["runs"]),
            judgments,
            question=self.text,
            models=_judgments_of(self.content["models"]),
            measure=self.measure,
            n_documents=self.batch,
            confidence=self.confidence,
            tolerance=self.tolerance,
            target=self.target,
            disagreement=self.disagreement,
            **options,
        )


def settings_with_question(settings: Settings | Mapping[str, Settings]) -> Settings | Mapping[str, Settings]:
    """The settings as a question needs them: a grade for each document, and no rating after each small unit."""
    return replace(settings, cannot_tell=False, rating=False) if isinstance(settings, GradesSettings) else settings


def question_problems(
    question: QuestionSettings, arms: Mapping[str, Settings], pools: Mapping[str, tuple[str, ...]]
) -> Problems:
    """What a campaign cannot do beside a question. pools : {topic: documents}."""
    if len(arms) > 1:
        yield ("arms",), "a question needs the grades of one protocol; remove the arms, or the question"
        return
    settings = next(iter(arms.values()))
    if not isinstance(settings, GradesSettings):
        name = protocol_of(settings)
        problem = f"{name} judgments cannot decide a question, which needs the gain of each document; use [grades]"
        yield WHERE, f"{problem}, or remove [question]"
        return
    if settings.compares:
        setting = "stop" if settings.stop else "order"
        yield ("grades", setting), "has no effect with a question, which decides what is judged; leave it out"
    pairs = question.pairs
    if (scale := question.content["design"]["scale"]) != settings.scale:
        yield WHERE, f"it was made for the scale {scale}, not for {settings.scale}; create it anew"
    for topic, document in pairs:
        if document not in pools.get(topic, ()):
            yield WHERE, f"document {document!r} of topic {topic!r} can change the answer, but is not in the pool"
            return
    if sum(map(len, pools.values())) > len(pairs):
        yield WHERE, f"the pools hold more than the {len(pairs)} documents of the question; leave pool and depth out"


# ---- from the files of a folder


def question_and_pairs(
    table: Mapping[str, Any], given: CampaignFiles, topics: Collection[str]
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The table of the question with its content, and (topic, document) of what it may ask for.

    table : the whole one. given : the runs are those of [files] where [question] names none. topics : labels of those
    that have a text.

    Raises
    ------
    SchemaError
        A question that cannot be read, or about topics without a text.
    FileError
        A file that cannot be read.
    """
    for key in ("pool", "depth"):
        if key in given.table:
            raise SchemaError(("files", key), "has no effect: the question decides what is judged; remove it")
    asked: dict[str, Any] = table["question"]
    folder = given.folder
    names = {key: _names(asked, key, folder) for key in FILES}
    runs = names["runs"] or given.names("runs")
    if not runs:
        raise SchemaError(("question", "runs"), "is missing; name the files of the runs that the question compares")
    settings = {key: value for key, value in asked.items() if key not in FILES}
    question = _read_table(QuestionSettings, settings, "question")
    scale = _read_table(GradesSettings, table.get("grades", {}), "grades").scale
    models = _read_files(files.read_judgments, names["models"], folder) if names["models"] else None
    content: dict[str, Any] = {
        "runs": _table_of_runs(_read_files(files.read_runs, runs, folder)),
        "models": None if models is None else _table_of_judgments(models),
    }
    content["design"] = _first_design(replace(question, content=content), scale, table["campaign"]["seed"])
    pairs = [(topic, document) for topic, document in content["design"]["documents"]]
    for topic, _ in pairs:
        if topic not in topics:
            raise SchemaError(("question", "runs"), f"topic {topic!r} has no text; add it to the topics")
    return {**settings, "content": content}, pairs


def _names(table: Mapping[str, Any], key: str, folder: Folder) -> list[str]:
    """The files that a key of [question] names."""
    entry = table.get(key, [])
    entries = [entry] if isinstance(entry, str) else entry
    if not isinstance(entries, list) or not all(isinstance(name, str) for name in entries):
        raise SchemaError(("question", key), f"{entry!r} cannot be used; give a name or a list of names")
    try:
        return [file for name in entries for file in folder.find(name)]
    except FileError as error:
        raise SchemaError(("question", key), str(error)) from None


def _read_table(kind: type[Any], table: Mapping[str, Any], name: str) -> Any:
    try:
        return read(kind, table)
    except SchemaError as error:
        raise SchemaError((name, *error.where), error.problem, error.code) from None


def _first_design(question: QuestionSettings, scale: str, seed: Any) -> dict[str, Any]:
    """The design with its first batch."""
    from qrowd.sequential.stored import table_from_design

    try:
        first = question.next_judgments(None, scale=scale, rng=seed if isinstance(seed, int) and seed >= 0 else 1)
    except MeasureError as error:
        raise SchemaError(("question", "measure"), str(error)) from None
    except ArgumentError as error:
        text = str(error)
        key = next((key for key in (*FILES, "measure") if text.startswith(f"{key}:")), "text")
        raise SchemaError(("question", key), text.removeprefix(f"{key}: ").removeprefix("question: ")) from None
    if not first.design.documents:
        problem = "no judgment can decide it, because the systems rank the same documents alike; compare others"
        raise SchemaError(("question", "text"), problem)
    return table_from_design(first.design)


def _read_files(read_all: Callable[[dict[str, Path]], Any], names: list[str], folder: Folder) -> Any:
    """What files of the folder hold; an error names the file as the folder does."""
    paths = {files.without_endings(PurePosixPath(name)): folder.path(name) for name in names}
    if len(paths) < len(names):
        raise FileError(names[-1], "another file has the same name without its endings; rename one")
    try:
        return read_all(paths)
    except FileError as error:
        name = next((name for name in names if str(folder.path(name)) in error.path), names[0])
        raise FileError(name, error.problem, error.line) from None


def _table_of_runs(runs: Runs) -> dict[str, Any]:
    labels = {name: list(getattr(runs, name)) for name in ("systems", "topics", "documents")}
    return labels | {name: getattr(runs, name).tolist() for name in NUMBERS}


def _runs_of(table: Mapping[str, Any]) -> Runs:
    systems, topics, documents = (tuple(table[name]) for name in ("systems", "topics", "documents"))
    system, topic, document = (np.array(table[name], np.int32) for name in NUMBERS[:3])
    return Runs(systems, topics, documents, system, topic, document, np.array(table["score"], np.float64))


def _table_of_judgments(judgments: Judgments) -> dict[str, Any]:
    frame = judgments.to_frame()
    rows = frame[["topic", "document", "assessor", "value"]].to_numpy().tolist()
    return {"rows": rows, "scales": dict(zip(judgments.assessors, map(str, judgments.scales), strict=True))}


def _judgments_of(table: Mapping[str, Any] | None) -> Judgments | None:
    return None if table is None else Judgments.from_rows(map(tuple, table["rows"]), scales=table["scales"])
