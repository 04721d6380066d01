"""What is said of a difference of two systems, simulated: would others agree, topics or an assessor, how many topics.

`shrinkage` (another panel would agree with probability ...), `effort` (an assessor costs as much as N topics and helps
at least as much) and `power` (a difference is found with probability .8) are each held against what then happens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.comparison.differences import p_same_sign, shrinkage_factor
from qrowd.comparison.interval_widths import half_widths, recommended
from qrowd.comparison.power import (
    SAME,
    DifferenceComponents,
    detectable_difference,
    equal_cost,
    power_of_difference,
    topics_for_an_assessor,
    topics_needed,
)
from qrowd.executors import AnyExecutor
from qrowd.kernels.arrays import Floats
from qrowd.kernels.two_way import TwoWay
from qrowd.model.chance import Chance, Rng, Seed, seed_of
from qrowd.reports.document import Document, Table
from qrowd_papers.frames import frame_of
from qrowd_papers.simulations import Progress, each_result, table_of

if TYPE_CHECKING:
    import pandas

Draw = Callable[[np.random.Generator, tuple[int, ...]], Floats]

SPREADS: Mapping[str, tuple[str, Draw]] = {
    "equal": ("all systems are equal", lambda r, size: np.zeros(size)),
    "close": ("normal, standard deviation .7", lambda r, size: r.normal(0, 0.7, size)),
    "apart": ("normal, standard deviation 2", lambda r, size: r.normal(0, 2, size)),
    "varied": ("normal, standard deviation 6", lambda r, size: r.normal(0, 6, size)),
    "tail": (
        "four fifths close (standard deviation 1), a fifth far below them (exponential, mean 10)",
        lambda r, size: np.where(r.random(size) < 0.8, r.normal(0, 1, size), -r.exponential(10, size)),
    ),
    "crowded top": ("exponential below a best value, mean 3", lambda r, size: -r.exponential(3, size)),
}
"""How systems' true means are drawn, in standard errors of a mean over the assessors."""
PROMISED = ("equal", "close", "apart", "varied", "tail")  # the spreads for which .05 is promised
N_SYSTEMS = (2, 4, 6, 10, 30)
PANEL_SIZES = (3, 5, 18)
FROM_SYSTEMS = 6  # as many as it takes

ADVICE_DESIGNS: tuple[tuple[int, int, float, float], ...] = (
    (50, 3, 0.02, 0.5),
    (50, 3, 0.1, 1.0),
    (50, 3, 0.25, 1.4),
    (50, 5, 0.05, 0.5),
    (50, 5, 0.1, 1.0),
    (50, 5, 0.25, 1.4),
    (54, 5, 0.18, 4.8),
    (50, 2, 0.05, 0.5),
    (200, 3, 0.25, 1.4),
    (25, 4, 0.02, 0.5),
    (200, 5, 0.25, 1.4),
    (50, 8, 0.02, 0.5),
    (200, 8, 0.25, 1.4),
)
"""Topics, assessors, v_a and v_e, v_t being 1."""

DL20 = (2 * 0.0134572, 2 * 0.000427, 2 * 0.0062715)
POWER_COMPONENTS: Mapping[str, tuple[float, float, float]] = {
    "TREC 2020": DL20,  # nDCG@10, 83 systems and 5 assessors, on average over pairs
    "judge-heavy": (1.0, 0.25, 1.4),
    "no judge effect": (1.0, 0.0, 2.0),
}
PILOTS = ((50, 3), (54, 5), (50, 8))
POWER_DESIGNS = ((70, 3), (54, 5), (100, 2), (25, 8), (50, 18), (200, 4))


@dataclass(frozen=True)
class Agreement:
    """A leader and a runner-up (top), and two systems named in advance (named): said, and seen by another panel."""

    spread: str
    n_systems: int
    n_assessors: int
    said_top: float
    seen_top: float
    unshrunk_top: float
    said_named: float
    seen_named: float
    unshrunk_named: float


@dataclass(frozen=True)
class Advice:
    """One design: how often an answer is given, how often it is right, and how probable it was said to be.

    topics, assessor, same : shares of all simulations in which that was the answer. ratio : the true standard error
    after topics over that after an assessor. smaller : share of the answers "topics" and "assessor" that name the
    smaller standard error, by however little it is smaller; nan where the two are equal.
    """

    n_topics: int
    n_assessors: int
    v_assessor: float
    v_error: float
    ratio: float
    speaks: float
    right: float
    said: float
    smaller: float
    topics: float
    assessor: float
    same: float
    n: int


