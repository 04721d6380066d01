"""Mutation testing: how many small mistakes in each part of the code do the tests notice?

    python benchmarks/mutants.py draw FOLDER CHECKOUT [EARLIER]   choose the mistakes
    python benchmarks/mutants.py run FOLDER CHECKOUT              plant them one at a time; do tests notice?
    python benchmarks/mutants.py show FOLDER                      the kill rates, with standard errors

`draw` chooses mutants of every kind in every room and writes `drawn.jsonl`. With an EARLIER checkout it draws pairs (a
mistake in a statement that both checkouts have, in a function of the same name) and mistakes in code that only one of
them has. The difference of pairs is due to the tests alone; the other mutants say whether code that is new is tested as
well as the code that is gone. The rate of a room with 24 mutants has a standard error of about 8 points.

`run` imports the code and collects the tests once, then forks for each file of tests and for each mutant. First all
tests run once with probes in the drawn statements. Then the child of a mutant exchanges the code of one function and
runs tests of the same room that run the statement, the fastest first, until one fails. That takes about 15 minutes of
processor time for each checkout. A run that was interrupted goes on where it stopped.

A rate is a lower bound of what the whole suite notices, meant for comparison with another checkout: it is without tests
that take long, or need a browser or a database, and a statement that runs only at import or in another process counts
as not tested. Whether another test notices a mutant that survives, only that test can tell. Controls, without a
mistake, should survive. Kernels run only with QROWD_KERNELS=python.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import contextlib
import gc
import importlib
import json
import math
import os
import random
import resource
import signal
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest
from hypothesis import Phase, settings

# Limits in seconds of processor time
TEST, SETUP = 0.5, 2.0  # of a test; the map leaves out what takes longer, a mutant may take three times as long
FILE = 10  # of all tests of a file, when they are run for the map
MUTANT = 4.0  # of the tests that are chosen for a mutant
EXAMPLES = 15  # of a law
LEFT_OUT = ("*dask*", "*pyterrier*", "*kills*", "*in_browser*")  # files of tests
PROBE = "_statement_runs"

COMPARISONS = {ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
               ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is}  # fmt: skip
BOUNDARIES = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
              ast.Pow: ast.Mult, ast.Mod: ast.Mult}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A mistake at one place."""

    checkout: str
    sample: str  # pair, only or control
    number: int  # the same for both mutants of a pair
    room: str
    tests: str  # names of the folders of tests, separated by blanks
    module: str  # path below src
    function: str
    node: int  # number among the places of the module
    line: int
    kind: str
    statement: str  # its first line


def mistakes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """The kinds of mistakes that can be made at a node, and what then stands there."""
    match node:
        case ast.Compare(left, [operator], right):
            for kind, exchange in (("compare", COMPARISONS), ("boundary", BOUNDARIES)):
                if type(operator) in exchange:
                    yield kind, ast.Compare(left, [exchange[type(operator)]()], right)
        case ast.BinOp(left, operator, right) if type(operator) in ARITHMETIC:
            if not (isinstance(left, ast.Constant) and isinstance(left.value, str)):
                yield "arithmetic", ast.BinOp(left, ARITHMETIC[type(operator)](), right)
        case ast.BoolOp(operator, values):
            yield "boolean", ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), values)
        case ast.UnaryOp(ast.Not(), operand):
            yield "boolean", operand
        case ast.Constant(bool() as value):
            yield "constant", ast.Constant(not value)
        case ast.Constant(int() | float() as value):
            yield "constant", ast.Constant(value + 1)
        case ast.Return(value) if value is not None and not isinstance(value, ast.Constant):
            yield "return", ast.Return(ast.Constant(None))
        case ast.Expr(ast.Call()):
            yield "removed call", ast.Pass()


def places(tree: ast.Module) -> list[tuple[ast.AST, str, ast.stmt]]:
    """The nodes that a function runs, with the name of the outermost function and the statement around the node."""
    result: list[tuple[ast.AST, str, ast.stmt]] = []

    def visit(node: ast.AST, name: str, statement: ast.stmt | None) -> None:
        """statement : None outside of functions."""
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                for child in node.body:
                    visit(child, name if statement else name + node.name, child)
            case ast.ClassDef() if not statement:
                for child in node.body:
                    visit(child, f"{name}{node.name}.", None)
            case ast.AnnAssign(value=value):
                if value:
                    visit(value, name, statement and node)
            case _:
                if statement and isinstance(node, ast.stmt):
                    statement = node
                if statement:
                    result.append((node, name, statement))
                for child in ast.iter_child_nodes(node):
                    visit(child, name, statement)

    visit(tree, "", None)
    return result


