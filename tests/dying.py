"""A task whose worker is killed in the middle, once: workers import it, so it stands in a module of its own."""

import os
import signal
from pathlib import Path


def dying_once(marker, victim, work, number):
    """work(number); but while the marker is there, the worker that gets the victim removes it and is killed."""
    if number == victim and Path(marker).exists():
        Path(marker).unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    return work(number)


def dying_always(victim, work, number):
    """work(number), which no worker survives that gets the victim."""
    if number == victim:
        os.kill(os.getpid(), signal.SIGKILL)
    return work(number)
