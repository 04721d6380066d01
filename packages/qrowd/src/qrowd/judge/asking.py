"""Ask models: from topics, documents and a pool to judgments, and to the shares of what failed."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from math import nan
from pathlib import Path
from typing import Any

from qrowd.errors import ArgumentError, FileError
from qrowd.judge.answers import read_reply
from qrowd.judge.chat import AnyModel, models_of
from qrowd.judge.exchange import Estimate, Model, Prices, Reply, Request, Status
from qrowd.judge.outcome import Outcome, Statuses, assessors_of, judgments_of, preferences_of, rows_of, source_of
from qrowd.judge.prompts import ITEMIZED, Answer, AnyPrompt, Prompt, prompts_of
from qrowd.judge.questions import (
    DEPTH,
    UNIT_SIZE,
    Pool,
    Question,
    TextOf,
    Unit,
    magnitude_questions,
    pool_from,
    preference_questions,
    single_questions,
    texts_by_document,
    texts_by_topic,
    texts_missing,
)
from qrowd.judge.record import Record
from qrowd.judge.running import ASK_OPTIONS, AskOptions, JobProgress, ask_all
from qrowd.model.chance import Rng
from qrowd.model.judgments import Judgments
from qrowd.model.pools import checks_from_gold
from qrowd.model.preferences import Preferences
from qrowd.model.result import Result
from qrowd.model.runs import Runs
from qrowd.paths import PathLike

FAILED: tuple[Status, ...] = ("error", "timeout")  # no answer came, so the same command asks again
SEVERAL = ("magnitude", "preference")  # forms that ask about several documents at once

_COLUMNS = "key, topic, documents, unit, endpoint, model, prompt, sample, n_values, missing, parameters"


@dataclass(frozen=True)
class Asking:
    """One question as it is put to one model.

    key : of its request; empty where the text that `missing` names is not there, so that nothing is asked.
    request : None where nothing is asked, or where the question comes from a record. n_values : that an answer has.
    parameters : of the request, as JSON.
    """

    question: Question
    prompt: Prompt
    endpoint: str
    model: str
    sample: int
    key: str = ""
    request: Request | None = None
    missing: str = ""
    n_values: int = 1
    parameters: str = "{}"

    def outcome(self, reply: Reply | None) -> Outcome | None:
        """What became of it; None where it has not been asked yet."""
        about = self.question, self.endpoint, self.model, self.prompt.id, self.prompt.sha256, self.sample
        if self.missing:
            detail = f"the text of {self.missing} is missing"
            return Outcome(*about, "text_missing", detail=detail, parameters=self.parameters)
        if reply is None:
            return None
        reading = read_reply(reply, self.prompt, n_values=self.n_values)
        values = reading.values
        several = self.prompt.form in SEVERAL or len(values) == len(self.question.answers)
        if reading.status == "ok" and not several:
            values = (self.prompt.judgment(values),)
        seconds = reply.seconds or nan  # that of an answer from a batch is not known
        return Outcome(*about, reading.status, values, reading.detail, reply.model, seconds, self.parameters)


@dataclass(frozen=True, eq=False)
class ModelAnswers(Result):
    """What models answered: judgments or preferences, and what became of each question.

    outcomes : one per question and sample that was asked. statuses : their shares by model, topic and system.
    judgments, preferences : of the answers that are ok; preferences are None where none were asked for.
    n_unasked : questions that were not asked. cost : None where a model has no price. stopped : why the job ended
    early; None where it did not.
    """

    outcomes: tuple[Outcome, ...]
    statuses: Statuses
    judgments: Judgments
    preferences: Preferences | None
    n_unasked: int
    cost: float | None
    stopped: str | None = None

    def _tables(self) -> dict[str, Callable[[], dict[str, Any]]]:
        return self.statuses._tables()

    @property
    def is_complete(self) -> bool:
        """Whether the same command would ask nothing more, and some answer is a judgment."""
        statuses = {outcome.status for outcome in self.outcomes}
        return not self.n_unasked and "ok" in statuses and statuses.isdisjoint(FAILED)

    def frames(self) -> dict[str, Any]:
        """{assessor: data frame} of the judgments or preferences, as `qrowd judge ask -o` writes them.

        Beside the columns of `Judgments.to_frame` or `Preferences.to_frame`, of which order is the sample: the hash of
        the prompt, and the parameters of the requests as JSON. Of answers of systems: the columns of `rows_of`.
        """
        from pandas import DataFrame

        names, frames = assessors_of(self.outcomes), dict[str, Any]()
        examples = {names[source]: one for one in self.outcomes if (source := source_of(one)) in names}
        for assessor, rows in rows_of(self.outcomes).items():
            example = examples[assessor]
            part: Any = self.preferences if example.is_preference else self.judgments
            frame = part.select(assessors=[assessor]).to_frame()
            if example.question.answers:
                columns = {"document": None, "scale": frame.get("scale")}
                frame = DataFrame(rows).assign(**columns).dropna(axis="columns", how="all")
            frame["prompt_sha256"], frame["parameters"] = example.prompt_sha256, example.parameters
            frames[assessor] = frame
        return frames


@dataclass(frozen=True, eq=False)
class Job:
    """Everything that is asked.

    models : that are asked. runs : for the shares by system, or None.
    """

    askings: tuple[Asking, ...]
    models: tuple[Model, ...]
    runs: Runs | None = None
    depth: int = DEPTH

    @property
    def requests(self) -> list[Request]:
        """The distinct requests of all questions whose texts are there."""
        return list({asking.key: asking.request for asking in self.askings if asking.request is not None}.values())

    def estimate(
        self, prices: Prices, *, record: PathLike | None = None, again: Collection[Status] = (), batch: bool = False
    ) -> Estimate:
        """What the requests cost that the record does not answer yet; as single requests, or in batch files."""
        requests = self.requests
        if record is not None and Path(record).exists():
            with Record(record, read_only=True) as attempts:
                requests = self.open_requests(attempts, again=again)
        return prices.estimate(requests, batch=batch)

    def open_requests(self, record: Record, *, again: Collection[Status] = ()) -> list[Request]:
        """The requests that the record does not answer, those that have failed last.

        again : statuses of answers that do not count.
        """
        waiting, failed = list[Request](), list[Request]()
        for key, asking in {one.key: one for one in self.askings}.items():
            if asking.request is None:
                continue
            outcome = asking.outcome(record.latest(key))
            if outcome is None:
                waiting.append(asking.request)
            elif outcome.status in (*FAILED, *again):
                failed.append(asking.request)
        return waiting + failed

    def answers(self, record: Record, *, cost: float | None = None, stopped: str | None = None) -> ModelAnswers:
        """What the record holds of the questions."""
        asked = [asking.outcome(record.latest(asking.key)) for asking in self.askings]
        outcomes = [outcome for outcome in asked if outcome is not None]
        scales = {asking.prompt.id: scale_of(asking.prompt) for asking in self.askings}
        return ModelAnswers(
            tuple(outcomes),
            Statuses(tuple(outcomes), self.runs, self.depth),
            judgments_of(outcomes, {name: scale for name, scale in scales.items() if scale}),
            preferences_of(outcomes),
            len(self.askings) - len(outcomes),
            cost,
            stopped,
        )

    def ask(
        self, record: PathLike, *, options: AskOptions = ASK_OPTIONS, progress: JobProgress | None = None
    ) -> ModelAnswers:
        """Ask what the record does not answer. Options: those of `ask_models`."""
        with Record(record) as attempts:
            write_askings(attempts, self.askings)
            requests = self.open_requests(attempts, again=options.again)
            asked = ask_all(requests, self.models, attempts, options, progress=progress)
            answers = self.answers(attempts, cost=asked.cost, stopped=asked.stopped)
        if asked.error is not None and {one.status for one in answers.outcomes} <= {*FAILED, "text_missing"}:
            raise asked.error
        return answers


def ask_models(
    topics: TextOf,
    documents: TextOf,
    pool: Runs | Judgments | Preferences | Pool,
    models: AnyModel | Sequence[AnyModel],
    prompts: AnyPrompt | Sequence[AnyPrompt] = "graded",
    *,
    record: PathLike,
    options: AskOptions = ASK_OPTIONS,
    progress: JobProgress | None = None,
    **questions: Any,
) -> ModelAnswers:
    """Ask language models for judgments. Only an answer becomes a judgment.

    Every exchange is in the record before the next is made. The same call goes on where the last one ended, and asks
    nothing again that has an answer.

    Parameters
    ----------
    topics, documents
        {label: text}, or {label: {"title", "text", "description", "narrative"}}. A question with a missing text is not
        asked and has the status text_missing.
    pool
        Runs, of which the first `depth` documents are judged; judgments or preferences, of which all are; or
        {topic: documents}.
    models
        "URL#NAME" of an OpenAI-compatible server, a function of a `Request`, or a `Model`; one or several.
    prompts
        Names or TOML files of prompts of one form.
    record
        SQLite file of all exchanges.
    options
        How they are asked: concurrency, budget, prices, and what is asked again.
    progress
        Called with the requests that are finished, all requests, and the cost so far.
    questions
        What is asked: see `plan_job`.

    Raises
    ------
    ArgumentError
        A model or prompt that there is not; prompts of several forms; magnitudes without check documents.
    QrowdError
        A server that refuses everything, and no question has an answer. Where some have, `stopped` says the reason.
    """
    job = plan_job(topics, documents, pool, models, prompts, **questions)
    return job.ask(record, options=options, progress=progress)


def plan_job(
    topics: TextOf,
    documents: TextOf,
    pool: Runs | Judgments | Preferences | Pool,
    models: AnyModel | Sequence[AnyModel],
    prompts: AnyPrompt | Sequence[AnyPrompt] = "graded",
    *,
    n_samples: int = 1,
    depth: int = DEPTH,
    pairs: Iterable[tuple[str, str, str]] | None = None,
    checks: Mapping[str, tuple[str, str]] | None = None,
    gold: Judgments | None = None,
    unit_size: int = UNIT_SIZE,
    items: Mapping[str, Sequence[str]] | None = None,
    answers: Mapping[str, Sequence[Unit]] | None = None,
    parameters: Mapping[str, object] | None = None,
    rng: Rng = 1,
) -> Job:
    """What `ask_models` asks, without asking it.

    Parameters
    ----------
    n_samples
        How often each question is asked; samples are repeated judgments of one assessor.
    pairs
        (topic, document, document) of a preference; default: each pair of a topic's pool. Each is asked in both orders.
    checks, gold
        {topic: (high, low)} check documents of magnitudes, or judgments from which they are drawn.
    unit_size
        Documents of a unit of magnitudes, the check documents among them.
    items
        {topic: nuggets or exam questions}, for prompts of these forms.
    answers
        {document: its units}, where documents are answers of systems: each unit is judged.
    parameters
        Sent with each request instead of the prompt's, such as {"temperature": 0}.
    rng
        Of the units of magnitudes. The same seed makes the same units, so that a job can go on.
    """
    chosen, asked = prompts_of(prompts), models_of(models)
    _check(chosen, asked, n_samples)
    texts_of_topics, texts = texts_by_topic(topics), texts_by_document(documents)
    pooled = pool_from(pool, depth=depth)
    _check_texts("topics", texts_of_topics, pooled)
    _check_texts("documents", texts, [label for of_topic in pooled.values() for label in of_topic])
    form = chosen[0].form
    if form == "preference":
        questions = preference_questions(pooled, pairs)
    elif form == "magnitude":
        if checks is None:
            if gold is None:
                raise ArgumentError(
                    "checks: units of magnitudes hold a high and a low check document; give checks or gold"
                )
            checks = checks_from_gold(gold, pooled, 0)
        with_text = {topic: [label for label in of_topic if label in texts] for topic, of_topic in pooled.items()}
        questions = magnitude_questions(with_text, checks, size=unit_size, rng=rng)
        questions += [q for q in single_questions(pooled) if q.documents[0] not in texts]  # they spoil no unit
    else:
        questions = single_questions(pooled)
    if answers is not None:
        questions = [replace(q, answers=tuple(chain(*(answers.get(d, ()) for d in q.documents)))) for q in questions]
    askings = [
        _asking(question, one, model, sample, texts_of_topics, texts, (items or {}).get(question.topic, ()), parameters)
        for sample in range(1, n_samples + 1)
        for question in questions
        for one in chosen
        for model in asked
    ]
    missing = {asking.missing for asking in askings}
    if "" not in missing and any(text.endswith("'s items") for text in missing):
        raise ArgumentError(
            f"items: the prompt {chosen[0].id} asks about items, such as nuggets or criteria; give them"
        )
    return Job(tuple(askings), asked, pool if isinstance(pool, Runs) else None, depth)


def scale_of(prompt: Prompt) -> str:
    """The scale of a prompt's judgments, as `Judgments` takes it; empty where they have none that can be declared."""
    if prompt.form == "magnitude":
        return "magnitude"
    if not prompt.scale or prompt.scale[0] != 0:
        return ""
    top = prompt.scale[-1]
    if top == 1 and len(prompt.scale) == 2 and prompt.answer.judgment != "mean":
        return "binary"
    return f"0..{top:g}" if prompt.answer.judgment == "mean" or top % 1 else f"0-{top:.0f}"


