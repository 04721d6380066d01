"""Commands as a user runs them."""

from command_line import coarse, exit_status, folder, loaded_modules, qrowd, simulated

__all__ = ["coarse", "exit_status", "folder", "loaded_modules", "qrowd", "simulated"]  # fixtures
