"""A collection: runs and judgments in Parquet files, one part for some of the topics, and a survey of all of them.

The folder holds `survey.json` and, for each part, `runs/NAME.parquet` and `judgments/NAME.parquet` with labels as text,
which any tool reads. Names, scales and topics stand in the survey, so that a part is read as what it is of the whole:
its systems are numbered as those of the whole are, and a grade that occurs in another part counts for the scale.

Its runs and judgments are like any others, but are read when something asks for their rows. `qrowd.evaluate` never
does: it scores part after part. Whatever else takes runs or judgments reads all parts first.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from qrowd.display import Display
from qrowd.errors import ArgumentError, FileError, RowError
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.model.labels import Codes, plural
from qrowd.model.runs import Runs, concatenate_runs
from qrowd.model.scales import Scale
from qrowd.partitions.parquet import PartColumns, read_columns
from qrowd.partitions.survey import own_scales_of, short_of
from qrowd.partitions.survey_files import SURVEY, newest_survey, read_newest

PART_TUPLES = ("assessors", "added_runs", "added_judgments")
FORMAT = 4
FORMATS = (3, FORMAT)  # that are read; parts of format 3 were never compacted


@dataclass(frozen=True)
class Part:
    """Some of the topics.

    name : of its first files. digest : of what is in all of them; compacting does not change it. assessors : numbers of
    those who have judgments in it. added_runs, added_judgments : names of further files, with rows that were added
    later. compacted_runs, compacted_judgments : of how many of these the rows are in one file with the first, which is
    then named after this number.
    """

    name: str
    n_run_rows: int
    n_judgments: int
    digest: str
    assessors: tuple[int, ...]
    added_runs: tuple[str, ...] = ()
    added_judgments: tuple[str, ...] = ()
    compacted_runs: int = 0
    compacted_judgments: int = 0

    def files(self, kind: str) -> tuple[str, ...]:
        """The names of its files, in the order of their rows. kind : "runs" or "judgments"."""
        added: tuple[str, ...] = getattr(self, f"added_{kind}")
        compacted: int = getattr(self, f"compacted_{kind}")
        return (f"{self.name}-compacted-{compacted}" if compacted else self.name, *added[compacted:])


@dataclass(frozen=True, eq=False)
class PartitionedCollection:
    """A partitioned collection: what is known without reading its parts.

    systems, assessors : names. scales : of the assessors. summaries : of each assessor's values, what a scale is
    inferred from (`qrowd.partitions.survey.summary_of`). sources : (assessors,) number of the table each comes from.
    judged_topics, run_topics : labels, in the order in which they were read; part_of : {topic: number of its part}.
    columns : columns of judgments that were recorded; has_ranks : whether runs state ranks.
    n_repeats : judgments that repeat an earlier one. notes : what was noticed while files were read.
    """

    folder: Path
    systems: tuple[str, ...]
    assessors: tuple[str, ...]
    scales: tuple[Scale, ...]
    summaries: tuple[tuple[float, ...], ...] = field(repr=False)
    sources: tuple[int, ...]
    judged_topics: tuple[str, ...]
    run_topics: tuple[str, ...]
    part_of: Mapping[str, int] = field(repr=False)
    parts: tuple[Part, ...] = field(repr=False)
    columns: tuple[str, ...]
    has_ranks: bool
    run_notes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"PartitionedCollection({self.sizes})"

    @property
    def sizes(self) -> str:
        """How many parts, systems, topics, assessors and rows, in words."""
        rows, judgments = (sum(getattr(part, name) for part in self.parts) for name in ("n_run_rows", "n_judgments"))
        counts = (
            (len(self.systems), "system"),
            (len(self.judged_topics), "judged topic"),
            (len(self.assessors), "assessor"),
            (rows, "retrieved document"),
            (judgments, "judgment"),
        )
        return f"{plural(len(self.parts), 'part')}: {', '.join(plural(n, noun) for n, noun in counts)}"

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per part: part, n_topics that are judged, n_run_rows, n_judgments."""
        from qrowd.model.frames import make_frame

        columns = {
            "part": np.array([part.name for part in self.parts], object),
            "n_topics": np.array([len(judged) for judged, _ in self.topics_by_part], np.int64),
            "n_run_rows": np.array([part.n_run_rows for part in self.parts], np.int64),
            "n_judgments": np.array([part.n_judgments for part in self.parts], np.int64),
        }
        return make_frame(columns, backend)

    @cached_property
    def runs(self) -> PartitionedRuns:
        """All runs; their rows are read when something asks for them."""
        return PartitionedRuns(collection=self)

    @cached_property
    def judgments(self) -> PartitionedJudgments:
        """All judgments; their rows are read when something asks for them."""
        return PartitionedJudgments(collection=self)

    @cached_property
    def topics_by_part(self) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
        """Of each part the judged topics, and those that are only in runs."""
        lists: list[tuple[list[str], list[str]]] = [([], []) for _ in self.parts]
        for topic in self.judged_topics:
            lists[self.part_of[topic]][0].append(topic)
        judged = set(self.judged_topics)
        for topic in self.run_topics:
            if topic not in judged:
                lists[self.part_of[topic]][1].append(topic)
        return tuple((tuple(own), tuple(others)) for own, others in lists)

    def read(self, number: int) -> tuple[Runs, Judgments]:
        """The runs and the judgments of a part, with the systems and scales of the whole, and its own assessors.

        Raises
        ------
        FileError
            A file that is missing or damaged.
        """
        judgments, own = self.read_judgments(number), list(self.parts[number].assessors)
        place = np.full(len(self.assessors), -1, np.int32)
        place[own] = np.arange(len(own))
        judgments = replace(
            judgments,
            assessors=tuple(self.assessors[a] for a in own),
            assessor=place[judgments.assessor],
            scales=tuple(self.scales[a] for a in own),
            sources=tuple(self.sources[a] for a in own),
        )
        return self.read_runs(number), judgments

    def read_runs(self, number: int) -> Runs:
        """The runs of a part. Their topics are all of the part, judged ones first."""
        judged, others = self.topics_by_part[number]
        columns = self._columns("runs", number, labels=("system", "topic", "document"), numbers=("score", "rank"))
        system, topic = columns.numbered("system", self.systems), columns.numbered("topic", (*judged, *others))
        documents, document = columns.own("document")
        rank = columns.numbers["rank"] if self.has_ranks else None
        try:
            return Runs(
                self.systems, (*judged, *others), documents, system, topic, document, columns.numbers["score"], rank,
                self.run_notes,
            )  # fmt: skip
        except RowError as error:  # a document twice in a list, which pieces of a file do not show
            raise FileError(columns.path, error.problem) from None

    def read_judgments(self, number: int) -> Judgments:
        """The judgments of a part, with the assessors of the whole."""
        judged, _ = self.topics_by_part[number]
        numbers = ("value", *(name for name in ("order", "seconds") if name in self.columns))
        texts = tuple(name for name in ("unit", "time", "comment") if name in self.columns)
        columns = self._columns(
            "judgments", number, labels=("topic", "document", "assessor"), numbers=numbers, texts=texts
        )
        topic, assessor = columns.numbered("topic", judged), columns.numbered("assessor", self.assessors)
        documents, document = columns.own("document")
        optional: dict[str, Any] = {name: columns.numbers[name] for name in numbers[1:]}
        optional |= {name: columns.texts[name] for name in texts}
        return Judgments(
            judged, documents, self.assessors, topic, document, assessor, columns.numbers["value"], self.scales,
            self.sources, **optional, notes=self.notes,
        )  # fmt: skip

    def _columns(self, kind: str, number: int, **names: tuple[str, ...]) -> PartColumns:
        """Columns of a part.

        Raises
        ------
        FileError
            A file that is missing or damaged.
        """
        try:
            return read_columns(self.paths(kind, number), **names)
        except FileError:
            self.refuse_changed()  # files were compacted, and are not there any more
            raise

    def paths(self, kind: str, number: int) -> tuple[Path, ...]:
        """The files of a part, in the order of their rows. kind : "runs" or "judgments"."""
        return tuple(self.folder / kind / f"{name}.parquet" for name in self.parts[number].files(kind))

    def own_scales(self) -> dict[str, Scale]:
        """As `Judgments.own_scales`."""
        return own_scales_of(self.assessors, self.scales, [np.array(summary) for summary in self.summaries])

    def stopping_short(self) -> dict[str, Scale]:
        """As `Judgments.stopping_short`."""
        return short_of(self.assessors, self.scales, [np.array(summary) for summary in self.summaries])

    def is_same(self, other: object) -> bool:
        """Whether both are of one folder."""
        return isinstance(other, PartitionedCollection) and other.folder.resolve() == self.folder.resolve()

    def refuse_changed(self) -> None:
        """Raise FileError where the folder holds another survey than when it was opened."""
        if _text_of(self.folder) != self.to_json() and open_partitioned(self.folder).to_json() != self.to_json():
            raise FileError(self.folder, "was changed after it was opened; open it again (qrowd.open_partitioned)")

    def to_json(self) -> str:
        """What the file of the survey holds."""
        numbers = {topic: self.part_of[topic] for topic in dict.fromkeys((*self.judged_topics, *self.run_topics))}
        content = {
            "format": FORMAT,
            "systems": self.systems,
            "assessors": [
                {"name": name, "scale": _written(scale), "values": values, "source": source}
                for name, scale, values, source in zip(
                    self.assessors, self.scales, self.summaries, self.sources, strict=True
                )
            ],
            "judged_topics": self.judged_topics,
            "run_topics": self.run_topics,
            "part_of": list(numbers.values()),
            "parts": [vars(part) for part in self.parts],
            "columns": self.columns,
            "has_ranks": self.has_ranks,
            "run_notes": self.run_notes,
            "notes": self.notes,
        }
        return json.dumps(content, ensure_ascii=False)