class Replacement(ast.NodeTransformer):
    """Puts other nodes in the place of some; several in the place of a statement."""

    def __init__(self, replacements: Mapping[Any, object]) -> None:
        self.replacements = replacements

    def visit(self, node: ast.AST) -> Any:
        return self.replacements.get(self.generic_visit(node), node)


# ---------------------------------------------------------------------- which mistakes


def sources(checkout: Path) -> list[Path]:
    """The folders `src` of a checkout."""
    return sorted(checkout.glob("packages/*/src")) or [checkout / "src"]


def room_of(module: Path) -> tuple[str, str]:
    """The room of qrowd/agreement/kappa.py, and the folder of its tests; for a module in no room, test_MODULE.py."""
    package, *folders = [part for part in module.parts[:-1] if part != "collect"]
    if package == "qrowd_papers":
        return "papers", "papers"
    return (folders[0], folders[0]) if folders else (package, module.stem)


def in_rooms(path: Path, rooms: list[str]) -> bool:
    """Whether a file of tests is of these rooms. path : below the checkout."""
    folders = [part for part in path.parts[:-1] if part not in ("tests", "server", "collect")]
    return folders[0] in rooms if folders else any(f"{path.stem}_".startswith(f"test_{room}_") for room in rooms)


def candidates(checkout: Path) -> dict[tuple[object, ...], list[Mutant]]:
    """All mutants of a checkout by what stays the same when a function moves to another module."""
    mutants: dict[tuple[object, ...], list[Mutant]] = defaultdict(list)
    for source in sources(checkout):
        for path in sorted(source.rglob("*.py")):
            module = path.relative_to(source)
            if "migrations" in module.parts or module.stem == "__main__":
                continue
            ordinals: Counter[tuple[str, ...]] = Counter()
            for number, (node, function, statement) in enumerate(places(ast.parse(path.read_text(encoding="utf-8")))):
                for kind, _ in mistakes(node):
                    first_line = ast.unparse(statement).partition("\n")[0]
                    key = (function, first_line, kind)
                    ordinals[key] += 1
                    mutants[*key, ordinals[key]].append(Mutant(
                        str(checkout), "only", 0, *room_of(module), module.as_posix(), function, number,
                        statement.lineno, kind, first_line,
                    ))  # fmt: skip
    return mutants


def drawn(mutants: Iterable[Mutant], per_room: int, rng: random.Random) -> list[Mutant]:
    """Mutants of each room, kind after kind, so that rare kinds are among them; room after room."""
    groups = defaultdict(list)
    for mutant in mutants:
        groups[mutant.room, mutant.kind].append(mutant)
    by_room: dict[str, list[tuple[int, float, Mutant]]] = defaultdict(list)
    for (room, _), group in sorted(groups.items()):
        rng.shuffle(group)
        by_room[room] += [(i, rng.random(), mutant) for i, mutant in enumerate(group)]
    ranked = [(i, mutant) for group in by_room.values() for i, (*_, mutant) in enumerate(sorted(group)[:per_room])]
    return [mutant for _, mutant in sorted(ranked, key=lambda place: place[0])]


def draw(folder: Path, checkout: Path, earlier: Path | None, per_room: int, seed: int) -> None:
    rng = random.Random(seed)
    now, before = candidates(checkout), candidates(earlier) if earlier else {}
    pairs = {now[key][0]: before[key][0] for key in now if len(now[key]) == len(before.get(key, ())) == 1}
    rows = []
    for number, mutant in enumerate(drawn(pairs, per_room, rng)):
        tests = " ".join(sorted({mutant.tests, pairs[mutant].tests}))
        pair: dict[str, Any] = {"sample": "pair", "number": number, "room": mutant.room, "tests": tests}
        rows += [replace(mutant, **pair), replace(pairs[mutant], **pair)]
    for mutants in (now, before):
        others = {mutant for group in mutants.values() for mutant in group} - pairs.keys() - set(pairs.values())
        print(f"{len(pairs):,} mutants are in both checkouts, {len(others):,} only in one")
        rows += [replace(mutant, number=i) for i, mutant in enumerate(drawn(others, per_room, rng))]
    last = {(row.checkout, row.room): row for row in rows}
    rows += [replace(row, sample="control", number=i) for i, row in enumerate(last.values())]
    folder.mkdir(parents=True, exist_ok=True)
    append(folder / "drawn.jsonl", map(asdict, rows))


