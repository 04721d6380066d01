"""How seconds and memory of an evaluation grow with the rows of a partitioned collection: a table and a picture.

python benchmarks/plot_growth.py [MILLIONS ...]    measures, for so many million rows, half of them runs and half
                                                   judgments, into docs/scale/growth.csv; default: 1 3 10 30 100
python benchmarks/plot_growth.py --draw            draws the table: docs/images/scale/growth.svg

Collections are those of bench_partitions.py. Each round evaluates all of them, by one process and by two. The column
`others` is the number of processors that other programs kept busy meanwhile. The picture shows processor time, which
depends on them least.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from bench_partitions import busy_seconds, evaluated, write
from matplotlib.ticker import FuncFormatter

from qrowd.reports.plots.style import GREY, MARKERS, Figure, render

DOCS = Path(__file__).resolve().parents[1] / "docs"
TABLE, PICTURE = DOCS / "scale" / "growth.csv", DOCS / "images" / "scale" / "growth.svg"
MILLIONS = (1.0, 3.0, 10.0, 30.0, 100.0)
ROUNDS = 3
NAMES = {1: "one process", 2: "two processes"}
COLUMNS = ["round", "rows", "processes", "seconds", "processor_seconds", "gigabytes", "gigabytes_of_scores", "others"]
PATIENCE = 10  # seconds to wait for other programs before a measurement


def measure(millions: list[float]) -> None:
    """Write one row for each round, size and number of processes."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        small = Path(name) / "small"
        write(small, 0.1)
        for size in millions:
            write(Path(name) / f"{size:g}", size / 2)
            print(f"{size:g} million rows written", flush=True)
        for number in range(ROUNDS):
            for size in millions:
                for n in NAMES:
                    wait_for_others()
                    one = evaluated(Path(name) / f"{size:g}", small, n)
                    figures = (one.seconds, one.processor_seconds, one.bytes / 1e9, one.scores.values.nbytes / 1e9)
                    rows.append((number + 1, size * 1e6, n, *figures, one.others))
                    times = f"{one.seconds:.2f} s, {one.processor_seconds:.2f} s of processor time"
                    print(f"{size:g} million rows, {NAMES[n]}: {times}, others {one.others:.2f}", flush=True)
                    TABLE.parent.mkdir(exist_ok=True)  # after each, so that Ctrl-C loses one
                    pd.DataFrame(rows, columns=COLUMNS).to_csv(TABLE, index=False, float_format="%.4g")


def wait_for_others() -> None:
    """Return once other programs use little, or after some time all the same."""
    end = time.perf_counter() + PATIENCE
    while time.perf_counter() < end:
        before = busy_seconds()
        time.sleep(1)
        passed, busy, own = np.subtract(busy_seconds(), before)
        if busy - own < 0.2 * passed:
            return


def draw(table: pd.DataFrame, axes: Any) -> None:
    """Time at the left, memory at the right, both axes logarithmic, with lines through the least and the most."""
    left, right = axes
    for number, name in NAMES.items():
        own = table[table["processes"] == number]
        sizes = own.groupby("rows")
        for ax, column, extreme in ((left, "processor_seconds", sizes.min()), (right, "gigabytes", sizes.max())):
            (line,) = ax.plot(extreme.index, extreme[column], label=name)
            ax.plot(own["rows"], own[column], MARKERS[number - 1], color=line.get_color(), alpha=0.5)
    ends = np.array([table["rows"].min(), table["rows"].max()])
    last = table[(table["processes"] == 1) & (table["rows"] == ends[1])]["processor_seconds"].min()
    left.plot(ends, last * ends / ends[1], "--", color=GREY, linewidth=1, label="the same for each row")
    scores = table.groupby("rows")["gigabytes_of_scores"].median()
    right.plot(scores.index, scores, ":", color=GREY, label="scores of the result")
    for ax, unit in ((left, "seconds of processor time"), (right, "gigabytes, all processes together")):
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlabel("rows of runs and judgments")
        ax.set_ylabel(unit)
        ax.xaxis.set_major_formatter(FuncFormatter(lambda rows, _: f"{rows / 1e6:g} M"))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.legend(fontsize=8)


def main(arguments: list[str]) -> None:
    if arguments != ["--draw"]:
        measure([float(one) for one in arguments] or list(MILLIONS))
    table = pd.read_csv(TABLE)
    caption = "Processor time and memory of an evaluation against the rows of a partitioned collection."
    figure = Figure("growth", caption, lambda axes: draw(table, axes), lambda: table, panels=(1, 2))
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_bytes(render(figure, "svg"))
    print(
        table.groupby(["processes", "rows"])[["seconds", "processor_seconds", "gigabytes", "others"]].min().to_string()
    )
    print(f"wrote {PICTURE}")


if __name__ == "__main__":
    main(sys.argv[1:])
