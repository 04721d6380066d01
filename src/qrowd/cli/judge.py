"""`qrowd judge`: language models as assessors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from qrowd.cli import options
from qrowd.cli.commands import command_group
from qrowd.cli.magnitude import CHECKS
from qrowd.cli.options import option
from qrowd.cli.output import Output, ShortNames, Top, deliver
from qrowd.errors import ArgumentError, FileError

if TYPE_CHECKING:
    from qrowd.judge import Job, ModelAnswers
    from qrowd.model.judgments import Judgments
    from qrowd.model.preferences import Preferences
    from qrowd.model.runs import Runs

ASKED_AGAIN = ("refused", "cut_off", "unparsable", "out_of_scale")  # errors and timeouts always are

Depth = Annotated[int, option(help="Number of top documents of each system that are judged.")]
Record = Annotated[
    str,
    option(help="SQLite file of all exchanges; what it answers is not asked again.", panel="Output", metavar="FILE"),
]


def checked_statuses(texts: list[str] | None) -> list[str] | None:
    """Statuses of answers that a model completed."""
    for text in texts or ():
        if text not in ASKED_AGAIN:
            raise ArgumentError(f"--again {text}: choose one of {', '.join(ASKED_AGAIN)}")
    return texts


def ask(
    topics: Annotated[
        str, option(help="Texts of the topics: a table, TREC topics, or irds:ID.", panel="Data", metavar="FILE")
    ],
    documents: Annotated[
        list[str],
        option(help="Texts of the documents: tables, TREC documents, or irds:ID.", panel="Data", metavar="FILES"),
    ],
    model: Annotated[
        list[str],
        option(
            help="Models: URL#NAME of an OpenAI-compatible server, or FILE.py:FUNCTION of a request.",
            panel="Models",
            metavar="MODELS",
        ),
    ],
    runs: options.MaybeRuns = options.NO_RUNS,
    depth: Depth = 10,
    pool: Annotated[
        str | None,
        option(help="Judgments whose documents are judged, instead of those of runs.", panel="Data", metavar="FILE"),
    ] = None,
    pairs: Annotated[
        str | None,
        option(
            help="Table of the pairs of documents that preferences compare, with the columns topic, a and b.",
            panel="Data",
            metavar="FILE",
            show_default="each pair of a topic's pool",
        ),
    ] = None,
    checks: Annotated[str | None, CHECKS] = None,
    gold: Annotated[
        str | None,
        option(help="True judgments, from which check documents are drawn.", panel="Data", metavar="FILE"),
    ] = None,
    items: Annotated[
        str | None,
        option(
            help="Table of the nuggets or exam questions of each topic, with the columns topic and item.",
            panel="Data",
            metavar="FILE",
        ),
    ] = None,
    prompt: Annotated[
        list[str] | None,
        option(
            "--as",
            help="Prompts: names that qrowd judge prompts lists, or TOML files.",
            panel="Models",
            metavar="PROMPTS",
            show_default="graded",
        ),
    ] = None,
    parameter: Annotated[
        list[str] | None,
        option(
            help="Parameters of each request, as in temperature=0 max_tokens=200.",
            panel="Models",
            metavar="NAME=VALUE",
            show_default="those of the prompt",
        ),
    ] = None,
    key_from: Annotated[
        list[str] | None,
        option(
            help="Environment variables that hold the keys: VARIABLE, or HOST=VARIABLE for each of several servers.",
            panel="Models",
            metavar="VARIABLES",
            show_default="OPENAI_API_KEY for OpenAI",
        ),
    ] = None,
    timeout: Annotated[float, option(help="Seconds to wait for a whole answer.", panel="Models", min=1)] = 120.0,
    samples: Annotated[int, option(help="How often each question is asked.", panel="Models", min=1)] = 1,
    unit_size: Annotated[int, option(help="Documents of a unit, check documents included.", min=1)] = 8,
    again: Annotated[
        list[str] | None,
        option(
            help="Ask again where the answer in the record is refused, cut_off, unparsable or out_of_scale.",
            panel="Models",
            metavar="STATUSES",
            callback=checked_statuses,
        ),
    ] = None,
    concurrency: Annotated[int, option(help="Requests at a time to each server.", panel="Models", min=1)] = 8,
    budget: Annotated[
        float | None, option(help="What the record may cost in all; needs --prices.", panel="Models", min=0)
    ] = None,
    prices: Annotated[
        str | None, option(help="TOML file with prices of tokens.", panel="Models", metavar="FILE")
    ] = None,
    dry_run: Annotated[
        bool, option("--dry-run", help="Show what the job will cost, and ask nothing.", panel="Models")
    ] = False,
    seed: options.Seed = 1,
    top: Top = None,
    short_names: ShortNames = False,
    record: Record = "judge.sqlite",
    output: Annotated[
        str | None,
        option(
            "-o",
            "--output",
            help="Folder for the judgments, one file for each assessor.",
            panel="Output",
            metavar="DIR",
        ),
    ] = None,
) -> None:
    """Ask language models to judge documents. Only an answer becomes a judgment."""
    from qrowd import files
    from qrowd.cli.show import progress
    from qrowd.judge import Prices, plan_job, read_document_texts, read_topic_texts
    from qrowd.judge.questions import pool_from
    from qrowd.reports.judging import JudgingReport

    named_pairs = None if pairs is None else _pairs(pairs)
    source = _pool(runs, pool, named_pairs)
    labels = {
        document for documents_of_topic in pool_from(source, depth=depth).values() for document in documents_of_topic
    }
    job = plan_job(
        read_topic_texts(topics),
        read_document_texts(documents, labels=labels),
        source,
        _models(model, key_from or [], timeout),
        prompt or ["graded"],
        n_samples=samples,
        depth=depth,
        pairs=named_pairs,
        checks=None if checks is None else files.read_checks(checks),
        gold=None if gold is None else files.read_judgments([gold]),
        unit_size=unit_size,
        items=None if items is None else _items(items),
        parameters=_parameters(parameter),
        rng=seed,
    )
    price_list = None if prices is None else Prices.read(prices)
    if dry_run:
        _show_estimate(job, price_list or Prices.read(), record)
        return
    with progress("asking") as advance:
        answers = job.ask(
            record,
            concurrency=concurrency,
            budget=budget,
            prices=price_list,
            again=cast(Any, again or ()),
            progress=lambda done, total, cost: advance(done, total),
        )
    if output is not None:
        _write(answers, output)
    report = JudgingReport(
        answers.statuses, answers.n_unasked, tuple(_notes(answers, record, price_list.currency if price_list else ""))
    )
    deliver(report.to_document().shown(report.systems, top=top, short_names=short_names), None)


def status(
    record: Annotated[str, typer.Argument(metavar="RECORD", help="Record of qrowd judge ask.")],
    runs: options.MaybeRuns = options.NO_RUNS,
    depth: Depth = 10,
    top: Top = None,
    short_names: ShortNames = False,
    output: Output = None,
) -> None:
    """Show the shares of questions without an answer, by model, by topic and by system."""
    from qrowd.judge import Statuses
    from qrowd.judge.asked import outcomes_in
    from qrowd.reports.judging import JudgingReport

    outcomes, unasked = outcomes_in(record)
    statuses = Statuses(tuple(outcomes), runs.read(None), depth)
    report = JudgingReport(statuses, len(unasked))
    deliver(report.to_document().shown(report.systems, top=top, short_names=short_names), output)


def prompts(output: Output = None) -> None:
    """List the prompts with their form, scale, licence and hash."""
    from pandas import DataFrame

    from qrowd.judge.prompts import built_in_prompts
    from qrowd.reports.document import Document, Table

    listed = built_in_prompts()
    columns: dict[str, list[str]] = {
        "prompt": [one.id for one in listed],
        "version": [one.version for one in listed],
        "form": [one.form for one in listed],
        "scale": [f"{one.scale[0]:g}-{one.scale[-1]:g}" if one.scale else "-" for one in listed],
        "source": [one.source for one in listed],
        "licence": [one.licence for one in listed],
        "hash": [one.sha256[:12] for one in listed],
    }
    table = Table.of("prompts", columns)
    sentence = f"{len(listed)} prompts; --as PATH.toml reads another."
    deliver(Document(sentence, (table,), (), lambda: DataFrame(columns)), output)


# ---- what is read


def _pool(
    runs: options.MaybeRuns, pool: str | None, pairs: list[tuple[str, str, str]] | None
) -> Runs | Judgments | Preferences | dict[str, Any]:
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


def _pairs(path: str) -> list[tuple[str, str, str]]:
    from qrowd import files

    return list(zip(*files.read_labels(path, "topic", "a", "b"), strict=True))


def _items(path: str) -> dict[str, list[str]]:
    from qrowd import files

    items: dict[str, list[str]] = {}
    for topic, item in zip(*files.read_labels(path, "topic", "item"), strict=True):
        items.setdefault(topic, []).append(item)
    return items


def _models(texts: list[str], key_from: list[str], timeout: float) -> list[Any]:
    """The models of URL#NAME and FILE.py:FUNCTION. A key goes to the server that it is for, and to no other."""
    from urllib.parse import urlsplit

    from qrowd.judge.chat import ChatModel, url_and_name

    variables = dict(text.rpartition("=")[::2] for text in key_from)
    hosts = {urlsplit(text.partition("#")[0]).hostname or "" for text in texts if "#" in text}
    if "" in variables and len(hosts) > 1:
        raise ArgumentError(f"--key-from {variables['']}: there are {len(hosts)} servers; say which: HOST=VARIABLE")
    if strange := sorted(set(variables) - hosts - {""}):
        raise ArgumentError(f"--key-from {strange[0]}={variables[strange[0]]}: no model is at this host")
    models: list[Any] = []
    for text in texts:
        parts = url_and_name(text)
        if "#" not in text:
            models.append(_function(text))
        elif parts is None:
            raise ArgumentError(f"--model {text}: expected URL#NAME, as in http://localhost:8000/v1#qwen3")
        else:
            variable = variables.get(urlsplit(parts[0]).hostname or "", variables.get(""))
            models.append(ChatModel(*parts, key_from_environment=variable, timeout=timeout))
    return models


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


