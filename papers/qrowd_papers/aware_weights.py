"""When do AWARE's weights help? Weighted and equal weights against a gold assessor, on every panel at hand.

A trial is a panel of assessors, a measure and a gold assessor. For each estimator, the systems' mean scores by AWARE
are compared with those by the gold: root mean squared error (RMSE) and Kendall's tau-b, beside the same of equal
weights. The real trials share runs, gold and many judges, so that they are not independent of each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from qrowd import files
from qrowd.aware import DEFAULT, assessor_weights, similarity_to_random
from qrowd.aware.estimators import UNIFORM
from qrowd.aware.similarity import Polarity
from qrowd.comparison.correlation import kendall_tau_b, rmse
from qrowd.errors import InputError
from qrowd.evaluation import evaluate
from qrowd.model.chance import Chance, Rng, seed_of
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.model.runs import Runs
from qrowd.simulation import (
    AllRelevant,
    Behaviour,
    Lazy,
    Lenient,
    Random,
    simulate_judgments,
    simulate_pool,
    simulate_runs,
)
from qrowd_papers.aware.claims import NIST
from qrowd_papers.aware.study import PRINTED
from qrowd_papers.panels import relevant_from

MEASURES = ("AP", "nDCG@10")
ESTIMATORS = (
    DEFAULT,
    "sgl_rmse_msd",
    "sgl_fro_md",
    "tpc_fro_md",
    "tpc_kld_md",
    "sgl_tau_msd",
    f"sgl_rmse_msd{PRINTED}",
)
CUTS = (0.3, 0.5, 0.9)
"""Real judges call relevant what has at least this share of their scale's maximum."""
PROMPTS = ("binary", "exam", "nuggets", "umbrela")
CHANCE_PANELS = 6  # panels of four judges drawn by chance, of each year and cut
DRAWS = 10  # simulated collections of each kind
N = 100  # random assessors of each level
UNJUDGED = {"40 % unjudged": 0.4, "all judged": 0.0}
"""Share of what a simulated system retrieves that nobody judged."""


@dataclass(frozen=True)
class Trial:
    """One panel and measure.

    source : "simulated" or the real collection. panel : who judged. cut : of real judges, see `CUTS`; nan of others.
    collection : what is judged of the runs. rmse, tau : {estimator: against the gold}, `UNIFORM` included.
    by_weight, equal : mean agreement of the assessors with the others, by the weights of `DEFAULT` and by equal ones.
    """

    source: str
    panel: str
    cut: float
    collection: str
    measure: str
    rmse: Mapping[str, float]
    tau: Mapping[str, float]
    by_weight: float
    equal: float


def trials(
    runs: Runs,
    judgments: Judgments,
    gold: Judgments,
    *,
    source: str,
    panel: str,
    cut: float = np.nan,
    collection: str = "",
    n: int = N,
    rng: Rng = None,
) -> list[Trial]:
    """One panel by every measure. Means go over the topics where the gold and the panel have a score."""
    similarities = similarity_to_random(runs, judgments, list(MEASURES), n_resamples=n, rng=rng, threads=1)
    true = evaluate(runs, gold, list(MEASURES), conventions=Conventions(empty="nan"), threads=1)
    place = [true.topics.index(topic) for topic in similarities.scores.topics]
    by_weight, equal = assessor_weights(similarities, DEFAULT).mean_agreement
    averages = {}
    for name in (UNIFORM, *ESTIMATORS):
        polarity: Polarity = "printed" if name.endswith(PRINTED) else "dissimilarity"
        averages[name] = similarities.average(name.removesuffix(PRINTED), polarity=polarity).values[:, 0]
    found = []
    for m, measure in enumerate(MEASURES):
        wanted = true.values[m, 0, place]
        known = ~np.isnan(wanted[:, 0]) & ~np.isnan(averages[UNIFORM][m, :, 0])
        means = {name: values[m, known].mean(axis=0) for name, values in averages.items()}
        by_gold = wanted[known].mean(axis=0)
        found.append(
            Trial(
                source,
                panel,
                cut,
                collection,
                measure,
                {name: rmse(mean, by_gold) for name, mean in means.items()},
                {name: kendall_tau_b(mean, by_gold) for name, mean in means.items()},
                float(by_weight[m]),
                float(equal[m]),
            )
        )
    return found


