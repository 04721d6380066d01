"""Results give their rows as data frames."""

from dataclasses import dataclass

import numpy as np
import pytest

from qrowd.errors import ArgumentError
from qrowd.model.result import Result


@dataclass(frozen=True, eq=False)
class Ranking(Result):
    systems: tuple[str, ...]
    mean: np.ndarray
    measure: str
    groups: tuple[tuple[str, ...], ...]
    n_topics: int = 3

    _COLUMNS = ("systems", "mean", "leads", "measure")

    def leads(self):
        return self.mean == self.mean.max()


@dataclass(frozen=True)
class Value(Result):
    value: float
    method: str
    table: tuple[int, ...] = (1, 2)
    low: float | None = None


class Several(Ranking):
    def _tables(self):
        return {
            "systems": self._columns,
            "groups": lambda: {"system": [g[0] for g in self.groups], "size": len(self.groups)},
        }


RANKING = {"systems": ("a", "b"), "mean": np.array([0.5, 0.2]), "measure": "AP", "groups": (("a",), ("b", "c"))}


def test_named_fields_and_methods_are_columns_labels_lose_their_plural_and_a_single_value_is_repeated():
    frame = Ranking(**RANKING).to_frame()
    assert frame.to_dict("list") == {
        "system": ["a", "b"],
        "mean": [0.5, 0.2],
        "leads": [True, False],
        "measure": ["AP", "AP"],
    }


def test_a_result_of_single_values_is_one_row_of_those_that_are_numbers_or_text():
    assert Value(0.5, "ours").to_frame().to_dict("list") == {"value": [0.5], "method": ["ours"]}


def test_a_result_without_rows_gives_a_frame_without_rows():
    frame = Several((), np.empty(0), "AP", ()).to_frame(what="groups")
    assert list(frame.columns) == ["system", "size"]
    assert len(frame) == 0


def test_one_of_several_tables_is_chosen_by_name_and_the_first_is_the_default():
    result = Several(**RANKING)
    assert result.to_frame().equals(Ranking(**RANKING).to_frame())
    assert result.to_frame(what="groups").to_dict("list") == {"system": ["a", "b"], "size": [2, 2]}
    with pytest.raises(ArgumentError, match="what='topics': choose one of systems, groups"):
        result.to_frame(what="topics")


@pytest.mark.parametrize("backend", ["polars", "pyarrow"])
def test_the_frame_may_be_of_another_library(backend):
    frame = Ranking(**RANKING).to_frame(backend)
    assert type(frame).__module__.split(".")[0] == backend
