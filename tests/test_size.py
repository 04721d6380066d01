"""How large each part of the project may be: a table that may only go down.

Lines can be saved by writing denser code, so syntax nodes, statements and branches count too.
`python tests/test_size.py` lowers the numbers of `sizes.csv` to what the code has now; it never raises one. Whoever
needs more room says so in docs/decisions.md, names the capability, and raises the number by hand.
"""

import ast
import csv
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TABLE = Path(__file__).with_name("sizes.csv")
COUNTED = ("lines", "nodes", "statements", "branches", "modules", "public names", "options")
BRANCHES = (
    ast.If, ast.For, ast.AsyncFor, ast.While, ast.IfExp, ast.BoolOp, ast.ExceptHandler, ast.comprehension,
    ast.match_case,
)  # fmt: skip
MOST_NODES_PER_STATEMENT = 13.3  # of version 0.2.0


def room_of(path: Path) -> str:
    """The folder of a module that has a row of its own: two levels below src; the papers are one room."""
    folders = path.relative_to(ROOT / "packages").parts[2:-1]  # without the distribution, src and the file
    return "papers" if folders[0] == "qrowd_papers" else "/".join(folders[:2])


def public_names(tree: ast.Module) -> set[str]:
    """The strings of `__all__` and the keys of a table of names that are imported when first used."""
    values = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        and {getattr(target, "id", "") for target in getattr(node, "targets", [getattr(node, "target", None)])}
        & {"__all__", "_HOME"}
    ]
    entries = [entry for value in values for entry in getattr(value, "elts", []) + getattr(value, "keys", [])]
    return {entry.value for entry in entries if isinstance(entry, ast.Constant)}


def sizes() -> dict[str, Counter[str]]:
    """What each room has of everything that is counted; options are keyword-only parameters of public functions."""
    by_room: dict[str, Counter[str]] = {}
    options = Counter[tuple[str, str]]()
    public = set[str]()
    for path in sorted((ROOT / "packages").glob("*/src/**/*.py")):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)  # not kept: the garbage collector would visit all of them again and again
        types = Counter(map(type, ast.walk(tree)))
        names = public_names(tree)
        public |= names
        by_room.setdefault(room_of(path), Counter()).update(
            {
                "lines": text.count("\n"),
                "nodes": types.total(),
                "statements": sum(n for kind, n in types.items() if issubclass(kind, ast.stmt)),
                "branches": sum(types[kind] for kind in BRANCHES),
                "modules": 1,
                "public names": len(names),
            }
        )
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                options[room_of(path), node.name] += len(node.args.kwonlyargs)
    for (room, name), n in options.items():
        by_room[room]["options"] += n if name in public else 0
    return by_room


def allowed() -> dict[str, dict[str, int]]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {row.pop("room"): {name: int(value) for name, value in row.items()} for row in csv.DictReader(file)}


def lowered(now: dict[str, Counter[str]], most: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    """The table with each number that has become smaller; rooms that are gone are left out."""
    return {room: {name: min(most[room][name], now[room][name]) for name in COUNTED} for room in most if room in now}


def write(table: dict[str, dict[str, int]]) -> None:
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["room", *COUNTED])
        writer.writerows([room, *(row[name] for name in COUNTED)] for room, row in sorted(table.items()))


@pytest.fixture(scope="module")
def now() -> dict[str, Counter[str]]:
    return sizes()


def test_every_room_has_a_row_in_the_table(now):
    assert set(now) <= set(allowed())


def test_no_room_is_larger_than_the_table_allows(now):
    larger = [
        f"{room}: {now[room][name]} {name}, at most {most}"
        for room, row in allowed().items()
        for name, most in row.items()
        if now.get(room, Counter())[name] > most
    ]
    assert larger == []


@pytest.mark.parametrize("distribution", ["qrowd", "qrowd_server"])
def test_code_is_not_denser_than_in_version_0_2_0(now, distribution):
    total = sum((count for room, count in now.items() if room.split("/")[0] == distribution), Counter())
    assert total["nodes"] / total["statements"] <= MOST_NODES_PER_STATEMENT


def test_the_table_is_never_raised_by_its_own_command():
    now = {"kept": Counter(dict.fromkeys(COUNTED, 5)), "new": Counter(dict.fromkeys(COUNTED, 1))}
    most = {"kept": dict.fromkeys(COUNTED, 4) | {"nodes": 9}, "gone": dict.fromkeys(COUNTED, 1)}
    assert lowered(now, most) == {"kept": dict.fromkeys(COUNTED, 4) | {"nodes": 5}}


if __name__ == "__main__":
    measured = sizes()
    before = allowed() if TABLE.exists() else {room: dict(row) for room, row in measured.items()}
    write(lowered(measured, before))