@dataclass(frozen=True)
class Power:
    """A design of which a difference is said to be found with probability .8, and how often its interval finds it."""

    components: str
    n_topics: int
    n_assessors: int
    size: float
    found: float


@dataclass(frozen=True)
class Planned:
    """Topics planned from a pilot: the true power of what `topics_needed` says, its components being estimated.

    size : .85 of what the pilot's design finds. needed : topics by the true components. none : share of pilots that
    call no number of topics enough. mean, low, high : power with the topics planned, and its 10 and 90 % quantiles.
    """

    components: str
    n_topics: int
    n_assessors: int
    size: float
    needed: int
    none: float
    mean: float
    low: float
    high: float

    @property
    def span(self) -> str:
        return f"{self.low:.2f}-{self.high:.2f}"


def another_panel(
    spread: str, n_systems: int, n_assessors: int, *, n_simulations: int = 2000, rng: Rng = None
) -> Agreement:
    """Assessors' means of systems, normal with variance 1 around the true means; two panels of as many assessors."""
    random = Chance.of(rng).stream(f"{spread} {n_systems} {n_assessors}")
    true = SPREADS[spread][1](random, (n_simulations, n_systems)) / np.sqrt(n_assessors)
    own = true[:, None] + random.normal(size=(n_simulations, n_assessors, n_systems))
    means = own.mean(axis=1)
    later = true + random.normal(size=true.shape) / np.sqrt(n_assessors)
    centred = own - own.mean(axis=2, keepdims=True)
    centred -= centred.mean(axis=1, keepdims=True)
    errors = (centred**2).sum(axis=(1, 2)) / ((n_systems - 1) * (n_assessors - 1)) / n_assessors
    order, rows = np.argsort(-means, axis=1), np.arange(n_simulations)
    results: list[float] = []
    for first, second in ((order[:, 0], order[:, 1]), (0 * rows, 0 * rows + 1)):
        difference = means[rows, first] - means[rows, second]
        variance = (own[rows, :, first] - own[rows, :, second]).var(axis=1, ddof=1) / n_assessors
        centre = (means[rows, first] + means[rows, second]) / 2
        share = np.array([shrinkage_factor(*one)[0] for one in zip(means, errors, centre[:, None], strict=True)])
        df = np.full(n_simulations, n_assessors - 1.0)
        judgments = p_same_sign(difference, variance, variance, df, share)
        unshrunk = p_same_sign(difference, variance, variance, df, np.ones(n_simulations))
        seen = difference * (later[rows, first] - later[rows, second]) > 0
        results += [float(judgments.mean()), float(seen.mean()), float(unshrunk.mean())]
    return Agreement(spread, n_systems, n_assessors, *results)


def advice(
    n_topics: int, n_assessors: int, v_assessor: float, v_error: float, *, n_simulations: int = 1500, rng: Rng = None
) -> Advice:
    """Mean squares as normal scores give them, v_t = 1, and the advice of each."""
    random = Chance.of(rng).stream(f"{n_topics} {n_assessors} {v_assessor} {v_error}")
    topics = topics_for_an_assessor(n_topics, n_assessors)

    def error(t: float, a: float) -> float:
        return float(np.sqrt(1 / t + v_assessor / a + v_error / (t * a)))

    ratio = error(n_topics + topics, n_assessors) / error(n_topics, n_assessors + 1)
    least, most = 1 / (1 + SAME), 1 + SAME
    true = {"topics": ratio <= most, "assessor": ratio >= least, "same": least <= ratio <= most}
    squares, df = _mean_squares((1.0, v_assessor, v_error), n_topics, n_assessors, n_simulations, random)
    degrees = tuple(df.tolist())
    given = [equal_cost(tuple(one), degrees, n_topics, n_assessors, topics) for one in squares.T.tolist()]
    spoken = [one for one in given if one.answer != "unknown"]
    named = [one.answer == ("topics" if ratio < 1 else "assessor") for one in spoken if one.answer != "same"]
    smaller = float(np.mean(named)) if named and abs(ratio - 1) > 1e-9 else np.nan
    chance = {"topics": "p_topics", "assessor": "p_assessor", "same": "p_same"}
    share = {name: sum(one.answer == name for one in given) / n_simulations for name in chance}
    return Advice(
        n_topics, n_assessors, v_assessor, v_error, ratio, len(spoken) / n_simulations,
        float(np.mean([true[one.answer] for one in spoken])) if spoken else np.nan,
        float(np.mean([getattr(one, chance[one.answer]) for one in spoken])) if spoken else np.nan,
        smaller,
        share["topics"], share["assessor"], share["same"], n_simulations,
    )  # fmt: skip


