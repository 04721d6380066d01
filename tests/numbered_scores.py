"""Scores of plain arrays for tests: assessors, topics and systems are called "0", "1", ... in their order."""

import numpy as np

from qrowd.model.scores import Scores


def numbered(values):
    """Scores of one measure from (topics, systems) or (assessors, topics, systems) values."""
    array = np.asarray(values, float)
    sizes = (1, *array.shape)[-3:]
    assessors, topics, systems = (tuple(map(str, range(size))) for size in sizes)
    return Scores.from_array(array, assessors=assessors, topics=topics, systems=systems)


# Brennan (2001), Generalizability Theory, synthetic data set no. 3 (persons x items x occasions).
CROSSED_DATA = """
    2455442306 6559346458 7648546447 5766675556
    2655462656 5747547658 5557677658 5756485436"""


def panels(text):
    """[row][column][system] digits."""
    return [[[float(digit) for digit in cell] for cell in line.split()] for line in text.strip().split("\n")]


def brennan_3():
    return np.array(panels(CROSSED_DATA))  # (occasion, item, person)
