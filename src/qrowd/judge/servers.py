"""One model that several servers serve: how it is named, and under which names a record may hold its answers.

An answer of such a model is known by the model's name and not by the server that gave it, so a job goes on with other
servers, with more or with fewer. `Reply.endpoint` says which server answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from qrowd.errors import ArgumentError, FileError
from qrowd.judge.chat import ChatModel
from qrowd.judge.exchange import Model, Reply, Request
from qrowd.judge.record import Record

SEVERAL_SERVERS = "several servers"
EXPECTED = "expected URL#NAME, as in http://localhost:8000/v1#qwen3"


class SeveralServers:
    """One model that several servers serve. A job asks each question of one of them, and of another where that fails.

    servers : the model at each server, under one name.

    Raises
    ------
    ArgumentError
        No server, two names, or a server that is there twice.
    """

    endpoint = SEVERAL_SERVERS

    def __init__(self, servers: Sequence[Model]) -> None:
        names = {one.name for one in servers}
        if len(names) != 1:
            raise ArgumentError(f"servers: expected one model under one name, got {', '.join(sorted(names)) or 'none'}")
        endpoints = [one.endpoint for one in servers]
        if repeated := next((one for i, one in enumerate(endpoints) if one in endpoints[:i]), None):
            raise ArgumentError(f"servers: {repeated} is there twice; remove one")
        self.servers, self.name = tuple(servers), names.pop()

    def __repr__(self) -> str:
        return f"SeveralServers({list(self.servers)!r})"

    async def ask(self, request: Request) -> Reply:
        """One attempt at the first server; a job chooses by itself."""
        server = self.servers[0]
        return replace(await server.ask(replace(request, endpoint=server.endpoint)), endpoint=server.endpoint)

    async def close(self) -> None:
        """Close the connections of all servers."""
        for server in self.servers:
            if (close := getattr(server, "close", None)) is not None:
                await close()


def servers_of(model: Model) -> tuple[Model, ...]:
    """The model at each of its servers; the model itself where it has one."""
    return model.servers if isinstance(model, SeveralServers) else (model,)


# ---- names


def urls_of(text: str) -> tuple[str, ...]:
    """The URLs of URL#NAME, of URL,URL#NAME or of FILE#NAME; none where the text is not of this form.

    A comma, also one at the end, or a file says that these are servers of one model.

    Raises
    ------
    FileError
        The file cannot be read, holds no URL, or holds something else.
    """
    urls, _, name = text.partition("#")
    if not name or not urls:
        return ()
    if urls.startswith(("http://", "https://")):
        return tuple(one.strip() for one in urls.split(",") if one.strip())
    return _urls_in(urls) if "://" not in urls else ()


def model_at(text: str, *, keys: Mapping[str, str] | None = None, **options: Any) -> Model:
    """The model of URL#NAME, of URL,URL#NAME, or of FILE#NAME with a URL on each line of the file.

    keys : {host: environment variable that holds its key}. options : of `ChatModel`.

    Raises
    ------
    ArgumentError
        A text of another form.
    FileError
        As `urls_of`.
    """
    urls = urls_of(text)
    if not urls:
        raise ArgumentError(EXPECTED)
    location, _, name = text.partition("#")
    models = [ChatModel(url, name, key_from_environment=(keys or {}).get(host_of(url)), **options) for url in urls]
    single = location.startswith(("http://", "https://")) and "," not in location
    return models[0] if single else SeveralServers(models)


def host_of(url: str) -> str:
    """The name of the server of a URL."""
    return urlsplit(url).hostname or ""


def _urls_in(path: str) -> tuple[str, ...]:
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise FileError(path, "there is no such file; several servers are URL,URL#NAME or FILE#NAME") from None
    except (OSError, ValueError) as error:
        raise FileError(path, f"cannot be read ({getattr(error, 'strerror', None) or 'no text'})") from None
    urls = []
    for n, line in enumerate(lines, 1):
        url = line.strip()
        if url and not url.startswith("#"):
            if not url.startswith(("http://", "https://")) or len(url.split()) > 1 or "," in url or "#" in url:
                raise FileError(path, "expected the URL of a server, as in http://gpu1:8000/v1", n)
            urls.append(url)
    if not urls:
        raise FileError(path, "holds no URL; write one of a server on each line")
    return tuple(urls)


# ---- answers in a record


def note_servers(record: Record, models: Iterable[Model]) -> None:
    """Note in a record which servers serve one model."""
    for model in models:
        if isinstance(model, SeveralServers):
            record.note_servers(model.name, [one.endpoint for one in model.servers])


def other_endpoints(record: Record, model: Model) -> list[str]:
    """The endpoints of the record whose answers also count as this model's, beside its own.

    Of a model of several servers: those of each of its servers, now or in an earlier job, asked as a model of one. Of a
    model of one server that was one of several in an earlier job: the answers of these.
    """
    noted = record.servers(model.name)
    if isinstance(model, SeveralServers):
        noted |= {one.endpoint for one in model.servers}
    elif model.endpoint in noted:
        noted |= {SEVERAL_SERVERS}
    else:
        return []
    return sorted((noted & record.endpoints(model.name)) - {model.endpoint})


def check_server(record: Record, models: Sequence[Model]) -> None:
    """Refuse to ask everything again where a model of several servers is named by one URL that is none of them.

    Raises
    ------
    ArgumentError
        The record has answers of the model at several servers, and nothing from this one.
    """
    several = {model.name for model in models if isinstance(model, SeveralServers)}
    for model in models:
        noted = set() if isinstance(model, SeveralServers) or model.name in several else record.servers(model.name)
        if noted and model.endpoint not in noted | record.endpoints(model.name):
            raise ArgumentError(
                f"models: the record has {model.name} at {len(noted)} other servers, such as {min(noted)}; to go on "
                f"with this one, put a comma after its URL, as in {model.endpoint},#{model.name}; for another model of "
                "this name, use another record"
            )


def other_key(record: Record, request: Request, endpoints: Iterable[str]) -> str | None:
    """The key of the same question at one of these endpoints, if the record answers that; else None."""
    keys = (replace(request, endpoint=endpoint).key for endpoint in endpoints)
    return next((key for key in keys if record.is_answered(key)), None)
