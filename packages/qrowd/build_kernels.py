"""Compile the kernels of src/qrowd/kernels ahead of time: Python to C++ by Pythran, C++ to extension modules.

python build_kernels.py [MODULE ...]   compile what changed; needs Pythran, NumPy and a C++ compiler
python build_kernels.py --check        say which modules are not compiled as their sources stand; exit status 1 if any

`pip install` runs it by way of hatch_build.py. See `qrowd.kernels.compiled` for what a kernel is.
"""

from __future__ import annotations

import ast
import copy
import hashlib
import os
import platform
import re
import signal
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import cast

ROOT = Path(__file__).resolve().parent
KERNELS = ROOT / "src" / "qrowd" / "kernels"
NATIVE = KERNELS / "native"
WORK = ROOT / "build" / "kernels"
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")

# One rounding per operation as in Python: no fused multiply and add.
WINDOWS = os.name == "nt"
FLAGS = ("/O2", "/fp:precise") if WINDOWS else ("-O3", "-ffp-contract=off", "-fno-trapping-math", "-w", "-g0")
PLACE = () if WINDOWS else (f"-ffile-prefix-map={WORK}=.",)  # equal builds wherever the clone stands
LEVELS = {
    "baseline": (),
    "x86_64_v3": ("-march=x86-64-v3",),
}
# Each works out the range of every number again, which doubles the time of translation; no kernel has a use for them.
WITHOUT = ("pythran.optimizations.ModIndex", "pythran.optimizations.RangeBasedSimplify")
# Modules whose inner loops gain from wide vectors; the others are compiled once.
WIDE = ("correlation", "gains", "gaps", "max_t", "ranking")


@dataclass(frozen=True)
class Module:
    """The kernels of one module as Pythran reads them."""

    name: str
    source: str
    exports: str

    def key(self, level: str) -> str:
        """Changes whenever the compiled module has to."""
        parts = (self.source, self.exports, *WITHOUT, *FLAGS, *LEVELS[level], sys.version, platform.machine())
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@dataclass(frozen=True)
class Kernel:
    module: str
    node: ast.FunctionDef
    types: tuple[str, ...]


def modules() -> list[Module]:
    """All modules that hold kernels."""
    trees = {path.stem: ast.parse(path.read_text("utf-8")) for path in sorted(KERNELS.glob("*.py"))}
    constants = {name: _constants(tree) for name, tree in trees.items()}
    kernels = {name: {k.node.name: k for k in _kernels(name, tree, constants[name])} for name, tree in trees.items()}
    return [_module(name, kernels, constants, trees) for name in trees if any(k.types for k in kernels[name].values())]


def _constants(tree: ast.Module) -> dict[str, object]:
    """Numbers and texts that a module gives names to, in capital letters."""
    values: dict[str, object] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and all(re.fullmatch(r"_?[A-Z][A-Z0-9_]*", name) for name in _names(node)):
            value = eval(compile(ast.Expression(node.value), "<constant>", "eval"), {"__builtins__": {}}, dict(values))
            targets = _names(node)
            values.update(zip(targets, value if len(targets) > 1 else (value,), strict=True))
    return values


def _names(node: ast.Assign) -> list[str]:
    (target,) = node.targets
    elements = target.elts if isinstance(target, ast.Tuple) else [target]
    return [one.id if isinstance(one, ast.Name) else "" for one in elements]


def _kernels(module: str, tree: ast.Module, constants: dict[str, object]) -> Iterator[Kernel]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call) and getattr(decorator.func, "id", "") == "kernel":
                    types = ast.Expression(ast.Tuple(decorator.args, ast.Load()))
                    code = compile(ast.fix_missing_locations(types), "<types>", "eval")
                    texts = eval(code, {"__builtins__": {}}, dict(constants))
                    yield Kernel(module, node, tuple(" ".join(text.split()) for text in texts))


def _module(
    name: str,
    kernels: dict[str, dict[str, Kernel]],
    constants: dict[str, dict[str, object]],
    trees: dict[str, ast.Module],
) -> Module:
    """The module's kernels after those of other modules that they call, without annotations."""
    own = kernels[name]
    called: dict[str, Kernel] = {}
    used: dict[str, object] = {}

    def visit(one: Kernel) -> None:
        imported = _imported_kernels(trees[one.module], kernels)
        for node in (node for statement in one.node.body for node in ast.walk(statement)):
            if isinstance(node, ast.Name):
                if node.id in constants[one.module]:
                    used[node.id] = constants[one.module][node.id]
                other = kernels[one.module].get(node.id) or imported.get(node.id)
                if other and other is not one and other.node.name not in called:
                    called[other.node.name] = other
                    visit(other)

    for one in own.values():
        called[one.node.name] = one
        visit(one)
    lines = ["import numpy as np"]
    lines += [f"{key} = {value!r}" for key, value in used.items()]
    bodies = {one.node.name: _bare(one.node) for one in called.values()}
    expressions = {key: node for key, node in bodies.items() if not called[key].types and _is_expression(node)}
    for key, node in bodies.items():
        bodies[key] = _Inlined(expressions).visit(node)
    lines += [ast.unparse(node) for key, node in bodies.items() if key not in expressions]
    # Else Pythran compiles a variant for each table's order in memory, 16 for four tables.
    exports = [
        f"export {key}({types.replace('[:,:]', '[:,:] order(C)')})" for key, one in own.items() for types in one.types
    ]
    return Module(name, "\n\n".join(lines) + "\n", "\n".join(exports) + "\n")


def _imported_kernels(tree: ast.Module, kernels: dict[str, dict[str, Kernel]]) -> dict[str, Kernel]:
    """Kernels of other modules by the names they are imported under."""
    imported = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("qrowd.kernels."):
            others = kernels.get(node.module.rpartition(".")[2], {})
            imported.update({a.asname or a.name: others[a.name] for a in node.names if a.name in others})
    return imported


