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
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from qrowd import files
from qrowd.aggregation import median
from qrowd.comparison import top_set
from qrowd.comparison.correlation import kendall_tau_b, row_correlations, shared_means
from qrowd.errors import InputError, NoOverlapError
from qrowd.evaluation import evaluate
from qrowd.kernels.arrays import Floats
from qrowd.magnitude import normalise, select_units_by_agreement, unit_widths
from qrowd.model.chance import Chance, Rng, Seed, seed_of
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.model.panel import Panel, Pool
from qrowd.model.runs import Runs
from qrowd.model.scales import Scale
from qrowd.model.scores import Scores
from qrowd.simulation import (
    Lenient,
    MagnitudeCrowd,
    Truth,
    check_documents,
    simulate_judgments,
    simulate_magnitudes,
    simulate_pool,
    simulate_runs,
)

if TYPE_CHECKING:
    import pandas


TOPICS: dict[str, tuple[int, int]] = {
    "402": (278, 460), "403": (111, 182), "405": (214, 354), "407": (212, 350), "408": (188, 310), "410": (212, 350),
    "415": (179, 295), "416": (174, 287), "418": (243, 402), "420": (164, 270), "421": (342, 567), "427": (195, 322),
    "428": (253, 419), "431": (203, 335), "440": (264, 437), "442": (408, 677), "445": (210, 347), "448": (419, 695),
}  # fmt: skip
"""Table I: TREC-8's topics with the number of documents and of units."""
N_WORKERS, N_SYSTEMS = 1481, 129
N_BINARY, N_LEVELS = 3881, 805  # documents that TREC, that Sormunen's assessors judged
NDCG, ERR = "nDCG(dcg='original')@10", "ERR(stop='given')@10"
MEASURES = {"nDCG@10": NDCG, "ERR@10": ERR}
"""As section 7.1 has them: no discount at rank 1 and log2(r) below; R = (2^G - 1) / 2^max."""
LEVELS = ("N", "M", "R", "H")
DEPTH = 10

