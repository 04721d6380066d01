"""Every sentence that a command, the report or the server can print, with the condition under which it is printed.

Read from the source, so that none can be missed: strings of two words or more that are no documentation, with the
conditions that enclose them and the first line of the docstring of the function that makes them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from qrowd.cli.contents import GROUPS

SOURCE = Path(__file__).resolve().parents[1] / "src" / "qrowd"
INTRODUCTION = """\
# Every sentence

Generated from the source when the site is built. Each entry is a sentence, or a part of one, that a command, the
report or the server can print. Braces enclose what is filled in. The condition under which a sentence is printed stands
below it, and the function that makes a group of sentences, with its purpose, stands above the group.
*unless* is the opposite of *if*. An entry marked `error` ends a command with status 2, on standard error; one marked
`warning` is a note of the result.

Not here: the help of commands and options ([command line](cli.md)), the sentences about measures
([measures](measures.md)), and the descriptions of the JSON API, which its OpenAPI document holds.
"""
PARTS: tuple[tuple[str, str, tuple[str, ...]], ...] = (  # heading, what it is, how the modules' names begin
    ("The report", "What `qrowd report` says beyond the answers below.", ("reports.report", "reports/templates")),
    ("Figures", "Captions and labels, by `qrowd plot` and in the report.", ("reports.plots",)),
    (
        "The server",
        "Pages of `qrowd serve` for assessors and owners, what it refuses, and `qrowd campaign`.",
        ("collect", "cli.campaign", "cli.serve"),
    ),
    ("Answers of commands", "What commands print, and the notes beneath.", ("cli", "reports")),
    ("The library", "Errors, warnings and sentences that every command shares.", ("",)),
)
SKIPPED = (
    "collect.store.migrations",
    "collect.web.api.operations",
    "collect.web.api.schemas",
    "collect.web.api.document",
    "reports.measure_reference",
    "simulation.records",
)
IN_OPENAPI = {"EVERYTHING", "JUDGE", "EXAMPLE_PLAN", "schemas", "_table", "_step"}  # what web.api describes there
NOT_PRINTED = {"compile", "getLogger", "Column", "text", "Parameter"}  # parameters are on the page of measures
NOT_PRINTED_KEYWORDS = {"help", "metavar", "rich_help_panel", "pattern", "media_type", "description", "summary"}
FAULTS = re.compile(r"(Error|Refusal|Problem)$")
CODE = re.compile(  # SQL, regular expressions, HTML, LaTeX, cookies, routes, and what Matplotlib calls places
    r"^\s*[<\\]|^(pragma|insert into|select|set|savepoint|rollback to|release|begin) ?\w* ?(\w+|= \w+|.*returning id)?$"
    r"|^set lock_timeout|^\w+ <>? \w+$|\\[wdsb]|\[a-z0-9]*a-z|\(\?|HttpOnly|Max-Age|^use strict$|^Bearer|^/\w+/"
    r"|^(offset points|axes fraction|(upper|lower) (left|right|center)|DejaVu Sans)$"
)
WORD = re.compile(r"[^\W\d_]{2,}")
INLINE = re.compile(r"</?(a|abbr|b|br|code|dfn|em|i|kbd|q|small|span|strong|sub|sup|time|wbr)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Sentence:
    """One string that can be printed.

    where : the function that holds it, "" at the level of the module. about : the first line of its docstring.
    conditions : that enclose it, outermost first. kind : "error", "warning" or "".
    """

    text: str
    where: str
    about: str
    conditions: tuple[str, ...]
    kind: str = ""


def is_sentence(text: str) -> bool:
    """Whether a string has two words or more, with blanks between them, and is no code.

    >>> is_sentence("unjudged: {share} of {first}"), is_sentence("text/plain"), is_sentence("{folder}/{name}.run")
    (True, False, False)
    """
    if CODE.search(text):
        return False
    outside = re.sub(r"\{.*?\}", "0", text, flags=re.DOTALL)
    return len(outside.split()) >= 2 and len(WORD.findall(outside)) >= (1 if "{" in text else 2)


# ---------------------------------------------------------------------- Python


def sentences_of(source: str) -> list[Sentence]:
    """The sentences of a module, in the order of its lines."""
    return list(_statements(ast.parse(source).body, Sentence("", "", "", ())))


def _statements(body: Sequence[ast.stmt], here: Sentence) -> Iterator[Sentence]:
    for statement in body:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                name = f"{here.where}.{statement.name}" if here.where else statement.name
                about = (ast.get_docstring(statement) or here.about).split("\n")[0]
                fault = isinstance(statement, ast.ClassDef) and FAULTS.search(statement.name)
                inner = Sentence("", name, about, (), "error" if fault else here.kind)
                if not isinstance(statement, ast.ClassDef):
                    yield from _expressions((*statement.args.defaults, *statement.args.kw_defaults), inner)
                yield from _statements(statement.body, inner)
            case ast.If():
                yield from _statements(statement.body, _if(here, statement.test))
                yield from _statements(statement.orelse, _unless(here, statement.test))
                if _leaves(statement.body):
                    here = _unless(here, statement.test)
                elif _leaves(statement.orelse):
                    here = _if(here, statement.test)
            case ast.For() | ast.AsyncFor():
                yield from _expressions([statement.iter], here)
                loop = f"for {ast.unparse(statement.target)} in {ast.unparse(statement.iter)}"
                yield from _statements(statement.body, _and(here, loop))
                yield from _statements(statement.orelse, here)
            case ast.While():
                yield from _statements(statement.body, _if(here, statement.test))
            case ast.With() | ast.AsyncWith():
                yield from _expressions([item.context_expr for item in statement.items], here)
                yield from _statements(statement.body, here)
            case ast.Try():
                yield from _statements((*statement.body, *statement.orelse), here)
                for handler in statement.handlers:
                    caught = ast.unparse(handler.type) if handler.type else "any error"
                    yield from _statements(handler.body, _and(here, f"on {caught}"))
                yield from _statements(statement.finalbody, here)
            case ast.Match():
                for case in statement.cases:
                    matched = f"{ast.unparse(statement.subject)} is {ast.unparse(case.pattern)}"
                    inner = _and(here, f"if {matched}")
                    yield from _statements(case.body, _if(inner, case.guard) if case.guard else inner)
            case ast.Expr(value=ast.Constant()):
                pass  # a docstring
            case ast.AnnAssign():
                yield from _expressions([statement.value], here)
            case ast.Assign(targets=[ast.Name(id=name)]) if not here.where:  # a table of the module
                yield from _expressions([statement.value], replace(here, where=name))
            case ast.Raise():
                yield from _expressions([statement.exc], replace(here, kind="error"))
            case _:
                yield from _expressions(ast.iter_child_nodes(statement), here)


def _expressions(nodes: Iterable[ast.AST | None], here: Sentence) -> Iterator[Sentence]:
    for node in nodes:
        match node:
            case None | ast.Compare() | ast.FormattedValue():
                pass
            case ast.JoinedStr() | ast.Constant(value=str()):
                text = _template(node)
                if is_sentence(text):
                    yield replace(here, text=text)
            case ast.Subscript():
                yield from _expressions([node.value], here)
            case ast.IfExp():
                yield from _expressions([node.body], _if(here, node.test))
                yield from _expressions([node.orelse], _unless(here, node.test))
            case ast.Dict():
                for key, value in zip(node.keys, node.values, strict=True):
                    named = isinstance(key, ast.Constant)
                    yield from _expressions([None if named and here.where.isupper() else key], here)
                    yield from _expressions([value], _and(here, f"for {key.value!r}") if named else here)
            case ast.Call():
                name = ast.unparse(node.func).rpartition(".")[2]
                if name in NOT_PRINTED:
                    continue
                kind = "error" if FAULTS.search(name) else "warning" if name == "warn" else here.kind
                kept = [keyword.value for keyword in node.keywords if keyword.arg not in NOT_PRINTED_KEYWORDS]
                yield from _expressions((node.func, *node.args, *kept), replace(here, kind=kind))
            case ast.Lambda():
                yield from _expressions([node.body], here)
            case _:
                yield from _expressions(ast.iter_child_nodes(node), here)


def _template(node: ast.AST) -> str:
    """A string with its placeholders: f"{n:,} topics" is "{n} topics", and so is f"{count(n, 'topic')}"."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    assert isinstance(node, ast.JoinedStr)
    return "".join(
        _filled(part.value) if isinstance(part, ast.FormattedValue) else _template(part) for part in node.values
    )


