"""Whether two results of evaluate are the same."""

import numpy as np


def equal(one, other):
    """Whether two scores are the same, nan at the same places, with the same attributes."""
    for name in ("measures", "assessors", "topics", "systems"):
        assert getattr(one, name) == getattr(other, name), name
    for name in ("values", "relevant", "coverage"):
        left, right = np.ascontiguousarray(getattr(one, name)), np.ascontiguousarray(getattr(other, name))
        assert left.shape == right.shape, name
        assert ((left == right) | (np.isnan(left) & np.isnan(right))).all(), name
    assert dict(one.attributes) == dict(other.attributes)
    assert list(one.attributes) == list(other.attributes)
    return True
