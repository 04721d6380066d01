"""What a server process and commands about campaigns may load before they do anything: starting has to be quick."""

import subprocess
import sys
from pathlib import Path

from stores import empty_file

HEAVY = {
    *(
        "alembic",
        "argon2",
        "cryptography",
        "httpx",
        "matplotlib",
        "numba",
        "pandas",
        "psycopg",
    ),
    *("polars", "pyarrow", "rich", "scipy", "xarray", "unittest", "numpy.ma", "websockets"),
}
SERVER = """
import sys
from qrowd_server.store.engine import open_store
from qrowd_server.web.serving import Serving, make_server
import uvicorn
serving = Serving(sys.argv[1])
with open_store(serving.database) as store:
    make_server(serving, store)
print(*sys.modules)
"""


def test_a_server_process_loads_no_package_that_only_some_requests_need(tmp_path: Path) -> None:
    (tmp_path / "judgments.db").write_bytes(empty_file())  # whose tables a start finds
    command = [sys.executable, "-c", SERVER, str(tmp_path / "judgments.db")]
    loaded = set(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())
    assert "uvicorn" in loaded
    assert loaded & HEAVY == set()
