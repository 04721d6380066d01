"""`qrowd campaign ask`: language models as assessors of a campaign."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from qrowd.cli import judge_options as judge
from qrowd.cli import options
from qrowd.cli.options import option
from qrowd.cli.output import Output, deliver
from qrowd.reports.phrases import count
from qrowd_server.cli.database import open_campaigns

if TYPE_CHECKING:
    from qrowd.reports.document import Document
    from qrowd_server.campaigns.running.models import CampaignWork


def ask(
    name: Annotated[str, typer.Argument(help="Name of the campaign.")],
    model: judge.Models,
    parameter: judge.Parameters = None,
    key_from: judge.KeyFrom = None,
    timeout: judge.Timeout = 120.0,
    concurrency: judge.Concurrency = 8,
    instead: Annotated[
        bool,
        option("--instead", help="Let models take places of people instead of judging beside them.", panel="Models"),
    ] = False,
    budget: judge.Budget = None,
    prices: judge.PricesFile = None,
    database: options.Database = options.DATABASE,
    record: judge.Record = "judge.sqlite",
    output: Output = None,
) -> None:
    """Let language models judge in a campaign, also while the server runs. The same command goes on where it ended.

    The exit status is 1 where the same command would ask more, or where no answer is a judgment.
    """
    from qrowd_server.campaigns.running.models import ask_in_campaign

    asked = judge.ask_options(concurrency, budget, prices)
    models, currency = judge.models_of(model, key_from, timeout), asked.currency
    with open_campaigns(database, write=True, create=False) as store, _counter(currency) as show:
        done = ask_in_campaign(
            store,
            name,
            models,
            record=record,
            parameters=judge.parameters_of(parameter) or None,
            options=asked,
            instead=instead,
            progress=show,
        )
    deliver(_document(done, record, currency), output)
    if done.stopped or any(
        one.given_back or (one.completed + one.failed and not min(one.completed, one.answers)) for one in done.models
    ):
        raise typer.Exit(1)


def _document(done: CampaignWork, record: str, currency: str) -> Document:
    """What each model did, and why it stopped."""
    from qrowd.reports.document import Document, Note
    from qrowd_server.cli.campaign_tables import table_frame, table_of

    models = done.models
    columns = {
        name: name.replace(" ", "_") for name in ("assessor", "answers", "completed", "failed", "given back", "ended")
    }
    notes = [Note(name, text) for name, text in done.unanswered.items()]
    if done.stopped:
        notes.append(Note("stopped", done.stopped))
    if done.cost is not None:
        notes.append(Note("cost", f"{done.cost:.4g} {currency}"))
    counted = "counts all questions, also those that a unit given back never came to"
    notes.append(Note("record", f"{record}; qrowd judge status {record} {counted}"))
    table = table_of("models", models, columns)
    return Document(
        f"{count(len(models), 'model')} gave {count(sum(one.answers for one in models), 'answer')} in {done.campaign}.",
        (table,),
        tuple(notes),
        table_frame(table),
    )


@contextmanager
def _counter(currency: str) -> Iterator[Callable[[int, int, float], object] | None]:
    """Answers and cost so far, on a terminal; how many will be asked is not known before the answers are."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    with Console(stderr=True).status("asking") as status:
        yield lambda done, total, cost: status.update(
            f"{count(done, 'question')} answered{f', cost {cost:.4g} {currency}' if cost else ''}"
        )