def found_differences(
    components: str, n_topics: int, n_assessors: int, *, n_simulations: int = 20_000, rng: Rng = None
) -> Power:
    """How often the recommended interval lies above 0 where the true difference is the detectable one."""
    random = Chance.of(rng).stream(f"{components} {n_topics} {n_assessors}")
    v_t, v_a, v_e = POWER_COMPONENTS[components]
    size = detectable_difference(DifferenceComponents(v_t, v_a, v_e), n_topics, n_assessors)
    error = np.sqrt(v_t / n_topics + v_a / n_assessors + v_e / (n_topics * n_assessors))
    squares, df = _mean_squares((v_t, v_a, v_e), n_topics, n_assessors, n_simulations, random)
    weights, per = np.full(3, 1 / (n_topics * n_assessors)), np.array([n_assessors, n_topics], np.float64)
    mean = random.normal(size, error, n_simulations)
    half = half_widths(TwoWay(mean, squares, df, weights, per), recommended(n_assessors), 0.95)
    return Power(components, n_topics, n_assessors, size, float((mean > half).mean()))


def planned_topics(
    components: str, n_topics: int, n_assessors: int, *, n_simulations: int = 100, rng: Rng = None
) -> Planned:
    """Pilots of that size: each estimates the components and plans topics for a smaller difference."""
    random = Chance.of(rng).stream(f"planned {components} {n_topics} {n_assessors}")
    own = POWER_COMPONENTS[components]
    true = DifferenceComponents(*own)
    size = 0.85 * detectable_difference(true, n_topics, n_assessors)
    squares, _ = _mean_squares(own, n_topics, n_assessors, n_simulations, random)
    planned = []
    for topics, assessors, error in squares.T.tolist():
        v_t, v_a = max(topics - error, 0) / n_assessors, max(assessors - error, 0) / n_topics
        planned.append(topics_needed(DifferenceComponents(v_t, v_a, error), size, n_assessors))
    reached = [power_of_difference(true, size, t, n_assessors) for t in planned if t is not None]
    needed = topics_needed(true, size, n_assessors, max_topics=10_000)
    assert needed is not None
    return Planned(
        components, n_topics, n_assessors, size, needed, 1 - len(reached) / n_simulations, float(np.mean(reached)),
        *np.quantile(reached, [0.1, 0.9]).tolist(),
    )  # fmt: skip


def _mean_squares(
    components: tuple[float, float, float], t: int, a: int, n: int, random: np.random.Generator
) -> tuple[Floats, Floats]:
    """(3, n) mean squares of topics, assessors and error of normal scores, and their degrees of freedom."""
    v_t, v_a, v_e = components
    df = np.array([t - 1, a - 1, (t - 1) * (a - 1)], np.float64)
    expected = np.array([v_e + a * v_t, v_e + t * v_a, v_e])
    return expected[:, None] * random.chisquare(df[:, None], (3, n)) / df[:, None], df


# ---------------------------------------------------------------------- the page


def _of_seed(study: Callable[..., Any], n_simulations: int, seed: Seed, design: tuple[Any, ...]) -> Any:
    return study(*design, n_simulations=n_simulations, rng=seed)