def append(path: Path, rows: Iterable[dict[str, object]]) -> None:
    """Add rows to a file of JSON lines."""
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


# ---------------------------------------------------------------------- planting them


def place(code: CodeType) -> tuple[object, ...]:
    """Which function of a module it is; a line may hold several lambdas."""
    return code.co_qualname, code.co_firstlineno, code.co_freevars, code.co_varnames[: code.co_argcount]


class Code:
    """The functions of the modules of a checkout, whose code can be exchanged."""

    def __init__(self, checkout: Path, modules: Iterable[str]) -> None:
        self.files = {
            module: next(path for source in sources(checkout) if (path := source / module).exists())
            for module in sorted(modules)
        }
        for module in self.files:
            importlib.import_module(module.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
        self.functions = defaultdict(list)
        gc.unfreeze()  # get_objects leaves out what is frozen
        for function in gc.get_objects():
            if isinstance(function, FunctionType):
                self.functions[function.__code__.co_filename].append(function)
        gc.freeze()

    def tree(self, module: str) -> ast.Module:
        return ast.parse(self.files[module].read_text(encoding="utf-8"))

    def exchange(self, module: str, tree: ast.Module) -> set[str]:
        """Compile a changed module, and let the functions that exist run the new code; the names of those changed."""
        path = str(self.files[module])
        codes = [compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)]
        for code in codes:
            codes += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        changed = set()
        for function in self.functions[path]:
            for code in codes:
                old = function.__code__
                if place(code) == place(old) and code != old:
                    function.__code__ = code
                    changed.add(code.co_qualname)
        return changed

    def plant(self, mutant: Mutant) -> bool:
        """Whether the mistake could be planted: a function that exists must keep its free variables."""
        tree = self.tree(mutant.module)
        node = places(tree)[mutant.node][0]
        mistake = ast.copy_location(dict(mistakes(node))[mutant.kind], node)
        try:
            return mutant.function in self.exchange(mutant.module, Replacement({node: mistake}).visit(tree))
        except ValueError:
            return False

    def probe(self, mutants: list[Mutant]) -> None:
        """Let each drawn statement say that it runs."""
        nodes = defaultdict(set)
        for mutant in mutants:
            nodes[mutant.module].add(mutant.node)
        for module, numbers in nodes.items():
            tree = self.tree(module)
            statements = {statement for number, (*_, statement) in enumerate(places(tree)) if number in numbers}
            call = "{}('{} {}')".format
            probes = {old: [*ast.parse(call(PROBE, module, old.lineno)).body, old] for old in statements}
            self.exchange(module, Replacement(probes).visit(tree))


class TooSlow(BaseException):
    """A test takes too much processor time."""

    @staticmethod
    def handler(*_: object) -> None:
        raise TooSlow


