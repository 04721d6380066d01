"""A real model as a server, and a small collection with texts."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from models.serve import NAME

INSTALLED = Path(__file__).parents[2] / ".venv" / "model"
TOPICS = {"1": "how to remove limescale from a kettle", "2": "why do leaves turn red in autumn"}
DOCUMENTS = {
    "kettle1": "Fill the kettle with one part vinegar and two parts water, boil it, wait half an hour and rinse it.",
    "kettle2": "Limescale is calcium carbonate. It comes from hard water and collects wherever water is heated.",
    "kettle3": "Our new kettles boil a litre in two minutes and are sold in red, black and white.",
    "leaves1": "When nights get cold, the green pigment of a leaf breaks down and red anthocyanins are formed.",
    "leaves2": "The forests of the north are a popular place for walks in October.",
    "leaves3": "Rake leaves before it rains, and leave some of them to hedgehogs.",
}
RUNS = {
    "good": {"1": ["kettle1", "kettle2"], "2": ["leaves1", "leaves2"]},
    "poor": {"1": ["kettle3", "kettle2"], "2": ["leaves3", "leaves2"]},
    "odd": {"1": ["kettle1", "unknown"], "2": ["unknown2", "leaves1"]},
}
FREE = """
id = "free"
version = "1"
source = "tests"
licence = "Apache-2.0"
form = "graded"
scale = [0, 1, 2, 3]
user = \"\"\"
Query: {topic}
{documents}
Say in one sentence what the document offers. Then end with a line "Grade: G", where G is 0, 1, 2 or 3.
\"\"\"

[answer]
format = "grade"
marker = "Grade:"
"""

Ask = Callable[..., str]


@pytest.fixture(scope="session")
def served() -> Iterator[str]:
    """URL#NAME of the model, which a process of its own serves."""
    if not INSTALLED.is_dir():
        pytest.fail("no model is installed; run make test-model")
    command = [sys.executable, str(Path(__file__).parent / "serve.py"), str(INSTALLED)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield f"{process.stdout.readline().strip()}/v1#{NAME}"
        process.kill()


@pytest.fixture(scope="session")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with topics, documents, three runs, of which one retrieves documents without text, and a prompt."""
    folder = tmp_path_factory.mktemp("collection")
    (folder / "topics.tsv").write_text("".join(f"{topic}\t{text}\n" for topic, text in TOPICS.items()))
    (folder / "documents.tsv").write_text("".join(f"{document}\t{text}\n" for document, text in DOCUMENTS.items()))
    (folder / "runs").mkdir()
    for system, rankings in RUNS.items():
        lines = [
            f"{topic} Q0 {document} {rank} {-rank} {system}\n"
            for topic, documents in rankings.items()
            for rank, document in enumerate(documents, 1)
        ]
        (folder / "runs" / f"{system}.run").write_text("".join(lines))
    (folder / "free.toml").write_text(FREE)
    return folder


@pytest.fixture(scope="session")
def ask(served: str, collection: Path) -> Ask:
    """What `qrowd judge ask` prints, asked in the folder of the collection with this name of a record."""

    def call(record: str, *words: str) -> str:
        done = subprocess.run(command(served, record, *words), cwd=collection, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return call


def command(served: str, record: str, *words: str) -> list[str]:
    """The command that asks, as a process."""
    texts = ("--topics", "topics.tsv", "--documents", "documents.tsv")
    model = ("--model", served, "--record", f"{record}.sqlite", "--concurrency", "1", "--timeout", "300")
    return [sys.executable, "-m", "qrowd", "judge", "ask", *texts, *model, *words]
