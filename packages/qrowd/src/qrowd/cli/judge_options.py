"""Options that the commands of `qrowd judge` share, and what is read from them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from qrowd.cli import options
from qrowd.cli.commands import Interrupted
from qrowd.cli.input_files import data_option
from qrowd.cli.magnitude import Checks
from qrowd.cli.options import option
from qrowd.errors import ArgumentError, FileError, check_choice

if TYPE_CHECKING:
    from qrowd.judge import AskOptions
    from qrowd.judge.asking import Job
    from qrowd.model.judgments import Judgments
    from qrowd.model.preferences import Preferences
    from qrowd.model.runs import Runs

AskedAgain = Literal["refused", "cut_off", "unparsable", "out_of_scale"]  # errors and timeouts always are
OF_UNITS = ("item", "unit", "criterion", "weight")  # columns

Depth = Annotated[int, option(help="Number of top documents of each system that are judged.")]
Record = Annotated[
    str,
    option(help="SQLite file of all exchanges; what it answers is not asked again.", panel="Output", metavar="FILE"),
]
Topics = Annotated[str, data_option(help="Texts of the topics: a table, TREC topics, or irds:ID.", metavar="FILE")]
Documents = Annotated[
    list[str] | None, data_option(help="Texts of the documents: tables, TREC documents, or irds:ID.", metavar="FILES")
]
Answers = Annotated[
    str | None,
    data_option(
        help="Answers of systems, judged instead of documents: a table with the columns topic, system and text, and "
        "perhaps item, unit, criterion and weight.",
        metavar="FILE",
    ),
]
Models = Annotated[
    list[str],
    option(
        help="Models: URL#NAME of an OpenAI-compatible server, or FILE.py:FUNCTION of a request.",
        panel="Models",
        metavar="MODELS",
    ),
]
PoolFile = Annotated[
    str | None, data_option(help="Judgments whose documents are judged, instead of those of runs.", metavar="FILE")
]
Items = Annotated[
    str | None,
    data_option(
        help="Table of the nuggets, exam questions or criteria of each topic, with the columns topic (without it: of "
        "all topics) and item; for answers perhaps unit, criterion and weight.",
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
    str | None,
    option(
        help="Environment variable that holds the key of the only server.",
        panel="Models",
        metavar="VARIABLE",
        show_default="QROWD_KEY_HOST, or the provider's own",
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
    ),
]
Concurrency = Annotated[int, option(help="Requests at a time to each server.", panel="Models", min=1)]
Budget = Annotated[float | None, option(help="What the record may cost in all; needs --prices.", panel="Models", min=0)]
PricesFile = Annotated[str | None, option(help="TOML file with prices of tokens.", panel="Models", metavar="FILE")]
DryRun = Annotated[bool, option("--dry-run", help="Show what the job will cost, and ask nothing.", panel="Models")]


@dataclass(frozen=True)
class Questions:
    """What is asked, of which models."""

    topics: Topics
    model: Models
    documents: Documents = None
    answers: Answers = None
    pool: PoolFile = None
    pairs: Annotated[
        str | None,
        data_option(
            help="Table of the pairs of documents that preferences compare, with the columns topic, a and b.",
            metavar="FILE",
            show_default="each pair of a topic's pool",
        ),
    ] = None
    checks: Checks = None
    gold: Annotated[
        str | None,
        data_option(help="True judgments, from which check documents are drawn.", metavar="FILE"),
    ] = None
    items: Items = None
    prompt: Prompts = None
    parameter: Parameters = None
    key_from: KeyFrom = None
    timeout: Timeout = 120.0
    samples: Samples = 1
    unit_size: Annotated[int, option(help="Documents of a unit, check documents included.", min=1)] = 8
    seed: options.Seed = 1

    def plan(self, runs: options.Runs, depth: int) -> Job:
        """The job that asks them. runs, depth : the documents that are judged, unless a pool or pairs name them."""
        from qrowd import files
        from qrowd.judge import plan_job, read_document_texts, read_topic_texts
        from qrowd.judge.prompts import prompts_of
        from qrowd.judge.questions import answer_pool, pool_from

        pairs = None
        if self.pairs is not None:
            pairs = list(zip(*files.read_labels(self.pairs, "topic", "a", "b"), strict=True))
        checks = None if self.checks is None else files.read_checks(self.checks)
        prompts = prompts_of(self.prompt or ["graded"])
        items = {} if self.items is None else items_of(self.items)
        source: Any
        texts: Any
        units = None
        others = runs.runs or self.pool or self.checks or self.gold
        if (self.documents is None) == (self.answers is None) or (self.answers and others):
            raise ArgumentError("give --documents, or --answers without --runs, --pool, --checks and --gold")
        if self.answers is not None:
            columns = files.read_labels(self.answers, "topic", "system", "text", optional=OF_UNITS, may_be_empty="text")
            source, texts, units = answer_pool(zip(*columns, strict=True), items, prompts[0].form)
            pairs = pairs and [(topic, f"{topic}/{a}", f"{topic}/{b}") for topic, a, b in pairs]
        else:
            source = pool_of(runs, self.pool, pairs)
            labels = set(chain(*pool_from(source, depth=depth).values(), *(checks or {}).values()))
            texts = read_document_texts(self.documents or (), labels=labels)
        return plan_job(
            read_topic_texts(self.topics),
            texts,
            source,
            models_of(self.model, self.key_from, self.timeout),
            prompts,
            n_samples=self.samples,
            depth=depth,
            pairs=pairs,
            checks=checks,
            gold=None if self.gold is None else files.read_judgments([self.gold]),
            unit_size=self.unit_size,
            items={topic: [item for item, *_ in of_topic] for topic, of_topic in items.items()},
            answers=units,
            parameters=parameters_of(self.parameter),
            rng=self.seed,
        )


def ask_options(
    concurrency: int = 8, budget: float | None = None, prices: str | None = None, again: Again = None
) -> AskOptions:
    """The options of asking. prices : a file."""
    from qrowd.judge import AskOptions
    from qrowd.judge.exchange import Prices

    price_list = None if prices is None else Prices.read(prices)
    statuses: Any = again or ()
    for status in statuses:
        check_choice("again", status, AskedAgain)
    return AskOptions(concurrency, budget, price_list, statuses)


def pool_of(
    runs: options.Runs, pool: str | None, pairs: list[tuple[str, str, str]] | None
) -> Runs | Judgments | Preferences | dict[str, Any]:
    """What is judged: documents of runs, of judgments, or of named pairs."""
    from qrowd import files

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


def items_of(path: str) -> dict[str, list[list[str]]]:
    """{topic: (item, unit, criterion, weight) of its nuggets, questions or criteria}; of all topics where none is."""
    from qrowd import files

    items: dict[str, list[list[str]]] = {}
    columns = files.read_labels(path, "item", optional=("topic", *OF_UNITS[1:]))
    for item, topic, *of_unit in zip(*columns, strict=True):
        items.setdefault(topic, []).append([item, *of_unit])
    return items


def models_of(texts: list[str], key_from: str | None, timeout: float) -> list[Any]:
    """The models of URL#NAME and FILE.py:FUNCTION. A key goes to the server that it is for, and to no other."""
    from qrowd.judge.chat import host_of, model_at

    hosts = {host_of(text.partition("#")[0]) for text in texts if "#" in text}
    if key_from is not None and len(hosts) != 1:
        raise ArgumentError(f"--key-from {key_from}: there are {len(hosts)} servers; set QROWD_KEY_HOST for each")
    return [model_at(text, key_from, timeout) if "#" in text else _function(text) for text in texts]


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
def asking(record: str, options: AskOptions) -> Iterator[Callable[[int, int, float], object]]:
    """A bar of the questions with their cost so far; after Ctrl-C the line that says how to go on."""
    from qrowd.cli.progress import progress

    try:
        with progress("asking") as advance:
            yield lambda done, total, cost: advance(done, total, f"{cost:.4g} {options.currency}" if cost else "")
    except KeyboardInterrupt:
        raise Interrupted(f"the answers so far are in {record}; the same command asks the rest") from None


def show_estimate(job: Job, options: AskOptions, record: str, *, batch: bool = False) -> None:
    """Print what a job will cost; in batch files where `batch` says so."""
    from qrowd.judge.exchange import Prices

    estimate = job.estimate(options.prices or Prices(()), record=record, again=options.again, batch=batch)
    cost = "unknown" if estimate.cost is None else f"about {estimate.cost:.4g} {estimate.currency}"
    typer.echo(
        f"{estimate.requests:,} requests, about {estimate.tokens_in:,} tokens sent and at most {estimate.tokens_out:,} "
        f"received; cost {cost}"
    )
    for endpoint, name in estimate.unpriced:
        typer.echo(f"price: {name} at {endpoint} has none; add it to a file for --prices")