def _filled(value: ast.expr) -> str:
    match value:
        case ast.Call(func=ast.Name(id="count"), args=[n, ast.Constant(value=str(one)), *several]):
            words = several[0].value if several and isinstance(several[0], ast.Constant) else f"{one}s"
            return f"{{{ast.unparse(n)}}} {words}"
    return f"{{{ast.unparse(value)}}}"


def _leaves(body: Sequence[ast.stmt]) -> bool:
    """Whether what follows is not reached after it."""
    return bool(body) and (
        isinstance(body[-1], ast.Return | ast.Raise | ast.Continue | ast.Break)
        or (isinstance(body[-1], ast.If) and _leaves(body[-1].body) and _leaves(body[-1].orelse))
    )


def _and(here: Sentence, condition: str) -> Sentence:
    return replace(here, conditions=(*here.conditions, " ".join(condition.split())))


def _if(here: Sentence, test: ast.expr) -> Sentence:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _and(here, f"unless {ast.unparse(test.operand)}")
    return _and(here, f"if {ast.unparse(test)}")


def _unless(here: Sentence, test: ast.expr) -> Sentence:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _and(here, f"if {ast.unparse(test.operand)}")
    return _and(here, f"unless {ast.unparse(test)}")


# ---------------------------------------------------------------------- templates and scripts

