"""Options that the commands of `qrowd judge` share, and what is read from them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qrowd.cli import options
from qrowd.cli.commands import Interrupted
from qrowd.cli.options import option
from qrowd.errors import ArgumentError, FileError

if TYPE_CHECKING:
    from qrowd.judge import Job, Prices, ServerWork
    from qrowd.model.judgments import Judgments
    from qrowd.model.preferences import Preferences
    from qrowd.model.runs import Runs
    from qrowd.reports.document import Note

ASKED_AGAIN = ("refused", "cut_off", "unparsable", "out_of_scale")  # errors and timeouts always are


def checked_statuses(texts: list[str] | None) -> list[str] | None:
    """Statuses of answers that a model completed."""
    for text in texts or ():
        if text not in ASKED_AGAIN:
            raise ArgumentError(f"--again {text}: choose one of {', '.join(ASKED_AGAIN)}")
    return texts


Depth = Annotated[int, option(help="Number of top documents of each system that are judged.")]
Record = Annotated[
    str,
    option(help="SQLite file of all exchanges; what it answers is not asked again.", panel="Output", metavar="FILE"),
]
Topics = Annotated[
    str, option(help="Texts of the topics: a table, TREC topics, or irds:ID.", panel="Data", metavar="FILE")
]
Documents = Annotated[
    list[str],
    option(help="Texts of the documents: tables, TREC documents, or irds:ID.", panel="Data", metavar="FILES"),
]
Models = Annotated[
    list[str],
    option(
        help="Models: URL#NAME of an OpenAI-compatible server, URL,URL#NAME or FILE#NAME of several servers of one "
        "model, or FILE.py:FUNCTION of a request.",
        panel="Models",
        metavar="MODELS",
    ),
]
PoolFile = Annotated[
    str | None,
    option(help="Judgments whose documents are judged, instead of those of runs.", panel="Data", metavar="FILE"),
]
Items = Annotated[
    str | None,
    option(
        help="Table of the nuggets or exam questions of each topic, with the columns topic and item.",
        panel="Data",
        metavar="FILE",
    ),
]
Prompts = Annotated[
    list[str] | None,
    option(
        "--as",
        help="Prompts: names that qrowd judge prompts lists, or TOML files.",
        panel="Models",
        metavar="PROMPTS",
        show_default="graded",
    ),
]
Parameters = Annotated[
    list[str] | None,
    option(
        help="Parameters of each request, as in temperature=0 max_tokens=200.",
        panel="Models",
        metavar="NAME=VALUE",
        show_default="those of the prompt",
    ),
]
KeyFrom = Annotated[
    list[str] | None,
    option(
        help="Environment variables that hold the keys: VARIABLE, or HOST=VARIABLE for each of several hosts.",
        panel="Models",
        metavar="VARIABLES",
        show_default="OPENAI_API_KEY for OpenAI",
    ),
]
Timeout = Annotated[float, option(help="Seconds to wait for a whole answer.", panel="Models", min=1)]
Samples = Annotated[int, option(help="How often each question is asked.", panel="Models", min=1)]
Again = Annotated[
    list[str] | None,
    option(
        help="Ask again where the answer in the record is refused, cut_off, unparsable or out_of_scale.",
        panel="Models",
        metavar="STATUSES",
        callback=checked_statuses,
    ),
]
Concurrency = Annotated[int, option(help="Requests at a time to each server.", panel="Models", min=1)]
Budget = Annotated[float | None, option(help="What the record may cost in all; needs --prices.", panel="Models", min=0)]
PricesFile = Annotated[str | None, option(help="TOML file with prices of tokens.", panel="Models", metavar="FILE")]
DryRun = Annotated[bool, option("--dry-run", help="Show what the job will cost, and ask nothing.", panel="Models")]


def pool_of(
    runs: options.MaybeRuns, pool: str | None, pairs: list[tuple[str, str, str]] | None
) -> Runs | Judgments | Preferences | dict[str, Any]:
    """What is judged: documents of runs, of judgments, or of named pairs."""
    from qrowd import files

    if runs.runs and pool:
        raise ArgumentError("--pool: give --runs or --pool")
    if pool:
        return files.read_answers(pool)
    rankings = runs.read(None)
    if rankings is not None:
        return rankings
    if pairs is None:
        raise ArgumentError("nothing to judge: give --runs FILES, --pool FILE or --pairs FILE")
    of_topic: dict[str, list[str]] = {}
    for topic, one, two in pairs:
        of_topic.setdefault(topic, []).extend((one, two))
    return of_topic


def items_of(path: str) -> dict[str, list[str]]:
    """{topic: nuggets or questions} of a table."""
    from qrowd import files

    items: dict[str, list[str]] = {}
    for topic, item in zip(*files.read_labels(path, "topic", "item"), strict=True):
        items.setdefault(topic, []).append(item)
    return items


def models_of(texts: list[str], key_from: list[str], timeout: float) -> list[Any]:
    """The models of URL#NAME, URL,URL#NAME, FILE#NAME and FILE.py:FUNCTION.

    A key goes to the server that it is for, and to no other; servers of one model may share one.
    """
    from qrowd.judge.servers import EXPECTED, host_of, model_at, urls_of

    urls = {text: urls_of(text) for text in texts if "#" in text}
    hosts = {host_of(url) for of_model in urls.values() for url in of_model}
    variables = key_variables(hosts, key_from, shared=len(urls) == 1)
    models: list[Any] = []
    for text in texts:
        if "#" not in text:
            models.append(_function(text))
        elif not urls[text]:
            raise ArgumentError(f"--model {text}: {EXPECTED}")
        else:
            models.append(model_at(text, keys=variables, timeout=timeout))
    return models


def key_variables(hosts: set[str], key_from: list[str], *, shared: bool = False) -> dict[str, str]:
    """{host: environment variable} of VARIABLE and HOST=VARIABLE; of no other host than these.

    shared : whether one VARIABLE may be for several hosts, those of one model.
    """
    variables = dict(text.rpartition("=")[::2] for text in key_from)
    if "" in variables and len(hosts) > 1 and not shared:
        raise ArgumentError(f"--key-from {variables['']}: there are {len(hosts)} servers; say which: HOST=VARIABLE")
    if strange := sorted(set(variables) - hosts - {""}):
        raise ArgumentError(f"--key-from {strange[0]}={variables[strange[0]]}: no model is at this host")
    return {host: variable for host in hosts if (variable := variables.get(host, variables.get("")))}


def _function(text: str) -> Any:
    """The function of FILE.py:FUNCTION."""
    import runpy

    path, colon, name = text.rpartition(":")
    if not colon or not path.endswith(".py"):
        raise ArgumentError(f"--model {text}: expected URL#NAME, as in http://localhost:8000/v1#qwen3, or FILE.py:NAME")
    if not Path(path).is_file():
        raise FileError(path, "there is no such file")
    try:
        function = runpy.run_path(path).get(name)
    except Exception as error:
        raise FileError(path, f"cannot be run ({type(error).__name__}: {error})") from None
    if not callable(function):
        raise FileError(path, f"there is no function {name!r}")
    return function


def parameters_of(texts: list[str] | None) -> dict[str, object]:
    """{name: value} of NAME=VALUE; a value that is JSON is read as such."""
    parameters: dict[str, object] = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise ArgumentError(f"--parameter {text}: expected NAME=VALUE, as in temperature=0")
        try:
            parameters[name] = json.loads(value)
        except ValueError:
            parameters[name] = value
    return parameters


@contextmanager
def asking(record: str, price_list: Prices | None) -> Iterator[Callable[[int, int, float], object]]:
    """A bar of the questions with their cost so far; after Ctrl-C the line that says how to go on."""
    from qrowd.cli.show import progress

    currency = price_list.currency if price_list else ""
    try:
        with progress("asking") as advance:
            yield lambda done, total, cost: advance(done, total, f"{cost:.4g} {currency}" if price_list else "")
    except KeyboardInterrupt:
        raise Interrupted(f"the answers so far are in {record}; the same command asks the rest") from None


def notes_on_servers(servers: Sequence[ServerWork]) -> Iterator[Note]:
    """What each server of a model did that several serve, where it did anything."""
    from qrowd.reports.document import Note
    from qrowd.reports.phrases import count

    for model in dict.fromkeys(one.model for one in servers):
        parts = [
            f"{one.endpoint} {count(one.answers, 'answer')}"
            + (f", {count(one.failures, 'failed attempt')}" if one.failures else "")
            + (f" ({one.state})" if one.state else "")
            for one in servers
            if one.model == model and (one.answers or one.failures)
        ]
        if parts:
            yield Note(f"servers of {model}", "; ".join(parts))


def show_estimate(job: Job, prices: Any, record: str, *, again: Any = (), batch: bool = False) -> None:
    """Print what a job will cost. again : statuses of answers that are asked for again. batch : whether in batches."""
    estimate = job.estimate(prices, record=record, again=again, batch=batch)
    cost = "unknown" if estimate.cost is None else f"about {estimate.cost:.4g} {estimate.currency}"
    typer.echo(
        f"{estimate.requests:,} requests, about {estimate.tokens_in:,} tokens sent and at most {estimate.tokens_out:,} "
        f"received; cost {cost}"
    )
    for endpoint, name in estimate.unpriced:
        typer.echo(f"price: {name} at {endpoint} has none; add it to a file for --prices")
