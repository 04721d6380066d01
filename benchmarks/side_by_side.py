"""Two ways of doing the same, in turn in the same process, so that a slow moment of the machine hits both."""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

DATA = Path(os.environ.get("QROWD_DATA", Path(__file__).parents[2] / "shared" / "data"))
failures: list[str] = []


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


def median_ratio(peer: Callable[[], object], ours: Callable[[], object], rounds: int = 7) -> tuple[float, float, float]:
    """Median seconds of the peer, of ours, and the median of their ratios round by round (above 1: ours is faster)."""
    peer(), ours()
    pairs = [(seconds(peer), seconds(ours)) for _ in range(rounds)]
    return (
        statistics.median(p for p, _ in pairs),
        statistics.median(o for _, o in pairs),
        statistics.median(p / o for p, o in pairs),
    )


def promise(what: str, figure: float, *, at_least: float | None = None, at_most: float | None = None) -> None:
    """Print a figure beside what was promised, and remember a broken promise."""
    bound = f">= {at_least:g}" if at_least is not None else f"<= {at_most:g}"
    kept = figure >= at_least if at_least is not None else figure <= (at_most or 0.0)
    print(f"{'ok  ' if kept else 'FAIL'} {what}: {figure:.3g} (promised {bound})")
    if not kept:
        failures.append(what)


def finish() -> None:
    """Exit status 1 if a promise was broken."""
    sys.exit(1 if failures else 0)
