"""The rows of several results as one data frame: what stands behind a figure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pandas import DataFrame

Named = Mapping[str, Any] | Iterable[tuple[str, Any]]


def stacked(frames: Named, column: str) -> DataFrame:
    """The rows of named frames one after another, their name in a last column."""
    import pandas as pd

    pairs = frames.items() if isinstance(frames, Mapping) else frames
    parts: list[DataFrame] = [frame.assign(**{column: name}) for name, frame in pairs]
    return pd.concat(parts, ignore_index=True)


def frame_of(rows: Iterable[Any], columns: list[str] | None = None) -> DataFrame:
    """One row per tuple, dataclass instance or mapping."""
    import pandas as pd

    return pd.DataFrame(list(rows), columns=columns)
