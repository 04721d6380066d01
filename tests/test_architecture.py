"""Imports point down: never up, never sideways between rooms of one floor.

A room is a folder or a file directly under src/qrowd. Every import counts, also one inside a function, under
TYPE_CHECKING or through `import_module("...")`, because each lets one idea know of another.
"""

import ast
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

import pytest

FLOORS = {
    9: "qrowd",  # __init__.py, the front door: it may show every room, but no room goes out by it
    8: "cli",
    7: "web | reports",
    6: "methods | campaigns | scale",
    5: "aware | uncertainty | protocols | judges",
    4: "evaluation | files | store",
    3: "measures | agreement | aggregation | magnitude | predicted_relevance | gain_distributions | preferences"
    " | comparison | simulation | trec | tables",
    2: "model | collect",
    1: "kernels | threads",
    0: "errors",  # the ground: kernels raise them too
}
FLOOR_OF = {room: floor for floor, rooms in FLOORS.items() for room in rooms.split(" | ")}
KERNELS_MAY_IMPORT = {"numpy", "scipy", "numba", *sys.stdlib_module_names}
LONGEST_MODULE = 500


# ---- the walker


@dataclass(frozen=True)
class Import:
    source: str  # the importing module, as `qrowd.model.runs`
    target: str
    where: str  # file:line
    eager: bool  # happens as soon as the source is imported

    def __str__(self) -> str:
        return f"{self.where} imports {self.target}"


@dataclass(frozen=True)
class House:
    files: dict[str, Path]  # by module
    imports: list[Import]


def walk(root: Path) -> House:
    """All modules under `root`, the folder of the package, and all they import."""
    files = {}
    for file in sorted(root.rglob("*.py")):
        parts = file.relative_to(root.parent).with_suffix("").parts
        files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    imports = [
        Import(source, target, f"{file.relative_to(root.parent)}:{line}", eager)
        for source, file in files.items()
        for target, line, eager in targets(file, source, files)
    ]
    return House(files, imports)


def targets(file: Path, source: str, files: dict[str, Path]) -> Iterator[tuple[str, int, bool]]:
    """Each module that `file` imports, with the line and whether that happens eagerly."""
    for node, eager in nodes(ast.parse(file.read_text(encoding="utf-8"), str(file))):
        match node:
            case ast.Import(names=names):
                found = [alias.name for alias in names]
            case ast.ImportFrom(module=module, names=names, level=level):
                base = ".".join([*package(source, file, level), *([module] if module else [])])
                # `from qrowd.model import runs` means the module runs, where there is one
                found = [full if (full := f"{base}.{alias.name}") in files else base for alias in names]
            case ast.Call(
                func=ast.Name(id="import_module") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(name))],
            ):
                found = [name]
            case _:
                continue
        yield from ((target, node.lineno, eager) for target in found)


def package(source: str, file: Path, level: int) -> list[str]:
    """What the leading dots of a relative import stand for."""
    if level == 0:
        return []
    parts = source.split(".") if file.name == "__init__.py" else source.split(".")[:-1]
    return parts[: len(parts) - (level - 1)]


