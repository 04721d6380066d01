"""Adding to a partitioned collection: rows in a stream, as further files of the parts that they are of.

The survey is written last, and at once: until then the folder holds the old collection, whatever happens, and of two
additions at once only one can write it (`survey_files`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import numpy as np

from qrowd.errors import ArgumentError, FileError
from qrowd.executors import AnyExecutor
from qrowd.model.inferred_scales import scales_of_parts
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.model.scales import Scale
from qrowd.partitions.collection import Part, PartitionedCollection, open_partitioned
from qrowd.partitions.rows import Layout, WrittenFile
from qrowd.partitions.survey import summary_of
from qrowd.partitions.survey_files import SURVEY, newest_survey, put_in_force
from qrowd.partitions.writing import PartitionWriter, Progress


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

    `add_runs` refuses lists of a system and a topic that the collection has. Used as a context manager; without
    `finish` the collection stays as it is.
    """

    def __init__(self, collection: PartitionedCollection) -> None:
        self.folder = collection.folder
        self._number, _ = newest_survey(self.folder)
        before = self._before = open_partitioned(self.folder)  # perhaps others have added to it
        layout = Layout(
            len(before.parts),
            before.part_of,
            str(self.folder),
            frozenset(before.systems),
            frozenset(before.run_topics),
        )
        self._begin(self.folder / f".added.{uuid4().hex}", layout)

    def finish(
        self, *, scales: tuple[Scale, ...] | None = None, executor: AnyExecutor = None, progress: Progress = None
    ) -> PartitionedCollection:
        """Write the files of what was added, and then the survey of all.

        scales : of the assessors of what was added; default: those that were declared, and inferred ones. executor :
        whose workers write the files; they must see the folder. progress : called with the parts that are written, and
        all parts with new rows.

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
        n_rows = sum(files.n_rows for files in self._store.files().values())
        files = self._write(np.flatnonzero(n_rows).tolist(), executor, progress, empty=False)
        if not files:
            raise ArgumentError("runs, judgments: there are none to add")
        whole = self._with_assessors(before, scales)
        new_topics = dict.fromkeys((*self._judged_topics, *self._run_topics))
        place = {name: a for a, name in enumerate(whole.assessors)}
        survey = replace(
            whole,
            systems=_all(before.systems, self._systems),
            judged_topics=_all(before.judged_topics, self._judged_topics),
            run_topics=_all(before.run_topics, self._run_topics),
            part_of={**before.part_of, **{topic: self.layout.part(topic) for topic in new_topics}},
            parts=tuple(
                self._extended(number, part, files.get(number, {}), place) for number, part in enumerate(before.parts)
            ),
            columns=tuple(name for name in Judgments.OPTIONAL if name in {*before.columns, *self._columns}),
            has_ranks=before.has_ranks or self._has_ranks,
            run_notes=_all(before.run_notes, self._run_notes),
            notes=_all(before.notes, self._notes),
        )
        written = self._temporary / SURVEY
        written.write_text(survey.to_json(), "utf-8")
        refusal = FileError(self.folder, "was changed by another process meanwhile; nothing was added, try again")
        if newest_survey(self.folder)[0] != self._number:
            raise refusal
        for number, own in files.items():
            for kind, file in own.items():
                Path(file.path).replace(survey.paths(kind, number)[-1])
        if not put_in_force(written, self.folder, self._number + 1):
            raise refusal  # files that were written are named by no survey, and by the next one if it is tried again
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

    def _extended(self, number: int, part: Part, files: Mapping[str, WrittenFile], place: dict[str, int]) -> Part:
        """The part with the files that were written for it, which are named after what they hold."""
        if not files:
            return part
        names = {kind: (f"{part.name}-{file.digest[:16]}",) for kind, file in files.items()}
        for kind, earlier in (("runs", part.added_runs), ("judgments", part.added_judgments)):
            if set(names.get(kind, ())) & set(earlier):
                raise ArgumentError(f"{kind}: the same rows were added to {self.folder} before; nothing was added")
        n_rows = {kind: file.n_rows for kind, file in files.items()}
        return replace(
            part,
            n_run_rows=part.n_run_rows + n_rows.get("runs", 0),
            n_judgments=part.n_judgments + n_rows.get("judgments", 0),
            digest=sha256("".join((part.digest, *(file.digest for file in files.values()))).encode()).hexdigest(),
            assessors=tuple(sorted({*part.assessors, *(place[name] for name in self._assessors_of[number])})),
            added_runs=(*part.added_runs, *names.get("runs", ())),
            added_judgments=(*part.added_judgments, *names.get("judgments", ())),
        )


def _all(before: tuple[str, ...], added: Mapping[str, object]) -> tuple[str, ...]:
    """Each label once, the known ones first."""
    return tuple(dict.fromkeys((*before, *added)))
