"""Scores as Parquet files that any tool reads, and back: the same to the bit.

The folder holds `scores/part-00000.parquet` and so on, each with some of the topics (columns measure, assessor, topic,
system, score), `assessors.parquet` (measure, assessor, topic, relevant, coverage) and `scores.json`, with the labels in
their order and the attributes. An empty score is nan.
"""

from __future__ import annotations

import json
import os
import shutil
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, FileError
from qrowd.kernels.arrays import Floats
from qrowd.model.scales import Scale
from qrowd.model.scores import DIMENSIONS, Scores, scores_of
from qrowd.partitions.parquet import need_pyarrow

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores

CONTENTS, ASSESSORS, FOLDER = "scores.json", "assessors.parquet", "scores"
FORMAT = 1
ROWS_OF_A_FILE = 4_000_000


def write_scores(folder: str | os.PathLike[str], scores: AnyScores, *, rows_per_file: int = ROWS_OF_A_FILE) -> None:
    """Write scores as Parquet files, each with all scores of some topics.

    folder : it must not exist, and appears when it is complete. rows_per_file : at most, but one topic at least.

    Raises
    ------
    FileError
        A folder that exists already, or cannot be made.
    ArgumentError
        An attribute that cannot be written.
    """
    need_pyarrow()
    whole, path = scores_of(scores), Path(folder)
    if rows_per_file < 1:
        raise ArgumentError(f"rows_per_file={rows_per_file}: at least 1 was expected")
    if path.exists():
        raise FileError(folder, "exists already; name another folder")
    contents = {"format": FORMAT, **{f"{name}s": getattr(whole, f"{name}s") for name in DIMENSIONS}}
    contents["attributes"] = _plain(dict(whole.attributes))
    temporary = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        (temporary / FOLDER).mkdir(parents=True)
        n_topics = len(whole.topics)
        at_once = max(rows_per_file * n_topics // max(whole.values.size, 1), 1)
        for number, first in enumerate(range(0, n_topics, at_once)):
            topics = slice(first, first + at_once)
            _write(
                temporary / FOLDER / f"part-{number:05d}.parquet", whole, topics, {"score": whole.values[:, :, topics]}
            )
        coverage = np.broadcast_to(whole.coverage, whole.relevant.shape)
        _write(temporary / ASSESSORS, whole, slice(None), {"relevant": whole.relevant, "coverage": coverage})
        (temporary / CONTENTS).write_text(json.dumps(contents, ensure_ascii=False), "utf-8")
        temporary.rename(path)
    except OSError as error:
        raise FileError(folder, f"cannot be written: {(error.strerror or str(error)).lower()}") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def open_scores(folder: str | os.PathLike[str]) -> Scores:
    """The scores that `write_scores` wrote.

    Raises
    ------
    FileError
        A folder without scores, or with a file that is missing or damaged.
    """
    path = Path(folder)
    try:
        contents = json.loads((path / CONTENTS).read_text("utf-8"))
    except FileNotFoundError:
        raise FileError(folder, f"holds no {CONTENTS}, so it holds no scores that write_scores wrote") from None
    except (OSError, ValueError) as error:
        raise FileError(path / CONTENTS, f"cannot be read: {error}; write the scores again") from None
    if not isinstance(contents, dict) or contents.get("format") != FORMAT:
        raise FileError(path / CONTENTS, f"is not of format {FORMAT}, which this version reads; write the scores again")
    measures, assessors, topics, systems = (tuple(contents[f"{name}s"]) for name in DIMENSIONS)
    shape = (len(measures), len(assessors), len(topics), len(systems))
    values, relevant, coverage = np.empty(shape), np.empty(shape[:3]), np.empty(shape[:3])
    n_rows = 0
    for file in sorted((path / FOLDER).glob("*.parquet")):
        columns = _read(file, contents, DIMENSIONS, ("score",))
        values[columns[:4]] = columns[4]
        n_rows += columns[4].size
    if n_rows != values.size:
        problem = f"holds {n_rows:,} of {values.size:,} scores: a file is missing; write the scores again"
        raise FileError(path / FOLDER, problem)
    columns = _read(path / ASSESSORS, contents, DIMENSIONS[:3], ("relevant", "coverage"))
    relevant[columns[:3]], coverage[columns[:3]] = columns[3:]
    attributes = _restored(contents["attributes"])
    return Scores(measures, assessors, topics, systems, values, relevant, coverage[0], attributes)


def _write(path: Path, scores: Scores, topics: slice, cells: dict[str, Floats]) -> None:
    """One file: a row per cell of some topics."""
    arrow = need_pyarrow()
    from pyarrow import parquet

    shape = next(iter(cells.values())).shape
    own_topics = scores.topics[topics]
    columns: dict[str, Any] = {}
    places = np.indices(shape, dtype=np.int32)
    for name, place in zip(DIMENSIONS, places, strict=False):
        labels = own_topics if name == "topic" else getattr(scores, f"{name}s")
        words = arrow.array(labels, arrow.string())
        columns[name] = arrow.DictionaryArray.from_arrays(arrow.array(place.ravel()), words)
    columns |= {name: arrow.array(np.ascontiguousarray(array).ravel()) for name, array in cells.items()}
    parquet.write_table(arrow.table(columns), path, compression="zstd")


def _read(
    path: Path, contents: dict[str, Any], labels: tuple[str, ...], numbers: tuple[str, ...]
) -> tuple[NDArray[Any], ...]:
    """The columns of a file: labels as numbers of the scores' own."""
    arrow = need_pyarrow()
    from pyarrow import parquet

    try:
        table = parquet.read_table(path, columns=[*labels, *numbers], partitioning=None)
        columns = []
        for name in labels:
            column = table.column(name).combine_chunks()
            number = {label: i for i, label in enumerate(contents[f"{name}s"])}
            place = np.array([number[label] for label in column.dictionary.to_pylist()], np.int64)
            columns.append(place[column.indices.to_numpy(zero_copy_only=False)])
        return (*columns, *(table.column(name).to_numpy() for name in numbers))
    except (arrow.ArrowException, OSError, KeyError) as error:
        raise FileError(path, f"cannot be read: {str(error).splitlines()[0]}; write the scores again") from None


def _plain(value: Any) -> Any:
    """A value as JSON: a scale, and a dictionary whose keys are no text, under a name of their own."""
    if isinstance(value, Scale):
        return {"scale": [None if cell == inf else cell for cell in vars(value).values()]}
    if isinstance(value, dict):
        return {"pairs": [[_plain(key), _plain(cell)] for key, cell in value.items()]}
    if isinstance(value, list | tuple):
        return [_plain(cell) for cell in value]
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | int | float):
        return value
    raise ArgumentError(f"scores: an attribute is {type(value).__name__}, which cannot be written; leave it out")


def _restored(value: Any) -> Any:
    """What `_plain` made, as it was."""
    if isinstance(value, list):
        return [_restored(cell) for cell in value]
    if not isinstance(value, dict):
        return value
    if "pairs" in value:
        return {_restored(key): _restored(cell) for key, cell in value["pairs"]}
    kind, maximum, declared, rel, normalised = value["scale"]
    return Scale(kind, inf if maximum is None else maximum, declared, rel, normalised)
