"""What should tell good results from bad ones when p(R|i) is learnt by bands? Alternatives, on dl21 and dl19.

Each divides the documents that were judged twice into five bands of equal size by another score, p(R|i) being learnt in
each; then expected and counted relevant results in the first ten ranks of all systems are compared, as in
`qrowd_papers.evaluated_ranks`. Run: python benchmarks/documents_in_bands.py FOLDER (that holds dl21 and dl19).
"""

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from qrowd.predicted_relevance.retrieved import retrieved

from qrowd.predicted_relevance import bands, estimation
from qrowd_papers.evaluated_ranks import calibration, real

CHOSEN = bands.bands_of


def best_rank(results, n_systems, depth):
    return -results.best


def reciprocal_rank(results, n_systems, depth):
    return np.bincount(results.row, 1 / results.rank, results.pair.size) / n_systems


def share_of_systems(results, n_systems, depth):
    return np.bincount(results.row[results.rank <= depth], minlength=results.pair.size) / n_systems


def nothing(results, n_systems, depth):
    return np.zeros(results.pair.size)


def placed_by(score_of, weighted, data, runs, satisfying, depth):
    """Bands as those of qrowd, but by another score; weighted : each document counts once for every system."""
    chosen = CHOSEN(data, runs, satisfying, depth)
    results = retrieved(runs)
    first = np.bincount(results.row[results.rank <= depth], minlength=results.pair.size) > 0
    score = score_of(results, len(runs.systems), depth)
    row = results.of(data)
    twice = row[(data.size > 1) & (row >= 0)]
    edges = np.unique(np.quantile(score[twice[first[twice]]], np.arange(1, 5) / 5))
    edges = edges[edges > score[twice[first[twice]]].min()]
    band = np.where(first, edges.size - np.searchsorted(edges, score, side="right"), edges.size + 1)
    labels = tuple(map(str, range(edges.size + 2)))
    weight = chosen.weight if weighted else np.ones(chosen.weight.size)
    last = np.append(band, edges.size + 1)
    return replace(chosen, labels=labels, n_top=edges.size + 1, band=last, weight=weight)


def main(folder):
    ways = {"as qrowd does": CHOSEN}
    for score_of in (nothing, best_rank, reciprocal_rank, share_of_systems):
        for weighted in (False, True):
            name = f"{score_of.__name__}{', weighted by systems' if weighted else ''}"
            ways[name] = partial(placed_by, score_of, weighted)
    for track in ("dl21", "dl19"):
        runs, judgments = real(Path(folder) / track, "umbrela-gpt4o")
        for name, way in ways.items():
            estimation.bands_of = way
            for learnt in ("everything", "other topics"):
                found = calibration(judgments, runs, 2, ranks="bands", learnt=learnt, rng=1)
                print(
                    f"{track} {name:45} {learnt:13} mean {found.mean:+.2f}, largest {found.largest:.2f}, "
                    f"within two s.e. {100 * found.within:3.0f} %, tau-b {found.tau:.3f}"
                )


if __name__ == "__main__":
    main(sys.argv[1])
