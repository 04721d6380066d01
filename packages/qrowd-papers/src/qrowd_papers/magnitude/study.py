"""Relevance magnitudes, recomputed: a campaign of the paper's size, and system rankings under different gains.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3). Its magnitudes are not public, nor are TREC-8's runs: both are simulated here. What magnitudes say by
themselves is in `qrowd.magnitude`; this file joins them with runs (section 7).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from qrowd import files
from qrowd.aggregation import median
from qrowd.errors import InputError
from qrowd.kernels.arrays import Floats
from qrowd.magnitude import normalise
from qrowd.model.chance import Chance, Rng, Seed, seed_of
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.model.runs import Runs
from qrowd.model.scales import Scale
from qrowd.simulation import (
    Lenient,
    Truth,
    check_documents,
    simulate_judgments,
    simulate_magnitudes,
    simulate_pool,
    simulate_runs,
)
from qrowd_papers.claims import printed_numbers
from qrowd_papers.magnitude.analysis import MEASURES, gain_rankings
from qrowd_papers.magnitude.merged_runs import merged_runs
from qrowd_papers.magnitude.paper_crowd import PaperCrowd
from qrowd_papers.magnitude.single_assessor import simulate_single_assessor
from qrowd_papers.magnitude.two_rankings import TwoRankings
from qrowd_papers.magnitude.unit_counts import unit_widths

TOPICS: dict[str, list[int]] = printed_numbers("magnitude")["topics"]
"""Table I: TREC-8's topics with the number of documents and of units."""
N_WORKERS, N_SYSTEMS = 1481, 129
N_BINARY, N_LEVELS = 3881, 805  # documents that TREC, that Sormunen's assessors judged
LEVELS = ("N", "M", "R", "H")
DEPTH = 10

CROWD = PaperCrowd(
    multiplier=(1.5, 1.9),
    exponent=(1.0, 0.17),
    saturation=0.45,
    noise=0.28,
    noise_sd=0.7,
    round_numbers=0.62,
    careless=0.095,
    tiny=0.02,
)
TREC_NOISE, SORMUNEN_NOISE = 0.8, 0.42
"""Fitted together, by random search, to the printed numbers of Figures 1, 4-7, 9, 13, 15, of alpha and section 9.2."""

Mapped = Callable[[Floats], Floats]
MAPPINGS: dict[str, Mapped] = {
    "C": lambda c: c,
    "100 C": lambda c: 100 * c,
    "1 + C": lambda c: 1 + c,
    "10 + C": lambda c: 10 + c,
    "100 + C": lambda c: 100 + c,
    "10^(1+C)": lambda c: 10.0 ** (1 + c),
    "2^(1+C)": lambda c: 2.0 ** (1 + c),
}
"""Table III: what gain G a grade C stands for."""


# ---------------------------------------------------------------------- the campaign


@dataclass(frozen=True, eq=False)
class Campaign:
    """A simulated collection of magnitudes, with two kinds of official grades and the runs of a track.

    written : magnitudes as the crowd wrote them. unchecked : the same before anyone revised check documents.
    binary, levels : what an assessor of TREC (yes or no) and one of Sormunen's (0-3) say of a part of the documents.
    checks : {topic: (H, N)}. seed : give it as `rng` to see the same campaign again.
    """

    truth: Truth
    runs: Runs
    written: Judgments
    unchecked: Judgments
    binary: Judgments
    levels: Judgments
    checks: dict[str, tuple[str, str]]
    seed: Seed

    @cached_property
    def judgments(self) -> Judgments:
        """The magnitudes on one scale, by geometric averaging."""
        return normalise(self.written)

    @cached_property
    def wide(self) -> NDArray[np.bool_]:
        """(units,) whose H has at least the median number of times N's magnitude."""
        return unit_widths(self.written, self.checks).wide

    @cached_property
    def complete_runs(self) -> Runs:
        """A hundred systems put together from lists that `levels` covers (section 7.2)."""
        return merged_runs(self.runs, self.levels, rng=Chance.of(self.seed).stream("merged runs"))

    def official(self, kind: str) -> tuple[Runs, Judgments]:
        """The runs and the grades of Figure 10 ("TREC") or 11 ("Sormunen")."""
        return (self.runs, self.binary) if kind == "TREC" else (self.complete_runs, self.levels)


