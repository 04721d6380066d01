"""The proxies of deploy/, as processes before real servers: by TLS."""

from __future__ import annotations

import os
import shutil
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from webserver import free_port

DEPLOY = Path(__file__).resolve().parents[3] / "deploy"
READY = 60.0  # seconds
SITE = "localhost"


def program(name: str) -> str:
    """The path of a program; without it the test is skipped."""
    path = shutil.which(name) or shutil.which(name, path="/usr/sbin")
    if path is None:
        pytest.skip(f"needs {name}")
    return path


def until(happened: Callable[[], Any], what: str) -> None:
    deadline = time.monotonic() + READY
    while not happened():
        if time.monotonic() > deadline:
            raise TimeoutError(what)
        time.sleep(0.05)


def answers(url: str, context: ssl.SSLContext | None = None) -> bool:
    try:
        with urlopen(url, timeout=5, context=context) as answer:
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False


@contextmanager
def process(
    command: Sequence[str], log: Path, environment: dict[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A program for as long as the block runs, in a group of its own."""
    with log.open("ab") as output:
        streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output}
        started = subprocess.Popen(command, env=environment, start_new_session=True, **streams)
    try:
        yield started
    finally:
        if started.poll() is None:
            os.killpg(started.pid, signal.SIGTERM)
            try:
                started.wait(timeout=20)
            except subprocess.TimeoutExpired:
                os.killpg(started.pid, signal.SIGKILL)
                started.wait()


@contextmanager
def server(database: str, base_url: str, folder: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """`qrowd serve`, with all settings from the environment."""
    settings = {
        "QROWD_DATABASE": database,
        "QROWD_PORT": str(port),
        "QROWD_BASE_URL": base_url,
        "QROWD_TRUSTED_PROXY": "127.0.0.1",
        "QROWD_OWNER_LINK": "false",
    }
    command = [sys.executable, "-m", "qrowd", "serve"]
    with process(command, folder / "server.log", os.environ | settings) as started:
        until(lambda: started.poll() is not None or answers(f"http://127.0.0.1:{port}/ready"), "a server's answer")
        assert started.poll() is None, (folder / "server.log").read_text()
        yield started


@dataclass
class Proxy:
    """A proxy that listens. port : for https. certificate : of who signed its certificate."""

    port: int
    certificate: Path
    context: ssl.SSLContext = field(init=False)

    def __post_init__(self) -> None:
        self.context = ssl.create_default_context(cafile=str(self.certificate))


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for this machine that signs itself, and its key."""
    paths = folder / "certificate.pem", folder / "key.pem"
    names = ["-subj", f"/CN={SITE}", "-addext", f"subjectAltName=DNS:{SITE}", "-days", "2", "-nodes"]
    files = ["-out", str(paths[0]), "-keyout", str(paths[1])]
    command = [program("openssl"), "req", "-x509", "-newkey", "rsa:2048", *names, *files]
    subprocess.run(command, check=True, capture_output=True)
    return paths


def replaced(text: str, *pairs: tuple[str, str]) -> str:
    """The text with each first part replaced; it has to be there."""
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


def with_tls(folder: Path, port: int, server: int) -> list[tuple[str, str]]:
    """What deploy/nginx.conf has to have replaced for this machine."""
    pem, key = certificate(folder)
    return [
        ("127.0.0.1:8000", f"127.0.0.1:{server}"),
        ("listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;"),
        ("listen [::]:443 ssl;", ""),
        ("judge.example.org;", f"{SITE};"),
        ("/etc/ssl/certs/judge.example.org.pem", str(pem)),
        ("/etc/ssl/private/judge.example.org.key", str(key)),
    ]


def nginx_configuration(
    folder: Path, changes: Iterable[tuple[str, str]], *, connections: int = 512, log_level: str = "error"
) -> Path:
    """deploy/nginx.conf with such changes, inside the smallest main configuration."""
    inner = replaced((DEPLOY / "nginx.conf").read_text(), *changes)
    temporary = "".join(
        f"{kind}_temp_path {folder / kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    main = folder / "nginx.conf"
    main.write_text(
        f"pid {folder / 'nginx.pid'};\nerror_log stderr {log_level};\ndaemon off;\nworker_processes 1;\n"
        f"events {{ worker_connections {connections}; }}\nhttp {{\naccess_log off;\n{temporary}{inner}\n}}\n"
    )
    folder.chmod(0o755)
    return main


def nginx_process(folder: Path, configuration: Path) -> AbstractContextManager[subprocess.Popen[bytes]]:
    """nginx for as long as a block runs."""
    return process([program("nginx"), "-p", str(folder), "-c", str(configuration)], folder / "proxy.log")


@contextmanager
def nginx(folder: Path, server: int, port: int) -> Iterator[Proxy]:
    with nginx_process(folder, nginx_configuration(folder, with_tls(folder, port, server))):
        yield Proxy(port, folder / "certificate.pem")


def caddy_environment(folder: Path, site: str, server: int) -> dict[str, str]:
    home = {name: str(folder) for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")}
    return os.environ | home | {"SITE": site, "SERVER": f"127.0.0.1:{server}"}


@contextmanager
def caddy(folder: Path, server: int, port: int) -> Iterator[Proxy]:
    plain = free_port()
    configuration = folder / "Caddyfile"
    own = f"{{\n\tadmin off\n\tskip_install_trust\n\thttp_port {plain}\n\thttps_port {port}\n"
    configuration.write_text(replaced((DEPLOY / "Caddyfile").read_text(), ("\n{\n\tservers {", f"\n{own}\tservers {{")))
    command = [program("caddy"), "run", "--config", str(configuration), "--adapter", "caddyfile"]
    root = folder / "caddy" / "pki" / "authorities" / "local" / "root.crt"
    with process(command, folder / "proxy.log", caddy_environment(folder, SITE, server)):
        until(root.exists, "Caddy's certificate")
        yield Proxy(port, root)


PROXIES: dict[str, Any] = {"nginx": nginx, "caddy": caddy}
