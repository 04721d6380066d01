"""Considering Assessor Agreement, recomputed: topics, relevance levels, systems, and a measure that knows of agreement.

Maddalena, Roitero, Demartini, Mizzaro (2017), Considering Assessor Agreement in IR Evaluation. ICTIR.

    crowd         labels of a crowd with gold grades     the paper's RF: public (rf10)         section 4
    collections   runs, assessors and gold grades        RF's runs are not: dl21, dl19         sections 4.2 and 5
    magnitudes    magnitudes, gold and runs              the paper's ME is not: simulated      sections 4.3 and 6
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd import files
from qrowd.agreement import ease_correlation
from qrowd.agreement.by_topic import EaseCorrelation, in_bins
from qrowd.errors import InputError, NoOverlapError
from qrowd.evaluation import evaluate
from qrowd.gain_distributions import AgreementAware, GainDistributions, agreement_aware_ndcg, gain_distributions
from qrowd.kernels.arrays import Floats
from qrowd.kernels.correlation import tau_b
from qrowd.kernels.disagreement import Level
from qrowd.magnitude import normalise
from qrowd.model.chance import Chance, Rng, Seed, seed_of
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.model.result import Result
from qrowd.model.runs import Runs
from qrowd.model.scores import Scores, interpolated, known_mean, one_measure, rankable
from qrowd.simulation import (
    Lenient,
    MagnitudeCrowd,
    check_documents,
    simulate_judgments,
    simulate_magnitudes,
    simulate_pool,
    simulate_runs,
)
from qrowd_papers.agreement.gain_density import GainDensity, density
from qrowd_papers.agreement.gold import AlphaByGold, MatchedSize, alpha_by_gold, alpha_of_matched_subsets
from qrowd_papers.agreement.scatter import Scatter, scatter

STRATEGIES = ("high", "low", "random")


@dataclass(frozen=True, eq=False)
class TopicRemoval(Result):
    """Scores and system rankings on fewer and fewer topics.

    The strategies are, in order: topics with high agreement removed first, with low agreement first, at random.

    n_topics : (sizes,) topics left, from all down to 1; with `bins` above 0, bins of topics left.
    score : (strategies, sizes) mean over systems of their mean score. tau : (strategies, sizes) tau-b of the systems'
        ranking with that on all topics (nan if all systems tie). Random removal: means over resamples.
    low, high : (2, sizes) interval of the random score (row 0) and tau (row 1), over resamples, 95 %.
    n_resamples : number of random orders of topics. seed : pass it as `rng` to draw them again.
    """

    n_topics: NDArray[np.int64]
    score: Floats
    tau: Floats
    low: Floats
    high: Floats
    n_resamples: int
    seed: Seed

    def _columns(self) -> dict[str, Any]:
        n = self.n_topics.size
        blank = np.full((2, n), np.nan)
        return {
            "removed": np.repeat(np.array(STRATEGIES, object), n),
            "n_topics": np.tile(self.n_topics, 3),
            "score": self.score.ravel(),
            "score_low": np.concatenate([*blank, self.low[0]]),
            "score_high": np.concatenate([*blank, self.high[0]]),
            "tau": self.tau.ravel(),
            "tau_low": np.concatenate([*blank, self.low[1]]),
            "tau_high": np.concatenate([*blank, self.high[1]]),
        }


def topic_removal(
    scores: Scores,
    agreement: Mapping[str, float],
    *,
    bins: int = 0,
    n_resamples: int = 300,
    rng: Rng = None,
) -> TopicRemoval:
    """Scores and rankings when topics are removed: high agreement first, low agreement first, at random (Figures 4, 5).

    Topics without agreement are left out from the start. Ties in agreement keep the order of the scores' topics.
    Missing scores are left out of a system's mean.

    agreement : {topic: number}. bins : number of bins of topics with similar agreement, as of `ease_correlation`, which
    are removed as a whole; a bin scores the mean of its topics. 0 removes single topics. n_resamples : number of random
    orders in which topics are removed.
    """
    values, (_, labels, _) = one_measure(scores)
    table = known_mean(values, axis=0)
    value = np.array([agreement.get(topic, np.nan) for topic in labels])
    defined = np.flatnonzero(~np.isnan(value))
    if not defined.size:
        raise NoOverlapError("scores and agreement share no topic; check that both are of the same collection")
    table, value = table[defined], value[defined]
    if bins:
        parts = in_bins(value, bins)
        table, value = (np.array([known_mean(by[part], axis=0) for part in parts]) for by in (table, value))
    reference = known_mean(table, axis=0)
    seed = seed_of(rng)
    random = Chance.of(seed).stream("topic removal")
    ascending = np.argsort(value, kind="stable")
    shuffled = np.argsort(random.random((n_resamples, value.size)), axis=1)
    by_agreement = [_on_first(table[order], reference) for order in (ascending, ascending[::-1])]
    at_random = np.array([_on_first(table[order], reference) for order in shuffled]).reshape(n_resamples, 2, -1)
    with np.errstate(all="ignore"):
        low, high = np.nanquantile(at_random, [0.025, 0.975], axis=0)
    both = np.array([*by_agreement, known_mean(at_random, axis=0)])[:, :, ::-1]
    sizes = np.arange(value.size, 0, -1)
    return TopicRemoval(sizes, both[:, 0], both[:, 1], low[:, ::-1], high[:, ::-1], n_resamples, seed)


def _on_first(ordered: Floats, reference: Floats) -> tuple[Floats, Floats]:
    """(topics,) mean score and tau on the first 1, 2, ... of the topics (topics, systems)."""
    defined = ~np.isnan(ordered)
    count = np.cumsum(defined, axis=0)
    means = np.where(count > 0, np.cumsum(np.where(defined, ordered, 0.0), axis=0) / np.maximum(count, 1), np.nan)
    # Sums in another order differ in their last digits; scores equal up to rounding are tied.
    return known_mean(means, axis=1), tau_b(rankable(means), rankable(reference)[None])


Progress = Callable[[str, int, int], None]

LABELS = 5  # of a document: the first so many
MANY = 1000  # all that a document has
BINS = (8, 16, 32)
CUTOFF = 10
MISSING = 0.26  # of RF's scores were missing (section 3.3)
RF = "trec-rf10"
YEARS = ("dl21", "dl19")
UNBROKEN = "broken links left out"
BROKEN: dict[float, float] = {-2: 0}  # a link that leads nowhere is not relevant
UNKNOWN: dict[float, float] = {-2: 0, -1: 0}
THREE_LEVELS: dict[float, float] = {0: 0, 1: 1, 2: 2, 3: 2}  # NIST's four grades as RF has three
STEPS = 6


@dataclass(frozen=True, eq=False)
class Crowd:
    """Labels with gold grades; -2 is a broken link, -1 an unknown gold grade.

    about : where they are from; public : they are the paper's own.
    """

    name: str
    about: str
    public: bool
    labels: Judgments
    gold: Judgments


@dataclass(frozen=True, eq=False)
class Collection:
    """Runs with the panel that judged them.

    judgments : on one scale. gold : one assessor's grades, for the scores; levels : the same in three levels.
    relevant : the measure's rel, the lowest gold grade that counts as relevant.
    """

    name: str
    about: str
    simulated: bool
    runs: Runs
    judgments: Judgments
    gold: Judgments
    levels: Judgments
    relevant: int


@dataclass(frozen=True, eq=False)
class Magnitudes:
    """Magnitudes on each topic's common scale, with gold (relevant or not), runs, and the check documents.

    checks : {topic: (H, N)}.
    """

    about: str
    runs: Runs
    judgments: Judgments
    gold: Judgments
    checks: dict[str, tuple[str, str]]


@dataclass(frozen=True, eq=False)
class CrowdFound:
    """Section 4 on labels.

    by_gold : alpha of every topic, with an interval, and of its gold levels, of documents labelled twice or more.
    strict : the same of documents with five labels; readings : {what was done otherwise: the same}.
    ordinal : correlation over topics of interval with ordinal alpha.
    n_labels : (2,) labels of documents that have gold, and of those with five.
    pairs : names of any two document sets; orders : (orders, pairs) Table 2 when other labels come first.
    """

    by_gold: AlphaByGold
    strict: AlphaByGold
    readings: dict[str, AlphaByGold]
    ordinal: float
    n_labels: tuple[int, int]
    pairs: tuple[tuple[str, str], ...]
    orders: Floats


@dataclass(frozen=True, eq=False)
class CollectionFound:
    """Sections 4.2 and 5 on runs, and section 6.2 on the same assessors' gains.

    in_bins : bins of topics removed.
    interpolated : correlations by system and by topic of nDCG with itself, a quarter of the scores lost and filled in.
    """

    by_gold: AlphaByGold
    ease: EaseCorrelation
    removal: TopicRemoval
    in_bins: TopicRemoval
    interpolated: tuple[float, float]
    aware: Scatter


@dataclass(frozen=True, eq=False)
class MagnitudesFound:
    """Sections 4.3 and 6 on magnitudes.

    ease : nDCG against alpha of all documents. listed, ideal : one list's gain as curves, and the best list's.
    checks : {topic: (logs of H, logs of N)}.
    """

    by_gold: AlphaByGold
    matched: MatchedSize
    ease: EaseCorrelation
    aware: AgreementAware
    against: Scatter
    listed: GainDensity
    ideal: GainDensity
    checks: dict[str, tuple[Floats, Floats]]


@dataclass(frozen=True, eq=False)
class AgreementStudy:
    """All that figures and tables are drawn from.

    seed : give it as `rng` to see the same again.
    """

    crowd: Crowd
    in_crowd: CrowdFound
    collections: tuple[Collection, ...]
    in_collections: tuple[CollectionFound, ...]
    magnitudes: Magnitudes
    in_magnitudes: MagnitudesFound
    seed: Seed
    quick: bool


def agreement_study(
    data: str | None = None, *, quick: bool = False, rng: Rng = 1, progress: Progress | None = None
) -> AgreementStudy:
    """Everything the paper computes, on the data at hand.

    data : folder that holds trec-rf10, dl21 and dl19, or some of them; simulated ones stand in for others.
    quick : a minute's version: fewer repetitions, a smaller simulated panel of magnitudes.

    Raises
    ------
    InputError
        The folder holds none of the three.
    """
    seed = seed_of(rng)
    chance = Chance.of(seed)
    finished: list[str] = []

    def advance(what: str) -> None:
        finished.append(what)
        if progress:
            progress(what, len(finished), STEPS)

    folder = None if data is None else Path(data)
    there = [] if folder is None else [name for name in (RF, *YEARS) if (folder / name).is_dir()]
    if folder is not None and not there:
        raise InputError(f"{folder}: it holds none of {RF}, {', '.join(YEARS)}; --data wants a folder that does")
    crowd = read_crowd(folder / RF) if folder and RF in there else simulated_crowd(chance.stream("crowd"))
    advance("labels")
    in_crowd = crowd_agreement(crowd, replicates=100 if quick else 1000, orders=60 if quick else 200, rng=seed)
    advance("agreement")
    collections = tuple(read_collection(folder / year) for year in YEARS if folder and year in there)
    if not collections:
        collections = (simulated_collection(chance.stream("collection")),)
    advance("runs")
    repetitions = 50 if quick else 300
    results = tuple(collection_agreement(one, repetitions=repetitions, rng=seed) for one in collections)
    advance("topics removed")
    magnitudes = simulated_magnitudes(0.25 if quick else 1.0, 20 if quick else 129, rng=chance.stream("magnitudes"))
    advance("magnitudes")
    in_magnitudes = magnitude_agreement(magnitudes, repetitions=repetitions, rng=seed)
    advance("gain distributions")
    return AgreementStudy(crowd, in_crowd, collections, results, magnitudes, in_magnitudes, seed, quick)


# ---------------------------------------------------------------------- data


def read_crowd(folder: Path) -> Crowd:
    """The paper's RF: labels of TREC 2010 Relevance Feedback (section 3.1.1). A broken link is label -2."""
    import pandas as pd

    path = folder / "trec-rf10-data.txt.gz"
    if not path.is_file():
        raise InputError(f"{path}: there is no such file; the release of the track's labels holds it")
    labels = files.read_judgments([str(path)])
    rows = pd.read_csv(path, sep="\t", dtype=str, usecols=["topicID", "docID", "gold"]).drop_duplicates()
    gold = Judgments.from_frame(rows.astype({"gold": float}).rename(columns={"gold": "grade"}), assessor="NIST")
    return Crowd("rf10", "labels of TREC 2010 Relevance Feedback, the paper's own RF", True, labels, gold)