def nodes(node: ast.AST, eager: bool = True) -> Iterator[tuple[ast.AST, bool]]:
    """Every node of a syntax tree, with whether it runs when the module is imported."""
    yield node, eager
    for field, value in ast.iter_fields(node):
        waits = field == "body" and (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            or (isinstance(node, ast.If) and ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"})
        )
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from nodes(child, eager and not waits)


# ---- the rules: each takes the house and returns one line per offence


def room(module: str) -> str:
    """`model` for `qrowd.model.runs`, `store` for `qrowd.collect.store.engine`, and `qrowd` for the package itself."""
    return module.removeprefix("qrowd.").removeprefix("collect.").split(".")[0]


def between_floors(house: House) -> Iterator[tuple[Import, int, int]]:
    """The imports inside the package with the floors they join, where both ends are declared."""
    for one in house.imports:
        inside = one.target.split(".")[0] == "qrowd"
        if inside and room(one.source) in FLOOR_OF and room(one.target) in FLOOR_OF:
            yield one, FLOOR_OF[room(one.source)], FLOOR_OF[room(one.target)]


def undeclared(house: House) -> list[str]:
    found = ((file, room(module)) for module, file in house.files.items())
    return [f"{file}: the room {name!r} is on no floor" for file, name in found if name not in FLOOR_OF]


def upward(house: House) -> list[str]:
    return [f"{one} (floor {low} -> floor {high})" for one, low, high in between_floors(house) if low < high]


def sideways(house: House) -> list[str]:
    return [
        f"{one} (floor {floor}, {room(one.source)} -> {room(one.target)})"
        for one, floor, other in between_floors(house)
        if floor == other and room(one.source) != room(one.target)
    ]


def in_a_circle(house: House) -> list[str]:
    """The imports of one circle, if there is any."""
    inside = {(one.source, one.target): one for one in house.imports if one.target in house.files}
    graph: dict[str, set[str]] = {}
    for source, target in inside:
        graph.setdefault(source, set()).add(target)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = error.args[1][::-1]
        return [str(inside[pair]) for pair in pairwise(circle)]
    return []


def heavy_kernels(house: House) -> list[str]:
    return [
        f"{one} (a kernel knows NumPy, SciPy, Numba and qrowd.errors only)"
        for one in house.imports
        if room(one.source) == "kernels"
        and one.target.split(".")[0] not in KERNELS_MAY_IMPORT
        and not (one.target.startswith("qrowd.") and room(one.target) in {"kernels", "errors"})
    ]


def eager_front_door(house: House) -> list[str]:
    return [
        f"{one} eagerly; let __getattr__ do it"
        for one in house.imports
        if one.source == "qrowd" and one.eager and one.target.split(".")[0] == "qrowd"
    ]


def too_long(house: House) -> list[str]:
    lengths = {file: len(file.read_text(encoding="utf-8").splitlines()) for file in house.files.values()}
    return [f"{file}: {n} lines, more than {LONGEST_MODULE}" for file, n in lengths.items() if n > LONGEST_MODULE]


# ---- the proofs

Rule = Callable[[House], list[str]]


@pytest.fixture(scope="module")
def house() -> House:
    found = walk(Path(__file__).resolve().parents[1] / "src" / "qrowd")
    assert found.files, "src/qrowd holds no module, so every rule would pass"
    return found


def obeyed(rule: Rule, house: House) -> None:
    offences = rule(house)
    assert not offences, "\n" + "\n".join(offences)


def test_every_module_belongs_to_a_declared_room(house: House) -> None:
    obeyed(undeclared, house)


def test_no_import_points_up(house: House) -> None:
    obeyed(upward, house)


def test_no_import_points_sideways_between_rooms_of_one_floor(house: House) -> None:
    obeyed(sideways, house)


def test_no_modules_import_each_other_in_a_circle(house: House) -> None:
    obeyed(in_a_circle, house)


def test_kernels_know_arrays_only(house: House) -> None:
    obeyed(heavy_kernels, house)


def test_importing_qrowd_imports_none_of_its_rooms(house: House) -> None:
    obeyed(eager_front_door, house)


def test_no_module_is_longer_than_500_lines(house: House) -> None:
    obeyed(too_long, house)


# ---- the rules themselves are true to their names

SOUND = {
    "__init__.py": "from typing import TYPE_CHECKING\n"
    "if TYPE_CHECKING:\n    from qrowd.evaluation import evaluate\n"
    "def __getattr__(name):\n    from qrowd import evaluation\n",
    "errors.py": "",
    "kernels/__init__.py": "",
    "kernels/pairs.py": "import math\nimport numpy as np\nfrom qrowd.errors import QrowdError\nfrom . import ranking\n",
    "kernels/ranking.py": "from numba import njit\n",
    "model/__init__.py": "from qrowd.model.runs import Runs\n",
    "model/runs.py": "from ..kernels import pairs\n",
    "evaluation.py": "import xarray\nimport qrowd.model.runs\nfrom qrowd.model import Runs\n",
}
PLANTED = [
    (undeclared, "utils.py", "", "'utils' is on no floor"),
    (undeclared, "helpers/__init__.py", "", "'helpers' is on no floor"),
    (upward, "model/runs.py", "import os\nimport qrowd.cli", "runs.py:2 imports qrowd.cli (floor 2 -> floor 8)"),
    (upward, "model/runs.py", "def f():\n  from ..evaluation import evaluate", "runs.py:2 imports qrowd.evaluation"),
    (upward, "model/runs.py", "if TYPE_CHECKING:\n  from qrowd import evaluation", "runs.py:2 imports"),
    (upward, "model/runs.py", "import_module('qrowd.cli')", "runs.py:1 imports qrowd.cli (floor 2 -> floor 8)"),
    (upward, "model/runs.py", "from qrowd import evaluate", "runs.py:1 imports qrowd (floor 2 -> floor 9)"),
    (sideways, "trec.py", "import qrowd.tables", "trec.py:1 imports qrowd.tables (floor 3, trec -> tables)"),
    (in_a_circle, "model/runs.py", "from qrowd.model import Runs", "runs.py:1 imports qrowd.model"),
    (in_a_circle, "kernels/ranking.py", "def f():\n  from . import pairs", "ranking.py:2 imports qrowd.kernels.pairs"),
    (heavy_kernels, "kernels/pairs.py", "import pandas.api", "pairs.py:1 imports pandas.api"),
    (heavy_kernels, "kernels/pairs.py", "from qrowd.model import runs", "pairs.py:1 imports qrowd.model.runs"),
    (eager_front_door, "__init__.py", "try:\n  from .model import Runs\nfinally: ...", "__init__.py:2 imports"),
    (eager_front_door, "__init__.py", "if TYPE_CHECKING: ...\nelse: import qrowd.errors", "__init__.py:2 imports"),
    (too_long, "model/runs.py", "\n" * 501, "runs.py: 501 lines"),
]  # fmt: skip


def build(root: Path, files: dict[str, str]) -> House:
    for name, text in files.items():
        file = root / "qrowd" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return walk(root / "qrowd")


@pytest.mark.parametrize(("rule", "file", "text", "message"), PLANTED)
def test_a_planted_offence_is_found(tmp_path: Path, rule: Rule, file: str, text: str, message: str) -> None:
    assert any(message in line for line in rule(build(tmp_path, SOUND | {file: text})))


@pytest.mark.parametrize("rule", dict.fromkeys(rule for rule, *_ in PLANTED))
def test_a_sound_house_offends_no_rule(tmp_path: Path, rule: Rule) -> None:
    assert rule(build(tmp_path, SOUND)) == []