def open_partitioned(folder: str | os.PathLike[str]) -> PartitionedCollection:
    """Open the collection that `qrowd partition` or `write_partitioned` wrote; no part of it is read.

    Raises
    ------
    FileError
        A folder without a survey, or one of another version.
    """
    if not isinstance(folder, str | os.PathLike):
        raise ArgumentError(f"folder: the path of a partitioned collection was expected, not {type(folder).__name__}")
    _, path = newest_survey(Path(folder))
    text = _text_of(Path(folder))
    try:
        content = json.loads(text)
    except ValueError as error:
        raise FileError(path, f"cannot be read: {error}; write the collection again") from None
    if not isinstance(content, dict) or content.get("format") not in FORMATS:
        raise FileError(path, f"is not of format {FORMAT}, which this version reads; write the collection again")
    assessors = content["assessors"]
    topics = dict.fromkeys((*content["judged_topics"], *content["run_topics"]))
    return PartitionedCollection(
        Path(folder),
        tuple(content["systems"]),
        tuple(one["name"] for one in assessors),
        tuple(_scale(one["scale"]) for one in assessors),
        tuple(tuple(one["values"]) for one in assessors),
        tuple(one["source"] for one in assessors),
        tuple(content["judged_topics"]),
        tuple(content["run_topics"]),
        dict(zip(topics, content["part_of"], strict=True)),
        tuple(map(_part, content["parts"])),
        tuple(content["columns"]),
        content["has_ranks"],
        tuple(content["run_notes"]),
        tuple(content["notes"]),
    )


