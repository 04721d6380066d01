"""What the AWARE paper prints, what follows from its own numbers, and what panels at hand say beside it.

Ferrante, Ferro, Maistro (2017), ACM TOIS 36(2): Tables 1-5, Figures 8 and 9, sections 6.2 and 6.3. Numbers only; its
runs are not public, so that what its tables rest on cannot be had.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isnan

import numpy as np

from qrowd_papers.analysis_of_variance import Anova, omega_squared
from qrowd_papers.aware.study import AwareStudy, anova_tables
from qrowd_papers.claims import MATCH, NOT_PUBLIC, Claim, Claims, printed_numbers, verdict
from qrowd_papers.tukey import Best, Tukey, tukey_hsd, tukey_of_means

RESPONSES = {"ap_correlation": "AP correlation", "relative_rmse": "RMSE"}
BEST: Mapping[str, Best] = {"ap_correlation": "highest", "relative_rmse": "lowest"}
PRINTED = printed_numbers("aware")
EFFECTS: dict[int, dict[str, list[float]]] = {int(table): effects for table, effects in PRINTED["effects"].items()}
SUMMARY: dict[str, dict[str, list[str]]] = PRINTED["summary"]
RESPONSE_OF = {1: "ap_correlation", 2: "relative_rmse", 3: "ap_correlation", 4: "relative_rmse"}
N = {1: 5916, 2: 5916, 3: 5220, 4: 5220}  # responses: the printed total degrees of freedom + 1
ERROR = {"ap_correlation": (6.4347, 5167), "relative_rmse": (49.8622, 5167)}  # sum of squares and df, Tables 3 and 4


@dataclass(frozen=True)
class Grouping:
    """One of the six Tukey tables of Figures 8 and 9: printed means and groups, best first."""

    figure: str
    response: str
    factor: str
    n: int
    means: Mapping[str, float]
    groups: tuple[tuple[str, ...], ...]

    def recomputed(self) -> Tukey:
        """The groups that follow from the printed means and the error of Table 3 or 4."""
        ss, df = ERROR[self.response]
        mean, n = np.array(list(self.means.values())), np.full(len(self.means), self.n)
        return tukey_of_means(
            list(self.means), mean, n, ss / df, df, factor=self.factor, best=BEST[self.response]
        )  # fmt: skip


GROUPINGS = tuple(
    Grouping(figure, row["response"], row["factor"], row["n"], row["means"], tuple(map(tuple, row["groups"])))
    for figure, row in PRINTED["groupings"].items()
)


def from_print() -> Iterator[Claims]:
    """What follows from printed numbers alone: 28 effect sizes, six groupings, three rows of Table 5 twice."""
    claims = []
    for table, effects in EFFECTS.items():
        for source, (df, f, size) in effects.items():
            if not isnan(size):
                ours = omega_squared(f, df, N[table])
                cells = [str(table), source, str(df), f"{f:.4f}"]
                claims.append(Claim(f"Table {table}", cells, size, ours, same(size, ours)))
    header = ["table", "source", "DF", "F", "omega squared printed", "from F, DF and N"]
    yield Claims("Tables 1-4: effect sizes that follow from the printed F (equation 29)", header, claims, 4)
    claims = []
    for grouping in GROUPINGS:
        groups = grouping.recomputed().groups
        agreement = verdict(groups == grouping.groups, "because rounded means fall on the other side")
        what = [grouping.figure, f"{RESPONSES[grouping.response]} by {grouping.factor}"]
        claims.append(Claim("Figures 8, 9", what, _written(grouping.groups), _written(groups), agreement))
    header = ["figure", "means of", "groups printed", "from printed means and errors"]
    yield Claims("Figures 8 and 9, d-f: Tukey HSD groups (equation 30)", header, claims)


def on_panels(studies: Mapping[str, AwareStudy]) -> Iterator[Claims]:
    """Tables 1-5, the means of Figures 8 and 9, and what sections 6.2 and 6.3 say of sizes, beside panels at hand.

    studies : {panel: its study}; those of one size only have no analysis of variance and no part.
    """
    panels = {name: study for name, study in studies.items() if len(study.sizes) > 1}
    if not panels:
        return
    tables = {
        (name, response): anova_tables(study, response) for name, study in panels.items() for response in RESPONSES
    }
    claims = []
    for table, effects in EFFECTS.items():
        for source, (df, _, size) in effects.items():
            ours = [_size(tables[name, RESPONSE_OF[table]][table > 2], source) for name in panels]
            claims.append(Claim(f"Table {table}", [str(table), source, str(df)], size, ours))
    title = "Tables 1-4: omega squared (degrees of freedom), printed and on the panels at hand"
    yield Claims(title, ["table", "source", "DF printed", "printed", *panels], claims, 4)
    claims = []
    for response, factors in SUMMARY.items():
        for factor, levels in factors.items():
            tops = [_top(tables[name, response][factor != "method"], factor, response) for name in panels]
            agreement = NOT_PUBLIC
            for grouping in GROUPINGS:
                if (grouping.response, grouping.factor) == (response, factor):
                    agreement = verdict(set(grouping.recomputed().groups[0]) == set(levels), "because of rounding")
                    agreement += f" (from Figure {grouping.figure})" * (agreement == MATCH)
            claims.append(Claim("Table 5", [RESPONSES[response], factor], ", ".join(levels), tops, agreement))
    title = "Table 5: the top groups, printed and here; the verdict is on what is printed"
    yield Claims(title, ["response", "factor", "printed", *panels], claims)
    claims = []
    for grouping in GROUPINGS:
        by_panel = [tables[name, grouping.response][1].effects.of(grouping.factor) for name in panels]
        for level, mean in grouping.means.items():
            means = [float(one.mean[one.level.index(level)]) for one in by_panel]
            claims.append(Claim("Figures 8, 9", [grouping.figure, level], mean, means))
    yield Claims(
        "Figures 8 and 9: means of levels, printed and here", ["figure", "level", "mean printed", *panels], claims, 4
    )
    yield _sizes(panels)


def same(printed: float, ours: float, digits: int = 4) -> str:
    """The verdict on two numbers, the first of which is rounded to so many digits."""
    return verdict(abs(printed - ours) <= 0.51 * 10**-digits, "because F is rounded")


def first_of(mask: np.ndarray, sizes: tuple[int, ...], *, lasting: bool = False) -> str:
    """The first size where mask holds (and goes on to hold), as text."""
    lasts = np.logical_and.accumulate(mask[::-1])[::-1] if lasting else mask
    return str(sizes[int(lasts.argmax())]) if lasts.any() else f"not up to {sizes[-1]}"


def by_size(study: AwareStudy, response: str) -> np.ndarray:
    """(methods, sizes) over all measures and system sets; RMSE relative to the highest of its measure."""
    return np.asarray(getattr(study, response).mean(axis=(0, 1)))


def _sizes(panels: Mapping[str, AwareStudy]) -> Claims:
    """From how many assessors on the vote is as good as AWARE."""
    claims = []
    for what, rival, lasting, printed in (
        ("vote reaches uniform in AP correlation at", "uniform", False, "13"),
        ("vote stays above uniform from", "uniform", True, "17"),
        ("vote reaches sgl_tau_msd at", "sgl_tau_msd", False, "25"),
    ):
        ours = []
        for study in panels.values():
            values = by_size(study, "ap_correlation")
            vote, other = (values[study.methods.index(name)] for name in ("mv", rival))
            ours.append(first_of(vote > other if lasting else vote >= other, study.sizes, lasting=lasting))
        claims.append(Claim("6.2", what, printed, ours))
    lowest = [by_size(study, "relative_rmse")[study.methods.index("mv")].argmin() for study in panels.values()]
    ours = [str(study.sizes[int(k)]) for study, k in zip(panels.values(), lowest, strict=True)]
    claims.append(Claim("6.3", "vote's RMSE stops falling at", "16", ours))
    header = ["section 6.2 and 6.3: numbers of assessors", "printed", *panels]
    return Claims("Figures 5(a) and 7(a): from how many assessors on the vote is as good", header, claims)


def _size(table: Anova, source: str) -> str:
    if source not in table.sources:
        return "one set only"
    i = table.sources.index(source)
    return f"{table.omega_squared[i]:.4f} ({table.df[i]})"


def _top(table: Anova, factor: str, response: str) -> str:
    results = tukey_hsd(table, factor, best=BEST[response])
    top = [level for level, in_it in zip(results.levels, results.top, strict=True) if in_it]
    return ", ".join(top) if len(top) <= 5 else f"{', '.join(top[:5])} and {len(top) - 5} more"


def _written(groups: tuple[tuple[str, ...], ...]) -> str:
    return "; ".join(" ".join(group) for group in groups)
