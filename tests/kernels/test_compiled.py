"""Kernels are compiled as their sources stand; without a compiler qrowd says that it is slower, and goes on."""

import os
import re
import shutil
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
WITHOUT = """
from pathlib import Path
import numpy as np
from qrowd.kernels import compiled
compiled.LIBRARY = Path("absent.so")
from qrowd.kernels.ranking import found_by_own_cut, shared_precision_sum
rows, gains, out = np.array([[0, -1, 1]], np.int32), np.array([[1.0], [0.5]]), np.empty((1, 1))
shared_precision_sum(rows, gains, cutoff=3, out=out)
found_by_own_cut(rows, gains, np.array([3.0]), out)
print(out.tolist())
"""

needs_library = pytest.mark.skipif(not compiled.LIBRARY.exists(), reason="the kernels are not compiled")
needs_compiler = pytest.mark.skipif(not shutil.which(os.environ.get("CC", "cc")), reason="there is no C compiler")


@pytest.fixture
def build_kernels(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    import build_kernels

    return build_kernels


@pytest.mark.nightly
@needs_library
@needs_compiler
def test_the_library_is_that_of_the_sources_wherever_they_stand(build_kernels, monkeypatch, tmp_path):
    copy = tmp_path / "elsewhere" / "kernels"
    shutil.copytree(build_kernels.KERNELS, copy, ignore=shutil.ignore_patterns("native", "__pycache__"))
    monkeypatch.setattr(build_kernels, "KERNELS", copy)
    monkeypatch.setattr(build_kernels, "LIBRARY", copy / "native" / compiled.LIBRARY.name)
    assert build_kernels.build().read_bytes() == compiled.LIBRARY.read_bytes(), "run python build_kernels.py"


@pytest.mark.parametrize("compiler", ["false", "absent-compiler"])
def test_a_compiler_that_fails_leaves_the_library_as_it_was(build_kernels, monkeypatch, tmp_path, compiler):
    library = tmp_path / "native" / compiled.LIBRARY.name
    library.parent.mkdir()
    library.write_bytes(b"whole")
    monkeypatch.setattr(build_kernels, "LIBRARY", library)
    monkeypatch.setenv("CC", compiler)
    with pytest.raises((OSError, RuntimeError), match=compiler):
        build_kernels.build()
    assert [path.read_bytes() for path in library.parent.iterdir()] == [b"whole"]


@pytest.fixture
def hook(build_kernels, monkeypatch):
    """That of the build, and the lines that it prints."""
    interface = "hatchling.builders.hooks.plugin.interface"
    monkeypatch.setitem(sys.modules, interface, SimpleNamespace(BuildHookInterface=object))
    from hatch_build import KernelHook

    hook = KernelHook()
    hook.root, lines = str(ROOT), []
    hook.app = SimpleNamespace(display_warning=lines.append)
    return hook, lines


def test_a_build_without_a_compiler_says_so_in_one_line_and_makes_a_wheel_of_python(hook, monkeypatch, tmp_path):
    monkeypatch.setattr(sys.modules["build_kernels"], "LIBRARY", tmp_path / "native" / "kernels.so")
    monkeypatch.setenv("CC", "absent-compiler")
    kernel_hook, lines = hook
    data = {"force_include": {}}
    kernel_hook.initialize("standard", data)
    assert data == {"force_include": {}}
    (line,) = lines
    assert line.startswith("qrowd's kernels were not compiled, so that qrowd is slower: ")
    assert "\n" not in line


def test_a_build_with_a_compiler_makes_a_wheel_for_every_python_of_the_platform(hook, monkeypatch):
    monkeypatch.setattr(sys.modules["build_kernels"], "build", lambda: compiled.LIBRARY)
    monkeypatch.setattr(compiled, "LIBRARY", ROOT / "src" / "qrowd" / "kernels" / "native" / "kernels.so")
    kernel_hook, lines = hook
    data = {"force_include": {}}
    kernel_hook.initialize("standard", data)
    assert re.fullmatch(r"py3-none-(?!any)[a-z]\w+", data["tag"])
    assert data["force_include"] == {"src/qrowd/kernels/native/kernels.so": "qrowd/kernels/native/kernels.so"}
    assert (data["pure_python"], lines) == (False, [])


def test_without_the_library_python_functions_run_and_one_sentence_says_so():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[[1.5]]\n", compiled.SLOWER + "\n")


def test_python_functions_that_were_asked_for_need_no_sentence():
    environment = {**os.environ, "QROWD_KERNELS": "python"}
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, env=environment)
    assert (done.stdout, done.stderr) == ("[[1.5]]\n", "")


def test_the_kernel_gives_the_numbers_of_its_python_source():
    by_source, by_compiler = np.empty((2, 2, 2))
    shared_precision_sum.__wrapped__(ROWS, GAINS, 3, by_source)  # type: ignore[attr-defined]
    shared_precision_sum(ROWS, GAINS, 3, by_compiler)
    np.testing.assert_array_equal(by_source, by_compiler)
    assert by_compiler[0].tolist() == [1.0 + (0.5 + 0.5) / 3, 1.0 / 3]


def test_sums_are_added_in_the_order_of_the_source():
    rng = np.random.default_rng(1)
    starts = np.arange(0, 71, 10)
    row, weight, gains = rng.integers(0, 40, 70).astype(np.int32), rng.random(70), rng.random((40, 37))
    sums, expected = np.empty((7, 37)), np.zeros((7, 37))
    weighted_sums(starts, starts[1:], row, weight, gains, 0, sums)
    for entry in range(70):
        expected[entry // 10] += weight[entry] * gains[row[entry]]
    np.testing.assert_array_equal(sums, expected)


def test_numbers_become_those_that_a_kernel_takes_and_arguments_may_be_named():
    plain, named = np.empty((2, 2, 2))
    shared_precision_sum(ROWS, GAINS, np.int32(3), plain)
    shared_precision_sum(ROWS, GAINS, cutoff=True, out=named)
    assert plain[0, 1] == 1.0 / 3
    assert named[0].tolist() == [1.0, 0.0]


@needs_library
@pytest.mark.parametrize(
    "gains",
    [GAINS.astype(np.float32), GAINS.T, GAINS.astype(np.int64), GAINS[0], GAINS.tolist()],
    ids=["32", "T", "int", "1-dimensional", "list"],
)
def test_arrays_of_another_type_or_order_are_refused(gains):
    with pytest.raises(TypeError, match=r"^shared_precision_sum takes a C-contiguous float64\[:,:\], not "):
        shared_precision_sum(ROWS, gains, 3, np.empty((2, 2)))
