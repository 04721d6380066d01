"""Real panels, read once: the eighteen LLMs of dl21, and two people a topic of dl19; of the runs every sixth."""

import pandas as pd
import pytest

import qrowd
from qrowd.model.judgments import Judgments


@pytest.fixture(scope="session")
def llms(dl21):
    """Runs, and judgments on scales of all kinds."""
    runs = qrowd.read_runs(sorted((dl21 / "runs").glob("*.gz"))[::6])
    return runs, qrowd.read_judgments(str(dl21 / "judges" / "*.qrels.gz"))


@pytest.fixture(scope="session")
def people(dl19):
    """Runs, and what eight people said, two of them on most topics."""
    main = pd.read_csv(dl19 / "humans" / "main.tsv", sep="\t", dtype={"topic": str, "document": str})
    runs = qrowd.read_runs(sorted((dl19 / "runs").glob("*.gz"))[::6])
    return runs, Judgments.from_frame(main, columns={"value": "grade"})
