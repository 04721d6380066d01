"""Reading the 63 gzip runs and the NIST qrels of dl21, beside pytrec_eval's readers."""

from __future__ import annotations

import gzip

import pytrec_eval
from side_by_side import data, finish, median_ratio, promise

import qrowd

dl21 = data("dl21")
paths = sorted((dl21 / "runs").glob("*.gz"))


def theirs() -> None:
    for path in paths:
        with gzip.open(path, "rt") as file:
            pytrec_eval.parse_run(file)
    with (dl21 / "qrels.nist.txt").open() as file:
        pytrec_eval.parse_qrel(file)


def ours() -> None:
    qrowd.read_runs(paths)
    qrowd.read_judgments(dl21 / "qrels.nist.txt")


peer, own, ratio = median_ratio(theirs, ours)
print(f"pytrec_eval {peer:.3f} s, qrowd {own:.3f} s")
promise("reading, times as fast as pytrec_eval", ratio, at_least=2)
finish()
