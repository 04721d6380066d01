"""What is sent to a model and what comes back: plain data, shared by all parts of `qrowd.judge`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Protocol, runtime_checkable

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
class TokenChoice:
    """A token of the answer with the probabilities of the tokens that could have stood there.

    logprob : natural logarithm of its probability. alternatives : (token, logprob), likeliest first, with its own.
    """

    token: str
    logprob: float
    alternatives: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Reply:
    """What came back from one attempt, whether or not it is an answer.

    text : the answer; None where there is none. reasoning : what the server marks as thoughts, never read as an answer.
    refusal : the words of a refusal that the server marks as one. finish_reason : as the server gives it.
    model, fingerprint : that answered, as returned. tokens_in, tokens_out : as the server counts them; None where it
    does not. error : why there is no answer, in a few words without keys; timed_out : no answer came in time;
    lasting : the same request would fail again. retry_after : seconds to wait as the server asks. schema_sent :
    whether the JSON schema was. raw : the body.
    """

    text: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    finish_reason: str | None = None
    model: str | None = None
    fingerprint: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens: tuple[TokenChoice, ...] = ()
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
