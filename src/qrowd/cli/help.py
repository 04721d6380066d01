"""`qrowd help`: what to do with the files in this folder, what a command does, what a word means."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from qrowd.cli.completion import command_names
from qrowd.cli.contents import GROUPS
from qrowd.errors import ArgumentError


def help_(
    ctx: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="COMMAND|WORD",
            help="Command, or word of the glossary; default: what to do in this folder.",
            autocompletion=command_names,
        ),
    ] = None,
) -> None:
    """Show what can be done with the files in this folder, what a command does, or what a word means."""
    root = ctx.find_root()
    if not words:
        typer.echo(overview())
        return
    page = command_help(root, words)
    if page is None:
        typer.echo("\n".join(entries(" ".join(words), root.command)))
    elif page:
        typer.echo(page)


def overview() -> str:
    """What to do with the files in this folder, and the names of all commands."""
    from qrowd.cli.folder import first_steps

    sentence, commands = first_steps(Path())
    lines = [sentence, "", *(f"  {command}\n      {result}" for command, result in commands), "", "All commands:"]
    width = max(map(len, GROUPS))
    lines += [f"  {group:{width}}  {', '.join(names)}" for group, names in GROUPS.items()]
    lines += [
        "",
        "qrowd help COMMAND shows its options with examples, qrowd help WORD what a word of the output means.",
    ]
    return "\n".join(lines)


def command_help(root: Any, words: Sequence[str]) -> str | None:
    """The help text of the command of these words; None where they are no command."""
    context, command = root, root.command
    for word in words:
        if word not in getattr(command, "commands", {}):
            return None
        command = command.commands[word]
        context = type(root)(command, info_name=word, parent=context)
    return str(command.get_help(context))


def entries(word: str, root: Any) -> list[str]:
    """What a word means: its entries in the glossary.

    Raises
    ------
    ArgumentError
        A word that is neither in the glossary nor a command.
    """
    from qrowd.model.labels import closest

    words = glossary()
    key = word.lower().strip("-")
    exact = [line for names, line in words.items() if {key, key.removesuffix("s")}.intersection(names)]
    partly = [line for names, line in words.items() if any(key in name.split() for name in names)]
    if exact or partly:
        return exact or partly
    every = [*root.commands, *(name for names in words for name in names)]
    raise ArgumentError(f"help {word}: neither a command nor a word of the glossary; {closest(word, every, 'word')}")


def glossary() -> Mapping[tuple[str, ...], str]:
    """{words of an entry, in small letters: the entry as a line}."""
    lines = glossary_text().splitlines()
    rows = [re.split(r"(?<!\\)\|", line.replace("`", ""))[1:-1] for line in lines if line.startswith("| ")]
    entries = {}
    for row in rows:
        word, meaning, elsewhere = (cell.strip().replace("\\|", "|") for cell in row)
        if word not in ("word", "---"):
            names = tuple(part.strip().lower() for part in word.split(","))
            entries[names] = f"{word}: {meaning}" + (f" (elsewhere: {elsewhere})" if elsewhere else "")
    return entries


def glossary_text() -> str:
    """The glossary as Markdown: a copy of the page of the documentation, which `make docs` writes."""
    return Path(__file__).with_name("glossary.md").read_text(encoding="utf-8")
