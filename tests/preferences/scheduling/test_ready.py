"""What is compiled beforehand is what judging needs."""

import subprocess
import sys

PROGRAM = """
import importlib, pkgutil
import qrowd.kernels
from numba.core.dispatcher import Dispatcher

modules = [importlib.import_module(f"qrowd.kernels.{one.name}") for one in pkgutil.iter_modules(qrowd.kernels.__path__)]

def signatures():
    return {(m.__name__, name, str(s)) for m in modules for name, one in vars(m).items()
            if isinstance(one, Dispatcher) for s in one.signatures}

from qrowd.preferences.scheduling.ready import compile_kernels
compile_kernels()
before = signatures()

from qrowd.collect.protocols.preference import PreferenceProtocol
from qrowd.collect.protocols.events import Prefer, MarkBad
from qrowd.collect.protocols.protocol import Material
from qrowd.collect.protocols.settings import PreferenceSettings

protocol = PreferenceProtocol()
n = 0
for probability in ("odds", "regression"):
    settings = PreferenceSettings(probability=probability)
    rankings = ((1, 2, 3, 4, 5, 6), (6, 5, 4, 3, 2, 1))
    task = protocol.task(settings, Material((1, 2, 3, 4, 5, 6), systems=rankings), 7)
    state = protocol.new(task, 0.0)
    events = protocol.resume(task, state, None, 0.0)
    while True:
        for event in events:
            state = protocol.evolve(task, state, event, 0.0)
        if state.phase != "pairs":
            break
        n += 1
        pair = state.current.pair
        action = MarkBad(pair, "left") if n == 2 else Prefer(pair, "left")
        events = protocol.decide(task, state, action, 1.0)
assert before and n > 6
new = signatures() - before
assert not new, new
"""


def test_after_compiling_beforehand_a_topic_is_judged_without_compiling_anything():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
