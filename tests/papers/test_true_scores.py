"""How often draws of the labels hold the true score."""

import numpy as np

from qrowd.reports.document import render
from qrowd_papers.true_scores import DESIGNS, LABELS, MEASURES, true_scores, true_scores_page


def test_one_seed_one_table():
    few = {"quality 0.9": DESIGNS["quality 0.9"]}
    one, two, other = (true_scores(few, n_simulations=2, n_topics=4, n=20, rng=rng) for rng in (4, 4, 5))
    np.testing.assert_array_equal(one.bias, two.bias)
    assert not np.array_equal(one.bias, other.bias)
    assert one["labels"].tolist() == [label for label in LABELS for _ in MEASURES]


def test_shares_of_draws_from_labels_alone_are_too_near_a_half_and_pages_say_so():
    told = []
    page = true_scores_page(quick=True, rng=1, progress=lambda *what: told.append(what))
    assert told[-1] == ("true scores", 2 * len(DESIGNS), 2 * len(DESIGNS))
    frame = page.frame()
    assert len(frame) == len(DESIGNS) * len(MEASURES) * len(LABELS)
    alone = frame[(frame["labels"] == LABELS[0]) & (frame["design"] == "quality 0.3 to 1.5")]
    assert (alone["coverage"] < 0.5).all()
    assert "hold the true score of" in page.sentence
    assert b"labels and ranks" in render(page, "page.md")
