"""A design as a file: which documents were drawn, in what order, and with what probabilities."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from qrowd import files
from qrowd.errors import FileError, QrowdError
from qrowd.model.scales import parse_scale
from qrowd.paths import PathLike
from qrowd.sequential.design import Design
from qrowd.sequential.draws import Draws

FORMAT = "qrowd design 1"


def write_design(path: PathLike, design: Design) -> None:
    """Write a design; the file is replaced as a whole."""
    content = table_from_design(design)
    files.write_whole(path, json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n")


def read_design(path: PathLike) -> Design:
    """The design of a file.

    Raises
    ------
    FileError
        A file that is not there, or that holds no design.
    """
    text = files.read_bytes(Path(path))
    try:
        return design_from_table(json.loads(text))
    except (KeyError, IndexError, TypeError, ValueError, QrowdError) as error:
        raise FileError(path, f"is no design of qrowd next ({error}); start a new one") from None


def table_from_design(design: Design) -> dict[str, Any]:
    """A design as JSON values."""
    draws = design.draws
    batches = [
        {
            "sizes": draws.sizes[number].tolist(),
            "drawn": draws.document[draws.batch == number].tolist(),
        }
        for number in range(len(draws.sizes))
    ]
    return {
        "format": FORMAT,
        "question": design.question,
        "measure": design.measure,
        "scale": design.scale,
        "seed": design.seed,
        "documents": [list(pair) for pair in zip(design.topics, design.documents, strict=True)],
        "known": np.flatnonzero(design.known).tolist(),
        "batches": batches,
    }


def design_from_table(content: Any) -> Design:
    """The design of `table_from_design`.

    Raises
    ------
    KeyError, IndexError, TypeError, ValueError, QrowdError
        Values of something else.
    """
    if content["format"] != FORMAT:
        raise ValueError(f"its format is {content['format']!r}")
    n = len(content["documents"])
    known = np.zeros(n, bool)
    known[content["known"]] = True
    drawn = [np.array(batch["drawn"], np.int64) for batch in content["batches"]]
    sizes = np.array([batch["sizes"] for batch in content["batches"]], np.float64).reshape(len(drawn), n)
    batch = np.repeat(np.arange(len(drawn)), [one.size for one in drawn])
    document = np.concatenate([np.zeros(0, np.int64), *drawn])
    topics, documents = zip(*content["documents"], strict=True)
    draws = Draws(sizes, batch, document)
    seed = tuple(content["seed"]) if isinstance(content["seed"], list) else content["seed"]
    parse_scale(content["scale"])
    return Design(content["question"], content["measure"], content["scale"], topics, documents, known, draws, seed)
