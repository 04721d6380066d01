"""The files of deploy/ are accepted by the programs that read them, and name settings that there are."""

import re
import subprocess
from ipaddress import ip_network
from pathlib import Path

import pytest
import yaml
from typer.main import get_command

from qrowd.cli.main import app
from server.deploy.proxies import DEPLOY, SITE, caddy_environment, nginx_configuration, program, with_tls
from webserver import free_port

ENVIRONMENT_ONLY = {"QROWD_SECRET"}
DOCUMENTATION = DEPLOY.parent / "docs" / "operation.md"


def variables() -> dict[str, str]:
    """{variable: option} of `qrowd serve`."""
    command = get_command(app).commands["serve"]  # type: ignore[attr-defined]
    return {str(one.envvar): max(one.opts, key=len) for one in command.params if one.envvar}


@pytest.mark.parametrize("name", ["Containerfile", "compose.yaml", "server.env", "qrowd.service"])
def test_every_setting_that_is_named_is_read(name: str) -> None:
    named = set(re.findall(r"QROWD_[A-Z_]+", (DEPLOY / name).read_text()))
    assert named <= {*variables(), *ENVIRONMENT_ONLY}


def test_what_the_container_is_built_from_is_there_and_not_ignored() -> None:
    folders = re.findall(r"^COPY (\S+) \S+$", (DEPLOY / "Containerfile").read_text(), re.MULTILINE)
    ignored = (DEPLOY.parent / ".dockerignore").read_text().splitlines()
    assert folders == ["packages/qrowd", "packages/qrowd-server"]
    assert all((DEPLOY.parent / folder / "pyproject.toml").exists() for folder in folders)
    assert {f"!{folder}" for folder in folders} <= set(ignored)


def test_the_documentation_has_a_line_for_every_setting_and_no_other() -> None:
    rows = re.findall(r"^\| `(QROWD_[A-Z_]+)` \| `?([^`|]*?)`? \|", DOCUMENTATION.read_text(), re.MULTILINE)
    assert dict(rows) == {**variables(), **dict.fromkeys(ENVIRONMENT_ONLY, "none")}


def test_the_services_of_compose_wait_for_each_other_and_keep_what_must_stay() -> None:
    made = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    services = made["services"]
    assert set(services) == {"database", "server", "proxy"}
    assert services["server"]["depends_on"] == {"database": {"condition": "service_healthy"}}
    assert (DEPLOY / services["server"]["build"]["context"] / services["server"]["build"]["dockerfile"]).exists()
    volumes = {volume.split(":")[0] for one in services.values() for volume in one.get("volumes", ())}
    assert {name for name in volumes if not name.startswith(".")} == set(made["volumes"])
    assert all((DEPLOY / name).exists() for name in volumes if name.startswith("."))
    assert "ports" not in services["server"], "it believes every private address, so only the proxy may reach it"
    trusted = [ip_network(one) for one in services["server"]["environment"]["QROWD_TRUSTED_PROXY"].split()]
    assert all(one.is_private for one in trusted)
    assert services["proxy"]["environment"]["SERVER"] == "server:8000"


def test_nginx_accepts_its_configuration(tmp_path: Path) -> None:
    configuration = nginx_configuration(tmp_path, with_tls(tmp_path, free_port(), 8000))
    command = [program("nginx"), "-t", "-p", str(tmp_path), "-c", str(configuration)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_caddy_accepts_its_configuration(tmp_path: Path) -> None:
    command = [program("caddy"), "validate", "--adapter", "caddyfile", "--config", str(DEPLOY / "Caddyfile")]
    environment = caddy_environment(tmp_path, SITE, (8000, 8001))
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    """Of this machine it has only the program's path replaced, which has to exist."""
    unit = tmp_path / "qrowd.service"
    text = (DEPLOY / "qrowd.service").read_text()
    assert "/opt/qrowd/bin/qrowd" in text
    unit.write_text(text.replace("ExecStart=/opt/qrowd/bin/qrowd", "ExecStart=/bin/true"))
    command = [program("systemd-analyze"), "verify", "--man=no", "--recursive-errors=no", str(unit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
