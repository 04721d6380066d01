"""Kernels are compiled as their sources stand, and say so where they are not."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from qrowd.kernels import compiled
from qrowd.kernels.gains import weighted_sums
from qrowd.kernels.ranking import shared_precision_sum

ROOT = Path(__file__).resolve().parents[2] / "packages" / "qrowd"
ROWS = np.array([[0, -1, 1], [1, 0, -1]], np.int32)
GAINS = np.array([[1.0, 0.0], [0.5, 1.0]])
CONFIG = SimpleNamespace(cfg=SimpleNamespace(get=lambda section, name: ""))
KERNEL = """
from qrowd.kernels.compiled import kernel
Table = NDArray[np.float64]
FEW = 2

@kernel()
def half(x: float) -> float:
    return x / FEW

def not_compiled(x: Floats) -> None:
    pass

@kernel("float64[:,:], int")
def first(x: Floats, n: int) -> float:
    return half(x[0, n])
"""


def test_the_compiled_modules_are_those_of_the_sources():
    done = subprocess.run([sys.executable, ROOT / "build_kernels.py", "--check"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def test_a_changed_source_is_noticed(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    import build_kernels

    module = build_kernels.read("sums", KERNEL)
    assert build_kernels.read("sums", KERNEL.replace("FEW = 2", "FEW = 3")).key != module.key
    assert build_kernels.read("sums", KERNEL.replace("x: Floats", "x: object")).key == module.key


def test_pythran_reads_the_kernels_and_constants_of_a_module_without_annotations(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    import build_kernels

    wanted = """# pythran export first(float64[:,:] order(C), int)

import numpy as np

FEW = 2

def half(x):
    return x / FEW

def first(x, n):
    return half(x[0, n])
"""
    assert build_kernels.read("sums", KERNEL).source == wanted


def test_an_interrupted_compilation_leaves_the_compiled_module_as_it_was(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(ROOT)
    import build_kernels

    def interrupted(source, made, **options):
        Path(made).write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(build_kernels, "NATIVE", tmp_path / "native")
    monkeypatch.setattr(build_kernels, "WORK", tmp_path)
    monkeypatch.setitem(sys.modules, "pythran", SimpleNamespace(config=CONFIG, compile_pythranfile=interrupted))
    module = build_kernels.Module("sums", "")
    binary = module.binary
    binary.parent.mkdir(parents=True)
    binary.write_bytes(b"whole")
    with pytest.raises(KeyboardInterrupt):
        build_kernels.compile_module(module)
    assert binary.read_bytes() == b"whole"
    assert list(binary.parent.iterdir()) == [binary]


def test_the_compiled_kernel_gives_the_numbers_of_its_python_source():
    by_source, by_compiler = np.empty((2, 2, 2))
    shared_precision_sum.__wrapped__(ROWS, GAINS, 3, by_source)  # type: ignore[attr-defined]
    shared_precision_sum(ROWS, GAINS, 3, by_compiler)
    np.testing.assert_array_equal(by_source, by_compiler)
    assert by_compiler[0].tolist() == [1.0 + (0.5 + 0.5) / 3, 1.0 / 3]


def test_sums_are_added_in_the_order_of_the_source():
    rng = np.random.default_rng(1)
    starts = np.arange(0, 71, 10)
    row, weight, gains = rng.integers(0, 40, 70).astype(np.int32), rng.random(70), rng.random((40, 37))
    compiled_sums, expected = np.empty((2, 7, 37))
    weighted_sums(starts, starts[1:], row, weight, gains, 0, compiled_sums)
    weighted_sums.__wrapped__(starts, starts[1:], row, weight, gains, 0, expected)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(compiled_sums, expected)


def test_numbers_become_those_that_a_kernel_takes_and_arguments_may_be_named():
    plain, named = np.empty((2, 2, 2))
    shared_precision_sum(ROWS, GAINS, np.int32(3), plain)
    shared_precision_sum(ROWS, GAINS, cutoff=True, out=named)
    assert plain[0, 1] == 1.0 / 3
    assert named[0].tolist() == [1.0, 0.0]


@pytest.mark.parametrize("gains", [GAINS.astype(np.float32), GAINS.T, GAINS.astype(np.int64)], ids=["32", "T", "int"])
def test_arrays_of_another_type_or_order_are_refused(gains):
    with pytest.raises(TypeError, match="float64"):
        shared_precision_sum(ROWS, gains, 3, np.empty((2, 2)))


def test_a_module_that_is_not_compiled_names_the_next_step():
    with pytest.raises(ImportError, match=r"^qrowd\.kernels\.absent is not compiled .* Install qrowd again"):
        compiled.native("qrowd.kernels.absent")
