"""What all calls to a server share: its URL, the key that goes to it alone, and the limit on what it may answer."""

from __future__ import annotations

import json
import os
import re
from urllib.parse import urlsplit

from qrowd.errors import ArgumentError, QrowdError

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
PATH = "/chat/completions"
LONGEST_BODY = 16 * 2**20  # bytes of one answer
SHORTEST_SECRET = 6  # characters; servers without keys are given words such as "none"


class Server:
    """A server of the OpenAI-compatible wire.

    url : up to and including the version, as in "http://localhost:8000/v1". key_from_environment : the environment
    variable that holds the key; default: the usual one of a provider in `KEYS`, and QROWD_KEY_HOST for others, as in
    QROWD_KEY_LLM_EXAMPLE_COM, which may be absent. So a key goes to its own server only.

    Raises
    ------
    ArgumentError
        The URL is none of http or https, or holds a name, a password or a query.
    """

    def __init__(self, url: str, *, key_from_environment: str | None = None) -> None:
        self.endpoint = _endpoint(url)
        self.host = urlsplit(self.endpoint).hostname or ""
        self.key_from_environment = (
            key_from_environment
            or KEYS.get(self.host)
            or "QROWD_KEY_" + re.sub(r"\W", "_", self.host, flags=re.ASCII).upper()
        )
        self._needs_key = key_from_environment is not None or self.host in KEYS

    def key(self) -> str:
        """The key; empty where there is none and the server may need none.

        Raises
        ------
        QrowdError
            The variable holds no key, or what cannot be one.
        """
        key = os.environ.get(self.key_from_environment, "").strip()
        if self._needs_key and not key:
            raise QrowdError(f"the environment variable {self.key_from_environment} holds no key")
        if not (key.isascii() and key.isprintable()):  # refused here: a library's error would print it
            raise QrowdError(f"{self.key_from_environment} holds characters that no key has")
        return key


def authorization(key: str) -> dict[str, str]:
    """The header that holds a key."""
    return {"authorization": f"Bearer {key}"} if key else {}


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


def missing_package() -> QrowdError:
    """What to say where httpx2 is not installed."""
    return QrowdError("asking a model behind a URL needs httpx2; pip install 'qrowd[judge]'")


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
