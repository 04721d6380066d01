"""Who said what how often: values per document, and values against values.

Documents are rows of `counts` (documents, values): how many assessors gave the document each value. It is a dense
array where values are few and a scipy.sparse matrix where they are many; `counts @ x` works on both.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Floats, Ints

Counts = Any
"""(documents, values): NDArray or scipy.sparse.csr_array of float64."""

FEW_VALUES = 64


def value_counts(starts: Ints, code: NDArray[np.int32], n_values: int) -> Counts:
    """(documents, values) counts of judgments that stand document by document.

    starts : (documents + 1,); document u has the judgments starts[u]:starts[u + 1].
    code : (judgments,) number of the value.

    Dense up to FEW_VALUES values, sparse beyond.
    """
    n_documents = starts.size - 1
    if n_values <= FEW_VALUES:
        document = np.repeat(np.arange(n_documents), np.diff(starts))
        flat = np.bincount(document * n_values + code, minlength=n_documents * n_values)
        return flat.reshape(n_documents, n_values).astype(np.float64)
    from scipy.sparse import csr_array

    # Copied: sum_duplicates writes into the arrays that it was given.
    counts = csr_array((np.ones(code.size), code.copy(), starts.copy()), shape=(n_documents, n_values))
    counts.sum_duplicates()
    return counts


def alike(counts: Floats) -> tuple[Floats, Ints]:
    """The distinct rows of dense whole-number counts, and (documents,) the row of each document.

    A crowd's five labels of three grades take 21 forms, however many documents there are. Where rows are too wide to
    be told apart by one 64-bit number they are given back as they are.
    """
    base = int(counts.max(initial=0)) + 1
    if base ** counts.shape[1] >= 2**63:
        return counts, np.arange(counts.shape[0])
    place = np.array([base**i for i in range(counts.shape[1])], np.int64)
    _, first, kind = np.unique(counts.astype(np.int64) @ place, return_index=True, return_inverse=True)
    return counts[first], kind.astype(np.int64)


def coincidences(counts: Floats, weight: Floats | None = None) -> Floats:
    """(values, values) how often one assessor says the row's value and another the column's, of the same document.

    weight : (documents,) what each pair of a document counts; by default 1 / (judgments - 1), so that the matrix sums
        to the number of judgments (Krippendorff 2011, step 2).

    A pair stands in both directions. A document judged once has no pair.
    """
    size = counts.sum(axis=1)
    each = np.divide(1.0, size - 1, out=np.zeros(size.size), where=size > 1) if weight is None else weight
    return np.asarray((counts * each[:, None]).T @ counts - np.diag(each @ counts))


def confusion(first: NDArray[np.integer], second: NDArray[np.integer], n_values: int) -> Ints:
    """(values, values) how often the first assessor says the row's value where the second says the column's."""
    flat = np.bincount(first.astype(np.int64) * n_values + second, minlength=n_values**2)
    return flat.reshape(n_values, n_values)
