"""The `qrowd` command. Commands import what they need when they run, so that `qrowd --help` is instant."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

import typer

from qrowd.cli.aggregate import aggregate
from qrowd.cli.agree import agree
from qrowd.cli.assessors import assessors
from qrowd.cli.aware import aware
from qrowd.cli.campaign import campaign
from qrowd.cli.check import check
from qrowd.cli.compare import compare
from qrowd.cli.demo import demo
from qrowd.cli.evaluate import evaluate
from qrowd.cli.measures import measures
from qrowd.cli.plan import plan
from qrowd.cli.plot import plot
from qrowd.cli.predict import predict
from qrowd.cli.prefer import prefer
from qrowd.cli.replace import replace
from qrowd.cli.report import report
from qrowd.cli.serve import serve
from qrowd.cli.simulate import simulate
from qrowd.cli.study import study
from qrowd.errors import QrowdError

app = typer.Typer(
    help="Which search system is better, when the people or models who judged relevance disagree?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (evaluate, compare, agree, aggregate, predict, aware, assessors, check, measures, study, simulate, demo):
    app.command()(command)
app.command()(plan)
app.command()(replace)
app.command()(report)
app.command()(plot)
app.command()(serve)
app.add_typer(prefer, name="prefer")
app.add_typer(campaign, name="campaign")


@app.callback(invoke_without_command=True)
def common(context: typer.Context, version: bool = typer.Option(False, "--version", help="Print the version.")) -> None:
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"qrowd {installed('qrowd')}")
        raise typer.Exit


MANY = ("--runs", "--judgments", "--preferences", "--systems")
INTERRUPTED = 130


def gathered(arguments: Iterable[str]) -> list[str]:
    """`--runs a b c` as `--runs a --runs b --runs c`: what a shell makes of an unquoted pattern."""
    result: list[str] = []
    many: str | None = None
    for argument in arguments:
        if argument.startswith("-") and argument != "-":
            many = argument if argument in MANY else None
            if many is None:
                result.append(argument)
        elif many is not None:
            result += [many, argument]
        else:
            result.append(argument)
    return result


def run() -> None:
    """Run the command; mistakes in the input become one line and exit status 2, Ctrl-C 130."""
    try:
        app(gathered(sys.argv[1:]))
    except QrowdError as error:
        print(f"qrowd: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except (KeyboardInterrupt, SystemExit) as end:
        if isinstance(end, SystemExit) and end.code != INTERRUPTED:  # typer makes that of Ctrl-C
            raise
        # At once: an ordinary exit would wait for threads, and one may be reading from a pipe that never ends.
        print("qrowd: interrupted; no output was written", file=sys.stderr, flush=True)
        os._exit(INTERRUPTED)
    except BrokenPipeError:
        # The reader went away (`qrowd ... | head`): not an error, but Python must not complain at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
