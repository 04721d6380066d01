"""Real judgments, read once: the crowd of the Relevance Feedback track, and the eight people of dl19."""

import gzip

import pandas as pd
import pytest

from qrowd.model.judgments import Judgments


@pytest.fixture(scope="session")
def rf10_rows(rf10):
    """topicID, workerID, docID (text), gold, label (numbers) as published."""
    with gzip.open(rf10 / "trec-rf10-data.txt.gz") as file:
        rows = pd.read_csv(file, sep="\t", dtype=str)
    return rows.astype({"gold": float, "label": float})


@pytest.fixture(scope="session")
def crowd(rf10_rows):
    """The labels, a broken link being not relevant."""
    return Judgments.from_frame(rf10_rows.drop(columns="gold")).recode({-2: 0})


@pytest.fixture(scope="session")
def nist(rf10_rows):
    """The gold grades."""
    gold = rf10_rows[["topicID", "docID", "gold"]].drop_duplicates().rename(columns={"gold": "grade"})
    return Judgments.from_frame(gold, assessor="NIST")


@pytest.fixture(scope="session")
def eight_people(dl19):
    """All of them, on the same 188 passages."""
    return Judgments.from_frame(pd.read_csv(dl19 / "humans" / "agreement-round.tsv", sep="\t", dtype={"document": str}))
