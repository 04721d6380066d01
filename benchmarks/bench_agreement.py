"""Krippendorff's alpha with its interval, beside the krippendorff package, on rf10 and on magnitudes."""

from __future__ import annotations

import statistics

import krippendorff
import numpy as np
import pandas as pd
from side_by_side import data, finish, median_ratio, promise, seconds, times

from qrowd.agreement.alpha import krippendorff_alpha
from qrowd.agreement.assessor_profiles import assessor_profiles
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
peer, own = (statistics.median(side) for side in zip(*rounds, strict=True))
beside = times("krippendorff", peer, own) + f" (its time from {PEERS} of {REPLICATES} replicates)"
limit = "instructions: a random number for each document and replicate, then sums of products of counts"
promise("alpha of rf10 and its topics with intervals, s", own, at_most=1, beside=beside, limit=limit)
promise(
    "alpha with intervals, times as fast as krippendorff",
    statistics.median(p / o for p, o in rounds),
    at_least=10,
    beside=beside,
    limit=limit,
)

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
hundredth = magnitudes[::100].T
peer = seconds(lambda: krippendorff.alpha(reliability_data=hundredth, level_of_measurement="ratio"))
beside = f"krippendorff {peer:.3g} s for a hundredth, without replicates; a tenth would take it 62 GB"
for what, options, most in (
    ("ratio alpha of 42,690 magnitudes, s", {}, 2),
    ("with 1,000 replicates of documents, expected disagreement computed anew, s", {"resample": "documents"}, 10),
    ("with 1,000 replicates of deviations, expected disagreement fixed, s", {"resample": "deviations"}, 10),
):
    bootstrap = {"n_resamples": REPLICATES, "rng": 1} if options else {}
    krippendorff_alpha(crowd_of_ten, **options)
    taken = [seconds(lambda: krippendorff_alpha(crowd_of_ten, **options, **bootstrap)) for _ in range(3)]  # noqa: B023
    limit = "instructions: sums at 16 Chebyshev points for each unit of the logarithms, for every replicate"
    promise(what, statistics.median(taken), at_most=most, beside=beside, limit=limit)


def profiles_of_pandas() -> pd.DataFrame:
    """How often each assessor agrees with another, and by how much they differ: every pair of labels of a document."""
    labels = crowd.to_frame()[["topic", "document", "assessor", "value"]]
    both = labels.merge(labels, on=["topic", "document"])
    both = both[both.assessor_x != both.assessor_y]
    difference = both.value_x - both.value_y
    return pd.DataFrame({"equal": difference == 0, "difference": difference}).groupby(both.assessor_x).mean()


peer, own, _ = median_ratio(profiles_of_pandas, lambda: assessor_profiles(crowd), rounds=3)
promise(
    "profiles of 766 assessors, s",
    own,
    at_most=1,
    beside=times("agreement and severity alone, in pandas,", peer, own),
    limit="bytes: labels are sorted by document and by assessor",
)
finish()
