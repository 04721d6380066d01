"""Whether a judge favours a group of systems, as sentences, a table and notes."""

from __future__ import annotations

import numpy as np

from qrowd.reports.document import Table
from qrowd.reports.phrases import probability
from qrowd.uncertainty.assessor_bias import SEVERITY_ERROR, AssessorBias


def favour_sentences(favour: AssessorBias) -> list[str]:
    """One for each group: favours, disfavours, neither clearly, or no verdict."""
    told = []
    for g, group in enumerate(favour.groups):
        value, low, high = favour.value[g], favour.low[g], favour.high[g]
        known = favour.people_value[g][~np.isnan(favour.people_value[g])]
        beside = "" if not known.size else f"; people range from {known.min():+.3f} to {known.max():+.3f}"
        if np.isnan(low):
            told.append(
                f"No verdict on whether it favours {group}: {value:+.3f}, and too few people to know how far people "
                "differ (three are needed, who judged topics in common)."
            )
            continue
        figures = f"{value:+.3f} [{low:+.3f}, {high:+.3f}]{beside}"
        if low <= 0 <= high:
            told.append(f"It favours or disfavours {group} no more clearly than a person might: {figures}.")
        else:
            verb = "favours" if value > 0 else "disfavours"
            told.append(f"It {verb} {group} more than a person would: {figures}.")
    return told


def favour_table(favour: AssessorBias) -> Table:
    """A row for the model and each person, group by group; an interval for the model alone."""
    rows = []
    for g, group in enumerate(favour.groups):
        name = f"{group} ({favour.n_systems[g]} of {favour.n_systems_in_all})"
        own = [_signed(x) for x in (favour.value[g], favour.low[g], favour.high[g])]
        rows.append([name, favour.model, *own, probability(favour.p[g]), str(favour.n_topics[g])])
        for j, who in enumerate(favour.people):
            value = _signed(favour.people_value[g, j])
            rows.append([name, who, value, "-", "-", "-", str(favour.people_n_topics[g, j])])
    title = "favour: how much further a group stands above the other systems than by the (other) people"
    return Table(title, ["system", "assessor", "favour", "low", "high", "p", "topics"], rows)


def favour_notes(favour: AssessorBias) -> list[str]:
    """How the interval was made."""
    told = [
        f"favour: {100 * favour.confidence:g} % prediction interval for one more person, Student's t with "
        f"{int(favour.df.min())} degrees of freedom; 0 outside it: further from the people than a person would be"
    ]
    if favour.adjusted:
        change = ", ".join(f"{s:+.3f} for {g}" for g, s in zip(favour.groups, favour.severity, strict=True))
        told.append(
            "severity: taken out by shuffling each judge's judgments among documents that the others judged alike; it "
            f"explained {change}, and {100 * SEVERITY_ERROR:g} % of that is in the standard error"
        )
    else:
        told.append("severity: not taken out; a lenient or severe judge seems to favour or disfavour better systems")
    return told


def _signed(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:+.4f}"
