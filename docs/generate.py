"""Write the pages that are generated: measures and the command line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from qrowd.cli.main import app
from qrowd.reports.measure_reference import measure_reference

COMMAND_LINE = """\
# Command line

Generated from the commands by `make docs`. Every command parses, calls one function of the library and shows its
result; what a command does, Python can do ([evaluation](evaluation.md)).

- **Files** are paths, patterns (quoted or not: `--runs 'runs/*.gz'` and `--runs runs/*.gz` are the same), folders,
  `NAME=PATH`, or `-` for standard input. What may be in them: [files](files.md).
- **Standard output** holds the answer; a progress bar goes to standard error, and only to a terminal.
- **Exit status** is 0 when all went well, 2 when something handed over cannot be used (one line on standard error names
  the file and line, or the argument, and the next step), 130 when interrupted.
- **`--output`** leaves a complete file or none. `.csv`, `.parquet` and `.json` hold every score as a full double, `.md`
  and `.tex` the tables as printed. Parquet needs `pip install 'qrowd[tables]'`.
- What the conventions mean, and why each default is what it is: [decisions](decisions.md).
"""


def command_reference() -> str:
    """Every command with its arguments, options and defaults, as Markdown."""
    root: Any = get_command(app)
    parts = [COMMAND_LINE.rstrip(), "## qrowd", str(root.help), "\n".join(map(parameter, root.params))]
    for name, command in commands(root).items():
        parts += [f"## qrowd {name}", " ".join(str(command.help).split())]
        parts += panels(command.params)
    return "\n\n".join(parts) + "\n"


def commands(group: Any) -> dict[str, Any]:
    """{name: command}, those of a group named after it and themselves."""
    found = {}
    for name, command in group.commands.items():
        inner = commands(command) if hasattr(command, "commands") else {}
        found |= {f"{name} {own}": one for own, one in inner.items()} or {name: command}
    return found


def panels(parameters: list[Any]) -> Iterator[str]:
    """One list for each panel of the help text, in its order."""
    names = dict.fromkeys(getattr(p, "rich_help_panel", None) for p in parameters)
    for panel in sorted(names, key=lambda name: name is not None):
        listed = "\n".join(parameter(p) for p in parameters if getattr(p, "rich_help_panel", None) == panel)
        yield f"{panel}:\n\n{listed}" if panel else listed


def parameter(given: Any) -> str:
    """One argument or option in a line."""
    argument = not given.opts[0].startswith("-")
    name = (given.metavar or given.name.upper()) if argument else ", ".join([*given.opts, *given.secondary_opts])
    facts = ["required"] if given.required else ["optional"] if argument else []
    if given.nargs == -1 or getattr(given, "multiple", False):
        facts.append("may be repeated")
    if not given.required and given.default not in (None, False, [], ()):
        facts.append(f"default `{given.default}`")
    return f"- `{name}`{' (' + ', '.join(facts) + ')' if facts else ''}: {given.help}"


def pages() -> dict[str, str]:
    """{file name: content} of every generated page."""
    return {
        "cli.md": command_reference(),
        "measures.md": measure_reference(),
    }


if __name__ == "__main__":
    for name, content in pages().items():
        (Path(__file__).parent / name).write_text(content, encoding="utf-8")