def _parameters(texts: list[str] | None) -> dict[str, object]:
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


# ---- what is written


def _write(answers: ModelAnswers, folder: str) -> None:
    """One table per assessor; a file of the same name is replaced."""
    from urllib.parse import quote

    from qrowd.cli.output import write_output
    from qrowd.judge.outcome import assessors_of, source_of

    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(folder, f"cannot be made: {error.strerror}") from None
    names = assessors_of(answers.outcomes)
    hashes = {names[source]: one.prompt_sha256 for one in answers.outcomes if (source := source_of(one)) in names}
    parts: list[Judgments | Preferences] = [answers.judgments]
    if answers.preferences is not None:
        parts.append(answers.preferences)
    for part in parts:
        for assessor in part.assessors:
            frame = part.select(assessors=[assessor]).to_frame()
            frame["prompt_sha256"] = hashes[assessor.removesuffix("+expected")]
            write_output(str(Path(folder) / f"{quote(assessor, safe='+ ()')}.csv"), frame.to_csv(index=False))


def _notes(answers: ModelAnswers, record: str, currency: str) -> Any:
    from qrowd.reports.document import Note

    if answers.stopped:
        yield Note("stopped", answers.stopped)
    if answers.cost is not None:
        yield Note("cost", f"{answers.cost:.4g} {currency}")
    if answers.statuses.n_failed:
        yield Note(
            "failures", "make no judgment; errors and timeouts are asked again by the same command, others by --again"
        )
    judgments = answers.judgments
    scales = [
        f"'{name}={scale}'" for name, scale in zip(judgments.assessors, judgments.scales, strict=True) if scale.declared
    ]
    if scales:
        yield Note("scales", f"files do not state them; for other commands: --scale {' '.join(scales)}")
    yield Note("record", record)


def _show_estimate(job: Job, prices: Any, record: str) -> None:
    estimate = job.estimate(prices, record=record)
    cost = "unknown" if estimate.cost is None else f"about {estimate.cost:.4g} {estimate.currency}"
    typer.echo(
        f"{estimate.requests:,} requests, about {estimate.tokens_in:,} tokens sent and at most {estimate.tokens_out:,} "
        f"received; cost {cost}"
    )
    for endpoint, name in estimate.unpriced:
        typer.echo(f"price: {name} at {endpoint} has none; add it to a file for --prices")


judge = command_group("Ask language models to judge, and show what became of each question.", ask, status, prompts)