def simulated_crowd(rng: Rng) -> Crowd:
    """100 topics of 35 documents, five labels each, of noisier and less noisy topics."""
    chance = Chance.of(rng)
    truth = simulate_pool(100, 35, n_grades=3, prevalence=(0.45, 0.3, 0.25), rng=chance.stream("pool"))
    parts = []
    for number, noise in enumerate((0.8, 1.2, 1.6, 2.0, 2.6)):
        workers = {f"worker-{w:02}": Lenient(noise=noise) for w in range(1, 21)}
        judgments = simulate_judgments(truth, workers, coverage=0.3, rng=chance.stream("labels", number))
        parts.append(judgments.select(topics=list(truth.pool.topics[number::5])))
    about = "simulated, in the size of the paper's RF (100 topics, five labels a document)"
    return Crowd("simulated", about, False, concatenate_judgments(parts), truth.judgments())


def read_collection(folder: Path) -> Collection:
    """A year of TREC Deep Learning, passages, judged by language models; every scale divided by its maximum."""
    runs = files.read_runs([str(folder / "runs")])
    judgments = files.read_judgments([str(folder / "judges")]).rescaled()
    gold = files.read_judgments([str(folder / "qrels.nist.txt")])
    about = (
        f"TREC 20{folder.name[2:]} Deep Learning, passages: {len(runs.systems)} runs, {len(runs.topics)} topics, "
        f"{len(judgments.assessors)} model assessors in units of each scale's maximum; gold: NIST, grades 2 and 3 as "
        "one"
    )
    return Collection(folder.name, about, False, runs, judgments, gold, gold.recode(THREE_LEVELS), 2)


