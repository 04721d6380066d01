"""How often does the alternative annotator test let a model replace a person it should not? Simulated, truth known.

Four people judge every document yes or no and are right 85 times in 100. The model is right just as often as makes the
mean of W_h - W_l equal eps, so that every rejection is an error. Where it fails on topics as a whole, its accuracy is
drawn for every topic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.corrections import benjamini_yekutieli
from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Chance, Rng, seed_of
from qrowd.model.frames import make_frame
from qrowd.reports.document import Document, Table
from qrowd.reports.phrases import number
from qrowd.uncertainty.one_sided_t import documents_t, topics_t

if TYPE_CHECKING:
    import pandas

Model = Literal["alike", "two kinds of topics", "fails on some topics"]
Sizes = Literal["equal", "unequal"]
Design = tuple[int, int, Model, Sizes]
"""Topics, documents each (on average), how the model's accuracy varies over topics, whether topics differ in size."""

N_PEOPLE = 4
RIGHT = 0.85  # how often a person is
EPS = 0.1
LEVEL = 0.05
APART = 0.25  # of a kind of topic from the model's mean accuracy
CONCENTRATION = 2.0  # of the Beta of its accuracy where it fails on some topics
AT_ONCE = 100  # panels; a stream each
DESIGNS: tuple[Design, ...] = (
    *((topics, 40, model, "equal") for topics in (5, 10, 20, 50) for model in get_args(Model)),
    *((50, 200, model, "equal") for model in get_args(Model)),
    *((topics, 40, model, "unequal") for topics in (10, 20, 50) for model in get_args(Model)),
)


@dataclass(frozen=True, eq=False)
class AnnotatorErrors:
    """One row per design; every array is (designs,).

    by_documents, by_topics : share of people replaced at p <= .05, with that clustering; *_error its standard error, of
        panels. any_by_topics : share of panels in which anybody is, after the correction for four people at .05.
    """

    n_topics: NDArray[np.int64]
    n_documents: NDArray[np.int64]
    model: NDArray[np.object_]
    sizes: NDArray[np.object_]
    by_documents: Floats
    by_documents_error: Floats
    by_topics: Floats
    by_topics_error: Floats
    any_by_topics: Floats
    n_panels: int
    seed: int | tuple[int, ...]

    def to_frame(self, backend: str = "pandas") -> Any:
        """The rows."""
        names = ("n_topics", "n_documents", "model", "sizes", "by_documents", "by_documents_error", "by_topics",
                 "by_topics_error", "any_by_topics")  # fmt: skip
        return make_frame({name: getattr(self, name) for name in names}, backend)


