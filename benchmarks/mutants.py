"""Mutation testing: how many small mistakes in each part of the code do the tests notice?

    python benchmarks/mutants.py map FOLDER             run the tests once; remember which test runs which line
    python benchmarks/mutants.py run FOLDER [OPTIONS]   plant mistakes, one at a time; count those that a test notices

FOLDER holds the map, and the results in `mutants.csv`, a row for each mutant; a run that was interrupted goes on where
it stopped. A mutant is killed if a test that runs its line fails, or if the tests take five times as long as usual. The
tests of the same part of the code come first, the fastest first, as many as need 15 seconds together. A mutant that no
test runs survives; kernels run as Python, with the tests of kernels. To compare two versions, run both with the same
options.
"""

from __future__ import annotations

import argparse
import ast
import csv
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from queue import Queue

from coverage import numbits

ROOT = Path(__file__).resolve().parents[1]
TESTS = ("-q", "-x", "-p", "no:cacheprovider", "-p", "no:randomly", "-m", "not browser and not database and not model")
SECONDS = 15.0  # of tests for each mutant
START_SECONDS = 30.0  # of Python, imports and the collection of tests

COMPARISONS = {ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
               ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is}  # fmt: skip
BOUNDARIES = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
              ast.Pow: ast.Mult, ast.Mod: ast.Mult}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A mistake at one place. node : its number in a walk of the module's syntax tree."""

    room: str
    module: str
    line: int
    kind: str
    node: int


@dataclass(frozen=True)
class Result:
    room: str
    module: str
    line: int
    kind: str
    node: int
    outcome: str  # killed, timeout, survived, not run


def kinds_of(node: ast.AST) -> Iterator[str]:
    """The kinds of mistakes that can be made at a node."""
    match node:
        case ast.Compare(ops=[operator]):
            if type(operator) in COMPARISONS:
                yield "compare"
            if type(operator) in BOUNDARIES:
                yield "boundary"
        case ast.BinOp(op=operator, left=left) if type(operator) in ARITHMETIC:
            if not (isinstance(left, ast.Constant) and isinstance(left.value, str)):
                yield "arithmetic"
        case ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
            yield "boolean"
        case ast.Constant(value=bool() | int() | float()):
            yield "constant"
        case ast.Return(value=value) if value is not None and not isinstance(value, ast.Constant):
            yield "return"
        case ast.Expr(value=ast.Call()):
            yield "removed call"


def mutated(node: ast.AST, kind: str) -> ast.AST:
    """The node with the mistake."""
    changed = deepcopy(node)
    match kind, changed:
        case "compare", ast.Compare():
            changed.ops = [COMPARISONS[type(changed.ops[0])]()]
        case "boundary", ast.Compare():
            changed.ops = [BOUNDARIES[type(changed.ops[0])]()]
        case "arithmetic", ast.BinOp():
            changed.op = ARITHMETIC[type(changed.op)]()
        case "boolean", ast.BoolOp():
            changed.op = ast.Or() if isinstance(changed.op, ast.And) else ast.And()
        case "boolean", ast.UnaryOp():
            return changed.operand
        case "constant", ast.Constant():
            changed.value = not changed.value if isinstance(changed.value, bool) else changed.value + 1
        case "return", ast.Return():
            changed.value = ast.Constant(None)
        case "removed call", ast.Expr():
            return ast.copy_location(ast.Pass(), node)
    return changed


def within_functions(tree: ast.Module) -> set[int]:
    """Numbers, in a walk of the tree, of the nodes that a function runs: no annotations, defaults or decorators."""
    running = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for statement in function.body
        for node in ast.walk(statement)
    }
    annotations = {
        id(node)
        for parent in ast.walk(tree)
        for annotation in (getattr(parent, "annotation", None), getattr(parent, "returns", None))
        if isinstance(annotation, ast.AST)
        for node in ast.walk(annotation)
    }
    return {number for number, node in enumerate(ast.walk(tree)) if id(node) in running - annotations}


class _Replace(ast.NodeTransformer):
    def __init__(self, target: ast.AST, replacement: ast.AST) -> None:
        self.target, self.replacement = target, replacement

    def visit(self, node: ast.AST) -> ast.AST:
        return self.replacement if node is self.target else self.generic_visit(node)