def _bare(node: ast.FunctionDef) -> ast.FunctionDef:
    """Without decorator, annotations and docstring."""
    arguments = ast.arguments(
        posonlyargs=[], args=[ast.arg(one.arg) for one in node.args.args], kwonlyargs=[], kw_defaults=[], defaults=[]
    )
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    body = [_Plain().visit(statement) for statement in body]
    bare = ast.FunctionDef(node.name, arguments, body, [], None)
    return ast.fix_missing_locations(bare)


def _is_expression(node: ast.FunctionDef) -> bool:
    return len(node.body) == 1 and isinstance(node.body[0], ast.Return)


class _Inlined(ast.NodeTransformer):
    """Calls of functions that are one expression, replaced by it: in C++ each call counts references to its arrays."""

    def __init__(self, expressions: dict[str, ast.FunctionDef]) -> None:
        self.expressions = expressions

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.func, ast.Name) or node.func.id not in self.expressions:
            return node
        function = self.expressions[node.func.id]
        (body,) = function.body
        values = dict(zip([one.arg for one in function.args.args], node.args, strict=True))
        expression = cast(ast.Return, copy.deepcopy(body)).value
        return self.visit(_Replaced(values).visit(expression))


class _Replaced(ast.NodeTransformer):
    """Names replaced by expressions."""

    def __init__(self, values: dict[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return copy.deepcopy(self.values.get(node.id, node))


class _Plain(ast.NodeTransformer):
    """Assignments without annotations; np.uint64(n) of a large n in two halves, since Pythran reads signed numbers."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        number = node.args[0].value if len(node.args) == 1 and isinstance(node.args[0], ast.Constant) else 0
        if not isinstance(number, int) or number < 1 << 63:
            return node
        high, low = (f"np.uint64({half})" for half in divmod(number, 1 << 32))
        return ast.parse(f"({high} << np.uint64(32)) | {low}", mode="eval").body

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.Assign:
        self.generic_visit(node)
        return ast.Assign([node.target], node.value)


def levels_of(name: str) -> list[str]:
    """The levels that a module is compiled for on this kind of processor."""
    wide = name in WIDE and not WINDOWS and platform.machine().lower() in ("x86_64", "amd64")
    return list(LEVELS) if wide else ["baseline"]


def targets() -> list[tuple[Module, str]]:
    """Each module at each of its levels."""
    return [(module, level) for module in modules() for level in levels_of(module.name)]


def _paths(module: Module, level: str) -> tuple[Path, Path]:
    return NATIVE / level / f"{module.name}{SUFFIX}", NATIVE / level / f"{module.name}.key"


def _is_current(module: Module, level: str) -> bool:
    binary, key = _paths(module, level)
    return binary.exists() and key.exists() and key.read_text() == module.key(level)


def _prepare_worker() -> None:
    """Compilers are run where they may leave anything; Ctrl-C ends a worker without a word."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.chdir(WORK)
    tempfile.tempdir = str(WORK)


def translate(module: Module) -> None:
    """Write the C++ source of a module."""
    import pythran

    source = WORK / f"{module.name}.py"
    source.write_text(module.source, "utf-8")
    source.with_suffix(".pythran").write_text(module.exports, "utf-8")
    passes = [one for one in pythran.config.cfg.get("pythran", "optimizations").split() if one not in WITHOUT]
    pythran.compile_pythranfile(str(source), str(source.with_suffix(".cpp")), cpponly=True, opts=passes)


def compile_level(module: Module, level: str) -> str:
    """Compile a module's C++ source. The key stands beside the compiled module only once that is whole."""
    import pythran

    binary, key = _paths(module, level)
    made = WORK / f"{level}.{binary.name}"
    flags = [*FLAGS, *PLACE, *LEVELS[level]]
    pythran.compile_cxxfile(
        module.name, f"{module.name}.cpp", str(made), extra_compile_args=flags, extra_link_args=flags
    )
    binary.parent.mkdir(parents=True, exist_ok=True)
    key.unlink(missing_ok=True)
    made.replace(binary)
    key.write_text(module.key(level))
    return f"{module.name} ({level})"


def build(names: Sequence[str] = ()) -> list[Path]:
    """Compile what is outdated, several at once; all compiled modules.

    names : of modules; default: all.
    """
    every = targets()
    todo = [one for one in every if not _is_current(*one) and (not names or one[0].name in names)]
    changed = {module.name: module for module, _ in todo}
    if todo:
        cores = os.cpu_count() or 1
        print(f"Compiling {len(todo)} of {len(every)} kernel modules on {cores} processors", flush=True)
        WORK.mkdir(parents=True, exist_ok=True)
        with ProcessPoolExecutor(min(cores, len(todo)), initializer=_prepare_worker) as pool:
            list(pool.map(translate, changed.values()))
            for number, name in enumerate(pool.map(compile_level, *zip(*todo, strict=True)), 1):
                print(f"  {number}/{len(todo)} {name}", flush=True)
    wanted = {_paths(module, level)[0] for module, level in every}
    for path in NATIVE.glob("*/*"):
        if path not in wanted and path.with_name(path.name.partition(".")[0] + SUFFIX) not in wanted:
            path.unlink()
    return sorted(wanted)


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        outdated = [one for one in targets() if not _is_current(*one)]
        for module, level in outdated:
            print(f"src/qrowd/kernels/{module.name}.py is not compiled as it stands ({level}); run 'make kernels'")
        sys.exit(1 if outdated else 0)
    try:
        build(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit("Interrupted. What is compiled stays; run it again for the rest.")
