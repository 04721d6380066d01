"""The paper's collection, simulated."""

from magnitude_crowd import checks, crowd, gold, truth

__all__ = ["checks", "crowd", "gold", "truth"]  # fixtures
