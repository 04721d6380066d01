"""Models: behind the OpenAI-compatible `chat/completions`, which providers and local servers speak, and functions.

Whatever a server does becomes a `Reply`; only a missing package and a wrong URL are raised, when a model is made.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import math
import os
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from qrowd.errors import ArgumentError, QrowdError
from qrowd.judge.exchange import MOST_TOKENS, Model, Reply, Request

if TYPE_CHECKING:
    import httpx2

KEYS = {  # the environment variables in which users of these servers keep their keys
    "api.anthropic.com": "ANTHROPIC_API_KEY",
    "api.deepseek.com": "DEEPSEEK_API_KEY",
    "api.groq.com": "GROQ_API_KEY",
    "api.mistral.ai": "MISTRAL_API_KEY",
    "api.openai.com": "OPENAI_API_KEY",
    "api.together.xyz": "TOGETHER_API_KEY",
    "generativelanguage.googleapis.com": "GEMINI_API_KEY",
    "openrouter.ai": "OPENROUTER_API_KEY",
}
LOCAL = ("localhost", "127.0.0.1", "::1")  # hosts that no proxy is asked for
PATH = "/chat/completions"
TIMEOUT = 120.0  # seconds
LONGEST_BODY = 16 * 2**20  # bytes of one answer
SHORTEST_SECRET = 6  # characters; servers without keys are given words such as "none"
EXPECTED = "expected URL#NAME, as in http://localhost:8000/v1#qwen3"
Answer = str | Reply | None  # of a function
AnyModel = Model | str | Callable[[Request], Any]
_SCHEMA_WORDS = ("response_format", "json_schema", "structured output", "guided", "grammar")


class ChatModel:
    """A model of an OpenAI-compatible server.

    url : up to and including the version, as in "http://localhost:8000/v1". name : as the server calls the model.
    key_from_environment : the environment variable that holds the key; default: the usual one of a provider in `KEYS`,
    and QROWD_KEY_HOST for others, as in QROWD_KEY_LLM_EXAMPLE_COM, which may be absent. So a key goes to its own server
    only. timeout : seconds for a whole answer.

    A request's parameters are sent as they are. Its schema is sent as `response_format`; a server that answers 400 to
    that is asked without from then on, as `Reply.schema_sent` says.

    Raises
    ------
    ArgumentError
        The URL is none of http or https, or holds a name, a password or a query.
    """

    def __init__(
        self, url: str, name: str, *, key_from_environment: str | None = None, timeout: float = TIMEOUT
    ) -> None:
        self.endpoint, self.name, self.timeout = _endpoint(url), name, timeout
        host = host_of(self.endpoint)
        own_variable = "QROWD_KEY_" + re.sub(r"\W", "_", host, flags=re.ASCII).upper()
        self.key_from_environment = key_from_environment or KEYS.get(host) or own_variable
        self._needs_key = key_from_environment is not None or host in KEYS
        self._sends_schema = True
        if find_spec("httpx2") is None:
            raise QrowdError("asking a model behind a URL needs httpx2; pip install 'qrowd[judge]'")
        self._client: httpx2.AsyncClient | None = None
        self._url: httpx2.URL | str = self.endpoint + PATH
        self._loop: asyncio.AbstractEventLoop | None = None

    def __repr__(self) -> str:
        return f"ChatModel({self.endpoint!r}, {self.name!r}, key_from_environment={self.key_from_environment!r})"

    async def ask(self, request: Request) -> Reply:
        """One attempt, or two where the server does not take a schema."""
        sends_schema = request.schema is not None and self._sends_schema
        reply = await self._attempt(request, sends_schema)
        if sends_schema and reply.http_status in (400, 422) and any(word in reply.raw for word in _SCHEMA_WORDS):
            self._sends_schema = False
            return await self._attempt(request, False)
        return reply

    async def close(self) -> None:
        """Close the connections; the next request opens new ones."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.aclose()

    def _key(self) -> str:
        """The key; empty where there is none and the server may need none."""
        key = os.environ.get(self.key_from_environment, "").strip()
        if self._needs_key and not key:
            raise QrowdError(f"the environment variable {self.key_from_environment} holds no key")
        if not (key.isascii() and key.isprintable()):  # refused here: a library's error would print it
            raise QrowdError(f"{self.key_from_environment} holds characters that no key has")
        return key

    async def _attempt(self, request: Request, sends_schema: bool) -> Reply:
        client = self._open()
        try:
            key = self._key()
        except QrowdError as error:
            return Reply(error=str(error), http_status=401)
        start = time.monotonic()
        try:
            async with asyncio.timeout(self.timeout):
                status, headers, raw = await self._post(client, json.dumps(body(request, sends_schema)).encode(), key)
                text = raw[:LONGEST_BODY].decode(errors="replace")
        except TimeoutError:
            reply = Reply(error=f"no answer within {self.timeout:g} s", timed_out=True)
        except Exception as error:  # its text may hold headers, so only its name is kept
            name = type(error).__name__
            sent = None if name.startswith(("Read", "Write", "Remote")) else 0  # tokens, if the server may have worked
            reply = Reply(
                error=f"{name} at {self.endpoint}", timed_out="Timeout" in name, tokens_in=sent, tokens_out=sent
            )
        else:
            text = without_key(text, key)
            reply = read_body(text, status) if len(raw) <= LONGEST_BODY else _too_long(text, status)
            reply = replace(reply, retry_after=requested_wait(headers))
            if status == 401 and not key:
                reply = replace(reply, error=f"{reply.error}; {self.key_from_environment} holds no key")
        return replace(reply, seconds=time.monotonic() - start, schema_sent=sends_schema)

    async def _post(self, client: httpx2.AsyncClient, content: bytes, key: str) -> tuple[int, dict[str, str], bytes]:
        """(status, headers, body) of one call; of a body that is too long, a little more than may be."""
        headers = {"content-type": "application/json"} | ({"authorization": f"Bearer {key}"} if key else {})
        async with client.stream("POST", self._url, content=content, headers=headers) as response:
            parts, size = list[bytes](), 0
            async for part in response.aiter_bytes():
                parts.append(part)
                size += len(part)
                if size > LONGEST_BODY:
                    break
        return response.status_code, dict(response.headers), b"".join(parts)

    def _open(self) -> httpx2.AsyncClient:
        """The client of the running loop."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            import httpx2

            limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
            self._url = httpx2.URL(self.endpoint + PATH)  # parsed once
            proxies = host_of(self.endpoint) not in LOCAL  # those of the environment
            self._client = httpx2.AsyncClient(limits=limits, timeout=self.timeout, trust_env=proxies)
            self._loop = loop
        return self._client


def model_at(text: str, key_from: str | None = None, timeout: float = TIMEOUT) -> ChatModel:
    """The model of URL#NAME. key_from, timeout : those of `ChatModel`.

    Raises
    ------
    ArgumentError
        A text of another form.
    """
    url, _, name = text.partition("#")
    if not name or not url.startswith(("http://", "https://")):
        raise ArgumentError(f"models: {text!r}: {EXPECTED}")
    return ChatModel(url, name, key_from_environment=key_from, timeout=timeout)


def host_of(url: str) -> str:
    """The name of the server of a URL."""
    return urlsplit(url).hostname or ""


def requested_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server asks to wait by Retry-After; None where it does not, or names a date."""
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def body(request: Request, sends_schema: bool) -> dict[str, object]:
    """What is sent to `chat/completions`; without a key."""
    content: dict[str, object] = {
        "model": request.model,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        **request.parameters,
    }
    if sends_schema:
        schema = {"name": "answer", "schema": request.schema, "strict": True}
        content["response_format"] = {"type": "json_schema", "json_schema": schema}
    return content


