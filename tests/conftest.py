"""What every test may ask for: the folders of real data, and Hypothesis without a stopwatch."""

import gc
import os
import signal
import sys
import tomllib
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.strategies import text

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is loaded: each core has a process of tests already

from browsers import browser, running
from stores import address, emptied, empty, opened, postgres, store, without_copies

__all__ = [
    "address",
    "browser",
    "emptied",
    "empty",
    "opened",
    "postgres",
    "running",
    "store",
    "without_copies",
]  # fixtures


def declare(distribution: str, folder: Path) -> None:
    """Declare the entry points of a distribution as its installation does, of whichever checkout."""
    file = Path(__file__).parents[1] / "packages" / distribution / "pyproject.toml"
    project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
    info = folder / f"{distribution.replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {project['version']}\n")
    lines = [
        f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in points.items())
        for group, points in project["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))


_FOLDER = TemporaryDirectory(prefix="qrowd-")
INSTALLED = _FOLDER.name
for distribution in ("qrowd-server", "qrowd-papers"):
    declare(distribution, Path(INSTALLED))
sys.path.insert(0, INSTALLED)

# No deadline, and no complaint that drawing is slow: the first example pays for what it imports, and other processes
# run. A law without a number of its own is tried on 20 examples, which differ from run to run except in CI; in `make
# nightly` on 50, and with `pytest --hypothesis-profile thorough` on 500.
EXAMPLES = int(os.environ.get("QROWD_EXAMPLES", "20"))
settings.register_profile("local", deadline=None, max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", settings.get_profile("local"), max_examples=500)
settings.register_profile("ci", settings.get_profile("local"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")

# The modules whose tests take longest, the slowest first, by `pytest --durations=0`; half of all tests are in others.
SLOW = (Path(__file__).parent / "slow_modules.txt").read_text(encoding="utf-8").split()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--database", choices=["sqlite", "postgresql"], default="sqlite", help="where tests of campaigns keep theirs"
    )
    parser.addoption("--quick", action="store_true", help="leave out slow modules, browsers and databases")


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Tests and the modules they import stay until the end, so the garbage collector need not visit them."""
    if session.config.option.collectonly:
        text().validate()  # Hypothesis keeps its table of all characters in a file, for the processes that follow
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With --quick slow modules are not even imported."""
    return True if config.getoption("--quick") and _module(collection_path) in SLOW else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark by module what is slow, and by fixture or parameter what opens Chromium or starts PostgreSQL."""
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
        if _module(item.path) in SLOW:
            item.add_marker("slow")
        if "browser" in fixtures:
            item.add_marker("browser")
        if "postgres" in fixtures or any(value == "postgresql" for value in parameters if isinstance(value, str)):
            item.add_marker("database")
    if config.getoption("--quick"):
        names = ("slow", "browser", "database")
        items[:] = [item for item in items if not any(item.get_closest_marker(name) for name in names)]
    # The slowest modules first, so that no worker is left alone with one of them at the end.
    place = {module: i for i, module in enumerate(SLOW)}
    items.sort(key=lambda item: place.get(_module(item.path), len(place)))


@cache
def _module(path: Path) -> str:
    return path.relative_to(Path(__file__).parent).as_posix()


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """SIGINT interrupts this process and those it starts, also where the caller ignores it: a shell ignores it for what
    it starts in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


BESIDE_THE_REPOSITORY = Path(__file__).resolve().parents[2] / "shared" / "data"


def data(name: str) -> Path:
    """The folder of real data called `name`; without it the test is skipped."""
    folder = Path(os.environ.get("QROWD_DATA") or BESIDE_THE_REPOSITORY) / name
    if not folder.is_dir():
        pytest.skip(f"needs the data folder {folder}; the environment variable QROWD_DATA may name its parent")
    return folder


@pytest.fixture(scope="session")
def dl19() -> Path:
    """TREC 2019 Deep Learning, passages: 61 runs, judged by NIST, eight people and eight LLMs."""
    return data("dl19")


@pytest.fixture(scope="session")
def dl21() -> Path:
    """TREC 2021 Deep Learning, passages: 63 runs, judged by NIST, 18 LLMs and pairwise preference."""
    return data("dl21")


@pytest.fixture(scope="session")
def rf10() -> Path:
    """TREC 2010 Relevance Feedback: 98,453 labels by 766 crowd workers, no runs."""
    return data("trec-rf10")