def _asking(
    question: Question,
    prompt: Prompt,
    model: Model,
    sample: int,
    topics: Mapping[str, Mapping[str, str]],
    documents: Mapping[str, str],
    items: Sequence[str],
    parameters: Mapping[str, object] | None,
) -> Asking:
    items = [unit.item for unit in question.answers if unit.item] or items
    missing = texts_missing(question, topics, documents)
    if not missing and prompt.form in ITEMIZED and not items:
        missing = f"topic {question.topic}'s items"
    sent = {**prompt.parameters, **(parameters or {})}
    text = json.dumps(sent, sort_keys=True)
    if missing:
        return Asking(question, prompt, model.endpoint, model.name, sample, missing=missing, parameters=text)
    used = items if prompt.form in ITEMIZED else ()
    n = len(used) if used else len(question.documents) if prompt.form == "magnitude" else 1
    messages = prompt.messages(topics[question.topic], [documents[label] for label in question.documents], items=used)
    request = Request(model.endpoint, model.name, messages, sent, prompt.schema(n_values=n), sample)
    about = question, prompt, model.endpoint, model.name, sample
    return Asking(*about, request.key, request, n_values=n, parameters=text)


def _check(prompts: Sequence[Prompt], models: Sequence[Model], n_samples: int) -> None:
    if n_samples < 1:
        raise ArgumentError("each question is asked at least once", "n_samples", n_samples)
    if len({one.form if one.form in SEVERAL else "" for one in prompts}) != 1:
        raise ArgumentError("prompts: one job asks for judgments, magnitudes or preferences; run one for each")
    for noun, names in (
        ("prompts", [one.id for one in prompts]),
        ("models", [f"{model.name} at {model.endpoint}" for model in models]),
    ):
        repeated = next((name for i, name in enumerate(names) if name in names[:i]), None)
        if repeated is not None:
            raise ArgumentError(f"{noun}: {repeated} is there twice; rename or remove one")
    if not models:
        raise ArgumentError("models: name at least one")


