"""How far the names of two systems travel in `compare`: visits of modules, and ways back up to a higher layer."""

import sys
from itertools import groupby, pairwise
from pathlib import Path

import qrowd
from qrowd.reports.comparison import compare
from qrowd.simulation import Lenient, simulate_judgments, simulate_pool, simulate_runs
from test_architecture import LAYER_OF

ROOT = Path(qrowd.__file__).parent
MOST_STAYS = 13  # the last writes the signature
MOST_CLIMBS = 4


def layer_of(module: Path) -> int:
    return LAYER_OF[module.parts[0].removesuffix(".py")]


def test_two_named_systems_pass_few_modules_on_their_way_through_compare():
    truth = simulate_pool(8, 20, rng=1)
    runs = simulate_runs(truth, 4, rng=1)
    judgments = simulate_judgments(truth, {f"a{i}": Lenient() for i in range(3)}, rng=1)
    pair = runs.systems[:2]
    compare(runs, judgments, systems=pair, n_resamples=20, rng=1)  # what is imported when first used is there
    visited: list[Path] = []

    def look(frame, event, _):
        file = Path(frame.f_code.co_filename)
        if event != "call" or not file.is_relative_to(ROOT):
            return
        count = frame.f_code.co_argcount + frame.f_code.co_kwonlyargcount
        arguments = [frame.f_locals.get(name) for name in frame.f_code.co_varnames[:count]]
        if any(value == pair or (isinstance(value, str) and value in pair) for value in arguments
               if isinstance(value, str | tuple)):  # fmt: skip
            visited.append(file.relative_to(ROOT))

    sys.setprofile(look)
    try:
        compare(runs, judgments, systems=pair, n_resamples=20, rng=1)
    finally:
        sys.setprofile(None)
    stays = [module for module, _ in groupby(visited)]
    climbs = [f"{low} -> {high}" for low, high in pairwise(stays) if layer_of(high) > layer_of(low)]
    assert Path("comparison/differences.py") in stays
    assert len(stays) <= MOST_STAYS, "\n".join(map(str, stays))
    assert len(climbs) <= MOST_CLIMBS, "\n".join(climbs)