class Runner:
    """A plugin of pytest: runs the collected tests once, then the tests of each mutant."""

    def __init__(
        self, checkout: Path, mutants: list[Mutant], todo: list[Mutant], map_file: Path, results: Path
    ) -> None:
        """mutants : whose statements get probes; todo : which to plant."""
        self.checkout, self.mutants, self.todo, self.map, self.results = checkout, mutants, todo, map_file, results
        self.screen = os.fdopen(os.dup(1), "w", buffering=1)  # pytest has its own file
        self.hits: set[str] = set()
        self.seconds = {"setup": 0.0, "call": 0.0}
        self.factor = 1.0

    def pytest_configure(self) -> None:
        """Few examples of each law, and no search for the simplest that fails."""
        profile = settings(settings.get_profile("ci"), max_examples=EXAMPLES, phases=[Phase.explicit, Phase.generate])
        settings.register_profile("mutants", profile)
        settings.load_profile("mutants")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self) -> Iterator[None]:
        with self.limited("setup", SETUP):
            yield

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        with self.limited("call", TEST):
            yield

    @contextlib.contextmanager
    def limited(self, step: str, seconds: float) -> Iterator[None]:
        """Measure the processor time of a step of a test, and end it when it takes too much."""
        start = sum(os.times()[:4])
        signal.setitimer(signal.ITIMER_PROF, self.factor * seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            self.seconds[step] = sum(os.times()[:4]) - start

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed |= report.outcome != "passed"

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.code = Code(self.checkout, {mutant.module for mutant in self.mutants})
        setattr(builtins, PROBE, self.hits.add)
        self.code.probe(self.mutants)
        by_file = defaultdict(list)
        for item in session.items:
            by_file[item.nodeid.partition("::")[0]].append(item)
        finished = {row["file"] for row in read(self.map) if row["test"] is None}
        for i, (name, items) in enumerate(by_file.items(), 1):
            if name not in finished:
                self.fork(FILE, self.run_file, name, items)
                append(self.map, [{"file": name, "test": None}])
                print(f"file {i} of {len(by_file)}: {name}", file=self.screen)
        self.read_map({item.nodeid: item for item in session.items})
        self.factor = 3.0
        for i, mutant in enumerate(self.todo, 1):
            tests = self.tests(mutant)
            status = self.fork(60, self.run_mutant, mutant, tests) if tests else 3
            outcome = {0: "survived", 1: "killed", 2: "not planted", 3: "not run"}.get(status, "timeout")
            append(self.results, [asdict(mutant) | {"n_tests": len(tests), "outcome": outcome}])
            print(f"{i} of {len(self.todo)}: {mutant.module}:{mutant.line} {mutant.kind}: {outcome}", file=self.screen)
        return True

    def fork(self, seconds: int, work: Callable[..., int], *arguments: object) -> int:
        """The exit status of a child that does the work, negative if a limit ended it."""
        child = os.fork()
        if child == 0:
            status = 4
            try:
                os.setpgid(0, 0)
                resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
                resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
                signal.signal(signal.SIGPROF, TooSlow.handler)
                signal.alarm(300)  # for what waits without end
                status = work(*arguments)
            finally:
                os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # what the tests started
        return status

    def run_tests(self, items: list[pytest.Item]) -> Iterator[pytest.Item]:
        """Run tests; each after it has run."""
        for item, following in zip(items, [*items[1:], None], strict=True):
            self.failed = False
            self.hits.clear()
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            yield item

    def run_file(self, name: str, items: list[pytest.Item]) -> int:
        """Write which statements the tests of a file run, and how long they take."""
        for item in self.run_tests(items):
            if not self.failed:
                append(self.map, [{"file": name, "test": item.nodeid, "hits": sorted(self.hits)} | self.seconds])
        return 0

    def read_map(self, items: dict[str, pytest.Item]) -> None:
        self.items = items
        self.running = defaultdict(list)  # the tests that run a statement
        self.costs: dict[str, float] = {}
        self.setups: dict[str, float] = defaultdict(float)  # of what the tests of a file share
        for row in read(self.map):
            if row["test"] in items and row["test"] not in self.costs:
                self.costs[row["test"]] = row["call"]
                self.setups[row["file"]] = max(self.setups[row["file"]], row["setup"])
                for hit in row["hits"]:
                    self.running[hit].append(row["test"])

    def tests(self, mutant: Mutant) -> list[pytest.Item]:
        """The tests of the room that run the statement: the fastest first, file by file."""
        running = [(test.partition("::")[0], test) for test in self.running[f"{mutant.module} {mutant.line}"]]
        own = [(file, test) for file, test in running if in_rooms(Path(file), mutant.tests.split())]
        chosen: dict[str, list[pytest.Item]] = defaultdict(list)
        total = 0.0
        for file, test in sorted(own, key=lambda place: self.costs[place[1]] + self.setups[place[0]]):
            total += self.costs[test] + (0 if file in chosen else self.setups[file])
            if chosen and total > MUTANT:
                break
            chosen[file].append(self.items[test])
        return [item for group in chosen.values() for item in group]

    def run_mutant(self, mutant: Mutant, items: list[pytest.Item]) -> int:
        if mutant.sample != "control" and not self.code.plant(mutant):
            return 2
        return int(any(self.failed for _ in self.run_tests(items)))


def run(folder: Path, checkout: Path, rooms: list[str]) -> int:
    mutants = [Mutant(**row) for row in read(folder / "drawn.jsonl") if row["checkout"] == str(checkout)]
    mutants = [mutant for mutant in mutants if not rooms or mutant.room in rooms]
    finished = {(row["checkout"], row["sample"], row["number"]) for row in read(folder / "results.jsonl")}
    todo = [mutant for mutant in mutants if (str(checkout), mutant.sample, mutant.number) not in finished]
    names = [name for mutant in todo for name in mutant.tests.split()]
    tests = sorted(checkout.glob("tests/**/test_*.py"))
    files = [path for path in tests if in_rooms(path.relative_to(checkout), names)]
    if not files:
        return 0
    source = [str(path) for path in sources(checkout)]
    sys.path[:0] = source
    os.environ |= {"CI": "true", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(source)}
    os.chdir(checkout)
    map_file = folder / f"map-{'-'.join([checkout.name, *rooms])}.jsonl"
    runner = Runner(checkout, mutants, todo, map_file, folder / "results.jsonl")
    os.dup2(os.open(folder / "pytest.log", os.O_CREAT | os.O_WRONLY | os.O_TRUNC), 1)
    options = ["-q", "--tb=no", "--assert=plain", "-m", "not browser and not database and not model",
               f"--basetemp={folder / 'temporary'}", *(f"--ignore-glob={name}" for name in LEFT_OUT),
               *(f"-pno:{name}" for name in ("cacheprovider", "randomly", "xdist"))]  # fmt: skip
    return int(pytest.main([*options, *map(str, files)], plugins=[runner]))


# ---------------------------------------------------------------------- the rates


def show(folder: Path) -> None:
    """The kill rates of each sample by room, and of how many pairs only the tests of one checkout kill a mutant."""
    samples: dict[tuple[str, str], dict[str, dict[int, bool]]] = defaultdict(lambda: defaultdict(dict))
    for row in read(folder / "results.jsonl"):
        if row["outcome"] != "not planted":
            for room in (row["room"], "all"):
                outcomes = samples[row["sample"], room][Path(row["checkout"]).name]
                outcomes[row["number"]] = row["outcome"] in ("killed", "timeout")
    for (sample, room), checkouts in sorted(samples.items()):
        numbers = set.union(*map(set, checkouts.values()))
        if sample == "pair":
            numbers.intersection_update(*checkouts.values())
        texts = []
        for name, killed in checkouts.items():
            values = [killed[number] for number in numbers & killed.keys()]
            n = max(len(values), 1)
            rate = sum(values) / n
            texts.append(f"{name} {sum(values)} of {n} = {rate:.1%} ± {math.sqrt(rate * (1 - rate) / n):.1%}")
        if sample == "pair" and len(checkouts) == 2:
            first, second = checkouts.values()
            more, fewer = (sum(a[i] > b[i] for i in numbers) for a, b in ((first, second), (second, first)))
            n = max(len(numbers), 1)
            error = math.sqrt(more + fewer - (more - fewer) ** 2 / n) / n
            texts.append(f"only {' and '.join(checkouts)}: {more} and {fewer}, {(more - fewer) / n:+.1%} ± {error:.1%}")
        print(f"{sample:8} {room:20} {'; '.join(texts)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["draw", "run", "show"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("checkouts", type=Path, nargs="*", default=[Path(__file__).parents[1]])
    parser.add_argument("--per-room", type=int, default=24, help="mutants of each sample that draw chooses")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rooms", nargs="*", default=[], help="in which run plants mutants; default: all")
    options = parser.parse_args()
    folder, (checkout, *earlier) = options.folder.resolve(), [path.resolve() for path in options.checkouts]
    if options.action == "draw":
        draw(folder, checkout, next(iter(earlier), None), options.per_room, options.seed)
    elif options.action == "run":
        return run(folder, checkout, options.rooms)
    else:
        show(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
