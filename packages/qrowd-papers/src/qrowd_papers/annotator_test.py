"""How often does the alternative annotator test let a model replace a person it should not? Simulated, truth known.

Four people judge every document yes or no and are right 85 times in 100. The model is right just as often as makes the
mean of W_h - W_l equal eps, so that every rejection is an error. Where it fails on topics as a whole, its accuracy is
drawn for every topic.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.p_values import benjamini_yekutieli
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Chance, Rng, seed_of
from qrowd.replacement.alternative_annotator import documents_t, topics_t
from qrowd.reports.document import Document
from qrowd_papers.simulations import Progress, each, table_of

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


def annotator_errors(
    designs: Sequence[Design] = DESIGNS,
    *,
    n_panels: int = 2000,
    rng: Rng = None,
    progress: Progress | None = None,
) -> pandas.DataFrame:
    """How often each clustering rejects, the model being exactly at eps, a row per design.

    Columns `by_documents`, `by_topics`: share of people replaced at p <= .05, with that clustering; *_error: its
    standard error, of panels; `any_by_topics`: share of panels in which anybody is, after the correction for four
    people at .05.
    """
    import pandas as pd

    chance = Chance.of(rng)
    rows = []
    for design in each(designs, "annotator-test", progress):
        p: dict[str, list[Floats]] = {"documents": [], "topics": []}
        for block in range(-(-n_panels // AT_ONCE)):
            random = chance.stream(" ".join(map(str, design)), block)
            sums = simulate(min(AT_ONCE, n_panels - block * AT_ONCE), design, random)
            p["documents"].append(documents_t(*sums, EPS)[1])
            p["topics"].append(topics_t(*sums, EPS)[1])
        rejected = {name: np.concatenate(parts) <= LEVEL for name, parts in p.items()}
        replaced = [(benjamini_yekutieli(one) <= LEVEL).any() for part in p["topics"] for one in part]
        rows.append((*design, *_share(rejected["documents"]), *_share(rejected["topics"]), float(np.mean(replaced))))
    columns = ["n_topics", "n_documents", "model", "sizes", "by_documents", "by_documents_error", "by_topics"]
    return pd.DataFrame(rows, columns=[*columns, "by_topics_error", "any_by_topics"])


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


def annotator_test_page(*, quick: bool = False, rng: Rng = None, progress: Progress | None = None) -> Document:
    """The study as a page. quick : 200 panels of each design instead of 2,000."""
    seed, n_panels = seed_of(rng), 200 if quick else 2000
    frame = annotator_errors(n_panels=n_panels, rng=seed, progress=progress)
    half_widths = {f"{name}_half_width": 1.96 * frame[f"{name}_error"] for name in ("by_documents", "by_topics")}
    columns = (
        ("topics", "n_topics", ""), ("documents each", "n_documents", ""), ("sizes", "sizes", ""),
        ("model", "model", ""), ("documents", "by_documents", 3), ("+-", "by_documents_half_width", 3),
        ("topics", "by_topics", 3), ("+-", "by_topics_half_width", 3), ("anybody, corrected", "any_by_topics", 3),
    )  # fmt: skip
    title = "people replaced at p <= .05, none of whom should be"
    table = table_of(title, frame.assign(**half_widths).itertuples(), columns)
    clustered = frame[frame.model != "alike"]
    many = clustered[clustered.n_topics >= 10]
    sentence = (
        f"Where a model fails on whole topics, the test with documents as clusters lets it replace a person wrongly in "
        f"{clustered.by_documents.min():.2f} to {clustered.by_documents.max():.2f} of cases instead of "
        f"{LEVEL:.2f}; with topics as clusters in {many.by_topics.min():.2f} to "
        f"{many.by_topics.max():.2f} from 10 topics on."
    )
    notes = (
        f"{N_PEOPLE} people who are right with probability {RIGHT:g}; closeness accuracy; eps {EPS:g}; the model is "
        f"exactly at eps, so every rejection at p <= {LEVEL:g} is an error",
        f"two kinds of topics: accuracy {APART:g} above or below its mean; fails on some topics: Beta with "
        f"concentration {CONCENTRATION:g}",
        "unequal: documents of a topic are exponential",
        "anybody, corrected: panels with somebody replaced by topics after Benjamini and Yekutieli at .05",
        f"panels: {n_panels:,} of each design; +-: 1.96 standard errors over panels; seed: {seed}",
    )
    return Document(sentence, (table,), notes, lambda: frame)