def mutated_text(text: str, mutant: Mutant) -> str:
    """The source code of a module with the mistake in it."""
    tree = ast.parse(text)
    target = next(node for number, node in enumerate(ast.walk(tree)) if number == mutant.node)
    changed = _Replace(target, mutated(target, mutant.kind)).visit(tree)
    return ast.unparse(ast.fix_missing_locations(changed))


def sources() -> list[Path]:
    """The folders `src` of the checkout."""
    return sorted(ROOT.glob("packages/*/src")) or [ROOT / "src"]


def room_of(module: Path) -> str:
    """qrowd/agreement for qrowd/agreement/kappa.py."""
    folders = module.parts[:-1]
    return "/".join(folders[: 3 if "collect" in folders else 2])


def candidates() -> dict[str, list[Mutant]]:
    """All mutants by room."""
    by_room = defaultdict(list)
    for source in sources():
        for path in sorted(source.rglob("*.py")):
            module = path.relative_to(source)
            if "migrations" in module.parts:
                continue
            tree = ast.parse(path.read_text(encoding="utf-8"))
            running = within_functions(tree)
            for number, node in enumerate(ast.walk(tree)):
                if number in running:
                    for kind in kinds_of(node):
                        mutant = Mutant(room_of(module), module.as_posix(), node.lineno, kind, number)  # type: ignore[attr-defined]
                        by_room[mutant.room].append(mutant)
    return dict(by_room)


def drawn(mutants: list[Mutant], n: int, seed: int) -> list[Mutant]:
    """At most n mutants, kind after kind, so that rare kinds are among them."""
    rng = random.Random(f"{seed} {mutants[0].room}")
    by_kind = defaultdict(list)
    for mutant in mutants:
        by_kind[mutant.kind].append(mutant)
    for group in by_kind.values():
        rng.shuffle(group)
    chosen: list[Mutant] = []
    while len(chosen) < n and any(by_kind.values()):
        chosen += [by_kind[kind].pop() for kind in sorted(by_kind) if by_kind[kind]][: n - len(chosen)]
    return chosen


# ---------------------------------------------------------------------- which tests run which line