def _text_of(folder: Path) -> str:
    """What the file of the survey holds.

    Raises
    ------
    FileError
        There is none, or it cannot be read.
    """
    try:
        return read_newest(folder)[1]
    except FileNotFoundError:
        problem = f"holds no {SURVEY}, so it is no partitioned collection; qrowd partition writes one"
        raise FileError(folder, problem) from None
    except (OSError, UnicodeError) as error:
        raise FileError(folder / SURVEY, f"cannot be read: {error}; write the collection again") from None


def _part(content: dict[str, Any]) -> Part:
    return Part(**{**content, **{name: tuple(content[name]) for name in PART_TUPLES}})


def _written(scale: Scale) -> dict[str, Any]:
    return {**vars(scale), "maximum": None if scale.maximum == inf else scale.maximum}


def _scale(content: dict[str, Any]) -> Scale:
    return Scale(**{**content, "maximum": inf if content["maximum"] is None else content["maximum"]})


# ---------------------------------------------------------------------- runs and judgments that are read when needed


class _Unread:
    """A column of which nothing is read before somebody asks for it; then all columns are."""

    def __init__(self, name: str, read: Callable[[PartitionedCollection], Runs | Judgments]) -> None:
        self.name, self.read = name, read

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return None
        whole = self.read(instance.collection)
        vars(instance).update({one.name: getattr(whole, one.name) for one in fields(whole)})
        return vars(instance)[self.name]