def read_body(raw: str, status: int) -> Reply:
    """The reply in the body of a response, whatever it holds."""
    reply = Reply(http_status=status, raw=raw)
    try:
        content = json.loads(raw)
    except (ValueError, RecursionError):
        kind = "HTML" if raw.lstrip()[:1] == "<" else "an empty body" if not raw.strip() else "no complete JSON"
        return replace(reply, error=f"HTTP {status} with {kind}")
    if not isinstance(content, dict):
        return replace(reply, error=f"HTTP {status} with JSON that is no object")
    reply = replace(reply, **_usage(content), model=_string(content, "model"))
    if status != 200 or content.get("error"):
        return _failure(reply, content.get("error") or content)
    choices = content.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        return replace(reply, error="the answer holds no choices")
    return replace(
        reply,
        text=_text_of(message.get("content")),
        reasoning=_string(message, "reasoning_content") or _string(message, "reasoning"),
        refusal=_string(message, "refusal"),
        finish_reason=_string(choice, "finish_reason"),
    )


def _too_long(raw: str, status: int) -> Reply:
    """A reply to which nobody listened until its end; the server would give it again."""
    megabytes = LONGEST_BODY >> 20
    return Reply(http_status=status, error=f"the answer is longer than {megabytes} MiB", lasting=True, raw=raw[:1000])


