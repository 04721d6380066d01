"""Measures of a user's effort: how far documents are from where the ideal ranking has them."""

from __future__ import annotations

import numpy as np

from qrowd.kernels import relative_position
from qrowd.kernels.arrays import Floats
from qrowd.measures.scoring import JUDGED_ONLY, Scored, TopicView, reach
from qrowd.model.measure import Measure


class Twist(Scored):
    """Twist: the effort that a user avoids; 1 for the ideal ranking, 0 where nothing relevant is found.

        Twist@k = (rho + 2 f b / (f + b)) / 2

    A document is too low by its distance to the last rank that its grade has in the ideal ranking of k documents, and
    too high by its distance to the first. f is 1 - the sum of all distances of documents that are too low, divided by
    that of the reversed ideal ranking, and not below 0; b likewise of documents that are too high. rho is
    R / max(R, r) with R relevant documents and r the rank after which the sum of distances so far first changes its
    sign; without a change rho is 1 for the ideal ranking and else 0, so that a better document further up can lower the
    score. Unjudged documents and ranks below the list have grade 0.

    Source: Ferro, Silvello, Keskustalo, Pirkola & Järvelin (2016), The Twist Measure for IR Evaluation: Taking User's
    Effort into Account. JASIST 67(3); details as in the authors' MATTERS toolkit (twist.m).
    """

    name, cutoff, parameters = "Twist", "required", (JUDGED_ONLY,)

    def score(self, measure: Measure, view: TopicView, out: Floats) -> None:
        gains, n = view.grades(), reach(measure)
        first, last = view.remember(("ideal ranks", n), lambda: np.array(relative_position.ideal_ranks(gains, n)))
        relative_position.twist(view.rows, first, last, gains, n, out)

    def n_relevant(self, measure: Measure, view: TopicView) -> Floats:
        return np.asarray((view.grades() > 0).sum(axis=0), np.float64)
