"""The `qrowd` command. Commands import what they need when they run, so that `qrowd --help` is instant."""

from __future__ import annotations

import atexit
import gc
import io
import os
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from qrowd.cli.commands import Command, CommandGroup, Interrupted, UsageError, command_of, usage_message
from qrowd.errors import QrowdError

#: The commands by group, with one sentence each, so that `qrowd --help` and completion load none of them. The command
#: `trec-eval` is the function `trec_eval` of the module `qrowd.cli.trec_eval`, or an entry of `library_commands`.
GROUPS: Mapping[str, Mapping[str, str]] = {
    "Evaluate systems": {
        "demo": "Show an evaluation of a small simulated panel.",
        "evaluate": "Score each run by each assessor, and show whether the assessors agree on the best system.",
        "compare": "Show which systems may be the best, and whether the assessors agree on that.",
        "table": (
            "Print systems by measures or by assessors as a paper does: the best in bold, with marks of significance."
        ),
        "report": "Write one page: which system is better, how certain that is, and on what the assessors disagree.",
        "plot": "Draw one plot as SVG, PDF or PNG, ready for a paper.",
        "aware": "Weight the assessors by how different they are from random assessors (AWARE).",
        "predict": "Predict which documents users find relevant, from documents that two or more assessors judged.",
        "partition": "Write runs and judgments that do not fit into memory in parts, for qrowd evaluate.",
        "check": "Show what files contain, what is wrong with them, and what can be asked of them.",
        "measures": "List all measures with their parameters, formulas and sources.",
        "cite": "Print BibTeX entries of qrowd, and of the papers behind measures, methods and statistics.",
        "trec-eval": "Print what trec_eval prints, of one file of judgments or of each assessor.",
    },
    "Study the assessors": {
        "prefer": "Study preferences between two documents.",
        "agree": (
            "Measure how well assessors agree: Krippendorff's alpha, Cohen's kappa of each pair, "
            "and other coefficients."
        ),
        "assessors": "Describe each assessor: grades, severity, agreement with others, drift and speed.",
        "disagreements": (
            "Show on which documents assessors disagree, ordered by what that changes in differences of systems."
        ),
        "aggregate": "Merge the judgments of several assessors into one judgment per document.",
        "replace": "Compare models with assessors: may they replace them, and what do their grades mean.",
        "leaderboards": "Show whether leaderboards agree on the systems, such as those of models with that of people.",
        "magnitude": (
            "Analyse magnitudes, free numbers above 0: units, gold levels, gains, effort; and write them on one scale."
        ),
    },
    "Plan": {
        "plan": "Plan how many topics and assessors to judge, and how to spend a budget.",
        "next": "Show what can be said of a question now, and write the documents that people should judge next.",
        "simulate": "Write a simulated panel with known true grades: runs, texts, judgments, magnitudes, preferences.",
    },
    "Collect judgments": {
        "judge": "Ask language models to judge, and show what became of each question.",
    },
}

COMMANDS = "qrowd.commands"  # entry points of distributions that add commands: modules with such a table

INTERRUPTED = 130
atexit.register(gc.freeze)  # the system frees the memory of a process that ends: a last search for garbage takes longer


def all_groups() -> Mapping[str, Mapping[str, str]]:
    """{group: {command: sentence}} with the commands that other distributions add."""
    groups = {group: dict(sentences) for group, sentences in GROUPS.items()}
    for module in added():
        for group, sentences in module.GROUPS.items():
            groups[group] = groups.get(group, {}) | sentences
    return groups


def package_of(name: str) -> str:
    """The package whose module of this name holds the command; it is looked for elsewhere only where qrowd has none.

    Raises
    ------
    KeyError
        There is no such command.
    """
    if any(name in sentences for sentences in GROUPS.values()):
        return "qrowd.cli"
    for module in added():
        if any(name in sentences for sentences in module.GROUPS.values()):
            return str(module.__package__)
    raise KeyError(name)


def added() -> Iterator[Any]:
    """The tables of commands of other distributions."""
    from importlib.metadata import entry_points

    for point in entry_points(group=COMMANDS):
        yield import_module(point.value)


class Commands(Mapping[str, Any]):
    """{name: command}; a command is loaded when it is asked for."""

    def __getitem__(self, name: str) -> Any:
        package = package_of(name)
        word = name.replace("-", "_")
        if package == "qrowd.cli":
            from qrowd.cli.library_commands import COMMANDS

            if name in COMMANDS:
                return command_of(COMMANDS[name].load(name))
        module = import_module(f"{package}.{word}")
        command = getattr(module, word, None) or getattr(module, f"{word}_")
        return command_of(command, getattr(module, "CLASS", Command))

    def __iter__(self) -> Iterator[str]:
        return (name for sentences in all_groups().values() for name in sentences)

    def __len__(self) -> int:
        return sum(map(len, all_groups().values()))


class AllCommands(CommandGroup):
    """The commands of `qrowd`, of which only the one that is named is loaded."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = Commands()  # type: ignore[assignment]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The commands with what they do, of which none is loaded."""
        for group, sentences in all_groups().items():
            with formatter.section(group):
                formatter.write_dl(list(sentences.items()))

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Commands with what they do, and options."""
        commands: dict[str, Any] = {
            name: TyperCommand(name, help=text) for group in all_groups().values() for name, text in group.items()
        }
        group = TyperGroup(name=self.name, commands=commands, params=self.params)
        return list(group.shell_complete(type(ctx)(group, resilient_parsing=True), incomplete))


app = typer.Typer(
    cls=AllCommands,
    help="Which search system is better when assessors of relevance disagree?",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version as installed

        typer.echo(f"qrowd {installed('qrowd')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def common(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Which search system is better when assessors of relevance disagree?"""
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


def run() -> None:
    """Run the command. Mistakes of the user become one line and exit status 2, Ctrl-C exit status 130."""
    # Blocks of work run in threads already; threads within a product of small matrices would only wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    written = "no output was written"
    status = 0
    gc.set_threshold(100_000, 50, 50)  # what is imported stays: looking through it again and again finds no garbage
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # labels may hold bytes that are no text
    try:
        status = app(sys.argv[1:], prog_name="qrowd", standalone_mode=False)
        sys.stdout.flush()
    except (QrowdError, UsageError) as error:
        message = usage_message(error) if isinstance(error, UsageError) else str(error)
        print(f"qrowd: {message}", file=sys.stderr)
        status = 2
    except (KeyboardInterrupt, typer.Abort, Interrupted) as interruption:  # Abort: while something is asked for
        status = INTERRUPTED
        written = str(interruption) or written
    except (BrokenPipeError, SystemExit) as end:
        # The reader went away (`qrowd ... | head`), where rich and click exit with status 1: not an error, but Python
        # must not complain at exit either.
        if BrokenPipeError not in (type(end), type(end.__context__)):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if status == INTERRUPTED:
        # At once: an ordinary exit would wait for threads, and one may be reading from a pipe that never ends.
        print(f"qrowd: interrupted; {written}", file=sys.stderr, flush=True)
        os._exit(INTERRUPTED)
    raise SystemExit(status)
