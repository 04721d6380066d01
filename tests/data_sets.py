"""A small data set that is registered with ir_datasets, from local files."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import ir_datasets
from ir_datasets.datasets.base import Dataset
from ir_datasets.formats import TrecQrels, TrecScoredDocs, TsvDocs, TsvQueries
from ir_datasets.util import LocalDownload

QRELS = "q1 1 d1 2\nq1 5 d2 0\n"
RUN = "q1 Q0 d1 1 3.5 tag\nq1 Q0 d2 2 1.5 tag\n"


def local(path: Path, text: str) -> LocalDownload:
    path.write_text(text)
    return LocalDownload(path)


@contextmanager
def registered(folder: Path, *constituents: object) -> Iterator[str]:
    """The name of a data set; without constituents, one with two documents, a topic, judgments and a run."""
    folder.mkdir(exist_ok=True)
    name = f"qrowd-test-{folder.name}"
    all_four = (
        TsvDocs(local(folder / "docs.tsv", "d1\tlobster soup\nd2\ttrain times\n")),
        TsvQueries(local(folder / "queries.tsv", "q1\tred lobster\n")),
        TrecQrels(local(folder / "qrels.txt", QRELS), {0: "no", 2: "yes"}),
        TrecScoredDocs(local(folder / "run.txt", RUN)),
    )
    ir_datasets.registry.register(name, Dataset(*(constituents or all_four)))
    try:
        yield name
    finally:
        ir_datasets.registry._registered.pop(name)
