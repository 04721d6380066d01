"""Variance components by the factors of assessors, such as model and prompt, as a table with its notes."""

from __future__ import annotations

from collections.abc import Iterator

from qrowd.comparison.factor_components import FactorComponents
from qrowd.reports.document import Note, Table
from qrowd.reports.phrases import cells, count, listed, percent

FEW = 5  # levels of a factor, with which its components have so few degrees of freedom that a reader is warned


def component_table(components: FactorComponents) -> Table:
    """One row per source of variance."""
    intervals = {"low": components.low, "high": components.high} if components.n_resamples else {}
    columns = {
        "source": list(components.sources),
        "share of variance": cells(percent, components.share, digits=1),
        **{name: cells(percent, bounds, digits=1) for name, bounds in intervals.items()},
        "share of disagreement": cells(percent, components.disagreement, digits=1),
    }
    return Table.of(f"variance components of {components.response}", columns)


def component_notes(components: FactorComponents) -> Iterator[Note]:
    """What the shares are, and what they rest on."""
    factors = [count(n, name) for name, n in zip(components.factors, components.n_levels, strict=True)]
    source = f"{components.target}*{components.factors[0]}"
    yield Note(
        "variance components",
        f"{listed(factors, 8)}, taken as samples; {source}: {components.factors[0]}s value a {components.target} "
        "differently; error: the interaction of all, and chance; disagreement: all that differs between assessors",
    )
    if components.n_resamples:
        yield Note("low, high", "percentile interval of the share of variance for other topics and these assessors")
    if components.n_missing:
        yield Note("missing", f"{components.n_missing:,} of {components.n_missing + components.n_values:,} values")
    if components.negative:
        yield Note("below 0", f"estimates that count as 0: {listed(list(components.negative), 8)}")
    few = [f"{n} {name}s" for name, n in zip(components.factors, components.n_levels, strict=True) if n < FEW]
    if few:
        beyond = ", beyond low and high" if components.n_resamples else ""
        yield Note("few", f"{listed(few, 8)}: shares of a factor with few levels are uncertain{beyond}")
