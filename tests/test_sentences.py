"""The page of every sentence: nothing that can be printed is missing, and each stands with its condition."""

import ast
import functools
import importlib.util
import io
import re
import sys
import tokenize
from pathlib import Path

import pytest
from typer.testing import CliRunner

from qrowd.cli.main import app

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "qrowd"


@pytest.fixture(scope="session")
def sentences():
    spec = importlib.util.spec_from_file_location("sentences", ROOT / "docs" / "sentences.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    once = functools.cache(module.everything)  # the page takes apart what it is handed
    module.everything = lambda source: {name: list(every) for name, every in once(source).items()}
    return module


@pytest.fixture(scope="session")
def page(sentences):
    return sentences.sentence_reference()


def conditions(found):
    return {one.text: one.conditions for one in found}


# ---- conditions


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return 'two words'", ()),
        ("if n == 1:\n  return 'one is there'\nreturn 'two words'", ("unless n == 1",)),
        ("if not n:\n  raise E('none is there')\nreturn 'two words'", ("if n",)),
        ("if a:\n  if b:\n    return 'two words'", ("if a", "if b")),
        ("if a:\n  return 1\nelif b:\n  return 'two words'", ("unless a", "if b")),
        ("for x in things:\n  if not x: continue\n  yield 'two words'", ("for x in things", "if x")),
        ("return 'two words' if a else 'three words there'", ("if a",)),
        ("return f('some words here' if a else 'two words')", ("unless a",)),
        ("try:\n  g()\nexcept OSError:\n  return 'two words'", ("on OSError",)),
        ("match v:\n  case View(n=0):\n    return 'two words'", ("if v is View(n=0)",)),
        ("with open(x) as f:\n  if a:\n    f.write('two words')", ("if a",)),
        ("if a:\n  y = 1\nelse:\n  return None\nreturn 'two words'", ("if a",)),
        ("if a:\n  y = 1\nreturn 'two words'", ()),
    ],
)
def test_a_sentence_stands_with_the_conditions_that_lead_to_it(sentences, body, expected):
    code = "def f():\n" + "\n".join(f"    {line}" for line in body.split("\n"))
    assert conditions(sentences.sentences_of(code))["two words"] == expected


def test_what_is_filled_in_stands_in_braces_and_errors_are_marked(sentences):
    code = 'def check(n):\n    """Refuse."""\n    raise InputError(f"{n:,} topics " "are too few")'
    (found,) = sentences.sentences_of(code)
    assert (found.text, found.kind, found.where, found.about) == (
        "{n} topics are too few",
        "error",
        "check",
        "Refuse.",
    )


def test_what_is_counted_stands_with_its_noun(sentences):
    code = "x = f\"{count(n, 'person', 'people')} on {count(m, 'topic')}\""
    assert [one.text for one in sentences.sentences_of(code)] == ["{n} people on {m} topics"]


def test_entries_of_a_table_stand_with_their_key(sentences):
    found = sentences.sentences_of("RULES = {'first': 'the first counts', 'last': f'the {x} counts'}")
    assert conditions(found) == {"the first counts": ("for 'first'",), "the {x} counts": ("for 'last'",)}


@pytest.mark.parametrize("text", ["help='two words'", "re.compile('two words')", "x == 'two words'"])
def test_what_no_reader_sees_is_left_out(sentences, text):
    code = f"f({text})" if "=" in text and "==" not in text else f"y = {text}"
    assert sentences.sentences_of(code) == []


def test_texts_of_templates_stand_with_the_conditions_around_them(sentences):
    html = (
        "<h1>{{ title }}</h1>{% if a %}<p>One <b>bold</b> {{ n }}.</p>{% elif b %}<p>Or this one.</p>"
        '{% else %}<p>Neither of them.</p>{% endif %}<input placeholder="Type it here">'
        '<script>var a = "no text";</script>'
    )
    assert conditions(sentences.sentences_of_template(html)) == {
        "One bold {n}.": ("if a",),
        "Or this one.": ("unless a, if b",),
        "Neither of them.": ("unless a, unless b",),
        "Type it here": (),
    }


# ---- nothing is missing


def strings(path):
    """Every string of a file as it stands there, without documentation: a second way to find them, by tokens."""
    source = path.read_text(encoding="utf-8")
    documentation = {
        node.body[0].lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.STRING and token.start[0] not in documentation:
            yield token.string


@pytest.mark.parametrize("room", ["reports", "collect/web", "cli", "collect/protocols"])
def test_every_string_of_four_words_is_on_the_page(room, page):
    """Of strings that are nothing but words; the other tests are about those in which something is filled in."""
    flat = " ".join(page.split())
    missing = []
    for path in sorted((PACKAGE / room).rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if name.startswith(("collect/web/api/", "reports/measure_reference")):
            continue  # descriptions of the API and measures, which have pages of their own
        helped = helps(path)
        for text in strings(path):
            if re.fullmatch(r"\"[A-Za-z]+( [a-z]+){3,}[.;,:]? ?\"", text) and text.strip('" ') not in helped:
                missing += [(name, text)] * (text.strip('" ') not in flat)
    assert not missing


def helps(path):
    """What the help of commands says, in one text; it is on the page of the command line."""
    found = [
        keyword.value
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg in ("help", "show_default", "rich_help_panel", "description", "summary")
    ]
    return " ".join(ast.unparse(value) for value in found)


COMMANDS = (
    "evaluate --runs {runs} --judgments {judges} -m nDCG@10 -m AP --baseline bm25",
    "compare --runs {runs} --judgments {judges}",
    "agree --judgments {judges}",
    "assessors --judgments {judges}",
    "plan --runs {runs} --judgments {judges}",
    "check {runs} {judges}",
    "prefer agree --preferences {folder}/preferences.csv",
    "evaluate --runs {runs} --judgments {judges} -m nDCG",
    "agree --judgments nowhere",
)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("panel")
    assert CliRunner().invoke(app, ["simulate", str(folder)]).exit_code == 0
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_every_line_that_a_command_prints_is_one_of_the_page(command, patterns, folder):
    """But for tables, whose cells stand apart."""
    filled = command.format(folder=folder, runs=folder / "runs", judges=folder / "judges")
    outcome = CliRunner().invoke(app, filled.split())
    printed = outcome.output or str(outcome.exception)
    lines = [line for line in printed.splitlines() if re.match(r"[\w'`][^|]* \w+ \w+", line) and "   " not in line]
    assert lines
    for line in lines:
        assert any(pattern.search(line) for pattern in patterns), line


@pytest.fixture(scope="session")
def patterns(sentences):
    """What each sentence with two words of its own can look like when it is filled in."""
    texts = {one.text for found in sentences.everything(sentences.SOURCE).values() for one in found}
    own = [parts for parts in map(around_braces, texts) if len(re.findall(r"[^\W\d_]{2,}", " ".join(parts))) >= 2]
    return [re.compile(".*?".join(map(re.escape, parts)), re.DOTALL) for parts in own]


def around_braces(text):
    """The parts of a text that stand outside braces, which may hold others."""
    parts, depth = [""], 0
    for letter in text:
        if letter == "{":
            depth += 1
            parts += [""] * (depth == 1)
        elif letter == "}":
            depth -= 1
        elif not depth:
            parts[-1] += letter
    return parts
