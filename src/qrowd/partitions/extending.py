"""Adding to a partitioned collection: rows in a stream, as further files of the parts that they are of.

The survey is written last, and at once: until then the folder holds the old collection, whatever happens.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from uuid import uuid4

import numpy as np

from qrowd.errors import ArgumentError, FileError
from qrowd.model.inferred_scales import scales_of_parts
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.model.scales import Scale
from qrowd.partitions.collection import SURVEY, Part, PartitionedCollection, open_partitioned
from qrowd.partitions.survey import summary_of
from qrowd.partitions.writing import PartitionWriter, digest_of


def write_added(
    folder: str | os.PathLike[str], *, runs: Runs | None = None, judgments: Judgments | None = None
) -> PartitionedCollection:
    """Add runs and judgments that are in memory to a partitioned collection; from files: `qrowd.extend_partitioned`.

    runs : of new systems, or of new topics. judgments : of new or known assessors, topics and documents.

    Raises
    ------
    ArgumentError
        Lists of a system and a topic that the collection has; rows that were added before.
    ScaleError
        An assessor whose new judgments declare another scale.
    """
    with PartitionExtender(open_partitioned(folder)) as extender:
        if judgments is not None:
            extender.add_judgments(judgments)
        if runs is not None:
            extender.add_runs(runs)
        return extender.finish(scales=None if judgments is None else judgments.scales)


class PartitionExtender(PartitionWriter):
    """Adds to a partitioned collection in a stream: `add_runs` and `add_judgments` any number of times, then `finish`.

    Used as a context manager; without `finish` the collection stays as it is.
    """

    def __init__(self, collection: PartitionedCollection) -> None:
        self.folder = collection.folder
        self._survey = _survey_of(self.folder)
        self._before = open_partitioned(self.folder)  # perhaps others have added to it
        self._begin(self.folder / f".added.{uuid4().hex}", len(self._before.parts), self._before.part_of)

    def add_runs(self, runs: Runs) -> None:
        """Write the rows of these runs to their parts.

        Raises
        ------
        ArgumentError
            A list of a system and a topic that the collection has.
        """
        old_system = np.isin(runs.systems, self._before.systems)[runs.system]
        old_topic = np.isin(runs.topics, self._before.run_topics)[runs.topic]
        known = np.flatnonzero(old_system & old_topic)
        if known.size:
            system, topic = runs.systems[runs.system[known[0]]], runs.topics[runs.topic[known[0]]]
            raise ArgumentError(
                f"runs: system {system} and topic {topic} are in {self.folder} already; add new systems or new "
                "topics, or write the collection again"
            )
        super().add_runs(runs)

    def finish(self, *, scales: tuple[Scale, ...] | None = None) -> PartitionedCollection:
        """Write what is left, and then the survey of all.

        scales : of the assessors of what was added; default: those that were declared, and inferred ones.

        Raises
        ------
        ArgumentError
            Nothing was added, or rows that were added before.
        FileError
            Another process has changed the collection meanwhile.
        ScaleError
            An assessor whose new judgments declare another scale.
        """
        before = self._before
        for own in self._files.values():
            own.flush()
        files = {kind: own.close_used() for kind, own in self._files.items()}
        if not any(files.values()):
            raise ArgumentError("runs, judgments: there are none to add")
        whole = self._with_assessors(before, scales)
        place = {name: a for a, name in enumerate(whole.assessors)}
        survey = replace(
            whole,
            systems=_all(before.systems, self._systems),
            judged_topics=_all(before.judged_topics, self._judged_topics),
            run_topics=_all(before.run_topics, self._run_topics),
            part_of={**before.part_of, **self._part_of},
            parts=tuple(self._extended(number, part, files, place) for number, part in enumerate(before.parts)),
            columns=tuple(name for name in Judgments.OPTIONAL if name in {*before.columns, *self._columns}),
            has_ranks=before.has_ranks or self._has_ranks,
            run_notes=_all(before.run_notes, self._run_notes),
            notes=_all(before.notes, self._notes),
        )
        written = self._temporary / SURVEY
        written.write_text(survey.to_json(), "utf-8")
        if _survey_of(self.folder) != self._survey:
            raise FileError(self.folder, "was changed by another process meanwhile; nothing was added, try again")
        for kind, written_files in files.items():
            for number, file in written_files.items():
                file.rename(survey.paths(kind, number)[-1])
        written.replace(self.folder / SURVEY)
        return open_partitioned(self.folder)

    def _with_assessors(self, before: PartitionedCollection, scales: tuple[Scale, ...] | None) -> PartitionedCollection:
        """The collection with the assessors of all judgments, and scales that hold all values."""
        new = self._assessors
        summaries = dict(zip(before.assessors, map(np.array, before.summaries), strict=True))
        for name, summary in zip(new.assessors, new.summaries(), strict=True):
            summaries[name] = summary_of(np.concatenate([summaries.get(name, np.zeros(0)), summary]))
        stated = [
            (before.assessors, before.scales, before.sources),
            (new.assessors, scales or new.scales(), new.sources()),
        ]
        assessors = tuple(summaries)
        own_scales, sources = scales_of_parts(stated, assessors, list(summaries.values()))
        values = tuple(tuple(summary.tolist()) for summary in summaries.values())
        return replace(before, assessors=assessors, scales=own_scales, summaries=values, sources=sources)

    def _extended(self, number: int, part: Part, files: dict[str, dict[int, Path]], place: dict[str, int]) -> Part:
        """The part with the files that were written for it, which are named after what they hold."""
        digests = {kind: digest_of(own[number]) for kind, own in files.items() if number in own}
        if not digests:
            return part
        names = {kind: (f"{part.name}-{digest[:16]}",) for kind, digest in digests.items()}
        for kind, earlier in (("runs", part.added_runs), ("judgments", part.added_judgments)):
            if set(names.get(kind, ())) & set(earlier):
                raise ArgumentError(f"{kind}: the same rows were added to {self.folder} before; nothing was added")
        return replace(
            part,
            n_run_rows=part.n_run_rows + self._files["runs"].n_rows[number],
            n_judgments=part.n_judgments + self._files["judgments"].n_rows[number],
            digest=sha256("".join((part.digest, *digests.values())).encode()).hexdigest(),
            assessors=tuple(sorted({*part.assessors, *(place[name] for name in self._assessors_of[number])})),
            added_runs=(*part.added_runs, *names.get("runs", ())),
            added_judgments=(*part.added_judgments, *names.get("judgments", ())),
        )

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for files in self._files.values():
            files.close_used()
        shutil.rmtree(self._temporary, ignore_errors=True)


def _all(before: tuple[str, ...], added: Mapping[str, object]) -> tuple[str, ...]:
    """Each label once, the known ones first."""
    return tuple(dict.fromkeys((*before, *added)))


def _survey_of(folder: Path) -> bytes:
    """What the file of the survey holds."""
    try:
        return (folder / SURVEY).read_bytes()
    except OSError as error:
        raise FileError(folder / SURVEY, f"cannot be read: {(error.strerror or str(error)).lower()}") from None