TOKEN = re.compile(
    r"(?P<block>\{%.*?%\})|(?P<value>\{\{.*?\}\})|(?P<comment>\{#.*?#\}|<!--.*?-->)"
    r"|(?P<tag><[a-zA-Z/!](?:\{%.*?%\}|\{\{.*?\}\}|[^>{]|\{(?![%{]))*>)|(?P<words>[^<{]+|[<{])",
    re.DOTALL,
)
SPOKEN = re.compile(r'(?:aria-label|placeholder|title|alt)="((?:[^"{]|\{\{.*?\}\}|\{%.*?%\})*)"')
QUOTED = re.compile(r'"((?:[^"\\\n]|\\.)*)"|\'((?:[^\'\\\n]|\\.)*)\'|`((?:[^`\\]|\\.)*)`')


def sentences_of_template(source: str) -> list[Sentence]:
    """The texts of a Jinja template of HTML, each with the conditions around it."""
    found: list[Sentence] = []
    stack: list[str] = []
    pending = ""

    def close() -> None:
        nonlocal pending
        text = " ".join(pending.split())
        if is_sentence(text):
            found.append(Sentence(text, "", "", tuple(condition for condition in stack if condition)))
        pending = ""

    silent = ""  # the element whose content nobody reads
    for token in TOKEN.finditer(source):
        text = token[0]
        if silent:
            silent = "" if token.lastgroup == "tag" and text.startswith(f"</{silent}") else silent
        elif token.lastgroup == "block":
            word, _, rest = text.strip("{%- }").partition(" ")
            if word in ("if", "elif", "else", "for", "endif", "endfor", "macro", "endmacro", "block", "endblock"):
                close()
            if word in ("if", "for", "macro", "block"):
                stack.append(f"{word} {rest}" if word in ("if", "for") else "")
            elif word == "elif":
                stack[-1] = f"{_opposite(stack[-1])}, if {rest}"
            elif word == "else":
                stack[-1] = _opposite(stack[-1])
            elif word in ("endif", "endfor", "endmacro", "endblock") and stack:
                stack.pop()
        elif token.lastgroup == "tag":
            spoken = [
                Sentence(" ".join(_bare(one).split()), "", "", tuple(filter(None, stack)))
                for one in SPOKEN.findall(text)
            ]
            if not INLINE.match(text):
                close()
            found += [one for one in spoken if is_sentence(one.text)]
            if opened := re.match(r"<(script|style|kbd|svg)\b", text):
                silent = opened[1]
        elif token.lastgroup == "value":
            pending += _bare(text)
        elif token.lastgroup == "words":
            pending += text
    close()
    return found


def _bare(text: str) -> str:
    """A placeholder in single braces, texts for the catalogues as they are, blocks left out."""
    text = re.sub(r"\{\{\s*_\(([\"'])(.*?)\1.*?\)\s*\}\}", r"\2", text, flags=re.DOTALL)
    text = re.sub(r"%\((\w+)\)s", r"{\1}", text)
    return re.sub(r"\{\{\s*(.*?)\s*\}\}", r"{\1}", re.sub(r"\{%.*?%\}", " ", text, flags=re.DOTALL), flags=re.DOTALL)


