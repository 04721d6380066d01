"""Sequential judging of two equal systems: how often a look after every answer finds a difference that is not there.

Gains are made such that the difference is exactly 0; cheap labels are real, useless, reversed, perfect, or favour one
of the systems. The same functions that `qrowd next` calls draw documents, predict, estimate and bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Floats
from qrowd.sequential.design import Draws, mixed_sizes
from qrowd.sequential.estimates import MIN_DRAWS, contrast_estimates, interval_half
from qrowd.sequential.predictions import features_of, label_features, predict_gains

Guesses = Literal["none", "real", "useless", "reversed", "perfect", "biased"]
GUESSES: tuple[Guesses, ...] = get_args(Guesses)
PER_TOPIC = 14  # documents that two systems do not share, as in TREC 2021 Deep Learning
BATCH = 5


@dataclass(frozen=True)
class World:
    """Documents of two systems. weight, gain, topic : (documents,); labels : (documents, assessors)."""

    weight: Floats
    gain: Floats
    topic: NDArray[np.int64]
    labels: Floats


def simulated_world(
    n_documents: int, guesses: Guesses, *, heavy: bool, difference: float, rng: np.random.Generator
) -> World:
    """Two systems whose scores differ by `difference`, in standard deviations of the difference before any judgment.

    heavy : whether few documents have most of the weight, or all the same.
    """
    n_topics = max(n_documents // PER_TOPIC, 2)
    topic = rng.integers(0, n_topics, n_documents)
    size = np.exp(rng.normal(size=n_documents)) if heavy else np.ones(n_documents)
    weight = size * rng.choice([-1.0, 1.0], n_documents)
    weight /= np.sqrt((weight**2).sum()) / 0.05
    latent = rng.normal(1.2, 0.8, n_documents) + rng.normal(0, 0.5, n_topics)[topic]
    grades = np.clip(np.round(latent), 0, 3)
    gain = grades + (0.05 * difference - weight @ grades) * weight / (weight @ weight)
    labels = np.clip(latent[:, None] + rng.normal(0, 0.7, (n_documents, 3)), 0, 3) / 3
    if guesses == "none":
        labels = labels[:, :0]
    elif guesses == "useless":
        labels = rng.permutation(labels)
    elif guesses == "reversed":
        labels = 1 - labels
    elif guesses == "perfect":
        labels = gain[:, None] / 3
    elif guesses == "biased":
        labels = labels + 0.3 * np.sign(weight)[:, None]
    return World(weight, gain, topic, labels)


def judged_until_decided(world: World, rng: np.random.Generator) -> tuple[int, float]:
    """Judgments until the interval excludes 0, with a look after every answer, and the estimate; 0 if it never does."""
    n = world.weight.size
    draws, gains = Draws.none(n), np.full(n, np.nan)
    features = features_of(label_features(world.labels), world.topic, np.zeros((n, 0)))
    while len(draws) < n:
        predictions = predict_gains(features, gains, lowest=0.0, highest=3.0)
        weight = np.abs(world.weight)
        done = len(draws)
        draws = draws.draw(mixed_sizes(weight * predictions.spread, weight), BATCH, rng)
        for k in range(done, min(len(draws), n - 1)):
            document = draws.document[k]
            gains[document] = world.gain[document]
            if k + 1 < MIN_DRAWS:
                continue
            predictions = predict_gains(features, gains, lowest=0.0, highest=3.0)
            result = contrast_estimates(
                world.weight[None], draws.first(k + 1), gains, predictions.expected, predictions.spread
            )
            if abs(result.estimate[0]) > interval_half(result.information, k + 1)[0]:
                return k + 1, float(result.estimate[0])
    return 0, 0.0


def null_errors(n_paths: int, *, n_documents: int, guesses: Guesses, heavy: bool, seed: int = 1, first: int = 0) -> int:
    """Simulations of equal systems in which a difference is found. first : number of the first, which has a seed."""
    n_errors = 0
    for path in range(first, first + n_paths):
        rng = np.random.default_rng([seed, path])
        world = simulated_world(n_documents, guesses, heavy=heavy, difference=0.0, rng=rng)
        n_errors += judged_until_decided(world, rng)[0] > 0
    return n_errors


def judgments_needed(
    n_paths: int, *, n_documents: int, guesses: Guesses, heavy: bool, difference: float, seed: int = 1
) -> Floats:
    """(paths,) judgments until the systems differ significantly, all documents where they do not."""
    counts = np.zeros(n_paths)
    for path in range(n_paths):
        rng = np.random.default_rng([seed, path])
        world = simulated_world(n_documents, guesses, heavy=heavy, difference=difference, rng=rng)
        counts[path] = judged_until_decided(world, rng)[0] or n_documents
    return counts
