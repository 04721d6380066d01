"""Real panels, read once: the eighteen LLMs of dl21, and two people a topic of dl19."""

import pandas as pd
import pytest

import qrowd
from qrowd.model.judgments import Judgments


@pytest.fixture(scope="session")
def llms(dl21):
    """Runs, and judgments on scales of all kinds."""
    return qrowd.read_runs(str(dl21 / "runs" / "*.gz")), qrowd.read_judgments(str(dl21 / "judges" / "*.qrels.gz"))


@pytest.fixture(scope="session")
def people(dl19):
    """Runs, and what eight people said, two of them on most topics."""
    main = pd.read_csv(dl19 / "humans" / "main.tsv", sep="\t", dtype={"topic": str, "document": str})
    return qrowd.read_runs(str(dl19 / "runs" / "*.gz")), Judgments.from_frame(main, columns={"value": "grade"})
