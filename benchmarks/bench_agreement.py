"""Krippendorff's alpha with its interval, beside the krippendorff package, on rf10 and on magnitudes."""

from __future__ import annotations

import statistics

import krippendorff
import numpy as np
import pandas as pd
from side_by_side import data, finish, promise, seconds

from qrowd.agreement.alpha import krippendorff_alpha
from qrowd.agreement.assessors import assessor_profiles
from qrowd.agreement.document_counts import document_counts
from qrowd.model.judgments import Judgments

REPLICATES = 1000
PEERS = 3  # replicates that the peer computes in each round, of 1,000

rf10 = data("trec-rf10")
rows = pd.read_csv(rf10 / "trec-rf10-data.txt.gz", sep="\t", dtype=str).astype({"label": float})
crowd = Judgments.from_frame(rows.drop(columns="gold")).recode({-2: 0})

# What the peer gets is ready made: value counts of drawn documents, its fast way.
rng = np.random.default_rng(1)
whole = document_counts(crowd, level=None).groups[0]
by_topic = [documents.counts for documents in document_counts(crowd, level=None, by="topic").groups]


def theirs() -> None:
    for counts in (whole.counts, *by_topic):
        for _ in range(PEERS):
            drawn = counts[rng.integers(len(counts), size=len(counts))]
            krippendorff.alpha(value_counts=drawn, value_domain=whole.values, level_of_measurement="ordinal")


def ours() -> None:
    krippendorff_alpha(crowd, n_resamples=REPLICATES, resample="documents", rng=1)
    krippendorff_alpha(crowd, by="topic", n_resamples=REPLICATES, resample="documents", rng=1)


theirs(), ours()
rounds = [(seconds(theirs) * REPLICATES / PEERS, seconds(ours)) for _ in range(5)]
print(f"ordinal alpha, overall and of {len(by_topic)} topics, {REPLICATES} replicates each:")
print(f"krippendorff {statistics.median(p for p, _ in rounds):.1f} s (from {PEERS} of the replicates)")
promise("alpha of rf10 and its topics with intervals, s", statistics.median(o for _, o in rounds), at_most=1)
promise("times as fast as krippendorff per replicate", statistics.median(p / o for p, o in rounds), at_least=10)

# 42,690 magnitudes of 4,269 documents, nearly all distinct once they are normalised.
centre = 0.8 * rng.normal(size=(4269, 1))
magnitudes = np.exp(1.5 + centre + rng.normal(size=(4269, 10)))
crowd_of_ten = Judgments.from_frame(
    {
        "topic": ["q"] * magnitudes.size,
        "document": np.repeat(np.arange(4269), 10).astype(str).tolist(),
        "assessor": np.tile(np.arange(10), 4269).astype(str).tolist(),
        "magnitude": magnitudes.ravel().tolist(),
    }
)
for what, options, limit in (
    ("ratio alpha of 42,690 magnitudes, s", {}, 2),
    ("with 1,000 replicates of documents, expected disagreement computed anew, s", {"resample": "documents"}, 10),
    ("with 1,000 replicates of deviations, expected disagreement fixed, s", {"resample": "deviations"}, 10),
):
    bootstrap = {"n_resamples": REPLICATES, "rng": 1} if options else {}
    krippendorff_alpha(crowd_of_ten, **options)
    taken = [seconds(lambda: krippendorff_alpha(crowd_of_ten, **options, **bootstrap)) for _ in range(3)]  # noqa: B023
    promise(what, statistics.median(taken), at_most=limit)

promise(
    "profiles of 766 assessors, s",
    statistics.median(seconds(lambda: assessor_profiles(crowd)) for _ in range(3)),
    at_most=1,
)
finish()
