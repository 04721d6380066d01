"""When do AWARE's weights help? Weighted and equal weights against a gold assessor, on every panel at hand.

A trial is a panel of assessors, a measure and a gold assessor. For each estimator, the systems' mean scores by AWARE
are compared with those by the gold: root mean squared error (RMSE) and Kendall's tau-b, beside the same of equal
weights. The real trials share runs, gold and many assessors, so that they are not independent of each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from qrowd import files
from qrowd.aware import assessor_weights, similarity_to_random
from qrowd.aware.estimators import DEFAULT, UNIFORM
from qrowd.aware.similarity import Polarity
from qrowd.comparison.rankings import kendall_tau_b, rmse
from qrowd.errors import InputError
from qrowd.evaluation import evaluate
from qrowd.model.chance import Chance, Rng, seed_of
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.model.runs import Runs
from qrowd.reports.aware import LEAST_DIFFERENCE
from qrowd.reports.document import Document, Table
from qrowd.reports.phrases import number
from qrowd.simulation import (
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
from qrowd_papers.frames import frame_of
from qrowd_papers.panels import relevant_from
from qrowd_papers.simulations import Progress, each

if TYPE_CHECKING:
    import pandas

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
"""Real assessors call relevant what has at least this share of their scale's maximum."""
PROMPTS = ("binary", "exam", "nuggets", "umbrela")
CHANCE_PANELS = 6  # panels of four models drawn by chance, of each year and cut
DRAWS = 10  # simulated collections of each kind
N = 100  # random assessors of each level
UNJUDGED = {"40 % unjudged": 0.4, "all judged": 0.0}
"""Share of what a simulated system retrieves that nobody judged."""