def make_map(folder: Path, processes: int) -> int:
    """Run all tests with coverage, and keep for each line the tests that ran it, and for each test its seconds."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = folder / "coverage.ini"
    lines = "\n    ".join(str(source) for source in sources())
    settings.write_text(f"[run]\nparallel = true\ndata_file = {folder / '.coverage'}\nsource =\n    {lines}\n")
    coverage = ["--cov", f"--cov-config={settings}", "--cov-context=test", "--cov-report="]
    record = [f"--junitxml={folder / 'junit.xml'}", "-n", str(processes), "--dist", "loadscope"]
    command = [sys.executable, "-m", "pytest", *(option for option in TESTS if option != "-x"), *coverage, *record]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def seconds_by_test(folder: Path) -> dict[str, float]:
    """{test: seconds}, of the tests that passed."""
    seconds = {}
    for case in ElementTree.parse(folder / "junit.xml").iter("testcase"):
        if len(case) == 0 or all(child.tag in ("system-out", "properties") for child in case):
            path = case.get("classname", "").replace(".", "/")
            seconds[f"{path}.py::{case.get('name')}"] = float(case.get("time", 0))
    return seconds


class Map:
    """Which tests ran a line."""

    def __init__(self, folder: Path) -> None:
        self.seconds = seconds_by_test(folder)
        self.database = sqlite3.connect(folder / ".coverage", check_same_thread=False)
        self.files = {path: number for number, path in self.database.execute("select id, path from file")}
        self.contexts = dict(self.database.execute("select id, context from context"))

    def tests(self, source: Path, mutant: Mutant) -> list[str]:
        """The tests that ran the line: of the same room first, the fastest first, at most SECONDS in all."""
        file = self.files.get(str(source / mutant.module))
        rows = self.database.execute("select context_id, numbits from line_bits where file_id = ?", (file,)).fetchall()
        names = {self.contexts[context].partition("|")[0] for context, bits in rows
                 if numbits.num_in_numbits(mutant.line, bits)}  # fmt: skip
        room = Path(mutant.room).name
        tests = sorted(
            names & self.seconds.keys(), key=lambda name: (room not in name.split("/"), self.seconds[name], name)
        )
        chosen, total = [], 0.0
        for name in tests:
            total += self.seconds[name]
            if chosen and total > SECONDS:
                break
            chosen.append(name)
        return chosen[:400]


# ---------------------------------------------------------------------- planting the mistakes


def outcome_of(mutant: Mutant, tests: list[str], seconds: float, copy: Path) -> str:
    """What the tests say of a copy of the source code with the mistake."""
    if not tests:
        return "not run"
    path = copy / mutant.module
    text = path.read_text(encoding="utf-8")
    path.write_text(mutated_text(text, mutant), encoding="utf-8")
    extra = [str(ROOT / folder) for folder in ("tests", "papers") if (ROOT / folder).is_dir()]
    settings = {"PYTHONPATH": os.pathsep.join([str(copy), *extra]), "CI": "true", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    if "kernels" in mutant.room:
        settings["QROWD_KERNELS"] = "python"
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *TESTS, *tests],
            cwd=ROOT, env=os.environ | settings, capture_output=True, check=False, timeout=START_SECONDS + 5 * seconds,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "timeout"
    finally:
        path.write_text(text, encoding="utf-8")
    return "survived" if done.returncode == 0 else "killed"


def run(folder: Path, per_room: int, seed: int, processes: int, rooms: list[str]) -> None:
    by_room = candidates()
    mutants = [mutant for room in rooms or sorted(by_room) for mutant in drawn(by_room[room], per_room, seed)]
    table = folder / "mutants.csv"
    finished = set()
    if table.exists():
        with table.open(encoding="utf-8", newline="") as file:
            finished = {(row["module"], int(row["node"]), row["kind"]) for row in csv.DictReader(file)}
    else:
        table.write_text(",".join(field.name for field in fields(Result)) + "\n", encoding="utf-8")
    covered = Map(folder)
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(processes) as pool:
        copies: Queue[Path] = Queue()
        for number in range(processes):
            copy = Path(temporary) / str(number)
            for source in sources():
                shutil.copytree(source, copy, dirs_exist_ok=True)
            copies.put(copy)

        def work(mutant: Mutant) -> Result:
            source = next(source for source in sources() if (source / mutant.module).exists())
            tests = covered.tests(source, mutant)
            copy = copies.get()
            try:
                outcome = outcome_of(mutant, tests, sum(covered.seconds[name] for name in tests), copy)
            finally:
                copies.put(copy)
            return Result(*astuple(mutant), outcome)

        waiting = [mutant for mutant in mutants if (mutant.module, mutant.node, mutant.kind) not in finished]
        for number, result in enumerate(pool.map(work, waiting), 1):
            with table.open("a", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerow(astuple(result))
            print(
                f"{number} of {len(waiting)}: {result.module}:{result.line} {result.kind}: {result.outcome}", flush=True
            )
    show(table)


def show(table: Path) -> None:
    """The kill rate by room."""
    by_room = defaultdict(list)
    with table.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            by_room[row["room"]].append(row["outcome"] in ("killed", "timeout"))
    for room, killed in sorted(by_room.items()):
        print(f"{room:32} {sum(killed):3} of {len(killed):3} killed, {sum(killed) / len(killed):.0%}")
    outcomes = [killed for room in by_room.values() for killed in room]
    print(f"{'all':32} {sum(outcomes):3} of {len(outcomes):3} killed, {sum(outcomes) / len(outcomes):.1%}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("action", choices=["map", "run", "show"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--per-room", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--rooms", nargs="*", default=[])
    options = parser.parse_args()
    if options.action == "map":
        return make_map(options.folder, options.processes)
    if options.action == "run":
        run(options.folder, options.per_room, options.seed, options.processes, options.rooms)
    else:
        show(options.folder / "mutants.csv")
    return 0


if __name__ == "__main__":
    sys.exit(main())
