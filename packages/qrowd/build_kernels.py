"""Compile the kernels of src/qrowd/kernels ahead of time: Python to C++ by Pythran, C++ to extension modules.

python build_kernels.py [MODULE ...]   compile what changed; needs Pythran, NumPy and a C++ compiler
python build_kernels.py --check        say which modules are not compiled as their sources stand; exit status 1 if any

`pip install` runs it by way of hatch_build.py. See `qrowd.kernels.compiled` for what a kernel is. What Pythran reads
stays in build/kernels.
"""

from __future__ import annotations

import ast
import hashlib
import os
import platform
import signal
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent
KERNELS = ROOT / "src" / "qrowd" / "kernels"
NATIVE = KERNELS / "native"
WORK = ROOT / "build" / "kernels"

# One rounding per operation as in Python: no fused multiply and add.
WINDOWS = os.name == "nt"
FLAGS = ("/O2", "/fp:precise") if WINDOWS else ("-O3", "-ffp-contract=off", "-fno-trapping-math", "-w", "-g0")
PLACE = () if WINDOWS else (f"-ffile-prefix-map={WORK}=.",)  # equal builds wherever the clone stands
# Each works out the range of every number again, which doubles the time of translation; no kernel has a use for them.
WITHOUT = ("pythran.optimizations.ModIndex", "pythran.optimizations.RangeBasedSimplify")


@dataclass(frozen=True)
class Module:
    """The kernels of one module, and the constants they use, as Pythran reads them."""

    name: str
    source: str

    @property
    def key(self) -> str:
        """Changes whenever the compiled module has to."""
        parts = (self.source, *WITHOUT, *FLAGS, sys.version, platform.machine())
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    @property
    def binary(self) -> Path:
        return NATIVE / (self.name + sysconfig.get_config_var("EXT_SUFFIX"))

    @property
    def key_file(self) -> Path:
        return NATIVE / f"{self.name}.key"

    @property
    def is_current(self) -> bool:
        return self.binary.exists() and self.key_file.exists() and self.key_file.read_text() == self.key


def modules() -> list[Module]:
    """All modules that hold kernels."""
    every = [read(path.stem, path.read_text("utf-8")) for path in sorted(KERNELS.glob("*.py"))]
    return [module for module in every if "# pythran export" in module.source]


def read(name: str, text: str) -> Module:
    """The functions with the decorator `kernel`, without annotations, and all constants in capital letters."""
    exports, lines = [], ["import numpy as np"]
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id.isupper():
            lines.append(ast.unparse(node))
        elif isinstance(node, ast.FunctionDef) and (types := _types(node)) is not None:
            if types:  # in C's order; else Pythran compiles a variant for each order in memory, 16 for four tables
                exports.append(f"# pythran export {node.name}({types.replace('[:,:]', '[:,:] order(C)')})")
            lines.append(ast.unparse(_without_annotations(node)))
    return Module(name, "\n\n".join(exports + lines) + "\n")


def _types(node: ast.FunctionDef) -> str | None:
    """What the decorator `kernel` says of the function's arguments, "" if nothing; None where there is no such one."""
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and getattr(decorator.func, "id", "") == "kernel":
            return str(ast.literal_eval(decorator.args[0])) if decorator.args else ""
    return None


def _without_annotations(node: ast.FunctionDef) -> ast.FunctionDef:
    node.decorator_list, node.returns = [], None
    for argument in node.args.args:
        argument.annotation = None
    return node


def _prepare_worker() -> None:
    """Compilers are run where they may leave anything; Ctrl-C ends a worker without a word."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.chdir(WORK)
    tempfile.tempdir = str(WORK)


def compile_module(module: Module) -> str:
    """Compile a module. Its key stands beside it only once it is whole."""
    import pythran

    source, made = WORK / f"{module.name}.py", WORK / module.binary.name
    source.write_text(module.source, "utf-8")
    passes = [one for one in pythran.config.cfg.get("pythran", "optimizations").split() if one not in WITHOUT]
    pythran.compile_pythranfile(str(source), str(source.with_suffix(".cpp")), cpponly=True, opts=passes)
    flags = [*FLAGS, *PLACE]
    # By a relative name, which the binary holds: equal builds wherever the clone stands.
    pythran.compile_cxxfile(
        module.name, f"{module.name}.cpp", str(made), extra_compile_args=flags, extra_link_args=flags
    )
    NATIVE.mkdir(parents=True, exist_ok=True)
    module.key_file.unlink(missing_ok=True)
    made.replace(module.binary)
    module.key_file.write_text(module.key)
    return module.name


def build(names: Sequence[str] = ()) -> list[Path]:
    """Compile what is outdated, several at once; all compiled modules.

    names : of modules; default: all.
    """
    every = modules()
    todo = [module for module in every if not module.is_current and (not names or module.name in names)]
    if todo:
        cores = os.cpu_count() or 1
        print(f"Compiling {len(todo)} of {len(every)} kernel modules on {cores} processors", flush=True)
        WORK.mkdir(parents=True, exist_ok=True)
        with ProcessPoolExecutor(min(cores, len(todo)), initializer=_prepare_worker) as pool:
            for number, name in enumerate(pool.map(compile_module, todo), 1):
                print(f"  {number}/{len(todo)} {name}", flush=True)
    wanted = {path for module in every for path in (module.binary, module.key_file)}
    for path in NATIVE.glob("*"):
        if path.is_file() and path not in wanted:
            path.unlink()
    return sorted(module.binary for module in every)


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        outdated = [module.name for module in modules() if not module.is_current]
        for name in outdated:
            print(f"src/qrowd/kernels/{name}.py is not compiled as it stands; run 'make kernels'")
        sys.exit(1 if outdated else 0)
    try:
        build(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit("Interrupted. What is compiled stays; run it again for the rest.")
