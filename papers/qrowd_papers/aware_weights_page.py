"""When AWARE's weights help, as a page: weighted beside equal weights on all panels at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from qrowd.aware import DEFAULT
from qrowd.aware.estimators import UNIFORM
from qrowd.model.chance import Rng, seed_of
from qrowd.reports.aware import LEAST_DIFFERENCE
from qrowd.reports.document import Document, Table
from qrowd.reports.phrases import number
from qrowd_papers.aware.study import PRINTED
from qrowd_papers.aware_weights import DRAWS, ESTIMATORS, UNJUDGED, N, Trial, real_trials, simulated_trials

if TYPE_CHECKING:
    import pandas

SHOWN = (UNIFORM, DEFAULT, "sgl_rmse_msd", f"sgl_rmse_msd{PRINTED}")
KEPT_ASIDE = (
    ("AP", ".0307", ".0471", ".0268", ".881", ".875", ".887"),
    ("nDCG@10", ".1377", ".1359", ".0716", ".848", ".848", ".842"),
)
"""A review's figures on a collection kept aside, which this program cannot recompute."""


def aware_weights_page(
    data: str | None = None,
    *,
    quick: bool = False,
    rng: Rng = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Document:
    """Weighted and equal weights on every panel.

    data : folder that holds dl21 and dl19, or None for simulated panels alone. quick : one simulated collection of
        each kind, 20 random assessors of each level, and no real panel.
    """
    seed = seed_of(rng)
    draws, n = (1, 20) if quick else (DRAWS, N)

    def advance(what: str) -> Callable[[int, int], None] | None:
        return None if progress is None else lambda done, total: progress(what, done, total)

    simulated = list(simulated_trials(draws=draws, n=n, rng=seed, progress=advance("simulated")))
    real = [] if data is None or quick else list(real_trials(data, n=n, rng=seed, progress=advance("real")))
    groups = {"real": real, "simulated": simulated} if real else {"simulated": simulated}
    tables = [*summaries(groups), *diagnostics(groups), by_kind(simulated), *_each_real(real), kept_aside()]
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
            "real: NIST's grades are the gold, relevant from 2 on; judges call relevant what has at least the cut's "
            "share of their scale's maximum; trials of one collection share runs, gold and judges, so that they are "
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
            found = summary(trials, name)
            rows.append(
                [
                    name, number(found["rmse_ratio"], 3), number(found["rmse_worst"], 2),
                    f"{found['rmse_better']:.0%}", f"{found['tau_gain']:+.4f}", f"{found['tau_worst']:+.4f}",
                    f"{found['tau_better']:.0%}", f"{found['tau_worse']:.0%}",
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
                found = summary(those, DEFAULT)
                cells = [
                    number(found["rmse_ratio"], 3), f"{found['rmse_better']:.0%}", f"{found['tau_gain']:+.4f}",
                    f"{found['tau_worst']:+.4f}", f"{found['tau_better']:.0%}", f"{found['tau_worse']:.0%}",
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
        yield Table(f"{source}: RMSE and tau-b against NIST", ["judges", "cut", "measure", *_header()], rows)


def kept_aside() -> Table:
    """What a review measured on a collection kept aside."""
    rows = [[measure, *cells] for measure, *cells in KEPT_ASIDE]
    names = ("equal", "sgl_rmse_msd", f"sgl_rmse_msd{PRINTED}")
    header = ["measure", *(f"RMSE {name}" for name in names), *(f"tau-b {name}" for name in names)]
    title = (
        "a review's figures on a collection kept aside (TREC 2020 deep learning, four model judges); not recomputed "
        "here"
    )
    return Table(title, header, rows)


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
    import pandas as pd

    rows = [
        {
            **{name: getattr(trial, name) for name in ("source", "panel", "cut", "collection", "measure")},
            "estimator": name,
            "rmse": trial.rmse[name],
            "tau_b": trial.tau[name],
            "agreement_by_weight": trial.by_weight,
            "agreement_equal": trial.equal,
        }
        for trial in trials
        for name in trial.rmse
    ]
    return pd.DataFrame(rows)


def _sentence(groups: dict[str, list[Trial]]) -> str:
    parts = []
    for group, trials in groups.items():
        found = summary(trials, DEFAULT)
        parts.append(
            f"of {len(trials)} {group} trials, RMSE is lower in {found['rmse_better']:.0%} (at worst "
            f"{found['rmse_worst']:.1f} times that of equal weights), tau-b higher in {found['tau_better']:.0%} "
            f"and lower in {found['tau_worse']:.0%} (mean gain {found['tau_gain']:+.3f}, at worst "
            f"{found['tau_worst']:+.3f})"
        )
    return f"AWARE's weights ({DEFAULT}) beside equal weights: {'; '.join(parts)}."