CROWD = MagnitudeCrowd(
    multiplier=(1.5, 1.9),
    exponent=(1.0, 0.17),
    profile="linear",
    saturation=0.45,
    noise=0.28,
    noise_sd=0.7,
    round_numbers=0.62,
    rounding="assessors",
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
    def merged_runs(self) -> Runs:
        """A hundred systems put together from lists that `levels` covers (section 7.2)."""
        return complete_lists(self.runs, self.levels, rng=Chance.of(self.seed).stream("merged runs"))

    def official(self, kind: str) -> tuple[Runs, Judgments]:
        """The runs and the grades of Figure 10 ("TREC") or 11 ("Sormunen")."""
        return (self.runs, self.binary) if kind == "TREC" else (self.merged_runs, self.levels)


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


def complete_lists(runs: Runs, judgments: Judgments, n: int = 100, *, rng: Rng = None) -> Runs:
    """Systems put together, topic by topic, from lists whose first ten documents were all judged (section 7.2).

    A topic needs two such lists at least. n : how many systems.

    Raises
    ------
    NoOverlapError
        No topic has them.
    """
    random = np.random.default_rng(rng)
    judged = {
        (judgments.topics[t], judgments.documents[d])
        for t, d in zip(judgments.topic.tolist(), judgments.document.tolist(), strict=True)
    }
    lists: dict[int, list[dict[str, float]]] = {}
    order = np.lexsort((-runs.score, runs.topic, runs.system))
    cell = runs.system[order].astype(np.int64) * len(runs.topics) + runs.topic[order]
    for rows in np.split(order, np.flatnonzero(np.diff(cell)) + 1):
        topic = int(runs.topic[rows[0]])
        names = [runs.documents[d] for d in runs.document[rows[:DEPTH]].tolist()]
        if len(names) == DEPTH and all((runs.topics[topic], name) in judged for name in names):
            lists.setdefault(topic, []).append({name: float(DEPTH - i) for i, name in enumerate(names)})
    complete = {topic: results for topic, results in sorted(lists.items()) if len(results) > 1}
    if not complete:
        raise NoOverlapError("no topic has two lists whose first ten documents were all judged")
    return Runs.from_dict(
        {
            f"merged-{i + 1:03}": {
                runs.topics[topic]: results[int(random.integers(len(results)))] for topic, results in complete.items()
            }
            for i in range(n)
        }
    )


# ---------------------------------------------------------------------- gains and rankings


def stopping(judgments: Judgments, maximum: float | None = None) -> Judgments:
    """ERR's R = (2^G - 1) / 2^max of every gain.

    maximum : the highest gain possible; by default the highest of each topic, since magnitudes have no end.
    """
    highest = np.zeros(len(judgments.topics))
    np.maximum.at(highest, judgments.topic, judgments.value)
    top = highest[judgments.topic] if maximum is None else np.float64(maximum)
    value = np.exp2(judgments.value - top) - np.exp2(-top)
    return replace(judgments, value=value, scales=(Scale("fractions", 1.0),) * len(judgments.assessors))


def topic_scores(runs: Runs, gains: Judgments, maximum: float | None = None) -> dict[str, Floats]:
    """{"nDCG@10", "ERR@10"}: (topics, systems), over the runs' topics, with the values of one assessor as gains."""
    here = gains.select(topics=list(runs.topics))
    values = {NDCG: here, ERR: stopping(here, maximum)}
    return {name: evaluate(runs, values[text], [text]).of(text)[0] for name, text in MEASURES.items()}


@dataclass(frozen=True, eq=False)
class TwoRankings:
    """Systems by magnitudes (x) and by official grades (y).

    x, y : (systems,) mean scores. tau : Kendall's tau-b of them.
    top_x, top_y : (systems,) who cannot be told from the best by a paired Wilcoxon test over topics, p < .05.
    """

    systems: tuple[str, ...]
    x: Floats
    y: Floats
    top_x: NDArray[np.bool_]
    top_y: NDArray[np.bool_]

    @property
    def tau(self) -> float:
        return kendall_tau_b(self.x, self.y)

    @property
    def overlap(self) -> float:
        """Which part of the top set by official grades is in the other too; the paper's percentages are such parts."""
        return float((self.top_x & self.top_y).sum() / self.top_y.sum())

    def to_frame(self) -> pandas.DataFrame:
        """One row per system."""
        import pandas as pd

        columns = {"system": self.systems, "x": self.x, "y": self.y, "top_x": self.top_x, "top_y": self.top_y}
        return pd.DataFrame(columns)


def two_rankings(systems: tuple[str, ...], first: Floats, second: Floats) -> TwoRankings:
    """From (topics, systems) scores on either side."""
    x, y, _, _ = shared_means(first, second)
    in_top = (top_set(Scores.from_array(table, systems=systems)).member for table in (first, second))
    return TwoRankings(systems, x, y, *in_top)


def magnitude_gains(campaign: Campaign, official: Judgments, preferred: NDArray[np.bool_] | None = None) -> Judgments:
    """Every document's median over the three units that order documents most as official grades do (section 7.2)."""
    return median(select_units_by_agreement(campaign.judgments, official, preferred=preferred).judgments).judgments


def rankings(campaign: Campaign, kind: str, preferred: NDArray[np.bool_] | None = None) -> dict[str, TwoRankings]:
    """{measure: both rankings}, for "TREC" (Figure 10) or "Sormunen" (Figure 11).

    preferred : (units,) narrow or wide units alone, as in Table IV.
    """
    runs, official = campaign.official(kind)
    ours = topic_scores(runs, magnitude_gains(campaign, official, preferred))
    theirs = topic_scores(runs, official, official.scales[0].maximum)
    return {name: two_rankings(runs.systems, ours[name], theirs[name]) for name in MEASURES}


def mapping_rankings(runs: Runs, official: Judgments) -> dict[str, dict[str, TwoRankings]]:
    """Table III, {mapping: {measure: both rankings}}: the grades themselves as gains (y) and mapped ones (x).

    Documents without a grade gain 0 under every mapping.
    """
    highest = official.scales[0].maximum
    plain = topic_scores(runs, official, highest)
    results = {}
    for name, mapped in MAPPINGS.items():
        top = float(mapped(np.array([highest]))[0])
        gains = replace(official, value=mapped(official.value), scales=(Scale("fractions", top),))
        scores = topic_scores(runs, gains, top)
        results[name] = {measure: two_rankings(runs.systems, scores[measure], plain[measure]) for measure in MEASURES}
    return results


def sampled_taus(
    runs: Runs, judgments: Judgments, official: Judgments, n: int = 1000, *, maximum: float | None = None, rng: Rng
) -> dict[str, Floats]:
    """Figure 12, {measure: (n,) tau-b}: each document's gain is one of its judgments, drawn at random n times.

    maximum : as for `stopping`; of the judgments, not of the official grades.
    """
    random = np.random.default_rng(rng)
    plain = topic_scores(runs, official, official.scales[0].maximum)
    here = judgments.select(topics=list(runs.topics))
    pair = here.pair_numbers
    order = np.argsort(pair, kind="stable")
    pairs, first, count = np.unique(pair[order], return_index=True, return_counts=True)
    topic, document = np.divmod(pairs, len(here.documents))
    starts = np.searchsorted(topic, np.arange(len(here.topics) + 1)).astype(np.int64)
    pool = Pool(here.topics, here.documents, starts, document.astype(np.int32))
    taus: dict[str, list[Floats]] = {name: [] for name in MEASURES}
    for begin in range(0, n, 100):
        some = min(100, n - begin)
        names = tuple(f"draw {begin + i}" for i in range(some))
        drawn = first[:, None] + (random.random((pairs.size, some)) * count[:, None]).astype(np.int64)
        gains = here.value[order][drawn]
        top = np.maximum.reduceat(gains, starts[:-1], axis=0)[topic] if maximum is None else np.float64(maximum)
        by_measure = {NDCG: gains, ERR: np.exp2(gains - top) - np.exp2(-top)}
        scale = (Scale("fractions", float(gains.max())),) * some
        for name, text in MEASURES.items():
            scores = evaluate(runs, Panel(pool, names, scale, by_measure[text]), [text]).of(text)
            taus[name].append(row_correlations(scores.mean(axis=1).round(12), plain[name].mean(axis=0).round(12)))
    return {name: np.concatenate(parts) for name, parts in taus.items()}


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
    ours = topic_scores(panel.runs, median(panel.others).judgments, 3)
    theirs = topic_scores(panel.runs, panel.nist, 3)
    return {name: two_rankings(panel.runs.systems, ours[name], theirs[name]) for name in MEASURES}


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
