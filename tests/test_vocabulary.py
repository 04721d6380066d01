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
    """The words that the glossary explains."""
    found = set()
    for line in GLOSSARY.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        found |= {word.strip(" `") for word in cells[0].replace("\\|", "|").split(",")} if cells else set()
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


WORDS = {word.lower() for word in words()}
DECISIONS = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8")
STANDARD = {  # what every reader of the field, or of a command line, knows
    *("alternative", "ap correlation", "aware", "binary", "correction", "cost", "df", "eps", "jaccard", "max", "mean"),
    *(
        "median",
        "min",
        "minute",
        "n",
        "p",
        "pearson",
        "q",
        "qrels",
        "quartile",
        "rank",
        "rmse",
        "second",
        "share",
        "size",
    ),
    *("square", "status", "tau", "base url", "check", "data", "database", "demo", "everything", "figure", "first"),
    "table",
    *(
        "folder",
        "format",
        "host",
        "output",
        "port",
        "names",
        "quick",
        "retention",
        "seed",
        "serve",
        "title",
        "tuple",
        "value",
        "version",
        "what",
        "worker",
    ),
    *(
        "days",
        "best",
        "budget",
        "close",
        "highest",
        "last",
        "lower",
        "lowest",
        "number",
        "other",
        "own",
        "planned",
        "random",
    ),
    *("stop", "these", "top", "trusted", "upper", "model", "judgments / documents"),
}
GLUE = {"a", "as", "at", "by", "is", "no", "of", "on", "per", "the", "to", "with", "and", "any", "x", "protocol"}


def known(name):
    """Whether a name consists of words of the glossary and of standard ones."""
    rest = f" {name.lower()} "
    for term in sorted(WORDS | STANDARD, key=len, reverse=True):
        rest = re.sub(rf"(?<![\w-]){re.escape(term)}s?(?![\w-])", " ", rest)
    return set(re.findall(r"[^\W\d_]+", rest)) <= GLUE


@pytest.mark.parametrize("name", sorted(set(options())))
def test_every_option_is_in_the_glossary_or_a_convention_or_standard(name):
    assert known(name.replace("-", " ")) or f"`{name.replace('-', '_')}=" in DECISIONS


@pytest.mark.parametrize("name", sorted({column for _, column in headers()}))
def test_every_column_is_in_the_glossary_or_standard(name):
    assert known(name)


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
