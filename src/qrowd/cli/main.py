"""The `qrowd` command. Commands import what they need when they run, so that `qrowd --help` is instant."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from qrowd.cli.aggregate import aggregate
from qrowd.cli.agree import agree
from qrowd.cli.assessors import assessors
from qrowd.cli.aware import aware
from qrowd.cli.campaign import campaign
from qrowd.cli.check import check
from qrowd.cli.commands import CommandGroup, OneValueCommand, UsageError, add, usage_message
from qrowd.cli.compare import compare
from qrowd.cli.demo import demo
from qrowd.cli.evaluate import evaluate
from qrowd.cli.help import help_, overview
from qrowd.cli.leaderboards import leaderboards
from qrowd.cli.magnitude import magnitude
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
from qrowd.cli.table import table
from qrowd.cli.trec_eval import trec_eval
from qrowd.errors import QrowdError

GROUPS = {
    "Evaluate systems": (demo, evaluate, compare, table, report, plot, aware, predict, check, measures),
    "Study the assessors": (agree, assessors, aggregate, replace, leaderboards),
    "Plan": (plan, simulate),
    "Collect judgments": (serve,),
    "Papers": (study,),
    "Help": (help_,),
}
INTERRUPTED = 130

app = typer.Typer(
    cls=CommandGroup,
    help="Which search system is better when assessors of relevance disagree?",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for panel, functions in GROUPS.items():
    for function in functions:
        add(app, function, panel)
add(app, trec_eval, "Evaluate systems", OneValueCommand)
app.add_typer(prefer, name="prefer", rich_help_panel="Evaluate systems")
app.add_typer(magnitude, name="magnitude", rich_help_panel="Study the assessors")
app.add_typer(campaign, name="campaign", rich_help_panel="Collect judgments")


@app.callback(invoke_without_command=True)
def common(
    ctx: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if ctx.invoked_subcommand is None and not version:
        typer.echo(overview(ctx.command))
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"qrowd {installed('qrowd')}")
        raise typer.Exit


def run() -> None:
    """Run the command. Mistakes of the user become one line and exit status 2, Ctrl-C exit status 130."""
    try:
        status = app(sys.argv[1:], prog_name="qrowd", standalone_mode=False)
        sys.stdout.flush()
    except (QrowdError, UsageError) as error:
        message = usage_message(error) if isinstance(error, UsageError) else str(error)
        print(f"qrowd: {message}" if message else "", end="\n" if message else "", file=sys.stderr)
        status = 2
    except KeyboardInterrupt:
        status = INTERRUPTED
    except (BrokenPipeError, SystemExit) as end:
        # The reader went away (`qrowd ... | head`), where rich and click exit with status 1: not an error, but Python
        # must not complain at exit either.
        if not isinstance(end if isinstance(end, OSError) else end.__context__, BrokenPipeError):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
    if status == INTERRUPTED:
        # At once: an ordinary exit would wait for threads, and one may be reading from a pipe that never ends.
        print("qrowd: interrupted; no output was written", file=sys.stderr, flush=True)
        os._exit(INTERRUPTED)
    raise SystemExit(status)
