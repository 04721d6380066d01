"""Scores of this checkout beside those of another one, on real collections: none may differ by more than 1e-9.

    git worktree add ../before REVISION && python benchmarks/parity.py ../before/src

Both compute every measure below with every assessor, in a process each, and save the scores in a temporary folder.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
SOURCE = next(folder for folder in (ROOT / "packages/qrowd/src", ROOT / "src") if folder.is_dir())
DATA = Path(os.environ.get("QROWD_DATA") or ROOT.parent / "shared" / "data")
LARGEST_DIFFERENCE = 1e-9
MEASURES = [
    "nDCG@10", "nDCG", "nDCG(dcg='exp-log2')@10", "DCG@20", "AP", "AP(rel=2)", "AP@100", "P@10", "P(rel=2)@5", "R@50",
    "RR", "RR@10", "RBP", "RBP(p=0.95)", "Rprec", "Success@5", "Judged@10", "Bpref", "Compat", "Q@20", "GAP",
]  # fmt: skip
CODE = """
import sys
import numpy as np, qrowd
data, output, *measures = sys.argv[1:]
for name in ("dl19", "dl21"):
    runs = qrowd.read_runs(f"{data}/{name}/runs/*.gz")
    judgments = qrowd.read_judgments(f"{data}/{name}/judges/*.qrels.gz")
    for text in measures:
        try:
            scores = qrowd.evaluate(runs, judgments, text)
        except qrowd.errors.QrowdError as error:
            print(f"{name} {text}: {error}", file=sys.stderr)
            continue
        frame = scores.to_frame().sort_values(["assessor", "topic", "system"])
        labels = frame[["assessor", "topic", "system"]].astype(str).agg(" ".join, axis=1).to_numpy(dtype=str)
        np.savez(f"{output}/{name}-{measures.index(text)}", score=frame["score"].to_numpy(), labels=labels)
"""


def scored(source: Path, output: Path) -> dict[str, Path]:
    """Files with the scores that the code in `source` computes, by collection and measure."""
    subprocess.run(
        [sys.executable, "-c", CODE, str(DATA), str(output), *MEASURES],
        env=os.environ | {"PYTHONPATH": str(source)},
        check=True,
    )
    return {path.stem: path for path in sorted(output.glob("*.npz"))}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("before", type=Path, help="the folder src of the other checkout")
    before = parser.parse_args().before.resolve()
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        old, new = scored(before, Path(first)), scored(SOURCE, Path(second))
        if set(old) != set(new):
            print(f"measures differ: {sorted(set(old) ^ set(new))}")
            return 1
        differences = {}
        for name, path in old.items():
            with np.load(path) as first_table, np.load(new[name]) as second_table:
                np.testing.assert_array_equal(first_table["labels"], second_table["labels"])
                first_scores, second_scores = first_table["score"], second_table["score"]
                np.testing.assert_array_equal(np.isnan(first_scores), np.isnan(second_scores))
                differences[name] = float(np.nanmax(np.abs(first_scores - second_scores)))
        n_scores = sum(len(np.load(path)["score"]) for path in old.values())
    largest = max(differences.values())
    print(f"{len(old)} tables, {n_scores:,} scores: largest difference {largest:.3g}")
    return int(largest > LARGEST_DIFFERENCE)


if __name__ == "__main__":
    sys.exit(main())