def _check_texts(noun: str, texts: Collection[str], labels: Collection[str]) -> None:
    """Refuse texts of which none is needed: those of another collection, or topics in place of documents."""
    if labels and not any(label in texts for label in labels):
        raise ArgumentError(
            f"{noun}: none of the {len(labels):,} to be judged has a text, such as {next(iter(labels))!r}; are these "
            "the texts of this collection?"
        )


# ---- the questions behind the requests of a record, so that it can say by itself what became of each


def write_askings(record: Record, askings: Iterable[Asking]) -> None:
    """Add a job to a record, unless its latest job is the same."""
    prompts, rows, documents = {}, [], ""
    for asking in askings:
        prompts[asking.prompt.sha256] = json.dumps(asdict(asking.prompt))
        question = asking.question
        documents = json.dumps(question.documents + question.answers)
        about = asking.endpoint, asking.model, asking.prompt.sha256, asking.sample, asking.n_values, asking.missing
        rows.append((asking.key, asking.question.topic, documents, asking.question.unit, *about, asking.parameters))
    with record.transaction() as database:
        job = database.execute("SELECT coalesce(max(job), 0) FROM questions").fetchone()[0]
        earlier = database.execute("SELECT documents FROM questions LIMIT 1").fetchone() or (documents,)
        if earlier[0].endswith("]]") != documents.endswith("]]"):  # units are lists behind the documents
            raise FileError(record.path, "holds questions on documents or on answers, not on both; name another record")
        last = database.execute(f"SELECT {_COLUMNS} FROM questions WHERE job = ? ORDER BY rowid", (job,))
        if last.fetchall() != rows:
            marks = ", ".join("?" * 12)
            database.executemany("INSERT OR IGNORE INTO prompts VALUES (?, ?)", prompts.items())
            database.executemany(f"INSERT INTO questions VALUES ({marks})", [(job + 1, *row) for row in rows])


