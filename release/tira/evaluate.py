#!/usr/bin/env python3
"""Evaluate one run on TIRA by the judgments of several assessors (docs/other_tools.md).

/evaluate.py --run $inputRun/run.txt --judgments $inputDataset/qrels --output $outputDir -m nDCG@10 AP

writes evaluation.prototext: the mean of the panel and of each assessor, and the difference from a baseline. A file that
cannot be read is explained on standard output, which participants see, with exit status 2.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import qrowd
from qrowd.comparison.differences import Difference
from qrowd.errors import QrowdError

RUN, BASELINE = "run", "baseline"


def entries(scores: qrowd.Scores, differences: Sequence[tuple[str, Difference]]) -> Iterator[tuple[str, float]]:
    """(key, value) of everything that the leaderboard may show. differences : from the baseline, by measure."""
    by_assessor = scores.sel(system=RUN).to_frame().groupby(["measure", "assessor"], sort=False).score.mean()
    for row in qrowd.summarise(scores.sel(system=RUN)).to_frame().itertuples():
        yield row.measure, row.mean
        yield f"{row.measure} standard error", row.standard_error
        if len(scores.assessors) > 1:
            yield from ((f"{row.measure} by {name}", value) for name, value in by_assessor[row.measure].items())
    for measure, difference in differences:
        yield f"{measure} minus baseline", difference.difference
        yield f"{measure} minus baseline, low", difference.low
        yield f"{measure} minus baseline, high", difference.high


def main() -> int:
    parser = argparse.ArgumentParser(description="Evaluate one run on TIRA by the judgments of several assessors.")
    parser.add_argument("--run", required=True, help="the run: $inputRun/run.txt")
    parser.add_argument(
        "--judgments", required=True, nargs="+", help="qrels files, one for each assessor, or their folder"
    )
    parser.add_argument("--output", required=True, type=Path, help="folder for evaluation.prototext: $outputDir")
    parser.add_argument("--baseline", help="a run to compare with")
    parser.add_argument("-m", "--measures", nargs="+", default=["nDCG@10"])
    options = parser.parse_args()
    names = [f"{RUN}={options.run}", *([f"{BASELINE}={options.baseline}"] if options.baseline else [])]
    try:
        runs, judgments = qrowd.read_runs(names), qrowd.read_judgments(options.judgments)
        scores = qrowd.evaluate(runs, judgments, options.measures)
        differences = []
        if options.baseline:
            comparison = qrowd.compare(runs, judgments, options.measures, systems=(RUN, BASELINE))
            differences = [(part.measure, part.intervals[0]) for part in comparison.measures if part.intervals]
        print(comparison if options.baseline else qrowd.summarise(scores))
    except QrowdError as error:
        print(f"The run was not evaluated. {error}")
        return 2
    lines = [
        f"measure {{\n  key: {json.dumps(key, ensure_ascii=False)}\n  value: {json.dumps(str(value))}\n}}\n"
        for key, value in entries(scores, differences)
    ]
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "evaluation.prototext").write_text("".join(lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
