"""Judgments of 1,000 assessors from data frames, beside pandas' factorize of the three columns of labels.

Processor time, not time of the clock. `ROWS` in the environment makes a smaller table.
"""

from __future__ import annotations

import os
import time
import tracemalloc
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from pyarrow import parquet
from side_by_side import finish, promise, times

import qrowd

TOPICS, DOCUMENTS = 54, 200  # documents of a topic
LABELS = ("topic", "document", "assessor")


def table(n: int, *, shuffled: bool) -> pd.DataFrame:
    """Judgments by assessor, topic and document, or in no order. Rows share the text of a label."""
    pool = TOPICS * DOCUMENTS
    row = np.random.default_rng(2).permutation(n) if shuffled else np.arange(n)
    documents = np.array([f"msmarco_passage_{i % 70:02d}_{i * 7919}" for i in range(pool)], object)
    return pd.DataFrame(
        {
            "topic": pd.Series(np.array([f"{1_000_000 + i}" for i in range(TOPICS)], object)[row % pool // DOCUMENTS]),
            "document": pd.Series(documents[row % pool]),
            "assessor": pd.Series(np.array([f"assessor {i}" for i in range(n // pool + 1)], object)[row // pool]),
            "value": np.random.default_rng(1).integers(0, 4, n),
        }
    ).astype(dict.fromkeys(LABELS, object))


def processor_seconds(work: Callable[[], object], rounds: int = 3) -> float:
    """The least of several rounds, since others on the machine only add; the first call loads what is needed."""
    work()
    spent = []
    for _ in range(rounds):
        started = time.process_time()
        work()
        spent.append(time.process_time() - started)
    return min(spent)


def factorize(frame: pd.DataFrame) -> list[object]:
    return [pd.factorize(frame[name]) for name in LABELS]


def bytes_a_row(judgments: qrowd.Judgments) -> float:
    """Without labels, after everything that judgments remember of themselves."""
    judgments.n_repeats(), judgments.single(), judgments.values_by_assessor()
    arrays = [array for array in vars(judgments).values() if isinstance(array, np.ndarray)]
    remembered = [array for pair in vars(judgments).values() if isinstance(pair, tuple) for array in pair]
    return sum(a.nbytes for a in [*arrays, *remembered] if isinstance(a, np.ndarray)) / len(judgments)


n = int(float(os.environ.get("ROWS", 10.8e6)))
for order in ("by assessor", "shuffled"):
    frame = table(n, shuffled=order == "shuffled")
    categories = frame.astype(dict.fromkeys(LABELS, "category"))
    arrow = pa.Table.from_pandas(categories, preserve_index=False)
    polars = pl.from_arrow(arrow)
    file = pa.BufferOutputStream()
    parquet.write_table(arrow, file)
    stored = file.getvalue()
    text = frame.astype(dict.fromkeys(LABELS, "str"))
    objects, strings = (processor_seconds(partial(factorize, columns)) for columns in (frame, text))
    print(f"{n:,} rows {order}: pandas factorize of three columns {objects:.2f} s (object), {strings:.2f} s (str)")
    words = "bytes: a hash table of the texts is looked up for each row"
    codes = "bytes: each column of codes is copied once, values are checked"
    kinds = {
        "text (object)": (frame, 1.3, objects, words),
        "text (str)": (text, 1.3, strings, words),
        "pandas categories": (categories, 0.1, objects, codes),
        "Arrow dictionaries": (arrow, 0.1, objects, codes),
        "Polars categories": (polars, 0.1, objects, codes),
        "Parquet dictionaries, once read": (parquet.read_table(stored), 0.1, objects, codes),
    }
    for kind, (columns, most, peer, limit) in kinds.items():
        own = processor_seconds(partial(qrowd.Judgments.from_frame, columns))
        promise(
            f"from_frame, {order}, {kind}, times pandas factorize of {'its text' if most > 1 else 'text (object)'}",
            own / peer,
            at_most=most,
            beside=times("pandas factorize", peer, own) + " of processor time",
            limit=limit,
        )
    del kinds, polars, arrow, text

tracemalloc.start()
judgments = qrowd.Judgments.from_frame(categories)
_, peak = tracemalloc.get_traced_memory()
table_bytes = categories.memory_usage(index=False).sum() / n
beside = f"{table_bytes:.0f} bytes in pandas, as categories and int64"
limit = "bytes: three codes of 32 bits and a value of 64"
promise("bytes a row of judgments, beyond labels", bytes_a_row(judgments), at_most=24, beside=beside, limit=limit)
promise("bytes a row at the most while categories are read", peak / n, at_most=40, beside=beside, limit=limit)
finish()
