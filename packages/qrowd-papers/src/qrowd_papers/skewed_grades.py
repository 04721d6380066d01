"""Which aggregator recovers true grades when they are unequally frequent? Simulated assessors, truth known.

15 assessors; 5 of them judge each of 300 documents, yes or no. Either 4 in 10 hardly know anything (with probability up
to .15, the others .6 to .95) and guess by a preference of their own, or each with probability .5 gives nearly always
the same answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from qrowd.aggregation import Aggregate, dawid_skene, mace, majority_vote
from qrowd.executors import AnyExecutor
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Chance, Rng, seed_of
from qrowd.model.judgments import Judgments
from qrowd.reports.document import Document, Table
from qrowd.reports.phrases import number
from qrowd_papers.simulations import Progress, each_result

if TYPE_CHECKING:
    import pandas

Crowd = Literal["guess", "say the same"]
"""What assessors do who do not know."""

N_ASSESSORS, N_EACH, N_DOCUMENTS = 15, 5, 300
SHARES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
METHODS: Mapping[str, Callable[[Judgments, int], Aggregate]] = {
    "majority": lambda judgments, seed: majority_vote(judgments, rng=seed),
    "dawid-skene(per='all')": lambda judgments, seed: dawid_skene(judgments, per="all", rng=seed),
    "mace": lambda judgments, seed: mace(judgments, rng=seed),
    "mace(prior='uniform')": lambda judgments, seed: mace(judgments, prior="uniform", rng=seed),
}


def skewed_grades(
    shares: Sequence[float] = SHARES,
    crowds: Sequence[Crowd] = get_args(Crowd),
    *,
    n_panels: int = 100,
    rng: Rng = None,
    executor: AnyExecutor = None,
    progress: Progress | None = None,
) -> pandas.DataFrame:
    """How many true grades each method recovers, a row per crowd, share and method.

    Columns `right`: mean share of documents that get their true grade, over panels; `difference`: from majority on the
    same panels; `error`: its standard error.

    shares : of the documents whose true grade is 0. executor : whose workers simulate panels.
    """
    import pandas as pd

    designs = list(product(crowds, shares))
    panels = list(product(designs, range(n_panels)))
    shares_right = each_result(_right, panels, "skewed-grades", progress, executor, shared=Chance.of(rng))
    by_design = np.array(list(shares_right)).reshape(len(designs), n_panels, len(METHODS))
    rows: list[tuple[Any, ...]] = []
    for (crowd, share), right in zip(designs, by_design, strict=True):
        difference = right - right[:, :1]
        error = difference.std(axis=0, ddof=1) / np.sqrt(n_panels)
        columns = (right.mean(axis=0), difference.mean(axis=0), error)
        rows += [(crowd, share, *cells) for cells in zip(METHODS, *columns, strict=True)]
    return pd.DataFrame(rows, columns=["crowd", "share", "method", "right", "difference", "error"])


def _right(chance: Chance, panel: tuple[tuple[Crowd, float], int]) -> Floats:
    """(methods,) share of documents that get their true grade. panel : crowd and share, and the number of the panel."""
    (crowd, share), number = panel
    truth, judgments = simulate(crowd, share, chance.stream(f"{crowd} {share:g}", number))
    merged = [method(judgments, number).judgments for method in METHODS.values()]
    return np.array([(one.value == truth[[int(one.documents[d]) for d in one.document]]).mean() for one in merged])


def simulate(crowd: Crowd, share: float, random: np.random.Generator) -> tuple[Floats, Judgments]:
    """(documents,) true grades, and what the assessors say; documents are called by their numbers."""
    truth = (random.random(N_DOCUMENTS) >= share).astype(np.float64)
    if crowd == "guess":
        ignorant = random.random(N_ASSESSORS) < 0.4
        knows = np.where(ignorant, random.uniform(0, 0.15, N_ASSESSORS), random.uniform(0.6, 0.95, N_ASSESSORS))
        says_1 = random.beta(2, 2, N_ASSESSORS)
    else:
        knows = np.where(random.random(N_ASSESSORS) < 0.5, 0.0, 0.85)
        says_1 = random.choice([0.05, 0.95], N_ASSESSORS)
    who = np.argsort(random.random((N_DOCUMENTS, N_ASSESSORS)), axis=1)[:, :N_EACH]
    guess = random.random(who.shape) < says_1[who]
    value = np.where(random.random(who.shape) < knows[who], truth[:, None], guess)
    document = np.repeat(np.arange(N_DOCUMENTS, dtype=np.int32), N_EACH)
    labels = (("t",), tuple(map(str, range(N_DOCUMENTS))), tuple(f"a{i}" for i in range(N_ASSESSORS)))
    codes = np.zeros(document.size, np.int32), document, who.ravel().astype(np.int32)
    return truth, Judgments.from_codes(*labels, *codes, value.ravel(), scales={"*": "binary"})


def skewed_grades_page(
    *, quick: bool = False, rng: Rng = None, executor: AnyExecutor = None, progress: Progress | None = None
) -> Document:
    """The study as a page. quick : 10 panels of each design instead of 100."""
    seed, n_panels = seed_of(rng), 10 if quick else 100
    frame = skewed_grades(n_panels=n_panels, rng=seed, executor=executor, progress=progress)
    header = ["those who do not know", "share of grade 0", *METHODS, "mace - majority", "+-"]
    rows: list[list[Any]] = []
    for (crowd, share), design in frame.groupby(["crowd", "share"], sort=False):
        by_method = design.set_index("method")
        mace = by_method[["difference", "error"]].to_numpy()[list(METHODS).index("mace")].tolist()
        shares = (number(right, 3) for right in by_method.right)
        rows.append([crowd, f"{share:g}", *shares, f"{mace[0]:+.3f}", number(1.96 * mace[1], 3)])
    of_mace, of_uniform = (100 * frame.difference[frame.method == name] for name in ("mace", "mace(prior='uniform')"))
    sentence = (
        f"MACE with fitted grade frequencies recovers {of_mace.min():+.1f} to {of_mace.max():+.1f} points "
        f"more true grades than a majority vote; with equal frequencies {of_uniform.min():+.1f} to "
        f"{of_uniform.max():+.1f}."
    )
    notes = (
        f"{N_ASSESSORS} assessors, {N_EACH} judgments of each of {N_DOCUMENTS} documents, yes or no; cells: mean share "
        "of documents that get their true grade",
        "guess: with probability .4 an assessor knows up to 15 in 100 answers, else 60 to 95, and guesses by a "
        "preference of Beta(2, 2); say the same: with probability .5 an assessor gives one answer 95 times in 100, "
        "else knows 85 in 100",
        f"panels: {n_panels} of each design; +-: 1.96 standard errors of the difference; seed: {seed}",
    )
    return Document(sentence, (Table("share of true grades recovered", header, rows),), notes, lambda: frame)
