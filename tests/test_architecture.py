"""Imports point down: never up, never sideways between packages of one layer.

A package is a folder or a file directly under qrowd or qrowd_server. Every import counts, also one inside a function,
under TYPE_CHECKING or through `import_module("...")`, because each lets one idea know of another. The core imports
nothing of the server.
"""

import ast
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

import pytest

LAYERS = {
    9: "qrowd | __main__ | server.cli",  # __init__.py: it may offer every package, but no package imports it
    8: "cli | pyterrier | server.web",
    7: "reports | ir_measures",
    6: "methods | server.campaigns | influence",
    5: "aware | replacement | server.protocols | judge | sequential | partitioning",
    4: "evaluation | files | server.store | texts",
    3: "measures | agreement | aggregation | magnitude | predicted_relevance | gain_distributions | preferences"
    " | comparison | simulation | trec | tables | paths | leaderboard_files | partitions",
    2: "model | server | readers",
    1: "kernels | threads | executors | plugins | display | server.translatable",
    0: "errors",  # kernels raise them too
}
LAYER_OF = {package: layer for layer, packages in LAYERS.items() for package in packages.split(" | ")}
CAMPAIGN_FOLDERS = ("plan", "running", "results")  # of qrowd_server.campaigns: each imports those before it
KERNELS_MAY_IMPORT = {"numpy", "scipy", *sys.stdlib_module_names}


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
class Tree:
    files: dict[str, Path]  # by module
    imports: list[Import]


def walk(*roots: Path) -> Tree:
    """All modules under the folders of the packages, and all they import."""
    files = {}
    for folder, file in ((root, file) for root in roots for file in sorted(root.rglob("*.py"))):
        parts = file.relative_to(folder.parent).with_suffix("").parts
        files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    imports = [
        Import(source, target, f"{file.name}:{line}", eager)
        for source, file in files.items()
        for target, line, eager in targets(file, source, files)
    ]
    return Tree(files, imports)


def targets(file: Path, source: str, files: dict[str, Path]) -> Iterator[tuple[str, int, bool]]:
    """Each module that `file` imports, with the line and whether that happens eagerly."""
    for node, eager in nodes(ast.parse(file.read_text(encoding="utf-8"), str(file))):
        match node:
            case ast.Import(names=names):
                found = [alias.name for alias in names]
            case ast.ImportFrom(module=module, names=names, level=level):
                base = ".".join([*base_of(source, file, level), *([module] if module else [])])
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


def base_of(source: str, file: Path, level: int) -> list[str]:
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


# ---- the rules: each takes the source tree and returns one line per offence


def package_of(module: str) -> str:
    """`model` for `qrowd.model.runs`, `server.store` for `qrowd_server.store.engine`, `qrowd` for the package."""
    distribution, *folders = module.split(".")
    if distribution == "qrowd_server":
        return ".".join(["server", *folders[:1]])
    return folders[0] if folders else distribution


def between_layers(tree: Tree) -> Iterator[tuple[Import, int, int]]:
    """The imports inside the package with the layers they join, where both ends are declared."""
    for one in tree.imports:
        inside = one.target.split(".")[0] in ("qrowd", "qrowd_server")
        if inside and package_of(one.source) in LAYER_OF and package_of(one.target) in LAYER_OF:
            yield one, LAYER_OF[package_of(one.source)], LAYER_OF[package_of(one.target)]


def undeclared(tree: Tree) -> list[str]:
    found = ((file, package_of(module)) for module, file in tree.files.items())
    return [f"{file}: the package {name!r} is on no layer" for file, name in found if name not in LAYER_OF]


def upward(tree: Tree) -> list[str]:
    return [f"{one} (layer {low} -> layer {high})" for one, low, high in between_layers(tree) if low < high]


def sideways(tree: Tree) -> list[str]:
    return [
        f"{one} (layer {layer}, {package_of(one.source)} -> {package_of(one.target)})"
        for one, layer, other in between_layers(tree)
        if layer == other and package_of(one.source) != package_of(one.target)
    ]


def campaign_folder(module: str) -> int | None:
    """The place of a module's folder in `CAMPAIGN_FOLDERS`; None outside of them."""
    match module.split("."):
        case ["qrowd_server", "campaigns", folder, *_] if folder in CAMPAIGN_FOLDERS:
            return CAMPAIGN_FOLDERS.index(folder)
    return None


def upward_in_campaigns(tree: Tree) -> list[str]:
    places = [(one, campaign_folder(one.source), campaign_folder(one.target)) for one in tree.imports]
    return [str(one) for one, low, high in places if low is not None and high is not None and low < high]


def in_a_cycle(tree: Tree) -> list[str]:
    """The imports of one cycle, if there is any."""
    inside = {(one.source, one.target): one for one in tree.imports if one.target in tree.files}
    graph: dict[str, set[str]] = {}
    for source, target in inside:
        graph.setdefault(source, set()).add(target)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        cycle = error.args[1][::-1]
        return [str(inside[pair]) for pair in pairwise(cycle)]
    return []


def heavy_kernels(tree: Tree) -> list[str]:
    return [
        f"{one} (a kernel knows NumPy, SciPy and qrowd.errors only)"
        for one in tree.imports
        if package_of(one.source) == "kernels"
        and one.target.split(".")[0] not in KERNELS_MAY_IMPORT
        and not (one.target.startswith("qrowd.") and package_of(one.target) in {"kernels", "errors"})
    ]


def core_knows_the_server(tree: Tree) -> list[str]:
    return [
        f"{one}: the core finds the server by entry points alone"
        for one in tree.imports
        if one.source.split(".")[0] == "qrowd" and one.target.split(".")[0] == "qrowd_server"
    ]


