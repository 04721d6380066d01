"""Two ways of doing the same, in turn in the same process, so that a slow moment of the machine hits both."""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

DATA = Path(os.environ.get("QROWD_DATA", Path(__file__).parents[2] / "shared" / "data"))
FIGURES = "QROWD_FIGURES"  # names a file to which every figure is added as a line of JSON
BROKEN = 3  # exit status of a benchmark that ran to its end and missed a promise
failures: list[str] = []


@dataclass(frozen=True)
class Figure:
    """One measured figure beside its promise, as `write.py` puts it into the documentation."""

    script: str
    what: str
    value: float
    bound: str
    kept: bool
    beside: str  # what both sides took, in words
    limit: str  # what keeps it from being better: bytes, instructions, a package


def data(*parts: str) -> Path:
    """A folder of the real data; the benchmark ends here, saying so, where there is none."""
    folder = DATA.joinpath(*parts)
    if not folder.exists():
        print(f"skipped: no {'/'.join(parts)} under {DATA}; set QROWD_DATA")
        raise SystemExit(0)
    return folder


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def cpu_seconds(work: Callable[[], object]) -> float:
    """Processor time of all threads."""
    started = time.process_time()
    work()
    return time.process_time() - started


def times(peer: str, theirs: float, ours: float) -> str:
    """What both sides took, for `beside`.

    >>> times("SciPy", 1.25, 0.0312)
    'SciPy 1.25 s, qrowd 0.0312 s'
    """
    return f"{peer} {theirs:.3g} s, qrowd {ours:.3g} s"


def median_ratio(
    peer: Callable[[], object],
    ours: Callable[[], object],
    rounds: int = 7,
    clock: Callable[[Callable[[], object]], float] = seconds,
) -> tuple[float, float, float]:
    """Median seconds of the peer, of ours, and the median of their ratios round by round (above 1: ours is faster)."""
    peer(), ours()
    pairs = [(clock(peer), clock(ours)) for _ in range(rounds)]
    return (
        statistics.median(p for p, _ in pairs),
        statistics.median(o for _, o in pairs),
        statistics.median(p / o for p, o in pairs),
    )


def promise(
    what: str,
    figure: float,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    beside: str = "",
    limit: str = "",
) -> None:
    """Print a figure beside what was promised, and remember a broken promise.

    beside : what the figure compares, such as "pytrec_eval 0.52 s, qrowd 0.17 s".
    limit : what keeps it from being better, such as "bytes: 3 passes over the runs".
    """
    bound = f">= {at_least:g}" if at_least is not None else f"<= {at_most:g}"
    kept = figure >= at_least if at_least is not None else figure <= (at_most or 0.0)
    print(f"{'ok  ' if kept else 'FAIL'} {what}: {figure:.3g} (promised {bound}){f'; {beside}' if beside else ''}")
    if not kept:
        failures.append(what)
    if FIGURES in os.environ:
        record = Figure(Path(sys.argv[0]).stem, what, float(figure), bound, bool(kept), beside, limit)
        with open(os.environ[FIGURES], "a") as file:
            file.write(json.dumps(asdict(record)) + "\n")


def finish() -> None:
    """The exit status says whether a promise was broken."""
    sys.exit(BROKEN if failures else 0)
