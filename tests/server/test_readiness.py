"""What /ready asks of a real store, in both databases."""

import asyncio
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import text

from qrowd_server.store.base import Store
from qrowd_server.store.engine import open_store
from qrowd_server.web import health
from qrowd_server.web.health import SECONDS, Readiness


def test_tables_of_another_version_are_not_ready(store: Store) -> None:
    readiness = Readiness(store)
    assert asyncio.run(readiness.state()) == "ready"
    store.write(lambda connection: connection.execute(text("update alembic_version set version_num = '0000'")))
    try:
        assert asyncio.run(Readiness(store).state()) == "tables"
    finally:
        number = {"number": health.HEAD}
        store.write(lambda c: c.execute(text("update alembic_version set version_num = :number"), number))


def test_little_space_beside_the_file_is_not_ready(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "LEAST_FREE", 2**62)
    assert asyncio.run(Readiness(store).state()) == ("disk" if store.dialect == "sqlite" else "ready")


def test_a_disk_that_is_full_is_noticed_and_also_that_it_is_not_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file system of 4 MB in memory; without the right to mount one, the test is skipped."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if not mounted or mounted.returncode:
        pytest.skip("needs the right to mount a file system")
    monkeypatch.setattr(health, "LEAST_FREE", 2**20)
    now = [0.0]
    try:
        with open_store(disk / "judgments.db") as store:
            readiness = Readiness(store, clock=lambda: now[0])
            assert asyncio.run(readiness.state()) == "ready"
            with open(disk / "ballast", "wb", buffering=0) as ballast, suppress(OSError):
                while ballast.write(bytes(4096)) == 4096:
                    pass
            now[0] += SECONDS
            assert asyncio.run(readiness.state()) == "disk"
            (disk / "ballast").unlink()
            now[0] += SECONDS
            assert asyncio.run(readiness.state()) == "ready"
    finally:
        subprocess.run(["umount", str(disk)], check=False)
