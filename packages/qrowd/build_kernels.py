"""Compile the kernels, the C sources in src/qrowd/kernels, into one shared library: python build_kernels.py

`pip install` runs it by way of hatch_build.py. See `qrowd.kernels.compiled` for what a kernel is.
"""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

KERNELS = Path(__file__).resolve().parent / "src" / "qrowd" / "kernels"
WINDOWS, MACOS = os.name == "nt", sys.platform == "darwin"
LIBRARY = KERNELS / "native" / ("kernels.dll" if WINDOWS else "kernels.so")

# One rounding per operation as in Python: no fused multiply and add. Sources have relative names and symbols are left
# out: equal builds wherever the clone stands.
FLAGS = ["-std=c99", "-O3", "-ffp-contract=off", "-fno-trapping-math", "-fno-math-errno", "-fPIC", "-shared", "-s"]
FLAGS_OF_MACOS = [*FLAGS[:-1], "-arch", platform.machine(), "-mmacosx-version-min=11.0"]
FLAGS_OF_WINDOWS = ["/std:c11", "/O2", "/fp:precise"]


def build() -> Path:
    """The library. What stood there before is replaced once the new one is whole.

    Raises OSError or RuntimeError, with the reason as its text, where the compiler is missing or fails.
    """
    LIBRARY.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=LIBRARY.parent) as folder:
        made = Path(folder) / LIBRARY.name
        (compile_on_windows if WINDOWS else compile_with_cc)(made)
        made.replace(LIBRARY)
    for path in LIBRARY.parent.iterdir():
        if path != LIBRARY:
            path.unlink()
    return LIBRARY


def compile_with_cc(made: Path) -> None:
    """By the compiler that CC names, else cc."""
    sources = sorted(path.name for path in KERNELS.glob("*.c"))
    words = [*shlex.split(os.environ.get("CC", "cc")), *(FLAGS_OF_MACOS if MACOS else FLAGS), *sources]
    done = subprocess.run([*words, "-o", str(made), "-lm"], cwd=KERNELS, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{words[0]} ends with status {done.returncode}: {done.stderr.partition(chr(10))[0]}")


def compile_on_windows(made: Path) -> None:
    """By Microsoft's compiler, which setuptools finds."""
    import setuptools  # noqa: F401, I001 (it brings distutils)
    from distutils.ccompiler import new_compiler

    compiler = new_compiler()
    sources = sorted(str(path) for path in KERNELS.glob("*.c"))
    try:
        objects = compiler.compile(sources, output_dir=str(made.parent), extra_preargs=FLAGS_OF_WINDOWS)
        compiler.link_shared_object(objects, str(made))
    except Exception as error:  # setuptools has a class for each step, below Exception
        raise RuntimeError(str(error)) from error


if __name__ == "__main__":
    try:
        print(build())
    except (OSError, RuntimeError) as error:
        sys.exit(f"The kernels were not compiled: {error}")
