"""Each kernel gives in C what its Python function gives, on drawn input."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qrowd.kernels import compiled, confusion, correlation, disagreement, gains, gaps, max_t, preference, ranking, text

MODULES = (confusion, correlation, disagreement, gains, gaps, max_t, preference, ranking, text)
FOLDER = Path(compiled.__file__).parent
# In Python, some sums are NumPy's, whose order is its own, and functions such as exp; else all numbers are the same.
NEARLY = {
    *("_iterate", "expect_knowing", "rank_correlations", "add_densities", "divergences", "largest_t"),
    "shared_precision_sum",
}

needs_library = pytest.mark.skipif(not compiled.LIBRARY.exists(), reason="the kernels are not compiled")


def kernels() -> dict[str, Callable[..., Any]]:
    return {
        name: function
        for module in MODULES
        for name, function in vars(module).items()
        if hasattr(function, "__wrapped__") and function.__module__ == module.__name__
    }


class Draw:
    """Sizes and arrays of one example."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.n_documents, self.n_systems, self.n_assessors, self.depth = (int(n) for n in self.rng.integers(1, 9, 4))
        self.n_lists = self.n_documents * self.n_systems

    def codes(self, high: int, *shape: int, low: int = 0) -> np.ndarray[Any, Any]:
        return self.rng.integers(low, max(high, low + 1), shape, dtype=np.int32)

    def floats(self, *shape: int) -> np.ndarray[Any, Any]:
        """Some are equal, some are 0."""
        return np.where(self.rng.random(shape) < 0.5, self.rng.integers(0, 4, shape) / 4, self.rng.random(shape))

    def starts(self, n_groups: int, largest: int = 5, smallest: int = 0) -> np.ndarray[Any, Any]:
        return np.append(0, np.cumsum(self.rng.integers(smallest, largest, n_groups)))

    def gains(self) -> np.ndarray[Any, Any]:
        return self.floats(self.n_documents, self.n_assessors)

    def out(self, *shape: int) -> np.ndarray[Any, Any]:
        return np.full(shape, 7.0)

    # ---- arguments of kernels that share them

    def lists(self) -> tuple[Any, ...]:
        starts = self.starts(self.n_lists)
        return (
            starts,
            starts[1:].copy(),
            self.codes(self.n_documents, starts[-1]),
            self.codes(9, starts[-1]),
            self.gains(),
        )

    def rows(self) -> tuple[Any, ...]:
        return self.codes(self.n_documents, self.n_systems, self.depth, low=-1), self.gains()

    def scores(self) -> np.ndarray[Any, Any]:
        return self.out(self.n_systems, self.n_assessors)

    def levels(self) -> tuple[Any, ...]:
        counts, table = self.codes(4, 3, 4, self.n_assessors), np.sort(self.floats(2, 4))
        return counts, table, self.rng.integers(0, 2, self.n_assessors)

    def said(self) -> tuple[Any, ...]:
        starts = self.starts(self.n_documents)
        return starts, self.codes(self.n_assessors, starts[-1]), self.codes(3, starts[-1])

    def posterior(self) -> np.ndarray[Any, Any]:
        return self.rng.dirichlet(np.ones(3), self.n_documents)

    def rankings(self) -> tuple[Any, ...]:
        """Ranks of documents, the rank of those that are not ranked, and pairs of documents by assessor."""
        order = np.argsort(self.rng.random((self.n_systems, self.n_documents)), axis=1)
        limits = self.codes(self.n_documents + 2, self.n_systems, low=1)
        starts = self.starts(self.n_assessors)
        pairs = self.codes(self.n_documents, starts[-1], 2)
        return np.minimum(order + 1, limits[:, None]).astype(np.int32), limits, starts, pairs

    def words(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        words = [bytes(self.rng.integers(97, 99, self.rng.integers(0, 4)).tolist()) for _ in range(self.n_lists)]
        ends = np.cumsum([len(word) for word in words]) if words else np.zeros(0, np.int64)
        sizes = np.array([len(word) for word in words], np.int64)
        return np.frombuffer(b"".join(words) + b"\n", np.uint8), ends - sizes, ends

    def lines(self) -> np.ndarray[Any, Any]:
        fields = ["a", "bc", "1", "-2.5e3", "+0.1", "1e400", "x1", "7.", "1e-3", "1e", ".5"]
        rows = [
            " ".join(self.rng.choice(fields, 2 if self.rng.random() < 0.99 else 3)) + self.rng.choice([" \t", "", "\r"])
            for _ in range(self.n_lists)
        ]
        rows += ["# a comment", "  ", ""]
        return np.frombuffer(("\n".join(rows[i] for i in self.rng.permutation(len(rows))) + "\n").encode(), np.uint8)


def arguments(name: str, draw: Draw) -> tuple[Any, ...]:
    """Of a kernel. Arrays that it fills are among them."""
    d, rng = draw, draw.rng
    match name:
        case "weighted_sums":
            starts, ends, row, _, table = d.lists()
            return starts, ends, row, rng.random(row.size), table, 1, d.out(d.n_lists, d.n_assessors + 2)
        case "precision_sums" | "first_relevant":
            *lists, table = d.lists()
            return *lists, np.round(table), 1, d.out(d.n_lists, d.n_assessors + 2)
        case "cascade":
            return *d.lists(), 0.5, 1, d.out(d.n_lists, d.n_assessors + 2)
        case "topic_sums":
            starts = d.starts(3)
            return starts, d.floats(starts[-1], d.n_assessors)
        case "level_counts":
            starts = d.starts(3)
            codes = d.codes(4, starts[-1], d.n_assessors).astype(np.uint8)
            return codes, starts, np.zeros((3, 4, d.n_assessors), np.int32)
        case "look_up":
            _, table, scale = d.levels()
            return d.codes(4, d.n_documents, d.n_assessors).astype(np.uint8), table, scale, d.gains()
        case "ideal_of_counts":
            counts, table, scale = d.levels()
            order = np.array([[3, 2, 1, 0]] * 2)
            return counts, table, order, scale, np.cumsum(rng.random(d.depth)), d.out(3, d.n_assessors)
        case "ideal_sums":
            starts = d.starts(3, rng.choice([5, 80]))
            table = d.floats(starts[-1], d.n_assessors)
            return table, starts, np.cumsum(rng.random(d.depth * 10)), d.out(3, d.n_assessors)
        case "found_by_own_cut":
            return *d.rows(), rng.integers(0, 9, d.n_assessors).astype(float), d.scores()
        case "binary_preference":
            rows, table = d.rows()
            relevant, judged = np.round(table), np.maximum(np.round(d.gains()), np.round(table))
            n_relevant = relevant.sum(axis=0)
            return rows, relevant, judged, n_relevant, judged.sum(axis=0) - n_relevant, d.scores()
        case "blended_ratio_sum":
            rows, table = d.rows()
            ideal = -np.sort(-table, axis=0)
            return rows, np.round(table), table, ideal, 0.3, int(rng.integers(0, 12)), d.scores()
        case "shared_precision_sum":
            return *d.rows(), int(rng.integers(0, 12)), d.scores()
        case "_iterate":
            shape = (d.n_assessors, 3, 3)
            tables = [d.out(*shape) for _ in range(3)]
            smoothing, floor = rng.random() * rng.integers(0, 2), 1e-10
            return *d.said(), smoothing, 1 / 3, floor, d.posterior(), *tables[:2], d.out(3), tables[2]
        case "expect_knowing":
            guesses = rng.random((d.n_assessors, 3)) + 0.01
            prior = np.log(rng.dirichlet(np.ones(3)))
            return *d.said(), prior, rng.random(d.n_assessors), guesses, d.posterior(), d.out(d.n_assessors, 3)
        case "pair_counts" | "ap_correlation":
            y = d.floats(rng.choice([1, d.n_lists]), d.n_systems + 1)
            x = d.floats(d.n_lists, d.n_systems + 1)
            x[rng.random(x.shape) < 0.05] = np.nan
            return x, y
        case "to_the_others":
            starts = d.starts(d.n_documents)
            count = rng.integers(1, 3, starts[-1]).astype(float)
            return starts, d.floats(starts[-1]), count, int(rng.integers(0, 3)), d.out(starts[-1])
        case "_sum_drawn_differences":
            starts = d.starts(d.n_documents, smallest=2)
            document = np.repeat(np.arange(d.n_documents), np.diff(starts)).astype(np.int32)
            return starts, document, d.floats(starts[-1]), int(rng.integers(0, 3)), rng.random((20, 2)), 1.5
        case "squared_distances" | "rank_correlations":
            n_systems = int(rng.choice([d.n_systems + 1, 70]))
            return d.floats(d.n_assessors, n_systems), d.floats(n_systems, d.n_documents)
        case "add_densities":
            scores = d.floats(d.n_systems, d.n_documents)
            scores[rng.random(scores.shape) < 0.1] = np.nan
            return scores, float(rng.choice([0.01, 0.05])), np.zeros((d.n_documents, 101))
        case "divergences":
            return rng.random((d.n_assessors, 101)), rng.random((d.n_documents, 101))
        case "largest_t":
            return tables_of_max_t(d)
        case "ordered_pairs":
            ranks, limits, starts, pairs = d.rankings()
            weight, discount = rng.random(len(pairs)), rng.random(d.n_documents + 3)
            return ranks, limits, starts, pairs, weight, discount, bool(rng.integers(0, 2)), d.scores(), d.scores()
        case "average_share":
            ranks, limits, starts, pairs = d.rankings()
            return ranks, limits, starts, pairs, rng.random(len(pairs)), int(rng.integers(1, 9)), d.scores()
        case "similarity_to_ideal":
            ranks, limits, _, _ = d.rankings()
            tail = np.append(np.sort(rng.random(d.depth))[::-1], 0.0)
            return ranks, limits, d.codes(4, d.n_assessors, d.n_documents), 3, tail, d.scores()
        case "closure":
            return d.n_documents, d.codes(d.n_documents, d.depth, 2)
        case "split_fields":
            lines = d.lines()
            shape = (1, d.n_lists + 3)
            positions = np.full(shape, -1), np.full(shape, -1)
            return lines, 0, np.array([1, -1]), *positions, d.out(*shape)
        case "encode_words":
            words, starts, ends = d.words()
            slots = np.full(int(rng.choice([4, 64])), -1, np.int32)
            pool, pool_ends = np.zeros(99, np.uint8), np.zeros(int(rng.choice([3, 99])), np.int64)
            return words, starts, ends, slots, pool, pool_ends, 0, 0, np.full(starts.size, -1, np.int32)
        case "place_words":
            pool = np.frombuffer(b"a\nbb\n\nab\n", np.uint8)
            return pool, np.array([0, 2, 5, 6, 9]), int(rng.integers(0, 5)), np.full(8, -1, np.int32)
    raise AssertionError(f"no arguments are drawn for {name}")


def tables_of_max_t(d: Draw) -> tuple[Any, ...]:
    n_topics, n_systems, n_replicates, df = d.depth + 1, d.n_systems + 1, d.n_documents, d.n_assessors - 1
    scores = d.floats(n_topics, n_systems)
    centred = scores - scores.mean(axis=0)
    squares = ((centred[:, :, None] - centred[:, None, :]) ** 2).sum(axis=0)
    signs = d.rng.choice([-1.0, 1.0], (n_replicates, n_topics))
    rest = d.rng.random((n_systems, n_systems))
    rest = (rest + rest.T) * d.rng.integers(0, 2)
    shifts, draws = d.rng.normal(size=(n_replicates, n_systems)), d.rng.normal(size=(n_replicates, df, n_systems))
    share = np.ones((n_systems, n_systems))
    return signs, centred, squares, shifts, draws, rest, share, 0.1, 0.4


def copies(values: tuple[Any, ...]) -> list[Any]:
    return [value.copy() if isinstance(value, np.ndarray) else value for value in values]


def told(name: str, values: list[Any], result: Any) -> list[Any]:
    """What a caller may read of the arguments, once they are filled, and of the result."""
    results = [*result] if isinstance(result, tuple) else [] if result is None else [result]
    if name == "split_fields":  # rows before the first line of another length
        n_rows, undecided, wrong_line = results
        return [array[:, :n_rows] for array in values[-3:]] + [n_rows, wrong_line, undecided if not wrong_line else 0]
    if name in ("encode_words", "place_words"):  # where a number stands in the table is for the hash to say
        values[3] = np.sort(values[3])
    return values + results


@needs_library
@pytest.mark.parametrize("name", kernels())
@given(seed=st.integers(0, 10**6))
@settings(deadline=None, max_examples=settings.default.max_examples * 3 // 5)
def test_a_kernel_gives_in_c_what_it_gives_in_python(name, seed):
    function = kernels()[name]
    drawn = arguments(name, Draw(seed))
    in_c, in_python = copies(drawn), copies(drawn)
    results = function(*in_c), function.__wrapped__(*in_python)
    for first, second in zip(told(name, in_c, results[0]), told(name, in_python, results[1]), strict=True):
        first, second = np.asarray(first), np.asarray(second)
        if name in NEARLY and first.dtype == np.float64:
            # Rounding is t squared times as large in t: its variance is a difference of two nearly equal numbers.
            t = np.max(second[np.isfinite(second)], initial=0.0) if name == "largest_t" else 0.0
            np.testing.assert_allclose(first, second, rtol=1e-12 * (1 + t**2), atol=1e-12)
        else:
            np.testing.assert_array_equal(first, second)


def test_every_kernel_has_a_function_in_the_c_file_beside_its_module():
    in_c = {
        (file.stem, name)
        for file in FOLDER.glob("*.c")
        for name in re.findall(r"^KERNEL (\w+)\(", file.read_text(), re.M)
    }
    assert in_c == {(function.__module__.rpartition(".")[2], name) for name, function in kernels().items()}
