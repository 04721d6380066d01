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

ROOT = Path(__file__).resolve().parents[2]
ROWS = np.array([[0, -1, 1], [1, 0, -1]], np.int32)
GAINS = np.array([[1.0, 0.0], [0.5, 1.0]])


def test_the_compiled_modules_are_those_of_the_sources():
    done = subprocess.run([sys.executable, ROOT / "build_kernels.py", "--check"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_levels_that_are_built_are_those_that_are_looked_for(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    import build_kernels

    assert set(build_kernels.LEVELS) == {name for name, _ in compiled.LEVELS}


def test_a_changed_source_is_noticed(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    import build_kernels

    module = next(one for one in build_kernels.modules() if one.name == "ranking")
    changed = build_kernels.Module(module.name, module.source.replace("0.0", "0.5"), module.exports)
    assert changed.key("baseline") != module.key("baseline")
    assert module.key("baseline") != module.key("x86_64_v3")


def test_a_kernel_of_another_module_is_compiled_into_the_one_that_calls_it(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    import build_kernels

    closure = next(one for one in build_kernels.modules() if one.name == "closure")
    assert "def bits(word):" in closure.source
    assert "def group_members(" in closure.source
    assert "export bits" not in closure.exports


def test_an_interrupted_compilation_leaves_the_compiled_module_as_it_was(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(ROOT)
    import build_kernels

    def interrupted(name, source, made, **flags):
        Path(made).write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(build_kernels, "NATIVE", tmp_path / "native")
    monkeypatch.setattr(build_kernels, "WORK", tmp_path)
    monkeypatch.setitem(sys.modules, "pythran", SimpleNamespace(compile_cxxfile=interrupted))
    binary = tmp_path / "native" / "baseline" / f"pairs{build_kernels.SUFFIX}"
    binary.parent.mkdir(parents=True)
    binary.write_bytes(b"whole")
    with pytest.raises(KeyboardInterrupt):
        build_kernels.compile_level(build_kernels.Module("pairs", "", ""), "baseline")
    assert binary.read_bytes() == b"whole"
    assert list(binary.parent.iterdir()) == [binary]


def test_the_compiled_kernel_gives_the_numbers_of_its_python_source():
    by_source, by_compiler = np.empty((2, 2, 2))
    shared_precision_sum.__wrapped__(ROWS, GAINS, 3, by_source)  # type: ignore[attr-defined]
    shared_precision_sum(ROWS, GAINS, 3, by_compiler)
    np.testing.assert_array_equal(by_source, by_compiler)
    assert by_compiler[0].tolist() == [1.0 + (0.5 + 0.5) / 3, 1.0 / 3]


def test_every_level_of_vector_units_of_this_processor_gives_the_same_numbers(monkeypatch):
    rng = np.random.default_rng(1)
    starts = np.arange(0, 71, 10)
    row, weight, gains = rng.integers(0, 40, 70).astype(np.int32), rng.random(70), rng.random((40, 37))
    levels = [name for name, _ in compiled.LEVELS]
    results = []
    for level in levels[levels.index(compiled.level()) :]:
        monkeypatch.setenv(compiled.LEVEL, level)
        compiled.level.cache_clear()
        out = np.empty((7, 37))
        compiled.native("qrowd.kernels.gains").weighted_sums(starts, starts[1:], row, weight, gains, 0, out)
        results.append(out)
    compiled.level.cache_clear()
    expected = np.empty((7, 37))
    weighted_sums.__wrapped__(starts, starts[1:], row, weight, gains, 0, expected)  # type: ignore[attr-defined]
    for result in results:
        np.testing.assert_array_equal(result, expected)


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


def test_a_level_that_does_not_exist_is_refused_with_those_that_do(monkeypatch):
    monkeypatch.setenv(compiled.LEVEL, "avx9")
    compiled.level.cache_clear()
    with pytest.raises(ImportError, match="QROWD_KERNELS is 'avx9'; there are x86_64_v3, baseline"):
        compiled.native("qrowd.kernels.ranking")
    compiled.level.cache_clear()


@pytest.mark.parametrize(
    ("types", "parts"),
    [("int, float64[:]", ["int", "float64[:]"]), ("(int32[:,:], int),\n float", ["(int32[:,:], int)", "float"])],
)
def test_types_are_split_at_the_commas_between_arguments(types, parts):
    assert compiled.split_types(types) == parts
