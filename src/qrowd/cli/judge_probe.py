"""`qrowd judge probe`: do words that add no content raise the grades of a model?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, cast

from qrowd.cli import judge_options, options
from qrowd.cli.options import option
from qrowd.cli.output import Output, deliver
from qrowd.errors import check_choice

if TYPE_CHECKING:
    from qrowd.judge import ProbeResult
    from qrowd.reports.document import Note

PROBES = ("query-words", "query-first", "claim")


def checked_probes(texts: list[str] | None) -> list[str] | None:
    """Probes that there are."""
    for text in texts or ():
        check_choice("probe", text, PROBES)
    return texts


def probe(
    topics: judge_options.Topics,
    documents: judge_options.Documents,
    model: judge_options.Models,
    runs: options.MaybeRuns = options.NO_RUNS,
    depth: judge_options.Depth = 10,
    pool: judge_options.PoolFile = None,
    items: judge_options.Items = None,
    n_pairs: Annotated[
        int,
        option(
            "-n", "--n-pairs", help="Number of pairs of a topic and a document of another topic.", panel="Probes", min=1
        ),
    ] = 50,
    probe: Annotated[
        list[str] | None,
        option(
            help="What is put into the texts: query-words at random places, query-first, or a claim of relevance.",
            panel="Probes",
            metavar="PROBES",
            show_default="all three",
            callback=checked_probes,
        ),
    ] = None,
    rel: options.Rel = None,
    confidence: options.Confidence = 0.95,
    prompt: judge_options.Prompts = None,
    parameter: judge_options.Parameters = None,
    key_from: judge_options.KeyFrom = None,
    timeout: judge_options.Timeout = 120.0,
    samples: judge_options.Samples = 1,
    again: judge_options.Again = None,
    concurrency: judge_options.Concurrency = 8,
    budget: judge_options.Budget = None,
    prices: judge_options.PricesFile = None,
    dry_run: judge_options.DryRun = False,
    seed: options.Seed = 1,
    record: judge_options.Record = "judge.sqlite",
    output: Output = None,
) -> None:
    """Test whether words that add no content raise the grades of a model. Nothing of it becomes a judgment."""
    from qrowd.judge import Prices, plan_probes, read_document_texts, read_topic_texts
    from qrowd.judge.questions import pool_from
    from qrowd.reports.probes import ProbeReport

    pooled = pool_from(judge_options.pool_of(runs, pool, None), depth=depth)
    labels = {document for documents_of_topic in pooled.values() for document in documents_of_topic}
    job = plan_probes(
        read_topic_texts(topics),
        read_document_texts(documents, labels=labels),
        pooled,
        judge_options.models_of(model, key_from or [], timeout),
        prompt or ["graded"],
        n_pairs=n_pairs,
        probes=cast(Any, probe or PROBES),
        rel=rel,
        confidence=confidence,
        n_samples=samples,
        items=None if items is None else judge_options.items_of(items),
        parameters=judge_options.parameters_of(parameter),
        rng=seed,
    )
    price_list = None if prices is None else Prices.read(prices)
    statuses = cast(Any, again or ())
    if dry_run:
        judge_options.show_estimate(job.job, price_list or Prices.read(), record, again=statuses)
        return
    currency = price_list.currency if price_list else ""
    with judge_options.asking(record, price_list) as progress:
        result = job.ask(
            record, concurrency=concurrency, budget=budget, prices=price_list, again=statuses, progress=progress
        )
    deliver(ProbeReport(result, tuple(_notes(result, record, currency))).to_document(), output)


def _notes(result: ProbeResult, record: str, currency: str) -> Iterator[Note]:
    from qrowd.reports.document import Note

    if result.stopped:
        yield Note("stopped", result.stopped)
    if result.cost is not None:
        yield Note("cost", f"{result.cost:.4g} {currency}")
    yield Note("record", record)
