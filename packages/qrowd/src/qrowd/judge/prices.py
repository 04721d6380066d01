"""What requests and replies cost: tokens times the prices of a file that the user keeps."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from os import PathLike, fspath
from pathlib import Path

from qrowd.errors import FileError
from qrowd.judge.exchange import Reply, Request

CHARACTERS_PER_TOKEN = 4  # a usual figure for English; other languages and scripts have fewer
ANSWER_TOKENS = 256  # expected of an answer whose request states no limit
EXAMPLE = Path(__file__).with_name("prices.toml")


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
    """Tokens of one attempt or of many. estimated : at least some were, from characters / 4."""

    tokens_in: int = 0
    tokens_out: int = 0
    estimated: bool = False

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            self.tokens_in + other.tokens_in, self.tokens_out + other.tokens_out, self.estimated or other.estimated
        )


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
    def read(cls, path: str | PathLike[str] = EXAMPLE) -> Prices:
        """Read a TOML file; by default the example in this package, where only local servers have a price: 0.

        Raises
        ------
        FileError
            It is not of that form.
        """
        try:
            content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise FileError(path, f"cannot be read ({error.strerror})") from None
        except ValueError as error:
            raise FileError(path, f"is not TOML: {error}") from None
        entries = content.get("prices", [])
        if not isinstance(entries, list):
            raise FileError(path, "expected tables [[prices]]")
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
        total, cost, count, unpriced = Tokens(), 0.0, 0, dict[tuple[str, str], None]()
        for request in requests:
            expected = expected_tokens(request)
            one = self.cost(request, expected, batch=batch)
            total, count, cost = total + expected, count + 1, cost + (one or 0.0)
            if one is None:
                unpriced[request.endpoint, request.model] = None
        return Estimate(
            count, total.tokens_in, total.tokens_out, None if unpriced else cost, self.currency, tuple(unpriced)
        )


def expected_tokens(request: Request) -> Tokens:
    """Tokens that a request will take: characters / 4, and as many of answer as its limit says."""
    limits = (request.parameters.get(name) for name in ("max_completion_tokens", "max_tokens"))
    limit = next((n for n in limits if isinstance(n, int)), ANSWER_TOKENS)
    return Tokens(_characters(request), limit, estimated=True)


def tokens_of(request: Request, reply: Reply) -> Tokens:
    """Tokens that an attempt took, failed or not.

    As the server counts them. Where it does not: characters / 4 of what was sent and received if the server may have
    worked on it, as after a timeout or a broken answer; none if it refused the request (HTTP 4xx, 5xx).
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
        estimated=True,
    )


def _characters(request: Request) -> int:
    return math.ceil(sum(len(message.content) for message in request.messages) / CHARACTERS_PER_TOKEN)


def _price(path: str | PathLike[str], n: int, entry: object) -> Price:
    names = {"endpoint", "model", "input", "output"}
    if not isinstance(entry, dict) or set(entry) - {"batch"} != names:
        raise FileError(path, f"[[prices]] number {n}: expected endpoint, model, input and output, and perhaps batch")
    numbers = [entry["input"], entry["output"], entry.get("batch", 1.0)]
    if not all(isinstance(one, (int, float)) and not isinstance(one, bool) and 0 <= one < math.inf for one in numbers):
        raise FileError(path, f"[[prices]] number {n}: input and output are prices per million tokens, 0 or more")
    if numbers[2] > 1:
        raise FileError(path, f"[[prices]] number {n}: batch is the share of the price that batches cost, as in 0.5")
    if not (isinstance(entry["endpoint"], str) and isinstance(entry["model"], str)):
        raise FileError(fspath(path), f"[[prices]] number {n}: endpoint and model are texts")
    return Price(entry["endpoint"], entry["model"], *map(float, numbers))