def read_all_runs(collection: PartitionedCollection) -> Runs:
    """The runs of all parts, with the topics in the order of the survey."""
    runs = concatenate_runs([collection.read_runs(number) for number in range(len(collection.parts))])
    topic = _in_order(runs.topics, runs.topic, collection.run_topics)
    rank = runs.rank if collection.has_ranks else None
    columns = (runs.documents, runs.system, topic, runs.document, runs.score, rank)
    return Runs(collection.systems, collection.run_topics, *columns, collection.run_notes)


def read_all_judgments(collection: PartitionedCollection) -> Judgments:
    """The judgments of all parts, with the topics in the order of the survey."""
    whole = concatenate_judgments([collection.read_judgments(number) for number in range(len(collection.parts))])
    topic = _in_order(whole.topics, whole.topic, collection.judged_topics)
    labels = (collection.judged_topics, whole.documents, collection.assessors)
    optional = {name: getattr(whole, name) for name in Judgments.OPTIONAL}
    codes = (topic, whole.document, whole.assessor)
    scales, sources = collection.scales, collection.sources
    return Judgments(*labels, *codes, whole.value, scales, sources, **optional, notes=collection.notes)


def _in_order(labels: Sequence[str], codes: Codes, ordered: Sequence[str]) -> Codes:
    """The codes as numbers into other labels, which hold all that are used."""
    place = {label: i for i, label in enumerate(ordered)}
    own: Codes = np.array([place.get(label, -1) for label in labels], np.int32)[codes]
    return own


class PartitionedRuns(Runs):
    """All runs of a collection. With columns instead of a collection it makes plain `Runs`, as `replace` does."""

    collection: PartitionedCollection

    def __new__(cls, *columns: Any, **named: Any) -> Any:
        return object.__new__(cls) if "collection" in named else Runs(*columns, **named)

    def __init__(self, *, collection: PartitionedCollection) -> None:
        notes = collection.run_notes
        vars(self).update(collection=collection, systems=collection.systems, topics=collection.run_topics, notes=notes)

    def __len__(self) -> int:
        return sum(part.n_run_rows for part in self.collection.parts)

    def __reduce__(self) -> Any:
        return _opened_runs, (self.collection.folder,)

    def _display(self) -> Display:
        return Display("Runs", f"Runs of a collection of {self.collection.sizes}.")


class PartitionedJudgments(Judgments):
    """All judgments of a collection. With columns instead of a collection it makes plain `Judgments`."""

    collection: PartitionedCollection

    def __new__(cls, *columns: Any, **named: Any) -> Any:
        return object.__new__(cls) if "collection" in named else Judgments(*columns, **named)

    def __init__(self, *, collection: PartitionedCollection) -> None:
        vars(self).update(
            collection=collection,
            topics=collection.judged_topics,
            assessors=collection.assessors,
            scales=collection.scales,
            sources=collection.sources,
            notes=collection.notes,
        )

    def __len__(self) -> int:
        return sum(part.n_judgments for part in self.collection.parts)

    def __reduce__(self) -> Any:
        return _opened_judgments, (self.collection.folder,)

    def _display(self) -> Display:
        return Display("Judgments", f"Judgments of a collection of {self.collection.sizes}.")

    def own_scales(self) -> Any:
        return self.collection.own_scales()

    def stopping_short(self) -> Any:
        return self.collection.stopping_short()


for _name in ("documents", "system", "topic", "document", "score", "rank"):
    setattr(PartitionedRuns, _name, _Unread(_name, read_all_runs))
for _name in ("documents", "topic", "document", "assessor", "value", *Judgments.OPTIONAL):
    setattr(PartitionedJudgments, _name, _Unread(_name, read_all_judgments))


def _opened_runs(folder: Any) -> Runs:
    return open_partitioned(folder).runs


def _opened_judgments(folder: Any) -> Judgments:
    return open_partitioned(folder).judgments