def simulated_collection(rng: Rng) -> Collection:
    """80 topics, 40 systems and five assessors, who err alike on every topic."""
    chance = Chance.of(rng)
    truth = simulate_pool(80, 100, n_grades=3, prevalence=(0.6, 0.25, 0.15), rng=chance.stream("pool"))
    runs = simulate_runs(truth, 40, depth=50, rng=chance.stream("runs"))
    panel = {f"assessor-{a}": Lenient(noise=1.5) for a in range(1, 6)}
    judgments = simulate_judgments(truth, panel, rng=chance.stream("judgments"))
    about = "simulated: 80 topics, 40 runs, five assessors, who err alike on every topic"
    gold = truth.judgments()
    return Collection("simulated", about, True, runs, judgments, gold, gold, 1)


def simulated_magnitudes(scale: float = 1.0, n_systems: int = 129, *, rng: Rng) -> Magnitudes:
    """In the size of the paper's ME: 18 topics whose H and N get 182 to 695 magnitudes, ten for the other documents.

    scale : shrinks the topics. The noise is such that alpha is about as high as the paper's.
    """
    chance = Chance.of(rng)
    sizes = [round(scale * n) for n in np.geomspace(111, 419, 18)]  # ceil(10 (n - 2) / 6) units: 182 to 695
    truth = simulate_pool(18, sizes, n_grades=2, prevalence=0.3, topic_variance=0.1, rng=chance.stream("pool"))
    judgments = simulate_magnitudes(truth, 1500, crowd=MagnitudeCrowd(noise=0.9), rng=chance.stream("magnitudes"))
    names = truth.pool.documents
    checks = {
        topic: (names[truth.pool.document[h]], names[truth.pool.document[n]])
        for topic, h, n in zip(truth.pool.topics, *(rows.tolist() for rows in check_documents(truth)), strict=True)
    }
    runs = simulate_runs(truth, n_systems, depth=100, quality=(0.1, 1.5), rng=chance.stream("runs"))
    about = f"simulated, in the size of the paper's ME: 18 topics, {sum(sizes):,} documents, {n_systems} runs"
    return Magnitudes(about, runs, normalise(judgments), truth.judgments(), checks)


