"""A question as arrays, and a look at what the answers so far say of it.

What stays the same from answer to answer is computed once, so that a look takes some milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Floats
from qrowd.model.measure import Measure
from qrowd.sequential.candidates import Candidates, Lists, is_linear
from qrowd.sequential.design import Draws, mixed_sizes
from qrowd.sequential.estimates import ContrastEstimates, Target, contrast_estimates, interval_half, topic_variance
from qrowd.sequential.linear_forms import LinearForm, form_of_lists, form_of_sums
from qrowd.sequential.predictions import Features, LabelFeatures, Predictions, features_of, predict_gains
from qrowd.sequential.question import Question, answer_of, open_contrasts


@dataclass(frozen=True, eq=False)
class Look:
    """What the answers so far say of a question.

    low, high : (contrasts,) bounds that hold at all times at once. answer : in words, empty while the question is open.
    remaining : numbers of the systems that are open. certain : whether no answer could change the answer. weights :
    (contrasts, documents) of a gain in each difference. constants : (contrasts,) to be added to the sums of weight x
    gain. sizes : (documents,) for the next draw; 0 where known.
    variance : (contrasts,) of what judging does not reduce, such as estimated normalisers.
    """

    predictions: Predictions
    estimates: ContrastEstimates
    low: Floats
    high: Floats
    answer: str
    remaining: tuple[int, ...]
    certain: bool
    weights: Floats
    constants: Floats
    sizes: Floats
    variance: Floats


@dataclass(frozen=True, eq=False)
class Problem:
    """A question as arrays, and what an answer to it has to be.

    labels : of the candidates. levels : possible gains of people, ascending. target : "these topics", or "new topics",
    of which these are a sample.
    """

    question: Question
    measure: Measure
    candidates: Candidates
    labels: LabelFeatures
    levels: Floats
    confidence: float = 0.95
    tolerance: float = 0.0
    target: Target = "these topics"

    @cached_property
    def contrasts(self) -> NDArray[np.int64]:
        """(contrasts, 2) numbers of systems."""
        return self.question.contrasts()

    @cached_property
    def features(self) -> Features:
        """What predicts the gains of the candidates."""
        return features_of(self.labels, self.candidates.topic, self.candidates.retrieved)

    @cached_property
    def matters(self) -> NDArray[np.int64]:
        """(documents,) numbers of the candidates that can change the answer: those that can be drawn."""
        if self.lists is not None:
            return np.flatnonzero(np.any([self.lists.matter_to(i, j) for i, j in self.contrasts.tolist()], axis=0))
        weight = self.candidates.weight
        return np.flatnonzero((weight != weight[0]).any(axis=0))

    @cached_property
    def lists(self) -> Lists | None:
        """The lists of systems, for AP."""
        if is_linear(self.measure):
            return None
        whole = self.candidates
        return Lists.of(whole.weight, whole.topic, len(whole.topics), self.labels.labelled)

    def look(
        self,
        gains: Floats,
        draws: Draws,
        *,
        known: NDArray[np.bool_] | None = None,
    ) -> Look:
        """A look at the answers so far.

        gains : (candidates,) of people, nan where nobody judged. draws : of the documents that matter. known :
        (documents,) those of them that were judged before the first draw; default: none.
        """
        candidates, matters, contrasts = self.candidates, self.matters, self.contrasts
        lowest, highest = float(self.levels[0]), float(self.levels[-1])
        predictions = predict_gains(self.features, gains, lowest=lowest, highest=highest)
        judged = gains[matters]
        known = np.zeros(matters.size, bool) if known is None else known
        expected = np.where(known, np.nan_to_num(judged), predictions.expected[matters])
        spread = np.where(known, 0.0, predictions.spread[matters])
        form = self.form(predictions, gains, expected=expected, spread=spread)
        weights, constants = form.weights, form.constants.sum(axis=1)
        estimates = contrast_estimates(weights, draws, judged, expected, spread, matter=form.matter)
        estimates = replace(estimates, estimate=estimates.estimate + constants)
        certain_low, certain_high = form.low, form.high
        each = self.question.confidence_of_each(self.confidence)
        n_answered = len(draws.answered(~np.isnan(judged)))
        variance = form.variance
        if self.target == "new topics":
            is_open = np.isnan(judged)
            variance = variance + topic_variance(
                weights,
                candidates.topic[matters],
                np.where(is_open, expected, judged),
                np.where(is_open, spread**2, 0.0),
                n_topics=len(candidates.topics),
                constants=form.constants,
            )
        half = interval_half(estimates.information, n_answered, confidence=each, variance=variance)
        if self.target == "new topics":  # other topics could change any answer
            certain_high = np.full(len(contrasts), np.inf)
            certain_low = -certain_high
        low = np.maximum(estimates.estimate - half, certain_low)
        high = np.minimum(estimates.estimate + half, certain_high)
        answer, remaining = answer_of(self.question, contrasts, low, high, tolerance=self.tolerance)
        certain = bool(answer_of(self.question, contrasts, certain_low, certain_high, tolerance=self.tolerance)[0])
        sizes = np.zeros(matters.size)
        if not answer:
            undecided = open_contrasts(self.question, contrasts, low, high, remaining, tolerance=self.tolerance)
            weight = np.sqrt((np.maximum(np.abs(weights), form.least)[undecided] ** 2).mean(axis=0))
            sizes = np.where(known, 0.0, mixed_sizes(weight * predictions.spread[matters], weight))
        return Look(predictions, estimates, low, high, answer, remaining, certain, weights, constants, sizes, variance)

    def form(self, predictions: Predictions, gains: Floats, *, expected: Floats, spread: Floats) -> LinearForm:
        """The differences as linear functions of gains."""
        of_all = self.candidates, self.contrasts, self.matters
        if self.lists is None:
            return form_of_sums(
                self.measure, *of_all, predictions, gains, levels=self.levels, expected=expected, spread=spread
            )
        return form_of_lists(self.lists, *of_all, predictions, gains, levels=self.levels)
