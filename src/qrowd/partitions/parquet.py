"""Columns of a part, to and from Parquet: labels as text, so that any tool reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import FileError, QrowdError
from qrowd.kernels.arrays import Codes, Floats

RUN_COLUMNS = {"system": "text", "topic": "text", "document": "text", "score": "number", "rank": "number"}
JUDGMENT_COLUMNS = {
    "topic": "text",
    "document": "text",
    "assessor": "text",
    "value": "number",
    "order": "number",
    "unit": "text",
    "seconds": "number",
    "time": "text",
    "comment": "text",
}


@dataclass(frozen=True, eq=False)
class PartColumns:
    """What was read of a file.

    labels : {column: (its distinct texts, (rows,) numbers into them)}. numbers : {column: (rows,)}, nan where empty.
    texts : {column: (rows,) texts or None}.
    """

    path: Path
    labels: Mapping[str, tuple[list[str], Codes]]
    numbers: Mapping[str, Floats]
    texts: Mapping[str, NDArray[np.object_]]

    def own(self, name: str) -> tuple[tuple[str, ...], Codes]:
        """The texts of a column, and the number of each row's."""
        words, codes = self.labels[name]
        return tuple(words), codes

    def numbered(self, name: str, labels: Sequence[str]) -> Codes:
        """(rows,) numbers into these labels.

        Raises
        ------
        FileError
            A text that is not among them: the file was changed.
        """
        words, codes = self.labels[name]
        place = {label: i for i, label in enumerate(labels)}
        unknown = next((word for word in words if word not in place), None)
        if unknown is not None:
            raise FileError(
                self.path, f"{name} {unknown!r} is not in the survey of the collection; write the collection again"
            )
        return np.array([place[word] for word in words], np.int32)[codes]


def need_pyarrow() -> Any:
    """pyarrow.

    Raises
    ------
    QrowdError
        It is not installed.
    """
    try:
        import pyarrow
    except ImportError:
        raise QrowdError(
            "partitioned collections are Parquet files, which need pyarrow; pip install 'qrowd[tables]'"
        ) from None
    return pyarrow


def schema_of(columns: Mapping[str, str]) -> Any:
    """The schema of a file with these columns."""
    arrow = need_pyarrow()
    kinds = {"text": arrow.string(), "number": arrow.float64()}
    return arrow.schema([(name, kinds[kind]) for name, kind in columns.items()])


def read_columns(
    paths: Sequence[Path], *, labels: Sequence[str], numbers: Sequence[str], texts: Sequence[str] = ()
) -> PartColumns:
    """Read some columns of a part, file after file.

    Raises
    ------
    FileError
        A file that is missing or damaged.
    """
    arrow = need_pyarrow()
    tables = [_table(path, [*labels, *numbers, *texts], labels) for path in paths]
    table = tables[0] if len(tables) == 1 else arrow.concat_tables(tables)
    return PartColumns(
        paths[0],
        {name: _codes(table.column(name)) for name in labels},
        {name: table.column(name).to_numpy() for name in numbers},
        {name: np.array(table.column(name).to_pylist(), object) for name in texts},
    )


def _table(path: Path, columns: Sequence[str], labels: Sequence[str]) -> Any:
    """The columns of one file; labels are kept as numbers and distinct texts."""
    arrow = need_pyarrow()
    from pyarrow import parquet

    try:
        return parquet.read_table(
            path, columns=list(columns), read_dictionary=list(labels), partitioning=None, use_threads=False
        )
    except FileNotFoundError:
        raise FileError(path, "there is no such file; the collection is not complete, write it again") from None
    except (arrow.ArrowException, OSError) as error:
        raise FileError(path, f"cannot be read: {str(error).splitlines()[0]}; write the collection again") from None


def _codes(column: Any) -> tuple[list[str], Codes]:
    """The distinct texts of a column, and the number of each row's."""
    whole = column.unify_dictionaries().combine_chunks()
    if whole.type.index_type.bit_width != 32:  # an empty column
        whole = whole.dictionary_encode() if not len(whole) else whole
    return whole.dictionary.to_pylist(), np.array(whole.indices.to_numpy(zero_copy_only=False), np.int32)
