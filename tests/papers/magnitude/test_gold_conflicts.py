"""Where two scales contradict each other."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from oracles import agreement as oracle
from panels import judgments_of_rows
from qrowd.model.judgments import Judgments
from qrowd.simulation import MagnitudeCrowd, simulate_magnitudes, simulate_pool
from qrowd_papers.magnitude.gold_conflicts import scale_conflicts

DOCUMENT = st.tuples(st.floats(0.01, 100), st.integers(0, 3))


@given(st.lists(DOCUMENT, min_size=1, max_size=15))
def test_conflicts_are_the_documents_nearest_to_a_level_far_from_their_own(documents):
    values = {f"d{i}": float(np.round(np.log(value), 3)) for i, (value, _) in enumerate(documents)}
    levels = {f"d{i}": level for i, (_, level) in enumerate(documents)}
    used = sorted(set(levels.values()))
    judgments = Judgments.from_rows(
        [("q", d, "ann", float(np.exp(v))) for d, v in values.items()], scales={"ann": "magnitude"}
    )
    reference = {("q", d): float(level) for d, level in levels.items()}
    found = scale_conflicts(judgments, reference)
    expected = oracle.conflicts(values, {d: used.index(level) for d, level in levels.items()}, 2)
    own = {
        d: [
            abs(values[d] - np.median([values[e] for e in values if levels[e] == level and e != d] or [1e6]))
            for level in used
        ]
        for d in values
    }
    ties = {d for d, away in own.items() if np.sum(np.abs(np.array(away) - min(away)) < 1e-9) > 1}
    assert set(found.document) - ties == set(expected) - ties
    for document, nearest in zip(found.document, found.nearest, strict=True):
        if document not in ties:
            assert nearest == used[expected[document]]
    assert (np.diff(found.excess) <= 0).all()


def test_a_planted_flip_is_found():
    truth = simulate_pool(2, 60, n_grades=3, prevalence=0.5, rng=1)
    crowd = simulate_magnitudes(truth, 120, crowd=MagnitudeCrowd(noise=0.1), rng=1)
    rows = truth.judgments().to_frame()
    flipped = rows.loc[np.argmin(truth.relevance)]
    wrong = rows.copy()
    wrong.loc[flipped.name, "value"] = 2.0
    before = scale_conflicts(crowd, truth.judgments())
    found = scale_conflicts(crowd, Judgments.from_frame(wrong))
    assert flipped["document"] not in set(before.document)
    assert flipped["document"] in set(found.document)
    frame = found.to_frame().set_index("document")
    row = frame.loc[flipped["document"]]
    assert (row["level"], row["topic"]) == (2, flipped["topic"])
    assert row["nearest"] == 0
    assert row["n"] == (crowd.to_frame()["document"] == flipped["document"]).sum()


def test_a_document_alone_at_its_level_is_never_in_conflict():
    found = scale_conflicts(judgments_of_rows(ann="003", ref="033"), "ref")
    assert found.n_documents == 3
    assert len(found) == len(found.to_frame()) == 0
