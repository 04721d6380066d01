"""What kind of machine this is, by two figures that can be repeated anywhere: machines differ fourfold in speed."""

from __future__ import annotations

import os
import platform
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ADDITIONS = 10_000_000
SUMMED_BYTES = 400_000_000
VECTOR_UNITS = (("avx512f", "AVX-512"), ("avx2", "AVX2"), ("asimd", "NEON"))


@dataclass(frozen=True)
class Calibration:
    processor: str
    vector_units: str
    cores: int
    python: str
    loop_seconds: float  # ten million additions in a Python loop
    sum_seconds: float  # the sum of 400 MB of doubles by NumPy

    def sentence(self) -> str:
        return (
            f"{self.processor}, {self.cores} cores, {self.vector_units}, Python {self.python}: ten million additions "
            f"in a Python loop take {self.loop_seconds:.2f} s, the sum of 400 MB takes {self.sum_seconds:.3f} s."
        )


def loop_seconds(rounds: int = 3) -> float:
    """Fastest of some rounds of ten million additions."""
    return min(_loop() for _ in range(rounds))


def _loop() -> float:
    started, total = time.perf_counter(), 0
    for i in range(ADDITIONS):
        total += i
    return time.perf_counter() - started


def calibration() -> Calibration:
    """Both figures, measured now."""
    numbers = np.ones(SUMMED_BYTES // 8)
    sums = []
    for _ in range(5):
        started = time.perf_counter()
        numbers.sum()
        sums.append(time.perf_counter() - started)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return Calibration(_processor()[0], vector_units(), cores, platform.python_version(), loop_seconds(), min(sums))


def vector_units() -> str:
    flags = _processor()[1]
    return next((unit for flag, unit in VECTOR_UNITS if flag in flags), "no vector units known here")


def _processor() -> tuple[str, set[str]]:
    """The name and the features that Linux tells; elsewhere what Python knows."""
    listing = Path("/proc/cpuinfo")
    if not listing.exists():
        return platform.processor() or platform.machine(), set()
    lines = [line.partition(":") for line in listing.read_text().splitlines()]
    values = {key.strip(): value.strip() for key, _, value in reversed(lines)}
    name = values.get("model name") or values.get("CPU part") or platform.machine()
    return name, set((values.get("flags") or values.get("Features") or "").split())