# ---------------------------------------------------------------------- what is computed


def crowd_agreement(crowd: Crowd, *, replicates: int = 1000, orders: int = 200, rng: Rng = 1) -> CrowdFound:
    """Alpha by topic and by gold level (sections 4.1, 4.3 and 4.4; Figures 1 and 3, Table 2).

    orders : how often to put the labels of every document in another order before taking the first five.
    """
    seed = seed_of(rng)
    labels = crowd.labels.recode(BROKEN)

    def alphas_of(
        labels: Judgments, level: Level = "interval", gold: Judgments = crowd.gold, **other: int
    ) -> AlphaByGold:
        return alpha_by_gold(
            labels,
            gold,
            level=level,
            by="topic",
            slots=other.get("slots", LABELS),
            min_judgments=other.get("least", 2),
            n_resamples=other.get("n_resamples", 0),
            resample="documents",
            rng=seed,
        )

    by_gold = alphas_of(labels, n_resamples=replicates)
    strict, ordinal = alphas_of(labels, least=LABELS), alphas_of(labels, "ordinal")
    pairs, _ = table_2(by_gold)
    readings = {
        "two labels or more, the first five": by_gold,
        "five labels, the first five": strict,
        "five labels, ordinal alpha": alphas_of(labels, "ordinal", least=LABELS),
        "two labels or more, all of them": alphas_of(labels, slots=MANY),
        UNBROKEN: alphas_of(crowd.labels),
        "unknown gold as 0": alphas_of(labels, gold=crowd.gold.recode(UNKNOWN)),
    }
    random = Chance.of(seed).stream("orders")
    other = np.empty((orders, len(pairs)))
    known = _with_gold(labels, crowd.gold)  # the others count nowhere and only cost time
    for row in range(orders):
        shuffled = replace(known, order=random.permutation(len(known)).astype(np.float64))
        other[row] = table_2(alphas_of(shuffled))[1]
    alike = float(np.corrcoef(by_gold.value[:, -1], ordinal.value[:, -1])[0, 1])
    alphas = [[row[-1] for row in one.alphas] for one in (by_gold, strict)]
    loose = sum(alpha.n_judgments + alpha.n_left_out for alpha in alphas[0])  # who was labelled once has one label
    n_labels = (loose, sum(alpha.n_judgments for alpha in alphas[1]))
    return CrowdFound(by_gold, strict, readings, alike, n_labels, pairs, other)


