"""A design: which documents people are asked to judge, in what order, and with what probabilities; and its file.

Documents are drawn without replacement, with known probabilities. A batch has a size for each document. Each draw takes
one of the documents left, with a probability in proportion to its size. As every document that matters has a size above
0, what the drawn ones say of the others is unbiased.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd import files
from qrowd.errors import ArgumentError, FileError, QrowdError
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Seed
from qrowd.model.labels import plural
from qrowd.model.result import Result
from qrowd.model.scales import parse_scale
from qrowd.paths import PathLike

MIN_SHARE = 0.25  # of the probability of each draw that does not depend on what is expected of a document


@dataclass(frozen=True, eq=False)
class Draws:
    """The documents drawn so far, in order.

    sizes : (batches, documents) of each batch, 0 where a document cannot be drawn. batch : (draws,) the batch of each
        draw, in order. document : (draws,) the document of each.
    """

    sizes: Floats
    batch: NDArray[np.int64]
    document: NDArray[np.int64]

    @classmethod
    def none(cls, n_documents: int) -> Draws:
        """No draws of this many documents."""
        return cls(np.zeros((0, n_documents)), np.zeros(0, np.int64), np.zeros(0, np.int64))

    def __post_init__(self) -> None:
        if not (np.isfinite(self.sizes).all() and (self.sizes >= 0).all()):
            raise ArgumentError("sizes: a size is a finite number, 0 or more")
        if np.unique(self.document).size < self.document.size:
            raise ArgumentError("document: a document was drawn twice")
        if (np.diff(self.batch) < 0).any() or (self.batch.size and self.batch[-1] >= len(self.sizes)):
            raise ArgumentError("batch: batches are numbered in order, each with its sizes")
        if (self.sizes[self.batch, self.document] <= 0).any():
            raise ArgumentError("document: a document was drawn that has size 0 in its batch")

    def __len__(self) -> int:
        return self.document.size

    @property
    def n_documents(self) -> int:
        return int(self.sizes.shape[1])

    def left(self) -> NDArray[np.bool_]:
        """(documents,) whether each is not drawn yet."""
        left = np.ones(self.n_documents, bool)
        left[self.document] = False
        return left

    def first(self, n: int) -> Draws:
        """The first n draws."""
        return replace(self, batch=self.batch[:n], document=self.document[:n])

    def answered(self, judged: NDArray[np.bool_]) -> Draws:
        """The draws before the first whose document is not judged.

        judged : (documents,).
        """
        of_draws = judged[self.document]
        return self if of_draws.all() else self.first(int(np.argmin(of_draws)))

    def left_at_batches(self) -> NDArray[np.bool_]:
        """(batches, documents) whether each was left when the batch began."""
        left = np.ones(self.sizes.shape, bool)
        first = np.full(self.n_documents, len(self.sizes), np.int64)
        first[self.document] = self.batch
        left &= np.arange(len(self.sizes))[:, None] <= first
        return left

    def before(self, values: Floats) -> Floats:
        """(..., draws) sums of values over the documents that were left before each draw.

        values : (..., batches, documents), as `sizes`.
        """
        left = self.left_at_batches()
        sums = np.where(left, values, 0.0).sum(axis=-1)[..., self.batch]
        own = values[..., self.batch, self.document]
        taken = np.cumsum(own, axis=-1) - own
        begin = np.searchsorted(self.batch, self.batch)  # of the batch of each draw
        return np.asarray(np.maximum(sums - (taken - taken[..., begin]), own))

    def probabilities(self) -> Floats:
        """(draws,) with which each document was drawn, of those left."""
        own = self.sizes[self.batch, self.document]
        return np.asarray(own / self.before(self.sizes))

    def draw(self, sizes: Floats, n: int, rng: np.random.Generator) -> Draws:
        """These draws and a batch of n more, or of as many as are left.

        Raises
        ------
        ArgumentError
            Sizes of another number of documents.
        """
        if sizes.shape != (self.n_documents,):
            raise ArgumentError(
                f"sizes: shape {sizes.shape}; one for each of {self.n_documents} documents was expected"
            )
        sizes = np.where(self.left(), sizes, 0.0)
        possible = np.flatnonzero(sizes > 0)
        # the order of exponential times with these rates is that of draws one after the other
        times = rng.exponential(size=possible.size) / sizes[possible]
        drawn = possible[np.argsort(times, kind="stable")[:n]]
        batch = np.full(drawn.size, len(self.sizes), np.int64)
        return Draws(
            np.vstack([self.sizes, sizes]), np.concatenate([self.batch, batch]), np.concatenate([self.document, drawn])
        )


def mixed_sizes(wanted: Floats, weight: Floats) -> Floats:
    """Sizes as wanted, with a share of each draw's probability in proportion to the weights of the documents.

    wanted : (documents,) what judging each is expected to say. weight : (documents,) its weight in the answer; 0 where
    it has none. The sizes sum to 1.
    """
    share = weight / weight.sum() if weight.sum() > 0 else np.zeros_like(weight)
    if wanted.sum() <= 0:
        return np.asarray(share)
    return np.asarray(
        (1 - MIN_SHARE) * np.where(weight > 0, wanted, 0.0) / wanted[weight > 0].sum() + MIN_SHARE * share
    )


LONG = 80  # letters of a question in a message


@dataclass(frozen=True, eq=False)
class Design(Result):
    """The documents drawn so far for a question, with the probability of each; it is stored with its batches.

    scale : of the people, which says what they may still answer. topics, documents : labels of the documents that can
    change the answer. known : (documents,) those judged before the first draw, which are never drawn. draws : in order.
    """

    question: str
    measure: str
    scale: str
    topics: tuple[str, ...] = field(repr=False)
    documents: tuple[str, ...] = field(repr=False)
    known: NDArray[np.bool_] = field(repr=False)
    draws: Draws = field(repr=False)
    seed: Seed = 1

    def _sentence(self) -> str:
        drawn, batches = plural(len(self.draws), "document"), len(self.draws.sizes)
        return f"{drawn} of {len(self.documents):,} drawn for the question {self.question!r} (batches: {batches})."

    def _columns(self) -> dict[str, Any]:
        numbers = self.draws.document
        return {
            "topic": [self.topics[i] for i in numbers],
            "document": [self.documents[i] for i in numbers],
            "batch": self.draws.batch + 1,
            "order": np.arange(numbers.size) + 1,
            "probability": self.draws.probabilities(),
        }

    def check(self, *, topics: tuple[str, ...] | None = None, documents: tuple[str, ...] = (), **asked: str) -> None:
        """Refuse the design where its question, measure, scale or runs are others than these.

        Raises
        ------
        ArgumentError
            What is another one.
        """
        for what, other in asked.items():
            if (own := getattr(self, what)) != other:
                raise ArgumentError(
                    f"design: that of next.json or of --design is for the {what} {_short(own)!r}, not for "
                    f"{_short(other)!r}; name a new file by --design"
                )
        if topics and (self.topics, self.documents) != (topics, documents):
            raise ArgumentError(
                f"design: it is of other runs: {_missing(self, topics, documents)}; give the runs it was made of, or "
                "start a new design"
            )


def _short(text: str) -> str:
    return text if len(text) <= LONG else f"{text[:LONG]} ..."


def _missing(design: Design, topics: tuple[str, ...], documents: tuple[str, ...]) -> str:
    """What tells the documents of a design from others."""
    own, others = set(zip(design.topics, design.documents, strict=True)), set(zip(topics, documents, strict=True))
    for pairs, where in ((own - others, "not in these runs"), (others - own, "not in the design")):
        if pairs:
            topic, document = min(pairs)
            return f"{document} of topic {topic} is {where}"
    return "its documents stand in another order"


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
        {"sizes": sizes.tolist(), "drawn": draws.document[draws.batch == number].tolist()}
        for number, sizes in enumerate(draws.sizes)
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
    """The design of `table_from_design`; other values raise one of the errors that `read_design` expects."""
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
