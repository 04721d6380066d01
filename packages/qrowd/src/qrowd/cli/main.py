"""The `qrowd` command. Commands import what they need when they run, so that `qrowd --help` is instant."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from qrowd.cli.commands import CommandGroup, Interrupted, UsageError, loaded, usage_message
from qrowd.cli.contents import all_groups, package_of
from qrowd.errors import QrowdError

INTERRUPTED = 130
atexit.register(gc.freeze)  # the system frees the memory of a process that ends: a last search for garbage takes longer


class Commands(Mapping[str, Any]):
    """{name: command}; a command is loaded when it is asked for."""

    def __getitem__(self, name: str) -> Any:
        return loaded(name, package_of(name))

    def __iter__(self) -> Iterator[str]:
        return (name for sentences in all_groups().values() for name in sentences)

    def __len__(self) -> int:
        return sum(map(len, all_groups().values()))


class AllCommands(CommandGroup):
    """The commands of `qrowd`, of which only the one that is named is loaded."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = Commands()  # type: ignore[assignment]

    def sentences(self) -> Mapping[str, Mapping[str, str]]:
        return all_groups()

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
    gc.set_threshold(100_000, 50, 50)  # what is imported stays: looking through it again and again finds no garbage
    try:
        status = app(sys.argv[1:], prog_name="qrowd", standalone_mode=False)
        sys.stdout.flush()
    except (QrowdError, UsageError) as error:
        message = usage_message(error) if isinstance(error, UsageError) else str(error)
        print(f"qrowd: {message}" if message else "", end="\n" if message else "", file=sys.stderr)
        status = 2
    except KeyboardInterrupt:
        status = INTERRUPTED
    except Interrupted as interruption:
        status, written = INTERRUPTED, str(interruption)
    except (BrokenPipeError, SystemExit) as end:
        # The reader went away (`qrowd ... | head`), where rich and click exit with status 1: not an error, but Python
        # must not complain at exit either.
        if not isinstance(end if isinstance(end, OSError) else end.__context__, BrokenPipeError):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
    if status == INTERRUPTED:
        # At once: an ordinary exit would wait for threads, and one may be reading from a pipe that never ends.
        print(f"qrowd: interrupted; {written}", file=sys.stderr, flush=True)
        os._exit(INTERRUPTED)
    raise SystemExit(status)