def read_askings(record: Record) -> list[Asking]:
    """The questions of all jobs of a record; of a question that was asked in two ways, the later one."""
    prompts = {name: _prompt(text) for name, text in record.rows("SELECT sha256, content FROM prompts")}
    rows = record.rows(f"SELECT {_COLUMNS} FROM questions ORDER BY rowid")
    askings: dict[tuple[Any, ...], Asking] = {}
    for key, topic, documents, unit, endpoint, model, prompt, sample, *others in rows:
        content = json.loads(documents)
        labels = tuple(one for one in content if isinstance(one, str))
        question = Question(topic, labels, unit, tuple(Unit(*one) for one in content[len(labels) :]))
        n_values, missing, parameters = others
        asking = Asking(question, prompts[prompt], endpoint, model, sample, key, None, missing, n_values, parameters)
        askings[question, endpoint, model, prompt, sample] = asking
    return list(askings.values())


def answers_in(path: PathLike, *, runs: Runs | None = None, depth: int = DEPTH) -> ModelAnswers:
    """What a record holds of the questions of all its jobs, also while they are asked.

    Raises
    ------
    FileError
        A file that is missing or no such record.
    """
    with Record(path, read_only=True) as record:
        return Job(tuple(read_askings(record)), (), runs, depth).answers(record)


def _prompt(text: str) -> Prompt:
    content = json.loads(text)
    answer = content.pop("answer")
    items: Sequence[str] = answer.pop("items")
    return Prompt(**{**content, "scale": tuple(content["scale"]), "answer": Answer(**answer, items=tuple(items))})