@dataclass(frozen=True)
class Trial:
    """One panel and measure.

    source : "simulated" or the real collection. panel : who judged. cut : of real assessors, see `CUTS`; nan of others.
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
    results = []
    for m, measure in enumerate(MEASURES):
        wanted = true.values[m, 0, place]
        known = ~np.isnan(wanted[:, 0]) & ~np.isnan(averages[UNIFORM][m, :, 0])
        means = {name: values[m, known].mean(axis=0) for name, values in averages.items()}
        by_gold = wanted[known].mean(axis=0)
        results.append(
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
    return results


def real_trials(data: str, *, n: int = N, rng: Rng = None, progress: Progress | None = None) -> Iterator[Trial]:
    """Assessors of dl21 and dl19: all, those of one prompt, people, and fours drawn by chance; each with three cuts."""
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
            judgments = relevant_from(everyone, cut)
            for name, members in panels.items():
                panel = judgments.select(assessors=members)
                if (name, panel.value.tobytes()) in done:  # yes and no are the same with every cut
                    continue
                done.add((name, panel.value.tobytes()))
                yield from trials(runs, panel, gold, source=year, panel=name, cut=cut, n=n, rng=seed)
            if progress is not None:
                progress("real", 3 * (year == "dl19") + c + 1, 6)


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
    for i in range(1, CHANCE_PANELS + 1):
        panels[f"four models by chance, {i}"] = sorted(random.permutation(models)[:4].tolist())
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
        "one of eight calls everything relevant": {**careful, "all relevant": Random(1.0)},
    }


KINDS = tuple(simulated_panels(np.random.default_rng(0)))


def simulated_trials(
    kinds: Sequence[str] = KINDS,
    *,
    collections: Mapping[str, float] = UNJUDGED,
    draws: int = DRAWS,
    n: int = N,
    rng: Rng = None,
    progress: Progress | None = None,
) -> Iterator[Trial]:
    """Panels whose assessors err as described: 30 systems, 25 topics of 60 documents, in `draws` collections.

    collections : {what is judged of the runs: share of what is retrieved that nobody judged}.
    """
    chance = Chance.of(seed_of(rng))
    for draw in each(range(1, draws + 1), "simulated", progress):
        truth = simulate_pool(25, 60, n_grades=2, prevalence=0.3, rng=chance.stream("pool", draw))
        panels = simulated_panels(chance.stream("assessors", draw))
        for collection, unjudged in collections.items():
            random = chance.stream(collection, draw)
            runs = simulate_runs(truth, 30, quality=(0.3, 1.5), depth=60, unjudged_share=unjudged, rng=random)
            for kind in kinds:
                judgments = simulate_judgments(truth, panels[kind], rng=chance.stream(kind, draw))
                yield from trials(
                    runs, judgments, truth.judgments(), source="simulated", panel=kind, collection=collection, n=n,
                    rng=chance.stream("random", draw),
                )  # fmt: skip


# ---------------------------------------------------------------------- the page

SHOWN = (UNIFORM, DEFAULT, "sgl_rmse_msd", f"sgl_rmse_msd{PRINTED}")


def aware_weights_page(
    data: str | None = None,
    *,
    quick: bool = False,
    rng: Rng = None,
    progress: Progress | None = None,
) -> Document:
    """Weighted and equal weights on every panel.

    data : folder that holds dl21 and dl19, or None for simulated panels alone. quick : one simulated collection of
        each kind, 20 random assessors of each level, and no real panel.
    """
    seed = seed_of(rng)
    draws, n = (1, 20) if quick else (DRAWS, N)

    simulated = list(simulated_trials(draws=draws, n=n, rng=seed, progress=progress))
    real = [] if data is None or quick else list(real_trials(data, n=n, rng=seed, progress=progress))
    groups = {"real": real, "simulated": simulated} if real else {"simulated": simulated}
    tables = [*summaries(groups), *diagnostics(groups), by_kind(simulated), *_each_real(real)]
    notes = [
        "figures: of the systems' mean scores against the gold's; RMSE is the root mean squared error, tau-b Kendall's",
        f"estimators: seven that did well, or are often named, among all thirty on earlier draws of such panels; "
        f"{DEFAULT} became the default after looking at them",
        f"random assessors: {n} of each level; seed: {seed}",
        f"simulated: {draws} collections of 25 topics, 60 documents a topic and 30 systems, each with "
        f"{' and with '.join(UNJUDGED)} of what is retrieved; yes-or-no judgments; the gold is the truth",
    ]
    if real:
        notes.append(
            "real: NIST's grades are the gold, relevant from 2 on; assessors call relevant what has at least the cut's "
            "share of their scale's maximum; trials of one collection share runs, gold and assessors, so that they are "
            "not independent and no standard errors are given"
        )
    return Document(_sentence(groups), tuple(tables), tuple(notes), lambda: _frame([*real, *simulated]))


def summary(trials: Sequence[Trial], name: str) -> dict[str, float]:
    """How an estimator compares with equal weights over trials.

    rmse_ratio : geometric mean of RMSE by RMSE with equal weights; rmse_worst : the highest; rmse_better : share of
    trials where it is below 1. tau_gain : mean difference of tau-b from that of equal weights; tau_worst : the lowest;
    tau_better, tau_worse : share of trials where it is above, below 0.
    """
    ratio = np.array([trial.rmse[name] / trial.rmse[UNIFORM] for trial in trials])
    gain = gains(trials, name)
    return {
        "rmse_ratio": float(np.exp(np.log(ratio).mean())),
        "rmse_worst": float(ratio.max()),
        "rmse_better": float((ratio < 1).mean()),
        "tau_gain": float(gain.mean()),
        "tau_worst": float(gain.min()),
        "tau_better": float((gain > 0).mean()),
        "tau_worse": float((gain < 0).mean()),
    }


def gains(trials: Sequence[Trial], name: str) -> NDArray[np.float64]:
    """(trials,) tau-b minus that of equal weights; equal but for rounding is equal."""
    return np.round([trial.tau[name] - trial.tau[UNIFORM] for trial in trials], 12)


def summaries(groups: dict[str, list[Trial]]) -> Iterator[Table]:
    """Every estimator beside equal weights, real and simulated trials apart."""
    header = ["estimator", "RMSE ratio", "highest", "better", "tau-b gain", "lowest", "better ", "worse"]
    for group, trials in groups.items():
        rows = []
        for name in ESTIMATORS:
            results = summary(trials, name)
            rows.append(
                [
                    name, number(results["rmse_ratio"], 3), number(results["rmse_worst"], 2),
                    f"{results['rmse_better']:.0%}", f"{results['tau_gain']:+.4f}", f"{results['tau_worst']:+.4f}",
                    f"{results['tau_better']:.0%}", f"{results['tau_worse']:.0%}",
                ]
            )  # fmt: skip
        yield Table(
            f"{group}: estimators beside equal weights, {len(trials)} trials; RMSE ratio: geometric mean", header, rows
        )


def diagnostics(groups: dict[str, list[Trial]]) -> Iterator[Table]:
    """What the note of `qrowd aware` is worth: gains of the default, by how its weights go with agreement."""
    header = ["assessors with more weight agree with the others", "trials", "RMSE ratio", "better", "tau-b gain"]
    header += ["lowest", "better ", "worse"]
    for group, trials in groups.items():
        difference = np.array([trial.by_weight - trial.equal for trial in trials])
        rows = []
        for what, chosen in (
            ("more", difference > LEAST_DIFFERENCE),
            ("alike", np.abs(difference) <= LEAST_DIFFERENCE),
            ("less", difference < -LEAST_DIFFERENCE),
        ):
            those = [trial for trial, wanted in zip(trials, chosen, strict=True) if wanted]
            cells = ["-"] * 6
            if those:
                results = summary(those, DEFAULT)
                cells = [
                    number(results["rmse_ratio"], 3), f"{results['rmse_better']:.0%}", f"{results['tau_gain']:+.4f}",
                    f"{results['tau_worst']:+.4f}", f"{results['tau_better']:.0%}", f"{results['tau_worse']:.0%}",
                ]  # fmt: skip
            rows.append([what, str(len(those)), *cells])
        yield Table(
            f"{group}: {DEFAULT} beside equal weights, by whether mean tau-b with the other assessors is higher by "
            f"weight (by more than {LEAST_DIFFERENCE:g})",
            header,
            rows,
        )


def by_kind(trials: Sequence[Trial]) -> Table:
    """Simulated panels: means over collections."""
    kinds = dict.fromkeys((trial.panel, trial.collection, trial.measure) for trial in trials)
    rows = []
    for kind in kinds:
        those = [trial for trial in trials if (trial.panel, trial.collection, trial.measure) == kind]
        rows.append([*kind, *_figures(those)])
    title = "simulated panels: mean RMSE and tau-b against the truth"
    return Table(title, ["panel", "runs", "measure", *_header()], rows)


def _each_real(trials: Sequence[Trial]) -> Iterator[Table]:
    for source in dict.fromkeys(trial.source for trial in trials):
        rows = [
            [trial.panel, f"{trial.cut:g}", trial.measure, *_figures([trial])]
            for trial in trials
            if trial.source == source
        ]
        yield Table(f"{source}: RMSE and tau-b against NIST", ["assessors", "cut", "measure", *_header()], rows)


def _header() -> list[str]:
    names = ["equal" if name == UNIFORM else name for name in SHOWN]
    return [*(f"RMSE {name}" for name in names), *(f"tau-b {name}" for name in names)]


def _figures(trials: Sequence[Trial]) -> list[str]:
    return [
        *(number(float(np.mean([trial.rmse[name] for trial in trials]))) for name in SHOWN),
        *(number(float(np.mean([trial.tau[name] for trial in trials])), 3) for name in SHOWN),
    ]


def _frame(trials: Sequence[Trial]) -> pandas.DataFrame:
    """One row per trial and estimator."""
    names = ("source", "panel", "cut", "collection", "measure")
    rows = (
        (
            *(getattr(trial, name) for name in names),
            name,
            trial.rmse[name],
            trial.tau[name],
            trial.by_weight,
            trial.equal,
        )
        for trial in trials
        for name in trial.rmse
    )
    return frame_of(rows, [*names, "estimator", "rmse", "tau_b", "agreement_by_weight", "agreement_equal"])


def _sentence(groups: dict[str, list[Trial]]) -> str:
    parts = []
    for group, trials in groups.items():
        results = summary(trials, DEFAULT)
        parts.append(
            f"of {len(trials)} {group} trials, RMSE is lower in {results['rmse_better']:.0%} (at worst "
            f"{results['rmse_worst']:.1f} times that of equal weights), tau-b higher in {results['tau_better']:.0%} "
            f"and lower in {results['tau_worse']:.0%} (mean gain {results['tau_gain']:+.3f}, at worst "
            f"{results['tau_worst']:+.3f})"
        )
    return f"AWARE's weights ({DEFAULT}) beside equal weights: {'; '.join(parts)}."
