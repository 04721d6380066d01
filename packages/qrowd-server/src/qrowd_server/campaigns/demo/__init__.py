"""A small collection of our own to try the server on: five everyday topics, 75 documents, three engines' runs.

Texts and runs were made up for this purpose. A third of the documents answer their topic, some only touch it, some
share no more than its words, and two per topic are broken or sell something. `gold.qrels` holds what was meant.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from qrowd_server.campaigns.plan.folder import read_folder
from qrowd_server.campaigns.plan.plan import Plan
from qrowd_server.protocols.settings import MagnitudeSettings

FOLDER = Path(__file__).parent
NAMES = ("magnitude", "grades", "preference")


def demo_plans(*, min_seconds: float = 3.0) -> list[Plan]:
    """One campaign per protocol on the demo collection.

    min_seconds : to be spent on each document of a magnitude unit; the files ask for 20, long for a look round.
    """
    plans = [read_folder(FOLDER / f"{name}.toml") for name in NAMES]
    return [
        replace(plan, settings=replace(plan.settings, min_seconds=min_seconds))
        if isinstance(plan.settings, MagnitudeSettings)
        else plan
        for plan in plans
    ]
