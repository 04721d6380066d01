"""What a set of files contains: questions about the data before any number is computed from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from qrowd import files, tables, trec
from qrowd.errors import FileError, InputError
from qrowd.model.alignment import align
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.reports.document import Table
from qrowd.reports.phrases import cells, count, percent, span

MISTAKES_SHOWN = 10
Whole = TypeVar("Whole", Judgments, Runs)


@dataclass(frozen=True, eq=False)
class Inspection:
    """The content of the files, and mistakes in them.

    mistakes : one line each, at most MISTAKES_SHOWN a file and then how many more.
    runs, judgments : what could be read, or None.
    """

    mistakes: tuple[str, ...]
    runs: Runs | None
    judgments: Judgments | None

    def tables(self) -> Iterator[Table]:
        """One row per system of the runs, and one per assessor of the judgments."""
        if self.runs is not None:
            ranked = self.runs.ranked()
            lengths = [row[row > 0] for row in ranked.lengths]
            columns = {
                "system": list(self.runs.systems),
                "topics": [str(row.size) for row in lengths],
                "documents": [f"{row.sum():,}" for row in lengths],
                "list length": [span(row.min(), row.max()) for row in lengths],
                "lists with ties": cells(str, ranked.tied_lists().sum(axis=1)),
            }
            yield Table.of("runs", columns)
        if self.judgments is not None:
            judgments = self.judgments
            coverage = judgments.coverage()
            values = [judgments.value[judgments.assessor == a] for a in range(len(judgments.assessors))]
            columns = {
                "assessor": list(judgments.assessors),
                "scale": cells(str, judgments.scales),
                "judgments": [f"{row.size:,}" for row in values],
                "topics": cells(str, (coverage > 0).sum(axis=1)),
                "of the pool": cells(percent, coverage.mean(axis=1), digits=1),
                "repeats": cells("{:,}".format, judgments.repeats_by_assessor()),
                "values": cells(_values, values),
            }
            yield Table.of("judgments", columns)

    def remarks(self) -> list[str]:
        """Facts that the rows do not show."""
        remarks = []
        if self.runs is not None:
            runs = self.runs
            n_lists = int(np.count_nonzero(runs.ranked().lengths))
            n_missing = len(runs.systems) * len(runs.topics) - n_lists
            topics, documents = count(len(runs.topics), "topic"), count(len(runs), "document")
            remarks.append(f"runs: {count(len(runs.systems), 'system')}, {topics}, {documents}")
            if n_missing:
                pairs = count(n_missing, "(system, topic) pair has", "(system, topic) pairs have")
                remarks.append(f"missing: {pairs} no list")
            if contradictions := runs.rank_contradictions:
                remarks.append(f"ranks: in {count(contradictions, 'list')} the rank column contradicts the scores")
        if self.judgments is not None:
            judgments = self.judgments
            remarks.append(
                f"judgments: {len(judgments):,} of {count(len(judgments.topics), 'topic')} and "
                f"{count(len(judgments.documents), 'document')} by {count(len(judgments.assessors), 'assessor')}"
            )
            if negative := int((judgments.value < 0).sum()):
                mean = count(negative, "value below 0 means", "values below 0 mean")
                remarks.append(f"negative: {mean} pooled but not judged, unless recoded")
        if self.runs is not None and self.judgments is not None:
            remarks.append(_together(self.runs, self.judgments))
        return remarks


def _together(runs: Runs, judgments: Judgments) -> str:
    shared = len(set(runs.topics) & set(judgments.topics))
    if not shared:
        return "together: runs and judgments share no topic"
    unjudged = align(runs, judgments.panel().pool).unjudged_share(10)
    topics = count(shared, "shared topic")
    return f"together: {topics}; {percent(unjudged, 1)} of the first 10 documents were judged by nobody"


def inspect(paths: Sequence[str], assessor: str = "file") -> Inspection:
    """Read files of any kind, telling runs from judgments by their lines, and collect mistakes instead of stopping."""
    mistakes: list[str] = []
    run_files: list[str] = []
    judgment_files: list[str] = []
    for path in files.find_files(paths):
        try:
            text = files.read_bytes(path)
            kind = _kind(text, str(path))
            if not tables.is_table(text, str(path)):
                lines = list(islice(trec.mistakes(text, str(path), kind), MISTAKES_SHOWN + 1))
                mistakes += map(str, lines[:MISTAKES_SHOWN])
                if len(lines) > MISTAKES_SHOWN:
                    mistakes.append(f"{path}: more mistakes follow")
                if lines:
                    continue
            (run_files if kind is trec.RUN else judgment_files).append(str(path))
        except FileError as error:
            mistakes.append(str(error))
    runs = _readable(run_files, files.read_runs, mistakes)
    judgments = _readable(judgment_files, lambda paths: files.read_judgments(paths, assessor=assessor), mistakes)
    return Inspection(tuple(mistakes), runs, judgments)


def _readable(paths: list[str], read: Callable[[list[str]], Whole], mistakes: list[str]) -> Whole | None:
    """What the files hold; a file that cannot be read is noted and left out, the others still count."""
    while paths:
        try:
            return read(paths)
        except FileError as error:
            mistakes.append(str(error))
            remaining = [path for path in paths if path != error.path]
            if len(remaining) == len(paths):
                return None
            paths = remaining
        except InputError as error:
            mistakes.append(str(error))
            return None
    return None


def _kind(text: bytes, name: str) -> trec.Format:
    """Runs or judgments: by the number of fields, or by whether a table has a system and no assessor."""
    if tables.is_table(text, name):
        return trec.RUN if tables.table_kind(text, name) == "runs" else trec.QRELS
    line = next((line for line in text.split(b"\n") if line.strip() and not line.startswith(b"#")), b"")
    return trec.RUN if len(line.split()) > trec.QRELS.n_fields else trec.QRELS


def _values(values: NDArray[np.float64]) -> str:
    """Each value with its share, or the quartiles where there are many values."""
    distinct, counts = np.unique(values, return_counts=True)
    if distinct.size <= 7:
        return "  ".join(f"{v:g}: {100 * c / values.size:.0f} %" for v, c in zip(distinct, counts, strict=True))
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    return f"{distinct.size} values, {distinct[0]:g} to {distinct[-1]:g}, quartiles {low:g} {middle:g} {high:g}"
