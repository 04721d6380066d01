"""The paper's collection, simulated: 18 topics, 4,269 documents, 7,059 units of eight."""

import pytest

from qrowd.simulation import check_documents, simulate_magnitudes, simulate_pool

TABLE_I_DOCUMENTS = (278, 111, 214, 212, 188, 212, 179, 174, 243, 164, 342, 195, 253, 203, 264, 408, 210, 419)


@pytest.fixture(scope="session")
def truth():
    return simulate_pool(18, TABLE_I_DOCUMENTS, rng=3)


@pytest.fixture(scope="session")
def crowd(truth):
    return simulate_magnitudes(truth, 1481, rng=3)


@pytest.fixture(scope="session")
def gold(truth):
    return truth.judgments()


@pytest.fixture(scope="session")
def checks(truth):
    """{topic: (H, N)}."""
    labels = [truth.pool.documents[i] for i in truth.pool.document.tolist()]
    high, low = check_documents(truth)
    return {
        topic: (labels[h], labels[n])
        for topic, h, n in zip(truth.pool.topics, high.tolist(), low.tolist(), strict=True)
    }
