"""Runs of the collections of real data, read once for all tests of a process."""

from functools import cache
from pathlib import Path

from qrowd import files
from qrowd.model.runs import Runs

read = files.read_runs


@cache
def runs_of(collection: Path) -> Runs:
    """All of them, in the folder `runs`."""
    return read(collection / "runs")


def read_runs(sources: object, *others: object, **options: object) -> Runs:
    """As of qrowd, for studies that read the runs of whole collections."""
    one = Path(sources[0] if isinstance(sources, list) and len(sources) == 1 else str(sources))
    whole = one.name == "runs" and one.is_dir() and one.parent.name in ("dl19", "dl21")
    return runs_of(one.parent.resolve()) if whole and not others and not options else read(sources, *others, **options)
