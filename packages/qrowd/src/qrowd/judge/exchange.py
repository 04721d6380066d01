"""What is sent to a model, what comes back and what it costs: plain data, shared by all parts of `qrowd.judge`."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from qrowd.errors import FileError

Status = Literal["ok", "refused", "cut_off", "unparsable", "out_of_scale", "error", "timeout", "text_missing"]
"""What became of one question. Only ok makes a judgment.

refused : the model or a content filter declined. cut_off : the answer ended at the limit of tokens. unparsable : the
answer holds no value in the form that was asked for, or several. out_of_scale : it holds one that the scale does not
have. error, timeout : no answer came. text_missing : the text of the topic or of a document is not known, so nothing
was asked.
"""


@dataclass(frozen=True)
class Message:
    """One message of a conversation. role : "system", "user" or "assistant"."""

    role: str
    content: str


@dataclass(frozen=True)
class Request:
    """One question as it is sent to one model, without keys and headers.

    endpoint : the base URL, or the name of what answers. parameters : exactly what is sent beside model and messages,
    such as temperature and max_tokens. schema : JSON schema of the answer, sent where the server accepts one.
    sample : 1, 2, ...: the same question again is another request.
    """

    endpoint: str
    model: str
    messages: tuple[Message, ...]
    parameters: Mapping[str, object] = field(default_factory=dict)
    schema: Mapping[str, object] | None = None
    sample: int = 1

    def to_json(self) -> str:
        """One line that is the same for the same request, whatever the order of its parameters."""
        content = {
            "endpoint": self.endpoint,
            "model": self.model,
            "messages": [[message.role, message.content] for message in self.messages],
            "parameters": dict(self.parameters),
            "schema": self.schema,
            "sample": self.sample,
        }
        return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)

    @cached_property
    def key(self) -> str:
        """SHA-256 of `to_json`: two requests share a record only if they are the same in every part."""
        return hashlib.sha256(self.to_json().encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Reply:
    """What came back from one attempt, whether or not it is an answer.

    text : the answer; None where there is none. reasoning : what the server marks as thoughts, never read as an answer.
    refusal : the words of a refusal that the server marks as one. finish_reason : as the server gives it.
    model : that answered, as returned. tokens_in, tokens_out : as the server counts them; None where it
    does not. error : why there is no answer, in a few words without keys; timed_out : no answer came in time;
    lasting : the same request would fail again. retry_after : seconds to wait as the server asks. schema_sent :
    whether the JSON schema was. raw : the body.
    """

    text: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    finish_reason: str | None = None
    model: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    seconds: float = 0.0
    http_status: int | None = None
    error: str | None = None
    timed_out: bool = False
    lasting: bool = False
    retry_after: float | None = None
    schema_sent: bool = False
    raw: str = ""


@runtime_checkable
class Model(Protocol):
    """Whatever answers requests: a server, a function, a record."""

    @property
    def name(self) -> str:
        """What the server or the function calls the model."""
        ...

    @property
    def endpoint(self) -> str:
        """The base URL, or the name of what answers."""
        ...

    async def ask(self, request: Request) -> Reply:
        """One attempt. Whatever the other side does becomes a `Reply`; nothing is raised."""
        ...


# ---- what it costs: tokens times the prices of a file that the user keeps

CHARACTERS_PER_TOKEN = 4  # a usual figure for English; other languages and scripts have fewer
ANSWER_TOKENS = 256  # expected of an answer whose request states no limit
MOST_TOKENS = 10_000_000  # of one request; a server that counts more, or less than none, is not believed


@dataclass(frozen=True)
class Price:
    """Price of the models that fit two patterns.

    input, output : per million tokens. batch : what a batch costs, as a share of these.
    """

    endpoint: str
    model: str
    input: float
    output: float
    batch: float = 1.0


@dataclass(frozen=True)
class Tokens:
    """Tokens of one attempt or of many."""

    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(frozen=True)
class Estimate:
    """What a job will cost before anything is sent.

    tokens_out : at most, where each request states a limit; otherwise 256 are expected of an answer. cost : None where
    a model has no price. unpriced : (endpoint, model) of those.
    """

    requests: int
    tokens_in: int
    tokens_out: int
    cost: float | None
    currency: str
    unpriced: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Prices:
    """Prices in the order in which they are looked up."""

    prices: Sequence[Price]
    currency: str = "USD"

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Prices:
        """Read a TOML file, as docs/judge.md describes it.

        Raises
        ------
        FileError
            It is not of that form.
        """
        from qrowd.files import parse_toml, read_bytes

        content = parse_toml(read_bytes(Path(path)), path)
        entries = content.get("prices")
        if not isinstance(entries, list):
            raise FileError(path, "expected tables [[prices]] with endpoint, model, input and output")
        return cls(
            tuple(_price(path, n, entry) for n, entry in enumerate(entries, 1)), str(content.get("currency", ""))
        )

    def price(self, request: Request) -> Price | None:
        """The first price that fits a request; None where none does."""
        for price in self.prices:
            if fnmatchcase(request.endpoint, price.endpoint) and fnmatchcase(request.model, price.model):
                return price
        return None

    def cost(self, request: Request, tokens: Tokens, *, batch: bool = False) -> float | None:
        """Cost of so many tokens, sent alone or in a batch; None where the model has no price."""
        price = self.price(request)
        if price is None:
            return None
        share = price.batch if batch else 1.0
        return share * (tokens.tokens_in * price.input + tokens.tokens_out * price.output) / 1e6

    def estimate(self, requests: Iterable[Request], *, batch: bool = False) -> Estimate:
        """What requests will cost, without sending them; for --dry-run."""
        expected = [(request, expected_tokens(request)) for request in requests]
        costs = [self.cost(request, tokens, batch=batch) for request, tokens in expected]
        models = ((request.endpoint, request.model) for request, _ in expected)
        unpriced = tuple({model: None for model, cost in zip(models, costs, strict=True) if cost is None})
        return Estimate(
            len(expected),
            sum(tokens.tokens_in for _, tokens in expected),
            sum(tokens.tokens_out for _, tokens in expected),
            None if unpriced else sum(cost or 0.0 for cost in costs),
            self.currency,
            unpriced,
        )


def expected_tokens(request: Request) -> Tokens:
    """Tokens that a request will take: characters / 4, and as many of answer as its limit says."""
    limits = (request.parameters.get(name) for name in ("max_completion_tokens", "max_tokens"))
    return Tokens(_characters(request), next((n for n in limits if isinstance(n, int)), ANSWER_TOKENS))


def tokens_of(request: Request, reply: Reply) -> Tokens:
    """Tokens that an attempt took, failed or not.

    As the server counts them, where it does so credibly. Otherwise characters / 4 of what was sent and received if the
    server may have worked on it, as after a timeout or a broken answer; none if it refused the request (HTTP 4xx, 5xx).
    """
    if reply.tokens_in is not None and reply.tokens_out is not None:
        return Tokens(reply.tokens_in, reply.tokens_out)
    if reply.http_status is not None and reply.http_status >= 400 and reply.finish_reason is None:
        return Tokens(reply.tokens_in or 0, reply.tokens_out or 0)
    text = "".join(part for part in (reply.text, reply.reasoning, reply.refusal) if part) or (
        reply.raw if reply.error else ""
    )
    return Tokens(
        _characters(request) if reply.tokens_in is None else reply.tokens_in,
        math.ceil(len(text) / CHARACTERS_PER_TOKEN) if reply.tokens_out is None else reply.tokens_out,
    )


def _characters(request: Request) -> int:
    return math.ceil(sum(len(message.content) for message in request.messages) / CHARACTERS_PER_TOKEN)


def _price(path: str | PathLike[str], n: int, entry: Any) -> Price:
    try:
        price = Price(**entry)
    except TypeError:  # other keys, or no table
        price = Price("", "", -1, -1)
    numbers = (price.input, price.output, price.batch)
    fits = all(type(one) in (int, float) and 0 <= one < math.inf for one in numbers) and price.batch <= 1
    if not fits or {type(price.endpoint), type(price.model)} != {str}:
        raise FileError(
            path,
            f"[[prices]] number {n}: expected endpoint and model as texts, input and output as prices per million "
            "tokens, and perhaps batch, the share of them that batches cost, as in 0.5",
        )
    return price