def collection_agreement(collection: Collection, *, repetitions: int = 300, rng: Rng = 1) -> CollectionFound:
    """Ease against agreement, topics removed (sections 4.2, 5), and scores with agreement against AP (section 6.2)."""
    runs, seed = collection.runs, seed_of(rng)
    scores = evaluate(runs, collection.gold, "nDCG")
    by_gold = alpha_by_gold(collection.judgments, collection.levels, level="interval", by="topic")
    ease = ease_correlation(scores, by_gold.by_topic(), bins=BINS)
    alphas = dict(zip(by_gold.topics, by_gold.of(by_gold.names[-1]).tolist(), strict=True))
    removal = topic_removal(scores, alphas, n_resamples=repetitions, rng=seed)
    in_bins = topic_removal(scores, alphas, bins=BINS[1], n_resamples=repetitions, rng=seed)
    table = scores.values[0, 0]
    lost = np.where(Chance.of(seed).stream("missing").random(table.shape) < MISSING, np.nan, table)
    filled = interpolated(lost)
    correlations = [float(np.corrcoef(known_mean(filled, axis), known_mean(table, axis))[0, 1]) for axis in (0, 1)]
    aware = _against_ap(
        _agreement_aware(runs, gain_distributions(collection.judgments)), runs, collection.gold, collection.relevant
    )
    return CollectionFound(by_gold, ease, removal, in_bins, (correlations[0], correlations[1]), aware)