def annotator_errors(
    designs: Sequence[Design] = DESIGNS,
    *,
    n_panels: int = 2000,
    rng: Rng = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> AnnotatorErrors:
    """How often each clustering rejects, the model being exactly at eps.

    Raises
    ------
    ArgumentError
        A design with fewer than two topics, or of another kind.
    """
    for topics, per, model, sizes in designs:
        if topics < 2 or per < 1 or model not in get_args(Model) or sizes not in get_args(Sizes):
            raise ArgumentError(f"design {(topics, per, model, sizes)!r}: 2 topics, 1 document, {Model}, {Sizes}")
    seed = seed_of(rng)
    chance = Chance.of(seed)
    rows = []
    for done, design in enumerate(designs):
        p: dict[str, list[Floats]] = {"documents": [], "topics": []}
        for block in range(-(-n_panels // AT_ONCE)):
            random = chance.stream(" ".join(map(str, design)), block)
            held = simulate(min(AT_ONCE, n_panels - block * AT_ONCE), design, random)
            p["documents"].append(documents_t(*held, EPS)[1])
            p["topics"].append(topics_t(*held, EPS)[1])
        rejected = {name: np.concatenate(parts) <= LEVEL for name, parts in p.items()}
        replaced = [(benjamini_yekutieli(one) <= LEVEL).any() for part in p["topics"] for one in part]
        shares = [share for one in rejected.values() for share in _share(one)]
        rows.append((*shares, float(np.mean(replaced))))
        if progress is not None:
            progress("annotator-test", done + 1, len(designs))
    by_documents, documents_error, by_topics, topics_error, anybody = np.array(rows).T
    return AnnotatorErrors(
        np.array([design[0] for design in designs]),
        np.array([design[1] for design in designs]),
        np.array([design[2] for design in designs], object),
        np.array([design[3] for design in designs], object),
        by_documents,
        documents_error,
        by_topics,
        topics_error,
        anybody,
        n_panels,
        seed,
    )


def simulate(n_panels: int, design: Design, random: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """(panels, people, topics) documents, sums of W_h - W_l, and of its square, as `documents_t` reads them."""
    n_topics, per, model, sizes = design
    accuracy = _accuracy(model, (n_panels, n_topics), random)
    n = np.full((n_panels, n_topics), per)
    if sizes == "unequal":
        n = np.maximum(np.rint(random.exponential(per, n.shape)), 1).astype(np.int64)
    judged = np.arange(n.max()) < n[..., None]
    right = random.random((*judged.shape, N_PEOPLE)) < RIGHT
    model_right = random.random(judged.shape) < accuracy[..., None]
    others = right.sum(axis=-1, keepdims=True) - right  # of the three others, who says the truth
    person_closer = np.sign(2 * others - (N_PEOPLE - 1)) * (right.astype(np.int64) - model_right[..., None])
    person_closer *= judged[..., None]
    by_topic = np.moveaxis(np.stack([person_closer, person_closer**2]).sum(axis=3), -1, 2).astype(np.float64)
    return np.broadcast_to(n[:, None, :], by_topic[0].shape).astype(np.float64), by_topic[0], by_topic[1]


def _accuracy(model: Model, shape: tuple[int, int], random: np.random.Generator) -> Floats:
    """How often the model is right on each topic, on average just as often as lets a person cost eps.

    W_h - W_l is not 0 where person and model differ; then the one who says what most of the three others say is closer.
    Its mean is (2 P(most others are right) - 1) (P(person right) - P(model right)).
    """
    most = RIGHT**3 + 3 * RIGHT**2 * (1 - RIGHT)
    mean = RIGHT - EPS / (2 * most - 1)
    if model == "alike":
        return np.full(shape, mean)
    if model == "two kinds of topics":
        high = min(mean + APART, 1.0)
        return random.choice([high, 2 * mean - high], shape)
    return random.beta(CONCENTRATION * mean, CONCENTRATION * (1 - mean), shape)


def _share(rejected: NDArray[np.bool_]) -> tuple[float, float]:
    """Of (panels, people), whose people share their topics; with its standard error."""
    by_panel = rejected.mean(axis=1)
    return float(by_panel.mean()), float(by_panel.std(ddof=1) / np.sqrt(by_panel.size))


def annotator_errors_page(
    *, quick: bool = False, rng: Rng = None, progress: Callable[[str, int, int], None] | None = None
) -> Document:
    """The study as a page. quick : 200 panels of each design instead of 2,000."""
    found = annotator_errors(n_panels=200 if quick else 2000, rng=rng, progress=progress)
    header = ["topics", "documents each", "sizes", "model", "documents", "+-", "topics", "+-", "anybody, corrected"]
    rows = [
        [str(row.n_topics), str(row.n_documents), row.sizes, row.model, number(row.by_documents, 3),
         number(1.96 * row.by_documents_error, 3), number(row.by_topics, 3), number(1.96 * row.by_topics_error, 3),
         number(row.any_by_topics, 3)]
        for row in found.to_frame().itertuples()
    ]  # fmt: skip
    clustered = found.model != "alike"
    many = clustered & (found.n_topics >= 10)
    sentence = (
        f"Where a model fails on whole topics, the test with documents as clusters lets it replace a person wrongly in "
        f"{found.by_documents[clustered].min():.2f} to {found.by_documents[clustered].max():.2f} of cases instead of "
        f"{LEVEL:.2f}; with topics as clusters in {found.by_topics[many].min():.2f} to "
        f"{found.by_topics[many].max():.2f} from 10 topics on."
    )
    notes = (
        f"{N_PEOPLE} people who are right with probability {RIGHT:g}; closeness accuracy; eps {EPS:g}; the model is "
        f"exactly at eps, so every rejection at p <= {LEVEL:g} is an error",
        f"two kinds of topics: accuracy {APART:g} above or below its mean; fails on some topics: Beta with "
        f"concentration {CONCENTRATION:g}",
        "unequal: documents of a topic are exponential",
        "anybody, corrected: panels with somebody replaced by topics after Benjamini and Yekutieli at .05",
        f"panels: {found.n_panels:,} of each design; +-: 1.96 standard errors over panels; seed: {found.seed}",
    )

    def frame() -> pandas.DataFrame:
        whole: pandas.DataFrame = found.to_frame()
        return whole

    return Document(
        sentence, (Table("people replaced at p <= .05, none of whom should be", header, rows),), notes, frame
    )
