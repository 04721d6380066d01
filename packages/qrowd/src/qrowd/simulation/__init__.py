"""Assessors, pools and runs with a known truth.

    simulate_pool ----> Truth ----> simulate_runs         systems of known quality
                          |-------> simulate_judgments    assessors of known behaviour (`assessors`)
                          |-------> simulate_magnitudes   crowd units with check documents
                          |-------> simulate_preferences  this one is better than that one
    a Pool ---------------> RandomAssessors               thousands of them, block by block
    simulate_demo                                         the panel of `qrowd demo`

Every function takes its chance as `rng` and gives the same result for the same number; two functions given the same
number still draw independently of each other, because each draws from a stream of its own.
"""

from qrowd.model.chance import Rng
from qrowd.simulation.behaviours import (
    Behaviour,
    Confident,
    Confused,
    Inverted,
    Lazy,
    Lenient,
    Random,
    Spammer,
    simulate_judgments,
)
from qrowd.simulation.demo_panel import simulate_demo
from qrowd.simulation.magnitudes import MagnitudeCrowd, check_documents, simulate_magnitudes
from qrowd.simulation.random_grades import RandomAssessors
from qrowd.simulation.simulated_preferences import simulate_preferences
from qrowd.simulation.truth import Truth, simulate_pool, simulate_runs

__all__ = [
    "Behaviour",
    "Confident",
    "Confused",
    "Inverted",
    "Lazy",
    "Lenient",
    "MagnitudeCrowd",
    "Random",
    "RandomAssessors",
    "Rng",
    "Spammer",
    "Truth",
    "check_documents",
    "simulate_demo",
    "simulate_judgments",
    "simulate_magnitudes",
    "simulate_pool",
    "simulate_preferences",
    "simulate_runs",
]
