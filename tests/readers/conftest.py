"""Commands as a user runs them."""

from command_line import qrowd

__all__ = ["qrowd"]  # a fixture
