"""A started compose project, tried from outside: judging by TLS while its parts are killed, and down and up again.

    podman-compose --file deploy/compose.yaml up --detach          # SITE=localhost, HTTPS_PORT=8443 in deploy/.env
    PYTHONPATH=tests python -m deploy.composed podman-compose --file deploy/compose.yaml

`podman` and the command line of compose have to be on the path of whoever started it; a word before them, such as the
name of a script that becomes another user, can be given as PREFIX. It makes a campaign of its own, judges in it, kills
the processes of the server and of the database, and looks whether each acknowledged answer is stored once.
"""

from __future__ import annotations

import os
import random
import re
import ssl
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

import httpx

from server.deploy.proxies import SITE, until
from server.soak.client import Screen, at_random, next_form

ANSWERS = 60
KILLS = {15: "server", 30: "database", 45: "server"}  # after so many answers
NAMES = ("ann", "ben", "cleo", "dora", "emil", "fred")
PREFIX = os.environ.get("PREFIX", "").split()
PORT = int(os.environ.get("HTTPS_PORT", "8443"))
ROOT = f"https://{SITE}:{PORT}"
ORIGIN = f"https://{SITE}"  # what the base URL says
WHOLE = 120.0  # seconds for a form


def run(*command: str, check: bool = True) -> str:
    done = subprocess.run([*PREFIX, *command], capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr[-2000:]}")
    return done.stdout


def container(service: str) -> str:
    """The name of the service's only container."""
    return run(
        "podman", "ps", "--filter", f"label=com.docker.compose.service={service}", "--format", "{{.Names}}"
    ).strip()


def inside(*command: str) -> str:
    """What a command says that is run in the server's container."""
    return run("podman", "exec", container("server"), *command)


def kill(service: str) -> None:
    """SIGKILL for the first process of a service's container, which its restart policy brings back."""
    number = run("podman", "inspect", "--format", "{{.State.Pid}}", container(service)).strip()
    run("kill", "-KILL", number)


def client(folder: Path) -> httpx.Client:
    """A client that trusts the proxy's own authority, and names the host as the base URL has it."""
    certificate = folder / "root.crt"
    of = f"{container('proxy')}:/data/caddy/pki/authorities/local/root.crt"
    certificate.write_text(run("podman", "exec", container("proxy"), "cat", of.partition(":")[2]))
    context = ssl.create_default_context(cafile=str(certificate))
    return httpx.Client(verify=context, timeout=30, headers={"host": SITE})


def serves(browser: httpx.Client) -> bool:
    try:
        return browser.get(f"{ROOT}/owner/login").status_code == 200
    except httpx.TransportError:
        return False


def sent(browser: httpx.Client, url: str, form: dict[str, str]) -> httpx.Response:
    """Send a form until it is acknowledged, as the pages' script does."""
    start = time.monotonic()
    while time.monotonic() < start + WHOLE:
        try:
            answer = browser.post(url, data=form, headers={"origin": ORIGIN, "x-qrowd": "fragment"})
        except httpx.TransportError:
            answer = None
        if answer is not None and answer.status_code not in (429, 500, 502, 503, 504):
            return answer
        time.sleep(0.2)
    raise TimeoutError(f"no answer for {WHOLE:.0f} seconds")


def stored_keys() -> Counter[str]:
    """{key of a form: events of it}, as the database has them."""
    rows = "psycopg.connect(os.environ['QROWD_DATABASE']).execute('select idem_key from event')"
    program = f"import os, psycopg; print(*(key for key, in {rows} if key))"
    return Counter(key.partition(":")[2] for key in inside("python", "-c", program).split())


def judge(folder: Path, campaign: str, name: str, keys: list[str], kills: dict[int, str]) -> None:
    """Judge by an invitation while parts are killed, and add the keys of acknowledged forms."""
    link = inside("qrowd", "campaign", "invite", campaign, name).split()[-1]
    assert link.startswith(f"{ORIGIN}/join/"), link
    path, browser = link.removeprefix(f"{ORIGIN}/judge"), client(folder)
    csrf = re.search(r'name="csrf" value="([^"]+)"', browser.get(ROOT + path).text)
    assert csrf is not None
    come = browser.post(ROOT + path, data={"csrf": csrf[1]}, headers={"origin": ORIGIN})
    assert come.status_code == 303, come.text[:500]
    browser.headers["cookie"] = come.headers["set-cookie"].partition(";")[0]
    screen, choose = Screen.read(browser.get(f"{ROOT}/c/{campaign}").text), at_random(random.Random(3))
    while len(keys) < ANSWERS and (form := next_form(screen, choose)) is not None:
        if (service := kills.pop(len(keys), None)) is not None:
            kill(service)
            print(f"killed the {service} after {len(keys)} forms", flush=True)
        answer = sent(browser, f"{ROOT}/c/{campaign}/act", form)
        assert answer.status_code == 200, answer.text[:500]
        keys.append(form["key"])
        screen = Screen.read(answer.text)


def main() -> int:
    compose = sys.argv[1:]
    campaign = f"pilot-{uuid4().hex[:6]}"
    with TemporaryDirectory() as folder:
        browser = client(Path(folder))
        until(lambda: serves(browser), "the proxy's answer")
        inside("qrowd", "campaign", "init", f"/tmp/{campaign}")
        inside("sed", "-i", f's/^name = .*/name = "{campaign}"/', f"/tmp/{campaign}/campaign.toml")
        inside("qrowd", "campaign", "create", f"/tmp/{campaign}")
        keys: list[str] = []
        kills = dict(KILLS)
        for name in NAMES:
            judge(Path(folder), campaign, name, keys, kills)
        counts = stored_keys()
        wrong = [key for key in keys if counts[key] != 1]
        print(f"{len(keys)} forms acknowledged, {len(wrong)} not stored once", flush=True)
        if len(keys) < ANSWERS or kills:
            raise RuntimeError("the campaign was too small")
        if compose:
            certificate = (Path(folder) / "root.crt").read_text()
            run(*compose, "down")
            run(*compose, "up", "--detach", check=False)
            again = client(Path(folder))
            until(lambda: serves(again), "the proxy's answer")
            same = certificate == (Path(folder) / "root.crt").read_text()
            as_before = stored_keys() == counts
            wrong += [] if as_before and same else ["down and up"]
            print(f"down and up: answers as before: {as_before}; certificate as before: {same}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
