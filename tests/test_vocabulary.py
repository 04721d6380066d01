"""One word per thing: every option and every column of a table is in the glossary, or is a standard name."""

import ast
import re
from pathlib import Path

import pytest
from typer.main import get_command

from qrowd.cli.main import app

ROOT = Path(__file__).resolve().parents[1]
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
PRIVATE = re.compile(  # words that the project once used where the field has its own
    r"\b(told apart|every two|yardstick|held against|in doubt|knots?|takes? the place|says so itself)\b",
    re.IGNORECASE,
)


def words():
    """The words of the glossary's tables, those elsewhere in use included."""
    found = set()
    for line in GLOSSARY.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for cell in (*cells[:1], *cells[2:]):
            found |= {word.strip(" `") for word in cell.replace("\\|", "|").split(",")}
    return found - {"", "word", "elsewhere", "---"}


def options(group=None):
    """Every option of every command, without its dashes."""
    group = group or get_command(app)
    for command in group.commands.values():
        if hasattr(command, "commands"):
            yield from options(command)
        for parameter in command.params:
            for name in (*parameter.opts, *parameter.secondary_opts):
                if name.startswith("--"):
                    yield name.removeprefix("--")


def headers():
    """Every constant in the header of a table that a command prints."""
    for file in sorted((ROOT / "src" / "qrowd").glob("reports/*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Table" and len(node.args) > 1:
                for cell in getattr(node.args[1], "elts", []):
                    if isinstance(cell, ast.Constant) and isinstance(cell.value, str) and cell.value:
                        yield file.name, cell.value


WORDS = words()


@pytest.mark.parametrize("name", sorted(set(options())))
def test_every_option_is_in_the_glossary(name):
    assert f"--{name}" in WORDS or name.replace("-", " ") in WORDS or name in WORDS


@pytest.mark.parametrize("name", sorted({column for _, column in headers()}))
def test_every_column_is_in_the_glossary(name):
    parts = [part.strip() for part in re.split(r" / | of | and |, |\(|\)", name)]
    assert name in WORDS or all(part.removesuffix("s") in WORDS or part in WORDS for part in parts if part)


def test_the_glossary_has_one_sense_per_word():
    listed = []
    for line in GLOSSARY.splitlines():
        if line.startswith("| ") and not line.startswith(("| word", "| ---")):
            listed += [word.strip() for word in line.split("|")[1].split(",")]
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize(
    "path", sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]), ids=lambda path: path.name
)
def test_a_page_uses_the_words_of_the_field(path):
    text = re.sub(r"`[^`]*`|```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert not PRIVATE.findall(text)
