"""Commands as a user runs them."""

from command_line import exit_status, folder, loaded_modules, qrowd, simulated, whole

__all__ = ["exit_status", "folder", "loaded_modules", "qrowd", "simulated", "whole"]  # fixtures