def real_trials(
    data: str, *, n: int = N, rng: Rng = None, progress: Callable[[int, int], None] | None = None
) -> Iterator[Trial]:
    """Judges of dl21 and dl19: all, those of one prompt, people, and fours drawn by chance; each with three cuts."""
    seed = seed_of(rng)
    for year, sources in (("dl21", ["judges"]), ("dl19", ["judges", "humans/main.tsv"])):
        folder = Path(data) / year
        if not folder.is_dir():
            raise InputError(f"{folder}: there is no such folder; --data wants one that holds dl19 and dl21")
        runs = files.read_runs([str(folder / "runs")])
        gold = files.read_judgments([str(folder / "qrels.nist.txt")]).recode(NIST)
        everyone = concatenate_judgments([files.read_judgments([str(folder / part)]) for part in sources])
        panels = _panels(everyone.assessors, Chance.of(seed).stream(year))
        done: set[tuple[str, bytes]] = set()
        for c, cut in enumerate(CUTS):
            judges = relevant_from(everyone, cut)
            for name, members in panels.items():
                panel = judges.select(assessors=members)
                if (name, panel.value.tobytes()) in done:  # yes and no are the same with every cut
                    continue
                done.add((name, panel.value.tobytes()))
                yield from trials(runs, panel, gold, source=year, panel=name, cut=cut, n=n, rng=seed)
            if progress is not None:
                progress(3 * (year == "dl19") + c + 1, 6)


def _panels(assessors: Sequence[str], random: np.random.Generator) -> dict[str, list[str]]:
    """{what the panel is called: its members}."""
    models = [name for name in assessors if name.startswith(PROMPTS)]
    panels = {"all": list(assessors)}
    for prompt in PROMPTS:
        members = [name for name in models if name.startswith(prompt)]
        if len(members) > 2:
            panels[prompt] = members
    if len(models) < len(assessors):
        panels["models"] = models
        panels["people"] = [name for name in assessors if name not in models]
    for number in range(1, CHANCE_PANELS + 1):
        panels[f"four models by chance, {number}"] = sorted(random.permutation(models)[:4].tolist())
    return panels


def simulated_panels(random: np.random.Generator) -> dict[str, dict[str, Behaviour]]:
    """{kind: its assessors}; shifts and noise in standard deviations of relevance, where no more is said."""
    careful: dict[str, Behaviour] = {f"a{i}": Lenient(0.0, 0.5, 0.0) for i in range(7)}

    def each(shifts: Sequence[float], noises: Sequence[float], appeal: float = 0.0) -> dict[str, Behaviour]:
        return {f"a{i}": Lenient(s, e, appeal) for i, (s, e) in enumerate(zip(shifts, noises, strict=True))}

    def some(n: int, *by_lot: float) -> dict[str, Behaviour]:
        return {**dict(list(careful.items())[:n]), **{f"r{i}": Random(p) for i, p in enumerate(by_lot)}}

    return {
        "random errors, equally large": each([0.0] * 8, [0.6] * 8),
        "random errors, from small to large": each([0.0] * 8, np.linspace(0.2, 2.5, 8).tolist()),
        "three of eight judge by lot": some(5, 0.1, 0.5, 0.5),
        "four of eight judge by lot": some(4, 0.1, 0.3, 0.5, 0.5),
        "two severe, two lenient": each([-0.9, -0.3, 0.3, 0.9], [0.3] * 4),
        "eight, severe or lenient by chance": each(random.uniform(-1, 1, 8).tolist(), [0.5] * 8),
        "eight, all lenient": each(np.linspace(0.1, 0.8, 8).tolist(), [0.5] * 8, 0.3),
        "severity and random errors differ": each(
            random.uniform(-0.7, 0.7, 8).tolist(), random.uniform(0.2, 2, 8).tolist(), 0.2
        ),
        "one of eight marks one document a topic": {**careful, "lazy": Lazy()},
        "one of eight calls everything relevant": {**careful, "all relevant": AllRelevant()},
    }


KINDS = tuple(simulated_panels(np.random.default_rng(0)))


def simulated_trials(
    kinds: Sequence[str] = KINDS,
    *,
    collections: Mapping[str, float] = UNJUDGED,
    draws: int = DRAWS,
    n: int = N,
    rng: Rng = None,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[Trial]:
    """Panels whose assessors err as described: 30 systems, 25 topics of 60 documents, in `draws` collections.

    collections : {what is judged of the runs: share of what is retrieved that nobody judged}.
    """
    chance = Chance.of(seed_of(rng))
    for number in range(1, draws + 1):
        truth = simulate_pool(25, 60, n_grades=2, prevalence=0.3, rng=chance.stream("pool", number))
        panels = simulated_panels(chance.stream("assessors", number))
        for collection, unjudged in collections.items():
            random = chance.stream(collection, number)
            runs = simulate_runs(truth, 30, quality=(0.3, 1.5), depth=60, unjudged_share=unjudged, rng=random)
            for kind in kinds:
                judgments = simulate_judgments(truth, panels[kind], rng=chance.stream(kind, number))
                yield from trials(
                    runs, judgments, truth.judgments(), source="simulated", panel=kind, collection=collection, n=n,
                    rng=chance.stream("random", number),
                )  # fmt: skip
        if progress is not None:
            progress(number, draws)
