"""Commands as a user runs them."""

from command_line import coarse, eight_topics, exit_status, folder, loaded_modules, qrowd, simulated, whole

__all__ = [
    "coarse",
    "eight_topics",
    "exit_status",
    "folder",
    "loaded_modules",
    "qrowd",
    "simulated",
    "whole",
]  # fixtures