def magnitude_agreement(panel: Magnitudes, *, repetitions: int = 300, rng: Rng = 1) -> MagnitudesFound:
    """Alpha of logs by gold level (section 4.3), gains as distributions and the measure made of them (section 6)."""
    by_gold = alpha_by_gold(panel.judgments, panel.gold, level="interval", by="topic", slots=CUTOFF, logs=True)
    matched = alpha_of_matched_subsets(
        panel.judgments,
        panel.gold,
        level="interval",
        slots=CUTOFF,
        logs=True,
        n_resamples=repetitions,
        rng=seed_of(rng),
    )
    ease = ease_correlation(evaluate(panel.runs, panel.gold, "nDCG"), by_gold.by_topic(), bins=())
    made = gain_distributions(panel.judgments, gains="log")
    aware = _agreement_aware(panel.runs, made)
    topic = panel.runs.topics[0]
    t = aware.topics.index(topic)
    system = aware.systems[int(np.argsort(aware.mean[t])[aware.mean.shape[1] // 2])]  # the one in the middle
    listed, ideal = (density(panel.runs, made, topic, system=who, cutoff=CUTOFF) for who in (system, None))
    checks = {
        name: (_logs(panel.judgments, name, high), _logs(panel.judgments, name, low))
        for name, (high, low) in panel.checks.items()
    }
    against = _against_ap(aware, panel.runs, panel.gold, 1)
    return MagnitudesFound(by_gold, matched, ease, aware, against, listed, ideal, checks)


def _with_gold(labels: Judgments, gold: Judgments) -> Judgments:
    """The labels of documents whose gold grade is 0 or more."""
    grades = gold.to_frame()
    grades = grades.loc[grades["value"] >= 0, ["topic", "document"]]
    return Judgments.from_frame(labels.to_frame().merge(grades, on=["topic", "document"]))


def table_2(alphas: AlphaByGold) -> tuple[tuple[tuple[str, str], ...], Floats]:
    """Names of any two document sets, and Pearson's correlation of their alphas: Table 2."""
    frame = alphas.correlations()
    return tuple(zip(frame["first"], frame["second"], strict=True)), frame["pearson"].to_numpy(np.float64)


def _agreement_aware(runs: Runs, made: GainDistributions) -> AgreementAware:
    """AANDCG@10 as the paper has it."""
    return agreement_aware_ndcg(runs, made, cutoff=CUTOFF, cumulate="mixture", dcg="original")


def _against_ap(aware: AgreementAware, runs: Runs, gold: Judgments, relevant: int) -> Scatter:
    """AANDCG@10 and AP of the same systems on the same topics (Figure 8)."""
    named = "AP" if relevant == 1 else f"AP(rel={relevant})"
    second = replace(aware.scores().sel(measure=aware.measure), measures=(f"AANDCG@{CUTOFF}",))
    return scatter(evaluate(runs, gold, named), second)


def _logs(judgments: Judgments, topic: str, document: str) -> Floats:
    """Logs of one document's magnitudes."""
    t, d = judgments.topics.index(topic), judgments.documents.index(document)
    return np.asarray(np.log(judgments.value[(judgments.topic == t) & (judgments.document == d)]))
