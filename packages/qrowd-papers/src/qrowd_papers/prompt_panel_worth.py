"""What a panel of models and prompts is worth: its agreement with one person, in people and in topics saved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import inf, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qrowd import files
from qrowd.comparison import row_correlations
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Chance, Rng
from qrowd.model.judgments import concatenate_judgments
from qrowd.replacement.prediction_powered import Rule, effective_topics
from qrowd_papers.factor_components import assessor_factors
from qrowd_papers.simulations import Progress, each

if TYPE_CHECKING:
    import pandas

    from qrowd_papers.prompt_panel_data import PromptPanel

SIZES = (1, 2, 3, 5, 9, 27)  # prompts of a panel
FEW = 9  # panels of each size that are tried as predictions
ONE, ALL = "one model by chance", "all models"
Interval = tuple[float, float, float]  # a value, and 95 % of resamples
N_SPLITS = 20  # of topics into those with and without human judgments


@dataclass(frozen=True)
class Worth:
    """What panels of so many prompts are worth; means over panels.

    models : whose prompts: one model, "one model by chance" (the mean over models), or "all models" together.
    r : correlation of the panel's mean grade with the reference's over pairs. people : so many people instead of one
    gain as much squared correlation as this panel instead of one assessor; inf where no number does. tau : tau-b of the
    systems' ranking with the reference's. saved : share of the human topics that the panel saves in the limit, to
    compare systems with the best one. gained : topics that it is worth beside `n_human` human ones. low, high : for
    other topics.
    """

    models: str
    n_prompts: int
    n_assessors: int
    r: float
    r_low: float
    r_high: float
    people: float
    people_low: float
    people_high: float
    tau: float
    saved: float
    saved_low: float
    saved_high: float
    gained: float
    n_human: int


@dataclass(frozen=True, eq=False)
class Agreement:
    """With the reference, of panels of one kind: (1 + resamples of topics,), tau and gained (1,)."""

    r: Floats
    squared: Floats
    tau: Floats
    saved: Floats
    gained: Floats


@dataclass(frozen=True, eq=False)
class Agreements:
    """Of panels of each model, of one model by chance, and of all models, with the reference: by (models, prompts).

    models : the single ones. sizes : numbers of prompts. n_human : as in `Worth`.
    """

    panels: dict[tuple[str, int], Agreement]
    models: list[str]
    sizes: list[int]
    n_human: int


def agreements(
    panel: PromptPanel,
    *,
    n_draws: int = 30,
    n_resamples: int = 500,
    rng: Rng = None,
    progress: Progress | None = None,
) -> Agreements:
    """Panels of each model and of all models together, each prompt with all of them. n_draws : panels of a size."""
    chance = Chance.of(rng)
    levels = assessor_factors(panel.judgments.assessors, panel.pattern)[1]
    models, prompts = (np.array(column) for column in zip(*levels, strict=True))
    grades, y, topic = _grades(panel)
    values = panel.scores().values[0]
    n_topics = values.shape[1]
    of_topics = chance.stream("topics").multinomial(n_topics, np.full(n_topics, 1 / n_topics), size=n_resamples)
    weights = np.concatenate([np.ones((1, n_topics)), of_topics])
    n_human = 25 if n_topics > 40 else n_topics // 2
    splits = [chance.stream("split", i).permutation(n_topics) for i in range(N_SPLITS)]
    names = np.unique(prompts)
    sizes = [k for k in SIZES if k <= names.size]
    single = [str(model) for model in np.unique(models)]
    cells = [(label, k) for label in (*single, ALL) for k in sizes]
    found: dict[tuple[str, int], Agreement] = {}
    for label, k in each(cells, "panels", progress):
        of_kind = (models == label) | (label == ALL)
        draws = _panels(names, k, n_draws, chance.stream(label, k))
        panels = [np.flatnonzero(of_kind & np.isin(prompts, chosen)) for chosen in draws]
        r = _correlations(np.stack([_mean(grades[:, chosen]) for chosen in panels], axis=1), y, topic, weights)
        predictions = np.stack([_mean(values[1 + chosen].T).T for chosen in panels])
        few = predictions[:: -(-len(panels) // FEW)]
        found[label, k] = Agreement(
            r.mean(axis=1),
            (r**2).mean(axis=1),
            row_correlations(predictions.mean(axis=1), values[0].mean(axis=0)).mean(keepdims=True),
            np.mean([_saved(one, values[0], weights) for one in predictions], axis=0),
            np.mean([_gained(one, values[0], splits, n_human) for one in few], keepdims=True),
        )
    for k in sizes:
        found[ONE, k] = Agreement(
            *(np.mean([getattr(found[model, k], name) for model in single], axis=0) for name in vars(found[ALL, k]))
        )
    return Agreements(found, single, sizes, n_human)


def worth(found: Agreements, between_people: float = nan) -> list[Worth]:
    """What each panel is worth. between_people : mean correlation between two people, for `Worth.people`."""
    rows = []
    for label in (*found.models, ONE, ALL):
        first = found.panels[ONE if label == ALL else label, 1]
        for k in found.sizes:
            one = found.panels[label, k]
            people = people_for(one.squared / first.squared, between_people)
            n = k * (len(found.models) if label == ALL else 1)
            numbers = (*_with_interval(one.r), *_with_interval(people), float(one.tau[0]))
            rows.append(Worth(label, k, n, *numbers, *_with_interval(one.saved), float(one.gained[0]), found.n_human))
    return rows


def contrasts(found: Agreements) -> list[tuple[str, str, Interval, Interval]]:
    """Two panels, and the difference of their r and of the share they save, each with its interval over topics."""
    most = found.sizes[-1]
    best = max(found.models, key=lambda model: found.panels[model, 1].r[0])
    pairs = [
        ((best, most), (best, 1)), ((ONE, most), (ONE, 1)), ((ALL, 1), (ONE, most)), ((best, 1), (ALL, 1)),
        ((best, 1), (ALL, most)),
    ]  # fmt: skip
    rows = []
    for first, second in pairs:
        one, other = found.panels[first], found.panels[second]
        name, minus = (f"{label}, {k} prompt{'s' * (k > 1)}" for label, k in (first, second))
        rows.append((name, minus, _with_interval(one.r - other.r), _with_interval(one.saved - other.saved)))
    return rows


def people_for(gain: Any, between: float) -> Any:
    """How many people instead of one raise the squared correlation with another person by this factor.

    For people who agree with each other as with that person: n people gain n / (1 + (n - 1) between), at most
    1 / between; inf where the factor is larger.

    >>> round(float(people_for(4 / 3, 0.5)), 2), float(people_for(2.0, 0.5))
    (2.0, inf)
    """
    gain = np.asarray(gain, np.float64)
    rest = 1 - gain * between
    return np.where(
        rest > 1e-9, gain * (1 - between) / np.where(rest > 1e-9, rest, 1.0), inf if between == between else nan
    )


def people(data: str | Path) -> pandas.DataFrame:
    """Correlation of the mean grade of 1 to 8 people with NIST's, on the passages that all eight judged.

    Columns `n`, `r`, `lowest`, `highest` (over sets of people), `squared`, and `expected`, which is `squared` by the
    correlation between people; that is in `attrs["between"]`.
    """
    import pandas as pd

    folder = Path(data) / "dl19"
    judgments = files.read_judgments([str(folder / "humans" / "agreement-round.tsv")], scales={"*": "0-3"})
    nist = files.read_judgments({"NIST": folder / "qrels.nist.txt"}, scales={"NIST": "0-3"})
    values = concatenate_judgments([judgments, nist]).panel().values
    values = values[~np.isnan(values).any(axis=1)]
    grades, y = values[:, :-1], values[:, -1]
    n_people = grades.shape[1]
    correlations = np.asarray(np.corrcoef(grades.T))
    between = float(correlations[np.triu_indices(n_people, 1)].mean())
    rows = []
    for n in range(1, n_people + 1):
        r = np.array(
            [np.corrcoef(grades[:, chosen].mean(axis=1), y)[0, 1] for chosen in combinations(range(n_people), n)]
        )
        rows.append((n, r.mean(), r.min(), r.max(), (r**2).mean()))
    frame = pd.DataFrame(rows, columns=["n", "r", "lowest", "highest", "squared"])
    frame["expected"] = frame.squared[0] * frame.n / (1 + (frame.n - 1) * between)
    frame.attrs = {"between": between, "n_documents": len(y)}
    return frame


def _grades(panel: PromptPanel) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """(pairs, assessors) grades, those of the reference, and the topic of each pair."""
    judged = concatenate_judgments([panel.reference, panel.judgments]).panel()
    values = judged.values
    rows = ~np.isnan(values[:, 0])
    topic = judged.pool.topic
    return values[rows, 1:], values[rows, 0], topic[rows]


def _panels(prompts: NDArray[Any], k: int, n_draws: int, random: np.random.Generator) -> list[NDArray[Any]]:
    """Sets of k prompts: every one alone, all together, or drawn by chance."""
    if k == 1:
        return [prompts[i : i + 1] for i in range(prompts.size)]
    return [random.choice(prompts, k, replace=False) for _ in range(1 if k == prompts.size else n_draws)]


def _mean(values: Floats) -> Floats:
    """Means over the last axis without nan; nan where there is nothing else."""
    n = (~np.isnan(values)).sum(axis=-1)
    return np.asarray(np.where(n, np.nansum(values, axis=-1) / np.maximum(n, 1), np.nan))


def _correlations(x: Floats, y: Floats, topic: NDArray[np.int64], weights: Floats) -> Floats:
    """(resamples, columns) correlations of columns of x with y, topics weighted, without nan; 0 for a constant."""
    is_value = ~np.isnan(x)
    x, y = np.where(is_value, x - 1.5, 0.0), np.where(is_value, y[:, None] - 1.5, 0.0)
    starts = np.flatnonzero(np.diff(topic, prepend=-1))
    n, sx, sy, sxx, syy, sxy = (
        weights @ np.add.reduceat(part, starts, axis=0)
        for part in (is_value.astype(np.float64), x, y, x * x, y * y, x * y)
    )
    product = (sxx - sx**2 / n) * (syy - sy**2 / n)
    # One grade for every pair tells nothing.
    return np.asarray(np.where(product > 1e-9, (sxy - sx * sy / n) / np.sqrt(np.maximum(product, 1e-9)), 0.0))


def _saved(f: Floats, y: Floats, weights: Floats) -> Floats:
    """(resamples,) share of human topics saved, mean over systems: 1 - the share of variance left by a regression.

    f, y : (topics, systems) scores; what is estimated is the difference of each system from the best by y.
    """
    best = int(y.mean(axis=0).argmax())
    f, y = (np.delete(values - values[:, [best]], best, axis=1) for values in (f, y))
    n = weights.sum(axis=1, keepdims=True)
    sx, sy, sxx, syy, sxy = (weights @ part for part in (f, y, f * f, y * y, f * y))
    squared = (sxy - sx * sy / n) ** 2 / ((sxx - sx**2 / n) * (syy - sy**2 / n))
    return np.asarray((1 - (1 - squared) * (n - 1) / (n - 2)).mean(axis=1))


def _gained(f: Floats, y: Floats, splits: Sequence[NDArray[np.int64]], n_human: int) -> float:
    """Median over systems of the topics gained by prediction-powered differences, mean over splits."""
    best = int(y.mean(axis=0).argmax())
    f, y = (np.delete(values - values[:, [best]], best, axis=1) for values in (f, y))
    gained = []
    for order in splits:
        human, rest = order[:n_human], order[n_human:]
        fit = Rule().fit(y[human], f[human], f[rest])
        topics = effective_topics(n_human, fit.classical_standard_error, fit.standard_error)
        gained.append(np.median(topics - n_human))
    return float(np.mean(gained))


def _with_interval(values: Floats) -> Interval:
    """The first value, and 95 % of the others."""
    if values.size == 1 or np.isnan(values).any():
        return float(values[0]), nan, nan
    low, high = np.quantile(values[1:], [0.025, 0.975], method="inverted_cdf")
    return float(values[0]), float(low), float(high)