def advice_page(
    *, quick: bool = False, rng: Rng = None, executor: AnyExecutor = None, progress: Progress | None = None
) -> Document:
    """The studies as a page.

    quick : a twentieth of the simulations. executor : whose workers simulate designs, each with a stream of its own.
    """
    seed = seed_of(rng)
    cases = [(name, m, a) for name in SPREADS for m in N_SYSTEMS for a in PANEL_SIZES]
    designs = [(name, *design) for name in POWER_COMPONENTS for design in POWER_DESIGNS]
    n_panel, n_advice, n_power, n_pilots = (200, 50, 1000, 5) if quick else (4000, 1500, 20_000, 100)
    pilots = [(name, *design) for name in ("TREC 2020",) for design in PILOTS]
    panels, advised, powers, planned = (
        list(each_result(partial(_of_seed, study, n), grid, what, progress, executor, shared=seed))
        for study, n, grid, what in (
            (another_panel, n_panel, cases, "panels"),
            (advice, n_advice, ADVICE_DESIGNS, "advice"),
            (found_differences, n_power, designs, "power"),
            (planned_topics, n_pilots, pilots, "pilots"),
        )
    )
    promised = [one for one in panels if one.spread in PROMISED and one.n_systems >= FROM_SYSTEMS]
    worst = max(abs(one.said_top - one.seen_top) for one in promised)
    least = min(one.right for one in advised if one.speaks > 0)
    off = max(abs(one.found - 0.8) for one in powers)
    sentence = (
        f"Of a leader and a runner-up among {FROM_SYSTEMS} systems or more, another panel agrees as often as is said "
        f"to within {worst:.3f}; where advice is given, it is right in {100 * least:.0f} % or more of the cases; a "
        f"difference that is said to be found with probability .8 is found with .8 to within {off:.3f}."
    )
    notes = (
        f"simulations: {n_panel:,} of each number of systems and assessors (binomial standard error up to "
        f"{0.5 / n_panel**0.5:.3f}), {n_advice:,} of each design of advice (share right of those in which it speaks), "
        f"{n_power:,} of each design of power ({0.4 / n_power**0.5:.3f}), {n_pilots} pilots of each design; "
        f"seed: {seed}",
        "true means of systems, in standard errors of a mean: "
        + "; ".join(f"{name}: {text}" for name, (text, _) in SPREADS.items()),
        "as it is: the probability if the difference were not shrunk",
        "advice: v_t is 1; ratio: true standard error after topics over that after one more assessor at equal cost; "
        f"right: what is said is true, standard errors to within {100 * SAME:g} % being about the same; said: the mean "
        "probability stated; smaller: of the answers that name one of the two, the share that name the smaller error, "
        "by however little",
    )
    frame = frame_of(panels)
    tables = (
        _agreement_table(frame, "leader and runner-up", "top"),
        _agreement_table(frame, "two systems named in advance", "named"),
        table_of("topics or one more assessor, at equal cost", advised, _ADVICE),
        table_of("a difference that is said to be found with probability .8", powers, _POWER),
        table_of("power of the topics planned from a pilot, for power .8", planned, _PLANNED),
    )
    return Document(sentence, tables, notes, lambda: frame)


def _agreement_table(frame: pandas.DataFrame, title: str, which: str) -> Table:
    judgments, seen = frame[f"said_{which}"], frame[f"seen_{which}"]
    columns = (
        ("systems are", "spread", ""), ("systems", "n_systems", ""), ("assessors", "n_assessors", ""),
        ("said", f"said_{which}", ".3f"), ("seen", f"seen_{which}", ".3f"), ("said - seen", "difference", "+.3f"),
        ("as it is", f"unshrunk_{which}", ".3f"),
    )  # fmt: skip
    return table_of(f"another panel agrees: {title}", frame.assign(difference=judgments - seen).itertuples(), columns)


_ADVICE = (
    ("topics", "n_topics", ""), ("assessors", "n_assessors", ""), ("v_a", "v_assessor", "g"), ("v_e", "v_error", "g"),
    ("ratio", "ratio", 3), ("speaks", "speaks", 3), ("right", "right", 3), ("said", "said", 3),
    ("smaller", "smaller", 3), ("topics help", "topics", 3), ("assessor helps", "assessor", 3),
    ("about the same", "same", 3),
)  # fmt: skip
_POWER = (
    ("components", "components", ""), ("topics", "n_topics", ""), ("assessors", "n_assessors", ""),
    ("difference", "size", ".4f"), ("found", "found", ".3f"),
)  # fmt: skip
_PLANNED = (
    *_POWER[:4], ("needed", "needed", ""), ("none enough", "none", ".2f"), ("power", "mean", ".2f"),
    ("10-90 %", "span", ""),
)  # fmt: skip