def _opposite(condition: str) -> str:
    if condition.startswith("for "):
        return f"nothing {condition}"
    last = condition.rpartition(", if ")
    return f"{last[0]}, unless {last[2]}" if last[1] else condition.replace("if ", "unless ", 1)


def sentences_of_script(source: str) -> list[Sentence]:
    """The texts in quotes of a JavaScript file."""
    bare = re.sub(r"(?m)^\s*//.*$|/\*.*?\*/", "", source, flags=re.DOTALL)
    texts = ["".join(quoted).replace("${", "{") for quoted in QUOTED.findall(bare)]
    return [Sentence(text, "", "", ()) for text in texts if is_sentence(text)]


# ---------------------------------------------------------------------- the page


def everything(source: Path = SOURCE) -> dict[str, list[Sentence]]:
    """{module or file: its sentences}, by name."""
    found = {}
    for path in sorted(source.rglob("*.py")):
        name = ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__")
        if not name.startswith(SKIPPED):
            every = sentences_of(path.read_text(encoding="utf-8"))
            found[name] = [
                one for one in every if one.where not in IN_OPENAPI or not name.startswith("collect.web.api")
            ]
    for suffix, read in ((".html", sentences_of_template), (".js", sentences_of_script)):
        for path in sorted(source.rglob(f"*{suffix}")):
            found[path.relative_to(source).as_posix()] = read(path.read_text(encoding="utf-8"))
    return {name: sentences for name, sentences in found.items() if sentences}


def commands_that_use(source: Path = SOURCE) -> dict[str, list[str]]:
    """{module of cli or reports: the commands that reach it by imports from these two alone}."""
    uses: dict[str, set[str]] = {}
    for path in [*(source / "cli").rglob("*.py"), *(source / "reports").rglob("*.py")]:
        name = ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__")
        uses[name] = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                below = node.module.removeprefix("qrowd.")
                uses[name] |= {below, *(f"{below}.{alias.name}" for alias in node.names)}
    reached: dict[str, list[str]] = {}
    commands = {f"cli.{name.replace('-', '_')}" for names in GROUPS.values() for name in names}
    for command in sorted(commands):
        seen, todo = set(), [command]
        while todo:
            for used in uses.get(todo.pop(), ()):
                if used in uses and used not in seen | commands:
                    seen.add(used)
                    todo.append(used)
        for module in seen:
            reached.setdefault(module, []).append(command.removeprefix("cli."))
    return reached


def sentence_reference(source: Path = SOURCE) -> str:
    """The page, as Markdown."""
    left, commands = everything(source), commands_that_use(source)
    by_part: dict[str, dict[str, list[Sentence]]] = {}
    for heading, _, beginnings in PARTS:
        chosen = [name for name in left if name.startswith(beginnings)]
        by_part[heading] = {name: left.pop(name) for name in chosen}
    lines = [INTRODUCTION.rstrip()]
    for heading in ("Answers of commands", *(part[0] for part in PARTS if part[0] != "Answers of commands")):
        about = next(part[1] for part in PARTS if part[0] == heading)
        lines += [f"## {heading}", about]
        for name, sentences in by_part[heading].items():
            lines.append(f"### {name}")
            if name in commands:
                lines.append("Used by " + ", ".join(f"`qrowd {command}`" for command in commands[name]) + ".")
            lines += _groups(sentences)
    return "\n\n".join(lines) + "\n"


def _groups(sentences: list[Sentence]) -> Iterator[str]:
    """The sentences of a module, by function."""
    groups: dict[tuple[str, str], list[Sentence]] = {}
    for sentence in sentences:
        groups.setdefault((sentence.where, sentence.about), []).append(sentence)
    for (where, about), members in groups.items():
        if where:
            yield f"**{where}**" + (f": {_escaped(about)}" if about else "")
        entries = dict.fromkeys("\n".join(_entry(member)) for member in members)
        yield "```text\n" + "\n".join(entries) + "\n```"


def _entry(sentence: Sentence) -> Iterator[str]:
    text = sentence.text.strip("\n").replace("\n", "\n    ").replace("```", "'''")
    yield f"{sentence.kind}: {text}" if sentence.kind else text
    if sentence.conditions:
        yield f"    [{'; '.join(sentence.conditions)}]"


def _escaped(about: str) -> str:
    """A line of a docstring as prose, in which nothing is read as Markdown's."""
    return re.sub(r"([\\`*<>\[\]|])", r"\\\1", about.replace("`", ""))