def simulate_campaign(*, rng: Rng = None) -> Campaign:
    """A campaign of the paper's size: 18 topics, 4,269 documents, 7,059 units of eight, 129 runs.

    The crowd and the noise of the official grades were fitted to what the paper prints (`CROWD`).
    """
    seed = seed_of(rng)
    chance = Chance.of(seed)
    sizes = [documents for documents, _ in TOPICS.values()]
    truth = simulate_pool(
        len(sizes), sizes, prevalence=(0.72, 0.12, 0.1, 0.06), topic_variance=0.1, rng=chance.stream("pool")
    )
    runs = simulate_runs(truth, N_SYSTEMS, depth=DEPTH, quality=(0.2, 2.0), rng=chance.stream("runs"))
    judgments, first = (
        simulate_magnitudes(truth, N_WORKERS, crowd=CROWD, checked=checked, rng=chance.stream("crowd"))
        for checked in (True, False)
    )
    labels = np.array([truth.pool.documents[d] for d in truth.pool.document.tolist()], object)
    high, low = check_documents(truth)
    checks = {t: (labels[h], labels[n]) for t, h, n in zip(truth.pool.topics, high, low, strict=True)}

    official = {"TREC": Lenient(noise=TREC_NOISE), "Sormunen": Lenient(noise=SORMUNEN_NOISE)}
    experts = simulate_judgments(truth, official, rng=chance.stream("experts")).panel()
    grades = experts.values.copy()
    grades[np.append(high, low)] = truth.grade[np.append(high, low), None]  # known beforehand
    # Both judged what most runs retrieved, as large a part of every topic; the check documents above all.
    results = np.bincount(runs.document, minlength=len(runs.documents))
    times = dict(zip(runs.documents, results.tolist(), strict=True))
    often = np.array([times.get(label, 0) for label in labels], np.float64)
    often[np.append(high, low)] = np.inf
    rank = np.empty(often.size)
    rank[np.lexsort((-often, truth.topic))] = np.arange(often.size)
    size = np.diff(truth.pool.starts)[truth.topic]
    order = np.argsort((rank - truth.pool.starts[truth.topic]) / size, kind="stable")

    def graded(column: int, n: int, name: str, scale: str) -> Judgments:
        rows = np.sort(order[:n])
        value = np.minimum(grades[rows, column], 1 if scale == "binary" else 3)
        return Judgments.from_codes(
            truth.pool.topics,
            truth.pool.documents,
            (name,),
            truth.topic[rows],
            truth.pool.document[rows],
            np.zeros(n, np.int32),
            value,
            scales={name: scale},
        ).select()

    return Campaign(
        truth,
        runs,
        judgments,
        first,
        graded(0, N_BINARY, "TREC", "binary"),
        graded(1, N_LEVELS, "Sormunen", "0-3"),
        checks,
        seed,
    )


# ---------------------------------------------------------------------- gains and rankings


def mapping_rankings(runs: Runs, official: Judgments) -> dict[str, dict[str, TwoRankings]]:
    """Table III, {mapping: {measure: both rankings}}: the grades themselves as gains (y) and mapped ones (x).

    Documents without a grade gain 0 under every mapping.
    """
    highest = official.scales[0].maximum
    results = {}
    for name, mapped in MAPPINGS.items():
        top = float(mapped(np.array([highest]))[0])
        gains = replace(official, value=mapped(official.value), scales=(Scale("fractions", top),))
        results[name] = gain_rankings(runs, gains, official)
    return results


def sampled_taus(
    runs: Runs, judgments: Judgments, official: Judgments, n: int = 1000, *, rng: Rng
) -> dict[str, Floats]:
    """Figure 12, {measure: (n,) tau-b}: each document's gain is one of its judgments, drawn at random n times."""
    draws = simulate_single_assessor(runs, judgments, list(MEASURES.values()), gold=official, n_resamples=n, rng=rng)
    return dict(zip(MEASURES, draws.tau_b, strict=True))


# ---------------------------------------------------------------------- real panels


@dataclass(frozen=True, eq=False)
class RealPanel:
    """Real runs, the grades of NIST (0-3), and other assessors' values on the same scale, fractions allowed."""

    name: str
    about: str
    runs: Runs
    nist: Judgments
    others: Judgments


def real_panels(data: str | None) -> Iterator[RealPanel]:
    """TREC Deep Learning 2021 and 2019, as far as the folder has them.

    Raises
    ------
    InputError
        The folder has neither.
    """
    if data is None:
        return
    there = [year for year in ("dl21", "dl19") if (Path(data) / year).is_dir()]
    if not there:
        raise InputError(f"{data}: there is no folder dl21 or dl19 in it")
    for year in there:
        folder = Path(data) / year
        who = ["judges"] if year == "dl21" else ["judges", "humans/main.tsv"]
        panel = concatenate_judgments([files.read_judgments([str(folder / part)]) for part in who]).rescaled()
        known = panel.value >= 0
        others = replace(
            panel,
            value=np.where(known, 3 * panel.value, panel.value),
            scales=(Scale("fractions", 3.0),) * len(panel.assessors),
        )
        nist = files.read_judgments([str(folder / "qrels.nist.txt")]).with_scales({"*": "0-3"})
        runs = files.read_runs([str(folder / "runs")])
        size = f"{len(runs.systems)} runs, {len(panel.assessors)} assessors"
        about = f"TREC 20{year[2:]} Deep Learning: {size}, NIST's grades"
        yield RealPanel(year, about, runs, nist, others)


def real_rankings(panel: RealPanel) -> dict[str, TwoRankings]:
    """{measure: both rankings}: the assessors' median as gain (x), NIST's grades (y)."""
    return gain_rankings(panel.runs, median(panel.others).judgments, panel.nist)


def crowd_and_gold(data: str | None) -> tuple[Judgments, Judgments] | None:
    """TREC 2010 Relevance Feedback: the crowd's labels, a broken link being not relevant, and NIST's grades."""
    path = None if data is None else Path(data) / "trec-rf10" / "trec-rf10-data.txt.gz"
    if path is None or not path.is_file():
        return None
    import pandas as pd

    rows: pd.DataFrame = pd.read_csv(path, sep="\t", dtype=str).astype({"gold": float, "label": float})
    gold = rows[["topicID", "docID", "gold"]].drop_duplicates().rename(columns={"gold": "grade"})
    crowd = Judgments.from_frame(rows.drop(columns="gold")).recode({-2.0: 0.0})
    return crowd, Judgments.from_frame(gold[gold["grade"] >= 0], assessor="NIST")