def _failure(reply: Reply, problem: object) -> Reply:
    """A reply to a request that the server did not answer. A content filter's refusal is an answer."""
    details = problem if isinstance(problem, dict) else {"message": str(problem)}
    text = details.get("message") or details.get("detail") or details.get("error") or ""
    message, code = " ".join(str(text).split())[:300], details.get("code")
    if reply.http_status == 400 and code in ("content_filter", "content_policy_violation"):
        return replace(reply, refusal=message or str(code), finish_reason="content_filter")
    status = code if reply.http_status == 200 and isinstance(code, int) and 400 <= code < 600 else reply.http_status
    words = f"HTTP {status}" + (f", {code}" if isinstance(code, str) else "") + (f": {message}" if message else "")
    return replace(reply, http_status=status, error=words)


def _usage(content: Mapping[str, Any]) -> dict[str, Any]:
    usage = content.get("usage")
    counts = {"tokens_in": "prompt_tokens", "tokens_out": "completion_tokens"}
    if not isinstance(usage, dict):
        return {}
    values = {name: usage.get(theirs) for name, theirs in counts.items()}
    return {name: n for name, n in values.items() if type(n) is int and 0 <= n <= MOST_TOKENS}


def _string(content: Mapping[str, Any], name: str) -> str | None:
    value = content.get(name)
    return value if isinstance(value, str) and value else None


def _text_of(content: object) -> str | None:
    """The text of a message: a string, or a list of typed parts, of which those of thoughts have none."""
    if isinstance(content, list):
        texts = [part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str)]
        return "".join(texts) if texts else None
    return content if isinstance(content, str) else None


def without_key(text: str, key: str) -> str:
    """A body in which a key that the server repeats is replaced, also where JSON escapes it."""
    if len(key) < SHORTEST_SECRET:
        return text
    text = text.replace(key, "[key]")
    if "\\" not in text:
        return text
    try:
        plain = json.dumps(json.loads(text), ensure_ascii=False)
    except (ValueError, RecursionError):
        return text
    escaped = json.dumps(key, ensure_ascii=False)[1:-1]
    return plain.replace(escaped, "[key]") if escaped in plain else text


def _endpoint(url: str) -> str:
    try:
        parts = urlsplit(url.strip())
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable or parts.username or parts.password or parts.query or parts.fragment or "@" in parts.netloc:
        raise ArgumentError(
            "url: expected http:// or https:// with host and path only, such as http://localhost:8000/v1; keys are "
            "read from the environment"
        )
    return url.strip().rstrip("/").removesuffix(PATH)


# ---- functions as models


@dataclass(frozen=True)
class FunctionModel:
    """A function of a `Request` that returns the text of the answer, or a `Reply`.

    It runs in threads, as many at once as requests are in flight; what an async function returns is awaited. What it
    raises becomes an error of that request, which is tried again where it is an OSError, as those of connections and
    timeouts are; only the name of the exception is kept, since its message may hold a key.

    >>> model = FunctionModel(lambda request: "2", name="two")
    """

    function: Callable[[Request], Answer | Awaitable[Answer]]
    name: str
    endpoint: str = "function"

    async def ask(self, request: Request) -> Reply:
        """Call the function once; what it raises becomes an error of the reply."""
        start = time.monotonic()
        try:
            answer: Any = await asyncio.to_thread(self.function, request)
            if inspect.isawaitable(answer):
                answer = await answer
        except Exception as error:
            return Reply(
                error=f"{type(error).__name__} in the function",
                timed_out=isinstance(error, TimeoutError),
                lasting=not isinstance(error, OSError),
                seconds=time.monotonic() - start,
            )
        seconds = time.monotonic() - start
        if isinstance(answer, Reply):
            return replace(answer, seconds=answer.seconds or seconds, model=answer.model or self.name)
        if answer is None or isinstance(answer, str):
            return Reply(text=answer, model=self.name, seconds=seconds)
        wrong = f"the function returned {type(answer).__name__}, not a text or a Reply"
        return Reply(error=wrong, lasting=True, seconds=seconds)


def models_of(models: AnyModel | Sequence[AnyModel]) -> tuple[Model, ...]:
    """Models as `model_of` takes them; of one or several."""
    several: Any = models if isinstance(models, list | tuple) else [models]
    return tuple(model_of(one) for one in several)


def model_of(model: AnyModel) -> Model:
    """A model from "URL#NAME", from a function, or as it is.

    Raises
    ------
    ArgumentError
        A text of another form.
    """
    if isinstance(model, str):
        return model_at(model)
    if hasattr(model, "ask"):
        return cast(Model, model)
    return FunctionModel(model, getattr(model, "__name__", "function"))
