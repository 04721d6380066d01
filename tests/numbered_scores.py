"""Scores of plain arrays for tests: assessors, topics and systems are called "0", "1", ... in their order."""

import numpy as np

from qrowd.model.scores import Scores


def numbered(values):
    """Scores of one measure from (topics, systems) or (assessors, topics, systems) values."""
    array = np.asarray(values, float)
    sizes = (1, *array.shape)[-3:]
    assessors, topics, systems = (tuple(map(str, range(size))) for size in sizes)
    return Scores.from_array(array, assessors=assessors, topics=topics, systems=systems)
