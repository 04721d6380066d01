"""Write the pages that are generated: measures and the command line."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from pathlib import Path
from typing import Any

from typer.main import get_command

from qrowd.cli.main import app
from qrowd.cli.options import CONVENTIONS, Data, PreferenceData
from qrowd.reports.measure_reference import measure_reference

COMMAND_LINE = """\
# Command line

Generated from the commands by `make docs`. What a command does, Python can do, too ([evaluation](evaluation.md)).

- **Files** are paths, patterns (quoted or not), folders, `NAME=PATH`, or `-` for standard input. Their formats are
  described under [files](files.md).
- **Defaults** stand in parentheses. An argument in brackets may be left out.
- **Lists**: an option that takes several values takes them at once (`-m AP RR`) or repeated (`-m AP -m RR`).
- **Standard output** holds the answer. Progress is shown on standard error, and only on a terminal.
- **Exit status** is 0 after success, 2 after a mistake in the input (one line on standard error names it and the next
  step), 130 after Ctrl-C, and 1 where a command says so (`qrowd compare --fail-if`, `qrowd judge ask`).
- **`--output`** writes the whole file or none. `.json` holds all numbers, `.csv`, `.parquet` and `.xlsx` the main one,
  `.txt`, `.md`, `.html` and `.tex` the tables as printed. Parquet needs `pip install 'qrowd[tables]'`, `.xlsx`
  `'qrowd[excel]'`; LaTeX needs the packages booktabs and graphicx.
- The conventions and the reasons for their defaults are described under [decisions](decisions.md).
"""
COMPLETION = """\
`qrowd --help` lists the commands, `qrowd COMMAND --help` shows what a command does.
`qrowd --install-completion` lets bash, zsh and fish complete commands, options,
choices, measures, methods and plots. `python -m qrowd` is the same command."""
GROUPS = {
    "judgment data": [field.name for field in fields(Data)],
    "preference data": [field.name for field in fields(PreferenceData)],
    "conventions": list(CONVENTIONS),
}
SHARED = """\
These options mean the same in each command that takes them; `qrowd COMMAND --help` says which it takes. After *Also*
stand the groups that a command takes, and options that have another default there:

{}

The options:"""


def command_reference() -> str:
    """Every command with its arguments, options and defaults, as Markdown."""
    root: Any = get_command(app)
    every = commands(root)
    parameters = [one for command in every.values() for one in command.params]
    shared = shared_options(parameters)
    parts = [
        COMMAND_LINE.rstrip(),
        "## qrowd",
        f"{root.help}\n\n{COMPLETION}\n\n" + "\n".join(map(entry, root.params)),
        "## Shared options",
        SHARED.format("\n".join(f"- *{group}* for {listed(names, parameters)}" for group, names in GROUPS.items())),
    ]
    parts.append("\n".join(map(entry, sorted(shared.values(), key=lambda one: one.name))))
    for name, command in every.items():
        parts += [f"## qrowd {name}", " ".join(str(command.help).split())]
        own = [one for one in command.params if described(one) not in shared]
        parts += ["\n".join(map(entry, own))] if own else []
        common = [one for one in command.params if described(one) in shared]
        mentioned = [f"*{group}*" for group, names in GROUPS.items() if {*names} <= {one.name for one in common}]
        mentioned += [mention(one) for one in common if differs(one, shared[described(one)])]
        parts += [f"Also: {', '.join(mentioned)}."] if mentioned else []
    return "\n\n".join(parts) + "\n"


def commands(group: Any) -> dict[str, Any]:
    """{name: command}, those of a group named after it and themselves."""
    named = {}
    for name, command in group.commands.items():
        inner = commands(command) if hasattr(command, "commands") else {}
        named |= {f"{name} {own}": one for own, one in inner.items()} or {name: command}
    return named


def shared_options(parameters: list[Any]) -> dict[tuple[str, ...], Any]:
    """The options that two commands or more describe in the same words."""
    alike: dict[tuple[str, ...], list[Any]] = {}
    for one in parameters:
        alike.setdefault(described(one), []).append(one)
    return {key: usual(several) for key, several in alike.items() if len(several) > 1}


def usual(alike: list[Any]) -> Any:
    """The option with the most frequent default."""
    n = Counter(map(default, alike))
    return max(alike, key=lambda one: n[default(one)])


def listed(names: list[str], parameters: list[Any]) -> str:
    """The options that stand for these fields."""
    options = {one.name: max(one.opts, key=len) for one in parameters if is_option(one)}
    return ", ".join(f"`{options[name]}`" for name in names)


def is_option(parameter: Any) -> bool:
    return bool(parameter.opts[0].startswith("-"))


def described(parameter: Any) -> tuple[str, ...]:
    """Its names, its values and its meaning, but not its default."""
    return *parameter.opts, *parameter.secondary_opts, values(parameter), str(parameter.help)


def values(parameter: Any) -> str:
    """What may be given: a word for it, or the choices."""
    if not is_option(parameter) or getattr(parameter, "is_flag", False):
        return ""
    return str(parameter.metavar or parameter.display_type(None).strip("<>").replace(" range", ""))


def default(parameter: Any) -> str:
    """The default in words; empty where there is none."""
    if isinstance(parameter.show_default, str):
        return parameter.show_default
    if parameter.secondary_opts:
        return str((parameter.opts if parameter.default else parameter.secondary_opts)[0])
    is_flag = getattr(parameter, "is_flag", False)
    return "" if parameter.required or parameter.default is None or is_flag else str(parameter.default)


def spelled(parameter: Any) -> str:
    if not is_option(parameter):
        return f"`{parameter.metavar or parameter.name.upper()}`"
    return f"`{', '.join([*parameter.opts, *parameter.secondary_opts])}`"


def differs(parameter: Any, alike: Any) -> bool:
    """Whether its default is another than the usual one."""
    return (default(parameter), parameter.required) != (default(alike), alike.required)


def mention(parameter: Any) -> str:
    """A shared option with its default in this command."""
    return f"{spelled(parameter)} ({default(parameter) or ('required' if parameter.required else 'optional')})"


def entry(parameter: Any) -> str:
    """One argument or option in a line."""
    choices = f" `{values(parameter)}`" if "|" in values(parameter) else ""
    usual = f" ({default(parameter)})" if default(parameter) else ""
    return f"- {spelled(parameter)}{choices}{usual}: {parameter.help}"


def pages() -> dict[str, str]:
    """{file name: content} of every generated page."""
    return {
        "cli.md": command_reference(),
        "measures.md": measure_reference(),
    }


if __name__ == "__main__":
    for name, content in pages().items():
        (Path(__file__).parent / name).write_text(content, encoding="utf-8")