def eager_init(tree: Tree) -> list[str]:
    return [
        f"{one} eagerly; let __getattr__ do it"
        for one in tree.imports
        if one.source == "qrowd" and one.eager and one.target.split(".")[0] == "qrowd"
    ]


# ---- the proofs

Rule = Callable[[Tree], list[str]]


@pytest.fixture(scope="module")
def tree() -> Tree:
    packages = Path(__file__).resolve().parents[1] / "packages"
    found = walk(packages / "qrowd" / "src" / "qrowd", packages / "qrowd-server" / "src" / "qrowd_server")
    assert {"qrowd", "qrowd_server"} <= set(found.files), "a package is not there, so every rule would pass"
    return found


def obeyed(rule: Rule, tree: Tree) -> None:
    offences = rule(tree)
    assert not offences, "\n" + "\n".join(offences)


def test_every_module_belongs_to_a_declared_package(tree: Tree) -> None:
    obeyed(undeclared, tree)


def test_no_import_points_up(tree: Tree) -> None:
    obeyed(upward, tree)


def test_no_import_points_sideways_between_packages_of_one_layer(tree: Tree) -> None:
    obeyed(sideways, tree)


def test_folders_of_campaigns_import_those_before_them(tree: Tree) -> None:
    obeyed(upward_in_campaigns, tree)
    planted = Import(
        "qrowd_server.campaigns.plan.form", "qrowd_server.campaigns.running.campaign_settings", "form.py:1", True
    )
    assert upward_in_campaigns(Tree({}, [planted]))


def test_no_modules_import_each_other_in_a_cycle(tree: Tree) -> None:
    obeyed(in_a_cycle, tree)


def test_kernels_know_arrays_only(tree: Tree) -> None:
    obeyed(heavy_kernels, tree)


def test_the_core_imports_nothing_of_the_server(tree: Tree) -> None:
    obeyed(core_knows_the_server, tree)


def test_importing_qrowd_imports_none_of_its_packages(tree: Tree) -> None:
    obeyed(eager_init, tree)


# ---- the rules themselves are true to their names

SOUND = {
    "__init__.py": "from typing import TYPE_CHECKING\n"
    "if TYPE_CHECKING:\n    from qrowd.evaluation import evaluate\n"
    "def __getattr__(name):\n    from qrowd import evaluation\n",
    "errors.py": "",
    "kernels/__init__.py": "",
    "kernels/pairs.py": "import math\nimport numpy as np\nfrom qrowd.errors import QrowdError\nfrom . import ranking\n",
    "kernels/ranking.py": "from scipy import special\n",
    "model/__init__.py": "from qrowd.model.runs import Runs\n",
    "model/runs.py": "from ..kernels import pairs\n",
    "evaluation.py": "import xarray\nimport qrowd.model.runs\nfrom qrowd.model import Runs\n",
}
PLANTED = [
    (undeclared, "utils.py", "", "'utils' is on no layer"),
    (undeclared, "helpers/__init__.py", "", "'helpers' is on no layer"),
    (upward, "model/runs.py", "import os\nimport qrowd.cli", "runs.py:2 imports qrowd.cli (layer 2 -> layer 8)"),
    (upward, "model/runs.py", "def f():\n  from ..evaluation import evaluate", "runs.py:2 imports qrowd.evaluation"),
    (upward, "model/runs.py", "if TYPE_CHECKING:\n  from qrowd import evaluation", "runs.py:2 imports"),
    (upward, "model/runs.py", "import_module('qrowd.cli')", "runs.py:1 imports qrowd.cli (layer 2 -> layer 8)"),
    (upward, "model/runs.py", "from qrowd import evaluate", "runs.py:1 imports qrowd (layer 2 -> layer 9)"),
    (sideways, "trec.py", "import qrowd.tables", "trec.py:1 imports qrowd.tables (layer 3, trec -> tables)"),
    (in_a_cycle, "model/runs.py", "from qrowd.model import Runs", "runs.py:1 imports qrowd.model"),
    (in_a_cycle, "kernels/ranking.py", "def f():\n  from . import pairs", "ranking.py:2 imports qrowd.kernels.pairs"),
    (heavy_kernels, "kernels/pairs.py", "import pandas.api", "pairs.py:1 imports pandas.api"),
    (heavy_kernels, "kernels/pairs.py", "from qrowd.model import runs", "pairs.py:1 imports qrowd.model.runs"),
    (core_knows_the_server, "model/runs.py", "import qrowd_server.store", "runs.py:1 imports qrowd_server.store"),
    (eager_init, "__init__.py", "try:\n  from .model import Runs\nfinally: ...", "__init__.py:2 imports"),
    (eager_init, "__init__.py", "if TYPE_CHECKING: ...\nelse: import qrowd.errors", "__init__.py:2 imports"),
]  # fmt: skip


def build(root: Path, files: dict[str, str]) -> Tree:
    for name, text in files.items():
        file = root / "qrowd" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return walk(root / "qrowd")


@pytest.mark.parametrize(("rule", "file", "text", "message"), PLANTED)
def test_a_planted_offence_is_found(tmp_path: Path, rule: Rule, file: str, text: str, message: str) -> None:
    assert any(message in line for line in rule(build(tmp_path, SOUND | {file: text})))


@pytest.mark.parametrize("rule", dict.fromkeys(rule for rule, *_ in PLANTED))
def test_a_sound_tree_offends_no_rule(tmp_path: Path, rule: Rule) -> None:
    assert rule(build(tmp_path, SOUND)) == []
