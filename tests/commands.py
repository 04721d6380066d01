"""`qrowd` for scripts: each command is a fork of one process that has everything loaded, so its start takes no seconds.

python commands.py serve SOCKET         load everything, then run each command that is asked for in a child
python commands.py ask SOCKET WORDS     ask for one, with these streams, this folder and these variables
"""

import contextlib
import gc
import io
import json
import os
import pkgutil
import shutil
import signal
import socket
import sys
from collections.abc import Sequence
from importlib import import_module

PANEL = ("--runs", "panel/runs", "--judgments", "panel/judges", "-m", "AP")
SIMULATED = ("simulate", "panel")
"""What most pages begin with: it is done once, and a folder without a panel gets a copy."""
FIRST = (SIMULATED, ("evaluate", *PANEL), ("compare", *PANEL), ("report", *PANEL, "-o", "panel.html"))
PACKAGES = ("qrowd", "qrowd_server")
LATE = (
    "alembic.command",
    "matplotlib.backends.backend_agg",
    "narwhals.stable.v2",
    "pandas",
    "pyarrow.parquet",
    "scipy.stats",
    "sqlalchemy.dialects.sqlite",
)
"""What functions of these packages import when they are called."""
STREAMS = (0, 1, 2)


def ask(address: str, words: Sequence[str]) -> int:
    """The exit status of a command."""
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(address)
        request = json.dumps([words, os.getcwd(), dict(os.environ)]).encode()
        socket.send_fds(line, [len(request).to_bytes(4, "big")], STREAMS)
        line.sendall(request)
        status = line.recv(1)
    return status[0] if status else 255


def serve(address: str) -> None:
    """Load everything, and run the first commands, which prepare what later ones share; then listen."""
    for package in map(import_module, PACKAGES):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            import_module(found.name)
    for name in LATE:
        import_module(name)
    with contextlib.redirect_stdout(io.StringIO()) as said:
        for words in FIRST:
            assert outcome(words) == 0, words
            if words == SIMULATED:
                panel = os.path.abspath("panel"), said.getvalue()
    gc.freeze()  # children need not look at what is loaded
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how a child ended
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        print("ready", flush=True)
        while True:
            line, _ = listener.accept()
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                listener.close()
                answer(line, *panel)
            line.close()


def answer(line: socket.socket, panel: str, said: str) -> None:
    """In a child: run the command, or copy the panel and say what its command said; say how it ended, and end."""
    length, streams, _, _ = socket.recv_fds(line, 4, len(STREAMS))
    with line.makefile("rb") as rest:
        words, folder, environment = json.loads(rest.read(int.from_bytes(length, "big")))
    for own, given in zip(STREAMS, streams, strict=True):
        os.dup2(given, own)
        os.close(given)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    status = 255
    try:
        if tuple(words) == SIMULATED and not os.path.exists("panel"):
            shutil.copytree(panel, "panel")
            print(said, end="")
            status = 0
        else:
            status = outcome(words)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        line.sendall(bytes([status]))
        os._exit(0)


def outcome(words: Sequence[str]) -> int:
    """The exit status of a command that is run here."""
    from qrowd.cli.main import run

    sys.argv = ["qrowd", *words]
    try:
        run()
    except SystemExit as end:
        return int(end.code or 0)
    raise AssertionError("a command ends by exiting")


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        sys.exit(ask(sys.argv[2], sys.argv[3:]))
